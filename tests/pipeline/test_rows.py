"""Rows of the table batches, compared with Kafka's own classes (4.3.1)."""

import numpy as np
import pytest

from kafkaviz.format.walk import walk
from kafkaviz.log.segment import OFFSET_ENTRY, Segment
from kafkaviz.pipeline.catalog.schema import BATCHES, OFFSET_ENTRIES
from kafkaviz.pipeline.read.rows import batch_columns, entry_columns, entry_slots, table
from kafkaviz.pipeline.read.tasks import SegmentTask
from tests.pipeline.segment_tasks import empty_task
from tests.support.recorded import recorded

OWNER = SegmentTask(
    number=0, broker="b", topic="t", partition=3, segment=Segment(base_offset=40, state="active")
)


@pytest.fixture(scope="module")
def parsed() -> list[dict]:
    return [line for line in recorded("batches") if line.get("valid") and "header" in line]


@pytest.fixture(scope="module")
def rows(parsed) -> list[dict]:
    batches, end = walk(b"".join(bytes.fromhex(line["hex"]) for line in parsed))
    assert end.reason == "end"
    nothing = np.full(len(batches), -1)
    return table(batch_columns(batches, nothing), [OWNER], [len(batches)], BATCHES).to_pylist()


def test_every_field_is_what_kafka_reads(parsed, rows):
    """Null where its format has no such field, or hides it in compressed messages."""
    assert len(parsed) == len(rows) > 200
    for line, row in zip(parsed, rows, strict=True):
        assert {name: row[name] for name in expected(line["header"])} == expected(line["header"]), (
            line["name"]
        )


def expected(header: dict) -> dict:
    new, timed = header["magic"] == 2, header["magic"] > 0
    plain = not header["isCompressed"]
    return {
        "magic": header["magic"],
        "size_bytes": header["sizeInBytes"],
        "base_offset": header["baseOffset"] if new or plain else None,
        "last_offset": header["lastOffset"],
        "crc": header["checksum"],
        "codec": header["compressionType"],
        "timestamp_type": header["timestampType"] if timed else None,
        "max_timestamp_ms": header["maxTimestamp"] if timed else None,
        "base_timestamp_ms": header["baseTimestamp"]
        if new
        else header["maxTimestamp"]
        if timed and plain
        else None,
        "record_count": header["countOrNull"] if new else 1 if plain else None,
        "leader_epoch": header.get("partitionLeaderEpoch"),
        "producer_id": header.get("producerId"),
        "producer_epoch": header.get("producerEpoch"),
        "base_sequence": header.get("baseSequence"),
        "is_transactional": header.get("isTransactional", False),
        "is_control": header.get("isControlBatch", False),
        "delete_horizon_ms": header.get("deleteHorizonMs"),
        "entry_slot": None,
        "uncompressed_bytes": None,
    }


def test_rows_say_whose_they_are(rows):
    names = ("broker", "topic", "partition", "segment_base_offset")
    assert {tuple(row[name] for name in names) for row in rows} == {("b", "t", 3, 40)}
    ends = np.cumsum([0, *(row["size_bytes"] for row in rows[:-1])])
    assert [row["position"] for row in rows] == ends.tolist()


def test_rows_of_several_segments_follow_one_another():
    owners = [empty_task(number) for number in range(3)]
    columns = table(entry_columns(np.zeros(6, OFFSET_ENTRY)), owners, [3, 1, 2], OFFSET_ENTRIES)
    assert columns["topic"].to_pylist() == ["t0", "t0", "t0", "t1", "t2", "t2"]
    for name in ("partition", "segment_base_offset"):
        assert columns[name].to_pylist() == [0, 0, 0, 1, 2, 2]


def test_an_id_without_a_codec_is_its_number(parsed):
    """Kafka keeps such a batch, and refuses only to read its records."""
    batch = bytearray(
        bytes.fromhex(next(line["hex"] for line in parsed if line["header"]["magic"] == 2))
    )
    names = []
    for identity in range(8):
        batch[22] = identity
        columns = batch_columns(walk(bytes(batch))[0], np.array([-1]))
        names += table(columns, [OWNER], [1], BATCHES)["codec"].to_pylist()
    assert names == ["none", "gzip", "snappy", "lz4", "zstd", "5", "6", "7"]


def test_no_rows_have_all_columns():
    batches = batch_columns(walk(b"")[0], np.empty(0, int))
    entries = entry_columns(np.empty(0, OFFSET_ENTRY))
    for columns, schema in ((batches, BATCHES), (entries, OFFSET_ENTRIES)):
        assert table(columns, [], [], schema).schema == schema
    assert entry_slots(walk(b"")[0], np.zeros(3, OFFSET_ENTRY)).tolist() == []
