"""Logs that no broker writes, and that must not cost memory or time, or stop a cleaning."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.binary import codec
from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import txn_index
from kafkaviz.simulate.cleaner import batch_chunks
from kafkaviz.simulate.cleaner.batch_chunks import DECOMPRESSED, BatchChunks, CleaningFailed
from kafkaviz.simulate.cleaner.offset_map import OffsetMap
from tests.analysis.compaction.made_logs import build_batch, build_body, clean_segments, view

MIB = 1 << 20


def body_of(*keys: bytes, first_delta: int = 0) -> bytes:
    return build_body([(key, b"v") for key in keys], first_delta)


@pytest.mark.parametrize("is_mixed", [False, True])
def test_a_chunk_of_bombs_is_decompressed_in_parts(is_mixed, monkeypatch):
    monkeypatch.setattr(batch_chunks, "MAX_DECOMPRESSED_BYTES", 4 * MIB)
    body = build_body([(b"key", bytes(2 * MIB))])
    names = ("zstd", "gzip", "none", "snappy", "lz4") if is_mixed else ("zstd",)
    bodies = {name: codec.compress(name, body) for name in names}
    bodies["none"] = body_of(b"key")
    batch_codecs = [names[offset % len(names)] for offset in range(50)]
    data = b"".join(
        build_batch(offset, bodies[name], attributes=codec.CODECS.index(name))
        for offset, name in enumerate(batch_codecs)
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
    data = build_batch(0, body_of(*keys), len(keys))
    data += build_batch(len(keys), b"", record_count=2**31 - 1)
    offset_map = OffsetMap(1 << 20)
    with pytest.raises(CleaningFailed):
        clean_segments([view(0, data), view(len(keys) + 1, b"")], offset_map)
    assert offset_map.size == len(keys)
    assert len(offset_map.offsets) == 8192


@pytest.mark.parametrize(
    "data",
    [
        build_batch(0, body_of(b"a", b"b", first_delta=500), 2),
        build_batch(0, body_of(b"a"), last_offset_delta=500) + build_batch(501, body_of(b"b")),
    ],
    ids=["record", "batch"],
)
def test_a_full_map_ends_in_the_part_that_is_cleaned(data):
    cleaning = clean_segments([view(0, data), view(2, b"")], OffsetMap(1))
    assert [segment.sources for segment in cleaning.segments] == [(0,)]
    assert cleaning.next_first_dirty_offset == 2
    assert cleaning.passes == 2
    assert cleaning.retained.records == 2


def test_a_map_without_room_keeps_the_first_dirty_offset():
    views = [view(place, build_batch(place, body_of(b"k"))) for place in range(2)]
    cleaning = clean_segments([*views, view(2, b"")], OffsetMap(0), first_dirty_offset=1)
    assert cleaning.next_first_dirty_offset == 1
    assert cleaning.passes is None


def test_the_seeds_of_the_map_change_no_cleaning():
    keys = [b"x" * (number % 20) for number in range(50)]
    views = [view(0, build_batch(0, body_of(*keys), len(keys))), view(len(keys), b"")]
    cleanings = []
    tables = []
    for seeds in (bytes(16), bytes(range(16))):
        offset_map = OffsetMap(100, seeds)
        cleanings.append(clean_segments(views, offset_map))
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
    views = [view(base_offset, b"") for base_offset in range(5000)]
    entry = np.array([(0, 7, 0, 1, 0)], txn_index.ENTRY).tobytes()
    views[1] = replace(views[1], txnindex=in_memory("txnindex", entry))
    cleaning = clean_segments(views, OffsetMap(1))
    assert cleaning.next_first_dirty_offset == 4999
    # for the map, and for the segments 0 and 1
    assert [stop for _, _, stop in calls] == [4999, 1, 2]
