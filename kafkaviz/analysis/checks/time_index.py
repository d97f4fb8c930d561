"""The checks of a .timeindex: do the timestamps and offsets of its entries match the .log?

For example, slot 2 has the timestamp 2026-10-26 and the offset 1803. No batch has that timestamp:
timeindex-timestamp-mismatch.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np

from kafkaviz.analysis.checks.facts import PartitionFacts, describe_slots, findings_by_run
from kafkaviz.analysis.checks.index_check import IndexCheck
from kafkaviz.analysis.checks.log_scan import ScanState
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch_records import offsets_and_times
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message

NONE = -1
HOME: np.dtype = np.dtype(
    [
        (name, "i8")
        for name in ("position", "base_offset", "last_offset", "max_timestamp_ms", "newest_ms")
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


class TimeIndexCheck(IndexCheck):
    def __init__(self, segment: LogSegment, facts: PartitionFacts, scan_state: ScanState) -> None:
        super().__init__(segment, facts, scan_state, "timeindex", segment.time_slots)
        self._homes = np.zeros(len(self._entries), HOME)
        self._homes["position"] = NONE
        self._by_offset = np.argsort(self._entries["offset"], kind="stable")
        self._times = np.unique(self._entries["timestamp_ms"])
        self._has_batch = np.zeros(len(self._times), bool)
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
            # Kafka creates it with the first append, or rebuilds it with the .index
            if self._segment.log.size_bytes and self._segment.index is not None:
                yield self._missing_finding("timeindex-missing", self._missing_text())
            return
        verdicts = self._verdicts()
        length_findings = list(self._torn_slot_findings("timeindex-size-not-multiple"))
        length_findings += self._zero_tail_findings()
        yield from length_findings
        for verdict, code in CODES.items():
            yield from findings_by_run(
                np.flatnonzero(verdicts == verdict).tolist(), partial(self._entry_finding, code)
            )
        yield from self._order_findings(verdicts)
        yield from self._release_findings(verdicts)
        if not length_findings:
            yield from self._end_findings(verdicts)

    def _missing_text(self) -> Message:
        log = self._segment.log
        written_ms = log.mtime_ns // 1_000_000
        if self._newest_ms < 0:
            return message("finding.no_timeindex_no_times", file=log.name, written=written_ms)
        return message(
            "finding.no_timeindex", file=log.name, moment=self._newest_ms, written=written_ms
        )

    def _zero_tail_findings(self) -> Iterator[Finding]:
        expected = message("evidence.file_of_bytes", n=len(self._entries) * self._entry_bytes)
        if self._newest_ms >= 0:
            expected = message("evidence.last_entry", moment=self._newest_ms)
        if not self._is_preallocated:
            yield from self._unwritten_slots_findings("timeindex-zero-tail", expected)

    def _verdicts(self) -> np.ndarray:
        entries = self._entries
        homes = self._homes
        times = entries["timestamp_ms"]
        has_batch = self._has_batch[np.searchsorted(self._times, times)]
        verdicts = np.where(has_batch, OFFSET, TIMESTAMP)
        is_batch_time = (homes["position"] >= 0) & (times == homes["max_timestamp_ms"])
        verdicts[is_batch_time & (entries["offset"] == homes["last_offset"])] = FINE
        is_deep = (
            is_batch_time
            & (entries["offset"] >= homes["base_offset"])
            & (entries["offset"] < homes["last_offset"])
        )
        verdicts[is_deep] = OFFSET
        if self._facts.may_have_record_offsets:
            deep_slots = np.flatnonzero(is_deep)
            verdicts[deep_slots[self._has_true_record(deep_slots)]] = DEEP
        verdicts[(verdicts <= DEEP) & (homes["newest_ms"] > times)] = MISSED
        verdicts[self._scan_state.is_unsound(entries["offset"])] = UNKNOWN
        # the timestamp may be in a batch that cannot be trusted
        if self._scan_state.unsound_offsets:
            verdicts[(verdicts == TIMESTAMP) & (homes["position"] < 0)] = UNKNOWN
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
            with suppress(KafkavizError):
                data = self._segment.batch_bytes(int(self._homes["position"][slot]))
                is_true[index] = any(
                    ((offsets == entry["offset"]) & (times == entry["timestamp_ms"])).any()
                    for offsets, times in offsets_and_times(data)
                )
        return is_true

    def _entry_finding(self, code: str, first: int, last: int, more: int) -> Finding:
        moment, offset = self._time_and_offset(first)
        home = self._homes[first]
        newest_ms = int(home["newest_ms"])
        last_offset = int(home["last_offset"])
        expected = None
        expected_digits = ""
        if home["position"] >= 0:
            expected = message("evidence.newest_up_to", moment=newest_ms, offset=last_offset)
            expected_digits = self._digits(newest_ms, last_offset)
        if code == "timeindex-timestamp-mismatch":
            problem = message("finding.time_of_no_batch")
        elif code == "timeindex-max-missed":
            problem = message("finding.newer_batch_before")
        elif moment != home["max_timestamp_ms"]:
            problem = message("finding.time_of_other_batch")
        else:
            problem = message("finding.offset_not_last", offset=last_offset)
        slots_text = describe_slots(first, last)
        text = message(
            "finding.entry_said_of", slots=slots_text, offset=offset, moment=moment, problem=problem
        )
        found_text = message("evidence.time_slot", slot=first, moment=moment, offset=offset)
        evidence = Evidence(found_text, expected, self._digits(moment, offset), expected_digits)
        return self._slots_finding(code, text, evidence, (first, last), more)

    def _time_and_offset(self, slot: int) -> tuple[int, int]:
        entry = self._entries[slot]
        return int(entry["timestamp_ms"]), int(entry["offset"])

    def _digits(self, timestamp_ms: int, offset: int) -> str:
        return (
            f"{timestamp_ms & 0xFFFFFFFFFFFFFFFF:016x}"
            f"{(offset - self._segment.base_offset) & 0xFFFFFFFF:08x}"
        )

    def _order_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        """Yields findings about entries whose timestamps do not grow or whose offsets fall.

        Entries with a different fault are left out.
        """
        sound_slots = np.flatnonzero((verdicts <= DEEP) | (verdicts == UNKNOWN))
        entries = self._entries[sound_slots]
        wrong_slots = sound_slots[1:][
            (np.diff(entries["timestamp_ms"]) <= 0) | (np.diff(entries["offset"]) < 0)
        ]
        yield from findings_by_run(wrong_slots.tolist(), self._order_finding)

    def _order_finding(self, first: int, last: int, more: int) -> Finding:
        moment, offset = self._time_and_offset(first)
        before_ms, before_offset = self._time_and_offset(first - 1)
        entry_text = _describe_entry(moment, offset)
        before_text = _describe_entry(before_ms, before_offset)
        text = message("finding.time_follows", slot=first, entry=entry_text, before=before_text)
        expected = message("evidence.time_and_offset_above", moment=before_ms, offset=before_offset)
        evidence = Evidence(entry_text, expected, self._digits(moment, offset))
        return self._slots_finding("timeindex-not-monotonic", text, evidence, (first, last), more)

    def _release_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        slots = np.flatnonzero(verdicts == DEEP).tolist()
        if slots:
            first = slots[0]
            moment, offset = self._time_and_offset(first)
            last_offset = int(self._homes["last_offset"][first])
            found_text = message("evidence.slot_offset", slot=first, offset=offset)
            expected = message("evidence.offset_from_3_7", offset=last_offset)
            evidence = Evidence(found_text, expected, self._digits(moment, offset))
            text = message("finding.deep_entries", n=len(slots), all=len(verdicts))
            yield self._slots_finding("timeindex-deep-offset", text, evidence, (first, first))

    def _end_findings(self, verdicts: np.ndarray) -> Iterator[Finding]:
        """Yields a finding if the .timeindex is empty or ends before the newest record."""
        if self._newest is None:
            return
        is_closed = self._segment.state != "active" or (
            self._facts.clean and not self._facts.active_is_untrimmed
        )
        newest_ms = self._newest_ms
        position, offset = self._newest
        newest_text = _describe_entry(newest_ms, offset)
        if not len(self._entries):
            text = message("finding.no_time_entry", moment=newest_ms)
            evidence = Evidence(message("evidence.no_entry"), newest_text)
            yield self._facts.make_finding("timeindex-empty", self._name, text, evidence, (0, 0))
            return
        last = len(self._entries) - 1
        last_ms, last_offset = self._time_and_offset(last)
        if is_closed and last_ms < newest_ms and verdicts[-1] in (FINE, DEEP):
            digits = self._digits(newest_ms, offset)
            evidence = Evidence(_describe_entry(last_ms, last_offset), newest_text, "", digits)
            text = message(
                "finding.last_entry_older", moment=last_ms, byte=position, newest=newest_ms
            )
            yield self._slots_finding("timeindex-max-missed", text, evidence, (last, last))


def _describe_entry(timestamp_ms: int, offset: int) -> Message:
    return message("evidence.time_entry", moment=timestamp_ms, offset=offset)
