"""Which rows of the broker map are shown at once, and in which order.

This is apart from the drawing so that a page can use it without importing Plotly.
"""

import math
from collections.abc import Sequence

from kafkaviz.analysis.broker.overview import PartitionRow
from kafkaviz.format.names import natural_sort_key

ROWS_A_PAGE = 60
ORDERS = {
    "By size": lambda row: (-row.sums.log_bytes, natural_sort_key(row.directory)),
    "By gap": lambda row: (
        row.sums.bytes_an_entry or math.inf,
        natural_sort_key(row.directory),
    ),
    "By name": lambda row: natural_sort_key(row.directory),
}
LARGEST, NARROWEST, BY_NAME = ORDERS  # used in addresses; pages show the texts of TEXT_KEYS
TEXT_KEYS = {LARGEST: "broker.by_size", NARROWEST: "broker.by_gap", BY_NAME: "broker.by_name"}


def find_page_rows(rows: Sequence[PartitionRow], order: str, page: int = 0) -> list[int]:
    """Returns the indexes in `rows` of the rows on a page, in one of ORDERS; pages count from 0.

    Rows of the same log directory stay together; the directories are sorted by name.
    """
    directories = list(dict.fromkeys(row.log_directory for row in rows))
    directories.sort(key=natural_sort_key)
    ordered = sorted(
        range(len(rows)),
        key=lambda index: (
            directories.index(rows[index].log_directory),
            ORDERS[order](rows[index]),
        ),
    )
    return ordered[page * ROWS_A_PAGE : (page + 1) * ROWS_A_PAGE]


def page_count(count: int) -> int:
    """Returns the number of pages for `count` rows; at least 1."""
    return max(1, -(-count // ROWS_A_PAGE))
