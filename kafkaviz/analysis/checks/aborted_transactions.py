"""The checks of a .txnindex: does it list exactly the aborted transactions of its .log?

For example, slot 0 has the marker offset 1, but the .log has no abort marker at offset 1:
txnindex-mismatch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

import numpy as np

from kafkaviz.analysis.checks import unreadable_files
from kafkaviz.analysis.checks.facts import PartitionFacts, findings_by_run, with_more_places
from kafkaviz.analysis.checks.summary import CheckSummary, TransactionEnd
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.format import txn_index
from kafkaviz.format.open_transactions import OpenTransactions, TransactionBegin
from kafkaviz.log import file
from kafkaviz.log.segment import Segment
from kafkaviz.messages import message

ENTRY_BYTES = txn_index.ENTRY.itemsize


@dataclass(frozen=True)
class _Abort:
    """An aborted transaction in the log."""

    marker: TransactionEnd
    first_offset: int | None  # the first offset of the transaction; None: unknown
    # the first offset of the oldest transaction still open after the abort; None: none was open
    stable_offset: int | None


def check_partition(summaries: Sequence[CheckSummary], facts: PartitionFacts) -> Iterator[Finding]:
    if not summaries:
        return
    transactions = OpenTransactions()
    begins = _TransactionBegins(summaries)
    # which transactions are open after an unreadable .log is unknown
    for summary in takewhile(lambda candidate: not candidate.read_fault, summaries):
        expected = list(aborts(summary, transactions))
        segment = summary.segment
        may_be_unfinished = _may_be_unfinished(segment, facts)
        if segment.txnindex is None:
            known_aborts = [abort for abort in expected if abort.first_offset is not None]
            is_judged = not facts.compacted and not summary.is_unsound
            # a broker may have created the file, for a first abort, after the directory was listed
            is_created = file.is_there(segment.log.directory / segment.file_name("txnindex"))
            if known_aborts and is_judged and not is_created and not may_be_unfinished:
                yield _missing_finding(known_aborts, segment, facts)
            continue
        try:
            # a copy has no cached entries, which may be older than the last append
            entries = replace(segment).txn_index
        except KafkavizError as fault:
            yield unreadable_files.file_finding(segment.txnindex.name, fault, facts)
            continue
        index = _TxnIndex(segment, entries, facts)
        yield from index.torn_findings()
        if may_be_unfinished:
            last_offset = int(entries["last_offset"].max(initial=-1))
            expected = [abort for abort in expected if abort.marker.offset <= last_offset]
        if not summary.is_unsound:
            yield from index.compare(expected, begins)


def _may_be_unfinished(segment: Segment, facts: PartitionFacts) -> bool:
    """Returns whether the .txnindex may still lack entries for the last aborts.

    In Kafka 3.9.0, UnifiedLog.append writes an abort marker to the .log first, and then an entry
    to the .txnindex. If the .log has grown since it was listed, the entries for the listed aborts
    are complete.
    """
    return facts.clean is False and segment.state == "active" and not segment.has_changed()


def check_file(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields findings that need no .log: a torn last slot, and entries that Kafka refuses."""
    entries = segment.txn_index
    index = _TxnIndex(segment, entries, facts)
    # TransactionIndex.sanityCheck, 4.3.1
    is_refused = _is_refused(entries) | (entries["last_offset"] < segment.base_offset)
    refused_slots = np.flatnonzero(is_refused).tolist()
    yield from findings_by_run(refused_slots, partial(index.entry_finding, ()))
    yield from index.torn_findings()


def _is_refused(entries: np.ndarray | np.void) -> np.ndarray:
    return entries["version"] != txn_index.VERSION


class _TransactionBegins:
    """The offsets at which the transactions in the log begin.

    The last stable offset of a .txnindex entry must be one of these offsets, or the offset after
    the entry's abort marker.
    """

    def __init__(self, summaries: Sequence[CheckSummary]) -> None:
        self._log_start = summaries[0].segment.base_offset
        is_unsound = any(summary.is_unsound for summary in summaries)
        self._is_complete = self._log_start == 0 and not is_unsound
        self._offsets: set[int] = set()
        first_ends: dict[int, int] = {}
        for summary in summaries:
            self._offsets.update(summary.stable_begins)
            for _, producer, step in summary.steps:
                if isinstance(step, TransactionBegin):
                    self._offsets.add(step.offset)
                else:
                    first_ends.setdefault(producer, step.offset)
        self._first_ends = frozenset(first_ends.values())

    def allow_first(self, first_offset: int, abort: _Abort) -> bool:
        """Returns whether the .txnindex entry for `abort` may have this first offset.

        An offset below the log start is possible: retention may have deleted the first batches.
        """
        if abort.first_offset in (None, first_offset):
            return True
        return first_offset < self._log_start and abort.marker.offset in self._first_ends

    def allow_stable(self, stable_offset: int, abort: _Abort) -> bool:
        """Returns whether the .txnindex entry for `abort` may have this last stable offset.

        A follower may write a greater value than the leader, because a follower computes the
        value after a whole fetch. A smaller value is wrong. Every value is allowed if the begins of
        some transactions may be unknown.
        """
        next_offset = abort.marker.offset + 1
        least = next_offset if abort.stable_offset is None else abort.stable_offset
        return not self._is_complete or (
            stable_offset >= least
            and (stable_offset == next_offset or stable_offset in self._offsets)
        )


def aborts(summary: CheckSummary, transactions: OpenTransactions) -> Iterator[_Abort]:
    """Yields the aborted transactions of a segment.

    At first, `transactions` has the transactions that are open before the segment. After the
    iteration, it has the transactions that are open after the segment.
    """
    for _, producer, step in summary.steps:
        if isinstance(step, TransactionBegin):
            transactions.begin(producer, step)
            continue
        begin = transactions.end(producer)
        if step.is_abort:
            older_offset = transactions.first_offset(below=summary.segment.base_offset)
            offsets = (older_offset, step.stable_offset)
            open_offsets = [offset for offset in offsets if offset is not None]
            yield _Abort(step, begin.offset if begin else None, min(open_offsets, default=None))


def _missing_finding(
    known_aborts: list[_Abort], segment: Segment, facts: PartitionFacts
) -> Finding:
    count = len(known_aborts)
    text = message("finding.no_txnindex", n=count, offset=known_aborts[0].marker.offset)
    evidence = Evidence(message("evidence.no_file"), message("evidence.entries", n=count))
    return facts.make_finding("txnindex-mismatch", segment.file_name("txnindex"), text, evidence)


@dataclass(frozen=True)
class _TxnIndex:
    """A .txnindex and its entries."""

    segment: Segment
    entries: np.ndarray
    facts: PartitionFacts

    @property
    def _torn_bytes(self) -> int:
        return self.segment.txnindex.size_bytes % ENTRY_BYTES if self.segment.txnindex else 0

    def torn_findings(self) -> Iterator[Finding]:
        if self._torn_bytes:
            name = self.segment.file_name("txnindex")
            position = len(self.entries) * ENTRY_BYTES
            yield self.facts.torn_slot_finding(
                "txnindex-torn", name, position, self._torn_bytes, ENTRY_BYTES
            )

    def compare(self, expected: list[_Abort], begins: _TransactionBegins) -> Iterator[Finding]:
        """Yields findings about entries that are wrong or missing."""
        by_marker = {abort.marker.offset: abort for abort in expected}
        wrong_slots = [
            slot
            for slot, entry in enumerate(self.entries)
            if not self._agrees(entry, by_marker.get(int(entry["last_offset"])), begins)
        ]
        indexed_offsets = set(self.entries["last_offset"].tolist())
        missing_aborts = [
            abort
            for abort in expected
            if abort.first_offset is not None and abort.marker.offset not in indexed_offsets
        ]
        yield from findings_by_run(wrong_slots, partial(self.entry_finding, missing_aborts))
        if missing_aborts and not (wrong_slots or self._torn_bytes or self.facts.compacted):
            abort = missing_aborts[0]
            offset = abort.marker.offset
            producer = abort.marker.producer_id
            text = message("finding.abort_without_entry", producer=producer, offset=offset)
            text = with_more_places(text, len(missing_aborts) - 1)
            found_text = message("evidence.entries_without_it", n=len(self.entries))
            first = abort.first_offset
            missing_text = message("evidence.entry_for_offsets", first=first, last=offset)
            name = self.segment.file_name("txnindex")
            byte_range = (len(self.entries) * ENTRY_BYTES, 0)
            evidence = Evidence(found_text, missing_text)
            yield self.facts.make_finding("txnindex-mismatch", name, text, evidence, byte_range)

    def _agrees(self, entry: np.void, abort: _Abort | None, begins: _TransactionBegins) -> bool:
        if abort is None or abort.marker.producer_id != entry["producer_id"] or _is_refused(entry):
            return False
        return self.facts.compacted or (
            begins.allow_first(int(entry["first_offset"]), abort)
            and begins.allow_stable(int(entry["last_stable_offset"]), abort)
        )

    def entry_finding(
        self, missing_aborts: Sequence[_Abort], first: int, last: int, more: int
    ) -> Finding:
        entry = self.entries[first]
        base_offset = self.segment.base_offset
        is_below = int(entry["last_offset"]) < base_offset
        entry_text = txn_index.entry_text(entry)
        place: dict[str, Any] = {"slot": first, "entry": entry_text}
        if _is_refused(entry):
            text = message("finding.txn_entry_version", version=txn_index.VERSION, **place)
        elif is_below:
            text = message("finding.txn_entry_below_base", offset=base_offset, **place)
        else:
            text = message("finding.txn_entry_wrong", **place)
        expected = None
        if missing_aborts:
            abort = missing_aborts[0]
            expected = message(
                "evidence.abort_without_entry",
                producer=abort.marker.producer_id,
                first=abort.first_offset,
                last=abort.marker.offset,
            )
        digits = self.entries[first : first + 1].tobytes().hex()
        evidence = Evidence(message("evidence.kafkas_text", text=entry_text), expected, digits)
        text = with_more_places(text, more)
        name = self.segment.file_name("txnindex")
        byte_range = (first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES)
        consequence = message("consequence.rebuilds_indexes") if is_below else None
        return self.facts.make_finding(
            "txnindex-mismatch", name, text, evidence, byte_range, consequence=consequence
        )
