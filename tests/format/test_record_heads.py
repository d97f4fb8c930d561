"""Offsets and times read without the compiler, compared with the decoder of every field."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.file_view import reader
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, record
from kafkaviz.format.batch import CRC_START, HEADER_BYTES
from kafkaviz.format.record import Record
from kafkaviz.format.walk import walk
from tests.cli.hostile_files import batch
from tests.support.legacy_messages import build_message


def batch_of(body: bytes, count: int, codec_name: str = "none") -> bytes:
    """Returns a batch of magic 2 at offset 40 with base time 1000."""
    codec_id = codec.CODECS.index(codec_name)
    return batch(codec.compress(codec_name, body), count, 40, codec_id, time_ms=1000)


BODY = record.build(
    [
        Record(offset_delta=0, timestamp_delta_ms=0, key=b"k", value=b"v" * 200),
        Record(
            offset_delta=1, timestamp_delta_ms=300, key=None, value=None, headers=(("h", b"x"),)
        ),
    ]
)


@pytest.mark.parametrize("codec_name", ["none", "gzip", "zstd"])
def test_heads_and_values_are_those_of_the_records(codec_name):
    data = batch_of(BODY, 2, codec_name)
    assert list(batch_records.heads(data)) == [(40, 1000), (41, 1300)]
    if codec_name == "none":
        assert list(batch_records.values(data)) == [b"v" * 200, None]


@given(st.integers(0, len(BODY) - 1), st.integers(1, 255), st.sampled_from(["none", "gzip"]))
def test_what_cannot_be_read_is_reported_in_kafkas_words(place, flip, codec_name):
    body = bytearray(BODY)
    body[place] ^= flip
    data = batch_of(bytes(body), 2, codec_name)
    try:
        list(batch_records.heads(data))
    except CorruptBytes as fault:
        expected = batch_records.find_fault(data)
        assert (fault.position, fault.what) == (expected.position, expected.what)


def heads_or_fault(data: bytes) -> tuple:
    heads = []
    try:
        for head in batch_records.heads(data):
            heads.append(head)
    except CorruptBytes as fault:
        return heads, fault.position, fault.what
    return (heads,)


@given(st.integers(0, len(BODY) - 1), st.integers(0, 255), st.integers(0, 40))
def test_many_records_are_checked_as_few_are(place, flip, cut_bytes):
    """The records of a large batch are not collected; a batch with a fault gives none."""
    body = bytearray(BODY)
    body[place] ^= flip
    data = batch_of(bytes(body), 2, "gzip")
    data = data[: len(data) - cut_bytes]
    few = heads_or_fault(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_records, "MAX_LISTED", 0)
        assert heads_or_fault(data) == few


def test_a_checksum_of_bytes_that_are_gone_is_not_valid():
    data = batch_of(BODY, 2)
    row = walk(data)[0][0]
    assert batch_records.has_valid_crc(reader(data), row)
    assert not batch_records.has_valid_crc(reader(data[:-1]), row)
    assert not batch_records.has_valid_crc(reader(data[:-1] + b"\1"), row)
    short = row.copy()
    short["size_bytes"] = HEADER_BYTES - 1
    short["crc"] = crc32c(data[CRC_START : HEADER_BYTES - 1])
    assert not batch_records.has_valid_crc(reader(data), short)


def test_what_is_no_batch_has_a_fault():
    data = batch_of(b"", 0)[:40]
    short = data[:8] + (28).to_bytes(4, "big") + data[12:]
    with pytest.raises(CorruptBytes, match="smaller than the minimum allowed overhead 61"):
        list(batch_records.heads(short))
    for reading in (batch_records.offsets_and_times, batch_records.iterate):
        with pytest.raises(CorruptBytes):
            list(reading(short))
    fault = batch_records.find_fault(b"\0" * 5)
    with pytest.raises(CorruptBytes) as raised:
        list(batch_records.iterate(b"\0" * 5))
    assert (fault.position, fault.what) == (raised.value.position, raised.value.what)


def test_a_value_that_is_longer_than_its_record_is_refused():
    body = bytearray(
        record.build([Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=b"v")])
    )
    body[5] += 4  # the length of the value, two bytes more
    with pytest.raises(CorruptBytes) as fault:
        list(batch_records.values(batch_of(bytes(body), 1)))
    assert fault.value.what.key == "corrupt.value_beyond_record"


def test_every_reader_counts_the_bytes_of_a_fault_from_the_batch_on():
    good = record.build([Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=b"v")])
    data = batch_of(good + b"\x7f\0", 2)  # the second record is longer than the batch
    positions = set()
    for reading in (batch_records.iterate, batch_records.offsets_and_times, batch_records.values):
        with pytest.raises(CorruptBytes) as fault:
            list(reading(data))
        positions.add(fault.value.position)
    assert positions <= {len(data) - 1, len(data)}


def test_messages_before_the_fault_have_offsets_and_times():
    wrapper = build_message(1, 9, None, b"no messages", timestamp_ms=5, attributes=1)
    with pytest.raises(CorruptBytes):
        list(batch_records.offsets_and_times(wrapper))
    message = build_message(1, 9, b"k", b"v", timestamp_ms=5)
    assert list(batch_records.heads(message)) == [(9, 5)]
