"""Checks complete batches: the size must cover the header, and the checksum must be right.

Follows ensureValid of DefaultRecordBatch and LegacyRecord in Kafka 4.3.1, which checks neither
codec nor records.
"""

import zlib

import numpy as np

from kafkaviz.binary.crc32c import checksum_ranges, crc32c
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.format import batch, legacy_messages

BUFFER_BYTES = 1 << 20  # fits the processor's cache; a larger batch is read in pieces


class BatchCheck:
    """Checks batches in the order of a log, with one buffer for all batches."""

    def __init__(self, read: ReadInto) -> None:
        self._read = read
        self._buffer = np.empty(BUFFER_BYTES, np.uint8)

    def count_valid(self, batches: np.ndarray) -> tuple[int, str]:
        """Checks batches (rows of BATCH without gaps) up to the first invalid one.

        Returns the number of valid batches, and the fault: "crc", "too-small", or "" for none.
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
        start = int(batches["position"][0])
        size_bytes = int(batches["size_bytes"].sum())
        is_small = _too_small(batches)
        if size_bytes > len(self._buffer):
            if is_small.any():
                return is_small
            return np.array([self._large_crc(batches[0]) != batches["crc"][0]])
        window = self._buffer[: self._read(start, self._buffer[:size_bytes])]
        places = batches["position"] - start
        is_modern = batches["magic"] >= batch.MAGIC_2
        # the file is shorter than when it was measured
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
        is_modern = header["magic"] >= batch.MAGIC_2
        end = int(header["position"] + header["size_bytes"])
        step = crc32c if is_modern else zlib.crc32
        position = int(header["position"]) + (batch.CRC_START if is_modern else batch.MAGIC_END - 1)
        crc = 0
        while position < end:
            piece = self._buffer[: end - position]
            if self._read(position, piece) < len(piece):
                return batch.UNKNOWN
            crc = step(piece.data, crc)
            position = position + len(piece)
        return crc


def _too_small(batches: np.ndarray) -> np.ndarray:
    return (batches["magic"] >= batch.MAGIC_2) & (batches["size_bytes"] < batch.HEADER_BYTES)


def resolve_first_offsets(read: ReadInto, batches: np.ndarray) -> np.ndarray:
    """Returns rows of BATCH with the first offset of each wrapper filled in.

    A wrapper that cannot be read gets its last offset.
    """
    unknown = np.flatnonzero(
        (batches["magic"] < batch.MAGIC_2) & (batches["base_offset"] == batch.UNKNOWN)
    )
    if not len(unknown):
        return batches
    batches = batches.copy()
    for row in unknown.tolist():
        data = np.empty(int(batches["size_bytes"][row]), np.uint8)
        messages = legacy_messages.read(data[: read(int(batches["position"][row]), data)].data)
        is_readable = messages.fault is None and len(messages.rows) > 0
        batches["base_offset"][row] = (
            messages.rows["offset"][0] if is_readable else batches["last_offset"][row]
        )
    return batches
