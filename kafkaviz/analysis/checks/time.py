"""The checks of timestamps, and of segments that are kept unexpectedly long."""

from collections.abc import Iterator, Sequence
from typing import cast

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.summary import SECONDS, CheckSummary
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.analysis.retention import RetentionLimits, SegmentAge, log_retention, segment_ages
from kafkaviz.messages import message
from kafkaviz.units import DAY_MS, HOUR_MS

UNITS = (
    (10**17, message("finding.nanoseconds"), 1_000_000),
    (10**14, message("finding.microseconds"), 1000),
    (SECONDS[0], message("finding.seconds"), None),
)
NEVER = -(2**63)  # as the present time: before any segment expires


def check_partition(
    summaries: Sequence[CheckSummary],
    facts: PartitionFacts,
    recovery_point: int | None,
    retained: Sequence[CheckSummary],
) -> Iterator[Finding]:
    """Yields the findings about the timestamps of a log, and about its retention.

    `retained` has the segments that are stored locally.
    """
    for name in ("future", "unit", "late", "missing"):
        wrong_summaries = [summary for summary in summaries if name in summary.times]
        if wrong_summaries:
            yield _anomaly_finding(name, wrong_summaries, facts)
    if (
        facts.expires
        and facts.retention_ms >= 0
        and not any(summary.read_fault or summary.unreadable_indexes for summary in summaries)
    ):
        aged_segments = segment_ages(
            retained, clean=facts.clean, recovery_point=recovery_point, release=facts.release
        )
        yield from _blocked_findings(retained, aged_segments, facts)
        yield from _mtime_findings(retained, aged_segments, facts)


def _anomaly_finding(
    name: str, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Finding:
    """Returns a finding about the worst batch of anomaly `name`, a key of `CheckSummary.times`."""
    choose = min if name == "late" else max
    worst = choose(summaries, key=lambda summary: summary.times[name].timestamp_ms)
    anomaly = worst.times[name]
    count = sum(summary.times[name].count for summary in summaries)
    file = worst.segment.log.name
    time_ms = anomaly.timestamp_ms
    where = anomaly.offsets_text
    if name == "future":
        code = "timestamp-in-future"
        lead_ms = time_ms - facts.now_ms
        text = message("finding.future_batches", n=count, moment=time_ms, lead=lead_ms, where=where)
        expected = message("evidence.time_up_to", moment=facts.now_ms + HOUR_MS)
        evidence = Evidence(message("evidence.moment", moment=time_ms), expected, f"{time_ms:016x}")
    elif name == "unit":
        code = "timestamp-unit-suspect"
        unit, divisor = next((unit, divisor) for least, unit, divisor in UNITS if time_ms >= least)
        corrected_ms = time_ms // divisor if divisor else time_ms * 1000
        text = message(
            "finding.suspect_unit",
            n=count,
            unit=unit,
            time=time_ms,
            where=where,
            moment=corrected_ms,
        )
        found_text = message("evidence.as_milliseconds", time=time_ms, moment=time_ms)
        expected = message("evidence.number", n=corrected_ms)
        evidence = Evidence(found_text, expected, f"{time_ms:016x}", f"{corrected_ms:016x}")
    elif name == "late":
        code = "timestamps-out-of-order"
        late_ms = anomaly.reference_ms - time_ms
        text = message("finding.late_batches", n=count, where=where, behind=late_ms)
        expected = message("evidence.time_near", moment=anomaly.reference_ms)
        evidence = Evidence(message("evidence.moment", moment=time_ms), expected)
    else:
        code = "timestamps-missing"
        text = message("finding.times_missing", n=count, file=file)
        evidence = Evidence(message("evidence.no_timestamp"), message("evidence.a_time"))
    byte_range = (anomaly.position, anomaly.size_bytes)
    return facts.make_finding(code, file, text, evidence, byte_range)


def _blocked_findings(
    summaries: Sequence[CheckSummary], aged_segments: Sequence[SegmentAge], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields a finding per segment that delays the deletion of later ones by more than a day."""
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
        age = segment_retention.age
        waits = [
            cast(int, later.gone_ms) - cast(int, newest.get(later.age.base_offset, later.until_ms))
            for later in segment_retentions
            if later.blocked_by == age.base_offset
        ]
        long_waits = [wait for wait in waits if wait > DAY_MS]
        if not long_waits or age.counted_by != "record" or summary.newest is None:
            continue
        text = message(
            "finding.held_segments",
            segment=age.base_offset,
            until=segment_retention.until_ms,
            moment=age.timestamp_ms,
            offset=age.offset,
            n=len(long_waits),
            earlier=max(long_waits),
        )
        found_text = message("evidence.newest_record", moment=age.timestamp_ms)
        evidence = Evidence(found_text, message("evidence.not_much_newer"))
        name = summary.segment.log.name
        byte_range = (summary.newest[2], None)
        yield facts.make_finding("retention-blocked", name, text, evidence, byte_range)


def _mtime_findings(
    summaries: Sequence[CheckSummary], aged_segments: Sequence[SegmentAge], facts: PartitionFacts
) -> Iterator[Finding]:
    matches = [
        (summary.segment.log.name, cast(int, age.timestamp_ms))
        for summary, age in zip(summaries, aged_segments, strict=True)
        if age.counted_by == "mtime" and summary.batches and summary.segment.state != "active"
    ]
    if matches:
        name, written_ms = matches[0]
        until_ms = written_ms + facts.retention_ms
        text = message("finding.kept_by_mtime", file=name, moment=written_ms, until=until_ms)
        if more := len(matches) - 1:
            text = message(
                "finding.kept_by_mtime_more", file=name, moment=written_ms, until=until_ms, n=more
            )
        found_text = message("evidence.modified", moment=written_ms)
        evidence = Evidence(found_text, message("evidence.a_time_entry"))
        yield facts.make_finding("retention-by-mtime", name, text, evidence)
