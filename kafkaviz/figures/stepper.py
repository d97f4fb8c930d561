"""A lookup step by step: what the stepper draws at each, all worked out here and sent once.

Its parts lie beside it: the steps in lookup_steps, and the three figures, of the index in
lookup_search, of the log in lookup_log, of the records in lookup_records.
"""

import json
from dataclasses import dataclass

from kafkaviz import units
from kafkaviz.figures import lookup_log, lookup_records, lookup_search
from kafkaviz.figures.join_text import join_sentences
from kafkaviz.figures.lookup_context import LookupContext
from kafkaviz.figures.lookup_log import ScanView
from kafkaviz.figures.lookup_records import RecordsView
from kafkaviz.figures.lookup_search import SearchView
from kafkaviz.figures.lookup_steps import LookupStep, LookupSteps, value_names
from kafkaviz.figures.lookup_text import BASE_CODE, LARGEST_CODE, LAST_CODE, TIME_CODE, code_lines
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.units import group
from kafkaviz.words import say, table


@dataclass(frozen=True)
class StepperView:
    """All that the stepper draws."""

    steps: tuple[LookupStep, ...]
    searches: tuple[SearchView, ...]
    scans: tuple[ScanView, ...]
    records: RecordsView


def view(context: LookupContext) -> StepperView:
    """The steps of a lookup and their figures."""
    searches = tuple(
        lookup_search.view(context, search, segment)
        for search, segment in zip(context.result.searches, _search_segments(context), strict=True)
    )
    scans = tuple(_scan_view(context, index) for index in range(len(context.result.scans)))
    records = lookup_records.view(context)
    return StepperView(
        tuple(LookupSteps(context, searches, scans, records).build()), searches, scans, records
    )


def _search_segments(context: LookupContext) -> list[int]:
    """The base offset of the segment of each search."""
    chosen_base = next(
        (choice.base_offset for choice in context.result.choices if choice.chosen),
        context.log.segments[0].base_offset,
    )
    if context.is_by_time or not context.result.scans:
        return [chosen_base] * len(context.result.searches)
    return [scan.segment for scan in context.result.scans]


def _scan_view(context: LookupContext, index: int) -> ScanView:
    scan = context.result.scans[index]
    segment, batches = context.find_segment(scan.segment), context.batches(scan.segment)
    if context.special_timestamp:
        return lookup_log.view(
            scan, batches, segment.size_bytes, segment.max_timestamp[0], True, lookup_log.LARGEST
        )
    return lookup_log.view(
        scan,
        batches,
        segment.size_bytes,
        context.target,
        context.is_by_time,
        context.result.profile.scan,
    )


def message(stepper: StepperView, context: LookupContext, key: str) -> dict:
    """The view as plain values; key: what tells one lookup from another."""
    return {
        "key": key,
        "by": "time" if context.is_by_time else "offset",
        "words": table("stepper"),
        "values": value_names(),
        "steps": [step._asdict() for step in stepper.steps],
        "searches": [
            _with_segment_hint(lookup_search.browser_object(search_view), context, base_offset)
            for search_view, base_offset in zip(
                stepper.searches, _search_segments(context), strict=True
            )
        ],
        "scans": [
            _with_segment_hint(
                _scan_object(stepper, index, context), context, scan_view.scan.segment
            )
            for index, scan_view in enumerate(stepper.scans)
        ],
        "scan_code": _scan_code_object(context),
        "records": lookup_records.browser_rows(stepper.records, context.is_by_time),
        "hit": None if stepper.records.hit_offset is None else str(stepper.records.hit_offset),
        "records_hint": lookup_records.hint_text(stepper.records),
    }


def _with_segment_hint(figure_object: dict, context: LookupContext, base_offset: int) -> dict:
    """A figure whose hint names the segment, where the log has several: the page can be open at
    another one.
    """
    segment_text = (
        say("stepper_figures.of_segment", segment=units.file_stem(base_offset))
        if len(context.log.segments) > 1
        else ""
    )
    return figure_object | {"hint": join_sentences([segment_text, figure_object["hint"]])}


def _scan_object(stepper: StepperView, index: int, context: LookupContext) -> dict:
    return lookup_log.browser_object(stepper.scans[index]) | {
        "entry": _entry_text(stepper, index, context)
    }


def size_bytes(payload: dict) -> int:
    """How much of a message goes over the wire."""
    return len(json.dumps(payload, ensure_ascii=False).encode())


def _scan_code_object(context: LookupContext) -> dict:
    offset_code = BASE_CODE if context.result.profile.scan == BASE_OFFSET else LAST_CODE
    code_name = (
        LARGEST_CODE
        if context.special_timestamp
        else TIME_CODE
        if context.is_by_time
        else offset_code
    )
    title = say("lookup_words.code_scan_time" if context.is_by_time else "lookup_words.code_scan")
    return {"title": title, "code": () if context.is_index_alone else code_lines(code_name)}


def _entry_text(stepper: StepperView, index: int, context: LookupContext) -> str:
    search = stepper.searches[-1 if context.is_by_time else index].search
    return (
        say("stepper_figures.entry", position=group(search.entry[1]))
        if search.entry
        else say("stepper_figures.log_start")
    )
