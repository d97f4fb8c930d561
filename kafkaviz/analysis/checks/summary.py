"""Summarizes a segment while its batches are read, for the checks of the topic-partition.

The transactions are kept as steps. For example, producer 7 begins a transaction at offset 10, and
producer 8 at 20. Producer 8 commits at 25. Producer 7 aborts at 30. These steps are kept:

    ("begin", 7, TransactionBegin(10))
    ("end", 8, TransactionEnd(25))
    ("end", 7, TransactionEnd(30, is_abort, stable_offset None))

A commit is kept only if no earlier marker in this segment is from the same producer. Such a commit
may end a transaction from an earlier segment. So memory grows with the producers and aborts, not
with the log.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.log_scan import ScanState
from kafkaviz.analysis.inferred_settings import NO_BATCH, FirstBatch, SegmentFacts
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import KafkavizError
from kafkaviz.format import open_transactions
from kafkaviz.format.batch import (
    HEADER_BYTES,
    MAGIC_2,
    is_control,
    is_log_append_time,
    is_transactional,
)
from kafkaviz.format.batch_records import heads
from kafkaviz.format.control import ControlType
from kafkaviz.format.open_transactions import (
    OpenTransactions,
    TransactionBegin,
    TransactionFault,
    transaction_rows,
)
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message
from kafkaviz.units import HOUR_MS

GAPS_KEPT = 20
EPOCHS_KEPT = 1000
LATE_MS = 24 * HOUR_MS  # a timestamp this much older than an earlier record's is reported
# timestamps in this range are probably seconds, from 1973 on; as milliseconds they would be 2
# January to 26 April 1970
SECONDS = (100_000_000, 10_000_000_000)
# from here on, timestamps are probably microseconds (1973) or nanoseconds; as milliseconds they
# would be after the year 5138
MICROSECONDS = 100_000_000_000_000


@dataclass(frozen=True)
class TransactionEnd:
    """The end of a transaction, from a control record."""

    offset: int
    position: int
    producer_id: int
    is_abort: bool
    # if this is an abort, the first offset of the oldest transaction that began in this segment and
    # is still open. None if no transaction is open, and for a commit.
    stable_offset: int | None = None


TransactionEvent = tuple[str, int, TransactionBegin | TransactionEnd]


class TransactionTracker(BatchObserver[list[TransactionEvent]]):
    """Collects the transactions of a segment. CheckSummary explains the public attributes."""

    def __init__(self, log: FileInfo, stable_offsets: Iterable[int]) -> None:
        self._log = log
        self._stable_offsets = frozenset(stable_offsets)
        self._steps: dict[int, TransactionEvent] = {}  # by position of the batch
        self._transactions = OpenTransactions()
        self._ended_producers: set[int] = set()
        self.stable_begins: list[int] = []
        self.aborted_bytes = 0
        self.open_bytes: dict[int, int] = defaultdict(int)

    def result(self) -> list[TransactionEvent]:
        return list(self._steps.values())

    def observe(self, batches: np.ndarray) -> None:
        rows = list(transaction_rows(batches))
        marker_rows = [index for index, last_ms in rows if last_ms is None]
        kinds = dict(zip(marker_rows, self._marker_kinds(batches[marker_rows]), strict=True))
        self._count_bytes(batches, kinds)
        for index, last_ms in rows:
            row = batches[index]
            producer = int(batches["producer_id"][index])
            if last_ms is not None:
                begin = TransactionBegin(int(row["base_offset"]), int(row["position"]), last_ms)
                open_begin = self._transactions.begin(producer, begin)
                if open_begin is begin and begin.offset in self._stable_offsets:
                    self.stable_begins.append(begin.offset)
                self._steps[open_begin.position] = "begin", producer, open_begin
            elif (kind := kinds[index]) is not None:
                self._end(row, producer, kind)

    def _count_bytes(self, batches: np.ndarray, kinds: Mapping[int, ControlType | None]) -> None:
        is_data = is_transactional(batches) & ~is_control(batches)
        is_counted = is_data.copy()
        is_counted[[row for row, kind in kinds.items() if kind is not None]] = True
        rows = np.flatnonzero(is_counted)
        rows = rows[np.argsort(batches["producer_id"][rows], kind="stable")]
        if not len(rows):
            return
        producers = batches["producer_id"][rows]
        is_marker = ~is_data[rows]
        # cut the rows after each marker and after the last row of each producer
        ends = np.flatnonzero(is_marker | np.append(np.diff(producers) != 0, True))
        sizes = np.where(is_marker, 0, batches["size_bytes"][rows] - HEADER_BYTES)
        part_bytes = np.add.reduceat(sizes, np.concatenate(([0], ends[:-1] + 1)))
        for end, size in zip(ends.tolist(), part_bytes.tolist(), strict=True):
            producer = int(producers[end])
            self.open_bytes[producer] += size
            if is_marker[end]:
                ended_bytes = self.open_bytes.pop(producer)
                if kinds[int(rows[end])] == ControlType.ABORT:
                    self.aborted_bytes += ended_bytes

    def _end(self, row: np.void, producer: int, kind: ControlType) -> None:
        begin = self._transactions.end(producer)
        is_first = producer not in self._ended_producers
        self._ended_producers.add(producer)
        is_abort = kind == ControlType.ABORT
        if begin and not is_abort:
            del self._steps[begin.position]
        if is_abort or is_first:
            offset = int(row["base_offset"])
            position = int(row["position"])
            stable_offset = self._transactions.first_offset() if is_abort else None
            marker = TransactionEnd(offset, position, producer, is_abort, stable_offset)
            self._steps[position] = "end", producer, marker

    def _marker_kinds(self, markers: np.ndarray) -> list[ControlType | None]:
        if not len(markers):
            return []
        with file.reader(self._log.path) as read:
            return [_marker_kind(read, marker) for marker in markers]


def _marker_kind(read: ReadInto, marker: np.void) -> ControlType | None:
    if not marker["record_count"]:
        return None
    try:
        kind = open_transactions.marker(read, marker, 0).kind
    except (KafkavizError, TransactionFault):
        return None
    is_end = kind in (ControlType.ABORT, ControlType.COMMIT)
    return ControlType(kind) if is_end else None


@dataclass(frozen=True)
class Gap:
    """Missing offsets from `first` to `last`, before the batch at `position`."""

    first: int
    last: int
    position: int

    @property
    def offsets(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, kw_only=True)
class TimeAnomaly:
    """The number of batches with suspicious timestamps, and the worst of these batches."""

    count: int  # the number of batches. All other attributes describe the worst batch.
    position: int
    size_bytes: int
    offset: int  # the batch's last offset
    timestamp_ms: int  # the batch's largest timestamp
    reference_ms: int = -1  # the newest plausible timestamp up to this batch
    # the batch's first offset; -1: unknown, as for a wrapper of magic 0 or 1
    first_offset: int = -1

    @property
    def offsets_text(self) -> Message:
        if self.first_offset == self.offset:
            return message("finding.at_offset", offset=self.offset)
        if self.first_offset >= 0:
            return message("finding.in_batch", first=self.first_offset, last=self.offset)
        return message("finding.in_batch_up_to", offset=self.offset)


@dataclass(kw_only=True)
class CheckSummary:
    """The numbers and notes from checking one segment, for the checks of its partition.

    Offsets and times are None if no batch can be trusted.
    """

    segment: LogSegment
    batches: int = 0
    records: int = 0
    first_offset: int | None = None
    last_offset: int | None = None
    # the last offset of the last batch, plus one, even if the batch cannot be trusted; a broker
    # takes it for the log end
    end_offset: int | None = None
    end_bytes: int = 0  # end of the last batch
    # (timestamp, last offset, position) of the batch with the largest timestamp
    newest: tuple[int, int, int] | None = None
    # offset of the first record with that timestamp; None if unknown
    newest_offset: int | None = None
    # the first GAPS_KEPT ranges of offsets that are missing between batches
    gaps: list[Gap] = field(default_factory=list)
    gap_count: int = 0
    gap_offsets: int = 0  # the number of offsets that are missing between batches
    dropped_offsets: int = 0  # the number of offsets that are missing inside batches
    control_batches: int = 0
    producer_batches: int = 0
    first_batch: FirstBatch | None = None
    # (epoch, first offset, position) after each of the first EPOCHS_KEPT epoch changes
    epochs: list[tuple[int, int, int]] = field(default_factory=list)
    sound_bytes: int = 0  # the size of the batches that can be trusted
    header_bytes: int = 0  # the size of the headers of data batches of magic 2
    control_bytes: int = 0
    # ("begin", producer id, TransactionBegin) or ("end", producer id, TransactionEnd)
    steps: list[TransactionEvent] = field(default_factory=list)
    # the first offsets of transactions that are also last stable offsets in the .txnindex
    stable_begins: list[int] = field(default_factory=list)
    # the size, without headers, of the batches that this segment's markers abort
    aborted_bytes: int = 0
    # pairs of a producer id and the size, without headers, of this producer's transactional batches
    # after its last marker
    open_bytes: list[tuple[int, int]] = field(default_factory=list)
    # suspicious timestamps, with the keys "missing", "unit", "future" and "late"
    times: dict[str, TimeAnomaly] = field(default_factory=dict)
    entries: int = 0
    time_entries: int = 0
    # timestamp of the last time entry as a broker reads it: 0 if the last slot is unwritten
    last_time_ms: int | None = None
    read_fault: str = ""  # why the .log could not be read
    # "index" and "timeindex" if they could not be read; their entries are unknown
    unreadable_indexes: tuple[str, ...] = ()
    is_unsound: bool = False  # whether some part of the .log cannot be trusted
    # the kind of the bytes after the last batch; "" without any, or if another part is unsound
    tail_kind: str = ""

    def segment_facts(self) -> SegmentFacts:
        return SegmentFacts(
            base_offset=self.segment.base_offset,
            log_bytes=self.segment.log.size_bytes,
            first_batch=self.first_batch or NO_BATCH,
            max_timestamp_ms=self.newest[0] if self.newest else -1,
            offset_entries=self.entries,
            time_entries=self.time_entries,
        )


class SummaryBuilder(BatchObserver[CheckSummary]):
    def __init__(self, segment: LogSegment, facts: PartitionFacts, scan_state: ScanState) -> None:
        self._segment = segment
        self._facts = facts
        self._scan_state = scan_state
        self.summary = CheckSummary(segment=segment)
        self._newest_ms = -1  # newest plausible timestamp, not counting log append times
        self._epoch = -1
        stable_offsets: list[int] = []
        with suppress(KafkavizError):
            stable_offsets = segment.txn_index["last_stable_offset"].tolist()
        self._transactions = TransactionTracker(segment.log, stable_offsets)
        self._was_unsound = False

    def observe(self, batches: np.ndarray) -> None:
        self.summary.end_offset = int(batches["last_offset"][-1]) + 1
        is_whole = bool(batches["is_sound"].all()) and not self._was_unsound
        batches = batches[batches["is_sound"]]
        self._was_unsound |= not is_whole
        if not len(batches):
            return
        summary = self.summary
        summary.batches += len(batches)
        summary.records += int(batches["records_read"].sum())
        summary.first_batch = summary.first_batch or FirstBatch.from_row(batches[0])
        self._add_newest(batches)
        if is_whole:
            self._add_gaps(batches)
        is_control_batch = is_control(batches)
        summary.control_batches += int(np.count_nonzero(is_control_batch))
        sizes = batches["size_bytes"]
        summary.sound_bytes += int(sizes.sum())
        summary.control_bytes += int(sizes[is_control_batch].sum())
        data_batches = batches[~is_control_batch]
        modern_count = int(np.count_nonzero(data_batches["magic"] >= MAGIC_2))
        summary.header_bytes += modern_count * HEADER_BYTES
        summary.producer_batches += int(np.count_nonzero(data_batches["producer_id"] >= 0))
        self._add_epochs(batches)
        self._add_times(data_batches[data_batches["record_count"] != 0])
        if not self._facts.metadata_log:
            self._transactions.observe(batches)
        if summary.first_offset is None:
            summary.first_offset = int(batches["base_offset"][0])
        summary.last_offset = int(batches["last_offset"][-1])

    def _add_newest(self, batches: np.ndarray) -> None:
        index = int(np.argmax(batches["max_timestamp_ms"]))
        newest = int(batches["max_timestamp_ms"][index])
        if newest > (self.summary.newest[0] if self.summary.newest else -1):
            row = batches[index]
            self.summary.newest = newest, int(row["last_offset"]), int(row["position"])

    def _add_gaps(self, batches: np.ndarray) -> None:
        summary = self.summary
        next_offset = (
            self._segment.base_offset if summary.last_offset is None else summary.last_offset + 1
        )
        starts = np.concatenate(([next_offset], batches["last_offset"][:-1] + 1))
        missing_counts = batches["base_offset"] - starts
        indices = np.flatnonzero(missing_counts > 0)
        summary.gap_count += len(indices)
        summary.gap_offsets += int(missing_counts[indices].sum())
        for index in indices[: GAPS_KEPT - len(summary.gaps)].tolist():
            row = batches[index]
            gap = Gap(int(starts[index]), int(row["base_offset"]) - 1, int(row["position"]))
            summary.gaps.append(gap)
        modern_batches = batches[batches["magic"] >= MAGIC_2]
        spans = modern_batches["last_offset"] - modern_batches["base_offset"] + 1
        dropped_offsets = (spans - modern_batches["record_count"]).clip(0)
        summary.dropped_offsets += int(dropped_offsets.sum())

    def _add_epochs(self, batches: np.ndarray) -> None:
        epochs = batches["leader_epoch"].astype("i8")
        change_indices = np.flatnonzero(np.diff(epochs, prepend=self._epoch) != 0)
        for index in change_indices[: EPOCHS_KEPT - len(self.summary.epochs)].tolist():
            row = batches[index]
            change = int(row["leader_epoch"]), int(row["base_offset"]), int(row["position"])
            self.summary.epochs.append(change)
        self._epoch = int(epochs[-1])

    def _add_times(self, batches: np.ndarray) -> None:
        """Finds timestamps that are missing, in the wrong unit, in the future, or late.

        Late means more than LATE_MS below a plausible timestamp in an earlier batch.
        """
        if not len(batches):
            return
        times = batches["max_timestamp_ms"]
        is_missing = times < 0
        is_suspect = has_suspect_unit(times)
        is_ahead = ~is_suspect & (times > self._facts.now_ms + HOUR_MS)
        is_comparable = ~is_missing & ~is_suspect & ~is_ahead & ~is_log_append_time(batches)
        newest_ms = np.maximum.accumulate(np.where(is_comparable, times, -1))
        newest_ms = np.maximum(newest_ms, self._newest_ms)
        is_late = is_comparable & (newest_ms - times > LATE_MS)
        self._keep("missing", batches, is_missing, newest_ms)
        self._keep("unit", batches, is_suspect, newest_ms)
        self._keep("future", batches, is_ahead, newest_ms)
        self._keep("late", batches, is_late, newest_ms)
        self._newest_ms = int(newest_ms[-1])

    def _keep(
        self, name: str, batches: np.ndarray, mask: np.ndarray, newest_ms: np.ndarray
    ) -> None:
        indices = np.flatnonzero(mask)
        if not len(indices):
            return
        # the worst batch is the oldest if timestamps are late, and otherwise the newest
        times = batches["max_timestamp_ms"][indices]
        index = int(indices[times.argmin() if name == "late" else times.argmax()])
        row = batches[index]
        anomaly = TimeAnomaly(
            count=len(indices),
            position=int(row["position"]),
            size_bytes=int(row["size_bytes"]),
            offset=int(row["last_offset"]),
            timestamp_ms=int(row["max_timestamp_ms"]),
            reference_ms=int(newest_ms[index]),
            first_offset=int(row["base_offset"]),
        )
        if known := self.summary.times.get(name):
            choose = min if name == "late" else max
            worst = choose(known, anomaly, key=lambda candidate: candidate.timestamp_ms)
            anomaly = replace(worst, count=known.count + anomaly.count)
        self.summary.times[name] = anomaly

    def result(self) -> CheckSummary:
        summary = self.summary
        entries = self._segment.offset_slots
        times = self._segment.time_slots
        summary.entries = len(entries.entries)
        summary.time_entries = len(times.entries)
        transactions = self._transactions
        summary.steps = transactions.result()
        summary.stable_begins = transactions.stable_begins
        summary.aborted_bytes = transactions.aborted_bytes
        summary.open_bytes = [item for item in transactions.open_bytes.items() if item[1]]
        state = self._scan_state
        summary.is_unsound = bool(state.unsound_offsets or state.unread_ranges)
        if state.tail is not None and not self._was_unsound and not state.unread_ranges:
            summary.tail_kind = state.tail.kind
        summary.end_bytes = state.end_bytes
        summary.newest_offset = _newest_offset(self._segment, summary.newest)
        is_untrimmed = self._facts.active_is_untrimmed and self._segment.state == "active"
        if times.unwritten_slots and not is_untrimmed:
            summary.last_time_ms = 0
        elif summary.time_entries:
            summary.last_time_ms = int(times.entries["timestamp_ms"][-1])
        return summary


def has_suspect_unit(times_ms: np.ndarray) -> np.ndarray:
    """Returns a boolean per timestamp: True if it looks like seconds, microseconds or nanoseconds.

    Read as milliseconds, such a number is a date in 1970 or after the year 5000.
    """
    return ((times_ms >= SECONDS[0]) & (times_ms < SECONDS[1])) | (times_ms >= MICROSECONDS)


def _newest_offset(segment: LogSegment, newest: tuple[int, int, int] | None) -> int | None:
    if newest is None or newest[0] < 0:
        return None
    with suppress(KafkavizError):
        for head in heads(segment.batch_bytes(newest[2])):
            if head.timestamp_ms == newest[0]:
                return head.offset
    return None
