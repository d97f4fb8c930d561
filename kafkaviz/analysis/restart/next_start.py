"""Predicts the next broker start-up from the directories on disk.

simulate.startup.restart has the rules of start-up.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from kafkaviz import versions
from kafkaviz.config_def import INT_MAX
from kafkaviz.format import names
from kafkaviz.log import file, metadata_log
from kafkaviz.log.broker import Broker, LogDirectory
from kafkaviz.log.file import FileInfo
from kafkaviz.log.metadata_log import DIRECTORY, MetadataImage
from kafkaviz.log.partition import CheckpointOffsets, Partition
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup import small_files
from kafkaviz.simulate.startup.log_directories import StartDirectory, directory_steps
from kafkaviz.simulate.startup.log_loader import RecoveryCallback
from kafkaviz.simulate.startup.restart import Restart, is_metadata, join_steps, steps_of
from kafkaviz.simulate.startup.small_files import BOOTSTRAP_BYTES, QUORUM_FILE, OwnFiles
from kafkaviz.simulate.steps import StartupStep, StoredLog
from kafkaviz.versions import Release

NEWEST: Release = versions.NEWEST_RELEASE

METADATA_VERSION = "metadata.version"
NO_CONTROLLER = (
    "Received a fatal error while waiting for the controller to acknowledge that we are caught up"
)
LOWEST_LEVEL = 7  # the metadata.version of 3.3, the lowest that 4.0 to 4.4 accept (MINIMUM_VERSION)

ConfigLookup = Callable[[Partition], IndexConfig]


def config_lookup(settings: Settings) -> ConfigLookup:
    def find_partition_config(partition: Partition) -> IndexConfig:
        interval = settings.find(partition.topic, "index.interval.bytes")
        index_bytes = settings.find(partition.topic, "segment.index.bytes")
        return IndexConfig(
            int(interval.value) if interval.is_known else IndexConfig.index_interval_bytes,
            # if the limit is unknown, an index is never reported as full
            int(index_bytes.value) if index_bytes.is_known else INT_MAX,
            is_known=interval.is_known and index_bytes.is_known,
        )

    return find_partition_config


def predict_restart(
    broker: Broker,
    find_config: ConfigLookup | None = None,
    release: Release = NEWEST,
    on_recovered: RecoveryCallback | None = None,
) -> Restart:
    """Predicts a broker start-up. Writes nothing.

    Reads the whole .log of each segment that start-up recovers, and little of other files.

    Args:
        find_config: returns the settings of a partition's log. None: use the settings in the
            broker's files.
        on_recovered: called for each recovered segment, with (partition directory, base offset,
            RecoveredSegment).

    Raises:
        CannotOpen: a file cannot be read.
    """
    if find_config is None:
        settings = open_settings(broker, release)
        image = settings.image
        find_config = config_lookup(settings)
    else:
        image = metadata_log.read_image(broker)
    strange_names = tuple(misnamed_directories(broker))

    def read_steps(log: RestartLog) -> tuple[str, tuple[StartupStep, ...]]:
        is_clean = broker.directory_of(log.partition).is_clean
        steps = restart_steps(log, clean=is_clean, release=release, on_recovered=on_recovered)
        return log.path, steps

    logs = all_logs(broker, find_config, release, image)
    log_steps = (read_steps(log) for log in logs if not strange_names or is_metadata(log.path))
    return join_steps(
        chain(log_steps, cluster_steps(broker, image, release)),
        clean=broker.is_clean,
        strange_names=strange_names,
        own_steps=own_file_steps(broker, release),
        log_directories=[directory.text for directory in broker.log_directories],
        metadata_directory=metadata_directory(broker),
    )


@dataclass(frozen=True, kw_only=True)
class RestartLog:
    """A partition directory that start-up loads, and facts about it from other files."""

    partition: Partition
    config: IndexConfig
    recovery_point: int = 0
    log_start_offset: int = 0
    stray: Message | None = None  # why start-up considers the partition stray
    replay_error: str | None = None  # the exception from replaying the metadata log
    log_directory: str | None = None  # its path for display; None: no broker directory

    @property
    def path(self) -> str:
        name = self.partition.directory
        return name if self.log_directory is None else f"{self.log_directory}/{name}"


def own_file_steps(
    broker: Broker, release: Release = NEWEST, properties: Mapping[str, str] | None = None
) -> tuple[StartupStep, ...]:
    """Returns the start-up steps that come before logs are loaded.

    Files outside partition directories cause these steps. Raises CannotOpen if a necessary file
    cannot be read.
    """
    main = metadata_directory(broker, properties)
    directories = [
        StartDirectory(
            path=single.main_directory.text,
            files=own_files(single),
            is_metadata_directory=single.main_directory.text == main,
        )
        for single in broker.single_directories
    ]
    return directory_steps(directories, release_behaviour(release))


def missing_controller_steps(settings: Settings) -> Iterator[StartupStep]:
    """Yields a failing step if the cluster's only controller lost its metadata log.

    If only controller.quorum.bootstrap.servers is set, the voters are only in the metadata log.
    Without this log, no controller is elected, and the broker stops after
    initial.broker.registration.timeout.ms (seen with 4.4.0). If controller.quorum.voters is set,
    the broker starts with an empty cluster, so no step is yielded.
    """
    properties = settings.properties
    server = properties.get("controller.quorum.bootstrap.servers", "").strip()
    has_voters = bool(properties.get("controller.quorum.voters", "").strip())
    listeners = [
        listener.strip().partition("://")[2]
        for key in ("listeners", "advertised.listeners")
        for listener in properties.get(key, "").split(",")
    ]
    if settings.misses_metadata_log and not has_voters and server and server in listeners:
        yield StartupStep(
            action="fail",
            cause="metadata-log-missing",
            why=message("start.no_controller", name=DIRECTORY),
            file=DIRECTORY,
            error=f"java.lang.RuntimeException: {NO_CONTROLLER}",
            way_out=message("way_out.restore_metadata_log", name=DIRECTORY),
        )


def metadata_directory(broker: Broker, properties: Mapping[str, str] | None = None) -> str | None:
    """Returns the path of the log directory for the metadata log; None if unknown.

    server.properties has the path in metadata.log.dir. If this is not set, the path is the first in
    log.dirs. If no opened directory has this path, the directory with the folder name of the path
    is taken, because server.properties may be from another machine. If no directory or several have
    this name, the result is the opened directory that has the metadata log, or the only opened one.
    """
    properties = properties or {}
    directories = broker.log_directories
    paths = (properties.get("log.dirs") or properties.get("log.dir") or "").split(",")
    text = (properties.get("metadata.log.dir") or paths[0]).strip()
    name = PurePosixPath(text).name
    exact = [directory for directory in directories if str(directory.path) == text]
    same_name = [directory for directory in directories if directory.path.name == name]
    candidates = exact or same_name
    if text and len(candidates) == 1:
        return candidates[0].text
    main = broker.main_directory
    return main.text if main.has_metadata_log or len(directories) == 1 else None


def own_files(broker: Broker) -> OwnFiles:
    """Returns the files outside partition directories that start-up reads.

    The broker must have only one log directory.

    Raises:
        CannotOpen: a necessary file cannot be read.
    """
    checkpoint_names = small_files.CHECKPOINT_WAY_OUTS
    limits = {names.META_PROPERTIES: file.PROPERTIES_BYTES, names.BOOTSTRAP: BOOTSTRAP_BYTES}
    limits |= dict.fromkeys((QUORUM_FILE, *checkpoint_names), file.TEXT_BYTES)
    contents = {
        name: file.read(broker.path / name, limit_bytes=most_bytes)
        for name, most_bytes in limits.items()
        if is_file(broker.path / name)
    }
    return OwnFiles(
        meta_properties=contents.get(names.META_PROPERTIES),
        bootstrap=contents.get(names.BOOTSTRAP),
        has_metadata_log=any(partition.directory == DIRECTORY for partition in broker.partitions),
        quorum_state=contents.get(QUORUM_FILE),
        checkpoints={name: contents[name] for name in checkpoint_names if name in contents},
        has_replicas=has_replicas(broker),
        is_marker_full=_is_full_folder(broker.path / names.CLEAN_SHUTDOWN),
    )


def _is_full_folder(path: Path) -> bool:
    if not path.is_dir():
        return False
    with file.scan(path) as entries:
        return any(True for _ in entries)


def is_file(path: Path) -> bool:
    """Returns whether a path exists. A directory with the name of a checkpoint does not count."""
    return os.path.lexists(path) and not (
        path.name in small_files.CHECKPOINT_WAY_OUTS and path.is_dir()
    )


def has_replicas(broker: Broker) -> bool:
    return any(
        partition.state == "current" and partition.directory != DIRECTORY
        for partition in broker.partitions
    )


def restart_log(broker: Broker, partition: Partition, config: IndexConfig) -> RestartLog:
    checkpoints = partition.checkpoints
    if partition.state not in ("current", "future"):
        # a -delete or -stray directory gets the offsets of the current partition of the same name
        key = partition.path.parent, partition.label
        checkpoints = broker.current_checkpoints.get(key, CheckpointOffsets())
    is_in_broker = broker.shutdown_state != "unknown"
    return RestartLog(
        partition=partition,
        config=config,
        recovery_point=checkpoints.recovery_point or 0,
        log_start_offset=checkpoints.log_start or 0,
        log_directory=broker.directory_of(partition).text if is_in_broker else None,
    )


def all_logs(
    broker: Broker,
    find_config: ConfigLookup,
    release: Release,
    image: MetadataImage,
    partitions: Iterable[Partition] | None = None,
) -> Iterator[RestartLog]:
    """Yields the partition directories that start-up loads."""
    for partition in broker.partitions if partitions is None else partitions:
        local = partition.without_remote()
        if partition.remote_bases and not local.live:
            continue
        log = restart_log(broker, local, find_config(partition))
        if partition.directory == DIRECTORY:
            yield replace(log, replay_error=image.refusal)
        else:
            yield replace(log, stray=stray_reason(broker, partition, image, release))


def restart_steps(
    log: RestartLog,
    *,
    clean: bool,
    release: Release = NEWEST,
    on_recovered: RecoveryCallback | None = None,
) -> tuple[StartupStep, ...]:
    """Returns the start-up steps for a log, as if the broker had no other logs.

    simulate.startup.restart.join_steps combines the steps of all logs. Raises CannotOpen if a
    necessary file cannot be read.
    """
    behaviour = release_behaviour(release)
    steps = steps_of(stored_log(log), clean=clean, behaviour=behaviour, on_recovered=on_recovered)
    return tuple(replace(step, log_directory=log.log_directory) for step in steps)


def stored_log(log: RestartLog) -> StoredLog:
    return StoredLog(
        directory=log.partition.directory,
        files=tuple(map(file.view, log_files(log.partition))),
        config=log.config,
        recovery_point=log.recovery_point,
        log_start_offset=log.log_start_offset,
        stray_reason=log.stray,
        replay_error=log.replay_error,
        folders=tuple(file.list_folders(log.partition.path)),
    )


def log_files(partition: Partition) -> list[FileInfo]:
    return [
        *(info for segment in partition.segments for info in segment.files),
        *partition.other_files,
    ]


class _ReplicaDirectory(NamedTuple):
    """Where a replica is.

    A Partition also has its segments, and those of all partitions may not fit into memory.
    """

    log_directory: LogDirectory
    name: str  # such as "orders-0", or with a suffix such as ".<id>-future"


def cluster_steps(
    broker: Broker, image: MetadataImage, release: Release
) -> Iterator[tuple[str, tuple[StartupStep, ...]]]:
    """Yields pairs (partition directory, start-up steps that the cluster's metadata causes)."""
    level = image.features.get(METADATA_VERSION, 0)
    highest_level = versions.formatting_level(release)
    if versions.KRAFT_ONLY.applies_to(release) and level > highest_level:
        path = broker.main_directory.text
        yield f"{path}/{DIRECTORY}", (_refuse_level(path, level, highest_level, image, release),)
    yield from _replica_steps(broker, image, release)


def _refuse_level(
    path: str, level: int, highest_level: int, image: MetadataImage, release: Release
) -> StartupStep:
    """Returns the start-up step that fails because metadata.version is too new for the release.

    For example, FeatureControlManager and MetadataLoader of 4.3.1 refuse the version of 4.4.0.
    """
    record = f"FeatureLevelRecord(name='{METADATA_VERSION}', featureLevel={level})"
    words = (
        f"Tried to apply FeatureLevelRecord {record}, but this controller only supports versions "
        f"{LOWEST_LEVEL}-{highest_level}"
    )
    first_release = versions.release_of_metadata_version(level)
    newer = versions.text(first_release) if first_release else str(level)
    return StartupStep(
        partition=DIRECTORY,
        action="fail",
        cause="metadata-version",
        why=message("start.metadata_version", level=level, release=versions.text(release)),
        file=f"{DIRECTORY}/{image.feature_files.get(METADATA_VERSION, '')}",
        error=f"java.lang.RuntimeException: {words}",
        way_out=message("way_out.start_newer_release", release=newer),
        log_directory=path,
    )


def _replica_steps(
    broker: Broker, image: MetadataImage, release: Release
) -> Iterator[tuple[str, tuple[StartupStep, ...]]]:
    """Yields pairs (path of a partition directory, its steps once all logs have been loaded).

    - A -future replica in the directory that the cluster assigns replaces the current replica
      (LogManager.recoverAbandonedFutureLogs, 4.3.1 and 4.4.0).
    - An assigned replica that does not exist is created without records
      (Partition.createLogInAssignedDirectoryId, 4.3.1 and 4.4.0).

    Leaves out directories that were not opened.
    """
    is_known = versions.STRAYS_RENAMED.applies_to(release) and not image.problems
    if broker.node_number is None or not is_known:
        return
    paths = {directory.directory_id: directory.text for directory in broker.log_directories}
    current: dict[tuple[str, int], _ReplicaDirectory] = {}
    future: dict[tuple[str, int], _ReplicaDirectory] = {}
    for partition in broker.partitions:
        replicas = {"current": current, "future": future}.get(partition.state)
        if replicas is not None and stray_reason(broker, partition, image, release) is None:
            log_directory = broker.directory_of(partition)
            place = _ReplicaDirectory(log_directory, partition.directory)
            replicas[partition.topic, partition.partition] = place
    for topic, topic_id in sorted(image.topic_ids.items()):
        for number in sorted(image.replicas.get(topic_id, {})):
            if broker.node_number not in image.replicas[topic_id][number]:
                continue
            assigned_id = image.assigned_directory(topic_id, number, broker.node_number)
            replica = current.get((topic, number))
            successor = future.get((topic, number))
            name = f"{topic}-{number}"
            if successor and successor.log_directory.directory_id == assigned_id:
                yield from _promotion_steps(name, successor, replica)
            elif replica is None and assigned_id in paths:
                why = message("start.replica_created")
                yield _replica_step(paths[assigned_id], name, "create", "replica-created", why)


def _promotion_steps(
    topic_partition: str, successor: _ReplicaDirectory, replica: _ReplicaDirectory | None
) -> Iterator[tuple[str, tuple[StartupStep, ...]]]:
    path = successor.log_directory.text
    why = message("start.becomes_current", name=topic_partition)
    yield _replica_step(path, successor.name, "keep", "becomes-current", why)
    if replica:
        path = replica.log_directory.text
        why = message("start.replaced_by_future", name=successor.name)
        yield _replica_step(path, replica.name, "delete", "replaced-by-future", why)


def _replica_step(
    path: str, name: str, action: str, cause: str, why: Message
) -> tuple[str, tuple[StartupStep, ...]]:
    step = StartupStep(partition=name, action=action, cause=cause, why=why, log_directory=path)
    return f"{path}/{name}", (step,)


def stray_reason(
    broker: Broker, partition: Partition, image: MetadataImage, release: Release
) -> Message | None:
    """Returns why start-up considers a partition stray, or None.

    The rules are LogManager.isStrayKraftReplica in 3.7, and isStrayReplica in 4.3.1 and 4.4.0.

    If the metadata log is missing or damaged, the partition is not stray: controllers may send the
    metadata before logs are loaded. There are two exceptions. On a node that may be the only
    controller (`may_have_lost_metadata`), the partition is stray. On the only voter, the readable
    part of its metadata log decides.
    """
    if (
        not versions.STRAYS_RENAMED.applies_to(release)
        or partition.state not in ("current", "future")
        or partition.directory == DIRECTORY
    ):
        return None
    is_sole = is_sole_voter(broker, image) and not broker.lacks_metadata_log
    is_lost = may_have_lost_metadata(broker, image)
    if not is_sole and not is_lost and (not image.topic_ids or image.problems):
        return None
    if not any(extra_file.name == names.PARTITION_METADATA for extra_file in partition.other_files):
        return message("stray.no_topic_id", file=names.PARTITION_METADATA)
    if not partition.topic_id:
        return None
    if is_lost:
        return message("stray.no_cluster_metadata")
    replicas = image.replicas.get(partition.topic_id, {}).get(partition.partition)
    if replicas is None:
        return _unknown_partition_reason(partition, image)
    node_id = broker.node_number
    if node_id is not None and node_id not in replicas:
        return message("stray.of_other_brokers", replicas=tuple(replicas), node=str(node_id))
    return None


def may_have_lost_metadata(broker: Broker, image: MetadataImage) -> bool:
    """Returns whether this node may be the only controller and may have lost the metadata log.

    Returns False if some partitions may be missing too. In that case, the metadata log may be in a
    log directory that was not opened.
    """
    if image.topic_ids or image.problems or list(image.voters) not in ([], [broker.node_number]):
        return False
    if broker.main_directory.has_metadata_log:
        return not image.voters
    return broker.lacks_metadata_log and not broker.may_lack_partitions


def is_sole_voter(broker: Broker, image: MetadataImage) -> bool:
    return list(image.voters) == [broker.node_number]


def _unknown_partition_reason(partition: Partition, image: MetadataImage) -> Message:
    if partition.topic_id in image.topic_ids.values():
        return message("stray.unknown_partition", partition=partition.partition)
    known_id = image.topic_ids.get(partition.topic)
    if known_id:
        return message(
            "stray.other_topic_id", id=partition.topic_id, topic=partition.topic, other=known_id
        )
    return message("stray.unknown_topic_id", id=partition.topic_id)


def misnamed_directories(broker: Broker) -> Iterator[str]:
    """Yields the directories whose names make start-up fail."""
    # LogManager deletes the clean-shutdown marker before it checks the names
    passed_over = (*names.NO_PARTITIONS, names.CLEAN_SHUTDOWN)
    for directory in broker.log_directories:
        root = directory.path
        with file.translate_os_errors(root), os.scandir(root) as entries:
            folders = sorted(entry.name for entry in entries if file.is_directory(entry))
        for name in folders:
            if name not in passed_over and not names.parse_directory(name):
                yield f"{directory.text}/{name}"
