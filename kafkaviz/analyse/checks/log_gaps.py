"""The checks between the segments of a partition: offsets that are there twice, and offsets that
are missing.

    segment 0 ends with offset 819, segment 1000 follows     180 offsets are missing: segment-gap,
    unless compaction took them
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.summary import Gap, Summary
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.log.partition import Partition
from kafkaviz.units import group


def of_partition(
    partition: Partition, summaries: Sequence[Summary], facts: Facts
) -> Iterator[Finding]:
    """The findings about offsets that are there twice, or not at all."""
    for before, after in pairwise(summaries):
        if (
            before.last_offset is not None
            and before.last_offset >= after.segment.base_offset
            and not before.unsound
        ):
            yield _overlap(before, after, facts)
    gaps = list(_gaps(summaries))
    dropped = sum(told.dropped_offsets for told in summaries)
    if facts.compacted or dropped:
        yield from _compacted(summaries, gaps, dropped, facts)
    else:
        yield from (_gap(told, gap, facts) for told, gap in gaps)
    yield from _markers(summaries, facts)
    yield from _deleted(partition, summaries, facts)


def _overlap(before: Summary, after: Summary, facts: Facts) -> Finding:
    base = after.segment.base_offset
    message = (
        f"segment {group(before.segment.base_offset)} ends with offset {group(before.last_offset)}"
        ", "
        f"and segment {group(base)} follows"
    )
    found = f"offset {group(before.last_offset)} in segment {group(before.segment.base_offset)}"
    evidence = Evidence(found, f"offsets up to {group(base - 1)}")
    return facts.found("segment-overlap", existing(before.segment.log).name, message, evidence)


def _gaps(summaries: Sequence[Summary]) -> Iterator[tuple[Summary, Gap]]:
    """The gaps inside of segments, and between two; a segment that could not be believed tells
    nothing.
    """
    for before, told in zip([None, *summaries], summaries, strict=False):
        if before is not None and not before.unsound:
            end = (
                before.segment.base_offset if before.last_offset is None else before.last_offset + 1
            )
            if told.segment.base_offset > end:
                yield told, Gap(end, told.segment.base_offset - 1, 0)
        if not told.unsound:
            yield from ((told, gap) for gap in told.gaps)


def _gap(told: Summary, gap: Gap, facts: Facts) -> Finding:
    where = f"byte {group(gap.position)} of {existing(told.segment.log).name}"
    message = (
        f"offsets {group(gap.first)} to {group(gap.last)} are in no batch, in front of {where}"
    )
    evidence = Evidence(
        f"{group(gap.offsets)} offsets missing", "offsets that go on, or a compacted topic"
    )
    return facts.found(
        "segment-gap", existing(told.segment.log).name, message, evidence, gap.position, 0
    )


def _compacted(
    summaries: Sequence[Summary], gaps: list[tuple[Summary, Gap]], dropped: int, facts: Facts
) -> Iterator[Finding]:
    between = sum(
        gap.offsets
        for told, gap in gaps
        if gap.position == 0 and gap.last == told.segment.base_offset - 1
    )
    missing = sum(told.gap_offsets for told in summaries) + between + dropped
    if missing:
        message = (
            f"{group(missing)} offsets are gone: compaction removed records that newer ones with "
            "the same key replaced"
        )
        evidence = Evidence(
            f"{group(missing - dropped)} between batches, {group(dropped)} inside of batches"
        )
        yield facts.found("offset-gap-explained", None, message, evidence)


def _markers(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Offsets that a consumer never sees, though they are there."""
    markers = sum(told.control_batches for told in summaries)
    if markers and not facts.metadata_log:
        message = f"{group(markers)} offsets hold transaction markers, which no consumer gets"
        yield facts.found(
            "offset-gap-explained", None, message, Evidence(f"{group(markers)} control batches")
        )


def _deleted(partition: Partition, summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Offsets in front of the log start: deleted records."""
    start = partition.checkpoints.log_start
    first = summaries[0].segment.base_offset if summaries else None
    if start is not None and first is not None and start > first:
        message = (
            f"offsets {group(first)} to {group(start - 1)} lie below the log start offset "
            f"{group(start)}: they were deleted"
        )
        evidence = Evidence(
            f"log start offset {group(start)}", f"the first segment begins at {group(first)}"
        )
        yield facts.found(
            "offset-gap-explained", existing(summaries[0].segment.log).name, message, evidence
        )
