"""A lookup in words: one plain sentence a step, and the pseudocode that the step is a line of."""

from typing import NamedTuple, cast

from kafkaviz import units
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.slots import Probe
from kafkaviz.units import group
from kafkaviz.words import say, say_count

# the targets that have a name and are no time
SPECIAL_NAMES = {value: name for name, value in NAMES.items()}
# what was found in the middle, lines behind the one that takes it
MIDDLE_CASES = {"=": ("equal", 0), "<": ("below", 1), ">": ("above", 2)}
# the pseudocodes
WARM_CODE, PLAIN_CODE, BASE_CODE, LAST_CODE, TIME_CODE, LARGEST_CODE = (
    "warm",
    "plain",
    "base",
    "last",
    "time",
    "largest",
)


class StepText(NamedTuple):
    """A step in words, the line of the pseudocode it stands at, and what is left of the index
    behind it; None for nothing.
    """

    text: str
    line: int
    slots_left: tuple[int, int] | None


def code_lines(name: str) -> list[str]:
    """The lines of a pseudocode: WARM, PLAIN, BASE, LAST, TIMED or LARGEST."""
    return say(f"lookup_words.{name}_code").split("\n")


def code_title(search: IndexSearch, warm_slots: int) -> str:
    """What a search's pseudocode is of; warm_slots: W, the entries behind the first one of the warm
    section.
    """
    key = (
        f"lookup_words.code_{search.kind}"
        f"{'' if search.slot_search.warm_from_slot is None else '_warm'}"
    )
    return say(key, entry_bytes=ENTRY_BYTES[search.kind], warm=group(warm_slots))


def key_text(kind: str, key: int) -> str:
    """A key of an index: an offset, or a time of day."""
    return units.clock(key) if kind == TIME else group(key)


def count_text(key: str, amount: int) -> str:
    """A number of things: 1 probe, 2 probes."""
    return say_count(key, amount, n=group(amount))


def describe_probes(search: IndexSearch) -> list[StepText]:
    """Each probe of a search."""
    describe = _plain_step if search.slot_search.warm_from_slot is None else _warm_step
    return [
        describe(search, probe_index, probe)
        for probe_index, probe in enumerate(search.slot_search.probes)
    ]


def _probe_text(name: str, search: IndexSearch, probe: Probe, last_slot: int = 0) -> str:
    key, target = key_text(search.kind, probe.key), key_text(search.kind, search.slot_search.target)
    return say(
        f"lookup_words.{name}",
        slot=group(probe.slot),
        key=key,
        target=target,
        last=group(last_slot),
    )


def _warm_step(search: IndexSearch, probe_index: int, probe: Probe) -> StepText:
    slot_search, last_slot = search.slot_search, search.slot_search.entries - 1
    if probe_index == 0 and probe.compare == "<":
        return StepText(
            _probe_text(
                "begins_last" if probe.slot == last_slot else "begins_warm",
                search,
                probe,
                last_slot,
            ),
            2,
            (probe.slot, last_slot),
        )
    if probe_index == 0:
        return StepText(
            _probe_text("begins_equal" if probe.compare == "=" else "begins_cold", search, probe),
            2,
            (0, last_slot),
        )
    if probe_index == 1 and slot_search.section == "cold":
        warm_from = cast(int, slot_search.warm_from_slot)  # a cold section ends at the warm one
        key = "first_again" if warm_from == 0 else "first"
        if probe.compare == ">":
            return StepText(_probe_text(f"{key}_above", search, probe), 3, None)
        return StepText(
            _probe_text(f"{key}_cold", search, probe, warm_from),
            4,
            (0, warm_from),
        )
    return _middle_step(search, probe, 7)


def _plain_step(search: IndexSearch, probe_index: int, probe: Probe) -> StepText:
    last_slot = search.slot_search.entries - 1
    if probe_index == 0 and probe.compare == ">":
        return StepText(
            _probe_text("plain_above" if search.kind == TIME else "plain_above_log", search, probe),
            1,
            None,
        )
    return (
        StepText(_probe_text("plain_whole", search, probe, last_slot), 2, (0, last_slot))
        if probe_index == 0
        else _middle_step(search, probe, 4)
    )


def _middle_step(search: IndexSearch, probe: Probe, line: int) -> StepText:
    name, lines_behind = MIDDLE_CASES[probe.compare]
    slots_left = {
        "=": (probe.slot, probe.slot),
        "<": (probe.slot, probe.hi),
        ">": (probe.lo, probe.slot - 1),
    }[probe.compare]
    return StepText(_probe_text(f"middle_{name}", search, probe), line + lines_behind, slots_left)


def describe_result(search: IndexSearch, base_offset: int, has_log: bool = True) -> StepText:
    """What a search came to."""
    slot_search, target, base = (
        search.slot_search,
        key_text(search.kind, search.slot_search.target),
        group(base_offset),
    )
    end = len(code_lines(PLAIN_CODE if slot_search.warm_from_slot is None else WARM_CODE)) - 1
    if not slot_search.entries:
        return StepText(say(f"lookup_words.none_{search.kind}", base=base), 0, None)
    if slot_search.slot < 0:
        line = 1 if slot_search.probes[-1].slot == 0 and len(slot_search.probes) == 1 else 3
        name = "all_later" if search.kind == TIME else "none_below_log" if has_log else "none_below"
        return StepText(say(f"lookup_words.{name}", base=base, target=target), line, None)
    only_slot, slot = (slot_search.slot, slot_search.slot), group(slot_search.slot)
    if search.entry is None or not has_log:
        return StepText(say("lookup_words.found", slot=slot, target=target), end, only_slot)
    key, value = key_text(search.kind, search.entry[0]), group(search.entry[1])
    return StepText(
        say(f"lookup_words.found_{search.kind}", slot=slot, target=target, key=key, value=value),
        end,
        only_slot,
    )


def index_title(
    search: IndexSearch,
    probes: int,
    pages: int,
    all_pages: int,
    is_over: bool,
    slots_left: tuple[int, int] | None,
) -> str:
    """What the figure of the index shows after so many probes."""
    entries, kind = search.slot_search.entries, search.kind
    probes_text = count_text("lookup_words.n_probes", probes)
    if not entries:
        return say(f"lookup_words.title_none_{kind}")
    if is_over and search.slot_search.slot < 0:
        return say("lookup_words.title_missed", probes=probes_text)
    if is_over:
        return say(
            "lookup_words.title_found",
            probes=probes_text,
            pages=count_text("lookup_words.n_pages", pages),
            slot=group(search.slot_search.slot),
        )
    if not probes:
        return say(
            f"lookup_words.title_{kind}",
            entries=count_text("common.n_entries", entries),
            pages=count_text("lookup_words.n_pages", all_pages),
        )
    if not slots_left:
        return say("lookup_words.title_none_left", probes=probes_text, entries=group(entries))
    return say(
        "lookup_words.title_left",
        probes=probes_text,
        left=group(slots_left[1] - slots_left[0] + 1),
        entries=group(entries),
    )


def index_hint(search: IndexSearch, warm_slots: int) -> str:
    """Where the warm section lies; warm_slots: W, the entries behind its first one."""
    slot_search = search.slot_search
    if slot_search.warm_from_slot is None:
        return say("lookup_words.hint_plain") if slot_search.entries else ""
    if slot_search.warm_from_slot == 0:
        return say("lookup_words.hint_all_warm", most=group(warm_slots + 1))
    first_slot, last_slot = group(slot_search.warm_from_slot), group(slot_search.entries - 1)
    return say(
        "lookup_words.hint_warm",
        n=group(slot_search.entries - slot_search.warm_from_slot),
        first=first_slot,
        last=last_slot,
    )
