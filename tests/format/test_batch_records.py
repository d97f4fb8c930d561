"""The records of a batch of any magic, compared with Kafka's classes and real dumps."""

import hashlib
import struct
import tarfile
from collections import Counter
from collections.abc import Iterator

import pytest

from kafkaviz.binary.codec import CODECS
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, record
from kafkaviz.format.batch import CONTROL
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from tests.cli.hostile_files import batch as build_batch
from tests.support.batch_reading import records_until_fault
from tests.support.recorded import recorded

# the rest are words of codec libraries
WORDS = ("InvalidRecordException", "IllegalArgumentException", "CorruptRecordException")
UNREADABLE = ("newLimit > capacity", "IndexOutOfBoundsException")


def call(line: dict, name: str) -> dict | None:
    """Returns Kafka's call for the first batch found."""
    names = (f"batch.{name}", f"batch[0].{name}")
    return next((call for call in line.get("calls", []) if call["call"] in names), None)


def sha256(records: list[BatchRecord]) -> str:
    digest = hashlib.sha256()
    for batch_record in records:
        sequence = -1 if batch_record.sequence is None else batch_record.sequence
        headers = [part for key, value in batch_record.headers for part in (key.encode(), value)]
        digest.update(struct.pack(">qqi", batch_record.offset, batch_record.timestamp_ms, sequence))
        digest.update(packed(batch_record.key) + packed(batch_record.value))
        digest.update(struct.pack(">i", len(batch_record.headers)) + b"".join(map(packed, headers)))
    return digest.hexdigest()


def packed(part: bytes | None) -> bytes:
    return struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part


def test_every_batch_that_kafka_reads_is_read_the_same():
    """The digest of all records, each record's size, and whether the checksum is right."""
    counts = Counter()
    for line in recorded("batches"):
        if "records_sha256" not in line:
            continue
        data = bytes.fromhex(line["hex"])
        records = batch_records.read_batch(data)
        assert sha256(records) == line["records_sha256"], line["name"]
        assert len(records) == line["records_count"], line["name"]
        if "records" in line:
            sizes = [kafkas["sizeInBytes"] for kafkas in line["records"]]
            assert [record.size_bytes for record in records] == sizes, line["name"]
        if "header" in line:
            assert batch_records.is_crc_valid(data) == line["header"]["isValid"], line["name"]
        counts[data[16]] += 1
    assert counts == {0: 29, 1: 43, 2: 270}


def test_what_kafka_refuses_is_refused_with_its_words():
    """Each damaged batch, and messages whose key or value reaches past their end."""
    counts, same_words, crc_words = Counter(), Counter(), 0
    for line in recorded("batches"):
        iterated, data = call(line, "iterator"), bytes.fromhex(line["hex"])
        if line["valid"] or not iterated:
            continue
        records, fault = records_until_fault(data)
        counts["refused" if "class" in iterated else "read", fault is not None] += 1
        if "class" not in iterated:
            assert fault is None or str(fault.what).startswith(UNREADABLE), (line["name"], fault)
            assert fault is not None or len(records) == iterated["result"]["records"], line["name"]
        elif iterated["class"].endswith(WORDS):
            assert str(fault.what).endswith(iterated["message"]), (line["name"], fault)
            same_words[iterated["class"].rpartition(".")[2]] += 1
        crc_words += checks_the_checksum(line, data)
    assert counts == {("refused", True): 228, ("read", False): 103, ("read", True): 28}
    assert same_words == {
        "InvalidRecordException": 121,
        "IllegalArgumentException": 21,
        "CorruptRecordException": 1,
    }
    assert crc_words == 181


def checks_the_checksum(line: dict, data: bytes) -> bool:
    kafkas = call(line, "ensureValid")
    try:
        batch_records.ensure_valid(data)
        assert "class" not in kafkas, line["name"]
    except CorruptBytes as fault:
        assert str(fault.what) == kafkas["message"], line["name"]
    return "class" in kafkas


def test_no_batch_is_found_where_kafka_finds_none():
    count = 0
    for line in recorded("batches"):
        if not line["valid"] and not call(line, "iterator"):
            data = bytes.fromhex(line["hex"])
            assert not batch_records.is_crc_valid(data)
            with pytest.raises(CorruptBytes) as fault:
                batch_records.read_batch(data)
            in_memory = line["calls"][-1].get("message", "")
            assert str(fault.value.what) == in_memory or not in_memory.startswith("Record size")
            count += 1
    assert count == 115


# ---- real logs


def dumped(log: bytes, start: int = 0) -> Iterator[str]:
    """Returns the lines of kafka-dump-log 4.3.1 --print-data-log for batches without control
    records. `start` is the position of the bytes in the .log.
    """
    for batch in walk(log)[0]:
        data = log[batch["position"] : batch["position"] + batch["size_bytes"]]
        records = batch_records.read_batch(data)
        kind = ("CreateTime", "LogAppendTime")[batch["attributes"] >> 3 & 1]
        if batch["magic"] == 0:
            kind = "NoTimestampType"
        yield (
            f"{_offsets(batch)}position: {batch['position'] + start} {kind}: "
            f"{batch['max_timestamp_ms']} size: {batch['size_bytes']} "
            f"magic: {batch['magic']} compresscodec: {CODECS[batch['attributes'] & 7]} crc: "
            f"{batch['crc']} isvalid: {str(batch_records.is_crc_valid(data)).lower()}"
        )
        for batch_record in records:
            yield _record(batch_record, kind)


def _offsets(batch) -> str:
    if batch["magic"] < 2:
        return f"offset: {batch['last_offset']} "
    last_sequence = -1
    if batch["base_sequence"] >= 0:
        last_sequence = batch["base_sequence"] + batch["last_offset"] - batch["base_offset"]
    return (
        f"baseOffset: {batch['base_offset']} lastOffset: {batch['last_offset']} count: "
        f"{batch['record_count']} baseSequence: {batch['base_sequence']} lastSequence: "
        f"{last_sequence} producerId: {batch['producer_id']} producerEpoch: "
        f"{batch['producer_epoch']} partitionLeaderEpoch: {batch['leader_epoch']} isTransactional: "
        f"{str(bool(batch['attributes'] & 16)).lower()} isControl: false deleteHorizonMs: "
        "OptionalLong.empty "
    )


def _record(record: BatchRecord, kind: str) -> str:
    key_size, value_size = (
        -1 if part is None else len(part) for part in (record.key, record.value)
    )
    line = (
        f"| offset: {record.offset} {kind}: {record.timestamp_ms} keySize: {key_size} valueSize: "
        f"{value_size} "
    )
    if record.crc is not None:
        line += f"isValid: {str(record.is_valid).lower()} crc: {record.crc}"
    else:
        sequence = -1 if record.sequence is None else record.sequence
        keys = ",".join(key for key, _ in record.headers)
        line += f"sequence: {sequence} headerKeys: [{keys}]"
    for name, part in (("key", record.key), ("payload", record.value)):
        line += "" if part is None else f" {name}: {part.decode(errors='replace')}"
    return line


def test_stretches_of_real_logs_are_what_kafkas_dump_says():
    """Clients of 0.9.0.1, 0.10.2.2 and 2.8.2 wrote them, with snappy in blocks of 1024 bytes, both
    LZ4 checksums, and gaps.
    """
    for stretch in recorded("legacy_logs"):
        dumped_batches = list(dumped(bytes.fromhex(stretch["hex"]), stretch["start"]))
        assert dumped_batches == stretch["dump"].split("\n")[:-1], stretch["file"]


def test_old_snappy_has_blocks_of_1024_bytes():
    stretches = recorded("legacy_logs")
    stretch = next(line for line in stretches if line["file"].startswith("native.v1.snappy"))
    log = bytes.fromhex(stretch["hex"])
    first = log.index(bytes.fromhex("82534e415050590000000001 00000001")) + 20
    # a block begins with its size once decompressed
    number = log[first] & 127 | log[first + 1] << 7
    assert number == 1024


def test_every_partition_of_old_messages_is_what_kafkas_dump_says(shared):
    name = "kafka-2.8.2-legacy"
    with tarfile.open(shared / "data" / f"{name}.expected.tar.gz") as tar:
        dumps = {
            member.name.removeprefix(f"{name}.expected/"): tar.extractfile(member).read()
            for member in tar
            if member.isfile()
        }
    compared = Counter()
    for partition in open_broker(shared / "data" / f"{name}.tar.gz").partitions:
        for segment in partition.segments:
            batches = segment.batches()
            if (batches["attributes"] & CONTROL).any() or partition.directory.startswith("__"):
                continue
            text = dumps[f"dump-4.3.1/{partition.directory}/{segment.name}.log.deep.out"].decode()
            dumped_batches = list(dumped(segment.log.path.read_bytes()))
            assert dumped_batches == text.split("\n")[2:-1], partition.directory
            compared.update(int(magic) for magic in batches["magic"])
    assert compared == {0: 2608, 1: 3867, 2: 2166}


def test_deltas_wrap_around_as_javas_numbers_do():
    """Offsets and times wrap at 64 bits. A sequence goes from 2147483647 to 0."""

    def read_one(base: int, base_sequence: int, delta: int) -> tuple:
        """Returns what is read of a batch whose offset and time are the base."""
        body = record.build(
            [record.Record(offset_delta=delta, timestamp_delta_ms=delta, key=None, value=None)]
        )
        data = build_batch(body, base_offset=base, time_ms=base, base_sequence=base_sequence)
        [found] = batch_records.read_batch(data)
        return found.offset, found.timestamp_ms, found.sequence

    assert read_one(2**63 - 1, 2**31 - 1, 1) == (-(2**63), -(2**63), 0)
    assert read_one(10, 2**31 - 3, 4) == (14, 14, 1)
    assert read_one(10, -1, 4) == (14, 14, None)
    assert read_one(10, 0, 0) == (10, 10, 0)
    assert read_one(10, 10, -5) == (5, 5, -(2**31) + 5)
    assert read_one(10, 3, -5) == (5, 5, 2**31 - 2)


def test_records_before_the_fault_come_out():
    """Kafka's iterator gives them too if the batch is not compressed."""
    body = record.build(
        [
            record.Record(offset_delta=delta, timestamp_delta_ms=delta, key=b"k", value=b"v")
            for delta in range(2)
        ]
    )
    records, fault = records_until_fault(build_batch(body[:-1], 2, base_offset=7))
    assert [record.offset for record in records] == [7]
    assert str(fault.what).startswith("Invalid record size: expected 8 bytes")
    assert fault.position == 61 + 9
    # the last record is held back while Kafka looks for bytes after it
    records, fault = records_until_fault(build_batch(body + bytes(1), 2, base_offset=7))
    assert [record.offset for record in records] == [7]
    assert str(fault.what).endswith("records still remaining in file")


SOUND = [line for line in recorded("batches") if line.get("valid") and "header" in line]


def test_few_records_are_those_of_the_iterator():
    """few_records returns None for a batch that is compressed, older or has headers."""
    answered = 0
    for line in SOUND:
        data = bytes.fromhex(line["hex"])
        few = batch_records.few_records(data)
        if few is not None:
            answered += 1
            records, fault = records_until_fault(data)
            assert fault is None, line["name"]
            assert few == [(read.offset, read.key, read.value) for read in records], line["name"]
    assert answered > 20


def test_few_records_believe_no_batch_that_the_iterator_refuses():
    batches = (bytes.fromhex(line["hex"]) for line in SOUND)
    data = next(data for data in batches if len(batch_records.few_records(data) or ()) > 2)
    for bit in range(8 * 57, 8 * len(data)):
        flipped = bytearray(data)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        few = batch_records.few_records(bytes(flipped))
        records, fault = records_until_fault(bytes(flipped))
        if few is not None:
            expected = [(read.offset, read.key, read.value) for read in records]
            assert fault is None and few == expected, bit
