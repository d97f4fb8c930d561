"""Opens the PATH of a command: a topic-partition, or a file of one of its segments.

Commands for a whole broker use log.broker.open_broker instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kafkaviz import config_def
from kafkaviz.analysis.inferred_release import AssumedRelease, assume_release
from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import PartitionName, SegmentName
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import (
    Broker,
    open_broker,
    read_broker,
    refuse_other_brokers,
    typed_directories,
)
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.messages import Message, message
from kafkaviz.versions import Release

ADVICE_ANY = message("errors.give_any")
ADVICE_LOG = message("errors.give_log")  # for commands that cannot read an index on its own
ADVICE_PARTITION = message("errors.give_partition")


@dataclass(frozen=True, kw_only=True)
class OpenedPath:
    """An opened topic-partition, its broker, and the release that is assumed for it."""

    path: Path  # the path on this machine. For a path in an archive: the path of the unpacked file.
    partition: Partition
    # the name of the segment's file; None: the path is a directory or an archive
    file_name: SegmentName | None = None
    # the broker with the opened log directories; None: the directory's name is not a
    # topic-partition's, or no .log is in use
    broker: Broker | None = None
    typed_version: str | None = None

    @cached_property
    def assumed_release(self) -> AssumedRelease:
        return assume_release(self.broker, self.typed_version)

    @property
    def release(self) -> Release:
        return self.assumed_release.release

    @property
    def version(self) -> str:
        return self.typed_version or self.assumed_release.version

    @property
    def base_offset(self) -> int | None:
        return self.file_name.base_offset if self.file_name else None

    def open_settings(self, overrides: Mapping[str, str]) -> Settings:
        """Returns the broker's settings (without a broker: Kafka's defaults) with `overrides`.

        Raises:
            RefusedSetting: Kafka does not know the name of an override, or refuses its value.
        """
        if self.broker is not None:
            return open_settings(self.broker, self.release, overrides)
        for name, text in overrides.items():
            config_def.parse(name, text, self.release)
        return Settings(release=self.release, image=MetadataImage(), overrides=dict(overrides))


def open_path(
    path: Path,
    version: str | None = None,
    log_dirs: Path | None = None,
    *,
    advice: Message = ADVICE_ANY,
) -> OpenedPath:
    """Opens a partition directory, an archive of one, or a file of a segment.

    Args:
        version: the release that the user typed. None: inferred from the directory.
        log_dirs: the broker's other log directories, as the user typed them.
        advice: the advice in the error, if the path is not part of a log.

    Raises:
        CannotOpen: the path is not part of a log, or `log_dirs` belong to another broker.
    """
    path = archive.locate(path)
    file_name = None
    if archive.is_archive(path) or path.is_dir():
        partition, broker = _open_directory(path, advice)
    else:
        with file.translate_os_errors(path):
            path.stat()
        file_name = names.parse_file(path.name)
        if not file_name:
            raise CannotOpen(path, message("errors.is_no_segment_file"), advice, kind="not-kafka")
        partition, broker = _open_around(path)
    if log_dirs is not None:
        own_directory = () if broker is None else (broker.path,)
        broker = open_broker(*own_directory, *typed_directories(log_dirs))
        if own_directory:
            refuse_other_brokers(broker)
    return OpenedPath(
        path=path, partition=partition, file_name=file_name, broker=broker, typed_version=version
    )


def open_log_path(
    path: Path,
    version: str | None = None,
    log_dirs: Path | None = None,
    *,
    advice: Message = ADVICE_LOG,
) -> OpenedPath:
    """Opens a partition directory, an archive of one, or a .log (but not a .log.deleted).

    Raises:
        CannotOpen: the path is something else, or all .log files have a suffix such as .deleted.
    """
    opened = open_path(path, version, log_dirs, advice=advice)
    name = opened.file_name
    if name and (name.kind, name.suffix) != ("log", ""):
        raise CannotOpen(opened.path, message("errors.is_no_log_in_use"), advice, kind="not-kafka")
    if not opened.partition.live:
        raise CannotOpen(opened.partition.path, message("errors.holds_no_log"), kind="missing")
    return opened


def broker_around(partition: Partition) -> Broker | None:
    """Returns a broker with only this partition, opened from the log directory around it.

    Returns None if the directory does not have the name of a topic-partition, or if all of its .log
    files have a suffix such as .deleted.
    """
    if not partition.live or not names.parse_directory(partition.directory):
        return None
    return open_broker(partition.path)


def _open_directory(path: Path, advice: Message) -> tuple[Partition, Broker | None]:
    root = archive.unpack_if_archive(path)
    paths_inside = _list_directory(root)
    has_log = any(inside.suffix == ".log" for inside in paths_inside)
    is_partition = names.parse_directory(root.name) is not None
    if has_log and not is_partition:
        return open_partition(root, PartitionName(root.name, 0)), None
    if is_partition and not has_log and not any(inside.is_dir() for inside in paths_inside):
        raise CannotOpen(root, message("errors.holds_no_log"), advice, kind="missing")
    broker = read_broker(path, root)
    if len(broker.partitions) > 1:
        # with several log directories, the partition is in one of them, not in `path` itself
        example = min(
            broker.partitions,
            key=lambda partition: (partition.state != "current", partition.topic.startswith("__")),
        )
        is_below = example.path.is_relative_to(root)
        place = path / example.path.relative_to(root) if is_below else path / example.directory
        what = message("errors.holds_partitions", count=len(broker.partitions))
        hint = message("errors.name_one_partition", path=place)
        raise CannotOpen(path, what, hint, kind="not-kafka")
    partition = _sole_partition(broker, advice)
    if partition.live and partition.path == root:
        return partition, broker
    return partition, broker_around(partition)


def _open_around(path: Path) -> tuple[Partition, Broker | None]:
    directory = path.parent
    if not names.parse_directory(directory.name) or not any(
        inside.suffix == ".log" for inside in _list_directory(directory)
    ):
        return open_partition(directory, PartitionName(directory.name, 0)), None
    broker = open_broker(directory)
    partition = _sole_partition(broker)
    return partition, broker if partition.live else None


def _sole_partition(broker: Broker, advice: Message = ADVICE_ANY) -> Partition:
    if broker.partitions:
        return broker.partitions[0]
    if broker.problems:
        problem = broker.problems[0]
        raise CannotOpen(problem.path, problem.what, kind=problem.kind)
    raise CannotOpen(broker.path, message("errors.holds_no_partition"), advice, kind="missing")


def _list_directory(directory: Path) -> list[Path]:
    with file.translate_os_errors(directory):
        return list(directory.iterdir())
