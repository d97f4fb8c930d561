"""A log watched while it is written, append by append: what the counter said, which index got an
entry and which did not, and why.

    batches of 1000 B, interval 4096    the sixth append finds 5000 B since the last entry, more
    than 4096:
                                        the offset index gets (59, 5000), the time index (..:00.600,
                                        59)

Each step is plain values, read off a writer.Log before and after one thing happens to it; nothing
is decided here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from kafkaviz.format import batch
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.incoming import INCOMING, NO_MARKER
from kafkaviz.simulate.lessons import practice
from kafkaviz.simulate.log_bytes import InMemory
from kafkaviz.simulate.writing.open_segment import OpenSegment
from kafkaviz.simulate.writing.refusals import AppendFailed
from kafkaviz.simulate.writing.roll import RollReason
from kafkaviz.simulate.writing.writer import Log

PRACTICE_BATCH = (
    "position",
    "size_bytes",
    "base_offset",
    "last_offset",
    "max_timestamp_ms",
    "record_count",
)


class What(StrEnum):
    """What a step is."""

    OPEN = "open"
    APPEND = "append"
    ROLL = "roll"
    TRIM = "trim"
    STOP = "stop"
    RESTART = "restart"
    TRUNCATE = "truncate"
    FAIL = "fail"


@dataclass(frozen=True)
class State:
    """A segment at one moment. since_bytes: bytesSinceLastIndexEntry; index_bytes, timeindex_bytes:
    the lengths of the two files.
    """

    base_offset: int
    log_bytes: int
    batches: int
    since_bytes: int
    offset_entries: int
    time_entries: int
    index_bytes: int
    timeindex_bytes: int
    max_timestamp_ms: int
    max_timestamp_offset: int


@dataclass(frozen=True)
class Step:
    """One thing that happened. segment: the number of its segment in Growth.segments; before,
    after: that segment's state.

    size_bytes, last_offset, timestamp_ms: of the batch that is appended, or that a roll is for;
    reason: of a roll; offset: the target of a truncation; words: of a failure.
    """

    what: What
    segment: int
    before: State
    after: State
    size_bytes: int = 0
    last_offset: int = -1
    timestamp_ms: int = -1
    reason: RollReason | None = None
    offset: int | None = None
    words: str = ""

    @property
    def has_offset_entry(self) -> bool:
        """Whether the offset index got an entry."""
        return self.after.offset_entries > self.before.offset_entries

    @property
    def has_time_entry(self) -> bool:
        """Whether the time index got an entry."""
        return self.after.time_entries > self.before.time_entries


@dataclass(frozen=True)
class Seen:
    """What a segment held, at its fullest: a step shows the first of each.

    A truncation begins another of the same base offset.

    batches: (position, size, last offset, largest timestamp); offsets: (offset, position); times:
    (timestamp, offset).
    """

    base_offset: int
    batches: list[tuple[int, int, int, int]] = field(default_factory=list)
    offsets: list[tuple[int, int]] = field(default_factory=list)
    times: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Growth:
    """A log that grew: its settings, every step, and the segments that the steps point into."""

    config: LogConfig
    steps: tuple[Step, ...]
    segments: tuple[Seen, ...]


# ---- what is done to the log


@dataclass(frozen=True)
class Append:
    """A batch of so many bytes and records, its newest record at a time."""

    size_bytes: int
    records: int
    timestamp_ms: int


@dataclass(frozen=True)
class Restart:
    """A clean stop and a start, at a time."""

    now_ms: int


@dataclass(frozen=True)
class Truncate:
    """The log cut to an offset, as a follower does when it finds that its leader has something else
    there.
    """

    offset: int
    now_ms: int


Act = Append | Restart | Truncate


def grow(config: LogConfig, acts: Sequence[Act], start_ms: int) -> Growth:
    """Does one act after the other to a new log. CannotLoad where no log can be opened."""
    rows = _rows([one for one in acts if isinstance(one, Append)])
    watched = _Watched(Log(config, now_ms=start_ms, logs=InMemory()))
    taken = 0
    for act in acts:
        if isinstance(act, Append):
            watched.append(rows[taken : taken + 1])
            taken += 1
        elif isinstance(act, Restart):
            watched.restart(act.now_ms)
        else:
            watched.truncate(act.offset, act.now_ms)
            rows = _renumbered(rows, taken, act.offset)
    return watched.growth()


def grow_by_rows(config: LogConfig, rows: np.ndarray, start_ms: int) -> Growth:
    """Appends the batches of a stream, INCOMING, one append a step.

    CannotLoad where no log can be opened.
    """
    watched = _Watched(Log(config, now_ms=start_ms))
    for place in range(len(rows)):
        if not watched.append(rows[place : place + 1], has_bytes=False):
            break
    return watched.growth()


def _rows(appends: Sequence[Append]) -> np.ndarray:
    rows = np.zeros(len(appends), INCOMING)
    rows["size_bytes"] = [one.size_bytes for one in appends]
    rows["record_count"] = [one.records for one in appends]
    rows["max_timestamp_ms"] = rows["now_ms"] = [one.timestamp_ms for one in appends]
    rows["append"], rows["marker"], rows["magic"] = (
        np.arange(len(appends)),
        NO_MARKER,
        batch.MAGIC_2,
    )
    return _renumbered(rows, 0, 0)


def _renumbered(rows: np.ndarray, first: int, offset: int) -> np.ndarray:
    """The rows from number first on, following one another from an offset."""
    counts = rows["record_count"][first:]
    rows["base_offset"][first:] = offset + np.cumsum(counts) - counts
    rows["last_offset"][first:] = rows["deep_offset"][first:] = offset + np.cumsum(counts) - 1
    return rows


def _bytes(row: np.ndarray) -> bytes:
    made = np.zeros(1, practice.ROW)
    for name in PRACTICE_BATCH:
        made[name] = row[name]
    return practice.batch_bytes(made[0], 0)


# ---- watching it


class _Watched:
    """A log, and the steps that were seen."""

    def __init__(self, log: Log) -> None:
        self._log, self._steps, self._seen = log, [], [Seen(log.active.base_offset)]
        self._add(What.OPEN, self._state(log.active), self._state(log.active))

    def growth(self) -> Growth:
        return Growth(self._log.config, tuple(self._steps), tuple(self._seen))

    def append(self, row: np.ndarray, has_bytes: bool = True) -> bool:
        """One batch; False where Kafka does not take it."""
        log, before = self._log, self._state(self._log.active)
        fullest, known = log.active, len(log.events)
        told = {
            "size_bytes": int(row["size_bytes"][0]),
            "last_offset": int(row["last_offset"][0]),
            "timestamp_ms": int(row["max_timestamp_ms"][0]),
        }
        try:
            log.append(row, _bytes(row) if has_bytes else None)
        except AppendFailed as fault:
            self._add(What.FAIL, before, self._state(log.active), words=str(fault.raised), **told)
            return False
        rolls = [event for event in log.events[known:] if event.kind == "roll"]
        if rolls:
            self._rolled(fullest, before, rolls[-1].reason, told)
            before = self._fresh()
        self._take(row)
        self._add(What.APPEND, before, self._state(log.active), **told)
        return True

    def _rolled(
        self, full: OpenSegment, before: State, reason: RollReason | None, told: dict
    ) -> None:
        """The last entry of the time index, then both files cut; as a step each."""
        trimmed = self._state(full)
        ended = replace(
            trimmed, index_bytes=before.index_bytes, timeindex_bytes=before.timeindex_bytes
        )
        self._note_entries(full)
        self._add(What.ROLL, before, ended, reason=reason, **told)
        self._add(What.TRIM, ended, trimmed, reason=reason)
        self._seen.append(Seen(self._log.active.base_offset))

    def _fresh(self) -> State:
        """A new segment before its first append."""
        active = self._log.active
        lengths = active.index.file_bytes, active.timeindex.file_bytes
        return State(active.base_offset, 0, 0, 0, 0, 0, *lengths, -1, active.base_offset)

    def _take(self, row: np.ndarray) -> None:
        active, seen = self._log.active, self._seen[-1]
        size = int(row["size_bytes"][0])
        seen.batches.append(
            (
                active.log_bytes - size,
                size,
                int(row["last_offset"][0]),
                int(row["max_timestamp_ms"][0]),
            )
        )
        self._note_entries(active)

    def _note_entries(self, segment: OpenSegment) -> None:
        """Entries that are new since the last look."""
        seen, base = self._seen[-1], segment.base_offset
        for key, position in segment.index.entries[len(seen.offsets) :].tolist():
            seen.offsets.append((base + key, position))
        for timestamp_ms, key in segment.timeindex.entries[len(seen.times) :].tolist():
            seen.times.append((timestamp_ms, base + key))

    def restart(self, now_ms: int) -> None:
        """A clean stop, then a start."""
        log, before = self._log, self._state(self._log.active)
        log.close(now_ms)
        self._note_entries(log.active)
        stopped = self._state(log.active)
        self._add(What.STOP, before, stopped)
        log.restart(now_ms)
        self._add(What.RESTART, stopped, self._state(log.active))

    def truncate(self, offset: int, now_ms: int) -> None:
        """Back to an offset; what was above it is gone."""
        log, before = self._log, self._state(self._log.active)
        log.truncate_to(offset, now_ms)
        active, old = (
            log.active,
            next(one for one in reversed(self._seen) if one.base_offset == log.active.base_offset),
        )
        self._seen.append(
            Seen(
                active.base_offset,
                [one for one in old.batches if one[0] < active.log_bytes],
                old.offsets[: active.index.count],
                old.times[: active.timeindex.count],
            )
        )
        self._add(What.TRUNCATE, before, self._state(active), offset=offset)

    def _add(self, what: What, before: State, after: State, **told) -> None:
        self._steps.append(Step(what, len(self._seen) - 1, before, after, **told))

    def _state(self, segment: OpenSegment) -> State:
        counters = segment.counters[0]
        return State(
            segment.base_offset,
            segment.log_bytes,
            len(self._seen[-1].batches),
            int(counters["bytes_since_last_index_entry"]),
            segment.index.count,
            segment.timeindex.count,
            segment.index.file_bytes,
            segment.timeindex.file_bytes,
            int(counters["max_timestamp_ms"]),
            int(counters["max_timestamp_offset"]),
        )


# ---- two stories

START_MS = practice.START_MS


def first_segments() -> Growth:
    """Batches of 1000 B: five to an entry; then equal timestamps, a restart, a truncation and a
    roll, with indexes of 10 MiB.
    """
    config = LogConfig(segment_bytes=24_000, index_interval_bytes=4096)
    return grow(config, tuple(_first_acts()), START_MS)


def _first_acts() -> Iterator[Act]:
    for number in range(11):
        yield Append(1000, 10, START_MS + 100 * (number + 1))
    for _ in range(5):
        # the clock stands still, as in a burst within one millisecond
        yield Append(1000, 10, START_MS + 1100)
    yield Append(1000, 10, START_MS + 1700)
    yield Append(1000, 10, START_MS + 1800)
    yield Restart(START_MS + 60_000)
    for number in range(5):
        yield Append(1000, 10, START_MS + 61_000 + 100 * number)
    yield Truncate(170, START_MS + 70_000)
    for number in range(9):
        yield Append(1000, 10, START_MS + 71_000 + 100 * number)


def full_time_index() -> Growth:
    """Records of 119 B one by one, index.interval.bytes 150 and segment.index.bytes 300: the time
    index is full at 24 entries.
    """
    config = LogConfig(index_interval_bytes=150, segment_index_bytes=300)
    return grow(
        config, [Append(119, 1, START_MS + 1000 * number) for number in range(52)], START_MS
    )
