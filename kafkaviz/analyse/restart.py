"""What the next start of a broker will do to a directory on disk: simulate.starting.restart, told
of what lies there.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from kafkaviz import versions
from kafkaviz.config_def import Release
from kafkaviz.format import names
from kafkaviz.log import file, metadata_log
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.metadata_log import DIRECTORY, Image
from kafkaviz.log.partition import Offsets, Partition
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.simulate.config import IndexConfig, profile
from kafkaviz.simulate.starting.loading import OnRecovered
from kafkaviz.simulate.starting.own_files import BOOTSTRAP_BYTES, QUORUM_FILE, OwnFiles, own_steps
from kafkaviz.simulate.starting.restart import Restart, Step, joined, restart, steps_of
from kafkaviz.simulate.stored import StoredFile, StoredLog

__all__ = [
    "ConfigOf",
    "Log",
    "Restart",
    "Step",
    "all_logs",
    "before",
    "configs",
    "foretell",
    "foretell_partition",
    "joined",
    "log_of",
    "own_files",
    "steps",
    "strange_directories",
]

NEWEST: Release = versions.NEWEST_RELEASE

ConfigOf = Callable[[Partition], IndexConfig]


def configs(settings: Settings) -> ConfigOf:
    """What each partition's log is run with, as the settings of its topic say."""

    def of(partition: Partition) -> IndexConfig:
        interval, room = (
            settings.find(partition.topic, name).value
            for name in ("index.interval.bytes", "segment.index.bytes")
        )
        return IndexConfig(int(interval), int(room))

    return of


def foretell(
    broker: Broker,
    config_of: ConfigOf | None = None,
    release: Release = NEWEST,
    watch: OnRecovered | None = None,
    image: Image | None = None,
) -> Restart:
    """What a start does to a whole broker directory; nothing in it is changed.

    config_of: what each partition's log is run with; without it what the directory itself tells.
    image: what its metadata log says, where that was read already. watch(directory, base offset,
    Recovered) is told of each recovered segment. Reads the .log files of the segments that would be
    recovered, of others little. CannotOpen where a file may not be read.
    """
    settings = open_settings(broker, release) if config_of is None else None
    known = image or (settings.image if settings else metadata_log.image(broker))
    logs = all_logs(broker, config_of or configs(cast(Settings, settings)), release, known)
    strange = strange_directories(broker.path)
    return restart(
        map(stored, logs), broker.clean, profile(release), strange, watch, before(broker, release)
    )


def foretell_partition(
    broker: Broker,
    partition: Partition,
    config: IndexConfig | None = None,
    release: Release = NEWEST,
    watch: OnRecovered | None = None,
) -> Restart:
    """The same of one partition directory: starts speaks for it alone."""
    return restart(
        [stored(log_of(broker, partition, config or IndexConfig()))],
        broker.clean,
        profile(release),
        watch=watch,
    )


@dataclass(frozen=True)
class Log:
    """A partition directory that a start loads, and what the broker around it says of it; small
    enough to be sent to a process.

    recovery_point, log_start_offset, stray: as of simulate.stored.StoredLog.
    """

    partition: Partition
    config: IndexConfig
    recovery_point: int = 0
    log_start_offset: int = 0
    stray: str | None = None


def before(broker: Broker, release: Release = NEWEST) -> tuple[Step, ...]:
    """What the directory's own files bring about, before the first log is loaded. CannotOpen."""
    return own_steps(own_files(broker), profile(release))


def own_files(broker: Broker) -> OwnFiles:
    """The files that a start reads first. CannotOpen."""
    limits = {
        names.META_PROPERTIES: file.PROPERTIES_BYTES,
        names.BOOTSTRAP: BOOTSTRAP_BYTES,
        QUORUM_FILE: file.TEXT_BYTES,
    }
    found = ((broker.path / name, most_bytes) for name, most_bytes in limits.items())
    properties, bootstrap, quorum = (
        file.read_whole(path, limit) if os.path.lexists(path) else None for path, limit in found
    )
    return OwnFiles(
        properties, bootstrap, any(one.directory == DIRECTORY for one in broker.partitions), quorum
    )


def log_of(broker: Broker, partition: Partition, config: IndexConfig) -> Log:
    """One partition directory by itself."""
    known = _checkpoints(broker, partition)
    return Log(partition, config, known.recovery_point or 0, known.log_start or 0)


def all_logs(
    broker: Broker,
    config_of: ConfigOf,
    release: Release,
    image: Image,
    partitions: Iterable[Partition] | None = None,
) -> Iterator[Log]:
    """All of a broker directory, or these; image: what its metadata log says."""
    for partition in broker.partitions if partitions is None else partitions:
        log = log_of(broker, partition, config_of(partition))
        yield replace(log, stray=stray(broker, partition, image, release))


def steps(log: Log, clean: bool, release: Release = NEWEST) -> tuple[Step, ...]:
    """What a start does to one of them, whatever lies beside it; simulate.starting.restart.joined
    makes one start of all. CannotOpen.
    """
    return steps_of(stored(log), clean, profile(release))


def stored(log: Log) -> StoredLog:
    """A partition directory as plain values, its files opened when they are read."""
    files = tuple(map(_stored_file, log_files(log.partition)))
    return StoredLog(
        log.partition.directory,
        files,
        log.config,
        log.recovery_point,
        log.log_start_offset,
        log.stray,
    )


def log_files(partition: Partition) -> list[FileInfo]:
    """Every file of a partition directory."""
    return [*(one for segment in partition.segments for one in segment.files), *partition.others]


def stray(broker: Broker, partition: Partition, image: Image, release: Release) -> str | None:
    """Why the start would take a partition for stray, or None (LogManager.isStrayKraftReplica, 3.7;
    isStrayReplica, 4.3.1 and 4.4.0).

    image: what the metadata log in the same directory says; where it is not there, or not whole,
    nothing is known. The broker may learn of later changes from the controllers before it loads its
    logs.
    """
    if (
        not versions.STRAYS_RENAMED.of(release)
        or partition.state not in ("current", "future")
        or partition.directory == DIRECTORY
    ):
        return None
    if not image.topic_ids or image.problems:
        return None
    if not any(one.name == names.PARTITION_METADATA for one in partition.others):
        return f"it has no {names.PARTITION_METADATA}, so its topic has no id"
    if not partition.topic_id:
        return None
    replicas = image.replicas.get(partition.topic_id, {}).get(partition.partition)
    if replicas is None:
        return _unknown(partition, image)
    if broker.node_id and broker.node_id.isdecimal() and int(broker.node_id) not in replicas:
        return (
            f"the metadata log assigns it to {', '.join(map(str, replicas))}, not to this broker, "
            f"{broker.node_id}"
        )
    return None


def _unknown(partition: Partition, image: Image) -> str:
    """Why the cluster has no such partition."""
    if partition.topic_id in image.topic_ids.values():
        return f"the metadata log knows no partition {partition.partition} of its topic"
    others = image.topic_ids.get(partition.topic)
    if others:
        return (
            f"its topic has the id {partition.topic_id}, and the metadata log knows "
            f"{partition.topic} by the id {others}"
        )
    return f"the metadata log knows no topic of the id {partition.topic_id}"


def strange_directories(root: Path) -> Iterator[str]:
    """Directories that LogManager takes for partitions though their names are none; it refuses to
    start on them.
    """
    with file.failing_kindly(root), os.scandir(root) as entries:
        found = sorted(entry.name for entry in entries if file.is_directory(entry))
    yield from (
        name
        for name in found
        if name not in names.NO_PARTITIONS and not names.parse_directory(name)
    )


def _checkpoints(broker: Broker, partition: Partition) -> Offsets:
    """What the checkpoints say of a partition; of a renamed directory they say the same as of the
    current one.
    """
    same = (
        one for one in broker.partitions if one.state == "current" and one.label == partition.label
    )
    return (
        partition.checkpoints
        if partition.state == "current"
        else next((one.checkpoints for one in same), Offsets())
    )


def _stored_file(found: FileInfo) -> StoredFile:
    return StoredFile(
        found.name, found.size_bytes, lambda: file.reader(found.path), found.mtime_ns // 1_000_000
    )
