"""The checks of a partition directory's files other than .log, .index and .timeindex.

These include leftovers, indexes without a .log, and files of other programs.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from kafkaviz.analysis.checks import aborted_transactions, kraft_files, unreadable_files
from kafkaviz.analysis.checks.facts import MAX_RUNS, PartitionFacts
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.findings import ERROR, Evidence, Finding, finding
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint, names, producer_snapshot
from kafkaviz.format.names import LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import OFFSET_ENTRY, Segment
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup import small_files
from kafkaviz.units import replace_surrogates
from kafkaviz.versions import Release

CRC_AT = field_start(producer_snapshot.HEADER, "crc")
CRC_BYTES = producer_snapshot.CRC_START - CRC_AT
SNAPSHOT_BYTES = 64 << 20  # larger snapshots are not read
PARTITION_FILES = (LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE)
WHITE_SPACE = " \t\n\x0b\f\r"  # of java.util.regex
DELETED = message("consequence.deleted_at_start")
LEFTOVERS = {"deleted": "leftover-deleted", "cleaned": "leftover-cleaned", "swap": "leftover-swap"}


def check_partition(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields the findings about files other than .log, .index and .timeindex."""
    yield from aborted_transactions.check_partition(summaries, facts)
    yield from _check_snapshots(partition, summaries, facts)
    yield from _check_leader_epochs(partition, summaries, facts)
    yield from _check_metadata(partition, facts)
    yield from _check_names(partition, facts)
    yield from check_folders(partition, facts)


def _check_metadata(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    if not any(file_info.name == PARTITION_METADATA for file_info in partition.other_files):
        return
    data = b""
    try:
        data = file.read(partition.path / PARTITION_METADATA, limit_bytes=file.TEXT_BYTES)
        checkpoint.parse_partition_metadata(data)
    except CorruptBytes as fault:
        text = message("finding.at_byte", byte=fault.position, problem=fault.what)
        evidence = Evidence(fault.what, message("evidence.topic_id_lines"))
        yield facts.make_finding(
            "partition-metadata-bad",
            PARTITION_METADATA,
            text,
            evidence,
            (fault.position, None),
            consequence=_consequence(data),
        )
    except KafkavizError as fault:
        yield unreadable_files.file_finding(PARTITION_METADATA, fault, facts)


def _consequence(data: bytes) -> Message | None:
    start_fault = small_files.partition_metadata_fault(data, PARTITION_METADATA)
    if start_fault is None or start_fault.class_name == small_files.STORAGE:
        return None
    return message("consequence.ends_start")


def _check_leader_epochs(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    if not any(file_info.name == LEADER_EPOCHS for file_info in partition.other_files):
        return
    try:
        data = file.read(partition.path / LEADER_EPOCHS, limit_bytes=file.TEXT_BYTES)
        epochs = checkpoint.parse_leader_epochs(data)
    except CorruptBytes as fault:
        is_uncaught = isinstance(fault, checkpoint.UncaughtRefusal)
        yield facts.make_finding(
            "leader-epoch-bad",
            LEADER_EPOCHS,
            message("finding.at_byte", byte=fault.position, problem=fault.what),
            Evidence(fault.what),
            (fault.position, None),
            consequence=message("consequence.ends_start") if is_uncaught else None,
        )
        return
    except KafkavizError as fault:
        yield unreadable_files.file_finding(LEADER_EPOCHS, fault, facts)
        return
    for (epoch, start), (next_epoch, next_start) in pairwise(epochs):
        if next_epoch <= epoch or next_start <= start:
            text = message(
                "finding.epoch_follows",
                later=next_epoch,
                start=next_start,
                epoch=epoch,
                before=start,
            )
            yield _epoch_finding(text, Evidence(text, message("evidence.growing_epochs")), facts)
            return
    yield from _compare_with_log(epochs, summaries, facts)


def _compare_with_log(
    epochs: list[tuple[int, int]], summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields a finding about the first batch that contradicts leader-epoch-checkpoint.

    The file lacks the batch's epoch, or says that the epoch begins later. After an unclean shutdown
    nothing is compared, because the broker corrects the file at its next start-up.
    """
    if any(summary.is_unsound for summary in summaries) or not epochs or facts.clean is False:
        return
    starts = dict(epochs)
    # retention may leave only an empty segment, at whose base offset the epoch begins
    ends = [
        summary.segment.base_offset if summary.last_offset is None else summary.last_offset + 1
        for summary in summaries
    ]
    end = max(ends, default=0)
    for summary in summaries:
        for epoch, offset, position in summary.epochs:
            is_known = (
                epoch < 0 or offset < epochs[0][1] or (epoch in starts and starts[epoch] <= offset)
            )
            if not is_known:
                claim = (
                    message("finding.says_epoch_begins", epoch=epoch, offset=starts[epoch])
                    if epoch in starts
                    else message("finding.has_no_epoch", epoch=epoch)
                )
                text = message(
                    "finding.epoch_of_batch",
                    file=LEADER_EPOCHS,
                    claim=claim,
                    offset=offset,
                    byte=position,
                    log=f"{summary.segment.name}.log",
                )
                evidence = Evidence(
                    claim, message("evidence.epoch_from", epoch=epoch, offset=offset)
                )
                yield _epoch_finding(text, evidence, facts)
                return
    if epochs[-1][1] > end:
        text = message(
            "finding.epoch_beyond_end", epoch=epochs[-1][0], offset=epochs[-1][1], end=end
        )
        yield _epoch_finding(
            text, Evidence(text, message("evidence.offset_up_to", offset=end)), facts
        )


def _epoch_finding(text: Message, evidence: Evidence, facts: PartitionFacts) -> Finding:
    consequence = message("consequence.epochs_taken")
    return facts.make_finding(
        "leader-epoch-bad", LEADER_EPOCHS, text, evidence, consequence=consequence
    )


def _check_snapshots(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields findings about producer snapshots that are unreadable, stray or missing.

    At start-up, a broker keeps the snapshots at the base offsets of segments, and the newest
    snapshot above these (removeStraySnapshots, 4.3.1). A clean shutdown writes a snapshot at the
    log end. The broker keeps this snapshot until the second shutdown after that one. Until then,
    a batch may begin at the snapshot's offset. So such a snapshot is not reported.
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
        yield from check_snapshot(snapshot, facts)
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
    """Returns whether a batch begins at an offset or may have begun there before compaction."""
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
    # a damaged entry may have a negative position
    start = max(int(entries["position"][slot]), 0) if slot >= 0 else 0
    batch_offset = summary.last_offset + 1
    for batches in summary.segment.scan(start):
        later_offsets = batches["base_offset"][batches["base_offset"] >= offset]
        if len(later_offsets):
            batch_offset = int(later_offsets[0])
            break
    return batch_offset == offset or bool(summary.gap_count or summary.dropped_offsets)


def check_snapshot(snapshot: FileInfo, facts: PartitionFacts) -> Iterator[Finding]:
    try:
        data = file.read(snapshot.path, limit_bytes=SNAPSHOT_BYTES)
        producer_snapshot.parse(data)
    except CorruptBytes as fault:
        position = fault.position
        evidence = Evidence(fault.what, message("evidence.readable_snapshot"))
        stored_crc = data[CRC_AT : producer_snapshot.CRC_START]
        computed_crc = crc32c(data[producer_snapshot.CRC_START :])
        # if the checksum is wrong, that explains any other fault
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


def leftovers(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    file_names = [file_info.name for file_info in segment.files]
    length = sum(file_info.size_bytes for file_info in segment.files)
    text = message("finding.files_of_bytes", names=tuple(file_names), n=length)
    code = LEFTOVERS[segment.state]
    yield facts.make_finding(
        code,
        file_names[0],
        text,
        Evidence(
            message("evidence.suffix", suffix=segment.state), message("evidence.no_such_file")
        ),
        (0, segment.files[0].size_bytes),
    )


def orphans(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields findings about indexes without a .log.

    At start-up, a broker deletes such an index, unless a folder has the name of the .log
    (LogLoader, 4.3.1 and 4.4.0).
    """
    has_folder = (segment.files[0].path.parent / f"{segment.name}.log").is_dir()
    consequence = message("consequence.kept_beside_folder") if has_folder else None
    for file_info in segment.files:
        evidence = Evidence(
            message("evidence.no_file"), message("evidence.name", name=f"{segment.name}.log")
        )
        yield facts.make_finding(
            "orphan-index",
            file_info.name,
            message("finding.no_log_beside", file=file_info.name),
            evidence,
            (0, file_info.size_bytes),
            consequence=consequence,
        )


def check_folders(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    live_bases = {segment.base_offset for segment in partition.live}
    for name in file.list_folders(partition.path):
        shown_name = replace_surrogates(name)
        stranger = stranger_finding(facts.partition, name, None, facts.release)
        yield replace(
            stranger,
            message=message("finding.folder", name=shown_name),
            consequence=_folder_consequence(name, live_bases),
        )


def _folder_consequence(name: str, live_bases: Collection[int]) -> Message:
    parsed = names.parse_file(name)
    if parsed is None or parsed.suffix:
        return message("consequence.folder")
    if parsed.kind == "log":
        return message("consequence.folder_as_log", offset=parsed.base_offset)
    if parsed.kind in ("index", "timeindex") and parsed.base_offset in live_bases:
        return message("consequence.folder_as_index")
    return message("consequence.folder")


def _check_names(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields findings about metadata snapshots, quorum-state, leftovers and unknown files."""
    yield from _check_white_space(partition, facts)
    for file_info in partition.other_files:
        name = names.parse_file(file_info.name)
        if name and name.kind == "checkpoint" and not name.suffix:
            yield from kraft_files.check_snapshot(file_info, partition, facts)
        elif file_info.name == QUORUM_STATE and facts.metadata_log:
            yield from kraft_files.check_quorum_state(file_info, facts)
        elif name and name.suffix in LEFTOVERS:
            evidence = Evidence(
                message("evidence.suffix", suffix=name.suffix), message("evidence.no_such_file")
            )
            text = message(
                "finding.files_of_bytes", names=(file_info.name,), n=file_info.size_bytes
            )
            yield facts.make_finding(
                LEFTOVERS[name.suffix], file_info.name, text, evidence, (0, file_info.size_bytes)
            )
        elif not name and file_info.name.removesuffix(".tmp") not in PARTITION_FILES:
            yield _name_finding(file_info, partition, facts)


def _check_white_space(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields a finding about a directory with white space in its name.

    On 4.4.0, the broker's first start with such a directory succeeded. It wrote the name into the
    checkpoints, or renamed the directory to -stray. Every later start failed.
    """
    is_in_use = partition.state in ("current", "future")
    if not is_in_use or not any(character in WHITE_SPACE for character in partition.directory):
        return
    name = replace_surrogates(partition.directory)
    yield facts.make_finding(
        "directory-name-bad",
        None,
        message("finding.name_with_space", name=name),
        Evidence(message("evidence.name", name=name), message("evidence.topic_number")),
        consequence=message("consequence.name_with_space"),
    )


def _name_finding(file_info: FileInfo, partition: Partition, facts: PartitionFacts) -> Finding:
    stranger = stranger_finding(
        facts.partition, file_info.name, file_info.size_bytes, facts.release
    )
    consequence = _name_consequence(
        file_info.name, {segment.base_offset for segment in partition.live}
    )
    if consequence is None:
        return stranger
    is_segment = consequence.key == "consequence.name_makes_segment"
    return replace(
        stranger, consequence=consequence, severity=ERROR if is_segment else stranger.severity
    )


def _name_consequence(name: str, bases: Collection[int]) -> Message | None:
    """Returns how a file with this name affects broker start-up; None: not at all.

    The rules are from LogLoader (4.3.1, 4.4.0).

    Args:
        bases: the base offsets of the .log files in use.
    """
    if name.endswith(".deleted"):
        return DELETED
    if not name.endswith(names.OFFSET_ENDINGS):
        return None
    try:
        offset = names.parse_offset(name)
    except ValueError:
        return message("consequence.name_ends_start")
    if name.endswith(".cleaned"):
        return DELETED
    if name.endswith(".swap"):
        return message("consequence.name_of_swap")
    if name.endswith(".snapshot"):
        return message("consequence.name_of_snapshot", offset=offset)
    if offset in bases:
        return None
    if name.endswith(".log"):
        return message("consequence.name_makes_segment", offset=offset)
    return DELETED


def directory_finding(name: str, release: Release) -> Finding:
    return finding(
        "directory-name-bad",
        message("finding.no_partition_name", name=name),
        Evidence(message("evidence.name", name=name), message("evidence.topic_number")),
        file=name,
        release=release,
    )


def stranger_finding(
    partition: str | None, name: str, size_bytes: int | None, release: Release
) -> Finding:
    shown_name = replace_surrogates(name)
    path = f"{partition}/{shown_name}" if partition else shown_name
    byte_range: dict[str, Any] = (
        {"position": 0, "length": size_bytes} if size_bytes is not None else {}
    )
    text = message("finding.stranger", file=shown_name)
    return finding(
        "unknown-file",
        text,
        Evidence(message("evidence.name", name=shown_name)),
        partition=partition,
        file=path,
        release=release,
        **byte_range,
    )
