"""Reads a .zip with the standard library's zipfile, after checking its directory and members.

The length of the directory and the positions of the members are checked before zipfile uses them.
"""

import io
import stat
import struct
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import IO

from kafkaviz.log.archives.archive_member import PIECE_BYTES, ArchiveMember, BadArchive, Pieces
from kafkaviz.log.archives.unpack_budget import UnpackBudget
from kafkaviz.messages import message

# zipfile reads the central directory at once and needs ten times its size
DIRECTORY_BYTES = 32 << 20
# with other methods, zipfile decompresses a MiB at once, whatever the result's size
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LOCAL_HEADER_BYTES = 30  # without the name
EXTENDED_TIME = 0x5455  # an extra field that holds the time in UTC
ZIP_UNIX = 3


class _BoundedReader(io.BufferedReader):
    """A file that refuses to read more than DIRECTORY_BYTES at once; contents never need more."""

    def read(self, size: int | None = -1) -> bytes:
        """Implements RawIOBase.read.

        Raises:
            ValueError: too many bytes are requested.
        """
        if size is not None and size > DIRECTORY_BYTES:
            raise BadArchive(message("archive.long_directory", size=size, most=DIRECTORY_BYTES))
        return super().read(size)


def read_members(raw: io.RawIOBase, budget: UnpackBudget) -> Iterator[tuple[ArchiveMember, Pieces]]:
    """Yields files and directories with their content; links are skipped.

    Raises:
        ValueError: the archive is damaged. zipfile's own errors are raised too.
    """
    with _BoundedReader(raw) as source, zipfile.ZipFile(source) as archive:
        entries = archive.infolist()
        budget.add_headers(len(entries))
        _refuse_overlaps(entries, source.seek(0, io.SEEK_END))
        for entry in entries:
            kind = stat.S_IFMT(entry.external_attr >> 16) if entry.create_system == ZIP_UNIX else 0
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                continue
            member = ArchiveMember(
                PurePosixPath(entry.filename), entry.is_dir(), entry.file_size, _mtime_ns(entry)
            )
            if entry.is_dir():
                yield member, iter(())
                continue
            if entry.compress_type not in METHODS:
                raise BadArchive(
                    message(
                        "archive.unknown_method", name=entry.filename, method=entry.compress_type
                    )
                )
            budget.expect_bytes(entry.file_size)
            with archive.open(entry) as content:
                yield member, _iterate_chunks(content, member, budget)


def _refuse_overlaps(entries: list[zipfile.ZipInfo], size_bytes: int) -> None:
    """Refuses members that share bytes, because those can unpack to any size."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise BadArchive(message("archive.members_overlap", name=entry.filename))
        end = (
            entry.header_offset
            + LOCAL_HEADER_BYTES
            + len(entry.orig_filename)
            + entry.compress_size
        )
    if end > size_bytes:
        raise BadArchive(message("archive.member_beyond_file"))


def _iterate_chunks(content: IO[bytes], member: ArchiveMember, budget: UnpackBudget) -> Pieces:
    position = 0
    while piece := content.read(PIECE_BYTES):
        budget.add_bytes(len(piece))
        yield position, piece
        position += len(piece)
    if position != member.size_bytes:
        raise BadArchive(message("archive.wrong_length", name=member.path.name))


def _mtime_ns(entry: zipfile.ZipInfo) -> int:
    """Returns the UTC time of the extra field, or else the archive's date taken as UTC."""
    position = 0
    while position + 4 <= len(entry.extra):
        kind, length = struct.unpack_from("<HH", entry.extra, position)
        if kind == EXTENDED_TIME and length >= 5 and entry.extra[position + 4] & 1:
            return struct.unpack_from("<i", entry.extra, position + 5)[0] * 1_000_000_000
        position += 4 + length
    year, month, day, *clock = entry.date_time  # some packers write zeros instead of a date
    return (
        int(datetime(year, max(month, 1), max(day, 1), *clock, tzinfo=UTC).timestamp())
        * 1_000_000_000
    )
