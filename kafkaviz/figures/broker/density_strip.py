"""The density strip below a row of the broker map.

How close the offset entries lie, in columns of about three pixels.

Each segment has columns of its own, as its bar has ends of its own. They are drawn on one grid for
all rows, whose cells are so narrow that a strip ends where its bar does: a segment of 300 bytes in
a row of 720 covers cells 0 to 299.
"""

import numpy as np

CELLS = 720  # of the grid, over the longest row
COLUMN_CELLS = 3
DENSE_BYTES = 1200  # an entry this often is as dense as the strip's colour gets


def build_strip(
    segments: np.ndarray, positions: np.ndarray | None, longest_bytes: int, gap_bytes: float
) -> np.ndarray:
    """The darkness of each cell of a row, 0 to 1 (float32); NaN where there is no entry or no bar.

    Args:
        segments: analysis.broker.overview's rows of one topic-partition.
        positions: of its entries, in bytes of the row; None where only their number is known, then
            a segment has one shade.
        gap_bytes: what a bar leaves free before the next one.
    """
    sizes = segments["log_bytes"].astype(float)
    if not longest_bytes or not sizes.sum():
        return np.full(CELLS, np.nan, np.float32)
    ends = np.cumsum(sizes)
    counts = np.maximum(1, sizes * CELLS // (longest_bytes * COLUMN_CELLS)).astype(int)
    segment = np.repeat(np.arange(len(sizes)), counts)  # of each column
    width = (sizes / counts)[segment]
    column_starts = (ends - sizes)[segment] + (
        np.arange(len(segment)) - (np.cumsum(counts) - counts)[segment]
    ) * width
    entries = (
        segments["offset_entries"] / counts
        if positions is None
        else _entries_per_column(positions[positions < ends[-1]], column_starts)
    )
    entries = entries[segment] if positions is None else entries
    darkness = np.where(
        entries > 0, np.minimum(1, entries * DENSE_BYTES / np.maximum(width, 1)), np.nan
    )
    cells = np.arange(CELLS) * (longest_bytes / CELLS)
    column = np.searchsorted(column_starts, cells, "right") - 1
    bar_ends = (ends - sizes + np.maximum(sizes - gap_bytes, np.minimum(sizes, gap_bytes)))[
        segment[column]
    ]
    return np.where(cells < bar_ends, darkness[column], np.nan).astype(np.float32)


def _entries_per_column(positions: np.ndarray, column_starts: np.ndarray) -> np.ndarray:
    """How many entries each column holds, by the bytes where the columns start."""
    return np.bincount(
        np.maximum(0, np.searchsorted(column_starts, positions, "right") - 1),
        minlength=len(column_starts),
    )
