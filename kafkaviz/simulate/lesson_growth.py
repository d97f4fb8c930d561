"""Records how a log grows: each event, and its segment before and after the event.

For example, batches of 10 records take 1000 B, one comes every 100 ms, and index.interval.bytes is
4096. Before the sixth append, 5000 B have come since the last entry, so both indexes get an entry:

    the offset index gets (59, 5000), the time index (..:00.600, 59)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from kafkaviz.format import batch
from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.appends import INCOMING, NO_MARKER, MemoryLogs
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.open_segment import OpenSegment
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.roll_reason import RollReason
from kafkaviz.simulate.writer.writer import UnifiedLog


class StepKind(StrEnum):
    OPEN = "open"
    APPEND = "append"
    ROLL = "roll"
    TRIM = "trim"
    STOP = "stop"
    RESTART = "restart"
    TRUNCATE = "truncate"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True)
class State:
    """A segment at one moment."""

    base_offset: int
    log_bytes: int
    batches: int
    since_bytes: int  # Kafka's counter bytesSinceLastIndexEntry
    offset_entries: int
    time_entries: int
    index_bytes: int
    timeindex_bytes: int
    max_timestamp_ms: int
    max_timestamp_offset: int


@dataclass(frozen=True, kw_only=True)
class GrowthStep:
    """One event, and the state of its segment before and after the event."""

    kind: StepKind
    segment: int  # index into LogGrowth.segments
    before: State
    after: State
    size_bytes: int = 0  # of the batch that is appended or causes a roll
    last_offset: int = -1  # of that batch
    timestamp_ms: int = -1  # the largest timestamp of that batch
    reason: RollReason | None = None  # of a roll
    offset: int | None = None  # target of a truncation
    words: str = ""  # Kafka's exception, for a failure

    @property
    def has_offset_entry(self) -> bool:
        return self.after.offset_entries > self.before.offset_entries

    @property
    def has_time_entry(self) -> bool:
        return self.after.time_entries > self.before.time_entries


@dataclass(frozen=True)
class SegmentContents:
    """All batches and index entries that a segment gets until it is truncated.

    After the truncation, a new object with the same base offset follows.
    """

    base_offset: int
    # tuples (position, size, last offset, largest timestamp)
    batches: list[tuple[int, int, int, int]] = field(default_factory=list)
    offsets: list[tuple[int, int]] = field(default_factory=list)  # (offset, position)
    times: list[tuple[int, int]] = field(default_factory=list)  # (timestamp, offset)


@dataclass(frozen=True)
class LogGrowth:
    """The settings of a log, the steps of its growth, and its segments."""

    config: LogConfig
    steps: tuple[GrowthStep, ...]
    segments: tuple[SegmentContents, ...]


# ---- acts on a log


@dataclass(frozen=True)
class Append:
    """An append of one batch. `timestamp_ms` is the largest timestamp of its records."""

    size_bytes: int
    records: int
    timestamp_ms: int


@dataclass(frozen=True)
class CleanRestart:
    now_ms: int


@dataclass(frozen=True)
class Truncate:
    """A truncation to an offset, as on a follower whose leader has other records there."""

    offset: int
    now_ms: int


Act = Append | CleanRestart | Truncate


def grow(config: LogConfig, acts: Sequence[Act], start_ms: int) -> LogGrowth:
    """Returns the growth of a log by appends, restarts and truncations.

    Raises CannotLoad if Kafka cannot open the log at first or after a restart.
    """
    rows = _rows([batch_act for batch_act in acts if isinstance(batch_act, Append)])
    recorder = _GrowthRecorder(UnifiedLog(config, now_ms=start_ms, logs=MemoryLogs()))
    next_row = 0
    for act in acts:
        if isinstance(act, Append):
            recorder.append(rows[next_row : next_row + 1])
            next_row += 1
        elif isinstance(act, CleanRestart):
            recorder.restart(act.now_ms)
        else:
            recorder.truncate(act.offset, act.now_ms)
            rows = _renumber(rows, next_row, act.offset)
    return recorder.growth()


def grow_by_rows(config: LogConfig, rows: np.ndarray, start_ms: int) -> LogGrowth:
    """Appends `rows` (INCOMING) to a new log, one by one. Returns how the log grew.

    Stops if Kafka refuses a row. Raises CannotLoad if Kafka cannot open a log with `config`.
    """
    recorder = _GrowthRecorder(UnifiedLog(config, now_ms=start_ms))
    for place in range(len(rows)):
        if not recorder.append(rows[place : place + 1], has_bytes=False):
            break
    return recorder.growth()


def _rows(appends: Sequence[Append]) -> np.ndarray:
    rows = np.zeros(len(appends), INCOMING)
    rows["size_bytes"] = [append.size_bytes for append in appends]
    rows["record_count"] = [append.records for append in appends]
    rows["max_timestamp_ms"] = rows["now_ms"] = [append.timestamp_ms for append in appends]
    rows["append"] = np.arange(len(appends))
    rows["marker"] = NO_MARKER
    rows["magic"] = batch.MAGIC_2
    return _renumber(rows, 0, 0)


def _renumber(rows: np.ndarray, first: int, offset: int) -> np.ndarray:
    counts = rows["record_count"][first:]
    rows["base_offset"][first:] = offset + np.cumsum(counts) - counts
    rows["last_offset"][first:] = rows["deep_offset"][first:] = offset + np.cumsum(counts) - 1
    return rows


# ---- the recorder


class _GrowthRecorder:
    def __init__(self, log: UnifiedLog) -> None:
        self._log = log
        self._steps = []
        self._contents = [SegmentContents(log.active.base_offset)]
        self._add(StepKind.OPEN, self._state(log.active), self._state(log.active))

    def growth(self) -> LogGrowth:
        return LogGrowth(self._log.config, tuple(self._steps), tuple(self._contents))

    def append(self, row: np.ndarray, *, has_bytes: bool = True) -> bool:
        """Appends one batch; returns whether Kafka accepted it."""
        log = self._log
        state_before = self._state(self._log.active)
        full_segment = log.active
        event_count = len(log.events)
        values = {
            "size_bytes": int(row["size_bytes"][0]),
            "last_offset": int(row["last_offset"][0]),
            "timestamp_ms": int(row["max_timestamp_ms"][0]),
        }
        try:
            log.append(row, lesson_logs.batch_bytes(row[0], 0) if has_bytes else None)
        except AppendFailed as fault:
            words = str(fault.exception)
            self._add(StepKind.FAIL, state_before, self._state(log.active), words=words, **values)
            return False
        rolls = [event for event in log.events[event_count:] if event.kind == "roll"]
        if rolls:
            self._add_roll(full_segment, state_before, rolls[-1].reason, values)
            state_before = self._new_state()
        self._take(row)
        self._add(StepKind.APPEND, state_before, self._state(log.active), **values)
        return True

    def _add_roll(
        self, full: OpenSegment, state_before: State, reason: RollReason | None, values: dict
    ) -> None:
        trimmed_state = self._state(full)
        index_bytes = state_before.index_bytes
        timeindex_bytes = state_before.timeindex_bytes
        rolled_state = replace(
            trimmed_state, index_bytes=index_bytes, timeindex_bytes=timeindex_bytes
        )
        self._note_entries(full)
        self._add(StepKind.ROLL, state_before, rolled_state, reason=reason, **values)
        self._add(StepKind.TRIM, rolled_state, trimmed_state, reason=reason)
        self._contents.append(SegmentContents(self._log.active.base_offset))

    def _new_state(self) -> State:
        active = self._log.active
        return State(
            base_offset=active.base_offset,
            log_bytes=0,
            batches=0,
            since_bytes=0,
            offset_entries=0,
            time_entries=0,
            index_bytes=active.index.file_bytes,
            timeindex_bytes=active.timeindex.file_bytes,
            max_timestamp_ms=-1,
            max_timestamp_offset=active.base_offset,
        )

    def _take(self, row: np.ndarray) -> None:
        active = self._log.active
        contents = self._contents[-1]
        size = int(row["size_bytes"][0])
        last_offset, timestamp_ms = row[["last_offset", "max_timestamp_ms"]][0].item()
        contents.batches.append((active.log_bytes - size, size, last_offset, timestamp_ms))
        self._note_entries(active)

    def _note_entries(self, segment: OpenSegment) -> None:
        contents = self._contents[-1]
        base = segment.base_offset
        for key, position in segment.index.entries[len(contents.offsets) :].tolist():
            contents.offsets.append((base + key, position))
        for timestamp_ms, key in segment.timeindex.entries[len(contents.times) :].tolist():
            contents.times.append((timestamp_ms, base + key))

    def restart(self, now_ms: int) -> None:
        log = self._log
        state_before = self._state(self._log.active)
        log.close(now_ms)
        self._note_entries(log.active)
        stopped_state = self._state(log.active)
        self._add(StepKind.STOP, state_before, stopped_state)
        log.restart(now_ms)
        self._add(StepKind.RESTART, stopped_state, self._state(log.active))

    def truncate(self, offset: int, now_ms: int) -> None:
        log = self._log
        state_before = self._state(self._log.active)
        log.truncate_to(offset, now_ms)
        active = log.active
        contents = [old for old in self._contents if old.base_offset == active.base_offset][-1]
        kept_contents = SegmentContents(
            active.base_offset,
            [row for row in contents.batches if row[0] < active.log_bytes],
            contents.offsets[: active.index.count],
            contents.times[: active.timeindex.count],
        )
        self._contents.append(kept_contents)
        self._add(StepKind.TRUNCATE, state_before, self._state(active), offset=offset)

    def _add(self, kind: StepKind, before: State, after: State, **values) -> None:
        segment = len(self._contents) - 1
        step = GrowthStep(kind=kind, segment=segment, before=before, after=after, **values)
        self._steps.append(step)

    def _state(self, segment: OpenSegment) -> State:
        counters = segment.counters[0]
        return State(
            base_offset=segment.base_offset,
            log_bytes=segment.log_bytes,
            batches=len(self._contents[-1].batches),
            since_bytes=int(counters["bytes_since_last_index_entry"]),
            offset_entries=segment.index.count,
            time_entries=segment.timeindex.count,
            index_bytes=segment.index.file_bytes,
            timeindex_bytes=segment.timeindex.file_bytes,
            max_timestamp_ms=int(counters["max_timestamp_ms"]),
            max_timestamp_offset=int(counters["max_timestamp_offset"]),
        )


# ---- two examples

START_MS = lesson_logs.START_MS


def first_segments() -> LogGrowth:
    """Grows a log of 1000-byte batches, with one index entry per five batches.

    The later steps show batches with equal timestamps, a restart, a truncation and a roll.
    """
    config = LogConfig(segment_bytes=24_000, index_interval_bytes=4096)
    return grow(config, tuple(_first_acts()), START_MS)


def _first_acts() -> Iterator[Act]:
    for number in range(11):
        yield Append(1000, 10, START_MS + 100 * (number + 1))
    for _ in range(5):
        # the timestamp stays the same, as in a burst within one millisecond
        yield Append(1000, 10, START_MS + 1100)
    yield Append(1000, 10, START_MS + 1700)
    yield Append(1000, 10, START_MS + 1800)
    yield CleanRestart(START_MS + 60_000)
    for number in range(5):
        yield Append(1000, 10, START_MS + 61_000 + 100 * number)
    yield Truncate(170, START_MS + 70_000)
    for number in range(9):
        yield Append(1000, 10, START_MS + 71_000 + 100 * number)


def full_time_index() -> LogGrowth:
    """Appends 119-byte batches of one record until the time index is full at 24 entries."""
    config = LogConfig(index_interval_bytes=150, segment_index_bytes=300)
    acts = [Append(119, 1, START_MS + 1000 * number) for number in range(52)]
    return grow(config, acts, START_MS)
