"""Reads a tar archive forward: ustar, pax headers, GNU long names and sparse files.

Every header is checked before it is used. The standard library's tarfile is not used: it keeps
every header in memory and seeks. Some releases of Python 3.11 loop forever on a negative size
(CVE-2025-8194), or take quadratic time for a pax header of digits (CVE-2024-6232).
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO

from kafkaviz.log.archives.members import (
    PIECE_BYTES,
    ArchiveMember,
    BadArchive,
    Pieces,
    UnpackBudget,
)
from kafkaviz.messages import message

BLOCK_BYTES = 512
NOTES_BYTES = 64 << 10  # the limit for one pax header or long name
# The limit for bytes after the end mark. Usually zeros fill the last record (10 KiB by default).
TAIL_BYTES = 16 << 20
SPARSE_CHUNKS = 100_000  # the limit for data ranges in one file
# D is a folder in GNU's incremental archives; its content is a list of names
REGULAR = (b"0", b"\0", b"7")
FOLDERS = (b"5", b"D")
PAX = (b"x", b"X")
PAX_GLOBAL = b"g"
LONG_NAME = b"L"
LONG_LINK = b"K"
# GNU types: a file with holes, and the name of a volume
SPARSE = b"S"
LABEL = b"V"
# links, devices, folders and pipes have no content, whatever their size field says
WITHOUT_DATA = (b"1", b"2", b"3", b"4", b"5", b"6")
TYPES = (*REGULAR, *FOLDERS, *WITHOUT_DATA, SPARSE, LABEL)
ASCII = bytes(range(128))
USTAR = b"ustar\0"  # GNU's is "ustar  "; its headers have times in the place of the prefix
DIGITS = re.compile(rb"[0-9]{1,19}")
SECONDS = re.compile(r"(-?)([0-9]{1,11})(?:\.([0-9]{0,30}))?")
LIMIT_NS = 1 << 63
SPARSE_FIELDS = ("GNU.sparse.size", "GNU.sparse.realsize", "GNU.sparse.map", "GNU.sparse.major")
# the pax keywords that are kept
FIELDS = ("path", "size", "mtime", "GNU.sparse.name", *SPARSE_FIELDS)


class TarStream:
    """The decompressed bytes of an archive. Each read counts against the limits in `budget`."""

    def __init__(self, source: IO[bytes], budget: UnpackBudget) -> None:
        self._source = source
        self.budget = budget
        self.position = 0

    def read(self, count: int) -> bytes:
        """Returns `count` bytes, or fewer at the end of the archive."""
        self.budget.add_bytes(count)
        pieces = []
        while count and (piece := self._source.read(count)):
            pieces.append(piece)
            count -= len(piece)
            self.position += len(piece)
        return b"".join(pieces)

    def pieces(self, count: int) -> Iterator[bytes]:
        """Yields `count` bytes in pieces. Raises BadArchive if the archive ends earlier."""
        while count:
            piece = self.read(min(count, PIECE_BYTES))
            if not piece:
                raise _cut(self.position)
            count -= len(piece)
            yield piece

    def skip(self, count: int) -> None:
        for _ in self.pieces(count):
            pass

    def notes(self, count: int) -> bytes:
        """Reads the content of an extra header, such as a long name. Drops the padding."""
        if count > NOTES_BYTES:
            raise BadArchive(message("archive.notes_too_long", count=count))
        block = b"".join(self.pieces(_pad_to_block(count)))
        return block[:count]


@dataclass
class _MemberNotes:
    """The contents of the extra headers before a member, which describe the member."""

    long_name: bytes | None = None
    fields: dict[str, str] = field(default_factory=dict)
    # (offset, length) of a sparse file's ranges, from two records each (GNU's first pax format)
    chunks: list[tuple[int, int]] = field(default_factory=list)
    is_begun: bool = False


def read_members(source: IO[bytes], budget: UnpackBudget) -> Iterator[tuple[ArchiveMember, Pieces]]:
    """Yields folders, and files with their content. Skips links and devices.

    Raises BadArchive if the archive is damaged or unsupported.
    """
    stream = TarStream(source, budget)
    global_fields = {}
    notes = _MemberNotes()
    while block := _header(stream, is_expected=notes.is_begun):
        kind = block[156:157]
        size = _number(block[124:136], "size")
        if size < 0:
            position = stream.position - BLOCK_BYTES
            raise BadArchive(message("archive.negative_size", position=position, size=size))
        if kind in PAX:
            _add_notes(notes, stream.notes(size))
        elif kind == PAX_GLOBAL:
            global_notes = _MemberNotes()
            _add_notes(global_notes, stream.notes(size))
            global_fields |= global_notes.fields
            continue
        elif kind == LONG_NAME:
            notes.long_name = stream.notes(size).partition(b"\0")[0]
        elif kind == LONG_LINK:
            stream.notes(size)
        else:
            notes.fields = global_fields | notes.fields
            yield from _member(stream, block, kind, size, notes)
            notes = _MemberNotes()
            continue
        notes.is_begun = True


def _header(stream: TarStream, *, is_expected: bool) -> bytes | None:
    position = stream.position
    stream.budget.add_headers()
    block = stream.read(BLOCK_BYTES)
    if len(block) == BLOCK_BYTES and not any(block) and not is_expected:
        if sum(map(len, _tail(stream))) > TAIL_BYTES:
            raise BadArchive(message("archive.long_tail", count=TAIL_BYTES, position=position))
        return None
    if len(block) < BLOCK_BYTES or not _has_valid_checksum(block):
        raise _cut(position)
    return block


def _tail(stream: TarStream) -> Iterator[bytes]:
    end = stream.position + TAIL_BYTES
    while stream.position <= end and (piece := stream.read(PIECE_BYTES)):
        yield piece


def _cut(position: int) -> BadArchive:
    return BadArchive(message("archive.cut", position=position))


def _has_valid_checksum(block: bytes) -> bool:
    """Returns whether the checksum of a header, the sum of its bytes, is right.

    The bytes of the checksum itself count as blanks. The sum may also be of signed bytes, as in old
    archives.
    """
    text = block[148:156].partition(b"\0")[0].strip()
    if not re.fullmatch(rb"[0-7]+", text):
        return False
    rest = block[:148] + b" " * 8 + block[156:]
    return int(text, 8) in (sum(rest), sum(rest) - 256 * len(rest.translate(None, ASCII)))


def _number(text: bytes, name: str) -> int:
    """Parses octal digits, or GNU's base 256 if the first byte is 0x80 (0xff if negative)."""
    if text[0] in (0x80, 0xFF):
        return int.from_bytes(text[1:], "big") - (256 ** (len(text) - 1) if text[0] == 0xFF else 0)
    digits = text.partition(b"\0")[0].strip()
    if not re.fullmatch(rb"[0-7]*", digits):
        raise BadArchive(message("archive.header_without_number", name=name))
    return int(digits or b"0", 8)


def _decimal(text: str | bytes, name: str) -> int:
    digits = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
    if not DIGITS.fullmatch(digits):
        raise BadArchive(message("archive.header_without_number", name=name))
    return int(digits)


def _add_notes(notes: _MemberNotes, block: bytes) -> None:
    r"""Adds the records of a pax header, each of the form "LENGTH KEYWORD=VALUE\n".

    Only the keywords in FIELDS and those of GNU sparse files are kept.
    """
    position = 0
    offset = None
    while position < len(block):
        digits = block[position : position + 8].partition(b" ")[0]
        end = position + (int(digits) if DIGITS.fullmatch(digits) else 0)
        keyword, separator, value = block[position + len(digits) + 1 : end - 1].partition(b"=")
        if end <= position or not separator or block[end - 1 : end] != b"\n":
            raise BadArchive(message("archive.pax_unreadable"))
        position = end
        name = os.fsdecode(keyword)
        text = os.fsdecode(value)
        if name == "GNU.sparse.offset":
            offset = _decimal(text, name)
        elif name == "GNU.sparse.numbytes" and offset is not None:
            notes.chunks.append((offset, _decimal(text, name)))
            _check_count(len(notes.chunks))
        elif name in FIELDS:
            notes.fields[name] = text


def _member(
    stream: TarStream, block: bytes, kind: bytes, size: int, notes: _MemberNotes
) -> Iterator[tuple[ArchiveMember, Pieces]]:
    """Yields the member that a header describes, if it is a file or a folder.

    Moves the stream to the next header.
    """
    if kind not in TYPES:
        position = stream.position - BLOCK_BYTES
        raise BadArchive(message("archive.unknown_type", type=repr(kind), position=position))
    if "size" in notes.fields:
        size = _decimal(notes.fields["size"], "size")
    stored_bytes = 0 if kind in WITHOUT_DATA else size
    path = _path(block, notes)
    mtime_ns = _mtime_ns(block, notes.fields)
    stream.budget.expect_bytes(stored_bytes)
    if kind == SPARSE:
        chunks, real_bytes = _read_gnu_map(stream, block)
    elif kind in REGULAR and any(name in notes.fields for name in SPARSE_FIELDS):
        map_start = stream.position
        chunks, real_bytes = _pax_map(stream, notes)
        stored_bytes -= stream.position - map_start  # the map precedes the content
    else:
        chunks = [(0, stored_bytes)]
        real_bytes = stored_bytes
    end = stream.position + _pad_to_block(max(stored_bytes, 0))
    is_folder = kind in FOLDERS or (kind in REGULAR and path.endswith("/"))
    size_bytes = 0 if is_folder else real_bytes
    member = ArchiveMember(PurePosixPath(path), is_folder, size_bytes, mtime_ns)
    if is_folder:
        yield member, iter(())
    elif kind in REGULAR or kind == SPARSE:
        _check_map(chunks, real_bytes, stored_bytes, path)
        # holes count too: they are not read here, but by everyone who opens the file
        stream.budget.add_bytes(real_bytes - stored_bytes)
        yield member, _iterate_chunks(stream, chunks)
    stream.skip(end - stream.position)


def _iterate_chunks(stream: TarStream, chunks: list[tuple[int, int]]) -> Pieces:
    for offset, count in chunks:
        for piece in stream.pieces(count):
            yield offset, piece
            offset += len(piece)


def _path(block: bytes, notes: _MemberNotes) -> str:
    """Returns the name in the pax header, else GNU's long name, else the plain header's name."""
    path = notes.fields.get("GNU.sparse.name") or notes.fields.get("path")
    if path is None:
        name = block[:100].partition(b"\0")[0]
        prefix = block[345:500].partition(b"\0")[0]
        full_name = prefix + b"/" + name if prefix and block[257:263] == USTAR else name
        path = os.fsdecode(full_name if notes.long_name is None else notes.long_name)
    if "\0" in path:
        raise BadArchive(message("archive.zero_in_name"))
    return path


def _mtime_ns(block: bytes, fields: dict[str, str]) -> int:
    if (text := fields.get("mtime")) is None:
        time_ns = _number(block[136:148], "time") * 1_000_000_000
    elif match := SECONDS.fullmatch(text):
        sign, seconds, fraction = match.groups()
        time_ns = int(seconds + (fraction or "")[:9].ljust(9, "0")) * (-1 if sign else 1)
    else:
        raise BadArchive(message("archive.header_without_number", name="time"))
    if abs(time_ns) >= LIMIT_NS:
        raise BadArchive(message("archive.impossible_time"))
    return time_ns


# ---- sparse files: a map of (offset, length) of the ranges that are stored one after the other;
# the rest are holes


def _read_gnu_map(stream: TarStream, block: bytes) -> tuple[list[tuple[int, int]], int]:
    """Reads the map of GNU's oldest sparse format: 4 ranges in the header, then 21 per block."""
    chunks = _parse_chunks(block[386:482])
    is_extended = block[482]
    while is_extended:
        stream.budget.add_headers()
        extension = b"".join(stream.pieces(BLOCK_BYTES))
        chunks += _parse_chunks(extension[:504])
        _check_count(len(chunks))
        is_extended = extension[504]
    return chunks, _number(block[483:495], "size")


def _parse_chunks(table: bytes) -> list[tuple[int, int]]:
    rows = (table[start : start + 24] for start in range(0, len(table), 24))
    pairs = [(_number(row[:12], "map"), _number(row[12:], "map")) for row in rows]
    return [(offset, count) for offset, count in pairs if offset or count]


def _pax_map(stream: TarStream, notes: _MemberNotes) -> tuple[list[tuple[int, int]], int]:
    """Reads the map of a sparse file in one of GNU's pax formats. Returns (map, size of the file).

    Versions 0.0 and 0.1 keep the map in the pax header, version 1.0 keeps it before the content.
    """
    fields = notes.fields
    size = fields.get("GNU.sparse.realsize") or fields.get("GNU.sparse.size") or ""
    real_bytes = _decimal(size, "size")
    if "GNU.sparse.map" in fields:
        numbers = [_decimal(text, "map") for text in fields["GNU.sparse.map"].split(",")]
    elif fields.get("GNU.sparse.major") == "1":
        numbers = _read_map(stream)
    else:
        return notes.chunks, real_bytes
    return list(zip(numbers[::2], numbers[1::2], strict=True)), real_bytes


def _read_map(stream: TarStream) -> list[int]:
    """Reads the number of ranges, then each range's offset and length. Each number is a line."""
    numbers: list[int] = []
    expected_count = 1
    rest = b""
    while len(numbers) < expected_count:
        *lines, rest = (rest + b"".join(stream.pieces(BLOCK_BYTES))).split(b"\n")
        for line in lines[: BLOCK_BYTES if not numbers else expected_count - len(numbers)]:
            numbers.append(_decimal(line, "map"))
            if len(numbers) == 1:
                _check_count(numbers[0])
                expected_count += 2 * numbers[0]
            if len(numbers) == expected_count:
                break
        if len(numbers) < expected_count and len(rest) > BLOCK_BYTES:
            raise BadArchive(message("archive.header_without_number", name="map"))
    return numbers[1:]


def _check_count(chunks: int) -> None:
    if chunks > SPARSE_CHUNKS:
        raise BadArchive(message("archive.too_many_pieces", count=SPARSE_CHUNKS))


def _check_map(
    chunks: list[tuple[int, int]], real_bytes: int, stored_bytes: int, path: str
) -> None:
    end = 0
    for offset, count in chunks:
        if offset < end or count < 0:
            raise BadArchive(message("archive.map_unreadable", path=path))
        end = offset + count
    if end > real_bytes or sum(count for _, count in chunks) != stored_bytes:
        raise BadArchive(message("archive.map_unreadable", path=path))


def _pad_to_block(count: int) -> int:
    return -(-count // BLOCK_BYTES) * BLOCK_BYTES
