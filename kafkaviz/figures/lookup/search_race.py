"""Plain bisection raced against the warm section first: raced and stepped in the browser.

The pages of the index are a strip of cells, one strip a search: hot ones are in memory when it
begins. Everything is sent at once, the times once for each disk. Of the entry at which the middles
of plain bisection move to cold pages the race one entry earlier comes along, when they were hot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from kafkaviz.analysis.cost.cost_model import DEFAULT_STORAGE, PROBE_US, SEARCH_US, Storage
from kafkaviz.analysis.lookup.search_race import DISKS, ProbeTime, RacedSearch, SearchRace
from kafkaviz.analysis.page_cache.page_replay import COLD_AFTER_BYTES
from kafkaviz.figures.page_cache.fault_bars import turnover_text
from kafkaviz.figures.text.join_text import join_and, join_comma, join_semicolon, join_sentences
from kafkaviz.messages import say, say_count, table
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.units import group, size
from kafkaviz.versions import PLAIN, WARM

LONG_UNITS = (("s", 1_000_000), ("ms", 1000))
MAX_CELLS = 44  # pages drawn one by one; of more, those that are read, and the warm section
MAX_HOT = 32  # of these, while they are no more, those that are in memory too
# which entry it is for a reader at the tail: the one at which the middles move, or the one before
JUMP, BEFORE_JUMP = "jump", "before"


class RaceCell(NamedTuple):
    """A page as it is drawn.

    Attributes:
        skipped: how many pages in front of it are not drawn.
    """

    page: int
    skipped: int


class RaceStep(NamedTuple):
    """A probe as it is drawn.

    Attributes:
        cells: of the pages it reads, by their place in the strip.
        cold: those of them that it waits for.
    """

    slot: int
    cells: tuple[int, ...]
    cold: tuple[int, ...]


class RaceLane(NamedTuple):
    """One of the two searches.

    Attributes:
        first: which slot it reads first, and why.
        hot: of each cell, whether its page is in memory at the start.
        warm_from: where the warm section begins, in cells; None of plain bisection.
        end: what it came to.
    """

    title: str
    since: str
    first: str
    alt: str
    hot: tuple[bool, ...]
    steps: tuple[RaceStep, ...]
    warm_from: float | None
    end: str


class RaceResult(NamedTuple):
    """What a search takes from one disk, and when its probes begin, are ready and end, in µs."""

    text: str
    times: tuple[ProbeTime, ...]


class RaceStorage(NamedTuple):
    """The race with cold pages on one kind of disk; results of plain bisection, then warm first."""

    name: str
    label: str
    read_us: float
    title: str
    results: tuple[RaceResult, RaceResult]
    note: str


@dataclass(frozen=True, kw_only=True)
class SearchRaceView:
    """The race in words, and its strips.

    Attributes:
        question: the title until the race is over.
        caption: what hot and cold mean, and where the target lies.
        is_even: both do the same: nothing to wait for.
        other: what a button to the other of two races says; "" of one alone.
    """

    question: str
    caption: str
    is_even: bool
    kind: str
    cells: tuple[RaceCell, ...]
    lanes: tuple[RaceLane, RaceLane]
    storages: tuple[RaceStorage, ...]
    other: str


def views(race: SearchRace, before: SearchRace | None) -> tuple[SearchRaceView, ...]:
    """The race in words; if it is where the middles move, also the one of the entry before.

    Args:
        before: as of race_before_jump.
    """
    if before is None:
        return (view(race),)
    return view(race, JUMP), view(before, BEFORE_JUMP)


def view(race: SearchRace, entry: str = "") -> SearchRaceView:
    """The race in words, on each of the disks that its cold pages may lie on.

    Args:
        entry: JUMP or BEFORE_JUMP, "" for any other.
    """
    cells = _cells(race)
    lanes = (_lane(race, race.plain, PLAIN, cells), _lane(race, race.warm, WARM, cells))
    meaning = say("search_race.meaning", size=size(race.page_bytes))
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
    """Where the target lies, seen from the warm section."""
    if race.warm_from_slot == 0:
        return say("search_race.all_warm")
    place = "in_warm" if race.warm.search.section == "warm" else "in_front"
    return say(f"search_race.{place}", n=group(race.warm_entries))


def _cells(race: SearchRace) -> tuple[RaceCell, ...]:
    """The same pages for both, so that one stands above the other."""
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
    warm_from, title = None, say(f"lookup_lanes.{name}")
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
        pages = join_and(map(group, sorted(raced.cold_pages)))
        waits = say_count("search_race.waited", len(raced.cold_pages), pages=pages)
        alt, end = join_semicolon([alt, waits]), join_semicolon([end, waits])
    since = say(f"lookup_lanes.{name}_since")
    first = say(f"search_race.{name}_first", slot=group(race.warm_from_slot or 0))
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
    cold = turnover_text(COLD_AFTER_BYTES)
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
    """At which entry, who waits, and what each takes."""
    outcome = (
        "both_wait"
        if race.plain.cold_pages and race.warm.cold_pages
        else "plain_waits"
        if race.plain.cold_pages
        else "warm_waits"
        if race.warm.cold_pages
        else "none_waits"
    )
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
    """A time in the unit that reads best: 0.27 µs, 200 µs, 12.0 ms."""
    value, unit = next(
        (
            (time_us / length_us, unit)
            for unit, length_us in LONG_UNITS
            if time_us >= 0.9995 * length_us
        ),
        (time_us, "µs"),
    )
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f} {unit}"


def browser_payload(race_views: Sequence[SearchRaceView], key: str) -> dict:
    """The views as plain values.

    Args:
        race_views: of the entry that is looked up, and what else can be raced.
        key: that of the lookup.
    """
    return {
        "key": key,
        "races": [_race_payload(race_view) for race_view in race_views],
        "first": DEFAULT_STORAGE,
        "words": table("search_race"),
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
