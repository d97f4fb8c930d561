"""The packing of sampled records, against each codec's library alone.

The same records in batches of 16 KB and 1 KB are packed and unpacked by the loop of `tune`
(PackedCodec), which measures processor time itself, and by a loop that only calls the library: the
compressor is kept where the library allows it, and no framing is written.
"""

import time
import zlib
from collections.abc import Callable
from functools import partial
from random import Random

import cramjam
import zstandard

from benchmarks import best, row
from benchmarks.bench_deep_scan import RECORD_BYTES, WORDS
from kafkaviz.analysis.batching.packing import packed_times
from kafkaviz.format import record

PLAIN_BYTES = 4 << 20
RUNS = 5
LEVELS: dict[str, tuple[int | None, ...]] = {
    "gzip": (None, 1),
    "snappy": (None,),
    "lz4": (None,),
    "zstd": (None, 1),
}


def run() -> list[str]:
    """Returns a row per codec, level and batch size: MiB of records packed per second."""
    rows = []
    for batch_bytes in (16 << 10, 1 << 10):
        bodies = [body(number, batch_bytes) for number in range(PLAIN_BYTES // batch_bytes)]
        plain_mib = sum(map(len, bodies)) / (1 << 20)
        for name, levels in LEVELS.items():
            for level in levels:
                ours_s = min(packed_times(name, level, bodies)[0] for _ in range(RUNS)) / 1e9
                alone = partial(LIBRARIES[name], bodies, level)
                alone_s = best(alone, RUNS, time.thread_time)
                label = name if level is None else f"{name} {level}"
                rows.append(
                    row(
                        f"packing, {label}, {batch_bytes >> 10} KB batches, {RECORD_BYTES} B "
                        "records",
                        f"{plain_mib / ours_s:.0f} MiB/s of processor time",
                        f"its library alone, {plain_mib / alone_s:.0f} MiB/s",
                        f"{alone_s / ours_s:.2f} ×",
                    )
                )
    return rows


def body(number: int, batch_bytes: int) -> bytes:
    """Returns the records of a batch: words and numbers, as bench_deep_scan has them."""
    draw = Random(number)
    records = []
    size_bytes = 0
    while size_bytes < batch_bytes - RECORD_BYTES:
        words = " ".join(draw.choices(WORDS, k=12))
        value = f"{draw.random():.6f} {words}"[: RECORD_BYTES - 20].encode()
        records.append(
            record.Record(
                offset_delta=len(records),
                timestamp_delta_ms=len(records),
                key=f"key-{draw.randrange(10**6):06}".encode(),
                value=value,
            )
        )
        size_bytes += RECORD_BYTES
    return record.build(records)


def pack_gzip(bodies: list[bytes], level: int | None) -> None:
    for plain in bodies:
        deflater = zlib.compressobj(6 if level is None else level, wbits=-15)
        deflater.compress(plain)
        deflater.flush()


def pack_snappy(bodies: list[bytes], _level: int | None) -> None:
    for plain in bodies:
        cramjam.snappy.compress_raw(plain)


def pack_lz4(bodies: list[bytes], _level: int | None) -> None:
    for plain in bodies:
        cramjam.lz4.compress_block(plain, store_size=False)


def pack_zstd(bodies: list[bytes], level: int | None) -> None:
    compressor = zstandard.ZstdCompressor(level=level or 3, write_content_size=False)
    for plain in bodies:
        stream = compressor.compressobj()
        stream.compress(plain)
        stream.flush()


LIBRARIES: dict[str, Callable[[list[bytes], int | None], None]] = {
    "gzip": pack_gzip,
    "snappy": pack_snappy,
    "lz4": pack_lz4,
    "zstd": pack_zstd,
}
