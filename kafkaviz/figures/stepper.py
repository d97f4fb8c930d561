"""A lookup step by step: what the stepper draws at each, all worked out here and sent once.

Its parts lie beside it: the steps in lookup_steps, and the three figures, of the index in
lookup_search, of the log in lookup_log, of the records in lookup_records.
"""

import json
from dataclasses import dataclass

from kafkaviz import units
from kafkaviz.figures import lookup_log, lookup_records, lookup_search
from kafkaviz.figures.listed import sentences
from kafkaviz.figures.lookup_log import ScanView
from kafkaviz.figures.lookup_made import Made
from kafkaviz.figures.lookup_records import RecordsView
from kafkaviz.figures.lookup_search import SearchView
from kafkaviz.figures.lookup_steps import Step, Steps, value_names
from kafkaviz.figures.lookup_words import BASE, LARGEST, LAST, TIMED, code
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.units import group
from kafkaviz.words import say, table


@dataclass(frozen=True)
class StepperView:
    """All that the stepper draws."""

    steps: tuple[Step, ...]
    searches: tuple[SearchView, ...]
    scans: tuple[ScanView, ...]
    records: RecordsView


def view(made: Made) -> StepperView:
    """The steps of a lookup and their figures."""
    searches = tuple(
        lookup_search.view(made, one, segment)
        for one, segment in zip(made.found.searches, _segments(made), strict=True)
    )
    scans = tuple(_scan(made, place) for place in range(len(made.found.scans)))
    records = lookup_records.view(made)
    return StepperView(tuple(Steps(made, searches, scans, records).all()), searches, scans, records)


def _segments(made: Made) -> list[int]:
    """The base offset of the segment of each search."""
    chosen = next(
        (one.base_offset for one in made.found.choices if one.chosen),
        made.log.segments[0].base_offset,
    )
    if made.by_time or not made.found.scans:
        return [chosen] * len(made.found.searches)
    return [one.segment for one in made.found.scans]


def _scan(made: Made, place: int) -> ScanView:
    scan = made.found.scans[place]
    segment, batches = made.segment(scan.segment), made.batches(scan.segment)
    if made.special:
        return lookup_log.view(
            scan, batches, segment.size_bytes, segment.max_timestamp[0], True, lookup_log.LARGEST
        )
    return lookup_log.view(
        scan, batches, segment.size_bytes, made.target, made.by_time, made.found.profile.scan
    )


def message(shown: StepperView, made: Made, key: str) -> dict:
    """The view as plain values; key: what tells one lookup from another."""
    return {
        "key": key,
        "by": "time" if made.by_time else "offset",
        "words": table("stepper"),
        "values": value_names(),
        "steps": [one._asdict() for one in shown.steps],
        "searches": [
            _in_segment(lookup_search.sent(one), made, of)
            for one, of in zip(shown.searches, _segments(made), strict=True)
        ],
        "scans": [
            _in_segment(_scan_sent(shown, place, made), made, one.scan.segment)
            for place, one in enumerate(shown.scans)
        ],
        "scan_code": _scan_code(made),
        "records": lookup_records.sent(shown.records, made.by_time),
        "hit": None if shown.records.hit_offset is None else str(shown.records.hit_offset),
        "records_hint": lookup_records.hint(shown.records),
    }


def _in_segment(sent: dict, made: Made, base_offset: int) -> dict:
    """A figure whose hint names the segment, where the log has several: the page can be open at
    another one.
    """
    named = (
        say("stepper_figures.of_segment", segment=units.file_stem(base_offset))
        if len(made.log.segments) > 1
        else ""
    )
    return sent | {"hint": sentences([named, sent["hint"]])}


def _scan_sent(shown: StepperView, place: int, made: Made) -> dict:
    return lookup_log.sent(shown.scans[place]) | {"entry": _entry_words(shown, place, made)}


def size_bytes(sent: dict) -> int:
    """How much of a message goes over the wire."""
    return len(json.dumps(sent, ensure_ascii=False).encode())


def _scan_code(made: Made) -> dict:
    by_offset = BASE if made.found.profile.scan == BASE_OFFSET else LAST
    name = LARGEST if made.special else TIMED if made.by_time else by_offset
    title = say("lookup_words.code_scan_time" if made.by_time else "lookup_words.code_scan")
    return {"title": title, "code": () if made.is_alone else code(name)}


def _entry_words(shown: StepperView, place: int, made: Made) -> str:
    search = shown.searches[-1 if made.by_time else place].search
    return (
        say("stepper_figures.entry", position=group(search.entry[1]))
        if search.entry
        else say("stepper_figures.log_start")
    )
