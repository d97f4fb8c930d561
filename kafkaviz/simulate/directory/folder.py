"""Writes a simulated log into a folder, or into a .tar.gz in memory (`archive`).

Writes only new files, and never into a directory that a broker may use.
"""

import filecmp
import gzip
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Container, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from kafkaviz.binary.file_view import FileView, ReadInto, in_memory
from kafkaviz.errors import CannotOpen, system_problem, translate_os_errors
from kafkaviz.format import names
from kafkaviz.messages import message
from kafkaviz.units import MS_NS, file_stem

# name prefix of the folder that is being filled; it stays after a kill -9
STAGING_PREFIX = ".writing-"
PIECE_BYTES = 1 << 20
HOLE_BYTES = 4096  # aligned runs of zeros of this length take no space on disk


# ---- the output folder


def resolve_output(out: Path, inputs: Iterable[Path] = ()) -> Path:
    """Returns the absolute path of the folder to write into.

    Raises CannotOpen if the folder is an input or may be used by a broker, or if it is inside such
    a folder. Also raises CannotOpen if a killed process left files in the folder.
    """
    out = out.absolute()
    advice = message("errors.name_another_folder")
    with translate_os_errors(out):
        real = out.resolve()
        input_paths = [path.resolve() for path in inputs]
        for folder in (real, *real.parents):
            trace = kafka_trace(folder)
            if folder not in input_paths and not trace:
                continue
            what = message("errors.in_kafka_directory", path=folder)
            if folder == real:
                what = message("errors.is_kafka_directory")
            elif trace:
                what = message("errors.beside_kafka_file", path=folder, name=trace)
            raise CannotOpen(out, what, advice, kind="file")
        if not real.is_dir():
            return out
        if _holds_log(real):
            raise CannotOpen(out, message("errors.is_kafka_directory"), advice, kind="file")
        if leftovers := sorted(real.glob(f"{STAGING_PREFIX}*")):
            what = message("errors.left_by_killed_run")
            advice = message("errors.remove_or_name_another")
            raise CannotOpen(leftovers[0], what, advice, kind="file")
    return out


def kafka_trace(folder: Path) -> str | None:
    """Returns the name of an entry that suggests a broker uses this folder, or None.

    Such entries are:

    - one of a broker's own files, except .lock, which other programs use too
    - a segment's .log
    - a topic-partition with a .log, if all folders are topic-partitions and there are several
    """
    for name in names.OWN_FILES:
        if name != names.LOCK and os.path.lexists(folder / name):
            return name
    try:
        with os.scandir(folder) as entries:
            directory_entries = list(entries)
    except OSError:  # missing, or not readable
        return None
    if log_name := next((entry.name for entry in directory_entries if _is_log(entry.name)), None):
        return log_name
    folders = [
        Path(entry.path)
        for entry in directory_entries
        if entry.is_dir() and entry.name not in names.NO_PARTITIONS
    ]
    if len(folders) > 1 and all(names.parse_directory(subfolder.name) for subfolder in folders):
        return next((subfolder.name for subfolder in folders if _is_partition(subfolder)), None)
    return None


def _holds_log(folder: Path) -> bool:
    return any(folder.glob("*.log")) or any(
        names.parse_directory(subfolder.name) and _is_partition(subfolder)
        for subfolder in folder.iterdir()
    )


def _is_partition(folder: Path) -> bool:
    try:
        return any(map(_is_log, os.listdir(folder)))
    except OSError:
        return False


def _is_log(name: str) -> bool:
    segment_name = names.parse_file(name)
    return segment_name is not None and (segment_name.kind, segment_name.suffix) == ("log", "")


@dataclass(frozen=True)
class StagingFolder:
    """A folder that is filled before its files are moved into the folder `out`."""

    path: Path
    out: Path


@contextmanager
def new_files(
    out: Path, inputs: Iterable[Path] = (), *, replacing_same: bool = False
) -> Generator[StagingFolder]:
    """Yields a folder to fill, and then moves its files into `out`.

    After an error, no file and no new folder is left. Raises CannotOpen if `resolve_output` does,
    or if `out` already has one of the new names.

    `replacing_same`: a new file may replace an identical file, but `out` must have no other Kafka
    files.
    """
    out = resolve_output(out, inputs)
    new_folders = [folder for folder in (out, *out.parents) if not folder.exists()]
    with translate_os_errors(out):
        try:
            make_folder(out)
            with _writing(out):
                staging = Path(tempfile.mkdtemp(prefix=STAGING_PREFIX, dir=out))
            try:
                yield StagingFolder(staging, out)
                if replacing_same:
                    _refuse_other_files(out, staging)
                else:
                    refuse_taken(out, os.listdir(staging))
                for path in sorted(staging.iterdir()):
                    path.replace(out / path.name)
                new_folders = []
            finally:
                shutil.rmtree(staging, ignore_errors=True)
        finally:
            for folder in new_folders:
                with suppress(OSError):
                    folder.rmdir()


def make_folder(out: Path) -> None:
    """Creates the folder if it does not exist. Raises CannotOpen if that fails."""
    with _writing(out):
        out.mkdir(parents=True, exist_ok=True)


@contextmanager
def _writing(out: Path) -> Generator[None]:
    try:
        yield
    except OSError as fault:
        what = message("errors.cannot_write_there", reason=system_problem(fault))
        raise CannotOpen(out, what, message("errors.name_another_folder"), kind="file") from None


def refuse_taken(out: Path, new_names: Iterable[str]) -> None:
    """Raises CannotOpen if `out` already has a file with one of these names."""
    for name in sorted(new_names):
        if os.path.lexists(out / name):
            advice = message("errors.name_another_or_empty")
            raise CannotOpen(out / name, message("errors.already_there"), advice, kind="file")


def _refuse_other_files(out: Path, staging: Path) -> None:
    """Raises CannotOpen if `out` has a Kafka file without an identical file in `staging`."""
    own_names = {names.LEADER_EPOCHS, names.PARTITION_METADATA, names.QUORUM_STATE}
    for path in sorted(out.iterdir()):
        new_file = staging / path.name
        is_kafka_file = names.parse_file(path.name) or path.name in own_names
        if is_kafka_file and not (
            new_file.exists() and path.is_file() and filecmp.cmp(path, new_file, shallow=False)
        ):
            what = message("errors.other_kafka_file")
            raise CannotOpen(path, what, message("errors.name_another_or_empty"), kind="file")


# ---- the .log files while they grow


class DiskLogs:
    """A LogBytes on disk. The first append creates the folder.

    The file of the last append stays open until `close`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = None
        self._base = -1
        self._sizes: dict[int, int] = {}

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """Appends bytes to a .log. Raises ValueError if `data` is None."""
        if data is None:
            raise ValueError("a batch came without its bytes")
        with translate_os_errors(self._path(base_offset)):
            if base_offset != self._base:
                self._reopen(base_offset)
            file = cast(int, self._open)
            rest = memoryview(data)
            position = self._sizes[base_offset]
            while len(rest):
                written_bytes = os.pwrite(file, rest, position)
                rest = rest[written_bytes:]
                position = position + written_bytes
            self._sizes[base_offset] = position

    def cut(self, base_offset: int, size_bytes: int) -> None:
        if base_offset in self._sizes:
            os.truncate(self._path(base_offset), size_bytes)
            self._sizes[base_offset] = size_bytes

    def delete(self, base_offset: int) -> None:
        if self._sizes.pop(base_offset, None) is not None:
            self._path(base_offset).unlink()
        if base_offset == self._base:
            self.close()

    def stored(self, base_offset: int) -> FileView:
        path = self._path(base_offset)
        if base_offset not in self._sizes:
            return in_memory(path.name, b"")

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            with translate_os_errors(path), open(path, "rb", buffering=0) as file:
                yield lambda position, buffer: os.preadv(file.fileno(), [buffer.data], position)

        size_bytes = self._sizes[base_offset]
        return FileView(name=path.name, size_bytes=size_bytes, open_reader=open_reader)

    def names(self) -> set[str]:
        return {self._path(base_offset).name for base_offset in self._sizes}

    def close(self) -> None:
        if self._open is not None:
            os.close(self._open)
        self._open = None
        self._base = -1

    def _path(self, base_offset: int) -> Path:
        return self._folder / f"{file_stem(base_offset)}.log"

    def _reopen(self, base_offset: int) -> None:
        self.close()
        make_folder(self._folder)
        flags = os.O_RDWR if base_offset in self._sizes else os.O_RDWR | os.O_CREAT | os.O_EXCL
        self._open = os.open(self._path(base_offset), flags, 0o644)
        self._base = base_offset
        self._sizes.setdefault(base_offset, 0)


# ---- all other files


def write(files: Iterable[FileView], folder: Path, existing_names: Container[str] = ()) -> None:
    """Writes files with their times. If a name is in `existing_names`, sets only size and time."""
    for file in files:
        path = folder / file.name
        with translate_os_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.name not in existing_names:
                _copy(file, path)
            os.truncate(path, file.size_bytes)
            os.utime(path, ns=(file.modified_ms * MS_NS, file.modified_ms * MS_NS))


def _copy(file: FileView, path: Path) -> None:
    buffer = np.empty(PIECE_BYTES, np.uint8)
    # open an existing file without truncating it, so that no reader finds it empty
    with file.open_reader() as read, open(path, "r+b" if path.exists() else "xb") as out:
        while length := read(out.tell(), buffer):
            if not buffer[:length].any():
                out.seek(length, os.SEEK_CUR)
                continue
            for start in range(0, length, HOLE_BYTES):
                block = buffer[start : min(start + HOLE_BYTES, length)]
                if block.any():
                    out.write(block.data)
                else:
                    out.seek(len(block), os.SEEK_CUR)


LEVEL = 1  # gzip's fastest level, because a page waits for the archive


def archive(files: Iterable[FileView], root: str) -> bytes:
    """Returns the bytes of a .tar.gz that holds these files in the folder `root`."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=LEVEL, mtime=0) as gzip_file,
        tarfile.open(fileobj=gzip_file, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            member = tarfile.TarInfo(f"{root}/{file.name}")
            member.size = file.size_bytes
            member.mtime = file.modified_ms // 1000
            mtime = f"{file.modified_ms // 1000}.{file.modified_ms % 1000:03d}"
            member.pax_headers = {"mtime": mtime}
            with file.open_reader() as read:
                tar.addfile(member, io.BufferedReader(_FileStream(read, file.size_bytes)))
    return buffer.getvalue()


class _FileStream(io.RawIOBase):
    def __init__(self, read, size_bytes: int) -> None:
        self._read = read
        self._position = 0
        self._size_bytes = size_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        length = min(len(buffer), self._size_bytes - self._position)
        if not length:
            return 0
        count = self._read(self._position, np.frombuffer(buffer, np.uint8)[:length])
        self._position += count
        return count
