"""One file on disk: its size and time, and its bytes, read forward in chunks and never mapped.

A file of a remote directory has a mirror (remote/mirror.py): its path, size and time are like any
other's, and its bytes are fetched before they are read here.
"""

import io
import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from stat import S_ISDIR, S_ISREG

import numpy as np

from kafkaviz.binary.file_view import READ_LIMIT_BYTES, FileView, ReadInto
from kafkaviz.errors import CannotOpen, too_large, translate_os_errors
from kafkaviz.log.confinement import is_confined, open_nonblocking
from kafkaviz.log.remote import address, mirror
from kafkaviz.log.remote.block_cache import CachedFile
from kafkaviz.messages import message

BLOCK_BYTES = 512  # what st_blocks counts, whatever the filesystem's own blocks are
INDEX_BYTES = 2**31 - 1  # of an index that a broker can map (FileChannel.map)
# of its entries: more than ten times what segment.index.bytes has space for by default
DATA_LIMIT_BYTES = 1 << 27
TEXT_BYTES = 16 << 20  # of a checkpoint of some hundred thousand partitions
PROPERTIES_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileInfo:
    """A file as its directory lists it.

    The path is joined on access: a broker has files by the hundred thousand.
    """

    directory: Path
    name: str
    size_bytes: int
    allocated_bytes: int  # less than size_bytes where the file has holes
    mtime_ns: int

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self.directory / self.name


def absolute_path(path: Path | str, *, expands_home: bool = True) -> Path:
    """The absolute path, with a home directory expanded; of a remote address that of its mirror.

    Raises:
        CannotOpen: the text names no home directory that is known, or an address that is none.
    """
    if remote := address.parse(str(path)):
        return address.mirror_path(remote)
    try:
        target = (Path(path).expanduser() if expands_home else Path(path)).absolute()
    except RuntimeError:
        raise CannotOpen(path, message("errors.no_such_home"), kind="missing") from None
    if "\0" in str(target):
        raise CannotOpen(
            str(target).replace("\0", "\N{SYMBOL FOR NULL}"),
            message("errors.no_path"),
            kind="missing",
        )
    return target


def output_path(path: Path | str) -> Path:
    """The absolute path of what will be written.

    Raises:
        CannotOpen: it is a remote address, where nothing is written.
    """
    if remote := address.parse(str(path)):
        what = message("remote.only_read")
        raise CannotOpen(str(remote), what, message("errors.give_folder_elsewhere"))
    return absolute_path(path)


def info(path: Path) -> FileInfo:
    """What the filesystem says of a file."""
    with translate_os_errors(path):
        return _info(path.parent, path.name, os.stat(path))


def _info(
    directory: Path, name: str, stat: os.stat_result, *, may_be_mirrored: bool = True
) -> FileInfo:
    is_hole = may_be_mirrored and address.mirror_behind(f"{directory}/{name}") is not None
    allocated_bytes = stat.st_size if is_hole else stat.st_blocks * BLOCK_BYTES
    return FileInfo(directory, name, stat.st_size, allocated_bytes, stat.st_mtime_ns)


def is_there(path: Path) -> bool:
    """Whether there is such a file or directory, even one that cannot be reached.

    A link that leads to nothing is none.
    """
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a link that leads round, or to where access is denied: reading it shows that
        return True
    return True


def is_directory(entry: os.DirEntry) -> bool:
    """Whether an entry is a directory, also by a link.

    False where the link cannot be followed, as java.io.File says then.
    """
    try:
        return entry.is_dir()
    except OSError:
        return False


def list_files(directory: Path) -> list[FileInfo]:
    """The files of a directory by name, with size and time.

    Links that cannot be followed are included, and pipes and devices, since what has the name of a
    segment's file is not absent: open_file refuses them. A file that vanishes is left out.
    """
    files, may_be_mirrored = [], address.may_hold_mirrored(directory)
    with scan(directory) as entries:
        # a broker appends to a .log first, so no other file is older than the .log it belongs to
        for entry in sorted(entries, key=lambda entry: not entry.name.endswith(".log")):
            with suppress(FileNotFoundError):
                stat = _stat(entry)
                if not S_ISDIR(stat.st_mode):
                    files.append(
                        _info(directory, entry.name, stat, may_be_mirrored=may_be_mirrored)
                    )
    return sorted(files, key=attrgetter("name"))


def list_folders(directory: Path) -> list[str]:
    """The names of the folders in a directory; none of a directory that cannot be listed."""
    try:
        with scan(directory) as entries:
            return sorted(entry.name for entry in entries if is_directory(entry))
    except CannotOpen:
        return []


@contextmanager
def scan(directory: Path) -> Generator[Iterator[os.DirEntry]]:
    """The entries of a directory, if it lies where this process may read.

    Of an entry's path only the name is available then.
    """
    with translate_os_errors(directory), ExitStack() as stack:
        if not is_confined():
            yield stack.enter_context(os.scandir(directory))
            return
        descriptor = open_nonblocking(str(directory), os.O_RDONLY | os.O_DIRECTORY)
        stack.callback(os.close, descriptor)
        yield stack.enter_context(os.scandir(descriptor))


def _stat(entry: os.DirEntry) -> os.stat_result:
    """The stat of what an entry leads to.

    Of a link that cannot be followed the link itself; reading it then shows that.
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
    """A range of a file, shorter where the file ends; by default all that is left.

    Raises:
        CannotOpen: no length is given, and what is left is more than the limit.
    """
    with open_file(path) as file:
        remaining = max(0, _size(file) - position)
        if length is None and remaining > limit_bytes:
            raise too_large(path, remaining, limit_bytes)
        count = remaining if length is None else min(remaining, length)
        return b"".join(_pieces(file, position, count))


def read_text(path: Path, limit_bytes: int = TEXT_BYTES) -> str:
    """A small text file; bytes that are no UTF-8 are shown as U+FFFD.

    Raises:
        CannotOpen: it is larger than the limit.
    """
    return read(path, limit_bytes=limit_bytes).decode("utf-8", "replace")


def read_data(path: Path) -> tuple[bytes, int]:
    """The bytes up to the last one that takes space on disk; what follows is a hole, all zeros.

    Returns:
        The bytes, and the file's size.

    Raises:
        CannotOpen: no broker can map the file, or those bytes are more than DATA_LIMIT_BYTES.
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
    """A regular file, open to read.

    Raises:
        CannotOpen: it is anything else: a pipe without a writer would be waited for, a device has
            no end.
    """
    mirrored_path = address.mirror_behind(address.localize(path))
    if mirrored_path:
        mirror.prepare(mirrored_path)
        with translate_os_errors(path), CachedFile(mirrored_path) as cached_file:
            yield cached_file
        return
    with translate_os_errors(path), open(path, "rb", buffering=0, opener=open_nonblocking) as file:
        if not S_ISREG(os.fstat(file.fileno()).st_mode):
            raise CannotOpen(
                path,
                message("errors.no_regular_file"),
                message("errors.move_it_away"),
                kind="special",
            )
        yield file


@contextmanager
def reader(path: Path) -> Generator[ReadInto]:
    """Opens a file to be read by position.

    Yields:
        A function read(position, buffer) that fills the buffer from that byte and returns the
        number of bytes it got.
    """
    with open_file(path) as file:
        descriptor = file.fileno()

        def read_into(position: int, buffer: np.ndarray) -> int:
            if isinstance(file, CachedFile):
                buffer = buffer[: max(0, file.size_bytes - position)]
                file.fetch(position, len(buffer))
            read_bytes = 0
            # nothing lies before a file; of -1 the system gives what comes next
            while position >= 0 and read_bytes < len(buffer):
                step = os.preadv(descriptor, [buffer[read_bytes:].data], position + read_bytes)
                if step == 0:
                    break
                read_bytes += step
            return read_bytes

        yield read_into


def view(info: FileInfo) -> FileView:
    """A file on disk as a FileView, which the searches and checks take."""
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
        position, remaining = position + len(piece), remaining - len(piece)


def _data_end(descriptor: int, size: int) -> int:
    """The byte after the last data on disk; the size where the filesystem does not say."""
    position = 0
    try:
        while position < size:
            position = os.lseek(
                descriptor, os.lseek(descriptor, position, os.SEEK_DATA), os.SEEK_HOLE
            )
    except OSError:
        return position if position else _size_unless_hole(descriptor, size)
    return min(position, size)


def _size_unless_hole(descriptor: int, size: int) -> int:
    """The size of a file that has no data to seek to, unless it is a single hole.

    A file on a filesystem without holes has no data to seek to either.
    """
    return 0 if os.fstat(descriptor).st_blocks == 0 else size
