"""The checks of a .txnindex: does it tell the aborted transactions of its .log, and no others?

slot 0      the marker at offset 1 lies below the base offset 320; the .log has the abort marker
at 222: txnindex-mismatch
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import cast

import numpy as np

from kafkaviz.analyse.checks.facts import Facts, and_more, listed
from kafkaviz.analyse.checks.other_files import unreadable
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.checks.transactions import Begun, Marker
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.format import txn_index
from kafkaviz.log.segment import Segment
from kafkaviz.units import group

ENTRY_BYTES = txn_index.ENTRY.itemsize


@dataclass(frozen=True)
class _Aborted:
    """An abort that the log tells: its marker, the first offset if it is known, and that of the
    first transaction still open.
    """

    marker: Marker
    first_offset: int | None
    stable_offset: int | None


def of_partition(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Each .txnindex beside what the markers of its .log say."""
    open_: dict[int, Begun] = {}
    # what began or ended behind a hole is not known
    for told in takewhile(lambda one: not one.unreadable, summaries):
        expected = list(aborts(told, open_))
        segment = told.segment
        if segment.txnindex is None:
            known = [one for one in expected if one.first_offset is not None]
            if known and not facts.compacted and not told.unsound:
                yield _no_index(known, segment, facts)
            continue
        try:
            entries = segment.txn_index
        except KafkavizError as fault:
            yield unreadable.of_file(segment.txnindex.name, fault, facts)
            continue
        torn = segment.txnindex.size_bytes % ENTRY_BYTES
        if torn:
            yield _torn(segment, entries, torn, facts)
        if not told.unsound:
            yield from _compared(entries, expected, segment, facts, _Begins(summaries), bool(torn))


def of_file(segment: Segment, facts: Facts) -> Iterator[Finding]:
    """What is wrong with a .txnindex whatever its .log says: an end that is torn, and entries that
    Kafka does not take.
    """
    entries, torn = segment.txn_index, existing(segment.txnindex).size_bytes % ENTRY_BYTES
    # TransactionIndex.sanityCheck, 4.3.1
    refused = _is_refused(entries) | (entries["last_offset"] < segment.base_offset)
    yield from listed(
        np.flatnonzero(refused).tolist(), lambda *run: _entry(entries, [], segment, facts, *run)
    )
    if torn:
        yield _torn(segment, entries, torn, facts)


def _is_refused(entries: np.ndarray | np.void) -> np.ndarray:
    """Whether each has a version that Kafka does not read, or any but the one that it writes."""
    return entries["version"] != txn_index.VERSION


class _Begins:
    """Where transactions begin: the last stable offset of an entry is one of these, if it is not
    the one behind the marker.
    """

    def __init__(self, summaries: Sequence[Summary]) -> None:
        """summaries: of all segments; what was open before the first of them is not known unless
        that is the log's very first.
        """
        self._known = summaries[0].segment.base_offset == 0 and not any(
            told.unsound for told in summaries
        )
        self._offsets = {offset for told in summaries for offset in told.stable_begins}
        self._offsets |= {
            step.offset for told in summaries for kind, _, step in told.steps if kind == "begin"
        }

    def allow(self, stable_offset: int, told: _Aborted) -> bool:
        """Whether the entry of an abort can hold this last stable offset.

        A follower works it out once all it fetched was taken in, so its value may be greater than
        the leader's, and never less.
        """
        behind = told.marker.offset + 1
        least = behind if told.stable_offset is None else told.stable_offset
        return not self._known or (
            stable_offset >= least and (stable_offset == behind or stable_offset in self._offsets)
        )


def aborts(told: Summary, open_: dict[int, Begun]) -> Iterator[_Aborted]:
    """The aborts of a segment; open_ is carried from segment to segment."""
    for kind, producer, step in told.steps:
        if kind == "begin":
            open_.setdefault(producer, cast(Begun, step))
            continue
        begun, marker = open_.pop(producer, None), cast(Marker, step)
        if marker.is_abort:
            before = [one.offset for one in open_.values() if one.offset < told.segment.base_offset]
            others = [*before, *([] if marker.stable_offset is None else [marker.stable_offset])]
            yield _Aborted(marker, begun.offset if begun else None, min(others, default=None))


def _no_index(known: list[_Aborted], segment: Segment, facts: Facts) -> Finding:
    name = f"{segment.name}.txnindex"
    first = f"the first ended at offset {group(known[0].marker.offset)}"
    message = (
        f"the .log has {group(len(known))} aborted transactions, {first}, and there is no .txnindex"
    )
    return facts.found(
        "txnindex-mismatch", name, message, Evidence("no file", f"{group(len(known))} entries")
    )


def _torn(segment: Segment, entries: np.ndarray, torn: int, facts: Facts) -> Finding:
    at = len(entries) * ENTRY_BYTES
    message = f"the file is {group(at + torn)} bytes long, no multiple of {ENTRY_BYTES}"
    evidence = Evidence(
        f"{torn} bytes behind the last whole entry", f"a length that is a multiple of {ENTRY_BYTES}"
    )
    return facts.found(
        "txnindex-torn", existing(segment.txnindex).name, message, evidence, at, torn
    )


def _compared(
    entries: np.ndarray,
    expected: list[_Aborted],
    segment: Segment,
    facts: Facts,
    begins: _Begins,
    torn: bool,
) -> Iterator[Finding]:
    """The entries that differ from what the log says, and the aborts without an entry."""
    by_marker = {one.marker.offset: one for one in expected}
    wrong = [
        slot
        for slot, entry in enumerate(entries)
        if not _agrees(entry, by_marker.get(int(entry["last_offset"])), facts, begins)
    ]
    kept = {int(entry["last_offset"]) for entry in entries}
    lacking = [
        one for one in expected if one.first_offset is not None and one.marker.offset not in kept
    ]
    yield from listed(wrong, lambda *run: _entry(entries, lacking, segment, facts, *run))
    if lacking and not wrong and not torn and not facts.compacted:
        one = lacking[0]
        message = (
            f"no entry for the transaction of producer {one.marker.producer_id} that was aborted "
            f"at offset {group(one.marker.offset)}"
        )
        at = len(entries) * ENTRY_BYTES
        expected_words = (
            f"an entry for offsets {group(one.first_offset)} to {group(one.marker.offset)}"
        )
        evidence = Evidence(f"{group(len(entries))} entries without it", expected_words)
        yield facts.found(
            "txnindex-mismatch",
            existing(segment.txnindex).name,
            message + and_more(len(lacking) - 1),
            evidence,
            at,
            0,
        )


def _agrees(entry: np.void, told: _Aborted | None, facts: Facts, begins: _Begins) -> bool:
    """Whether an entry tells an abort of the log."""
    if told is None or told.marker.producer_id != entry["producer_id"] or _is_refused(entry):
        return False
    if told.first_offset is not None and told.first_offset != entry["first_offset"]:
        return facts.compacted
    return facts.compacted or begins.allow(int(entry["last_stable_offset"]), told)


def _entry(
    entries: np.ndarray,
    lacking: list[_Aborted],
    segment: Segment,
    facts: Facts,
    first: int,
    last: int,
    more: int,
) -> Finding:
    entry = entries[first]
    below = int(entry["last_offset"]) < segment.base_offset
    message = f"slot {first}: {txn_index.entry_text(entry)}"
    if _is_refused(entry):
        message += f" has another version than {txn_index.VERSION}"
    else:
        message += (
            f" ends below the segment's base offset {group(segment.base_offset)}"
            if below
            else " is not what the .log says"
        )
    expected = ""
    if lacking:
        one = lacking[0]
        expected = (
            f"producer {one.marker.producer_id}, offsets {group(one.first_offset)} to "
            f"{group(one.marker.offset)}, which has no entry"
        )
    consequence = (
        "The next start notices, recovers the segment and rebuilds its indexes" if below else ""
    )
    evidence = Evidence(
        txn_index.entry_text(entry), expected, entries[first : first + 1].tobytes().hex()
    )
    place = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
    return facts.found(
        "txnindex-mismatch",
        existing(segment.txnindex).name,
        message + and_more(more),
        evidence,
        *place,
        consequence=consequence,
    )
