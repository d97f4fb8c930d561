"""How many targets take how many headers, of one interval and of all.

They are counted by their number of headers from 0.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit


class HeaderCounts:
    """How many targets take how many headers, for each interval.

    The counts of interval k from starts[k] on.

    flat: counts; steps: what is to be added to them, as the difference from each number to the one
    before.
    """

    def __init__(self, intervals: np.ndarray) -> None:
        self._intervals, self._longest = intervals, 1
        self.starts = np.zeros(len(intervals) + 1, np.int64)
        self.flat = self.steps = np.zeros(0, np.int64)

    def make_room(self, batches: int, least_batch_bytes: int | None, longest_append: int) -> None:
        """Room for every number of headers that can come.

        What is not indexed is no longer than an interval and the appends around it.
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
        self.flat, self.steps, self.starts = flat, steps, starts

    def each(self) -> tuple[np.ndarray, np.ndarray]:
        """The counts of each interval without the zeros behind them.

        Returns:
            All counts one behind the other, and where those of each interval begin.
        """
        counts = self.flat + np.cumsum(self.steps)  # the steps of an interval sum up to 0
        lengths = _lengths(counts, self.starts)
        starts = starts_of_lengths(lengths)
        packed_counts = np.zeros(int(starts[-1]), np.int64)
        add_counts(packed_counts, starts, counts, self.starts)
        return packed_counts, starts


def mean(counts: np.ndarray) -> float:
    """The mean number, NaN of none.

    Args:
        counts: how many there are of each number from 0.
    """
    total = counts.sum()
    return float((np.arange(len(counts)) * counts).sum() / total) if total else float("nan")


def quantile(counts: np.ndarray, share: float) -> int:
    """The least number that at least this share of all does not exceed; 0 of none."""
    return int(
        quantiles(np.asarray(counts, np.int64), np.array([0, len(counts)]), np.array([share]))[0, 0]
    )


def starts_of_lengths(lengths: np.ndarray) -> np.ndarray:
    """Where the counts of each interval begin, and where the last ones end."""
    return np.append(0, np.cumsum(lengths))


def add_histograms(counts: np.ndarray, other_counts: np.ndarray) -> np.ndarray:
    """Counts by number, of two together."""
    total = np.zeros(max(len(counts), len(other_counts)), np.int64)
    total[: len(counts)] += counts
    total[: len(other_counts)] += other_counts
    return total


@njit(cache=True)
def quantiles(flat: np.ndarray, starts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """As quantile(): an interval a row, a share a column."""
    table = np.zeros((len(starts) - 1, len(shares)), np.int64)
    for interval_number in range(len(starts) - 1):
        counts = flat[starts[interval_number] : starts[interval_number + 1]]
        total = counts.sum()
        for column in range(len(shares)):
            rank, cumulated, bin_number = max(1, np.ceil(shares[column] * total - 1e-9)), 0, -1
            while cumulated < rank and bin_number + 1 < len(counts):
                bin_number += 1
                cumulated += counts[bin_number]
            table[interval_number, column] = max(bin_number, 0) if total else 0
    return table


@njit(cache=True)
def add_counts(
    flat: np.ndarray, starts: np.ndarray, added_flat: np.ndarray, added_starts: np.ndarray
) -> None:
    """Adds the counts of each interval to those of the same one.

    Of the longer ones what is behind the room is zeros.
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
    """How many counts of each interval there are up to the last that is not 0."""
    lengths = np.zeros(len(starts) - 1, np.int64)
    for interval_number in range(len(lengths)):
        for bin_number in range(starts[interval_number], starts[interval_number + 1]):
            if flat[bin_number]:
                lengths[interval_number] = bin_number - starts[interval_number] + 1
    return lengths
