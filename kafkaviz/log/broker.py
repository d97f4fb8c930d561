"""A broker directory (one of log.dirs): its topic-partitions, its checkpoints, and how it was
left.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import cast

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import checkpoint, names
from kafkaviz.format.names import CLEAN_SHUTDOWN, META_PROPERTIES, OWN_FILES
from kafkaviz.log import archive, file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Offsets, Partition, open_partition

MARKER_BYTES = 1 << 16  # of the clean marker; what it holds is a line
# LogManager, 4.3.1
CHECKPOINTS = dict(
    zip(("log_start", "high_watermark", "recovery_point"), names.OFFSET_CHECKPOINTS, strict=True)
)


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and so is left out of what is shown."""

    path: Path  # of the file or directory itself
    what: str
    # CannotOpen's, where the system did not let it be read; "": its bytes are wrong
    kind: str = field(default="", compare=False)

    @property
    def is_unread(self) -> bool:
        """Whether nothing is known of what is in it."""
        return bool(self.kind)

    @classmethod
    def of(cls, path: Path, fault: KafkavizError) -> "Problem":
        """What a fault says of this path, without saying the path again."""
        return cls(path, getattr(fault, "what", str(fault)), getattr(fault, "kind", ""))


@dataclass(frozen=True)
class Broker:
    """A broker directory as it lies on disk; an archive is one once it is unpacked."""

    path: Path
    source: Path  # what the person gave: the directory, or the archive it came from
    partitions: tuple[Partition, ...]  # by topic, then counted
    properties: Mapping[str, str] = field(default_factory=dict)
    clean: bool = False  # it was stopped cleanly and not started since: the marker is there
    # what 3.7 and later write into the marker (KIP-966); older ones leave it empty
    clean_body: dict | None = None
    problems: tuple[Problem, ...] = ()
    is_lone: bool = False  # one partition directory was opened, not the broker directory around it
    is_simulated: bool = False  # kafkaviz wrote it, and says so in its server.properties

    @property
    def name(self) -> str:
        """What tells this broker from others in a catalog: the folder's name."""
        return self.path.name

    @property
    def left(self) -> str:
        """How it was left: "clean", "unclean", or "unknown" of one partition directory that has no
        broker's around it.
        """
        if self.clean:
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
        """The cluster's id, where meta.properties tells it."""
        return self.properties.get("cluster.id")

    @property
    def directory_id(self) -> str | None:
        """The id of this log directory, from 3.7 on."""
        return self.properties.get("directory.id")

    @cached_property
    def _by_directory(self) -> dict[str, Partition]:
        return {partition.directory: partition for partition in self.partitions}

    def partition(self, directory: str) -> Partition:
        """The topic-partition of this directory name, such as orders-0."""
        found = self._by_directory.get(directory)
        if not found:
            raise CannotOpen(self.path, f"holds no topic-partition {directory}", kind="missing")
        return found


def open_broker(path: Path | str) -> Broker:
    """A broker directory, an archive of one, or one partition directory alone; only names, sizes
    and small files are read.
    """
    source = file.absolute(path)
    root = archive.opened(source)
    if is_partition(root):
        return _of_partition(source, root)
    directories, problems = _partition_directories(root)
    offsets = _checkpoints(root, problems)
    partitions = [
        _opened(root / name, parsed, offsets, problems) for name, parsed in directories.items()
    ]
    found = tuple(filter(None, partitions))
    if (
        not file.is_there(root / META_PROPERTIES)
        and not problems
        and not any(partition.segments for partition in found)
    ):
        raise _no_broker(root)  # any folder may hold one that is called gcc-12
    left = _clean(root, problems)
    return Broker(
        root,
        source,
        found,
        _properties(root, problems),
        *left,
        tuple(problems),
        is_simulated=_is_simulated(root),
    )


def own_files(root: Path) -> list[FileInfo]:
    """The files that Kafka keeps in a broker directory beside its topic-partitions, those that are
    there.
    """
    found = []
    for name in OWN_FILES:
        with suppress(CannotOpen):
            found.append(file.info(root / name))
    return found


def _of_partition(source: Path, path: Path) -> Broker:
    """One partition directory: its broker directory is the one around it, shown as if it held
    nothing else.
    """
    problems: list[Problem] = []
    root = path.parent
    partition = _opened(
        path,
        cast("names.PartitionName", names.parse_directory(path.name)),
        _checkpoints(root, problems),
        problems,
    )
    found = tuple(filter(None, [partition]))
    return Broker(
        root,
        source,
        found,
        _properties(root, problems),
        *_clean(root, problems),
        tuple(problems),
        True,
        _is_simulated(root),
    )


def _opened(
    path: Path, name: names.PartitionName, offsets: Mapping[str, Mapping], problems: list[Problem]
) -> Partition | None:
    key = (name.topic, name.partition)
    known = (
        Offsets(**{which: entries.get(key) for which, entries in offsets.items()})
        if name.state == "current"
        else Offsets()
    )
    try:
        return open_partition(path, name, known)
    except CannotOpen as fault:
        problems.append(Problem.of(path, fault))
        return None


def _partition_directories(root: Path) -> tuple[dict[str, names.PartitionName], list[Problem]]:
    """Every directory with a partition's name; the names decide, as in LogManager.loadLogs."""
    found, problems = {}, []
    with file.scan(root) as entries:
        for entry in sorted(entries, key=lambda one: names.counting(one.name)):
            parsed = names.parse_directory(entry.name)
            if parsed and file.is_directory(entry):
                found[entry.name] = parsed
    return found, problems


def is_partition(path: Path) -> bool:
    """A directory with a partition's name that holds a .log and no partition of its own."""
    return names.parse_directory(path.name) is not None and _holds_log(path)


def _holds_log(path: Path) -> bool:
    """Whether a directory holds a .log that has the name of one."""
    with file.scan(path) as entries:
        return any(
            (parsed := names.parse_file(entry.name)) and parsed.kind == "log" for entry in entries
        )


def _checkpoints(root: Path, problems: list[Problem]) -> dict[str, dict]:
    """The three offset checkpoints; one that is missing or unreadable says nothing, as in
    LogManager.
    """
    return {which: _offsets(root / name, problems) for which, name in CHECKPOINTS.items()}


def _offsets(path: Path, problems: list[Problem]) -> dict:
    try:
        return checkpoint.parse_offsets(file.read_text(path)) if file.is_there(path) else {}
    except KafkavizError as fault:
        problems.append(Problem.of(path, fault))
        return {}


def _properties(root: Path, problems: list[Problem]) -> dict[str, str]:
    path = root / META_PROPERTIES
    try:
        return (
            checkpoint.parse_properties(file.read_whole(path, file.PROPERTIES_BYTES))
            if file.is_there(path)
            else {}
        )
    except KafkavizError as fault:
        problems.append(Problem.of(path, fault))
        return {}


def _clean(root: Path, problems: list[Problem]) -> tuple[bool, dict | None]:
    """Whether the marker of a clean stop is there, and what it holds; a broker goes by its being
    there alone (LogManager, 4.3.1).
    """
    path = root / CLEAN_SHUTDOWN
    try:
        return file.is_there(path), checkpoint.parse_clean_shutdown(
            file.read_text(path, MARKER_BYTES)
        ) if file.is_there(path) else None
    except KafkavizError as fault:
        problems.append(Problem.of(path, fault))
        return True, None


def _is_simulated(root: Path) -> bool:
    """Whether it is a directory like any other but for a comment."""
    path, begins = root / names.SERVER_PROPERTIES, f"#{names.SIMULATED}".encode()
    try:
        return path.is_file() and file.read(path, 0, len(begins)) == begins
    except (CannotOpen, OSError):
        return False


def _no_broker(root: Path) -> CannotOpen:
    """Why this is no broker directory, and which of those below it are."""
    if _holds_log(root):
        what = "holds a .log, but has no name of a topic-partition"
        return CannotOpen(root, what, "rename it TOPIC-N, such as orders-0", kind="not-kafka")
    # in an archive, by its own address
    nearby = tuple(archive.given(path) for path in _directories(root) if _looks_like_broker(path))
    hint = (
        f"{nearby[0]} looks like one"
        if nearby
        else "give a directory of log.dirs, or an archive of one"
    )
    return CannotOpen(
        root,
        "there is no meta.properties and no directory named topic-number",
        hint,
        kind="not-kafka",
        nearby=nearby,
    )


def _directories(root: Path) -> list[Path]:
    with file.failing_kindly(root), os.scandir(root) as entries:
        return sorted(Path(entry.path) for entry in entries if file.is_directory(entry))


def _looks_like_broker(path: Path) -> bool:
    try:
        return file.is_there(path / META_PROPERTIES) or any(
            is_partition(child) for child in _directories(path)
        )
    except (CannotOpen, OSError):
        return False
