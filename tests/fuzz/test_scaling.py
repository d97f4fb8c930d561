"""A reader's work on four times the bytes: about four times as much, never sixteen.

It counts calls of Python and library functions and the largest allocation; no clock is read.
"""

import json
import struct
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import (
    batch_records,
    checkpoint,
    coordinator_records,
    metadata,
    names,
    offset_index,
    open_transactions,
    producer_snapshot,
    record,
    remote_metadata,
    remote_segment,
    spans_batch,
    spans_record,
    spans_table,
    time_index,
    txn_index,
    walk,
)
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.format.record import Record
from kafkaviz.log.tiered.remote_log_metadata import RemoteLogMetadataCache, RemoteLogSegment
from kafkaviz.simulate.recovery import LeaderEpochs
from kafkaviz.simulate.startup import small_files
from tests.cli.hostile_files import batch, tiny_batch, wrapper
from tests.format.manifests import FIXED, ID
from tests.support.bytes_reader import reader

FEW, TIMES = 300, 4
GROWTH = 1.3 * TIMES  # the part that should grow with the bytes
FEW_CALLS, FEW_BYTES = 300, 100_000  # the part that is constant


def offsets(count: int) -> bytes:
    return b"0\n%d\n" % count + b"".join(b"topic-%d 0 7\n" % number for number in range(count))


def epochs(count: int, step: int = 1) -> bytes:
    rows = enumerate(range(count)[::step])
    return b"0\n%d\n" % count + b"".join(b"%d %d\n" % (epoch, offset) for offset, epoch in rows)


def manifest(count: int) -> bytes:
    partition = {"topicId": ID, "topicPartition": {"topic": "a", "partition": 0}}
    described = {
        "remoteLogSegmentId": {"topicIdPartition": partition},
        "startOffset": 0,
        "endOffset": 1,
        "maxTimestampMs": 1,
        "segmentLeaderEpochs": {str(number): number for number in range(count)},
    }
    return json.dumps(FIXED | {"remoteLogSegmentMetadata": described}).encode()


def chunks(count: int) -> bytes:
    index = FIXED["chunkIndex"] | {"originalChunkSize": 1, "originalFileSize": count}
    return json.dumps(FIXED | {"chunkIndex": index}).encode()


def tags(count: int) -> bytes:
    return b"\1\x14\0" + varint.write_unsigned(count) + b"\x63\0" * count


def endpoints(count: int) -> bytes:
    start = b"\1\0\0" + struct.pack(">i16sq", 1, bytes(16), 1) + varint.write_unsigned(count + 1)
    return start + b"\x02a\x02h\x23\x84\0\0\0" * count + b"\x01\0\0\0"


def remote_epochs(count: int) -> bytes:
    start = b"\1\0\0\x02a" + bytes(16) + struct.pack(">i", 0) + b"\0" + bytes(16) + b"\0"
    start += struct.pack(">qqiqq", 0, 9, 1, 1, 1) + varint.write_unsigned(count + 1)
    rows = b"".join(struct.pack(">iqb", number, number, 0) for number in range(count))
    return start + rows + struct.pack(">i", 10) + b"\0\1\0"


def headers(count: int) -> bytes:
    headers = (("a", b"b"),) * count
    built = Record(offset_delta=0, timestamp_delta_ms=0, key=b"", value=b"", headers=headers)
    return batch(record.build([built]))


def batches(count: int) -> bytes:
    return b"".join(batch(base_offset=number) for number in range(count))


def transactions(count: int) -> bytes:
    """Returns transactions of a producer each, none of which ends."""
    fields = {"attributes": 0x10, "producer_epoch": 0, "base_sequence": 0}
    return b"".join(
        batch(base_offset=number, producer_id=number, **fields) for number in range(count)
    )


def read_open_rows(data: bytes) -> None:
    list(open_transactions.transaction_rows(walk.walk(data)[0]))


def snapshot(count: int) -> bytes:
    producers = np.zeros(count, producer_snapshot.PRODUCER)
    producers["producer_id"] = np.arange(count)
    return producer_snapshot.build(producers)


def read_epochs(data: bytes) -> None:
    LeaderEpochs(checkpoint.parse_leader_epochs(data))


def read_segments(data: bytes) -> None:
    """Reads as many remote segments as there are bytes, each with epochs, copied and found again."""
    cache = RemoteLogMetadataCache()
    for number in range(len(data)):
        offsets = {"start_offset": number, "end_offset": number, "leader_epochs": {0: number}}
        cache.add(RemoteLogSegment(segment_id=str(number), state="COPY_SEGMENT_STARTED", **offsets))
        cache.update(str(number), "COPY_SEGMENT_FINISHED")
        assert cache.find(0, number)


def read_scan(data: bytes) -> None:
    faults = []
    for batches in DeepScan(reader(data), 0, len(data), faults.extend):
        assert len(batches)


CASES: dict[str, tuple[Callable[[int], bytes], Callable[[bytes], object]]] = {
    "offsets": (offsets, checkpoint.parse_offsets),
    "offsets-of-carriage-returns": (
        lambda count: b"0\n9\n" + b"\r" * count,
        checkpoint.parse_offsets,
    ),
    "epochs": (epochs, read_epochs),
    "epochs-that-go-back": (lambda count: epochs(count, step=-1), read_epochs),
    "properties": (lambda count: b"a=1\n" * count, checkpoint.parse_properties),
    "continued-properties": (lambda count: b"a\\\n" * count, checkpoint.parse_properties),
    "escaped-properties": (lambda count: b"\\u0041" * count, checkpoint.parse_properties),
    "spaces-in-properties": (lambda count: b"a" + b" \t\f" * count, checkpoint.parse_properties),
    "partition-metadata": (lambda count: b"\n" * count, checkpoint.parse_partition_metadata),
    "partition-metadata-colons": (
        lambda count: b"version: " * count,
        checkpoint.parse_partition_metadata,
    ),
    "small-files": (
        lambda count: b"a: " + b" " * count + b"\n" * count,
        lambda data: small_files.partition_metadata_fault(data, ""),
    ),
    "quorum-state": (
        lambda count: json.dumps({"data_version": 0, "currentVoters": [{}] * count}).encode(),
        checkpoint.parse_quorum_state,
    ),
    "manifest": (manifest, remote_segment.parse_manifest),
    "chunks": (chunks, remote_segment.parse_manifest),
    "tags": (tags, metadata.decode),
    "endpoints": (endpoints, lambda data: metadata.decode(data).text),
    "remote-epochs": (remote_epochs, remote_metadata.decode),
    "remote-segments": (bytes, read_segments),
    "headers": (headers, lambda data: list(batch_records.iterate(data))),
    "header-spans": (headers, spans_batch.batch),
    "batches": (batches, walk.walk),
    "scan": (batches, read_scan),
    "tiny-records": (
        lambda count: tiny_batch(10 * count),
        lambda data: sum(1 for _ in batch_records.heads(data)),
    ),
    "wrapper": (wrapper, lambda data: list(batch_records.iterate(data))),
    "transactions": (transactions, read_open_rows),
    "lines": (lambda count: b"\r" * count, lambda data: spans_table.lines(data, "x-checkpoint")),
    "snapshot": (snapshot, producer_snapshot.parse),
    "snapshot-spans": (snapshot, spans_table.snapshot),
    "offset-index": (lambda count: bytes(8) * count, offset_index.parse),
    "time-index": (lambda count: bytes(12) * count, time_index.parse),
    "txn-index": (lambda count: bytes(34) * count, txn_index.parse),
    "offset-commit": (
        lambda count: b"\0\1\0\1" + b"\xff" * count,
        lambda data: coordinator_records.decode(data[:4], data[2:], 0, "offsets"),
    ),
    "long-name": (lambda count: b"a-1." * count, lambda data: names.parse_directory(data.decode())),
    "long-file-name": (
        lambda count: b"0" * 20 + b".log." * count,
        lambda data: (names.parse_file(data.decode()), names.find_segment_name(data.decode())),
    ),
}


def work(read: Callable[[bytes], object], data: bytes) -> tuple[int, int]:
    """Returns the calls and the most bytes at once of a reading, up to its refusal."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(count)
    try:
        with suppress(CorruptBytes):
            read(data)
    finally:
        sys.setprofile(before)
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return calls, peak_bytes


@pytest.mark.parametrize("name", CASES)
def test_work_grows_as_the_bytes_do(name):
    make, read = CASES[name]
    work(read, make(FEW))  # imports and compiles once
    calls, peak_bytes = work(read, make(FEW))
    more_calls, more_bytes = work(read, make(TIMES * FEW))
    assert more_calls <= GROWTH * calls + FEW_CALLS
    assert more_bytes <= GROWTH * peak_bytes + FEW_BYTES


def test_quadratic_work_is_noticed():
    """A loop in a loop, and memory for each pair."""

    def pairs(data: bytes) -> None:
        kept = [bytes(1) * 100 for _ in data for _ in data[:]]
        for _ in kept:
            len(data)

    calls, peak_bytes = work(pairs, bytes(50))
    more_calls, more_bytes = work(pairs, bytes(200))
    assert more_calls > GROWTH * calls + FEW_CALLS
    assert more_bytes > GROWTH * peak_bytes + FEW_BYTES


def test_a_window_of_a_small_file_is_all_that_is_described():
    text = b"\r" * 1_000_000
    shown = spans_table.lines(text, "x-checkpoint", 500_000, 500_003)
    places = [(500_000, 500_001), (500_001, 500_002), (500_002, 500_003)]
    assert [(span.start, span.end) for span in shown] == places
    producers = snapshot(2000)
    every = spans_table.snapshot(producers)
    window = spans_table.snapshot(producers, 10_000, 10_050)
    assert len(window) < 40 < len(every)
    assert {span.start for span in window} <= {span.start for span in every}
    many = spans_batch.batch(headers(spans_record.SHOWN_HEADERS + 7))
    assert str(many[-1].name) == "7 more headers" and many[-1].end == len(headers(1007))
    few = spans_batch.batch(headers(spans_record.SHOWN_HEADERS))
    assert len(many) == len(few) + 1
