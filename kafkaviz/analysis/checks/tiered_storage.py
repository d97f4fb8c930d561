"""The checks of tiered storage: failing uploads, and remote segments that cannot be read."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import cast

from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.findings import Evidence, Finding, finding
from kafkaviz.analysis.tiering.upload import (
    FAILING_STATES,
    PartitionUpload,
    SegmentUpload,
    UploadState,
    failing_uploads,
)
from kafkaviz.errors import KafkavizError
from kafkaviz.log.partition import Partition, RemoteGap
from kafkaviz.log.tiered import tiered_view
from kafkaviz.log.tiered.remote_log_metadata import COPY_FINISHED
from kafkaviz.log.tiered.tiered_partition import SegmentPlace, TieredPartition, TieredSegment
from kafkaviz.messages import Message, message
from kafkaviz.units import file_stem
from kafkaviz.versions import Release

HELD_STATES = (*FAILING_STATES, UploadState.WAITING)
MISSING_PLACES = (SegmentPlace.LOST, SegmentPlace.LOCAL)


def check_plan(plan: CheckPlan) -> Iterator[Finding]:
    """Yields findings about failing uploads, and about remote segments if these were opened."""
    with suppress(KafkavizError):  # the checks of the .log report the fault
        for upload in failing_uploads(plan):
            yield _blocked_finding(upload, plan.assumed_release.release)
    yield from _check_remote(plan)


def _blocked_finding(upload: PartitionUpload, release: Release) -> Finding:
    failing = cast("SegmentUpload", upload.failing)
    held_segments = [item for item in upload.segments if item.state in HELD_STATES]
    if failing.state is UploadState.SNAPSHOT_MISSING:
        snapshot = f"{file_stem(cast(int, failing.offset))}.snapshot"
        evidence = message("evidence.without_file", file=snapshot)
    else:
        end_offset = cast(int, failing.end_offset) + 1
        evidence = message("evidence.no_epoch_below", offset=end_offset)
    return finding(
        "tiering-blocked",
        message("finding.tiering_blocked", segment=failing.start_offset, n=len(held_segments)),
        Evidence(evidence),
        partition=upload.partition,
        release=release,
        log_directory=upload.log_directory,
    )


def _check_remote(plan: CheckPlan) -> Iterator[Finding]:
    sources = tiered_view.sources(plan.broker.path)
    if sources is None:
        return
    directories = {partition.directory for partition in plan.partitions}
    try:
        state = tiered_view.read_state(*sources)
    except KafkavizError:  # the remote storage vanished after it was opened
        return
    release = plan.assumed_release.release
    lost = {
        (partition.directory, segment.start_offset)
        for partition in state.partitions
        for segment in partition.segments
        if segment.place is SegmentPlace.LOST
    }
    for partition in plan.partitions:
        for gap in partition.remote_gaps:
            if (partition.directory, gap.first_offset) not in lost:  # else reported below
                yield _gap_finding(partition, gap, release)
    for tiered_partition in state.partitions:
        if plan.is_whole or tiered_partition.directory in directories:
            yield from check_partition(tiered_partition, release)


def _gap_finding(partition: Partition, gap: RemoteGap, release: Release) -> Finding:
    key = "remote_gap" if gap.last_offset is not None else "remote_gap_from"
    return finding(
        "remote-segment-missing" if gap.kind == "missing" else "remote-segment-unreadable",
        message(f"finding.{key}", first=gap.first_offset, last=gap.last_offset),
        Evidence(message("errors.of_path", path=gap.path, problem=gap.what)),
        partition=partition.directory,
        release=release,
    )


def check_partition(partition: TieredPartition, release: Release = ()) -> Iterator[Finding]:
    for segment in partition.segments:
        if segment.state != COPY_FINISHED or segment.place not in MISSING_PLACES:
            continue
        first = segment.start_offset
        text = message("finding.remote_segment_missing", first=first, last=segment.end_offset)
        expected = message("evidence.remote_files", id=segment.segment_id)
        evidence = Evidence(message("evidence.in_neither_place"), expected)
        consequence = None
        if segment.place is SegmentPlace.LOCAL:
            evidence = Evidence(message("evidence.local_alone"), expected)
            consequence = message("consequence.remote_segment_missing_local")
        yield finding(
            "remote-segment-missing",
            text,
            evidence,
            partition=partition.directory,
            release=release,
            consequence=consequence,
        )
    for code, key, place in (
        ("remote-copy-unfinished", "remote_copy_unfinished", SegmentPlace.UNFINISHED),
        ("remote-segment-dangling", "remote_segment_dangling", SegmentPlace.DANGLING),
    ):
        segments = [segment for segment in partition.segments if segment.place is place]
        if segments:
            yield finding(
                code,
                message(f"finding.{key}", n=len(segments), first=segments[0].start_offset),
                Evidence(_states(segments)),
                partition=partition.directory,
                release=release,
            )


def _states(segments: Sequence[TieredSegment]) -> Message:
    first = segments[0]
    if first.state is None:
        return message("evidence.remote_without_metadata", id=first.segment_id)
    return message("evidence.remote_state", id=first.segment_id, state=first.state)
