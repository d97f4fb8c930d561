"""Rebuilds the indexes of segments from their .log: recovers and closes each segment in turn.

Follows LogSegment.recover and close of Kafka 4.3.1. The first segment's open transactions come from
the latest producer snapshot, and from the batches after that snapshot.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkaviz.format.open_transactions import OpenTransactions, TransactionFault
from kafkaviz.format.walk import Walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate import recovery
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import NEWEST, BrokerException, RecoveredSegment
from kafkaviz.simulate.startup.partition_directory import (
    LoadedDirectory,
    LoadFailed,
    find_size_exception,
)
from kafkaviz.simulate.startup.producers import ProducerState, SnapshotFiles, refusal
from kafkaviz.simulate.startup.replaced_segments import split
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.units import file_stem

BEFORE_ALL = -1  # a log start below every offset, so that no snapshot is dropped


@dataclass(frozen=True)
class RebuiltSegment:
    """A segment after recovery and close."""

    base_offset: int
    recovered_segment: RecoveredSegment
    # whether it had a .txnindex before; Kafka then writes one again, even if it is empty
    has_txnindex: bool

    def files(self) -> dict[str, bytes]:
        stem = file_stem(self.base_offset)
        index_files = {
            f"{stem}.index": self.recovered_segment.closed_index(),
            f"{stem}.timeindex": self.recovered_segment.closed_timeindex(),
        }
        if self.has_txnindex or len(self.recovered_segment.aborted):
            index_files[f"{stem}.txnindex"] = self.recovered_segment.txnindex()
        return index_files


class RebuildRefusal(Exception):
    """Raised if Kafka cannot recover a .log. `consequence` says what start-up does then."""

    def __init__(self, file: str, exception: BrokerException, consequence: Message) -> None:
        super().__init__(f"{file}: {exception}; {consequence}")
        self.file = file
        self.exception = exception
        self.consequence = consequence


def rebuild(
    log: StoredLog, base_offsets: Sequence[int], behaviour: ReleaseBehaviour = NEWEST
) -> Iterator[RebuiltSegment]:
    """Yields the rebuilt segments in order. Raises RebuildRefusal if a recovery cannot finish."""
    directory = LoadedDirectory(log, behaviour)
    open_transactions = None
    for base in sorted(base_offsets):
        log_file = directory.require_file(base, "log")
        path = f"{log.directory}/{log_file.name}"
        if exception := find_size_exception(path, log_file.size_bytes):
            raise RebuildRefusal(path, exception, _start_fails(message("way_out.log_too_large")))
        if open_transactions is None:
            open_transactions = _open_at(directory, base)
        with log_file.open_reader() as read:
            recovered_segment = recovery.recover(
                read,
                log_file.size_bytes,
                base,
                log.config,
                behaviour,
                stem=directory.path(base),
                modified_ms=log_file.modified_ms,
                open_transactions=open_transactions,
            )
        if exception := recovered_segment.exception:
            consequence = _describe_consequence(LoadedDirectory(log, behaviour), base, exception)
            raise RebuildRefusal(path, exception, consequence)
        open_transactions = dict(recovered_segment.open_transactions)
        yield RebuiltSegment(base, recovered_segment, directory.get(base, "txnindex") is not None)


def _start_fails(way_out: Message) -> Message:
    return message("rebuild.start_fails", way_out=way_out)


def _open_at(directory: LoadedDirectory, base: int) -> dict[int, int]:
    named_files = directory.named_files()
    snapshots = SnapshotFiles(
        {offset: file.content for offset, kind, file in named_files if kind == "snapshot"}
    )
    state = ProducerState(snapshots)
    bases = sorted(offset for offset, kind, _ in named_files if kind == "log")

    def replay(start: int, segment: int, transactions: OpenTransactions, _end: int | None) -> None:
        log_file = directory.require_file(segment, "log")
        with log_file.open_reader() as read:
            for batches in Walk(read, 0, log_file.size_bytes):
                batches = batches[batches["last_offset"] >= start]
                try:
                    transactions.take(read, batches, directory.path(segment))
                except TransactionFault as fault:
                    path = f"{directory.name}/{log_file.name}"
                    consequence = _start_fails(message("way_out.put_snapshots_back"))
                    raise RebuildRefusal(path, refusal(fault), consequence) from None

    state.rebuild(bases, BEFORE_ALL, base, clean=False, replay=replay)
    return dict(state.transactions.open())


def _describe_consequence(
    directory: LoadedDirectory, base: int, exception: BrokerException
) -> Message:
    """Returns what start-up does after an exception in the segment with base offset `base`.

    If start-up would split the segment, also splits the segment in `directory`.
    """
    if exception.class_name == recovery.OFFSET_OVERFLOW:
        try:
            base_offsets = split(directory, base)
        except LoadFailed:
            failure = directory.steps[-1]
            return message("rebuild.split_fails", error=failure.error, way_out=failure.way_out)
        return message("rebuild.split", bases=tuple(base_offsets))
    if exception.class_name == recovery.INVALID_OFFSET:
        return message("rebuild.segment_emptied")
    if "full" in exception.message:
        return _start_fails(message("way_out.larger_index_bytes", topic=directory.topic))
    file = f"{directory.path(base)}.log"
    return _start_fails(message("way_out.move_log_away", file=file))
