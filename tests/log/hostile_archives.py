"""Archives that claim too much, in a few KB or written on the fly; fuzzing starts from them too."""

import bz2
import gzip
import struct
import tarfile
import zlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

META = "b/meta.properties"
LOG = "b/orders-0/00000000000000000000.log"
END = bytes(1024)


def header(
    name: str,
    size: int = 0,
    kind: bytes = b"0",
    magic: bytes = tarfile.POSIX_MAGIC,
    **parts: tuple[int, bytes],
) -> bytes:
    """Returns the header of a member of any size and type. `parts` are pairs of position and bytes."""
    block = bytearray(512)
    block[:100] = name.encode()[:100].ljust(100, b"\0")
    block[100:108], block[124:136], block[136:148] = b"0000644\0", number(size), b"15000000000\0"
    block[156:157], block[257:265] = kind, magic
    for at, part in parts.values():
        block[at : at + len(part)] = part
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def number(value: int) -> bytes:
    """Returns twelve bytes: octal digits, or base 256 for a negative or too large number."""
    if 0 <= value < 8**11:
        return b"%011o\0" % value
    return (b"\x80" if value >= 0 else b"\xff") + (value % 256**11).to_bytes(11, "big")


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 512)


def file(name: str, content: bytes) -> bytes:
    return header(name, len(content)) + padded(content)


BROKER = file(META, b"node.id=1\n") + header(LOG)


def pax(block: bytes, kind: bytes = b"x") -> bytes:
    return header("p", len(block), kind) + padded(block)


def note(keyword: bytes, value: bytes) -> bytes:
    rest = len(keyword) + len(value) + 3
    length = next(rest + digits for digits in range(1, 20) if len(str(rest + digits)) == digits)
    return b"%d %s=%s\n" % (length, keyword, value)


def after_pax(keyword: bytes, value: bytes) -> bytes:
    """Returns an empty member whose pax header has this record."""
    return pax(note(keyword, value)) + header("b/x")


def sparse(
    name: str, real: int, chunks: tuple[tuple[int, int], ...], content: bytes, end: bytes = b"\0"
) -> bytes:
    """Returns a file with holes; `end` is 1 if more of its map follows."""
    table = b"".join(number(offset) + number(count) for offset, count in chunks)
    parts = {"table": (386, table), "end": (482, end), "real": (483, number(real))}
    return header(name, len(content), b"S", tarfile.GNU_MAGIC, **parts) + padded(content)


TOO_LARGE = "unpacks to more than 1099511627776 bytes"
NO_NUMBER = "a header without a number for its"
BAD_PAX = "a pax header whose records cannot be read"
BAD_MAP = "is a sparse file whose map cannot be read"
CUT = "damaged or truncated at byte"
FIRST_PAX = note(b"GNU.sparse.major", b"1") + note(b"GNU.sparse.realsize", b"9")


def tars() -> dict[str, tuple[bytes, str]]:
    """Returns small archives, each with one false claim, and the expected error."""
    archives = {}
    for size, kind in product((-512, -1024, -100_000), (b"Z", b"0", b"5", b"x", b"L", b"S")):
        claim = (header("x", size, kind), f"gives a size of {size} bytes")
        archives[f"size {size} of type {kind.decode()}"] = claim
    for size in (b"-512", b"1" * 5000, b"1e99"):
        archives[f"pax size {size[:9]!r}"] = (after_pax(b"size", size), f"{NO_NUMBER} size")
    for time in (b"1e999990", b"1e300", b"9" * 60_000, b"NaN", b"inf", b"-1e18", b"1" * 5000):
        claim = (after_pax(b"mtime", time), f"{NO_NUMBER} time")
        archives[f"time {time[:9]!r} of {len(time)}"] = claim
    negative = header(LOG, 0, b"S", tarfile.GNU_MAGIC, real=(483, b"\xff" * 12))
    archives |= {
        "pax size of exabytes": (after_pax(b"size", b"9" * 19), TOO_LARGE),
        "a hole of exabytes": (sparse(LOG, 1 << 70, (), b""), TOO_LARGE),
        "a time beyond files": (
            after_pax(b"mtime", b"99999999999"),
            "a time that no file can have",
        ),
        "unknown type": (header("b/x", 512, b"Z") + bytes(512), "unknown type b'Z' at byte 1536"),
        "digits": (pax(b"1" * 60_000) + header("b/x"), BAD_PAX),
        "digits, more than are read": (
            pax(b"1" * 200_000) + header("b/x"),
            "announces 200000 bytes",
        ),
        "digits and blanks": (pax((b"1" * 100 + b" ") * 500) + header("b/x"), BAD_PAX),
        "a record of no length": (pax(b"0 a=b\n") + header("b/x"), BAD_PAX),
        "its second record": (pax(note(b"a", b"b") + b"0 a=b\n") + header("b/x"), BAD_PAX),
        "a record longer than its header": (pax(b"999 a=b\n") + header("b/x"), BAD_PAX),
        "a charset": (pax(b"12 hdrcharset" + b"1" * 60_000, b"g") + header("b/x"), BAD_PAX),
        "a pax header at the end": (pax(note(b"comment", b"x")), CUT),
        "a zero byte in a name": (after_pax(b"path", b"b/\0x"), "a name with a zero byte in it"),
        "negative length of a sparse file": (negative, BAD_MAP),
        "overlapping chunks": (sparse(LOG, 4096, ((0, 512), (256, 512)), bytes(1024)), BAD_MAP),
        "chunks beyond the file": (sparse(LOG, 600, ((0, 512), (512, 512)), bytes(1024)), BAD_MAP),
        "chunks not stored": (sparse(LOG, 4096, ((0, 512), (1024, 512)), bytes(512)), BAD_MAP),
        "a map of too many numbers": (
            pax(FIRST_PAX) + file(LOG, b"100000000\n" + b"1\n" * 300),
            "in more than 100000 pieces",
        ),
        "a number without end": (pax(FIRST_PAX) + file(LOG, b"1" * 4096), f"{NO_NUMBER} map"),
        "half a pair": (
            pax(note(b"GNU.sparse.map", b"0,1,2") + note(b"GNU.sparse.size", b"9"))
            + file(LOG, b"x"),
            "is not an archive",
        ),
        "a sparse file without a size": (
            pax(note(b"GNU.sparse.map", b"0,1")) + file(LOG, b"x"),
            f"{NO_NUMBER} size",
        ),
    }
    return {
        name: (BROKER + content + END, error_text)
        for name, (content, error_text) in archives.items()
    }


def zip_of(entries: list[tuple[bytes, int, bytes, int, int, int]], content: bytes) -> bytes:
    """Returns a .zip of content, with a central directory of (name, position of the local header,
    packed bytes, CRC, size, method) per member.
    """
    rows = []
    for name, at, packed, crc, size, method in entries:
        fields = (20, 20, 0, method, 0, 0x5C21, crc, len(packed), size, len(name), at)
        rows.append(b"PK\1\2" + struct.pack("<HHHHHHIIIH12xI", *fields) + name)
    directory = b"".join(rows)
    count = min(len(rows), 0xFFFF)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(content), 0)
    return content + directory + b"PK\5\6" + end


def local(name: bytes, packed: bytes, crc: int, size: int, method: int) -> bytes:
    """Returns a member of a .zip in the form before the central directory."""
    fields = (20, 0, method, 0, 0x5C21, crc, len(packed), size, len(name), 0)
    return b"PK\3\4" + struct.pack("<HHHHHIIIHH", *fields) + name + packed


def overlapping_zip(members: int, size: int) -> bytes:
    """Returns members that share one piece of packed zeros."""
    name, zeros = LOG.encode(), bytes(size)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(zeros) + packer.flush()
    crc = zlib.crc32(zeros)
    return zip_of([(name, 0, packed, crc, size, 8)] * members, local(name, packed, crc, size, 8))


def bzip2_in_zip() -> bytes:
    """Returns a member that zipfile would unpack completely for its first bytes; its size is false."""
    packed, name = bz2.compress(bytes(1_000_000)), LOG.encode()
    return zip_of([(name, 0, packed, 0, 10, 12)], local(name, packed, 0, 10, 12))


def directory_of(entries: int) -> bytes:
    return zip_of([(b"", 0, b"", 0, 0, 0)] * entries, local(b"", b"", 0, 0, 0))


def write_links(path: Path, count: int) -> None:
    _write_many(path, count, header("b/link", 0, b"2"))


def write_pax(path: Path, count: int, size: int = 60_000) -> None:
    _write_many(path, count, pax(note(b"comment", b"a" * size)) + header("b/f"))


def write_files(path: Path, count: int) -> None:
    with gzip.open(path, "wb", 1) as out:
        out.write(BROKER)
        for number in range(count):
            out.write(header(f"b/orders-0/{number:020d}.log"))
        out.write(END)


def _write_many(path: Path, count: int, member: bytes) -> None:
    """Writes the same member many times; each thousand is one flushed piece, so it takes no time."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    with open(path, "wb") as out:
        out.write(packer.compress(BROKER))
        for _ in range(count):
            out.write(packer.compress(member))
        out.write(packer.compress(END) + packer.flush())


def write_tail(path: Path, streams: int, compress: Callable[[bytes], bytes] = bz2.compress) -> None:
    """Writes an archive followed by streams of 45 MB of zeros, 40 bytes each."""
    path.write_bytes(compress(BROKER + END) + compress(bytes(45_000_000)) * streams)


def write_empty_tail(path: Path, streams: int) -> None:
    """Writes an archive followed by empty streams, 20 bytes each."""
    path.write_bytes(gzip.compress(BROKER + END) + gzip.compress(b"", 1) * streams)


def write_zeros(path: Path, size: int) -> None:
    """Writes a .tar.gz with a log of zeros, made of one packed piece that is repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    begin = packer.compress(BROKER + header("b/orders-0/00000000000000000001.log", size))
    begin += packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(32 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + begin + piece * (size >> 25))


def write_globals(path: Path, count: int) -> None:
    """Writes a .tar.gz with global pax headers, each with different keywords."""
    with gzip.open(path, "wb", 1) as out:
        out.write(BROKER)
        for number in range(count):
            notes = (note(b"k%d.%d" % (number, place), b"v" * 90) for place in range(500))
            out.write(pax(b"".join(notes), b"g"))
        out.write(header("b/q") + END)
