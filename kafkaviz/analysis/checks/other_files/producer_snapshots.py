"""The checks of producer snapshots: unreadable, stray, or missing though producers wrote."""

from collections.abc import Iterator, Sequence

import numpy as np

from kafkaviz.analysis.checks.facts import MAX_RUNS, PartitionFacts
from kafkaviz.analysis.checks.other_files import unreadable_files
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.findings.finding import Evidence, Finding
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import producer_snapshot
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import OFFSET_ENTRY
from kafkaviz.messages import message

CRC_AT = field_start(producer_snapshot.HEADER, "crc")
CRC_BYTES = producer_snapshot.CRC_START - CRC_AT
SNAPSHOT_BYTES = 64 << 20  # larger snapshots are not read


def check_partition(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields findings about snapshots that are unreadable, stray or missing.

    A start keeps those at the base offsets of segments, and the newest one above
    (removeStraySnapshots, 4.3.1). Each stop leaves one at the log's end, which the stop after the
    next one removes. Healthy logs have such snapshots, so one at the start of a batch is not stray.
    """
    base_offsets = [summary.segment.base_offset for summary in summaries]
    snapshots = partition.snapshots
    stray_offsets = [offset for offset in snapshots if offset not in base_offsets]
    kept_offset = (
        max(stray_offsets, default=-1)
        if max(stray_offsets, default=-1) > max(base_offsets, default=-1)
        else None
    )
    for snapshot in snapshots.values():
        yield from check_file(snapshot, facts)
    removed_snapshots = [
        snapshots[offset]
        for offset in stray_offsets
        if offset != kept_offset and not _is_batch_start(summaries, offset)
    ]
    if removed_snapshots:
        name = removed_snapshots[0].name
        more = len(removed_snapshots) - 1
        text = (
            message("finding.stray_snapshots", file=name, n=more)
            if more
            else message("finding.stray_snapshot", file=name)
        )
        evidence = Evidence(
            message(
                "evidence.names",
                names=tuple(snapshot.name for snapshot in removed_snapshots[:MAX_RUNS]),
            ),
            message("evidence.kept_snapshots"),
        )
        yield facts.make_finding(
            "snapshot-stray",
            removed_snapshots[0].name,
            text,
            evidence,
            (0, removed_snapshots[0].size_bytes),
        )
    producer_batches = sum(summary.producer_batches for summary in summaries)
    if producer_batches and not snapshots and facts.clean:
        text = message("finding.no_snapshot", n=producer_batches)
        yield facts.make_finding(
            "snapshot-missing",
            None,
            text,
            Evidence(
                message("evidence.without_file", file=".snapshot"),
                message("evidence.snapshot_at_end"),
            ),
        )


def _is_batch_start(summaries: Sequence[CheckSummary], offset: int) -> bool:
    """Returns whether a batch begins at an offset, or may have begun there before compaction.

    The log's end counts too.
    """
    summary = next(
        (candidate for candidate in reversed(summaries) if candidate.segment.base_offset <= offset),
        None,
    )
    if summary is None or summary.is_unsound or summary.last_offset is None:
        return summary is not None
    entries = (
        summary.segment.offset_index
        if "index" not in summary.unreadable_indexes
        else np.empty(0, OFFSET_ENTRY)
    )
    slot = int(np.searchsorted(entries["offset"], offset)) - 1
    # a damaged entry may point before the file
    start = max(int(entries["position"][slot]), 0) if slot >= 0 else 0
    batch_offset = summary.last_offset + 1
    for batches in summary.segment.scan(start):
        later_offsets = batches["base_offset"][batches["base_offset"] >= offset]
        if len(later_offsets):
            batch_offset = int(later_offsets[0])
            break
    return batch_offset == offset or bool(summary.gap_count or summary.dropped_offsets)


def check_file(snapshot: FileInfo, facts: PartitionFacts) -> Iterator[Finding]:
    try:
        data = file.read(snapshot.path, limit_bytes=SNAPSHOT_BYTES)
        producer_snapshot.parse(data)
    except CorruptBytes as fault:
        position = fault.position
        evidence = Evidence(fault.what, message("evidence.readable_snapshot"))
        stored_crc = data[CRC_AT : producer_snapshot.CRC_START]
        computed_crc = crc32c(data[producer_snapshot.CRC_START :])
        # a wrong checksum is the cause of any other fault
        if len(stored_crc) == CRC_BYTES and int.from_bytes(stored_crc, "big") != computed_crc:
            number = int.from_bytes(stored_crc, "big")
            evidence = Evidence(
                message("evidence.stored_checksum", crc=number),
                message("evidence.computed_checksum", crc=computed_crc),
                stored_crc.hex(),
                f"{computed_crc:08x}",
            )
            position = CRC_AT
        text = message("finding.not_what_was_written", file=snapshot.name, problem=fault.what)
        yield facts.make_finding(
            "snapshot-bad-crc",
            snapshot.name,
            text,
            evidence,
            (position, min(CRC_BYTES, max(len(data) - position, 0))),
        )
    except KafkavizError as fault:
        yield unreadable_files.file_finding(snapshot.name, fault, facts)
