"""A lookup step by step: what the stepper draws at each, all worked out here and sent once.

Phases: "segment" which .log, "time" and "offset" the searches in its indexes, "log" the headers read, "record" what comes of it.
Of an index only what a search touches is sent, unless it is small enough to draw each slot: a full one of 1 310 720 entries takes
as few bytes as one of 100.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words, lookup_chain, lookup_log, lookup_words
from kafkaviz.figures.lookup_log import ScanView
from kafkaviz.figures.lookup_words import BASE, LARGEST, LAST, PLAIN, TIMED, WARM, Told, code, count, text_of
from kafkaviz.search import slots
from kafkaviz.search.index import ENTRY_BYTES, TIME, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.search.served import ServedLog, ServedSegment
from kafkaviz.search.slots import PAGE_BYTES, Probe
from kafkaviz.units import clock, group
from kafkaviz.words import say, table

DRAWN_SLOTS, DRAWN_RECORDS = 64, 9  # slots drawn one by one, records of the batch
VALUES = ("target", "N", "F", "probes", "lo", "hi", "mid", "key", "p", "short", "long", "pages")
COUNTED = ("probes", "short", "long", "pages")
NO_VALUE = "–"


class Seen(NamedTuple):
    """A record of the batch that was found: label is a word of what is in it, "" for none."""

    offset: int
    timestamp_ms: int
    label: str = ""


class Step(NamedTuple):
    """A step. search, probes, over: which search is drawn, after how many of its probes, and whether its result is known.

    scan, readings, ended: the same of the scan. line: (of "search" or "scan", its number), None for none. values: of VALUES, and whether
    this step changed each. titles: of the figures of the index, the log and the records.
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


class Row(NamedTuple):
    """A probe as it is drawn: before and after are the slots still possible, after None for none."""

    slot: int
    key: str
    compare: str
    before: tuple[int, int]
    after: tuple[int, int] | None
    pages: tuple[int, ...]


@dataclass(frozen=True)
class SearchView:
    """A search as it is drawn. cells: key, value and what hovering tells of each slot of a small index, else None."""

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


@dataclass(frozen=True)
class StepperView:
    """All that the stepper draws. records: those near the one found, from is the number of the first of them.

    fault: why the batch has no records to show, "" where it has; a lookup may need none of the bytes that are damaged.
    """

    steps: tuple[Step, ...]
    searches: tuple[SearchView, ...]
    scans: tuple[ScanView, ...]
    records: tuple[Seen, ...]
    records_from: int
    all_records: int
    hit_offset: int | None
    fault: str = ""


@dataclass(frozen=True)
class Made:
    """A lookup and what is drawn around it.

    batches: of the segment with this base offset, all, at least with lookup_log.COLUMNS; records: of the batch at that byte of it.
    page_bytes: of a lesson whose pages are small. is_alone: there is an index and no log.
    """

    found: Lookup
    log: ServedLog
    batches: Callable[[int], np.ndarray]
    records: Callable[[int, int], Sequence[Seen]]
    page_bytes: int = PAGE_BYTES
    is_alone: bool = False

    @property
    def by_time(self) -> bool:
        """Whether a timestamp was looked up."""
        return self.found.timestamp_ms is not None

    @property
    def special(self) -> int | None:
        """EARLIEST, LATEST or another of Kafka's values below 0, where one was asked for in place of a time."""
        return self.found.timestamp_ms if self.by_time and self.found.timestamp_ms < 0 else None

    @property
    def target(self) -> int:
        """The offset or the timestamp."""
        return self.found.timestamp_ms if self.by_time else self.found.offset

    def segment(self, base_offset: int) -> ServedSegment:
        """One of the partition's segments."""
        return next(one for one in self.log.segments if one.base_offset == base_offset)


# ---- the view


def view(made: Made) -> StepperView:
    """The steps of a lookup and their figures."""
    searches = tuple(_search(made, one, segment) for one, segment in zip(made.found.searches, _segments(made), strict=True))
    scans = tuple(_scan(made, place) for place in range(len(made.found.scans)))
    (records, fault), hit = _readable(made), _hit(made)
    first = _first_shown(records, hit)
    shown = StepperView((), searches, scans, tuple(records[first : first + DRAWN_RECORDS]), first, len(records), hit, fault)
    return replace(shown, steps=tuple(_Steps(made, shown).all()))


def _segments(made: Made) -> list[int]:
    """The base offset of the segment of each search."""
    chosen = next((one.base_offset for one in made.found.choices if one.chosen), made.log.segments[0].base_offset)
    if made.by_time or not made.found.scans:
        return [chosen] * len(made.found.searches)
    return [one.segment for one in made.found.scans]


def _search(made: Made, search: IndexSearch, base_offset: int) -> SearchView:
    entry_bytes, found = ENTRY_BYTES[search.kind], search.found
    words, ranges = lookup_words.told(search), []
    last = found.entries - 1
    for probe, told in zip(found.probes, words, strict=True):
        chooses = not ranges if found.warm_from_slot is None else told.line < 6  # the section, and does not halve yet
        ranges.append((0, last) if chooses else (probe.lo, probe.hi))
    rows = (_row(search, *one, made.page_bytes) for one in zip(found.probes, words, ranges, strict=True))
    pages = slots.page_count(found.entries, entry_bytes, made.page_bytes)
    warm_slots = slots.warm_entries(entry_bytes, made.found.profile.warm_bytes)
    cells = tuple(_cells(made, made.segment(base_offset), search)) if found.entries <= DRAWN_SLOTS else None
    result = lookup_words.result(search, base_offset, not made.is_alone)
    return SearchView(search, tuple(words), result, tuple(rows), made.page_bytes / entry_bytes, pages, warm_slots, cells)


def _row(search: IndexSearch, probe: Probe, told: Told, before: tuple[int, int], page_bytes: int) -> Row:
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
        beside = group(value + segment.base_offset) if is_time else "" if made.is_alone else group(value)
        told = say(f"stepper_figures.cell_{name}", key=offset, moment=moment, value=beside, **where)
        cells.append((clock(key) if is_time else offset, beside, told))
    return cells


def _scan(made: Made, place: int) -> ScanView:
    scan = made.found.scans[place]
    segment, batches = made.segment(scan.segment), made.batches(scan.segment)
    if made.special:
        return lookup_log.view(scan, batches, segment.size_bytes, segment.max_timestamp[0], True, lookup_log.LARGEST)
    return lookup_log.view(scan, batches, segment.size_bytes, made.target, made.by_time, made.found.profile.scan)


def _readable(made: Made) -> tuple[Sequence[Seen], str]:
    """The records of the batch, or none and why."""
    try:
        return _records(made), ""
    except KafkavizError as fault:
        return (), fault_words.told(fault)


def _records(made: Made) -> Sequence[Seen]:
    scan, record = made.found.scan, made.found.record
    if record:
        return made.records(record.segment, record.batch_position)
    return made.records(scan.segment, scan.batch.position) if scan and scan.batch else ()


def _hit(made: Made) -> int | None:
    return made.found.record.offset if made.found.record else None


def _first_shown(records: Sequence[Seen], hit: int | None) -> int:
    at = next((place for place, one in enumerate(records) if one.offset == hit), 0)
    return max(0, min(len(records) - DRAWN_RECORDS, at - 3))


class _Steps:
    """The steps one by one; what is drawn is carried from each to the next."""

    def __init__(self, made: Made, shown: StepperView) -> None:
        self._made, self._shown = made, shown
        self._search, self._probes, self._over = 0, 0, False
        self._scan, self._readings, self._ended = 0, 0, False
        self._before: tuple[str, ...] = ()

    def all(self) -> list[Step]:
        """Every step of the lookup."""
        steps = [] if self._made.is_alone else [self._step("segment", lookup_chain.segment(self._made))]
        scans = list(range(len(self._shown.scans)))
        for place in range(len(self._shown.searches)):
            steps += self._searched(place)
            if not self._made.by_time and scans:
                steps += self._scanned(scans.pop(0))
        steps += [step for place in scans for step in self._scanned(place)]
        return steps if self._made.is_alone else [*steps, *self._ending()]

    def _searched(self, place: int) -> list[Step]:
        shown = self._shown.searches[place]
        before = [self._step("segment", lookup_chain.next_segment(self._made, place))] if place and not self._made.by_time else []
        self._search, self._probes, self._over = place, 0, False
        self._scan = min(place if not self._made.by_time else 0, max(0, len(self._shown.scans) - 1))
        self._readings, self._ended = 0, False
        steps = []
        for self._probes, told in enumerate(shown.told, 1):
            steps.append(self._step(shown.search.kind, told.text, ("search", told.line)))
        self._over = True
        return [*before, *steps, self._step(shown.search.kind, shown.result.text, ("search", shown.result.line))]

    def _scanned(self, place: int) -> list[Step]:
        shown, steps = self._shown.scans[place], []
        self._scan, self._ended = place, False
        for self._readings, reading in enumerate(shown.readings, 1):
            self._ended = self._readings == len(shown.readings)
            steps.append(self._step("log", reading.text, ("scan", reading.line) if reading.line >= 0 else None))
        return steps

    def _ending(self) -> list[Step]:
        text = lookup_chain.ending(self._made)
        return [self._step("record", text)] if text else []

    def _step(self, phase: str, text: str, line: tuple[str, int] | None = None) -> Step:
        values = self._values(phase)
        changed = tuple((now, phase not in ("segment", "record") and now not in (was, NO_VALUE)) for was, now in self._compared(values))
        self._before = values
        return Step(
            phase, text, self._search, self._probes, self._over, self._scan, self._readings, self._ended, line, changed, self._titles(phase)
        )

    def _compared(self, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return list(zip(self._before or values, values, strict=True))

    def _values(self, phase: str) -> tuple[str, ...]:
        index = self._index_values() if self._shown.searches else (self._target(), *[NO_VALUE] * 6, "0")
        position, tally = NO_VALUE, lookup_log.Tally(0, 0)
        if self._shown.scans and self._readings:
            scan = self._shown.scans[self._scan]
            now = scan.readings[self._readings - 1]
            position, tally = group(now.position) if now.position >= 0 else NO_VALUE, scan.tally(now.read)
        *first, pages = index
        return (*first, position, group(tally.short), group(tally.long), pages)

    def _target(self) -> str:
        if self._made.special:
            return lookup_words.SPECIAL.get(self._made.special, NO_VALUE)
        return clock(self._made.target)[3:] if self._made.by_time else group(self._made.target)

    def _index_values(self) -> tuple[str, ...]:
        """Target, N, F, probes, lo, hi, mid, key and pages."""
        shown = self._shown.searches[self._search]
        found, kind, at = shown.search.found, shown.search.kind, self._probes
        short = lambda key: text_of(kind, key)[3 if kind == TIME else 0 :]  # noqa: E731 - a time of day without its hour
        probe = found.probes[at - 1] if at and not self._over else None
        left = shown.result.left if self._over else shown.left(at) if at else None
        lo, hi = map(group, left) if left else (NO_VALUE, NO_VALUE)
        is_middle = probe is not None and at > (1 if found.section == "warm" or found.warm_from_slot is None else 2)
        key = short(probe.key) if probe else short(shown.search.entry[0]) if self._over and shown.search.entry else NO_VALUE
        first_warm = NO_VALUE if found.warm_from_slot is None or not at else group(found.warm_from_slot)
        middle = group(probe.slot) if is_middle else NO_VALUE
        return short(found.target), group(found.entries), first_warm, group(at), lo, hi, middle, key, group(shown.seen(at))

    def _titles(self, phase: str) -> tuple[str, str, str]:
        index = log = ""
        if self._shown.searches:
            shown = self._shown.searches[self._search]
            words = (shown.search, self._probes, shown.seen(self._probes), shown.pages, self._over, shown.left(self._probes))
            index = lookup_words.index_title(*words)
        if self._shown.scans:
            log = lookup_log.title(self._shown.scans[self._scan], self._readings, self._ended)
        return index, log, self._record_title(phase == "record")

    def _record_title(self, is_read: bool) -> str:
        shown = self._shown
        if is_read and shown.fault:
            return say("stepper_figures.fault", fault=shown.fault)
        at = next((place for place, one in enumerate(shown.records) if one.offset == shown.hit_offset), None)
        if not is_read or at is None:
            return say("stepper_figures.not_read" if not is_read else "stepper_figures.no_answer")
        number, count_of = group(shown.records_from + at + 1), group(shown.all_records)
        position = group(self._made.found.record.batch_position)
        return say("stepper_figures.answer", offset=group(shown.hit_offset), number=number, count=count_of, position=position)


# ---- for the browser


def message(shown: StepperView, made: Made, key: str) -> dict:
    """The view as plain values; key: what tells one lookup from another."""
    return {
        "key": key,
        "by": "time" if made.by_time else "offset",
        "words": table("stepper"),
        "values": value_names(),
        "steps": [one._asdict() for one in shown.steps],
        "searches": [_sent_search(one) for one in shown.searches],
        "scans": [lookup_log.sent(one) | {"entry": _entry_words(shown, place, made)} for place, one in enumerate(shown.scans)],
        "scan_code": _scan_code(made),
        "records": _sent_records(shown, made.by_time),
        "hit": None if shown.hit_offset is None else str(shown.hit_offset),
        "records_hint": _records_hint(shown),
    }


def value_names() -> list[str]:
    """VALUES as they are named on the page."""
    return [say(f"stepper_figures.value_{name}") if name in COUNTED else name for name in VALUES]


def size_bytes(sent: dict) -> int:
    """How much of a message goes over the wire."""
    return len(json.dumps(sent, ensure_ascii=False).encode())


def _sent_search(shown: SearchView) -> dict:
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
    a_page = group(int(shown.page_slots)) if shown.page_slots == int(shown.page_slots) else f"{int(shown.page_slots)}⅓"
    return say("stepper_figures.strip", pages=count("lookup_words.n_pages", shown.pages), slots=a_page)


def _scan_code(made: Made) -> dict:
    by_offset = BASE if made.found.profile.scan == BASE_OFFSET else LAST
    name = LARGEST if made.special else TIMED if made.by_time else by_offset
    title = say("lookup_words.code_scan_time" if made.by_time else "lookup_words.code_scan")
    return {"title": title, "code": () if made.is_alone else code(name)}


def _entry_words(shown: StepperView, place: int, made: Made) -> str:
    search = shown.searches[-1 if made.by_time else place].search
    return say("stepper_figures.entry", position=group(search.entry[1])) if search.entry else say("stepper_figures.log_start")


def _sent_records(shown: StepperView, by_time: bool) -> list[list[str]]:
    """Offset, the same to read, a word of what is in it or its time, and what hovering tells."""
    time = units.clock if len(shown.records) <= 6 else lambda ms: units.clock(ms)[3:]
    words = [time(one.timestamp_ms) if by_time or not one.label else one.label for one in shown.records]
    rows = zip(shown.records, words, strict=True)
    return [[str(one.offset), group(one.offset), word, units.moment(one.timestamp_ms)] for one, word in rows]


def _records_hint(shown: StepperView) -> str:
    if shown.all_records <= len(shown.records):
        return ""
    first, last = shown.records_from + 1, shown.records_from + len(shown.records)
    return say("stepper_figures.some_records", first=group(first), last=group(last), count=group(shown.all_records))
