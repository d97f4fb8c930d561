"""One file on disk: size, time and bytes. Files are read in chunks and never mapped.

A file of a remote directory has a local mirror (remote/mirror.py) with a path, a size and a time.
Its bytes are fetched before they are read here.
"""

import io
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from stat import S_ISDIR
from typing import TypeVar

import numpy as np

from kafkaviz.binary.file_view import READ_LIMIT_BYTES, FileView, ReadInto
from kafkaviz.errors import CannotOpen, CorruptBytes, too_large, translate_os_errors
from kafkaviz.log.confinement import ensure_regular, is_confined, open_nonblocking
from kafkaviz.log.remote import address, mirror
from kafkaviz.log.remote.block_cache import CachedFile
from kafkaviz.messages import message

BLOCK_BYTES = 512  # the unit of st_blocks, whatever the filesystem's block size is
INDEX_BYTES = 2**31 - 1  # the largest index that a broker can map (FileChannel.map)
# The limit for the entries of an index: more than ten times what segment.index.bytes has space for
# by default.
DATA_LIMIT_BYTES = 1 << 27
TEXT_BYTES = 16 << 20  # enough for a checkpoint of some hundred thousand partitions
PROPERTIES_BYTES = 1 << 20
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file as its directory lists it.

    The path is joined on access, because a broker may have hundreds of thousands of files.
    """

    directory: Path
    name: str
    size_bytes: int
    allocated_bytes: int  # less than size_bytes if the file has holes
    mtime_ns: int

    @property
    def path(self) -> Path:
        return self.directory / self.name


def absolute_path(path: Path | str, *, expands_home: bool = True) -> Path:
    """Returns the absolute path, with ~ expanded. A remote address becomes its mirror's path.

    Raises CannotOpen if the home directory is unknown or the remote address is invalid.
    """
    if remote := address.parse(str(path)):
        return address.mirror_path(remote)
    try:
        target = (Path(path).expanduser() if expands_home else Path(path)).absolute()
    except RuntimeError:
        raise CannotOpen(path, message("errors.no_such_home"), kind="missing") from None
    if "\0" in str(target):
        visible_path = str(target).replace("\0", "\N{SYMBOL FOR NULL}")
        raise CannotOpen(visible_path, message("errors.no_path"), kind="missing")
    return target


def output_path(path: Path | str) -> Path:
    """Returns the absolute path for a file to write. Raises CannotOpen for a remote address."""
    if remote := address.parse(str(path)):
        what = message("remote.only_read")
        raise CannotOpen(str(remote), what, message("errors.give_folder_elsewhere"))
    return absolute_path(path)


def info(path: Path) -> FileInfo:
    with translate_os_errors(path):
        return _info(path.parent, path.name, os.stat(path))


def _info(
    directory: Path, name: str, stat: os.stat_result, *, may_be_mirrored: bool = True
) -> FileInfo:
    is_hole = may_be_mirrored and address.mirrored_file(f"{directory}/{name}") is not None
    allocated_bytes = stat.st_size if is_hole else stat.st_blocks * BLOCK_BYTES
    return FileInfo(directory, name, stat.st_size, allocated_bytes, stat.st_mtime_ns)


def is_there(path: Path) -> bool:
    """Returns whether a path exists, even if it is inaccessible. False for a broken link."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a link loop, or no access: reading it shows the problem
        return True
    return True


def is_directory(entry: os.DirEntry) -> bool:
    """Returns whether an entry is a directory or a valid link to one, as in java.io.File."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def list_files(directory: Path) -> list[FileInfo]:
    """Returns the files of a directory with size and time, sorted by name.

    Pipes, devices and link loops are included, but `open_file` refuses them. Broken links, and
    files that disappear during the listing, are left out.
    """
    files = []
    may_be_mirrored = address.may_hold_mirrored(directory)
    with scan(directory) as entries:
        # each .log first: a broker appends to it before the indexes, so no index is listed older
        for entry in sorted(entries, key=lambda entry: not entry.name.endswith(".log")):
            with suppress(FileNotFoundError):
                stat = _stat(entry)
                if not S_ISDIR(stat.st_mode):
                    files.append(
                        _info(directory, entry.name, stat, may_be_mirrored=may_be_mirrored)
                    )
    return sorted(files, key=attrgetter("name"))


def list_folders(directory: Path) -> list[str]:
    try:
        with scan(directory) as entries:
            return sorted(entry.name for entry in entries if is_directory(entry))
    except CannotOpen:
        return []


@contextmanager
def scan(directory: Path) -> Generator[Iterator[os.DirEntry]]:
    """Yields the entries of a directory. First checks that this process may read the directory.

    In a confined process, use only the name of an entry, not its path.
    """
    with translate_os_errors(directory), ExitStack() as stack:
        if not is_confined():
            yield stack.enter_context(os.scandir(directory))
            return
        descriptor = open_nonblocking(str(directory), os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, descriptor)
        yield stack.enter_context(os.scandir(descriptor))


def _stat(entry: os.DirEntry) -> os.stat_result:
    """Returns the stat of a file. For a loop or an inaccessible target: the stat of the link.

    Raises FileNotFoundError for a broken link.
    """
    try:
        return entry.stat()
    except FileNotFoundError:
        raise
    except OSError:
        if entry.is_symlink():
            return entry.stat(follow_symlinks=False)
        raise


def read(
    path: Path,
    position: int = 0,
    length: int | None = None,
    *,
    limit_bytes: int = READ_LIMIT_BYTES,
) -> bytes:
    """Returns up to `length` bytes of a file from `position` on, by default all bytes.

    Raises:
        CannotOpen: no length is given, and more than `limit_bytes` are left.
    """
    with open_file(path) as file:
        remaining = max(0, _size(file) - position)
        if length is None and remaining > limit_bytes:
            raise too_large(path, remaining, limit_bytes)
        count = remaining if length is None else min(remaining, length)
        return b"".join(_pieces(file, position, count))


def parse(
    path: Path, parser: Callable[[bytes], Result], limit_bytes: int = READ_LIMIT_BYTES
) -> Result:
    """Returns parser(bytes of a file). If the parser raises CorruptBytes, raises CorruptFile."""
    data = read(path, limit_bytes=limit_bytes)
    try:
        return parser(data)
    except CorruptBytes as fault:
        raise fault.in_file(path) from None


def read_text(path: Path, limit_bytes: int = TEXT_BYTES) -> str:
    """Returns a small text file. Bytes that are not UTF-8 become U+FFFD.

    Raises CannotOpen if the file is larger than the limit.
    """
    return read(path, limit_bytes=limit_bytes).decode("utf-8", "replace")


def read_data(path: Path) -> tuple[bytes, int]:
    """Returns (bytes up to the last data on disk, size of the file). The rest is a hole.

    Raises CannotOpen if the file is too large for a broker to map, or has more than
    DATA_LIMIT_BYTES of data.
    """
    with open_file(path) as file:
        size = _size(file)
        if size > INDEX_BYTES:
            raise too_large(path, size, INDEX_BYTES)
        end = size if isinstance(file, CachedFile) else _data_end(file.fileno(), size)
        if end > DATA_LIMIT_BYTES:
            raise too_large(path, end, DATA_LIMIT_BYTES)
        return b"".join(_pieces(file, 0, end)), size


@contextmanager
def open_file(path: Path) -> Generator[io.FileIO]:
    """Opens a regular file. Raises CannotOpen for a pipe, which may block, or an endless device."""
    mirrored_path = address.mirrored_file(address.localize(path))
    if mirrored_path:
        mirror.prepare(mirrored_path)
        with translate_os_errors(path), CachedFile(mirrored_path) as cached_file:
            yield cached_file
        return
    with translate_os_errors(path), open(path, "rb", buffering=0, opener=open_nonblocking) as file:
        ensure_regular(path, os.fstat(file.fileno()))
        yield file


@contextmanager
def reader(path: Path) -> Generator[ReadInto]:
    """Opens a file to be read by position.

    Yields a function read(position, buffer). The function fills the buffer with the bytes from
    `position` on, and returns the number of bytes read.
    """
    with open_file(path) as file:
        descriptor = file.fileno()

        def read_into(position: int, buffer: np.ndarray) -> int:
            if isinstance(file, CachedFile):
                buffer = buffer[: max(0, file.size_bytes - position)]
                file.fetch(position, len(buffer))
            read_bytes = 0
            # a negative position must not reach preadv, where -1 means the current position
            while position >= 0 and read_bytes < len(buffer):
                step = os.preadv(descriptor, [buffer[read_bytes:].data], position + read_bytes)
                if step == 0:
                    break
                read_bytes += step
            return read_bytes

        yield read_into


def view(info: FileInfo) -> FileView:
    """Returns a FileView of a file on disk. Searches and checks read files through FileViews."""
    return FileView(
        name=info.name,
        size_bytes=info.size_bytes,
        open_reader=lambda: reader(info.path),
        modified_ms=info.mtime_ns // 1_000_000,
        path=address.display(info.path),
    )


def _size(file: io.FileIO) -> int:
    return file.size_bytes if isinstance(file, CachedFile) else os.fstat(file.fileno()).st_size


def _pieces(file: io.FileIO, position: int, remaining: int) -> Iterator[bytes]:
    if isinstance(file, CachedFile):
        file.fetch(position, remaining)
    while remaining > 0:
        piece = os.pread(file.fileno(), remaining, position)
        if not piece:
            return
        yield piece
        position = position + len(piece)
        remaining = remaining - len(piece)


def _data_end(descriptor: int, size: int) -> int:
    """Returns the byte after the last data on disk, or the size if the filesystem does not say."""
    position = 0
    try:
        while position < size:
            data_start = os.lseek(descriptor, position, os.SEEK_DATA)
            position = os.lseek(descriptor, data_start, os.SEEK_HOLE)
    except OSError:
        if position == 0 and os.fstat(descriptor).st_blocks:
            return size  # some filesystems never find data
    return min(position, size)
