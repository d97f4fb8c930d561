"""A search in an index as it is drawn: its probes with the slots that are left, and each slot where
the index is small.

Of an index only what a search touches is sent, unless it is small enough to draw each slot: a full
one of 1 310 720 entries takes as few bytes as one of 100.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz import units
from kafkaviz.figures import lookup_words
from kafkaviz.figures.lookup_made import Made
from kafkaviz.figures.lookup_words import PLAIN, WARM, Told, code, count, text_of
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.served import ServedSegment
from kafkaviz.search.slots import Probe
from kafkaviz.units import clock, group
from kafkaviz.words import say

DRAWN_SLOTS = 64  # drawn one by one


class Row(NamedTuple):
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
    told: tuple[Told, ...]
    result: Told
    rows: tuple[Row, ...]
    page_slots: float
    pages: int
    warm_slots: int
    cells: tuple[tuple[str, str, str], ...] | None

    def seen(self, probes: int) -> int:
        """How many pages so many probes touch."""
        return len({page for row in self.rows[:probes] for page in row.pages})

    def left(self, probes: int) -> tuple[int, int] | None:
        """Which slots are still possible after so many probes; None for none."""
        return self.told[probes - 1].left if probes else (0, self.search.found.entries - 1)


def view(made: Made, search: IndexSearch, base_offset: int) -> SearchView:
    """A search in an index of the segment with that base offset."""
    entry_bytes, found = ENTRY_BYTES[search.kind], search.found
    words, ranges = lookup_words.told(search), []
    last = found.entries - 1
    for probe, told in zip(found.probes, words, strict=True):
        # the section, and does not halve yet
        chooses = not ranges if found.warm_from_slot is None else told.line < 6
        ranges.append((0, last) if chooses else (probe.lo, probe.hi))
    rows = (
        _row(search, *one, made.page_bytes) for one in zip(found.probes, words, ranges, strict=True)
    )
    pages = slots.page_count(found.entries, entry_bytes, made.page_bytes)
    warm_slots = slots.warm_entries(entry_bytes, made.found.profile.warm_bytes)
    cells = (
        tuple(_cells(made, made.segment(base_offset), search))
        if found.entries <= DRAWN_SLOTS
        else None
    )
    result = lookup_words.result(search, base_offset, not made.is_alone)
    return SearchView(
        search,
        tuple(words),
        result,
        tuple(rows),
        made.page_bytes / entry_bytes,
        pages,
        warm_slots,
        cells,
    )


def _row(
    search: IndexSearch, probe: Probe, told: Told, before: tuple[int, int], page_bytes: int
) -> Row:
    pages = tuple(slots.pages_of(probe.slot, ENTRY_BYTES[search.kind], page_bytes))
    return Row(probe.slot, text_of(search.kind, probe.key), probe.compare, before, told.left, pages)


def _cells(made: Made, segment: ServedSegment, search: IndexSearch) -> list[tuple[str, str, str]]:
    is_time, entry_bytes = search.kind == TIME, ENTRY_BYTES[search.kind]
    entries, cells = segment.time_slots if is_time else segment.offset_slots, []
    name = "time" if is_time else "alone" if made.is_alone else "offset"
    for slot, (key, value) in enumerate(entries.tolist()):
        where = {"slot": slot, "first": slot * entry_bytes, "last": (slot + 1) * entry_bytes - 1}
        offset = "" if is_time else group(key + segment.base_offset)
        moment = units.moment(key) if is_time else ""
        beside = (
            group(value + segment.base_offset) if is_time else "" if made.is_alone else group(value)
        )
        told = say(f"stepper_figures.cell_{name}", key=offset, moment=moment, value=beside, **where)
        cells.append((clock(key) if is_time else offset, beside, told))
    return cells


def title(shown: SearchView, probes: int, over: bool) -> str:
    """What the figure of the index shows after so many probes."""
    return lookup_words.index_title(
        shown.search, probes, shown.seen(probes), shown.pages, over, shown.left(probes)
    )


def sent(shown: SearchView) -> dict:
    """What the browser draws of it."""
    found, kind = shown.search.found, shown.search.kind
    return {
        "kind": kind,
        "entries": found.entries,
        "entry_bytes": ENTRY_BYTES[kind],
        "page_slots": shown.page_slots,
        "pages": shown.pages,
        "strip": _strip_words(shown),
        "warm_from": found.warm_from_slot,
        "slot": found.slot,
        "target": text_of(kind, found.target),
        "hint": lookup_words.index_hint(shown.search, shown.warm_slots),
        "rows": [one._asdict() for one in shown.rows],
        "cells": shown.cells,
        "code_title": lookup_words.code_title(shown.search, shown.warm_slots),
        "code": code(PLAIN if found.warm_from_slot is None else WARM),
    }


def _strip_words(shown: SearchView) -> str:
    a_page = (
        group(int(shown.page_slots))
        if shown.page_slots == int(shown.page_slots)
        else f"{int(shown.page_slots)}⅓"
    )
    return say(
        "stepper_figures.strip", pages=count("lookup_words.n_pages", shown.pages), slots=a_page
    )
