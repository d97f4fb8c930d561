"""The members of an archive, the limits for unpacking them, and the reader of .zip files.

The limits apply to bytes, headers, files and time (docs/serve.md). Skipped members, headers, holes
and bytes after the end count too, because a few packed KB can expand to any amount of them.
"""

import io
import os
import stat
import struct
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import Message, message

PIECE_BYTES = 1 << 20
# (position in the file, bytes), ascending; the gaps between them are holes
Pieces = Iterator[tuple[int, bytes]]


@dataclass(frozen=True)
class ArchiveMember:
    path: PurePosixPath
    is_directory: bool
    size_bytes: int
    mtime_ns: int


class BadArchive(ValueError):
    """The archive is damaged, unsupported or unsafe."""

    def __init__(self, problem: Message) -> None:
        super().__init__(str(problem))
        self.problem = problem


# bytes that are read or left as holes; free disk space limits the bytes that are written
LIMIT_BYTES = 1 << 40
LIMIT_HEADERS = 4_000_000  # of every kind, including links, pax headers and long names
LIMIT_FILES = 1_000_000  # files and folders, including folders that exist only in a member's path
LIMIT_DEPTH = 64  # nested folders; listing or removing them needs a call for each level
BASE_S = 300
BYTES_PER_S = 1 << 20  # a packed file gets one more second per this many bytes
PROGRESS_INTERVAL_S = 0.25  # how often the progress is reported
UNPACK_YOURSELF = message("archive.unpack_yourself")

ProgressCallback = Callable[[int], None]


class UnpackBudget:
    """The limits for unpacking one archive. The methods raise CannotOpen (kind "archive")."""

    def __init__(self, path: Path, on_progress: ProgressCallback | None = None) -> None:
        """Starts the time limit.

        Args:
            on_progress: called a few times per second with the number of bytes read so far. If it
                raises, the unpacking ends.
        """
        self.path = path
        self._on_progress = on_progress
        self._headers = self._files = self._bytes = 0
        self._limit_s = BASE_S + os.stat(path).st_size // BYTES_PER_S
        self._deadline_s = time.monotonic() + self._limit_s
        self._next_progress_s = time.monotonic() + PROGRESS_INTERVAL_S

    def add_bytes(self, count: int) -> None:
        """Counts bytes that will be read, or the bytes of a hole, against the limit."""
        self._bytes += count
        self.expect_bytes(0)
        self.check_time()

    def expect_bytes(self, count: int) -> None:
        """Raises if `count` more bytes would exceed the limit. Does not count them."""
        if self._bytes + count > LIMIT_BYTES:
            raise self._refusal(message("archive.too_many_bytes", limit=LIMIT_BYTES))

    def add_headers(self, count: int = 1) -> None:
        self._headers += count
        if self._headers > LIMIT_HEADERS:
            raise self._refusal(message("archive.too_many_headers", limit=LIMIT_HEADERS))

    def add_file(self) -> None:
        self._files += 1
        if self._files > LIMIT_FILES:
            raise self._refusal(message("archive.too_many_files", limit=LIMIT_FILES))

    def check_depth(self, folders: int) -> None:
        if folders > LIMIT_DEPTH:
            raise self._refusal(message("archive.too_deep", limit=LIMIT_DEPTH))

    def check_time(self) -> None:
        """Checks the deadline and reports the progress."""
        now_s = time.monotonic()
        if now_s > self._deadline_s:
            raise self._refusal(message("archive.takes_too_long", limit=self._limit_s))
        if self._on_progress and now_s >= self._next_progress_s:
            self._next_progress_s = now_s + PROGRESS_INTERVAL_S
            self._on_progress(self._bytes)

    def _refusal(self, problem: Message) -> CannotOpen:
        return CannotOpen(self.path, problem, UNPACK_YOURSELF, kind="archive")


# zipfile reads the central directory at once and needs ten times its size
DIRECTORY_BYTES = 32 << 20
# with other methods, zipfile decompresses a MiB at once, whatever the result's size
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LOCAL_HEADER_BYTES = 30  # without the name
EXTENDED_TIME = 0x5455  # an extra field that holds the time in UTC
ZIP_UNIX = 3


class _BoundedReader(io.BufferedReader):
    """A file that raises BadArchive if a caller asks for more than DIRECTORY_BYTES at once.

    zipfile asks for the whole directory of a .zip at once, however large the file says it is.
    """

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > DIRECTORY_BYTES:
            raise BadArchive(message("archive.long_directory", size=size, most=DIRECTORY_BYTES))
        return super().read(size)


def read_members(raw: io.RawIOBase, budget: UnpackBudget) -> Iterator[tuple[ArchiveMember, Pieces]]:
    """Yields folders, and files with their content. Skips links.

    Raises ValueError or zipfile's errors.
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
            method = entry.compress_type
            if method not in METHODS:
                raise BadArchive(
                    message("archive.unknown_method", name=entry.filename, method=method)
                )
            budget.expect_bytes(entry.file_size)
            with archive.open(entry) as content:
                yield member, _iterate_chunks(content, member, budget)


def _refuse_overlaps(entries: list[zipfile.ZipInfo], size_bytes: int) -> None:
    """Raises BadArchive if members share bytes, as in a zip bomb, or reach past the file's end."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise BadArchive(message("archive.members_overlap", name=entry.filename))
        header_bytes = LOCAL_HEADER_BYTES + len(entry.orig_filename)
        end = entry.header_offset + header_bytes + entry.compress_size
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
    position = 0
    while position + 4 <= len(entry.extra):
        kind, length = struct.unpack_from("<HH", entry.extra, position)
        if kind == EXTENDED_TIME and length >= 5 and entry.extra[position + 4] & 1:
            return struct.unpack_from("<i", entry.extra, position + 5)[0] * 1_000_000_000
        position += 4 + length
    year, month, day, *clock = entry.date_time  # some packers write zeros instead of a date
    modified = datetime(year, max(month, 1), max(day, 1), *clock, tzinfo=UTC)
    return int(modified.timestamp()) * 1_000_000_000
