"""Runs all checks of one segment, and reads its .log only once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kafkaviz.analysis.checks import (
    log,
    offset_index,
    other_files,
    summary,
    time_index,
    unreadable_files,
)
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.log_scan import ValidatedScan
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.findings import Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.scans import BatchWalk
from kafkaviz.log.segment import LogSegment, Segment


@dataclass(frozen=True)
class SegmentFindings:
    """The findings about one segment, and the summary for the checks of its partition.

    `summary` is None for leftover files and for indexes without a .log.
    """

    findings: tuple[Finding, ...]
    summary: CheckSummary | None


def check(
    segment: Segment,
    facts: PartitionFacts,
    observer: BatchObserver[Any] | None = None,
    decoded_walk: BatchWalk | None = None,
) -> SegmentFindings:
    """Returns the findings about a segment, including findings about unreadable files.

    Args:
        observer: also receives all batches, as arrays of format.deep_scan.CHECKED_BATCH.
        decoded_walk: batches from byte 0 on that were checked before and have no fault.
    """
    segment = replace(segment)  # the indexes that this copy caches are freed after the check
    if not segment.is_in_use:
        leftover = other_files.leftover_finding(segment.state, segment.files, facts)
        return SegmentFindings((leftover,), None)
    if not isinstance(segment, LogSegment):
        return SegmentFindings(tuple(other_files.orphans(segment, facts)), None)
    index_faults = dict(_index_faults(segment))
    fault_findings = [
        unreadable_files.file_finding(getattr(segment, kind).name, fault, facts)
        for kind, fault in index_faults.items()
    ]
    readable = replace(segment, **dict.fromkeys(index_faults)) if index_faults else segment
    try:
        findings, segment_summary = _check_readable(readable, facts, observer, decoded_walk)
    except KafkavizError as fault:
        findings = [unreadable_files.file_finding(segment.log.name, fault, facts)]
        segment_summary = CheckSummary(segment=segment, read_fault=str(fault), is_unsound=True)
    # unreadable indexes were left out of the segment, so the checks report them as missing
    names = {finding.file for finding in fault_findings}
    findings = [finding for finding in findings if finding.file not in names]
    unreadable = tuple(index_faults)
    segment_summary = replace(segment_summary, segment=segment, unreadable_indexes=unreadable)
    return SegmentFindings((*fault_findings, *findings), segment_summary)


def _index_faults(segment: Segment) -> Iterator[tuple[str, KafkavizError]]:
    for kind, slots in (("index", "offset_slots"), ("timeindex", "time_slots")):
        try:
            getattr(segment, slots)
        except KafkavizError as fault:
            yield kind, fault


def _check_readable(
    segment: LogSegment,
    facts: PartitionFacts,
    observer: BatchObserver[Any] | None,
    decoded_walk: BatchWalk | None,
) -> tuple[list[Finding], CheckSummary]:
    scan = ValidatedScan(segment, observer, decoded_walk, facts.level)
    summary_builder = summary.SummaryBuilder(segment, facts, scan.state)
    log_checks = (
        log.LogCheck(segment, facts, scan.state),
        offset_index.OffsetIndexCheck(segment, facts, scan.state),
        time_index.TimeIndexCheck(segment, facts, scan.state),
    )
    observe_scan(scan, *log_checks, summary_builder)
    findings = [finding for log_check in log_checks for finding in log_check.result()]
    return findings, summary_builder.result()
