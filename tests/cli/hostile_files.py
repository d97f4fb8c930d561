"""Hostile files of a few bytes."""

import struct
import zlib
from functools import cache
from pathlib import Path

import crc32c
import numpy as np
import pyarrow as pa

from kafkaviz.format import record
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END

TINY = b"\x0c\x00\x00\x00\x01\x01\x00"  # a record of no key and no value
MILLIONS = (255 << 20) // len(TINY)  # the limit of decompression: 38 198 125
NAME = f"{0:020d}"
GOOD = record.build([record.Record(offset_delta=0, timestamp_delta_ms=0, key=b"k", value=b"v")])
TIME_MS = 1_790_000_000_000
PROPERTIES = (
    "version=1\nnode.id=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\ndirectory.id=BBBBBBBBBBBBBBBBBBBBBA\n"
)


@cache
def tiny_records(count: int = MILLIONS) -> bytes:
    return pa.compress(TINY * count, "zstd", asbytes=True)


def batch(
    body: bytes = GOOD,
    count: int = 1,
    base_offset: int = 0,
    attributes: int = 0,
    time_ms: int = TIME_MS,
    **fields: int,
) -> bytes:
    """Returns a batch of magic 2. `attributes`: the codec, 0x10 transactional, 0x20 control."""
    header = np.zeros(1, HEADER)
    header["magic"], header["base_offset"], header["attributes"] = 2, base_offset, attributes
    header["last_offset_delta"], header["record_count"] = count - 1, count
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    header["base_timestamp_ms"] = header["max_timestamp_ms"] = time_ms
    header["batch_length_bytes"] = HEADER_BYTES + len(body) - LENGTH_END
    for name, value in fields.items():
        header[name] = value
    start = HEADER.fields["attributes"][1]
    header["crc"] = crc32c.crc32c(body, crc32c.crc32c(header.tobytes()[start:]))
    return header.tobytes() + body


def tiny_batch(count: int = MILLIONS, **fields: int) -> bytes:
    return batch(tiny_records(count), count, **({"attributes": 4} | fields))


def wrapper(count: int) -> bytes:
    def message(value: bytes, attributes: int) -> bytes:
        body = (
            struct.pack(">bbqi", 1, attributes, TIME_MS, -1) + struct.pack(">i", len(value)) + value
        )
        return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body

    packed = zlib.compressobj(1, zlib.DEFLATED, 31)
    return message(packed.compress(message(b"", 0) * count) + packed.flush(), 1)


def broker(root: Path, log: bytes = b"", **files: bytes) -> Path:
    """Returns a broker directory with t-0, whose files are given by suffix."""
    (root / "t-0").mkdir(parents=True)
    (root / "meta.properties").write_text(PROPERTIES)
    for suffix, data in ({"log": log or batch(), "index": b"", "timeindex": b""} | files).items():
        (root / "t-0" / f"{NAME}.{suffix}").write_bytes(data)
    return root
