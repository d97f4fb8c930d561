"""The indexes of segments built anew from their .log alone: recovered one after another, and
closed.

As LogSegment.recover and close of Kafka 4.3.1. What is open at the start of the first segment comes
from the latest producer snapshot at or below it and from the batches in between; each later segment
goes on from the one before.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkaviz.format.walk import Walk
from kafkaviz.simulate.config import Profile
from kafkaviz.simulate.recovering.recovery import (
    INVALID_OFFSET,
    NEWEST,
    OFFSET_OVERFLOW,
    Raised,
    Recovered,
    recover,
)
from kafkaviz.simulate.recovering.transactions import OpenTransactions, TransactionFault
from kafkaviz.simulate.starting import file_records, way_outs
from kafkaviz.simulate.starting.directory import Directory, Failed
from kafkaviz.simulate.starting.log_end import CORRUPT_RECORD
from kafkaviz.simulate.starting.producers import ProducerState, SnapshotFiles
from kafkaviz.simulate.starting.splitting import split
from kafkaviz.simulate.stored import StoredLog
from kafkaviz.units import file_stem

BEFORE_ALL = -1  # a log start below every offset: no snapshot is passed over


@dataclass(frozen=True)
class Rebuilt:
    """A segment after recovery and close.

    has_txnindex: a .txnindex is written though nothing was aborted, since there was one: recovery
    empties it.
    """

    base_offset: int
    found: Recovered
    has_txnindex: bool

    def files(self) -> dict[str, bytes]:
        """The index files by name."""
        stem = file_stem(self.base_offset)
        built = {
            f"{stem}.index": self.found.closed_index(),
            f"{stem}.timeindex": self.found.closed_timeindex(),
        }
        return built | (
            {f"{stem}.txnindex": self.found.txnindex()}
            if self.has_txnindex or len(self.found.aborted)
            else {}
        )


class Refused(Exception):
    """A segment that Kafka's recovery does not get through: its .log, what Kafka throws, and what a
    start does then.
    """

    def __init__(self, file: str, raised: Raised, then: str) -> None:
        super().__init__(f"{file}: {raised}; {then}")
        self.file, self.raised, self.then = file, raised, then


def rebuild(log: StoredLog, wanted: Sequence[int], of: Profile = NEWEST) -> Iterator[Rebuilt]:
    """The segments with these base offsets, in their order; Refused at the first that recovery does
    not get through.
    """
    directory, open_transactions = Directory(log), None
    for base in sorted(wanted):
        stored = directory.existing(base, "log")
        if raised := file_records.refused(f"{log.directory}/{stored.name}", stored.size_bytes):
            raise Refused(
                f"{log.directory}/{stored.name}", raised, _FAILS.format(way_outs.LOG_TOO_LARGE)
            )
        if open_transactions is None:
            open_transactions = _open_at(directory, base)
        with stored.opened() as read:
            found = recover(
                read,
                stored.size_bytes,
                base,
                log.config,
                of,
                stem=directory.path(base),
                modified_ms=stored.modified_ms,
                open_transactions=open_transactions,
            )
        if found.raised:
            raise Refused(
                f"{log.directory}/{stored.name}", found.raised, _then(log, base, found.raised, of)
            )
        open_transactions = dict(found.open_transactions)
        yield Rebuilt(base, found, directory.get(base, "txnindex") is not None)


def _open_at(directory: Directory, base: int) -> dict[int, int]:
    """Of each producer with an open transaction at the start of a segment, its first offset."""
    named = directory.named()
    state = ProducerState(
        SnapshotFiles({offset: file.content for offset, kind, file in named if kind == "snapshot"})
    )
    bases = sorted(offset for offset, kind, _ in named if kind == "log")

    def replay(start: int, segment: int, transactions: OpenTransactions) -> None:
        stored = directory.existing(segment, "log")
        with stored.opened() as read:
            for batches in Walk(read, 0, stored.size_bytes):
                try:
                    transactions.take(
                        read, batches[batches["last_offset"] >= start], directory.path(segment)
                    )
                except TransactionFault as fault:
                    raised = Raised(fault.class_name or CORRUPT_RECORD, fault.message)
                    raise Refused(
                        f"{directory.name}/{stored.name}", raised, _FAILS.format(way_outs.PRODUCERS)
                    ) from None

    state.rebuild(bases, BEFORE_ALL, base, False, replay)
    return dict(state.transactions.open())


_FAILS = "a start that recovers it fails: {}"
_EMPTIED = (
    "after an unclean stop the loader empties this segment and deletes those behind it; where the "
    ".index of this one is missing, the start fails"
)


def _then(log: StoredLog, base: int, raised: Raised, of: Profile) -> str:
    """What the loader does next (LogLoader, 4.3.1)."""
    if raised.class_name == OFFSET_OVERFLOW:
        directory = Directory(log)
        try:
            made = split(directory, base, log.config, of)
        except Failed:
            failed = directory.steps[-1]
            return (
                f"the loader tries to split the segment, and the start fails with {failed.error}: "
                f"{failed.way_out}"
            )
        return (
            f"the loader splits it into segments {', '.join(map(str, made))} and loads the log "
            "again"
        )
    if raised.class_name == INVALID_OFFSET:
        return _EMPTIED
    if "full" in raised.message:
        return _FAILS.format(way_outs.INDEX_FULL.format(topic=log.topic))
    return _FAILS.format(way_outs.EXCEPTION.format(file=f"{log.directory}/{file_stem(base)}.log"))
