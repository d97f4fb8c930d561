"""A simulated log on disk: where it may be written, its growing .log files, and the rest at last.

It writes only new files: never in a directory of Kafka's, never over a file.
"""

import filecmp
import os
import shutil
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
from kafkaviz.units import file_stem

MS_NS = 1_000_000
STAGING_PREFIX = (
    ".writing-"  # how the name of a folder begins that is filled; after a kill -9 it stays
)
PIECE_BYTES = 1 << 20
HOLE_BYTES = 4096  # runs of zeros this long, and aligned so, take no space on disk


# ---- where


def resolve_output(out: Path, inputs: Iterable[Path] = ()) -> Path:
    """The folder to write into, as an absolute path.

    Raises:
        CannotOpen: it lies in an input, or in any directory that a broker may use; or a killed run
            left it half filled: to a broker that folder would be a topic-partition of a bad name.
    """
    out = out.absolute()
    with translate_os_errors(out):
        real, input_paths = out.resolve(), [path.resolve() for path in inputs]
        kafka_directory = next(
            (
                folder
                for folder in (real, *real.parents)
                if folder in input_paths or kafka_trace(folder)
            ),
            None,
        )
        leftovers = (
            sorted(real.glob(f"{STAGING_PREFIX}*"))
            if kafka_directory is None and real.is_dir()
            else []
        )
        holds_log = kafka_directory is None and real.is_dir() and _holds_log(real)
    if kafka_directory or holds_log:
        trace = kafka_directory and kafka_trace(kafka_directory)
        what = (
            message("errors.is_kafka_directory")
            if kafka_directory in (None, real)
            else message("errors.beside_kafka_file", path=kafka_directory, name=trace)
            if trace
            else message("errors.in_kafka_directory", path=kafka_directory)
        )
        raise CannotOpen(out, what, message("errors.name_another_folder"), kind="file")
    if leftovers:
        raise CannotOpen(
            leftovers[0],
            message("errors.left_by_killed_run"),
            message("errors.remove_or_name_another"),
            kind="file",
        )
    return out


def kafka_trace(folder: Path) -> str | None:
    """The name in a folder that shows that a new one beside it may disturb a broker, if there is.

    There is in a broker directory, even without its meta.properties, and in a topic-partition. Any
    of a broker's own files shows it but .lock, which others use too; so does a segment's .log; so
    do several topic-partitions and no other folder. A topic-partition that was copied by itself
    makes no broker directory of the folder that it lies in.
    """
    for name in names.OWN_FILES:
        if name != names.LOCK and os.path.lexists(folder / name):
            return name
    try:
        with os.scandir(folder) as entries:
            directory_entries = list(entries)
    except OSError:  # not there yet, or closed to us
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
    """Whether there is a .log in a folder, or in a topic-partition right below it."""
    return any(folder.glob("*.log")) or any(
        names.parse_directory(subfolder.name) and _is_partition(subfolder)
        for subfolder in folder.iterdir()
    )


def _is_partition(folder: Path) -> bool:
    """Whether there is a segment's .log in it."""
    try:
        return any(map(_is_log, os.listdir(folder)))
    except OSError:
        return False


def _is_log(name: str) -> bool:
    segment_name = names.parse_file(name)
    return segment_name is not None and (segment_name.kind, segment_name.suffix) == ("log", "")


@dataclass(frozen=True)
class StagingFolder:
    """A folder that is filled before anything appears in its place.

    Attributes:
        path: where the files go until all are there.
        out: where they are then.
    """

    path: Path
    out: Path


@contextmanager
def new_files(
    out: Path, inputs: Iterable[Path] = (), *, replacing_same: bool = False
) -> Generator[StagingFolder]:
    """Gives a folder to fill, and moves its content into out once all went well.

    Else nothing is left behind, no new folder either.

    Args:
        replacing_same: a file may replace one that is the same to the byte; out may hold no other
            file of Kafka's then.

    Raises:
        CannotOpen: as resolve_output, or a file would replace another.
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
    """Makes the folder, if it is not there.

    Raises:
        CannotOpen: it cannot be made.
    """
    with _writing(out):
        out.mkdir(parents=True, exist_ok=True)


@contextmanager
def _writing(out: Path) -> Generator[None]:
    """Turns the refusal of a new file into one line; nothing was moved or removed by then."""
    try:
        yield
    except OSError as fault:
        what = message("errors.cannot_write_there", reason=system_problem(fault))
        raise CannotOpen(out, what, message("errors.name_another_folder"), kind="file") from None


def refuse_taken(out: Path, new_names: Iterable[str]) -> None:
    """Checks that no such file is there already.

    Raises:
        CannotOpen: there is something with one of the names.
    """
    for name in sorted(new_names):
        if os.path.lexists(out / name):
            raise CannotOpen(
                out / name,
                message("errors.already_there"),
                message("errors.name_another_or_empty"),
                kind="file",
            )


def _refuse_other_files(out: Path, staging: Path) -> None:
    """Checks that every file of Kafka's in a folder is among the new ones.

    Raises:
        CannotOpen: out holds one that is not, byte for byte, in staging.
    """
    own_names = {names.LEADER_EPOCHS, names.PARTITION_METADATA, names.QUORUM_STATE}
    for path in sorted(out.iterdir()):
        new_file, is_kafka_file = (
            staging / path.name,
            names.parse_file(path.name) or path.name in own_names,
        )
        if is_kafka_file and not (
            new_file.exists() and path.is_file() and filecmp.cmp(path, new_file, shallow=False)
        ):
            what = message("errors.other_kafka_file")
            raise CannotOpen(path, what, message("errors.name_another_or_empty"), kind="file")


# ---- the .log files while they grow


class DiskLogs:
    """A LogBytes of files in a new folder.

    The file that is written to stays open until close.
    """

    def __init__(self, folder: Path) -> None:
        """Sets up the folder.

        Args:
            folder: made with the first file, if it is not there.
        """
        self._folder, self._open, self._base = folder, None, -1
        self._sizes: dict[int, int] = {}

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """As LogBytes.

        Raises:
            ValueError: there are no bytes.
        """
        if data is None:
            raise ValueError("a batch came without its bytes")
        with translate_os_errors(self._path(base_offset)):
            if base_offset != self._base:
                self._reopen(base_offset)
            file, rest, position = cast(int, self._open), memoryview(data), self._sizes[base_offset]
            while len(rest):
                written_bytes = os.pwrite(file, rest, position)
                rest, position = rest[written_bytes:], position + written_bytes
            self._sizes[base_offset] = position

    def cut(self, base_offset: int, size_bytes: int) -> None:
        """As LogBytes."""
        if base_offset in self._sizes:
            os.truncate(self._path(base_offset), size_bytes)
            self._sizes[base_offset] = size_bytes

    def delete(self, base_offset: int) -> None:
        """As LogBytes."""
        if self._sizes.pop(base_offset, None) is not None:
            self._path(base_offset).unlink()
        if base_offset == self._base:
            self.close()

    def stored(self, base_offset: int) -> FileView:
        """As LogBytes."""
        path = self._path(base_offset)
        if base_offset not in self._sizes:
            return in_memory(path.name, b"")

        @contextmanager
        def open_reader() -> Generator[ReadInto]:
            with translate_os_errors(path), open(path, "rb", buffering=0) as file:
                yield lambda position, buffer: os.preadv(file.fileno(), [buffer.data], position)

        return FileView(
            name=path.name, size_bytes=self._sizes[base_offset], open_reader=open_reader
        )

    def names(self) -> set[str]:
        """The files that are there."""
        return {self._path(base_offset).name for base_offset in self._sizes}

    def close(self) -> None:
        """Closes the file that was written to."""
        if self._open is not None:
            os.close(self._open)
        self._open, self._base = None, -1

    def _path(self, base_offset: int) -> Path:
        return self._folder / f"{file_stem(base_offset)}.log"

    def _reopen(self, base_offset: int) -> None:
        self.close()
        make_folder(self._folder)
        flags = os.O_RDWR if base_offset in self._sizes else os.O_RDWR | os.O_CREAT | os.O_EXCL
        self._open, self._base = os.open(self._path(base_offset), flags, 0o644), base_offset
        self._sizes.setdefault(base_offset, 0)


# ---- and all the rest


def write(files: Iterable[FileView], folder: Path, existing_names: Container[str] = ()) -> None:
    """Writes files under their names below a folder, with their times.

    Args:
        existing_names: files that are there already; they get their length and time alone.
    """
    for file in files:
        path = folder / file.name
        with translate_os_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.name not in existing_names:
                _copy(file, path)
            os.truncate(path, file.size_bytes)
            os.utime(path, ns=(file.modified_ms * MS_NS, file.modified_ms * MS_NS))


def _copy(file: FileView, path: Path) -> None:
    """Copies the bytes of a file, with holes where there are only zeros."""
    buffer = np.empty(PIECE_BYTES, np.uint8)
    # no moment at which a reader finds it empty
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
