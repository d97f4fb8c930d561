"""A broker: its log directories (log.dirs), their topic-partitions, and how it was stopped."""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import cast, overload

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import checkpoint, names
from kafkaviz.format.java import int_or_none
from kafkaviz.format.names import (
    CLEAN_SHUTDOWN,
    LOCK,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    OWN_FILES,
)
from kafkaviz.html import html_table
from kafkaviz.log import file, lone_files
from kafkaviz.log.archives import archive
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import SEGMENT_FILES, CheckpointOffsets, Partition, open_partition
from kafkaviz.log.remote import address
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.segment_store import find_root
from kafkaviz.log.tiered.tiered_view import TieredState
from kafkaviz.messages import Message, message, say

SEGMENT_KINDS = (*SEGMENT_FILES, "snapshot")
LOST_AND_FOUND = "lost+found"
MARKER_BYTES = 1 << 16  # the most bytes to read of the clean-shutdown marker, which has one line
# two minutes: twice the default of log.flush.offset.checkpoint.interval.ms (4.3.1), the interval at
# which a running broker writes recovery points
RUNNING_NS = 2 * 60 * 10**9
# LogManager, 4.3.1
CHECKPOINTS = dict(
    zip(("log_start", "high_watermark", "recovery_point"), names.OFFSET_CHECKPOINTS, strict=True)
)


@dataclass(frozen=True)
class Problem:
    """A file or directory that could not be read, and so is not shown."""

    path: Path  # the file or directory that could not be read
    what: Message
    # the kind of the CannotOpen; "" if the bytes are damaged
    kind: str = field(default="", compare=False)

    @property
    def is_unread(self) -> bool:
        return bool(self.kind)

    @classmethod
    def from_fault(cls, path: Path, fault: KafkavizError) -> "Problem":
        """Returns the problem that `fault` reports. The problem's text does not contain `path`."""
        kind = fault.kind if isinstance(fault, CannotOpen) else ""
        return cls(path, getattr(fault, "what", fault.message), kind)


@dataclass(frozen=True, kw_only=True)
class LogDirectory:
    """One of a broker's log.dirs on disk, or its copy from an unpacked archive."""

    path: Path
    source: Path  # the path that the user gave: this directory, or a folder or archive with it
    properties: Mapping[str, str] = field(default_factory=dict)
    is_clean: bool = False  # the clean-shutdown marker exists
    # the content of the marker (KIP-966). None: no marker, or an empty one as before Kafka 3.7
    clean_body: dict | None = None
    problems: tuple[Problem, ...] = ()
    is_simulated: bool = False  # its server.properties says that kafkaviz wrote it
    has_metadata_log: bool = False

    @property
    def node_id(self) -> str | None:
        """The node.id (KRaft) or broker.id (ZooKeeper) in meta.properties, or None."""
        return self.properties.get("node.id") or self.properties.get("broker.id")

    @property
    def node_number(self) -> int | None:
        """The `node_id` as an int, parsed like Java's Integer.parseInt. None if not a number."""
        return int_or_none(self.node_id or "")

    @property
    def cluster_id(self) -> str | None:
        return self.properties.get("cluster.id")

    @property
    def directory_id(self) -> str | None:
        """The directory.id in meta.properties (Kafka 3.7 and later), or None."""
        return self.properties.get("directory.id")

    @cached_property
    def text(self) -> str:
        """The path to show. In an archive, this is the archive's path and the path inside it."""
        return str(archive.display_path(self.path))

    @property
    def is_kraft(self) -> bool:
        """Whether a KRaft node wrote meta.properties. A ZooKeeper broker writes version 0."""
        return int_or_none(self.properties.get("version", "").strip()) == 1


class _SelectedPartitions(Sequence[Partition]):
    """Some partitions of a sequence, by their places in it.

    An ingest has a sequence that reads a partition from a file whenever it is asked for. A list
    would hold all of them in memory.
    """

    def __init__(self, partitions: Sequence[Partition], places: Sequence[int]) -> None:
        self._partitions = partitions
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Partition: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Partition]: ...

    def __getitem__(self, place: int | slice) -> Partition | Sequence[Partition]:
        if isinstance(place, slice):
            return _SelectedPartitions(self._partitions, self._places[place])
        return self._partitions[self._places[place]]


@dataclass(frozen=True, kw_only=True)
class Broker:
    """A broker, of which some or all log directories were opened.

    - At least one log directory was opened.
    - Each partition belongs to one of the opened log directories.
    """

    sources: tuple[Path, ...]  # the paths that the user gave
    log_directories: tuple[LogDirectory, ...]
    partitions: Sequence[Partition]  # ordered by topic, then number, then log directory
    # the user opened one partition directory, or a store of remote segments, without a broker
    is_lone: bool = False
    is_copy: bool = False  # an archive of partition directories without any file of a broker

    def _repr_html_(self) -> str:
        columns = (
            "common.topic_partition",
            "common.segments",
            "workshop.log_bytes",
            "html_table.log_start",
        )
        rows = (
            (replica.directory, len(replica.segments), replica.log_bytes, replica.log_start_offset)
            for replica in self.partitions
        )
        path = str(archive.display_path(self.path))
        title = say("html_table.broker_title", n=len(self.partitions), path=path)
        return html_table(title, columns, rows)

    def may_be_running(self) -> bool:
        """Returns whether a .lock and a recent checkpoint suggest that a broker is running.

        An empty checkpoint does not count: a broker always writes a version and a count.
        """
        if self.is_clean:
            return False
        files = [info for directory in self.log_directories for info in own_files(directory.path)]
        written_ns = [
            info.mtime_ns for info in files if info.name in OFFSET_CHECKPOINTS and info.size_bytes
        ]
        if not written_ns or not any(info.name == LOCK for info in files):
            return False
        return time.time_ns() - max(written_ns) < RUNNING_NS

    @cached_property
    def main_directory(self) -> LogDirectory:
        """The log directory with the metadata log, else the first log directory."""
        return next(
            (directory for directory in self.log_directories if directory.has_metadata_log),
            self.log_directories[0],
        )

    @property
    def path(self) -> Path:
        return self.main_directory.path

    @property
    def source(self) -> Path:
        """The path that the user gave for the main directory."""
        return self.main_directory.source

    @property
    def sources_text(self) -> str:
        return ", ".join(map(archive.display_text, self.sources))

    @property
    def properties(self) -> Mapping[str, str]:
        return self.main_directory.properties

    @property
    def clean_body(self) -> dict | None:
        return self.main_directory.clean_body

    @property
    def is_clean(self) -> bool:
        """Whether every log directory has a clean-shutdown marker."""
        return all(directory.is_clean for directory in self.log_directories)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(
            problem for directory in self.log_directories for problem in directory.problems
        )

    @property
    def is_simulated(self) -> bool:
        """Whether kafkaviz itself wrote the main directory, according to server.properties."""
        return self.main_directory.is_simulated

    @property
    def name(self) -> str:
        """The name of the broker's folder or archive. It identifies the broker in a catalog."""
        if len(self.log_directories) > 1 and len(self.sources) == 1:
            return archive.stem(self.source)
        return self.path.name

    @property
    def shutdown_state(self) -> str:
        """How the broker stopped: "clean", "unclean" or, without a broker directory, "unknown"."""
        if self.is_clean:
            return "clean"
        is_without_broker = self.is_lone and not file.is_there(self.path / META_PROPERTIES)
        return "unknown" if is_without_broker or self.is_copy else "unclean"

    @property
    def node_id(self) -> str | None:
        return self.main_directory.node_id

    @property
    def node_number(self) -> int | None:
        return self.main_directory.node_number

    @property
    def cluster_id(self) -> str | None:
        return self.main_directory.cluster_id

    @property
    def directory_id(self) -> str | None:
        return self.main_directory.directory_id

    @property
    def lacks_metadata_log(self) -> bool:
        """Whether the metadata log is missing, or is in a log directory that was not opened.

        A KRaft node of any role keeps this log in one of its log directories. False before Kafka
        3.7, which added directory.id: there a KRaft node has a single log directory (KIP-858).
        """
        return not self.main_directory.has_metadata_log and any(
            directory.is_kraft and directory.directory_id and not directory.is_simulated
            for directory in self.log_directories
        )

    @cached_property
    def may_lack_partitions(self) -> bool:
        """Whether some partitions may be missing, because they were not copied or not opened.

        True in three cases: a topic's partition numbers have gaps, an offset checkpoint names a
        partition that is not here, or the checkpoints name no partition.
        """
        present = {(partition.topic, partition.partition) for partition in self.partitions}
        checkpointed = {
            key
            for directory in self.log_directories
            for offsets in _read_checkpoints(directory.path, []).values()
            for key in offsets
        }
        if not checkpointed or not checkpointed <= present:
            return True
        return any(number > 0 and (topic, number - 1) not in present for topic, number in present)

    @cached_property
    def _by_directory(self) -> dict[str, list[Partition]]:
        by_directory = defaultdict(list)
        for partition in self.partitions:
            by_directory[partition.directory].append(partition)
        return by_directory

    @cached_property
    def _directory_by_path(self) -> dict[Path, LogDirectory]:
        return {directory.path: directory for directory in self.log_directories}

    @cached_property
    def directory_names(self) -> Mapping[Path, str]:
        """A unique short name for the path of each log directory: {/mnt/a/kafka: "a/kafka"}."""
        paths = [directory.path for directory in self.log_directories]
        for depth in range(1, max(len(path.parts) for path in paths)):
            ends = ["/".join(path.parts[-depth:]) for path in paths]
            if len(set(ends)) == len(ends):
                return dict(zip(paths, ends, strict=True))
        return {path: str(path) for path in paths}

    @cached_property
    def name_prefixes(self) -> Mapping[str, str]:
        """The prefix of partition names in each log directory: {"/mnt/disk-b": "disk-b/"}.

        The prefix is "" if there is only one log directory. The keys are LogDirectory.text.
        """
        if len(self.log_directories) == 1:
            return {self.main_directory.text: ""}
        return {
            directory.text: f"{self.directory_names[directory.path]}/"
            for directory in self.log_directories
        }

    def directory_of(self, partition: Partition) -> LogDirectory:
        return self._directory_by_path.get(partition.path.parent, self.main_directory)

    @cached_property
    def _places_by_path(self) -> dict[Path, list[int]]:
        places = defaultdict(list)
        for place, partition in enumerate(self.partitions):
            places[partition.path.parent].append(place)
        return places

    def partitions_in(self, directory: LogDirectory) -> Sequence[Partition]:
        if len(self.log_directories) == 1:
            return self.partitions
        return _SelectedPartitions(self.partitions, self._places_by_path.get(directory.path, ()))

    @property
    def single_directories(self) -> tuple["Broker", ...]:
        """One Broker per log directory, with only the partitions of that log directory."""
        if len(self.log_directories) == 1:
            return (self,)
        return tuple(
            replace(self, log_directories=(directory,), partitions=self.partitions_in(directory))
            for directory in self.log_directories
        )

    def partition_name(self, partition: Partition) -> str:
        """Returns the name that `Broker.partition` accepts: "orders-0", or "disk-b/orders-0"."""
        if len(self._by_directory[partition.directory]) == 1:
            return partition.directory
        short_name = f"{partition.path.parent.name}/{partition.directory}"
        return short_name if len(self._find(short_name)) == 1 else str(partition.path)

    @cached_property
    def current_checkpoints(self) -> Mapping[tuple[Path, str], CheckpointOffsets]:
        """The checkpoints of each partition in state "current".

        Keys are (log directory, Partition.label).
        """
        return {
            (partition.path.parent, partition.label): partition.checkpoints
            for partition in self.partitions
            if partition.state == "current"
        }

    def partition(self, directory: str) -> Partition:
        """Returns the topic-partition in a directory such as "orders-0".

        If two log directories have an "orders-0", give the end of the path: "disk-b/orders-0".
        Raises CannotOpen if no partition has this name, or more than one.
        """
        partitions = self._find(directory)
        if not partitions:
            what = message("errors.no_such_partition", name=directory)
            raise CannotOpen(self.path, what, kind="missing")
        if len(partitions) > 1:
            path = partitions[1].path
            what = message("errors.partition_in_two", name=directory, other=partitions[0].path)
            raise CannotOpen(path, what, message("errors.name_its_log_directory", path=path))
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
    """Splits a text at its commas into the paths of log directories, as Kafka splits log.dirs.

    Does not split an existing path that contains a comma, or the address of a store.
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
    """Opens a broker directory for reading and returns its Broker.

    Only names, sizes and small files are read. Nothing is ever written into the directory. For a
    segment file, the Broker has only that segment. For an archive with one partition and no broker
    files, the Broker has only that partition.

    Args:
        paths: all log directories of one broker, or one path. One path may be a log directory, a
            folder with all log directories, a .tar, .tar.gz or .zip of either, an address such as
            s3://bucket/brokers/17, a partition directory, a partition in an archive, or a segment
            file.
        collect: makes Broker.partitions from an iterator that opens one partition at a time.

    Raises:
        CannotOpen: a path does not lead to one of these, or the paths belong to two brokers.
    """
    sources = _different_paths(map(file.absolute_path, paths))
    if len(sources) == 1:
        return read_broker(sources[0], open_root(sources[0]), collect)
    roots: dict[Path, Path] = {}
    for source in sources:
        root = open_root(source)
        if is_partition(root):
            what = message("errors.one_of_several_is_partition")
            hint = message("errors.give_log_directories")
            raise CannotOpen(source, what, hint, kind="not-kafka")
        for log_root in _log_directory_roots(root):
            roots.setdefault(log_root, source)
    roots = {root: roots[root] for root in _different_paths(roots)}
    return _read_directories(tuple(dict.fromkeys(roots.values())), roots, collect)


def _different_paths(paths: Iterable[Path]) -> tuple[Path, ...]:
    by_identity: dict[object, Path] = {}
    for path in paths:
        identity: object = path
        # a path in an archive or remote store has no inode
        with suppress(OSError):
            status = path.stat()
            identity = status.st_dev, status.st_ino
        by_identity.setdefault(identity, path)
    return tuple(by_identity.values())


def read_broker(source: Path, root: Path, collect: Collect = tuple) -> Broker:
    """Returns the Broker of one path. `root` comes from `open_root`."""
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
    """Returns the log directories in a folder that has several. Otherwise [`root`]."""
    if file.is_there(root / META_PROPERTIES) or tiered_view.sources(root):
        return [root]
    children = _directories(root)
    if any(_may_be_partition(child) for child in children):
        return [root]
    roots = [child for child in children if _looks_like_broker(child)]
    # a link to another log directory does not count as a second one
    roots = list(_different_paths(sorted(roots, key=Path.is_symlink)))
    roots.sort(key=lambda path: names.natural_sort_key(path.name))
    # if there is only one, the user must give its own path: see _not_a_broker
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
    """Reads the small files of a log directory. Adds a Problem for each unreadable file."""
    properties = _read_small_file(
        root / META_PROPERTIES, checkpoint.parse_properties, file.PROPERTIES_BYTES, problems
    )
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
    """Raises CannotOpen if a folder is not a log directory.

    A subfolder with a partition's name proves nothing: gcc-12 is such a name too. An empty folder
    is accepted next to other log directories, because it may be a replaced disk.
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
    with file.scan(path) as entries:
        return all(entry.name == LOST_AND_FOUND for entry in entries)


def _refuse_two_brokers(directories: Sequence[LogDirectory]) -> None:
    """Raises CannotOpen if log directories surely belong to two brokers.

    Compares node.id and cluster.id of two kinds of log directories: those with a metadata log, and
    those older than Kafka 3.7, when a KRaft node had a single log directory (KIP-858). If other log
    directories differ, they may belong to one broker that cannot start; a finding reports this.
    """
    complete = [
        directory
        for directory in directories
        if directory.has_metadata_log
        or (directory.node_id and not (directory.is_kraft and directory.directory_id))
    ]
    _refuse_different(complete)


def refuse_other_brokers(broker: Broker) -> None:
    """Raises CannotOpen if two meta.properties files name different nodes or clusters."""
    _refuse_different(broker.log_directories)


def _refuse_different(complete: Sequence[LogDirectory]) -> None:
    for other in complete[1:]:
        first = complete[0]
        if _differ(first.node_number, other.node_number) or _differ(
            first.cluster_id, other.cluster_id
        ):
            problem = message(
                "errors.two_brokers",
                node=other.node_id or "?",
                cluster=other.cluster_id or "?",
                other=archive.display_path(first.path),
                other_node=first.node_id or "?",
                other_cluster=first.cluster_id or "?",
            )
            shown_paths = [archive.display_path(directory.path) for directory in (first, other)]
            raise CannotOpen(
                shown_paths[1],
                problem,
                message("errors.give_one_broker"),
                kind="not-kafka",
                nearby=tuple(map(Path, shown_paths)),
            )


def _differ(first: str | int | None, second: str | int | None) -> bool:
    return first is not None and second is not None and first != second


def open_root(path: Path) -> Path:
    """Returns the directory to read: `path`, an unpacked archive, or a view of a segment file."""
    located = archive.locate(path)
    view = lone_files.open_view(located)
    if view is None:
        return archive.unpack_if_archive(path)
    archive.note_source(view, path.parent)
    archive.note_source(view.parent, path)
    return view


def join_tiered(path: Path | str, store: Path | str) -> Path:
    """Joins a broker directory, or a partition in it, with the remote segments of a store.

    Returns the path of a view that shows remote and local segments. Raises CannotOpen if `store` is
    not a store of remote segments.

    Args:
        path: the broker directory, an archive of one, or a partition directory in one.
        store: a folder with remote segments, or an archive of one.
    """
    local = archive.locate(Path(path))
    name = Path()
    is_of_broker = names.parse_directory(local.name) and file.is_there(
        local.parent / META_PROPERTIES
    )
    if is_of_broker or (local.is_dir() and is_partition(local)):
        name = Path(local.name)
        local = local.parent
    state_store, state_local = _tiered_sources(store, local)
    return tiered_view.open_view(state_store, state_local) / name


def read_tiered_state(
    store: Path | str | None, path: Path | str | None = None, directories: Collection[str] = ()
) -> TieredState:
    """Returns where the segments of a store and a broker directory are.

    Raises CannotOpen if `store` has no remote segments, or a directory cannot be read.

    Args:
        store: a folder with remote segments, an archive of one, or a path made by `join_tiered`.
            None for a broker directory alone.
        path: the broker directory, or an archive of one.
        directories: partition directories to return even if they have no segment in the store.
    """
    if store is None and path is not None:
        return tiered_view.read_state(None, archive.unpacked_root(Path(path)), directories)
    return tiered_view.read_state(*_tiered_sources(cast("Path", store), path), directories)


def is_tiered_store(path: Path | str) -> bool:
    """Returns whether a path is a store of remote segments, or an archive or view of one."""
    root = archive.unpacked_root(Path(path))
    return tiered_view.sources(root) is not None or find_root(root) is not None


def _tiered_sources(store: Path | str, path: Path | str | None) -> tuple[Path, Path | None]:
    root = archive.unpacked_root(Path(store))
    store_path, local = tiered_view.sources(root) or (root, None)
    if path is None:
        return store_path, local
    directory = archive.unpacked_root(Path(path))
    sources = tiered_view.sources(directory)
    return store_path, (sources and sources[1]) or directory


def own_files(root: Path) -> list[FileInfo]:
    files = []
    for name in OWN_FILES:
        with suppress(CannotOpen):
            files.append(file.info(root / name))
    return files


def _open_lone_partition(source: Path, path: Path) -> Broker:
    """Opens a single partition directory, or a view of one segment (log.lone_files).

    The parent directory counts as the broker directory, but its other partitions are ignored.
    """
    problems: list[Problem] = []
    folder = lone_files.folder_of(path)
    is_in_broker = folder.name == path.name and any(
        file.is_there(folder.parent / name) for name in (META_PROPERTIES, CLEAN_SHUTDOWN)
    )
    root = folder.parent if is_in_broker else path.parent
    offsets = _read_checkpoints(root, problems)
    name = cast("names.PartitionName", names.parse_directory(path.name))
    partition = _open_partition(path, name, offsets, problems)
    directory = _read_directory(root, source, problems)
    if partition and is_in_broker and folder != path:
        partition, directory = _without_other_segments(partition, directory, folder)
    partitions = (partition,) if partition else ()
    return Broker(
        sources=(source,), log_directories=(directory,), partitions=partitions, is_lone=True
    )


def _without_other_segments(
    partition: Partition, directory: LogDirectory, folder: Path
) -> tuple[Partition, LogDirectory]:
    """Returns `partition` without checkpoints that refer to other segments, and its log directory.

    `partition` is a view of one opened segment. Without these checkpoints, no check reports the
    other segments as missing. If the recovery point is in a later segment, drops it too, and marks
    the log directory as cleanly stopped.
    """
    parsed = (names.parse_file(info.name) for info in file.list_files(folder))
    bases = sorted(name.base_offset for name in parsed if name and name.kind == "log")
    own_base = partition.segments[0].base_offset if partition.segments else 0
    next_base = next((base for base in bases if base > own_base), None)
    checkpoints = partition.checkpoints
    if next_base is not None:
        checkpoints = replace(checkpoints, high_watermark=None)
        if (checkpoints.recovery_point or 0) >= next_base:
            checkpoints = replace(checkpoints, recovery_point=None)
            directory = replace(directory, is_clean=True)
    if (checkpoints.log_start or 0) < own_base:
        checkpoints = replace(checkpoints, log_start=None)
    return replace(partition, checkpoints=checkpoints), directory


def _open_partition(
    path: Path, name: names.PartitionName, offsets: Mapping[str, Mapping], problems: list[Problem]
) -> Partition | None:
    checkpoint_offsets = CheckpointOffsets()
    if name.state in ("current", "future"):
        key = (name.topic, name.partition)
        checkpoint_offsets = CheckpointOffsets(
            **{checkpoint_name: entries.get(key) for checkpoint_name, entries in offsets.items()}
        )
    try:
        partition = open_partition(path, name, checkpoint_offsets)
        remote_bases = frozenset(tiered_view.remote_files(path))
        remote_gaps = tiered_view.remote_gaps(path)
        if not remote_bases and not remote_gaps:
            return partition
        # broker start-up does not depend on the store, so it can be predicted without the store
        problems += (Problem(gap.path, gap.what) for gap in remote_gaps)
        return replace(partition, remote_bases=remote_bases, remote_gaps=remote_gaps)
    except CannotOpen as fault:
        problems.append(Problem.from_fault(path, fault))
        return None


def _partition_directories(root: Path) -> dict[str, names.PartitionName]:
    """Returns every directory with a partition's name, as LogManager.loadLogs does."""
    directories = {}
    with file.scan(root) as entries:
        for entry in sorted(entries, key=lambda item: names.natural_sort_key(item.name)):
            partition_name = names.parse_directory(entry.name)
            if partition_name and file.is_directory(entry):
                directories[entry.name] = partition_name
    return directories


def is_partition(path: Path) -> bool:
    """Returns whether a directory has a partition's name and contains a file of a segment."""
    return names.parse_directory(path.name) is not None and _holds_file(path, SEGMENT_KINDS)


def _holds_file(path: Path, kinds: Sequence[str]) -> bool:
    with file.scan(path) as entries:
        return any(
            (segment_name := names.parse_file(entry.name)) and segment_name.kind in kinds
            for entry in entries
        )


def _read_checkpoints(root: Path, problems: list[Problem]) -> dict[str, dict]:
    """Reads the three offset checkpoints. A missing or unreadable file counts as empty.

    simulate.startup.small_files decides whether a broker starts without such a file.
    """
    return {
        checkpoint_name: _read_small_file(
            root / name, checkpoint.parse_offsets, file.TEXT_BYTES, problems
        )
        for checkpoint_name, name in CHECKPOINTS.items()
    }


def _read_small_file(
    path: Path, parse: Callable[[bytes], dict], limit_bytes: int, problems: list[Problem]
) -> dict:
    try:
        if file.is_there(path):
            return parse(file.read(path, limit_bytes=limit_bytes))
    except KafkavizError as fault:
        problems.append(Problem.from_fault(path, fault))
    return {}


def _read_clean_marker(root: Path, problems: list[Problem]) -> tuple[bool, dict | None]:
    """Returns whether the clean-shutdown marker exists, and its content.

    A broker only checks that the marker exists, and accepts even a folder (LogManager, 4.3.1).
    """
    path = root / CLEAN_SHUTDOWN
    if path.is_dir():
        return True, None
    try:
        if not file.is_there(path):
            return False, None
        return True, checkpoint.parse_clean_shutdown(file.read_text(path, MARKER_BYTES))
    except KafkavizError as fault:
        problems.append(Problem.from_fault(path, fault))
        return True, None


def _is_simulated(root: Path) -> bool:
    path = root / names.SERVER_PROPERTIES
    prefix = f"#{names.SIMULATED_COMMENT}".encode()
    try:
        return path.is_file() and file.read(path, 0, len(prefix)) == prefix
    except (CannotOpen, OSError):
        return False


def _not_a_broker(root: Path) -> CannotOpen:
    if _holds_file(root, ("log",)):
        problem = message("errors.log_without_partition_name")
        return CannotOpen(root, problem, message("errors.rename_topic_n"), kind="not-kafka")
    if file.is_there(root / names.CATALOG_FILE):
        problem = message("errors.is_a_catalog")
        return CannotOpen(root, problem, message("errors.give_catalog_source"), kind="not-kafka")
    # a path in an archive is shown with the archive's path
    nearby = [archive.display_path(path) for path in _directories(root) if _looks_like_broker(path)]
    hint = message("errors.give_log_directory")
    if nearby:
        hint = message("errors.looks_like_one", path=nearby[0])
    problem = message("errors.not_a_broker_directory")
    return CannotOpen(root, problem, hint, kind="not-kafka", nearby=tuple(map(Path, nearby)))


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
