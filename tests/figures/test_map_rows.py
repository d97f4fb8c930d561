"""Which rows of the broker map are shown, and in which order."""

import pytest

from kafkaviz.analysis.overview import PartitionRow
from kafkaviz.figures.broker import broker_map, map_rows


def test_orders_have_their_names():
    assert (
        [map_rows.LARGEST, map_rows.NARROWEST, map_rows.BY_NAME]
        == list(map_rows.ORDERS)
        == ["By size", "By gap", "By name"]
    )
    assert broker_map.ORDERS is map_rows.ORDERS


@pytest.mark.parametrize(("count", "pages"), [(0, 1), (1, 1), (60, 1), (61, 2), (120, 2), (121, 3)])
def test_pages_of_sixty(count, pages):
    assert map_rows.page_count(count) == pages
    rows = [PartitionRow] * count
    map_rows.ORDERS["as it is"] = lambda row: 0
    try:
        places = [
            place
            for page in range(pages)
            for place in map_rows.find_page_rows(rows, "as it is", page)
        ]
    finally:
        del map_rows.ORDERS["as it is"]
    assert places == list(range(count))
