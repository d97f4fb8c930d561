"""The files that may be deleted by hand to free disk space, while the broker is stopped.

Kafka would delete some of these files itself. But if the disk is full, the broker may fail to start
before it does:

- LogLoader (4.3.1) deletes .deleted and .cleaned files, and indexes without a .log, when it loads a
  log. It needs .swap files, which replace other segments. So if a partition has a .swap file, none
  of its leftovers are listed.
- LogManager loads -delete directories like other logs, and deletes them once the broker has
  started.
- Kafka never deletes a -stray directory.
- The remote index cache is refilled from tiered storage.
- A -future replica is listed only if the next start does not put it into use (predicted), and if
  the replica that it is copied from exists and loses nothing in that start.
- A segment that the next retention pass deletes is listed only if the limit is certain (see
  `_is_certain`).

Files of the metadata log, server.properties and lost+found are never listed. Indexes in use are not
listed either, but `index_prices` returns what deleting all of them costs.
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
    """The kinds of files, the least risky first. All but "retention" are also values of Use."""

    WAITING = "waiting-for-deletion"
    LEFTOVER = "leftover"
    REMOTE_INDEX_CACHE = "remote-index-cache"
    FUTURE = "future"
    RETENTION = "retention"  # segments that the next retention pass deletes
    FOREIGN = "foreign"
    STRAY = "stray"

    @property
    def cost(self) -> Message:
        """The loss when the files are deleted."""
        return message(f"disk.freeing_cost_{self.replace('-', '_')}")

    @property
    def check(self) -> Message:
        """The check to do before deleting the files."""
        return message(f"disk.freeing_check_{self.replace('-', '_')}")


# these files have no record that a broker serves; files of other kinds may be the only copy
SAFE_KINDS = (FreeingKind.WAITING, FreeingKind.LEFTOVER, FreeingKind.REMOTE_INDEX_CACHE)
KINDS = {Use(kind): kind for kind in FreeingKind if kind != FreeingKind.RETENTION}
# not Kafka's files, but needed: the settings, and a folder of the filesystem
KEPT_NAMES = (SERVER_PROPERTIES, "lost+found")
GIVEN_SOURCES = ("setting_source.named", "setting_source.file")


@dataclass(frozen=True, kw_only=True)
class FreeingStep:
    """Files of one kind in one log directory that may be deleted.

    Attributes:
        files: the number of files.
        length_bytes: the length of the files.
        allocated_bytes: the disk space that becomes free.
        paths: the files and whole folders that may be deleted.
    """

    kind: FreeingKind
    log_directory: str
    files: int
    length_bytes: int
    allocated_bytes: int
    paths: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class IndexPrice:
    """The price of deleting all .index files in one log directory by hand.

    When the broker starts, it reads the whole .log of each segment without an .index, and writes
    the index again (LogLoader.loadSegmentFiles and LogSegment.sanityCheck, 4.3.1). It reads a
    segment that was not flushed twice, but this counts once here.

    Attributes:
        allocated_bytes: the disk space that is free until the broker starts.
        reads: the files that the broker reads, including segments that it would read anyway.
    """

    log_directory: str
    files: int
    length_bytes: int
    allocated_bytes: int
    reads: RecoveryReads


def freeing_steps(
    broker: Broker,
    shares: Iterable[DiskShare],
    retention: Iterable[LogRetention] = (),
    restart: Restart | None = None,
    *,
    clock_ms: int | None = None,
) -> tuple[FreeingStep, ...]:
    """Returns the files that may be deleted, in the order of FreeingKind, then of log directories.

    Args:
        shares: how all bytes are used. A directory is listed again only if it has files that may be
            deleted.
        retention: the retention of all logs, including the segments that the next retention pass
            deletes.
        restart: the predicted start of the broker. Without it, no -future replica and no segment is
            listed.
        clock_ms: the present time in ms since 1970; the default is this machine's clock.
    """
    files: dict[tuple[FreeingKind, str], list[FileUse]] = defaultdict(list)
    uses = {(share.log_directory, share.partition): share.uses for share in shares}
    promoted = {
        (step.log_directory, step.partition)
        for step in (restart.steps if restart else ())
        if step.cause == "becomes-current"
    }
    changed = _changed_logs(restart)
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
            clock_ms=int(time.time() * 1000) if clock_ms is None else clock_ms,
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
        if _may_go(uses.get(place)) and not is_needed_copy:
            for file_use in _removable(list(FileLister().partition_files(partition))):
                files[KINDS[file_use.use], place[0]].append(file_use)
        if place in due:
            files[FreeingKind.RETENTION, place[0]] += _segment_files(partition, due[place])
    for directory in () if broker.is_lone else broker.log_directories:
        if _may_go(uses.get((directory.text, None))):
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


def _may_go(uses: Iterable[Use] | None) -> bool:
    return any(use in KINDS for use in uses or ())


def _changed_logs(restart: Restart | None) -> set[tuple[str | None, str | None]]:
    """Returns the logs that lose records, or are taken out of use, when the broker starts."""
    return {
        (step.log_directory, step.partition)
        for step in (restart.steps if restart else ())
        if step.action in ("truncate", "fail")
        or step.cause in ("becomes-stray", "replaced-by-future")
        or (step.action == "delete" and (step.file or "").endswith(".log"))
    }


def index_prices(
    broker: Broker, threads: int | None = None, restart: Restart | None = None
) -> tuple[IndexPrice, ...]:
    """Returns what deleting all .index files in use costs, for each log directory that has some.

    Files in -delete, -future and -stray directories do not count, because `freeing_steps` lists
    them.

    Args:
        threads: num.recovery.threads.per.data.dir; None if unknown.
        restart: the predicted start of the broker, which may also read these directories.
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
            bases_by_log[directory, partition.directory] = [
                segment.base_offset for segment in segments
            ]
    return tuple(
        IndexPrice(
            log_directory=reads.log_directory,
            files=len(indexes[reads.log_directory]),
            length_bytes=sum(info.size_bytes for info in indexes[reads.log_directory]),
            allocated_bytes=sum(info.allocated_bytes for info in indexes[reads.log_directory]),
            reads=reads,
        )
        for reads in reads_of_segments(bases_by_log, broker, threads)
        if indexes[reads.log_directory]
    )


def freeing_object(steps: Iterable[FreeingStep], prices: Iterable[IndexPrice]) -> dict:
    """Returns the freeing steps, and the prices of .index files, as plain values for JSON."""
    return {
        "steps": [
            {
                "kind": str(step.kind),
                "cost": str(step.kind.cost),
                "check": str(step.kind.check),
                "log_directory": step.log_directory,
                "files": step.files,
                "length_bytes": step.length_bytes,
                "allocated_bytes": step.allocated_bytes,
                "paths": [archive.display_text(path) for path in step.paths],
            }
            for step in steps
        ],
        "indexes": to_json_object(tuple(prices)),
    }


def _due_segments(
    retention: Iterable[LogRetention], *, has_settings: bool, clock_ms: int
) -> dict[tuple[str | None, str], set[int]]:
    """Returns which segments the next retention pass deletes, by log directory and partition.

    Segments are given by base offset. The newest segment of a log is left out, because it must not
    be deleted by hand. Logs with an unknown high watermark are left out, because a pass deletes
    only below it.

    Args:
        has_settings: whether the topics' own settings are known.
        clock_ms: the present time by this machine's clock, even if files have later times.
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
    """Returns whether the next retention pass will certainly delete a segment.

    Segments before the log start are deleted whatever the settings are. For other segments, all of
    these must be true:

    - The metadata log was read, because the topic's own settings are there and override all others.
    - The limit is in a file. Kafka's default is not enough, because the broker may have another
      value in a server.properties that was not opened, such as log.retention.ms=-1.
    - cleanup.policy is in a file too, or server.properties was read and does not have it.
    - For retention.ms, the newest time comes from a record, and the record is too old by this
      machine's clock.
    - The topic is not tiered, because a segment that was not copied yet would be lost.
    """
    if segment.state == "log-start":
        return True
    sources = (limits.policy_source, limits.ms_source, limits.bytes_source)
    policy_key, ms_key, bytes_key = (source.key if source else "" for source in sources)
    has_file = "setting_source.file" in (ms_key, bytes_key)
    has_policy = policy_key in GIVEN_SOURCES or (
        has_file and policy_key == "setting_source.default"
    )
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
    """Yields all files of the segments with these base offsets, and their producer snapshots."""
    for segment in partition.without_remote().live:
        if segment.base_offset in bases:
            for info in segment.files:
                yield FileUse(info, Use.RECORDS)
    for offset, info in sorted(partition.snapshots.items()):
        if offset in bases:
            yield FileUse(info, Use.STATE)


def _removable(files: Sequence[FileUse]) -> Iterator[FileUse]:
    """Yields the deletable files of a partition, grouped by use.

    If the partition has a .swap file, no leftovers are listed. When the broker starts, it needs the
    other files of the interrupted cleaning to decide which segments the .swap file replaces.
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
