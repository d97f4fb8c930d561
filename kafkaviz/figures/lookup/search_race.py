"""A race between plain binary search and the warm-section-first search.

The browser animates the race, and computes the times for the chosen disk. Each search has a strip
with one cell per page of the index. Hot pages are in memory when the search begins.

A new entry may move the probes of plain binary search to cold pages. The browser then gets a
second race, in the index without this entry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kafkaviz.analysis.cost.cost_model import DEFAULT_STORAGE, PROBE_US, SEARCH_US
from kafkaviz.analysis.cost.page_replay import COLD_AFTER_BYTES
from kafkaviz.analysis.lookup.search_race import DISKS, RacedSearch, SearchRace
from kafkaviz.messages import say, say_count, table
from kafkaviz.render.sentences import join_comma, join_sentences
from kafkaviz.search.binary_search import PAGE_BYTES
from kafkaviz.search.index_search import ENTRY_BYTES
from kafkaviz.units import format_bytes, format_count, format_megabytes
from kafkaviz.versions import PLAIN, WARM

# of more pages, only those that are read and the warm section are drawn
MAX_CELLS = 44
MAX_HOT = 32  # pages in memory are drawn too, if at most this many are drawn in total
# the index with the entry that moves probes to other pages, and the index without this entry
JUMP = "jump"
BEFORE_JUMP = "before"


class RaceCell(NamedTuple):
    """A cell of the figure: a 4 KiB page of the index."""

    page: int
    skipped: int  # number of pages that are left out before this one


class RaceStep(NamedTuple):
    slot: int
    cells: tuple[int, ...]  # indexes of the cells of the pages that the probe reads


class RaceLane(NamedTuple):
    title: str
    since: str
    first: str  # the slot of the first probe, and the reason for it
    alt: str
    hot: tuple[bool, ...]  # whether the page of each cell is in memory at the start
    steps: tuple[RaceStep, ...]
    warm_from: float | None  # the start of the warm section, in cells; None for plain binary search
    end: str  # number of probes and pages, in words


@dataclass(frozen=True, kw_only=True)
class SearchRaceView:
    question: str  # the title before the race is over
    # says where the target is, and what a lagging reader pays; {read} is the time of one read
    caption: str
    is_even: bool  # whether both searches need the same numbers of probes, pages and cold pages
    is_in_front: bool  # whether the target is in front of the warm section
    # if there are two races: the title of the result, with the placeholder {result}; else ""
    at: str
    cells: tuple[RaceCell, ...]
    lanes: tuple[RaceLane, RaceLane]
    note: str  # text about the model; the placeholder {read} is the time of one read
    other: str  # the label of the button for the other race; "" if there is only one


def views(race: SearchRace, before: SearchRace | None) -> tuple[SearchRaceView, ...]:
    """Returns one view per race. `before` is the race in the index without the newest entry."""
    if before is None:
        return (view(race),)
    return view(race, JUMP), view(before, BEFORE_JUMP)


def view(race: SearchRace, entry: str = "") -> SearchRaceView:
    """Returns the view of a race. `entry` is `JUMP` or `BEFORE_JUMP`; "" if it is the only race."""
    cells = drawn_cells(race)
    cold = len(race.plain.cold_pages)
    is_in_front = race.warm.search.section != "warm"
    return SearchRaceView(
        question=say_count(f"search_race.question_{entry or race.kind}", cold),
        caption=_place_text(race),
        is_even=race.is_even,
        is_in_front=is_in_front and race.warm_from_slot != 0,
        at=say_count(f"search_race.at_{entry}", cold, result="{result}") if entry else "",
        cells=cells,
        lanes=(lane(race, race.plain, PLAIN, cells), lane(race, race.warm, WARM, cells)),
        note=_model_text(race),
        other=say(f"search_race.{'earlier' if entry == JUMP else 'later'}") if entry else "",
    )


def _place_text(race: SearchRace) -> str:
    if race.warm_from_slot == 0:
        return say("search_race.all_warm")
    n = format_count(race.warm_entries)
    size = format_bytes(race.warm_bytes)
    if race.warm.search.section != "warm":
        return say("search_race.in_front", n=n, size=size)
    texts = [say("search_race.in_warm", n=n, size=size)]
    plain, warm = (len(raced.cold_pages) for raced in race.lagging or (race.plain, race.plain))
    if warm > plain:
        texts.append(say_count("search_race.lagging", warm, plain=plain, read="{read}"))
    return join_sentences(texts)


def drawn_cells(race: SearchRace) -> tuple[RaceCell, ...]:
    """Returns the pages to draw, the same for both searches."""
    pages = list(range(race.pages))
    if race.pages > MAX_CELLS:
        first_warm = int((race.warm_from_slot or 0) / race.page_slots)
        read = {*race.plain.pages, *race.warm.pages, *range(first_warm, race.pages)}
        known = read.union(race.plain.hot_pages, race.warm.hot_pages)
        pages = sorted(known if len(known) <= MAX_HOT else read)
    return tuple(RaceCell(page, page - before - 1) for before, page in pairwise([-1, *pages]))


def lane(race: SearchRace, raced: RacedSearch, name: str, cells: Sequence[RaceCell]) -> RaceLane:
    """Returns the lane of one search of `race`: a row of cells. `name` is `PLAIN` or `WARM`."""
    places = {cell.page: place for place, cell in enumerate(cells)}
    steps = tuple(
        RaceStep(probe.slot, tuple(places[page] for page in probe.pages)) for probe in raced.probes
    )
    warm_from = None
    title = say(f"lookup_lanes.{name}")
    if name == WARM and race.warm_from_slot is not None:
        page, part = divmod(race.warm_from_slot / race.page_slots, 1)
        warm_from = places[int(page)] + part
    alt = say("search_race.alt", name=title, pages=join_comma(map(str, raced.pages)))
    end = say(
        "search_race.end",
        probes=say_count("common.n_probes", len(raced.probes)),
        pages=say_count("common.n_pages", len(raced.pages)),
    )
    since = say(f"lookup_lanes.{name}_since")
    slot = race.warm_from_slot or 0
    page = format_count(int(slot / race.page_slots))
    first = say(f"search_race.{name}_first", slot=format_count(slot), page=page)
    hot = tuple(cell.page in raced.hot_pages for cell in cells)
    return RaceLane(title, since, first, alt, hot, steps, warm_from, end)


def _model_text(race: SearchRace) -> str:
    note = say(
        "search_race.note",
        cold=format_megabytes(COLD_AFTER_BYTES),
        search=SEARCH_US.typical,
        probe=f"{PROBE_US.typical * 1000:.0f} ns",
        read="{read}",
        size=race.page_bytes,
    )
    if race.page_bytes == PAGE_BYTES:
        return note
    slots = race.page_bytes // ENTRY_BYTES[race.kind]
    return join_sentences([say("search_race.small_pages", slots=slots), note])


def disks_payload() -> dict:
    """Returns the disks with their read times, and the times of a search and a probe, in µs."""
    disks = []
    for disk in DISKS:
        read_us = disk.read_us.typical
        name = say(f"search_race.disk_{disk.name.replace('-', '_')}")
        label = say("search_race.disk_read", disk=name, read=read_us)
        disks.append({"name": disk.name, "read_us": read_us, "label": label})
    return {
        "disks": disks,
        "first_disk": DEFAULT_STORAGE,
        "disk_label": say("search_race.disk"),
        "search_us": SEARCH_US.typical,
        "probe_us": PROBE_US.typical,
    }


def browser_payload(race_views: Sequence[SearchRaceView], key: str) -> dict:
    return disks_payload() | {
        "key": key,
        "races": [_race_payload(race_view) for race_view in race_views],
        "note": race_views[0].note,
        "words": table("search_race"),
        "legend": table("page_legend"),
    }


def _race_payload(race_view: SearchRaceView) -> dict:
    return vars(race_view) | {
        "cells": [cell._asdict() for cell in race_view.cells],
        "lanes": [lane_payload(race_lane) for race_lane in race_view.lanes],
    }


def memory_payload(race: SearchRace, *, is_warm: bool, name: str) -> dict:
    """Returns the lane of one search for the stepper: its drawn pages, and which are hot."""
    cells = drawn_cells(race)
    raced, kind = (race.warm, WARM) if is_warm else (race.plain, PLAIN)
    return {
        "name": name,
        "cells": [cell._asdict() for cell in cells],
        "lane": lane_payload(lane(race, raced, kind, cells)),
    }


def lane_payload(race_lane: RaceLane) -> dict:
    return race_lane._asdict() | {"steps": [step._asdict() for step in race_lane.steps]}
