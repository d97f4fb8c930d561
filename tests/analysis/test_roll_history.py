"""How the segments of a simulated log fill, compared with the log after every append, and the
history of real partitions.
"""

import numpy as np
import pytest

from kafkaviz.analysis import roll_history
from kafkaviz.analysis.inferred_settings import SegmentFacts, inferred_limits, roll_reasons
from kafkaviz.log import settings
from kafkaviz.log.broker import open_broker
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig, log_config
from kafkaviz.simulate.writer import roll_reason
from kafkaviz.simulate.writer.roll_reason import RollCause, RollReason
from kafkaviz.simulate.writer.writer import UnifiedLog

START_MS = 1_700_000_000_000


def stream(sizes, apart_ms=10, timestamps=None) -> np.ndarray:
    """Returns one-record batches of these sizes."""
    rows = np.zeros(len(sizes), INCOMING)
    number = np.arange(len(sizes))
    rows["size_bytes"], rows["record_count"], rows["magic"], rows["marker"] = sizes, 1, 2, -1
    rows["base_offset"] = rows["last_offset"] = rows["deep_offset"] = rows["append"] = number
    rows["now_ms"] = START_MS + number * apart_ms
    rows["max_timestamp_ms"] = rows["now_ms"] if timestamps is None else timestamps
    return rows


def written(config: LogConfig, rows: np.ndarray) -> roll_history.RollHistory:
    log = UnifiedLog(config, now_ms=START_MS)
    log.append(rows.copy())
    return roll_history.history_of_log(log.segments, roll_history.appended_rows(rows), config)


def plainly(config: LogConfig, rows: np.ndarray) -> dict[int, tuple[int, int, int]]:
    """Returns log bytes and entries of both indexes after each append."""
    log, fills = UnifiedLog(config, now_ms=START_MS), {}
    for place in range(len(rows)):
        log.append(rows[place : place + 1].copy())
        fills[int(rows["now_ms"][place])] = (
            log.active.log_bytes,
            log.active.index.count,
            log.active.timeindex.count,
        )
    return fills


@pytest.mark.parametrize(
    "config",
    [
        LogConfig(segment_bytes=9000, index_interval_bytes=400),
        LogConfig(segment_ms=500, index_interval_bytes=0),
        LogConfig(segment_index_bytes=100, index_interval_bytes=150),
        LogConfig(index_interval_bytes=1000),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_fills_are_what_the_log_had(config, seed):
    """At every point of every segment, whatever rolls it, and with timestamps that decrease."""
    random = np.random.default_rng(seed)
    stamps = START_MS + np.arange(400) * 10 - random.integers(0, 60, 400) // 30 * 40
    rows = stream(random.integers(70, 400, 400), timestamps=stamps)
    history, truth = written(config, rows), plainly(config, rows)
    points = [point for segment_history in history.segments for point in segment_history.fills]
    assert len(points) > 40
    for point in points:
        assert (point["log_bytes"], point["offset_entries"], point["time_entries"]) == truth[
            int(point["at_ms"])
        ]
    for segment_history in history.segments:
        assert (
            segment_history.log_bytes,
            segment_history.offset_entries,
            segment_history.time_entries,
        ) == segment_history.fills[["log_bytes", "offset_entries", "time_entries"]][-1].item()
    assert (
        sum(segment_history.log_bytes for segment_history in history.segments)
        == rows["size_bytes"].sum()
        == history.log_bytes
    )


def test_a_segment_ends_with_its_roll():
    """Full at 1000 B: the eleventh batch of 100 starts the next segment."""
    history = written(LogConfig(segment_bytes=1000), stream([100] * 25))
    assert [segment_history.base_offset for segment_history in history.segments] == [0, 10, 20]
    first, _, last = history.segments
    assert first.reason == RollReason(RollCause.SIZE, 1000, 1000, 100) and (
        first.opened_ms,
        first.ended_ms,
    ) == (START_MS, START_MS + 100)
    assert last.is_active and last.reason is None and not first.is_active
    assert history.rolls() == {RollCause.SIZE: 2} and history.bytes_per_s == pytest.approx(
        2500 / 0.24
    )


def test_without_timestamps_the_clock_counts():
    """Time passes although no batch has a timestamp."""
    history = written(LogConfig(segment_ms=95), stream([100] * 30, timestamps=-1))
    assert history.rolls() == {RollCause.TIME: 2} and history.segments[0].fills[
        "waited_ms"
    ].tolist() == list(range(0, 100, 10))


def test_a_log_without_a_batch():
    history = written(LogConfig(), stream([]))
    assert (
        history.segments == ()
        and history.bytes_per_s == 0
        and history.rolls() == {}
        and history.span_ms == 0
    )


# ---- on disk


def on_disk(broker_path, directory: str) -> roll_history.RollHistory:
    broker = open_broker(broker_path)
    known = settings.open_settings(broker).topic_settings(broker.partition(directory).topic)
    config = log_config({name: value.value for name, value in known.items()})
    return roll_history.history_of_partition(
        broker.partition(directory),
        config,
        [name for name, value in known.items() if value.origin != "default"],
    )


def test_a_time_index_that_is_full(clean):
    """28 rolls at 24 entries, 49 batches per segment, without reading a .log."""
    history = on_disk(clean, "tiny-index-0")
    assert history.rolls() == {RollCause.TIME_INDEX_FULL: 28} and not history.inferred_limits
    assert {str(segment_history.reason.numbers()) for segment_history in history.segments[:-1]} == {
        "24 of 24 usable slots"
    }
    first = history.segments[0]
    assert (
        first.fills["time_entries"].tolist() == [*range(1, 25), 24]
        and first.fills["log_bytes"][-1] == first.log_bytes
    )
    assert np.all(np.diff(first.fills["at_ms"]) >= 0) and np.all(
        np.diff(first.fills["log_bytes"]) >= 0
    )


def test_a_limit_that_only_the_rolls_tell(clean):
    """No file has this broker's segment.bytes: 1 MiB is the roundest value that fits three rolls."""
    history = on_disk(clean, "heartbeat-0")
    bounds = history.inferred_limits["segment.bytes"]
    assert (bounds.low, bounds.high, bounds.value) == (
        1_048_527,
        1_048_587,
        1 << 20,
    ) and history.config.segment_bytes == 1 << 20
    assert all(
        roll_history.exceeds_limit(segment_history.reason)
        for segment_history in history.segments[:-1]
    )


def test_a_log_with_batches_fills_as_its_indexes_say(clean):
    """The fills of a real segment equal those of its .log."""
    history, partition = (
        on_disk(clean, "rolls-by-time-0"),
        open_broker(clean).partition("rolls-by-time-0"),
    )
    for segment_history in history.segments[:4]:
        batches = partition.segment(segment_history.base_offset).batches()
        for point in segment_history.fills[:-1]:
            at = int(np.searchsorted(batches["position"], point["log_bytes"]))
            assert batches["position"][at] == point["log_bytes"]
            assert (
                batches["max_timestamp_ms"][: at + 1].max()
                >= point["at_ms"]
                >= segment_history.opened_ms
            )


def test_an_empty_partition_has_no_segment(clean):
    assert on_disk(clean, "empty-room-1").segments == ()


def facts(log_bytes, first_bytes, times=(0, 0), entries=(0, 0), base=0) -> SegmentFacts:
    return SegmentFacts(
        base_offset=base,
        log_bytes=log_bytes,
        first_batch_bytes=first_bytes,
        first_batch_max_timestamp_ms=times[0],
        first_batch_last_offset=base,
        max_timestamp_ms=times[1],
        offset_entries=entries[0],
        time_entries=entries[1],
    )


def test_limits_that_rolls_bound():
    """Between the largest segment and the least with the next batch; times in the roundest unit."""
    by_size = [facts(1_047_315, 100), facts(1_048_043, 2871, base=10), facts(400, 1200, base=20)]
    limit = inferred_limits(by_size, roll_reasons(by_size))["segment.bytes"]
    assert (limit.low, limit.high, limit.value) == (1_048_043, 1_049_242, 1 << 20)
    hours = [
        facts(
            500 + number, 50, (number * 3_700_000, number * 3_700_000 + 3_590_000), base=number * 10
        )
        for number in range(4)
    ]
    limit = inferred_limits(hours, ["time", "time", "time", None])["segment.ms"]
    assert (limit.low, limit.high, limit.value) == (3_590_000, 3_699_999, 3_600_000)
    full = [
        facts(5000 + number, 119, (number, number), (24, 24), base=number * 49)
        for number in range(3)
    ]
    limit = inferred_limits(full, ["time-index-full", "time-index-full", None])[
        "segment.index.bytes"
    ]
    assert (limit.low, limit.high) == (288, 299)


def test_limits_that_contradict_each_other_are_none():
    changed = [facts(1000, 10), facts(5000, 10, base=10), facts(10, 10, base=20)]
    assert inferred_limits(changed, ["size", "size", None]) == {}


@pytest.mark.parametrize(
    "number",
    [
        roll_reason.SIZE,
        roll_reason.TIME,
        roll_reason.OFFSET_FULL,
        roll_reason.TIME_FULL,
        roll_reason.OVERFLOW,
    ],
)
@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_a_reason_trips_where_the_writer_rolls(number, beyond):
    """At each limit, one below and one above; an index never has more entries than slots."""
    limit = {
        roll_reason.SIZE: 900,
        roll_reason.TIME: 500,
        roll_reason.OFFSET_FULL: 7,
        roll_reason.TIME_FULL: 9,
        roll_reason.OVERFLOW: 2**31 - 1,
    }
    values = {cause: limit[number] + beyond if cause == number else 1 for cause in limit}
    cause = roll_reason.should_roll.py_func(
        values[roll_reason.SIZE],
        100,
        limit[roll_reason.SIZE] + (100 if number == roll_reason.SIZE else 900),
        values[roll_reason.TIME],
        limit[roll_reason.TIME],
        values[roll_reason.OFFSET_FULL],
        limit[roll_reason.OFFSET_FULL],
        values[roll_reason.TIME_FULL],
        limit[roll_reason.TIME_FULL],
        values[roll_reason.OVERFLOW],
    )
    if number in (roll_reason.OFFSET_FULL, roll_reason.TIME_FULL) and beyond > 0:
        assert cause == number
        return
    incoming, most = (
        (100, limit[number] + 100) if number == roll_reason.SIZE else (100, limit[number])
    )
    assert roll_history.exceeds_limit(
        roll_reason.RollReason(roll_reason.CAUSES[number], values[number], most, incoming)
    ) == (cause == number)
