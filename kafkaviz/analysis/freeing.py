"""The files that may be deleted by hand while the broker is stopped, the safest first.

Kafka would delete some of it itself, but a start on a full disk may end before that:

- LogLoader (4.3.1) deletes .deleted and .cleaned files, and indexes without a .log, when it loads
  a log. It needs .swap files, which replace other segments, so a directory with one is left alone.
- LogManager loads -delete directories like any other log, and deletes them after the start.
- Kafka never deletes a -stray directory.
- The remote index cache is filled again from tiered storage.
- A -future replica is listed only if the replica that it is copied from exists, and the next start
  does not promote it.

Nothing of the metadata log is listed. Neither is an index in use: `index_prices` has the price of
deleting all of them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from kafkaviz.analysis.disk import DiskShare, FileLister, FileUse, Use
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads, reads_of_segments
from kafkaviz.analysis.retention import LogRetention
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.startup.restart import Restart, is_metadata


class FreeingKind(StrEnum):
    """The kinds of files, in the order of the risk. All words except "retention" are from Use."""

    WAITING = "waiting-for-deletion"
    LEFTOVER = "leftover"
    FOREIGN = "foreign"
    REMOTE_INDEX_CACHE = "remote-index-cache"
    FUTURE = "future"
    RETENTION = "retention"  # the segments that the next pass of retention deletes
    STRAY = "stray"


KINDS = {Use(kind): kind for kind in FreeingKind if kind != FreeingKind.RETENTION}


@dataclass(frozen=True, kw_only=True)
class FreeingStep:
    """Files of one kind in one log directory that may be deleted.

    Attributes:
        length_bytes: the length of the files.
        allocated_bytes: the disk space that becomes free.
        paths: files, and folders that are deleted as a whole.
    """

    kind: FreeingKind
    log_directory: str
    files: int
    length_bytes: int
    allocated_bytes: int
    paths: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True)
class IndexPrice:
    """The price of deleting all .index files of one log directory by hand.

    The next start reads the whole .log of each segment without an .index, and writes the index
    again (LogLoader.loadSegmentFiles and LogSegment.sanityCheck, 4.3.1). It reads a segment that
    was not flushed twice, which counts once here.

    Attributes:
        allocated_bytes: the disk space that is free until then.
        reads: the reading of that start, including the segments that it would read anyway.
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
) -> tuple[FreeingStep, ...]:
    """Returns the files that may be deleted, in the order of FreeingKind and the log directories.

    Args:
        shares: the uses of all bytes; only directories with a use that may go are listed again.
        retention: shows the segments that the next pass deletes.
        restart: the predicted start, which shows the -future replicas that it promotes.
    """
    files: dict[tuple[FreeingKind, str], list[FileUse]] = defaultdict(list)
    uses = {(share.log_directory, share.partition): share.uses for share in shares}
    promoted = {
        (step.log_directory, step.partition)
        for step in (restart.steps if restart else ())
        if step.cause == "becomes-current"
    }
    current = {
        (partition.topic, partition.partition)
        for partition in broker.partitions
        if partition.state == "current"
    }
    due = _due_segments(retention)
    for partition in broker.partitions:
        place = broker.directory_of(partition).text, partition.directory
        if is_metadata(partition.directory):
            continue
        is_needed_copy = partition.state == "future" and (
            (partition.topic, partition.partition) not in current or place in promoted
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
                if file_use.use in KINDS:
                    files[KINDS[file_use.use], directory.text].append(file_use)
    return tuple(
        _step(kind, directory.text, files[kind, directory.text])
        for kind in FreeingKind
        for directory in broker.log_directories
        if files.get((kind, directory.text))
    )


def _may_go(uses: Iterable[Use] | None) -> bool:
    return any(use in KINDS for use in uses or ())


def index_prices(broker: Broker, threads: int | None = None) -> tuple[IndexPrice, ...]:
    """Returns the price of deleting all .index files, per log directory that has some.

    Args:
        threads: num.recovery.threads.per.data.dir; None if unknown.
    """
    indexes: dict[str, list[FileInfo]] = defaultdict(list)
    bases_by_log: dict[tuple[str | None, str | None], Collection[int]] = {}
    for partition in broker.partitions:
        segments = partition.without_remote().live
        if segments and not is_metadata(partition.directory):
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
    """Returns the steps and the price of all .index files as plain values for JSON."""
    return {
        "steps": [
            {
                "kind": str(step.kind),
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


def _due_segments(retention: Iterable[LogRetention]) -> dict[tuple[str | None, str], set[int]]:
    """Returns the base offsets that the next pass deletes, by log directory and partition.

    The newest segment of a log is left out, because it must not be deleted by hand. So are
    segments that a pass deletes only after they were copied to tiered storage.
    """
    due: dict[tuple[str | None, str], set[int]] = {}
    for log in retention:
        bases = {
            segment.age.base_offset
            for segment in log.segments[:-1]
            if segment.is_due and (segment.state == "log-start" or not log.limits.is_tiered)
        }
        if bases:
            due[log.log_directory, log.partition] = bases
    return due


def _segment_files(partition: Partition, bases: Collection[int]) -> Iterator[FileUse]:
    """Yields all files of the segments with these base offsets, with their producer snapshots."""
    for segment in partition.without_remote().live:
        if segment.base_offset in bases:
            for info in segment.files:
                yield FileUse(info, Use.RECORDS)
    for offset, info in sorted(partition.snapshots.items()):
        if offset in bases:
            yield FileUse(info, Use.STATE)


def _removable(files: Sequence[FileUse]) -> Iterator[FileUse]:
    """Yields the files of a partition with a use that may go.

    With a .swap file, the start needs the other files of an interrupted cleaning to decide which
    segments it replaces.
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
