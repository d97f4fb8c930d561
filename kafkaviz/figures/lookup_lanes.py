"""Plain beside warm: the same index searched for the same target in both ways, and what each
costs.
"""

from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz.figures.listed import both
from kafkaviz.figures.lookup_made import Made
from kafkaviz.figures.lookup_words import count
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.served import Keys
from kafkaviz.search.slots import SlotSearch
from kafkaviz.words import say, table


class Lane(NamedTuple):
    """One of the two searches. slots: those read, in order; pages: how many were touched after
    each; warm_from: None for plain.
    """

    title: str
    since: str
    slots: tuple[int, ...]
    pages: tuple[int, ...]
    warm_from: int | None


@dataclass(frozen=True)
class LanesView:
    """Both searches; search: which of the lookup's they repeat."""

    title: str
    kind: str
    search: int
    entries: int
    warm: Lane
    plain: Lane


def view(made: Made) -> LanesView | None:
    """The first search of a lookup, warm and plain; None where there was none."""
    if not made.found.searches:
        return None
    first = made.found.searches[0]
    warm, plain = (
        _lane(again(made, first, one == "warm"), one, made.page_bytes, ENTRY_BYTES[first.kind])
        for one in ("warm", "plain")
    )
    return LanesView(
        title(first.kind, warm, plain), first.kind, 0, first.found.entries, warm, plain
    )


def again(made: Made, search: IndexSearch, is_warm: bool) -> SlotSearch:
    """The same search, warm or plain."""
    base_offset = next(
        (one.base_offset for one in made.found.choices if one.chosen),
        made.log.segments[0].base_offset,
    )
    segment = made.segment(made.found.scans[0].segment if made.found.scans else base_offset)
    is_time = search.kind == TIME
    keys = (
        Keys(segment.time_slots["timestamp_ms"])
        if is_time
        else Keys(segment.offset_slots["relative_offset"], segment.base_offset)
    )
    return slots.floor(
        keys, search.found.target, ENTRY_BYTES[search.kind], is_warm, made.found.profile.warm_bytes
    )


def _lane(found: SlotSearch, name: str, page_bytes: int, entry_bytes: int) -> Lane:
    seen, pages = set(), []
    for probe in found.probes:
        seen |= set(slots.pages_of(probe.slot, entry_bytes, page_bytes))
        pages.append(len(seen))
    words = say(f"lookup_lanes.{name}"), say(f"lookup_lanes.{name}_since")
    return Lane(
        *words, tuple(probe.slot for probe in found.probes), tuple(pages), found.warm_from_slot
    )


def title(kind: str, warm: Lane, plain: Lane) -> str:
    """What the warm section does for this target."""
    probes, pages = (
        len(warm.slots) - len(plain.slots),
        (warm.pages or (0,))[-1] - (plain.pages or (0,))[-1],
    )
    cost, saved = _words(probes, pages, 1), _words(probes, pages, -1)
    what = "both" if cost and saved else "costs" if cost else "saves" if saved else "nothing"
    told = say(f"lookup_lanes.{what}_{kind}", cost=cost, saved=saved)
    if bool(probes) == bool(pages):
        return told
    return say("lookup_lanes.same_pages" if probes else "lookup_lanes.same_probes", told=told)


def _words(probes: int, pages: int, sign: int) -> str:
    numbers = ((probes * sign, "lookup_words.n_probes"), (pages * sign, "lookup_words.n_pages"))
    told = [count(key, number) for number, key in numbers if number > 0]
    return both(told)


def message(shown: LanesView, key: str) -> dict:
    """The view as plain values; key: that of the lookup."""
    sent = {
        "key": key,
        "title": shown.title,
        "kind": shown.kind,
        "search": shown.search,
        "entries": shown.entries,
    }
    return sent | {
        "words": table("lookup_lanes"),
        "lanes": [shown.warm._asdict(), shown.plain._asdict()],
    }
