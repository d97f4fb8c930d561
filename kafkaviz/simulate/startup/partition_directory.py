"""A partition directory while its log is loaded: changed files, and a StartupStep per change.

The real files are never changed.
"""

from typing import Any, NoReturn

from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.format.java import KAFKA
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.startup.small_files import STORAGE
from kafkaviz.simulate.steps import MAX_LOG_BYTES, StartupStep, StoredLog
from kafkaviz.units import file_stem

INDEXES = {"index": offset_index, "timeindex": time_index, "txnindex": txn_index}
KINDS = ("log", *INDEXES)
NOT_A_NUMBER = "java.lang.NumberFormatException"
IO_ERRORS = (STORAGE, "java.io.FileNotFoundException", "java.nio.file.FileSystemException")


class LoadFailed(Exception):
    """The error that ends the loading of a log. The last step holds the reason."""


class LoadedDirectory:
    """The files of one partition directory by name, and the steps that changed them."""

    def __init__(self, log: StoredLog) -> None:
        self.name = log.directory
        self.files = {file.name: file for file in log.files}
        self.folders = frozenset(log.folders)
        self._steps: dict[tuple[str, str | None, int | None], StartupStep] = {}

    @property
    def steps(self) -> tuple[StartupStep, ...]:
        """The steps so far. For a file that was written twice, the step has the later content."""
        return tuple(self._steps.values())

    def get(self, base: int, kind: str) -> FileView | None:
        return self.files.get(f"{file_stem(base)}.{kind}")

    def require_file(self, base: int, kind: str) -> FileView:
        return self.files[f"{file_stem(base)}.{kind}"]

    def path(self, base: int) -> str:
        """Returns a segment's path without ending, relative to the broker directory."""
        return f"{self.name}/{file_stem(base)}"

    def named_files(self) -> list[tuple[int, str, FileView]]:
        """Returns offset, kind and file of each file in use whose name begins with an offset."""
        parsed_names = ((names.parse_file(name), file) for name, file in self.files.items())
        return [
            (name.base_offset, name.kind, file)
            for name, file in parsed_names
            if name and not name.suffix
        ]

    def files_with_suffix(self, suffix: str) -> list[tuple[str, int]]:
        """Returns name and offset of each file with a suffix.

        Fails loading at a name without an offset, as Kafka does.
        """
        return [
            (name, self.parse_offset(name)) for name in self.files if name.endswith(f".{suffix}")
        ]

    def snapshot_files(self) -> dict[int, FileView]:
        snapshots: dict[int, FileView] = {}
        for name, file in sorted(self.files.items()):
            offset = leading_number(name)
            if not name.endswith(".snapshot") or offset is None:
                continue
            if offset not in snapshots or name == f"{file_stem(offset)}.snapshot":
                snapshots[offset] = file
        return snapshots

    def parse_offset(self, name: str) -> int:
        """Returns the offset that Kafka reads from a file's name, or fails loading."""
        try:
            return names.parse_offset(name)
        except ValueError as fault:
            exception = BrokerException(NOT_A_NUMBER, f'For input string: "{fault}"')
            ending = f".{name.rpartition('.')[2]}"
            self.fail(
                None,
                "file-name",
                exception,
                name=name,
                way_out=message("way_out.move_file_away", file=f"{self.name}/{name}"),
                because=message("start.name_without_offset", name=name, ending=ending),
            )

    def get_existing(self, base: int, kind: str) -> FileView | None:
        """Returns a segment's file; None if it does not exist. A folder counts as an empty file."""
        name = f"{file_stem(base)}.{kind}"
        return in_memory(name, b"") if name in self.folders else self.get(base, kind)

    def open_files(self, base: int, *kinds: str) -> None:
        """Fails loading if one of these files of a segment is a folder."""
        for kind in kinds:
            name = f"{file_stem(base)}.{kind}"
            if name in self.folders:
                self.fail_at_folder(name, is_mapped=kind in ("index", "timeindex"))

    def fail_at_folder(self, name: str, *, is_mapped: bool = False) -> NoReturn:
        """Fails loading at a folder that has the name of a file.

        If `is_mapped`, Kafka opens the file with RandomAccessFile instead of FileChannel.
        """
        path = f"{self.name}/{name}"
        exception = BrokerException("java.nio.file.FileSystemException", f"{path}: Is a directory")
        if is_mapped:
            exception = BrokerException("java.io.FileNotFoundException", f"{path} (Is a directory)")
        self.fail(
            leading_number(name),
            "folder",
            exception,
            name=name,
            way_out=message("way_out.move_folder_out", file=path),
            because=message("start.folder_as_file", name=name),
        )

    def delete(self, name: str, cause: str, why: Message) -> None:
        self.add_step(
            "delete",
            cause,
            why,
            leading_number(name),
            name,
            size_bytes=self.files.pop(name).size_bytes,
        )

    def delete_segment(self, base: int, cause: str, why: Message) -> None:
        for kind in KINDS:
            if self.get(base, kind):
                self.delete(f"{file_stem(base)}.{kind}", cause, why)

    def cut(self, base: int, valid_bytes: int, why: Message, cause: str = "tail") -> None:
        log = self.require_file(base, "log")
        if valid_bytes < log.size_bytes:
            self.files[log.name] = log.part(log.name, 0, valid_bytes)
            self.add_step(
                "truncate",
                cause,
                why,
                base,
                log.name,
                from_position=valid_bytes,
                size_bytes=log.size_bytes - valid_bytes,
            )

    def write_index(self, base: int, kind: str, data: bytes, cause: str, why: Message) -> bool:
        """Writes an index; returns whether its bytes change."""
        name = f"{file_stem(base)}.{kind}"
        file = self.get(base, kind)
        if (file is None and kind == "txnindex" and not data) or (
            file and file.size_bytes == len(data) and file.content() == data
        ):
            return False
        self.write_file(in_memory(name, data), cause, why, base)
        return True

    def write_file(self, file: FileView, cause: str, why: Message, base: int | None) -> None:
        self.files[file.name] = file
        self.add_step("rebuild", cause, why, base, file.name, size_bytes=file.size_bytes)

    def fail(
        self,
        base: int | None,
        cause: str,
        exception: BrokerException,
        *,
        name: str,
        way_out: Message,
        because: Message | None = None,
        **more: Any,
    ) -> NoReturn:
        """Ends loading with a "fail" step. `because` explains the exception, if known."""
        is_storage_error = exception.class_name in IO_ERRORS
        why = message(
            "start.takes_directory_offline" if is_storage_error else "start.ends_start",
            because=because or message("start.loading_fails", name=self.name),
        )
        self.add_step(
            "fail",
            cause,
            why,
            base,
            name,
            error=str(exception),
            way_out=way_out,
            takes_directory_offline=is_storage_error,
            **more,
        )
        raise LoadFailed

    def add_step(
        self, action: str, cause: str, why: Message, base: int | None, name: str, **more: Any
    ) -> None:
        self._steps[action, name, base] = StartupStep(
            partition=self.name,
            segment=base,
            action=action,
            cause=cause,
            why=why,
            file=f"{self.name}/{name}",
            **more,
        )


def leading_number(name: str) -> int | None:
    try:
        return names.parse_offset(name)
    except ValueError:
        return None


def find_size_exception(path: str, size_bytes: int) -> BrokerException | None:
    """Returns the exception of FileRecords.open (3.9.0, 4.3.1) for a .log of this size, or None."""
    if size_bytes <= MAX_LOG_BYTES:
        return None
    return BrokerException(
        KAFKA,
        (
            f"The size of segment {path} ({size_bytes}) is larger than the maximum allowed segment "
            f"size of {MAX_LOG_BYTES}"
        ),
    )
