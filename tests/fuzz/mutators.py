"""Damage, drawn at random: cheap, of many kinds, and the same for the same draw.

Most kinds know no format. Those for batches change one field, or the compressed content, and then
correct lengths and checksum, so that a reader does not stop at a wrong checksum.
"""

import struct
import zlib
from collections.abc import Callable, Sequence
from random import Random

from kafkaviz.binary import codec, varint
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import legacy_messages, producer_snapshot
from kafkaviz.format.batch import (
    CODEC_MASK,
    CRC_START,
    HEADER,
    HEADER_BYTES,
    LEGACY_HEADER,
    LENGTH_END,
    MAGIC_2,
    MIN_LENGTH,
)
from tests.fuzz.seeds import Tree

LARGEST_BYTES = 16_000  # what grew beyond is cut
BYTES = (0x00, 0x01, 0x02, 0x3F, 0x40, 0x7F, 0x80, 0x81, 0xFE, 0xFF)
NUMBERS = (
    *(0, 1, -1, 2, -2, 13, 14, 60, 61, 127, 128, 255, 256, 32_767, -32_768, 65_535),
    *(1 << 20, (1 << 31) - 1, -(1 << 31), 1 << 62, -(1 << 63)),
)
MAGIC_AT, ATTRIBUTES_AT = HEADER.fields["magic"][1], HEADER.fields["attributes"][1]

Mutator = Callable[[bytearray, Random, Sequence[bytes]], None]


def mutated(data: bytes, draw: Random, others: Sequence[bytes] = ()) -> bytes:
    """Returns the data with one to a few damages; `others` may be spliced in."""
    changed = bytearray(data)
    for _ in range(1 + min(int(draw.expovariate(1)), 5)):
        draw.choice(PLAIN)(changed, draw, others)
    return bytes(changed[:LARGEST_BYTES])


# ---- of any bytes


def _place(data: bytearray, draw: Random) -> int:
    return draw.randrange(len(data)) if data else 0


def _stretch(data: bytearray, draw: Random) -> tuple[int, int]:
    """Returns the bounds of a stretch, mostly a short one."""
    start = _place(data, draw)
    mean = 16 if draw.random() < 0.8 else 400
    return start, min(len(data), start + 1 + int(draw.expovariate(1 / mean)))


def _flip(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    if data:
        data[_place(data, draw)] ^= 1 << draw.randrange(8)


def _set(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    if data:
        data[_place(data, draw)] = draw.choice(BYTES)


def _number(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    """Returns a number of 2, 4 or 8 bytes, sometimes one close to the size of the data."""
    size = draw.choice((2, 4, 4, 8))
    number = draw.choice(NUMBERS) if draw.random() < 0.7 else len(data) + draw.randint(-70, 2)
    at = _place(data, draw)
    order = draw.choice(("big", "big", "little"))
    data[at : at + size] = (number % (1 << 8 * size)).to_bytes(size, order)


def _varint(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    number = draw.choice(NUMBERS) if draw.random() < 0.6 else draw.randint(-300, 300)
    if draw.random() < 0.1:
        written = b"\xff" * draw.randrange(1, 12)
    elif -(1 << 31) <= number < 1 << 31:
        written = varint.write_varint(number)
    else:
        written = varint.write_varlong(number)
    at = _place(data, draw)
    data[at : at + draw.choice((1, 1, len(written)))] = written


def _cut(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    del data[_place(data, draw) :]


def _cut_front(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    del data[: _place(data, draw)]


def _delete(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    start, end = _stretch(data, draw)
    del data[start:end]


def _repeat(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    start, end = _stretch(data, draw)
    data[end:end] = data[start:end] * draw.choice((1, 1, 2, 9))


def _insert(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    at = _place(data, draw)
    data[at:at] = draw.randbytes(draw.choice((1, 1, 2, 4, 8, 61)))


def _move(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    start, end = _stretch(data, draw)
    section = data[start:end]
    del data[start:end]
    at = _place(data, draw)
    data[at:at] = section


def _zeros(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    start, end = _stretch(data, draw)
    data[start:end] = bytes(end - start)


def _noise(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    start, end = _stretch(data, draw)
    data[start:end] = draw.randbytes(end - start)


def _pad(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    data += bytes(draw.choice((1, 3, 8, 12, 17, 61, 512)))


def _splice(data: bytearray, draw: Random, others: Sequence[bytes]) -> None:
    """Joins the start of this and the end of another, or puts a stretch of another into this."""
    if others:
        other = draw.choice(others)
        if draw.random() < 0.5:
            data[_place(data, draw) :] = other[_place(bytearray(other), draw) :]
        else:
            start, end = _stretch(bytearray(other), draw)
            at = _place(data, draw)
            data[at:at] = other[start:end]


PLAIN: tuple[Mutator, ...] = (
    *(_flip, _flip, _flip, _set, _set, _set, _number, _number, _varint, _varint, _cut, _cut_front),
    *(_delete, _repeat, _insert, _move, _zeros, _noise, _pad, _splice),
)


# ---- of batches


def mutated_log(data: bytes, draw: Random, others: Sequence[bytes] = ()) -> bytes:
    """Returns batches damaged anywhere, mostly with a valid checksum."""
    kind = draw.random()
    if kind < 0.35:
        return mutated(data, draw, others)
    places = batch_places(data)
    if kind < 0.55 or not places:
        return _mutated_and_mended(data, draw, others)
    start, end = draw.choice(places)
    change = _in_header if kind < 0.75 else _in_records
    changed = change(data[start:end], draw, others)
    changed = mended(changed) if draw.random() < 0.9 else changed
    return (data[:start] + changed + data[end:])[:LARGEST_BYTES]


def _mutated_and_mended(data: bytes, draw: Random, others: Sequence[bytes]) -> bytes:
    return mended(mutated(data, draw, others))


def batch_places(data: bytes) -> list[tuple[int, int]]:
    """Returns start and end of each complete batch, by the lengths alone."""
    places, at = [], 0
    while at + MAGIC_AT < len(data):
        length = int.from_bytes(data[at + 8 : at + LENGTH_END], "big", signed=True)
        if length < MIN_LENGTH or at + LENGTH_END + length > len(data):
            break
        places.append((at, at + LENGTH_END + length))
        at = places[-1][1]
    return places


def mended(data: bytes) -> bytes:
    """Returns the same bytes with the checksum of each complete batch corrected."""
    changed = bytearray(data)
    for start, end in batch_places(data):
        if MAGIC_2 <= changed[start + MAGIC_AT] < 128:
            if end - start >= HEADER_BYTES:
                crc = crc32c(bytes(changed[start + CRC_START : end]))
                changed[start + 17 : start + CRC_START] = crc.to_bytes(4, "big")
        else:
            crc = zlib.crc32(changed[start + 16 : end])
            changed[start + 12 : start + 16] = crc.to_bytes(4, "big")
    return bytes(changed)


def _in_header(data: bytes, draw: Random, others: Sequence[bytes]) -> bytes:
    """Sets one field of a header to an unusual number, or one close to its own."""
    is_v2 = MAGIC_2 <= data[MAGIC_AT] < 128 and len(data) >= HEADER_BYTES
    header = HEADER if is_v2 else LEGACY_HEADER
    kind, at = header.fields[draw.choice(header.names)][:2]
    size = kind.itemsize
    if draw.random() < 0.4:
        number = int.from_bytes(data[at : at + size], "big") + draw.choice((-2, -1, 1, 2))
    else:
        number = draw.choice(NUMBERS)
    return data[:at] + (number % (1 << 8 * size)).to_bytes(size, "big") + data[at + size :]


def _in_records(data: bytes, draw: Random, others: Sequence[bytes]) -> bytes:
    """Damages the bytes after the header, decompressed, and corrects the batch length."""
    if not MAGIC_2 <= data[MAGIC_AT] < 128:
        return _in_message(data, draw, others)
    if len(data) < HEADER_BYTES:
        return mutated(data, draw, others)
    codec_id, records = data[ATTRIBUTES_AT + 1] & CODEC_MASK, data[HEADER_BYTES:]
    try:
        name = codec.name(codec_id)
        plain = codec.decompress(name, records, 1 << 20)
        records = codec.compress(name, mutated(plain, draw, others))
    except CorruptBytes:
        records = mutated(records, draw, others)
    length = (HEADER_BYTES - LENGTH_END + len(records)).to_bytes(4, "big")
    return data[:8] + length + data[LENGTH_END:HEADER_BYTES] + records


def _in_message(data: bytes, draw: Random, others: Sequence[bytes]) -> bytes:
    """Damages a message of magic 0 or 1: the messages in a wrapper, or key and value."""
    at = LEGACY_HEADER.itemsize if data[MAGIC_AT] else LEGACY_HEADER.itemsize - 8
    messages = legacy_messages.read(data, 1 << 20)
    codec_id = data[MAGIC_AT + 1] & CODEC_MASK
    if codec_id and len(messages.data) and messages.data is not data:
        change = mutated_log if draw.random() < 0.5 else _mutated_and_mended
        inner = change(bytes(messages.data), draw, others)
        value = codec.compress(codec.CODECS[codec_id], inner)
        rest = struct.pack(">ii", -1, len(value)) + value
    else:
        rest = mutated(data[at:], draw, others)
    changed = data[:at] + rest
    return changed[:8] + (len(changed) - LENGTH_END).to_bytes(4, "big") + changed[LENGTH_END:]


# ---- of other files


def mutated_snapshot(data: bytes, draw: Random, others: Sequence[bytes] = ()) -> bytes:
    """Damages a producer snapshot, mostly with a right checksum."""
    changed = bytearray(mutated(data, draw, others))
    if draw.random() < 0.8 and len(changed) >= producer_snapshot.HEADER.itemsize:
        if draw.random() < 0.7:
            changed[:2] = producer_snapshot.VERSION.to_bytes(2, "big")
        changed[2:6] = crc32c(bytes(changed[producer_snapshot.CRC_START :])).to_bytes(4, "big")
    return bytes(changed)


WORDS = (
    *(b"-1", b"0", b"00", b"+1", b"2147483647", b"2147483648", b"9223372036854775807"),
    *(b"-9223372036854775809", b"9" * 40, b"9" * 5000, b"1e9", b"null", b"true", b"NaN", b" "),
    *(b"\t", b"\x0b", b"\r", b"\r\n", b"\n\n", b"=", b":", b"#", b"{", b"}", b"[" * 2000, b"]"),
    *(b'"', b"\\", b"\\u", b"\\u00", b"\\ud800", b"\xff", b"\xed\xa0\x80", b"\xc2\x85"),
    *(b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xd9\xa3", b"\0"),
)


def mutated_text(data: bytes, draw: Random, others: Sequence[bytes] = ()) -> bytes:
    """Changes words and lines of a text, or any bytes."""
    if draw.random() < 0.3:
        return mutated(data, draw, others)
    if draw.random() < 0.4:
        parts = data.splitlines(keepends=True)
    else:
        parts = data.replace(b" ", b"\0 \0").replace(b"=", b"\0=\0").split(b"\0")
    for _ in range(1 + min(int(draw.expovariate(1)), 4)):
        at = draw.randrange(len(parts) + 1)
        match draw.randrange(4):
            case 0:
                parts[at:at] = [draw.choice(WORDS)]
            case 1:
                parts[at : at + 1] = [draw.choice(WORDS)]
            case 2:
                del parts[at : at + 1]
            case 3:
                parts[at:at] = parts[at : at + 1]
    return b"".join(parts)[:LARGEST_BYTES]


def mutated_file(name: str, data: bytes, draw: Random, others: Sequence[bytes] = ()) -> bytes:
    """Damages a file by the kind of its name."""
    last = name.rpartition("/")[2]
    if ".log" in last or last.endswith((".checkpoint", ".checkpoint.part")):
        return mutated_log(data, draw, others)
    if ".snapshot" in last:
        return mutated_snapshot(data, draw, others)
    return mutated(data, draw, others) if "index" in last else mutated_text(data, draw, others)


SUFFIXES = (
    *("", ".deleted", ".cleaned", ".swap", ".log", ".index", ".timeindex", ".txnindex"),
    *(".snapshot", ".tmp", ".part"),
)
MOVED = ("orders-0.0123456789abcdef0123456789abcdef-delete", "b-1.x-future", "c-1.y-stray")
NAMES = ("orders-0", "orders-00", "x", "-0", "a-", "orders-0-delete", *MOVED)


def mutated_tree(tree: Tree, draw: Random) -> Tree:
    """Damages, exchanges, removes, empties, adds or renames files of a directory."""
    changed = dict(tree)
    for _ in range(1 + min(int(draw.expovariate(1)), 3)):
        if not changed:
            break
        name = draw.choice(sorted(changed))
        kind = draw.random()
        if kind < 0.7:
            other = changed[draw.choice(sorted(changed))]
            changed[name] = mutated_file(name, changed[name], draw, [other])
        elif kind < 0.78:
            del changed[name]
        elif kind < 0.84:
            changed[name] = changed[draw.choice(sorted(changed))]
        elif kind < 0.93:
            data = changed.pop(name) if draw.random() < 0.5 else changed[name]
            changed[_renamed(name, draw)] = data
        elif kind < 0.96:
            changed[name] = b""
        elif "/" in name:
            old, new = f"{name.partition('/')[0]}/", f"{draw.choice(NAMES)}/"
            changed = {
                new + name.removeprefix(old) if name.startswith(old) else name: data
                for name, data in changed.items()
            }
    return changed


def _renamed(name: str, draw: Random) -> str:
    directory, slash, last = name.rpartition("/")
    stem, dot, suffix = last.partition(".")
    if draw.random() < 0.5 or not stem.isdigit():
        return f"{directory}{slash}{stem}{dot}{suffix}{draw.choice(SUFFIXES)}"
    near = int(stem) + draw.choice((-1, 1, 1000))
    offset = draw.choice((0, 1, near, (1 << 63) - 1, 1 << 63, 1 << 31))
    return f"{directory}{slash}{max(offset, 0):020}{dot}{suffix}"
