"""The checks of a partition directory's files other than .log, .index and .timeindex.

These include leftovers, indexes without a .log, and files of other programs.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from kafkaviz.analysis.checks import aborted_transactions, kraft_files, unreadable_files
from kafkaviz.analysis.checks.facts import MAX_RUNS, PartitionFacts, checksum_evidence
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
from kafkaviz.log.segment import Segment
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
ENDS_START = message("consequence.ends_start")
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
        start_fault = small_files.partition_metadata_fault(data, PARTITION_METADATA)
        ends_start = start_fault is not None and start_fault.class_name != small_files.STORAGE
        yield facts.make_finding(
            "partition-metadata-bad",
            PARTITION_METADATA,
            message("finding.at_byte", byte=fault.position, problem=fault.what),
            Evidence(fault.what, message("evidence.topic_id_lines")),
            (fault.position, None),
            consequence=ENDS_START if ends_start else None,
        )
    except KafkavizError as fault:
        yield unreadable_files.file_finding(PARTITION_METADATA, fault, facts)


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
            consequence=ENDS_START if is_uncaught else None,
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

    The checkpoint lacks the batch's epoch, or says that the epoch begins later. If all batches
    agree, yields a finding if the last epoch begins after the log end. Compares nothing if some
    batches cannot be trusted, or after an unclean shutdown, because the next broker start-up then
    corrects the checkpoint.
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
            if epoch < 0 or offset < epochs[0][1] or (epoch in starts and starts[epoch] <= offset):
                continue
            claim = message("finding.has_no_epoch", epoch=epoch)
            if epoch in starts:
                claim = message("finding.says_epoch_begins", epoch=epoch, offset=starts[epoch])
            text = message(
                "finding.epoch_of_batch",
                file=LEADER_EPOCHS,
                claim=claim,
                offset=offset,
                byte=position,
                log=f"{summary.segment.name}.log",
            )
            expected = message("evidence.epoch_from", epoch=epoch, offset=offset)
            yield _epoch_finding(text, Evidence(claim, expected), facts)
            return
    epoch, offset = epochs[-1]
    if offset > end:
        text = message("finding.epoch_beyond_end", epoch=epoch, offset=offset, end=end)
        expected = message("evidence.offset_up_to", offset=end)
        yield _epoch_finding(text, Evidence(text, expected), facts)


def _epoch_finding(text: Message, evidence: Evidence, facts: PartitionFacts) -> Finding:
    consequence = message("consequence.epochs_taken")
    return facts.make_finding(
        "leader-epoch-bad", LEADER_EPOCHS, text, evidence, consequence=consequence
    )


def _check_snapshots(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """Yields findings about producer snapshots that are unreadable, stray or missing.

    At start-up, a broker keeps the snapshots at the base offsets of segments. It also keeps the
    newest snapshot if it is above all base offsets (removeStraySnapshots, 4.3.1). A clean
    shutdown writes a snapshot at the log end, which the broker keeps until two shutdowns later. The
    next batch begins there. So a snapshot at the start of a batch is not reported.
    """
    snapshots = partition.snapshots
    for snapshot in snapshots.values():
        yield from check_snapshot(snapshot, facts)
    kept_offsets = {summary.segment.base_offset for summary in summaries}
    newest_offset = max(snapshots, default=-1)
    if newest_offset > max(kept_offsets, default=-1):
        kept_offsets.add(newest_offset)
    removed_snapshots = [
        snapshot
        for offset, snapshot in snapshots.items()
        if offset not in kept_offsets and not _is_batch_start(summaries, offset)
    ]
    if removed_snapshots:
        first = removed_snapshots[0]
        text = message("finding.stray_snapshot", file=first.name)
        if more := len(removed_snapshots) - 1:
            text = message("finding.stray_snapshots", file=first.name, n=more)
        file_names = tuple(snapshot.name for snapshot in removed_snapshots[:MAX_RUNS])
        found_text = message("evidence.names", names=file_names)
        evidence = Evidence(found_text, message("evidence.kept_snapshots"))
        byte_range = (0, first.size_bytes)
        yield facts.make_finding("snapshot-stray", first.name, text, evidence, byte_range)
    producer_batches = sum(summary.producer_batches for summary in summaries)
    if producer_batches and not snapshots and facts.clean:
        text = message("finding.no_snapshot", n=producer_batches)
        found_text = message("evidence.without_file", file=".snapshot")
        evidence = Evidence(found_text, message("evidence.snapshot_at_end"))
        yield facts.make_finding("snapshot-missing", None, text, evidence)


def _is_batch_start(summaries: Sequence[CheckSummary], offset: int) -> bool:
    """Returns whether a batch begins at an offset, or may have begun there before compaction.

    True also if the segment has no batch, or batches that cannot be trusted.
    """
    summary = next(
        (candidate for candidate in reversed(summaries) if candidate.segment.base_offset <= offset),
        None,
    )
    if summary is None or summary.is_unsound or summary.last_offset is None:
        return summary is not None
    start = 0
    if "index" not in summary.unreadable_indexes:
        entries = summary.segment.offset_index
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
        crc_bytes = data[CRC_AT : producer_snapshot.CRC_START]
        stored_crc = int.from_bytes(crc_bytes, "big")
        computed_crc = crc32c(data[producer_snapshot.CRC_START :])
        # if the checksum is wrong, that explains any other fault
        if len(crc_bytes) == CRC_BYTES and stored_crc != computed_crc:
            found_text = message("evidence.stored_checksum", crc=stored_crc)
            evidence = checksum_evidence(found_text, stored_crc, computed_crc)
            position = CRC_AT
        text = message("finding.not_what_was_written", file=snapshot.name, problem=fault.what)
        byte_range = (position, min(CRC_BYTES, max(len(data) - position, 0)))
        yield facts.make_finding("snapshot-bad-crc", snapshot.name, text, evidence, byte_range)
    except KafkavizError as fault:
        yield unreadable_files.file_finding(snapshot.name, fault, facts)


def leftover_finding(suffix: str, files: Sequence[FileInfo], facts: PartitionFacts) -> Finding:
    """Returns a finding about files of one segment, with a suffix in LEFTOVERS."""
    file_names = tuple(file_info.name for file_info in files)
    length = sum(file_info.size_bytes for file_info in files)
    text = message("finding.files_of_bytes", names=file_names, n=length)
    evidence = Evidence(message("evidence.suffix", suffix=suffix), message("evidence.no_such_file"))
    byte_range = (0, files[0].size_bytes)
    return facts.make_finding(LEFTOVERS[suffix], file_names[0], text, evidence, byte_range)


def orphans(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields findings about indexes without a .log.

    At start-up, a broker deletes such an index, unless a folder has the name of the .log
    (LogLoader, 4.3.1 and 4.4.0).
    """
    log_name = f"{segment.name}.log"
    has_folder = (segment.files[0].path.parent / log_name).is_dir()
    consequence = message("consequence.kept_beside_folder") if has_folder else None
    evidence = Evidence(message("evidence.no_file"), message("evidence.name", name=log_name))
    for file_info in segment.files:
        name = file_info.name
        text = message("finding.no_log_beside", file=name)
        byte_range = (0, file_info.size_bytes)
        yield facts.make_finding(
            "orphan-index", name, text, evidence, byte_range, consequence=consequence
        )


def check_folders(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    live_bases = {segment.base_offset for segment in partition.live}
    for name in file.list_folders(partition.path):
        text = message("finding.folder", name=replace_surrogates(name))
        consequence = _folder_consequence(name, live_bases)
        stranger = stranger_finding(facts.partition, name, None, facts.release)
        yield replace(stranger, message=text, consequence=consequence)


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
    """Yields findings about the directory's name, KRaft's files, leftovers and unknown files."""
    yield from _check_white_space(partition, facts)
    for file_info in partition.other_files:
        name = names.parse_file(file_info.name)
        if name and name.kind == "checkpoint" and not name.suffix:
            yield from kraft_files.check_snapshot(file_info, partition, facts)
        elif file_info.name == QUORUM_STATE and facts.metadata_log:
            yield from kraft_files.check_quorum_state(file_info, facts)
        elif name and name.suffix in LEFTOVERS:
            yield leftover_finding(name.suffix, [file_info], facts)
        elif not name and file_info.name.removesuffix(".tmp") not in PARTITION_FILES:
            yield _name_finding(file_info, partition, facts)


def _check_white_space(partition: Partition, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields a finding about a directory with white space in its name.

    On 4.4.0, the broker's first start with such a directory succeeded. It wrote the name into the
    checkpoints, or renamed the directory to -stray. Every later start failed.
    """
    is_in_use = partition.state in ("current", "future")
    if not is_in_use or not set(partition.directory).intersection(WHITE_SPACE):
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
    name = file_info.name
    stranger = stranger_finding(facts.partition, name, file_info.size_bytes, facts.release)
    consequence = _name_consequence(name, {segment.base_offset for segment in partition.live})
    if consequence is None:
        return stranger
    is_segment = consequence.key == "consequence.name_makes_segment"
    severity = ERROR if is_segment else stranger.severity
    return replace(stranger, consequence=consequence, severity=severity)


def _name_consequence(name: str, bases: Collection[int]) -> Message | None:
    """Returns how a file with this name affects broker start-up (LogLoader, 4.3.1 and 4.4.0).

    Returns None if the file has no effect. `bases` are the base offsets of the .log files without
    a suffix such as .deleted.
    """
    if name.endswith(".deleted"):
        return DELETED
    if not name.endswith(names.OFFSET_ENDINGS):
        return None
    try:
        offset = names.parse_offset(name)
    except ValueError:
        return message("consequence.name_ends_start")
    if name.endswith(".swap"):
        return message("consequence.name_of_swap")
    if name.endswith(".snapshot"):
        return message("consequence.name_of_snapshot", offset=offset)
    if offset in bases and not name.endswith(".cleaned"):
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
    return finding(
        "unknown-file",
        message("finding.stranger", file=shown_name),
        Evidence(message("evidence.name", name=shown_name)),
        partition=partition,
        file=f"{partition}/{shown_name}" if partition else shown_name,
        position=None if size_bytes is None else 0,
        length=size_bytes,
        release=release,
    )
