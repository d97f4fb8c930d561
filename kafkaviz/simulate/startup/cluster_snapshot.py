"""Snapshots of the cluster's metadata (.checkpoint), which a node reads before the metadata log.

Follows KafkaRaftLog, KRaftControlRecordStateMachine, RecordsIterator and MetadataLoader of Kafka
4.3.1 and 4.4.0. Only the latest snapshot is read. For example, if a directory holds
00000000000000000200-0000000003.checkpoint and 00000000000000000900-0000000004.checkpoint, the
latest snapshot is at offset 900.

- If a checksum in the snapshot is wrong, the broker does not start.
- A truncated batch at the snapshot's end is skipped, and its records are lost.
- A metadata log that ends below 900 is deleted, and a new log starts at 900.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.file_view import FileView
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, batch_records, names
from kafkaviz.format.java import CORRUPT_RECORD
from kafkaviz.format.walk import Walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate.recovery import BrokerException
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.startup.partition_directory import KINDS
from kafkaviz.simulate.steps import StartupStep, StoredLog, fail_step

SUFFIX = ".checkpoint"
PARTIAL = ".checkpoint.part"
DELETED = ".checkpoint.deleted"
OFFSET_DIGITS = 20
EPOCH_DIGITS = 10
ILLEGAL_STATE = "java.lang.IllegalStateException"
NO_HEADER = BrokerException("java.util.NoSuchElementException", "No value present")
_LONG = 1 << 63
_INT = 1 << 31
_INTEGER = re.compile("[+-]?[0-9]+")


class SnapshotName(NamedTuple):
    """The parts of a snapshot's name (Snapshots.parse). Sorts like Kafka's OffsetAndEpoch."""

    offset: int
    epoch: int
    name: str


class SnapshotFault(NamedTuple):
    """The position from which a snapshot cannot be read, and Kafka's exception."""

    position: int
    exception: BrokerException | None  # None if its message is unknown


def newest(file_names: Iterator[str]) -> str | None:
    snapshots = [
        ((parsed.base_offset, parsed.epoch), name)
        for name in file_names
        if (parsed := names.parse_file(name)) and (parsed.kind, parsed.suffix) == ("checkpoint", "")
    ]
    return max(snapshots)[1] if snapshots else None


def steps(log: StoredLog, loader: LogLoader) -> Iterator[StartupStep]:
    """Yields what start-up does to the snapshots and, because of them, to the loaded log."""
    files = {file.name: file for file in log.files}
    snapshots = []
    for name in sorted(files):
        if not name.endswith((SUFFIX, PARTIAL, DELETED)):
            continue
        parsed = _parse(name)
        if isinstance(parsed, BrokerException):
            why = message("start.cluster_snapshot_name", name=name)
            way_out = message("way_out.move_file_away", file=f"{log.directory}/{name}")
            yield _fail(log, name, why, parsed, way_out)
            return
        if name.endswith(SUFFIX):
            snapshots.append(parsed)
    start = loader.log_start_offset()
    needed = sorted(snapshot for snapshot in snapshots if start is None or snapshot.offset >= start)
    if start and not needed:
        yield _fail_without_snapshot(log, start, max(snapshots, default=None))
        return
    for snapshot in snapshots:
        if snapshot not in needed:
            why = message("start.snapshot_below_log_start", offset=start)
            yield _delete(log, files[snapshot.name], "old-snapshot", why)
    if not needed:
        return
    if start is not None:
        yield from _delete_log_below_snapshot(log, loader, needed)
    fault = find_fault(files[needed[-1].name])
    if fault:
        why = message("start.cluster_snapshot_damaged", byte=fault.position)
        exception = fault.exception
    elif log.replay_error:
        why = message("start.cluster_snapshot_lacks_records")
        exception = log.replay_error
    else:
        return
    way_out = message("way_out.fetch_cluster_metadata_again")
    if start is not None and _is_in_log(files, needed, start, loader.log_end_offset()):
        file = f"{log.directory}/{needed[-1].name}"
        way_out = message("way_out.move_cluster_snapshot_away", file=file)
    yield _fail(log, needed[-1].name, why, exception, way_out)


def _is_in_log(
    files: dict[str, FileView], snapshots: list[SnapshotName], start: int, end: int
) -> bool:
    has_start = start == 0 or any(
        find_fault(files[snapshot.name]) is None for snapshot in snapshots[-2:-1]
    )
    return has_start and snapshots[-1].offset <= end


def find_fault(file: FileView) -> SnapshotFault | None:
    with file.open_reader() as read:
        walk = Walk(read, 0, file.size_bytes)
        for batches in walk:
            for row in batches:
                position = int(row["position"])
                size_bytes = int(row["size_bytes"])
                if size_bytes > LIMIT_BYTES:
                    return SnapshotFault(position, None)
                data = np.empty(size_bytes, np.uint8)
                if fault := _find_batch_fault(row, data[: read(position, data)].data):
                    return fault
    fault = _find_fault_at_end(file, walk.end.position)
    if fault is None and walk.end.position == 0:
        return SnapshotFault(0, NO_HEADER)
    return fault


def _find_batch_fault(row: np.void, data: memoryview) -> SnapshotFault | None:
    """Returns the fault of a complete batch, or None. The first batch must be a control batch."""
    position = int(row["position"])
    if row["magic"] > batch.MAGIC_2:
        return _corrupt(position, f"Invalid magic found in record: {row['magic']}")
    if row["magic"] < batch.MAGIC_2:
        # an IllegalStateException, whose message differs by release
        return SnapshotFault(position, None)
    try:
        batch_records.ensure_valid(data)
    except CorruptBytes as fault:
        return _corrupt(position, str(fault.what))
    if position == 0 and not batch.is_control(row):
        words = "First batch is not a control batch with at least one record"
        return SnapshotFault(position, BrokerException(ILLEGAL_STATE, words))
    return None


def _corrupt(position: int, words: str) -> SnapshotFault:
    return SnapshotFault(position, BrokerException(CORRUPT_RECORD, words))


def _find_fault_at_end(file: FileView, position: int) -> SnapshotFault | None:
    """Returns the fault after the last complete batch.

    Returns None if the file ends there, or if only a part of a batch follows.
    """
    stop = min(position + batch.MAGIC_END, file.size_bytes)
    rest = file.part(file.name, position, stop).content()
    if len(rest) < batch.LENGTH_END:
        return None
    length = int.from_bytes(rest[batch.LENGTH_END - 4 : batch.LENGTH_END], "big", signed=True)
    if length < batch.MIN_LENGTH:
        words = f"Record size {length} is less than the minimum record overhead (14)"
        return _corrupt(position, words)
    if len(rest) == batch.MAGIC_END and rest[-1] > batch.MAGIC_2:
        return _corrupt(position, f"Invalid magic found in record: {rest[-1]}")
    return None


def _parse(name: str) -> SnapshotName | BrokerException:
    end = OFFSET_DIGITS + 1 + EPOCH_DIGITS
    for begin, stop, limit in ((0, OFFSET_DIGITS, _LONG), (OFFSET_DIGITS + 1, end, _INT)):
        if len(name) < stop:
            words = f"begin {begin}, end {stop}, length {len(name)}"
            return BrokerException("java.lang.StringIndexOutOfBoundsException", words)
        text = name[begin:stop]
        if not _INTEGER.fullmatch(text) or not -limit <= int(text) < limit:
            words = f'For input string: "{text}"'
            return BrokerException("java.lang.NumberFormatException", words)
    return SnapshotName(int(name[:OFFSET_DIGITS]), int(name[OFFSET_DIGITS + 1 : end]), name)


def _delete_log_below_snapshot(
    log: StoredLog, loader: LogLoader, snapshots: list[SnapshotName]
) -> Iterator[StartupStep]:
    """Deletes a log whose (epoch, end offset) is below the latest snapshot's, and older snapshots.

    Follows KafkaRaftLog.truncateToLatestSnapshot.
    """
    latest = snapshots[-1]
    latest_epoch = max((epoch for epoch, _ in loader.leader_epochs()), default=0)
    end = loader.log_end_offset()
    if (latest.epoch, latest.offset) <= (latest_epoch, end):
        return
    why = message("start.metadata_log_behind", end=end, snapshot=latest.name)
    left = loader.files()
    for file in log.files:
        parsed = names.parse_file(file.name)
        if parsed and not parsed.suffix and parsed.kind in KINDS and file.name in left:
            yield _delete(log, left[file.name], "behind-snapshot", why, parsed.base_offset)
    older_names = {snapshot.name for snapshot in snapshots[:-1]}
    for file in log.files:
        if file.name in older_names:
            yield _delete(log, file, "old-snapshot", why)


def _delete(
    log: StoredLog, file: FileView, cause: str, why: Message, segment: int | None = None
) -> StartupStep:
    return StartupStep(
        partition=log.directory,
        segment=segment,
        action="delete",
        cause=cause,
        why=why,
        file=f"{log.directory}/{file.name}",
        size_bytes=file.size_bytes,
    )


def _fail_without_snapshot(log: StoredLog, start: int, latest: SnapshotName | None) -> StartupStep:
    """Returns the "fail" step for a log whose start no snapshot covers (recoverSnapshots)."""
    latest_text = "Optional.empty"
    if latest:
        latest_text = f"Optional[OffsetAndEpoch[offset={latest.offset}, epoch={latest.epoch}]]"
    words = (
        "Inconsistent snapshot state: there must be a snapshot at an offset larger then the "
        f"current log start offset {start}, but the latest snapshot is {latest_text}"
    )
    why = message("start.no_snapshot_of_log_start", offset=start)
    way_out = message("way_out.fetch_cluster_metadata_again")
    return _fail(log, f"{start:020}.log", why, BrokerException(ILLEGAL_STATE, words), way_out)


def _fail(
    log: StoredLog,
    name: str,
    why: Message,
    exception: BrokerException | str | None,
    way_out: Message,
) -> StartupStep:
    file = f"{log.directory}/{name}"
    partition = log.directory
    return fail_step("snapshot-corrupt", why, exception, way_out, partition=partition, file=file)
