"""A broker: its log directories (log.dirs), their topic-partitions, and how they were left."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import checkpoint, names
from kafkaviz.format.java_numbers import int_or_none
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
from kafkaviz.log.remote import address
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.tiered_view import TieredState
from kafkaviz.messages import Message, message, say

SEGMENT_KINDS = (*SEGMENT_FILES, "snapshot")
LOST_AND_FOUND = "lost+found"
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
class LogDirectory:
    """One of a broker's log.dirs as it is on disk; an archive is one once it is unpacked."""

    path: Path
    source: Path  # what the person gave: the directory, or the folder or archive that holds it
    properties: Mapping[str, str] = field(default_factory=dict)
    is_clean: bool = False  # it was stopped cleanly and not started since: the marker is there
    # what 3.7 and later write into the marker (KIP-966); older ones leave it empty
    clean_body: dict | None = None
    problems: tuple[Problem, ...] = ()
    is_simulated: bool = False  # kafkaviz wrote it, and says so in its server.properties
    has_metadata_log: bool = False

    @property
    def node_id(self) -> str | None:
        """node.id of KRaft, broker.id before."""
        return self.properties.get("node.id") or self.properties.get("broker.id")

    @property
    def node_number(self) -> int | None:
        """The node_id as Integer.parseInt reads it; None where there is none, or it throws."""
        return int_or_none(self.node_id or "")

    @property
    def cluster_id(self) -> str | None:
        """The cluster's id, where meta.properties names it."""
        return self.properties.get("cluster.id")

    @property
    def directory_id(self) -> str | None:
        """The id of this log directory, from 3.7 on."""
        return self.properties.get("directory.id")

    @property
    def text(self) -> str:
        """The path as a person knows it: of a packed one the archive's, and the path in it."""
        return str(archive.display_path(self.path))

    @property
    def is_kraft(self) -> bool:
        """Whether a KRaft node wrote its meta.properties; ZooKeeper's brokers write version 0."""
        return int_or_none(self.properties.get("version", "").strip()) == 1


@dataclass(frozen=True, kw_only=True)
class Broker:
    """A broker, of which all or some log directories were opened.

    Invariants: there is at least one log directory; the directory of each partition is one of them.
    """

    sources: tuple[Path, ...]  # what the person gave
    log_directories: tuple[LogDirectory, ...]
    partitions: Sequence[Partition]  # by topic, then counted, then in the order of the directories
    # one partition directory was opened, or a store of remote segments: no broker directory around
    is_lone: bool = False
    # an archive of partition directories, without any file of a broker: somebody copied them
    is_copy: bool = False

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

    @cached_property
    def main_directory(self) -> LogDirectory:
        """The log directory with the metadata log; the first one where none was opened."""
        return next(
            (directory for directory in self.log_directories if directory.has_metadata_log),
            self.log_directories[0],
        )

    @property
    def path(self) -> Path:
        """The path of the main directory: of the only one, where there is one."""
        return self.main_directory.path

    @property
    def source(self) -> Path:
        """What the person gave: the only path, or the one that leads to the main directory."""
        return self.main_directory.source

    @property
    def sources_text(self) -> str:
        """What the person gave, as they know it: one path, or several with commas."""
        return ", ".join(map(archive.display_text, self.sources))

    @property
    def properties(self) -> Mapping[str, str]:
        """meta.properties of the main directory."""
        return self.main_directory.properties

    @property
    def clean_body(self) -> dict | None:
        """What the marker of a clean stop holds in the main directory."""
        return self.main_directory.clean_body

    @property
    def is_clean(self) -> bool:
        """Whether every log directory was stopped cleanly."""
        return all(directory.is_clean for directory in self.log_directories)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in any of its directories."""
        return tuple(
            problem for directory in self.log_directories for problem in directory.problems
        )

    @property
    def is_simulated(self) -> bool:
        """Whether kafkaviz wrote the directory, and says so in its server.properties."""
        return self.main_directory.is_simulated

    @property
    def name(self) -> str:
        """The folder's name, which distinguishes this broker from others in a catalog."""
        if len(self.log_directories) > 1 and len(self.sources) == 1:
            return archive.stem(self.source)
        return self.path.name

    @property
    def shutdown_state(self) -> str:
        """How it was left: "clean", "unclean", or "unknown".

        Unknown of partition directories without a broker directory around them.
        """
        if self.is_clean:
            return "clean"
        is_without_broker = self.is_lone and not file.is_there(self.path / META_PROPERTIES)
        return "unknown" if is_without_broker or self.is_copy else "unclean"

    @property
    def node_id(self) -> str | None:
        """node.id of KRaft, broker.id before."""
        return self.main_directory.node_id

    @property
    def node_number(self) -> int | None:
        """The node_id as Integer.parseInt reads it; None where there is none, or it throws."""
        return self.main_directory.node_number

    @property
    def cluster_id(self) -> str | None:
        """The cluster's id, where meta.properties names it."""
        return self.main_directory.cluster_id

    @property
    def directory_id(self) -> str | None:
        """The id of the main directory, from 3.7 on."""
        return self.main_directory.directory_id

    @property
    def lacks_metadata_log(self) -> bool:
        """Whether the metadata log is in a log directory that was not opened, or is missing.

        A KRaft node keeps it in one of its log directories, whatever its roles are. Only since 3.7,
        which writes a directory.id, is that one of several (KIP-858).
        """
        return not self.main_directory.has_metadata_log and any(
            directory.is_kraft and directory.directory_id and not directory.is_simulated
            for directory in self.log_directories
        )

    @cached_property
    def _by_directory(self) -> dict[str, list[Partition]]:
        by_directory: dict[str, list[Partition]] = {}
        for partition in self.partitions:
            by_directory.setdefault(partition.directory, []).append(partition)
        return by_directory

    @cached_property
    def _directory_by_path(self) -> dict[Path, LogDirectory]:
        return {directory.path: directory for directory in self.log_directories}

    @cached_property
    def directory_names(self) -> Mapping[Path, str]:
        """Names that tell its log directories apart: the least of each path's end that does."""
        paths = [directory.path for directory in self.log_directories]
        for depth in range(1, max(len(path.parts) for path in paths)):
            ends = ["/".join(path.parts[-depth:]) for path in paths]
            if len(set(ends)) == len(ends):
                return dict(zip(paths, ends, strict=True))
        return {path: str(path) for path in paths}

    def directory_of(self, partition: Partition) -> LogDirectory:
        """The log directory that a partition is in."""
        return self._directory_by_path.get(partition.path.parent, self.main_directory)

    def partitions_in(self, directory: LogDirectory) -> Sequence[Partition]:
        """The partitions of one of its log directories."""
        if len(self.log_directories) == 1:
            return self.partitions
        return [
            partition for partition in self.partitions if partition.path.parent == directory.path
        ]

    @property
    def single_directories(self) -> tuple["Broker", ...]:
        """Each log directory as a broker of its own, with its partitions."""
        if len(self.log_directories) == 1:
            return (self,)
        return tuple(
            replace(self, log_directories=(directory,), partitions=self.partitions_in(directory))
            for directory in self.log_directories
        )

    def partition_name(self, partition: Partition) -> str:
        """The name by which `partition` finds it: orders-0, or disk-b/orders-0 of two such."""
        if len(self._by_directory[partition.directory]) == 1:
            return partition.directory
        short_name = f"{partition.path.parent.name}/{partition.directory}"
        return short_name if len(self._find(short_name)) == 1 else str(partition.path)

    @cached_property
    def current_checkpoints(self) -> Mapping[tuple[Path, str], CheckpointOffsets]:
        """What the checkpoints say of each current topic-partition.

        By its log directory and Partition.label.
        """
        return {
            (partition.path.parent, partition.label): partition.checkpoints
            for partition in self.partitions
            if partition.state == "current"
        }

    def partition(self, directory: str) -> Partition:
        """The topic-partition of a directory name, such as orders-0.

        Where two log directories have one, the end of its path says which: disk-b/orders-0.

        Raises:
            CannotOpen: there is none, or more than one.
        """
        partitions = self._find(directory)
        if not partitions:
            raise CannotOpen(
                self.path, message("errors.no_such_partition", name=directory), kind="missing"
            )
        if len(partitions) > 1:
            raise CannotOpen(
                partitions[1].path,
                message("errors.partition_in_two", name=directory, other=partitions[0].path),
                message("errors.name_its_log_directory", path=partitions[1].path),
            )
        return partitions[0]

    def _find(self, name: str) -> Sequence[Partition]:
        if "/" not in name:
            return self._by_directory.get(name, ())
        parts = Path(name).parts
        candidates = self._by_directory.get(parts[-1], ())
        return [
            partition for partition in candidates if partition.path.parts[-len(parts) :] == parts
        ]


def typed_directories(text: Path | str) -> tuple[Path, ...]:
    """The log directories that a text names: several between commas, as log.dirs has them.

    A path that is there may have a comma in its name; an address of a store is one path.
    """
    path = Path(text)
    if "," not in str(text) or address.parse(str(text)):
        return (path,)
    with_comma = [parent for parent in (path, *path.parents) if "," in str(parent)]
    if any(os.path.lexists(parent.expanduser()) for parent in with_comma):
        return (path,)
    return tuple(Path(part.strip()) for part in str(text).split(",") if part.strip())


Collect = Callable[[Iterable[Partition]], Sequence[Partition]]


def open_broker(*paths: Path | str, collect: Collect = tuple) -> Broker:
    """A broker, by its log directories, a folder or an archive that holds them, or a part of it.

    One path may also lead to a partition directory, an archive of one, a partition in an archive,
    or a file of a segment, which is a partition with its segment alone. An archive that holds one
    partition and no file of a broker is that partition alone, as its directory is. Only names,
    sizes and small files are read.

    Args:
        collect: what holds the partitions, which are listed as it takes them.

    Raises:
        CannotOpen: a path is not a log directory, or they belong to two brokers.
    """
    sources = _different_paths(map(file.absolute_path, paths))
    if len(sources) == 1:
        return read_broker(sources[0], open_root(sources[0]), collect)
    roots: dict[Path, Path] = {}
    for source in sources:
        root = open_root(source)
        if is_partition(root):
            raise CannotOpen(
                source,
                message("errors.one_of_several_is_partition"),
                message("errors.give_log_directories"),
                kind="not-kafka",
            )
        for log_root in _log_directory_roots(root):
            roots.setdefault(log_root, source)
    roots = {root: roots[root] for root in _different_paths(roots)}
    return _read_directories(tuple(dict.fromkeys(roots.values())), roots, collect)


def _different_paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The paths without those that lead to the same file or directory as an earlier one."""
    by_identity: dict[object, Path] = {}
    for path in paths:
        identity: object = path
        # a path in an archive or in a remote store has no inode
        with suppress(OSError):
            status = path.stat()
            identity = status.st_dev, status.st_ino
        by_identity.setdefault(identity, path)
    return tuple(by_identity.values())


def read_broker(source: Path, root: Path, collect: Collect = tuple) -> Broker:
    """The same from the directory that open_root gives for the only path."""
    if is_partition(root):
        return _open_lone_partition(source, root)
    roots = _log_directory_roots(root)
    is_archive = archive.is_archive(source) and source.is_file()
    is_copy = is_archive and roots == [root] and not own_files(root)
    if is_copy:
        names_inside = _partition_directories(root)
        if len(names_inside) == 1:
            return _open_lone_partition(source, root / next(iter(names_inside)))
    broker = _read_directories((source,), dict.fromkeys(roots, source), collect)
    return replace(broker, is_copy=is_copy) if is_copy else broker


def _log_directory_roots(root: Path) -> list[Path]:
    """The log directories at a path: the folder itself, or those of one broker in it."""
    if file.is_there(root / META_PROPERTIES) or tiered_view.sources(root):
        return [root]
    children = _directories(root)
    if any(_may_be_partition(child) for child in children):
        return [root]
    roots = [child for child in children if _looks_like_broker(child)]
    # a link to one of the others is not another log directory
    roots = list(_different_paths(sorted(roots, key=Path.is_symlink)))
    roots.sort(key=lambda path: names.natural_sort_key(path.name))
    # of a single one its own path is asked for, as always: see _not_a_broker
    is_several = len(roots) > 1 and any(file.is_there(path / META_PROPERTIES) for path in roots)
    return roots if is_several else [root]


def _may_be_partition(path: Path) -> bool:
    try:
        return is_partition(path)
    except CannotOpen:
        return names.parse_directory(path.name) is not None


def _read_directories(
    sources: tuple[Path, ...], roots: Mapping[Path, Path], collect: Collect
) -> Broker:
    """The broker of these log directories, each with the source that led to it."""
    problems: dict[Path, list[Problem]] = {root: [] for root in roots}
    offsets = {root: _read_checkpoints(root, problems[root]) for root in roots}
    directories = [
        (partition_name, root / name)
        for root in roots
        for name, partition_name in _partition_directories(root).items()
    ]
    if len(roots) > 1:
        directories.sort(key=lambda pair: names.natural_sort_key(pair[1].name))
    partitions = (
        _open_partition(path, partition_name, offsets[path.parent], problems[path.parent])
        for partition_name, path in directories
    )
    readable_partitions = collect(partition for partition in partitions if partition)
    log_directories = tuple(
        _read_directory(root, source, problems[root]) for root, source in roots.items()
    )
    _refuse_no_broker(log_directories, readable_partitions)
    _refuse_two_brokers(log_directories)
    return Broker(
        sources=sources,
        log_directories=log_directories,
        partitions=readable_partitions,
        is_lone=len(roots) == 1 and tiered_view.is_store_alone(next(iter(roots))),
    )


def _read_directory(root: Path, source: Path, problems: list[Problem]) -> LogDirectory:
    """A log directory by its own files.

    Args:
        problems: with its partitions, so far.
    """
    properties = _read_properties(root, problems)
    is_clean, clean_body = _read_clean_marker(root, problems)
    return LogDirectory(
        path=root,
        source=source,
        properties=properties,
        is_clean=is_clean,
        clean_body=clean_body,
        problems=tuple(problems),
        is_simulated=_is_simulated(root),
        has_metadata_log=(root / names.METADATA_DIRECTORY).is_dir(),
    )


def _refuse_no_broker(directories: Sequence[LogDirectory], partitions: Iterable[Partition]) -> None:
    """Refuses a folder that is not a log directory.

    Any folder may hold one that is called gcc-12. Next to other log directories an empty folder is
    one: a disk that was replaced.
    """
    with_segments = {partition.path.parent for partition in partitions if partition.segments}
    for directory in directories:
        is_known = (
            file.is_there(directory.path / META_PROPERTIES)
            or directory.problems
            or directory.path in with_segments
        )
        if not is_known and (len(directories) == 1 or not is_empty(directory.path)):
            raise _not_a_broker(directory.path)


def is_empty(path: Path) -> bool:
    """Whether a directory holds nothing, but for what a file system itself puts there."""
    with file.scan(path) as entries:
        return all(entry.name == LOST_AND_FOUND for entry in entries)


def _refuse_two_brokers(directories: Sequence[LogDirectory]) -> None:
    """Refuses directories of two brokers.

    Each is a broker's by itself if it has a metadata log, or is one of ZooKeeper's times. Others
    that disagree are one broker's that does not start: checks find that. Before 3.7, which brought
    directory.id, a KRaft node has one log directory (KIP-858).
    """
    complete = [
        directory
        for directory in directories
        if directory.has_metadata_log
        or (directory.node_id and not (directory.is_kraft and directory.directory_id))
    ]
    for other in complete[1:]:
        if _differ(complete[0].node_number, other.node_number) or _differ(
            complete[0].cluster_id, other.cluster_id
        ):
            paths = complete[0].path, other.path
            raise CannotOpen(
                archive.display_path(other.path),
                message(
                    "errors.two_brokers",
                    node=other.node_id or "?",
                    cluster=other.cluster_id or "?",
                    other=archive.display_path(paths[0]),
                    other_node=complete[0].node_id or "?",
                    other_cluster=complete[0].cluster_id or "?",
                ),
                message("errors.give_one_broker"),
                kind="not-kafka",
                nearby=tuple(Path(archive.display_path(path)) for path in paths),
            )


def _differ(first: str | int | None, second: str | int | None) -> bool:
    return first is not None and second is not None and first != second


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
    return Broker(
        sources=(source,),
        log_directories=(_read_directory(root, source, problems),),
        partitions=tuple(filter(None, [partition])),
        is_lone=True,
    )


def _open_partition(
    path: Path, name: names.PartitionName, offsets: Mapping[str, Mapping], problems: list[Problem]
) -> Partition | None:
    key = (name.topic, name.partition)
    checkpoint_offsets = (
        CheckpointOffsets(
            **{checkpoint_name: entries.get(key) for checkpoint_name, entries in offsets.items()}
        )
        if name.state in ("current", "future")
        else CheckpointOffsets()
    )
    try:
        partition = open_partition(path, name, checkpoint_offsets)
        remote_bases = frozenset(tiered_view.remote_files(path))
        remote_gaps = tiered_view.remote_gaps(path)
        if not remote_bases and not remote_gaps:
            return partition
        # no start reads a store, so none of them hides what it does
        problems += (Problem(gap.path, gap.what) for gap in remote_gaps)
        return replace(partition, remote_bases=remote_bases, remote_gaps=remote_gaps)
    except CannotOpen as fault:
        problems.append(Problem.from_fault(path, fault))
        return None


def _partition_directories(root: Path) -> dict[str, names.PartitionName]:
    """Every directory with a partition's name; the names decide, as in LogManager.loadLogs."""
    directories = {}
    with file.scan(root) as entries:
        for entry in sorted(entries, key=lambda item: names.natural_sort_key(item.name)):
            partition_name = names.parse_directory(entry.name)
            if partition_name and file.is_directory(entry):
                directories[entry.name] = partition_name
    return directories


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

    One that is missing or unreadable says nothing, as in LogManager. Whether a start goes on
    without it is simulate.startup.offset_checkpoints.
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

    A broker looks only at whether it is there, also as a folder (LogManager, 4.3.1).

    Returns:
        Whether the marker is there, and its content.
    """
    path = root / CLEAN_SHUTDOWN
    if path.is_dir():
        return True, None
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
