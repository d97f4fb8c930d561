"""The places that a session has visited: newest first, each once."""

import pytest
import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import go_to
from kafkaviz.log.broker import open_broker
from tests.support.segment_files import make_segment


@pytest.fixture
def places(monkeypatch, tmp_path) -> dict[str, Location]:
    monkeypatch.setattr(st, "session_state", {})
    make_segment(tmp_path / "orders-0", 0, 100, [])
    make_segment(tmp_path / "orders-0", 30, 100, [])
    (tmp_path / "meta.properties").write_text("version=1\n")
    broker = open_broker(tmp_path)
    (partition,) = broker.partitions
    snapshot = BrokerSnapshot(broker, (), "")
    locations = {
        "broker": Location("/k", snapshot),
        "partition": Location("/k", snapshot, partition),
    }
    return locations | {
        str(segment.base_offset): Location("/k", snapshot, partition, segment)
        for segment in partition.segments
    }


def test_a_place_is_stored_once_as_of_its_last_visit(places):
    go_to.remember("Segment", places["0"], 7)
    go_to.remember("Segment", places["30"])
    go_to.remember("Rolls", places["partition"])
    go_to.remember("Health", places["broker"])
    go_to.remember("Segment", places["0"], 9)
    assert [
        (visit.page, visit.address.get("segment"), visit.address.get("pin"))
        for visit in go_to.visits()
    ] == [("Segment", "0", "9"), ("Rolls", None, None), ("Segment", "30", None)]


def test_where_the_reader_is_is_no_way_back(places):
    go_to.remember("Segment", places["30"])
    go_to.remember("Segment", places["0"], 9)
    assert [visit.address["segment"] for visit in go_to.other_visits("Segment", places["0"])] == [
        "30"
    ]
    assert [visit.address["segment"] for visit in go_to.other_visits("Lookup", places["0"])] == [
        "0",
        "30",
    ]


def test_the_oldest_are_forgotten(places, monkeypatch):
    monkeypatch.setattr(go_to, "MAX_VISITS", 1)
    go_to.remember("Segment", places["30"])
    go_to.remember("Segment", places["0"])
    assert [visit.address["segment"] for visit in go_to.visits()] == ["0"]
