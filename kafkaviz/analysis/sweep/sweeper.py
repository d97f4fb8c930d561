"""The sweep of a segment chunk by chunk, and of complete segments."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kafkaviz.analysis.sweep.counts import HeaderCounts
from kafkaviz.analysis.sweep.loops import STATE, fill_appends, leap_to_entries, scan_blocks
from kafkaviz.analysis.sweep.sums import INTERVALS, SweepParts, no_parts
from kafkaviz.analysis.sweep.targets import BASE, TARGET_COUNTERS, TARGETS
from kafkaviz.format.batch import UNKNOWN
from kafkaviz.format.batch_observer import BatchObserver

FOLLOWER_APPEND_BYTES = 1 << 20  # replica.fetch.max.bytes, the most that a follower appends at once
CLEANER_APPEND_BYTES = 256 << 10  # half of log.cleaner.io.buffer.size, for one cleaner thread


def sweep(
    batches: np.ndarray | Sequence[np.ndarray],
    intervals: Iterable[int] = INTERVALS,
    *,
    targets: str = BASE,
    by_base_offset: bool = False,
    append_bytes: int | None = None,
) -> np.ndarray:
    """Returns a SWEEP table with one row per interval, for one or several segments.

    Args:
        batches: rows of format.batch.BATCH.
        targets: "base_offset", "last_offset" or "every_offset".
        by_base_offset: whether scans work as since 4.1, which read one more header for a target
            inside a batch.
        append_bytes: the greatest size of an append, which gets at most one entry, as on followers
            and after compaction up to 4.0.0 (KAFKA-806). None: every batch may get an entry.
    """
    return parts(
        batches,
        intervals,
        targets=targets,
        by_base_offset=by_base_offset,
        append_bytes=append_bytes,
    ).sweep()


def parts(
    batches: np.ndarray | Sequence[np.ndarray],
    intervals: Iterable[int] = INTERVALS,
    *,
    targets: str = BASE,
    by_base_offset: bool = False,
    append_bytes: int | None = None,
) -> SweepParts:
    swept_intervals = np.unique(np.fromiter(intervals, np.int64))
    sums = no_parts(swept_intervals)
    for segment in [batches] if isinstance(batches, np.ndarray) else batches:
        sweeper = Sweeper(
            swept_intervals,
            targets=targets,
            by_base_offset=by_base_offset,
            append_bytes=append_bytes,
        )
        sweeper.observe(segment)
        sums += sweeper.result()
    return sums


class Sweeper(BatchObserver[SweepParts]):
    """The sweep of one segment while it is read chunk by chunk.

    Its memory is bounded by a chunk and the counts, for a .log of any length.
    """

    def __init__(
        self,
        intervals: Iterable[int] = INTERVALS,
        *,
        targets: str = BASE,
        by_base_offset: bool = False,
        append_bytes: int | None = None,
        by_append: bool = False,
    ) -> None:
        """Takes the options of sweep().

        Args:
            by_append: whether a column "append" of the batches says which of them were appended
                together; it replaces append_bytes.
        """
        self._intervals = np.unique(np.fromiter(intervals, np.int64))
        if len(self._intervals) and self._intervals[0] < 0:
            raise ValueError(f"no interval is {self._intervals[0]} bytes")
        self._targets = TARGET_COUNTERS[targets]
        self._by_base_offset = by_base_offset
        self._append_bytes = append_bytes
        self._by_append = by_append
        self._state = np.zeros(len(self._intervals), STATE)
        self._newest_ms = UNKNOWN
        self._state["last_time_ms"] = UNKNOWN
        self._counts = HeaderCounts(self._intervals)
        # the last append, held back until the next chunk shows whether it is complete
        self._open_append: tuple[np.ndarray, np.ndarray] | None = None
        self._sums = replace(no_parts(self._intervals), segments=1)

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        appends = (
            batches["append"].astype(np.int64)
            if self._by_append
            else np.full(len(batches), UNKNOWN)
        )
        columns = ("size_bytes", "base_offset", "last_offset", "max_timestamp_ms")
        batches = np.array([batches[name] for name in columns], np.int64)
        if self._open_append is not None:
            batches = np.hstack([self._open_append[0], batches])
            appends = np.concatenate([self._open_append[1], appends])
        ends = self._append_ends(batches, appends)
        closed_end = int(ends[-2]) if len(ends) > 1 else 0
        self._open_append = batches[:, closed_end:], appends[closed_end:]
        self._sweep_batches(batches[:, :closed_end], ends[:-1], is_end=False)

    def result(self) -> SweepParts:
        """Returns the sums over the whole segment.

        They include the last time entry, which a roll or the broker's stop writes.
        """
        if self._open_append is not None:
            self._sweep_batches(
                self._open_append[0], np.array([self._open_append[0].shape[1]]), is_end=True
            )
        last = self._newest_ms > self._state["last_time_ms"]
        headers, starts = self._counts.each()
        return replace(
            self._sums,
            entries=self._state["entries"].copy(),
            time_entries=self._state["time_entries"] + last,
            skipped_bytes=self._state["skipped_bytes"].copy(),
            headers=headers,
            starts=starts,
        )

    def _append_ends(self, batches: np.ndarray, appends: np.ndarray) -> np.ndarray:
        if (batches[0] < 1).any():
            raise ValueError(f"no batch is {batches[0].min()} bytes")
        if appends[-1] != UNKNOWN:
            return np.append(np.flatnonzero(np.diff(appends)) + 1, len(appends))
        if self._append_bytes is None:
            return np.arange(1, batches.shape[1] + 1)
        return fill_appends(batches[0], self._append_bytes)

    def _sweep_batches(self, batches: np.ndarray, ends: np.ndarray, *, is_end: bool) -> None:
        if not batches.shape[1]:
            return
        sizes, base, last, newest = batches
        has_next = np.ones(len(sizes), bool)
        has_next[-1] = not is_end
        targets = np.zeros(len(sizes), TARGETS)
        self._targets(targets, base, last, has_next & (base != last) & self._by_base_offset)
        positions = np.cumsum(sizes) - sizes + self._sums.log_bytes
        newest = np.maximum.accumulate(np.maximum(newest, self._newest_ms))
        first_row = self._sums.batches
        self._newest_ms = int(newest[-1])
        self._add_sums(sizes, int(targets["near"].sum() + targets["far"].sum()), sizes[has_next])
        self._counts.make_room(
            self._sums.batches, self._sums.least_batch_bytes, int(np.diff(ends, prepend=0).max())
        )
        closes = np.zeros(len(sizes), bool)
        closes[ends - 1] = True
        opens = np.append(True, closes[:-1])
        if len(ends) == len(sizes) and (targets["near"] == 1).all() and not targets["far"].any():
            position_sums = np.append(0, np.cumsum(positions))
            is_own = targets["near_last"] == 1
            leap_to_entries(
                first_row,
                positions,
                position_sums,
                newest,
                is_own,
                self._intervals,
                self._state,
                self._counts.steps,
                self._counts.starts,
            )
        else:
            scan_blocks(
                first_row,
                positions,
                newest,
                targets,
                opens,
                closes,
                self._intervals,
                self._state,
                self._counts.flat,
                self._counts.starts,
            )

    def _add_sums(self, sizes: np.ndarray, targets: int, followed_sizes: np.ndarray) -> None:
        sums = self._sums
        least_sizes = [] if sums.least_batch_bytes is None else [sums.least_batch_bytes]
        self._sums = replace(
            sums,
            targets=sums.targets + targets,
            log_bytes=sums.log_bytes + int(sizes.sum()),
            batches=sums.batches + len(sizes),
            least_batch_bytes=min(
                [*least_sizes, *([int(followed_sizes.min())] if len(followed_sizes) else [])],
                default=None,
            ),
        )
