"""The views of the lab: the bytes around a damage, and the offsets that came, value by value."""

import pytest

from kafkaviz import versions
from kafkaviz.analysis.fault_injection.faults import FAULTS
from kafkaviz.analysis.fault_injection.log_copy import LogCopy, copy_log
from kafkaviz.analysis.fault_injection.start_trial import RELEASE, StartTrial, run_trial
from kafkaviz.figures.fault_injection import damage_bytes, trial_result
from kafkaviz.figures.fault_injection.damage_bytes import DamageView, HexRow
from kafkaviz.figures.fault_injection.trial_result import PartKind
from kafkaviz.log.broker import open_broker
from kafkaviz.units import group


@pytest.fixture(scope="module")
def copy(clean) -> LogCopy:
    broker = open_broker(clean)
    return copy_log(broker, broker.partition("rolls-by-time-0"), 2400, versions.parse(RELEASE))


def trial(copy: LogCopy, fault: str, place: int) -> StartTrial:
    return run_trial(copy, FAULTS[fault], place)


def damage_view(copy: LogCopy, fault: str, place: int) -> DamageView:
    return damage_bytes.view(copy, trial(copy, fault, place).damage, fault, place)


def marked(row: HexRow) -> list[tuple[int, str]]:
    """The bytes of a row that changed, by their places in it."""
    return [(place, text) for place, (text, has_changed) in enumerate(row.cells) if has_changed]


def test_a_flipped_bit_is_one_byte(copy):
    view = damage_view(copy, "bit", 156)
    assert view.title.endswith("bit 4 of byte 18\u202f673 flipped, in the field value")
    assert [row.position for row in view.before] == [18672]
    assert (marked(view.before[0]), marked(view.after[0])) == ([(1, "34")], [(1, "24")])


def test_a_killed_broker_has_its_recovery_point(copy):
    assert damage_view(copy, "bit-killed", 156).stop == "killed, recovery point 2\u202f400"


def test_what_is_cut_off_is_no_byte_after(copy):
    view = damage_view(copy, "index-cut", 3)
    assert [row.position for row in view.before] == [48]
    assert (marked(view.before[0]), marked(view.after[0])) == (
        [(5, "00"), (6, "7e"), (7, "8a")],
        [(5, ""), (6, ""), (7, "")],
    )


def test_zeros_behind_the_entries(copy):
    view = damage_view(copy, "index-padded", 16)
    assert marked(view.after[0]) == [(place, "00") for place in range(8, 16)]


def test_an_entry_in_words(copy):
    view = damage_view(copy, "key-lowered", 20)
    before, after = (
        copy.entries("index"),
        trial(copy, "key-lowered", 20).damage.copy.entries("index"),
    )
    was, is_now = (2400 + int(entries["relative_offset"][3]) for entries in (before, after))
    assert was - is_now == 20
    assert f"offset {group(was)}, byte" in view.note_before
    assert f"offset {group(is_now)}, byte" in view.note_after


def test_a_setting_is_no_file(copy):
    view = damage_view(copy, "limit", 7)
    assert (view.before, view.after) == ((), ())
    assert view.note_after == "segment.index.bytes = 56"
    assert trial_result.strip(trial(copy, "limit", 7)).broken is None


def test_the_strip_of_an_exception(copy):
    """Up to the batch that is broken; the log is that of 5000 records and 13 segments."""
    strip = trial_result.strip(trial(copy, "bit", 156))
    assert [(part.kind, part.first, part.last) for part in strip.after.parts] == [
        (PartKind.READ, 0, 2599),
        (PartKind.MISSING, 2600, 4999),
    ]
    assert strip.after.mark == (0.52, "exception at 2\u202f600")
    assert strip.broken == (0.48, 0.558)
    assert len(strip.segments) == 12


def test_the_strip_of_a_hole(copy):
    strip = trial_result.strip(trial(copy, "cut", 1))
    assert [(part.kind, part.first, part.last) for part in strip.after.parts] == [
        (PartKind.READ, 0, 2783),
        (PartKind.MISSING, 2784, 2789),
        (PartKind.READ, 2790, 4999),
    ]


def test_the_strip_of_a_time(copy):
    """The right answer above, the wrong one below."""
    strip = trial_result.strip(trial(copy, "clock", 200))
    assert (strip.before.mark, strip.after.mark) == ((0.558, "2\u202f790"), (0.52, "2\u202f600"))


def test_what_was_done_is_said_in_order(copy):
    view = trial_result.view(trial(copy, "bit-killed", 156), (), RELEASE)
    assert view.title == "The start cuts at byte 18\u202f517 · 2\u202f600 of 5\u202f000 records"
    (_, check), (_, start), (_, consumer) = view.rows
    assert check == ("Finds nothing",)
    assert start[0].startswith(
        "Cuts 00000000000000002400.log 17.1 KiB from byte 18\u202f517: the broker"
    )
    assert start[1].startswith("Deletes 00000000000000002790.log 36.1 KiB: segment 2400 lost")
    assert start[2].startswith("And ")
    assert consumer == ("Gets offsets 0 to 2\u202f599, and no error; the log ends there",)
