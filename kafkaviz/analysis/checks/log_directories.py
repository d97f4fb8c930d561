"""The checks that compare the log directories of one broker.

For example:

- disk-b was opened without disk-a, and only disk-a has the metadata log: other-log-directories.
- No log directory in server.properties has the metadata log: metadata-log-missing.
- recovery-point-offset-checkpoint lists orders-0, but the directory is missing:
  partition-missing.
- audit-1 is in disk-b and in disk-c, so Kafka refuses to start: partition-in-two-directories.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from kafkaviz.log.broker import Broker, LogDirectory
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup.small_files import is_reserved
from kafkaviz.versions import Release

MAX_NAMES = 5  # a finding names at most this many partitions
# an offset above 0 in one of these files shows that a log had records
CHECKPOINTS = (names.HIGH_WATERMARK_CHECKPOINT, names.RECOVERY_POINT_CHECKPOINT)
MAY_BE_OLD = message("evidence.checkpoint_while_running")


def check_plan(plan: CheckPlan) -> Iterator[Finding]:
    broker = plan.broker
    release = plan.assumed_release.release
    image = plan.settings.image
    if plan.settings.misses_metadata_log:
        yield _missing_metadata_log(plan)
    elif broker.lacks_metadata_log:
        yield _without_metadata_log(broker, release)
    replicas = _replicas_in_use(plan)
    if len(broker.log_directories) > 1:
        yield from _partitions_in_two(broker, replicas, release)
    yield from _future_replicas(broker, replicas, image, release)
    if image.problems or not image.topic_ids:
        return
    yield from _missing_directories(broker, image, release)
    yield from _empty_directories(broker, image, release)
    yield from _replicas_elsewhere(broker, replicas, image, release)


def _replicas_in_use(plan: CheckPlan) -> dict[tuple[str, int], list[Partition]]:
    replicas: dict[tuple[str, int], list[Partition]] = {}
    release = plan.assumed_release.release
    image = plan.settings.image
    for partition in plan.broker.partitions:
        if partition.state != "current" or partition.topic == METADATA_TOPIC:
            continue
        if stray_reason(plan.broker, partition, image, release) is None:
            key = partition.topic, partition.partition
            replicas.setdefault(key, []).append(partition)
    return replicas


def _missing_metadata_log(plan: CheckPlan) -> Finding:
    broker = plan.broker
    names = tuple(directory.text for directory in broker.log_directories)
    path = archive.display_path(cast("Path", plan.settings.properties_path))
    return finding(
        "metadata-log-missing",
        message("finding.metadata_log_missing", name=METADATA_DIRECTORY, paths=names),
        Evidence(
            message("evidence.no_metadata_log", file=METADATA_DIRECTORY),
            message("evidence.all_directories_opened", file=METADATA_DIRECTORY, path=path),
        ),
        file=METADATA_DIRECTORY,
        release=plan.assumed_release.release,
    )


def _without_metadata_log(broker: Broker, release: Release) -> Finding:
    names = tuple(directory.text for directory in broker.log_directories)
    return finding(
        "other-log-directories",
        message("finding.other_log_directories", paths=names),
        Evidence(
            message("evidence.no_metadata_log", file=METADATA_DIRECTORY),
            message("evidence.metadata_log_in_one", file=METADATA_DIRECTORY),
        ),
        release=release,
        log_directory=broker.main_directory.text,
    )


def _partitions_in_two(
    broker: Broker, replicas: Mapping[tuple[str, int], Sequence[Partition]], release: Release
) -> Iterator[Finding]:
    for partitions in replicas.values():
        parents = {partition.path.parent for partition in partitions}
        if len(parents) < 2:
            continue
        largest = max(partitions, key=lambda partition: partition.live_log_bytes)
        for partition in partitions:
            if partition is largest:
                continue
            directory = broker.directory_of(partition)
            other = broker.directory_of(largest)
            is_empty = not partition.live_log_bytes
            next_step = message(
                "next_step.move_empty_replica_away" if is_empty else "next_step.compare_replicas",
                path=f"{directory.text}/{partition.directory}",
                other=f"{other.text}/{largest.directory}",
            )
            yield finding(
                "partition-in-two-directories",
                message("finding.partition_in_two", name=partition.directory, other=other.text),
                Evidence(
                    message(
                        "evidence.replica_bytes",
                        path=directory.text,
                        n=partition.live_log_bytes,
                        other=other.text,
                        other_bytes=largest.live_log_bytes,
                    ),
                    message("evidence.one_replica"),
                ),
                partition=partition.directory,
                file=partition.directory,
                release=release,
                next_step=next_step,
                log_directory=directory.text,
            )


def _future_replicas(
    broker: Broker,
    replicas: Mapping[tuple[str, int], Sequence[Partition]],
    image: MetadataImage,
    release: Release,
) -> Iterator[Finding]:
    for partition in broker.partitions:
        if partition.state != "future":
            continue
        current = replicas.get((partition.topic, partition.partition), ())
        directory = broker.directory_of(partition)
        consequence = None
        if _takes_over(broker, partition, image):
            code = "future-replica"
            text = message("finding.future_takes_over")
            consequence = message("consequence.future_takes_over")
            place = directory.text
            evidence = Evidence(
                message("evidence.in_directory", path=place, id=directory.directory_id)
            )
        elif current:
            code = "future-replica"
            place = broker.directory_of(current[0]).text
            text = with_cause(code, message("finding.future_replica", path=place), release)
            evidence = Evidence(message("evidence.current_replica", path=place))
        elif broker.lacks_metadata_log:
            continue
        else:
            code = "future-replica-alone"
            text = message("finding.future_replica_alone", name=partition.label)
            evidence = Evidence(
                message("evidence.no_current_replica"), message("evidence.one_replica")
            )
        yield finding(
            code,
            text,
            evidence,
            partition=partition.directory,
            file=partition.directory,
            release=release,
            consequence=consequence,
            log_directory=directory.text,
        )


def _takes_over(broker: Broker, partition: Partition, image: MetadataImage) -> bool:
    """Returns whether broker start-up will put a -future replica into use.

    True if the cluster assigned the replica to its log directory
    (LogManager.recoverAbandonedFutureLogs).
    """
    node_id = broker.node_number
    if node_id is None or partition.topic_id is None or image.problems:
        return False
    assigned = image.assigned_directory(partition.topic_id, partition.partition, node_id)
    return assigned is not None and assigned == broker.directory_of(partition).directory_id


def _missing_directories(
    broker: Broker, image: MetadataImage, release: Release
) -> Iterator[Finding]:
    node_id = broker.node_number
    opened_ids = {directory.directory_id for directory in broker.log_directories}
    if node_id is None or None in opened_ids:
        return
    for directory_id in image.log_directories.get(node_id, ()):
        if directory_id in opened_ids:
            continue
        partitions = _assigned_to(image, directory_id, node_id)
        yield finding(
            "log-directory-missing",
            message("finding.log_directory_missing", id=directory_id, n=len(partitions)),
            Evidence(
                message("evidence.registered_directory", id=directory_id),
                message(
                    "evidence.partitions_there", names=_names_text(partitions), n=len(partitions)
                ),
            ),
            release=release,
        )


def _empty_directories(broker: Broker, image: MetadataImage, release: Release) -> Iterator[Finding]:
    node_id = broker.node_number
    for single in broker.single_directories:
        directory = single.main_directory
        if single.partitions or len(broker.log_directories) == 1:
            continue
        partitions = (
            _assigned_to(image, directory.directory_id, node_id)
            if directory.directory_id and node_id is not None
            else []
        )
        yield from _empty_directory(directory, partitions, release)


def _empty_directory(
    directory: LogDirectory, partitions: list[str], release: Release
) -> Iterator[Finding]:
    if not partitions:
        yield finding(
            "log-directory-empty",
            message("finding.log_directory_empty"),
            Evidence(message("evidence.no_partitions")),
            release=release,
            log_directory=directory.text,
        )
        return
    yield finding(
        "log-directory-lost",
        message("finding.log_directory_lost", n=len(partitions)),
        Evidence(
            message("evidence.no_partitions"),
            message("evidence.partitions_there", names=_names_text(partitions), n=len(partitions)),
        ),
        release=release,
        log_directory=directory.text,
    )


def _replicas_elsewhere(
    broker: Broker,
    replicas: Mapping[tuple[str, int], Sequence[Partition]],
    image: MetadataImage,
    release: Release,
) -> Iterator[Finding]:
    node_id = broker.node_number
    if node_id is None:
        return
    paths = {directory.directory_id: directory.text for directory in broker.log_directories}
    for partitions in replicas.values():
        partition = partitions[0]
        if len(partitions) > 1 or partition.topic_id is None:
            continue
        directory = broker.directory_of(partition)
        assigned = image.assigned_directory(partition.topic_id, partition.partition, node_id)
        if assigned is None or directory.directory_id in (None, assigned) or is_reserved(assigned):
            continue
        place: str | Message = paths.get(assigned) or message(
            "finding.directory_of_id", id=assigned
        )
        yield finding(
            "replica-elsewhere",
            message("finding.replica_elsewhere", name=partition.directory, path=place),
            Evidence(
                message("evidence.in_directory", path=directory.text, id=directory.directory_id),
                message("evidence.in_directory", path=place, id=assigned),
            ),
            partition=partition.directory,
            file=partition.directory,
            release=release,
            log_directory=directory.text,
        )


def _assigned_to(image: MetadataImage, directory_id: str, node_id: int) -> list[str]:
    return [
        f"{topic}-{partition}"
        for topic, topic_id in sorted(image.topic_ids.items())
        for partition in sorted(image.directories.get(topic_id, ()))
        if image.assigned_directory(topic_id, partition, node_id) == directory_id
    ]


def _names_text(names: Sequence[str]) -> Message:
    more = len(names) - MAX_NAMES
    if more > 0:
        return message("common.list_and_more", names=tuple(names[:MAX_NAMES]), n=more)
    return message("evidence.names", names=tuple(names))


def check_missing_partitions(check_plan: CheckPlan) -> Iterator[Finding]:
    """Yields findings about partitions whose directory is missing.

    At its next start-up, the broker creates these directories, empty.
    """
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
