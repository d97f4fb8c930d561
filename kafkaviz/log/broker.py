"""A broker directory (one of log.dirs): its topic-partitions, checkpoints, and how it was left."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import checkpoint, names
from kafkaviz.format.names import CLEAN_SHUTDOWN, META_PROPERTIES, OWN_FILES
from kafkaviz.html_table import html_table
from kafkaviz.log import file, lone_files
from kafkaviz.log.archives import archive
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import (
    SEGMENT_FILES,
    CheckpointOffsets,
    Partition,
    open_partition,
)
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.tiered_view import TieredState
from kafkaviz.messages import Message, message, say

SEGMENT_KINDS = (*SEGMENT_FILES, "snapshot")
MARKER_BYTES = 1 << 16  # of the clean marker; what it holds is a line
# LogManager, 4.3.1
CHECKPOINTS = dict(
    zip(("log_start", "high_watermark", "recovery_point"), names.OFFSET_CHECKPOINTS, strict=True)
)


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and so is not shown."""

    path: Path  # of the file or directory itself
    what: Message
    # CannotOpen's, where the system did not let it be read; "": its bytes are wrong
    kind: str = field(default="", compare=False)

    @property
    def is_unread(self) -> bool:
        """Whether nothing is known of the content."""
        return bool(self.kind)

    @classmethod
    def from_fault(cls, path: Path, fault: KafkavizError) -> "Problem":
        """The problem of a path, worded without naming the path again."""
        return cls(path, getattr(fault, "what", fault.message), getattr(fault, "kind", ""))


@dataclass(frozen=True, kw_only=True)
class Broker:
    """A broker directory as it is on disk; an archive is one once it is unpacked."""

    path: Path
    source: Path  # what the person gave: the directory, or the archive it came from
    partitions: Sequence[Partition]  # by topic, then counted
    properties: Mapping[str, str] = field(default_factory=dict)
    is_clean: bool = False  # it was stopped cleanly and not started since: the marker is there
    # what 3.7 and later write into the marker (KIP-966); older ones leave it empty
    clean_body: dict | None = None
    problems: tuple[Problem, ...] = ()
    # one partition directory was opened, or a store of remote segments: no broker directory around
    is_lone: bool = False
    is_simulated: bool = False  # kafkaviz wrote it, and says so in its server.properties

    def _repr_html_(self) -> str:
        """A row a topic-partition, as a notebook shows it."""
        rows = (
            (
                partition.directory,
                len(partition.segments),
                partition.log_bytes,
                partition.log_start_offset,
            )
            for partition in self.partitions
        )
        path = str(archive.display_path(self.path))
        title = say("html_table.broker_title", n=len(self.partitions), path=path)
        return html_table(
            title,
            (
                "common.topic_partition",
                "common.segments",
                "workshop.log_bytes",
                "html_table.log_start",
            ),
            rows,
        )

    @property
    def name(self) -> str:
        """The folder's name, which distinguishes this broker from others in a catalog."""
        return self.path.name

    @property
    def shutdown_state(self) -> str:
        """How it was left: "clean", "unclean", or "unknown".

        Unknown of a single partition directory without a broker directory around it.
        """
        if self.is_clean:
            return "clean"
        return (
            "unknown"
            if self.is_lone and not file.is_there(self.path / META_PROPERTIES)
            else "unclean"
        )

    @property
    def node_id(self) -> str | None:
        """node.id of KRaft, broker.id before."""
        return self.properties.get("node.id") or self.properties.get("broker.id")

    @property
    def cluster_id(self) -> str | None:
        """The cluster's id, where meta.properties names it."""
        return self.properties.get("cluster.id")

    @property
    def directory_id(self) -> str | None:
        """The id of this log directory, from 3.7 on."""
        return self.properties.get("directory.id")

    @cached_property
    def _by_directory(self) -> dict[str, Partition]:
        return {partition.directory: partition for partition in self.partitions}

    @cached_property
    def current_checkpoints(self) -> Mapping[str, CheckpointOffsets]:
        """What the checkpoints say of each current topic-partition, by Partition.label."""
        return {
            partition.label: partition.checkpoints
            for partition in self.partitions
            if partition.state == "current"
        }

    def partition(self, directory: str) -> Partition:
        """The topic-partition of this directory name, such as orders-0."""
        partition = self._by_directory.get(directory)
        if not partition:
            raise CannotOpen(
                self.path, message("errors.no_such_partition", name=directory), kind="missing"
            )
        return partition


def open_broker(
    path: Path | str,
    collect: Callable[[Iterable[Partition]], Sequence[Partition]] = tuple,
) -> Broker:
    """A broker directory, a partition directory, an archive of either, or a file of a segment.

    An archive that holds one partition and no file of a broker is that partition alone, as its
    directory is. A path may also lead to a partition in an archive. A file is a partition with its
    segment alone. Only names, sizes and small files are read.

    Args:
        collect: what holds the partitions, which are listed as it takes them.
    """
    source = file.absolute_path(path)
    return read_broker(source, open_root(source), collect)


def read_broker(
    source: Path, root: Path, collect: Callable[[Iterable[Partition]], Sequence[Partition]] = tuple
) -> Broker:
    """The same from the directory that open_root gives for the path."""
    if is_partition(root):
        return _open_lone_partition(source, root)
    directories, problems = _partition_directories(root)
    is_archive = archive.is_archive(source) and source.is_file()
    if is_archive and len(directories) == 1 and not own_files(root):
        return _open_lone_partition(source, root / next(iter(directories)))
    offsets = _read_checkpoints(root, problems)
    partitions = (
        _open_partition(root / name, partition_name, offsets, problems)
        for name, partition_name in directories.items()
    )
    readable_partitions = collect(partition for partition in partitions if partition)
    if (
        not file.is_there(root / META_PROPERTIES)
        and not problems
        and not any(partition.segments for partition in readable_partitions)
    ):
        raise _not_a_broker(root)  # any folder may hold one that is called gcc-12
    is_clean, clean_body = _read_clean_marker(root, problems)
    return Broker(
        path=root,
        source=source,
        partitions=readable_partitions,
        properties=_read_properties(root, problems),
        is_clean=is_clean,
        clean_body=clean_body,
        problems=tuple(problems),
        is_lone=tiered_view.is_store_alone(root),
        is_simulated=_is_simulated(root),
    )


def open_root(path: Path) -> Path:
    """The directory of a path: itself, that of an archive, or one that shows a segment's files."""
    located = archive.locate(path)
    view = lone_files.open_view(located)
    if view is None:
        return archive.unpack_if_archive(path)
    archive.note_source(view, path.parent)
    archive.note_source(view.parent, path)
    return view


def join_tiered(path: Path | str, store: Path | str) -> Path:
    """A broker directory or a partition in it, with the remote segments of a store before its own.

    Args:
        path: the broker directory, an archive of one, or a partition directory in one.
        store: a folder with remote segments, or an archive of one.

    Returns:
        The path of the same in the folder that shows both.

    Raises:
        CannotOpen: the second is no store.
    """
    local = archive.locate(Path(path))
    name = Path()
    is_of_broker = names.parse_directory(local.name) and file.is_there(
        local.parent / META_PROPERTIES
    )
    if is_of_broker or (local.is_dir() and is_partition(local)):
        local, name = local.parent, Path(local.name)
    state_store, state_local = _tiered_sources(store, local)
    return tiered_view.open_view(state_store, state_local) / name


def read_tiered_state(store: Path | str, path: Path | str | None = None) -> TieredState:
    """Where the segments of a store are, and those of the broker directory that it belongs to.

    Args:
        store: a folder with remote segments, an archive of one, or what shows one with or without
            a broker directory.
        path: the broker directory, or an archive of one.

    Raises:
        CannotOpen: the first is no store.
    """
    return tiered_view.read_state(*_tiered_sources(store, path))


def _tiered_sources(store: Path | str, path: Path | str | None) -> tuple[Path, Path | None]:
    """The store and the broker directory themselves, unpacked where they are packed."""
    root = archive.unpacked_root(Path(store))
    store_path, local = tiered_view.sources(root) or (root, None)
    if path is None:
        return store_path, local
    directory = archive.unpacked_root(Path(path))
    sources = tiered_view.sources(directory)
    return store_path, (sources and sources[1]) or directory


def own_files(root: Path) -> list[FileInfo]:
    """The files that Kafka keeps in a broker directory beside its partitions, where present."""
    files = []
    for name in OWN_FILES:
        with suppress(CannotOpen):
            files.append(file.info(root / name))
    return files


def _open_lone_partition(source: Path, path: Path) -> Broker:
    """Opens a single partition directory.

    Its broker directory is the one around it, shown as if it held nothing else.
    """
    problems: list[Problem] = []
    root = path.parent
    partition = _open_partition(
        path,
        cast("names.PartitionName", names.parse_directory(path.name)),
        _read_checkpoints(root, problems),
        problems,
    )
    partitions = tuple(filter(None, [partition]))
    properties = _read_properties(root, problems)
    is_clean, clean_body = _read_clean_marker(root, problems)
    return Broker(
        path=root,
        source=source,
        partitions=partitions,
        properties=properties,
        is_clean=is_clean,
        clean_body=clean_body,
        problems=tuple(problems),
        is_lone=True,
        is_simulated=_is_simulated(root),
    )


def _open_partition(
    path: Path, name: names.PartitionName, offsets: Mapping[str, Mapping], problems: list[Problem]
) -> Partition | None:
    key = (name.topic, name.partition)
    checkpoint_offsets = (
        CheckpointOffsets(
            **{checkpoint_name: entries.get(key) for checkpoint_name, entries in offsets.items()}
        )
        if name.state == "current"
        else CheckpointOffsets()
    )
    try:
        partition = open_partition(path, name, checkpoint_offsets)
        remote_bases = frozenset(tiered_view.remote_files(path))
        return replace(partition, remote_bases=remote_bases) if remote_bases else partition
    except CannotOpen as fault:
        problems.append(Problem.from_fault(path, fault))
        return None


def _partition_directories(root: Path) -> tuple[dict[str, names.PartitionName], list[Problem]]:
    """Every directory with a partition's name; the names decide, as in LogManager.loadLogs."""
    directories, problems = {}, []
    with file.scan(root) as entries:
        for entry in sorted(entries, key=lambda item: names.natural_sort_key(item.name)):
            partition_name = names.parse_directory(entry.name)
            if partition_name and file.is_directory(entry):
                directories[entry.name] = partition_name
    return directories, problems


def is_partition(path: Path) -> bool:
    """Whether a directory has a partition's name, and holds a file of a segment."""
    return names.parse_directory(path.name) is not None and _holds_file(path, SEGMENT_KINDS)


def _holds_file(path: Path, kinds: Sequence[str]) -> bool:
    """Whether a directory holds a file with the name of a segment's, of one of these kinds."""
    with file.scan(path) as entries:
        return any(
            (segment_name := names.parse_file(entry.name)) and segment_name.kind in kinds
            for entry in entries
        )


def _read_checkpoints(root: Path, problems: list[Problem]) -> dict[str, dict]:
    """The three offset checkpoints.

    One that is missing or unreadable says nothing, as in LogManager.
    """
    return {
        checkpoint_name: _read_offsets(root / name, problems)
        for checkpoint_name, name in CHECKPOINTS.items()
    }


def _read_offsets(path: Path, problems: list[Problem]) -> dict:
    try:
        return (
            checkpoint.parse_offsets(file.read(path, limit_bytes=file.TEXT_BYTES))
            if file.is_there(path)
            else {}
        )
    except KafkavizError as fault:
        problems.append(Problem.from_fault(path, fault))
        return {}


def _read_properties(root: Path, problems: list[Problem]) -> dict[str, str]:
    path = root / META_PROPERTIES
    try:
        return (
            checkpoint.parse_properties(file.read(path, limit_bytes=file.PROPERTIES_BYTES))
            if file.is_there(path)
            else {}
        )
    except KafkavizError as fault:
        problems.append(Problem.from_fault(path, fault))
        return {}


def _read_clean_marker(root: Path, problems: list[Problem]) -> tuple[bool, dict | None]:
    """Reads the marker of a clean stop.

    A broker looks only at whether it is there (LogManager, 4.3.1).

    Returns:
        Whether the marker is there, and its content.
    """
    path = root / CLEAN_SHUTDOWN
    try:
        return file.is_there(path), checkpoint.parse_clean_shutdown(
            file.read_text(path, MARKER_BYTES)
        ) if file.is_there(path) else None
    except KafkavizError as fault:
        problems.append(Problem.from_fault(path, fault))
        return True, None


def _is_simulated(root: Path) -> bool:
    """Whether a comment in it says that the directory is simulated; nothing else would show it."""
    path, prefix = root / names.SERVER_PROPERTIES, f"#{names.SIMULATED_COMMENT}".encode()
    try:
        return path.is_file() and file.read(path, 0, len(prefix)) == prefix
    except (CannotOpen, OSError):
        return False


def _not_a_broker(root: Path) -> CannotOpen:
    """The error for a path that is no broker directory; it names those below it."""
    if _holds_file(root, ("log",)):
        problem = message("errors.log_without_partition_name")
        return CannotOpen(root, problem, message("errors.rename_topic_n"), kind="not-kafka")
    if file.is_there(root / names.CATALOG_FILE):
        problem = message("errors.is_a_catalog")
        return CannotOpen(root, problem, message("errors.give_catalog_source"), kind="not-kafka")
    # in an archive, by its own address
    nearby = tuple(
        archive.display_path(path) for path in _directories(root) if _looks_like_broker(path)
    )
    hint = (
        message("errors.looks_like_one", path=nearby[0])
        if nearby
        else message("errors.give_log_directory")
    )
    return CannotOpen(
        root,
        message("errors.not_a_broker_directory"),
        hint,
        kind="not-kafka",
        nearby=tuple(map(Path, nearby)),
    )


def _directories(root: Path) -> list[Path]:
    with file.translate_os_errors(root), os.scandir(root) as entries:
        return sorted(Path(entry.path) for entry in entries if file.is_directory(entry))


def _looks_like_broker(path: Path) -> bool:
    try:
        return file.is_there(path / META_PROPERTIES) or any(
            is_partition(child) for child in _directories(path)
        )
    except (CannotOpen, OSError):
        return False
