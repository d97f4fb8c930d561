"""A search in an index as it is drawn: its probes with the slots that are left, and each slot where
the index is small.

Of an index only what a search touches is sent, unless it is small enough to draw each slot: a full
one of 1 310 720 entries takes as few bytes as one of 100.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz import units
from kafkaviz.figures import lookup_text
from kafkaviz.figures.lookup_context import LookupContext
from kafkaviz.figures.lookup_text import (
    PLAIN_CODE,
    WARM_CODE,
    StepText,
    code_lines,
    count_text,
    key_text,
)
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.slots import Probe
from kafkaviz.units import clock, group
from kafkaviz.words import say

DRAWN_SLOTS = 64  # drawn one by one


class ProbeRow(NamedTuple):
    """A probe as it is drawn: before and after are the slots still possible, after None for
    none.
    """

    slot: int
    key: str
    compare: str
    before: tuple[int, int]
    after: tuple[int, int] | None
    pages: tuple[int, ...]


@dataclass(frozen=True)
class SearchView:
    """A search as it is drawn. cells: key, value and what hovering tells of each slot of a small
    index, else None.
    """

    search: IndexSearch
    steps: tuple[StepText, ...]
    result: StepText
    rows: tuple[ProbeRow, ...]
    page_slots: float
    pages: int
    warm_slots: int
    cells: tuple[tuple[str, str, str], ...] | None

    def pages_touched(self, probes: int) -> int:
        """How many pages so many probes touch."""
        return len({page for row in self.rows[:probes] for page in row.pages})

    def slots_left(self, probes: int) -> tuple[int, int] | None:
        """Which slots are still possible after so many probes; None for none."""
        return (
            self.steps[probes - 1].slots_left
            if probes
            else (0, self.search.slot_search.entries - 1)
        )


def view(context: LookupContext, search: IndexSearch, base_offset: int) -> SearchView:
    """A search in an index of the segment with that base offset."""
    entry_bytes, slot_search = ENTRY_BYTES[search.kind], search.slot_search
    step_texts, ranges = lookup_text.describe_probes(search), []
    last_slot = slot_search.entries - 1
    for probe, step in zip(slot_search.probes, step_texts, strict=True):
        # the section, and does not halve yet
        chooses_section = not ranges if slot_search.warm_from_slot is None else step.line < 6
        ranges.append((0, last_slot) if chooses_section else (probe.lo, probe.hi))
    rows = (
        _row(search, *probe_step, context.page_bytes)
        for probe_step in zip(slot_search.probes, step_texts, ranges, strict=True)
    )
    pages = slots.page_count(slot_search.entries, entry_bytes, context.page_bytes)
    warm_slots = slots.warm_entries(entry_bytes, context.result.profile.warm_bytes)
    cells = (
        tuple(_cells(context, context.find_segment(base_offset), search))
        if slot_search.entries <= DRAWN_SLOTS
        else None
    )
    result = lookup_text.describe_result(search, base_offset, not context.is_index_alone)
    return SearchView(
        search,
        tuple(step_texts),
        result,
        tuple(rows),
        context.page_bytes / entry_bytes,
        pages,
        warm_slots,
        cells,
    )


def _row(
    search: IndexSearch, probe: Probe, step: StepText, before: tuple[int, int], page_bytes: int
) -> ProbeRow:
    pages = tuple(slots.pages_of(probe.slot, ENTRY_BYTES[search.kind], page_bytes))
    return ProbeRow(
        probe.slot, key_text(search.kind, probe.key), probe.compare, before, step.slots_left, pages
    )


def _cells(
    context: LookupContext, segment: SegmentView, search: IndexSearch
) -> list[tuple[str, str, str]]:
    is_time, entry_bytes = search.kind == TIME, ENTRY_BYTES[search.kind]
    entries, cells = segment.time_slots if is_time else segment.offset_slots, []
    cell_kind = "time" if is_time else "alone" if context.is_index_alone else "offset"
    for slot, (key, value) in enumerate(entries.tolist()):
        slot_bytes = {
            "slot": slot,
            "first": slot * entry_bytes,
            "last": (slot + 1) * entry_bytes - 1,
        }
        offset = "" if is_time else group(key + segment.base_offset)
        moment = units.moment(key) if is_time else ""
        value_text = (
            group(value + segment.base_offset)
            if is_time
            else ""
            if context.is_index_alone
            else group(value)
        )
        hover = say(
            f"stepper_figures.cell_{cell_kind}",
            key=offset,
            moment=moment,
            value=value_text,
            **slot_bytes,
        )
        cells.append((clock(key) if is_time else offset, value_text, hover))
    return cells


def title(search_view: SearchView, probes: int, is_over: bool) -> str:
    """What the figure of the index shows after so many probes."""
    return lookup_text.index_title(
        search_view.search,
        probes,
        search_view.pages_touched(probes),
        search_view.pages,
        is_over,
        search_view.slots_left(probes),
    )


def browser_object(search_view: SearchView) -> dict:
    """What the browser draws of it."""
    slot_search, kind = search_view.search.slot_search, search_view.search.kind
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
        "hint": lookup_text.index_hint(search_view.search, search_view.warm_slots),
        "rows": [row._asdict() for row in search_view.rows],
        "cells": search_view.cells,
        "code_title": lookup_text.code_title(search_view.search, search_view.warm_slots),
        "code": code_lines(PLAIN_CODE if slot_search.warm_from_slot is None else WARM_CODE),
    }


def _strip_text(search_view: SearchView) -> str:
    page_slots_text = (
        group(int(search_view.page_slots))
        if search_view.page_slots == int(search_view.page_slots)
        else f"{int(search_view.page_slots)}⅓"
    )
    return say(
        "stepper_figures.strip",
        pages=count_text("lookup_words.n_pages", search_view.pages),
        slots=page_slots_text,
    )
