"""The common parts of the checks of an .index and of a .timeindex."""

from collections.abc import Iterator

from kafkaviz.analysis.checks.facts import PartitionFacts, with_more_places
from kafkaviz.analysis.checks.log_scan import ScanState
from kafkaviz.analysis.findings import CODES, Evidence, Finding
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log.segment import Index, LogSegment
from kafkaviz.messages import Message, message

ENTRY_BYTES = {"index": offset_index.ENTRY.itemsize, "timeindex": time_index.ENTRY.itemsize}


class IndexCheck(BatchObserver[Iterator[Finding]]):
    """Checks the entries of an index while the batches of its .log are read."""

    def __init__(
        self,
        segment: LogSegment,
        facts: PartitionFacts,
        scan_state: ScanState,
        kind: str,  # "index" or "timeindex"
        index: Index,
    ) -> None:
        self._segment = segment
        self._facts = facts
        self._scan_state = scan_state
        self._name = segment.file_name(kind)
        self._index = index
        self._entries = index.entries
        self._entry_bytes = ENTRY_BYTES[kind]
        self._last_offset = segment.base_offset - 1

    @property
    def _is_preallocated(self) -> bool:
        """Whether unwritten slots at the index's end are normal: an active, untrimmed segment."""
        return self._segment.state == "active" and self._facts.active_is_untrimmed

    def _slots_finding(
        self,
        code: str,
        text: Message,
        evidence: Evidence,
        slots: tuple[int, int],
        more: int = 0,
        *,
        consequence: Message | None = None,
    ) -> Finding:
        """Returns a finding about a range of slots. `slots` is (first slot, last slot).

        `more` is the number of other places with the same fault.
        """
        first, last = slots
        byte_range = first * self._entry_bytes, (last - first + 1) * self._entry_bytes
        text = with_more_places(text, more)
        return self._facts.make_finding(
            code, self._name, text, evidence, byte_range, consequence=consequence
        )

    def _missing_finding(self, code: str, text: Message) -> Finding:
        evidence = Evidence(message("evidence.no_file"), message("evidence.name", name=self._name))
        return self._facts.make_finding(code, self._name, text, evidence)

    def _torn_slot_findings(self, code: str) -> Iterator[Finding]:
        index = self._index
        if index.trailing_bytes:
            position = index.slots * self._entry_bytes
            yield self._facts.torn_slot_finding(
                code, self._name, position, index.trailing_bytes, self._entry_bytes
            )

    def _unwritten_slots_findings(self, code: str, expected: Message | None) -> Iterator[Finding]:
        count = self._index.unwritten_slots
        if not count:
            return
        entries = len(self._entries)
        slots_text = message("evidence.unwritten_slots", n=entries, slots=count)
        text = slots_text
        if self._segment.state != "active":
            text = message("finding.unflushed_slots", slots=slots_text, why=CODES[code].cause)
        evidence = Evidence(slots_text, expected, "00" * self._entry_bytes)
        yield self._slots_finding(code, text, evidence, (entries, entries + count - 1))
