"""The views of the lab: the bytes around a damage, and the offsets that came, value by value."""

from dataclasses import replace

import pytest

from kafkaviz import versions
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say
from kafkaviz.units import DAY_MS, format_bytes, format_count, moment
from kafkaviz.workshop.lab import FAULTS, Damage, LogCopy, copy_log, views
from kafkaviz.workshop.lab.start_trial import RELEASE, StartTrial, run_trial
from kafkaviz.workshop.lab.views import DamageView, HexRow, PartKind


@pytest.fixture(scope="module")
def copy(clean) -> LogCopy:
    broker = open_broker(clean)
    return copy_log(broker, broker.partition("rolls-by-time-0"), 2400, versions.parse(RELEASE))


def trial(copy: LogCopy, fault: str, place: int) -> StartTrial:
    return run_trial(copy, FAULTS[fault], place)


def damage_view(copy: LogCopy, fault: str, place: int) -> DamageView:
    return views.damage_view(copy, trial(copy, fault, place).damage, fault, place)


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
    assert marked(view.before[0]) == [(5, "00"), (6, "7e"), (7, "8a")]
    assert marked(view.after[0]) == [(5, ""), (6, ""), (7, "")]


def test_zeros_behind_the_entries(copy):
    view = damage_view(copy, "index-padded", 16)
    assert marked(view.after[0]) == [(place, "00") for place in range(8, 16)]


def test_an_entry_in_words(copy):
    view = damage_view(copy, "key-lowered", 20)
    damaged = trial(copy, "key-lowered", 20).damage.copy
    was, is_now = (
        2400 + int(each.entries("index")["relative_offset"][3]) for each in (copy, damaged)
    )
    assert was - is_now == 20
    assert f"offset {format_count(was)}, byte" in view.note_before
    assert f"offset {format_count(is_now)}, byte" in view.note_after


def test_a_setting_is_no_file(copy):
    view = damage_view(copy, "limit", 7)
    assert (view.before, view.after) == ((), ())
    assert view.note_after == "segment.index.bytes = 56"
    assert views.strip(trial(copy, "limit", 7)).broken is None


def parts(strip) -> list[tuple[PartKind, int, int]]:
    return [(part.kind, part.first, part.last) for part in strip.after.parts]


def test_the_strip_of_an_exception(copy):
    """Up to the batch that is broken; the log is that of 5000 records and 13 segments."""
    strip = views.strip(trial(copy, "bit", 156))
    assert parts(strip) == [(PartKind.READ, 0, 2599), (PartKind.MISSING, 2600, 4999)]
    assert strip.after.mark == (0.52, "exception at 2\u202f600")
    assert strip.broken == (0.48, 0.558)
    assert len(strip.segments) == 12


def test_the_strip_of_a_hole(copy):
    assert parts(views.strip(trial(copy, "cut", 1))) == [
        (PartKind.READ, 0, 2783),
        (PartKind.MISSING, 2784, 2789),
        (PartKind.READ, 2790, 4999),
    ]


def test_the_strip_of_a_time(copy):
    strip = views.strip(trial(copy, "clock", 200))
    assert (strip.before.mark, strip.after.mark) == ((0.558, "2\u202f790"), (0.52, "2\u202f600"))


def test_what_was_done_is_said_in_order(copy):
    view = views.trial_view(trial(copy, "bit-killed", 156), (), RELEASE)
    assert view.title.endswith("log at byte 18\u202f517 · 2\u202f600 of 5\u202f000 records")
    (_, check), (_, start), (_, consumer) = view.rows
    assert check == ("Finds nothing",)
    assert start[0].startswith("Cuts 00000000000000002400.log 17.1 KiB from byte 18\u202f517: ")
    assert start[1].startswith("Deletes 00000000000000002790.log 36.1 KiB: segment 2400 lost")
    assert start[2].startswith("And ")
    assert consumer == ("Gets offsets 0 to 2\u202f599, and no error; the log ends there",)


def test_what_is_chosen_by_a_place_is_named():
    """A slot is one of an index; a fault of a killed broker is chosen as one of a stopped one."""
    assert views.place_label("position-moved") == say("segment.head_slot")
    assert views.place_label("bit-killed") == views.place_label("bit")


def test_a_file_that_is_removed_has_no_bytes_after(copy):
    view = damage_view(copy, "index-removed", 0)
    assert view.before and view.after == ()
    assert (view.note_before, view.note_after) == ("", say("evidence.no_file"))


def test_an_entry_of_a_time_in_words(copy):
    view = damage_view(copy, "time-late", 1)
    damaged = trial(copy, "time-late", 1).damage.copy
    before, after = (int(each.entries("timeindex")["timestamp_ms"][1]) for each in (copy, damaged))
    assert after - before == DAY_MS
    assert moment(before) in view.note_before and moment(after) in view.note_after


def test_a_file_that_grows_from_the_end_of_a_row_shows_the_row_before(copy):
    """Else its old end would not be seen."""
    new = bytes(range(48))
    damage = Damage(
        copy=copy, file=copy.name("index"), start=32, stop=32, before=new[:32], after=new
    )
    view = views.damage_view(copy, damage, "index-padded", 16)
    assert [row.position for row in view.after] == [16, 32]
    assert marked(view.after[0]) == []


def test_a_byte_behind_the_batches_is_in_no_field(copy):
    log = copy.content("log")
    damage = Damage(
        copy=copy, file=copy.name("log"), start=len(log), stop=len(log), before=log, after=b""
    )
    assert say("break_it.in_field", field="") not in views._describe(copy, damage, "bit", 0)
    assert views._field_text(copy, damage) == ""


def test_a_start_that_fails_serves_nobody(copy):
    """Its step has no size, and the exception is its reason."""
    epochs = trial(copy, "epochs", 0)
    assert views.describe_reading(epochs) == say("break_it.not_served")
    view = views.trial_view(epochs, (), RELEASE)
    assert view.title.endswith(say("break_it.no_broker"))
    (step_line,) = view.rows[1][1]
    assert epochs.steps[0].error in step_line and " B" not in step_line.split(":")[0]


def test_an_index_that_is_rebuilt_has_a_new_size(copy):
    rebuilt = trial(copy, "index-removed", 0)
    (step,) = rebuilt.steps
    (step_line,) = views.trial_view(rebuilt, (), RELEASE).rows[1][1]
    assert say("health.to_size", size=format_bytes(step.size_bytes)) in step_line


def test_a_client_of_a_time_gets_an_answer_an_error_or_none(copy):
    clock = trial(copy, "clock", 200)
    time, expected = moment(clock.timestamp_ms), format_count(clock.expected_reading.answer)
    unanswered = replace(clock.reading, answer=None)
    failed = replace(unanswered, error="x", error_class="org.apache.kafka.KafkaStorageException")
    readings = (clock.reading, failed, unanswered)
    sentences = [views.describe_reading(replace(clock, reading=each)) for each in readings]
    answer = format_count(clock.reading.answer)
    assert sentences == [
        say("break_it.client_other", answer=answer, time=time, expected=expected),
        say("break_it.client_error", time=time, error="KafkaStorageException"),
        say("break_it.client_none", time=time, expected=expected),
    ]


def test_a_consumer_gets_less_than_it_should(copy):
    cut = trial(copy, "cut", 1)
    first, *others = cut.expected_reading.ranges
    shifted = replace(first, first=first.first + 1, last=first.last + 1)
    all_ranges = ((), cut.reading.ranges, (shifted, *others))
    readings = [replace(cut.reading, ranges=ranges) for ranges in all_ranges]
    sentences = [views.describe_reading(replace(cut, reading=reading)) for reading in readings]
    missing = say("break_it.range", first="2\u202f784", last="2\u202f789")
    received, count = format_count(cut.reading.record_count), "5\u202f000"
    assert sentences == [
        say("break_it.consumer_empty"),
        say("break_it.consumer_missing", ranges=missing, received=received, count=count),
        say("break_it.consumer_shifted", received=count, count=count),
    ]
