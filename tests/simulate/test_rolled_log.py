"""The compiled log of rolls, compared with the writer."""

import numpy as np
import pytest

from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig, release_behaviour
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.simulate.writer.rolled_log import AppendRefused, RolledLog
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog

START_MS = 1_700_000_000_000
OPENING = {"now_ms": START_MS, "start_offset": 0, "seed": 5, "is_leader": True}
V4_3 = release_behaviour((4, 3))
PIECE_APPENDS = 37  # a log continues from one call to the next
CONFIGS = {
    "size": LogConfig(segment_bytes=9000, index_interval_bytes=400),
    "time": LogConfig(segment_ms=500, index_interval_bytes=0),
    "jitter": LogConfig(segment_ms=900, segment_jitter_ms=700, index_interval_bytes=100),
    "offset index": LogConfig(segment_index_bytes=96, index_interval_bytes=900),
    "time index": LogConfig(segment_index_bytes=100, index_interval_bytes=150),
    "always full": LogConfig(segment_index_bytes=12),
    "none": LogConfig(index_interval_bytes=1000),
}


def appends(count: int, batches: int, *, magic: int = 2, apart: int = 1, seed: int = 3):
    random, number = np.random.default_rng(seed), np.arange(count * batches)
    rows = np.zeros(len(number), INCOMING)
    rows["size_bytes"] = random.integers(70, 400, len(rows))
    rows["record_count"], rows["magic"], rows["marker"] = 1, magic, -1
    rows["base_offset"] = rows["last_offset"] = rows["deep_offset"] = number * apart
    rows["append"] = number // batches
    rows["now_ms"] = START_MS + rows["append"] * 10
    rows["max_timestamp_ms"] = rows["now_ms"] - random.integers(0, 60, len(rows)) // 30 * 40
    return rows


def pieces(rows: np.ndarray):
    number = rows["append"] // PIECE_APPENDS
    return np.split(rows.copy(), np.flatnonzero(np.diff(number)) + 1)


def assert_same(
    rows: np.ndarray, config: LogConfig, release=(4, 3), *, is_leader=True
) -> set | None:
    """Asserts that both logs of these rows are equal; returns the causes of their rolls, or None if
    both refuse an append.
    """
    opening = OPENING | {"is_leader": is_leader}
    behaviour = release_behaviour(release)
    unified = UnifiedLog(config, behaviour, **opening, keeps_state=False)
    rolled = RolledLog(len(rows), config, behaviour, **opening)
    for piece in pieces(rows):
        try:
            unified.append(piece.copy())
        except AppendFailed:
            with pytest.raises(AppendRefused):
                rolled.append(piece)
            return None
        rolled.append(piece)
        assert rolled.segment_count == len(unified.segments)
    segments = rolled.segments()
    assert rolled.rows == len(rows) == segments[-1].end_row
    for segment, plain in zip(segments, unified.segments, strict=True):
        assert segment.base_offset == plain.base_offset
        assert (segment.log_bytes, segment.reason) == (plain.log_bytes, plain.roll_reason)
        assert segment.positions.tolist() == plain.index.entries["position"].tolist()
        timestamps_ms = plain.timeindex.entries["timestamp_ms"].tolist()
        own_ms = segment.timestamps_ms.tolist()
        assert own_ms == timestamps_ms[: len(own_ms)]
        assert len(timestamps_ms) - len(own_ms) in ((0, 1) if segment.reason else (0,))
        assert rows["base_offset"][segment.first_row] >= segment.base_offset
        size_bytes = rows["size_bytes"][segment.first_row : segment.end_row].sum()
        assert size_bytes == segment.log_bytes
    return {segment.reason.cause for segment in segments if segment.reason}


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(
    ("batches", "magic", "is_leader"), [(1, 2, True), (3, 2, False), (3, 1, False)]
)
@pytest.mark.parametrize("release", [(4, 3), (3, 0), (1, 1)])
def test_it_is_the_log_of_the_writer(name, batches, magic, is_leader, release):
    rows = appends(400, batches, magic=magic)
    causes = assert_same(rows, CONFIGS[name], release, is_leader=is_leader)
    if causes is None:  # the second batch of an append finds the index full, as Kafka does
        assert batches > 1 and "index" in name
        return
    expected = {"size": RollCause.SIZE, "time": RollCause.TIME, "jitter": RollCause.TIME}
    assert expected.get(name) in {None, *causes}
    assert bool(causes) == (name != "none")


def test_without_timestamps_the_clock_counts():
    """Such as batches of magic 0."""
    rows = appends(300, 1)
    rows["max_timestamp_ms"] = -1
    assert assert_same(rows, CONFIGS["time"]) == {RollCause.TIME}


def test_offsets_that_no_segment_holds_roll_it():
    """The offset is further from the base offset than an entry can say."""
    rows = appends(40, 1, apart=1 << 27)
    assert assert_same(rows, LogConfig()) == {RollCause.OFFSET_OVERFLOW}


@pytest.mark.parametrize("fault", ["too large", "below the end"])
def test_what_kafka_refuses_is_refused(fault):
    rows, config = appends(100, 1), LogConfig(segment_bytes=9000)
    if fault == "too large":
        rows["size_bytes"][70] = 9001
    else:
        rows["base_offset"][70] = rows["last_offset"][70] = 3
    with pytest.raises(AppendFailed):
        UnifiedLog(config, V4_3, **OPENING).append(rows.copy())
    with pytest.raises(AppendRefused):
        RolledLog(len(rows), config, V4_3, **OPENING).append(rows.copy())


def test_more_rows_than_it_was_made_for():
    log = RolledLog(10, LogConfig(), V4_3, **OPENING)
    with pytest.raises(ValueError, match="more than 10 rows"):
        log.append(appends(11, 1))


def test_a_log_that_cannot_be_opened():
    with pytest.raises(CannotLoad):
        RolledLog(1, LogConfig(segment_index_bytes=4), V4_3, **OPENING)
