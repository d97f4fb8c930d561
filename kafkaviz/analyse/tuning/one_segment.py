"""What is exact of one segment, while its batches come chunk by chunk: sums, and 21 bytes of each
batch until the last one is there.
"""

from collections.abc import Callable, Collection

import numpy as np

from kafkaviz.analyse import held, sweep
from kafkaviz.analyse.cold_reads import ColdSweeper
from kafkaviz.analyse.held import HeldSweeper
from kafkaviz.analyse.sweep import times
from kafkaviz.analyse.tuning.measured import Measured
from kafkaviz.format.batch import MAGIC_2, is_control


class OneSegment:
    """The sweeps of one segment, each fed with every chunk. in_index: those of the indexes that are
    there, None where there are none.
    """

    def __init__(
        self,
        intervals: np.ndarray,
        of_followers: Collection[int],
        by_base_offset: bool,
        read_ahead_bytes: int,
        by_append: bool,
        in_index: HeldSweeper | None,
    ) -> None:
        """of_followers: the intervals of one that appends a whole fetch at once, none where that is
        no matter. by_append: batches tell in a column "append" which of them came together.
        """

        def sweeper(**how) -> sweep.Sweeper:
            return sweep.Sweeper(
                how.pop("intervals", intervals), by_base_offset=by_base_offset, **how
            )

        self._swept, self._every = sweeper(), sweeper(targets=sweep.EVERY)
        # lookups by timestamp are told of entries batch by batch
        self._by_batch = sweeper() if by_append else None
        follows = {"intervals": of_followers, "append_bytes": sweep.FOLLOWER_APPEND_BYTES}
        self._followers = sweeper(**follows) if of_followers else None
        self._cold = ColdSweeper(intervals, by_base_offset, read_ahead_bytes)
        self._in_index, self._read_ahead_bytes = in_index, read_ahead_bytes
        self._columns, self._told = sweep.Columns(), _Told()

    @property
    def batches(self) -> int:
        """Taken so far."""
        return self._told.batches

    def take(self, batches: np.ndarray, is_end: bool) -> None:
        """The next batches: format.batch.BATCH; is_end: whether they are the last."""
        self._swept.take(batches, batches["append"] if self._by_batch else None)
        for one in (
            self._every,
            self._by_batch,
            self._followers,
            self._cold,
            self._columns,
            self._told,
        ):
            if one:
                one.take(batches)
        if self._in_index:
            self._in_index.take(batches, is_end)

    def measured(self, held_bytes: int | None, far: Callable[[float], None]) -> Measured:
        """All of it, once the last batch was taken. held_bytes: the interval of today, whose replay
        stands for an index that is not there; None of a workload.
        """
        columns, told, followers = (
            self._columns,
            self._told,
            self._followers.end() if self._followers else None,
        )
        columns.end()
        parts, every, cold = self._swept.end(), self._every.end(), self._cold.end()
        far(0.8)
        timestamps = times.of_columns(columns, self._by_batch.end() if self._by_batch else parts)
        far(0.9)
        there = None
        if held_bytes is not None:
            there = held.replayed(parts, every, timestamps, cold, held_bytes)
            if self._in_index:
                there = self._in_index.end(columns, there, self._read_ahead_bytes) or there
        columns.forget_times()
        far(0.95)
        sizes = columns.sizes["size_bytes"]
        mean = float(sizes.mean())
        return Measured(
            parts,
            cold,
            every,
            timestamps,
            (columns.sizes,),
            mean,
            float(sizes.std()) / mean,
            told.single_share,
            told.bytes_per_s(parts.log_bytes),
            followers,
            there,
            told.old / told.batches,
        )


class _Told:
    """Counts of a segment's batches: all, those of data, of them those of one offset, those of
    magic 0 and 1; and their times.
    """

    def __init__(self) -> None:
        self.batches = self._data = self._single = self.old = 0
        self._least_ms, self._most_ms = np.iinfo(np.int64).max, 0

    def take(self, batches: np.ndarray) -> None:
        """The next batches."""
        data, times_ms = batches[~is_control(batches)], batches["max_timestamp_ms"]
        self.batches, self._data = self.batches + len(batches), self._data + len(data)
        self._single += int((data["base_offset"] == data["last_offset"]).sum())
        self.old += int((batches["magic"] < MAGIC_2).sum())
        self._least_ms = min(
            self._least_ms, int(times_ms.min(initial=self._least_ms, where=times_ms >= 0))
        )
        self._most_ms = max(self._most_ms, int(times_ms.max()))

    @property
    def single_share(self) -> float:
        """How many hold one record, control batches aside."""
        return self._single / self._data if self._data else 0.0

    def bytes_per_s(self, log_bytes: int) -> float | None:
        """By the largest timestamps; None where they do not tell."""
        waited_ms = self._most_ms - self._least_ms
        return 1000 * float(log_bytes) / waited_ms if waited_ms > 0 else None
