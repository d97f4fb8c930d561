"""Lists the files of a stopped broker that may be deleted to free space.

Kafka would delete some of these files itself, but with a full disk the broker may not start.

- .deleted and .cleaned files, and indexes without a .log: LogLoader of 4.3.1 deletes them when it
  loads the log. If the partition has a .swap file, only the .deleted files are listed.
- -delete directories: LogManager deletes them after start-up.
- -stray directories: Kafka never deletes them.
- The remote index cache: Kafka fills it again from remote storage.
- -future replicas: listed only if start-up does not put the -future replica into use. The current
  replica must exist, and start-up must leave the current replica complete and in use.
- Segments that the next retention check deletes: listed only if that is certain (`_is_certain`).

Files of the metadata log, server.properties and lost+found are never listed. Indexes in use are not
listed either. `index_prices` returns what deleting indexes costs.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kafkaviz.analysis.disk import DiskShare, FileLister, FileUse, Use
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.restart.restart_forecast import (
    RecoveryReads,
    reads_of_segments,
    recovered_segments,
)
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, SegmentRetention
from kafkaviz.format.names import SERVER_PROPERTIES
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup.restart import Restart, is_metadata


class FreeingKind(StrEnum):
    """The kinds of deletable files, the least risky first. All but RETENTION are also in `Use`."""

    WAITING = "waiting-for-deletion"
    LEFTOVER = "leftover"
    REMOTE_INDEX_CACHE = "remote-index-cache"
    FUTURE = "future"
    RETENTION = "retention"  # segments that the next retention check deletes
    FOREIGN = "foreign"
    STRAY = "stray"

    @property
    def cost(self) -> Message:
        """The data that is lost if files of this kind are deleted."""
        return message(f"disk.freeing_cost_{self.replace('-', '_')}")

    @property
    def check(self) -> Message:
        """The check to do before files of this kind are deleted."""
        return message(f"disk.freeing_check_{self.replace('-', '_')}")


# these files have no record that a broker serves; files of other kinds may be the only copy
SAFE_KINDS = (FreeingKind.WAITING, FreeingKind.LEFTOVER, FreeingKind.REMOTE_INDEX_CACHE)
KINDS = {Use(kind): kind for kind in FreeingKind if kind != FreeingKind.RETENTION}
# not Kafka's files, but needed: the settings, and a folder of the filesystem
KEPT_NAMES = (SERVER_PROPERTIES, "lost+found")
GIVEN_SOURCES = ("setting_source.named", "setting_source.file")


@dataclass(frozen=True, kw_only=True)
class FreeingStep:
    """Files of one kind in one log directory that may be deleted."""

    kind: FreeingKind
    log_directory: str
    files: int
    length_bytes: int
    allocated_bytes: int  # the disk space that becomes free
    paths: tuple[Path, ...]  # the paths to delete: files, or whole folders


@dataclass(frozen=True, kw_only=True)
class IndexPrice:
    """The cost of deleting all .index files in one log directory by hand.

    At start-up, the broker reads each .log without an .index completely and writes the .index again
    (LogLoader.loadSegmentFiles and LogSegment.sanityCheck, 4.3.1). A segment that was not flushed
    is even read twice, but is counted once.
    """

    log_directory: str
    files: int
    length_bytes: int
    allocated_bytes: int  # the disk space that is free until the broker starts
    # the files that start-up then reads, including those that it reads in any case
    reads: RecoveryReads


def freeing_steps(
    broker: Broker,
    shares: Iterable[DiskShare],
    retention: Iterable[LogRetention] = (),
    restart: Restart | None = None,
) -> tuple[FreeingStep, ...]:
    """Returns the files that may be deleted, ordered by FreeingKind and log directory.

    Args:
        shares: the disk usage of all files. It shows which directories have deletable files.
        retention: the retention of all logs.
        restart: the predicted start-up. None: no -future replicas and no segments are listed.
    """
    files: dict[tuple[FreeingKind, str], list[FileUse]] = defaultdict(list)
    uses = {(share.log_directory, share.partition): share.uses for share in shares}
    steps = restart.steps if restart else ()
    promoted = {
        (step.log_directory, step.partition) for step in steps if step.cause == "becomes-current"
    }
    # logs that lose records or go out of use at broker start-up
    changed = {
        (step.log_directory, step.partition)
        for step in steps
        if step.action in ("truncate", "fail")
        or step.cause in ("becomes-stray", "replaced-by-future")
        or (step.action == "delete" and (step.file or "").endswith(".log"))
    }
    lasting_replicas = {
        (partition.topic, partition.partition)
        for partition in broker.partitions
        if partition.state == "current"
        and (broker.directory_of(partition).text, partition.directory) not in changed
    }
    due = {}
    if restart is not None:
        due = _due_segments(
            (log for log in retention if (log.log_directory, log.partition) not in changed),
            has_settings=broker.main_directory.has_metadata_log,
            clock_ms=int(time.time() * 1000),
        )
    for partition in broker.partitions:
        place = broker.directory_of(partition).text, partition.directory
        if is_metadata(partition.directory):
            continue
        is_needed_copy = partition.state == "future" and (
            restart is None
            or broker.lacks_metadata_log
            or (partition.topic, partition.partition) not in lasting_replicas
            or place in promoted
        )
        if not KINDS.keys().isdisjoint(uses.get(place, ())) and not is_needed_copy:
            for file_use in _deletable_files(list(FileLister().partition_files(partition))):
                files[KINDS[file_use.use], place[0]].append(file_use)
        if place in due:
            files[FreeingKind.RETENTION, place[0]] += _segment_files(partition, due[place])
    for directory in () if broker.is_lone else broker.log_directories:
        if not KINDS.keys().isdisjoint(uses.get((directory.text, None), ())):
            partitions = broker.partitions_in(directory)
            for file_use in FileLister().other_files(directory, partitions):
                name = (file_use.folder or file_use.info.path).name
                if file_use.use in KINDS and name not in KEPT_NAMES:
                    files[KINDS[file_use.use], directory.text].append(file_use)
    return tuple(
        _step(kind, directory.text, files[kind, directory.text])
        for kind in FreeingKind
        for directory in broker.log_directories
        if files.get((kind, directory.text))
    )


def index_prices(
    broker: Broker, threads: int | None = None, restart: Restart | None = None
) -> tuple[IndexPrice, ...]:
    """Returns what the next start-up reads if all .index files are deleted, per log directory.

    Only the .index files of partitions in state "current" count, without the metadata log.
    """
    indexes: dict[str, list[FileInfo]] = defaultdict(list)
    bases_by_log: dict[tuple[str | None, str | None], Collection[int]] = {}
    if restart is not None:
        bases_by_log |= recovered_segments(restart, broker)
    for partition in broker.partitions:
        segments = partition.without_remote().live
        if segments and partition.state == "current" and not is_metadata(partition.directory):
            directory = broker.directory_of(partition).text
            indexes[directory] += [segment.index for segment in segments if segment.index]
            bases = [segment.base_offset for segment in segments]
            bases_by_log[directory, partition.directory] = bases
    return tuple(
        IndexPrice(
            log_directory=reads.log_directory,
            files=len(files),
            length_bytes=sum(info.size_bytes for info in files),
            allocated_bytes=sum(info.allocated_bytes for info in files),
            reads=reads,
        )
        for reads in reads_of_segments(bases_by_log, broker, threads)
        if (files := indexes[reads.log_directory])
    )


def freeing_object(steps: Iterable[FreeingStep], prices: Iterable[IndexPrice]) -> dict:
    return {
        "steps": [
            {**to_json_object(step), "paths": [archive.display_text(path) for path in step.paths]}
            for step in steps
        ],
        "indexes": to_json_object(tuple(prices)),
    }


def _due_segments(
    retention: Iterable[LogRetention], *, has_settings: bool, clock_ms: int
) -> dict[tuple[str | None, str], set[int]]:
    """Returns the base offsets of the segments that retention deletes, by log directory and name.

    Leaves out the newest segment of each log, which must not be deleted by hand. Leaves out logs
    with an unknown high watermark, because Kafka deletes only segments below the high watermark.
    """
    due: dict[tuple[str | None, str], set[int]] = {}
    for log in retention:
        if log.high_watermark is None:
            continue
        bases = set()
        for segment in log.segments[:-1]:
            if not _is_certain(segment, log.limits, has_settings=has_settings, clock_ms=clock_ms):
                break
            bases.add(segment.age.base_offset)
        if bases:
            due[log.log_directory, log.partition] = bases
    return due


def _is_certain(
    segment: SegmentRetention, limits: RetentionLimits, *, has_settings: bool, clock_ms: int
) -> bool:
    """Returns whether the next retention check certainly deletes a segment.

    Segments before the log start offset are deleted whatever the settings are. For other segments,
    all of this must be true:

    - The metadata log was read. It has the topic's own settings, which override all others.
    - A file sets the limit. An unopened server.properties may override Kafka's default.
    - A file sets cleanup.policy, or server.properties was read and does not set it.
    - If the limit is retention.ms: the age comes from the newest record's timestamp (not from the
      file's time), and this machine's clock says that the record is too old.
    - The topic is not tiered. Kafka keeps the segments of a tiered topic until they are uploaded.
    """
    if segment.state == "log-start":
        return True
    sources = (limits.policy_source, limits.ms_source, limits.bytes_source)
    policy_key, ms_key, bytes_key = (source.key if source else "" for source in sources)
    has_file = "setting_source.file" in (ms_key, bytes_key)
    is_default = policy_key == "setting_source.default"
    has_policy = policy_key in GIVEN_SOURCES or (has_file and is_default)
    if not has_settings or not has_policy or limits.is_tiered:
        return False
    if segment.state == "size":
        return bytes_key in GIVEN_SOURCES
    is_old = segment.until_ms is not None and segment.until_ms < clock_ms
    return (
        segment.state == "time"
        and ms_key in GIVEN_SOURCES
        and segment.age.counted_by == "record"
        and is_old
    )


def _segment_files(partition: Partition, bases: Collection[int]) -> Iterator[FileUse]:
    for segment in partition.without_remote().live:
        if segment.base_offset in bases:
            for info in segment.files:
                yield FileUse(info, Use.RECORDS)
    for offset, info in sorted(partition.snapshots.items()):
        if offset in bases:
            yield FileUse(info, Use.STATE)


def _deletable_files(files: Sequence[FileUse]) -> Iterator[FileUse]:
    """Yields the deletable files of a partition.

    Files with `Use.LEFTOVER` are left out if there is a .swap file, because the next broker
    start-up then needs them.
    """
    has_swap = any(file_use.info.name.endswith(".swap") for file_use in files)
    for file_use in files:
        if file_use.use in KINDS and not (has_swap and file_use.use == Use.LEFTOVER):
            yield file_use


def _step(kind: FreeingKind, log_directory: str, files: Sequence[FileUse]) -> FreeingStep:
    paths = dict.fromkeys(file_use.folder or file_use.info.path for file_use in files)
    return FreeingStep(
        kind=kind,
        log_directory=log_directory,
        files=len(files),
        length_bytes=sum(file_use.info.size_bytes for file_use in files),
        allocated_bytes=sum(file_use.info.allocated_bytes for file_use in files),
        paths=tuple(paths),
    )
