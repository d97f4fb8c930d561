"""The claims of the steps on attributes, dumps, settings and others, compared with Kafka's bytes,
answers and tool output.
"""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import config_def
from kafkaviz.binary.file_view import in_memory
from kafkaviz.errors import RefusedSetting
from kafkaviz.figures.tuning import index_size_curve
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import view_partition, view_segment
from kafkaviz.simulate import lesson_growth
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.lesson_growth import Append, StepKind, Truncate
from kafkaviz.simulate.recovery import INVALID_OFFSET, OFFSET_OVERFLOW
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.units import format_bytes
from kafkaviz.workshop.figures import LIVE, file_bytes, lookups, segments, tuning
from kafkaviz.workshop.lessons.grammar import NoValue
from tests.conftest import DATA
from tests.support.pages import open_page, page_html
from tests.support.vectors import json_lines
from tests.workshop.lesson_text import block, figure, prose, right, step

GOLDEN = Path(__file__).parents[1] / "golden"
LANGUAGES = ["en", "zh"]


# ---- the skip list

KEYS = (0, 49, 98, 147, 196)


@pytest.mark.parametrize("target", [0, 1, 48, 49, 147, 160, 196, 5000])
def test_a_skip_list_gives_the_floor(target):
    """As numpy has it, for keys, what lies between them, and what lies behind."""
    view = lookups.skip_list_view(KEYS, target, "a-0", "here")
    assert view.floor == np.searchsorted(KEYS, target, side="right") - 1


def test_nothing_is_below_the_first_key():
    view = lookups.skip_list_view(KEYS[1:], 3, "a-0", "here")
    assert view.floor == lookups.HEAD
    assert not any(each.is_right for each in view.comparisons)


def test_one_node_in_four_is_on_the_second_level():
    """And half as many on each above, as Java draws them on average."""
    heights = lookups.even_heights(64)
    assert [sum(height > level for height in heights) for level in range(1, 5)] == [16, 8, 4, 2]


def test_the_list_of_the_lesson_is_that_of_the_sample(clean):
    """Its keys are the base offsets of tiny-index-0, and six comparisons find the floor."""
    view = LIVE["skip-list"].make(figure("three-files", 1, "skip-list"))
    segments = open_broker(clean).partition("tiny-index-0").segments
    assert view.keys == tuple(segment.base_offset for segment in segments)
    assert view.keys[view.floor] == 980
    assert [view.keys[each.place] for each in view.comparisons] == [735, 1127, 931, 1127, 980, 1029]


# ---- Kafka's tool


def test_a_dump_is_what_kafkas_tool_printed():
    """Of the index with a wrong entry: the lines of the tool of 4.3.1, and what it says of it."""
    dump = LIVE["dump"].make(figure("after-a-crash", 3, "dump"))
    folder = GOLDEN / "kafka-4.3.1-damaged" / "bookings-0"
    printed = (folder / f"{858:020}.index.out").read_text().splitlines()
    complaint = (folder / f"{858:020}.index.err").read_text().splitlines()
    assert printed[: len(dump.entries) + 1] == [f"Dumping {dump.path}", *dump.entries]
    assert dump.count == len(printed) - 1
    assert dump.mismatches[1:] == tuple(line for line in complaint if line.startswith("  Index"))
    assert complaint[0].startswith("Mismatches in :")
    assert complaint[0].endswith(dump.path)


def test_a_sound_index_has_no_mismatch():
    """The first line is the entry that the step before decodes."""
    dump = LIVE["dump"].make(figure("three-files", 5, "dump"))
    assert dump.entries[0] == "offset: 10948 position: 4179"
    assert dump.mismatches == ()


def test_a_dump_needs_an_index():
    """A segment whose .index was removed says so."""
    with pytest.raises(NoValue, match="index"):
        LIVE["dump"].make(block("dump", data="kafka-4.3.1-damaged", tp="rides-0", segment=1811))


# ---- attributes, idempotence


def test_attributes_of_five_batches():
    """As the headers of 4.3.1's batches have them, bit by bit."""
    view = LIVE["attributes"].make(figure("batches", 8, "attributes"))
    rows = [row[2:] for row in file_bytes.attribute_rows(view)]
    bits = "0000_0011 0000_1011 0001_0000 0011_0000 0100_0011"
    assert rows[0] == tuple(bits.replace("_", "\u202f").split(" "))
    assert rows[1] == ("lz4", "lz4", "none", "none", "lz4")
    assert rows[2:6] == [tuple("01000"), tuple("00110"), tuple("00010"), tuple("00001")]
    assert rows[8] == ("0", "–", "75", "76", "–")


def test_a_producer_numbers_its_records(clean):
    """The next batch of orders-0 has the sequence behind the last one of the batch before."""
    batches = open_broker(clean).partition("orders-0").segments[0].batches()
    (producer,) = np.unique(batches["producer_id"])
    assert producer >= 0
    ends = batches["base_sequence"] + batches["record_count"]
    assert (batches["base_sequence"][1:] == ends[:-1]).all()


def test_an_offset_without_a_batch_is_refused():
    """The log of heartbeat-0 ends at 39999."""
    after_the_end = block("attributes", data="kafka-4.3.1-clean", batch=(("heartbeat-0", 40000),))
    with pytest.raises(NoValue, match="40000"):
        LIVE["attributes"].make(after_the_end)


# ---- truncation


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_a_cut_keeps_the_entries_below(spoken):
    """The lesson's answer by its own rule: the ceiling of the offset, as a count."""
    (question,) = step("binary-search", 5, spoken).blocks("predict")
    *keys, offset = map(int, re.findall(r"\d+", question["ask"])[:6])
    assert (keys, offset) == ([6, 14, 22, 26, 31], 22)
    assert right("binary-search", 5, spoken).startswith(str(np.searchsorted(keys, offset)))
    assert int(re.findall(r"\d+", question["reveal"])[-1]) == np.searchsorted(keys, 23)


@pytest.mark.parametrize("offset", [59, 60, 109, 110, 159, 160])
def test_the_simulated_index_keeps_as_many(offset):
    """truncateTo of the writer that Kafka's histories hold, at each key and behind it."""
    acts = [Append(1000, 10, lesson_growth.START_MS + number) for number in range(18)]
    acts.append(Truncate(offset, lesson_growth.START_MS))
    config = lesson_growth.first_segments().config
    last = lesson_growth.grow(config, acts, lesson_growth.START_MS).steps[-1]
    assert last.kind == StepKind.TRUNCATE
    assert last.after.offset_entries == np.searchsorted([59, 109, 159], offset)


def test_the_figure_is_at_the_cut():
    """The growth begins at its truncation, where the time index loses one entry of three."""
    number = figure("binary-search", 5, "growth")["step"]
    cut = lesson_growth.first_segments().steps[number - 1]
    assert cut.kind == StepKind.TRUNCATE
    assert (cut.before.offset_entries, cut.after.offset_entries) == (3, 3)
    assert (cut.before.time_entries, cut.after.time_entries) == (3, 2)
    assert cut.after.since_bytes == 0


# ---- what a lookup takes


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_share_of_a_lookup(spoken):
    """The numbers of the answer are those of the figure: 22 µs, 839 µs, 2.6 %."""
    *_, largest = tuning.share_rows(
        LIVE["fetch-share"].make(figure("warm-section", 7, "fetch-share"))
    )
    (question,) = step("warm-section", 7, spoken).blocks("predict")
    said = re.findall(r"[\d.]+", question["reveal"])[:3]
    numbers = [re.search(r"[\d.]+", largest[column])[0] for column in (3, 1, 2)]
    assert said == numbers == ["2.6", "22", "839"]
    assert "3 %" in right("warm-section", 7, spoken)


# ---- two indexes, two names


def test_two_indexes_side_by_side():
    """Slots, the one that is kept, the warm section, and the entries of a real segment."""
    facts = segments.index_facts(LIVE["indexes"].make(figure("time", 6, "indexes")))
    rows = [row[1:] for row in facts]
    assert rows[2:7] == [
        ("8", "12"),
        ("250", "251"),
        ("1\u202f310\u202f720", "873\u202f813"),
        ("1\u202f310\u202f720", "873\u202f812"),
        ("1\u202f025", "683"),
    ]


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_the_name_that_counts(spoken):
    """The first broker name of the setting, which config_def holds against Kafka's LogConfig."""
    setting = config_def.setting("segment.ms")
    name, _ = setting.broker_names[0]
    assert right("rolls", 5, spoken).startswith(name)
    (question,) = step("rolls", 5, spoken).blocks("predict")
    hours = re.search(r"log\.roll\.hours=(\d+)", question["ask"])[1]
    assert setting.parse(hours, (4, 4), "log.roll.hours") == setting.default((4, 4))


def test_a_broker_has_names_of_its_own():
    """In the order in which they count; before the answer in that of the alphabet."""
    names = LIVE["settings"].make(figure("rolls", 5, "settings"))
    by_topic = {topic: broker for topic, broker, _ in tuning.name_rows(names)}
    assert by_topic["segment.index.bytes"] == "log.index.size.max.bytes"
    assert by_topic["segment.ms"] == "log.roll.ms → log.roll.hours"
    asked = {topic: names for topic, names, _ in tuning.name_rows(names, is_ordered=False)}
    assert asked["segment.ms"] == "log.roll.hours / log.roll.ms"


def test_a_name_that_is_none_is_refused():
    with pytest.raises(RefusedSetting, match=r"segment\.byte"):
        LIVE["settings"].make(block("settings", name=("segment.byte",), release="4.4"))


# ---- what an append refuses


@pytest.fixture(scope="module")
def recorded_exceptions() -> str:
    """Returns the exceptions that 4.3.1's classes threw in recorded histories."""
    with gzip.open(DATA / "histories.jsonl.gz", "rt", encoding="utf-8") as lines:
        return lines.read()


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize(
    "words", ["Attempt to append to a full index (size = 8).", "to a full time index"]
)
def test_the_words_of_a_full_index_are_kafkas(spoken, words, recorded_exceptions):
    assert words in recorded_exceptions
    said = step("rolls", 4, spoken).blocks("misleads")[0]["so"]
    assert words in said


@pytest.mark.parametrize(
    ("name", "number", "exception"),
    [
        ("three-files", 4, "LogSegmentOffsetOverflowException"),
        ("last-offset", 2, "InvalidOffsetException"),
        ("rolls", 4, "IllegalArgumentException"),
    ],
)
def test_an_exception_has_kafkas_name(name, number, exception):
    """As the simulated appends, which recorded histories hold, give it."""
    texts = [prose(name, number), *(each["so"] for each in step(name, number).blocks("misleads"))]
    assert any(f"`{exception}`" in text for text in texts)
    known = (INVALID_OFFSET, OFFSET_OVERFLOW, ILLEGAL_ARGUMENT)
    assert any(each.endswith(f".{exception}") for each in known)


# ---- a file that was renamed


def test_an_index_without_a_log_is_deleted():
    """Kafka's own loader, in every recorded load that wrote one."""
    orphans = [
        (name, load["files"])
        for load in json_lines(DATA / "restarts.jsonl.gz")
        if "files" in load
        for change, name, *_ in load["changes"]
        if change == "write" and name.endswith(".index")
    ]
    assert len(orphans) > 5
    assert not any(name in files for name, files in orphans)


def test_an_index_of_an_unknown_ending_is_left_alone(clean):
    """And is missing: the start recovers the segment, as of one that was removed."""
    files = {
        path.name: path.read_bytes()
        for path in (clean / "tiny-index-0").iterdir()
        if path.name.startswith(f"{0:020}.")
    }
    index = files.pop(f"{0:020}.index")
    files[f"{0:020}.index.bak"] = index
    load = LogLoader(
        StoredLog(
            directory="t-0",
            files=tuple(in_memory(name, data) for name, data in files.items()),
            config=IndexConfig(150, 300),
            recovery_point=10**6,
            log_start_offset=0,
        ),
        clean=True,
        behaviour=release_behaviour((4, 3, 1)),
    )
    steps = load.run()
    left = load.files()
    assert left[f"{0:020}.index.bak"].content() == index
    assert left[f"{0:020}.index"].content() == index
    assert ("rebuild", "index-missing") in {(each.action, each.cause) for each in steps}


# ---- the time of a segment


def test_a_segment_without_a_time_entry_counts_by_its_file(damaged):
    """The .timeindex of rides-0/607 was removed: 4.3.1 takes the modification time of its .log."""
    segment = open_broker(damaged).partition("rides-0").segment(607)
    modified_ms = segment.log.path.stat().st_mtime_ns // 10**6
    assert view_segment(segment).largest_timestamp_ms == modified_ms


def test_largest_timestamps_need_not_rise(damaged):
    views = view_partition(open_broker(damaged).partition("rides-0")).segments
    times = {view.base_offset: view.largest_timestamp_ms for view in views}
    assert times[607] > times[1211]


# ---- another index size


@pytest.mark.parametrize("spoken", LANGUAGES)
def test_what_the_default_size_does_is_as_the_step_says(spoken):
    """12 341 times fewer rolls, 302 359 entries, six reads; each in both languages."""
    sizes = LIVE["index-size"].make(figure("after-a-crash", 6, "index-size"))
    rows = {
        row[0]: dict(zip(index_size_curve.COLUMNS, row, strict=True))
        for row in index_size_curve.rows(sizes.outcomes, sizes.costs)
    }
    today, default = rows[300], rows[10 << 20]
    (question,) = step("after-a-crash", 6, spoken).blocks("predict")
    reveal = question["reveal"]
    assert f"{round(today['rolls_a_gib'] / default['rolls_a_gib']):,}".replace(",", " ") in reveal
    assert f"{default['entries']:,}".replace(",", " ") in reveal
    assert format_bytes(default["segment_log_bytes"]) in reveal
    assert format_bytes(today["segment_log_bytes"]) in reveal
    assert (today["ends_a_segment"], default["ends_a_segment"]) == ("time-index-full", "time")
    assert (round(today["cold_reads_mean"]), round(default["cold_reads_mean"])) == (1, 6)
    assert f"{default['cold_mean_us'] / 1000:.1f}" in reveal
    assert f"{today['cold_mean_us'] / 1000:.1f}" in reveal
    assert default["cold_mean_us"] > today["cold_mean_us"]  # a lookup takes longer, as is right


@pytest.mark.parametrize("spoken", LANGUAGES)
@pytest.mark.parametrize("answers", ["", "after-a-crash.6b"])
def test_the_step_of_the_index_size_is_drawn(spoken, answers, request):
    if spoken == "zh":
        request.getfixturevalue("chinese")
    at = open_page("workshop", lesson="after-a-crash", at="6", answers=answers)
    # the map of both settings would tell the answer
    assert len(at.get("plotly_chart")) == (2 if answers else 1)
    assert ("12\u202f341" in page_html(at)) == bool(answers)
