"""A search in an index: the text of each probe, and the figure of the slots.

The browser gets only the slots that a search reads, unless the index is small.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz import units
from kafkaviz.figures.lookup import LookupContext
from kafkaviz.messages import say, say_count
from kafkaviz.search import binary_search
from kafkaviz.search.binary_search import Branch, Probe
from kafkaviz.search.index_search import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.units import clock, format_count

DRAWN_SLOTS = 64  # an index of up to this many slots is drawn slot by slot
# the line of the pseudocode that each branch runs
PLAIN_LINES = {
    Branch.NO_ENTRY: 1,
    Branch.FROM_FIRST: 2,
    Branch.EXACT: 4,
    Branch.RIGHT: 5,
    Branch.LEFT: 6,
}
WARM_LINES = {
    Branch.INTO_WARM: 2,
    Branch.BEFORE_WARM: 2,
    Branch.NO_ENTRY: 3,
    Branch.FROM_FIRST: 4,
    Branch.EXACT: 7,
    Branch.RIGHT: 8,
    Branch.LEFT: 9,
}
MIDDLE_KEYS = {
    Branch.EXACT: "middle_equal",
    Branch.RIGHT: "middle_below",
    Branch.LEFT: "middle_above",
}


class ProbeRow(NamedTuple):
    slot: int
    key: str
    compare: str
    before: tuple[int, int]  # first and last slot that are still possible before the probe
    # first and last slot that are still possible after the probe; None if no slot is left
    after: tuple[int, int] | None
    pages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class SearchView:
    search: IndexSearch
    steps: tuple[tuple[str, int], ...]  # text and pseudocode line of each probe, then of the result
    rows: tuple[ProbeRow, ...]
    page_slots: float
    pages: int
    warm_slots: int
    # of a small index, the key, value and hover text of each slot; of others, None
    cells: tuple[tuple[str, str, str], ...] | None

    def count_pages(self, probes: int) -> int:
        return len({page for row in self.rows[:probes] for page in row.pages})


def view(context: LookupContext, search: IndexSearch) -> SearchView:
    slot_search = search.slot_search
    entry_bytes = ENTRY_BYTES[search.kind]
    lines = PLAIN_LINES if slot_search.warm_from_slot is None else WARM_LINES
    steps = [(_probe_text(search, probe), lines[probe.branch]) for probe in slot_search.probes]
    is_small = slot_search.entries <= DRAWN_SLOTS
    return SearchView(
        search=search,
        steps=(*steps, _result_step(search, has_log=not context.is_index_only, lines=lines)),
        rows=tuple(_rows(search, context.page_bytes)),
        page_slots=context.page_bytes / entry_bytes,
        pages=binary_search.page_count(slot_search.entries, entry_bytes, context.page_bytes),
        warm_slots=binary_search.warm_entries(entry_bytes, context.result.profile.warm_bytes),
        cells=tuple(_cells(context, search)) if is_small else None,
    )


def _rows(search: IndexSearch, page_bytes: int) -> Iterator[ProbeRow]:
    before = (0, search.slot_search.entries - 1)
    for probe in search.slot_search.probes:
        pages = tuple(binary_search.pages_of(probe.slot, ENTRY_BYTES[search.kind], page_bytes))
        key = key_text(search.kind, probe.key)
        yield ProbeRow(probe.slot, key, probe.compare, before, probe.remaining, pages)
        before = probe.remaining or before


def _cells(context: LookupContext, search: IndexSearch) -> Iterator[tuple[str, str, str]]:
    segment = context.find_segment(search.base_offset)
    entry_bytes = ENTRY_BYTES[search.kind]
    is_time = search.kind == TIME
    entries = segment.time_slots if is_time else segment.offset_slots
    for slot, (key, value) in enumerate(entries.tolist()):
        if is_time:
            cell_kind = "time"
            label = clock(key)
            value_text = format_count(value + segment.base_offset)
        else:
            cell_kind = "alone" if context.is_index_only else "offset"
            label = format_count(key + segment.base_offset)
            value_text = "" if context.is_index_only else format_count(value)
        hover = say(
            f"stepper_figures.cell_{cell_kind}",
            key=label,
            moment=units.moment(key) if is_time else "",
            value=value_text,
            slot=slot,
            first=slot * entry_bytes,
            last=(slot + 1) * entry_bytes - 1,
        )
        yield label, value_text, hover


def key_text(kind: str, key: int) -> str:
    """Returns the text of an index key: an offset, or a time of day."""
    return clock(key) if kind == TIME else format_count(key)


def _probe_text(search: IndexSearch, probe: Probe) -> str:
    last_slot = probe.remaining[1] if probe.remaining else 0
    return say(
        f"index_search.{_probe_key(search, probe)}",
        slot=format_count(probe.slot),
        key=key_text(search.kind, probe.key),
        target=key_text(search.kind, search.slot_search.target),
        last=format_count(last_slot),
    )


def _probe_key(search: IndexSearch, probe: Probe) -> str:
    warm_from = search.slot_search.warm_from_slot
    first = "first_again" if warm_from == 0 else "first"
    match probe.branch:
        case Branch.INTO_WARM:
            return "begins_last" if probe.remaining == (probe.slot, probe.slot) else "begins_warm"
        case Branch.BEFORE_WARM:
            return "begins_equal" if probe.compare == "=" else "begins_cold"
        case Branch.NO_ENTRY if warm_from is None:
            return "plain_above" if search.kind == TIME else "plain_above_log"
        case Branch.NO_ENTRY:
            return f"{first}_above"
        case Branch.FROM_FIRST:
            return "plain_whole" if warm_from is None else f"{first}_cold"
        case _:
            return MIDDLE_KEYS[probe.branch]


def _result_step(
    search: IndexSearch, *, has_log: bool, lines: dict[Branch, int]
) -> tuple[str, int]:
    slot_search = search.slot_search
    base = format_count(search.base_offset)
    target = key_text(search.kind, slot_search.target)
    if not slot_search.entries:
        return say(f"index_search.none_{search.kind}", base=base), 0
    if search.entry is None:
        name = "none_below_log" if has_log else "none_below"
        if search.kind == TIME:
            name = "all_later"
        text = say(f"index_search.{name}", base=base, target=target)
        return text, lines[slot_search.probes[-1].branch]
    has_value = has_log or search.kind == TIME
    text = say(
        f"index_search.found_{search.kind}" if has_value else "index_search.found",
        slot=format_count(slot_search.slot),
        target=target,
        key=key_text(search.kind, search.entry[0]),
        value=format_count(search.entry[1]),
    )
    return text, len(_code_lines(search)) - 1


def code_lines(name: str) -> list[str]:
    return say(f"index_search.{name}_code").split("\n")


def _code_lines(search: IndexSearch) -> list[str]:
    return code_lines("plain" if search.slot_search.warm_from_slot is None else "warm")


def title(search_view: SearchView, probes: int, *, is_over: bool) -> str:
    slot_search = search_view.search.slot_search
    kind = search_view.search.kind
    probes_text = say_count("common.n_probes", probes)
    if not slot_search.entries:
        return say(f"index_search.title_none_{kind}")
    if is_over and slot_search.slot < 0:
        return say("index_search.title_missed", probes=probes_text)
    if is_over:
        return say(
            "index_search.title_found",
            probes=probes_text,
            pages=say_count("common.n_pages", search_view.count_pages(probes)),
            slot=format_count(slot_search.slot),
        )
    if not probes:
        return say(
            f"index_search.title_{kind}",
            entries=say_count("common.n_entries", slot_search.entries),
            pages=say_count("common.n_pages", search_view.pages),
        )
    remaining = slot_search.probes[probes - 1].remaining
    return say(
        "index_search.title_left" if remaining else "index_search.title_none_left",
        probes=probes_text,
        left=format_count(remaining[1] - remaining[0] + 1) if remaining else "",
        entries=format_count(slot_search.entries),
    )


def browser_object(search_view: SearchView) -> dict:
    slot_search = search_view.search.slot_search
    kind = search_view.search.kind
    code_key = f"code_{kind}{'' if slot_search.warm_from_slot is None else '_warm'}"
    return {
        "kind": kind,
        "entries": slot_search.entries,
        "entry_bytes": ENTRY_BYTES[kind],
        "page_slots": search_view.page_slots,
        "pages": search_view.pages,
        "strip": _strip_text(search_view),
        "warm_from": slot_search.warm_from_slot,
        "slot": slot_search.slot,
        "target": key_text(kind, slot_search.target),
        "hint": _hint_text(search_view),
        "rows": [row._asdict() for row in search_view.rows],
        "cells": search_view.cells,
        "code_title": say(
            f"index_search.{code_key}",
            entry_bytes=ENTRY_BYTES[kind],
            warm=format_count(search_view.warm_slots),
        ),
        "code": _code_lines(search_view.search),
    }


def _hint_text(search_view: SearchView) -> str:
    slot_search = search_view.search.slot_search
    first_slot = slot_search.warm_from_slot
    if first_slot is None:
        return say("index_search.hint_plain") if slot_search.entries else ""
    if first_slot == 0:
        return say("index_search.hint_all_warm", n=format_count(search_view.warm_slots))
    return say(
        "index_search.hint_warm",
        n=format_count(search_view.warm_slots),
        first=first_slot,
        last=format_count(slot_search.entries - 1),
    )


def _strip_text(search_view: SearchView) -> str:
    full_slots = int(search_view.page_slots)
    slots_text = format_count(full_slots)
    if search_view.page_slots != full_slots:
        slots_text = f"{full_slots}⅓"
    pages = say_count("common.n_pages", search_view.pages)
    return say("stepper_figures.strip", pages=pages, slots=slots_text)
