"""The rows of the broker map: their order, their pages and their density strips.

A strip shows how close together the offset entries are. Each segment is divided into columns of
about three cells, and each column has one shade. The longest row has `CELLS` cells.

This module does not import Plotly, so a page can use it before it draws the map.
"""

import math
from collections.abc import Sequence

import numpy as np

from kafkaviz.analysis.overview import PartitionRow
from kafkaviz.format.names import natural_sort_key

CELLS = 720  # grid cells across the longest row
REMOTE = "remote"  # kind of a bar: its segment is only in tiered storage
COLUMN_CELLS = 3
DENSE_BYTES = 1200  # one entry per this many bytes gives the darkest colour


def build_strip(
    segments: np.ndarray, positions: np.ndarray | None, longest_bytes: int, gap_bytes: float
) -> np.ndarray:
    """Returns the shade of each cell in the strip below the bars of a topic-partition.

    0 is light and 1 is dark: denser index entries give a darker shade. NaN: nothing is drawn.

    Args:
        segments: rows of analysis.overview for one topic-partition.
        positions: positions of the index entries, in bytes from the start of the row. None if only
            the number of entries is known; then each segment has one shade.
        longest_bytes: the length of the longest row of the map.
        gap_bytes: the space after each bar.
    """
    sizes = segments["log_bytes"].astype(float)
    if not longest_bytes or not sizes.sum():
        return np.full(CELLS, np.nan, np.float32)
    ends = np.cumsum(sizes)
    counts = np.maximum(1, sizes * CELLS // (longest_bytes * COLUMN_CELLS)).astype(int)
    segment = np.repeat(np.arange(len(sizes)), counts)  # index of the segment of each column
    width = (sizes / counts)[segment]
    column_starts = (ends - sizes)[segment] + (
        np.arange(len(segment)) - (np.cumsum(counts) - counts)[segment]
    ) * width
    if positions is None:
        entries = (segments["offset_entries"] / counts)[segment]
    else:
        columns = np.searchsorted(column_starts, positions[positions < ends[-1]], "right") - 1
        entries = np.bincount(np.maximum(0, columns), minlength=len(column_starts))
    darkness = np.minimum(1, entries * DENSE_BYTES / np.maximum(width, 1))
    darkness = np.where(entries > 0, darkness, np.nan)
    cells = np.arange(CELLS) * (longest_bytes / CELLS)
    column = np.searchsorted(column_starts, cells, "right") - 1
    bar_ends = ends - sizes + np.maximum(sizes - gap_bytes, np.minimum(sizes, gap_bytes))
    is_drawn = cells < bar_ends[segment[column]]
    return np.where(is_drawn, darkness[column], np.nan).astype(np.float32)


ROWS_PER_PAGE = 60
ORDERS = {
    "By size": lambda row: (-row.sums.log_bytes, natural_sort_key(row.directory)),
    "By gap": lambda row: (row.sums.bytes_per_entry or math.inf, natural_sort_key(row.directory)),
    "By name": lambda row: natural_sort_key(row.directory),
}
LARGEST, NARROWEST, BY_NAME = ORDERS  # values in URLs; pages show the texts of `TEXT_KEYS`
TEXT_KEYS = {LARGEST: "broker.by_size", NARROWEST: "broker.by_gap", BY_NAME: "broker.by_name"}


def find_page_rows(rows: Sequence[PartitionRow], order: str, page: int = 0) -> list[int]:
    """Returns the indexes of the rows on one page. Pages count from 0."""
    return order_rows(rows, order)[page * ROWS_PER_PAGE : (page + 1) * ROWS_PER_PAGE]


def order_rows(rows: Sequence[PartitionRow], order: str) -> list[int]:
    """Returns the indexes of all rows, sorted by log directory, then by `ORDERS[order]`."""
    paths = dict.fromkeys(row.log_directory for row in rows)
    directories = sorted(paths, key=natural_sort_key)
    return sorted(
        range(len(rows)),
        key=lambda index: (
            directories.index(rows[index].log_directory),
            ORDERS[order](rows[index]),
        ),
    )


def page_count(count: int) -> int:
    return max(1, -(-count // ROWS_PER_PAGE))
