"""The record batch of a .log.

HEADER is the 61-byte header of magic 2. BATCH is a table row for a batch of any magic. Follows
DefaultRecordBatch and LegacyRecord of Kafka 4.3.1. Batches follow each other without gaps:

    position 0      | header 61 B | records ... |          size_bytes = 12 + batch length
    position 2871   | header 61 B | records ... |
"""

import numpy as np

from kafkaviz.binary.layouts import field_names, field_start
from kafkaviz.binary.lazy_njit import njit

HEADER: np.dtype = np.dtype(
    [
        ("base_offset", ">i8"),
        ("batch_length_bytes", ">i4"),  # of the bytes after this field
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),  # CRC-32C from attributes to the end of the batch
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp_ms", ">i8"),
        ("max_timestamp_ms", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("record_count", ">i4"),
    ]
)
LEGACY_HEADER: np.dtype = np.dtype(
    [  # magic 0 and 1: a single message, or a wrapper of compressed messages
        ("offset", ">i8"),  # of the message; in a wrapper: of its last message
        ("message_size_bytes", ">i4"),
        ("crc", ">u4"),  # CRC-32 from magic to the end of the message
        ("magic", "i1"),
        ("attributes", "i1"),
        ("timestamp_ms", ">i8"),  # magic 1 only
    ]
)
BATCH: np.dtype = np.dtype(
    [  # a batch of any magic, in the machine's byte order
        ("position", "i8"),
        ("size_bytes", "i8"),
        ("base_offset", "i8"),
        ("last_offset", "i8"),
        ("leader_epoch", "i4"),
        ("magic", "i1"),
        ("attributes", "i2"),
        ("base_timestamp_ms", "i8"),
        ("max_timestamp_ms", "i8"),
        ("producer_id", "i8"),
        ("producer_epoch", "i2"),
        ("base_sequence", "i4"),
        ("record_count", "i4"),
        ("crc", "u4"),
    ]
)
HEADER_BYTES = HEADER.itemsize
LENGTH_END = field_start(HEADER, "leader_epoch")  # 12: the length counts the bytes from here on
# 17: Kafka's reader needs these bytes to step to the next batch
MAGIC_END = field_start(HEADER, "crc")
# 21: the checksum covers the bytes from here to the end of the batch
CRC_START = field_start(HEADER, "attributes")
MIN_LENGTH = 14  # a shorter batch length is corruption (LegacyRecord.RECORD_OVERHEAD_V0)
MAGIC_2 = 2  # record batches, since Kafka 0.11; magic 0 and 1 are messages and wrappers
# first offset and record count of a compressed legacy wrapper that is not decompressed yet
UNKNOWN = -1

CODEC_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40


def rows(positions: np.ndarray, headers: np.ndarray) -> np.ndarray:
    """Returns a table of BATCH, one row per batch.

    `positions` are in the .log. `headers` has the first 61 bytes of each batch, uint8 (n, 61).
    """
    table = np.empty(len(positions), BATCH)
    table["position"] = positions
    header = headers.view(HEADER).reshape(-1)
    for name in field_names(HEADER):
        if name in field_names(BATCH):
            table[name] = header[name]
    table["size_bytes"] = header["batch_length_bytes"].astype("i8") + LENGTH_END
    table["last_offset"] = table["base_offset"] + header["last_offset_delta"]
    is_legacy = table["magic"] < 2
    if is_legacy.any():
        table[is_legacy] = _legacy_rows(table["position"][is_legacy], headers[is_legacy])
    return table


def _legacy_rows(positions: np.ndarray, headers: np.ndarray) -> np.ndarray:
    header = (
        np.ascontiguousarray(headers[:, : LEGACY_HEADER.itemsize]).view(LEGACY_HEADER).reshape(-1)
    )
    is_single = (header["attributes"] & CODEC_MASK) == 0
    timestamp_ms = np.where(header["magic"] == 1, header["timestamp_ms"], -1)
    table = np.empty(len(positions), BATCH)
    table["position"] = positions
    table["size_bytes"] = header["message_size_bytes"].astype("i8") + LENGTH_END
    table["base_offset"] = np.where(is_single, header["offset"], UNKNOWN)
    table["last_offset"] = header["offset"]
    table["base_timestamp_ms"] = np.where(is_single, timestamp_ms, -1)
    table["record_count"] = np.where(is_single, 1, UNKNOWN)
    table["max_timestamp_ms"] = timestamp_ms
    for name in ("magic", "attributes", "crc"):
        table[name] = header[name]
    for name in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence"):
        table[name] = -1
    return table


@njit(cache=True, boundscheck=True)
def read_int32(data: np.ndarray, position: int) -> int:
    """Returns the big-endian, signed number in the four bytes from `position` on."""
    high = np.int64(np.int8(data[position]))
    return (
        (high << 24)  # ty: ignore[invalid-explicit-return] numba gives Python an int
        | (np.int64(data[position + 1]) << 16)
        | (np.int64(data[position + 2]) << 8)
        | np.int64(data[position + 3])
    )


def codec(batches: np.ndarray | np.void) -> np.ndarray:
    """Returns the codec id of each batch (see `binary.codec.CODECS`). Kafka refuses 5 to 7."""
    return batches["attributes"] & CODEC_MASK


def is_log_append_time(batches: np.ndarray | np.void) -> np.ndarray:
    """Returns whether the timestamp type of each batch is LogAppendTime."""
    return (batches["attributes"] & LOG_APPEND_TIME) != 0


def is_transactional(batches: np.ndarray | np.void) -> np.ndarray:
    """Returns whether each batch is part of a transaction; False below magic 2."""
    return ((batches["attributes"] & TRANSACTIONAL) != 0) & (batches["magic"] >= 2)


def is_control(batches: np.ndarray | np.void) -> np.ndarray:
    """Returns whether each batch is a control batch; False below magic 2."""
    return ((batches["attributes"] & CONTROL) != 0) & (batches["magic"] >= 2)


def has_delete_horizon(batches: np.ndarray | np.void) -> np.ndarray:
    """Returns whether `base_timestamp_ms` is a delete horizon, per batch (KIP-534, since 3.1)."""
    return ((batches["attributes"] & DELETE_HORIZON) != 0) & (batches["magic"] >= 2)
