"""Compressed data of many writers, whole and damaged, and the results of the compiled decompressors
and the libraries.

Run as a program it decompresses all of it, which a test does with bounds checks on.
"""

import random
import struct
from collections.abc import Iterator
from importlib import import_module

import numpy as np
import pyarrow as pa

from kafkaviz.binary import codec
from kafkaviz.binary.decoders.runs import COMPILED, FULL, REFUSED, SLACK_BYTES
from kafkaviz.errors import CorruptBytes

ROOM = 1 << 17
_XERIAL = bytes.fromhex("82534e41505059000000000100000001")


def contents() -> Iterator[bytes]:
    """Returns data for every way to compress: none, text, runs, repeats at any distance, noise."""
    draw = random.Random(5)
    yield b""
    yield b"a"
    yield from (b"x" * size for size in (2, 15, 16, 17, 300, 70_000))
    yield b"".join(b'{"order":%d,"status":"shipped"}' % number for number in range(120))
    yield b"".join(b'{"id":%d,"sum":%d}' % (draw.randrange(1 << 40), n) for n in range(2500))
    yield draw.randbytes(40)
    yield draw.randbytes(3000)
    for distance in (1, 2, 3, 5, 7, 8, 9, 12, 15, 16, 17, 31, 63):
        yield draw.randbytes(distance) * (400 // distance)
    words = [draw.randbytes(draw.randrange(1, 24)) for _ in range(60)]
    yield b"".join(draw.choice(words) for _ in range(4000))
    yield bytes(draw.choices(range(256), weights=[1 / (1 + n) for n in range(256)], k=20_000))
    yield draw.randbytes(200) + bytes(30_000) + draw.randbytes(200)


def compressed(name: str, data: bytes) -> Iterator[bytes]:
    yield codec.compress(name, data)
    if name == "snappy":
        yield pa.compress(data, "snappy", asbytes=True)
        yield codec.compress(name, data[:100]) + codec.compress(name, data[100:])
        yield _XERIAL + _long_literal(data)
    else:
        yield pa.compress(data, "lz4", asbytes=True)


def _long_literal(data: bytes) -> bytes:
    """Returns a snappy block of one literal, whose size is in three bytes."""
    data = data[:60_000] or b"-"
    size, more = bytearray(), len(data)
    while more > 127:
        size.append(more & 127 | 128)
        more >>= 7
    block = bytes([*size, more, 62 << 2]) + (len(data) - 1).to_bytes(3, "little") + data
    return struct.pack(">i", len(block)) + block


def damaged(data: bytes, *, step: int = 1, seed: int = 3) -> Iterator[bytes]:
    """Yields the data cut, flipped, overwritten and grown, at every step-th byte."""
    draw = random.Random(seed)
    for place in range(0, len(data), step):
        yield data[:place]
        for bit in range(8):
            yield data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]
        yield data[:place] + draw.randbytes(draw.randrange(1, 9)) + data[place + 8 :]
    yield data + b"\x00"
    yield data + data
    yield data + draw.randbytes(9)


def read_compiled(name: str, data: bytes, room: int = ROOM, before: bytes = b"") -> bytes | int:
    """Returns the bytes, REFUSED or FULL, for data between other bytes."""
    noise = random.Random(len(data)).randbytes(SLACK_BYTES)
    source = np.frombuffer(noise + data + noise, np.uint8)
    out = np.full(len(before) + room + 3 * SLACK_BYTES, 0xA5, np.uint8)
    out[: len(before)] = np.frombuffer(before, np.uint8)
    reader = import_module(f"kafkaviz.binary.decoders.{name}").read
    start, end = len(noise), len(noise) + len(data)
    answer = int(reader(source, start, end, out, len(before), len(before) + room))
    written = len(before) + room + SLACK_BYTES
    assert (out[written:] == 0xA5).all(), "written behind the room"
    assert out[: len(before)].tobytes() == before, "written in front of the room"
    return answer if answer < 0 else out[len(before) : answer].tobytes()


def read_library(name: str, data: bytes, limit_bytes: int = 64 * ROOM) -> bytes | None:
    """Returns the result of codec.decompress, or None for corrupt data."""
    try:
        return codec.decompress(name, data, limit_bytes)
    except CorruptBytes:
        return None


def check(name: str, data: bytes) -> bool:
    """Returns whether the data is accepted, and asserts that the library then agrees."""
    answer = read_compiled(name, data)
    if answer in (REFUSED, FULL):
        return False
    assert answer == read_library(name, data), (name, data.hex())
    return True


def main() -> None:
    for name in COMPILED:
        for content in contents():
            for data in compressed(name, content):
                check(name, data)
                for broken in damaged(data, step=max(1, len(data) // 60)):
                    read_compiled(name, broken)


if __name__ == "__main__":
    main()
