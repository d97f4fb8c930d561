"""The fate of each offset of a segment with read_committed: delivered, skipped or withheld.

For example, producer 8 aborts offsets 12 and 13 by a marker at 16. The last stable offset is 20:

    10 to 11   delivered
    12 to 13   skipped: the broker sends them, and the consumer drops them
    14 to 15   delivered: from another producer
    16 to 16   a marker, which no application gets
    20 to 25   withheld until the open transaction at 20 ends

Only headers are read. `committed_fetch` explains one fetch with all of its steps.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from kafkaviz.analysis.transactions.listing import Outcome, PartitionTransactions, Transaction
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.log.entry_points import chunk_bytes, entry_points
from kafkaviz.log.segment import LogSegment, Segment

MAX_BATCHES = 500_000  # reading more batches takes longer than a second
MAX_RUNS = 2000  # with more runs, each would be narrower than a pixel


class OffsetFate(StrEnum):
    DELIVERED = "delivered"
    SKIPPED = "skipped"  # the record is from an aborted transaction
    MARKER = "marker"  # the record is a control record
    EMPTY = "empty"  # no batch has the offset: compaction removed the record
    UNREAD = "unread"  # unknown, because the log is damaged or has too many batches
    WITHHELD = "withheld"  # at or above the last stable offset


FATES = tuple(OffsetFate)


class OffsetRun(NamedTuple):
    """Consecutive offsets with the same fate; `end_offset` is excluded."""

    first_offset: int
    end_offset: int
    fate: OffsetFate


# takes the first offset of a range and the offset after it
ReadRuns: TypeAlias = Callable[[int, int], "tuple[OffsetRun, ...]"]


def count_offsets(runs: Iterable[OffsetRun]) -> Mapping[OffsetFate, int]:
    counts = Counter()
    for run in runs:
        counts[run.fate] += run.end_offset - run.first_offset
    return {fate: counts[fate] for fate in OffsetFate if counts[fate]}


def read_runs(
    segment: Segment, transactions: PartitionTransactions, first_offset: int, end_offset: int
) -> tuple[OffsetRun, ...]:
    """Returns the runs that cover a range of offsets in a segment, without gaps.

    The result is empty if the last stable offset is unknown.
    """
    if transactions.last_stable_offset is None:
        return ()
    builder = _RunBuilder(first_offset)
    stop_offset = min(max(transactions.last_stable_offset, first_offset), end_offset)
    aborted = [
        each
        for each in transactions.transactions
        if each.outcome == Outcome.ABORTED
        and each.first_offset < stop_offset
        and (each.marker_offset or 0) > first_offset
    ]
    is_read = builder.end_offset >= stop_offset
    if not is_read:
        with suppress(KafkavizError):
            is_read = _read(builder, segment.with_log(), aborted, stop_offset)
    builder.append(stop_offset, OffsetFate.EMPTY if is_read else OffsetFate.UNREAD)
    builder.append(end_offset, OffsetFate.WITHHELD)
    return tuple(builder.runs)


class _RunBuilder:
    def __init__(self, first_offset: int) -> None:
        self.runs: list[OffsetRun] = []
        self.end_offset = first_offset

    def append(self, end_offset: int, fate: OffsetFate) -> None:
        """Adds the offsets below `end_offset` that are not in a run yet."""
        if end_offset <= self.end_offset:
            return
        first_offset = self.end_offset
        if self.runs and self.runs[-1].fate == fate:
            first_offset = self.runs.pop().first_offset
        self.runs.append(OffsetRun(first_offset, end_offset, fate))
        self.end_offset = end_offset


def _read(
    builder: _RunBuilder, segment: LogSegment, aborted: Iterable[Transaction], stop_offset: int
) -> bool:
    """Adds the runs below `stop_offset`; returns whether all batches were read."""
    batch_count = 0
    with entry_points(segment) as points:
        start = points.position_before_offset(builder.end_offset)
        read_bytes = chunk_bytes(points, start)
    scan = segment.scan(start, None, read_bytes, fill_wrapper_fields=True)
    for batches in scan:
        fates = _fates(batches, aborted)
        is_split = np.diff(fates) != 0
        is_split |= batches["base_offset"][1:] != batches["last_offset"][:-1] + 1
        edges = [0, *(np.flatnonzero(is_split) + 1).tolist(), len(batches)]
        for first, end in pairwise(edges):
            base_offset = int(batches["base_offset"][first])
            builder.append(min(base_offset, stop_offset), OffsetFate.EMPTY)
            run_end = int(batches["last_offset"][end - 1]) + 1
            builder.append(min(run_end, stop_offset), FATES[fates[first]])
            if builder.end_offset >= stop_offset:
                return True
            if len(builder.runs) >= MAX_RUNS:
                return False
        batch_count += len(batches)
        if batch_count >= MAX_BATCHES:
            return False
    return scan.end.reason == "end"


def _fates(batches: np.ndarray, aborted: Iterable[Transaction]) -> np.ndarray:
    fates = np.full(len(batches), FATES.index(OffsetFate.DELIVERED))
    base_offsets = batches["base_offset"]
    for transaction in aborted:
        is_inside = (batches["producer_id"] == transaction.producer_id) & (
            base_offsets >= transaction.first_offset
        )
        is_inside &= base_offsets < (transaction.marker_offset or MAX_OFFSET)
        fates[is_inside & is_transactional(batches)] = FATES.index(OffsetFate.SKIPPED)
    fates[is_control(batches)] = FATES.index(OffsetFate.MARKER)
    return fates
