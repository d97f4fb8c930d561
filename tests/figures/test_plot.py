"""kv.plot and the tables of a notebook, compared with the figures of the pages."""

import shutil

import pytest

import kafkaviz as kv
from kafkaviz.figures.tokens import colours
from kafkaviz.messages import speaking


@pytest.fixture(scope="module")
def broker(clean):
    return kv.open_broker(clean)


@pytest.fixture(scope="module")
def partition(broker):
    return broker.partition("heartbeat-0")


def test_the_map_has_a_row_for_each_partition(broker):
    """It has the title of the page."""
    figure = kv.plot.broker(broker)
    assert len(figure.layout.annotations) >= len(broker.partitions)
    assert (
        figure.layout.title.text == "tiny-index-0 has the densest index: an entry every 243 bytes"
    )


def test_a_segment_is_its_three_files(partition):
    """The .index takes 8 bytes per entry of 4096 or more."""
    title = kv.plot.segment(partition.segments[0]).layout.title.text
    assert title == "The .index has 0.19 % of the bytes of its .log, the .timeindex 0.29 %"


def test_a_segment_without_an_index_is_refused_in_words(clean, tmp_path):
    shutil.copy2(clean / "orders-0" / "00000000000000000000.log", tmp_path)
    broker = kv.open_broker(tmp_path / "00000000000000000000.log")
    with pytest.raises(kv.CannotOpen, match="lacks one of the three files"):
        kv.plot.segment(broker.partitions[0].segments[0])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_lookup_is_drawn_probe_by_probe(partition, mode):
    lookup = kv.lookup(partition, offset=20_000)
    figure = kv.plot.lookup(lookup, mode)
    [search] = lookup.searches
    assert figure.data[0].y == tuple(probe.slot for probe in search.slot_search.probes)
    assert figure.data[1].y == (search.slot_search.slot,)
    [warm] = figure.layout.shapes
    assert warm.y0 == search.slot_search.warm_from_slot
    assert warm.y1 == len(partition.segment(10905).offset_index) - 1
    assert figure.layout.paper_bgcolor == colours(mode)["bg"]


def test_a_timestamp_has_a_panel_for_each_index(broker):
    orders = broker.partition("orders-0")
    timestamp_ms = int(orders.segments[1].batches()["max_timestamp_ms"][20])
    lookup = kv.lookup(orders, timestamp_ms=timestamp_ms)
    assert [search.kind for search in lookup.searches] == ["time", "offset"]
    figure = kv.plot.lookup(lookup)
    assert {trace.yaxis for trace in figure.data} == {"y", "y2"}
    tops = [figure.layout.yaxis.domain[0], figure.layout.yaxis2.domain[1]]
    assert tops[0] >= tops[1]


def test_rolls_and_tuning_have_the_title_of_their_pages(broker):
    orders = broker.partition("orders-0")
    assert kv.plot.rolls(orders).layout.title.text == "2 rolls: 2 by size"
    title = kv.plot.tuning(orders).layout.title.text
    assert "2.1 headers at 4 KiB, and 8.4 headers at 64 KiB" in title


def test_an_empty_lookup_is_no_fault(broker):
    lookup = kv.lookup(broker.partition("empty-room-1"), offset=0)
    assert kv.plot.lookup(lookup).layout.title.text.endswith("no answer")
    assert "no answer" in lookup._repr_html_()


def test_values_show_themselves_as_tables(broker, partition):
    segment = partition.segments[0]
    assert broker._repr_html_().count("<tr>") == 1 + len(broker.partitions)
    assert partition._repr_html_().count("<tr>") == 1 + len(partition.segments)
    assert segment._repr_html_().count("<tr>") == 1 + len(segment.files)
    lookup = kv.lookup(partition, offset=20_000)
    assert '<td style="text-align: left">19978 → 881593</td>' in lookup._repr_html_()
    with speaking("zh"):
        assert "主题分区" in broker._repr_html_()
