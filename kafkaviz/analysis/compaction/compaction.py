"""The compacted logs of a broker: which one is cleaned next, and what a cleaning leaves.

For example:

    result = compaction("/var/lib/kafka")
    result.order                       # ("profiles-3", "profiles-0"): in the order of cleaning
    result.partitions[0].decision      # CleaningDecision(first_dirty_offset=30, ...)
    result.partitions[0].cleaned       # Cleaning(...), or None if the log is not cleaned
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kafkaviz import config_def
from kafkaviz.analysis.checks.plan import COMPACTED_TOPICS, CheckPlan, cleaner_offsets, plan_check
from kafkaviz.analysis.compaction.decision import (
    CleaningDecision,
    CompactionRules,
    LogState,
    OpenTransaction,
    decide,
    read_log_state,
)
from kafkaviz.config_def import DIRTY_RATIO
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Origin, Settings, SettingValue
from kafkaviz.messages import Message, message
from kafkaviz.simulate.cleaner.batch_chunks import CleanedTransactions, CleaningFailed
from kafkaviz.simulate.cleaner.cleaner import CleanerConfig, Cleaning, CleaningRange, clean
from kafkaviz.simulate.cleaner.offset_map import BYTES_PER_KEY, OffsetMap
from kafkaviz.simulate.config import log_config

LOG_SETTINGS = (
    "segment.bytes",
    "internal.segment.bytes",
    "segment.index.bytes",
    "index.interval.bytes",
)
SETTINGS = (
    DIRTY_RATIO,
    "min.compaction.lag.ms",
    "max.compaction.lag.ms",
    "delete.retention.ms",
    *LOG_SETTINGS,
)
BUFFERS_PER_THREAD = 2  # a cleaner thread has one buffer to read and one to write


@dataclass(frozen=True, kw_only=True)
class CleanerMap:
    """The offset map of one cleaner thread: its size, and the share of it that may be filled."""

    size_bytes: int
    load_factor: float
    threads: int

    @property
    def most_keys(self) -> int:
        """The number of keys at which the map is full."""
        return int(self.size_bytes // BYTES_PER_KEY * self.load_factor)


@dataclass(frozen=True, kw_only=True)
class DecidedLog:
    """A compacted log, and the decision whether the cleaner would clean it now."""

    partition: str
    log_directory: str | None
    settings: Mapping[str, SettingValue]
    state: LogState
    decision: CleaningDecision


@dataclass(frozen=True, kw_only=True)
class PartitionCompaction:
    """A compacted log, the cleaner's decision about it, and the result of the cleaning."""

    partition: str
    log_directory: str | None
    decision: CleaningDecision
    settings: Mapping[str, SettingValue]
    oldest_transaction: OpenTransaction | None
    cleaned: Cleaning | None = None  # None: the log would not be cleaned, or `error` is set
    error: str | None = None  # the exception that Kafka's cleaner would throw


@dataclass(frozen=True, kw_only=True)
class UnreadLog:
    partition: str
    log_directory: str | None
    message: Message


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """The compacted logs of a broker or of one partition directory."""

    directory: str
    kafka_version: str
    now_ms: int
    map: CleanerMap
    partitions: tuple[PartitionCompaction, ...]
    unread: tuple[UnreadLog, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The logs that the cleaner would clean now, by descending dirty ratio."""
        return _order((partition.partition, partition.decision) for partition in self.partitions)


def _order(decisions: Iterable[tuple[str, CleaningDecision]]) -> tuple[str, ...]:
    eligible = [(name, decision) for name, decision in decisions if decision.is_eligible]
    eligible.sort(key=lambda pair: -(pair[1].cleanable_ratio or 0))
    return tuple(name for name, _ in eligible)


@dataclass(frozen=True, kw_only=True)
class CleanerDecisions:
    """The compacted logs of a broker, each with the cleaner's decision."""

    plan: CheckPlan
    map: CleanerMap
    logs: tuple[DecidedLog, ...]
    unread: tuple[UnreadLog, ...]

    @property
    def order(self) -> tuple[str, ...]:
        return _order((log.partition, log.decision) for log in self.logs)


def compaction(
    broker: Broker | Path | str,
    version: str | None = None,
    now_ms: int | None = None,
    *,
    settings: Settings | None = None,
    high_watermark: int | None = None,
    map_bytes: int | None = None,
    load_factor: float | None = None,
    on_partition: Callable[[str], None] | None = None,
) -> Compaction:
    """Returns what the log cleaner would do with each compacted log. Nothing is written.

    Args:
        broker: a Broker, or the path of a broker or partition directory.
        version: the Kafka release, such as "4.3.1"; inferred if None.
        now_ms: the current time in ms since 1970; by default the time of the newest .log or
            checkpoint.
        settings: the settings; by default those in the metadata log and server.properties.
        high_watermark: the high watermark of each log; by default from the checkpoint, or the log
            end if the checkpoint does not have it.
        map_bytes: the size of the offset map; by default log.cleaner.dedupe.buffer.size divided
            by log.cleaner.threads.
        load_factor: the share of the map that may be filled; by default
            log.cleaner.io.buffer.load.factor.
        on_partition: called with the name of each partition before it is cleaned.

    Raises:
        CannotOpen: the path is not a broker or partition directory, or is an uncompacted partition.
        KafkavizError: the version is unknown.
    """
    decisions = decide_logs(
        broker,
        version,
        now_ms,
        settings=settings,
        high_watermark=high_watermark,
        map_bytes=map_bytes,
        load_factor=load_factor,
    )
    offset_map = OffsetMap(decisions.map.most_keys)
    partitions = []
    unread = list(decisions.unread)
    for log in decisions.logs:
        if on_partition:
            on_partition(log.partition)
        cleaned = None
        exception = None
        try:
            if log.decision.is_eligible:
                cleaned = clean_log(decisions.plan, log, decisions.map, offset_map=offset_map)
        except CleaningFailed as failure:
            exception = str(failure.exception)
        except KafkavizError as error:
            unread.append(_unread(log.partition, log.log_directory, error))
            continue
        partitions.append(to_partition_compaction(log, cleaned, exception))
    return to_compaction(decisions, partitions, unread)


def to_compaction(
    decisions: CleanerDecisions,
    partitions: Iterable[PartitionCompaction],
    unread: Iterable[UnreadLog],
) -> Compaction:
    return Compaction(
        directory=decisions.plan.broker.sources_text,
        kafka_version=decisions.plan.assumed_release.version,
        now_ms=decisions.plan.now_ms,
        map=decisions.map,
        partitions=tuple(partitions),
        unread=tuple(unread),
    )


def decide_logs(
    broker: Broker | Path | str,
    version: str | None = None,
    now_ms: int | None = None,
    *,
    settings: Settings | None = None,
    high_watermark: int | None = None,
    map_bytes: int | None = None,
    load_factor: float | None = None,
) -> CleanerDecisions:
    """Returns for each compacted log whether the cleaner would clean it. Reads no records.

    `compaction` explains the arguments and errors.
    """
    broker = broker if isinstance(broker, Broker) else open_broker(broker)
    plan = plan_check(broker, version, now_ms, settings=settings)
    checkpoints = cleaner_offsets(broker)
    logs = []
    unread = []
    for partition in compacted_partitions(plan):
        try:
            log = decide_log(
                plan,
                partition,
                checkpointed=checkpoints.get((partition.topic, partition.partition)),
                high_watermark=high_watermark,
            )
            logs.append(log)
        except KafkavizError as error:
            unread.append(_unread(partition.directory, plan.log_directory(partition), error))
    return CleanerDecisions(
        plan=plan,
        map=cleaner_map(plan, map_bytes, load_factor),
        logs=tuple(logs),
        unread=tuple(unread),
    )


def _unread(partition: str, log_directory: str | None, error: KafkavizError) -> UnreadLog:
    return UnreadLog(partition=partition, log_directory=log_directory, message=error.message)


def compacted_partitions(plan: CheckPlan) -> list[Partition]:
    """Returns the current partitions of compacted topics.

    Raises CannotOpen if a single partition was opened, and it is not compacted.
    """
    partitions = [
        partition
        for partition in plan.partitions
        if partition.state == "current"
        and partition.topic != METADATA_TOPIC
        and partition.without_remote().live
    ]
    compacted = [partition for partition in partitions if is_compacted(plan, partition)]
    if len(plan.partitions) == 1 and partitions and not compacted and not plan.is_whole:
        policy = plan.settings.find(partitions[0].topic, "cleanup.policy")
        raise CannotOpen(
            archive.display_text(partitions[0].path),
            message("errors.not_compacted", policy=policy.value, source=policy.source),
            message("errors.set_compact_policy"),
        )
    return compacted


def is_compacted(plan: CheckPlan, partition: Partition) -> bool:
    """Returns whether cleanup.policy contains compact.

    If the policy is unknown, returns True if Kafka always compacts the topic, or if the cleaner's
    checkpoint lists the log.
    """
    policy = plan.settings.find(partition.topic, "cleanup.policy")
    if policy.is_given:
        return "compact" in str(policy.value).split(",")
    was_cleaned = (partition.topic, partition.partition) in plan.compacted_logs
    return partition.topic in COMPACTED_TOPICS or was_cleaned


def cleaner_map(
    plan: CheckPlan, map_bytes: int | None = None, load_factor: float | None = None
) -> CleanerMap:
    """Returns the size of one thread's offset map. `compaction` explains the arguments."""
    threads = max(1, int(_broker_value(plan, "log.cleaner.threads")))
    if map_bytes is None:
        map_bytes = int(_broker_value(plan, "log.cleaner.dedupe.buffer.size")) // threads
    if load_factor is None:
        load_factor = float(_broker_value(plan, "log.cleaner.io.buffer.load.factor"))
    size_bytes = min(map_bytes, config_def.INT_MAX)
    return CleanerMap(size_bytes=size_bytes, load_factor=load_factor, threads=threads)


def _broker_value(plan: CheckPlan, name: str) -> Any:
    value = plan.settings.find("", name).value
    if value is None:
        return config_def.BROKER_SETTINGS[name].default(plan.assumed_release.release)
    return value


def decide_log(
    plan: CheckPlan,
    partition: Partition,
    *,
    checkpointed: int | None,
    high_watermark: int | None = None,
) -> DecidedLog:
    """Returns a partition's log, and whether the cleaner would clean it. Reads no records.

    Raises:
        KafkavizError: a file cannot be read.
    """
    release = plan.assumed_release.release
    settings = {
        name: plan.settings.find(partition.topic, name).or_default(release)
        for name in SETTINGS
        if config_def.TOPIC_SETTINGS[name].is_known_to(release)
    }
    state = read_log_state(
        partition,
        now_ms=plan.now_ms,
        producer_expiration_ms=plan.producer_expiration_ms,
        high_watermark=high_watermark,
    )
    decision = decide(state.facts, checkpointed, _rules(settings), plan.now_ms)
    return DecidedLog(
        partition=partition.directory,
        log_directory=plan.log_directory(partition),
        settings=settings,
        state=state,
        decision=decision,
    )


def with_dirty_ratio(log: DecidedLog, ratio: float, now_ms: int) -> DecidedLog:
    """Returns the log with this min.cleanable.dirty.ratio, and with the decision for this ratio."""
    source = message("retention.chosen_here")
    changed = replace(log.settings[DIRTY_RATIO], value=ratio, origin=Origin.TYPED, source=source)
    settings = {**log.settings, DIRTY_RATIO: changed}
    decision = decide(log.state.facts, log.decision.checkpointed, _rules(settings), now_ms)
    return replace(log, settings=settings, decision=decision)


def _rules(settings: Mapping[str, SettingValue]) -> CompactionRules:
    values = {name: setting.value for name, setting in settings.items()}
    return CompactionRules(
        min_cleanable_dirty_ratio=float(values[DIRTY_RATIO]),
        min_compaction_lag_ms=int(values.get("min.compaction.lag.ms", 0)),
        max_compaction_lag_ms=int(values.get("max.compaction.lag.ms", config_def.LONG_MAX)),
    )


def clean_log(
    plan: CheckPlan,
    log: DecidedLog,
    map_size: CleanerMap,
    *,
    offset_map: OffsetMap | None = None,
    on_read: Callable[[int], None] | None = None,
) -> Cleaning:
    """Returns the result of one cleaning, even if `log.decision` is against it.

    Args:
        offset_map: the map of an earlier cleaning, whose memory is used again.
        on_read: called with the number of bytes read since the last call.

    Raises:
        CleaningFailed: Kafka's cleaner would throw an exception.
    """
    release = plan.assumed_release.release
    values = {name: setting.value for name, setting in log.settings.items()}
    config = CleanerConfig(
        log=log_config({name: values.get(name) for name in LOG_SETTINGS}, release),
        delete_retention_ms=int(values["delete.retention.ms"]),
        most_keys=map_size.most_keys,
        io_buffer_bytes=int(_broker_value(plan, "log.cleaner.io.buffer.size"))
        // map_size.threads
        // BUFFERS_PER_THREAD,
    )
    return clean(
        cleaning_range(log.state, log.decision),
        config,
        release,
        plan.now_ms,
        offset_map=offset_map,
        on_read=on_read,
    )


def to_partition_compaction(
    log: DecidedLog, cleaned: Cleaning | None, error: str | None
) -> PartitionCompaction:
    return PartitionCompaction(
        partition=log.partition,
        log_directory=log.log_directory,
        decision=log.decision,
        settings=log.settings,
        oldest_transaction=log.state.oldest_transaction,
        cleaned=cleaned,
        error=error,
    )


def cleaning_range(state: LogState, decision: CleaningDecision) -> CleaningRange:
    return _range(state, decision.first_dirty_offset, decision.first_uncleanable_segment)


def _range(state: LogState, first_dirty_offset: int, stop_offset: int) -> CleaningRange:
    return CleaningRange(
        segments=state.views,
        log_start_offset=state.facts.log_start_offset,
        high_watermark=state.facts.high_watermark,
        first_dirty_offset=first_dirty_offset,
        stop_offset=stop_offset,
        producers=state.producers,
    )


def log_transactions(state: LogState) -> CleanedTransactions:
    """Returns the aborted transactions of the whole log, not only of the part to clean."""
    start = state.facts.log_start_offset
    stop = state.facts.log_end_offset
    transactions = CleanedTransactions()
    transactions.add_aborted(_range(state, start, stop).aborted(start, stop))
    return transactions
