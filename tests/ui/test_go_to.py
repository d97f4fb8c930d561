"""Go to: what a few typed words find."""

from pathlib import Path

import pytest

from kafkaviz.log.broker import open_broker
from kafkaviz.ui import go_to
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.pick import Place
from tests.analyse.test_overview import make_segment

PAGES = {"Broker": {"dir": "/k"}, "Segment": {"dir": "/k"}}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """orders-0 with two segments, orders-1 and logs-0."""
    make_segment(tmp_path / "orders-0", 0, 1000, [])
    make_segment(tmp_path / "orders-0", 30, 500, [])
    make_segment(tmp_path / "orders-1", 20, 2000, [])
    make_segment(tmp_path / "logs-0", 0, 10, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    return Place("/k", Listed(open_broker(tmp_path), (), ""))


def words(place: Place, asked: str) -> list[tuple[str, str]]:
    """Headings and words of what is found."""
    return [(one.heading, one.words) for one in go_to.found(place, asked, PAGES)]


def test_nothing_typed_offers_pages_and_the_largest(place):
    """A place to start from."""
    assert words(place, "") == [
        ("Pages", "Broker"),
        ("Pages", "Segment"),
        ("Topic-partitions", "orders-1"),
        ("Topic-partitions", "orders-0"),
        ("Topic-partitions", "logs-0"),
    ]


def test_a_topic_partition_and_its_segments(place):
    """The one of just that name first, its segments newest first."""
    assert words(place, "Orders-0") == [
        ("Topic-partitions", "orders-0"),
        ("Segments", "orders-0 › 00000000000000000030"),
        ("Segments", "orders-0 › 00000000000000000000"),
    ]
    assert words(place, "se") == [("Pages", "Segment")]


def test_an_offset_finds_its_segment(place):
    """The greatest base offset not above it; partitions that start later do not have it."""
    found = go_to.found(place, "orders 25", PAGES)
    assert [(one.words, one.address) for one in found] == [
        ("Offset 25 in orders-1", {"dir": "/k", "tp": "orders-1", "segment": "20", "pin": "25"}),
        ("Offset 25 in orders-0", {"dir": "/k", "tp": "orders-0", "segment": "0", "pin": "25"}),
    ]
    assert [one.address["segment"] for one in go_to.found(place, "orders-0 30", PAGES)] == ["30"]
    assert [one.address["tp"] for one in go_to.found(place, "orders 5", PAGES)] == ["orders-0"]


def test_nothing_fits(place):
    """Then there is nothing, not everything."""
    assert words(place, "payments") == [] and words(place, "payments 5") == []


def test_pages_are_found_without_a_broker():
    """Where no directory is open there are still pages."""
    assert [one.words for one in go_to.found(Place(""), "bro", PAGES)] == ["Broker"]
