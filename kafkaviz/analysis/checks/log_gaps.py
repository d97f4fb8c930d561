"""Checks for overlapping and missing offsets, inside segments and between them.

For example, a segment ends with offset 819, and the next segment begins at 1000. The finding about
the 180 missing offsets is segment-gap, or offset-gap-explained if compaction may have removed them.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.summary import CheckSummary, Gap
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.log.partition import Partition
from kafkaviz.messages import message


def check_partition(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    for older, newer in pairwise(summaries):
        last = older.last_offset
        if last is not None and last >= newer.segment.base_offset and not older.is_unsound:
            yield _overlap_finding(older, newer, facts)
    gaps = list(_gaps(summaries))
    dropped_offsets = sum(summary.dropped_offsets for summary in summaries)
    if facts.compacted or dropped_offsets:
        yield from _compaction_findings(summaries, gaps, dropped_offsets, facts)
    else:
        yield from (_gap_finding(summary, gap, facts) for summary, gap in gaps)
    markers = sum(summary.control_batches for summary in summaries)
    if markers and not facts.metadata_log:
        text = message("finding.marker_offsets", n=markers)
        evidence = Evidence(message("evidence.control_batches", n=markers))
        yield facts.make_finding("offset-gap-explained", None, text, evidence)
    yield from _deletion_findings(partition, summaries, facts)


def _overlap_finding(older: CheckSummary, newer: CheckSummary, facts: PartitionFacts) -> Finding:
    base = newer.segment.base_offset
    segment = older.segment.base_offset
    last = older.last_offset
    text = message("finding.segment_overlap", segment=segment, offset=last, next=base)
    found_text = message("evidence.offset_in_segment", offset=last, segment=segment)
    evidence = Evidence(found_text, message("evidence.offsets_up_to", offset=base - 1))
    return facts.make_finding("segment-overlap", older.segment.log.name, text, evidence)


def _gaps(summaries: Sequence[CheckSummary]) -> Iterator[tuple[CheckSummary, Gap]]:
    """Yields (segment's summary, gap) for each gap inside a segment or before it.

    A segment with a damaged .log gives no gap inside or after it. A torn tail alone is not such
    damage: the offsets in a torn tail are lost.
    """
    for older, summary in zip([None, *summaries], summaries, strict=False):
        if older is not None and (not older.is_unsound or older.tail_kind == "torn"):
            end = older.segment.base_offset if older.last_offset is None else older.last_offset + 1
            if summary.segment.base_offset > end:
                yield summary, Gap(end, summary.segment.base_offset - 1, 0)
        if not summary.is_unsound or summary.tail_kind == "torn":
            yield from ((summary, gap) for gap in summary.gaps)


def _gap_finding(summary: CheckSummary, gap: Gap, facts: PartitionFacts) -> Finding:
    name = summary.segment.log.name
    text = message(
        "finding.segment_gap", first=gap.first, last=gap.last, byte=gap.position, file=name
    )
    found_text = message("evidence.offsets_missing", n=gap.offsets)
    evidence = Evidence(found_text, message("evidence.offsets_go_on"))
    return facts.make_finding("segment-gap", name, text, evidence, (gap.position, 0))


def _compaction_findings(
    summaries: Sequence[CheckSummary],
    gaps: list[tuple[CheckSummary, Gap]],
    dropped_offsets: int,
    facts: PartitionFacts,
) -> Iterator[Finding]:
    between_segments = sum(
        gap.offsets
        for summary, gap in gaps
        if gap.position == 0 and gap.last == summary.segment.base_offset - 1
    )
    between = sum(summary.gap_offsets for summary in summaries) + between_segments
    if between + dropped_offsets:
        text = message("finding.offsets_compacted", n=between + dropped_offsets)
        found_text = message(
            "evidence.offsets_between_and_inside", between=between, inside=dropped_offsets
        )
        yield facts.make_finding("offset-gap-explained", None, text, Evidence(found_text))


def _deletion_findings(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    start = partition.checkpoints.log_start
    if start is None or not summaries or start <= summaries[0].segment.base_offset:
        return
    first = summaries[0].segment.base_offset
    text = message("finding.offsets_deleted", first=first, last=start - 1, start=start)
    found_text = message("evidence.log_start_offset", offset=start)
    evidence = Evidence(found_text, message("evidence.first_segment", offset=first))
    name = summaries[0].segment.log.name
    yield facts.make_finding("offset-gap-explained", name, text, evidence)
