"""The sweeper, which takes a segment chunk by chunk, and the sweep of whole segments that is made
with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from kafkaviz.analyse.sweep.counts import Counts
from kafkaviz.analyse.sweep.loops import STATE, filled_up, leap, scan
from kafkaviz.analyse.sweep.sums import INTERVALS, SweepParts, none
from kafkaviz.analyse.sweep.targets import AT, BASE, TARGETS
from kafkaviz.format.batch import UNKNOWN

FOLLOWER_APPEND_BYTES = 1 << 20  # replica.fetch.max.bytes: what a follower appends at once, at most
CLEANER_APPEND_BYTES = 256 << 10  # half of log.cleaner.io.buffer.size of one cleaner thread


def sweep(
    batches: np.ndarray | Sequence[np.ndarray],
    intervals: Iterable[int] = INTERVALS,
    *,
    targets: str = BASE,
    by_base_offset: bool = False,
    append_bytes: int | None = None,
) -> np.ndarray:
    """One row an interval (SWEEP) for the batches of a segment, or of several: format.batch.BATCH.

    targets: "base_offset", "last_offset" or "every_offset". by_base_offset: the scan of 4.1 and
    later, which for a target inside of a batch looks at the next header too. append_bytes: an
    append, of that many bytes at most, gets one entry at most, as on followers and after compaction
    up to 4.0.0 (KAFKA-806); None: every batch may get one.
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
    """The sums behind sweep(), to be added to those of other segments."""
    wanted = np.unique(np.fromiter(intervals, np.int64))
    found = none(wanted)
    for segment in [batches] if isinstance(batches, np.ndarray) else batches:
        sweeper = Sweeper(
            wanted, targets=targets, by_base_offset=by_base_offset, append_bytes=append_bytes
        )
        sweeper.take(segment)
        found += sweeper.end()
    return found


class Sweeper:
    """One segment while it is read, chunk by chunk: memory is bounded by a chunk and the counts,
    whatever the length of the .log.
    """

    def __init__(
        self,
        intervals: Iterable[int] = INTERVALS,
        *,
        targets: str = BASE,
        by_base_offset: bool = False,
        append_bytes: int | None = None,
    ) -> None:
        """As sweep()."""
        self._intervals = np.unique(np.fromiter(intervals, np.int64))
        if len(self._intervals) and self._intervals[0] < 0:
            raise ValueError(f"no interval is {self._intervals[0]} bytes")
        self._targets = AT[targets]
        self._by_base_offset, self._append_bytes = by_base_offset, append_bytes
        self._state, self._newest_ms = np.zeros(len(self._intervals), STATE), UNKNOWN
        self._state["last_time_ms"] = UNKNOWN
        self._counts = Counts(self._intervals)
        # the last append, until it is known how it goes on
        self._kept: tuple[np.ndarray, np.ndarray] | None = None
        self._sums = replace(none(self._intervals), segments=1)

    def take(self, batches: np.ndarray, appends: np.ndarray | None = None) -> None:
        """The next batches of the segment. appends: the number of the append that each came in, if
        append_bytes is not to tell.
        """
        if not len(batches):
            return
        columns = ("size_bytes", "base_offset", "last_offset", "max_timestamp_ms")
        batches = np.array([batches[name] for name in columns], np.int64)
        appends = (
            np.full(batches.shape[1], UNKNOWN) if appends is None else np.asarray(appends, np.int64)
        )
        if self._kept is not None:
            batches, appends = (
                np.hstack([self._kept[0], batches]),
                np.concatenate([self._kept[1], appends]),
            )
        ends = self._ends(batches, appends)
        whole = int(ends[-2]) if len(ends) > 1 else 0
        self._kept = batches[:, whole:], appends[whole:]
        self._pass(batches[:, :whole], ends[:-1], is_end=False)

    def end(self) -> SweepParts:
        """The sums over the whole segment: the last time entry that its roll or the broker's stop
        writes is among them.
        """
        if self._kept is not None:
            self._pass(self._kept[0], np.array([self._kept[0].shape[1]]), is_end=True)
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

    def _ends(self, batches: np.ndarray, appends: np.ndarray) -> np.ndarray:
        """The row behind each append."""
        if (batches[0] < 1).any():
            raise ValueError(f"no batch is {batches[0].min()} bytes")
        if appends[-1] != UNKNOWN:
            return np.append(np.flatnonzero(np.diff(appends)) + 1, len(appends))
        if self._append_bytes is None:
            return np.arange(1, batches.shape[1] + 1)
        return filled_up(batches[0], self._append_bytes)

    def _pass(self, batches: np.ndarray, ends: np.ndarray, is_end: bool) -> None:
        if not batches.shape[1]:
            return
        sizes, base, last, newest = batches
        followed = np.ones(len(sizes), bool)
        followed[-1] = not is_end
        targets = np.zeros(len(sizes), TARGETS)
        self._targets(targets, base, last, followed & (base != last) & self._by_base_offset)
        positions = np.cumsum(sizes) - sizes + self._sums.log_bytes
        newest = np.maximum.accumulate(np.maximum(newest, self._newest_ms))
        first_row, self._newest_ms = self._sums.batches, int(newest[-1])
        self._note(sizes, int(targets["near"].sum() + targets["far"].sum()), sizes[followed])
        self._counts.make_room(
            self._sums.batches, self._sums.least_batch_bytes, int(np.diff(ends, prepend=0).max())
        )
        closes = np.zeros(len(sizes), bool)
        closes[ends - 1] = True
        opens = np.append(True, closes[:-1])
        if len(ends) == len(sizes) and (targets["near"] == 1).all() and not targets["far"].any():
            before = np.append(0, np.cumsum(positions))
            is_own = targets["near_last"] == 1
            leap(
                first_row,
                positions,
                before,
                newest,
                is_own,
                self._intervals,
                self._state,
                self._counts.steps,
                self._counts.starts,
            )
        else:
            scan(
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

    def _note(self, sizes: np.ndarray, targets: int, followed: np.ndarray) -> None:
        sums = self._sums
        known = [] if sums.least_batch_bytes is None else [sums.least_batch_bytes]
        self._sums = replace(
            sums,
            targets=sums.targets + targets,
            log_bytes=sums.log_bytes + int(sizes.sum()),
            batches=sums.batches + len(sizes),
            least_batch_bytes=min(
                [*known, *([int(followed.min())] if len(followed) else [])], default=None
            ),
        )
