"""The checks that compare the log directories of one broker.

For example:

- disk-b was opened without disk-a, and only disk-a has the metadata log: other-log-directories.
- No log directory in server.properties has the metadata log: metadata-log-missing.
- recovery-point-offset-checkpoint lists orders-0, but the directory is missing:
  partition-missing.
- audit-1 is in disk-b and in disk-c, so Kafka refuses to start: partition-in-two-directories.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from kafkaviz.analysis.checks import state
from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.checks.state import PartitionKey, Trace
from kafkaviz.analysis.findings import WARNING, Evidence, Finding, finding, with_cause
from kafkaviz.analysis.restart.next_start import stray_reason
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint, names
from kafkaviz.format.names import METADATA_DIRECTORY, METADATA_TOPIC
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import LogDirectory
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup.small_files import is_reserved

MAX_NAMES = 5  # a finding names at most this many partitions
# an offset above 0 in one of these files shows that a log had records
CHECKPOINTS = (names.HIGH_WATERMARK_CHECKPOINT, names.RECOVERY_POINT_CHECKPOINT)
MAY_BE_OLD = message("evidence.checkpoint_while_running")


def check_plan(plan: CheckPlan) -> Iterator[Finding]:
    check = _DirectoriesCheck(plan)
    if plan.settings.misses_metadata_log:
        yield check.missing_metadata_log()
    elif plan.broker.lacks_metadata_log:
        yield check.metadata_log_elsewhere()
    yield from check.partitions_in_two()
    yield from check.future_replicas()
    if not _is_unknown(plan.settings.image):
        yield from check.missing_directories()
        yield from check.empty_directories()
        yield from check.replicas_elsewhere()


@dataclass(frozen=True, slots=True)
class _Replica:
    """The facts about a topic-partition that these checks need.

    A Partition also has its segments, and those of all partitions may not fit into memory.
    """

    name: str  # of its directory, such as "orders-0"
    number: int
    topic_id: str | None
    log_directory: LogDirectory
    log_bytes: int  # of the segments that a broker would use


class _DirectoriesCheck:
    """Compares the log directories of a broker with each other and with the metadata log."""

    def __init__(self, plan: CheckPlan) -> None:
        self._plan = plan
        self._broker = plan.broker
        self._image = plan.settings.image
        self._release = plan.assumed_release.release
        self._node_id = plan.broker.node_number
        # the current replicas that are not stray
        self._replicas: dict[PartitionKey, list[_Replica]] = defaultdict(list)
        for partition in plan.broker.partitions:
            if (
                partition.state == "current"
                and partition.topic != METADATA_TOPIC
                and stray_reason(plan.broker, partition, self._image, self._release) is None
            ):
                replica = self._replica(partition)
                self._replicas[partition.topic, partition.partition].append(replica)

    def _replica(self, partition: Partition) -> _Replica:
        return _Replica(
            name=partition.directory,
            number=partition.partition,
            topic_id=partition.topic_id,
            log_directory=self._broker.directory_of(partition),
            log_bytes=partition.live_log_bytes,
        )

    def _finding(
        self,
        code: str,
        text: Message,
        evidence: Evidence,
        replica: _Replica | None = None,
        directory: LogDirectory | None = None,
        *,
        consequence: Message | None = None,
        next_step: Message | None = None,
    ) -> Finding:
        if replica:
            directory = replica.log_directory
        return finding(
            code,
            text,
            evidence,
            partition=replica.name if replica else None,
            file=replica.name if replica else None,
            release=self._release,
            consequence=consequence,
            next_step=next_step,
            log_directory=directory.text if directory else None,
        )

    def missing_metadata_log(self) -> Finding:
        paths = tuple(directory.text for directory in self._broker.log_directories)
        path = archive.display_path(cast("Path", self._plan.settings.properties_path))
        return finding(
            "metadata-log-missing",
            message("finding.metadata_log_missing", name=METADATA_DIRECTORY, paths=paths),
            Evidence(
                message("evidence.no_metadata_log", file=METADATA_DIRECTORY),
                message("evidence.all_directories_opened", file=METADATA_DIRECTORY, path=path),
            ),
            file=METADATA_DIRECTORY,
            release=self._release,
        )

    def metadata_log_elsewhere(self) -> Finding:
        paths = tuple(directory.text for directory in self._broker.log_directories)
        text = message("finding.other_log_directories", paths=paths)
        found_text = message("evidence.no_metadata_log", file=METADATA_DIRECTORY)
        expected = message("evidence.metadata_log_in_one", file=METADATA_DIRECTORY)
        evidence = Evidence(found_text, expected)
        main = self._broker.main_directory
        return self._finding("other-log-directories", text, evidence, directory=main)

    def partitions_in_two(self) -> Iterator[Finding]:
        for replicas in self._replicas.values():
            if len({replica.log_directory.path for replica in replicas}) < 2:
                continue
            largest = max(replicas, key=lambda replica: replica.log_bytes)
            other = largest.log_directory.text
            for replica in replicas:
                if replica is largest:
                    continue
                path = replica.log_directory.text
                key = "compare_replicas" if replica.log_bytes else "move_empty_replica_away"
                own_path = f"{path}/{replica.name}"
                other_path = f"{other}/{largest.name}"
                next_step = message(f"next_step.{key}", path=own_path, other=other_path)
                text = message("finding.partition_in_two", name=replica.name, other=other)
                found_text = message(
                    "evidence.replica_bytes",
                    path=path,
                    n=replica.log_bytes,
                    other=other,
                    other_bytes=largest.log_bytes,
                )
                evidence = Evidence(found_text, message("evidence.one_replica"))
                yield self._finding(
                    "partition-in-two-directories", text, evidence, replica, next_step=next_step
                )

    def future_replicas(self) -> Iterator[Finding]:
        for partition in self._broker.partitions:
            if partition.state != "future":
                continue
            replica = self._replica(partition)
            current = self._replicas.get((partition.topic, partition.partition))
            code = "future-replica"
            consequence = None
            if self._takes_over(replica):
                text = message("finding.future_takes_over")
                consequence = message("consequence.future_takes_over")
                evidence = Evidence(_directory_text(replica.log_directory))
            elif current:
                path = current[0].log_directory.text
                text = message("finding.future_replica", path=path)
                text = with_cause(code, text, self._release)
                evidence = Evidence(message("evidence.current_replica", path=path))
            elif self._broker.lacks_metadata_log:
                continue
            else:
                code = "future-replica-alone"
                text = message("finding.future_replica_alone", name=partition.label)
                found_text = message("evidence.no_current_replica")
                evidence = Evidence(found_text, message("evidence.one_replica"))
            yield self._finding(code, text, evidence, replica, consequence=consequence)

    def _takes_over(self, replica: _Replica) -> bool:
        """Returns whether broker start-up will put a -future replica into use.

        True if the cluster assigned the replica to its log directory
        (LogManager.recoverAbandonedFutureLogs).
        """
        assigned = None if self._image.problems else self._assigned_directory(replica)
        return assigned is not None and assigned == replica.log_directory.directory_id

    def _assigned_directory(self, replica: _Replica) -> str | None:
        """Returns the id of the log directory to which the cluster assigned a partition."""
        if self._node_id is None or replica.topic_id is None:
            return None
        return self._image.assigned_directory(replica.topic_id, replica.number, self._node_id)

    def missing_directories(self) -> Iterator[Finding]:
        opened_ids = {directory.directory_id for directory in self._broker.log_directories}
        if self._node_id is None or None in opened_ids:
            return
        for directory_id in self._image.log_directories.get(self._node_id, ()):
            if directory_id not in opened_ids:
                assigned = self._names_assigned_to(directory_id)
                text = message("finding.log_directory_missing", id=directory_id, n=len(assigned))
                found_text = message("evidence.registered_directory", id=directory_id)
                evidence = Evidence(found_text, _partitions_text(assigned))
                yield self._finding("log-directory-missing", text, evidence)

    def empty_directories(self) -> Iterator[Finding]:
        for single in self._broker.single_directories:
            directory = single.main_directory
            if single.partitions or len(self._broker.log_directories) == 1:
                continue
            found_text = message("evidence.no_partitions")
            if assigned := self._names_assigned_to(directory.directory_id):
                code = "log-directory-lost"
                text = message("finding.log_directory_lost", n=len(assigned))
                evidence = Evidence(found_text, _partitions_text(assigned))
            else:
                code = "log-directory-empty"
                text = message("finding.log_directory_empty")
                evidence = Evidence(found_text)
            yield self._finding(code, text, evidence, directory=directory)

    def replicas_elsewhere(self) -> Iterator[Finding]:
        directories = self._broker.log_directories
        paths = {directory.directory_id: directory.text for directory in directories}
        for replicas in self._replicas.values():
            replica = replicas[0]
            directory = replica.log_directory
            assigned = self._assigned_directory(replica)
            if len(replicas) > 1 or assigned is None or is_reserved(assigned):
                continue
            if directory.directory_id in (None, assigned):
                continue
            path = paths.get(assigned) or message("finding.directory_of_id", id=assigned)
            text = message("finding.replica_elsewhere", name=replica.name, path=path)
            expected = message("evidence.in_directory", path=path, id=assigned)
            evidence = Evidence(_directory_text(directory), expected)
            yield self._finding("replica-elsewhere", text, evidence, replica)

    def _names_assigned_to(self, directory_id: str | None) -> list[str]:
        """Returns the partitions that the cluster assigned to this log directory."""
        node_id = self._node_id
        if not directory_id or node_id is None:
            return []
        image = self._image
        return [
            f"{topic}-{partition}"
            for topic, topic_id in sorted(image.topic_ids.items())
            for partition in sorted(image.directories.get(topic_id, ()))
            if image.assigned_directory(topic_id, partition, node_id) == directory_id
        ]


def _directory_text(directory: LogDirectory) -> Message:
    return message("evidence.in_directory", path=directory.text, id=directory.directory_id)


def _partitions_text(names: Sequence[str]) -> Message:
    names_text = message("evidence.names", names=tuple(names))
    if (more := len(names) - MAX_NAMES) > 0:
        names_text = message("common.list_and_more", names=tuple(names[:MAX_NAMES]), n=more)
    return message("evidence.partitions_there", names=names_text, n=len(names))


def check_missing_partitions(check_plan: CheckPlan) -> Iterator[Finding]:
    """Yields findings about partitions without a directory. The next start creates an empty one."""
    broker = check_plan.broker
    image = check_plan.settings.image
    present_keys = {(partition.topic, partition.partition) for partition in broker.partitions}
    present_keys |= {
        (name.topic, name.partition)
        for problem in broker.problems
        if (name := names.parse_directory(problem.path.name))
    }
    for directory in broker.log_directories:
        traces = {
            key: trace
            for key, trace in _read_traces(directory).items()
            if trace.offset
            and key not in present_keys
            # a running broker may have created the partition after the directory was listed
            and not file.is_there(directory.path / "-".join(map(str, key)))
        }
        release = check_plan.assumed_release.release
        partitions = broker.partitions_in(directory)
        if _is_unknown(image) and len(traces) > len(partitions):
            largest = max(traces.items(), key=lambda item: item[1].offset)
            partial_copy = state.partial_copy_finding(
                len(traces), len(partitions), *largest, release
            )
            yield replace(partial_copy, log_directory=directory.text)
            continue
        for key in sorted(traces):
            reason = _why_expected(directory, key, image)
            if reason is not None:
                missing = state.missing_finding(key, traces[key], reason, release)
                missing = replace(missing, log_directory=directory.text)
                yield replace(missing, severity=WARNING) if reason is MAY_BE_OLD else missing


def _read_traces(directory: LogDirectory) -> Mapping[PartitionKey, Trace]:
    traces: dict[PartitionKey, Trace] = {}
    for name in CHECKPOINTS:
        try:
            offsets = checkpoint.parse_offsets(
                file.read(directory.path / name, limit_bytes=file.TEXT_BYTES)
            )
        except (CorruptBytes, KafkavizError):
            continue  # the checkpoint is missing, or another check reports its fault
        for key, offset in offsets.items():
            if key not in traces or offset > traces[key].offset:
                traces[key] = Trace(offset, name)
    return traces


def _is_unknown(image: MetadataImage) -> bool:
    return not image.topic_ids or bool(image.problems)


def _why_expected(
    directory: LogDirectory, key: PartitionKey, image: MetadataImage
) -> Message | None:
    """Returns why a partition in the checkpoints should be in this directory.

    None: the topic was deleted, or the replica is assigned elsewhere.
    """
    topic, partition = key
    if _is_unknown(image):
        # when a broker stops, LogManager and ReplicaManager write both files for all logs
        return message("evidence.checkpoint_of_stop") if directory.is_clean else MAY_BE_OLD
    topic_id = image.topic_ids.get(topic)
    replicas = image.replicas.get(topic_id or "", {}).get(partition, ())
    node_id = directory.node_number
    if not topic_id or node_id is None or node_id not in replicas:
        return None
    assigned_id = image.assigned_directory(topic_id, partition, node_id)
    if assigned_id and directory.directory_id and assigned_id != directory.directory_id:
        return None
    return message("evidence.assigned_replica", node=str(node_id))
