"""Sweeps segments: computes the cost of lookups for many values of index.interval.bytes.

Segments are read chunk by chunk or completely. Compiled loops simulate all intervals together, with
one or more lookups per batch.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from kafkaviz.analysis.sweep.sums import INTERVALS, HeaderCounts, SweepParts, no_parts
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import UNKNOWN
from kafkaviz.format.walk import BatchObserver

# The offsets that are looked up: the first of each batch, like a consumer that has read the
# previous batch; or all offsets from the first to the last.
BASE = "base_offset"
EVERY = "every_offset"
TARGETS: np.dtype = np.dtype(
    [  # numbers of offsets that are looked up ("targets") in one batch
        ("near", "i8"),  # targets whose scan ends at this batch's header
        ("far", "i8"),  # targets whose scan also reads the next batch's header
        # targets at the batch's last offset: only their scans can start at the batch's own entry
        ("near_last", "i8"),
        ("far_last", "i8"),
    ]
)
# The state of the loop for one interval. Rows and positions count from the segment's start.
STATE: np.dtype = np.dtype(
    [
        # the batch to which the last entry points; the first batch until there is an entry
        ("start_row", "i8"),
        ("start_position", "i8"),
        ("append_row", "i8"),  # first batch of the append
        ("append_position", "i8"),
        ("is_indexed", "i8"),  # whether the append gets an entry
        ("entries", "i8"),
        ("time_entries", "i8"),
        ("last_time_ms", "i8"),  # timestamp of the last time entry
        ("skipped_bytes", "i8"),  # summed over the targets
    ]
)
_BLOCK = 2048  # this many batches stay in the processor's cache while all intervals are simulated
FOLLOWER_APPEND_BYTES = 1 << 20  # a follower appends up to replica.fetch.max.bytes at once


def every_offset(batches: np.ndarray, *, by_base_offset: bool, is_end: bool = True) -> np.ndarray:
    """Counts the lookups per batch if every offset is looked up once. Returns an array of TARGETS.

    `batches` is an array of format.batch.BATCH. `is_end`: no batch of the segment follows.
    """
    base, last = (batches[name].astype(np.int64) for name in ("base_offset", "last_offset"))
    reads_next = (base != last) & by_base_offset
    reads_next[-1:] &= not is_end
    targets = np.zeros(len(batches), TARGETS)
    _count_every_offset(targets, base, last, reads_next)
    return targets


# ---- counting targets. `reads_next` marks the batches for which a scan also reads the next header,
# unless the target is the batch's base offset


def _count_base_offsets(
    targets: np.ndarray, base: np.ndarray, last: np.ndarray, _reads_next: np.ndarray
) -> None:
    targets["near"] = 1
    targets["near_last"] = base == last


def _count_every_offset(
    targets: np.ndarray, base: np.ndarray, last: np.ndarray, reads_next: np.ndarray
) -> None:
    # all offsets of each batch count, even those that compaction removed
    offset_counts = np.where(base == UNKNOWN, 1, last - base + 1)
    targets["far"] = np.where(reads_next, offset_counts - 1, 0)
    targets["near"] = offset_counts - targets["far"]
    targets["far_last"] = reads_next
    targets["near_last"] = ~reads_next


TARGET_COUNTERS = {BASE: _count_base_offsets, EVERY: _count_every_offset}


@njit(cache=True)
def leap_to_entries(
    first_row: int,
    positions: np.ndarray,
    position_sums: np.ndarray,
    newest: np.ndarray,
    is_own: np.ndarray,
    intervals: np.ndarray,
    states: np.ndarray,
    steps: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Simulates all intervals, and counts all lookups between two entries at once.

    Each append must be a single batch. One offset per batch is looked up. `is_own` marks batches
    whose last offset is looked up. `position_sums[n]` is the sum of the first n positions.
    """
    for number in range(len(intervals)):
        interval = intervals[number]
        state = states[number]
        step = steps[starts[number] : starts[number + 1]]
        start_row = state.start_row - first_row
        start_position = state.start_position
        skipped = state.skipped_bytes
        entries = 0
        time_entries = 0
        last_time_ms = state.last_time_ms
        first = 0
        while first < len(positions):
            row = first
            while row < len(positions) and positions[row] - start_position <= interval:
                row += 1
            last = min(row, len(positions) - 1)
            step[first - start_row + 1] += 1
            step[last - start_row + 2] -= 1
            skipped += (
                position_sums[last + 1] - position_sums[first] - (last - first + 1) * start_position
            )
            if row == len(positions):
                break
            if is_own[row]:
                step[row - start_row + 1] -= 1
                step[row - start_row + 2] += 1
                step[1] += 1
                step[2] -= 1
                skipped -= positions[row] - start_position
            entries += 1
            if newest[row] > last_time_ms:
                time_entries += 1
                last_time_ms = newest[row]
            start_row = row
            start_position = positions[row]
            first = row + 1
        state.start_row = start_row + first_row
        state.start_position = start_position
        state.skipped_bytes = skipped
        state.entries += entries
        state.time_entries += time_entries
        state.last_time_ms = last_time_ms


@njit(cache=True)
def scan_blocks(
    first_row: int,
    positions: np.ndarray,
    newest: np.ndarray,
    targets: np.ndarray,
    opens: np.ndarray,
    closes: np.ndarray,
    intervals: np.ndarray,
    states: np.ndarray,
    headers: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Simulates all intervals batch by batch, one block of batches after another.

    `opens` and `closes` mark the first and the last batch of an append. `newest` is the largest
    timestamp up to each batch. The histogram of interval k in `headers` begins at `starts[k]`.
    """
    for block in range(0, len(positions), _BLOCK):
        stop = min(block + _BLOCK, len(positions))
        for number in range(len(intervals)):
            rows = slice(block, stop)
            counts = headers[starts[number] : starts[number + 1]]
            _scan_block(
                first_row + block,
                positions[rows],
                newest[rows],
                targets[rows],
                opens[rows],
                closes[rows],
                intervals[number],
                states[number],
                counts,
            )


@njit(cache=True)
def _scan_block(
    first_row: int,
    positions: np.ndarray,
    newest: np.ndarray,
    targets: np.ndarray,
    opens: np.ndarray,
    closes: np.ndarray,
    interval: int,
    state: np.record,
    counts: np.ndarray,
) -> None:
    start_row = state.start_row
    start_position = state.start_position
    skipped = state.skipped_bytes
    append_row = state.append_row
    append_position = state.append_position
    is_indexed = state.is_indexed
    for block_row in range(len(positions)):
        row = first_row + block_row
        position = positions[block_row]
        target = targets[block_row]
        if opens[block_row]:
            append_row = row
            append_position = position
            is_indexed = position - start_position > interval
        headers = row - start_row + 1
        counts[headers] += target.near
        counts[headers + 1] += target.far
        skipped += (target.near + target.far) * (position - start_position)
        if is_indexed and closes[block_row]:
            append_headers = row - append_row + 1
            counts[headers] -= target.near_last
            counts[headers + 1] -= target.far_last
            counts[append_headers] += target.near_last
            counts[append_headers + 1] += target.far_last
            skipped -= (target.near_last + target.far_last) * (append_position - start_position)
            start_row = append_row
            start_position = append_position
            state.entries += 1
            if newest[block_row] > state.last_time_ms:
                state.time_entries += 1
                state.last_time_ms = newest[block_row]
    state.start_row = start_row
    state.start_position = start_position
    state.skipped_bytes = skipped
    state.append_row = append_row
    state.append_position = append_position
    state.is_indexed = is_indexed


@njit(cache=True)
def fill_appends(sizes: np.ndarray, most_bytes: int) -> np.ndarray:
    """Divides batches into appends of at most `most_bytes`. Returns the end row of each append.

    A batch that is larger is an append of its own.
    """
    ends = np.empty(len(sizes), np.int64)
    count = 0
    filled_bytes = 0
    for row in range(len(sizes)):
        if row and filled_bytes + sizes[row] > most_bytes:
            ends[count] = row
            count = count + 1
            filled_bytes = 0
        filled_bytes += sizes[row]
    ends[count] = len(sizes)
    return ends[: count + 1]


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
        batches: an array of format.batch.BATCH per segment.
        targets: the offsets to look up, "base_offset" or "every_offset".
        by_base_offset: whether a scan reads one more header if the target is inside a batch, as
            Kafka 4.1 and later do.
        append_bytes: None: each batch may get an entry. A number: each append gets at most one
            entry, and has at most this many bytes or a single batch. Followers and compaction
            wrote indexes in this way before Kafka 3.9.1, and in 4.0.0 (KAFKA-806).
    """
    return parts(
        batches,
        intervals,
        targets=targets,
        by_base_offset=by_base_offset,
        append_bytes=append_bytes,
    ).sweep()


def parts(
    batches: np.ndarray | Iterable[np.ndarray],
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
    """Counts what lookups in one segment would read, for each of many index intervals.

    The batches arrive in chunks. Only the counts and one chunk are in memory.
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
        """Takes the arguments of the function `sweep`, and `by_append`.

        If `by_append`, the batches have a column "append", and `append_bytes` is not used. Batches
        with the same number in this column were appended together.
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
        # the last append, not counted until the next chunk shows whether it is complete
        self._open_append: tuple[np.ndarray, np.ndarray] | None = None
        self._target_count = 0
        self._log_bytes = 0
        self._batch_count = 0
        self._least_batch_bytes: int | None = None

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        appends = np.full(len(batches), UNKNOWN)
        if self._by_append:
            appends = batches["append"].astype(np.int64)
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
        """Returns the sums over the whole segment. The time entry that a roll adds is counted."""
        if self._open_append is not None:
            batches = self._open_append[0]
            self._sweep_batches(batches, np.array([batches.shape[1]]), is_end=True)
        last = self._newest_ms > self._state["last_time_ms"]
        headers, starts = self._counts.histograms()
        return SweepParts(
            intervals=self._intervals,
            entries=self._state["entries"].copy(),
            time_entries=self._state["time_entries"] + last,
            skipped_bytes=self._state["skipped_bytes"].copy(),
            last_times=last.astype(np.int64),
            batches_to_entry=self._state["start_row"].copy(),
            headers=headers,
            starts=starts,
            targets=self._target_count,
            log_bytes=self._log_bytes,
            batches=self._batch_count,
            segments=1,
            least_batch_bytes=self._least_batch_bytes,
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
        positions = np.cumsum(sizes) - sizes + self._log_bytes
        newest = np.maximum.accumulate(np.maximum(newest, self._newest_ms))
        first_row = self._batch_count
        self._newest_ms = int(newest[-1])
        self._target_count += int(targets["near"].sum() + targets["far"].sum())
        self._log_bytes += int(sizes.sum())
        self._batch_count += len(sizes)
        followed_sizes = sizes[has_next]
        if len(followed_sizes):
            least_bytes = int(followed_sizes.min())
            self._least_batch_bytes = min(self._least_batch_bytes or least_bytes, least_bytes)
        longest_append = int(np.diff(ends, prepend=0).max())
        self._counts.make_room(self._batch_count, self._least_batch_bytes, longest_append)
        closes = np.zeros(len(sizes), bool)
        closes[ends - 1] = True
        opens = np.append(True, closes[:-1])
        if len(ends) == len(sizes) and (targets["near"] == 1).all() and not targets["far"].any():
            leap_to_entries(
                first_row,
                positions,
                np.append(0, np.cumsum(positions)),
                newest,
                targets["near_last"] == 1,
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
