"""The check for missing partition directories, in whose place a start creates empty ones.

For example, the directory of orders-0 is missing, and recovery-point-offset-checkpoint has
"orders 0 15000": partition-missing. The check `state` reports records missing from a log's end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafkaviz.analysis.checks import state
from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.checks.state import PartitionKey, Trace
from kafkaviz.analysis.findings.finding import WARNING, Finding
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint, names
from kafkaviz.log import file
from kafkaviz.log.broker import LogDirectory
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.messages import Message, message

# These show that there were records. Other checkpoints show where a log starts, or was cleaned.
CHECKPOINTS = (names.HIGH_WATERMARK_CHECKPOINT, names.RECOVERY_POINT_CHECKPOINT)
MAY_BE_OLD = message("evidence.checkpoint_while_running")


def check_directories(check_plan: CheckPlan) -> Iterator[Finding]:
    """Yields the partitions that should be in one of the broker's log directories, but are not."""
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
            # a running broker may have created it after the directory was listed
            and not file.is_there(directory.path / "-".join(map(str, key)))
        }
        release = check_plan.assumed_release.release
        partitions = broker.partitions_in(directory)
        if _is_unknown(image) and len(traces) > len(partitions):
            largest = max(traces.items(), key=lambda item: item[1].offset)
            excerpt = state.excerpt_finding(len(traces), len(partitions), *largest, release)
            yield replace(excerpt, log_directory=directory.text)
            continue
        for key in sorted(traces):
            reason = _reason(directory, key, image)
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
            continue  # it is missing, or another check reports it
        for key, offset in offsets.items():
            if key not in traces or offset > traces[key].offset:
                traces[key] = Trace(offset, name)
    return traces


def _is_unknown(image: MetadataImage) -> bool:
    return not image.topic_ids or bool(image.problems)


def _reason(directory: LogDirectory, key: PartitionKey, image: MetadataImage) -> Message | None:
    """Returns why a partition that the checkpoints name should be in this directory.

    Returns:
        None if it need not be: its topic was deleted, or its replica is somewhere else now.
    """
    topic, partition = key
    if _is_unknown(image):
        # at a stop, LogManager and ReplicaManager write both files for all present logs
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
