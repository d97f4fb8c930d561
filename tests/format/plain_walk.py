"""A slow version of format/walk.py: Kafka's FileLogInputStream, step by step, with struct alone."""

import struct

END, SHORT, TORN, BAD_LENGTH = "end", "short", "torn", "bad-length"


def walk(data: bytes) -> tuple[list[dict], tuple[int, str]]:
    """Returns each batch's header fields, and (position, reason) of the end."""
    at, batches = 0, []
    while True:
        left = len(data) - at
        if left <= 17:
            return batches, (at, END if left == 0 else SHORT)
        (length,) = struct.unpack_from(">i", data, at + 8)
        if length < 14:
            return batches, (at, BAD_LENGTH)
        if left < 12 + length:
            return batches, (at, TORN)
        (magic,) = struct.unpack_from(">b", data, at + 16)
        if left < (61 if magic >= 2 else 26):
            return batches, (at, SHORT)
        batches.append(
            _batch(data, at, length) if magic >= 2 else _message(data, at, length, magic)
        )
        at += 12 + length


def _batch(data: bytes, at: int, length: int) -> dict:
    header = struct.unpack_from(">qiibIhiqqqhii", data, at)
    base, _, epoch, magic, crc, attributes, delta, base_ms, max_ms, pid, pepoch, sequence, count = (
        header
    )
    last = (base + delta + 2**63) % 2**64 - 2**63  # Java's long wraps
    return dict(
        position=at,
        size_bytes=12 + length,
        base_offset=base,
        last_offset=last,
        leader_epoch=epoch,
        magic=magic,
        attributes=attributes,
        base_timestamp_ms=base_ms,
        max_timestamp_ms=max_ms,
        producer_id=pid,
        producer_epoch=pepoch,
        base_sequence=sequence,
        record_count=count,
        crc=crc,
    )


def _message(data: bytes, at: int, length: int, magic: int) -> dict:
    offset, _, crc, _, attributes, timestamp = struct.unpack_from(">qiIbbq", data, at)
    single, timestamp = attributes & 7 == 0, timestamp if magic == 1 else -1
    return dict(
        position=at,
        size_bytes=12 + length,
        base_offset=offset if single else -1,
        last_offset=offset,
        leader_epoch=-1,
        magic=magic,
        attributes=attributes,
        base_timestamp_ms=timestamp if single else -1,
        max_timestamp_ms=timestamp,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=1 if single else -1,
        crc=crc,
    )
