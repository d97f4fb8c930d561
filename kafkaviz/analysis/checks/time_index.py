"""The checks of a .timeindex: does each entry have the largest timestamp so far, and its offset?

For example, slot 2 has the timestamp 2026-10-26 and the offset 1803. No batch has that timestamp:
timeindex-timestamp-mismatch.
"""

from collections.abc import Iterator

import numpy as np

from kafkaviz.analysis.checks.facts import (
    PartitionFacts,
    describe_slots,
    findings_by_run,
    with_more_places,
)
from kafkaviz.analysis.checks.log_scan import ScanState
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import KafkavizError
from kafkaviz.format import time_index
from kafkaviz.format.batch_records import offsets_and_times
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message

ENTRY_BYTES = time_index.ENTRY.itemsize
NONE = -1
HOME: np.dtype = np.dtype(
    [
        ("position", "i8"),
        ("base_offset", "i8"),
        ("last_offset", "i8"),
        ("max_timestamp_ms", "i8"),
        ("newest_ms", "i8"),
    ]
)
FINE, DEEP, OFFSET, TIMESTAMP, MISSED, UNKNOWN = range(6)
CODES = {
    OFFSET: "timeindex-offset-mismatch",
    TIMESTAMP: "timeindex-timestamp-mismatch",
    MISSED: "timeindex-max-missed",
}
# at most this many entries are compared with their records; the rest is trusted
DEEP_READ = 64


class TimeIndexCheck(BatchObserver[Iterator[Finding]]):
    def __init__(self, segment: LogSegment, facts: PartitionFacts, scan_state: ScanState) -> None:
        self._segment = segment
        self._facts = facts
        self._scan_state = scan_state
        self._index = segment.time_slots
        self._entries = self._index.entries
        self._homes = np.zeros(len(self._entries), HOME)
        self._homes["position"] = NONE
        self._by_offset = np.argsort(self._entries["offset"], kind="stable")
        self._times = np.unique(self._entries["timestamp_ms"])
        self._has_batch = np.zeros(len(self._times), bool)
        self._last_offset = segment.base_offset - 1
        self._newest_ms = -1
        # position and last offset of the batch with the newest timestamp
        self._newest: tuple[int, int] | None = None

    def observe(self, batches: np.ndarray) -> None:
        batches = batches[batches["is_sound"]]
        if not len(batches):
            return
        newest = np.maximum(np.maximum.accumulate(batches["max_timestamp_ms"]), self._newest_ms)
        if len(self._entries):
            self._add_homes(batches, newest)
            self._has_batch |= np.isin(self._times, batches["max_timestamp_ms"])
        if newest[-1] > self._newest_ms:
            row = batches[np.argmax(batches["max_timestamp_ms"])]
            self._newest_ms = int(newest[-1])
            self._newest = (int(row["position"]), int(row["last_offset"]))

    def _add_homes(self, batches: np.ndarray, newest: np.ndarray) -> None:
        last_offsets = np.maximum.accumulate(batches["last_offset"])
        ordered = self._entries["offset"][self._by_offset]
        low, high = np.searchsorted(ordered, [self._last_offset, int(last_offsets[-1])], "right")
        slots = self._by_offset[low:high]
        rows = np.searchsorted(last_offsets, ordered[low:high])
        for name in field_names(HOME)[:-1]:
            self._homes[name][slots] = batches[name][rows]
        self._homes["newest_ms"][slots] = newest[rows]
        self._last_offset = max(self._last_offset, int(last_offsets[-1]))

    def result(self) -> Iterator[Finding]:
        if self._segment.timeindex is None:
            yield from self._missing_finding()
            return
        verdicts = self._verdicts()
        length_findings = list(self._length_findings())
        yield from length_findings
        yield from self._entry_findings(verdicts)
        yield from self._order_findings(verdicts)
        yield from self._release_findings(verdicts)
        if not length_findings:
            yield from self._end_findings(verdicts)

    def _missing_finding(self) -> Iterator[Finding]:
        if not self._segment.log.size_bytes or self._segment.index is None:
            return  # Kafka creates it with the first append, or rebuilds it with the .index
        name = self._segment.file_name("timeindex")
        log = self._segment.log
        written_ms = log.mtime_ns // 1_000_000
        text = message(
            "finding.no_timeindex", file=log.name, moment=self._newest_ms, written=written_ms
        )
        if self._newest_ms < 0:
            text = message("finding.no_timeindex_no_times", file=log.name, written=written_ms)
        yield self._facts.make_finding(
            "timeindex-missing",
            name,
            text,
            Evidence(message("evidence.no_file"), message("evidence.name", name=name)),
        )

    def _length_findings(self) -> Iterator[Finding]:
        index = self._index
        facts = self._facts
        name = self._segment.file_name("timeindex")
        if index.trailing_bytes:
            position = index.slots * ENTRY_BYTES
            yield facts.torn_slot_finding(
                "timeindex-size-not-multiple", name, position, index.trailing_bytes, ENTRY_BYTES
            )
        is_active = self._segment.state == "active"
        if not index.unwritten_slots or (is_active and facts.active_is_untrimmed):
            return
        expected = message("evidence.file_of_bytes", n=len(self._entries) * ENTRY_BYTES)
        if self._newest_ms >= 0:
            expected = message("evidence.last_entry", moment=self._newest_ms)
        yield facts.unwritten_slots_finding(
            "timeindex-zero-tail", name, index, ENTRY_BYTES, expected, is_active=is_active
        )

    def _verdicts(self) -> np.ndarray:
        entries = self._entries
        homes = self._homes
        times = entries["timestamp_ms"]
        has_batch = (
            self._has_batch[np.searchsorted(self._times, times)]
            if len(entries)
            else np.empty(0, bool)
        )
        verdicts = np.where(has_batch, OFFSET, TIMESTAMP)
        is_batch_time = (homes["position"] >= 0) & (times == homes["max_timestamp_ms"])
        verdicts[is_batch_time & (entries["offset"] == homes["last_offset"])] = FINE
        is_deep = (
            is_batch_time
            & (entries["offset"] >= homes["base_offset"])
            & (entries["offset"] < homes["last_offset"])
        )
        verdicts[is_deep] = (
            np.where(self._has_true_record(np.flatnonzero(is_deep)), DEEP, OFFSET)
            if self._facts.may_have_record_offsets
            else OFFSET
        )
        verdicts[(verdicts <= DEEP) & (homes["newest_ms"] > times)] = MISSED
        verdicts[self._scan_state.is_unsound(entries["offset"])] = UNKNOWN
        # the timestamp may be in a batch that cannot be trusted
        if self._scan_state.unsound_offsets:
            verdicts[verdicts == TIMESTAMP] = np.where(
                homes["position"][verdicts == TIMESTAMP] >= 0, TIMESTAMP, UNKNOWN
            )
        if self._facts.may_hold_stale_entries(self._segment):
            others = np.flatnonzero(entries["offset"] <= self._last_offset)
            verdicts[others[-1] + 1 if len(others) else 0 :] = UNKNOWN
        return verdicts

    def _has_true_record(self, slots: np.ndarray) -> np.ndarray:
        """Returns whether the record at each entry's offset has the entry's timestamp.

        Only the first DEEP_READ entries are looked up. The result is True for all others.
        """
        is_true = np.ones(len(slots), bool)
        for index, slot in enumerate(slots[:DEEP_READ].tolist()):
            entry = self._entries[slot]
            try:
                parts = offsets_and_times(
                    self._segment.batch_bytes(int(self._homes["position"][slot]))
                )
                is_true[index] = any(
                    ((offsets == entry["offset"]) & (times == entry["timestamp_ms"])).any()
                    for offsets, times in parts
                )
            except KafkavizError:
                continue
        return is_true

    def _entry_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        for verdict, code in CODES.items():
            yield from findings_by_run(
                np.flatnonzero(verdicts == verdict).tolist(),
                lambda *run, code=code: self._entry_finding(code, *run),
            )

    def _entry_finding(self, code: str, first: int, last: int, more: int) -> Finding:
        entry = self._entries[first]
        home = self._homes[first]
        found_text = message(
            "evidence.time_slot",
            slot=first,
            moment=int(entry["timestamp_ms"]),
            offset=int(entry["offset"]),
        )
        expected = None
        digits = ""
        if home["position"] >= 0:
            expected = message(
                "evidence.newest_up_to",
                moment=int(home["newest_ms"]),
                offset=int(home["last_offset"]),
            )
            digits = self._digits(int(home["newest_ms"]), int(home["last_offset"]))
        problem = {
            "timeindex-offset-mismatch": message("finding.time_of_other_batch")
            if entry["timestamp_ms"] != home["max_timestamp_ms"]
            else message("finding.offset_not_last", offset=int(home["last_offset"])),
            "timeindex-timestamp-mismatch": message("finding.time_of_no_batch"),
            "timeindex-max-missed": message("finding.newer_batch_before"),
        }[code]
        text = with_more_places(
            message(
                "finding.entry_said_of",
                slots=describe_slots(first, last),
                offset=int(entry["offset"]),
                moment=int(entry["timestamp_ms"]),
                problem=problem,
            ),
            more,
        )
        found_digits = self._digits(int(entry["timestamp_ms"]), int(entry["offset"]))
        byte_range = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
        return self._facts.make_finding(
            code,
            self._segment.file_name("timeindex"),
            text,
            Evidence(found_text, expected, found_digits, digits),
            byte_range,
        )

    def _digits(self, timestamp_ms: int, offset: int) -> str:
        return (
            f"{timestamp_ms & 0xFFFFFFFFFFFFFFFF:016x}"
            f"{(offset - self._segment.base_offset) & 0xFFFFFFFF:08x}"
        )

    def _order_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        """Yields findings about entries whose timestamps do not grow or whose offsets fall.

        Entries with another fault are left out.
        """
        sound_slots = np.flatnonzero((verdicts <= DEEP) | (verdicts == UNKNOWN))
        entries = self._entries[sound_slots]
        wrong_slots = sound_slots[1:][
            (np.diff(entries["timestamp_ms"]) <= 0) | (np.diff(entries["offset"]) < 0)
        ]
        yield from findings_by_run(wrong_slots.tolist(), self._order_finding)

    def _order_finding(self, first: int, last: int, more: int) -> Finding:
        previous_entry = self._entries[first - 1]
        entry = self._entries[first]
        entry_text = self._describe_entry(int(entry["offset"]), int(entry["timestamp_ms"]))
        before_text = self._describe_entry(
            int(previous_entry["offset"]), int(previous_entry["timestamp_ms"])
        )
        text = with_more_places(
            message(
                "finding.time_follows",
                slot=first,
                entry=entry_text,
                before=before_text,
            ),
            more,
        )
        digits = self._digits(int(entry["timestamp_ms"]), int(entry["offset"]))
        evidence = Evidence(
            entry_text,
            message(
                "evidence.time_and_offset_above",
                moment=int(previous_entry["timestamp_ms"]),
                offset=int(previous_entry["offset"]),
            ),
            digits,
        )
        byte_range = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
        return self._facts.make_finding(
            "timeindex-not-monotonic",
            self._segment.file_name("timeindex"),
            text,
            evidence,
            byte_range,
        )

    def _release_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        slots = np.flatnonzero(verdicts == DEEP)
        if len(slots):
            entry = self._entries[slots[0]]
            home = self._homes[slots[0]]
            text = message("finding.deep_entries", n=len(slots), all=len(verdicts))
            found_text = message(
                "evidence.slot_offset", slot=int(slots[0]), offset=int(entry["offset"])
            )
            evidence = Evidence(
                found_text,
                message("evidence.offset_from_3_7", offset=int(home["last_offset"])),
                self._digits(int(entry["timestamp_ms"]), int(entry["offset"])),
            )
            position = int(slots[0]) * ENTRY_BYTES
            yield self._facts.make_finding(
                "timeindex-deep-offset",
                self._segment.file_name("timeindex"),
                text,
                evidence,
                (position, ENTRY_BYTES),
            )

    def _end_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        """Yields a finding if the .timeindex is empty or ends before the newest record."""
        if self._newest is None:
            return
        name = self._segment.file_name("timeindex")
        is_closed = self._segment.state != "active" or (
            self._facts.clean and not self._facts.active_is_untrimmed
        )
        position, offset = self._newest
        if not len(self._entries):
            text = message("finding.no_time_entry", moment=self._newest_ms)
            yield self._facts.make_finding(
                "timeindex-empty",
                name,
                text,
                Evidence(message("evidence.no_entry"), self._describe_entry(offset)),
                (0, 0),
            )
            return
        last = self._entries[-1]
        if (
            is_closed
            and last["timestamp_ms"] < self._newest_ms
            and verdicts[-1] in (FINE, DEEP, MISSED)
            and MISSED not in verdicts[-1:]
        ):
            entry_position = (len(self._entries) - 1) * ENTRY_BYTES
            found_text = self._describe_entry(int(last["offset"]), int(last["timestamp_ms"]))
            evidence = Evidence(
                found_text, self._describe_entry(offset), "", self._digits(self._newest_ms, offset)
            )
            text = message(
                "finding.last_entry_older",
                moment=int(last["timestamp_ms"]),
                byte=position,
                newest=self._newest_ms,
            )
            yield self._facts.make_finding(
                "timeindex-max-missed", name, text, evidence, (entry_position, ENTRY_BYTES)
            )

    def _describe_entry(self, offset: int, timestamp_ms: int | None = None) -> Message:
        return message(
            "evidence.time_entry",
            moment=self._newest_ms if timestamp_ms is None else timestamp_ms,
            offset=offset,
        )
