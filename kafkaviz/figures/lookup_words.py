"""A lookup in words: one plain sentence a step, and the pseudocode that the step is a line of."""

from typing import NamedTuple

from kafkaviz import units
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.index import TIME, IndexSearch
from kafkaviz.search.slots import Probe
from kafkaviz.units import group

WARM_CODE = (
    "N = 0: none", "F ← max(0, N − 1 − W)", "key(F) < target: lo, hi ← F, N − 1", "else key(0) > target: none", "else: lo, hi ← 0, F",
    "while lo < hi:", "  mid ← (lo + hi + 1) ÷ 2", "  key(mid) = target: return mid", "  key(mid) < target: lo ← mid",
    "  else: hi ← mid − 1", "return lo",
)  # fmt: skip
PLAIN_CODE = (
    "N = 0: none", "key(0) > target: none", "lo, hi ← 0, N − 1; while lo < hi:", "  mid ← (lo + hi + 1) ÷ 2",
    "  key(mid) = target: return mid", "  key(mid) < target: lo ← mid", "  else: hi ← mid − 1", "return lo",
)  # fmt: skip
BASE_CODE = (
    "p ← position(lo), or 0", "read 17 B at p: base offset, length", "base = target: this batch", "base > target: the batch before",
    "  if its last offset ≥ target", "else p ← p + 12 + length; again",
)  # fmt: skip
LAST_CODE = ("p ← position(lo), or 0", "read 17 + 61 B at p: last offset", "last < target: p ← p + 12 + length", "else: this batch")
TIME_CODE = (
    "p ← position(lo), or 0", "read 17 + 61 B at p: max timestamp", "max < target: p ← p + 12 + length",
    "else: first record ≥ target in it",
)  # fmt: skip
LARGEST_CODE = (
    "p ← position(lo), or 0", "read 17 + 61 B at p: max timestamp", "not the largest: p ← p + 12 + length",
    "else: first record with it",
)  # fmt: skip
SPECIAL = {value: name for name, value in NAMES.items()}  # the targets that have a name and are no time
MIDDLES = {"=": 0, "<": 1, ">": 2}  # lines behind the one that takes the middle


class Told(NamedTuple):
    """A step in words, the line of the pseudocode it stands at, and what is left of the index behind it; None for nothing."""

    text: str
    line: int
    left: tuple[int, int] | None


def text_of(kind: str, key: int) -> str:
    """A key of an index: an offset, or a time of day."""
    return units.clock(key) if kind == TIME else group(key)


def told(search: IndexSearch) -> list[Told]:
    """Each probe of a search."""
    tell = _plain if search.found.warm_from_slot is None else _warm
    return [tell(search, at, probe) for at, probe in enumerate(search.found.probes)]


def _warm(search: IndexSearch, at: int, probe: Probe) -> Told:
    found, last = search.found, search.found.entries - 1
    key, target = text_of(search.kind, probe.key), text_of(search.kind, found.target)
    if at == 0:
        begins = f"Slot {group(probe.slot)}, where the warm section begins, holds {key}"
        if probe.compare == "<":
            rest = f"slot {group(last)} alone" if probe.slot == last else f"slots {group(probe.slot)} to {group(last)}"
            return Told(f"{begins}, below {target}. So the answer is in the warm section: {rest}.", 2, (probe.slot, last))
        strict = " (the test is strict: an equal key counts as cold)" if probe.compare == "=" else ""
        return Told(f"{begins}, not below {target}. So the answer is not in the warm section{strict}.", 2, (0, last))
    if at == 1 and found.section == "cold":
        again = ", read a second time," if found.warm_from_slot == 0 else ""
        if probe.compare == ">":
            return Told(f"Slot 0{again} holds {key}, above {target}. No entry helps.", 3, None)
        first = f"Slot 0{again} holds {key}, not above {target}. Search the cold section"
        return Told(f"{first}: slots 0 to {group(found.warm_from_slot)}.", 4, (0, found.warm_from_slot))
    return _middle(search, probe, 7)


def _plain(search: IndexSearch, at: int, probe: Probe) -> Told:
    key, target = text_of(search.kind, probe.key), text_of(search.kind, search.found.target)
    if at == 0:
        if probe.compare == ">":
            instead = "" if search.kind == TIME else ": start at the first byte of the log"
            return Told(f"Slot 0 holds {key}, already above {target}. No entry helps{instead}.", 1, None)
        last = search.found.entries - 1
        return Told(f"Slot 0 holds {key}, not above {target}. The whole index is searched: slots 0 to {group(last)}.", 2, (0, last))
    return _middle(search, probe, 4)


def _middle(search: IndexSearch, probe: Probe, line: int) -> Told:
    key, target = text_of(search.kind, probe.key), text_of(search.kind, search.found.target)
    holds, line = f"The middle, slot {group(probe.slot)}, holds", line + MIDDLES[probe.compare]
    if probe.compare == "=":
        return Told(f"{holds} exactly {target}. The search stops here.", line, (probe.slot, probe.slot))
    if probe.compare == "<":
        right = f"{holds} {key}, below {target}. Keep slot {group(probe.slot)} and everything right of it."
        return Told(right, line, (probe.slot, probe.hi))
    return Told(f"{holds} {key}, above {target}. Keep only what is left of it.", line, (probe.lo, probe.slot - 1))


def result(search: IndexSearch, base_offset: int, has_log: bool = True) -> Told:
    """What a search came to."""
    found, target = search.found, text_of(search.kind, search.found.target)
    lines = len(PLAIN_CODE if found.warm_from_slot is None else WARM_CODE)
    if not found.entries:
        instead = f" Take the segment’s base offset, {group(base_offset)}." if search.kind == TIME else " The scan starts at byte 0."
        return Told(f"The {search.kind} index has no entries, so there is nothing to search.{instead}", 0, None)
    if found.slot < 0:
        line = 1 if found.probes[-1].slot == 0 and len(found.probes) == 1 else 3
        if search.kind == TIME:
            return Told(f"Every time entry is later than the target. Take the segment’s base offset, {group(base_offset)}.", line, None)
        return Told(f"No entry is at or below {target}.{' The scan starts at byte 0.' if has_log else ''}", line, None)
    at = found.slot, found.slot
    if search.entry is None or not has_log:
        return Told(f"Slot {group(found.slot)} is the last entry not above {target}.", lines - 1, at)
    key, value = text_of(search.kind, search.entry[0]), group(search.entry[1])
    if search.kind == TIME:
        words = f"is the last time entry not after the target: {key} → offset {value}. Records after that offset may be later."
    else:
        words = f"is the last entry not above {target}: {key} → byte {value}. Read the log from there."
    return Told(f"Slot {group(found.slot)} {words}", lines - 1, at)


def index_title(search: IndexSearch, probes: int, pages: int, all_pages: int, over: bool, left: tuple[int, int] | None) -> str:
    """What the figure of the index shows after so many probes."""
    entries = group(search.found.entries)
    if not search.found.entries:
        return f"The {search.kind} index has no entries"
    if over and search.found.slot < 0:
        return f"No entry is at or below the target; {count(probes, 'probe')} to learn it"
    if over:
        return f"{count(probes, 'probe')} on {count(pages, 'page')} found slot {group(search.found.slot)}"
    if not probes:
        return f"The {search.kind} index: {count(search.found.entries, 'entry', 'entries')} in {count(all_pages, 'page')}"
    return f"{count(probes, 'probe')}; {group(left[1] - left[0] + 1) if left else 'none'} of {entries} slots left"


def index_hint(search: IndexSearch, warm_slots: int) -> str:
    """Where the warm section lies; warm_slots: W, the entries behind its first one."""
    found = search.found
    if found.warm_from_slot is None:
        return "Plain search: every probe may land anywhere in the file." if found.entries else ""
    if found.warm_from_slot == 0:
        return f"The whole index fits in the warm section (up to {group(warm_slots + 1)} entries)."
    warm = found.entries - found.warm_from_slot
    return f"Warm section: the last {group(warm)} entries, slots {group(found.warm_from_slot)} to {group(found.entries - 1)}."


def count(number: int, one: str, many: str = "") -> str:
    """A number of things: 1 probe, 2 probes."""
    return f"{group(number)} {one if number == 1 else many or one + 's'}"
