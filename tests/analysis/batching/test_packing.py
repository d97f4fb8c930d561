"""Packed sizes against the libraries themselves, and the interval of a ratio."""

import random
import time
import zlib

import cramjam
import pytest
import zstandard

from kafkaviz.analysis.batching import packing
from kafkaviz.analysis.batching.packing import pack, ratio_interval
from kafkaviz.analysis.batching.record_sample import read_sample
from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.log.broker import open_broker
from tests.analysis.batching import samples
from tests.analysis.batching.samples import Sent


def library_bytes(codec_name: str, level: int | None, body: bytes) -> int:
    """Returns the size that a codec's library gives, with the framing that Kafka puts around it."""
    if codec_name == "gzip":
        deflater = zlib.compressobj(6 if level is None else level, wbits=-15)
        return 10 + len(deflater.compress(body) + deflater.flush()) + 8
    if codec_name == "zstd":
        # without the size of the content; an empty last block has three bytes
        compressor = zstandard.ZstdCompressor(level=level or 3, write_content_size=False)
        stream = compressor.compressobj()
        return len(stream.compress(body) + stream.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)) + 3
    if codec_name == "snappy":
        pieces = [body[start : start + 32768] for start in range(0, len(body), 32768)]
        return 16 + sum(4 + len(cramjam.snappy.compress_raw(piece)) for piece in pieces)
    if codec_name == "lz4" and level is None:
        pieces = [body[start : start + 65536] for start in range(0, len(body), 65536)]
        blocks = [cramjam.lz4.compress_block(piece, store_size=False) for piece in pieces]
        sizes = [min(len(block), len(piece)) for block, piece in zip(blocks, pieces, strict=True)]
        return 7 + sum(4 + size for size in sizes) + 4
    return len(body)


def test_sizes_are_those_of_the_libraries(clean):
    """Today's batches of a real log: each body is the one that Kafka compressed."""
    (partition,) = (p for p in open_broker(clean).partitions if p.directory == "clicks-none-0")
    window = samples.whole_window(partition)
    sample = read_sample([window])
    rows = {(row.batch_bytes, row.name): row for row in pack(sample, 60, is_whole=True)}
    bodies = []
    for batch in sample.batches:
        records = sample.records[batch["first_record"] : batch["end_record"]]
        bodies.append(sample.data[records["start"][0] : records["end"][-1]].tobytes())
    for (batch_bytes, _), row in rows.items():
        if batch_bytes is None and (row.codec, row.level) != ("lz4", 8):
            found = [library_bytes(row.codec, row.level, body) for body in bodies]
            assert row.packed_bytes == sum(found), row.name
            assert row.batches == len(found) and row.ratio_low == row.ratio_high == row.ratio
    assert rows[None, "none"].ratio == 1
    assert rows[None, "lz4 8"].packed_bytes < rows[None, "lz4"].packed_bytes
    assert rows[131072, "zstd"].ratio < rows[16384, "zstd"].ratio < rows[None, "zstd"].ratio


def test_batches_are_as_large_as_their_size_allows():
    sent = [Sent([number] * 10, value_bytes=900) for number in range(300)]
    rows = pack(samples.sample(sent), 60, is_whole=True)
    for row in rows:
        assert row.plain_bytes == pytest.approx(row.packed_bytes) or row.codec != "none"
        assert row.blocks == 4
    none = {row.batch_bytes: row for row in rows if row.codec == "none"}
    # 64 KiB of a block are 70 records of 948 bytes, of which 17 fit in 16 KiB
    assert none[16384].batches / 4 == 5
    assert (none[131072].batches, none[1 << 20].batches) == (8, 4)
    assert none[None].batches == 4 * 8
    assert none[1 << 20].plain_bytes > 2.7e6
    stored = none[16384].plain_bytes + HEADER_BYTES * none[16384].batches
    assert none[16384].stored_ratio == stored / none[16384].plain_bytes


def test_every_codec_sees_the_same_blocks_and_the_time_ends_them():
    """However little the time is, one block is packed; with little time, only what is cheap."""
    sent = [Sent([number] * 10, value_bytes=900, window=number // 60) for number in range(300)]
    sample = samples.sample(sent)
    start = time.monotonic()
    rows = pack(sample, 0.0)
    assert time.monotonic() - start < 5
    assert {(row.blocks, row.ratio_low, row.ratio_high) for row in rows} == {(1, None, None)}
    assert {row.batch_bytes for row in rows} == {None, 1024, 4096, 16384, 131072}
    assert {row.level for row in rows} == {None}
    for size in (None, 16384, 131072):
        assert len({row.plain_bytes for row in rows if row.batch_bytes == size}) == 1
    assert {row.blocks for row in pack(sample, 60)} == {5}
    assert pack(samples.sample([]), 1) == ()


def test_blocks_are_spread_over_the_windows():
    sent = [Sent([number] * 10, value_bytes=900, window=number // 250) for number in range(500)]
    sample = samples.sample(sent)
    blocks = packing._spread_blocks(sample, 500_000)
    windows = sample.batches["window"][sample.records["batch"][[block.start for block in blocks]]]
    assert windows.tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    covered = sorted((block.start, block.stop) for block in blocks)
    assert [first for first, _ in covered] == [0, *(end for _, end in covered)][:-1]
    assert covered[-1][1] == len(sample.records)


def test_processor_time_is_positive_and_per_mebibyte(monkeypatch):
    ticks = iter(range(0, 10**12, 1_000_000))
    monkeypatch.setattr(time, "thread_time_ns", lambda: next(ticks))
    sent = [Sent([0], value_bytes=1 << 19) for _ in range(2)]
    rows = pack(samples.sample(sent), 0.0)
    row = next(row for row in rows if row.batch_bytes is None and row.codec == "none")
    # one millisecond for a body of half a mebibyte
    assert row.pack_us_per_mib == pytest.approx(2000, rel=0.01) == row.unpack_us_per_mib


@pytest.mark.parametrize("blocks", [5, 30])
def test_the_interval_holds_the_ratio_as_often_as_it_says(blocks):
    """95 of 100 intervals of samples from a population that is known."""
    draw = random.Random(blocks)
    hits = 0
    for _ in range(1000):
        plain = [draw.randrange(90, 110) for _ in range(blocks)]
        packed = [size * draw.gauss(0.4, 0.05) for size in plain]
        low, high = ratio_interval(packed, plain, is_whole=False)
        hits += low <= 0.4 <= high
    assert 930 <= hits <= 970


def test_a_whole_topic_has_an_exact_ratio():
    assert ratio_interval([30, 60], [100, 100], is_whole=True) == (0.45, 0.45)
    assert ratio_interval([30], [100], is_whole=False) == (None, None)
