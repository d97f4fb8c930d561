"""The sums of a sweep over one or many segments, and their table with one row per interval."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kafkaviz.analysis.sweep.counts import add_counts, quantiles, starts_of_lengths
from kafkaviz.format import offset_index, time_index

# 0 indexes every batch. The others are 64 B to 4 MiB, in steps of a third of a power of two, so
# that 4096 and the other powers are among them.
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
        # .log bytes between the entry that a lookup starts from and the batch that answers it
        ("skipped_bytes_mean", "f8"),
    ]
)
QUANTILES = {"headers_p50": 0.5, "headers_p90": 0.9, "headers_p99": 0.99, "headers_max": 1.0}


@dataclass(frozen=True, kw_only=True)
class SweepParts:
    """The sums of a sweep over one or many segments.

    Attributes:
        intervals, entries, time_entries, skipped_bytes: int64, shape (k,); skipped_bytes is summed
            over all targets.
        headers: the number of targets by headers read. Interval k has the counts from starts[k] to
            starts[k + 1], for 0, 1, 2 ... headers.
        targets: number of targets.
        log_bytes, batches, segments: the extent of the swept logs.
        least_batch_bytes: the smallest batch, not counting the last one of each segment; None
            without such a batch.
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
        """Adds the sums of other segments.

        Raises:
            ValueError: the sweeps have different intervals.
        """
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
        """Returns the place of an interval among the swept ones.

        Raises:
            KeyError: the interval was not swept.
        """
        places = np.flatnonzero(self.intervals == interval_bytes)
        if not len(places):
            raise KeyError(interval_bytes)
        return int(places[0])

    def headers_at(self, place: int) -> np.ndarray:
        return self.headers[self.starts[place] : self.starts[place + 1]]

    def at_interval(self, interval_bytes: int) -> "SweepParts":
        """Returns the sums of one interval.

        Raises:
            KeyError: the interval was not swept.
        """
        place = self.index_of(interval_bytes)
        rows = slice(place, place + 1)
        counts = self.headers_at(place)
        return replace(
            self,
            intervals=self.intervals[rows],
            entries=self.entries[rows],
            time_entries=self.time_entries[rows],
            skipped_bytes=self.skipped_bytes[rows],
            headers=counts,
            starts=np.array([0, len(counts)]),
        )


def no_parts(intervals: Iterable[int] = INTERVALS) -> SweepParts:
    swept_intervals = np.unique(np.fromiter(intervals, np.int64))
    zeros = np.zeros(len(swept_intervals), np.int64)
    return SweepParts(
        intervals=swept_intervals,
        entries=zeros,
        time_entries=zeros,
        skipped_bytes=zeros,
        headers=np.zeros(0, np.int64),
        starts=np.zeros(len(swept_intervals) + 1, np.int64),
    )
