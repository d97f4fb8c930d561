"""Reads the indexes and the batches of a segment, and summarizes them."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kafkaviz.analysis.inferred_settings import ChunkedEvidence, IntervalEvidence
from kafkaviz.errors import KafkavizError
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.broker import Problem
from kafkaviz.log.segment import OFFSET_ENTRY, Index, LogSegment, Segment
from kafkaviz.pipeline.read.batch_statistics import BatchStatistics, BatchStatisticsBuilder


@dataclass(frozen=True)
class SlotCounts:
    """The number of slots in each index. None: the index does not exist or could not be read."""

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True, kw_only=True)
class ScanSummary:
    """The results of reading the batches and indexes of a segment, or of a split of it."""

    end_position: int | None = None  # the byte where the scan ended; None: there is no .log
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
        """Notes a problem of the .log. Returns the byte up to which batches were read."""
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
