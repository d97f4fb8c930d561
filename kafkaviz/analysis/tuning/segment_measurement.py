"""What is exact of one segment, while its batches come chunk by chunk: sums, and 21 bytes of each
batch until the last one is there.
"""

from collections.abc import Callable, Collection

import numpy as np

from kafkaviz.analysis import existing_index, sweep
from kafkaviz.analysis.cold_reads import ColdSweeper
from kafkaviz.analysis.existing_index import ExistingIndexSweeper
from kafkaviz.analysis.sweep import times
from kafkaviz.analysis.tuning.log_measurement import LogMeasurement
from kafkaviz.format.batch import MAGIC_2, is_control


class SegmentMeasurement:
    """The sweeps of one segment, each fed with every chunk. in_index: those of the indexes that are
    there, None where there are none.
    """

    def __init__(
        self,
        intervals: np.ndarray,
        follower_intervals: Collection[int],
        *,
        by_base_offset: bool,
        read_ahead_bytes: int,
        by_append: bool,
        index_sweeper: ExistingIndexSweeper | None,
    ) -> None:
        """of_followers: the intervals of one that appends a whole fetch at once, none where that is
        no matter. by_append: batches tell in a column "append" which of them came together.
        """

        def sweeper(**options) -> sweep.Sweeper:
            return sweep.Sweeper(
                options.pop("intervals", intervals), by_base_offset=by_base_offset, **options
            )

        self._base_offsets, self._every_offset = sweeper(), sweeper(targets=sweep.EVERY)
        # lookups by timestamp are told of entries batch by batch
        self._by_batch = sweeper() if by_append else None
        follower_options = {
            "intervals": follower_intervals,
            "append_bytes": sweep.FOLLOWER_APPEND_BYTES,
        }
        self._followers = sweeper(**follower_options) if follower_intervals else None
        self._cold = ColdSweeper(
            intervals, by_base_offset=by_base_offset, read_ahead_bytes=read_ahead_bytes
        )
        self._index_sweeper, self._read_ahead_bytes = index_sweeper, read_ahead_bytes
        self._columns, self._statistics = sweep.Columns(), _BatchStatistics()

    @property
    def batches(self) -> int:
        """Taken so far."""
        return self._statistics.batches

    def take(self, batches: np.ndarray, *, is_end: bool) -> None:
        """The next batches: format.batch.BATCH; is_end: whether they are the last."""
        self._base_offsets.take(batches, batches["append"] if self._by_batch else None)
        for observer in (
            self._every_offset,
            self._by_batch,
            self._followers,
            self._cold,
            self._columns,
            self._statistics,
        ):
            if observer:
                observer.take(batches)
        if self._index_sweeper:
            self._index_sweeper.take(batches, is_end=is_end)

    def result(
        self, current_interval_bytes: int | None, report_share: Callable[[float], None]
    ) -> LogMeasurement:
        """All of it, once the last batch was taken. current_interval_bytes: the interval of today,
        whose replay stands for an index that is not there; None of a workload.
        """
        columns, statistics, followers = (
            self._columns,
            self._statistics,
            self._followers.end() if self._followers else None,
        )
        columns.end()
        parts, every_offset, cold = (
            self._base_offsets.end(),
            self._every_offset.end(),
            self._cold.end(),
        )
        report_share(0.8)
        timestamps = times.sweep_columns(columns, self._by_batch.end() if self._by_batch else parts)
        report_share(0.9)
        index_cost = None
        if current_interval_bytes is not None:
            index_cost = existing_index.cost_from_replay(
                parts, every_offset, timestamps, cold, current_interval_bytes
            )
            if self._index_sweeper:
                index_cost = (
                    self._index_sweeper.end(columns, index_cost, self._read_ahead_bytes)
                    or index_cost
                )
        columns.forget_times()
        report_share(0.95)
        sizes = columns.sizes["size_bytes"]
        mean = float(sizes.mean())
        return LogMeasurement(
            parts,
            cold,
            every_offset,
            timestamps,
            (columns.sizes,),
            mean,
            float(sizes.std()) / mean,
            statistics.single_share,
            statistics.bytes_per_s(parts.log_bytes),
            followers,
            index_cost,
            statistics.legacy_batches / statistics.batches,
        )


class _BatchStatistics:
    """Counts of a segment's batches: all, those of data, of them those of one offset, those of
    magic 0 and 1; and their times.
    """

    def __init__(self) -> None:
        self.batches = self._data_batches = self._single_batches = self.legacy_batches = 0
        self._least_ms, self._most_ms = np.iinfo(np.int64).max, 0

    def take(self, batches: np.ndarray) -> None:
        """The next batches."""
        data, times_ms = batches[~is_control(batches)], batches["max_timestamp_ms"]
        self.batches, self._data_batches = (
            self.batches + len(batches),
            self._data_batches + len(data),
        )
        self._single_batches += int((data["base_offset"] == data["last_offset"]).sum())
        self.legacy_batches += int((batches["magic"] < MAGIC_2).sum())
        self._least_ms = min(
            self._least_ms, int(times_ms.min(initial=self._least_ms, where=times_ms >= 0))
        )
        self._most_ms = max(self._most_ms, int(times_ms.max()))

    @property
    def single_share(self) -> float:
        """How many hold one record, control batches aside."""
        return self._single_batches / self._data_batches if self._data_batches else 0.0

    def bytes_per_s(self, log_bytes: int) -> float | None:
        """By the largest timestamps; None where they do not tell."""
        waited_ms = self._most_ms - self._least_ms
        return 1000 * float(log_bytes) / waited_ms if waited_ms > 0 else None
