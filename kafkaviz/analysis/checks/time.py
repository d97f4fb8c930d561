"""The checks of timestamps, and of segments that are kept longer than their records suggest."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.summary import SECONDS, CheckSummary, TimeAnomaly
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.analysis.retention import RetentionLimits, SegmentAge, log_retention, segment_ages
from kafkaviz.config_def import DAY_MS, HOUR_MS
from kafkaviz.messages import message

UNITS = (
    (10**17, message("finding.nanoseconds"), 1_000_000),
    (10**14, message("finding.microseconds"), 1000),
    (SECONDS[0], message("finding.seconds"), None),
)
NEVER = -(2**63)  # a present time before any segment expires


def check_partition(
    summaries: Sequence[CheckSummary],
    facts: PartitionFacts,
    recovery_point: int | None = None,
    *,
    retained: Sequence[CheckSummary] | None = None,
) -> Iterator[Finding]:
    """Yields the findings about a partition's timestamps and retention.

    Args:
        retained: the segments to which retention applies; by default all.
    """
    for name, make_finding in (
        ("future", _future_finding),
        ("unit", _unit_finding),
        ("late", _late_finding),
        ("missing", _missing_finding),
    ):
        wrong_summaries = [summary for summary in summaries if name in summary.times]
        if wrong_summaries:
            yield make_finding(wrong_summaries, facts)
    if (
        facts.expires
        and facts.retention_ms >= 0
        and not any(summary.read_fault or summary.unreadable_indexes for summary in summaries)
    ):
        retained = summaries if retained is None else retained
        aged_segments = segment_ages(
            retained, clean=facts.clean, recovery_point=recovery_point, release=facts.release
        )
        yield from _blocked_findings(retained, aged_segments, facts)
        yield from _mtime_findings(retained, aged_segments, facts)


def _worst(summaries: Sequence[CheckSummary], name: str) -> tuple[CheckSummary, TimeAnomaly, int]:
    choose = min if name == "late" else max
    worst = choose(summaries, key=lambda summary: summary.times[name].timestamp_ms)
    count = sum(summary.times[name].count for summary in summaries)
    return worst, worst.times[name], count


def _file_range(summary: CheckSummary, anomaly: TimeAnomaly) -> tuple[str, tuple[int, int]]:
    return summary.segment.log.name, (anomaly.position, anomaly.size_bytes)


def _future_finding(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Finding:
    summary, anomaly, count = _worst(summaries, "future")
    text = message(
        "finding.future_batches",
        n=count,
        moment=anomaly.timestamp_ms,
        lead=anomaly.timestamp_ms - facts.now_ms,
        where=anomaly.offsets_text,
    )
    file, byte_range = _file_range(summary, anomaly)
    digits = f"{anomaly.timestamp_ms:016x}"
    evidence = Evidence(
        message("evidence.moment", moment=anomaly.timestamp_ms),
        message("evidence.time_up_to", moment=facts.now_ms + HOUR_MS),
        digits,
    )
    return facts.make_finding("timestamp-in-future", file, text, evidence, byte_range)


def _unit_finding(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Finding:
    summary, anomaly, count = _worst(summaries, "unit")
    unit, divisor = next(
        (unit, divisor) for least, unit, divisor in UNITS if anomaly.timestamp_ms >= least
    )
    corrected_ms = anomaly.timestamp_ms // divisor if divisor else anomaly.timestamp_ms * 1000
    text = message(
        "finding.suspect_unit",
        n=count,
        unit=unit,
        time=anomaly.timestamp_ms,
        where=anomaly.offsets_text,
        moment=corrected_ms,
    )
    file, byte_range = _file_range(summary, anomaly)
    found_text = message(
        "evidence.as_milliseconds", time=anomaly.timestamp_ms, moment=anomaly.timestamp_ms
    )
    evidence = Evidence(
        found_text,
        message("evidence.number", n=corrected_ms),
        f"{anomaly.timestamp_ms:016x}",
        f"{corrected_ms:016x}",
    )
    return facts.make_finding("timestamp-unit-suspect", file, text, evidence, byte_range)


def _late_finding(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Finding:
    summary, anomaly, count = _worst(summaries, "late")
    text = message(
        "finding.late_batches",
        n=count,
        where=anomaly.offsets_text,
        behind=anomaly.reference_ms - anomaly.timestamp_ms,
    )
    file, byte_range = _file_range(summary, anomaly)
    evidence = Evidence(
        message("evidence.moment", moment=anomaly.timestamp_ms),
        message("evidence.time_near", moment=anomaly.reference_ms),
    )
    return facts.make_finding("timestamps-out-of-order", file, text, evidence, byte_range)


def _missing_finding(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Finding:
    summary, anomaly, count = _worst(summaries, "missing")
    file, byte_range = _file_range(summary, anomaly)
    text = message("finding.times_missing", n=count, file=file)
    return facts.make_finding(
        "timestamps-missing",
        file,
        text,
        Evidence(message("evidence.no_timestamp"), message("evidence.a_time")),
        byte_range,
    )


def _blocked_findings(
    summaries: Sequence[CheckSummary], aged_segments: Sequence[SegmentAge], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields a finding for each segment that delays the deletion of later segments.

    Delays of at most a day are not reported.
    """
    segment_retentions = log_retention(
        facts.partition,
        aged_segments,
        RetentionLimits(deletes=True, retention_ms=facts.retention_ms),
        now_ms=NEVER,
    ).segments
    # the expiry comes from the batches themselves, because an index may be wrong
    newest = {
        summary.segment.base_offset: summary.newest[0] + facts.retention_ms
        for summary in summaries
        if summary.newest
    }
    for summary, segment_retention in zip(summaries, segment_retentions, strict=True):
        later_retentions = [
            later_retention
            for later_retention in segment_retentions
            if later_retention.blocked_by == segment_retention.age.base_offset
        ]
        waits = [
            cast(int, later_retention.gone_ms)
            - cast(int, newest.get(later_retention.age.base_offset, later_retention.until_ms))
            for later_retention in later_retentions
        ]
        long_waits = [wait for wait in waits if wait > DAY_MS]
        if not long_waits or segment_retention.age.counted_by != "record" or summary.newest is None:
            continue
        text = message(
            "finding.held_segments",
            segment=segment_retention.age.base_offset,
            until=segment_retention.until_ms,
            moment=segment_retention.age.timestamp_ms,
            offset=segment_retention.age.offset,
            n=len(long_waits),
            earlier=max(long_waits),
        )
        evidence = Evidence(
            message("evidence.newest_record", moment=segment_retention.age.timestamp_ms),
            message("evidence.not_much_newer"),
        )
        _, _, position = summary.newest
        yield facts.make_finding(
            "retention-blocked",
            summary.segment.log.name,
            text,
            evidence,
            (position, None),
        )


def _mtime_findings(
    summaries: Sequence[CheckSummary], aged_segments: Sequence[SegmentAge], facts: PartitionFacts
) -> Iterator[Finding]:
    pairs = zip(summaries, aged_segments, strict=True)
    matches = [
        (summary, aged_segment)
        for summary, aged_segment in pairs
        if aged_segment.counted_by == "mtime"
        and summary.batches
        and summary.segment.state != "active"
    ]
    if matches:
        summary, aged_segment = matches[0]
        more = len(matches) - 1
        name = summary.segment.log.name
        written_ms = cast(int, aged_segment.timestamp_ms)
        values: dict[str, Any] = {
            "file": name,
            "moment": written_ms,
            "until": written_ms + facts.retention_ms,
        }
        text = (
            message("finding.kept_by_mtime_more", n=more, **values)
            if more
            else message("finding.kept_by_mtime", **values)
        )
        evidence = Evidence(
            message("evidence.modified", moment=aged_segment.timestamp_ms),
            message("evidence.a_time_entry"),
        )
        yield facts.make_finding("retention-by-mtime", name, text, evidence)
