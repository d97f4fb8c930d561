"""Logs that no broker writes, and that must not cost memory or time, or stop a cleaning."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.binary import codec
from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import batch, producer_snapshot, record, txn_index
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.cleaner import batch_chunks
from kafkaviz.simulate.cleaner.batch_chunks import DECOMPRESSED, BatchChunks, CleaningFailed
from kafkaviz.simulate.cleaner.cleaner import CleanerConfig, Cleaning, CleaningRange, clean
from kafkaviz.simulate.cleaner.offset_map import OffsetMap
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.batch_encoder import seal

MIB = 1 << 20


def build_body(*keys: bytes, value: bytes = b"v", offset_delta: int = 0) -> bytes:
    return record.build(
        record.Record(offset_delta=delta, timestamp_delta_ms=0, key=key, value=value)
        for delta, key in enumerate(keys, offset_delta)
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


def cleaning_range(segments: dict[int, bytes], first_dirty_offset: int = 0) -> CleaningRange:
    """Returns a range of all segments by base offset except the last, the active one."""
    views = [
        SegmentView(base_offset=base_offset, log=in_memory("log", data))
        for base_offset, data in segments.items()
    ]
    return CleaningRange(
        segments=views,
        log_start_offset=0,
        high_watermark=-1,
        first_dirty_offset=first_dirty_offset,
        stop_offset=views[-1].base_offset,
        producers=np.empty(0, producer_snapshot.PRODUCER),
    )


def clean_range(cleaned: CleaningRange, offset_map: OffsetMap) -> Cleaning:
    config = CleanerConfig(
        log=LogConfig(),
        delete_retention_ms=1000,
        most_keys=offset_map.most_keys,
        io_buffer_bytes=1000,
    )
    return clean(cleaned, config, (4, 4), 1_000_000, offset_map=offset_map)


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


def test_a_record_count_does_not_grow_the_map():
    keys = [b"%d" % number for number in range(3072)]  # as many as fit into the first table
    last = len(keys) - 1
    data = build_batch(0, build_body(*keys), record_count=len(keys), last_offset=last)
    data += build_batch(last + 1, b"", record_count=2**31 - 1)
    offset_map = OffsetMap(1 << 20)
    with pytest.raises(CleaningFailed):
        clean_range(cleaning_range({0: data, last + 2: b""}), offset_map)
    assert offset_map.size == len(keys)
    assert len(offset_map.offsets) == 8192


@pytest.mark.parametrize(
    "data",
    [
        build_batch(0, build_body(b"a", b"b", offset_delta=500), record_count=2, last_offset=1),
        build_batch(0, build_body(b"a"), last_offset=500) + build_batch(501, build_body(b"b")),
    ],
    ids=["record", "batch"],
)
def test_a_full_map_ends_in_the_part_that_is_cleaned(data):
    cleaning = clean_range(cleaning_range({0: data, 2: b""}), OffsetMap(1))
    assert [segment.sources for segment in cleaning.segments] == [(0,)]
    assert cleaning.next_first_dirty_offset == 2
    assert cleaning.passes == 2
    assert cleaning.retained.records == 2


def test_a_map_without_room_keeps_the_first_dirty_offset():
    data = build_batch(0, build_body(b"a"))
    cleaned = cleaning_range(
        {0: data, 1: build_batch(1, build_body(b"b")), 2: b""}, first_dirty_offset=1
    )
    cleaning = clean_range(cleaned, OffsetMap(0))
    assert cleaning.next_first_dirty_offset == 1
    assert cleaning.passes is None


def test_the_seeds_of_the_map_change_no_cleaning():
    keys = [b"x" * (number % 20) for number in range(50)]
    data = build_batch(0, build_body(*keys), record_count=len(keys), last_offset=len(keys) - 1)
    cleaned = cleaning_range({0: data, len(keys): b""})
    cleanings = []
    tables = []
    for seeds in (bytes(16), bytes(range(16))):
        offset_map = OffsetMap(100, seeds)
        cleanings.append(clean_range(cleaned, offset_map))
        tables.append(offset_map.hashes[offset_map.offsets >= 0].tolist())
    first, second = (cleaning.removed.ranges.tolist() for cleaning in cleanings)
    assert first == second == [[0, 29]]
    assert not set(map(tuple, tables[0])) & set(map(tuple, tables[1]))


def test_only_segments_with_aborted_transactions_are_searched_for_them(monkeypatch):
    calls = []
    collect = txn_index.collect

    def count_calls(*arguments):
        calls.append(arguments)
        return collect(*arguments)

    monkeypatch.setattr(txn_index, "collect", count_calls)
    cleaned = cleaning_range(dict.fromkeys(range(5000), b""))
    views = list(cleaned.segments)
    entry = np.array([(0, 7, 0, 1, 0)], txn_index.ENTRY).tobytes()
    views[1] = replace(views[1], txnindex=in_memory("txnindex", entry))
    cleaning = clean_range(replace(cleaned, segments=views), OffsetMap(1))
    assert cleaning.next_first_dirty_offset == 4999
    # for the map, and for the segments 0 and 1
    assert [stop for _, _, stop in calls] == [4999, 1, 2]
