"""The files of a partition directory during broker start-up.

LoadedDirectory holds the changed files in memory, with a StartupStep per change. No real file is
changed. `find_end_offset` finds the end of a .log from the last index entry on, without recovery.
"""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from kafkaviz import versions
from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.errors import CorruptFile, FaultKind
from kafkaviz.format import names, offset_index, time_index, txn_index
from kafkaviz.format.batch import LENGTH_END, MAGIC_2, MAGIC_END
from kafkaviz.format.java import CORRUPT_RECORD, KAFKA, without_place
from kafkaviz.format.offset_index import find_log_end
from kafkaviz.format.walk import Walk, WalkEnd
from kafkaviz.messages import Message, message
from kafkaviz.search import binary_search
from kafkaviz.search.scan import LogReader, find_offset
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import NEWEST, BrokerException
from kafkaviz.simulate.startup.small_files import STORAGE
from kafkaviz.simulate.steps import MAX_LOG_BYTES, StartupStep, StoredLog
from kafkaviz.units import file_stem
from kafkaviz.versions import BASE_OFFSET

INDEXES = {"index": offset_index, "timeindex": time_index, "txnindex": txn_index}
KINDS = ("log", *INDEXES)
NOT_A_NUMBER = "java.lang.NumberFormatException"
IO_ERRORS = (STORAGE, "java.io.FileNotFoundException", "java.nio.file.FileSystemException")


class LoadFailed(Exception):
    """The error that ends the loading of a log. The last step holds the reason."""


class LoadedDirectory:
    """The files of one partition directory by name, and the steps that changed them."""

    def __init__(self, log: StoredLog, behaviour: ReleaseBehaviour = NEWEST) -> None:
        self.name = log.directory
        self.topic = log.topic
        self.config = log.config
        self.behaviour = behaviour
        self.files = {file.name: file for file in log.files}
        self.folders = frozenset(log.folders)
        self._steps: dict[tuple[str, str | None, int | None], StartupStep] = {}

    @property
    def steps(self) -> tuple[StartupStep, ...]:
        """The steps so far. If an action was repeated on a file, only the last one is included."""
        return tuple(self._steps.values())

    def get(self, base: int, kind: str) -> FileView | None:
        return self.files.get(f"{file_stem(base)}.{kind}")

    def require_file(self, base: int, kind: str) -> FileView:
        return self.files[f"{file_stem(base)}.{kind}"]

    def path(self, base: int) -> str:
        """Returns a segment's path without ending, relative to the broker directory."""
        return f"{self.name}/{file_stem(base)}"

    def named_files(self) -> list[tuple[int, str, FileView]]:
        """Returns (offset, kind, file) of each file named OFFSET.KIND; not OFFSET.KIND.deleted."""
        return [
            (parsed.base_offset, parsed.kind, file)
            for name, file in self.files.items()
            if (parsed := names.parse_file(name)) and not parsed.suffix
        ]

    def files_with_suffix(self, suffix: str) -> list[tuple[str, int]]:
        """Returns (name, offset in the name) of each file with a suffix.

        Raises LoadFailed if such a name has no offset, because Kafka then fails to load the log.
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
        """Returns the offset in a file's name. Raises LoadFailed if Kafka finds no offset."""
        try:
            return names.parse_offset(name)
        except ValueError as fault:
            exception = BrokerException(NOT_A_NUMBER, f'For input string: "{fault}"')
            way_out = message("way_out.move_file_away", file=f"{self.name}/{name}")
            ending = f".{name.rpartition('.')[2]}"
            because = message("start.name_without_offset", name=name, ending=ending)
            self.fail(None, "file-name", exception, name, way_out, because=because)

    def get_existing(self, base: int, kind: str) -> FileView | None:
        """Returns a segment's file, or None if it does not exist.

        If a folder has the file's name, returns an empty file.
        """
        name = f"{file_stem(base)}.{kind}"
        return in_memory(name, b"") if name in self.folders else self.get(base, kind)

    def open_files(self, base: int, *kinds: str) -> None:
        """Raises LoadFailed if Kafka cannot open a segment's file because it is a folder."""
        for kind in kinds:
            name = f"{file_stem(base)}.{kind}"
            if name in self.folders:
                self.fail_at_folder(name, is_mapped=kind in ("index", "timeindex"))

    def fail_at_folder(self, name: str, *, is_mapped: bool = False) -> NoReturn:
        """Raises LoadFailed for a folder with a file's name. `is_mapped`: Kafka maps the file."""
        path = f"{self.name}/{name}"
        exception = BrokerException("java.nio.file.FileSystemException", f"{path}: Is a directory")
        if is_mapped:
            exception = BrokerException("java.io.FileNotFoundException", f"{path} (Is a directory)")
        way_out = message("way_out.move_folder_out", file=path)
        because = message("start.folder_as_file", name=name)
        self.fail(leading_number(name), "folder", exception, name, way_out, because=because)

    def delete(self, name: str, cause: str, why: Message) -> None:
        size_bytes = self.files.pop(name).size_bytes
        self.add_step("delete", cause, why, leading_number(name), name, size_bytes=size_bytes)

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
        """Writes an index file. Returns whether this changes the file's bytes."""
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
        name: str,
        way_out: Message,
        *,
        because: Message | None = None,
        **more: Any,
    ) -> NoReturn:
        """Adds a "fail" step and raises LoadFailed. `because` explains the exception."""
        is_storage_error = exception.class_name in IO_ERRORS
        key = "start.takes_directory_offline" if is_storage_error else "start.ends_start"
        why = message(key, because=because or message("start.loading_fails", name=self.name))
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
    """Returns Kafka's exception, as in 3.9.0 and 4.3.1, for a .log above MAX_LOG_BYTES, or None."""
    if size_bytes <= MAX_LOG_BYTES:
        return None
    words = (
        f"The size of segment {path} ({size_bytes}) is larger than the maximum allowed segment "
        f"size of {MAX_LOG_BYTES}"
    )
    return BrokerException(KAFKA, words)


LENGTH_BYTES = 4


def find_end_offset(
    directory: LoadedDirectory, log: FileView, index: FileView | None, base: int
) -> int:
    """Returns the offset after the last batch of a .log (LogSegment.readNextOffset, 4.3.1).

    Like Kafka, skips the bytes before the position of the last index entry. Returns `base` if all
    remaining batches end below the offset of that entry.
    """
    relative_offset, position = _last_slot(index)
    if index and (relative_offset or position):
        position = _search_position(index, relative_offset)
    refuse_unreadable_at_last_entry(directory, log, index, base)
    with log.open_reader() as read:
        walks = []

        def last_offsets(position: int) -> Iterator[np.ndarray]:
            walks.append(Walk(read, position, log.size_bytes))
            return (batches["last_offset"] for batches in walks[-1])

        end = find_log_end(last_offsets, base, (base + relative_offset, position))
    refuse_corrupt(directory, base, log, walks[-1].end)
    return base if end is None else end


def refuse_unreadable_at_last_entry(
    directory: LoadedDirectory, log: FileView, index: FileView | None, base: int
) -> None:
    """Calls `refuse_unreadable` with the offset in the last index slot as `target`."""
    refuse_unreadable(directory, log, index, base, base + _last_slot(index)[0])


def refuse_unreadable(
    directory: LoadedDirectory, log: FileView, index: FileView | None, base: int, target: int
) -> None:
    """Raises LoadFailed if the search for `target` reads a damaged message of magic 0 or 1.

    Releases before 4.1 do not fail. Since 4.1, FileRecords.searchForOffsetFromPosition
    decompresses compressed messages to compare their first offsets.
    """
    if not versions.BASE_OFFSET_SCAN.applies_to(directory.behaviour.release):
        return
    with log.open_reader() as read:
        magic = np.full(1, MAGIC_2, np.int8)
        read(MAGIC_END - 1, magic)
        if magic[0] >= MAGIC_2:  # later batches are of magic 2 too
            return
        reader = LogReader(read, log.size_bytes, f"{directory.name}/{log.name}")
        position = _position_below(index, target - base)
        try:
            fault = find_offset(reader, base, target, position, BASE_OFFSET).fault
        except CorruptFile:  # too large to decompress here
            return
    # refuse_corrupt reports an impossible length, with the file's name
    if fault is None or fault.kind is FaultKind.LENGTH:
        return
    exception = BrokerException(fault.class_name, str(without_place(fault.what)))
    way_out = message("way_out.restore_unreadable_message")
    directory.fail(base, "log-corrupt", exception, log.name, way_out)


def _position_below(index: FileView | None, relative_offset: int) -> int:
    entries = offset_index.parse(index.content() if index else b"")
    entries = entries[: offset_index.count_entries(entries)]
    below = np.flatnonzero(entries["relative_offset"] <= relative_offset)
    return max(0, int(entries["position"][below[-1]])) if len(below) else 0


def _search_position(index: FileView, relative_offset: int) -> int:
    """Returns the position that OffsetIndex.lookup finds. Slots may be out of order."""
    entries = offset_index.parse(index.content())
    slot = binary_search.floor(entries["relative_offset"], relative_offset, entries.itemsize).slot
    return int(entries["position"][slot]) if slot >= 0 else 0


def refuse_corrupt(directory: LoadedDirectory, base: int, log: FileView, end: WalkEnd) -> None:
    if end.reason != "bad-length":
        return
    length = np.empty(LENGTH_BYTES, np.uint8)
    with log.open_reader() as read:
        read(end.position + LENGTH_END - LENGTH_BYTES, length)
    size = int.from_bytes(length.tobytes(), "big", signed=True)
    words = (
        f"Found record size {size} smaller than minimum record overhead (14) in file "
        f"{directory.name}/{log.name}."
    )
    exception = BrokerException(CORRUPT_RECORD, words)
    way_out = message("way_out.recover_corrupt_log")
    directory.fail(base, "log-corrupt", exception, log.name, way_out)


def _last_slot(index: FileView | None) -> tuple[int, int]:
    entry_bytes = offset_index.ENTRY.itemsize
    stop = index.size_bytes // entry_bytes * entry_bytes if index else 0
    if not index or not stop:
        return 0, 0
    last = offset_index.parse(index.part(index.name, stop - entry_bytes, stop).content())
    return last[0].item() if len(last) else (0, 0)
