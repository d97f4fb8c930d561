"""The health of a topic-partition and of a broker directory.

All findings, the worst first, and what the next start will do.

    health = check("/var/lib/kafka")
    health.counts          {"error": 0, "warning": 2, "info": 5}
    health.findings[0]     Finding(code="unclean-shutdown", ...)
    health.restart.starts  True
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafkaviz import versions
from kafkaviz.analysis.checks import log_gaps, segment, settings, state, time
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.other_files import broker_files, unreadable_files
from kafkaviz.analysis.checks.other_files import partition as beside
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.findings.finding import (
    CODES,
    FAMILIES,
    SEVERITIES,
    Code,
    Evidence,
    Finding,
    Version,
    as_info,
    counts,
    sort_findings,
)
from kafkaviz.analysis.inference.version import AssumedRelease, assumed_version, formatting_release
from kafkaviz.analysis.lookup import paths
from kafkaviz.analysis.restart import restart_forecast
from kafkaviz.analysis.restart.next_start import (
    Restart,
    RestartLog,
    StartupStep,
    all_logs,
    config_lookup,
    join_steps,
    misnamed_directories,
    own_file_steps,
    restart_steps,
)
from kafkaviz.analysis.restart.restart_forecast import RestartForecast
from kafkaviz.analysis.retention import policy
from kafkaviz.analysis.retention.policy import LogRetention, RetentionLimits
from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import CLEANER_CHECKPOINT, METADATA_TOPIC
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, Broker, own_files
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, SettingValue, open_settings
from kafkaviz.messages import message
from kafkaviz.simulate.startup.restart import is_metadata

__all__ = [
    "CODES",
    "FAMILIES",
    "SEVERITIES",
    "AssumedRelease",
    "CheckPlan",
    "Code",
    "Evidence",
    "Finding",
    "Health",
    "assumed_version",
    "check",
    "check_partition",
    "compose_health",
    "counts",
    "plan",
    "segment_findings",
    "sort_findings",
]

SAME_AS_LOG = -2
COMPACTED_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


@dataclass(frozen=True)
class Health:
    """All findings about a broker directory or one partition, and the start that is predicted.

    None where that could not be known.

    Attributes:
        retention: what keeps each segment, of each current topic-partition that has some; the
            metadata log has other rules.
    """

    broker: Broker
    version: AssumedRelease
    findings: tuple[Finding, ...]
    restart: Restart | None
    retention: tuple[LogRetention, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity."""
        return counts(self.findings)

    @property
    def forecast(self) -> RestartForecast | None:
        """The start in numbers."""
        if self.restart is None:
            return None
        return restart_forecast.forecast(self.restart, len(self.broker.partitions))


@dataclass(frozen=True)
class CheckPlan:
    """What a check goes by, known before any segment is read.

    Its steps can be done wherever that suits.

    Attributes:
        partitions: those that are checked.
        is_whole: so is the broker directory around them.
        has_broker: there is one, be its meta.properties missing; only around a partition that was
            opened by itself there may be none.
        compacted_logs: topic-partitions that were compacted once.
        strange_names: directories that no start accepts.
    """

    broker: Broker
    partitions: tuple[Partition, ...]
    is_whole: bool
    has_broker: bool
    version: AssumedRelease
    now_ms: int
    settings: Settings
    oldest_writer: Version
    compacted_logs: frozenset[tuple[str, int]]
    strange_names: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether a start finds all flushed.

        Without its broker directory a partition counts as stopped cleanly.
        """
        return self.broker.is_clean or not self.has_broker

    def facts(self, partition: Partition) -> PartitionFacts:
        """What the checks of a partition and its segments need to know."""
        policy, was_compacted = self._policy(partition), self._was_compacted(partition)
        metadata_log = partition.topic == METADATA_TOPIC
        return PartitionFacts(
            partition=partition.directory,
            clean=self.broker.is_clean if self.has_broker else None,
            version=self.version.version,
            oldest_writer=self.oldest_writer,
            now_ms=self.now_ms,
            compacted=was_compacted or "compact" in policy,
            metadata_log=metadata_log,
            expires="delete" in policy
            and not metadata_log
            and not (was_compacted and policy == ["delete"]),
            retention_ms=int(self.settings.find(partition.topic, "retention.ms").value),
        )

    def limits(self, partition: Partition) -> RetentionLimits:
        """What its segments are kept by.

        Of a log that was compacted once the default policy is not believed.
        """
        find = lambda name: self.settings.find(partition.topic, name)  # noqa: E731 - a name for a long call
        policy = find("cleanup.policy")
        if self._was_compacted(partition) and self._policy(partition) == ["delete"]:
            return RetentionLimits(
                deletes=False, policy_source=message("setting_source.compacted_once")
            )
        is_tiered = (
            versions.TIERED_STORAGE.applies_to(self.version.version)
            and find("remote.storage.enable").value is True
        )
        is_stopped = (
            versions.TIERED_COPY_STOPPED.applies_to(self.version.version)
            and find("remote.log.copy.disable").value is True
        )
        is_tiered = is_tiered and not is_stopped
        ms, size = (
            self._limit(find, name, is_tiered=is_tiered)
            for name in ("retention.ms", "retention.bytes")
        )
        return RetentionLimits(
            "delete" in self._policy(partition),
            policy.source,
            int(ms.value),
            ms.source,
            int(size.value),
            size.source,
            is_tiered,
        )

    @staticmethod
    def _limit(find: Callable[[str], SettingValue], name: str, *, is_tiered: bool) -> SettingValue:
        """A limit of the local log; -2 stands for the limit of the complete log.

        As UnifiedLog.localRetentionMs and localRetentionSize, 4.3.1.
        """
        local = find(f"local.{name}") if is_tiered else None
        return find(name) if local is None or local.value == SAME_AS_LOG else local

    def _policy(self, partition: Partition) -> list[str]:
        return str(self.settings.find(partition.topic, "cleanup.policy").value).split(",")

    def _was_compacted(self, partition: Partition) -> bool:
        return (
            partition.topic in COMPACTED_TOPICS
            or (partition.topic, partition.partition) in self.compacted_logs
        )

    def logs(self) -> list[RestartLog]:
        """The logs that a start loads: where a name is strange the metadata log alone."""
        config_of, release, metadata_image = (
            config_lookup(self.settings),
            self.version.version,
            self.settings.image,
        )
        partition_logs = all_logs(
            self.broker,
            config_of,
            release,
            metadata_image,
            None if self.is_whole else self.partitions,
        )
        return [
            log
            for log in partition_logs
            if not self.strange_names or is_metadata(log.partition.directory)
        ]

    def restart(self, log_steps: Iterable[tuple[str, Sequence[StartupStep]]]) -> Restart | None:
        """The start, from the steps of each of these logs: (directory, analysis.restart.steps).

        A file that may not be read here may be readable to the broker.

        Returns:
            None where it cannot be known.
        """
        if any(
            problem.is_unread and problem.path.name != CLEAN_SHUTDOWN
            for problem in self.broker.problems
        ):
            return None
        try:
            directory_steps = (
                own_file_steps(self.broker, self.version.version) if self.is_whole else ()
            )
        except KafkavizError:
            return None
        return join_steps(
            log_steps,
            clean=self.is_clean,
            strange_names=self.strange_names,
            own_steps=directory_steps,
        )


def check(
    broker: Broker | Path | str,
    version: str | None = None,
    now_ms: int | None = None,
    *,
    partition: str | None = None,
    settings: Settings | None = None,
    watch: Callable[[Partition], None] | None = None,
) -> Health:
    """The health of a broker directory, or of one partition directory in it.

    Of what was opened as one partition, it is that of this partition alone.

    Args:
        broker: as it was opened, or its path, as for lookup.paths.open_directory.
        version: as for assumed_version.
        now_ms: the time that counts as now, by default that of the newest .log or checkpoint.
        settings: what each partition's log is run with, by default as the metadata log and a
            server.properties beside it say.
        watch: called with each partition before it is read.
    """
    check_plan = plan(
        broker if isinstance(broker, Broker) else paths.open_directory(broker),
        version,
        now_ms,
        partition,
        settings,
    )
    findings, retentions = [], []
    for partition_log in check_plan.partitions:
        if watch:
            watch(partition_log)
        facts = check_plan.facts(partition_log)
        segment_checks = [
            segment.check(log_segment, facts) for log_segment in partition_log.segments
        ]
        findings += segment_findings(partition_log, facts, segment_checks)
        retentions += partition_retention(check_plan, partition_log, segment_checks)
    return compose_health(check_plan, findings, _forecast_restart(check_plan), retentions)


def plan(
    broker: Broker,
    version: str | None = None,
    now_ms: int | None = None,
    partition: str | None = None,
    settings: Settings | None = None,
) -> CheckPlan:
    """What check, with the same arguments, goes by."""
    assumed_release = assumed_version(broker, version)
    is_whole = partition is None and not is_lone(broker)
    return CheckPlan(
        broker,
        broker.partitions if partition is None else (broker.partition(partition),),
        is_whole,
        broker.shutdown_state != "unknown",
        assumed_release,
        newest_ms(broker) if now_ms is None else now_ms,
        settings or open_settings(broker, assumed_release.version),
        formatting_release(broker) or (),
        compacted_partitions(broker),
        tuple(misnamed_directories(broker.path)) if is_whole else (),
    )


def compose_health(
    check_plan: CheckPlan,
    findings: Iterable[Finding],
    forecast: Restart | None,
    retentions: Iterable[LogRetention] = (),
) -> Health:
    """The health, from the findings about each partition, and the start.

    Args:
        findings: of each partition, as from `segment_findings`.
        forecast: the start; None where it cannot be predicted.
        retentions: of each partition, as from `partition_retention`.
    """
    findings = [*findings, *_broker_findings(check_plan)]
    forecast = None if any(map(unreadable_files.hides_start, findings)) else forecast
    if forecast is not None:
        findings += state.check_restart(forecast, check_plan.version.version)
    return Health(
        check_plan.broker, check_plan.version, sort_findings(findings), forecast, tuple(retentions)
    )


def check_partition(partition: Partition, facts: PartitionFacts) -> list[Finding]:
    """The findings about one partition, read here and now."""
    return segment_findings(
        partition, facts, [segment.check(log_segment, facts) for log_segment in partition.segments]
    )


def segment_findings(
    partition: Partition, facts: PartitionFacts, segment_checks: Sequence[SegmentFindings]
) -> list[Finding]:
    """The findings about one partition from those of its segments, in its order.

    The segments may have been read anywhere.
    """
    findings = [
        segment_finding
        for segment_check in segment_checks
        for segment_finding in segment_check.findings
    ]
    summaries = [
        segment_check.summary
        for segment_check in segment_checks
        if segment_check.summary is not None
    ]
    findings += log_gaps.check_partition(partition, summaries, facts)
    findings += beside.check_partition(partition, summaries, facts)
    findings += state.check_partition(partition, summaries, facts)
    findings += time.check_partition(summaries, facts, partition.recovery_point)
    findings += settings.check_partition(summaries, facts)
    return as_info(findings) if partition.state == "delete" else findings


def partition_retention(
    check_plan: CheckPlan, partition: Partition, segment_checks: Sequence[SegmentFindings]
) -> list[LogRetention]:
    """What keeps the segments of a partition at the newest time of a file here.

    Nothing of one whose segments no limit concerns.
    """
    summaries = [
        segment_check.summary
        for segment_check in segment_checks
        if segment_check.summary is not None
    ]
    if not summaries or partition.state != "current" or partition.topic == METADATA_TOPIC:
        return []
    ages = policy.segment_ages(
        summaries,
        clean=check_plan.is_clean,
        recovery_point=partition.recovery_point,
        release=check_plan.version.version,
    )
    return [
        policy.log_retention(
            partition.directory,
            ages,
            check_plan.limits(partition),
            now_ms=check_plan.now_ms,
            log_start_offset=partition.log_start_offset,
            high_watermark=partition.high_watermark,
            log_end_offset=state.log_end(summaries),
        )
    ]


def newest_ms(broker: Broker) -> int:
    """The newest time of its logs and checkpoints.

    When the broker last wrote, or when they were copied without their times.
    """
    logs = [
        log_segment.log.mtime_ns
        for partition in broker.partitions
        for log_segment in partition.live
    ]
    checkpoints = [
        own_file.mtime_ns
        for own_file in own_files(broker.path)
        if own_file.name in CHECKPOINTS.values()
    ]
    return max([*logs, *checkpoints], default=0) // 1_000_000


def compacted_partitions(broker: Broker) -> frozenset[tuple[str, int]]:
    """The topic-partitions that were compacted once, as cleaner-offset-checkpoint has them."""
    path = broker.path / CLEANER_CHECKPOINT
    try:
        return (
            frozenset(checkpoint.parse_offsets(file.read_text(path)))
            if file.is_there(path)
            else frozenset()
        )
    except KafkavizError:
        return frozenset()


def is_lone(broker: Broker) -> bool:
    """Whether one partition directory was opened, not the broker directory around it."""
    return broker.is_lone and bool(broker.partitions)


def _broker_findings(check_plan: CheckPlan) -> Iterator[Finding]:
    """The findings about the broker directory itself, if that is checked."""
    if check_plan.is_whole and check_plan.has_broker:
        version = check_plan.version.version
        yield from broker_files.check_broker(check_plan.broker, version, check_plan.strange_names)
        yield from state.check_broker(check_plan.broker, version)
        yield from settings.check_broker(check_plan.broker, version)


def _forecast_restart(check_plan: CheckPlan) -> Restart | None:
    """The start, as of now.

    Returns:
        None where a file that it reads may not be read.
    """
    try:
        return check_plan.restart(
            [
                (
                    log.partition.directory,
                    restart_steps(
                        log, clean=check_plan.is_clean, release=check_plan.version.version
                    ),
                )
                for log in check_plan.logs()
            ]
        )
    except KafkavizError:
        return None
