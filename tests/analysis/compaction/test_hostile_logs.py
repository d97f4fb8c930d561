"""Logs that no broker writes, and that must not cost memory or time, or stop a cleaning."""

import tracemalloc

import numpy as np
import pytest

from kafkaviz.binary import codec
from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import batch, record
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.simulate.cleaner import batch_chunks
from kafkaviz.simulate.cleaner.batch_chunks import DECOMPRESSED, BatchChunks
from kafkaviz.simulate.producers.batch_encoder import seal

MIB = 1 << 20


def build_body(*keys: bytes, value: bytes = b"v") -> bytes:
    return record.build(
        record.Record(offset_delta=delta, timestamp_delta_ms=0, key=key, value=value)
        for delta, key in enumerate(keys)
    )


def build_batch(base_offset: int, body: bytes, codec_name: str = "none", **fields: int) -> bytes:
    """Returns a batch of one record, or with other header fields, around the bytes of a body."""
    row = np.zeros(1, batch.BATCH)
    row["size_bytes"] = HEADER_BYTES + len(body)
    row["base_offset"] = base_offset
    row["last_offset"] = base_offset
    row["magic"] = 2
    row["attributes"] = codec.CODECS.index(codec_name)
    row["producer_id"] = -1
    row["producer_epoch"] = -1
    row["base_sequence"] = -1
    row["record_count"] = 1
    for name, value in fields.items():
        row[name] = value
    data = np.zeros(HEADER_BYTES + len(body), np.uint8)
    data[HEADER_BYTES:] = np.frombuffer(body, np.uint8)
    seal(row, data)
    return data.tobytes()


@pytest.mark.parametrize("is_mixed", [False, True])
def test_a_chunk_of_bombs_is_decompressed_in_parts(is_mixed, monkeypatch):
    monkeypatch.setattr(batch_chunks, "MAX_DECOMPRESSED_BYTES", 4 * MIB)
    body = build_body(b"key", value=bytes(2 * MIB))
    names = ("zstd", "gzip", "none", "snappy", "lz4") if is_mixed else ("zstd",)
    bodies = {name: codec.compress(name, body) for name in names}
    bodies["none"] = build_body(b"key")
    data = b"".join(
        build_batch(offset, bodies[names[offset % len(names)]], names[offset % len(names)])
        for offset in range(50)
    )
    offsets = []
    tracemalloc.start()
    for chunk in BatchChunks(in_memory("log", data), 0, len(data)):
        offsets += chunk.batches["base_offset"].tolist()
        for found in chunk.bodies[chunk.bodies["place"] == DECOMPRESSED]:
            assert chunk.decompressed[found["start"] : found["end"]].tobytes() == body
        is_whole = chunk.batches["attributes"] == 0
        assert (chunk.bodies["place"][~is_whole] == DECOMPRESSED).all()
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert offsets == list(range(50))
    assert peak_bytes < len(data) + (60 if is_mixed else 25) * MIB
