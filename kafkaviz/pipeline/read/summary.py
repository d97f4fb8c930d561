"""The results of ingest tasks: one summary per split, merged into one per segment.

Statistics of consecutive parts can be merged. Example: offsets 0-9 and 10-19 are in one part, and
20-24 in the next. The result is 3 batches, 25 records, first offset 0 and last offset 24.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

import numpy as np

from kafkaviz.analysis.inferred_settings import IntervalEvidence
from kafkaviz.format.batch import UNKNOWN, codec, has_delete_horizon, is_log_append_time
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log.broker import Problem
from kafkaviz.pipeline.catalog.catalog_info import RowRange
from kafkaviz.pipeline.catalog.schema import TASK_TABLES
from kafkaviz.pipeline.read.rows import no_timestamp


@dataclass(frozen=True, kw_only=True)
class BatchStatistics:
    """Statistics of consecutive batches.

    A value is None without batches, or if their format lacks it. `min_timestamp_ms` comes from the
    headers: it is the smallest time of a first record, or the smallest append time.
    """

    batches: int = 0
    records: int | None = 0
    first_offset: int | None = None
    last_offset: int | None = None
    min_timestamp_ms: int | None = None
    max_timestamp_ms: int | None = None
    first_batch_bytes: int | None = None
    first_batch_max_timestamp_ms: int | None = None
    first_batch_last_offset: int | None = None
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
        min_timestamp_ms=_least(_earliest_ms(batches).tolist()),
        max_timestamp_ms=_most(batches["max_timestamp_ms"][~no_timestamp(batches)].tolist()),
        first_batch_bytes=int(first["size_bytes"]),
        first_batch_max_timestamp_ms=int(first["max_timestamp_ms"]),
        first_batch_last_offset=int(first["last_offset"]),
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
    """Merges the statistics of consecutive parts of a segment."""
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
        min_timestamp_ms=_least(part.min_timestamp_ms for part in parts),
        max_timestamp_ms=_most(part.max_timestamp_ms for part in parts),
        first_batch_bytes=first.first_batch_bytes,
        first_batch_max_timestamp_ms=first.first_batch_max_timestamp_ms,
        first_batch_last_offset=first.first_batch_last_offset,
        codecs=reduce(or_, (part.codecs for part in parts)),
    )


def _earliest_ms(batches: np.ndarray) -> np.ndarray:
    hidden = (batches["magic"] < 2) & (batches["record_count"] == UNKNOWN)
    by_largest = is_log_append_time(batches) | has_delete_horizon(batches) | hidden
    return np.where(by_largest, batches["max_timestamp_ms"], batches["base_timestamp_ms"])[
        ~no_timestamp(batches)
    ]


def _least(values: Iterable[int | None]) -> int | None:
    """Returns the smallest timestamp. -1 (no timestamp) counts only if all values are -1."""
    present = [value for value in values if value is not None]
    return min((value for value in present if value >= 0), default=min(present, default=None))


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


@dataclass(frozen=True)
class SlotCounts:
    """The slots of both indexes. None: the file does not exist or could not be read."""

    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None


@dataclass(frozen=True, kw_only=True)
class SplitSummary:
    """The results of reading a split, and where its rows were written.

    Attributes:
        end_position: the byte where the scan ended. None: there is no .log.
        problems: the files that could not be read.
        check_json: the result of the segment's checks (check_cache.to_json), in the first split
            only.
    """

    number: int  # the number of the segment in this run
    start: int
    stop: int
    end_position: int | None
    content: BatchStatistics = field(default_factory=BatchStatistics)
    evidence: IntervalEvidence = field(default_factory=IntervalEvidence)
    slots: SlotCounts = field(default_factory=SlotCounts)
    spans: Mapping[str, RowRange] = field(default_factory=dict)  # where the rows are, by table
    problems: tuple[Problem, ...] = ()
    check_json: str | None = None

    @property
    def ended_at_stop(self) -> bool:
        """Whether the scan ended where the next split begins."""
        return self.end_position == self.stop


@dataclass(frozen=True, kw_only=True)
class SegmentSummary:
    content: BatchStatistics
    evidence: IntervalEvidence
    slots: SlotCounts
    end_position: int | None
    spans: Mapping[str, tuple[RowRange, ...]]  # by table, in order
    problems: tuple[Problem, ...]  # one per file, although several splits may report the same file
    check_json: str | None = None


def merge_splits(summaries: Iterable[SplitSummary]) -> SegmentSummary | None:
    """Merges the summaries of all splits of a segment.

    Returns:
        None if the scan of a split did not end where the next split begins.
    """
    summaries = sorted(summaries, key=lambda summary: summary.start)
    if any(not summary.ended_at_stop for summary in summaries[:-1]):
        return None
    spans = {
        table: tuple(part.spans[table] for part in summaries if table in part.spans)
        for table in TASK_TABLES
    }
    return SegmentSummary(
        content=merge(summary.content for summary in summaries),
        evidence=reduce(IntervalEvidence.merge, [summary.evidence for summary in summaries]),
        slots=summaries[0].slots,
        end_position=summaries[-1].end_position,
        spans={table: ranges for table, ranges in spans.items() if ranges},
        problems=tuple(
            {
                problem.path: problem for summary in summaries for problem in summary.problems
            }.values()
        ),
        check_json=summaries[0].check_json,
    )
