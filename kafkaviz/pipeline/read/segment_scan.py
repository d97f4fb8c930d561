"""Reads the indexes and the batches of a segment, and summarizes them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from kafkaviz.analysis.inferred_settings import ChunkedEvidence, FirstBatch, IntervalEvidence
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import UNKNOWN, codec, has_delete_horizon, is_log_append_time
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.broker import Problem
from kafkaviz.log.segment import OFFSET_ENTRY, Index, LogSegment, Segment


@dataclass(frozen=True, kw_only=True)
class BatchStatistics:
    """Statistics of consecutive batches.

    A value is None without batches, or if their format lacks the field.
    `min_timestamp_ms` comes from the batch headers, so it may differ from the smallest timestamp of
    a record. A header has the first record's timestamp. If it has another time in its place (append
    time, delete horizon), or none (old compressed messages), its largest timestamp counts.
    """

    batches: int = 0
    records: int | None = 0
    first_offset: int | None = None
    last_offset: int | None = None
    min_timestamp_ms: int | None = None
    max_timestamp_ms: int | None = None
    first_batch: FirstBatch | None = None
    codecs: int = 0  # bit n is set if any batch has the codec with id n


def content(batches: np.ndarray) -> BatchStatistics:
    if not len(batches):
        return BatchStatistics()
    first = batches[0]
    counts = batches["record_count"]
    hidden = (counts == UNKNOWN) & (batches["magic"] < 2)
    return BatchStatistics(
        batches=len(batches),
        records=None if hidden.any() else int(counts.sum(dtype=np.int64)),
        first_offset=None if hidden[0] else int(first["base_offset"]),
        last_offset=int(batches["last_offset"][-1]),
        min_timestamp_ms=_smallest_timestamp(_earliest_ms(batches).tolist()),
        max_timestamp_ms=_most(batches["max_timestamp_ms"][~no_timestamp(batches)].tolist()),
        first_batch=FirstBatch.from_row(first),
        codecs=int(np.bitwise_or.reduce(1 << codec(batches).astype(np.int64))),
    )


class BatchStatisticsBuilder(BatchObserver[BatchStatistics]):
    """Collects the statistics of a split. `end_position`: the byte after the last batch."""

    def __init__(self) -> None:
        self._content = BatchStatistics()
        self.end_position: int | None = None

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        self._content = merge((self._content, content(batches)))
        self.end_position = int(batches["position"][-1] + batches["size_bytes"][-1])

    def result(self) -> BatchStatistics:
        return self._content


def merge(parts: Iterable[BatchStatistics]) -> BatchStatistics:
    """Merges the statistics of consecutive parts of a segment.

    Example: one part has two batches, offsets 0-9 and 10-19. The next part has one, 20-24. The
    result is 3 batches, 25 records, first offset 0 and last offset 24.
    """
    parts = [part for part in parts if part.batches]
    if not parts:
        return BatchStatistics()
    first = parts[0]
    counts = [part.records for part in parts if part.records is not None]
    return BatchStatistics(
        batches=sum(part.batches for part in parts),
        records=sum(counts) if len(counts) == len(parts) else None,
        first_offset=first.first_offset,
        last_offset=parts[-1].last_offset,
        min_timestamp_ms=_smallest_timestamp(part.min_timestamp_ms for part in parts),
        max_timestamp_ms=_most(part.max_timestamp_ms for part in parts),
        first_batch=first.first_batch,
        codecs=reduce(or_, (part.codecs for part in parts)),
    )


def _earliest_ms(batches: np.ndarray) -> np.ndarray:
    hidden = (batches["magic"] < 2) & (batches["record_count"] == UNKNOWN)
    by_largest = is_log_append_time(batches) | has_delete_horizon(batches) | hidden
    earliest_ms = np.where(by_largest, batches["max_timestamp_ms"], batches["base_timestamp_ms"])
    return earliest_ms[~no_timestamp(batches)]


def no_timestamp(batches: np.ndarray) -> np.ndarray:
    return batches["magic"] < 1


def _smallest_timestamp(values: Iterable[int | None]) -> int | None:
    """Returns the smallest timestamp. -1 (no timestamp) counts only if all values are -1."""
    present = [value for value in values if value is not None]
    return min((value for value in present if value >= 0), default=min(present, default=None))


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


@dataclass(frozen=True)
class SlotCounts:
    """The number of slots in each index. None: the index does not exist or was not read."""

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True, kw_only=True)
class ScanSummary:
    """The results of reading the batches and indexes of a segment, or of a split of it."""

    end_position: int | None = None  # the byte where the scan ended; None: nothing could be read
    content: BatchStatistics = field(default_factory=BatchStatistics)
    evidence: IntervalEvidence = field(default_factory=IntervalEvidence)
    slots: SlotCounts = field(default_factory=SlotCounts)
    problems: tuple[Problem, ...] = ()  # the files that could not be read, each once


def scan_segment(segment: Segment) -> ScanSummary:
    """Reads an entire segment."""
    scan = SegmentScan(segment)
    return scan.summary(scan.read_log())


class SegmentScan:
    """Reads the indexes and the batches of a segment, or of a split of it.

    A file that cannot be read becomes a problem in the summary.
    """

    def __init__(self, segment: Segment, start: int = 0, stop: int | None = None) -> None:
        """Reads the indexes. For a split that does not begin at byte 0, only the .index is read."""
        # a copy of the segment, so that cached index contents are freed with the copy
        self.segment = replace(segment)
        self._start = start
        self._stop = stop
        self._problems: list[Problem] = []
        self.offsets = self._index("offset_slots")
        self.times = self._index("time_slots") if start == 0 else None
        entries = self.offsets.entries if self.offsets else np.empty(0, OFFSET_ENTRY)
        self.entries_by_position = entries[np.argsort(entries["position"], kind="stable")]
        self._statistics = BatchStatisticsBuilder()
        self._gaps = ChunkedEvidence(self.entries_by_position)
        self.observers = (self._statistics, self._gaps)  # they must get all batches of the split

    def read_log(self, *observers: BatchObserver[Any]) -> int | None:
        """Passes the batches to `self.observers` and to the given observers.

        Returns the byte where the scan ended. None: nothing could be read.
        """
        if not isinstance(self.segment, LogSegment):
            return None
        scan = self.segment.scan(self._start, self._stop, fill_wrapper_fields=True)
        try:
            observe_scan(scan, *self.observers, *observers)
        except KafkavizError as fault:
            return self.stop_early(fault)
        return scan.end.position

    def stop_early(self, fault: KafkavizError) -> int | None:
        """Stores an error of the .log as a problem. Returns the byte after the last batch read."""
        self._problems.append(Problem.from_fault(self.segment.with_log().log.path, fault))
        return self._statistics.end_position

    def summary(self, end_position: int | None) -> ScanSummary:
        slots = SlotCounts()
        if self._start == 0:
            slots = SlotCounts(
                len(self.offsets.entries) if self.offsets else None,
                len(self.times.entries) if self.times else None,
                self.offsets.unwritten_slots if self.offsets else None,
                self.times.unwritten_slots if self.times else None,
            )
        return ScanSummary(
            end_position=end_position,
            content=self._statistics.result(),
            evidence=self._gaps.result(),
            slots=slots,
            problems=tuple(self._problems),
        )

    def _index(self, which: str) -> Index | None:
        segment = self.segment
        file = segment.index if which == "offset_slots" else segment.timeindex
        if file is None:
            return None
        try:
            return getattr(segment, which)
        except KafkavizError as fault:
            self._problems.append(Problem.from_fault(file.path, fault))
            return None
