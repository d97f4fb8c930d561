"""Decompresses many byte ranges of a buffer, as the batches of a log are, in few calls.

Of snappy and lz4 a call of a library takes longer than decompressing a batch of 1 KB. Their
compiled decompressors take as many ranges in one call as their output has room for; a range that
they refuse, and one that is larger than that, goes to codec.decompress by itself, whose answer
counts: its bytes, or that the data is corrupt. gzip and zstd have codes of their own in each batch:
there a library with a context that is kept is as quick, call by call.

To load a compiled decompressor takes as long as some thousand calls of a library, and to compile
it, once, some seconds. So a process begins with the library.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.decoders.output import SLACK_BYTES
from kafkaviz.errors import CorruptBytes

RUN_BYTES = 1 << 20  # of decompressed data, unless a range alone has more
COMPILED = ("snappy", "lz4")
LIBRARY_RANGES = 8192  # which a process leaves to the library at first


@dataclass(frozen=True, slots=True)
class DecompressedRun:
    """Some of the ranges, decompressed one behind the other.

    Attributes:
        places: which of the ranges these are.
        data: their bytes, and more behind them; the next run may overwrite them.
        ends: the byte of data behind each.
    """

    places: np.ndarray
    data: np.ndarray
    ends: np.ndarray


class RunDecompressor:
    """Decompresses runs of ranges, with one buffer for all of them."""

    _library_ranges = 0  # what this process has left to the library

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
        """Decompresses data[start:end] for each start and end; what is corrupt is in no run.

        Args:
            data: an array of uint8. A compiled decompressor takes those ranges behind which there
                are SLACK_BYTES more.
            limit_bytes: the most that one range may expand to.
        """
        starts, ends = (np.ascontiguousarray(edges, np.int64) for edges in (starts, ends))
        if codec_name not in COMPILED or RunDecompressor._library_ranges < LIBRARY_RANGES:
            RunDecompressor._library_ranges += len(starts)
            yield from _library_runs(codec_name, data, starts, ends, limit_bytes)
            return
        read_run, data = _read_run(codec_name), _read_only(data)
        if not len(self._out):
            self._out = np.empty(RUN_BYTES + SLACK_BYTES, np.uint8)
        out = _read_only(self._out)
        out_ends, first = np.empty(len(starts), np.int64), 0
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
    """Compiles the decompressors, or takes them from numba's cache, by reading nothing."""
    data, edges = _read_only(np.empty(0, np.uint8)), np.empty(0, np.int64)
    for codec_name in COMPILED:
        _read_run(codec_name)(data, edges, edges, np.empty(SLACK_BYTES, np.uint8), 0, edges)


def _library_runs(
    codec_name: str, data: np.ndarray, starts: np.ndarray, ends: np.ndarray, limit_bytes: int
) -> Iterator[DecompressedRun]:
    """The runs, a call of the library for each range."""
    places, bodies, size_bytes = [], [], 0
    for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        try:
            bodies.append(codec.decompress(codec_name, data[start:end].data, limit_bytes))
        except CorruptBytes:
            continue
        places.append(place)
        size_bytes += len(bodies[-1])
        if size_bytes >= RUN_BYTES:
            yield _joined(places, bodies)
            places, bodies, size_bytes = [], [], 0
    if places:
        yield _joined(places, bodies)


def _joined(places: list[int], bodies: list[bytes]) -> DecompressedRun:
    sizes = np.array([len(body) for body in bodies], np.int64)
    data = np.empty(int(sizes.sum()) + SLACK_BYTES, np.uint8)
    data[:-SLACK_BYTES] = np.frombuffer(b"".join(bodies), np.uint8)
    return DecompressedRun(np.array(places, np.int64), _read_only(data), np.cumsum(sizes))


def _read_only(data: np.ndarray) -> np.ndarray:
    """A view that is not to be changed: one type of array, so that a loop is compiled once."""
    view = data[:]
    view.flags.writeable = False
    return view


def _read_run(codec_name: str) -> Any:
    """The compiled decompressor of a codec; only what is used is loaded."""
    if codec_name == "snappy":
        from kafkaviz.binary.decoders import snappy as decoder
    else:
        from kafkaviz.binary.decoders import lz4 as decoder
    return decoder.read_run
