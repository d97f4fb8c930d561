"""What the next start of a broker does to its directory, told before it happens.

As LogManager and LogLoader of Kafka 4.3.1. Of a directory that was not stopped cleanly, partition
orders-0 with recovery point 200 and segments 0, 150 and 300 of which 150 ends in half a batch:

    truncate orders-0 150 .log        half a batch is cut off
    rebuild  orders-0 150 .index      from the batches that are left
    delete   orders-0 300 .log        what follows a cut is not trusted
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafkaviz.format import names
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.simulate.config import IndexConfig, Profile
from kafkaviz.simulate.recovering.recovery import NEWEST, Raised
from kafkaviz.simulate.starting import cluster_snapshot
from kafkaviz.simulate.starting.loading import Loading, OnRecovered
from kafkaviz.simulate.steps import ACTIONS, CAUSES, Step
from kafkaviz.simulate.stored import StoredLog

__all__ = ["ACTIONS", "CAUSES", "Restart", "Step", "joined", "restart", "steps_of"]

KAFKA = "org.apache.kafka.common.KafkaException"


@dataclass(frozen=True)
class Restart:
    """What the next start does to a broker directory, or to one partition.

    clean: the marker of a clean stop is there. starts: the broker comes up; of one partition,
    whether this one stops it.
    """

    clean: bool
    starts: bool
    steps: tuple[Step, ...]

    @property
    def failures(self) -> tuple[Step, ...]:
        """The steps at which a start ends; which comes first depends on the threads that load the
        logs.
        """
        return tuple(step for step in self.steps if step.action == "fail")

    def of(self, partition: str) -> tuple[Step, ...]:
        """The steps of one partition directory."""
        return tuple(step for step in self.steps if step.partition == partition)


def restart(
    logs: Iterable[StoredLog],
    clean: bool,
    of: Profile = NEWEST,
    strange_names: Iterable[str] = (),
    watch: OnRecovered | None = None,
    before: Iterable[Step] = (),
) -> Restart:
    """What a start does to these partition directories, in the order given, the metadata log first.

    clean: the marker of a clean stop is there. strange_names: directories whose names are no
    topic-partition. watch(directory, base offset, Recovered) is told of each segment that is
    recovered. before: own_files.own_steps. One log is in memory at a time, as far as
    recovery.recover says.
    """
    logs, refused = (
        sorted(logs, key=lambda log: not is_metadata(log.directory)),
        list(strange_names),
    )
    loaded = [log for log in logs if is_metadata(log.directory) or not refused]
    return joined(
        [(log.directory, steps_of(log, clean, of, watch)) for log in loaded], clean, refused, before
    )


def steps_of(
    log: StoredLog, clean: bool, of: Profile = NEWEST, watch: OnRecovered | None = None
) -> tuple[Step, ...]:
    """What a start does to one partition directory, whatever lies beside it."""
    return (
        _metadata_steps(log, of, watch)
        if is_metadata(log.directory)
        else tuple(_log_steps(log, clean, of, watch))
    )


def joined(
    steps: Iterable[tuple[str, Sequence[Step]]],
    clean: bool,
    strange_names: Iterable[str] = (),
    before: Iterable[Step] = (),
) -> Restart:
    """The start as a whole, from the steps of each directory; they come with its name, in the order
    of the names.

    before: what the directory's own files bring about, which are read first (own_files); where they
    end the start, the other steps are those of the next one, once they are mended. The metadata log
    is loaded first. Where a name is strange, no other log is.
    """
    told = sorted(steps, key=lambda one: not is_metadata(one[0]))
    refused = [_refused(name) for name in strange_names]
    done = [
        *before,
        *(step for directory, of_log in told if is_metadata(directory) for step in of_log),
        *refused,
    ]
    if not refused:
        others = [(directory, of_log) for directory, of_log in told if not is_metadata(directory)]
        done += [step for _, of_log in others for step in of_log]
        done += _twice(directory for directory, _ in others)
    return Restart(clean, not any(step.action == "fail" for step in done), tuple(done))


def is_metadata(directory: str) -> bool:
    """Whether a directory of this name holds KRaft's own log."""
    name = names.parse_directory(directory)
    return bool(name) and name.topic == METADATA_TOPIC


def _metadata_steps(log: StoredLog, of: Profile, watch: OnRecovered | None) -> tuple[Step, ...]:
    """KafkaRaftLog opens its log as one not stopped cleanly, with the recovery point and the log
    start 0; then its snapshot is read.
    """
    steps = Loading(
        StoredLog(log.directory, log.files, IndexConfig()), False, of, "metadata-log", watch
    ).run()
    return (*steps, *cluster_snapshot.steps(log))


def _log_steps(log: StoredLog, clean: bool, of: Profile, watch: OnRecovered | None) -> list[Step]:
    name = names.parse_directory(log.directory)
    steps = Loading(log, clean, of, None, watch).run()
    if name and name.state == "delete":
        size_bytes = sum(file.size_bytes for file in log.files)
        why = "its topic was deleted; the directory follows file.delete.delay.ms after the start"
        gone = Step(log.directory, None, "delete", "directory-deleted", why, size_bytes=size_bytes)
        return [*(step for step in steps if step.action == "fail"), gone]
    if name and name.state == "stray":
        why = (
            "this replica belongs to another broker or topic; Kafka loads it and does not serve it"
        )
        return [*steps, Step(log.directory, None, "keep", "directory-stray", why)]
    if log.stray and not any(step.action == "fail" for step in steps):
        why = f"{log.stray}; Kafka renames the directory to end in -stray, and does not serve it"
        return [*steps, Step(log.directory, None, "keep", "becomes-stray", why)]
    return list(steps)


def _refused(name: str) -> Step:
    """LogManager reads every directory's name before it loads the first log
    (LocalLog.parseTopicPartitionName).
    """
    words = (
        f"Found directory {name}, '{name}' is not in the form of topic-partition or "
        "topic-partition.uniqueId-delete (if marked for deletion).\nKafka's log directories (and "
        "children) should only contain Kafka topic data."
    )
    why = f"{name} is no name of a topic-partition: no log of the broker is loaded"
    way_out = f"move {name} out of the broker directory"
    return Step(
        name, None, "fail", "directory-name", why, error=str(Raised(KAFKA, words)), way_out=way_out
    )


def _twice(directories: Iterable[str]) -> list[Step]:
    """Two directories of one partition, such as orders-0 and orders-00 (LogManager.addLog)."""
    seen: dict[tuple[str, int, bool], str] = {}
    found = []
    for directory in directories:
        name = names.parse_directory(directory)
        if name and name.state in ("current", "future"):
            first = seen.setdefault((name.topic, name.partition, name.state == "future"), directory)
            if first != directory:
                found.append(
                    _duplicate(
                        directory, first, f"{name.topic}-{name.partition}", name.state == "future"
                    )
                )
    return found


def _duplicate(directory: str, first: str, partition: str, future: bool) -> Step:
    words = (
        f"Duplicate log directories found: {directory}, {first}"
        if future
        else (
            f"Duplicate log directories for {partition} are found in both {directory} and {first}. "
            "It is likely because log directory failure happened while broker was replacing "
            "current replica with future replica. Recover broker from this failure by manually "
            "deleting one of the two directories for this partition. It is recommended to delete "
            "the partition in the log directory that is known to have failed recently."
        )
    )
    both, error = f"{directory} and {first}", str(Raised("java.lang.IllegalStateException", words))
    why, way_out = (
        f"{both} hold the same partition",
        f"move one of {both} out of the broker directory",
    )
    return Step(directory, None, "fail", "directory-twice", why, error=error, way_out=way_out)
