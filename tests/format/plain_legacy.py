"""A plain Python reader of the messages of a batch of magic 0 or 1."""

import struct
import zlib
from collections.abc import Iterator

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes


class Refused(Exception):
    """Kafka's error in place of the next message."""


def messages(batch: bytes) -> tuple[list[tuple], str | None]:
    """Returns (messages, the error after them), each message as a tuple of its fields."""
    records = []
    try:
        for message in outer(batch):
            records.append(message)
    except Refused as fault:
        return records, str(fault)
    except CorruptBytes as fault:
        return records, str(fault.what)
    return records, None


def outer(batch: bytes) -> Iterator[tuple]:
    offset, body = struct.unpack_from(">q", batch)[0], batch[12:]
    if name := codec.name(body[5] & 7):
        if name == "none":
            yield message(offset, body, None)
        else:
            yield from inner(offset, body, name)


def inner(wrapper_offset: int, body: bytes, name: str) -> Iterator[tuple]:
    """Takes all messages out of the wrapper before it yields the first."""
    magic = signed(body[4])
    if magic not in (0, 1):
        raise Refused(f"Invalid wrapper magic found in legacy deep record iterator {magic}")
    if name == "zstd":
        raise Refused(
            f"Invalid wrapper compressionType found in legacy deep record iterator {magic}"
        )
    value = field(body, value_at(body))
    if value is None:
        raise Refused(f"Found invalid compressed record set with null value (magic = {magic})")
    entries = list(split(codec.decompress(name, value, lz4_header_checked=magic == 1)))
    if not entries:
        raise Refused("Found invalid compressed record set with no inner records")
    base, last = 0, entries[-1][0]
    if magic == 1 and wrapper_offset:
        if wrapper_offset < last:
            raise Refused(
                f"Found invalid wrapper offset in compressed v1 message set, wrapper offset '{wrapper_offset}' "
                f"is less than the last inner message offset '{last}' and it is not zero."
            )
        base = wrapper_offset - last
    for offset, entry in entries:
        if codec.name(entry[5] & 7) != "none":
            raise Refused("Inner messages must not be compressed")
        yield message((base + offset + 2**63) % 2**64 - 2**63, entry, body)


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 12:
        offset, size = struct.unpack_from(">qi", data)
        if size < 14:
            raise Refused("Record size is less than the minimum record overhead (14)")
        if len(data) < 12 + size:
            return
        yield offset, data[12 : 12 + size]
        data = data[12 + size :]


def message(offset: int, body: bytes, wrapper: bytes | None) -> tuple:
    """Parses one message. For an inner message, the wrapper says whose clock set its time."""
    kind, timestamp_ms, clock = "NoTimestampType", -1, body
    if body[4] != 0:
        if wrapper is not None and body[4] == 1:
            clock = wrapper
        kind = "LogAppendTime" if clock[5] & 8 else "CreateTime"
        if wrapper is not None and wrapper[4] == 0 and body[4] == 1:
            kind = "NoTimestampType"
        timestamp_ms = struct.unpack_from(">q", clock if kind == "LogAppendTime" else body, 6)[0]
    key = field(body, 6 if body[4] == 0 else 14)
    crc = struct.unpack_from(">I", body)[0]
    return (
        offset,
        timestamp_ms,
        kind,
        key,
        field(body, value_at(body)),
        crc,
        crc == zlib.crc32(body[4:]),
    )


def value_at(body: bytes) -> int:
    key_at = 6 if body[4] == 0 else 14
    return key_at + 4 + max(int32(body, key_at), 0)


def field(body: bytes, at: int) -> bytes | None:
    size, rest = int32(body, at), body[at + 4 :]
    if size > len(rest):
        raise Refused(f"newLimit > capacity: ({size} > {len(rest)})")
    return None if size < 0 else rest[:size]


def int32(body: bytes, at: int) -> int:
    if at + 4 > len(body):
        raise Refused("IndexOutOfBoundsException")
    return struct.unpack_from(">i", body, at)[0]


def signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
