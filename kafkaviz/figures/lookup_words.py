"""A lookup in words: one plain sentence a step, and the pseudocode that the step is a line of."""

from typing import NamedTuple, cast

from kafkaviz import units
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.slots import Probe
from kafkaviz.units import group
from kafkaviz.words import counted, say

# the targets that have a name and are no time
SPECIAL = {value: name for name, value in NAMES.items()}
# what was found in the middle, lines behind the one that takes it
MIDDLES = {"=": ("equal", 0), "<": ("below", 1), ">": ("above", 2)}
# the pseudocodes
WARM, PLAIN, BASE, LAST, TIMED, LARGEST = "warm", "plain", "base", "last", "time", "largest"


class Told(NamedTuple):
    """A step in words, the line of the pseudocode it stands at, and what is left of the index
    behind it; None for nothing.
    """

    text: str
    line: int
    left: tuple[int, int] | None


def code(name: str) -> list[str]:
    """The lines of a pseudocode: WARM, PLAIN, BASE, LAST, TIMED or LARGEST."""
    return say(f"lookup_words.{name}_code").split("\n")


def code_title(search: IndexSearch, warm_slots: int) -> str:
    """What a search's pseudocode is of; warm_slots: W, the entries behind the first one of the warm
    section.
    """
    key = f"lookup_words.code_{search.kind}{'' if search.found.warm_from_slot is None else '_warm'}"
    return say(key, entry_bytes=ENTRY_BYTES[search.kind], warm=group(warm_slots))


def text_of(kind: str, key: int) -> str:
    """A key of an index: an offset, or a time of day."""
    return units.clock(key) if kind == TIME else group(key)


def count(key: str, number: int) -> str:
    """A number of things: 1 probe, 2 probes."""
    return counted(key, number, n=group(number))


def told(search: IndexSearch) -> list[Told]:
    """Each probe of a search."""
    tell = _plain if search.found.warm_from_slot is None else _warm
    return [tell(search, at, probe) for at, probe in enumerate(search.found.probes)]


def _said(name: str, search: IndexSearch, probe: Probe, last: int = 0) -> str:
    key, target = text_of(search.kind, probe.key), text_of(search.kind, search.found.target)
    return say(
        f"lookup_words.{name}", slot=group(probe.slot), key=key, target=target, last=group(last)
    )


def _warm(search: IndexSearch, at: int, probe: Probe) -> Told:
    found, last = search.found, search.found.entries - 1
    if at == 0 and probe.compare == "<":
        return Told(
            _said("begins_last" if probe.slot == last else "begins_warm", search, probe, last),
            2,
            (probe.slot, last),
        )
    if at == 0:
        return Told(
            _said("begins_equal" if probe.compare == "=" else "begins_cold", search, probe),
            2,
            (0, last),
        )
    if at == 1 and found.section == "cold":
        warm_from = cast(int, found.warm_from_slot)  # a cold section ends at the warm one
        first = "first_again" if warm_from == 0 else "first"
        if probe.compare == ">":
            return Told(_said(f"{first}_above", search, probe), 3, None)
        return Told(
            _said(f"{first}_cold", search, probe, warm_from),
            4,
            (0, warm_from),
        )
    return _middle(search, probe, 7)


def _plain(search: IndexSearch, at: int, probe: Probe) -> Told:
    last = search.found.entries - 1
    if at == 0 and probe.compare == ">":
        return Told(
            _said("plain_above" if search.kind == TIME else "plain_above_log", search, probe),
            1,
            None,
        )
    return (
        Told(_said("plain_whole", search, probe, last), 2, (0, last))
        if at == 0
        else _middle(search, probe, 4)
    )


def _middle(search: IndexSearch, probe: Probe, line: int) -> Told:
    name, behind = MIDDLES[probe.compare]
    left = {
        "=": (probe.slot, probe.slot),
        "<": (probe.slot, probe.hi),
        ">": (probe.lo, probe.slot - 1),
    }[probe.compare]
    return Told(_said(f"middle_{name}", search, probe), line + behind, left)


def result(search: IndexSearch, base_offset: int, has_log: bool = True) -> Told:
    """What a search came to."""
    found, target, base = (
        search.found,
        text_of(search.kind, search.found.target),
        group(base_offset),
    )
    end = len(code(PLAIN if found.warm_from_slot is None else WARM)) - 1
    if not found.entries:
        return Told(say(f"lookup_words.none_{search.kind}", base=base), 0, None)
    if found.slot < 0:
        line = 1 if found.probes[-1].slot == 0 and len(found.probes) == 1 else 3
        name = "all_later" if search.kind == TIME else "none_below_log" if has_log else "none_below"
        return Told(say(f"lookup_words.{name}", base=base, target=target), line, None)
    at, slot = (found.slot, found.slot), group(found.slot)
    if search.entry is None or not has_log:
        return Told(say("lookup_words.found", slot=slot, target=target), end, at)
    key, value = text_of(search.kind, search.entry[0]), group(search.entry[1])
    return Told(
        say(f"lookup_words.found_{search.kind}", slot=slot, target=target, key=key, value=value),
        end,
        at,
    )


def index_title(
    search: IndexSearch,
    probes: int,
    pages: int,
    all_pages: int,
    over: bool,
    left: tuple[int, int] | None,
) -> str:
    """What the figure of the index shows after so many probes."""
    entries, kind = search.found.entries, search.kind
    made = count("lookup_words.n_probes", probes)
    if not entries:
        return say(f"lookup_words.title_none_{kind}")
    if over and search.found.slot < 0:
        return say("lookup_words.title_missed", probes=made)
    if over:
        return say(
            "lookup_words.title_found",
            probes=made,
            pages=count("lookup_words.n_pages", pages),
            slot=group(search.found.slot),
        )
    if not probes:
        return say(
            f"lookup_words.title_{kind}",
            entries=count("common.n_entries", entries),
            pages=count("lookup_words.n_pages", all_pages),
        )
    if not left:
        return say("lookup_words.title_none_left", probes=made, entries=group(entries))
    return say(
        "lookup_words.title_left",
        probes=made,
        left=group(left[1] - left[0] + 1),
        entries=group(entries),
    )


def index_hint(search: IndexSearch, warm_slots: int) -> str:
    """Where the warm section lies; warm_slots: W, the entries behind its first one."""
    found = search.found
    if found.warm_from_slot is None:
        return say("lookup_words.hint_plain") if found.entries else ""
    if found.warm_from_slot == 0:
        return say("lookup_words.hint_all_warm", most=group(warm_slots + 1))
    first, last = group(found.warm_from_slot), group(found.entries - 1)
    return say(
        "lookup_words.hint_warm",
        n=group(found.entries - found.warm_from_slot),
        first=first,
        last=last,
    )
