"""Which rows of the broker map are shown at once, and in which order; apart from the drawing, so
that a page knows it without Plotly.
"""

import math
from collections.abc import Sequence

from kafkaviz.analyse.overview import Row
from kafkaviz.format.names import counting

AT_ONCE = 60  # the page turns them
ORDERS = {
    "By size": lambda row: (-row.sums.log_bytes, counting(row.directory)),
    "By density": lambda row: (row.sums.bytes_an_entry or math.inf, counting(row.directory)),
    "By name": lambda row: counting(row.directory),
}
LARGEST, DENSEST, NAMED = ORDERS  # as they stand in the address; a page says them by SAYS
SAYS = {LARGEST: "broker.by_size", DENSEST: "broker.by_density", NAMED: "broker.by_name"}


def places(rows: Sequence[Row], order: str, page: int = 0) -> list[int]:
    """The places in `rows` of those that a page shows, in one of ORDERS; pages count from 0."""
    ordered = sorted(range(len(rows)), key=lambda place: ORDERS[order](rows[place]))
    return ordered[page * AT_ONCE : (page + 1) * AT_ONCE]


def pages(count: int) -> int:
    """How many pages that many rows take."""
    return max(1, -(-count // AT_ONCE))
