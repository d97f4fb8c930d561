"""What the ruler is sent, value by value: the finding, the slice, the overview, the words of a lane, and the bytes of the message."""

import json
import re

import numpy as np
import pytest

from kafkaviz.analyse import anatomy
from kafkaviz.analyse.links import NONE
from kafkaviz.figures import segment_ruler as ruler
from kafkaviz.figures.segment_ruler import Asked, Lane, Slice
from kafkaviz.log.broker import open_broker
from tests.analyse import made

THIN = "\u202f"


def even(count: int, size: int = 100, interval: int = 400, base_offset: int = 0, **more):
    """A sound segment of equal batches."""
    table = made.batches([size] * count, base_offset=base_offset)
    entries, times = made.indexed(table, interval, base_offset)
    return made.anatomy(table, entries, times, base_offset, **more)


@pytest.mark.parametrize(
    ("directory", "base_offset", "finding"),
    [
        ("payments-0", 7975, "Every 4 906 bytes or so, one batch gets an entry"),
        ("dense-index-0", 0, "Every batch but the first has an entry"),
        ("bulk-import-0", 0, "One entry, for the batch at byte 810 447"),
        ("refunds-0", 0, "One batch, and the first batch of a segment never gets an entry"),
        ("refunds-1", 0, "No batch has an entry: a search starts at byte 0"),
        (
            "obsolete-2019-0.d9e2420e43c24fe7bcf8a819bf93d888-delete",
            0,
            "The index was created at 10 MiB and 1 310 694 of its 1 310 720 slots were never written",
        ),
    ],
)
def test_findings_of_a_clean_broker(clean, directory, base_offset, finding):
    """The title says what this segment shows."""
    assert found(clean, directory, base_offset) == spaced(finding)


@pytest.mark.parametrize(
    ("directory", "base_offset", "finding"),
    [
        ("bookings-0", 858, "Slot 3 points past its batch: offsets 949 – 968 cannot be found"),
        ("bookings-0", 1721, "Slot 2 of the time index names a time that its batch does not hold"),
        ("bookings-0", 0, "The last 474 of the index’s 512 slots are zeros"),
        ("metrics-0", 0, "The index ends inside an entry: 5 of 8 bytes follow slot 25"),
        ("metrics-0", 1201, "The time index ends in 14 zero slots, so a search by time passes this segment over"),
        ("metrics-0", 2401, "The last 14 of the index’s 27 slots are zeros"),
        ("rides-0", 1811, "There is no .index: every search in this segment starts at byte 0"),
        ("rides-0", 607, "There is no .timeindex: a search by time has nothing to go by"),
    ],
)
def test_findings_of_damage(damaged, directory, base_offset, finding):
    """The gravest comes first."""
    assert found(damaged, directory, base_offset) == spaced(finding)


def test_findings_of_a_killed_broker(killed):
    """Unwritten slots before the torn tail, as long as the file is in use."""
    created = "The index was created at 64 KiB and 8 088 of its 8 192 slots were never written"
    assert found(killed, "append-time-0", 0) == spaced(created)


def found(directory, name, base_offset) -> str:
    """The finding of a segment on disk."""
    return ruler.finding(anatomy.read(open_broker(directory).partition(name).segment(base_offset)))


def spaced(words: str) -> str:
    """Thin spaces between the digits of a number, as units.group puts them."""
    return re.sub(r"(?<=\d) (?=\d{3})", THIN, words)


def test_findings_that_no_sample_shows():
    """Tails of closed segments, keys that do not grow, several wrong entries, an index without one entry yet."""
    table = made.batches([100] * 9)
    entries, times = made.indexed(table, 300)
    assert entries["position"].tolist() == [400, 800]
    say = lambda **more: ruler.finding(made.anatomy(table, entries, times, **more))  # noqa: E731
    assert say(tail=("torn", 45)) == "The log ends in 45 bytes that are no batch"
    assert say(tail=("zeros", 3 << 20)) == "The log ends in 3 MiB of zeros"
    assert say(state="active", tail=("torn", 45), unwritten=(7, 0)).startswith("The index was created at 72 B and 7 of its 9 slots")
    inside = made.anatomy(table, made.offset_entries([(4, 401)]), times)
    assert ruler.finding(inside) == "Slot 0 points into the middle of a batch"
    assert ruler.finding(made.anatomy(table, made.offset_entries([(4, 9000)]), times)) == "Slot 0 points beyond the last batch"
    lower = made.offset_entries([(4, 400), (3, 300)])
    assert ruler.finding(made.anatomy(table, lower, times)) == "The keys of the index do not grow at slot 1"
    both = made.offset_entries([(4, 401), (5, 501)])
    assert ruler.finding(made.anatomy(table, both, times)) == "2 entries of the index lead searches astray, the first in slot 0"
    fresh = made.anatomy(table, made.offset_entries([]), times, state="active", unwritten=(8, 0))
    assert ruler.finding(fresh) == "The index was created at 64 B and none of its 8 slots was written yet"
    wrong = made.anatomy(table, entries, made.time_entries([(1, 4), (2, 8)]))
    assert ruler.finding(wrong) == "2 entries of the time index disagree with the log, the first in slot 0"


def test_an_entry_for_an_append():
    """A key of a later batch: the title speaks of appends."""
    table = made.batches([100] * 9)
    assert ruler.finding(made.anatomy(table, made.offset_entries([(5, 400), (8, 700)]), made.time_entries([]))) == (
        "Every 400 bytes or so, one append gets an entry"
    )


def test_offsets_that_a_wrong_entry_hides():
    """From its key to the batch it points at, or to the next key."""
    table = made.batches([100] * 9)
    hidden = lambda pairs: ruler.missed_offsets(made.anatomy(table, made.offset_entries(pairs), None), 0)  # noqa: E731
    assert hidden([(2, 500)]) == (2, 4)
    assert hidden([(2, 500), (4, 400)]) == (2, 3)
    assert hidden([(2, 200)]) is None


@pytest.mark.parametrize(
    ("made_anatomy", "words"),
    [
        (lambda: even(9), "9 batches in 900 B. 1 has an index entry; the other 8 are reached by stepping from one that has."),
        (lambda: even(2, interval=0), "2 batches in 200 B. 1 has an index entry; the other 1 is reached by stepping from one that has."),
        (lambda: even(1), "1 batch in 100 B, none with an index entry: a search steps from the first one on."),
        (lambda: even(0), ""),
        (
            lambda: even(1, state="deleted"),
            "1 batch in 100 B, none with an index entry: a search steps from the first one on. "
            "Its files are renamed .deleted and wait to be removed.",
        ),
    ],
)
def test_the_sentence_below_the_title(made_anatomy, words):
    """How many batches, and how a search reaches them."""
    assert ruler.lead(made_anatomy()) == words


def test_a_directory_that_waits_for_its_deletion():
    """It is named after its state."""
    assert ruler.lead(even(0), "delete") == "The topic is deleted and its directory waits to be removed."


def test_a_small_segment_is_sent_whole():
    """Up to 5000 batches; the browser never asks."""
    shown = ruler.view(even(5000), Asked("", 0))
    assert shown.slice == Slice(0, 5000, 5000, 0, len(shown.entry_columns["key"]), 0, len(shown.time_columns["offset"]))
    assert len(shown.batch_columns["position"]) == 5000


@pytest.mark.parametrize(
    ("centre_row", "from_row"), [(0, 0), (1499, 0), (1500, 1000), (2499, 1000), (2500, 2000), (8999, 7001), (5000, 4000)]
)
def test_a_large_segment_is_sent_in_slices(centre_row, from_row):
    """2000 rows that start at a multiple of 1000; at least 500 on each side of the row asked for; the last slice is whole."""
    part = ruler.sliced(even(9001), centre_row)
    assert (part.from_row, part.to_row, part.rows) == (from_row, from_row + 2000, 9001)


def test_a_slice_has_the_entries_of_its_rows():
    """From the one that serves its first row on, to the last that points into it; times likewise."""
    whole = even(9001)
    part = ruler.sliced(whole, 3000)
    positions = whole.index.entries["position"][part.from_slot : part.to_slot]
    inside = (whole.batches["position"][part.from_row], whole.batches["position"][part.to_row - 1])
    assert positions[0] <= inside[0] < positions[1] and positions[-1] <= inside[1] < whole.index.entries["position"][part.to_slot]
    assert (part.from_time, part.to_time) == (part.from_slot, part.to_slot)  # here every entry has its time
    shown = ruler.view(whole, Asked("", 3000))
    assert shown.slice == part and shown.entry_columns["key"][0] == whole.index.entries["relative_offset"][part.from_slot]


def test_a_time_from_long_before_is_sent_with_its_entry():
    """The newest record came first of all; its time entry belongs to the first entry that was written."""
    table = made.batches([100] * 9000, times_ms=[5] + [1] * 8999)
    entries, times = made.indexed(table, 300)
    whole = made.anatomy(table, entries, times)
    assert len(times) == 1 and ruler.sliced(whole, 500).from_time == 0 and ruler.sliced(whole, 500).to_time == 1
    late = ruler.sliced(whole, 8000)
    assert (late.from_time, late.to_time) == (1, 1)
    sparse = made.anatomy(table, *made.indexed(table, 300_000))
    part = ruler.sliced(sparse, 3500)
    assert sparse.links.entry_batch[0] == 3001 and (part.from_row, part.from_slot, part.from_time) == (3000, 0, 0)


def test_columns_are_those_of_the_segment():
    """Offsets from the base offset; NONE where a link has no other end; a time entry alone has no slot."""
    whole = even(9, base_offset=2**60)
    shown = ruler.view(whole, Asked("", 4))
    assert shown.base_offset == 2**60 and shown.batch_columns["first"].tolist() == list(range(9)) == shown.batch_columns["last"].tolist()
    assert shown.batch_columns["slot"].tolist() == [NONE] * 5 + [0] + [NONE] * 3
    assert shown.batch_columns["via"].tolist() == [NONE] * 5 + [0] * 4
    entry = {name: column.tolist() for name, column in shown.entry_columns.items()}
    assert entry == {"key": [5], "position": [500], "batch": [5], "home": [5], "home_position": [500], "time": [0], "aim": [0]}
    time = {name: column.tolist() for name, column in shown.time_columns.items()}
    assert (time["offset"], time["slot"], time["batch"], time["true"]) == ([5, 8], [0, NONE], [5, 8], [True, True])


def test_the_overview_of_many_batches():
    """A thousand columns: entries that point into each, and how many batches begin there; each byte of a column counts once."""
    shown = ruler.view(even(4000, interval=1000), Asked("", 0))
    assert shown.overview.entries.shape == shown.overview.shades.shape == (1000,)
    assert shown.overview.entries.sum() == shown.index.written and set(shown.overview.shades.tolist()) == {255}
    assert ruler.view(even(1000), Asked("", 0)).overview is None


def test_the_overview_follows_the_shade():
    """Sizes grow from left to right, and so does the darkness; one huge batch covers all its columns."""
    table = made.batches(list(range(100, 2100)))
    shown = ruler.view(made.anatomy(table, *made.indexed(table, 4096)), Asked("", 0), "Size")
    shades = shown.overview.shades.astype(int)
    assert (np.diff(shades) >= 0).all() and shades[0] < 2 and shades[-1] == 255
    wide = made.batches([100] * 1500 + [150_000])
    shades = ruler.view(made.anatomy(wide, *made.indexed(wide, 4096)), Asked("", 0), "Size").overview.shades
    assert set(shades[510:].tolist()) == {255}


def test_the_overview_ends_where_the_batches_end():
    """Behind them lies what no batch is."""
    shades = ruler.view(even(2000, tail=("zeros", 200_000)), Asked("", 0)).overview.shades
    assert shades[499] > 0 and set(shades[500:].tolist()) == {0}


def test_shades_are_told():
    """By size: all but the largest hundredth; by age: from the oldest newest record to the newest; days where it is days."""
    table = made.batches([100] * 99 + [900], times_ms=[1_700_000_000_000 + step * 60_000 for step in range(100)])
    whole = made.anatomy(table, *made.indexed(table, 400))
    assert ruler.view(whole, Asked("", 0), "Size").hint.startswith("Each batch takes 100 B. Drag the window")
    assert ruler.view(whole, Asked("", 0), "Age").hint.startswith("Darker is newer, 22:13:20.000 – 23:52:20.000. Drag")
    assert ruler.view(whole, Asked("", 0)).hint.startswith("An entry is written once more than index.interval.bytes have passed. Drag")
    days = made.anatomy(made.batches([100, 100], times_ms=[1_700_000_000_000, 1_700_086_400_000]), None, None)
    assert ruler.view(days, Asked("", 0), "Age").hint.startswith("Darker is newer, 2023-11-14 22:13:20.000 – 2023-11-15 22:13:20.000.")
    none = made.anatomy(made.wrapped(made.batches([100, 100]), [0, 1]), None, None)
    assert ruler.view(none, Asked("", 0), "Age").darkest == (0, 0)


def test_lanes_say_what_they_lack():
    """A missing file, a file without an entry, slots that follow, a slot that was cut."""
    table = made.batches([100] * 9)
    entries, times = made.indexed(table, 400)
    shown = ruler.view(made.anatomy(table, None, None), Asked("", 0))
    assert shown.index.missing and shown.index.words.startswith("no .index: ") and shown.times.words.startswith("no .timeindex: ")
    shown = ruler.view(made.anatomy(table, entries, times, unwritten=(5, 6), trailing_bytes=(3, 0)), Asked("", 0))
    assert shown.index == Lane(1, 6, "zeros", "no entry", False, 3) and shown.times == Lane(2, 8, "zeros", "no entry", False, 0)
    assert (
        ruler.view(made.anatomy(table, entries, times, state="active", unwritten=(5, 6)), Asked("", 0)).index.unwritten == "never written"
    )
    old = made.anatomy(made.wrapped(table, range(9)), entries, made.time_entries([]))
    assert ruler.view(old, Asked("", 0)).times.words == "no entry: messages of magic 0 have no timestamp"


def test_what_is_said_of_a_lone_time_entry():
    """At a stop in the segment in use, else at the roll; nothing where the index is not whole."""
    assert (ruler.closing(even(9)), ruler.closing(even(9, state="active")), ruler.closing(even(9, state="deleted"))) == (
        "at the roll",
        "at a stop",
        "at the roll",
    )
    assert ruler.closing(even(9, unwritten=(3, 0))) == ruler.closing(even(9, trailing_bytes=(3, 0))) == ""
    assert ruler.closing(made.anatomy(made.batches([100]), None, None)) == ""


def test_an_offset_is_found():
    """In the batch that holds it; what is not in the segment, or no number, has no row and a reason."""
    table = made.batches([100] * 4, counts=[5, 5, 5, 5], base_offset=1000)
    whole = made.anatomy(table, None, None, 1000)
    assert [ruler.find(whole, text).row for text in ("1000", "1004", "1005", " 1019 ")] == [0, 0, 1, 3]
    assert ruler.find(whole, "1020") == Asked("1020", None, f"This segment holds 1{THIN}000 – 1{THIN}019")
    assert ruler.find(whole, "999").row is None and ruler.find(whole, "9" * 30).row is None
    for text in ("-1", "1e3", "offset", "１００１"):
        assert ruler.find(whole, text) == Asked(text, None, "An offset is a whole number")


def test_offsets_of_wrappers():
    """The first batch does not tell where it starts: the segment does."""
    whole = made.anatomy(made.wrapped(made.batches([100] * 3, [5, 5, 5], base_offset=40), [0]), None, None, 40)
    assert ruler.offsets(whole) == (40, 54) and ruler.find(whole, "41").row == 0


def test_what_is_shown_first():
    """A slot that is wrong, else the end of a file in use, else an entry of several records near the middle, else the middle."""
    table = made.batches([100] * 40, counts=[3 if row in (4, 28) else 1 for row in range(40)])
    entries, times = made.indexed(table, 300)
    sound = made.anatomy(table, entries, times)
    row = ruler.telling(sound).row
    assert (row, sound.links.batch_slot[row], len(entries)) == (28, 6, 9)
    assert ruler.telling(made.anatomy(table, None, None)) == Asked("", 20)
    active = made.anatomy(table, entries, times, state="active", unwritten=(9, 9))
    assert active.links.batch_slot[ruler.telling(active).row] == len(entries) - 3
    wrong = entries.copy()
    wrong["position"][2] = wrong["position"][5]
    led = ruler.telling(made.anatomy(table, wrong, times))
    assert (led.row, led.slot, led.time) == (sound.links.entry_batch[5], 2, NONE)
    moved = times.copy()
    moved["timestamp_ms"][4] += 1
    late = ruler.telling(made.anatomy(table, entries, moved))
    assert (late.row, late.slot, late.time) == (sound.links.time_batch[4], NONE, 4)


def test_the_end_is_in_view():
    """The last entry but two may lie too far before the end for one window."""
    table = made.batches([10_000] * 8 + [100] * 3)
    entries = made.offset_entries([(2, 20_000), (4, 40_000), (10, 80_200)])
    active = made.anatomy(table, entries, None, state="active", unwritten=(9, 0))
    assert ruler.telling(active).row == 4  # a window shows 4.81 gaps of 40 000 bytes, half of it before the last entry


def test_the_first_window_has_room_for_five_entries():
    """4.81 median gaps; without entries forty batches; a huge batch fits with something around it."""
    assert ruler.view(even(100), Asked("", 0)).span_bytes == int(500 * 4.81)
    assert ruler.view(even(4, interval=10_000), Asked("", 0)).span_bytes == 4000
    assert ruler.view(made.anatomy(made.batches([50, 100_000, 100_000]), None, None), Asked("", 0)).span_bytes == 40 * 100_000


@pytest.mark.parametrize(("position", "row"), [(0, 0), (99, 0), (100, 1), (899, 8), (900, 8), (10**12, 8), (-5, 0)])
def test_the_row_at_a_byte(position, row):
    """What lies outside belongs to the nearest end."""
    assert ruler.centre(even(9), position) == row


def test_an_offset_of_thousands_of_digits_is_none_of_this_segment():
    """An address may hold anything."""
    assert ruler.find(even(3), "9" * 5000).why.startswith("This segment holds")


def test_nothing_to_draw():
    """An empty log, one of zeros, one that was cut."""
    assert ruler.nothing(even(0))[0] == "Nothing was written here yet"
    assert "Its .index was made 64 B long" in ruler.nothing(even(0, state="active", unwritten=(8, 8)))[1]
    assert ruler.nothing(even(0, tail=("zeros", 12)))[1].startswith("It holds 12 bytes, all zeros")
    assert ruler.nothing(even(0, tail=("torn", 1)))[1] == "It holds 1 byte, the beginning of a batch and no more."


def test_why_an_index_has_no_entry():
    """The rule, and how many slots wait."""
    assert ruler.no_entry(even(1)).endswith("more than index.interval.bytes.")
    assert ruler.no_entry(even(1, unwritten=(8192, 0))).endswith(f"8{THIN}192 slots are waiting.")
    assert ruler.no_time(made.anatomy(made.wrapped(made.batches([100]), [0]), None, None)).startswith("Messages of magic 0")
    assert ruler.no_time(even(1)).startswith("A time entry comes with an index entry")


def unpacked(message: bytes) -> tuple[dict, dict[str, dict[str, list[int]]], np.ndarray]:
    """The words, the tables and the overview of a message, read as ruler.js reads them."""
    length = int.from_bytes(message[:8], "little")
    words, body = json.loads(message[8 : 8 + length]), message[8 + length :]
    tables = {}
    for name, columns in words["columns"].items():
        numbers = np.frombuffer(body[slice(*words["sections"][name])], "<i8").reshape(len(columns), -1)
        tables[name] = {column: row.tolist() for column, row in zip(columns, numbers, strict=True)}
    return words, tables, np.frombuffer(body[slice(*words["sections"]["overview"])], np.uint8)


def test_the_message_holds_the_view():
    """Words as JSON, columns as int64; the JSON is padded so that the columns are aligned."""
    whole = even(1200, base_offset=2**60)
    shown = ruler.view(whole, ruler.find(whole, str(2**60 + 7)), "Age")
    message = ruler.message(shown, "a segment", {"tp": "orders-0"})
    words, tables, overview = unpacked(message)
    assert int.from_bytes(message[:8], "little") % 8 == 0
    assert (words["key"], words["address"], words["base"], words["title"]) == ("a segment", {"tp": "orders-0"}, str(2**60), shown.title)
    assert words["asked"] == {"offset": str(2**60 + 7), "row": 7, "why": "", "slot": -1, "time": -1}
    assert words["slice"]["rows"] == 1200 and words["lanes"]["index"]["written"] == len(whole.index.entries)
    assert words["shade"] == {"by": "Age", "low": 1_700_000_000_000, "high": 1_700_000_001_199} and words["tail"] is None
    assert tables["batch"]["position"] == whole.batches["position"].tolist()
    assert tables["entry"]["key"] == whole.index.entries["relative_offset"].tolist()
    assert tables["time"]["timestamp"] == whole.times.entries["timestamp_ms"].tolist()
    assert overview.tolist() == [*shown.overview.entries.tolist(), *shown.overview.shades.tolist()]


def test_a_message_of_few_batches_has_no_overview():
    """And one without entries has empty tables."""
    shown = ruler.view(made.anatomy(made.batches([100, 100]), None, None, tail=("torn", 45)), Asked("", 0))
    words, tables, overview = unpacked(ruler.message(shown, "", {}))
    assert (tables["entry"]["key"], tables["time"]["offset"], len(overview)) == ([], [], 0)
    assert words["tail"] == {"kind": "torn", "size": 45} and (words["end"], words["size"]) == (200, 245)


def test_offsets_that_damage_pushed_beyond_int64():
    """A garbage offset far below the base wraps around and comes back exact, modulo 2**64, as the browser adds it."""
    table = made.batches([100, 100], base_offset=2**62)
    table["last_offset"][1] = -(2**62) - 5
    shown = ruler.view(made.anatomy(table, None, None, 2**62), Asked("", 0))
    relative = int(shown.batch_columns["last"][1])
    assert (2**62 + relative + 2**63) % 2**64 - 2**63 == -(2**62) - 5
