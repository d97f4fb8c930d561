"""Records, compared with Kafka 4.3.1's own classes and with a plain reader."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkaviz.binary.codec import CODECS, compress
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import java, record
from kafkaviz.format.record import Record
from tests.format import plain_record
from tests.support.batch_reading import all_records
from tests.support.recorded import recorded

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
SIZED = st.none() | st.binary(max_size=90)
THREE = [
    Record(offset_delta=0, timestamp_delta_ms=0, key=b"k1", value=b"v1"),
    Record(offset_delta=1, timestamp_delta_ms=5, key=None, value=b"hello", headers=(("h", b"x"),)),
    Record(offset_delta=2, timestamp_delta_ms=-3, key=b"k3", value=None),
]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
RECORDS = st.lists(
    st.builds(
        Record,
        offset_delta=INT32,
        timestamp_delta_ms=INT64,
        key=SIZED,
        value=SIZED,
        headers=st.lists(st.tuples(TEXT, SIZED), max_size=3).map(tuple),
        attributes=st.integers(-128, 127),
    ),
    max_size=6,
)


def test_a_batch_of_kafka_byte_by_byte():
    """Three records of a batch that Kafka 4.3.1 wrote: a key and a value; a header and no key; no
    value and an earlier time.
    """
    data = bytes.fromhex("14000000046b31047631001e000a02010a68656c6c6f020268027810000504046b330100")
    places = ((0, 11), (11, 16), (27, 9))
    assert parse(data, 3) == [
        replace(record, position=position, size_bytes=size_bytes)
        for record, (position, size_bytes) in zip(THREE, places, strict=True)
    ]
    assert record.build(THREE) == data


@given(RECORDS)
def test_records_come_back(records):
    data = record.build(records)
    parsed_records = parse(data, len(records))
    assert record.build(parsed_records) == data
    assert [replace(parsed, position=0, size_bytes=0) for parsed in parsed_records] == records
    assert [data[r.position : r.position + r.size_bytes] for r in parsed_records] == [
        record.build([r]) for r in records
    ]
    assert sum(r.size_bytes for r in parsed_records) == len(data)


@pytest.mark.parametrize("codec_id", range(5))
@given(records=RECORDS)
def test_compressed_records_come_back(codec_id, records):
    plain = record.build(records)
    data = compress(CODECS[codec_id], plain)
    assert all_records(data, codec_id, len(records)) == parse(plain, len(records))
    if records and codec_id:
        with pytest.raises(CorruptBytes, match="expands past"):
            all_records(data, codec_id, len(records), limit_bytes=len(plain) - 1)


def test_building_gives_kafkas_bytes():
    """Each uncompressed batch of magic 2 that Kafka wrote is built again from its records."""
    built = 0
    for line in recorded("batches"):
        header = line.get("header", {"magic": 0})
        if line["valid"] and not line["name"].startswith("broken") and header["magic"] == 2:
            body = bytes.fromhex(line["hex"])[61 : header["sizeInBytes"]]
            if not header["attributes"] & 7:
                assert record.build(parse(body, header["countOrNull"])) == body, line["name"]
                built += 1
    assert built == 56


@pytest.mark.parametrize("compressed", [False, True])
def test_records_cut_anywhere_are_corrupt(compressed):
    longer = replace(THREE[1], value=b"hello" * 30, headers=(("h", b"x"), ("é", None)))
    data = record.build([THREE[0], longer, THREE[2]])
    for cut in range(len(data)):
        with pytest.raises(CorruptBytes) as fault:
            parse(data[:cut], 3, is_compressed=compressed)
        assert 0 <= fault.value.position <= cut
        assert_same(data[:cut], 3, compressed)


@st.composite
def damaged(draw) -> tuple[bytes, int]:
    """Draws records with a few bytes changed, removed or inserted, and a count near theirs."""
    records = draw(RECORDS)
    data = bytearray(record.build(records))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(data)))
        change = draw(st.sampled_from(["set", "cut", "insert"]))
        byte = draw(st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
        data[place : place + (change != "insert")] = b"" if change == "cut" else bytes([byte])
    return bytes(data), len(records) + draw(st.sampled_from([0, 0, 0, 1, -1]))


@pytest.mark.parametrize("compressed", [False, True])
@given(damaged() | st.tuples(st.binary(max_size=60), st.integers(-2, 5)))
@example((b"", 2**31 - 1))
@example((b"\xff" * 20, 1))
@example((bytes(50), 2**31 - 1))
@example((b"\x0e\x00\x00\x00\x01\x01\xfe\xff\xff\xff\x0f", 1))  # more headers than bytes
@example((b"\x05\x00\x00\x00\x01\x01\x00", 1))  # a length of -3
def test_the_compiled_pass_agrees_with_the_plain_reader(compressed, case):
    assert_same(*case, compressed)


def assert_same(data: bytes, count: int, compressed: bool) -> None:
    expected = answer(plain_record.parse, data, count, compressed)
    assert answer(parse, data, count, compressed) == expected


def parse(data: bytes, count: int, *, is_compressed: bool = False) -> list[Record]:
    return record.records_from_rows(data, record.rows(data, count, is_compressed=is_compressed))


def answer(parse, data: bytes, count: int, compressed: bool) -> object:
    try:
        return [without_text(record) for record in parse(data, count, is_compressed=compressed)]
    except CorruptBytes as fault:
        return fault.position, fault.what


def without_text(record: Record) -> Record:
    """Returns the record with its header keys reduced to whether they are valid text; decoding
    broken bytes has its own test.
    """
    headers = [("?" if "\ufffd" in key else key, value) for key, value in record.headers]
    return replace(record, headers=tuple(headers))


@pytest.mark.parametrize("codec_id", [1, 2, 3, 4])
@given(
    damage=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_damaged_compressed_records_give_records_or_corrupt_bytes(codec_id, damage):
    """Never another error, and never more than the limit."""
    records = [
        Record(offset_delta=n, timestamp_delta_ms=n, key=b"key", value=b"value" * 9)
        for n in range(20)
    ]
    data = bytearray(compress(CODECS[codec_id], record.build(records)))
    for place, byte in damage:
        data[place % len(data)] = byte
    try:
        assert len(all_records(data, codec_id, 20, limit_bytes=5000)) == 20
    except CorruptBytes as fault:
        assert 0 <= fault.position <= len(data)


@pytest.mark.parametrize("key", [b"\xed\xa0\x80", b"\xf0\x80\x90\x80", "é😀".encode()])
def test_a_header_key_is_decoded_as_java_decodes_it(key):
    body = b"\x00\x00\x00\x01\x01\x02" + bytes([2 * len(key)]) + key + b"\x01"
    headers = parse(bytes([2 * len(body)]) + body, 1)[0].headers
    assert headers == ((java.decode_utf8(key), None),)


def test_rows_are_one_array_and_point_into_the_bytes():
    data = record.build(THREE[:2])
    expected = [(0, 11, 0, 0, 0, 5, 2, 8, 2, 0, 11), (11, 16, 0, 5, 1, 16, -1, 17, 5, 1, 23)]
    for kind in (bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)):
        rows = record.rows(kind(data), 2)
        assert rows.dtype == record.ROW
        assert rows.tolist() == expected


def test_an_empty_batch_has_no_records_whatever_follows():
    """The iterator of DefaultRecordBatch stops at a count of 0 before it looks at any byte."""
    assert all_records(b"\xff\xff", 0, 0) == all_records(b"\xff", 7, 0) == []
    assert len(record.rows(b"\xff", 0)) == 0
