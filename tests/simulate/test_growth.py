"""A log that grows step by step: the included stories, number by number."""

from kafkaviz.simulate import lesson_growth
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.lesson_growth import Append, StepKind, Truncate
from kafkaviz.simulate.writer.roll_reason import RollCause


def of_kind(log_growth: lesson_growth.LogGrowth, what: StepKind) -> list[lesson_growth.GrowthStep]:
    return [step for step in log_growth.steps if step.kind == what]


def test_batches_of_1000_bytes():
    """Five per entry: (59, 5000) and (109, 10000); equal timestamps get no time entry."""
    log_growth = lesson_growth.first_segments()
    appends = of_kind(log_growth, StepKind.APPEND)
    numbered = list(enumerate(appends[:18], start=1))
    assert [number for number, step in numbered if step.has_offset_entry] == [6, 11, 16]
    assert [number for number, step in numbered if step.has_time_entry] == [6, 11]
    assert log_growth.segments[0].offsets == [(59, 5000), (109, 10_000), (159, 15_000)]
    since_bytes = [step.before.since_bytes for step in appends[:7]]
    assert since_bytes == [*range(0, 6000, 1000), 1000]
    first = log_growth.steps[0].after
    assert (first.index_bytes, first.timeindex_bytes) == (10_485_760, 10_485_756)


def test_a_restart_forgets_the_counter():
    """The stop adds a time entry and cuts both files; the start preallocates them again."""
    log_growth = lesson_growth.first_segments()
    (stop,), (start,) = of_kind(log_growth, StepKind.STOP), of_kind(log_growth, StepKind.RESTART)
    assert stop.has_time_entry and not stop.has_offset_entry
    assert (stop.after.index_bytes, stop.after.timeindex_bytes) == (24, 36)
    assert (start.before.since_bytes, start.after.since_bytes) == (3000, 0)
    assert (start.after.index_bytes, start.after.timeindex_bytes) == (10_485_760, 10_485_756)


def test_a_truncation_takes_entries_with_it():
    """Back to offset 170: the time entry of the stop was at 179."""
    log_growth = lesson_growth.first_segments()
    (cut,) = of_kind(log_growth, StepKind.TRUNCATE)
    assert (cut.before.log_bytes, cut.after.log_bytes, cut.offset) == (23_000, 17_000, 170)
    assert (cut.before.time_entries, cut.after.time_entries) == (3, 2)
    assert (cut.after.offset_entries, cut.after.since_bytes) == (3, 0)
    last_offsets = [batch[2] for batch in log_growth.segments[cut.segment].batches[:18]]
    assert last_offsets == [*range(9, 170, 10), 179]


def test_a_roll_by_size_cuts_both_files():
    """Four entries each, the last of the time index written by the roll."""
    log_growth = lesson_growth.first_segments()
    (roll,), (trim,) = of_kind(log_growth, StepKind.ROLL), of_kind(log_growth, StepKind.TRIM)
    assert roll.reason.cause == RollCause.SIZE
    assert str(roll.reason.numbers()) == "24\u202f000 + 1\u202f000 > 24\u202f000 B"
    assert roll.has_time_entry and not roll.has_offset_entry
    assert (trim.before.index_bytes, trim.after.index_bytes) == (10_485_760, 32)
    assert (trim.before.timeindex_bytes, trim.after.timeindex_bytes) == (10_485_756, 48)


def test_a_published_example():
    """Strimzi, "Kafka segment retention": 24 entries, .index 192 B, .timeindex 288 B, offsets 0 to
    48 in the first segment.
    """
    log_growth = lesson_growth.full_time_index()
    (roll,), (trim,) = of_kind(log_growth, StepKind.ROLL), of_kind(log_growth, StepKind.TRIM)
    assert roll.reason.cause == RollCause.TIME_INDEX_FULL
    assert roll.before.time_entries == roll.before.offset_entries == 24
    assert (trim.after.index_bytes, trim.after.timeindex_bytes) == (192, 288)
    assert log_growth.segments[0].batches[-1][2] == 48 and log_growth.segments[1].base_offset == 49
    assert (trim.before.index_bytes, trim.before.timeindex_bytes) == (296, 300)


def test_a_step_shows_no_more_than_there_was():
    for log_growth in (lesson_growth.first_segments(), lesson_growth.full_time_index()):
        for step in log_growth.steps:
            segment, now = log_growth.segments[step.segment], step.after
            assert now.batches <= len(segment.batches)
            assert now.offset_entries <= len(segment.offsets)
            assert now.time_entries <= len(segment.times)


def test_a_batch_that_kafka_refuses_ends_it():
    appends = [Append(100, 1, 5), Append(600, 1, 6), Append(100, 1, 7)]
    log_growth = lesson_growth.grow(LogConfig(segment_bytes=500), appends, 0)
    (failed,) = of_kind(log_growth, StepKind.FAIL)
    assert "RecordBatchTooLargeException" in failed.words and failed.after.log_bytes == 100


def test_truncated_to_nothing():
    changes = [Append(100, 1, 5), Append(100, 1, 6), Truncate(0, 7), Append(100, 1, 8)]
    *_, cut, append = lesson_growth.grow(LogConfig(), changes, 0).steps
    assert (cut.after.log_bytes, append.after.log_bytes, append.last_offset) == (0, 100, 0)


def test_a_stream_grows_as_its_batches_do():
    """Only rows, without bytes, up to the batch that Kafka refuses."""
    config = LogConfig(segment_bytes=500, index_interval_bytes=200)
    appends = [Append(size_bytes, 2, place) for place, size_bytes in enumerate([100] * 7 + [600])]
    rows = lesson_growth._rows([*appends, Append(100, 2, 9)])
    grown = lesson_growth.grow_by_rows(config, rows, 0)
    assert grown == lesson_growth.grow(config, appends, 0)
    assert grown.steps[-1].kind is StepKind.FAIL and len(of_kind(grown, StepKind.ROLL)) == 1
