"""Decompression of many byte ranges of a buffer, such as the batches of a log, in few calls.

For snappy and lz4 a library call takes longer than decompressing a batch of 1 KB. So the compiled
decompressors take as many ranges per call as fit into the output. A range that is refused, or
larger than the output, goes to codec.decompress. For gzip and zstd, compiled code would not be
faster than a library that keeps its context.

Loading a compiled decompressor takes as long as some thousand library calls, and the first
compilation takes seconds. So each process uses the library first.

Each compiled decompressor is two functions:

    read(data, start, end, out, out_start, out_end) -> end of the output, REFUSED or FULL
    read_run(data, starts, ends, out, limit_bytes, out_ends) -> number of ranges that were read

read decompresses data[start:end] into `out` from out_start on:

- FULL: the output does not fit before out_end.
- REFUSED: the data is damaged, or in a rare form that only codec.decompress reads.
- Whatever read accepts, codec.decompress decompresses to the same bytes.
- Up to SLACK_BYTES may be read after `end`, and written after out_end.

read_run decompresses one range after another into `out`, starting at its first byte, and fills
out_ends. It stops at the first range that does not fit or is refused.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.binary.words import COPY_BYTES, copy_16, load_64, store_64
from kafkaviz.errors import CorruptBytes

RUN_BYTES = 1 << 20  # decompressed bytes per run, unless a single range has more
COMPILED = ("snappy", "lz4")
LIBRARY_RANGES = 8192  # each process gives this many ranges to the library first


@dataclass(frozen=True, slots=True)
class DecompressedRun:
    """The output of several byte ranges, decompressed one after another into one array.

    Attributes:
        places: the index of each range in the argument `starts` of `RunDecompressor.runs`.
        data: the decompressed bytes, then unused bytes. The next run may overwrite this array.
        ends: the end of each range's output in `data`.
    """

    places: np.ndarray
    data: np.ndarray
    ends: np.ndarray


class RunDecompressor:
    """Decompresses many byte ranges per call. Keeps its output buffer between calls."""

    _library_ranges = 0  # ranges that this process has given to the library

    def __init__(self) -> None:
        self._out = np.empty(0, np.uint8)

    def runs(
        self,
        codec_name: str,
        data: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        limit_bytes: int = codec.LIMIT_BYTES,
    ) -> Iterator[DecompressedRun]:
        """Decompresses each data[start:end]. Yields many ranges at once. Skips corrupt ranges.

        Args:
            data: an array of uint8. A compiled decompressor takes only ranges that are followed
                by at least SLACK_BYTES more bytes.
            limit_bytes: the most bytes that one range may expand to.
        """
        starts, ends = (np.ascontiguousarray(edges, np.int64) for edges in (starts, ends))
        if codec_name not in COMPILED or RunDecompressor._library_ranges < LIBRARY_RANGES:
            RunDecompressor._library_ranges += len(starts)
            yield from _library_runs(codec_name, data, starts, ends, limit_bytes)
            return
        read_run = _read_run(codec_name)
        data = _read_only(data)
        if not len(self._out):
            self._out = np.empty(RUN_BYTES + SLACK_BYTES, np.uint8)
        out = _read_only(self._out)
        out_ends = np.empty(len(starts), np.int64)
        first = 0
        while first < len(starts):
            count = read_run(
                data, starts[first:], ends[first:], self._out, limit_bytes, out_ends[first:]
            )
            if count:
                places = np.arange(first, first + count)
                yield DecompressedRun(places, out, out_ends[places])
            else:
                single = slice(first, first + 1)
                for run in _library_runs(
                    codec_name, data, starts[single], ends[single], limit_bytes
                ):
                    yield DecompressedRun(run.places + first, run.data, run.ends)
            first += max(count, 1)


def compile_decompressors() -> None:
    """Makes numba compile or load the decompressors, by calling each with empty arrays."""
    data = _read_only(np.empty(0, np.uint8))
    edges = np.empty(0, np.int64)
    for codec_name in COMPILED:
        _read_run(codec_name)(data, edges, edges, np.empty(SLACK_BYTES, np.uint8), 0, edges)


def _library_runs(
    codec_name: str, data: np.ndarray, starts: np.ndarray, ends: np.ndarray, limit_bytes: int
) -> Iterator[DecompressedRun]:
    places = []
    bodies = []
    size_bytes = 0
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        try:
            bodies.append(codec.decompress(codec_name, data[start:end].data, limit_bytes))
        except CorruptBytes:
            continue
        places.append(place)
        size_bytes += len(bodies[-1])
        if size_bytes >= RUN_BYTES:
            yield _joined(places, bodies)
            places = []
            bodies = []
            size_bytes = 0
    if places:
        yield _joined(places, bodies)


def _joined(places: list[int], bodies: list[bytes]) -> DecompressedRun:
    sizes = np.array([len(body) for body in bodies], np.int64)
    data = np.empty(int(sizes.sum()) + SLACK_BYTES, np.uint8)
    data[:-SLACK_BYTES] = np.frombuffer(b"".join(bodies), np.uint8)
    return DecompressedRun(np.array(places, np.int64), _read_only(data), np.cumsum(sizes))


def _read_only(data: np.ndarray) -> np.ndarray:
    """Returns a read-only view: numba then sees one array type and compiles each loop once."""
    view = data[:]
    view.flags.writeable = False
    return view


def _read_run(codec_name: str) -> Any:
    """Returns the read_run function of a codec. Imports only that codec's module."""
    if codec_name == "snappy":
        from kafkaviz.binary.decoders import snappy as decoder
    else:
        from kafkaviz.binary.decoders import lz4 as decoder
    return decoder.read_run


# ---- copies in compiled decompressors


REFUSED = -1
FULL = -2
SLACK_BYTES = 64

# for each distance below 8, its smallest multiple that is at least 8
_MULTIPLES = np.array([0, 8, 8, 9, 8, 10, 12, 14])


@njit(cache=True)
def copy_input(
    data: np.ndarray, start: int, size_bytes: int, out: np.ndarray, out_start: int
) -> None:
    """Copies bytes from one array to another. May write up to 15 bytes too many."""
    place = 0
    while place < size_bytes:
        copy_16(out, out_start + place, data, start + place)
        place += COPY_BYTES


@njit(cache=True)
def copy_match(out: np.ndarray, out_start: int, distance: int, size_bytes: int) -> None:
    """Copies `size_bytes` bytes of earlier output, starting `distance` bytes before `out_start`.

    Source and target may overlap: the result equals a copy byte by byte. May write up to 15 bytes
    too many.
    """
    place = out_start
    end = out_start + size_bytes
    if distance >= COPY_BYTES:
        copy_16(out, place, out, place - distance)
        place += COPY_BYTES
        while place < end:
            copy_16(out, place, out, place - distance)
            place += COPY_BYTES
        return
    if distance < 8:
        # a pattern that repeats every `distance` bytes also repeats at each multiple of it
        for _ in range(8):
            out[place] = out[place - distance]
            place += 1
        distance = _MULTIPLES[distance]
    while place < end:
        store_64(out, place, load_64(out, place - distance))
        place += 8
