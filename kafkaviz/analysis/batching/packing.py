"""Packs (compresses) the records of a sample with each codec, at several batch sizes.

A block is a run of neighbouring records. `pack` takes blocks from all parts of the sample, packs
each block with every codec and level, and stops after a given number of seconds. The packed bytes
equal those that Kafka's classes write (codec.compress_as_broker). Times are processor time on this
machine.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafkaviz.analysis.batching.merging import spread_order
from kafkaviz.analysis.batching.record_sample import RecordSample, cut_batches, record_bodies
from kafkaviz.binary import codec
from kafkaviz.format.batch import HEADER_BYTES

# The levels that are tried. None is Kafka's default, which is 6 for gzip, 9 for lz4, 3 for zstd.
LEVELS: dict[str, tuple[int | None, ...]] = {
    "none": (None,),
    "gzip": (None, 1, 9),
    "snappy": (None,),
    "lz4": (None, 8),
    "zstd": (None, 1, 6),
}
TODAY = None  # PackedCodec.batch_bytes for today's batches
BATCH_SIZES = (TODAY, 1 << 10, 4 << 10, 16 << 10, 128 << 10, 1 << 20)
# the batch sizes in which all levels are tried
LEVEL_BATCH_SIZES = (TODAY, 16 << 10, 128 << 10)
BLOCK_BYTES = 1 << 20
MIN_BLOCKS = 4  # fewer only if the blocks would be smaller than a part
# Batches up to this size are packed only from this first part of a block, unless the whole sample
# has at most BLOCK_BYTES.
PART_BYTES = 64 << 10
# With less time than this, only small blocks, default levels and batches up to 128 KiB are tried.
QUICK_SECONDS = 0.5
QUICK_BLOCK_BYTES = 128 << 10
# quantiles of Student's distribution for 95 %, by degrees of freedom from 1 on
_STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)


@dataclass(frozen=True, kw_only=True)
class PackedCodec:
    """The result for one codec, level and batch size.

    Times are processor time on this machine to pack or unpack a MiB of records.

    Attributes:
        level: the compression level. None: Kafka's default, or the codec has no levels.
        batch_bytes: the batch size before compression. None: today's batches.
        packed_bytes: the size of the packed records, without batch headers.
        ratio: `packed_bytes` / `plain_bytes`.
        ratio_low, ratio_high: the ratio's 95 % interval, or `ratio` itself if all records of the
            topic were packed. None: only one block was packed, and the topic has more records.
    """

    codec: str
    level: int | None
    batch_bytes: int | None
    batches: int
    blocks: int
    plain_bytes: int
    packed_bytes: int
    ratio: float
    ratio_low: float | None
    ratio_high: float | None
    pack_us_per_mib: float
    unpack_us_per_mib: float

    @property
    def name(self) -> str:
        """The codec and, unless it is the default, the level: "zstd" or "zstd 6"."""
        return self.codec if self.level is None else f"{self.codec} {self.level}"

    @property
    def stored_ratio(self) -> float:
        """The size of packed batches with headers, divided by `plain_bytes`."""
        return (self.packed_bytes + HEADER_BYTES * self.batches) / self.plain_bytes


class _Sums:
    def __init__(self, codec_name: str, level: int | None, batch_bytes: int | None) -> None:
        self.codec_name = codec_name
        self.level = level
        self.batch_bytes = batch_bytes
        self._batches = 0
        self._plain: list[int] = []
        self._packed: list[int] = []
        self._pack_ns = 0
        self._unpack_ns = 0

    def add(self, bodies: Sequence[bytes]) -> None:
        pack_ns, unpack_ns, packed_bytes = packed_times(self.codec_name, self.level, bodies)
        self._pack_ns += pack_ns
        self._unpack_ns += unpack_ns
        self._batches += len(bodies)
        self._plain.append(sum(map(len, bodies)))
        self._packed.append(packed_bytes)

    def result(self, *, is_whole: bool) -> PackedCodec:
        plain_bytes = sum(self._plain)
        packed_bytes = sum(self._packed)
        low, high = ratio_interval(self._packed, self._plain, is_whole=is_whole)
        us_per_mib = (1 << 20) / 1000 / plain_bytes
        return PackedCodec(
            codec=self.codec_name,
            level=self.level,
            batch_bytes=self.batch_bytes,
            batches=self._batches,
            blocks=len(self._plain),
            plain_bytes=plain_bytes,
            packed_bytes=packed_bytes,
            ratio=packed_bytes / plain_bytes,
            ratio_low=low,
            ratio_high=high,
            pack_us_per_mib=self._pack_ns * us_per_mib,
            unpack_us_per_mib=self._unpack_ns * us_per_mib,
        )


def pack(
    sample: RecordSample,
    seconds: float,
    *,
    is_whole: bool = False,
    on_progress: Callable[[float], None] = lambda _share: None,
) -> tuple[PackedCodec, ...]:
    """Packs a sample, and returns one result per batch size, codec and level.

    Returns an empty tuple if the sample has no records. Otherwise packs at least one block, even
    if this takes longer than `seconds`.
    """
    is_quick = seconds < QUICK_SECONDS
    levels = {name: (None,) if is_quick else codec_levels for name, codec_levels in LEVELS.items()}
    batch_sizes = BATCH_SIZES[:-1] if is_quick else BATCH_SIZES
    max_block_bytes = QUICK_BLOCK_BYTES if is_quick else BLOCK_BYTES
    block_bytes = max(PART_BYTES, min(max_block_bytes, len(sample.data) // MIN_BLOCKS))
    part_bytes = PART_BYTES if len(sample.data) > BLOCK_BYTES else len(sample.data)
    blocks = _spread_blocks(sample, block_bytes)
    all_sums = [
        _Sums(name, level, batch_bytes)
        for batch_bytes in batch_sizes
        for name, codec_levels in levels.items()
        for level in codec_levels
        if level is None or batch_bytes in LEVEL_BATCH_SIZES
    ]
    for name, level in {(sums.codec_name, sums.level) for sums in all_sums}:
        # creates the codec before the time is measured
        codec.decompress(name, codec.compress_as_broker(name, bytes(1024), level))
    packed_records = dict.fromkeys(batch_sizes, 0)
    start = time.monotonic()
    for number, block in enumerate(blocks):
        share = min(1.0, (time.monotonic() - start) / max(seconds, 1e-9))
        if number and share >= 1:
            break
        on_progress(max(share, number / len(blocks)))
        bodies = {}
        for size in batch_sizes:
            records = _first_records(sample, block, size, part_bytes)
            packed_records[size] += len(records)
            if size is None:  # today's batches
                edges = np.flatnonzero(np.diff(records["batch"], prepend=-1))
            else:
                edges = cut_batches(records, size)
            bodies[size] = record_bodies(sample.data, records, edges)
        for sums in all_sums:
            sums.add(bodies[sums.batch_bytes])
    if not blocks:
        return ()
    record_count = len(sample.records)
    return tuple(
        sums.result(is_whole=is_whole and packed_records[sums.batch_bytes] == record_count)
        for sums in all_sums
    )


def packed_times(
    codec_name: str, level: int | None, bodies: Sequence[bytes]
) -> tuple[int, int, int]:
    """Returns the ns of processor time to pack and to unpack batch bodies, and the packed size."""
    start_ns = time.thread_time_ns()
    packed = [codec.compress_as_broker(codec_name, body, level) for body in bodies]
    packed_ns = time.thread_time_ns()
    for data in packed:
        codec.decompress(codec_name, data)
    end_ns = time.thread_time_ns()
    return packed_ns - start_ns, end_ns - packed_ns, sum(map(len, packed))


def ratio_interval(
    packed: Sequence[int], plain: Sequence[int], *, is_whole: bool
) -> tuple[float | None, float | None]:
    """Returns the 95 % interval of sum(packed) / sum(plain), by a jackknife.

    `packed` and `plain` have one size per block. A block is one observation, because neighbouring
    records are similar. If `is_whole`, both ends are the ratio itself.
    If not, fewer than two blocks give (None, None).
    """
    packed_sums = np.array(packed, float)
    plain_sums = np.array(plain, float)
    ratio = packed_sums.sum() / plain_sums.sum()
    count = len(packed)
    if is_whole:
        return float(ratio), float(ratio)
    if count < 2:
        return None, None
    left_out = (packed_sums.sum() - packed_sums) / (plain_sums.sum() - plain_sums)
    deviation = np.sqrt((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum())
    freedom = count - 1
    quantile = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.5 / freedom
    return float(max(0.0, ratio - quantile * deviation)), float(ratio + quantile * deviation)


def _spread_blocks(sample: RecordSample, block_bytes: int) -> list[slice]:
    """Returns the first block of each window (part of a log), then the second of each, and so on.

    A block is a slice of the sample's records. The blocks of a window are in `spread_order`, not in
    the order of their positions: the batches at the start of a log are unusual, because a new
    producer expects that its records cannot be compressed.
    """
    records = sample.records
    if not len(records):
        return []
    windows = sample.batches["window"][records["batch"]]
    edges = np.flatnonzero(np.diff(windows, prepend=-1, append=-1))
    rounds: list[tuple[int, int, slice]] = []
    for window, (first, end) in enumerate(pairwise(edges.tolist())):
        starts = records["start"][first:end]
        block_count = max(1, int(records["end"][end - 1] - starts[0]) // block_bytes)
        targets = starts[0] + np.arange(block_count) * block_bytes
        # a block begins where a batch begins, so that today's batches stay whole
        first_batches = records["batch"][first + np.searchsorted(starts, targets, "right") - 1]
        cuts = [*sample.batches["first_record"][first_batches].tolist(), end]
        for number, place in enumerate(spread_order(block_count)):
            if cuts[place + 1] > cuts[place]:
                rounds.append((number, window, slice(cuts[place], cuts[place + 1])))
    return [block for _, _, block in sorted(rounds, key=lambda block: block[:2])]


def _first_records(
    sample: RecordSample, block: slice, batch_bytes: int | None, part_bytes: int
) -> np.ndarray:
    """Returns the first records of a block, up to the larger of `part_bytes` and `batch_bytes`.

    Returns at least one record. If `batch_bytes` is None, the last of today's batches is whole.
    """
    records = sample.records[block]
    starts = records["start"]
    end_byte = starts[0] + max(part_bytes, batch_bytes or 0)
    count = max(1, int(np.searchsorted(starts, end_byte)))
    if batch_bytes is None:
        count = int(np.searchsorted(records["batch"], records["batch"][count - 1], "right"))
    return records[:count]
