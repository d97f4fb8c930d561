"""The check for entries that an .index lacks, compared with a recovery of the segment.

For example, entries at 0, 4200, 8400, 12600, 29400 and 33600 show an interval below 4200. A
recovery would also write entries at 16800, 21000 and 25200: index-differs-from-rebuild.

A recovery counts bytes through the whole .log, and so does a broker that writes it. But a restart,
or a truncation on a follower, resets the count to 0 and makes one stretch without entries longer.
These rules decide between the two causes:

- Another leader epoch begins in the stretch: a follower may have truncated its log. Undecided.
- The stretch has no time entry, though timestamps grew: a stop would have written one, so entries
  are missing.
- Time entries exist for two or more of the missing entries: both kinds are written together, so
  entries are missing.
- Timestamps did not grow: one restart is possible, so up to twice the interval is accepted.
- An interval that fits all entries on one side fits the stretch: a restart changed the interval.
  Undecided.
"""

from collections.abc import Iterator

import numpy as np

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.findings.finding import Evidence, Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.format import offset_index
from kafkaviz.format.batch_observer import BatchObserver
from kafkaviz.log import file
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.recovery.recovery import recover
from kafkaviz.versions import NEWEST_RELEASE

ENTRY_BYTES = offset_index.ENTRY.itemsize
MAX_EPOCH = np.iinfo(np.int64).max


class EntrySpacingCheck(BatchObserver[Iterator[Finding]]):
    """Collects the facts about each stretch between entries, while batches are read.

    Stretch n comes after entry n - 1, and stretch 0 is before the first entry.
    """

    def __init__(self, segment: LogSegment, facts: PartitionFacts) -> None:
        self._segment = segment
        self._facts = facts
        self._entries = np.sort(segment.offset_slots.entries, order="position")
        stretches = len(self._entries) + 1
        # .log bytes from the previous entry to each entry's batch
        self._appended_bytes = np.full(stretches - 1, -1)
        # most bytes appended in each stretch without an entry
        self._unindexed_bytes = np.zeros(stretches, np.int64)
        self._least_epoch = np.full(stretches, MAX_EPOCH)
        self._last_epoch = np.full(stretches, -1)
        # whether the first batch of each stretch is newer than all before it
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
        """Yields a finding about the longest stretch that lacks entries, with those of a recovery.

        The existing entries must be right by themselves.
        """
        high_bytes = int(self._appended_bytes[self._appended_bytes >= 0].min(initial=MAX_EPOCH)) - 1
        if high_bytes < 0 or not len(self._entries):
            return
        # after a restart right after an entry, the entry's own batch is not counted
        is_long = self._unindexed_bytes > high_bytes + self._largest_bytes
        stretches = np.flatnonzero(is_long & (self._least_epoch == self._last_epoch))
        if not len(stretches):
            return
        recovery_entries = self._recovery_entries(high_bytes)
        has_other_interval = self._has_other_interval()
        for stretch in stretches[
            np.argsort(-self._unindexed_bytes[stretches], kind="stable")
        ].tolist():
            missing_entries = self._in_stretch(recovery_entries, stretch)
            if len(missing_entries) and self._is_decided(
                stretch,
                missing_entries,
                high_bytes,
                has_other_interval=bool(has_other_interval[stretch]),
            ):
                yield self._missing_finding(stretch, missing_entries, high_bytes)
                return

    def _is_decided(
        self,
        stretch: int,
        missing_entries: np.ndarray,
        high_bytes: int,
        *,
        has_other_interval: bool,
    ) -> bool | np.bool_:
        """Returns whether neither a restart nor another interval explains the missing entries."""
        first, last = self._bounds(stretch, "offset", self._segment.base_offset - 1, MAX_EPOCH)
        offsets = self._segment.time_slots.entries["offset"]
        # the time entry that was written with the entry at the end does not count
        times = offsets[(offsets > first) & (offsets < last)]
        are_together = (
            np.count_nonzero(
                np.isin(missing_entries["relative_offset"] + self._segment.base_offset, times)
            )
            > 1
        )
        if len(times) or has_other_interval:
            return are_together
        # a .timeindex that was emptied shows nothing about earlier times
        has_earlier_time = (
            len(offsets) and offsets[0] <= first and not self._segment.time_slots.unwritten_slots
        )
        if has_earlier_time and self._is_newer[stretch] and not self._facts.compacted:
            return True
        return self._unindexed_bytes[stretch] > 2 * high_bytes + self._largest_bytes

    def _in_stretch(self, recovery_entries: np.ndarray, stretch: int) -> np.ndarray:
        first, last = self._bounds(stretch, "position", 0, self._segment.log.size_bytes)
        return recovery_entries[
            (recovery_entries["position"] > first) & (recovery_entries["position"] < last)
        ]

    def _bounds(self, stretch: int, name: str, least: int, most: int) -> tuple[int, int]:
        """Returns the position or offset of the entries around a stretch.

        At the ends of the segment these are `least` and `most`.
        """
        values = self._entries[name]
        return int(values[stretch - 1]) if stretch else least, int(
            values[stretch]
        ) if stretch < len(values) else most

    def _has_other_interval(self) -> np.ndarray:
        """Returns which stretches fit an interval that also fits all entries on one side of it."""
        least_before = np.append(np.minimum.accumulate(self._appended_bytes), 0)
        least_behind = np.append(
            np.minimum.accumulate(self._appended_bytes[::-1])[::-1],
            MAX_EPOCH - self._largest_bytes,
        )
        return (
            self._unindexed_bytes
            <= np.maximum(least_before, least_behind) - 1 + self._largest_bytes
        )

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
        evidence = Evidence(
            message("evidence.none_between"),
            expected,
            "",
            offset_index.build(missing_entries[:1]).hex(),
        )
        return self._facts.make_finding(
            "index-differs-from-rebuild",
            self._segment.file_name("index"),
            text,
            evidence,
            (stretch * ENTRY_BYTES, 0),
        )

    def _recovery_entries(self, interval_bytes: int) -> np.ndarray:
        """Returns the entries that a recovery writes at this interval; empty if it fails."""
        log = self._segment.log
        try:
            with file.reader(log.path) as reader:
                config = IndexConfig(index_interval_bytes=interval_bytes)
                behaviour = release_behaviour(self._facts.release or NEWEST_RELEASE)
                return recover(
                    reader, log.size_bytes, self._segment.base_offset, config, behaviour
                ).offset_entries
        except KafkavizError:
            return np.empty(0, offset_index.ENTRY)
