"""The map of a comparison and the two logs on one axis, value by value."""

import pytest

from kafkaviz.analysis.comparison.byte_differences import ByteDifference, FileLocation
from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import DISPLAY_ORDER, BrokerComparison, Relation
from kafkaviz.figures.comparison import partition_map, replica_axis
from kafkaviz.messages import render, say
from kafkaviz.render.comparison_text import describe_difference
from tests.conftest import DATA, REPLICAS


@pytest.fixture(scope="module")
def comparison(cache) -> BrokerComparison:
    return compare(*REPLICAS)


@pytest.fixture(scope="module")
def partitions(comparison):
    return {item.partition: item for item in comparison.partitions}


def test_the_map_has_every_partition_in_the_order_of_what_is_wrong(comparison):
    """Differences for a person first, then explained ones, one-sided ones, equal ones."""
    view = partition_map.view(comparison)
    assert len(view.rows) == len(comparison.partitions) == 24
    relations = [item.relation for item in comparison.worst_first]
    wrong = [Relation.DAMAGED] * 2 + [Relation.ALTERED, Relation.DIVERGED, Relation.DOOMED_TAIL]
    assert relations[:5] == wrong and relations[-1] is Relation.IDENTICAL
    assert set(DISPLAY_ORDER) == set(Relation)
    assert {row.severity for row in view.rows} == {"error", "warning", "info", "ok"}


def test_a_row_is_to_scale(comparison, partitions):
    view = partition_map.view(comparison)
    place = next(place for place, row in enumerate(view.rows) if row.directory == "bids-0")
    bars = {
        (bar.side, bar.kind): (bar.start * 250, bar.stop * 250)
        for bar in view.bars
        if bar.row == place
    }
    assert bars == {
        (0, "both"): (0, 250),
        (1, "both"): (0, 220),
        (0, "alone"): pytest.approx((220, 250)),
        (0, "other"): pytest.approx((180, 220)),
        (1, "other"): pytest.approx((180, 220)),
    }


def test_what_one_side_has_is_there_alone(comparison):
    view = partition_map.view(compare(REPLICAS[0], DATA / "kafka-4.3.1"))
    lanes = {view.rows[bar.row].directory: bar for bar in view.bars}
    assert lanes["deposits-0"].kind == "alone"
    kinds = {bar.kind for bar in view.bars if view.rows[bar.row].directory == "deposits-0"}
    assert kinds == {"alone"}


def test_rows_are_paged(comparison, monkeypatch):
    monkeypatch.setattr(partition_map, "ROWS_PER_PAGE", 10)
    pages = [partition_map.view(comparison, page).rows for page in range(3)]
    names = [row.directory for page in pages for row in page]
    assert [len(page) for page in pages] == [10, 10, 4] and len(set(names)) == 24


def test_many_ranges_become_cells():
    ranges = [(offset, offset) for offset in range(0, 10_000, 3)]
    merged = partition_map.merge_ranges(ranges, 10_000)
    assert len(merged) <= partition_map.MAX_RANGES + 1
    assert all(any(first <= offset <= last for first, last in merged) for offset, _ in ranges)
    assert partition_map.merge_ranges(ranges[:5], 10_000) == ranges[:5]


def test_epochs_of_both_lanes(partitions):
    """From their checkpoints; the same epoch has one colour."""
    view = replica_axis.view(partitions["bids-0"])
    assert [(bar.side, bar.epoch, bar.first, bar.stop) for bar in view.epochs] == [
        (0, 0, 0, 120),
        (0, 2, 120, 180),
        (0, 3, 180, 250),
        (1, 0, 0, 120),
        (1, 2, 120, 180),
        (1, 5, 180, 220),
    ]
    colours = {bar.epoch: bar.colour for bar in view.epochs}
    assert len(set(colours.values())) == 4
    assert (view.parting, view.range, view.dropped) == (180, (0, 250), None)


@pytest.mark.parametrize(
    ("leader", "steps", "dropped"),
    [(1, 0, None), (1, 1, (0, 180, 250)), (1, 2, (0, 180, 250)), (0, 1, (1, 180, 220))],
)
def test_what_a_follower_has_dropped_after_a_step(partitions, leader, steps, dropped):
    assert replica_axis.view(partitions["bids-0"], leader, steps).dropped == dropped


def test_the_window_around_the_parting(partitions):
    view = replica_axis.view(partitions["bids-0"], is_around=True)
    assert view.range == (145, 250) and replica_axis.can_zoom(partitions["bids-0"])
    assert not replica_axis.can_zoom(partitions["auctions-0"])


@pytest.mark.parametrize("mode", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_every_partition_is_drawn(comparison, mode):
    partition_map.figure(partition_map.view(comparison), mode)
    for item in comparison.partitions:
        figure = replica_axis.figure(replica_axis.view(item, 0, 1), mode)
        shapes = [shape for shape in figure.layout.shapes if shape.type == "rect"]
        is_cut = bool(item.truncations and item.truncations[0].follower_loses)
        assert bool(shapes) == is_cut
    assert Relation.IDENTICAL in comparison.counts


def test_a_difference_names_the_place_of_each_side(partitions):
    text = render(describe_difference(partitions["bids-0"].differences[0]))
    assert "a 00000000000000000120.log, from byte 3391" in text
    assert "b 00000000000000000180.log, from byte 11" in text


def test_a_difference_at_one_place_names_it_once():
    """The larger of two lengths is what differs."""
    locations = FileLocation("0.index", 16, 65520), FileLocation("0.index", 16, 0)
    text = render(describe_difference(ByteDifference(locations, "size", ("65536", "16"))))
    assert text.count("0.index") == 1 and "a 65536, b 16" in text


def test_what_cannot_be_read_is_marked_on_its_side(comparison, partitions):
    """The batch of b is corrupt; a has its records."""
    view = replica_axis.view(partitions["manifests-1"])
    assert [(mark.side, mark.first, mark.stop) for mark in view.marks] == [(1, 29, 36)]
    assert view.parting_text == say("comparison.unreadable", ranges="29–35", sides="b")
    lanes = partition_map.view(comparison)
    place = next(place for place, row in enumerate(lanes.rows) if row.directory == "manifests-1")
    bars = [bar.side for bar in lanes.bars if bar.row == place and bar.kind == "other"]
    assert bars == [1]


@pytest.mark.parametrize(
    ("name", "side", "ranges"), [("deposits-0", "b", "121, …"), ("offers-0", "a", "180–224")]
)
def test_the_side_that_has_records_alone_is_named(name, side, ranges, partitions):
    view = replica_axis.view(partitions[name])
    assert view.parting_text == say("compare.alone", side=side, ranges=ranges)
