"""Plain beside warm: the same index searched for the same target in both ways, and what each costs."""

from dataclasses import dataclass
from typing import NamedTuple

from kafkaviz.figures.lookup_words import count
from kafkaviz.figures.stepper import Made
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.served import Keys
from kafkaviz.search.slots import SlotSearch

NOTE = (
    "A probe compares one entry; a page is 4 KiB that must be in memory. Probes are cheap, a page that is not in memory is not. "
    "For readers at the tail the warm section keeps to at most 3 pages."
)


class Lane(NamedTuple):
    """One of the two searches. slots: those read, in order; pages: how many were touched after each; warm_from: None for plain."""

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
    warm, plain = (_lane(again(made, first, is_warm), made.page_bytes, ENTRY_BYTES[first.kind]) for is_warm in (True, False))
    return LanesView(title(first.kind, warm, plain), first.kind, 0, first.found.entries, warm, plain)


def again(made: Made, search: IndexSearch, is_warm: bool) -> SlotSearch:
    """The same search, warm or plain."""
    base_offset = next((one.base_offset for one in made.found.choices if one.chosen), made.log.segments[0].base_offset)
    segment = made.segment(made.found.scans[0].segment if made.found.scans else base_offset)
    is_time = search.kind == TIME
    keys = Keys(segment.time_slots["timestamp_ms"]) if is_time else Keys(segment.offset_slots["relative_offset"], segment.base_offset)
    return slots.floor(keys, search.found.target, ENTRY_BYTES[search.kind], is_warm, made.found.profile.warm_bytes)


def _lane(found: SlotSearch, page_bytes: int, entry_bytes: int) -> Lane:
    seen, pages = set(), []
    for probe in found.probes:
        seen |= set(slots.pages_of(probe.slot, entry_bytes, page_bytes))
        pages.append(len(seen))
    words = ("Plain bisection", "Kafka 2.0 and before") if found.warm_from_slot is None else ("Warm section first", "Kafka 2.1 and later")
    if not found.entries:
        words = ("Warm section first", "Kafka 2.1 and later")
    return Lane(*words, tuple(probe.slot for probe in found.probes), tuple(pages), found.warm_from_slot)


def title(kind: str, warm: Lane, plain: Lane) -> str:
    """What the warm section does for this target."""
    which = "Time index: here" if kind == TIME else "Here"
    probes, pages = len(warm.slots) - len(plain.slots), (warm.pages or (0,))[-1] - (plain.pages or (0,))[-1]
    if not probes and not pages:
        return f"{which} the warm section changes nothing"
    cost, saved = _words(probes, pages, 1), _words(probes, pages, -1)
    told = [f"costs {cost}"] if cost else []
    told += [f"saves {saved}"] if saved else []
    same = "" if probes and pages else ", on as many pages" if probes else ", with as many probes"
    return f"{which} the warm section {' and '.join(told)}{same}"


def _words(probes: int, pages: int, sign: int) -> str:
    numbers = ((probes * sign, "probe"), (pages * sign, "page"))
    return " and ".join(count(number, name) for number, name in numbers if number > 0)


def message(shown: LanesView, key: str) -> dict:
    """The view as plain values; key: that of the lookup."""
    sent = {"key": key, "title": shown.title, "kind": shown.kind, "search": shown.search, "entries": shown.entries, "note": NOTE}
    return sent | {"lanes": [shown.warm._asdict(), shown.plain._asdict()]}
