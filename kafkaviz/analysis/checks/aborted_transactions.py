"""The checks of a .txnindex: does it list exactly the aborted transactions of its .log?

For example, slot 0 has the marker offset 1, but the .log has no abort marker at offset 1:
txnindex-mismatch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    """An aborted transaction in the log.

    Attributes:
        first_offset: the first offset of the transaction; None: unknown.
        stable_offset: the first offset of the oldest transaction that was open after the abort;
            None: no transaction was open.
    """

    marker: TransactionEnd
    first_offset: int | None
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
        torn_bytes = segment.txnindex.size_bytes % ENTRY_BYTES
        if torn_bytes:
            yield _torn_finding(segment, entries, torn_bytes, facts)
        if may_be_unfinished:
            last_offset = int(entries["last_offset"].max(initial=-1))
            expected = [abort for abort in expected if abort.marker.offset <= last_offset]
        if not summary.is_unsound:
            yield from _compare_entries(
                entries, expected, segment, facts, begins, is_torn=bool(torn_bytes)
            )


def _may_be_unfinished(segment: Segment, facts: PartitionFacts) -> bool:
    """Returns whether the .txnindex may still lack entries for the last aborts.

    UnifiedLog.append writes an abort marker to the .log, and then an entry to the .txnindex
    (3.9.0). If the .log has later batches, the entries for earlier aborts are complete.
    """
    return facts.clean is False and segment.state == "active" and not segment.has_changed()


def check_file(segment: Segment, facts: PartitionFacts) -> Iterator[Finding]:
    """Yields the findings that need only the .txnindex, not the .log.

    These are an incomplete last slot, and entries that Kafka refuses.
    """
    entries = segment.txn_index
    torn_bytes = segment.txnindex.size_bytes % ENTRY_BYTES if segment.txnindex else 0
    # TransactionIndex.sanityCheck, 4.3.1
    is_refused = _is_refused(entries) | (entries["last_offset"] < segment.base_offset)
    yield from findings_by_run(
        np.flatnonzero(is_refused).tolist(),
        lambda *run: _entry_finding(entries, [], segment, facts, run),
    )
    if torn_bytes:
        yield _torn_finding(segment, entries, torn_bytes, facts)


def _is_refused(entries: np.ndarray | np.void) -> np.ndarray:
    return entries["version"] != txn_index.VERSION


class _TransactionBegins:
    """The offsets at which the transactions in the log begin.

    The last stable offset of a .txnindex entry must be one of these offsets, or the offset after
    the entry's abort marker.
    """

    def __init__(self, summaries: Sequence[CheckSummary]) -> None:
        self._log_start = summaries[0].segment.base_offset
        self._is_complete = self._log_start == 0 and not any(
            summary.is_unsound for summary in summaries
        )
        first_ends: dict[int, int] = {}
        for summary in summaries:
            for _, producer, step in summary.steps:
                if not isinstance(step, TransactionBegin):
                    first_ends.setdefault(producer, step.offset)
        self._first_ends = frozenset(first_ends.values())
        self._offsets = {offset for summary in summaries for offset in summary.stable_begins}
        self._offsets |= {
            step.offset
            for summary in summaries
            for _, _, step in summary.steps
            if isinstance(step, TransactionBegin)
        }

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
        value after a whole fetch. A smaller value is always wrong.
        """
        next_offset = abort.marker.offset + 1
        least = next_offset if abort.stable_offset is None else abort.stable_offset
        return not self._is_complete or (
            stable_offset >= least
            and (stable_offset == next_offset or stable_offset in self._offsets)
        )


def aborts(summary: CheckSummary, transactions: OpenTransactions) -> Iterator[_Abort]:
    """Yields the aborted transactions of a segment.

    Args:
        transactions: the transactions that are open before the segment. The iteration updates this
            object to the transactions that are open after the segment.
    """
    for _, producer, step in summary.steps:
        if isinstance(step, TransactionBegin):
            transactions.begin(producer, step)
            continue
        begin = transactions.end(producer)
        if step.is_abort:
            older_offset = transactions.first_offset(below=summary.segment.base_offset)
            open_offsets = (
                offset for offset in (older_offset, step.stable_offset) if offset is not None
            )
            yield _Abort(step, begin.offset if begin else None, min(open_offsets, default=None))


def _torn_finding(
    segment: Segment, entries: np.ndarray, torn_bytes: int, facts: PartitionFacts
) -> Finding:
    name = segment.file_name("txnindex")
    position = len(entries) * ENTRY_BYTES
    return facts.torn_slot_finding("txnindex-torn", name, position, torn_bytes, ENTRY_BYTES)


def _missing_finding(
    known_aborts: list[_Abort], segment: Segment, facts: PartitionFacts
) -> Finding:
    name = segment.file_name("txnindex")
    text = message(
        "finding.no_txnindex",
        n=len(known_aborts),
        offset=known_aborts[0].marker.offset,
    )
    return facts.make_finding(
        "txnindex-mismatch",
        name,
        text,
        Evidence(message("evidence.no_file"), message("evidence.entries", n=len(known_aborts))),
    )


def _compare_entries(
    entries: np.ndarray,
    expected: list[_Abort],
    segment: Segment,
    facts: PartitionFacts,
    begins: _TransactionBegins,
    *,
    is_torn: bool,
) -> Iterator[Finding]:
    by_marker = {abort.marker.offset: abort for abort in expected}
    wrong_slots = [
        slot
        for slot, entry in enumerate(entries)
        if not _agrees(entry, by_marker.get(int(entry["last_offset"])), facts, begins)
    ]
    indexed_offsets = {int(entry["last_offset"]) for entry in entries}
    missing_aborts = [
        abort
        for abort in expected
        if abort.first_offset is not None and abort.marker.offset not in indexed_offsets
    ]
    yield from findings_by_run(
        wrong_slots, lambda *run: _entry_finding(entries, missing_aborts, segment, facts, run)
    )
    if missing_aborts and not wrong_slots and not is_torn and not facts.compacted:
        missing_abort = missing_aborts[0]
        text = message(
            "finding.abort_without_entry",
            producer=missing_abort.marker.producer_id,
            offset=missing_abort.marker.offset,
        )
        position = len(entries) * ENTRY_BYTES
        expected_text = message(
            "evidence.entry_for_offsets",
            first=missing_abort.first_offset,
            last=missing_abort.marker.offset,
        )
        evidence = Evidence(message("evidence.entries_without_it", n=len(entries)), expected_text)
        yield facts.make_finding(
            "txnindex-mismatch",
            segment.file_name("txnindex"),
            with_more_places(text, len(missing_aborts) - 1),
            evidence,
            (position, 0),
        )


def _agrees(
    entry: np.void, abort: _Abort | None, facts: PartitionFacts, begins: _TransactionBegins
) -> bool:
    if abort is None or abort.marker.producer_id != entry["producer_id"] or _is_refused(entry):
        return False
    return facts.compacted or (
        begins.allow_first(int(entry["first_offset"]), abort)
        and begins.allow_stable(int(entry["last_stable_offset"]), abort)
    )


def _entry_finding(
    entries: np.ndarray,
    missing_aborts: list[_Abort],
    segment: Segment,
    facts: PartitionFacts,
    run: tuple[int, int, int],
) -> Finding:
    first, last, more = run
    entry = entries[first]
    is_below = int(entry["last_offset"]) < segment.base_offset
    place: dict[str, Any] = {"slot": first, "entry": txn_index.entry_text(entry)}
    if _is_refused(entry):
        text = message("finding.txn_entry_version", version=txn_index.VERSION, **place)
    elif is_below:
        text = message("finding.txn_entry_below_base", offset=segment.base_offset, **place)
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
    consequence = message("consequence.rebuilds_indexes") if is_below else None
    evidence = Evidence(
        message("evidence.kafkas_text", text=txn_index.entry_text(entry)),
        expected,
        entries[first : first + 1].tobytes().hex(),
    )
    byte_range = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
    return facts.make_finding(
        "txnindex-mismatch",
        segment.file_name("txnindex"),
        with_more_places(text, more),
        evidence,
        byte_range,
        consequence=consequence,
    )
