"""What every index.interval.bytes would have cost one log: index entries, and the batch headers that a lookup reads. Exact, no model.

The batches are held, the interval is swept. Of twenty batches of 1000 bytes and ten records each:

    interval 4096   entries at batches 5, 10, 15      a fetch at the base offset of batch 7 starts at 5 and reads 5, 6, 7: 3 headers
    interval 3999   entries at batches 4, 8, 12, 16   it starts at 4 and reads 4, 5, 6, 7
    interval 0      entries at batches 1 to 19        it starts at 6 and reads 6, 7: never fewer than 2

The key of an entry is its batch's last offset, so that a fetch at the base offset of an indexed batch starts at the entry before, unless
the batch holds one record. As LogSegment.append of Kafka 2.0 to 4.3.1; that an index can be full is left out.

Sweeps of segments add up: parts(one) + parts(other) is what parts([one, other]) gives, and a sum over tasks is as exact as one pass.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kafkaviz.binary.compiled import njit
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import UNKNOWN

# 0, which indexes every batch, and 64 B to 4 MiB by thirds of a power of two, so that 4096 and the other powers are among them.
INTERVALS = (0, *(round(64 * 2 ** (third / 3)) for third in range(49)))
SWEEP = np.dtype([
    ("interval_bytes", "i8"),
    ("entries", "i8"),  # of the offset index
    ("index_bytes", "i8"),  # of .index and .timeindex together, the last time entry of each segment included
    ("headers_mean", "f8"),  # NaN of a log without a batch, as the other mean
    ("headers_p50", "i8"),
    ("headers_p90", "i8"),
    ("headers_p99", "i8"),
    ("headers_max", "i8"),
    ("skipped_bytes_mean", "f8"),  # of .log, between the entry that a lookup starts from and the batch that answers it
])
SIZES = np.dtype([("size_bytes", "i4"), ("is_single", "?")])  # a batch, and whether it spans one offset
# Which offsets are looked up: of each batch the first, as a consumer does that goes on behind a batch; the last; or all that it spans.
BASE, LAST, EVERY = "base_offset", "last_offset", "every_offset"
FOLLOWER_APPEND_BYTES = 1 << 20  # replica.fetch.max.bytes: what a follower appends at once, at most
CLEANER_APPEND_BYTES = 256 << 10  # half of log.cleaner.io.buffer.size of one cleaner thread

QUANTILES = {"headers_p50": 0.5, "headers_p90": 0.9, "headers_p99": 0.99, "headers_max": 1.0}

_STATE = np.dtype([  # of one interval, on the way through a segment; rows and positions are counted from the segment's start
    ("start_row", "i8"),  # of the batch that the usable entry points to; the first one until there is an entry
    ("start_position", "i8"),
    ("append_row", "i8"),  # of the first batch of the append
    ("append_position", "i8"),
    ("is_indexed", "i8"),  # whether the append gets an entry
    ("entries", "i8"),
    ("time_entries", "i8"),
    ("last_time_ms", "i8"),  # of the last time entry
    ("skipped_bytes", "i8"),  # summed over the targets
])  # fmt: skip
_TARGETS = np.dtype([  # of one batch, how many targets
    ("near", "i8"),  # end with its own header
    ("far", "i8"),  # take that of the next batch too
    ("near_last", "i8"),  # of those, at its last offset, which alone can start from the batch's own entry
    ("far_last", "i8"),
])  # fmt: skip
_BLOCK = 2048  # batches that stay in the processor's cache while every interval passes over them


@dataclass(frozen=True)
class SweepParts:
    """The sums behind a sweep, of one segment or of many; `+` adds them.

    intervals, entries, time_entries, skipped_bytes: (k,) int64, the last summed over all targets. headers: how many targets take how many
    headers, those of interval k from starts[k] to starts[k + 1], counted by their number from 0. targets: how many; log_bytes, batches,
    segments: of what. least_batch_bytes: of the batches that another follows in its segment, the smallest; None where none does.
    """

    intervals: np.ndarray
    entries: np.ndarray
    time_entries: np.ndarray
    skipped_bytes: np.ndarray
    headers: np.ndarray
    starts: np.ndarray
    targets: int = 0
    log_bytes: int = 0
    batches: int = 0
    segments: int = 0
    least_batch_bytes: int | None = None

    def __add__(self, other: "SweepParts") -> "SweepParts":
        """Both together; ValueError for sweeps over other intervals."""
        if not np.array_equal(self.intervals, other.intervals):
            raise ValueError("sweeps over different intervals do not add up")
        least = [one.least_batch_bytes for one in (self, other) if one.least_batch_bytes is not None]
        starts = _starts(np.maximum(np.diff(self.starts), np.diff(other.starts)))
        headers = np.zeros(int(starts[-1]), np.int64)
        for one in (self, other):
            _put(headers, starts, one.headers, one.starts)
        return SweepParts(
            self.intervals, self.entries + other.entries, self.time_entries + other.time_entries, self.skipped_bytes + other.skipped_bytes,
            headers, starts, self.targets + other.targets, self.log_bytes + other.log_bytes, self.batches + other.batches,
            self.segments + other.segments, min(least, default=None),
        )  # fmt: skip

    @cached_property
    def index_bytes(self) -> np.ndarray:
        """Of both indexes together, for each interval."""
        return self.entries * offset_index.ENTRY.itemsize + self.time_entries * time_index.ENTRY.itemsize

    def sweep(self) -> np.ndarray:
        """One row an interval: SWEEP."""
        table = np.zeros(len(self.intervals), SWEEP)
        table["interval_bytes"], table["entries"], table["index_bytes"] = self.intervals, self.entries, self.index_bytes
        table["skipped_bytes_mean"] = self.skipped_bytes / self.targets if self.targets else np.nan
        told = _quantiles(self.headers, self.starts, np.array(list(QUANTILES.values())))
        for name, column in zip(QUANTILES, told.T, strict=True):
            table[name] = column
        numbers = np.arange(len(self.headers)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        summed = np.append(0, np.cumsum(numbers * self.headers))[self.starts]
        table["headers_mean"] = np.diff(summed) / self.targets if self.targets else np.nan
        return table

    def at(self, interval_bytes: int) -> int:
        """The place of an interval among those that were swept; KeyError for one that was not."""
        found = np.flatnonzero(self.intervals == interval_bytes)
        if not len(found):
            raise KeyError(interval_bytes)
        return int(found[0])

    def headers_at(self, place: int) -> np.ndarray:
        """How many targets take how many headers at one interval, by their number from 0."""
        return self.headers[self.starts[place] : self.starts[place + 1]]

    def only(self, interval_bytes: int) -> "SweepParts":
        """The sums of one interval; KeyError for one that was not swept."""
        place = self.at(interval_bytes)
        one, counts = slice(place, place + 1), self.headers_at(place)
        return replace(
            self, intervals=self.intervals[one], entries=self.entries[one], time_entries=self.time_entries[one],
            skipped_bytes=self.skipped_bytes[one], headers=counts, starts=np.array([0, len(counts)]),
        )  # fmt: skip


def sweep(
    batches: np.ndarray | Sequence[np.ndarray], intervals: Iterable[int] = INTERVALS, *, targets: str = BASE,
    by_base_offset: bool = False, append_bytes: int | None = None,
) -> np.ndarray:  # fmt: skip
    """One row an interval (SWEEP) for the batches of a segment, or of several: format.batch.BATCH.

    targets: "base_offset", "last_offset" or "every_offset". by_base_offset: the scan of 4.1 and later, which for a target inside of a
    batch looks at the next header too. append_bytes: an append, of that many bytes at most, gets one entry at most, as on followers
    and after compaction up to 4.0.0 (KAFKA-806); None: every batch may get one.
    """
    return parts(batches, intervals, targets=targets, by_base_offset=by_base_offset, append_bytes=append_bytes).sweep()


def parts(
    batches: np.ndarray | Sequence[np.ndarray], intervals: Iterable[int] = INTERVALS, *, targets: str = BASE,
    by_base_offset: bool = False, append_bytes: int | None = None,
) -> SweepParts:  # fmt: skip
    """The sums behind sweep(), to be added to those of other segments."""
    wanted = np.unique(np.fromiter(intervals, np.int64))
    found = none(wanted)
    for segment in [batches] if isinstance(batches, np.ndarray) else batches:
        sweeper = Sweeper(wanted, targets=targets, by_base_offset=by_base_offset, append_bytes=append_bytes)
        sweeper.take(segment)
        found += sweeper.end()
    return found


def none(intervals: Iterable[int] = INTERVALS) -> SweepParts:
    """The sums over no segment at all, to begin adding with."""
    wanted = np.unique(np.fromiter(intervals, np.int64))
    zeros = np.zeros(len(wanted), np.int64)
    return SweepParts(wanted, zeros, zeros, zeros, np.zeros(0, np.int64), np.zeros(len(wanted) + 1, np.int64))


class Sweeper:
    """One segment while it is read, chunk by chunk: memory is bounded by a chunk and the counts, whatever the length of the .log."""

    def __init__(
        self, intervals: Iterable[int] = INTERVALS, *, targets: str = BASE, by_base_offset: bool = False, append_bytes: int | None = None
    ) -> None:
        """As sweep()."""
        self._intervals = np.unique(np.fromiter(intervals, np.int64))
        if len(self._intervals) and self._intervals[0] < 0:
            raise ValueError(f"no interval is {self._intervals[0]} bytes")
        self._targets = {BASE: _at_base, LAST: _at_last, EVERY: _at_every}[targets]
        self._by_base_offset, self._append_bytes = by_base_offset, append_bytes
        self._state, self._newest_ms = np.zeros(len(self._intervals), _STATE), UNKNOWN
        self._state["last_time_ms"] = UNKNOWN
        self._counts = _Counts(self._intervals)
        self._kept: tuple[np.ndarray, np.ndarray] | None = None  # the last append, until it is known how it goes on
        self._sums = replace(none(self._intervals), segments=1)

    def take(self, batches: np.ndarray, appends: np.ndarray | None = None) -> None:
        """The next batches of the segment. appends: the number of the append that each came in, if append_bytes is not to tell."""
        if not len(batches):
            return
        columns = ("size_bytes", "base_offset", "last_offset", "max_timestamp_ms")
        batches = np.array([batches[name] for name in columns], np.int64)
        appends = np.full(batches.shape[1], UNKNOWN) if appends is None else np.asarray(appends, np.int64)
        if self._kept is not None:
            batches, appends = np.hstack([self._kept[0], batches]), np.concatenate([self._kept[1], appends])
        ends = self._ends(batches, appends)
        whole = int(ends[-2]) if len(ends) > 1 else 0
        self._kept = batches[:, whole:], appends[whole:]
        self._pass(batches[:, :whole], ends[:-1], is_end=False)

    def end(self) -> SweepParts:
        """The sums over the whole segment: the last time entry that its roll or the broker's stop writes is among them."""
        if self._kept is not None:
            self._pass(self._kept[0], np.array([self._kept[0].shape[1]]), is_end=True)
        last = self._newest_ms > self._state["last_time_ms"]
        headers, starts = self._counts.each()
        return replace(
            self._sums, entries=self._state["entries"].copy(), time_entries=self._state["time_entries"] + last,
            skipped_bytes=self._state["skipped_bytes"].copy(), headers=headers, starts=starts,
        )  # fmt: skip

    def _ends(self, batches: np.ndarray, appends: np.ndarray) -> np.ndarray:
        """The row behind each append."""
        if (batches[0] < 1).any():
            raise ValueError(f"no batch is {batches[0].min()} bytes")
        if appends[-1] != UNKNOWN:
            return np.append(np.flatnonzero(np.diff(appends)) + 1, len(appends))
        if self._append_bytes is None:
            return np.arange(1, batches.shape[1] + 1)
        return _filled_up(batches[0], self._append_bytes)

    def _pass(self, batches: np.ndarray, ends: np.ndarray, is_end: bool) -> None:
        if not batches.shape[1]:
            return
        sizes, base, last, newest = batches
        followed = np.ones(len(sizes), bool)
        followed[-1] = not is_end
        targets = np.zeros(len(sizes), _TARGETS)
        self._targets(targets, base, last, followed & (base != last) & self._by_base_offset)
        positions = np.cumsum(sizes) - sizes + self._sums.log_bytes
        newest = np.maximum.accumulate(np.maximum(newest, self._newest_ms))
        first_row, self._newest_ms = self._sums.batches, int(newest[-1])
        self._note(sizes, int(targets["near"].sum() + targets["far"].sum()), sizes[followed])
        self._counts.make_room(self._sums, int(np.diff(ends, prepend=0).max()))
        closes = np.zeros(len(sizes), bool)
        closes[ends - 1] = True
        opens = np.append(True, closes[:-1])
        if len(ends) == len(sizes) and (targets["near"] == 1).all() and not targets["far"].any():
            before = np.append(0, np.cumsum(positions))
            is_own = targets["near_last"] == 1
            _leap(first_row, positions, before, newest, is_own, self._intervals, self._state, self._counts.steps, self._counts.starts)
        else:
            _scan(
                first_row, positions, newest, targets, opens, closes, self._intervals, self._state, self._counts.flat, self._counts.starts
            )

    def _note(self, sizes: np.ndarray, targets: int, followed: np.ndarray) -> None:
        sums = self._sums
        known = [] if sums.least_batch_bytes is None else [sums.least_batch_bytes]
        self._sums = replace(
            sums, targets=sums.targets + targets, log_bytes=sums.log_bytes + int(sizes.sum()), batches=sums.batches + len(sizes),
            least_batch_bytes=min([*known, *([int(followed.min())] if len(followed) else [])], default=None),
        )  # fmt: skip


class _Counts:
    """How many targets take how many headers, for each interval: the counts of interval k from starts[k] on.

    flat: counts; steps: what is to be added to them, as the difference from each number to the one before.
    """

    def __init__(self, intervals: np.ndarray) -> None:
        self._intervals, self._longest = intervals, 1
        self.starts = np.zeros(len(intervals) + 1, np.int64)
        self.flat = self.steps = np.zeros(0, np.int64)

    def make_room(self, sums: SweepParts, longest_append: int) -> None:
        """Room for every number of headers that can come: what is not indexed is no longer than an interval and the appends around it."""
        self._longest = max(self._longest, longest_append)
        most = self._intervals // (sums.least_batch_bytes or 1) + 2 * self._longest
        room = np.minimum(most, sums.batches) + 4
        if (room <= np.diff(self.starts)).all():
            return
        starts = _starts(np.maximum(np.minimum(2 * room, sums.batches + 4), np.diff(self.starts)))
        flat, steps = np.zeros((2, int(starts[-1])), np.int64)
        _put(flat, starts, self.flat, self.starts)
        _put(steps, starts, self.steps, self.starts)
        self.flat, self.steps, self.starts = flat, steps, starts

    def each(self) -> tuple[np.ndarray, np.ndarray]:
        """(the counts of each interval without the zeros behind them, where each begins)."""
        counts = self.flat + np.cumsum(self.steps)  # the steps of an interval sum up to 0
        used = _used(counts, self.starts)
        starts = _starts(used)
        packed = np.zeros(int(starts[-1]), np.int64)
        _put(packed, starts, counts, self.starts)
        return packed, starts


@njit(cache=True)
def _leap(first_row, positions, before, newest, is_own, intervals, states, steps, starts):
    """Each interval's way through batches that are appends of their own and have one target each: from entry to entry.

    before: of each batch the sum of all positions before its own. is_own: whether the target is the batch's last offset.
    """
    for number in range(len(intervals)):
        interval, state, step = intervals[number], states[number], steps[starts[number] : starts[number + 1]]
        start_row, start_position, skipped = state.start_row - first_row, state.start_position, state.skipped_bytes
        entries, time_entries, last_time_ms = 0, 0, state.last_time_ms
        first = 0
        while first < len(positions):
            at = first
            while at < len(positions) and positions[at] - start_position <= interval:
                at += 1
            last = min(at, len(positions) - 1)
            step[first - start_row + 1] += 1
            step[last - start_row + 2] -= 1
            skipped += before[last + 1] - before[first] - (last - first + 1) * start_position
            if at == len(positions):
                break
            if is_own[at]:
                step[at - start_row + 1] -= 1
                step[at - start_row + 2] += 1
                step[1] += 1
                step[2] -= 1
                skipped -= positions[at] - start_position
            entries += 1
            if newest[at] > last_time_ms:
                time_entries += 1
                last_time_ms = newest[at]
            start_row, start_position = at, positions[at]
            first = at + 1
        state.start_row, state.start_position, state.skipped_bytes = start_row + first_row, start_position, skipped
        state.entries += entries
        state.time_entries += time_entries
        state.last_time_ms = last_time_ms


@njit(cache=True)
def _scan(first_row, positions, newest, targets, opens, closes, intervals, states, headers, starts):
    """Each interval's way through the same batches, a block of them after the other.

    newest: the largest timestamp up to each batch. opens, closes: whether a batch is the first, and the last, of its append.
    headers: the counts of interval k from starts[k] on.
    """
    for block in range(0, len(positions), _BLOCK):
        stop = min(block + _BLOCK, len(positions))
        for number in range(len(intervals)):
            rows, counts = slice(block, stop), headers[starts[number] : starts[number + 1]]
            _pass(
                first_row + block, positions[rows], newest[rows], targets[rows], opens[rows], closes[rows],
                intervals[number], states[number], counts,
            )  # fmt: skip


@njit(cache=True)
def _pass(first_row, positions, newest, targets, opens, closes, interval, state, counts):
    """One interval's way through a block."""
    start_row, start_position, skipped = state.start_row, state.start_position, state.skipped_bytes
    append_row, append_position, is_indexed = state.append_row, state.append_position, state.is_indexed
    for at in range(len(positions)):
        row, position, target = first_row + at, positions[at], targets[at]
        if opens[at]:
            append_row, append_position, is_indexed = row, position, position - start_position > interval
        behind = row - start_row + 1
        counts[behind] += target.near
        counts[behind + 1] += target.far
        skipped += (target.near + target.far) * (position - start_position)
        if is_indexed and closes[at]:
            own = row - append_row + 1
            counts[behind] -= target.near_last
            counts[behind + 1] -= target.far_last
            counts[own] += target.near_last
            counts[own + 1] += target.far_last
            skipped -= (target.near_last + target.far_last) * (append_position - start_position)
            start_row, start_position = append_row, append_position
            state.entries += 1
            if newest[at] > state.last_time_ms:
                state.time_entries += 1
                state.last_time_ms = newest[at]
    state.start_row, state.start_position, state.skipped_bytes = start_row, start_position, skipped
    state.append_row, state.append_position, state.is_indexed = append_row, append_position, is_indexed


@njit(cache=True)
def _filled_up(sizes, most_bytes):
    """The row behind each append that takes as many whole batches as fit, and one at least."""
    ends = np.empty(len(sizes), np.int64)
    count, filled = 0, 0
    for row in range(len(sizes)):
        if row and filled + sizes[row] > most_bytes:
            ends[count] = row
            count, filled = count + 1, 0
        filled += sizes[row]
    ends[count] = len(sizes)
    return ends[: count + 1]


# ---- targets. looks_on: of which batches a scan takes the next header too, unless the target is their base offset


def _at_base(targets: np.ndarray, base: np.ndarray, last: np.ndarray, looks_on: np.ndarray) -> None:
    targets["near"], targets["near_last"] = 1, base == last


def _at_last(targets: np.ndarray, base: np.ndarray, last: np.ndarray, looks_on: np.ndarray) -> None:
    targets["far"] = targets["far_last"] = looks_on
    targets["near"] = targets["near_last"] = ~looks_on


def _at_every(targets: np.ndarray, base: np.ndarray, last: np.ndarray, looks_on: np.ndarray) -> None:
    """Each offset that a batch spans; compaction may have left no record at some, and they are looked up all the same."""
    spanned = np.where(base == UNKNOWN, 1, last - base + 1)
    targets["far"] = np.where(looks_on, spanned - 1, 0)
    targets["near"] = spanned - targets["far"]
    targets["far_last"], targets["near_last"] = looks_on, ~looks_on


def every_offset(batches: np.ndarray, by_base_offset: bool) -> np.ndarray:
    """The targets of one segment's batches (format.batch.BATCH) where every offset is looked up: near, far, near_last, far_last of each."""
    base, last = (batches[name].astype(np.int64) for name in ("base_offset", "last_offset"))
    looks_on = (base != last) & by_base_offset
    looks_on[-1:] = False
    targets = np.zeros(len(batches), _TARGETS)
    _at_every(targets, base, last, looks_on)
    return targets


# ---- counts


def mean(counts: np.ndarray) -> float:
    """The mean number, NaN of none. counts: how many there are of each number from 0."""
    total = counts.sum()
    return float((np.arange(len(counts)) * counts).sum() / total) if total else float("nan")


def quantile(counts: np.ndarray, share: float) -> int:
    """The least number that at least this share of all does not exceed; 0 of none."""
    return int(_quantiles(np.asarray(counts, np.int64), np.array([0, len(counts)]), np.array([share]))[0, 0])


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(lengths))


@njit(cache=True)
def _quantiles(flat, starts, shares):
    found = np.zeros((len(starts) - 1, len(shares)), np.int64)
    for number in range(len(starts) - 1):
        counts = flat[starts[number] : starts[number + 1]]
        total = counts.sum()
        for column in range(len(shares)):
            wanted, reached, at = max(1, np.ceil(shares[column] * total - 1e-9)), 0, -1
            while reached < wanted and at + 1 < len(counts):
                at += 1
                reached += counts[at]
            found[number, column] = max(at, 0) if total else 0
    return found


@njit(cache=True)
def _put(flat, starts, others, other_starts):
    """Adds the counts of each interval to those of the same one; of the longer ones what is behind the room is zeros."""
    for number in range(len(starts) - 1):
        length = min(starts[number + 1] - starts[number], other_starts[number + 1] - other_starts[number])
        for at in range(length):
            flat[starts[number] + at] += others[other_starts[number] + at]


@njit(cache=True)
def _used(flat, starts):
    """How many counts of each interval there are up to the last that is not 0."""
    used = np.zeros(len(starts) - 1, np.int64)
    for number in range(len(used)):
        for at in range(starts[number], starts[number + 1]):
            if flat[at]:
                used[number] = at - starts[number] + 1
    return used


def added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Counts by number, of two together."""
    total = np.zeros(max(len(one), len(other)), np.int64)
    total[: len(one)] += one
    total[: len(other)] += other
    return total


def headers(batches: np.ndarray, interval_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    """(how many headers a fetch at each batch's base offset reads, whether the batch has an entry): (n,) each, of one segment.

    batches: format.batch.BATCH, or SIZES.
    """
    is_own = batches["is_single"] if batches.dtype == SIZES else batches["base_offset"] == batches["last_offset"]
    return _headers(np.ascontiguousarray(batches["size_bytes"], np.int64), np.ascontiguousarray(is_own), interval_bytes)


def sizes(batches: np.ndarray) -> np.ndarray:
    """What headers() needs of batches, in five bytes each: SIZES."""
    table = np.empty(len(batches), SIZES)
    table["size_bytes"], table["is_single"] = batches["size_bytes"], batches["base_offset"] == batches["last_offset"]
    return table


@njit(cache=True)
def _headers(sizes, is_own, interval_bytes):
    found, indexed = np.empty(len(sizes), np.int64), np.zeros(len(sizes), np.bool_)
    start, since = 0, 0
    for row in range(len(sizes)):
        found[row] = row - start + 1
        if since > interval_bytes:
            indexed[row] = True
            start, since = row, 0
            if is_own[row]:
                found[row] = 1
        since += sizes[row]
    return found, indexed
