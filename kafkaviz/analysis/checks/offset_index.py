"""The checks of an .index: does each entry point to the batch that has the entry's key?

For example, slot 3 has the key 949 and the position 16372. The batch at 16372 has the offsets 1017
to 1025. The batch with offset 949 is at 9285: index-offset-mismatch.

The check finds two batches for each entry and compares them (`Aim` in analysis/segment/links.py):

- start: the batch that starts at the entry's position
- home: the first batch whose last offset is at or above the entry's key
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from kafkaviz import versions
from kafkaviz.analysis.checks.facts import PartitionFacts, describe_slots, findings_by_run
from kafkaviz.analysis.checks.index_check import IndexCheck
from kafkaviz.analysis.checks.log_scan import ScanState
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.analysis.segment.links import NONE, Aim, aims_of, batch_refs, unset_refs
from kafkaviz.errors import KafkavizError
from kafkaviz.format import offset_index
from kafkaviz.format.walk import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.recovery import recover
from kafkaviz.versions import NEWEST_RELEASE

ENTRY_BYTES = offset_index.ENTRY.itemsize
# for an entry that points inside a batch, or to a batch that cannot be trusted
INSIDE = -2
UNSOUND = -3
FEW_ENTRIES = 4  # this many entries or fewer do not show the interval
UNKNOWN = -1  # instead of an Aim: the entry was not judged
CODES = {
    Aim.FIRST_KEY: "index-first-offset-keys",
    Aim.COARSE: "index-coarse",
    Aim.FOREIGN: "index-differs-from-rebuild",
    Aim.PAST: "index-offset-mismatch",
    Aim.INSIDE: "index-position-not-batch-start",
    Aim.BEYOND: "index-position-beyond-log",
    Aim.NO_BATCH: "index-offset-mismatch",
}
MAX_EPOCH = np.iinfo(np.int64).max


class OffsetIndexCheck(IndexCheck):
    def __init__(self, segment: LogSegment, facts: PartitionFacts, scan_state: ScanState) -> None:
        super().__init__(segment, facts, scan_state, "index", segment.offset_slots)
        count = len(self._entries)
        self._starts = unset_refs(count)
        self._homes = unset_refs(count)
        self._by_position = np.argsort(self._entries["position"], kind="stable")
        self._by_key = np.argsort(self._entries["offset"], kind="stable")
        self._spacing = EntrySpacingCheck(segment, facts)

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches) or not len(self._entries):
            return
        self._add_starts(batches)
        self._add_homes(batches[batches["is_sound"]])
        self._spacing.observe(batches)

    def _add_starts(self, batches: np.ndarray) -> None:
        ends = batches["position"] + batches["size_bytes"]
        ordered = self._entries["position"][self._by_position]
        low, high = np.searchsorted(ordered, [batches["position"][0], ends[-1]])
        slots = self._by_position[low:high]
        positions = ordered[low:high]
        rows = np.searchsorted(batches["position"], positions, "right") - 1
        is_inside = positions < ends[rows]
        is_exact = batches["position"][rows] == positions
        self._starts[slots] = batch_refs(batches, rows)
        self._starts["position"][slots[is_inside & ~is_exact]] = INSIDE
        self._starts["position"][slots[~is_inside]] = UNSOUND
        self._starts["position"][slots[is_exact & ~batches["is_sound"][rows]]] = UNSOUND

    def _add_homes(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        last_offsets = np.maximum.accumulate(batches["last_offset"])
        ordered = self._entries["offset"][self._by_key]
        low, high = np.searchsorted(ordered, [self._last_offset, int(last_offsets[-1])], "right")
        slots = self._by_key[low:high]
        self._homes[slots] = batch_refs(batches, np.searchsorted(last_offsets, ordered[low:high]))
        self._last_offset = max(self._last_offset, int(last_offsets[-1]))

    def result(self) -> Iterator[Finding]:
        if self._segment.index is None:
            # Kafka creates the index files only with the first append (LazyIndex)
            if self._segment.log.size_bytes:
                text = message("finding.no_index", file=f"{self._segment.name}.log")
                yield self._missing_finding("index-missing", text)
            return
        aims = self._aims()
        yield from self._torn_slot_findings("index-size-not-multiple")
        if self._is_preallocated:
            yield from self._unwritten_slots_findings("index-unwritten-slots", None)
        else:
            trimmed = message("evidence.trimmed_file", n=len(self._entries) * ENTRY_BYTES)
            yield from self._unwritten_slots_findings("index-zero-tail", trimmed)
        for aim in (Aim.BEYOND, Aim.INSIDE, Aim.PAST, Aim.NO_BATCH, Aim.FOREIGN):
            yield from findings_by_run(
                np.flatnonzero(aims == aim).tolist(), partial(self._entry_finding, CODES[aim])
            )
        unordered_slots = np.flatnonzero(aims == Aim.UNORDERED)
        yield from findings_by_run(unordered_slots.tolist(), self._order_finding)
        yield from self._release_findings(aims)
        if (
            len(aims) > FEW_ENTRIES
            and (aims == Aim.EXACT).all()
            and not self._facts.may_be_per_append
            and not self._index.unwritten_slots
        ):
            yield from self._spacing.result()

    def _aims(self) -> np.ndarray:
        """Returns where each entry points: a value of `Aim` from segment/links.py, or UNKNOWN.

        - UNKNOWN: the entry may be stale, or the batches around the entry cannot be trusted.
        - Aim.FOREIGN: no release that can have written this index writes such an entry.
        """
        entries = self._entries
        starts = self._starts["position"]
        aims = aims_of(entries, starts >= 0, self._homes, self._scan_state.end_bytes)
        if not self._facts.may_have_first_keys:
            aims[aims == Aim.FIRST_KEY] = Aim.FOREIGN
        if not self._facts.may_be_per_append:
            aims[aims == Aim.COARSE] = Aim.FOREIGN
        # if the batches around an entry's offset cannot be trusted, neither can the entry's home
        is_uncertain = (starts == UNSOUND) | ((starts == NONE) & (aims != Aim.BEYOND))
        aims[is_uncertain | self._scan_state.is_unsound(entries["offset"])] = UNKNOWN
        if self._facts.may_hold_stale_entries(self._segment):
            others = np.flatnonzero(aims != Aim.BEYOND)
            aims[others[-1] + 1 if len(others) else 0 :] = UNKNOWN
        return aims

    def _entry_finding(self, code: str, first: int, last: int, more: int) -> Finding:
        offset = int(self._entries["offset"][first])
        position = int(self._entries["position"][first])
        start = self._starts[first]
        home = self._homes[first]
        found_text = message("evidence.slot", slot=first, offset=offset, position=position)
        if code == "index-position-beyond-log":
            problem = message("finding.where_log_ended")
        elif code == "index-position-not-batch-start":
            problem = message("finding.where_no_batch_starts")
        else:
            problem = message(
                "finding.where_other_batch_starts",
                first=int(start["base_offset"]),
                last=int(start["last_offset"]),
            )
        expected = None
        digits = ""
        if home["position"] >= 0:
            expected = message(
                "evidence.entry", offset=int(home["last_offset"]), position=int(home["position"])
            )
            digits = self._digits(int(home["last_offset"]), int(home["position"]))
        evidence = Evidence(found_text, expected, self._digits(offset, position), digits)
        slots_text = describe_slots(first, last)
        text = message(
            "finding.entry_said_at", slots=slots_text, offset=offset, byte=position, problem=problem
        )
        consequence = self._describe_skipped(code, first)
        return self._slots_finding(
            code, text, evidence, (first, last), more, consequence=consequence
        )

    def _describe_skipped(self, code: str, slot: int) -> Message | None:
        """Describes the offsets that a search from the entry in `slot` skips.

        None: the search skips no offset, or brokers of this release check each index at start-up.
        """
        start = self._starts[slot]
        home = self._homes[slot]
        is_checked = not versions.INDEXES_TRUSTED.applies_to(self._facts.release)
        is_skipping = 0 <= home["position"] < start["position"]
        if code != "index-offset-mismatch" or not is_skipping or is_checked:
            return None
        offset = int(start["base_offset"])
        last = offset
        if slot + 1 < len(self._entries):
            last = min(offset, int(self._entries["offset"][slot + 1]))
        return message(
            "consequence.search_skips",
            first=int(self._entries["offset"][slot]),
            last=last - 1,
            byte=int(start["position"]),
            offset=offset,
        )

    def _digits(self, offset: int, position: int) -> str:
        halves = (offset - self._segment.base_offset, position)
        return "".join(f"{half & 0xFFFFFFFF:08x}" for half in halves)

    def _order_finding(self, first: int, last: int, more: int) -> Finding:
        before = int(self._entries["offset"][first - 1])
        offset = int(self._entries["offset"][first])
        text = message("finding.offset_follows", slot=first, offset=offset, before=before)
        found_text = message("evidence.offset", offset=offset)
        digits = self._digits(offset, int(self._entries["position"][first]))
        evidence = Evidence(found_text, message("evidence.offset_above", offset=before), digits)
        return self._slots_finding("index-not-monotonic", text, evidence, (first, last), more)

    def _release_findings(self, aims: np.ndarray) -> Iterator[Finding]:
        claims = {
            Aim.COARSE: "finding.entries_per_append",
            Aim.FIRST_KEY: "finding.entries_of_first_offsets",
        }
        for aim, claim in claims.items():
            slots = np.flatnonzero(aims == aim)
            if not len(slots):
                continue
            slot = int(slots[0])
            offset = int(self._entries["offset"][slot])
            position = int(self._entries["position"][slot])
            home = self._homes[slot]
            found_text = message("evidence.slot", slot=slot, offset=offset, position=position)
            expected = message(
                "evidence.entry_in_newer_release",
                offset=int(home["last_offset"]),
                position=int(home["position"]),
            )
            evidence = Evidence(found_text, expected, self._digits(offset, position))
            text = message(claim, n=len(slots), all=len(aims))
            yield self._slots_finding(CODES[aim], text, evidence, (slot, slot))


class EntrySpacingCheck(BatchObserver[Iterator[Finding]]):
    """Checks whether an .index lacks entries that a recovery of the segment would write.

    For example, an index has entries for the positions 4200, 8400, 12600, 29400 and 33600, so the
    interval is below 4200. A recovery would also write entries for 16800, 21000 and 25200:
    index-differs-from-rebuild.

    A broker writes an entry when it has counted enough bytes since the previous entry. A restart
    or a follower's truncation resets the count to 0, which makes one gap longer.

    A stretch is the part of the .log between two entries. Stretch n follows entry n - 1, and
    stretch 0 is before the first entry. The first rule that applies decides about a stretch that is
    longer than the interval:

    1. Another leader epoch begins in the stretch: no finding. A follower may have truncated its
       log.
    2. The .timeindex has two or more of the missing entries: finding. The broker would have written
       the entries of the .index at the same moments.
    3. The .timeindex has any other entry in the stretch, or all stretches on one side of it are
       about as long or longer: no finding. The broker may have been restarted with another
       interval.
    4. The first batch of the stretch is newer than all earlier batches: finding, unless the log is
       compacted, or the .timeindex has unwritten slots or no earlier entry. A stopping broker would
       have written a time entry.
    5. The stretch is longer than twice the interval: finding. One restart does not explain that.
    """

    def __init__(self, segment: LogSegment, facts: PartitionFacts) -> None:
        self._segment = segment
        self._facts = facts
        self._entries = np.sort(segment.offset_slots.entries, order="position")
        stretches = len(self._entries) + 1
        # .log bytes from the previous entry to each entry's batch
        self._appended_bytes = np.full(stretches - 1, -1)
        # .log bytes from the start of each stretch to its last batch without an entry
        self._unindexed_bytes = np.zeros(stretches, np.int64)
        self._least_epoch = np.full(stretches, MAX_EPOCH)
        self._last_epoch = np.full(stretches, -1)
        # whether the first batch of each stretch is newer than all batches before it
        self._is_newer = np.zeros(stretches, bool)
        self._largest_bytes = 0
        self._newest_ms = -1
        self._stretch = -1

    def observe(self, batches: np.ndarray) -> None:
        ordered = self._entries["position"]
        slots = np.searchsorted(ordered, batches["position"], "right") - 1
        is_indexed = (slots >= 0) & (ordered[slots] == batches["position"])
        stretch = slots - is_indexed + 1
        appended_bytes = batches["position"] - np.where(stretch > 0, ordered[stretch - 1], 0)
        self._appended_bytes[slots[is_indexed]] = appended_bytes[is_indexed]
        self._largest_bytes = max(self._largest_bytes, int(batches["size_bytes"].max()))
        newest_ms = np.maximum.accumulate(
            np.concatenate(([self._newest_ms], batches["max_timestamp_ms"]))
        )
        self._newest_ms = int(newest_ms[-1])
        self._add_unindexed(
            batches[~is_indexed],
            stretch[~is_indexed],
            appended_bytes[~is_indexed],
            (newest_ms[1:] > newest_ms[:-1])[~is_indexed],
        )

    def _add_unindexed(
        self,
        batches: np.ndarray,
        stretch: np.ndarray,
        appended_bytes: np.ndarray,
        is_newer: np.ndarray,
    ) -> None:
        if not len(batches):
            return
        np.maximum.at(self._unindexed_bytes, stretch, appended_bytes)
        np.minimum.at(self._least_epoch, stretch, batches["leader_epoch"])
        np.maximum.at(self._last_epoch, stretch, batches["leader_epoch"])
        first = np.diff(stretch, prepend=self._stretch) != 0
        self._is_newer[stretch[first]] = is_newer[first]
        self._stretch = int(stretch[-1])

    def result(self) -> Iterator[Finding]:
        """Yields a finding about the longest stretch that lacks entries, if any.

        Call this only if all existing entries are correct.
        """
        high_bytes = int(self._appended_bytes[self._appended_bytes >= 0].min(initial=MAX_EPOCH)) - 1
        if high_bytes < 0 or not len(self._entries):
            return
        # if a restart follows right after an entry, the entry's own batch is not counted
        is_long = self._unindexed_bytes > high_bytes + self._largest_bytes
        stretches = np.flatnonzero(is_long & (self._least_epoch == self._last_epoch))
        if not len(stretches):
            return  # a recovery need not be simulated
        recovery_entries = self._recovery_entries(high_bytes)
        has_other_interval = self._has_other_interval()
        longest_first = stretches[np.argsort(-self._unindexed_bytes[stretches], kind="stable")]
        for stretch in longest_first.tolist():
            first, last = self._bounds(stretch, "position", 0, self._segment.log.size_bytes)
            positions = recovery_entries["position"]
            is_inside = (positions > first) & (positions < last)
            missing_entries = recovery_entries[is_inside]
            has_other = bool(has_other_interval[stretch])
            if len(missing_entries) and self._is_reported(
                stretch, missing_entries, high_bytes, has_other_interval=has_other
            ):
                yield self._missing_finding(stretch, missing_entries, high_bytes)
                return

    def _is_reported(
        self,
        stretch: int,
        missing_entries: np.ndarray,
        high_bytes: int,
        *,
        has_other_interval: bool,
    ) -> bool | np.bool_:
        """Returns whether rules 2 to 5, from the docstring of the class, give a finding."""
        first, last = self._bounds(stretch, "offset", self._segment.base_offset - 1, MAX_EPOCH)
        offsets = self._segment.time_slots.entries["offset"]
        # the time entry that was written with the entry at the end of the stretch does not count
        times = offsets[(offsets > first) & (offsets < last)]
        if len(times) or has_other_interval:
            missing_offsets = missing_entries["relative_offset"] + self._segment.base_offset
            return np.count_nonzero(np.isin(missing_offsets, times)) > 1
        # a .timeindex that was emptied shows nothing about earlier times
        has_earlier_time = (
            len(offsets) and offsets[0] <= first and not self._segment.time_slots.unwritten_slots
        )
        if has_earlier_time and self._is_newer[stretch] and not self._facts.compacted:
            return True
        return self._unindexed_bytes[stretch] > 2 * high_bytes + self._largest_bytes

    def _bounds(self, stretch: int, name: str, least: int, most: int) -> tuple[int, int]:
        """Returns `name` of the entries before and after a stretch, else `least` or `most`."""
        values = self._entries[name]
        before = int(values[stretch - 1]) if stretch else least
        after = int(values[stretch]) if stretch < len(values) else most
        return before, after

    def _has_other_interval(self) -> np.ndarray:
        appended_bytes = self._appended_bytes
        least_before = np.append(np.minimum.accumulate(appended_bytes), 0)
        least_after = np.minimum.accumulate(appended_bytes[::-1])[::-1]
        least_after = np.append(least_after, MAX_EPOCH - self._largest_bytes)
        interval_bytes = np.maximum(least_before, least_after) - 1
        return self._unindexed_bytes <= interval_bytes + self._largest_bytes

    def _missing_finding(
        self, stretch: int, missing_entries: np.ndarray, high_bytes: int
    ) -> Finding:
        start, _ = self._bounds(stretch, "position", 0, 0)
        count = message("evidence.recovery_entries", n=len(missing_entries))
        first = missing_entries[0]
        key = self._segment.base_offset + int(first["relative_offset"])
        text = message(
            "finding.entries_missing",
            bytes=int(self._unindexed_bytes[stretch]),
            byte=start,
            after=high_bytes + 1,
            entries=count,
        )
        expected = message(
            "evidence.entries_from", entries=count, offset=key, byte=int(first["position"])
        )
        digits = offset_index.build(missing_entries[:1]).hex()
        evidence = Evidence(message("evidence.none_between"), expected, "", digits)
        name = self._segment.file_name("index")
        byte_range = (stretch * ENTRY_BYTES, 0)
        return self._facts.make_finding(
            "index-differs-from-rebuild", name, text, evidence, byte_range
        )

    def _recovery_entries(self, interval_bytes: int) -> np.ndarray:
        """Returns the entries that a recovery with this interval writes; empty if it would fail."""
        log = self._segment.log
        config = IndexConfig(index_interval_bytes=interval_bytes)
        behaviour = release_behaviour(self._facts.release or NEWEST_RELEASE)
        base_offset = self._segment.base_offset
        try:
            with file.reader(log.path) as reader:
                segment = recover(reader, log.size_bytes, base_offset, config, behaviour)
                return segment.offset_entries
        except KafkavizError:
            return np.empty(0, offset_index.ENTRY)
