"""Checks a broker directory or topic-partition, and predicts the next broker start-up.

For example:

    health = check("/var/lib/kafka")
    health.counts            # {"error": 0, "warning": 2, "info": 5}
    health.findings[0]       # Finding(code="unclean-shutdown", ...)
    health.restart.starts    # True
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePath

from kafkaviz.analysis import disk, freeing
from kafkaviz.analysis.checks import (
    broker_files,
    log_directories,
    log_gaps,
    other_files,
    segment,
    settings,
    state,
    tiered_storage,
    time,
    unreadable_files,
)
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.plan import CheckPlan, newest_ms, plan_check
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.checks.state import RESTART_CODES
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.disk import DiskShare
from kafkaviz.analysis.findings import INFO, Finding, as_info, counts, sort_findings
from kafkaviz.analysis.freeing import FreeingStep, IndexPrice
from kafkaviz.analysis.inferred_release import AssumedRelease
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.metadata_retention import MetadataRetention, broker_metadata_retention
from kafkaviz.analysis.overview import topic_sizes
from kafkaviz.analysis.restart import restart_forecast
from kafkaviz.analysis.restart.next_start import restart_steps
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads, RestartForecast
from kafkaviz.analysis.retention import LogRetention, log_retention, segment_ages
from kafkaviz.analysis.tiering.upload import with_reasons
from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import METADATA_TOPIC
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.log.tiered.tiered_view import highest_remote_offset
from kafkaviz.messages import message
from kafkaviz.simulate.startup.restart import Restart, log_directory_of
from kafkaviz.simulate.steps import RECOVERY_CAUSES, StartupStep

REWRITTEN = message("consequence.start_rewrites")
LET_START_REBUILD = message("next_step.let_start_rebuild")
DELETED = message("consequence.deleted_at_start")
RESTORE_BEFORE_CUT = message("next_step.restore_before_cut")
OFFLINE = message("consequence.directory_offline")
ENDS_START = message("consequence.ends_start")
# consequences that already say that start-up deletes the file, or cuts the .log there
DELETED_KEYS = ("consequence.deleted_at_start", "consequence.leftover_cleaned")
CUT_KEYS = ("consequence.recovery_cuts_tail", "consequence.damage_cut")
INDEX_FAMILIES = ("offset-index", "time-index")
INDEX_CODES = ("txnindex-mismatch", "txnindex-torn")


@dataclass(frozen=True, kw_only=True)
class Health:
    """The findings about a broker directory or one partition, and the predicted broker start-up."""

    broker: Broker
    assumed_release: AssumedRelease  # the Kafka release that the prediction assumes, with a reason
    findings: tuple[Finding, ...]
    # the predicted start-up; None: it cannot be predicted, for example if a file cannot be read
    restart: Restart | None
    # why each segment is kept or deleted, per topic-partition in state "current", without the
    # metadata log
    retention: tuple[LogRetention, ...] = ()
    disk: tuple[DiskShare, ...] = ()  # how each partition uses its bytes. Empty: unknown.
    # the time at which retention is computed; None: unknown
    now_ms: int | None = field(default=None, compare=False)
    # the settings that the check used; None: those in the broker's files
    settings: Settings | None = field(default=None, compare=False)

    @property
    def is_partial(self) -> bool:
        """Whether the broker has a log directory that was not opened."""
        is_elsewhere = self.broker.lacks_metadata_log and not self.misses_metadata_log
        return is_elsewhere or any(
            finding.code == "log-directory-missing" for finding in self.findings
        )

    @property
    def misses_metadata_log(self) -> bool:
        """Whether no log directory of the broker has the metadata log."""
        return any(finding.code == "metadata-log-missing" for finding in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        return counts(self.findings)

    def all_shares(self) -> tuple[DiskShare, ...]:
        """Returns `disk`, plus a DiskShare per log directory for the files outside partitions."""
        return (*self.disk, *disk.directory_shares(self.broker))

    @cached_property
    def effective_settings(self) -> Settings:
        """The attribute `settings`, or the settings in the broker's files if it is None."""
        return self.settings or open_settings(self.broker, self.assumed_release.release)

    def metadata_retention(self) -> MetadataRetention | None:
        """Returns what the next retention check deletes from the metadata log; None if unknown."""
        if self.now_ms is None:
            return None
        return broker_metadata_retention(self.broker, self.effective_settings, self.now_ms)

    def freeing_steps(self) -> tuple[FreeingStep, ...]:
        """Returns the files that may be deleted by hand while the broker is stopped.

        Segments that retention would delete are listed only if all settings come from files, and
        all of these files can be read.
        """
        used = self.effective_settings
        retention = () if used.overrides or used.problems else self.retention
        return freeing.freeing_steps(self.broker, self.all_shares(), retention, self.restart)

    def index_prices(self) -> tuple[IndexPrice, ...]:
        return freeing.index_prices(self.broker, self._recovery_threads, self.restart)

    def recovery_reads(self) -> tuple[RecoveryReads, ...]:
        """Returns what recovery reads in each log directory; empty if `restart` is None."""
        if self.restart is None:
            return ()
        segments = restart_forecast.recovered_segments(self.restart, self.broker)
        return restart_forecast.reads_of_segments(segments, self.broker, self._recovery_threads)

    @property
    def _recovery_threads(self) -> int | None:
        threads = self.effective_settings.find("", "num.recovery.threads.per.data.dir")
        return int(threads.value) if threads.is_known else None

    @property
    def forecast(self) -> RestartForecast | None:
        if self.restart is None:
            return None
        return restart_forecast.forecast(self.restart, len(self.broker.partitions))


def check(
    broker: Broker | Path | str,
    version: str | None = None,
    now_ms: int | None = None,
    *,
    partition: str | None = None,
    settings: Settings | None = None,
    level: CheckLevel = CheckLevel.RECORDS,
    on_partition: Callable[[Partition], None] | None = None,
    on_segment: Callable[[Partition, Segment], None] | None = None,
) -> Health:
    """Checks a broker directory, or one partition directory in it.

    Reads every batch, record and index entry. Writes nothing.

    Args:
        broker: a Broker, or a path for `log.broker.open_broker`.
        version: the Kafka release to assume, such as "4.3.1". None: inferred from the files.
        now_ms: the current time in ms since 1970. None: the time of the newest .log or checkpoint.
        partition: the partition directory to check, such as "orders-0". None: all.
        settings: the settings of the logs. None: those in the metadata log and server.properties.
        level: how much of each batch is checked. Levels below RECORDS cause a finding.
        on_partition: called with each partition before it is read.
        on_segment: called with each segment before it is read.

    Raises:
        CannotOpen: the path is not a broker or partition directory, or lacks the partition.
        KafkavizError: the version is unknown.
    """
    opened = broker if isinstance(broker, Broker) else open_broker(broker)
    check_plan = plan_check(opened, version, now_ms, partition, settings, level=level)
    findings = []
    retentions = []
    shares = []
    for log in check_plan.partitions:
        if on_partition:
            on_partition(log)
        facts = check_plan.facts(log)
        segment_checks = []
        for log_segment in log.segments:
            if on_segment:
                on_segment(log, log_segment)
            segment_checks.append(segment.check(log_segment, facts))
        findings += partition_findings(
            log, facts, segment_checks, lambda: check_plan.transactional_ids
        )
        retentions += partition_retention(check_plan, log, segment_checks)
        shares.append(partition_share(check_plan, log, segment_checks))
    return compose_health(check_plan, findings, _predict_restart(check_plan), retentions, shares)


def compose_health(
    check_plan: CheckPlan,
    findings: Iterable[Finding],
    restart: Restart | None,
    retentions: Iterable[LogRetention],
    shares: Iterable[DiskShare],
) -> Health:
    """Returns a Health with the results for all partitions and the predicted start-up."""
    findings = [*findings, *plan_findings(check_plan)]
    restart = None if any(map(unreadable_files.prevents_prediction, findings)) else restart
    if restart is not None:
        findings = list(fit_to_start(findings, restart))
        findings += state.check_restart(restart, check_plan.assumed_release.release)
    return Health(
        broker=check_plan.broker,
        assumed_release=check_plan.assumed_release,
        findings=sort_findings(findings),
        restart=restart,
        retention=tuple(retentions),
        disk=tuple(shares),
        now_ms=check_plan.now_ms,
        settings=check_plan.settings,
    )


def plan_findings(check_plan: CheckPlan) -> Iterator[Finding]:
    """Yields the findings that are not about a single partition."""
    yield from _broker_findings(check_plan)
    yield from tiered_storage.check_plan(check_plan)
    yield from state.check_level(check_plan.level, check_plan.assumed_release.release)


def partition_findings(
    partition: Partition,
    facts: PartitionFacts,
    segment_checks: Sequence[SegmentFindings],
    find_transactional_ids: Callable[[], Mapping[int, str]],
) -> list[Finding]:
    """Returns the findings about one partition and its segments.

    Args:
        segment_checks: the findings of the segments, in ascending order.
        find_transactional_ids: returns the known transactional ids by producer id. It is called
            only if a transaction is open.
    """
    findings = [*chain.from_iterable(checked.findings for checked in segment_checks)]
    summaries = _summaries(segment_checks)
    findings += log_gaps.check_partition(partition, summaries, facts)
    findings += other_files.check_partition(partition, summaries, facts)
    findings += state.check_partition(partition, summaries, facts, find_transactional_ids)
    retained = _local_summaries(partition, summaries)
    findings += time.check_partition(summaries, facts, partition.recovery_point, retained)
    findings += settings.check_partition(summaries, facts)
    findings = unreadable_files.fold_vanished(findings)
    findings = [replace(finding, log_directory=facts.log_directory) for finding in findings]
    return as_info(findings) if partition.state == "delete" else findings


def partition_retention(
    check_plan: CheckPlan, partition: Partition, segment_checks: Sequence[SegmentFindings]
) -> list[LogRetention]:
    """Returns the retention of a partition's local segments at `check_plan.now_ms`.

    Returns an empty list for the metadata log, for a partition whose state is not "current", and
    for a partition that cannot be read.
    """
    summaries = _local_summaries(partition, _summaries(segment_checks))
    if not summaries or partition.state != "current" or partition.topic == METADATA_TOPIC:
        return []
    ages = segment_ages(
        summaries,
        clean=check_plan.is_partition_clean(partition),
        recovery_point=partition.recovery_point,
        release=check_plan.assumed_release.release,
    )
    log = log_retention(
        partition.directory,
        ages,
        check_plan.limits(partition),
        now_ms=check_plan.now_ms,
        log_start_offset=partition.log_start_offset,
        high_watermark=partition.high_watermark,
        log_end_offset=state.log_end(summaries),
        highest_remote_offset=highest_remote_offset(partition.path),
        log_directory=check_plan.log_directory(partition),
    )
    return [with_reasons(log, check_plan, partition)]


def with_unstored_facts(health: Health) -> Health:
    """Completes a Health that was read from a catalog; returns the complete copy.

    A catalog does not store `now_ms`, the last remote offset of tiered logs, or the reasons why
    segments are not uploaded.
    """
    broker = health.broker
    partitions = {
        (partition.directory, broker.directory_of(partition).text): partition
        for partition in broker.partitions
        if partition.state == "current"
    }
    logs = []
    now_ms = health.retention[0].now_ms if health.retention else newest_ms(broker)
    plan = None
    for log in health.retention:
        partition = partitions.get((log.partition, log.log_directory or broker.main_directory.text))
        remote_offset = highest_remote_offset(partition.path) if partition else None
        log = replace(log, highest_remote_offset=remote_offset)
        if partition and remote_offset is not None:
            plan = plan or plan_check(broker, now_ms=now_ms)
            log = with_reasons(log, plan, partition)
        logs.append(log)
    return replace(health, now_ms=now_ms, retention=tuple(logs))


def partition_share(
    check_plan: CheckPlan, partition: Partition, segment_checks: Sequence[SegmentFindings]
) -> DiskShare:
    share = disk.partition_share(partition, check_plan.broker.directory_of(partition).text)
    return disk.with_summaries(share, partition, _summaries(segment_checks))


def _summaries(segment_checks: Sequence[SegmentFindings]) -> list[CheckSummary]:
    return [checked.summary for checked in segment_checks if checked.summary is not None]


def _local_summaries(partition: Partition, summaries: Sequence[CheckSummary]) -> list[CheckSummary]:
    return [
        summary
        for summary in summaries
        if summary.segment.base_offset not in partition.remote_bases
    ]


def _broker_findings(check_plan: CheckPlan) -> Iterator[Finding]:
    if check_plan.is_whole and check_plan.has_broker:
        release = check_plan.assumed_release.release
        try:
            own_steps = check_plan.own_steps()
        except KafkavizError:  # another check reports the unreadable file
            own_steps = ()
        for single in check_plan.broker.single_directories:
            path = single.main_directory.text
            strange_names = [
                PurePath(name).name
                for name in check_plan.strange_names
                if log_directory_of(name) == path
            ]
            fatal_steps = {step.cause: step for step in own_steps if step.log_directory == path}
            for finding in (
                *broker_files.check_broker(single, release, fatal_steps, strange_names),
                *state.check_broker(single, release),
            ):
                yield replace(finding, log_directory=path)
        yield from log_directories.check_plan(check_plan)
        yield from log_directories.check_missing_partitions(check_plan)
        yield from settings.check_broker(check_plan.broker, release)
        yield from settings.check_topics(check_plan)


def _predict_restart(check_plan: CheckPlan) -> Restart | None:
    release = check_plan.assumed_release.release
    log_steps = []
    try:
        for log in check_plan.logs():
            is_clean = check_plan.is_partition_clean(log.partition)
            log_steps.append((log.path, restart_steps(log, clean=is_clean, release=release)))
        return check_plan.restart(log_steps)
    except KafkavizError:
        return None


def fit_to_start(findings: Iterable[Finding], restart: Restart) -> Iterator[Finding]:
    """Yields the findings, adapted to the changes that broker start-up makes to each file.

    A changed finding has a different consequence and next step. For example, an .index has a wrong
    entry, but start-up rebuilds the index. So the user does not have to move the file away.

    Leaves out a finding about an unknown file if start-up fails because of this file.
    """
    steps = _steps_by_file(restart)
    logs_with_deletions = {
        (step.log_directory, step.partition)
        for step in restart.steps
        if step.cause == "after-truncation"
    }
    for finding in findings:
        step = steps.get((finding.log_directory, finding.file))
        is_fixed = finding.severity == INFO or finding.code in RESTART_CODES
        if step is None or is_fixed or finding.partition is None:
            yield finding
        elif step.action == "truncate":
            has_deletions = (step.log_directory, step.partition) in logs_with_deletions
            yield _fit_to_cut(finding, step, has_deletions=has_deletions)
        elif step.action == "delete":
            yield _fit_to_deletion(finding, step)
        elif step.action == "rebuild":
            if _is_about_index(finding) and finding.code != "index-missing":
                finding = replace(finding, consequence=REWRITTEN, next_step=LET_START_REBUILD)
            yield finding
        elif finding.code != "unknown-file":
            yield _fit_to_failure(finding, step)


def _steps_by_file(restart: Restart) -> dict[tuple[str | None, str | None], StartupStep]:
    """Returns the step that fails at each file, else the last step that changes the file.

    The keys are (log directory, file).
    """
    steps: dict[tuple[str | None, str | None], StartupStep] = {}
    for step in restart.steps:
        place = step.log_directory, step.file
        known = steps.get(place)
        if step.file is None or (known is not None and known.action == "fail"):
            continue
        is_recovery = step.cause in (*RECOVERY_CAUSES, "metadata-log")
        is_change = step.action == "truncate" or (step.action == "delete" and not step.is_expected)
        if step.action == "fail" or is_change or (step.action == "rebuild" and is_recovery):
            steps[place] = step
        elif step.action == "rebuild":  # a .swap file replaces this file
            steps.pop(place, None)
    return steps


def _is_about_index(finding: Finding) -> bool:
    return finding.family in INDEX_FAMILIES or finding.code in INDEX_CODES


def _fit_to_cut(finding: Finding, step: StartupStep, *, has_deletions: bool) -> Finding:
    cut_at = step.from_position or 0
    outcome = dict(finding.consequence.values).get("outcome", finding.consequence)
    if finding.position is None or finding.position < cut_at or outcome.key in CUT_KEYS:
        return finding
    key = "start_cuts_and_deletes" if has_deletions else "start_cuts"
    consequence = message(f"consequence.{key}", byte=cut_at)
    return replace(finding, consequence=consequence, next_step=RESTORE_BEFORE_CUT)


def _fit_to_deletion(finding: Finding, step: StartupStep) -> Finding:
    if finding.consequence.key in DELETED_KEYS:
        return finding
    next_step = message("next_step.copy_files")
    if step.cause == "log-start-beyond-end":
        next_step = message("next_step.correct_log_start")
    elif finding.needs_replica:
        next_step = RESTORE_BEFORE_CUT
    return replace(finding, consequence=DELETED, next_step=next_step)


def _fit_to_failure(finding: Finding, step: StartupStep) -> Finding:
    is_other_file = finding.family == "other-files" and not _is_about_index(finding)
    if is_other_file or finding.consequence.key == "consequence.log_not_opened":
        return finding  # the finding already says how start-up ends
    next_step = finding.next_step if finding.needs_replica else step.way_out or finding.next_step
    consequence = OFFLINE if step.takes_directory_offline else ENDS_START
    return replace(finding, consequence=consequence, next_step=next_step)


def health_object(health: Health) -> dict:
    """Returns the health as a JSON object, as `kafkaviz check --json` prints it."""
    restart = health.restart
    unknown_release = {}
    if not health.assumed_release.is_known:
        place = "missing" if health.misses_metadata_log else "elsewhere"
        source = str(message(f"setting_source.metadata_log_{place}"))
        unknown_release = {"value": None, "source": source}
    return {
        "directory": health.broker.sources_text,
        "kafka_version": {
            "assumed": health.assumed_release.version,
            "because": str(health.assumed_release.reason),
            **unknown_release,
        },
        "log_directories": [
            _directory_object(single) for single in health.broker.single_directories
        ],
        "findings": to_json_object(health.findings),
        "restart": restart
        and {
            "clean": restart.clean,
            "starts": restart.starts,
            "partial": health.is_partial,
            "metadata_log_missing": health.misses_metadata_log,
            "offline_directories": list(restart.offline_directories),
            "steps": to_json_object(restart.steps),
        },
        "counts": health.counts,
        "retention": to_json_object(health.retention),
        "metadata_retention": to_json_object(health.metadata_retention()),
        "topics": to_json_object(topic_sizes(health.broker)),
        "disk": disk.usage_object(health.all_shares()),
        "recovery": to_json_object(health.recovery_reads()),
        "freeing": freeing.freeing_object(health.freeing_steps(), health.index_prices()),
    }


def _directory_object(single: Broker) -> dict:
    directory = single.main_directory
    return {
        "path": directory.text,
        "directory_id": directory.directory_id,
        "has_metadata_log": directory.has_metadata_log,
        "partitions": len(single.partitions),
        "log_bytes": sum(partition.log_bytes for partition in single.partitions),
    }
