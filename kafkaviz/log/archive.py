"""A packed broker directory (.tar, .tar.gz, .tar.xz, .zip), unpacked once, safely, with its times and holes kept.

Kafka takes a .log's modification time for the segment's largest timestamp when the time index has none, so times
matter to the nanosecond; a preallocated index is 10 MiB of hole, so holes matter too.
"""

import bz2
import errno
import gzip
import hashlib
import lzma
import os
import shutil
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import IO

from kafkaviz.errors import CannotOpen
from kafkaviz.format.names import parse_file
from kafkaviz.log import file

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip")  # what is offered to open, too
LIMIT_BYTES = 1 << 40  # of apparent size; what is really written is bounded by the room on disk
LIMIT_FILES = 4_000_000
SPARED_BYTES = 1 << 30  # of the disk's free room, or half of it where that is less: an archive of noise must not fill a server
PIECE_BYTES = 1 << 20
HEADER_BYTES = 16 << 20  # tarfile reads a header's names and notes at once, as many bytes as the header says
HOLE_BYTES = 4096  # runs of zeros this long, and aligned so, become holes again
EXTENDED_TIME = 0x5455  # a .zip's extra field that holds the time in UTC
ZIP_UNIX = 3
DECOMPRESSORS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}  # by the first bytes: names may lie
BROKEN = (  # what the readers of the standard library raise on bytes that are no archive, encrypted ones included
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    OSError, EOFError, ValueError, ArithmeticError, RuntimeError, LookupError,
)  # fmt: skip


_GIVEN: dict[Path, Path] = {}  # the archive that each folder of the cache holds, of those opened by this process


@dataclass(frozen=True)
class Member:
    """One regular file or directory of an archive."""

    path: PurePosixPath
    is_directory: bool
    size_bytes: int
    mtime_ns: int


def cache_folder() -> Path:
    """Where kafkaviz keeps what it makes for itself: KAFKAVIZ_CACHE, else the user's cache folder."""
    own = os.environ.get("KAFKAVIZ_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkaviz"


def is_archive(path: Path) -> bool:
    """Whether the name says that this is an archive."""
    return path.name.lower().endswith(SUFFIXES)


def stem(path: Path) -> str:
    """The name without the archive's suffix."""
    found = max((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), key=len, default="")
    return path.name[: len(path.name) - len(found)]


def opened(path: Path) -> Path:
    """The directory itself, or the one that an archive holds, unpacked into the cache unless it is there already."""
    path = file.absolute(path)
    with file.failing_kindly(path):
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        return path
    if not is_archive(path):
        hint = "give the directory that it lies in" if parse_file(path.name) else "give a broker directory, a .tar, .tar.gz or a .zip"
        raise CannotOpen(path, "is a file", hint, kind="not-kafka")
    home = unpacked(path)
    if not home.exists():
        _unpack_aside(path, home)
    root = _innermost(home / stem(path))
    _GIVEN[home], _GIVEN[root] = path, path
    return root


def given(path: Path) -> Path:
    """A path as a person knows it: of what lies in an archive that was opened, the archive's own and the path in it."""
    root = next((one for one in (path, *path.parents) if one in _GIVEN), None)
    return path if root is None else _GIVEN[root] / path.relative_to(root)


def unpacked(path: Path) -> Path:
    """The folder in the cache that an archive is unpacked into, whether or not it was."""
    return cache_folder() / "unpacked" / _identity(path)


def _identity(path: Path) -> str:
    """The same for the same file: an archive that changed is unpacked anew."""
    found = file.info(path)
    return hashlib.sha256(f"{path.resolve()}\0{found.size_bytes}\0{found.mtime_ns}".encode()).hexdigest()[:16]


def _unpack_aside(path: Path, home: Path) -> None:
    """Unpacks next to the final place and moves it there: a broken run leaves nothing that looks whole."""
    aside: Path | None = None
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=home.parent))
        _unpack(path, aside / stem(path))
        aside.rename(home)
    except BROKEN as error:
        if not home.exists():  # else another process was faster
            raise _refusal(path, error) from None
    finally:
        if aside:
            shutil.rmtree(aside, ignore_errors=True)


def _refusal(path: Path, error: Exception) -> CannotOpen:
    """What the system refused is the cache's fault; anything else is the archive's."""
    if isinstance(error, OSError) and error.errno:
        what = f"cannot be unpacked into {cache_folder()} ({(error.strerror or str(error)).lower()})"
        return CannotOpen(path, what, "make room there, or set KAFKAVIZ_CACHE to another folder", kind="archive")
    why = (str(error) or type(error).__name__).split("\n")[0].rstrip(":")
    return CannotOpen(path, f"is no archive that can be read ({why})", "pack the directory again, with tar or zip", kind="archive")


def _unpack(path: Path, into: Path) -> None:
    into.mkdir(parents=True)
    spared_bytes = min(SPARED_BYTES, shutil.disk_usage(into).free // 2)
    times: list[tuple[Path, int]] = []
    count = total = 0
    for member, content in _members(path):
        count, total = count + 1, total + member.size_bytes
        if count > LIMIT_FILES or total > LIMIT_BYTES:
            raise ValueError(f"more than {LIMIT_FILES} files or {LIMIT_BYTES} bytes")
        target = into.joinpath(_safe(member.path))
        if member.is_directory:
            target.mkdir(parents=True, exist_ok=True)
        elif content is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, content, member.size_bytes, spared_bytes)
        times.append((target, member.mtime_ns))
    for target, mtime_ns in reversed(times):  # a directory's time last: its files changed it
        os.utime(target, ns=(mtime_ns, mtime_ns))


def _safe(path: PurePosixPath) -> PurePosixPath:
    """The path, if it stays below the folder it is unpacked into."""
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{path} would leave the folder")
    return path


def _members(path: Path) -> Iterator[tuple[Member, IO[bytes] | None]]:
    """Files and directories, each with its content; links, devices and the like are passed over."""
    return _zip_members(path) if path.name.lower().endswith(".zip") else _tar_members(path)


def _tar_members(path: Path) -> Iterator[tuple[Member, IO[bytes] | None]]:
    with _decompressed(path) as stream, tarfile.open(fileobj=_Bounded(stream), mode="r:") as packed:
        for one in packed:
            if one.isdir() or one.isfile():
                yield Member(PurePosixPath(one.name), one.isdir(), one.size, _tar_time_ns(one)), packed.extractfile(one)
        _check_end(stream, packed.offset)


def _decompressed(path: Path) -> IO[bytes]:
    start = file.read(path, 0, 8)
    return next((opener for magic, opener in DECOMPRESSORS.items() if start.startswith(magic)), open)(path, "rb")


class _Bounded:
    """A stream that gives no more than HEADER_BYTES at once; of contents nobody asks for so much."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.seek, self.tell, self._read = stream.seek, stream.tell, stream.read

    def read(self, size: int) -> bytes:
        """As of a file; ValueError for too much."""
        if size > HEADER_BYTES:
            raise ValueError(f"a header says that {size} bytes of names and notes follow")
        return self._read(size)


def _check_end(stream: IO[bytes], position: int) -> None:
    """tarfile takes any header it cannot read for the end: only a block of zeros is one, and the checksum comes after it."""
    stream.seek(position)
    block = stream.read(tarfile.BLOCKSIZE)
    if len(block) < tarfile.BLOCKSIZE or any(block):
        raise ValueError(f"damaged or cut at byte {position} of what it holds")
    while stream.read(PIECE_BYTES):
        pass


def _tar_time_ns(one: tarfile.TarInfo) -> int:
    """The time to the nanosecond where the archive has it; tarfile itself rounds it to a float."""
    return int(Decimal(one.pax_headers.get("mtime") or str(one.mtime)) * 1_000_000_000)


def _zip_members(path: Path) -> Iterator[tuple[Member, IO[bytes] | None]]:
    with zipfile.ZipFile(path) as packed:
        for one in packed.infolist():
            kind = stat.S_IFMT(one.external_attr >> 16) if one.create_system == ZIP_UNIX else 0
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                continue
            member = Member(PurePosixPath(one.filename), one.is_dir(), one.file_size, _zip_time_ns(one))
            if one.is_dir():
                yield member, None
            else:
                with packed.open(one) as content:
                    yield member, content


def _zip_time_ns(one: zipfile.ZipInfo) -> int:
    """The UTC time of the extra field, else the date in the archive, taken for UTC."""
    extra = one.extra
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == EXTENDED_TIME and length >= 5 and extra[4] & 1:
            return struct.unpack_from("<i", extra, 5)[0] * 1_000_000_000
        extra = extra[4 + length :]
    year, month, day, *clock = one.date_time  # some packers write no date at all, zeros
    return int(datetime(year, max(month, 1), max(day, 1), *clock, tzinfo=UTC).timestamp()) * 1_000_000_000


def _write(target: Path, content: IO[bytes], size: int, spared_bytes: int) -> None:
    """Copies a file piece by piece, leaving holes where there are only zeros; OSError before the disk is full."""
    target.unlink(missing_ok=True)  # of a file that is packed twice the later one counts
    with open(target, "xb") as out:
        while piece := content.read(PIECE_BYTES):
            if shutil.disk_usage(target.parent).free < spared_bytes + len(piece):
                raise OSError(errno.ENOSPC, f"only {spared_bytes} bytes would be left there")
            _write_piece(out, piece)
        if out.tell() != size:
            raise ValueError(f"{target.name} has not the length that the archive says")
        out.truncate(size)


def _write_piece(out: IO[bytes], piece: bytes) -> None:
    if not piece.strip(b"\0"):
        out.seek(len(piece), os.SEEK_CUR)
        return
    for start in range(0, len(piece), HOLE_BYTES):
        block = piece[start : start + HOLE_BYTES]
        if block.strip(b"\0"):
            out.write(block)
        else:
            out.seek(len(block), os.SEEK_CUR)


def _innermost(path: Path) -> Path:
    """The folder that holds more than one other folder: archives often wrap the directory once or twice."""
    while True:
        children = list(path.iterdir())
        if len(children) != 1 or not children[0].is_dir() or _has_segments(children[0]):
            return path
        path = children[0]


def _has_segments(path: Path) -> bool:
    return any(child.suffix == ".log" for child in path.iterdir())
