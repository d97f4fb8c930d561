"""Records, compared with Kafka 4.3.1's own classes and with a plain reader."""

import gzip
import hashlib
import json
import struct
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafkaviz.binary.codec import CODECS, compress
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import record
from kafkaviz.format.record import Record
from tests.format import plain_record
from tests.support.batch_reading import all_records

# the batch header of magic 2, typed independently for the tests
HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = 61
INT32, INT64, SIZED = (
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.none() | st.binary(max_size=90),
)
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


@cache
def kafka_lines() -> list[dict]:
    """Returns the recorded batches that are complete and have a header of magic 2."""
    with gzip.open(Path(__file__).parents[1] / "data" / "batches.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if is_whole(bytes.fromhex(line["hex"]))]


def is_whole(data: bytes) -> bool:
    """Returns True if the first batch is complete and of magic 2, or of a higher magic, which
    Kafka's file reader accepts.
    """
    if len(data) < HEADER_BYTES or not 2 <= data[16] <= 127:
        return False
    size_bytes = 12 + struct.unpack_from(">i", data, 8)[0]
    return HEADER_BYTES <= size_bytes <= len(data)


class Batch:
    """The first batch of some bytes, as the tests see it."""

    def __init__(self, data: bytes) -> None:
        size_bytes = 12 + struct.unpack_from(">i", data, 8)[0]
        (
            self.base_offset,
            _,
            _,
            _,
            crc,
            self.attributes,
            _,
            self.base_timestamp_ms,
            self.max_timestamp_ms,
            _,
            _,
            self.base_sequence,
            self.record_count,
        ) = HEADER.unpack_from(data)
        self.body = data[HEADER_BYTES:size_bytes]
        self.is_valid = crc32c(data[21:size_bytes]) == crc

    def records(self) -> list[Record]:
        return all_records(self.body, self.attributes & 7, self.record_count)

    def full(self, record: Record) -> tuple[int, int, int]:
        """(offset, timestamp, sequence) of a record, by the rules of DefaultRecord."""
        timestamp_ms = (
            self.max_timestamp_ms
            if self.attributes & 8
            else self.base_timestamp_ms + record.timestamp_delta_ms
        )
        sequence = (
            (self.base_sequence + record.offset_delta) % 2**31 if self.base_sequence != -1 else -1
        )
        return self.base_offset + record.offset_delta, timestamp_ms, sequence


def sha256(batch: Batch, records: list[Record]) -> str:
    digest = hashlib.sha256()
    for batch_record in records:
        headers = [part for key, value in batch_record.headers for part in (key.encode(), value)]
        digest.update(
            struct.pack(">qqi", *batch.full(batch_record))
            + packed(batch_record.key)
            + packed(batch_record.value)
            + struct.pack(">i", len(batch_record.headers))
        )
        digest.update(b"".join(map(packed, headers)))
    return digest.hexdigest()


def packed(part: bytes | None) -> bytes:
    return struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part


def test_every_record_kafka_read_is_read_the_same():
    """270 batches that Kafka accepts, in all codecs: each field, and the digest of all."""
    counts = Counter()
    for line in kafka_lines():
        if "records_sha256" not in line:
            continue
        batch = Batch(bytes.fromhex(line["hex"]))
        records = batch.records()
        assert sha256(batch, records) == line["records_sha256"], line["name"]
        assert len(records) == line["records_count"], line["name"]
        for ours, kafkas in zip(records, line.get("records", []), strict="records" in line):
            same_record(batch, ours, kafkas)
        counts[CODECS[batch.attributes & 7]] += 1
    assert counts == {"none": 76, "gzip": 43, "snappy": 49, "lz4": 56, "zstd": 46}


def same_record(batch: Batch, ours: Record, kafkas: dict) -> None:
    assert batch.full(ours) == (kafkas["offset"], kafkas["timestamp"], kafkas["sequence"])
    assert ours.key == unhex(kafkas["keyHex"]) and ours.value == unhex(kafkas["valueHex"])
    assert ours.headers == tuple((key, unhex(value)) for key, value in kafkas["headers"])
    assert ours.size_bytes == kafkas["sizeInBytes"]


def unhex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def test_damage_is_refused_where_kafkas_iterator_refuses_it():
    """262 damaged batches: raised or not, in Kafka's words except those of codecs."""
    counts, same_words = Counter(), Counter()
    for line in kafka_lines():
        iterated = [
            call
            for call in line.get("calls", [])
            if call["call"] in ("batch.iterator", "batch[0].iterator")
        ]
        if line["valid"] or not iterated:
            continue
        batch, kafkas = Batch(bytes.fromhex(line["hex"])), iterated[0]
        try:
            batch.records()
            raised = None
        except CorruptBytes as fault:
            raised = str(fault.what)
        assert (raised is not None) == ("class" in kafkas), (line["name"], raised, kafkas)
        counts["raised" if raised else "read", "valid" if batch.is_valid else "invalid"] += 1
        if raised and kafkas["class"].endswith(
            ("InvalidRecordException", "IllegalArgumentException")
        ):
            assert raised.endswith(kafkas["message"]), line["name"]
            same_words[kafkas["class"].rpartition(".")[2]] += 1
    assert counts == {
        ("read", "invalid"): 59,
        ("read", "valid"): 20,
        ("raised", "invalid"): 31,
        ("raised", "valid"): 152,
    }
    assert same_words == {"InvalidRecordException": 113, "IllegalArgumentException": 17}


def test_the_checksum_is_valid_where_kafka_says_so():
    """Only the checksum notices bytes that decompress to something else."""
    for line in kafka_lines():
        batch = Batch(bytes.fromhex(line["hex"]))
        if "header" in line:
            assert batch.is_valid == line["header"]["isValid"], line["name"]
        for call in line.get("calls", []):
            if call["call"] in ("batch.ensureValid", "batch[0].ensureValid"):
                assert batch.is_valid == ("class" not in call), line["name"]


def test_a_batch_of_kafka_byte_by_byte():
    """Three records of a batch that Kafka 4.3.1 wrote: a key and a value; a header and no key; no
    value and an earlier time.
    """
    data = bytes.fromhex("14000000046b31047631001e000a02010a68656c6c6f020268027810000504046b330100")
    assert parse(data, 3) == [
        Record(
            offset_delta=0, timestamp_delta_ms=0, key=b"k1", value=b"v1", position=0, size_bytes=11
        ),
        Record(
            offset_delta=1,
            timestamp_delta_ms=5,
            key=None,
            value=b"hello",
            headers=(("h", b"x"),),
            position=11,
            size_bytes=16,
        ),
        Record(
            offset_delta=2, timestamp_delta_ms=-3, key=b"k3", value=None, position=27, size_bytes=9
        ),
    ]


@given(RECORDS)
def test_records_come_back(records):
    data = record.build(records)
    parsed_records = parse(data, len(records))
    assert record.build(parsed_records) == data
    assert [
        (r.offset_delta, r.timestamp_delta_ms, r.key, r.value, r.headers, r.attributes)
        for r in parsed_records
    ] == [
        (r.offset_delta, r.timestamp_delta_ms, r.key, r.value, r.headers, r.attributes)
        for r in records
    ]
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
    """Each uncompressed batch that Kafka wrote is built again from its records."""
    built = 0
    for line in kafka_lines():
        batch = Batch(bytes.fromhex(line["hex"]))
        if line["valid"] and not line["name"].startswith("broken") and not batch.attributes & 7:
            assert record.build(batch.records()) == batch.body, line["name"]
            built += 1
    assert built == 56


@pytest.mark.parametrize("compressed", [False, True])
def test_records_cut_anywhere_are_corrupt(compressed):
    records = [
        Record(offset_delta=0, timestamp_delta_ms=0, key=b"k1", value=b"v1"),
        Record(
            offset_delta=1,
            timestamp_delta_ms=5,
            key=None,
            value=b"hello" * 30,
            headers=(("h", b"x"), ("é", None)),
        ),
        Record(offset_delta=2, timestamp_delta_ms=-3, key=b"k3", value=None),
    ]
    data = record.build(records)
    for cut in range(len(data)):
        with pytest.raises(CorruptBytes) as fault:
            parse(data[:cut], 3, is_compressed=compressed)
        assert 0 <= fault.value.position <= cut
        assert answer(parse, data[:cut], 3, compressed) == answer(
            plain_record.parse, data[:cut], 3, compressed
        )


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
    data, count = case
    assert answer(parse, data, count, compressed) == answer(
        plain_record.parse, data, count, compressed
    )


def parse(data: bytes, count: int, *, is_compressed: bool = False) -> list[Record]:
    return record.records_from_rows(data, record.rows(data, count, is_compressed=is_compressed))


def answer(parse, data: bytes, count: int, compressed: bool) -> object:
    try:
        return [without_text(record) for record in parse(data, count, is_compressed=compressed)]
    except CorruptBytes as fault:
        return fault.position, fault.what


def without_text(record: Record) -> tuple:
    """Returns the record with its header keys reduced to whether they are valid text; decoding
    broken bytes has its own test.
    """
    headers = [(key if "\ufffd" not in key else None, value) for key, value in record.headers]
    return (
        record.position,
        record.size_bytes,
        record.attributes,
        record.offset_delta,
        record.timestamp_delta_ms,
        record.key,
        record.value,
        headers,
    )


@pytest.mark.parametrize("codec_id", [1, 2, 3, 4])
@given(
    damage=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4)
)
def test_damaged_compressed_records_give_records_or_corrupt_bytes(codec_id, damage):
    """Never another error, and never more than the limit."""
    data = bytearray(
        compress(
            CODECS[codec_id],
            record.build(
                [
                    Record(offset_delta=n, timestamp_delta_ms=n, key=b"key", value=b"value" * 9)
                    for n in range(20)
                ]
            ),
        )
    )
    for place, byte in damage:
        data[place % len(data)] = byte
    try:
        assert len(all_records(data, codec_id, 20, limit_bytes=5000)) == 20
    except CorruptBytes as fault:
        assert 0 <= fault.position <= len(data)


@pytest.mark.parametrize(
    ("hexed", "text"),
    [
        ("eda080", "\ufffd"),
        ("eda0", "\ufffd"),
        ("eda041", "\ufffdA"),
        ("f0809080", "\ufffd" * 4),
        ("c0af", "\ufffd" * 2),
        ("e28262", "\ufffdb"),
        ("f09f98", "\ufffd"),
        ("ff41", "\ufffdA"),
        ("f4908080", "\ufffd" * 4),
        ("c3a9", "é"),
        ("f09f9880", "😀"),
    ],
)
def test_a_header_key_is_decoded_as_java_decodes_it(hexed, text):
    """new String(bytes, UTF_8) on Java 17 gave the expected text."""
    key = bytes.fromhex(hexed)
    body = b"\x00\x00\x00\x01\x01\x02" + bytes([2 * len(key)]) + key + b"\x01"
    assert parse(bytes([2 * len(body)]) + body, 1)[0].headers == ((text, None),)


def test_rows_are_one_array_and_point_into_the_bytes():
    data = record.build(
        [
            Record(offset_delta=0, timestamp_delta_ms=0, key=b"k1", value=b"v1"),
            Record(
                offset_delta=1,
                timestamp_delta_ms=5,
                key=None,
                value=b"hello",
                headers=(("h", b"x"),),
            ),
        ]
    )
    for buffer in (
        data,
        bytearray(data),
        memoryview(data),
        np.frombuffer(bytearray(data), np.uint8),
    ):
        rows = record.rows(buffer, 2)
        assert rows.dtype == record.ROW
        assert rows[["position", "size_bytes", "key_position", "key_size_bytes"]].tolist() == [
            (0, 11, 5, 2),
            (11, 16, 16, -1),
        ]
        assert rows[
            ["value_position", "value_size_bytes", "header_count", "headers_position"]
        ].tolist() == [(8, 2, 0, 11), (17, 5, 1, 23)]


def test_an_empty_batch_has_no_records_whatever_follows():
    """The iterator of DefaultRecordBatch stops at a count of 0 before it looks at any byte."""
    assert all_records(b"\xff\xff", 0, 0) == all_records(b"\xff", 7, 0) == []
    assert len(record.rows(b"\xff", 0)) == 0
