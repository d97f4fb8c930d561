"""The checks of an .index: does each entry lead to the batch that holds its key?

    slot 3      key 963, position 20672     the batch that starts there holds 1017 to 1025
                                            the one that holds 963 starts at 13780:
                                            index-offset-mismatch

The batches come in chunks, in the order of the log; of each entry two of them are remembered: the
one that starts at its position, and its home, the first that ends at or after its key.
"""

from collections.abc import Iterator
from typing import cast

import numpy as np

from kafkaviz import versions
from kafkaviz.analyse.checks.facts import UNFLUSHED_TRIM, Facts, and_more, listed
from kafkaviz.analyse.checks.offset_index_spacing import Spacing
from kafkaviz.analyse.checks.reading import Chunk, Reading
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.format import offset_index
from kafkaviz.log.segment import Segment
from kafkaviz.units import group

ENTRY_BYTES = offset_index.ENTRY.itemsize
# no batch; in the middle of one; one whose header cannot be believed
NONE, INSIDE, UNSOUND = -1, -2, -3
PLACE: np.dtype = np.dtype([("position", "i8"), ("base_offset", "i8"), ("last_offset", "i8")])
FEW_ENTRIES = 4  # fewer do not tell the interval
FINE, FIRST_KEY, COARSE, BEYOND, NOT_START, MISMATCH, UNKNOWN = range(7)
CODES = {
    BEYOND: "index-position-beyond-log",
    NOT_START: "index-position-not-batch-start",
    MISMATCH: "index-offset-mismatch",
    COARSE: "index-coarse",
    FIRST_KEY: "index-first-offset-keys",
}


class Watch:
    """Takes the batches of a segment, and says what is wrong with its .index."""

    def __init__(self, segment: Segment, facts: Facts) -> None:
        self._segment, self._facts = segment, facts
        self._index = segment.offset_slots
        self._entries = self._index.entries
        count = len(self._entries)
        self._starts, self._homes = _places(count), _places(count)
        self._by_position = np.argsort(self._entries["position"], kind="stable")
        self._by_key = np.argsort(self._entries["offset"], kind="stable")
        self._last_offset = segment.base_offset - 1
        self._spacing = Spacing(segment, facts)

    def add(self, chunk: Chunk) -> None:
        """The next batches."""
        if not len(chunk.batches) or not len(self._entries):
            return
        self._add_starts(chunk)
        self._add_homes(chunk.batches[chunk.sound])
        self._spacing.add(chunk.batches)

    def _add_starts(self, chunk: Chunk) -> None:
        batches = chunk.batches
        ends = batches["position"] + batches["size_bytes"]
        ordered = self._entries["position"][self._by_position]
        low, high = np.searchsorted(ordered, [batches["position"][0], ends[-1]])
        slots, positions = self._by_position[low:high], ordered[low:high]
        rows = np.searchsorted(batches["position"], positions, "right") - 1
        inside = positions < ends[rows]
        exact = batches["position"][rows] == positions
        self._starts[slots] = _of(batches, rows)
        self._starts["position"][slots[inside & ~exact]] = INSIDE
        self._starts["position"][slots[~inside]] = UNSOUND
        self._starts["position"][slots[exact & ~chunk.sound[rows]]] = UNSOUND

    def _add_homes(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        last_offsets = np.maximum.accumulate(batches["last_offset"])
        ordered = self._entries["offset"][self._by_key]
        low, high = np.searchsorted(ordered, [self._last_offset, int(last_offsets[-1])], "right")
        slots = self._by_key[low:high]
        self._homes[slots] = _of(batches, np.searchsorted(last_offsets, ordered[low:high]))
        self._last_offset = max(self._last_offset, int(last_offsets[-1]))

    def findings(self, reading: Reading) -> Iterator[Finding]:
        """What is wrong, once all batches were taken."""
        segment, file = self._segment, self._segment.index
        if segment.log is None:
            return
        if file is None:
            yield from self._missing()
            return
        verdicts = self._verdicts(reading)
        yield from self._length(reading)
        yield from self._wrong(verdicts)
        yield from self._unordered(verdicts)
        yield from self._explained(verdicts)
        if (
            len(verdicts) > FEW_ENTRIES
            and (verdicts == FINE).all()
            and not self._facts.may_be_per_append
            and not self._index.unwritten
        ):
            yield from self._spacing.findings()

    def _missing(self) -> Iterator[Finding]:
        if not existing(self._segment.log).size_bytes:
            return  # LazyIndex: a segment gets its index files with its first append
        name = f"{self._segment.name}.index"
        yield self._facts.found(
            "index-missing",
            name,
            f"{self._segment.name}.log has no .index",
            Evidence("no file", name),
        )

    def _length(self, reading: Reading) -> Iterator[Finding]:
        index, name = self._index, existing(self._segment.index).name
        if index.trailing_bytes:
            at = index.slots * ENTRY_BYTES
            found = f"{index.trailing_bytes} bytes behind the last whole entry"
            evidence = Evidence(found, f"a length that is a multiple of {ENTRY_BYTES}")
            message = (
                f"the file is {group(at + index.trailing_bytes)} bytes long, no multiple of "
                f"{ENTRY_BYTES}"
            )
            yield self._facts.found(
                "index-size-not-multiple", name, message, evidence, at, index.trailing_bytes
            )
        if not index.unwritten:
            return
        at, length = len(self._entries) * ENTRY_BYTES, index.unwritten * ENTRY_BYTES
        is_active = self._segment.state == "active"
        expected = is_active and self._facts.active_is_untrimmed
        words = f"{group(len(self._entries))} entries, then {group(index.unwritten)} slots of zeros"
        trimmed = (
            "" if expected else f"a file of {group(at)} bytes: a roll or a clean stop trims it"
        )
        code = "index-unwritten-slots" if expected else "index-zero-tail"
        message = words if is_active else f"{words}; {UNFLUSHED_TRIM}"
        yield self._facts.found(
            code, name, message, Evidence(words, trimmed, "00" * ENTRY_BYTES), at, length
        )

    def _verdicts(self, reading: Reading) -> np.ndarray:
        """What each entry is."""
        entries, starts, homes = self._entries, self._starts, self._homes
        position = starts["position"]
        verdicts = np.full(len(entries), MISMATCH, np.int8)
        same = (position >= 0) & (position == homes["position"])
        verdicts[same & (entries["offset"] == homes["last_offset"])] = FINE
        verdicts[
            same
            & (entries["offset"] == homes["base_offset"])
            & (verdicts != FINE)
            & self._facts.may_have_first_keys
        ] = FIRST_KEY
        inside = (
            same
            & (entries["offset"] > homes["base_offset"])
            & (entries["offset"] < homes["last_offset"])
        )
        verdicts[inside & self._facts.compacted & self._facts.may_be_per_append] = COARSE
        verdicts[self._stands_for_append()] = COARSE
        verdicts[position == INSIDE] = NOT_START
        verdicts[(entries["position"] < 0) | (entries["position"] >= reading.end_bytes)] = BEYOND
        verdicts[
            (position == UNSOUND)
            | ((position == NONE) & (verdicts != BEYOND))
            | self._home_unsound(reading)
        ] = UNKNOWN
        return verdicts

    def _stands_for_append(self) -> np.ndarray:
        """Entries for an append of several batches: it starts behind the home of the entry before,
        and ends with the key.
        """
        entries, starts, homes = self._entries, self._starts, self._homes
        before = np.concatenate(([-1], np.maximum.accumulate(homes["position"])[:-1]))[
            : len(entries)
        ]
        earlier = (
            (starts["position"] > before)
            & (starts["position"] > 0)
            & (starts["position"] < homes["position"])
        )
        whole = (entries["offset"] == homes["last_offset"]) | self._facts.compacted
        return earlier & whole & self._facts.may_be_per_append

    def _home_unsound(self, reading: Reading) -> np.ndarray:
        """Entries whose batch may be among those that cannot be believed: their homes are then
        those of the next one.
        """
        return reading.unsound(self._entries["offset"])

    def _wrong(self, verdicts: np.ndarray) -> Iterator[Finding]:
        for verdict in (BEYOND, NOT_START, MISMATCH):
            yield from listed(
                np.flatnonzero(verdicts == verdict).tolist(),
                lambda *run, code=CODES[verdict]: self._entry(code, *run),
            )

    def _entry(self, code: str, first: int, last: int, more: int) -> Finding:
        entry, start, home = self._entries[first], self._starts[first], self._homes[first]
        found = (
            f"slot {first}: offset {group(entry['offset'])}, position {group(entry['position'])}"
        )
        told = {
            "index-position-beyond-log": "where the .log has no batch any more",
            "index-position-not-batch-start": "where no batch starts",
        }.get(code) or (
            f"where the batch of offsets {group(start['base_offset'])} to "
            f"{group(start['last_offset'])} starts"
        )
        expected, digits = "", ""
        if home["position"] >= 0:
            expected = f"offset {group(home['last_offset'])}, position {group(home['position'])}"
            digits = self._digits(int(home["last_offset"]), int(home["position"]))
        evidence = Evidence(
            found, expected, self._digits(int(entry["offset"]), int(entry["position"])), digits
        )
        which = f"slot {first}" if first == last else f"slots {first} to {last}"
        message = (
            f"{which}: offset {group(entry['offset'])} is said to be at byte "
            f"{group(entry['position'])}, {told}{and_more(more)}"
        )
        place = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
        return self._facts.found(
            code,
            existing(self._segment.index).name,
            message,
            evidence,
            *place,
            consequence=self._skipped(code, first),
        )

    def _skipped(self, code: str, slot: int) -> str:
        """What a search that lands on this entry misses, where that can be told; else nothing."""
        start, home = self._starts[slot], self._homes[slot]
        is_checked = not versions.INDEXES_TRUSTED.of(self._facts.version)
        if (
            code != "index-offset-mismatch"
            or not 0 <= home["position"] < start["position"]
            or is_checked
        ):
            return ""
        after = self._entries["offset"][slot + 1] if slot + 1 < len(self._entries) else None
        first, last = int(self._entries["offset"][slot]), int(start["base_offset"]) - 1
        reach = f"{group(first)} to {group(last if after is None else min(int(after) - 1, last))}"
        return (
            f"A start does not check entries. A search for offsets {reach} begins at byte "
            f"{group(start['position'])}, so fetches and time lookups skip to offset "
            f"{group(start['base_offset'])} without an error"
        )

    def _digits(self, offset: int, position: int) -> str:
        """The eight bytes of an entry."""
        halves = (offset - self._segment.base_offset, position)
        return "".join(f"{half & 0xFFFFFFFF:08x}" for half in halves)

    def _unordered(self, verdicts: np.ndarray) -> Iterator[Finding]:
        """Keys that do not grow among the entries that are right by themselves."""
        right = np.flatnonzero(verdicts <= COARSE)
        wrong = right[1:][np.diff(self._entries["offset"][right]) <= 0]
        yield from listed(wrong.tolist(), self._order)

    def _order(self, first: int, last: int, more: int) -> Finding:
        before, entry = self._entries[first - 1], self._entries[first]
        message = (
            f"slot {first}: offset {group(entry['offset'])} follows offset "
            f"{group(before['offset'])}{and_more(more)}"
        )
        digits = self._digits(int(entry["offset"]), int(entry["position"]))
        evidence = Evidence(
            f"offset {group(entry['offset'])}", f"an offset above {group(before['offset'])}", digits
        )
        place = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
        return self._facts.found(
            "index-not-monotonic", existing(self._segment.index).name, message, evidence, *place
        )

    def _explained(self, verdicts: np.ndarray) -> Iterator[Finding]:
        """What an older release, or a follower of one, writes."""
        for verdict, words in (
            (
                COARSE,
                (
                    "entries stand for appends of several batches, as releases before 3.9.1 wrote "
                    "them, and 4.0.0"
                ),
            ),
            (
                FIRST_KEY,
                (
                    "entries have the first offset of their batch as key, as releases before 2.0 "
                    "wrote them"
                ),
            ),
        ):
            slots = np.flatnonzero(verdicts == verdict)
            if len(slots):
                entry = self._entries[slots[0]]
                message = f"{group(len(slots))} of {group(len(verdicts))} {words}"
                found = (
                    f"slot {slots[0]}: offset {group(entry['offset'])}, position "
                    f"{group(entry['position'])}"
                )
                home = self._homes[slots[0]]
                expected = (
                    f"offset {group(home['last_offset'])}, position {group(home['position'])} in a "
                    "newer release"
                )
                evidence = Evidence(
                    found, expected, self._digits(int(entry["offset"]), int(entry["position"]))
                )
                place = int(slots[0]) * ENTRY_BYTES, ENTRY_BYTES
                yield self._facts.found(
                    CODES[verdict], existing(self._segment.index).name, message, evidence, *place
                )


def _places(count: int) -> np.ndarray:
    places = np.zeros(count, PLACE)
    places["position"] = NONE
    return places


def _of(batches: np.ndarray, rows: np.ndarray) -> np.ndarray:
    found = np.empty(len(rows), PLACE)
    for name in cast("tuple[str, ...]", PLACE.names):
        found[name] = batches[name][rows]
    return found
