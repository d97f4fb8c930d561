"""The exact measurements of one segment, while its batches come chunk by chunk.

It keeps sums, and 21 bytes per batch until the end of the segment.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cold_reads import ColdSweeper
from kafkaviz.analysis.segment import existing_index
from kafkaviz.analysis.segment.existing_index import ExistingIndexSweeper
from kafkaviz.analysis.sweep import times
from kafkaviz.analysis.tuning.log_measurement import LogMeasurement
from kafkaviz.format.batch import MAGIC_2, is_control
from kafkaviz.format.batch_observer import BatchObserver


class SegmentMeasurementBuilder(BatchObserver[LogMeasurement | None]):
    """All sweeps of one segment, which observe the same chunks."""

    def __init__(
        self,
        intervals: np.ndarray,
        follower_intervals: Collection[int],
        *,
        by_base_offset: bool,
        by_append: bool,
        current_interval_bytes: int | None,
        index_sweeper: ExistingIndexSweeper | None,
        report_share: Callable[[float], None],
    ) -> None:
        """Starts with no batch read.

        Args:
            follower_intervals: intervals for a follower that appends a whole fetch at once; empty
                if that makes no difference.
            by_append: whether a column "append" of the batches says which were appended together.
            current_interval_bytes: today's interval, whose replay replaces a missing index; None
                for a workload.
            report_share: called with the share of the work that is done, after all batches were
                read.
        """

        def sweeper(
            intervals: Collection[int] | np.ndarray = intervals, **options
        ) -> sweep.Sweeper:
            return sweep.Sweeper(intervals, by_base_offset=by_base_offset, **options)

        self._base_offsets = sweeper(by_append=by_append)
        self._every_offset = sweeper(targets=sweep.EVERY)
        # lookups by timestamp need a sweep in which each batch may get an entry
        self._by_batch = sweeper() if by_append else None
        self._followers = (
            sweeper(follower_intervals, append_bytes=sweep.FOLLOWER_APPEND_BYTES)
            if follower_intervals
            else None
        )
        self._cold = ColdSweeper(intervals, by_base_offset=by_base_offset)
        self._index_sweeper = index_sweeper
        self._columns = sweep.ColumnsBuilder()
        self._statistics = _StatisticsBuilder()
        self._current_interval_bytes = current_interval_bytes
        self._report_share = report_share
        observers: tuple[BatchObserver[Any] | None, ...] = (
            self._base_offsets,
            self._every_offset,
            self._by_batch,
            self._followers,
            self._cold,
            self._columns,
            self._statistics,
            self._index_sweeper,
        )
        self._observers = [observer for observer in observers if observer is not None]

    def observe(self, batches: np.ndarray) -> None:
        for observer in self._observers if len(batches) else ():
            observer.observe(batches)

    def result(self) -> LogMeasurement | None:
        """Returns the measurement, or None for a segment without a batch."""
        statistics = self._statistics.result()
        if not statistics.batches:
            return None
        columns = self._columns.result()
        followers = self._followers.result() if self._followers else None
        parts = self._base_offsets.result()
        every_offset = self._every_offset.result()
        cold = self._cold.result()
        self._report_share(0.8)
        timestamps = times.sweep_columns(
            columns, self._by_batch.result() if self._by_batch else parts
        )
        self._report_share(0.9)
        index_cost = None
        if self._current_interval_bytes is not None:
            index_cost = existing_index.cost_from_replay(
                parts, every_offset, timestamps, cold, self._current_interval_bytes
            )
            index_sweep = self._index_sweeper.result() if self._index_sweeper else None
            if index_sweep:
                index_cost = index_sweep.cost(columns, index_cost)
        columns.forget_times()
        self._report_share(0.95)
        sizes = columns.sizes["size_bytes"]
        mean = float(sizes.mean())
        return LogMeasurement(
            parts=parts,
            cold=cold,
            every_offset=every_offset,
            timestamps=timestamps,
            sizes=(columns.sizes,),
            batch_bytes=mean,
            spread=float(sizes.std()) / mean,
            single_share=statistics.single_share,
            bytes_per_s=statistics.bytes_per_s,
            followers=followers,
            index_cost=index_cost,
            one_read_share=statistics.legacy_share,
        )


class _Statistics(NamedTuple):
    """Statistics of a segment's batches.

    Attributes:
        single_share: the share of the data batches that have a single offset.
        legacy_share: the share of all batches that are of magic 0 and 1.
        bytes_per_s: the speed shown by the largest timestamps, or None.
    """

    batches: int
    single_share: float
    legacy_share: float
    bytes_per_s: float | None


class _StatisticsBuilder(BatchObserver[_Statistics]):
    def __init__(self) -> None:
        self._batches = self._data_batches = self._single_batches = self._legacy_batches = 0
        self._log_bytes = 0
        self._least_ms = np.iinfo(np.int64).max
        self._most_ms = 0

    def observe(self, batches: np.ndarray) -> None:
        data = batches[~is_control(batches)]
        times_ms = batches["max_timestamp_ms"]
        self._batches = self._batches + len(batches)
        self._data_batches = self._data_batches + len(data)
        self._single_batches += int((data["base_offset"] == data["last_offset"]).sum())
        self._legacy_batches += int((batches["magic"] < MAGIC_2).sum())
        self._log_bytes += int(batches["size_bytes"].sum(dtype=np.int64))
        self._least_ms = min(
            self._least_ms, int(times_ms.min(initial=self._least_ms, where=times_ms >= 0))
        )
        self._most_ms = max(self._most_ms, int(times_ms.max()))

    def result(self) -> _Statistics:
        waited_ms = self._most_ms - self._least_ms
        return _Statistics(
            self._batches,
            self._single_batches / self._data_batches if self._data_batches else 0.0,
            self._legacy_batches / self._batches if self._batches else 0.0,
            1000 * float(self._log_bytes) / waited_ms if waited_ms > 0 else None,
        )
