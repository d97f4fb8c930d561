"""How the segments of a simulated log fill, compared with the log after every append, and the
history of real partitions.
"""

import numpy as np
import pytest

from kafkaviz.analysis import roll_history
from kafkaviz.analysis.inferred_settings import inferred_limits, roll_reasons
from kafkaviz.log import settings
from kafkaviz.log.broker import open_broker
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig, log_config, release_behaviour
from kafkaviz.simulate.writer import roll_reason
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.roll_reason import RollCause, RollReason
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.analysis.arrays import segment_facts

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
    columns = ["log_bytes", "offset_entries", "time_entries"]
    points = [point for segment in history.segments for point in segment.fills]
    assert len(points) > 40
    for point in points:
        assert point[columns].item() == truth[int(point["at_ms"])]
    for segment in history.segments:
        sizes = (segment.log_bytes, segment.offset_entries, segment.time_entries)
        assert sizes == segment.fills[columns][-1].item()
    log_bytes = sum(segment.log_bytes for segment in history.segments)
    assert log_bytes == rows["size_bytes"].sum() == history.log_bytes


@pytest.mark.parametrize("release", [(3, 9), (4, 3)])
def test_an_entry_that_a_roll_adds_does_not_count(release):
    """A follower appends three batches at once. In 3.9 these get at most one time entry, with the
    largest timestamp of all three.
    """
    rows = stream(np.random.default_rng(3).integers(70, 400, 399))
    rows["append"] //= 3
    config = LogConfig(segment_bytes=9000, index_interval_bytes=400)
    log = UnifiedLog(config, release_behaviour(release), now_ms=START_MS, is_leader=False)
    counts = {}
    for append in np.split(rows, range(3, len(rows), 3)):
        log.append(append.copy())
        counts[log.active.base_offset] = (log.active.index.count, log.active.timeindex.count)
    history = roll_history.history_of_log(log.segments, roll_history.appended_rows(rows), config)
    assert len(history.segments) == len(counts) > 5
    for segment in history.segments:
        assert (segment.offset_entries, segment.time_entries) == counts[segment.base_offset]
        assert segment.fills["time_entries"][-1] == segment.time_entries


def test_entries_of_a_refused_append_do_not_count():
    """In 4.3, the ninth batch finds the time index full. Two more of its append have entries."""
    config = LogConfig(segment_index_bytes=100, index_interval_bytes=150)
    rows = stream([200] * 9)
    rows["append"] //= 3
    log = UnifiedLog(config, release_behaviour((4, 3)), now_ms=START_MS, is_leader=False)
    with pytest.raises(AppendFailed):
        log.append(rows.copy())
    assert (log.active.index.count, log.active.timeindex.count) == (8, 7)
    appends = roll_history.appended_rows(rows[:6])
    (segment,) = roll_history.history_of_log(log.segments, appends, config).segments
    assert (segment.log_bytes, segment.offset_entries, segment.time_entries) == (1200, 5, 5)
    assert segment.fills["time_entries"].tolist() == [0, 1, 2, 3, 4, 5]


def test_a_segment_ends_with_its_roll():
    """Full at 1000 B: the eleventh batch of 100 starts the next segment."""
    history = written(LogConfig(segment_bytes=1000), stream([100] * 25))
    assert [segment.base_offset for segment in history.segments] == [0, 10, 20]
    first, _, last = history.segments
    assert first.reason == RollReason(RollCause.SIZE, 1000, 1000, 100)
    assert (first.opened_ms, first.ended_ms) == (START_MS, START_MS + 100)
    assert last.is_active and last.reason is None and not first.is_active
    assert history.rolls() == {RollCause.SIZE: 2}
    assert history.bytes_per_s == pytest.approx(2500 / 0.24)


def test_without_timestamps_the_clock_counts():
    """Time passes although no batch has a timestamp."""
    history = written(LogConfig(segment_ms=95), stream([100] * 30, timestamps=-1))
    assert history.rolls() == {RollCause.TIME: 2}
    assert history.segments[0].fills["waited_ms"].tolist() == list(range(0, 100, 10))


def test_a_log_without_a_batch():
    history = written(LogConfig(), stream([]))
    assert (history.segments, history.rolls()) == ((), {})
    assert (history.bytes_per_s, history.span_ms) == (0, 0)


# ---- on disk


def on_disk(broker_path, directory: str) -> roll_history.RollHistory:
    broker = open_broker(broker_path)
    known = settings.open_settings(broker).topic_settings(broker.partition(directory).topic)
    config = log_config({name: value.value for name, value in known.items()})
    given = [name for name, value in known.items() if value.origin != "default"]
    return roll_history.history_of_partition(broker.partition(directory), config, given)


def test_a_time_index_that_is_full(clean):
    """28 rolls at 24 entries, 49 batches per segment, without reading a .log."""
    history = on_disk(clean, "tiny-index-0")
    assert history.rolls() == {RollCause.TIME_INDEX_FULL: 28} and not history.inferred_limits
    for segment in history.segments[:-1]:
        assert str(segment.reason.numbers()) == "24 of 24 usable slots"
    first = history.segments[0]
    assert first.fills["time_entries"].tolist() == [*range(1, 25), 24]
    assert first.fills["log_bytes"][-1] == first.log_bytes
    for column in ("at_ms", "log_bytes"):
        assert np.all(np.diff(first.fills[column]) >= 0)


def test_a_limit_that_only_the_rolls_tell(clean):
    """No file has this broker's segment.bytes: 1 MiB is the roundest value that fits three rolls."""
    history = on_disk(clean, "heartbeat-0")
    bounds = history.inferred_limits["segment.bytes"]
    assert (bounds.low, bounds.high, bounds.value) == (1_048_527, 1_048_587, 1 << 20)
    assert history.config.segment_bytes == 1 << 20
    assert all(roll_history.exceeds_limit(segment.reason) for segment in history.segments[:-1])


def test_a_log_with_batches_fills_as_its_indexes_say(clean):
    """The fills of a real segment equal those of its .log."""
    partition = open_broker(clean).partition("rolls-by-time-0")
    for segment in on_disk(clean, "rolls-by-time-0").segments[:4]:
        batches = partition.segment(segment.base_offset).batches()
        for point in segment.fills[:-1]:
            at = int(np.searchsorted(batches["position"], point["log_bytes"]))
            assert batches["position"][at] == point["log_bytes"]
            newest_ms = batches["max_timestamp_ms"][: at + 1].max()
            assert newest_ms >= point["at_ms"] >= segment.opened_ms


@pytest.mark.parametrize(
    ("directory", "base_offset", "reason"),
    [
        ("payments-0", 0, "size"),
        ("payments-0", 7975, "size"),
        ("payments-0", 15904, None),  # the active one
        ("rolls-by-time-0", 399, "time"),
        ("tiny-index-0", 49, "time-index-full"),
        ("payments-0", 1, None),  # there is none
    ],
)
def test_known_reasons(clean, directory, base_offset, reason):
    """The README of the sample lists the settings of these topics."""
    assert roll_history.roll_reason(open_broker(clean).partition(directory), base_offset) == reason


def test_a_glance_is_what_a_walk_would_tell(clean):
    """The first header and the last time entry are enough for a closed segment."""
    segment = open_broker(clean).partition("payments-0").segment(7975)
    batches, facts = segment.batches(), roll_history.segment_facts(segment)
    assert facts.first_batch.size_bytes == batches["size_bytes"][0]
    assert facts.first_batch.last_offset == batches["last_offset"][0]
    assert facts.first_batch.max_timestamp_ms == batches["max_timestamp_ms"][0]
    assert facts.max_timestamp_ms == batches["max_timestamp_ms"].max()
    assert (facts.log_bytes, facts.offset_entries, facts.time_entries) == (1_048_043, 209, 206)


def test_an_empty_log(killed):
    facts = roll_history.segment_facts(open_broker(killed).partition("empty-room-1").segment(0))
    assert facts.first_batch.size_bytes == 0
    assert facts.max_timestamp_ms == facts.first_batch.last_offset == -1


def test_a_short_log(damaged):
    """Compaction left 36 bytes; the rest of the header is taken as zeros."""
    partition = open_broker(damaged).partition("rides-0")
    assert roll_history.segment_facts(partition.segment(2418, "cleaned")).log_bytes == 36
    assert roll_history.roll_reason(partition, 2418) is not None


def test_an_empty_partition_has_no_segment(clean):
    assert on_disk(clean, "empty-room-1").segments == ()


def test_limits_that_rolls_bound():
    """Between the largest segment and the least with the next batch; times in the roundest unit."""
    by_size = [
        segment_facts(1_047_315, 100),
        segment_facts(1_048_043, 2871, base_offset=10),
        segment_facts(400, 1200, base_offset=20),
    ]
    limit = inferred_limits(by_size, roll_reasons(by_size))["segment.bytes"]
    assert (limit.low, limit.high, limit.value) == (1_048_043, 1_049_242, 1 << 20)
    starts_ms = (0, 3_700_000, 7_400_000, 11_100_000)
    hours = [
        segment_facts(500, 50, (start_ms, start_ms + 3_590_000), base_offset=10 * number)
        for number, start_ms in enumerate(starts_ms)
    ]
    limit = inferred_limits(hours, ["time", "time", "time", None])["segment.ms"]
    assert (limit.low, limit.high, limit.value) == (3_590_000, 3_699_999, 3_600_000)
    full = [
        segment_facts(5000 + number, 119, (number, number), (24, 24), base_offset=number * 49)
        for number in range(3)
    ]
    limit = inferred_limits(full, ["time-index-full", "time-index-full", None])[
        "segment.index.bytes"
    ]
    assert (limit.low, limit.high) == (288, 299)


def test_limits_that_contradict_each_other_are_none():
    changed = [
        segment_facts(1000, 10),
        segment_facts(5000, 10, base_offset=10),
        segment_facts(10, 10, base_offset=20),
    ]
    assert inferred_limits(changed, ["size", "size", None]) == {}


LIMITS = {
    roll_reason.SIZE: 1000,
    roll_reason.TIME: 500,
    roll_reason.OFFSET_FULL: 7,
    roll_reason.TIME_FULL: 9,
    roll_reason.OVERFLOW: 2**31 - 1,
}


@pytest.mark.parametrize("number", LIMITS)
@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_a_reason_trips_where_the_writer_rolls(number, beyond):
    """At each limit, one below and one above; an index never has more entries than slots."""
    incoming_bytes = 100
    values = dict.fromkeys(LIMITS, 1)
    values[number] = LIMITS[number] + beyond
    if number == roll_reason.SIZE:
        values[number] -= incoming_bytes
    pairs = [(values[cause], limit) for cause, limit in LIMITS.items()]
    (log_bytes, segment_bytes), *others, (delta, _) = pairs
    cause = roll_reason.should_roll.py_func(
        log_bytes, incoming_bytes, segment_bytes, *(part for pair in others for part in pair), delta
    )
    if number in (roll_reason.OFFSET_FULL, roll_reason.TIME_FULL) and beyond > 0:
        assert cause == number
        return
    reason = RollReason(roll_reason.CAUSES[number], values[number], LIMITS[number], incoming_bytes)
    assert roll_history.exceeds_limit(reason) == (cause == number)
