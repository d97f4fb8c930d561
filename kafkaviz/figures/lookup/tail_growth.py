"""How a lookup at the end of an index changes as the index grows, page by page.

The browser gets the data for all sizes of the index at once. Each size has one lane (row of pages)
for plain binary search and one for warm-section-first search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz.analysis.cost.page_replay import (
    ENTRIES_PER_PAGE,
    IndexGrowth,
    Memory,
    TailLookup,
    TailLookups,
)
from kafkaviz.messages import say, say_count, table
from kafkaviz.render.sentences import join_and, join_comma, join_semicolon
from kafkaviz.units import format_count, format_megabytes
from kafkaviz.versions import PLAIN, WARM

FIRST_PAGES = 14  # the size shown first: KAFKA-6432 describes the step from 13 to 14
COLUMNS = ("pages", "entries", "plain_pages", "plain_waits", "warm_pages", "warm_waits")


class PageWait(NamedTuple):
    """A page that a lookup waited for, because it was not in memory."""

    page: int
    idle: str  # .log bytes written since the last use of the page
    entries: str  # entries in the index at the time of the lookup


class GrowthLane(NamedTuple):
    """The lane of one search (plain or warm-section-first) at one size of the index.

    Attributes ending in `_before` are about the index when it was one page shorter.
    """

    waits_text: str
    costs: str
    slots: tuple[int, ...]  # the slots that are read, in order
    pages: tuple[int, ...]
    pages_before: tuple[int, ...]
    moves: tuple[tuple[int, int], ...]  # (page before, page now) of each probe, without repeats
    waits: tuple[PageWait, ...]
    hot: tuple[int, ...]  # the pages in memory after the search, without those in `waits`
    hot_before: tuple[int, ...]
    warm_from: float | None  # the start of the warm section in pages; None for plain binary search
    warm_from_before: float | None


class GrowthSize(NamedTuple):
    """A size of the index, with the lanes of both searches."""

    pages: int
    title: str
    size: str  # the number of pages and entries in words
    alt: str
    lookups: str  # says how many lookups waited; "" for none or one
    lanes: tuple[GrowthLane, GrowthLane]


@dataclass(frozen=True)
class TailGrowthView:
    caption: str
    note: str
    sizes: tuple[GrowthSize, ...]


def view(steps: Sequence[TailLookups], memory: Memory) -> TailGrowthView:
    """Returns the view of a growing index. `steps` has the lookups at 1, 2, 3 … pages."""
    cold = format_megabytes(memory.cold_after_bytes)
    note = say("tail_growth.note", cold=cold, gap=IndexGrowth(0).gap_bytes)
    sizes = map(_size, [None, *steps[:-1]], steps)
    return TailGrowthView(say("tail_growth.below"), note, tuple(sizes))


def _size(before: TailLookups | None, now: TailLookups) -> GrowthSize:
    title = _title(now)
    lanes = (
        _lane(before.plain if before else None, now.plain),
        _lane(before.warm if before else None, now.warm),
    )
    reads = [
        say("tail_growth.reads", name=say(f"lookup_lanes.{name}"), pages=_join_pages(lookup.pages))
        for name, lookup in ((PLAIN, now.plain), (WARM, now.warm))
    ]
    size = say(
        "tail_growth.size",
        pages=say_count("common.n_pages", now.pages),
        entries=say_count("common.n_entries", now.entries),
    )
    alt = say("common.titled", title=title, below=join_semicolon(reads))
    return GrowthSize(now.pages, title, size, alt, _lookups(now), lanes)


def _title(now: TailLookups) -> str:
    if now.pages == 1:
        return say("tail_growth.title_first")
    span = {"before": now.pages - 1, "now": now.pages}
    waits = [int(wait["page"]) for wait in now.plain.waits]
    if not waits:
        return say("tail_growth.title_none", **span)
    return say_count("tail_growth.title", len(waits), **span, pages=join_and(map(str, waits)))


def _lookups(now: TailLookups) -> str:
    lookups = set(now.plain.waits["entries"].tolist())
    if len(lookups) < 2:
        return ""
    waits = now.plain.waits
    last_pages = waits["page"][waits["entries"] == now.entries].tolist()
    return say(
        "tail_growth.lookups" if last_pages else "tail_growth.lookups_none",
        waits=len(waits),
        n=len(lookups),
        before=now.pages - 1,
        now=now.pages,
        entries=now.entries,
        pages=join_and(map(str, last_pages)),
    )


def _lane(before: TailLookup | None, now: TailLookup) -> GrowthLane:
    pages_now = [slot // ENTRIES_PER_PAGE for slot in now.probes]
    pages_before = [slot // ENTRIES_PER_PAGE for slot in before.probes] if before else []
    waits = tuple(
        PageWait(page, format_megabytes(idle_bytes), format_count(entries))
        for page, idle_bytes, entries in now.waits[["page", "idle_bytes", "entries"]].tolist()
    )
    probes_text = say_count("common.n_probes", len(now.probes))
    return GrowthLane(
        say_count("tail_growth.n_waits", len(waits)) if waits else say("tail_growth.no_wait"),
        join_comma([probes_text, say_count("common.n_pages", len(now.pages))]),
        now.probes,
        now.pages,
        before.pages if before else (),
        tuple(dict.fromkeys(zip(pages_before, pages_now, strict=False))),
        waits,
        tuple(page for page in now.hot_pages if page not in now.waits["page"]),
        before.hot_pages if before else (),
        _in_pages(now.warm_from_slot),
        _in_pages(before.warm_from_slot) if before else None,
    )


def _in_pages(slot: int | None) -> float | None:
    return None if slot is None else slot / ENTRIES_PER_PAGE


def _join_pages(pages: Sequence[int]) -> str:
    return join_comma(map(str, pages))


def rows(steps: Sequence[TailLookups]) -> list[tuple[str, ...]]:
    return [
        (
            str(step.pages),
            str(step.entries),
            _join_pages(step.plain.pages),
            _join_pages(step.plain.waits["page"].tolist()),
            _join_pages(step.warm.pages),
            _join_pages(step.warm.waits["page"].tolist()),
        )
        for step in steps
    ]


def browser_payload(growth_view: TailGrowthView) -> dict:
    names = [
        {"title": say(f"lookup_lanes.{name}"), "since": say(f"lookup_lanes.{name}_since")}
        for name in (PLAIN, WARM)
    ]
    sizes = [
        size._asdict() | {"lanes": list(map(_lane_values, size.lanes))}
        for size in growth_view.sizes
    ]
    return {
        "caption": growth_view.caption,
        "note": growth_view.note,
        "first": FIRST_PAGES,
        "entries_a_page": ENTRIES_PER_PAGE,
        "names": names,
        "sizes": sizes,
        "words": table("tail_growth"),
        "legend": table("page_legend"),
    }


def _lane_values(lane: GrowthLane) -> dict:
    return lane._asdict() | {"waits": [wait._asdict() for wait in lane.waits]}
