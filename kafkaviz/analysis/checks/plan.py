"""Plans a check: chooses the release, time, settings and partitions before segments are read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain

from kafkaviz import config_def, versions
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.inferred_release import AssumedRelease, assume_release, formatting_release
from kafkaviz.analysis.restart.next_start import (
    RestartLog,
    all_logs,
    cluster_steps,
    config_lookup,
    is_sole_voter,
    metadata_directory,
    misnamed_directories,
    missing_controller_steps,
    own_file_steps,
)
from kafkaviz.analysis.retention import RetentionLimits
from kafkaviz.analysis.transactions import coordinator
from kafkaviz.analysis.transactions.coordinator import CoordinatorState
from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import CLEANER_CHECKPOINT, METADATA_TOPIC
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, Broker, own_files
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, SettingValue, open_settings
from kafkaviz.messages import message
from kafkaviz.simulate.segment_check import find_unflushed
from kafkaviz.simulate.startup.restart import Restart, is_metadata, join_steps
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.versions import Release

SAME_AS_LOG = -2
COMPACTED_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


@dataclass(frozen=True, kw_only=True)
class CheckPlan:
    """The release, time, settings and partitions that a check uses."""

    broker: Broker
    partitions: Sequence[Partition]
    is_whole: bool  # whether the broker directory itself is checked too, not only partitions
    # whether there is a broker directory. False: only a partition directory was opened, and the
    # directory above it is not a broker directory.
    has_broker: bool
    assumed_release: AssumedRelease
    now_ms: int
    settings: Settings
    oldest_writer: Release  # the oldest release that may have written the files; (): any release
    # topic and partition number of each log in cleaner-offset-checkpoint
    compacted_logs: frozenset[tuple[str, int]]
    # paths of directories whose names make every broker start-up fail
    strange_names: tuple[str, ...]
    level: CheckLevel = CheckLevel.RECORDS

    @property
    def is_clean(self) -> bool:
        """Whether all log directories show a clean shutdown. True without a broker directory."""
        return self.broker.is_clean or not self.has_broker

    def is_partition_clean(self, partition: Partition) -> bool:
        return self.broker.directory_of(partition).is_clean or not self.has_broker

    @cached_property
    def may_be_running(self) -> bool:
        return self.broker.may_be_running()

    @cached_property
    def coordinator_states(self) -> Mapping[int, CoordinatorState] | None:
        return coordinator.read_states(self.broker)

    @property
    def transactional_ids(self) -> Mapping[int, str]:
        return coordinator.transactional_ids(self.coordinator_states)

    def facts(self, partition: Partition) -> PartitionFacts:
        policy = self._policy(partition)
        was_compacted = self._was_compacted(partition)
        metadata_log = partition.topic == METADATA_TOPIC
        retention_ms = self.settings.find(partition.topic, "retention.ms").value
        return PartitionFacts(
            partition=partition.directory,
            clean=self.is_partition_clean(partition) if self.has_broker else None,
            may_be_running=self.may_be_running,
            release=self.assumed_release.release,
            oldest_writer=self.oldest_writer,
            now_ms=self.now_ms,
            compacted=was_compacted or "compact" in policy,
            metadata_log=metadata_log,
            first_recovered=self._first_recovered(partition),
            expires="delete" in policy
            and retention_ms is not None
            and not metadata_log
            and not (was_compacted and policy == ["delete"]),
            retention_ms=-1 if retention_ms is None else int(retention_ms),
            producer_expiration_ms=self.producer_expiration_ms,
            level=self.level,
            log_directory=self.log_directory(partition),
        )

    def _first_recovered(self, partition: Partition) -> int | None:
        if not self.has_broker:
            return None
        bases = [segment.base_offset for segment in partition.live]
        recovery_point = partition.recovery_point or 0
        if partition.topic == METADATA_TOPIC:
            recovery_point = 0
        return next(iter(find_unflushed(bases, recovery_point)), None)

    @cached_property
    def producer_expiration_ms(self) -> int:
        release = self.assumed_release.release
        name = "producer.id.expiration.ms"
        if not config_def.BROKER_SETTINGS[name].is_known_to(release):
            name = "transactional.id.expiration.ms"
        value = self.settings.find("", name).value
        return int(config_def.BROKER_SETTINGS[name].default(release) if value is None else value)

    def log_directory(self, partition: Partition) -> str | None:
        return self.broker.directory_of(partition).text if self.has_broker else None

    def limits(self, partition: Partition) -> RetentionLimits:
        """Returns the retention limits of a partition.

        If cleanup.policy is "delete" although the log was compacted, the policy is probably wrong.
        Then the result says that Kafka deletes no segment.
        """
        find = partial(self.settings.find, partition.topic)
        release = self.assumed_release.release
        policy = find("cleanup.policy")
        if self._was_compacted(partition) and self._policy(partition) == ["delete"]:
            source = message("setting_source.compacted_once")
            return RetentionLimits(deletes=False, policy_source=source)
        is_tiered = (
            versions.TIERED_STORAGE.applies_to(release)
            and find("remote.storage.enable").value is True
            and not (
                versions.TIERED_COPY_STOPPED.applies_to(release)
                and find("remote.log.copy.disable").value is True
            )
        )
        ms = self._limit(find, "retention.ms", is_tiered=is_tiered)
        size = self._limit(find, "retention.bytes", is_tiered=is_tiered)
        return RetentionLimits(
            deletes="delete" in self._policy(partition) if policy.is_known else None,
            policy_source=policy.source,
            retention_ms=int(ms.value) if ms.is_known else None,
            ms_source=ms.source,
            retention_bytes=int(size.value) if size.is_known else None,
            bytes_source=size.source,
            is_tiered=is_tiered,
        )

    @staticmethod
    def _limit(find: Callable[[str], SettingValue], name: str, *, is_tiered: bool) -> SettingValue:
        """Returns the setting `name`, "retention.ms" or "retention.bytes", for local segments.

        For a tiered topic, returns local.retention.ms or local.retention.bytes instead, unless its
        value is -2 (UnifiedLog.localRetentionMs and localRetentionSize, 4.3.1).
        """
        local = find(f"local.{name}") if is_tiered else None
        return find(name) if local is None or local.value == SAME_AS_LOG else local

    def _policy(self, partition: Partition) -> list[str]:
        setting = self.settings.find(partition.topic, "cleanup.policy")
        return str(setting.value).split(",") if setting.is_known else []

    def _was_compacted(self, partition: Partition) -> bool:
        return (
            partition.topic in COMPACTED_TOPICS
            or (partition.topic, partition.partition) in self.compacted_logs
        )

    def logs(self, partitions: Iterable[Partition] | None = None) -> Iterator[RestartLog]:
        """Yields the logs that the broker loads at start-up, by default those of the plan.

        If `strange_names` make start-up fail, yields only the metadata log.
        """
        if partitions is None and not self.is_whole:
            partitions = self.partitions
        find_config = config_lookup(self.settings)
        release = self.assumed_release.release
        logs = all_logs(self.broker, find_config, release, self.settings.image, partitions)
        return (
            self._without_metadata(log)
            for log in logs
            if not self.strange_names or is_metadata(log.partition.directory)
        )

    def _without_metadata(self, log: RestartLog) -> RestartLog:
        """Returns the log, marked as stray if the only controller's metadata log is missing."""
        is_sole = is_sole_voter(self.broker, self.settings.image)
        is_renamed = versions.STRAYS_RENAMED.applies_to(self.assumed_release.release)
        is_in_use = log.partition.state in ("current", "future") and bool(log.partition.topic_id)
        if self.settings.misses_metadata_log and is_sole and is_renamed and is_in_use:
            return replace(log, stray=message("stray.metadata_log_missing"))
        return log

    def restart(self, log_steps: Iterable[tuple[str, Sequence[StartupStep]]]) -> Restart | None:
        """Returns the predicted start-up. None: kafkaviz cannot read a file that start-up needs.

        `log_steps` has a pair per log: its `RestartLog.path`, and the result of `restart_steps`.
        """
        if any(
            problem.is_unread and problem.path.name != CLEAN_SHUTDOWN
            for problem in self.broker.problems
        ):
            return None
        if not self.is_whole:
            return join_steps(log_steps, clean=self.is_clean, strange_names=self.strange_names)
        try:
            own_steps = self.own_steps()
        except KafkavizError:
            return None
        release = self.assumed_release.release
        return join_steps(
            chain(log_steps, cluster_steps(self.broker, self.settings.image, release)),
            clean=self.is_clean,
            strange_names=self.strange_names,
            own_steps=own_steps,
            log_directories=[directory.text for directory in self.broker.log_directories],
            metadata_directory=metadata_directory(self.broker, self.settings.properties),
        )

    def own_steps(self) -> tuple[StartupStep, ...]:
        """Returns the start-up steps for files directly in the log directories.

        Raises:
            CannotOpen: a necessary file cannot be read.
        """
        release = self.assumed_release.release
        steps = own_file_steps(self.broker, release, self.settings.properties)
        return (*steps, *missing_controller_steps(self.settings))


def plan_check(
    broker: Broker,
    version: str | None = None,
    now_ms: int | None = None,
    partition: str | None = None,
    settings: Settings | None = None,
    *,
    level: CheckLevel = CheckLevel.RECORDS,
) -> CheckPlan:
    """Returns the plan of a check. `broker_health.check` explains the arguments."""
    assumed_release = assume_release(broker, version)
    is_whole = partition is None and not is_lone(broker) and not broker.is_copy
    return CheckPlan(
        broker=broker,
        partitions=broker.partitions if partition is None else (broker.partition(partition),),
        is_whole=is_whole,
        has_broker=broker.shutdown_state != "unknown",
        assumed_release=assumed_release,
        now_ms=newest_ms(broker) if now_ms is None else now_ms,
        settings=settings or open_settings(broker, assumed_release.release),
        oldest_writer=formatting_release(broker) or (),
        compacted_logs=frozenset(cleaner_offsets(broker)),
        strange_names=tuple(misnamed_directories(broker)) if is_whole else (),
        level=level,
    )


def newest_ms(broker: Broker) -> int:
    """Returns the time at which the broker last wrote a log or a checkpoint."""
    logs = (segment.log.mtime_ns for partition in broker.partitions for segment in partition.live)
    checkpoints = (
        own_file.mtime_ns
        for directory in broker.log_directories
        for own_file in own_files(directory.path)
        # an empty checkpoint was only created, never written
        if own_file.name in CHECKPOINTS.values() and own_file.size_bytes
    )
    return max(chain(logs, checkpoints), default=0) // 1_000_000


def cleaner_offsets(broker: Broker) -> dict[tuple[str, int], int]:
    """Returns the offset below which each log was compacted, by topic and partition number."""
    offsets: dict[tuple[str, int], int] = {}
    for directory in broker.log_directories:
        path = directory.path / CLEANER_CHECKPOINT
        with suppress(KafkavizError):
            if file.is_there(path):
                data = file.read(path, limit_bytes=file.TEXT_BYTES)
                offsets |= checkpoint.parse_offsets(data)
    return offsets


def is_lone(broker: Broker) -> bool:
    """Returns whether a single partition directory was opened, not a broker directory."""
    return broker.is_lone and bool(broker.partitions)
