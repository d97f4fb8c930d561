"""A lookup step by step: what the stepper draws at each, all worked out here and sent once.

context.py        the lookup, and what is drawn around it
steps.py          what each step says, and how every value then stands
index_search.py   the figure of an index
log_scan.py       the figure of a .log
records.py        the figure of the records
lanes.py          the search beside the other one, plain and warm
"""

import json
from dataclasses import dataclass

from kafkaviz import units
from kafkaviz.figures.stepper import index_search, log_scan, records
from kafkaviz.figures.stepper.context import LookupContext
from kafkaviz.figures.stepper.index_search import SearchView, code_lines
from kafkaviz.figures.stepper.log_scan import ScanView
from kafkaviz.figures.stepper.records import RecordsView
from kafkaviz.figures.stepper.steps import LookupStep, LookupSteps, value_names
from kafkaviz.figures.text.join_text import join_sentences
from kafkaviz.messages import say, table
from kafkaviz.search.index import OFFSET
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.units import group


@dataclass(frozen=True)
class StepperView:
    """All that the stepper draws."""

    steps: tuple[LookupStep, ...]
    searches: tuple[SearchView, ...]
    scans: tuple[ScanView, ...]
    records: RecordsView


def view(context: LookupContext) -> StepperView:
    """The steps of a lookup and their figures."""
    searches = tuple(index_search.view(context, search) for search in context.result.searches)
    scans = tuple(log_scan.view(context, scan) for scan in context.result.scans)
    records_view = records.view(context)
    steps = LookupSteps(context, searches, scans, records_view).build()
    return StepperView(tuple(steps), searches, scans, records_view)


def message(stepper: StepperView, context: LookupContext, key: str) -> dict:
    """The view as plain values.

    Args:
        key: what distinguishes one lookup from another.
    """
    return {
        "key": key,
        "by": "time" if context.is_by_time else "offset",
        "words": table("stepper"),
        "values": value_names(),
        "steps": [step._asdict() for step in stepper.steps],
        "searches": [
            _with_segment_hint(
                index_search.browser_object(search_view), context, search_view.search.segment
            )
            for search_view in stepper.searches
        ],
        "scans": [
            _with_segment_hint(
                log_scan.browser_object(scan_view)
                | {"entry": _entry_text(context, scan_view.scan.segment)},
                context,
                scan_view.scan.segment,
            )
            for scan_view in stepper.scans
        ],
        "scan_code": _scan_code_object(context),
        "records": records.browser_rows(stepper.records, is_by_time=context.is_by_time),
        "hit": None if stepper.records.hit_offset is None else str(stepper.records.hit_offset),
        "records_hint": records.hint_text(stepper.records),
    }


def _with_segment_hint(figure_object: dict, context: LookupContext, base_offset: int) -> dict:
    """A figure whose hint names the segment, where the log has several.

    The page can be open at another one.
    """
    segment_text = (
        say("stepper_figures.of_segment", segment=units.file_stem(base_offset))
        if len(context.log.segments) > 1
        else ""
    )
    return figure_object | {"hint": join_sentences([segment_text, figure_object["hint"]])}


def size_bytes(payload: dict) -> int:
    """How much of a message goes over the wire."""
    return len(json.dumps(payload, ensure_ascii=False).encode())


def _scan_code_object(context: LookupContext) -> dict:
    code_name = "base" if context.result.profile.scan == BASE_OFFSET else "last"
    if context.is_by_time:
        code_name = "largest" if context.special_timestamp else "time"
    title = say("index_search.code_scan_time" if context.is_by_time else "index_search.code_scan")
    return {"title": title, "code": () if context.is_index_alone else code_lines(code_name)}


def _entry_text(context: LookupContext, segment: int) -> str:
    """Where the scan of a segment starts."""
    entry = next(
        search.entry
        for search in context.result.searches
        if (search.kind, search.segment) == (OFFSET, segment)
    )
    return (
        say("stepper_figures.entry", position=group(entry[1]))
        if entry
        else say("stepper_figures.log_start")
    )
