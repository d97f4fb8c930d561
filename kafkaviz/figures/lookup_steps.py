"""The steps of a lookup one by one: what each says, which line of the pseudocode it is, and how
every value and figure then stands.

Phases: "segment" which .log, "time" and "offset" the searches in its indexes, "log" the headers
read, "record" what comes of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kafkaviz.figures import lookup_chain, lookup_log, lookup_records, lookup_search, lookup_words
from kafkaviz.figures.lookup_log import ScanView
from kafkaviz.figures.lookup_made import Made
from kafkaviz.figures.lookup_records import RecordsView
from kafkaviz.figures.lookup_search import SearchView
from kafkaviz.figures.lookup_words import text_of
from kafkaviz.search.index import TIME
from kafkaviz.units import clock, group
from kafkaviz.words import say

VALUES = ("target", "N", "F", "probes", "lo", "hi", "mid", "key", "p", "short", "long", "pages")
COUNTED = ("probes", "short", "long", "pages")
NO_VALUE = "–"


class Step(NamedTuple):
    """A step. search, probes, over: which search is drawn, after how many of its probes, and
    whether its result is known.

    scan, readings, ended: the same of the scan. line: (of "search" or "scan", its number), None for
    none. values: of VALUES, and whether this step changed each. titles: of the figures of the
    index, the log and the records.
    """

    phase: str
    text: str
    search: int
    probes: int
    over: bool
    scan: int
    readings: int
    ended: bool
    line: tuple[str, int] | None
    values: tuple[tuple[str, bool], ...]
    titles: tuple[str, str, str]


def value_names() -> list[str]:
    """VALUES as they are named on the page."""
    return [say(f"stepper_figures.value_{name}") if name in COUNTED else name for name in VALUES]


class Steps:
    """The steps one by one; what is drawn is carried from each to the next."""

    def __init__(
        self,
        made: Made,
        searches: Sequence[SearchView],
        scans: Sequence[ScanView],
        records: RecordsView,
    ) -> None:
        self._made, self._searches, self._scans, self._records = made, searches, scans, records
        self._search, self._probes, self._over = 0, 0, False
        self._scan, self._readings, self._ended = 0, 0, False
        self._before: tuple[str, ...] = ()

    def all(self) -> list[Step]:
        """Every step of the lookup."""
        steps = (
            [] if self._made.is_alone else [self._step("segment", lookup_chain.segment(self._made))]
        )
        scans = list(range(len(self._scans)))
        for place in range(len(self._searches)):
            steps += self._searched(place)
            if not self._made.by_time and scans:
                steps += self._scanned(scans.pop(0))
        steps += [step for place in scans for step in self._scanned(place)]
        return steps if self._made.is_alone else [*steps, *self._ending()]

    def _searched(self, place: int) -> list[Step]:
        shown = self._searches[place]
        before = (
            [self._step("segment", lookup_chain.next_segment(self._made, place))]
            if place and not self._made.by_time
            else []
        )
        self._search, self._probes, self._over = place, 0, False
        self._scan = min(place if not self._made.by_time else 0, max(0, len(self._scans) - 1))
        self._readings, self._ended = 0, False
        steps = []
        for self._probes, told in enumerate(shown.told, 1):
            steps.append(self._step(shown.search.kind, told.text, ("search", told.line)))
        self._over = True
        return [
            *before,
            *steps,
            self._step(shown.search.kind, shown.result.text, ("search", shown.result.line)),
        ]

    def _scanned(self, place: int) -> list[Step]:
        shown, steps = self._scans[place], []
        self._scan, self._ended = place, False
        for self._readings, reading in enumerate(shown.readings, 1):
            self._ended = self._readings == len(shown.readings)
            steps.append(
                self._step(
                    "log", reading.text, ("scan", reading.line) if reading.line >= 0 else None
                )
            )
        return steps

    def _ending(self) -> list[Step]:
        text = lookup_chain.ending(self._made)
        return [self._step("record", text)] if text else []

    def _step(self, phase: str, text: str, line: tuple[str, int] | None = None) -> Step:
        values = self._values(phase)
        changed = tuple(
            (now, phase not in ("segment", "record") and now not in (was, NO_VALUE))
            for was, now in self._compared(values)
        )
        self._before = values
        return Step(
            phase,
            text,
            self._search,
            self._probes,
            self._over,
            self._scan,
            self._readings,
            self._ended,
            line,
            changed,
            self._titles(phase),
        )

    def _compared(self, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return list(zip(self._before or values, values, strict=True))

    def _values(self, phase: str) -> tuple[str, ...]:
        index = self._index_values() if self._searches else (self._target(), *[NO_VALUE] * 6, "0")
        position, tally = NO_VALUE, lookup_log.Tally(0, 0)
        if self._scans and self._readings:
            scan = self._scans[self._scan]
            now = scan.readings[self._readings - 1]
            position, tally = (
                group(now.position) if now.position >= 0 else NO_VALUE,
                scan.tally(now.read),
            )
        *first, pages = index
        return (*first, position, group(tally.short), group(tally.long), pages)

    def _target(self) -> str:
        if self._made.special:
            return lookup_words.SPECIAL.get(self._made.special, NO_VALUE)
        return clock(self._made.target)[3:] if self._made.by_time else group(self._made.target)

    def _index_values(self) -> tuple[str, ...]:
        """Target, N, F, probes, lo, hi, mid, key and pages."""
        shown = self._searches[self._search]
        found, kind, at = shown.search.found, shown.search.kind, self._probes
        short = lambda key: text_of(kind, key)[3 if kind == TIME else 0 :]  # noqa: E731 - a time of day without its hour
        probe = found.probes[at - 1] if at and not self._over else None
        left = shown.result.left if self._over else shown.left(at) if at else None
        lo, hi = map(group, left) if left else (NO_VALUE, NO_VALUE)
        is_middle = probe is not None and at > (
            1 if found.section == "warm" or found.warm_from_slot is None else 2
        )
        key = (
            short(probe.key)
            if probe
            else short(shown.search.entry[0])
            if self._over and shown.search.entry
            else NO_VALUE
        )
        first_warm = (
            NO_VALUE if found.warm_from_slot is None or not at else group(found.warm_from_slot)
        )
        middle = group(probe.slot) if is_middle else NO_VALUE
        return (
            short(found.target),
            group(found.entries),
            first_warm,
            group(at),
            lo,
            hi,
            middle,
            key,
            group(shown.seen(at)),
        )

    def _titles(self, phase: str) -> tuple[str, str, str]:
        index = log = ""
        if self._searches:
            index = lookup_search.title(self._searches[self._search], self._probes, self._over)
        if self._scans:
            log = lookup_log.title(self._scans[self._scan], self._readings, self._ended)
        return index, log, lookup_records.title(self._records, self._made, phase == "record")
