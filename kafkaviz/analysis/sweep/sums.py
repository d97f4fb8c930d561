"""Adds up the results of sweeps, and makes a table with one row per index.interval.bytes.

A histogram counts lookups by the number of headers that they read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import offset_index, time_index

# With the interval 0, every batch but the first is indexed. The others are 64 B to 4 MiB. Each is
# the cube root of 2 times the previous one, so all powers of two in this range are among them.
INTERVALS = (0, *(round(64 * 2 ** (third / 3)) for third in range(49)))
SWEEP: np.dtype = np.dtype(
    [
        ("interval_bytes", "i8"),
        ("entries", "i8"),  # offset entries
        # size of .index and .timeindex, including the last time entry of each segment
        ("index_bytes", "i8"),
        ("headers_mean", "f8"),  # both means are NaN for a log without a batch
        ("headers_p50", "i8"),
        ("headers_p90", "i8"),
        ("headers_p99", "i8"),
        ("headers_max", "i8"),
        # .log bytes between the entry where a lookup starts and the batch that answers it
        ("skipped_bytes_mean", "f8"),
    ]
)
QUANTILES = {"headers_p50": 0.5, "headers_p90": 0.9, "headers_p99": 0.99, "headers_max": 1.0}


class HeaderCounts:
    """Histograms of lookups by the number of headers that they read, one per interval.

    The counts of all histograms, one after the other, are `flat` plus the cumulative sums of
    `steps`. The histogram of interval k begins at index `starts[k]`.
    """

    def __init__(self, intervals: np.ndarray) -> None:
        self._intervals = intervals
        self._longest = 1
        self.starts = np.zeros(len(intervals) + 1, np.int64)
        self.flat = self.steps = np.zeros(0, np.int64)

    def make_room(self, batches: int, least_batch_bytes: int | None, longest_append: int) -> None:
        """Makes each histogram long enough for the most headers that a lookup can read.

        A lookup reads from one entry at most to the next entry. The distance between these entries
        is at most the interval plus two appends.
        """
        self._longest = max(self._longest, longest_append)
        max_headers = self._intervals // (least_batch_bytes or 1) + 2 * self._longest
        room = np.minimum(max_headers, batches) + 4
        if (room <= np.diff(self.starts)).all():
            return
        starts = starts_of_lengths(
            np.maximum(np.minimum(2 * room, batches + 4), np.diff(self.starts))
        )
        flat, steps = np.zeros((2, int(starts[-1])), np.int64)
        add_counts(flat, starts, self.flat, self.starts)
        add_counts(steps, starts, self.steps, self.starts)
        self.flat = flat
        self.steps = steps
        self.starts = starts

    def histograms(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns all histograms, without trailing zeros, in one array, and where each starts."""
        # the steps of each interval add up to 0, so one cumulative sum is right for all intervals
        counts = self.flat + np.cumsum(self.steps)
        starts = starts_of_lengths(_trimmed_lengths(counts, self.starts))
        trimmed = np.zeros(int(starts[-1]), np.int64)
        add_counts(trimmed, starts, counts, self.starts)
        return trimmed, starts


def mean(counts: np.ndarray) -> float:
    """Returns the mean of a histogram; NaN if it is empty."""
    total = counts.sum()
    return float((np.arange(len(counts)) * counts).sum() / total) if total else float("nan")


def starts_of_lengths(lengths: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(lengths))


def add_histograms(counts: np.ndarray, other_counts: np.ndarray) -> np.ndarray:
    total = np.zeros(max(len(counts), len(other_counts)), np.int64)
    total[: len(counts)] += counts
    total[: len(other_counts)] += other_counts
    return total


@njit(cache=True)
def quantiles(flat: np.ndarray, starts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Returns several quantiles of each histogram: one row per interval, one column per share."""
    # compiled, as is `add_counts`: an ingest calls both for each segment, with 50 intervals
    table = np.zeros((len(starts) - 1, len(shares)), np.int64)
    for row in range(len(table)):
        counts = flat[starts[row] : starts[row + 1]]
        total = counts.sum()
        if total == 0:
            continue
        for column in range(len(shares)):
            rank = max(1, np.ceil(shares[column] * total - 1e-9))
            headers = 0
            cumulated = counts[0]
            while cumulated < rank:
                headers += 1
                cumulated += counts[headers]
            table[row, column] = headers
    return table


@njit(cache=True)
def add_counts(
    flat: np.ndarray, starts: np.ndarray, added_flat: np.ndarray, added_starts: np.ndarray
) -> None:
    """Adds each histogram in `added_flat` to the histogram of the same interval in `flat`.

    If the added histogram is longer, its additional values must be zeros.
    """
    for row in range(len(starts) - 1):
        first = starts[row]
        added_first = added_starts[row]
        length = min(starts[row + 1] - first, added_starts[row + 1] - added_first)
        for headers in range(length):
            flat[first + headers] += added_flat[added_first + headers]


@njit(cache=True)
def _trimmed_lengths(flat: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Returns the length of each histogram without its trailing zeros."""
    lengths = np.diff(starts)
    for row in range(len(lengths)):
        while lengths[row] and flat[starts[row] + lengths[row] - 1] == 0:
            lengths[row] -= 1
    return lengths


@dataclass(frozen=True, kw_only=True)
class SweepParts:
    """The reads of the lookups in one or many segments, added up for each of k index intervals.

    All arrays except `headers` and `starts` have one int64 value per interval, shape (k,).

    Attributes:
        skipped_bytes: the bytes that scans skip, summed over all lookups.
        last_times: the number of time entries that a roll or shutdown writes. `time_entries`
            includes them.
        batches_to_entry: the number of batches before the last batch with an entry, summed over
            segments.
        headers: how many lookups read 0, 1, 2 ... headers. The histogram of interval i is
            `headers[starts[i] : starts[i + 1]]`.
        targets: the number of lookups.
        least_batch_bytes: the size of the smallest batch. The last batch of a segment does not
            count. None: no such batch.
    """

    intervals: np.ndarray
    entries: np.ndarray
    time_entries: np.ndarray
    skipped_bytes: np.ndarray
    last_times: np.ndarray
    batches_to_entry: np.ndarray
    headers: np.ndarray
    starts: np.ndarray
    targets: int = 0
    log_bytes: int = 0
    batches: int = 0
    segments: int = 0
    least_batch_bytes: int | None = None

    def __add__(self, other: "SweepParts") -> "SweepParts":
        if not np.array_equal(self.intervals, other.intervals):
            raise ValueError("sweeps over different intervals do not add up")
        batch_sizes = [
            part.least_batch_bytes for part in (self, other) if part.least_batch_bytes is not None
        ]
        starts = starts_of_lengths(np.maximum(np.diff(self.starts), np.diff(other.starts)))
        headers = np.zeros(int(starts[-1]), np.int64)
        for part in (self, other):
            add_counts(headers, starts, part.headers, part.starts)
        return SweepParts(
            intervals=self.intervals,
            entries=self.entries + other.entries,
            time_entries=self.time_entries + other.time_entries,
            skipped_bytes=self.skipped_bytes + other.skipped_bytes,
            last_times=self.last_times + other.last_times,
            batches_to_entry=self.batches_to_entry + other.batches_to_entry,
            headers=headers,
            starts=starts,
            targets=self.targets + other.targets,
            log_bytes=self.log_bytes + other.log_bytes,
            batches=self.batches + other.batches,
            segments=self.segments + other.segments,
            least_batch_bytes=min(batch_sizes, default=None),
        )

    @cached_property
    def index_bytes(self) -> np.ndarray:
        return (
            self.entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )

    def sweep(self) -> np.ndarray:
        table = np.zeros(len(self.intervals), SWEEP)
        table["interval_bytes"] = self.intervals
        table["entries"] = self.entries
        table["index_bytes"] = self.index_bytes
        table["skipped_bytes_mean"] = self.skipped_bytes / self.targets if self.targets else np.nan
        quantile_table = quantiles(self.headers, self.starts, np.array(list(QUANTILES.values())))
        for name, column in zip(QUANTILES, quantile_table.T, strict=True):
            table[name] = column
        numbers = np.arange(len(self.headers)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        cumulated = np.append(0, np.cumsum(numbers * self.headers))[self.starts]
        table["headers_mean"] = np.diff(cumulated) / self.targets if self.targets else np.nan
        return table

    def index_of(self, interval_bytes: int) -> int:
        """Returns the index of an interval. Raises KeyError if the interval was not swept."""
        places = np.flatnonzero(self.intervals == interval_bytes)
        if not len(places):
            raise KeyError(interval_bytes)
        return int(places[0])

    def headers_at(self, place: int) -> np.ndarray:
        return self.headers[self.starts[place] : self.starts[place + 1]]

    def at_interval(self, interval_bytes: int) -> "SweepParts":
        place = self.index_of(interval_bytes)
        rows = slice(place, place + 1)
        counts = self.headers_at(place)
        return replace(
            self,
            intervals=self.intervals[rows],
            entries=self.entries[rows],
            time_entries=self.time_entries[rows],
            skipped_bytes=self.skipped_bytes[rows],
            last_times=self.last_times[rows],
            batches_to_entry=self.batches_to_entry[rows],
            headers=counts,
            starts=np.array([0, len(counts)]),
        )

    def scaled(self, log_bytes: int, segments: int, first_lookups: int = 0) -> "SweepParts":
        """Estimates the sums for a whole log from some windows (parts) of the log.

        A window may end between two entries. So the batches after its last entry are left out when
        the number of entries per batch is computed.

        Args:
            segments: the number of the log's segments with a batch.
            first_lookups: the number of lookups that look for the first batch of a window. They are
                left out: they read too few headers, because the entry before the window is missing.
        """
        if not self.log_bytes:
            return self
        factor = log_bytes / self.log_bytes
        batches = round(factor * self.batches)
        shares = self.entries / np.maximum(self.batches_to_entry, 1)
        entries = np.rint(shares * max(0, batches - segments)).astype(np.int64)
        skipped_bytes = (
            factor * self.skipped_bytes * self.targets / max(1, self.targets - first_lookups)
        )
        time_shares = (self.time_entries - self.last_times) / np.maximum(self.entries, 1)
        last_times = np.rint(segments * self.last_times / self.segments).astype(np.int64)
        time_entries = np.rint(np.clip(time_shares, 0, 1) * entries).astype(np.int64)
        return replace(
            self,
            entries=entries,
            time_entries=time_entries + last_times,
            last_times=last_times,
            skipped_bytes=np.rint(skipped_bytes).astype(np.int64),
            batches_to_entry=np.rint(factor * self.batches_to_entry).astype(np.int64),
            headers=scale_counts(self.headers, self.starts, factor, first_lookups),
            targets=round(factor * self.targets),
            log_bytes=log_bytes,
            batches=batches,
            segments=segments,
        )


def scale_counts(
    counts: np.ndarray, starts: np.ndarray, factor: float, first_lookups: int = 0
) -> np.ndarray:
    """Returns histograms with all counts multiplied by a factor.

    First subtracts `first_lookups` from each histogram's count for one header. For the other
    lookups, raises the factor so that the total is still `factor` times the old total. Rounds the
    cumulative sums, not each count, so that rounding errors do not add up.
    """
    lengths = np.diff(starts)
    is_one = np.arange(len(counts)) == np.repeat(starts[:-1] + 1, lengths)
    counts = counts - first_lookups * is_one
    sums = np.append(0, np.cumsum(counts))
    before = np.repeat(sums[starts[:-1]], lengths)
    total = sums[starts[1]] if len(starts) > 1 else 0
    factor *= (total + first_lookups) / max(1, total)
    above = np.rint(factor * (sums[1:] - before)).astype(np.int64)
    below = np.rint(factor * (sums[:-1] - before)).astype(np.int64)
    return above - below


def no_parts(intervals: Iterable[int] = INTERVALS) -> SweepParts:
    swept_intervals = np.unique(np.fromiter(intervals, np.int64))
    zeros = np.zeros(len(swept_intervals), np.int64)
    return SweepParts(
        intervals=swept_intervals,
        entries=zeros,
        time_entries=zeros,
        skipped_bytes=zeros,
        last_times=zeros,
        batches_to_entry=zeros,
        headers=np.zeros(0, np.int64),
        starts=np.zeros(len(swept_intervals) + 1, np.int64),
    )
