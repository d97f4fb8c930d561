"""A race between plain binary search and the warm-section-first search.

The browser animates it. Each search has a strip with one cell per page of the index; hot pages are
in memory when the search begins. The race on every disk is sent at once. If the middles of plain
binary search move to cold pages at this entry, the race one entry earlier, when they were hot, is
sent too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kafkaviz.analysis.cost.cost_model import DEFAULT_STORAGE, PROBE_US, SEARCH_US, Storage
from kafkaviz.analysis.lookup.search_race import DISKS, ProbeTime, RacedSearch, SearchRace
from kafkaviz.analysis.page_cache.page_replay import COLD_AFTER_BYTES
from kafkaviz.figures.text.sentences import join_and, join_comma, join_semicolon, join_sentences
from kafkaviz.messages import say, say_count, table
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.units import format_bytes, format_count, format_megabytes
from kafkaviz.versions import PLAIN, WARM

LONG_UNITS = (("s", 1_000_000), ("ms", 1000))
# pages drawn one by one; beyond that, only pages that are read, and the warm section
MAX_CELLS = 44
MAX_HOT = 32  # then pages in memory are drawn too, up to this many in all
# for a reader at the tail: the entry at which the middles move, or the one before it
JUMP = "jump"
BEFORE_JUMP = "before"


class RaceCell(NamedTuple):
    """A page that is drawn."""

    page: int
    skipped: int  # number of pages before it that are not drawn


class RaceStep(NamedTuple):
    slot: int
    cells: tuple[int, ...]  # indexes of the cells that it reads
    cold: tuple[int, ...]  # indexes of the cells that it waits for


class RaceLane(NamedTuple):
    title: str
    since: str
    first: str  # its first slot and the reason
    alt: str
    hot: tuple[bool, ...]  # whether the page of each cell is in memory at the start
    steps: tuple[RaceStep, ...]
    warm_from: float | None  # the start of the warm section, in cells; None for plain binary search
    end: str  # its probes, pages and waits in words


class RaceResult(NamedTuple):
    """The duration of a search on one disk, and when each probe begins, is ready and ends (µs)."""

    text: str
    times: tuple[ProbeTime, ...]


class RaceStorage(NamedTuple):
    """The race with cold pages on one kind of disk."""

    name: str
    label: str
    read_us: float
    title: str
    results: tuple[RaceResult, RaceResult]  # plain binary search, then warm-section-first search
    note: str


@dataclass(frozen=True, kw_only=True)
class SearchRaceView:
    question: str  # the title until the race is over
    caption: str  # the meaning of hot and cold, and the place of the target
    is_even: bool  # whether both searches do the same, so that there is nothing to wait for
    kind: str
    cells: tuple[RaceCell, ...]
    lanes: tuple[RaceLane, RaceLane]
    storages: tuple[RaceStorage, ...]
    other: str  # the label of the button for the other race; "" if there is only one


def views(race: SearchRace, before: SearchRace | None) -> tuple[SearchRaceView, ...]:
    """Returns the view of the race, and that of the race one entry earlier, if given."""
    if before is None:
        return (view(race),)
    return view(race, JUMP), view(before, BEFORE_JUMP)


def view(race: SearchRace, entry: str = "") -> SearchRaceView:
    """Returns the race on each kind of disk. `entry` is JUMP, BEFORE_JUMP or "" for any other."""
    cells = _cells(race)
    lanes = (_lane(race, race.plain, PLAIN, cells), _lane(race, race.warm, WARM, cells))
    meaning = say("search_race.meaning", size=format_bytes(race.page_bytes))
    caption = join_sentences([meaning, _place_text(race)])
    return SearchRaceView(
        question=say(f"search_race.question_{entry or race.kind}"),
        caption=caption,
        is_even=race.is_even,
        kind=race.kind,
        cells=cells,
        lanes=lanes,
        storages=tuple(_storage(race, disk, entry) for disk in DISKS),
        other=say(f"search_race.{'earlier' if entry == JUMP else 'later'}") if entry else "",
    )


def _place_text(race: SearchRace) -> str:
    if race.warm_from_slot == 0:
        return say("search_race.all_warm")
    place = "in_warm" if race.warm.search.section == "warm" else "in_front"
    return say(f"search_race.{place}", n=format_count(race.warm_entries))


def _cells(race: SearchRace) -> tuple[RaceCell, ...]:
    """Returns the pages that are drawn, for both searches, so that their two strips line up."""
    pages = list(range(race.pages))
    if race.pages > MAX_CELLS:
        first_warm = int((race.warm_from_slot or 0) / race.page_slots)
        read = {*race.plain.pages, *race.warm.pages, *range(first_warm, race.pages)}
        known = read.union(race.plain.hot_pages, race.warm.hot_pages)
        pages = sorted(known if len(known) <= MAX_HOT else read)
    return tuple(RaceCell(page, page - before - 1) for before, page in pairwise([-1, *pages]))


def _lane(race: SearchRace, raced: RacedSearch, name: str, cells: Sequence[RaceCell]) -> RaceLane:
    places = {cell.page: place for place, cell in enumerate(cells)}
    steps = tuple(
        RaceStep(
            probe.slot,
            tuple(places[page] for page in probe.pages),
            tuple(places[page] for page in probe.cold_pages),
        )
        for probe in raced.probes
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
    if raced.cold_pages:
        pages = join_and(map(format_count, sorted(raced.cold_pages)))
        waits = say_count("search_race.waited", len(raced.cold_pages), pages=pages)
        alt = join_semicolon([alt, waits])
        end = join_semicolon([end, waits])
    since = say(f"lookup_lanes.{name}_since")
    first = say(f"search_race.{name}_first", slot=format_count(race.warm_from_slot or 0))
    hot = tuple(cell.page in raced.hot_pages for cell in cells)
    return RaceLane(title, since, first, alt, hot, steps, warm_from, end)


def _storage(race: SearchRace, disk: Storage, entry: str) -> RaceStorage:
    read_us = disk.read_us.typical
    plain, warm = (
        RaceResult(time_text(raced.finish_us(read_us)), tuple(raced.times(read_us)))
        for raced in (race.plain, race.warm)
    )
    read = time_text(read_us)
    name = say(f"search_race.disk_{disk.name.replace('-', '_')}")
    probe = f"{PROBE_US.typical * 1000:.0f} ns"
    search = time_text(SEARCH_US.typical)
    cold = format_megabytes(COLD_AFTER_BYTES)
    note = say("search_race.note", cold=cold, search=search, probe=probe, read=read)
    if race.page_bytes != PAGE_BYTES:
        slots = race.page_bytes // ENTRY_BYTES[race.kind]
        note = join_sentences([say("search_race.small_pages", slots=slots), note])
    return RaceStorage(
        disk.name,
        say("search_race.disk_read", disk=name, read=read),
        read_us,
        _title(race, plain.text, warm.text, entry),
        (plain, warm),
        note,
    )


def _title(race: SearchRace, plain: str, warm: str, entry: str) -> str:
    if race.plain.cold_pages and race.warm.cold_pages:
        outcome = "both_wait"
    elif race.plain.cold_pages:
        outcome = "plain_waits"
    elif race.warm.cold_pages:
        outcome = "warm_waits"
    else:
        outcome = "none_waits"
    plain_cold, warm_cold = (
        say_count("search_race.n_cold", len(raced.cold_pages)) for raced in (race.plain, race.warm)
    )
    result = say(
        f"search_race.{outcome}",
        plain=plain,
        warm=warm,
        plain_cold=plain_cold,
        warm_cold=warm_cold,
    )
    return say(f"search_race.at_{entry}", result=result) if entry else result


def time_text(time_us: float) -> str:
    """Formats a time in its most readable unit: 0.27 µs, 200 µs, 12.0 ms."""
    value, unit = next(
        (
            (time_us / length_us, unit)
            for unit, length_us in LONG_UNITS
            if time_us >= 0.9995 * length_us
        ),
        (time_us, "µs"),
    )
    if value < 9.995:
        decimals = 2
    elif value < 99.95:
        decimals = 1
    else:
        decimals = 0
    return f"{value:.{decimals}f} {unit}"


def browser_payload(race_views: Sequence[SearchRaceView], key: str) -> dict:
    return {
        "key": key,
        "races": [_race_payload(race_view) for race_view in race_views],
        "first": DEFAULT_STORAGE,
        "words": table("search_race"),
        "legend": table("page_legend"),
    }


def _race_payload(race_view: SearchRaceView) -> dict:
    storages = [
        storage._asdict() | {"results": [result._asdict() for result in storage.results]}
        for storage in race_view.storages
    ]
    lanes = [
        lane._asdict() | {"steps": [step._asdict() for step in lane.steps]}
        for lane in race_view.lanes
    ]
    return {
        "question": race_view.question,
        "caption": race_view.caption,
        "is_even": race_view.is_even,
        "kind": race_view.kind,
        "cells": [cell._asdict() for cell in race_view.cells],
        "lanes": lanes,
        "storages": storages,
        "other": race_view.other,
    }
