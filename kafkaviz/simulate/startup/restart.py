"""Predicts what the next broker start-up does to the broker's directory.

Follows LogManager and LogLoader of Kafka 4.3.1. For example, a broker was not shut down cleanly.
Its partition orders-0 has recovery point 200 and segments 0, 150 and 300. Segment 150 ends in half
a batch:

    truncate orders-0 150 .log        half a batch is cut off
    rebuild  orders-0 150 .index      from the remaining batches
    delete   orders-0 300 .log        segments after a cut are not trusted
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint, names
from kafkaviz.format.java import KAFKA
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.messages import message
from kafkaviz.simulate.config import IndexConfig, ReleaseBehaviour
from kafkaviz.simulate.recovery import NEWEST, BrokerException
from kafkaviz.simulate.startup import cluster_snapshot, small_files
from kafkaviz.simulate.startup.log_loader import LogLoader, RecoveryCallback
from kafkaviz.simulate.startup.small_files import STORAGE
from kafkaviz.simulate.steps import CAUSES, StartupStep, StoredLog, fail_step

INCONSISTENT_TOPIC_ID = "org.apache.kafka.common.errors.InconsistentTopicIdException"
METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"  # Uuid.METADATA_TOPIC_ID


@dataclass(frozen=True)
class Restart:
    """The steps of the next start-up, for a broker directory or one partition."""

    clean: bool  # whether .kafka_cleanshutdown exists
    # whether the broker starts, possibly without some of its log directories; for one partition,
    # whether its log lets the broker start
    starts: bool
    steps: tuple[StartupStep, ...]

    @property
    def offline_directories(self) -> tuple[str, ...]:
        """The log directories that the broker starts without; () if the broker does not start."""
        if not self.starts:
            return ()
        return tuple(dict.fromkeys(step.log_directory or "" for step in self.failures))

    @property
    def failures(self) -> tuple[StartupStep, ...]:
        """The steps that end the broker or take a log directory offline."""
        return tuple(step for step in self.steps if step.action == "fail")

    @property
    def main_failure(self) -> StartupStep | None:
        """The first failure that ends the broker, else the first failure, else None."""
        # False sorts before True
        return min(self.failures, key=lambda step: step.takes_directory_offline, default=None)

    def steps_of_partition(self, partition: str) -> tuple[StartupStep, ...]:
        return tuple(step for step in self.steps if step.partition == partition)


def steps_of(
    log: StoredLog,
    *,
    clean: bool,
    behaviour: ReleaseBehaviour = NEWEST,
    on_recovered: RecoveryCallback | None = None,
) -> tuple[StartupStep, ...]:
    """Returns the start-up steps of one partition directory, as if it were the only one."""
    if is_metadata(log.directory):
        return _metadata_steps(log, behaviour, on_recovered)
    steps = _log_steps(log, clean=clean, behaviour=behaviour, on_recovered=on_recovered)
    if log.config.is_known:
        return steps
    return tuple(
        replace(step, size_bytes=None) if step.action == "rebuild" else step for step in steps
    )


def join_steps(
    steps: Iterable[tuple[str, Sequence[StartupStep]]],
    *,
    clean: bool,
    strange_names: Iterable[str] = (),
    own_steps: Iterable[StartupStep] = (),
    log_directories: Sequence[str] = (),
    metadata_directory: str | None = None,
) -> Restart:
    """Returns one start-up with the steps of all directories.

    The metadata log is loaded first. If a directory has a strange name, no other log is loaded. A
    failure that takes a log directory offline ends the broker in three cases:

    - No other log directory is left (LogManager).
    - The directory is the metadata log directory.
    - Kafka must then read or rename another log in the offline directory (`_end_in_offline`).

    Args:
        steps: the path and the steps of each partition directory, in the order of the names. If
            the log directory is unknown, the path is only the directory's name.
        strange_names: directories whose names are not a topic-partition's.
        own_steps: the steps of the broker's own files (small_files). Kafka reads these files first.
            If one of the steps ends the broker, all other steps happen only after a repair.
        log_directories: all log directories of the broker.
        metadata_directory: the log directory with the metadata log.
    """
    own_steps = tuple(own_steps)
    unopened = {
        step.log_directory
        for step in own_steps
        if step.cause == "meta-properties" and step.takes_directory_offline
    }
    loaded_logs = [
        (path, log_steps)
        for path, log_steps in steps
        if len(log_directories) < 2 or log_directory_of(path) not in unopened
    ]
    metadata_logs = [log for log in loaded_logs if is_metadata(log[0])]
    other_logs = [log for log in loaded_logs if not is_metadata(log[0])]
    refusals = [_refuse_name(name) for name in strange_names]
    all_steps = [*own_steps, *(step for _, log_steps in metadata_logs for step in log_steps)]
    all_steps += refusals
    if not refusals:
        all_steps += [step for _, log_steps in other_logs for step in log_steps]
        all_steps += _find_duplicates(
            path for path, log_steps in other_logs if not any(map(is_stray_for_sure, log_steps))
        )
    if _starts(all_steps, log_directories, metadata_directory):
        all_steps += _end_in_offline(all_steps, [*metadata_logs, *other_logs])
    shown_steps = tuple(step for step in all_steps if step.cause != "unstable-offset")
    starts = _starts(shown_steps, log_directories, metadata_directory)
    return Restart(clean, starts, shown_steps)


def _starts(
    steps: Iterable[StartupStep], log_directories: Sequence[str], metadata_directory: str | None
) -> bool:
    failures = [step for step in steps if step.action == "fail"]
    offline = {step.log_directory for step in failures}
    if any(not step.takes_directory_offline for step in failures) or None in offline:
        return False
    is_one_left = not offline or bool(set(log_directories) - offline)
    return is_one_left and (metadata_directory is None or metadata_directory not in offline)


def _end_in_offline(
    steps: Iterable[StartupStep], log_steps: Iterable[tuple[str, Sequence[StartupStep]]]
) -> Iterator[StartupStep]:
    """Yields the steps that end the broker because a log directory has just gone offline.

    LogManager of 4.3.1 and 4.4.0 still loads the other logs of that directory. If one of these logs
    has a first unstable offset or becomes stray, UnifiedLog must read or rename it. UnifiedLog
    then throws a KafkaStorageException that LogManager does not catch.

    If such a log is loaded before the directory goes offline, the broker survives. Threads decide
    the order, so the worse case is predicted.
    """
    failures: dict[str | None, StartupStep] = {}
    for step in steps:
        if step.action == "fail" and _is_known_at_once(step):
            failures.setdefault(step.log_directory, step)
    for path, steps_of_log in log_steps:
        failure = failures.get(log_directory_of(path))
        name = path.rpartition("/")[2]
        becomes_stray = any(map(is_stray_for_sure, steps_of_log))
        is_unstable = any(step.cause == "unstable-offset" for step in steps_of_log)
        needs_directory = becomes_stray or is_unstable
        if failure is None or failure.partition == name or not needs_directory:
            continue
        del failures[failure.log_directory]
        yield _fail_offline(failure, name, is_stray=becomes_stray)


def is_stray_for_sure(step: StartupStep) -> bool:
    """Returns whether a step says that its partition certainly becomes stray.

    False if that is uncertain, because the cluster's metadata is missing.
    """
    return step.cause == "becomes-stray" and step.why.key == "start.becomes_stray"


def _is_known_at_once(step: StartupStep) -> bool:
    """Returns whether a failure takes a log directory offline while other logs still load.

    True if a small file of a partition directory, or a checkpoint that LogManager reads, cannot be
    read (LogDirFailureChannel).
    """
    is_read = step.partition is not None or step.file in small_files.READ_BY_LOG_MANAGER
    is_storage_error = (step.error or "").startswith(STORAGE)
    return step.takes_directory_offline and is_storage_error and is_read


def _fail_offline(failure: StartupStep, name: str, *, is_stray: bool) -> StartupStep:
    path = failure.log_directory
    words = f"The log dir {path} is already offline due to a previous IO exception."
    key = "start.offline_log_is_renamed" if is_stray else "start.offline_log_is_read"
    why = message(key, name=name, path=path, file=failure.file)
    if failure.partition is not None:
        why = message("start.ends_if_loaded_later", why=why, name=name, other=failure.partition)
    exception = BrokerException(STORAGE, words)
    way_out = message("way_out.mend_what_takes_offline", file=failure.file)
    return fail_step(
        "directory-offline", why, exception, way_out, partition=name, log_directory=path
    )


def log_directory_of(path: str) -> str | None:
    """Returns the log directory in a partition directory's path; None if `path` is only a name."""
    directory, separator, _ = path.rpartition("/")
    return directory if separator else None


def is_metadata(directory: str) -> bool:
    """Returns whether a directory is the metadata log. `directory` is a name or a path."""
    name = names.parse_directory(directory.rpartition("/")[2])
    return bool(name) and name.topic == METADATA_TOPIC


def _metadata_steps(
    log: StoredLog, behaviour: ReleaseBehaviour, on_recovered: RecoveryCallback | None
) -> tuple[StartupStep, ...]:
    """Returns the steps of the metadata log, then the steps of its snapshots.

    KafkaRaftLog opens this log as after an unclean shutdown, with recovery point 0 and log start
    offset 0. Any exception ends the broker.
    """
    loader = LogLoader(
        StoredLog(directory=log.directory, files=log.files, config=IndexConfig()),
        clean=False,
        behaviour=behaviour,
        why="metadata-log",
        on_recovered=on_recovered,
    )
    steps = loader.run()
    steps = tuple(replace(step, takes_directory_offline=False) for step in steps)
    if all(step.action != "fail" for step in steps):
        steps = (*steps, *_refuse_topic_id(log))
    return (*steps, *cluster_snapshot.steps(log, loader))


def _refuse_topic_id(log: StoredLog) -> Iterator[StartupStep]:
    """Yields a "fail" step if partition.metadata has the id of another topic (UnifiedLog)."""
    file = next((file for file in log.files if file.name == names.PARTITION_METADATA), None)
    if file is None:
        return
    try:
        topic_id = checkpoint.parse_partition_metadata(file.content()).topic_id
    except CorruptBytes:
        return
    if small_files.decode_id(topic_id) == small_files.decode_id(METADATA_TOPIC_ID):
        return
    words = (
        f"Tried to assign topic ID Optional[{METADATA_TOPIC_ID}] to log for topic partition "
        f"{log.directory},but log already contained topic ID {topic_id}"
    )
    path = f"{log.directory}/{file.name}"
    yield fail_step(
        "partition-metadata-bad",
        message("start.metadata_log_of_other_topic", id=topic_id),
        BrokerException(INCONSISTENT_TOPIC_ID, words),
        message("way_out.move_file_away", file=path),
        partition=log.directory,
        file=path,
    )


def _log_steps(
    log: StoredLog,
    *,
    clean: bool,
    behaviour: ReleaseBehaviour,
    on_recovered: RecoveryCallback | None,
) -> tuple[StartupStep, ...]:
    name = names.parse_directory(log.directory)
    keep = partial(StartupStep, partition=log.directory, action="keep")
    loader = LogLoader(log, clean=clean, behaviour=behaviour, on_recovered=on_recovered)
    steps = loader.run()
    failures = tuple(step for step in steps if step.action == "fail")
    if loader.has_unstable_offset:  # for join_steps, which does not return this step
        steps = (*steps, keep(cause="unstable-offset", why=CAUSES["unstable-offset"]))
    if name and name.state == "delete":
        deletion = StartupStep(
            partition=log.directory,
            action="delete",
            cause="directory-deleted",
            why=message("start.topic_deleted"),
            size_bytes=sum(file.size_bytes for file in log.files),
        )
        return (*failures, deletion)
    if name and name.state == "stray":
        return (*steps, keep(cause="directory-stray", why=message("start.foreign_replica")))
    if log.stray_reason and not failures:
        is_sure = log.stray_reason.key != "stray.no_cluster_metadata"
        key = "start.becomes_stray" if is_sure else "start.may_become_stray"
        return (*steps, keep(cause="becomes-stray", why=message(key, because=log.stray_reason)))
    return steps


def _refuse_name(path: str) -> StartupStep:
    """Returns a "fail" step for a name that is not a topic-partition (parseTopicPartitionName)."""
    name = path.rpartition("/")[2]
    words = (
        f"Found directory {name}, '{name}' is not in the form of topic-partition or "
        "topic-partition.uniqueId-delete (if marked for deletion).\nKafka's log directories (and "
        "children) should only contain Kafka topic data."
    )
    return fail_step(
        "directory-name",
        message("start.no_partition_name", name=name),
        BrokerException(KAFKA, words),
        message("way_out.move_directory_away", name=name),
        partition=name,
        log_directory=log_directory_of(path),
    )


def _find_duplicates(directories: Iterable[str]) -> list[StartupStep]:
    """Returns a "fail" step per extra directory of a partition, like orders-00 after orders-0."""
    first_directories: dict[tuple[str, int, bool], str] = {}
    duplicate_steps = []
    for directory in directories:
        name = names.parse_directory(directory.rpartition("/")[2])
        if name and name.state in ("current", "future"):
            is_future = name.state == "future"
            key = name.topic, name.partition, is_future
            first = first_directories.setdefault(key, directory)
            if first != directory:
                partition = f"{name.topic}-{name.partition}"
                duplicate_steps.append(_duplicate(directory, first, partition, future=is_future))
    return duplicate_steps


def _duplicate(directory: str, first: str, partition: str, *, future: bool) -> StartupStep:
    words = (
        f"Duplicate log directories for {partition} are found in both {directory} and {first}. It "
        "is likely because log directory failure happened while broker was replacing current "
        "replica with future replica. Recover broker from this failure by manually deleting one of "
        "the two directories for this partition. It is recommended to delete the partition in the "
        "log directory that is known to have failed recently."
    )
    if future:
        words = f"Duplicate log directories found: {directory}, {first}"
    exception = BrokerException("java.lang.IllegalStateException", words)
    log_directory = log_directory_of(directory)
    name = directory.rpartition("/")[2]
    if log_directory == log_directory_of(first):
        first_name = first.rpartition("/")[2]
        why = message("start.same_partition", first=name, second=first_name)
        way_out = message("way_out.move_one_directory_away", first=name, second=first_name)
    else:
        why = message("start.same_partition_in_two", first=directory, second=first)
        way_out = message("way_out.move_one_replica_away")
    return fail_step(
        "directory-twice", why, exception, way_out, partition=name, log_directory=log_directory
    )
