"""Plain beside warm: the same index searched for the same target in both ways, and what each
costs.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz.figures.join_text import join_each_and
from kafkaviz.figures.lookup_context import LookupContext
from kafkaviz.figures.lookup_text import count_text
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.log_view import KeyColumn
from kafkaviz.search.slots import SlotSearch
from kafkaviz.words import say, table


class SearchLane(NamedTuple):
    """One of the two searches. slots: those read, in order; pages: how many were touched after
    each; warm_from: None for plain.
    """

    title: str
    since: str
    slots: tuple[int, ...]
    pages: tuple[int, ...]
    warm_from: int | None


@dataclass(frozen=True)
class SearchLanesView:
    """Both searches; search: which of the lookup's they repeat."""

    title: str
    kind: str
    search: int
    entries: int
    warm: SearchLane
    plain: SearchLane


def view(context: LookupContext) -> SearchLanesView | None:
    """The first search of a lookup, warm and plain; None where there was none."""
    if not context.result.searches:
        return None
    first_search = context.result.searches[0]
    warm, plain = (
        _lane(
            repeat_search(context, first_search, lane_name == "warm"),
            lane_name,
            context.page_bytes,
            ENTRY_BYTES[first_search.kind],
        )
        for lane_name in ("warm", "plain")
    )
    return SearchLanesView(
        cost_title(first_search.kind, warm, plain),
        first_search.kind,
        0,
        first_search.slot_search.entries,
        warm,
        plain,
    )


def repeat_search(context: LookupContext, search: IndexSearch, is_warm: bool) -> SlotSearch:
    """The same search, warm or plain."""
    base_offset = next(
        (choice.base_offset for choice in context.result.choices if choice.chosen),
        context.log.segments[0].base_offset,
    )
    segment = context.find_segment(
        context.result.scans[0].segment if context.result.scans else base_offset
    )
    is_time = search.kind == TIME
    keys = (
        KeyColumn(segment.time_slots["timestamp_ms"])
        if is_time
        else KeyColumn(segment.offset_slots["relative_offset"], segment.base_offset)
    )
    return slots.floor(
        keys,
        search.slot_search.target,
        ENTRY_BYTES[search.kind],
        is_warm,
        context.result.profile.warm_bytes,
    )


def _lane(search: SlotSearch, lane_name: str, page_bytes: int, entry_bytes: int) -> SearchLane:
    touched_pages, pages = set(), []
    for probe in search.probes:
        touched_pages |= set(slots.pages_of(probe.slot, entry_bytes, page_bytes))
        pages.append(len(touched_pages))
    texts = say(f"lookup_lanes.{lane_name}"), say(f"lookup_lanes.{lane_name}_since")
    return SearchLane(
        *texts, tuple(probe.slot for probe in search.probes), tuple(pages), search.warm_from_slot
    )


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
    return say("lookup_lanes.same_pages" if probes else "lookup_lanes.same_probes", told=text)


def _difference_text(probes: int, pages: int, sign: int) -> str:
    numbers = ((probes * sign, "lookup_words.n_probes"), (pages * sign, "lookup_words.n_pages"))
    texts = [count_text(key, number) for number, key in numbers if number > 0]
    return join_each_and(texts)


def message(lanes: SearchLanesView, key: str) -> dict:
    """The view as plain values; key: that of the lookup."""
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
