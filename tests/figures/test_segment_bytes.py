"""The data of the bytes view, for batches, indexes and tails of real segments."""

import json

import pytest

from kafkaviz.analysis.segment import anatomy
from kafkaviz.figures.segment.segment_bytes import (
    BytesView,
    ByteWindow,
    InitialByte,
    Pane,
    browser_payload,
    byte_address,
    file_view,
    find_files,
    legend,
    view,
)
from kafkaviz.log.broker import open_broker
from kafkaviz.log.file import info
from tests.support.spans import check


def read(directory, partition, segment):
    return anatomy.read(open_broker(directory).partition(partition).segment(segment))


def value(pane: Pane, byte: int) -> tuple[str, str]:
    (span_value,) = [
        (span.name, span.value) for span in pane.spans if span.start <= byte < span.end
    ]
    return span_value


def is_whole(pane: Pane) -> None:
    assert pane.spans[0].start <= pane.first
    assert pane.spans[-1].end >= pane.first + len(pane.data)
    assert len(pane.data) <= 4096
    check(pane.spans, pane.spans[0].start, pane.spans[-1].end)


@pytest.fixture(scope="module")
def payments(clean):
    return read(clean, "payments-0", 7975)


def test_the_pinned_batch(payments):
    """From its first byte to its last, with the key of its index entry chosen."""
    drawn = view(payments, ".log", 413, 95, 95)
    assert (drawn.outer.start, drawn.outer.end, drawn.inner) == (479997, 481858, None)
    assert drawn.fault == ""
    assert value(drawn.outer, drawn.outer.chosen) == ("lastOffsetDelta", "13")
    assert (drawn.previous_offset, drawn.next_offset) == (11592, 11626)
    assert value(
        view(payments, ".log", 413, 95, 95, initial=InitialByte(is_by_time=True)).outer, 480032
    ) == ("maxTimestamp", "1795253384123")
    is_whole(drawn.outer)


def test_the_ends_have_one_neighbour(payments):
    assert view(payments, ".log", 0, -1, -1).previous_offset is None
    assert view(payments, ".log", 905, 208, 205).next_offset is None


def test_an_index_around_its_slot(payments):
    """The whole file can be scrolled, and each field leads to the offset of its entry."""
    drawn = view(payments, ".index", 413, 95, 95)
    assert (drawn.outer.start, drawn.outer.end, drawn.outer.chosen) == (0, 209 * 8, 760)
    assert value(drawn.outer, 764) == ("position", "479\u202f997")
    assert drawn.outer.links[760] == drawn.outer.links[764] == 11625
    assert value(view(payments, ".timeindex", 413, 95, 95).outer, 95 * 12) == (
        "slot 95 timestamp",
        "1795253384123",
    )
    assert list(find_files(payments.segment)) == [".log", ".index", ".timeindex", ".txnindex"]
    assert value(view(payments, ".txnindex", 413, 95, 95).outer, 2)[0] == "producerId"


def test_what_a_compressed_batch_holds(clean):
    drawn = view(read(clean, "clicks-gzip-0", 0), ".log", 0, -1, -1)
    assert (drawn.inner.of, drawn.inner.end) == ("records", 1063)
    assert drawn.title == "9 records, decompressed: 1\u202f063 B"
    assert value(drawn.inner, 6) == ("key", "s00286")
    assert value(drawn.outer, 61) == ("records, compressed", "gzip, 411 B")
    is_whole(drawn.inner)


def test_a_batch_that_cannot_be_decompressed(tmp_path, clean):
    folder = tmp_path / "clicks-gzip-0"
    folder.mkdir()
    log = bytearray((clean / "clicks-gzip-0" / "00000000000000000000.log").read_bytes())
    log[80] ^= 0xFF
    (folder / "00000000000000000000.log").write_bytes(log)
    drawn = view(read(tmp_path, "clicks-gzip-0", 0), ".log", 0, -1, -1)
    assert drawn.inner is None and drawn.fault.startswith("The batch cannot be decompressed: gzip:")
    assert "It does not match" in next(
        span.note for span in drawn.outer.spans if span.name == "crc"
    )


def test_the_last_batch_continues_to_the_end_of_the_file(killed):
    torn = [
        (partition.directory, segment.base_offset)
        for partition in open_broker(killed).partitions
        for segment in partition.live
        if segment.walk().end.reason != "end"
    ]
    assert torn
    for place in torn:
        segment_anatomy = read(killed, *place)
        last = len(segment_anatomy.batches) - 1
        size_bytes = segment_anatomy.segment.log.size_bytes
        window = ByteWindow(outer=size_bytes)
        drawn = view(segment_anatomy, ".log", last, -1, -1, window=window)
        assert drawn.outer.end == size_bytes
        assert {kind for kind, _ in legend(drawn)} & {"torn", "unwritten"}
        is_whole(drawn.outer)


def test_a_place_far_on_is_sent_on_request(payments):
    """The stretch begins at a row of sixteen, some rows before the byte."""
    index = view(payments, ".index", 0, -1, -1, window=ByteWindow(outer=1600)).outer
    assert (index.first, index.first % 16) == (576, 0) and index.first + len(index.data) == 209 * 8


def test_the_legend_has_what_is_met(payments):
    kinds = [kind for kind, _ in legend(view(payments, ".log", 413, 95, 95))]
    assert kinds == ["offset", "size", "check", "time", "producer", "payload"]
    assert [kind for kind, _ in legend(view(payments, ".index", 413, 95, 95))] == ["offset", "size"]


def test_the_payload(payments):
    """Offsets are text, because a double cannot hold all of them."""
    drawn = view(payments, ".index", 413, 95, 95)
    sent = browser_payload(drawn, "k")
    length = int.from_bytes(sent[:8], "little")
    words = json.loads(sent[8 : 8 + length])
    assert sent[8 + length :] == drawn.outer.data
    assert words["panes"][0]["data"] == len(drawn.outer.data)
    span = words["panes"][0]["spans"][190]
    assert span[2:5] == ["slot 95 relativeOffset", "3\u202f650", "offset"]
    assert words["panes"][0]["spans"][190][-1] == "11625" and isinstance(drawn, BytesView)


def test_a_byte_that_an_address_names(payments):
    """The field at that byte is chosen if it is shown, else the key."""
    assert view(payments, ".log", 413, 95, 95, initial=InitialByte(480000)).outer.chosen == 480000
    assert view(payments, ".log", 413, 95, 95, initial=InitialByte(0)).outer.chosen == 479997 + 23
    assert view(payments, ".index", 413, 95, 95, initial=InitialByte(12)).outer.chosen == 12
    beyond = file_view(payments.segment.log, "log", byte=10**12).outer
    assert beyond.chosen == payments.segment.log.size_bytes - 1


def test_a_file_of_its_own(payments):
    """From its first byte to its last; the sent part is around the requested byte."""
    drawn = file_view(payments.segment.log, "a copy", byte=479997)
    assert (drawn.file, drawn.outer.of, drawn.outer.start) == ("a copy", "file", 0)
    assert drawn.outer.end == payments.segment.log.size_bytes
    assert value(drawn.outer, 479997)[0] == "baseOffset"
    is_whole(drawn.outer)
    is_whole(file_view(payments.segment.log, "a copy", ByteWindow(outer=900_000)).outer)


def test_more_bytes_than_can_be_scrolled_through(tmp_path):
    path = tmp_path / "00000000000000000000.log.deleted"
    with open(path, "wb") as file:
        file.truncate(64 << 20)
    pane = file_view(info(path), path.name, byte=40 << 20).outer
    assert (pane.start, pane.end, pane.chosen) == (32 << 20, 48 << 20, 40 << 20)
    assert file_view(info(path), path.name, byte=1 << 40).outer.end == 64 << 20
    assert file_view(info(path), path.name).outer.start == 0


@pytest.mark.parametrize(
    ("partition", "file", "expected"),
    [
        ("orders-0", f"orders-0/{7:020d}.timeindex", {"segment": "7", "file": ".timeindex"}),
        ("orders-0", f"orders-0/{7:020d}.log.swap", {"segment": "7", "file": f"{7:020d}.log.swap"}),
        ("orders-0", f"orders-0/{7:020d}.snapshot", {"file": f"{7:020d}.snapshot"}),
        ("orders-0", "orders-0/leader-epoch-checkpoint", {"file": "leader-epoch-checkpoint"}),
        (None, "meta.properties", {"file": "meta.properties"}),
    ],
)
def test_the_address_of_a_byte(partition, file, expected):
    address = {"tp": partition} if partition else {}
    byte = {"tab": "Bytes", "byte": "12"}
    assert byte_address(partition, file, 12) == address | expected | byte
    assert "byte" not in byte_address(partition, file)


def test_a_name_with_markup_has_no_address():
    """The page would show it escaped."""
    assert byte_address("orders-0", "orders-0/![a](b)") == {}
