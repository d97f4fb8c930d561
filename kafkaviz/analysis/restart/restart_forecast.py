"""The effects of a broker start-up in numbers.

For example, `forecast(restart, logs=30)` may return `RestartForecast(logs=30, cut_logs=3,
cut_bytes=1021, rebuilt_segments=24, ...)`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kafkaviz.log.broker import Broker
from kafkaviz.simulate.startup.restart import Restart, is_metadata, is_stray_for_sure
from kafkaviz.simulate.steps import RECOVERY_CAUSES, StartupStep


@dataclass(frozen=True, kw_only=True)
class RestartForecast:
    """How many logs, files and bytes a broker start-up changes. A log is a partition directory.

    Attributes:
        cut_logs: the number of logs that lose bytes at their ends.
        deleted_files: deleted files, except those that are deleted even in a healthy directory.
        deleted_directories: deleted directories, of deleted topics or replaced by a -future
            directory.
        read_logs: logs that are read from their recovery points after an unclean shutdown.
        rebuilt_segments: segments whose indexes are rebuilt from their batches.
        waiting_files: files with the suffix .deleted, which start-up deletes.
        snapshots: producer snapshots that are written or removed.
        epochs: leader-epoch files that are rewritten from the batches.
        created_replicas: empty directories that are created for assigned replicas.
        possible_strays: directories that become stray unless a log directory that was not opened
            shows otherwise.
        is_unchanged: whether all recovered files keep their bytes. False if none is recovered.
    """

    is_clean: bool
    starts: bool
    logs: int
    cut_logs: int = 0
    cut_bytes: int = 0
    deleted_files: int = 0
    deleted_directories: int = 0
    read_logs: int = 0
    rebuilt_segments: int = 0
    waiting_files: int = 0
    snapshots: int = 0
    epochs: int = 0
    created_replicas: int = 0
    stray_directories: int = 0
    possible_strays: int = 0
    is_unchanged: bool = False


def forecast(restart: Restart, logs: int) -> RestartForecast:
    cuts = [step for step in restart.steps if step.action == "truncate"]
    file_deletions = [step for step in restart.steps if step.action == "delete" and step.file]
    by_cause: dict[str, list[StartupStep]] = defaultdict(list)
    for step in restart.steps:
        by_cause[step.cause].append(step)
    unflushed_steps = by_cause["unflushed"]
    sure_strays = list(filter(is_stray_for_sure, restart.steps))
    possible_strays = [step for step in by_cause["becomes-stray"] if not is_stray_for_sure(step)]
    rebuilt_segments = {
        (step.partition, step.segment)
        for step in restart.steps
        if step.action == "rebuild" and step.cause in RECOVERY_CAUSES
    }
    return RestartForecast(
        is_clean=restart.clean,
        starts=restart.starts,
        logs=logs,
        cut_logs=_count_logs(cuts),
        cut_bytes=sum(step.size_bytes or 0 for step in cuts),
        deleted_files=len({step.file for step in file_deletions if not step.is_expected}),
        deleted_directories=_count_logs(
            step for step in restart.steps if step.action == "delete" and not step.file
        ),
        read_logs=_count_logs(unflushed_steps),
        waiting_files=len(
            {step.file for step in file_deletions if step.cause == "leftover-deleted"}
        ),
        snapshots=len({step.file for step in by_cause["producer-state"] if step.file}),
        epochs=len({step.file for step in by_cause["leader-epochs"]}),
        created_replicas=sum(step.action == "create" for step in restart.steps),
        stray_directories=_count_logs(sure_strays),
        possible_strays=_count_logs(possible_strays),
        is_unchanged=not cuts and bool(unflushed_steps) and is_as_before(unflushed_steps),
        rebuilt_segments=len(rebuilt_segments),
    )


def _count_logs(steps: Iterable[StartupStep]) -> int:
    return len({step.partition for step in steps})


def is_as_before(steps: Iterable[StartupStep]) -> bool:
    return all(step.action == "keep" for step in steps if step.cause in RECOVERY_CAUSES)


@dataclass(frozen=True, kw_only=True)
class RecoveryReads:
    """The .log files in one log directory that recovery reads.

    A .log that recovery truncates counts in full, although recovery stops at the damage.

    Attributes:
        logs: the number of partition directories with such files. One thread recovers each.
        largest_log_bytes: the most bytes that are read from one log.
        threads: num.recovery.threads.per.data.dir. None: unknown.
    """

    log_directory: str
    logs: int
    segments: int
    log_bytes: int
    largest_log_bytes: int
    threads: int | None

    def seconds(self, bytes_per_second: float) -> tuple[float, float]:
        """Returns the shortest and the longest time to read these files, in seconds.

        The longest time: all threads together read `bytes_per_second`. The shortest time: each
        thread reads `bytes_per_second`, and no log is read by two threads. If `threads` is None,
        there are as many threads as logs.
        """
        shared_bytes = self.log_bytes / self.threads if self.threads else 0
        shortest = max(shared_bytes, self.largest_log_bytes)
        return shortest / bytes_per_second, self.log_bytes / bytes_per_second


def recovered_segments(
    restart: Restart, broker: Broker
) -> dict[tuple[str | None, str | None], set[int]]:
    """Returns the base offsets of recovered segments, by log directory and partition directory."""
    bases_by_log: dict[tuple[str | None, str | None], set[int]] = defaultdict(set)
    for step in restart.steps:
        if step.cause in RECOVERY_CAUSES and step.segment is not None:
            bases_by_log[step.log_directory, step.partition].add(step.segment)
    for partition in broker.partitions:
        if partition.state == "delete":  # recovery reads only its segments without an .index
            place = broker.directory_of(partition).text, partition.directory
            bases_by_log[place] |= {
                segment.base_offset for segment in partition.live if not segment.index
            }
    return bases_by_log


def reads_of_segments(
    bases_by_log: Mapping[tuple[str | None, str | None], Collection[int]],
    broker: Broker,
    threads: int | None,
) -> tuple[RecoveryReads, ...]:
    """Returns how many bytes the recovery of segments reads, one RecoveryReads per log directory.

    Leaves out log directories without recovery, and the metadata log, which is loaded earlier.

    Args:
        bases_by_log: the result of `recovered_segments`.
    """
    log_bytes: dict[str, list[int]] = defaultdict(list)
    segments: dict[str, int] = defaultdict(int)
    for partition in broker.partitions:
        directory = broker.directory_of(partition).text
        bases = bases_by_log.get((directory, partition.directory), ())
        if bases and not is_metadata(partition.directory):
            segments[directory] += len(bases)
            read = [segment for segment in partition.live if segment.base_offset in bases]
            log_bytes[directory].append(sum(segment.log.size_bytes for segment in read))
    return tuple(
        RecoveryReads(
            log_directory=directory,
            logs=len(log_bytes[directory]),
            segments=segments[directory],
            log_bytes=sum(log_bytes[directory]),
            largest_log_bytes=max(log_bytes[directory]),
            threads=threads,
        )
        for directory in (single.text for single in broker.log_directories)
        if directory in log_bytes
    )
