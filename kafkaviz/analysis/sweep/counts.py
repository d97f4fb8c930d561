"""Histograms: the number of targets by headers read, for one interval and for all.

`counts[n]` targets take n headers.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit


class HeaderCounts:
    """The histogram of each interval; that of interval k begins at starts[k].

    `flat` holds counts. `steps` holds changes from one number to the next, to be summed up and
    added.
    """

    def __init__(self, intervals: np.ndarray) -> None:
        self._intervals = intervals
        self._longest = 1
        self.starts = np.zeros(len(intervals) + 1, np.int64)
        self.flat = self.steps = np.zeros(0, np.int64)

    def make_room(self, batches: int, least_batch_bytes: int | None, longest_append: int) -> None:
        """Makes room for every number of headers that can occur.

        A part without an entry is not longer than an interval and the appends around it.
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

    def each(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the histogram of each interval without trailing zeros.

        Returns:
            The histograms one after another, and the start of each.
        """
        # the steps of each interval add up to 0, so one cumulative sum serves all intervals
        counts = self.flat + np.cumsum(self.steps)
        lengths = _lengths(counts, self.starts)
        starts = starts_of_lengths(lengths)
        packed_counts = np.zeros(int(starts[-1]), np.int64)
        add_counts(packed_counts, starts, counts, self.starts)
        return packed_counts, starts


def mean(counts: np.ndarray) -> float:
    """Returns the mean number; NaN without targets.

    Args:
        counts: the number of targets for each number from 0.
    """
    total = counts.sum()
    return float((np.arange(len(counts)) * counts).sum() / total) if total else float("nan")


def quantile(counts: np.ndarray, share: float) -> int:
    """Returns the least number that at least this share of the targets does not exceed.

    It is 0 without targets.
    """
    return int(
        quantiles(np.asarray(counts, np.int64), np.array([0, len(counts)]), np.array([share]))[0, 0]
    )


def starts_of_lengths(lengths: np.ndarray) -> np.ndarray:
    return np.append(0, np.cumsum(lengths))


def add_histograms(counts: np.ndarray, other_counts: np.ndarray) -> np.ndarray:
    total = np.zeros(max(len(counts), len(other_counts)), np.int64)
    total[: len(counts)] += counts
    total[: len(other_counts)] += other_counts
    return total


@njit(cache=True)
def quantiles(flat: np.ndarray, starts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Returns quantile() of each histogram, one row per interval and one column per share."""
    table = np.zeros((len(starts) - 1, len(shares)), np.int64)
    for interval_number in range(len(starts) - 1):
        counts = flat[starts[interval_number] : starts[interval_number + 1]]
        total = counts.sum()
        for column in range(len(shares)):
            rank = max(1, np.ceil(shares[column] * total - 1e-9))
            cumulated = 0
            bin_number = -1
            while cumulated < rank and bin_number + 1 < len(counts):
                bin_number += 1
                cumulated += counts[bin_number]
            table[interval_number, column] = max(bin_number, 0) if total else 0
    return table


@njit(cache=True)
def add_counts(
    flat: np.ndarray, starts: np.ndarray, added_flat: np.ndarray, added_starts: np.ndarray
) -> None:
    """Adds histograms to those of the same intervals in `flat`.

    An added histogram may be longer than its room, if only zeros are left out.
    """
    for interval_number in range(len(starts) - 1):
        length = min(
            starts[interval_number + 1] - starts[interval_number],
            added_starts[interval_number + 1] - added_starts[interval_number],
        )
        for bin_number in range(length):
            flat[starts[interval_number] + bin_number] += added_flat[
                added_starts[interval_number] + bin_number
            ]


@njit(cache=True)
def _lengths(flat: np.ndarray, starts: np.ndarray) -> np.ndarray:
    lengths = np.zeros(len(starts) - 1, np.int64)
    for interval_number in range(len(lengths)):
        for bin_number in range(starts[interval_number], starts[interval_number + 1]):
            if flat[bin_number]:
                lengths[interval_number] = bin_number - starts[interval_number] + 1
    return lengths
