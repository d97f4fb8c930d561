"""The exact measurements of a log, collected segment by segment."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cold_reads import ColdReads
from kafkaviz.analysis.segment.existing_index import ExistingIndexSweeper
from kafkaviz.analysis.tuning.log_measurement import LogMeasurement
from kafkaviz.analysis.tuning.segment_measurement import SegmentMeasurementBuilder
from kafkaviz.format.batch_observer import BatchObserver, observe_scan

KEPT_BATCHES = 8_000_000  # batches of a case whose sizes are kept, 5 bytes each
FOLDED = 16  # number of segments after which their counts are added up
SUMMED_FIELDS = ("parts", "cold", "every_offset", "timestamps")  # fields of LogMeasurement


@dataclass(kw_only=True)
class MeasurementBuilder:
    """Adds up segments, one after another.

    Attributes:
        extra_intervals: intervals in addition to sweep.INTERVALS, including today's.
        per_append: whether a follower's append gets at most one entry.
        by_append: whether each append here does; for a workload whose batches name their append.
        current_interval_bytes: today's interval, for logs with indexes; None for a workload.
    """

    extra_intervals: Collection[int]
    by_base_offset: bool
    per_append: bool = False
    by_append: bool = False
    current_interval_bytes: int | None = None
    _measurements: list[LogMeasurement] = field(default_factory=list)
    _empty_segments: int = 0

    def __post_init__(self) -> None:
        self._intervals = np.unique([*sweep.INTERVALS, *self.extra_intervals])

    def add(
        self,
        chunks: Iterable[np.ndarray],
        indexes: tuple[np.ndarray, np.ndarray] | None = None,
        report_share: Callable[[float], None] = lambda _share: None,
        *observers: BatchObserver[Any],
    ) -> None:
        """Adds one segment's batches, chunk by chunk; other observers see the same pass.

        Args:
            chunks: rows of format.batch.BATCH, or append_batches.INCOMING for a workload.
            indexes: the segment's entries on disk, log.segment.OFFSET_ENTRY and TIME_ENTRY; None if
                an index is missing.
            report_share: called with the share of the work that is done, after all batches were
                read.
        """
        index_sweeper = None
        if indexes and self.current_interval_bytes is not None:
            index_sweeper = ExistingIndexSweeper(
                *indexes, self.current_interval_bytes, by_base_offset=self.by_base_offset
            )
        followers = self.extra_intervals if self.per_append else ()
        segment = SegmentMeasurementBuilder(
            self._intervals,
            followers,
            by_base_offset=self.by_base_offset,
            by_append=self.by_append,
            current_interval_bytes=self.current_interval_bytes,
            index_sweeper=index_sweeper,
            report_share=report_share,
        )
        observe_scan(chunks, segment, *observers)
        measurement = segment.result()
        if measurement is None:
            self._empty_segments += 1
            return
        has_room = self._has_room(measurement.parts.batches)
        self._measurements.append(measurement if has_room else replace(measurement, sizes=()))
        if len(self._measurements) == FOLDED:
            # the counts of a thousand segments would fill the memory
            self._measurements = [merge_measurements(self._measurements)]

    def _has_room(self, batches: int) -> bool:
        """Returns whether the sizes of one more segment are kept.

        After the first that is not kept, no more are kept until the segments are added up.
        """
        batch_counts = [sum(map(len, measurement.sizes)) for measurement in self._measurements]
        return not batch_counts or (
            all(batch_counts) and sum(batch_counts) + batches <= KEPT_BATCHES
        )

    def result(self) -> LogMeasurement:
        empty_parts = sweep.no_parts(self._intervals)
        measurement = (
            merge_measurements(self._measurements)
            if self._measurements
            else LogMeasurement(
                parts=empty_parts,
                cold=_no_reads(self._intervals),
                every_offset=empty_parts,
                timestamps=empty_parts,
            )
        )
        return replace(measurement, empty_segments=self._empty_segments)


def _no_reads(intervals: np.ndarray) -> ColdReads:
    return ColdReads(intervals, (np.zeros(0, np.int64),) * len(intervals))


def merge_measurements(measurements: Sequence[LogMeasurement]) -> LogMeasurement:
    """Returns several measurements as one.

    Exact numbers are added, the moments of batch sizes are combined, and the speed is the mean over
    all logs.
    """
    return replace(
        _merge_with_batches(measurements),
        empty_segments=sum(measurement.empty_segments for measurement in measurements),
    )


def _merge_with_batches(measurements: Sequence[LogMeasurement]) -> LogMeasurement:
    # the means of a measurement without batches are NaN
    measurements = [
        measurement for measurement in measurements if measurement.parts.batches
    ] or measurements[:1]
    if len(measurements) == 1:
        return measurements[0]
    parts, cold, every_offset, times = (
        reduce(add, (getattr(measurement, name) for measurement in measurements))
        for name in SUMMED_FIELDS
    )
    batch_counts = np.array([measurement.parts.batches for measurement in measurements], float)
    if not batch_counts.sum():
        return measurements[0]
    index_costs = [measurement.index_cost for measurement in measurements if measurement.index_cost]
    index_cost = reduce(add, index_costs) if len(index_costs) == len(measurements) else None
    mean = float(
        np.average([measurement.batch_bytes for measurement in measurements], weights=batch_counts)
    )
    mean_square = float(
        np.average(
            [
                measurement.batch_bytes**2 * (1 + measurement.spread**2)
                for measurement in measurements
            ],
            weights=batch_counts,
        )
    )
    single_share = float(
        np.average([measurement.single_share for measurement in measurements], weights=batch_counts)
    )
    timed_logs = [
        (measurement.log_bytes, measurement.bytes_per_s)
        for measurement in measurements
        if measurement.bytes_per_s
    ]
    seconds = sum(log_bytes / bytes_per_s for log_bytes, bytes_per_s in timed_logs)
    mean_bytes_per_s = (
        sum(log_bytes for log_bytes, _ in timed_logs) / seconds if timed_logs else None
    )
    follower_parts = [
        measurement.followers for measurement in measurements if measurement.followers
    ]
    followers = reduce(add, follower_parts) if len(follower_parts) == len(measurements) else None
    spread = max(0.0, mean_square / mean**2 - 1) ** 0.5
    one_read_share = float(
        np.average(
            [measurement.one_read_share for measurement in measurements], weights=batch_counts
        )
    )
    return LogMeasurement(
        parts=parts,
        cold=cold,
        every_offset=every_offset,
        timestamps=times,
        sizes=_kept_sizes(measurements),
        batch_bytes=mean,
        spread=spread,
        single_share=single_share,
        bytes_per_s=mean_bytes_per_s,
        followers=followers,
        index_cost=index_cost,
        one_read_share=one_read_share,
    )


def _kept_sizes(measurements: Sequence[LogMeasurement]) -> tuple[np.ndarray, ...]:
    sizes = []
    count = 0
    for segment in (segment for measurement in measurements for segment in measurement.sizes):
        if count and count + len(segment) > KEPT_BATCHES:
            break
        sizes.append(segment)
        count += len(segment)
    return tuple(sizes)
