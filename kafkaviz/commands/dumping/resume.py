"""Where a .log goes on behind damage: the next byte at which a batch of magic 2 starts whose checksum is right.

Kafka has no such search: what follows a length it cannot believe is lost to it, and cut off by a recovery.
"""

import numpy as np

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.commands.dumping.records_file import RecordsFile
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END, MAGIC_2

WINDOW_BYTES = 1 << 20
MOST_CHECKSUMS = 1000  # of headers that look right and are none, before the search ends
_MAGIC_AT = HEADER.fields["magic"][1]


def next_batch(log: RecordsFile, start: int, stop: int, last_offset: int) -> int | None:
    """The first byte from start on where a whole batch starts whose offsets lie above last_offset; None if there is none."""
    tried, at = 0, start
    while stop - at >= HEADER_BYTES and tried < MOST_CHECKSUMS:
        window = np.frombuffer(log.bytes_at(at, min(WINDOW_BYTES + HEADER_BYTES, stop - at)), np.uint8)
        for position in _candidates(window, at, stop, last_offset).tolist():
            tried += 1
            if tried > MOST_CHECKSUMS or _is_batch(log, position):
                return position if tried <= MOST_CHECKSUMS else None
        at += WINDOW_BYTES
    return None


def _candidates(window: np.ndarray, at: int, stop: int, last_offset: int) -> np.ndarray:
    """The bytes of the log at which a header may start: a magic of 2, and a length, offsets and a count that can be."""
    places = np.flatnonzero(window[_MAGIC_AT : len(window) - HEADER_BYTES + 1 + _MAGIC_AT] == MAGIC_2)
    headers = window[places[:, None] + np.arange(HEADER_BYTES)].view(HEADER).reshape(-1) if len(places) else np.empty(0, HEADER)
    size_bytes = headers["batch_length_bytes"].astype("i8") + LENGTH_END
    fits = (size_bytes >= HEADER_BYTES) & (size_bytes <= stop - at - places) & (headers["base_offset"] > last_offset)
    fits &= (headers["last_offset_delta"] >= 0) & (headers["record_count"] >= 0) & (headers["attributes"] >= 0)
    fits &= headers["record_count"] <= headers["last_offset_delta"].astype("i8") + 1
    return places[fits] + at


def _is_batch(log: RecordsFile, position: int) -> bool:
    """Whether the checksum of the batch that may start there is right."""
    header = np.frombuffer(log.bytes_at(position, HEADER_BYTES), HEADER)[0]
    data = log.bytes_at(position, int(header["batch_length_bytes"]) + LENGTH_END)
    return crc32c(data[CRC_START:]) == header["crc"]
