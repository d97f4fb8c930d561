"""Builds messages of magic 0 and 1, which Kafka no longer writes."""

import struct
import zlib

CRC_BYTES = 4


def build_message(
    magic: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    *,
    timestamp_ms: int = -1,
    attributes: int = 0,
) -> bytes:
    """Returns the bytes of a message.

    For a wrapper, the value is the compressed messages and the key is null.
    """
    timestamp = b"" if magic == 0 else struct.pack(">q", timestamp_ms)
    body = bytes([magic, attributes]) + timestamp + _prefix_size(key) + _prefix_size(value)
    return struct.pack(">qiI", offset, CRC_BYTES + len(body), zlib.crc32(body)) + body


def _prefix_size(part: bytes | None) -> bytes:
    return struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part
