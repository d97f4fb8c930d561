"""What the checks of a topic-partition need to know of each of its segments, gathered while its
batches are read.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.reading import Chunk, Reading
from kafkaviz.analyse.checks.transactions import Begun, Marker, Transactions
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.infer import SegmentFacts
from kafkaviz.config_def import HOUR_MS
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import MAGIC_2, is_control, is_log_append_time
from kafkaviz.format.record_heads import heads
from kafkaviz.log.segment import Segment
from kafkaviz.units import group

GAPS_KEPT, EPOCHS_KEPT = 20, 1000
LATE_MS = 24 * HOUR_MS  # behind an earlier record: a producer that is this late is worth a look
# from 1973 on as seconds; as milliseconds from 2 January to 26 April 1970
SECONDS = (100_000_000, 10_000_000_000)
# 1973 as microseconds, the year 5138 as milliseconds; nanoseconds are more
MICROSECONDS = 100_000_000_000_000


@dataclass(frozen=True)
class Gap:
    """Offsets that are in no batch: first to last, in front of the batch at a position."""

    first: int
    last: int
    position: int

    @property
    def offsets(self) -> int:
        """How many."""
        return self.last - self.first + 1


@dataclass(frozen=True)
class Times:
    """Batches whose times look wrong: how many, and of the worst its position, bytes, last offset,
    largest time and first offset.

    first_offset: -1 where a compressed message of magic 0 or 1 does not tell it.
    """

    count: int
    position: int
    size_bytes: int
    offset: int
    timestamp_ms: int
    compared_ms: int = -1  # what it was held against
    first_offset: int = -1

    @property
    def offsets(self) -> str:
        """Where that is, in words: which record of the batch has the time is not told by its
        header.
        """
        if self.first_offset == self.offset:
            return f"at offset {group(self.offset)}"
        up_to = (
            f"of offsets {group(self.first_offset)} to"
            if self.first_offset >= 0
            else "up to offset"
        )
        return f"in the batch {up_to} {group(self.offset)}"


@dataclass(frozen=True)
class First:
    """The first batch of a segment, as a roll before it is judged by."""

    size_bytes: int
    max_timestamp_ms: int
    last_offset: int


@dataclass
class Summary:
    """One segment; offsets and times are None where there is no batch that can be believed.

    newest: (time, last offset, position) of the batch with the largest time. gaps: the first ones;
    dropped_offsets: missing inside of batches. steps, stable_begins: of transactions, see
    checks.transactions. epochs: (epoch, first offset, position) where the leader epoch changes, the
    first ones. times: what looks wrong, by "missing", "unit", "future", "late".
    """

    segment: Segment
    batches: int = 0
    records: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    # one past the last batch as its header says, believed or not: that is how a broker finds its
    # end
    end_offset: int | None = None
    end_bytes: int = 0  # where its last batch ends
    newest: tuple[int, int, int] | None = None
    # of the first record that has that time; None where its batch does not tell
    newest_offset: int | None = None
    gaps: list[Gap] = field(default_factory=list)
    gap_count: int = 0
    gap_offsets: int = 0
    dropped_offsets: int = 0
    control_batches: int = 0
    producer_batches: int = 0
    first_batch: First | None = None
    epochs: list[tuple[int, int, int]] = field(default_factory=list)
    steps: list[tuple[str, int, Begun | Marker]] = field(default_factory=list)
    stable_begins: list[int] = field(default_factory=list)
    times: dict[str, Times] = field(default_factory=dict)
    entries: int = 0
    time_entries: int = 0
    # of the last time entry, as a broker believes it: 0 of an unwritten slot
    last_time_ms: int | None = None
    unreadable: str = ""  # why its .log could not be read
    # "index" and "timeindex", where these could not be read: nothing is known of their entries
    hidden: tuple[str, ...] = ()
    unsound: bool = False  # something in the .log could not be believed

    def facts(self) -> SegmentFacts:
        """What the inference of rolls takes of it."""
        first = self.first_batch or First(0, -1, -1)
        return SegmentFacts(
            self.segment.base_offset,
            existing(self.segment.log).size_bytes,
            first.size_bytes,
            first.max_timestamp_ms,
            first.last_offset,
            self.newest[0] if self.newest else -1,
            self.entries,
            self.time_entries,
        )


class Watch:
    """Takes the batches of a segment."""

    def __init__(self, segment: Segment, facts: Facts) -> None:
        """Nothing is taken yet."""
        self._segment, self._facts, self.summary = segment, facts, Summary(segment)
        self._newest_ms = -1  # of producers' own times that look right
        self._epoch = -1
        self._transactions = Transactions(existing(segment.log), _stable_offsets(segment))
        self._unsound_before = False

    def add(self, chunk: Chunk) -> None:
        """The next batches."""
        batches = chunk.batches[chunk.sound]
        self.summary.end_offset = int(chunk.batches["last_offset"][-1]) + 1
        whole = len(batches) == len(chunk.batches) and not self._unsound_before
        self._unsound_before |= not whole
        if not len(batches):
            return
        told = self.summary
        told.batches += len(batches)
        told.records += int(batches["records_read"].sum())
        told.first_batch = told.first_batch or First(
            *(int(batches[name][0]) for name in ("size_bytes", "max_timestamp_ms", "last_offset"))
        )
        self._add_newest(batches)
        if whole:
            self._add_gaps(batches)
        control = is_control(batches)
        told.control_batches += int(np.count_nonzero(control))
        told.producer_batches += int(np.count_nonzero((batches["producer_id"] >= 0) & ~control))
        self._add_epochs(batches)
        self._add_times(batches[~control & (batches["record_count"] != 0)])
        if not self._facts.metadata_log:
            self._transactions.add(batches, control)
        told.first_offset = (
            int(batches["base_offset"][0]) if told.first_offset is None else told.first_offset
        )
        told.last_offset = int(batches["last_offset"][-1])

    def _add_newest(self, batches: np.ndarray) -> None:
        at = int(np.argmax(batches["max_timestamp_ms"]))
        newest = int(batches["max_timestamp_ms"][at])
        if newest > (self.summary.newest[0] if self.summary.newest else -1):
            self.summary.newest = (
                newest,
                int(batches["last_offset"][at]),
                int(batches["position"][at]),
            )

    def _add_gaps(self, batches: np.ndarray) -> None:
        """Offsets between batches, and in batches that lost records: compaction takes both away."""
        told = self.summary
        before = self._segment.base_offset if told.last_offset is None else told.last_offset + 1
        starts = np.concatenate(([before], batches["last_offset"][:-1] + 1))
        missing = batches["base_offset"] - starts
        places = np.flatnonzero(missing > 0)
        told.gap_count += len(places)
        told.gap_offsets += int(missing[places].sum())
        for at in places[: GAPS_KEPT - len(told.gaps)].tolist():
            told.gaps.append(
                Gap(
                    int(starts[at]),
                    int(batches["base_offset"][at]) - 1,
                    int(batches["position"][at]),
                )
            )
        modern = batches[batches["magic"] >= MAGIC_2]
        told.dropped_offsets += int(
            (modern["last_offset"] - modern["base_offset"] + 1 - modern["record_count"])
            .clip(0)
            .sum()
        )

    def _add_epochs(self, batches: np.ndarray) -> None:
        epochs = batches["leader_epoch"].astype("i8")
        changed = np.flatnonzero(np.diff(epochs, prepend=self._epoch) != 0)
        for at in changed[: EPOCHS_KEPT - len(self.summary.epochs)].tolist():
            self.summary.epochs.append(
                (int(epochs[at]), int(batches["base_offset"][at]), int(batches["position"][at]))
            )
        self._epoch = int(epochs[-1])

    def _add_times(self, batches: np.ndarray) -> None:
        """Times that are missing, of another unit, ahead of the clock, or far behind earlier
        ones.
        """
        times = batches["max_timestamp_ms"]
        missing, suspect = times < 0, unit_suspect(times)
        ahead = ~suspect & (times > self._facts.now_ms + HOUR_MS)
        judged = ~missing & ~suspect & ~ahead & ~is_log_append_time(batches)
        running = (
            np.maximum(np.maximum.accumulate(np.where(judged, times, -1)), self._newest_ms)
            if len(times)
            else times
        )
        late = judged & (running - times > LATE_MS)
        for name, wrong in (
            ("missing", missing),
            ("unit", suspect),
            ("future", ahead),
            ("late", late),
        ):
            self._keep(name, batches, wrong, running)
        self._newest_ms = int(running[-1]) if len(times) else self._newest_ms

    def _keep(self, name: str, batches: np.ndarray, wrong: np.ndarray, running: np.ndarray) -> None:
        places = np.flatnonzero(wrong)
        if not len(places):
            return
        times = batches["max_timestamp_ms"][places]
        # the worst of them
        at = int(places[np.argmin(times)] if name == "late" else places[np.argmax(times)])
        row, known = batches[at], self.summary.times.get(name)
        told = (
            int(row[field])
            for field in ("position", "size_bytes", "last_offset", "max_timestamp_ms")
        )
        new = Times(len(places), *told, int(running[at]), int(row["base_offset"]))
        worse = known is None or (
            new.timestamp_ms < known.timestamp_ms
            if name == "late"
            else new.timestamp_ms > known.timestamp_ms
        )
        self.summary.times[name] = replace(
            new if worse else known, count=len(places) + (known.count if known else 0)
        )

    def finished(self, reading: Reading) -> Summary:
        """The summary, once all batches were taken."""
        told, entries, times = self.summary, self._segment.offset_slots, self._segment.time_slots
        told.entries, told.time_entries = len(entries.entries), len(times.entries)
        told.steps, told.stable_begins = (
            self._transactions.steps(),
            self._transactions.stable_begins,
        )
        told.unsound = bool(reading.unsound_offsets or reading.breaks)
        told.end_bytes = reading.end_bytes
        told.newest_offset = _newest_offset(self._segment, told.newest)
        if self._segment.timeindex is not None and times.slots:
            believed = times.unwritten and not (
                self._facts.active_is_untrimmed and self._segment.state == "active"
            )
            told.last_time_ms = (
                0
                if believed
                else int(times.entries["timestamp_ms"][-1])
                if told.time_entries
                else None
            )
        return told


def unit_suspect(times_ms: np.ndarray) -> np.ndarray:
    """Times that make sense as seconds, microseconds or nanoseconds: as milliseconds they lie in
    1970, or beyond the year 5000.
    """
    return ((times_ms >= SECONDS[0]) & (times_ms < SECONDS[1])) | (times_ms >= MICROSECONDS)


def _newest_offset(segment: Segment, newest: tuple[int, int, int] | None) -> int | None:
    """The offset of the first record with the newest time; None where there is none, or its batch
    cannot be read.
    """
    if newest is None or newest[0] < 0:
        return None
    try:
        return next(
            (
                one.offset
                for one in heads(segment.batch_bytes(newest[2]))
                if one.timestamp_ms == newest[0]
            ),
            None,
        )
    except KafkavizError:
        return None


def _stable_offsets(segment: Segment) -> list[int]:
    """The last stable offsets of its .txnindex; none where that cannot be read, which is told
    elsewhere.
    """
    try:
        return segment.txn_index["last_stable_offset"].tolist()
    except KafkavizError:
        return []
