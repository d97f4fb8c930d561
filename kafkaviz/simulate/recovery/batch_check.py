"""The check of whole batches: is each as large as its header at least, and its checksum right?

As ensureValid of DefaultRecordBatch and LegacyRecord in Kafka 4.3.1: neither codec nor records are
looked at. Of the fields in front of the checksum a broker may change the base offset and the leader
epoch of magic 2, so no checksum covers them.
"""

import zlib

import numpy as np

from kafkaviz.binary.crc32c import checksum_ranges, crc32c
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.format import batch

BUFFER_BYTES = 1 << 20  # fits the processor's cache; a larger batch is read piece by piece


class BatchCheck:
    """Checks batches in the order of a log, with one buffer for all."""

    def __init__(self, read: ReadInto) -> None:
        """read(position, buffer) gives the bytes of the .log."""
        self._read, self._buffer = read, np.empty(BUFFER_BYTES, np.uint8)

    def count_valid(self, batches: np.ndarray) -> tuple[int, str]:
        """(how many of the first batches, format.batch.BATCH without gaps, are valid; "" or "crc"
        or "too-small" of the next).
        """
        ends = batches["position"] + batches["size_bytes"]
        valid_count = 0
        while valid_count < len(batches):
            start = int(batches["position"][valid_count])
            stop = max(int(np.searchsorted(ends, start + BUFFER_BYTES, "right")), valid_count + 1)
            invalid = self._find_invalid(batches[valid_count:stop])
            if invalid.any():
                valid_count += int(np.argmax(invalid))
                return valid_count, "too-small" if _too_small(
                    batches[valid_count : valid_count + 1]
                )[0] else "crc"
            valid_count = stop
        return valid_count, ""

    def _find_invalid(self, batches: np.ndarray) -> np.ndarray:
        """Which of some neighbouring batches, or of a single large one, are not valid."""
        start, size_bytes = int(batches["position"][0]), int(batches["size_bytes"].sum())
        is_small = _too_small(batches)
        if size_bytes > len(self._buffer):
            return (
                is_small
                if is_small.any()
                else np.array([self._large_crc(batches[0]) != batches["crc"][0]])
            )
        window = self._buffer[: self._read(start, self._buffer[:size_bytes])]
        places, is_modern = batches["position"] - start, batches["magic"] >= batch.MAGIC_2
        # the file is shorter than it was said to be
        is_small |= places + batches["size_bytes"] > len(window)
        crcs = checksum_ranges(
            window,
            np.where(is_small, 0, places + batch.CRC_START),
            np.where(is_small, 0, places + batches["size_bytes"]),
        )
        for row in np.flatnonzero(~is_modern).tolist():
            crcs[row] = zlib.crc32(
                window[
                    places[row] + batch.MAGIC_END - 1 : places[row] + batches["size_bytes"][row]
                ].data
            )
        return is_small | (crcs != batches["crc"])

    def _large_crc(self, header: np.void) -> int:
        """The checksum of one batch, piece by piece; UNKNOWN where the file ends before it."""
        is_modern = header["magic"] >= batch.MAGIC_2
        end, step = (
            int(header["position"] + header["size_bytes"]),
            crc32c if is_modern else zlib.crc32,
        )
        position, crc = (
            int(header["position"]) + (batch.CRC_START if is_modern else batch.MAGIC_END - 1),
            0,
        )
        while position < end:
            piece = self._buffer[: end - position]
            if self._read(position, piece) < len(piece):
                return batch.UNKNOWN
            crc, position = step(piece.data, crc), position + len(piece)
        return crc


def _too_small(batches: np.ndarray) -> np.ndarray:
    return (batches["magic"] >= batch.MAGIC_2) & (batches["size_bytes"] < batch.HEADER_BYTES)
