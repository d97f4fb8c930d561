"""The check of whole batches: is each as large as its header at least, and its checksum right?

As ensureValid of DefaultRecordBatch and LegacyRecord in Kafka 4.3.1: neither codec nor records are
looked at. Of the fields in front of the checksum a broker may change the base offset and the leader
epoch of magic 2, so no checksum covers them.
"""

import zlib

import numpy as np

from kafkaviz.binary.crc32c import crc32c, stretches
from kafkaviz.format import batch
from kafkaviz.format.walk import Read

BUFFER_BYTES = 1 << 20  # fits the processor's cache; a larger batch is read piece by piece


class BatchCheck:
    """Checks batches in the order of a log, with one buffer for all."""

    def __init__(self, read: Read) -> None:
        """read(position, buffer) gives the bytes of the .log, as format.walk.Read."""
        self._read, self._buffer = read, np.empty(BUFFER_BYTES, np.uint8)

    def leading(self, batches: np.ndarray) -> tuple[int, str]:
        """(how many of the first batches, format.batch.BATCH without gaps, are valid; "" or "crc"
        or "too-small" of the next).
        """
        ends = batches["position"] + batches["size_bytes"]
        at = 0
        while at < len(batches):
            start = int(batches["position"][at])
            stop = max(int(np.searchsorted(ends, start + BUFFER_BYTES, "right")), at + 1)
            wrong = self._wrong(batches[at:stop])
            if wrong.any():
                at += int(np.argmax(wrong))
                return at, "too-small" if _too_small(batches[at : at + 1])[0] else "crc"
            at = stop
        return at, ""

    def _wrong(self, batches: np.ndarray) -> np.ndarray:
        """Which of some neighbouring batches, or of a single large one, are not valid."""
        start, size_bytes = int(batches["position"][0]), int(batches["size_bytes"].sum())
        small = _too_small(batches)
        if size_bytes > len(self._buffer):
            return (
                small if small.any() else np.array([self._large(batches[0]) != batches["crc"][0]])
            )
        window = self._buffer[: self._read(start, self._buffer[:size_bytes])]
        places, modern = batches["position"] - start, batches["magic"] >= batch.MAGIC_2
        # the file is shorter than it was said to be
        small |= places + batches["size_bytes"] > len(window)
        crcs = stretches(
            window,
            np.where(small, 0, places + batch.CRC_START),
            np.where(small, 0, places + batches["size_bytes"]),
        )
        for at in np.flatnonzero(~modern).tolist():
            crcs[at] = zlib.crc32(
                window[
                    places[at] + batch.MAGIC_END - 1 : places[at] + batches["size_bytes"][at]
                ].data
            )
        return small | (crcs != batches["crc"])

    def _large(self, header: np.void) -> int:
        """The checksum of one batch, piece by piece; UNKNOWN where the file ends before it."""
        modern = header["magic"] >= batch.MAGIC_2
        end, step = int(header["position"] + header["size_bytes"]), crc32c if modern else zlib.crc32
        at, crc = int(header["position"]) + (batch.CRC_START if modern else batch.MAGIC_END - 1), 0
        while at < end:
            piece = self._buffer[: end - at]
            if self._read(at, piece) < len(piece):
                return batch.UNKNOWN
            crc, at = step(piece.data, crc), at + len(piece)
        return crc


def _too_small(batches: np.ndarray) -> np.ndarray:
    return (batches["magic"] >= batch.MAGIC_2) & (batches["size_bytes"] < batch.HEADER_BYTES)
