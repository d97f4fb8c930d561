"""The header walk, compared with a plain version on real bytes, cut and flipped anywhere."""

import itertools
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.format.batch import BATCH, HEADER, is_control, is_log_append_time, is_transactional
from kafkaviz.format.walk import Walk, WalkEnd, few_batches, walk
from tests.conftest import DATA
from tests.format.plain_walk import walk as plain_walk
from tests.support.bytes_reader import reader
from tests.support.cases import all_cases
from tests.support.recorded import recorded

NULLS = (DATA / "kafka-4.3.1" / "nulls-0" / "00000000000000000000.log").read_bytes()
TINY = (DATA / "kafka-4.3.1" / "tiny-index-0" / "00000000000000000049.log").read_bytes()
SMALL = TINY[: 5 * 119]  # five batches of 119 bytes


# single batches and messages, with the answers of Kafka's own classes (4.3.1)
WITH_HEADER = [line for line in recorded("batches") if "header" in line]
MAGIC_2 = [line for line in WITH_HEADER if line["header"]["magic"] == 2]
CALLED = [line for line in recorded("batches") if "calls" in line]


FIELDS = {
    "magic": "magic",
    "last_offset": "lastOffset",
    "size_bytes": "sizeInBytes",
    "crc": "checksum",
    "max_timestamp_ms": "maxTimestamp",
}
FIELDS_OF_MAGIC_2 = {
    "record_count": "countOrNull",
    "attributes": "attributes",
    "base_timestamp_ms": "baseTimestamp",
    "leader_epoch": "partitionLeaderEpoch",
    "producer_id": "producerId",
    "producer_epoch": "producerEpoch",
    "base_sequence": "baseSequence",
}


def as_dicts(batches: np.ndarray) -> list[dict]:
    return [dict(zip(batches.dtype.names, row, strict=True)) for row in batches.tolist()]


def same(data: bytes) -> tuple[list[dict], tuple[int, str]]:
    """Returns the walk's answer after comparing it with the plain walk and few_batches."""
    batches, end = walk(data)
    answer = as_dicts(batches), (end.position, end.reason)
    assert answer == plain_walk(data)
    few, end_position = few_batches(data)
    assert (as_dicts(few), end_position) == (answer[0], end.position)
    return answer


@pytest.mark.parametrize(
    "path", sorted(DATA.glob("kafka-*/*/*.log")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_real_logs_read_the_same_both_ways(path):
    batches, (position, _) = same(path.read_bytes())
    assert batches and position == batches[-1]["position"] + batches[-1]["size_bytes"]


@all_cases("cut", range(len(SMALL) + 1))
def test_a_cut_log_keeps_its_whole_batches(cut):
    """A log cut anywhere still gives every whole batch, and the reason for the end."""
    batches, (position, reason) = same(SMALL[:cut])
    assert len(batches) == cut // 119 and position == cut // 119 * 119
    assert reason == ("end" if cut % 119 == 0 else "short" if cut % 119 <= 17 else "torn")


@all_cases("at", range(2 * 119))
def test_a_flipped_byte_never_loops_and_reads_the_same_both_ways(at):
    for mask in (0x01, 0x80, 0xFF):
        damaged = bytearray(SMALL)
        damaged[at] ^= mask
        batches, (position, _) = same(bytes(damaged))
        assert position <= len(SMALL)
        assert all(a["position"] < b["position"] for a, b in itertools.pairwise(batches))


@given(st.binary(max_size=400), st.integers(61, 200))
def test_any_bytes_end_somewhere(data, chunk_bytes):
    expected = same(data)
    assert in_chunks(data, chunk_bytes) == expected


@pytest.mark.parametrize("chunk_bytes", [61, 62, 118, 119, 120, 500, 4096])
def test_chunks_of_any_size_give_the_same(chunk_bytes):
    assert in_chunks(NULLS, chunk_bytes) == same(NULLS)


def in_chunks(data: bytes, chunk_bytes: int) -> tuple[list[dict], tuple[int, str]]:
    steps = Walk(reader(data), 0, len(data), chunk_bytes)
    batches = [batch for part in steps for batch in as_dicts(part)]
    return batches, (steps.end.position, steps.end.reason)


def test_more_batches_than_one_array_holds():
    header = np.zeros(40_000, HEADER)
    header["base_offset"], header["batch_length_bytes"], header["magic"] = np.arange(40_000), 49, 2
    batches, end = walk(header.tobytes())
    assert (batches["position"] == np.arange(40_000) * 61).all()
    assert (batches["base_offset"] == np.arange(40_000)).all()
    assert end == WalkEnd(40_000 * 61, "end")


def test_a_file_that_shrinks_ends_the_walk():
    steps = Walk(reader(SMALL[:300]), 0, len(SMALL), 128)
    assert sum(len(part) for part in steps) == 2 + (300 - 2 * 119 >= 61)
    assert steps.end.reason == "short"


@all_cases("line", WITH_HEADER, ids=lambda line: line["name"])
def test_headers_say_what_kafka_says(line):
    """Kafka's accessors (4.3.1) give the same for magic 0, 1 and 2."""
    batches, _ = same(bytes.fromhex(line["hex"]))
    header, row = line["header"], batches[0]
    names = FIELDS | (FIELDS_OF_MAGIC_2 if row["magic"] == 2 else {})
    found = {name: row[name] for name in names}
    assert found == {name: header[kafkas] for name, kafkas in names.items()}
    if row["base_offset"] != -1:
        assert row["base_offset"] == header["baseOffset"]


@all_cases("line", MAGIC_2, ids=lambda line: line["name"])
def test_attributes_say_what_kafka_says(line):
    """Kafka's accessors name the bits of magic 2 the same."""
    batches, header = walk(bytes.fromhex(line["hex"]))[0][:1], line["header"]
    assert is_transactional(batches)[0] == header["isTransactional"]
    assert is_control(batches)[0] == header["isControlBatch"]
    assert is_log_append_time(batches)[0] == (header["timestampType"] == "LogAppendTime")


@all_cases("line", CALLED, ids=lambda line: line["name"])
def test_broken_batches_are_found_where_kafka_finds_them(line):
    """Kafka's own walk (4.3.1) finds as many batches, and ends or raises at the same byte."""
    batches, (position, reason) = same(bytes.fromhex(line["hex"]))
    calls = {
        call["call"].removeprefix("batch[0]").removeprefix("batch"): call for call in line["calls"]
    }
    next_batch = calls["FileLogInputStream.nextBatch"]
    if "exception" in next_batch or "class" in next_batch:
        assert reason == "bad-length"
    else:
        found = {"batches": len(batches), "end_position": position}
        assert next_batch["result"].items() >= found.items()
    last = calls.get(".lastOffset", {}).get("result")
    if last is not None:
        assert batches[0]["last_offset"] == last


def test_the_tables_are_61_bytes_and_native():
    assert HEADER.itemsize == 61 == struct.calcsize(">qiibIhiqqqhii") and BATCH.isnative
