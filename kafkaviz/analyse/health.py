"""The health of a topic-partition and of a broker directory: all findings, the worst first, and
what the next start will do.

    health = check("/var/lib/kafka")
    health.counts          {"error": 0, "warning": 2, "info": 5}
    health.findings[0]     Finding(code="unclean-shutdown", ...)
    health.restart.starts  True
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafkaviz import versions
from kafkaviz.analyse import outlook, paths, retention
from kafkaviz.analyse.checks import log_gaps, segment, settings, state, time
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import own, unreadable
from kafkaviz.analyse.checks.other_files import partition as beside
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import (
    CODES,
    FAMILIES,
    SEVERITIES,
    Code,
    Evidence,
    Finding,
    Version,
    as_info,
    counts,
    in_order,
)
from kafkaviz.analyse.infer.version import Assumed, assumed_version, formatted_by
from kafkaviz.analyse.outlook import Outlook
from kafkaviz.analyse.restart import (
    Log,
    Restart,
    Step,
    all_logs,
    before,
    configs,
    joined,
    steps,
    strange_directories,
)
from kafkaviz.analyse.retention import Limits, LogRetention
from kafkaviz.errors import KafkavizError
from kafkaviz.format import checkpoint
from kafkaviz.format.names import CLEANER_CHECKPOINT, METADATA_TOPIC
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, Broker, own_files
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, Sourced, open_settings
from kafkaviz.simulate.starting.restart import is_metadata

__all__ = [
    "CODES",
    "FAMILIES",
    "SEVERITIES",
    "Assumed",
    "Code",
    "Evidence",
    "Finding",
    "Health",
    "Plan",
    "assumed_version",
    "check",
    "check_partition",
    "composed",
    "counts",
    "in_order",
    "of_segments",
    "plan",
]

AS_WHOLE = -2
COMPACTED_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


@dataclass(frozen=True)
class Health:
    """All findings about a broker directory or one partition, and the start that is foretold; None
    where that could not be told.

    retention: what keeps each segment, of each current topic-partition that has some; the metadata
    log has other rules.
    """

    broker: Broker
    version: Assumed
    findings: tuple[Finding, ...]
    restart: Restart | None
    retention: tuple[LogRetention, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity."""
        return counts(self.findings)

    @property
    def outlook(self) -> Outlook | None:
        """The start in numbers."""
        if self.restart is None:
            return None
        return outlook.of(self.restart, len(self.broker.partitions))

    def of(self, partition: str | None) -> tuple[Finding, ...]:
        """The findings about one partition directory, or None: about the broker directory
        itself.
        """
        return tuple(one for one in self.findings if one.partition == partition)


@dataclass(frozen=True)
class Plan:
    """What a check goes by, known before any segment is read: its steps can be done wherever that
    suits.

    partitions: those that are checked; is_whole: so is the broker directory around them.
    has_broker: there is one, be its meta.properties missing; only around a partition that was
    opened by itself there may be none. compacted: topic-partitions that were compacted once.
    strange_names: directories that no start accepts.
    """

    broker: Broker
    partitions: tuple[Partition, ...]
    is_whole: bool
    has_broker: bool
    version: Assumed
    now_ms: int
    settings: Settings
    oldest_writer: Version
    compacted: frozenset[tuple[str, int]]
    strange_names: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether a start finds all flushed; without its broker directory a partition counts as
        stopped cleanly.
        """
        return self.broker.clean or not self.has_broker

    def facts(self, partition: Partition) -> Facts:
        """What the checks of a partition and its segments need to know."""
        policy, was_compacted = self._policy(partition), self._was_compacted(partition)
        metadata_log = partition.topic == METADATA_TOPIC
        return Facts(
            partition=partition.directory,
            clean=self.broker.clean if self.has_broker else None,
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

    def limits(self, partition: Partition) -> Limits:
        """What its segments are kept by.

        Of a log that was compacted once the default policy is not believed.
        """
        find = lambda name: self.settings.find(partition.topic, name)  # noqa: E731 - a name for a long call
        policy = find("cleanup.policy")
        if self._was_compacted(partition) and self._policy(partition) == ["delete"]:
            return Limits(False, "it was compacted once, and nothing tells its policy")
        tiered = (
            versions.TIERED_STORAGE.of(self.version.version)
            and find("remote.storage.enable").value is True
        )
        is_stopped = (
            versions.TIERED_COPY_STOPPED.of(self.version.version)
            and find("remote.log.copy.disable").value is True
        )
        tiered = tiered and not is_stopped
        ms, size = (self._limit(find, name, tiered) for name in ("retention.ms", "retention.bytes"))
        return Limits(
            "delete" in self._policy(partition),
            policy.source,
            int(ms.value),
            ms.source,
            int(size.value),
            size.source,
            tiered,
        )

    @staticmethod
    def _limit(find: Callable[[str], Sourced], name: str, is_tiered: bool) -> Sourced:
        """UnifiedLog.localRetentionMs and localRetentionSize, 4.3.1: -2 stands for the limit of the
        whole log.
        """
        local = find(f"local.{name}") if is_tiered else None
        return find(name) if local is None or local.value == AS_WHOLE else local

    def _policy(self, partition: Partition) -> list[str]:
        return str(self.settings.find(partition.topic, "cleanup.policy").value).split(",")

    def _was_compacted(self, partition: Partition) -> bool:
        return (
            partition.topic in COMPACTED_TOPICS
            or (partition.topic, partition.partition) in self.compacted
        )

    def logs(self) -> list[Log]:
        """The logs that a start loads: where a name is strange the metadata log alone."""
        config_of, release, image = (
            configs(self.settings),
            self.version.version,
            self.settings.image,
        )
        every = all_logs(
            self.broker, config_of, release, image, None if self.is_whole else self.partitions
        )
        return [
            log for log in every if not self.strange_names or is_metadata(log.partition.directory)
        ]

    def restart(self, told: Iterable[tuple[str, Sequence[Step]]]) -> Restart | None:
        """The start, from the steps of each of these logs: (directory, analyse.restart.steps); None
        where it cannot be told.

        A file that may not be read here may be readable to the broker.
        """
        if any(one.is_unread and one.path.name != CLEAN_SHUTDOWN for one in self.broker.problems):
            return None
        try:
            first = before(self.broker, self.version.version) if self.is_whole else ()
        except KafkavizError:
            return None
        return joined(told, self.clean, self.strange_names, first)


def check(
    broker: Broker | Path | str,
    version: str | None = None,
    now_ms: int | None = None,
    partition: str | None = None,
    settings: Settings | None = None,
    watch: Callable[[Partition], None] | None = None,
) -> Health:
    """The health of a broker directory, or of one partition directory in it; of what was opened as
    one partition, of that alone.

    broker: as it was opened, or its path, as for paths.open_directory. version: as for
    assumed_version. now_ms: the time that counts as now, by default that of the newest .log or
    checkpoint. settings: what each partition's log is run with, by default as the metadata log and
    a server.properties beside it tell. watch(partition) is told of each partition before it is
    read.
    """
    planned = plan(
        broker if isinstance(broker, Broker) else paths.open_directory(broker),
        version,
        now_ms,
        partition,
        settings,
    )
    findings, kept = [], []
    for one in planned.partitions:
        if watch:
            watch(one)
        facts = planned.facts(one)
        checked = [segment.check(found, facts) for found in one.segments]
        findings += of_segments(one, facts, checked)
        kept += retention_of(planned, one, checked)
    return composed(planned, findings, _foretold(planned), kept)


def plan(
    broker: Broker,
    version: str | None = None,
    now_ms: int | None = None,
    partition: str | None = None,
    settings: Settings | None = None,
) -> Plan:
    """What check, with the same arguments, goes by."""
    assumed = assumed_version(broker, version)
    is_whole = partition is None and not is_lone(broker)
    return Plan(
        broker,
        broker.partitions if partition is None else (broker.partition(partition),),
        is_whole,
        broker.left != "unknown",
        assumed,
        newest_ms(broker) if now_ms is None else now_ms,
        settings or open_settings(broker, assumed.version),
        formatted_by(broker) or (),
        compacted_partitions(broker),
        tuple(strange_directories(broker.path)) if is_whole else (),
    )


def composed(
    planned: Plan,
    findings: Iterable[Finding],
    told: Restart | None,
    kept: Iterable[LogRetention] = (),
) -> Health:
    """The health, from what was found about each partition (`of_segments`, `retention_of`) and the
    start; None where that is not told.
    """
    findings = [*findings, *_of_broker(planned)]
    told = None if any(map(unreadable.hides_start, findings)) else told
    if told is not None:
        findings += state.of_restart(told, planned.version.version)
    return Health(planned.broker, planned.version, in_order(findings), told, tuple(kept))


def check_partition(partition: Partition, facts: Facts) -> list[Finding]:
    """The findings about one partition, read here and now."""
    return of_segments(partition, facts, [segment.check(one, facts) for one in partition.segments])


def of_segments(partition: Partition, facts: Facts, checked: Sequence[Checked]) -> list[Finding]:
    """The findings about one partition from those of its segments, in its order, wherever they were
    read.
    """
    findings = [found for one in checked for found in one.findings]
    summaries = [one.summary for one in checked if one.summary is not None]
    findings += log_gaps.of_partition(partition, summaries, facts)
    findings += beside.of_partition(partition, summaries, facts)
    findings += state.of_partition(partition, summaries, facts)
    findings += time.of_partition(summaries, facts, partition.recovery_point)
    findings += settings.of_partition(summaries, facts)
    return as_info(findings) if partition.state == "delete" else findings


def retention_of(
    planned: Plan, partition: Partition, checked: Sequence[Checked]
) -> list[LogRetention]:
    """What keeps the segments of a partition at the newest time of a file here; nothing of one
    whose segments no limit concerns.
    """
    summaries = [one.summary for one in checked if one.summary is not None]
    if not summaries or partition.state != "current" or partition.topic == METADATA_TOPIC:
        return []
    aged = retention.aged_segments(
        summaries, planned.clean, partition.recovery_point, planned.version.version
    )
    places = partition.log_start_offset, partition.high_watermark, state.log_end(summaries)
    return [
        retention.of_log(
            partition.directory, aged, planned.limits(partition), planned.now_ms, *places
        )
    ]


def newest_ms(broker: Broker) -> int:
    """The newest time of its logs and checkpoints: when the broker last wrote, or when they were
    copied without their times.
    """
    logs = [existing(one.log).mtime_ns for partition in broker.partitions for one in partition.live]
    checkpoints = [
        one.mtime_ns for one in own_files(broker.path) if one.name in CHECKPOINTS.values()
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


def _of_broker(planned: Plan) -> Iterator[Finding]:
    """The findings about the broker directory itself, if that is checked."""
    if planned.is_whole and planned.has_broker:
        version = planned.version.version
        yield from own.of_broker(planned.broker, version, planned.strange_names)
        yield from state.of_broker(planned.broker, version)
        yield from settings.of_broker(planned.broker, version)


def _foretold(planned: Plan) -> Restart | None:
    """The start, told here and now; None where a file that it reads may not be read."""
    try:
        return planned.restart(
            [
                (log.partition.directory, steps(log, planned.clean, planned.version.version))
                for log in planned.logs()
            ]
        )
    except KafkavizError:
        return None
