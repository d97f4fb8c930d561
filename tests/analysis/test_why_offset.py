"""Why a timestamp gave its offset: the skipped segments, and the closest record."""

from collections.abc import Callable

import numpy as np
import pytest

from kafkaviz import units, versions
from kafkaviz.analysis.lookup import why_offset
from kafkaviz.analysis.lookup.why_offset import RecordTime
from kafkaviz.analysis.segment import batch_table
from kafkaviz.analysis.segment.batch_table import table_of_rows
from kafkaviz.errors import CorruptFile
from kafkaviz.figures.lookup import why_offset as figure
from kafkaviz.format.batch_records import RecordHead
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, verbatim
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import by_timestamp
from kafkaviz.search.scan import run_search
from kafkaviz.simulate import lesson_logs
from tests.pipeline.whole_logs import batch

PRACTICE = lesson_logs.five()


def heads_at(base_offset: int, position: int) -> list[RecordHead]:
    """Returns the records of the batch at a byte of the practice log."""
    segment = PRACTICE.log.segments[0]
    return list(run_search(segment, lambda log: list(next(log.batches(position)).heads())))


def explain(
    after_ms: int, batches: np.ndarray | None = PRACTICE.batches, records: Callable = heads_at
) -> why_offset.OffsetExplanation:
    """Explains the answer of the practice log to a time after its start."""
    profile = versions.search_profile()
    return why_offset.explain_offset(
        by_timestamp(PRACTICE.log, lesson_logs.START_MS + after_ms, profile),
        PRACTICE.log,
        lambda base_offset: None if batches is None else table_of_rows(batches),
        records,
    )


def no_records(base_offset: int, position: int) -> list[RecordHead]:
    return []


def test_the_closest_is_not_the_answer():
    """Just after a record, that record is the closest; Kafka returns the next."""
    explanation = explain(2601)
    assert explanation.answer == RecordTime(23, lesson_logs.START_MS + 3240)
    assert explanation.closest == RecordTime(22, lesson_logs.START_MS + 2600)
    assert [segment.fate for segment in explanation.segments] == ["searched"]
    assert explanation.older_batches == 0


def test_a_damaged_batch_is_left_out_and_reported():
    """The closest of the others is given; Kafka itself may not read the damaged batch."""

    def records(base_offset: int, position: int) -> list[RecordHead]:
        if position == 656:
            raise CorruptFile("0.log", position, verbatim("no record"))
        return heads_at(base_offset, position)

    explanation = explain(2601, records=records)
    problem = verbatim("no record")
    assert explanation.faults == (
        message("errors.at_byte_of_file", path="0.log", position=656, problem=problem),
    )
    assert explanation.closest == RecordTime(16, lesson_logs.START_MS + 2050)
    assert "1 batch near the target was left out" in " ".join(figure.view(explanation).notes)


def test_every_target_has_its_closest_record():
    """Compared with all records of the log."""
    heads = [head for row in PRACTICE.batches for head in heads_at(0, int(row["position"]))]
    for after_ms in range(0, 4200, 61):
        target = lesson_logs.START_MS + after_ms
        nearest = min(heads, key=lambda head: (abs(head.timestamp_ms - target), head.offset))
        assert explain(after_ms).closest == RecordTime(*nearest)


def test_segments_of_a_real_partition(clean):
    """Earlier segments are skipped by their largest timestamp; later ones are not looked at."""
    partition = open_broker(clean).partition("heartbeat-0")
    log = view_partition(partition)
    target = log.segments[1].largest_timestamp_ms - 5
    result = by_timestamp(log, target, versions.search_profile())
    batches = {segment.base_offset: segment.batches() for segment in partition.live}
    explanation = why_offset.explain_offset(
        result,
        log,
        lambda base: table_of_rows(batches[base]),
        lambda base, position: partition.segment(base).records(position),
    )
    segments = explanation.segments
    assert [segment.fate for segment in segments] == ["older", "searched", "later", "later"]
    for segment in segments:
        newest_ms = batches[segment.base_offset]["max_timestamp_ms"].max()
        assert segment.largest_ms == newest_ms
    assert explanation.answer.offset == result.answer.offset
    assert segments[0].end_offset == segments[1].base_offset


def test_what_is_not_read_is_not_counted():
    explanation = explain(3000, batches=None, records=no_records)
    assert explanation.closest is None and explanation.segments[0].batches is None
    assert explanation.answer.offset == 23


def test_times_that_do_not_follow_offsets():
    late = PRACTICE.batches.copy()
    late["max_timestamp_ms"][-1] = lesson_logs.START_MS
    assert explain(3000, late, no_records).older_batches == 1


@pytest.mark.parametrize(
    ("text", "unit", "timestamp_ms"),
    [
        (1_790_000_445, "seconds", 1_790_000_445_000),
        (1_790_000_445_001_000, "microseconds", 1_790_000_445_001),
        (1_790_000_445_001_000_000, "nanoseconds", 1_790_000_445_001),
    ],
)
def test_other_units(text, unit, timestamp_ms):
    assert units.other_unit(text) == (unit, timestamp_ms)


@pytest.mark.parametrize("text", [0, 1_790_000_445_001, 99_999_999, 10**14 - 1])
def test_milliseconds(text):
    """These are the years 1973 to 5138."""
    assert units.other_unit(text) is None


def test_no_batches_no_dots():
    explanation = explain(0, np.empty(0, lesson_logs.ROW), no_records)
    assert explanation.closest is None and explanation.older_batches == 0


@pytest.mark.parametrize("rows_a_block", [1, 7, 60])
def test_a_log_of_many_blocks(rows_a_block, monkeypatch, tmp_path):
    """A plain scan of every batch finds the same, though only some blocks are read."""
    monkeypatch.setattr(batch_table, "BLOCK_ROWS", rows_a_block)
    times_ms = lesson_logs.START_MS + np.random.default_rng(5).integers(0, 90, 60)
    times_ms[[3, 17]] = -1
    log = tmp_path / f"{0:020d}.log"
    log.write_bytes(b"".join(batch(row, [time_ms]) for row, time_ms in enumerate(times_ms)))
    segment = LogSegment(base_offset=0, state="active", log=file.info(log))
    table = batch_table.read(segment, kept_rows=0)
    for target_ms in range(lesson_logs.START_MS - 3, lesson_logs.START_MS + 95, 3):
        segment_times = why_offset.SegmentTimes(
            base_offset=0,
            end_offset=60,
            largest_ms=0,
            is_file_time=False,
            fate=why_offset.SEARCHED,
            batches=table,
        )
        answer = RecordTime(20, target_ms)
        assert why_offset._count_older_batches(segment_times, answer, target_ms) == sum(
            0 <= time_ms < target_ms for time_ms in times_ms[21:]
        )
        by_distance = sorted(
            (abs(int(time_ms) - target_ms), row)
            for row, time_ms in enumerate(times_ms)
            if time_ms >= 0
        )
        nearest = why_offset._nearest(segment_times, target_ms)
        assert nearest == [
            (distance_ms, 0, int(segment.batches()["position"][row]))
            for distance_ms, row in by_distance[: why_offset.MAX_DECODED_BATCHES]
        ]
