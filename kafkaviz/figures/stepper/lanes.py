"""Plain beside warm.

The same index searched for the same target in both ways, and what each costs.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from kafkaviz.figures.stepper import LookupContext
from kafkaviz.figures.text.join_text import join_each_and
from kafkaviz.messages import say, say_count, table
from kafkaviz.search import index, slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.versions import PLAIN, WARM


class SearchLane(NamedTuple):
    """One of the two searches.

    Attributes:
        slots: those read, in order.
        pages: how many were touched after each.
        warm_from: None for plain.
    """

    title: str
    since: str
    slots: tuple[int, ...]
    pages: tuple[int, ...]
    warm_from: int | None


@dataclass(frozen=True, kw_only=True)
class SearchLanesView:
    """Both searches.

    Attributes:
        search: which of the lookup's they repeat.
    """

    title: str
    kind: str
    search: int
    entries: int
    warm: SearchLane
    plain: SearchLane


def view(context: LookupContext) -> SearchLanesView:
    """The first search of a lookup, which has one, and the other way to make it."""
    search, profile = context.result.searches[0], context.result.profile
    find = index.find_time if search.kind == TIME else index.find_offset
    other_search = find(
        context.find_segment(search.segment),
        search.slot_search.target,
        profile.other_search(),
    )
    searches = (search, other_search) if profile.is_warm else (other_search, search)
    warm, plain = (
        _lane(each, lane_name, context.page_bytes)
        for each, lane_name in zip(searches, (WARM, PLAIN), strict=True)
    )
    title = cost_title(search.kind, warm, plain)
    return SearchLanesView(
        title=title,
        kind=search.kind,
        search=0,
        entries=search.slot_search.entries,
        warm=warm,
        plain=plain,
    )


def before_search(lanes: SearchLanesView) -> SearchLanesView:
    """Both before their first probe: the index, and where its warm section begins."""
    warm, plain = (lane._replace(slots=(), pages=()) for lane in (lanes.warm, lanes.plain))
    title = say_count("common.n_entries", lanes.entries)
    return replace(lanes, title=title, warm=warm, plain=plain)


def _lane(search: IndexSearch, lane_name: str, page_bytes: int) -> SearchLane:
    probes, warm_from = search.slot_search.probes, search.slot_search.warm_from_slot
    touched_pages, pages = set(), []
    for probe in probes:
        touched_pages |= set(slots.pages_of(probe.slot, ENTRY_BYTES[search.kind], page_bytes))
        pages.append(len(touched_pages))
    texts = say(f"lookup_lanes.{lane_name}"), say(f"lookup_lanes.{lane_name}_since")
    return SearchLane(*texts, tuple(probe.slot for probe in probes), tuple(pages), warm_from)


def cost_title(kind: str, warm: SearchLane, plain: SearchLane) -> str:
    """What the warm section does for this target."""
    probes, pages = (
        len(warm.slots) - len(plain.slots),
        (warm.pages or (0,))[-1] - (plain.pages or (0,))[-1],
    )
    cost_text, saved_text = _difference_text(probes, pages, 1), _difference_text(probes, pages, -1)
    outcome = (
        "both"
        if cost_text and saved_text
        else "costs"
        if cost_text
        else "saves"
        if saved_text
        else "nothing"
    )
    text = say(f"lookup_lanes.{outcome}_{kind}", cost=cost_text, saved=saved_text)
    if bool(probes) == bool(pages):
        return text
    return say("lookup_lanes.same_pages" if probes else "lookup_lanes.same_probes", comparison=text)


def _difference_text(probes: int, pages: int, sign: int) -> str:
    numbers = ((probes * sign, "common.n_probes"), (pages * sign, "common.n_pages"))
    texts = [say_count(key, number) for number, key in numbers if number > 0]
    return join_each_and(texts)


def browser_payload(lanes: SearchLanesView, key: str) -> dict:
    """The view as plain values.

    Args:
        key: that of the lookup.
    """
    payload = {
        "key": key,
        "title": lanes.title,
        "kind": lanes.kind,
        "search": lanes.search,
        "entries": lanes.entries,
    }
    return payload | {
        "words": table("lookup_lanes"),
        "lanes": [lanes.warm._asdict(), lanes.plain._asdict()],
    }
