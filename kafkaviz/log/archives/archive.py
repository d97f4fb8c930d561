"""A packed broker directory (.tar, .tar.gz, .tar.xz, .zip), unpacked once and safely.

File times are kept to the nanosecond, because Kafka uses the modification time of a .log if its
time index is empty. Holes are kept, because a preallocated index is a 10 MiB hole.
"""

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, cast

from kafkaviz.errors import CannotOpen, system_problem
from kafkaviz.format.names import parse_directory, parse_file
from kafkaviz.log import file
from kafkaviz.log.archives import members, tar_reader
from kafkaviz.log.archives.members import (
    PIECE_BYTES,
    ArchiveMember,
    BadArchive,
    Pieces,
    ProgressCallback,
    UnpackBudget,
)
from kafkaviz.log.cache_folder import cache_folder, scratch_folder, sweep
from kafkaviz.log.confinement import open_nonblocking
from kafkaviz.log.remote import address, mirror
from kafkaviz.log.remote.block_cache import REQUEST_BYTES, CachedFile
from kafkaviz.log.tiered import segment_store, tiered_view
from kafkaviz.messages import Message, message, set_path_spelling, verbatim
from kafkaviz.units import escape_line

# the app also offers files with these suffixes
SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip")
# Unpacking leaves this much free on the disk, or half of the free space if that is less: an archive
# of random bytes must not fill a server.
RESERVE_BYTES = 1 << 30
HOLE_BYTES = 4096  # aligned runs of zeros of this length become holes again
NAME_CHARACTERS = 80  # the length of a member's path in a message
XZ_BYTES = 256 << 20  # memory for the dictionary: xz -9 needs 65 MiB, a header may claim 4 GiB
GZIP_NAME_BYTES = 1 << 20  # names, comments and padding in a .gz, all members together
# The exceptions that the standard library raises for bytes that are not an archive, or for
# encrypted archives.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    ArithmeticError,
    RuntimeError,
    LookupError,
)
MEMBER_FAULTS = {  # errors caused by a member's path itself, wherever it is unpacked
    errno.EISDIR: "archive.file_and_folder",
    errno.EEXIST: "archive.file_and_folder",
    errno.ENOTDIR: "archive.file_and_folder",
    errno.ENAMETOOLONG: "archive.name_too_long",
    errno.EILSEQ: "archive.impossible_name",
}

# Texts of the standard library's exceptions, and our keys. In the second table, a value is between
# two texts.
_LIBRARY_PROBLEMS = {
    "File is not a zip file": "archive.not_a_zip",
    "Compressed file ended before the end-of-stream marker was reached": "archive.stream_cut",
    "Memory usage limit exceeded": "archive.memory_limit",
}
_LIBRARY_PROBLEMS_OF = (
    ("Bad CRC-32 for file ", "", "archive.member_checksum"),
    ("File ", " is encrypted, password required for extraction", "archive.encrypted"),
    ("Not a gzipped file (", ")", "archive.not_a_gzip"),
    ("CRC check failed ", "", "archive.checksum"),
)

# The source of each cache folder that this process opened: an archive, or files opened alone.
_SOURCE_BY_FOLDER: dict[Path, Path] = {}


class NoRoom(OSError):
    def __init__(self, problem: Message) -> None:
        super().__init__(errno.ENOSPC, str(problem))
        self.problem = problem


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def stem(path: Path) -> str:
    archive_suffix = next(filter(path.name.lower().endswith, SUFFIXES), "")
    return path.name[: len(path.name) - len(archive_suffix)]


def unpack_if_archive(path: Path, on_progress: ProgressCallback | None = None) -> Path:
    """Returns the directory that a path leads to. Unpacks an archive into the cache first.

    A folder with remote segments becomes a view that looks like a broker directory. `on_progress`
    takes the number of bytes read so far. If it raises, the unpacking ends.
    """
    return tiered_view.open_directory(unpacked_root(path, on_progress))


def unpacked_root(path: Path, on_progress: ProgressCallback | None = None) -> Path:
    """Like `unpack_if_archive`, but makes no view of a folder with remote segments."""
    path = locate(path, on_progress)
    with file.translate_os_errors(path):
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        return path
    hint = message("errors.give_directory_or_archive")
    if not stat.S_ISREG(mode):
        raise CannotOpen(path, message("errors.no_file"), hint, kind="not-kafka")
    if not is_archive(path):
        if parse_file(path.name):
            hint = message("errors.give_its_directory")
        raise CannotOpen(path, message("errors.is_a_file"), hint, kind="not-kafka")
    home = unpack_target(path)
    if not home.exists():
        _unpack_through_scratch_folder(path, home, on_progress)
    root = _innermost_folder(home / stem(path))
    _SOURCE_BY_FOLDER[home] = path
    _SOURCE_BY_FOLDER[root] = path
    return root


def locate(path: Path, on_progress: ProgressCallback | None = None) -> Path:
    """Returns the path on disk for a path that the user gave.

    A path in an archive (kafka.tar.gz/orders-0) becomes its unpacked copy. A path in a store of
    remote segments becomes the path in its view. Any other path is returned unchanged.
    """
    path = file.absolute_path(path)
    refresh(path)
    archive_path = enclosing_archive(path)
    if not archive_path:
        return tiered_view.locate(path)
    inner = path.relative_to(archive_path)
    target = tiered_view.locate(unpack_if_archive(archive_path, on_progress) / inner)
    with file.translate_os_errors(path):
        if ".." in inner.parts or not target.exists():
            hint = message("archive.holds_no_such_name", name=archive_path.name)
            raise CannotOpen(path, message("errors.not_there"), hint, kind="missing")
    return target


def refresh(path: Path) -> None:
    """Lists a remote path again if its listing has expired. Raises CannotOpen if that fails.

    - For a path in an archive, lists the archive instead.
    - For a partition in a store of remote segments, lists the store instead, because no object has
      the partition's address (s3://bucket/STORE/orders-0).
    """
    if not address.is_mirrored(path):
        return
    try:
        mirror.refresh(next((parent for parent in path.parents if is_archive(parent)), path))
    except CannotOpen as fault:
        store = _possible_store(path) if fault.kind == "missing" else None
        if store is None or not segment_store.may_be_store(mirror.list_names(store)):
            raise
        mirror.refresh(store)


def _possible_store(path: Path) -> Path | None:
    partition = next((part for part in (path, path.parent) if parse_directory(part.name)), None)
    return partition.parent if partition and address.is_mirrored(partition.parent) else None


def enclosing_archive(path: Path) -> Path | None:
    """Returns the archive that contains a path, or None. An archive does not contain itself."""
    with file.translate_os_errors(path):
        return next(
            (parent for parent in path.parents if is_archive(parent) and parent.is_file()), None
        )


def display_path(path: Path) -> Path | str:
    """Returns the path that the user knows.

    - In an unpacked archive: the archive's path, then the path inside it.
    - For a file that was opened alone: its own path.
    - In a tiered view: the path in the broker directory, or in a store that was opened alone.
    - In a mirror: the remote address, as a string because a Path would drop a slash.
    """
    view = tiered_view.view_folder(path)
    if view:
        store, local = cast("tuple[Path, Path | None]", tiered_view.sources(view))
        path = (local or store) / path.relative_to(view)
    root = next((parent for parent in (path, *path.parents) if parent in _SOURCE_BY_FOLDER), None)
    origin = path if root is None else _SOURCE_BY_FOLDER[root] / path.relative_to(root)
    text = address.display(origin)
    return origin if text == str(origin) else text


def note_source(folder: Path, source: Path) -> None:
    """Records where a cache folder comes from. Users see `source` instead of `folder`."""
    _SOURCE_BY_FOLDER[folder] = source


def display_text(path: PurePath | str) -> str:
    """Returns a path as text: `display_path` in a tiered view, else `address.display`."""
    text = str(path)
    is_view = text.startswith(address.views_root())
    return str(display_path(Path(text))) if is_view else address.display(text)


set_path_spelling(display_text)  # replaces the function that address.py has set


def unpack_target(path: Path) -> Path:
    info = file.info(path)
    text = f"{path.resolve()}\0{info.size_bytes}\0{info.mtime_ns}"
    identity = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return _unpack_root() / identity


def sweep_unfinished() -> None:
    """Removes the folders of processes that were killed while they unpacked an archive."""
    sweep(_unpack_root())


def _unpack_root() -> Path:
    return cache_folder() / "unpacked"


def _unpack_through_scratch_folder(
    path: Path, home: Path, on_progress: ProgressCallback | None
) -> None:
    """Unpacks into a scratch folder, and then moves the result to `home`.

    If the unpacking is interrupted, no folder looks complete.
    """
    try:
        with scratch_folder(home.parent) as scratch:
            folder = scratch / home.name
            folder.mkdir(mode=0o700)
            _unpack(path, folder / stem(path), UnpackBudget(path, on_progress))
            folder.rename(home)
    except ARCHIVE_ERRORS as error:
        if not home.exists():  # otherwise another process has unpacked it
            raise _refusal(path, error) from None


def _refusal(path: Path, error: Exception) -> CannotOpen:
    if isinstance(error, OSError) and error.errno:
        problem = error.problem if isinstance(error, NoRoom) else system_problem(error)
        what = message("archive.cannot_unpack_into", folder=cache_folder(), problem=problem)
        return CannotOpen(path, what, message("archive.make_room"), kind="archive")
    reason = error.problem if isinstance(error, BadArchive) else _library_problem(error)
    what = message("archive.unreadable", reason=reason)
    return CannotOpen(path, what, message("archive.pack_again"), kind="archive")


def _library_problem(error: Exception) -> Message:
    text = (str(error) or type(error).__name__).split("\n")[0].rstrip(":")
    if text in _LIBRARY_PROBLEMS:
        return message(_LIBRARY_PROBLEMS[text])
    for start, end, key in _LIBRARY_PROBLEMS_OF:
        if text.startswith(start) and text.endswith(end):
            return message(key, value=text[len(start) : len(text) - len(end)])
    return verbatim(text)


def _unpack(path: Path, destination: Path, budget: UnpackBudget) -> None:
    destination.mkdir()
    reserve = _DiskReserve(destination)
    folder_times = {}
    for member, pieces in _members(path, budget):
        if member.path.is_absolute() or ".." in member.path.parts:
            raise BadArchive(message("archive.would_leave_folder", path=member.path))
        target = destination / member.path
        budget.check_depth(len(member.path.parts))
        with _blame_archive(path, member.path):
            reserve.check(0)
            _make_folders(target if member.is_directory else target.parent, budget)
            if member.is_directory:
                folder_times[target] = member.mtime_ns
            else:
                budget.add_file()
                _write(target, member, pieces, reserve)
    for folder, mtime_ns in folder_times.items():  # set last, because new files change them
        os.utime(folder, ns=(mtime_ns, mtime_ns))


class _DiskReserve:
    """The free bytes and inodes that unpacking must leave on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reserve_bytes = min(RESERVE_BYTES, shutil.disk_usage(folder).free // 2)
        self._reserve_files = _free_files(folder) // 2  # 0 where the filesystem reports no number

    def check(self, count: int) -> None:
        """Raises OSError if `count` bytes would use the reserve, or if too few inodes are free."""
        if shutil.disk_usage(self._folder).free < self._reserve_bytes + count:
            raise NoRoom(message("archive.few_bytes_left", count=self._reserve_bytes))
        if _free_files(self._folder) < self._reserve_files:
            raise NoRoom(message("archive.few_files_left", count=self._reserve_files))


def _free_files(folder: Path) -> int:
    return os.statvfs(folder).f_favail


def _make_folders(folder: Path, budget: UnpackBudget) -> None:
    if folder.is_dir():
        return
    _make_folders(folder.parent, budget)
    budget.add_file()
    folder.mkdir()


@contextmanager
def _blame_archive(path: Path, member: PurePosixPath) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in MEMBER_FAULTS:
            raise
        name = escape_line(str(member))
        if len(name) > NAME_CHARACTERS:
            name = f"{name[: NAME_CHARACTERS // 2]}…{name[-NAME_CHARACTERS // 2 :]}"
        problem = message(MEMBER_FAULTS[error.errno], name=name)
        raise CannotOpen(path, problem, message("archive.pack_again"), kind="archive") from None


def _members(path: Path, budget: UnpackBudget) -> Iterator[tuple[ArchiveMember, Pieces]]:
    raw = _TimedFile(path, budget)
    if path.name.lower().endswith(".zip"):
        yield from members.read_members(raw, budget)
        return
    with io.BufferedReader(raw, PIECE_BYTES) as source, _open_decompressor(source) as stream:
        yield from tar_reader.read_members(stream, budget)


class _TimedFile(io.FileIO):
    """The packed file. Reading it fails after a time limit.

    The limit also stops a decompressor that reads on and on without producing any bytes.
    """

    def __init__(self, path: Path, budget: UnpackBudget) -> None:
        self._budget = budget
        self._size_bytes = os.stat(path).st_size
        if address.is_mirrored(path):
            super().__init__(_fetch_all(path, budget))
        else:
            super().__init__(path, opener=open_nonblocking)

    def readinto(self, buffer: Any) -> int | None:
        """Reads up to the archive's size. A remote archive's local file has other data after it."""
        self._budget.check_time()
        remaining = max(0, self._size_bytes - self.tell())
        return super().readinto(memoryview(buffer)[:remaining])

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_END:
            return super().seek(self._size_bytes + offset)
        return super().seek(offset, whence)


def _fetch_all(path: Path, budget: UnpackBudget) -> int:
    mirror.prepare(path)
    with CachedFile(path) as cached_file:
        for position in range(0, cached_file.size_bytes, REQUEST_BYTES):
            budget.check_time()
            cached_file.fetch(position, REQUEST_BYTES)
        return os.dup(cached_file.fileno())


class _XzReader(io.RawIOBase):
    """Reads an .xz forward, stream after stream. lzma.open is not used: it has no memory limit."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._data = b""
        self._decompressor: lzma.LZMADecompressor | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Implements RawIOBase.readinto. Raises BadArchive if the file ends inside a stream."""
        while True:
            if self._decompressor is None or self._decompressor.needs_input:
                self._data = self._data or self._source.read(io.DEFAULT_BUFFER_SIZE)
            if self._decompressor is None:
                # padding between streams
                self._data = self._data.lstrip(b"\0") or self._source.read(
                    io.DEFAULT_BUFFER_SIZE
                ).lstrip(b"\0")
                if not self._data:
                    return 0
                self._decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_BYTES)
            elif self._decompressor.needs_input and not self._data:
                raise BadArchive(message("archive.stream_cut"))
            data = self._data
            self._data = b""
            piece = self._decompressor.decompress(data, len(buffer))
            if self._decompressor.eof:
                self._data = self._decompressor.unused_data
                self._decompressor = None
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)


class _GzipSource:
    """The packed bytes of a .gz for gzip.GzipFile. Limits the number of one-byte reads.

    GzipFile reads a name in a header, and zeros at the end, byte by byte. 200 MB of them would take
    a minute.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._single_bytes = 0

    def read(self, count: int) -> bytes:
        """Implements IOBase.read. Raises BadArchive after GZIP_NAME_BYTES reads of one byte."""
        self._single_bytes += count == 1
        if self._single_bytes > GZIP_NAME_BYTES:
            raise BadArchive(message("archive.gzip_names_too_long", limit=GZIP_NAME_BYTES))
        return self._source.read(count)


# chosen by the first bytes, because names may be wrong
DECOMPRESSORS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": lambda source: gzip.GzipFile(fileobj=cast("Any", _GzipSource(source)), mode="rb"),
    b"BZh": bz2.open,
    b"\xfd7zXZ": _XzReader,
}


def _open_decompressor(source: "io.BufferedReader[Any]") -> IO[bytes]:
    start = source.peek(8)
    return next(
        (opener(source) for magic, opener in DECOMPRESSORS.items() if start.startswith(magic)),
        source,
    )


def _write(target: Path, member: ArchiveMember, pieces: Pieces, reserve: _DiskReserve) -> None:
    """Writes a member to a file, with holes for zeros. Raises OSError before the disk is full."""
    target.unlink(missing_ok=True)  # if a file is packed twice, the later one counts
    with open(target, "xb") as out:
        for position, piece in pieces:
            reserve.check(len(piece))
            out.seek(position)
            _write_piece(out, piece)
        out.truncate(member.size_bytes)
    os.utime(target, ns=(member.mtime_ns, member.mtime_ns))


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


def _innermost_folder(path: Path) -> Path:
    while True:
        children = list(islice(path.iterdir(), 2))
        if len(children) != 1 or not children[0].is_dir() or _has_segments(children[0]):
            return path
        path = children[0]


def _has_segments(path: Path) -> bool:
    return any(child.suffix == ".log" for child in path.iterdir())
