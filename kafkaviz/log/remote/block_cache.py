"""Files that are fetched block by block from an object store or a compressed source.

A mirror is a local folder that looks like a remote one. A file in it has the size and time of the
remote file, but no data. The fetched data are in a separate block file, with one flag per block of
64 KiB (1 if it is present):

    blocks/…/00000000000000000000.log    data, sparse │ 1 1 1 1 0 0 0 0 0 1 │ version │ description
                                                        └ blocks read ┘   └ the last block

The version is a digest of the object's ETag when the first block was fetched. If the ETag has
changed, the read fails and the old blocks are dropped. The description says which object or file
has the bytes.

A reader fetches missing blocks with few large requests, writes them, and only then sets their
flags. Two processes that fetch the same block write the same bytes, so neither waits. Blocks are
never removed from a block file, so a reader never takes a missing block for zeros. To evict blocks,
the block file is deleted, or replaced by an empty one if its description is still needed. Processes
that have the old file open can still read it. After a restart of the machine all flags are ignored,
because a flag may have reached the disk before its block.
"""

import fcntl
import hashlib
import io
import json
import os
import shutil
import struct
import tempfile
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kafkaviz import environment
from kafkaviz.errors import CannotOpen, translate_os_errors
from kafkaviz.format.names import parse_file
from kafkaviz.log.confinement import ensure_regular, open_nonblocking
from kafkaviz.log.remote import address, file_system
from kafkaviz.log.remote.address import RemotePath
from kafkaviz.messages import message

BLOCK_BYTES = 64 << 10
POINT_BYTES = 512 << 10  # the size of a request if the read is not sequential
WHOLE_BYTES = 1 << 20  # the largest file that is fetched whole: faster than two more requests
REQUEST_BYTES = 8 << 20  # the largest request of a sequential read
MAGIC = b"KVBLOCK2"
VERSION_BYTES = 32  # a digest of the ETag; zeros before the first block, or without an ETag
FOOTER = struct.Struct("<8sQ")  # the end of a block file: MAGIC, and the description's length
DESCRIPTION_BYTES = 64 << 20  # the longest description that kafkaviz writes
LIMIT_VARIABLE = "KAFKAVIZ_REMOTE_CACHE_BYTES"
LIMIT_BYTES = 20 << 30  # the default limit for all blocks on disk
RESERVE_BYTES = 1 << 30  # this much of the disk stays free, or a twentieth if that is less
KEPT_SHARE = 0.8  # the share of the limit that is kept after an eviction
EVICTION_BYTES = 128 << 20  # fetched bytes between two checks of the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """A range of a local file, and the range of an object that it comes from."""

    position: int
    length: int
    # an address (s3://bucket/key), or the absolute path of a local file; "" means the object that
    # the local file mirrors
    object: str
    object_position: int
    object_length: int  # in the object; equals `length` if not compressed
    codec: str | None = None  # "zstd" if the range is one compressed frame
    object_bytes: int | None = None  # the size of the object, or None if unknown

    @property
    def end(self) -> int:
        return self.position + self.length


def make_file(
    path: Path, size_bytes: int, mtime_ns: int, extents: Sequence[Extent] | None = None
) -> None:
    """Creates or replaces a file in a mirror folder, which exists. No block is fetched yet.

    `extents` are the sources of all bytes, in order and without gaps. None means the object that
    `path` mirrors.
    """
    blocks_path = _blocks_path(path)
    for extent in extents or own_extents(size_bytes):
        if remote := _remote_object(path, extent):
            file_system.forget_object(remote)  # cached facts are about the old object
    if extents is None:
        with suppress(FileNotFoundError, NotADirectoryError):
            blocks_path.unlink()
    else:
        os.close(_make_blocks(blocks_path, size_bytes, mtime_ns, extents))
    with _new_file() as (descriptor, temporary):
        os.ftruncate(descriptor, size_bytes)
        os.utime(descriptor, ns=(mtime_ns, mtime_ns))
        os.replace(temporary, path)


def own_extents(size_bytes: int) -> list[Extent]:
    """Returns the single extent of a file that is identical to its remote object."""
    return [
        Extent(
            position=0,
            length=size_bytes,
            object="",
            object_position=0,
            object_length=size_bytes,
            object_bytes=size_bytes,
        )
    ]


def remove_file(path: Path) -> None:
    for target in (_blocks_path(path), path):
        with suppress(FileNotFoundError, NotADirectoryError):
            target.unlink()


class CachedFile(io.FileIO):
    """The open block file of a mirrored file. A block file has the data that were fetched so far.

    Call `fetch` for a range before reading it. The block file begins with `size_bytes` of data.
    """

    def __init__(self, path: Path) -> None:
        """Opens the block file of the file at `path`. Creates it if it is missing or outdated."""
        self._path = path
        self._next = -1
        self._window_bytes = POINT_BYTES
        status = _status(path)
        self.size_bytes = status.st_size
        self._mtime_ns = status.st_mtime_ns
        self._is_whole = is_fetched_whole(path, self.size_bytes)
        self._flags_start = _flags_start(status.st_size)
        self._version_start = _version_start(status.st_size)
        descriptor, self._extents = _open_blocks(path, status)
        super().__init__(descriptor, "r")

    def fetch(self, position: int, length: int) -> None:
        """Fetches the missing blocks of a range. Raises CannotOpen if a block cannot be fetched."""
        end = min(position + length, self.size_bytes)
        if position < 0 or position >= end:
            return
        first = position // BLOCK_BYTES
        last = (end - 1) // BLOCK_BYTES
        last_of_file = (self.size_bytes - 1) // BLOCK_BYTES
        if self._is_whole:
            first = 0
            last = last_of_file
        flags = self._flags(first, last)
        if 0 not in flags:
            return
        missing = first + flags.index(0)
        is_sequel = missing == self._next
        self._window_bytes = (
            min(2 * self._window_bytes, REQUEST_BYTES) if is_sequel else POINT_BYTES
        )
        ahead = min(missing + self._window_bytes // BLOCK_BYTES - 1, last_of_file)
        if ahead > last:  # reads ahead only up to the next block that is present
            flags_ahead = self._flags(last + 1, ahead)
            present = flags_ahead.find(1)
            flags += flags_ahead if present < 0 else flags_ahead[:present]
        if not is_sequel and ahead == last_of_file:
            # The file ends here, so the request also fetches blocks before the range.
            start = max(0, ahead + 1 - self._window_bytes // BLOCK_BYTES)
            if start < missing == first:
                flags_before = self._flags(start, first - 1)
                count = len(flags_before) - 1 - flags_before.rfind(1)
                flags = bytes(count) + flags
                first = first - count
        for start, count in _runs(flags):
            self._fetch_blocks(first + start, first + start + count)
        self._next = first + len(flags)

    def _flags(self, first: int, last: int) -> bytes:
        return os.pread(self.fileno(), last + 1 - first, self._flags_start + first)

    def _fetch_blocks(self, first: int, stop: int) -> None:
        step = REQUEST_BYTES // BLOCK_BYTES
        for start in range(first, stop, step):
            end = min(start + step, stop)
            byte_end = min(end * BLOCK_BYTES, self.size_bytes)
            _EVICTION.make_room(byte_end - start * BLOCK_BYTES)
            for position, data in self._read(start * BLOCK_BYTES, byte_end):
                self._check_version(position)
                with translate_os_errors(self._path):
                    _write_all(self.fileno(), data, position)
            with translate_os_errors(self._path):
                _write_all(self.fileno(), b"\1" * (end - start), self._flags_start + start)

    def _check_version(self, position: int) -> None:
        """Ensures that all blocks come from one version of the object.

        If the object has changed, drops the blocks and raises CannotOpen. Checks nothing if the
        store has no ETags, or if the blocks come from several objects.
        """
        extent = self._extents[0]
        remote = _remote_object(self._path, extent)
        if remote is None or any(other.object != extent.object for other in self._extents):
            return
        tag = file_system.entity_tag(remote, size_bytes=extent.object_bytes)
        if tag is None:
            return
        version = hashlib.sha256(tag).digest()
        fcntl.flock(self.fileno(), fcntl.LOCK_EX)  # two processes may fetch the first block
        try:
            recorded = os.pread(self.fileno(), VERSION_BYTES, self._version_start)
            if not any(recorded):
                _write_all(self.fileno(), version, self._version_start)
                return
        finally:
            fcntl.flock(self.fileno(), fcntl.LOCK_UN)
        if recorded != version:
            blocks_path = _blocks_path(self._path)
            os.close(_make_blocks(blocks_path, self.size_bytes, self._mtime_ns, self._extents))
            raise file_system.changed(remote, position)

    def _read(self, position: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Yields (position, bytes) that cover a range, perhaps with bytes before and after it."""
        extents = [
            extent for extent in self._extents if extent.position < end and extent.end > position
        ]
        index = 0
        while index < len(extents):
            extent = extents[index]
            if extent.codec is None:
                start = max(position, extent.position)
                stop = min(end, extent.end)
                object_position = extent.object_position + start - extent.position
                yield start, _read_object(self._path, extent, object_position, stop - start)
                index += 1
                continue
            group = _neighbours(extents[index:])
            group_bytes = sum(part.object_length for part in group)
            data = _read_object(self._path, extent, extent.object_position, group_bytes)
            for part in group:
                piece = data[: part.object_length]
                data = data[part.object_length :]
                yield part.position, _decompress(part, piece)
            index += len(group)


def is_fetched_whole(path: Path, size_bytes: int) -> bool:
    """Returns whether the first read of a file fetches all of it in one request.

    True up to WHOLE_BYTES. For indexes, up to REQUEST_BYTES: each search step would be a request.
    """
    name = parse_file(path.name)
    is_searched = name is not None and name.kind != "log"
    return size_bytes <= (REQUEST_BYTES if is_searched else WHOLE_BYTES)


def _remote_object(path: Path, extent: Extent) -> RemotePath | None:
    return address.parse(extent.object) if extent.object else address.remote_path(path)


def _read_object(path: Path, extent: Extent, position: int, length: int) -> bytes:
    remote = _remote_object(path, extent)
    if remote is not None:
        return file_system.read_range(remote, position, length, size_bytes=extent.object_bytes)
    with translate_os_errors(Path(extent.object)):
        descriptor = open_nonblocking(extent.object, os.O_RDONLY)
        try:
            data = os.pread(descriptor, length, position)
        finally:
            os.close(descriptor)
    if len(data) != length:
        raise file_system.short_read(extent.object, position, len(data), length)
    return data


def _neighbours(extents: list[Extent]) -> list[Extent]:
    group = [extents[0]]
    total_bytes = extents[0].object_length
    for extent in extents[1:]:
        before = group[-1]
        total_bytes += extent.object_length
        if (
            extent.codec is None
            or extent.object != before.object
            or extent.object_position != before.object_position + before.object_length
            or total_bytes > REQUEST_BYTES
        ):
            break
        group.append(extent)
    return group


def _decompress(extent: Extent, data: bytes) -> bytes:
    import pyarrow as pa

    try:
        return pa.decompress(
            data, decompressed_size=extent.length, codec=extent.codec, asbytes=True
        )
    except (OSError, ValueError, pa.ArrowException):
        problem = message("remote.no_frame", codec=extent.codec, length=extent.length)
        what = message("errors.at_byte", position=extent.object_position, problem=problem)
        raise CannotOpen(extent.object, what, message("remote.open_again")) from None


def _runs(flags: bytes) -> Iterator[tuple[int, int]]:
    start = flags.find(0)
    while start >= 0:
        end = flags.find(1, start)
        end = len(flags) if end < 0 else end
        yield start, end - start
        start = flags.find(0, end)


def _write_all(descriptor: int, data: bytes, position: int) -> None:
    rest = memoryview(data)
    while rest:
        count = os.pwrite(descriptor, rest, position)
        rest = rest[count:]
        position = position + count


# ---- the block file


def blocks_root() -> str:
    return os.path.join(address.files_root().removesuffix("files/"), "blocks", "")


def _blocks_path(path: Path) -> Path:
    return Path(blocks_root(), str(path)[len(address.files_root()) :])


def _status(path: Path) -> os.stat_result:
    descriptor = open_nonblocking(str(path), os.O_RDONLY)
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    ensure_regular(path, status)
    return status


def _flags_start(size_bytes: int) -> int:
    return -(-size_bytes // BLOCK_BYTES) * BLOCK_BYTES


def _version_start(size_bytes: int) -> int:
    return _flags_start(size_bytes) + -(-size_bytes // BLOCK_BYTES)


def _open_blocks(path: Path, status: os.stat_result) -> tuple[int, list[Extent]]:
    blocks_path = _blocks_path(path)
    extents: list[Extent] = []
    with suppress(FileNotFoundError, NotADirectoryError):
        descriptor = os.open(blocks_path, os.O_RDWR | os.O_CLOEXEC)
        try:
            description = _read_description(descriptor)
            if description and description["file"] == [status.st_size, status.st_mtime_ns]:
                extents = [Extent(**extent) for extent in description["extents"]]
                if description["boot"] == _boot():
                    os.utime(descriptor)  # marks when it was last used
                    return descriptor, extents
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    extents = extents or own_extents(status.st_size)
    return _make_blocks(blocks_path, status.st_size, status.st_mtime_ns, extents), extents


def _read_description(descriptor: int) -> dict[str, Any] | None:
    end = os.fstat(descriptor).st_size - FOOTER.size
    if end < 0:
        return None
    magic, length = FOOTER.unpack(os.pread(descriptor, FOOTER.size, end))
    if magic != MAGIC or length > min(end, DESCRIPTION_BYTES):
        return None
    try:
        description = json.loads(os.pread(descriptor, length, end - length))
        return description if {"file", "boot", "extents"} <= description.keys() else None
    except (ValueError, AttributeError):
        return None


def _make_blocks(path: Path, size_bytes: int, mtime_ns: int, extents: Sequence[Extent]) -> int:
    sources = [asdict(extent) for extent in extents]
    fields = {"file": [size_bytes, mtime_ns], "boot": _boot(), "extents": sources}
    description = json.dumps(fields).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with _new_file() as (descriptor, temporary):
        end = _version_start(size_bytes) + VERSION_BYTES
        _write_all(descriptor, description + FOOTER.pack(MAGIC, len(description)), end)
        os.replace(temporary, path)
        return os.dup(descriptor)


@contextmanager
def _new_file() -> Generator[tuple[int, str]]:
    """Yields the descriptor and path of a new file. The caller moves the file to its final path."""
    folder = os.path.join(address.files_root().removesuffix("files/"), "new")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=folder)
    try:
        yield descriptor, temporary
    finally:
        os.close(descriptor)
        with suppress(FileNotFoundError):  # it was moved to its place
            os.unlink(temporary)


@cache
def _boot() -> str:
    """Returns an id that changes when the machine restarts. "" if the system reports none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:
            return boot_id.read().strip()
    except OSError:
        return ""


# ---- how much is kept


class _Eviction:
    """Limits the disk space of cached blocks. Evicts the least recently used files first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fetched_bytes = EVICTION_BYTES  # checks the limit before the first block

    def make_room(self, count: int) -> None:
        """Makes room for `count` bytes that the caller will write.

        Evicts blocks once per EVICTION_BYTES. Raises CannotOpen if the disk is full even without
        blocks.
        """
        limit_bytes = limit()
        with self._lock:
            self._fetched_bytes += count
            is_due = self._fetched_bytes > EVICTION_BYTES
            if is_due:
                self._fetched_bytes = 0
        if not is_due:
            return
        evict(limit_bytes)
        root = Path(address.files_root())
        root.mkdir(parents=True, exist_ok=True)
        if _is_full(root, count):
            evict(0)
        if _is_full(root, count):
            what = message("archive.few_bytes_left", count=RESERVE_BYTES)
            raise CannotOpen(root, what, message("archive.make_room"))


def _is_full(folder: Path, count: int) -> bool:
    usage = shutil.disk_usage(folder)
    return usage.free < min(RESERVE_BYTES, usage.total // 20) + count


def limit() -> int:
    """Returns how many bytes of blocks to keep: KAFKAVIZ_REMOTE_CACHE_BYTES, or 20 GiB.

    Raises KafkavizError if the variable is not a number above 0.
    """
    return environment.positive_number(LIMIT_VARIABLE, LIMIT_BYTES)


def evict(limit_bytes: int) -> int:
    """Removes the blocks of the least recently used files, if all blocks together exceed the limit.

    The rest has at most KEPT_SHARE of the limit. Returns the number of bytes that become free once
    no process has these files open.
    """
    files = sorted(_files_with_blocks(), key=lambda file: file[0])
    total_bytes = sum(size for _, _, size in files)
    if total_bytes <= limit_bytes:
        return 0
    freed_bytes = 0
    for _, path, size in files:
        if total_bytes - freed_bytes <= limit_bytes * KEPT_SHARE:
            break
        with suppress(OSError):
            _evict_file(path)
            freed_bytes += size
    return freed_bytes


def _evict_file(path: Path) -> None:
    with open(path, "rb", buffering=0) as blocks:
        description = _read_description(blocks.fileno())
    extents = [Extent(**extent) for extent in description["extents"]] if description else []
    if description is None or not any(extent.object for extent in extents):
        path.unlink()
        return
    os.close(_make_blocks(path, *description["file"], extents))


def _files_with_blocks() -> Iterator[tuple[int, Path, int]]:
    for folder, _, names in os.walk(blocks_root()):
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                status = os.stat(path)
                yield status.st_mtime_ns, path, status.st_blocks * 512


_EVICTION = _Eviction()
