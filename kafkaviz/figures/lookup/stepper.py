"""The steps of a lookup, and the message that sends them with their figures to the browser.

Each step has a text, a line of pseudocode, values of its variables, and the state of every figure.

Phases: "segment" chooses a .log, "time" and "offset" search its indexes, "log" reads headers,
"record" gives the result.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from kafkaviz import units
from kafkaviz.analysis.lookup.lookup_targets import LookupRecord
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.lookup import LookupContext, index_search, log_scan
from kafkaviz.figures.lookup.index_search import MIDDLE_KEYS, SearchView, code_lines, key_text
from kafkaviz.figures.lookup.log_scan import ScanView
from kafkaviz.messages import say, say_count, table
from kafkaviz.render.sentences import describe_error, join_sentences
from kafkaviz.search.by_time import NAMES
from kafkaviz.search.consumer import ConsumerRecord
from kafkaviz.search.index_search import OFFSET, TIME, IndexSearch
from kafkaviz.search.lookup import LookupOutcome
from kafkaviz.search.scan import Batch, FailedRead, ForwardScan
from kafkaviz.search.segment_reasons import SegmentReason
from kafkaviz.units import clock, format_count

VALUE_NAMES = (
    "target", "N", "F", "probes", "lo", "hi", "mid", "key", "p", "short", "long", "pages",
)  # fmt: skip
COUNT_VALUES = ("probes", "short", "long", "pages")
NO_VALUE = "–"
Phase = Literal["segment", "time", "offset", "log", "record"]
DRAWN_RECORDS = 9


class LookupStep(NamedTuple):
    phase: Phase
    text: str
    search: int  # index of the search that is drawn
    probes: int  # number of its probes made so far
    over: bool  # whether its result is known
    scan: int  # index of the scan of a .log that is drawn
    readings: int  # number of its headers read so far
    ended: bool  # whether the scan has ended
    # the highlighted line of pseudocode: "search" or "scan", and a line number; None for no line
    line: tuple[Literal["search", "scan"], int] | None
    # for each of `VALUE_NAMES`: the value, and whether this step changed it
    values: tuple[tuple[str, bool], ...]
    titles: tuple[str, str, str]  # the titles of the figures of the index, the log and the records


def value_names() -> list[str]:
    return [
        say(f"stepper_figures.value_{name}") if name in COUNT_VALUES else name
        for name in VALUE_NAMES
    ]


@dataclass(frozen=True)
class RecordsView:
    """The records of a batch around the record that the lookup finds."""

    records: tuple[LookupRecord, ...]
    first_number: int  # index of the first shown record in the batch
    count: int  # number of records in the batch
    hit_offset: int | None
    # why no records can be shown, or ""; a lookup can succeed without reading the damaged bytes
    fault: str = ""


def view_records(context: LookupContext) -> RecordsView:
    hit = context.result.record.offset if context.result.record else None
    try:
        first_number, count, records = _records_around(_batch_records(context), hit)
    except KafkavizError as fault:
        return RecordsView((), 0, 0, hit, describe_error(fault))
    return RecordsView(tuple(records), first_number, count, hit)


def _records_around(
    records: Iterable[LookupRecord], hit_offset: int | None
) -> tuple[int, int, Sequence[LookupRecord]]:
    """Returns up to `DRAWN_RECORDS` records around the record with `hit_offset`.

    If no record has this offset, returns the first records. A batch may have millions of records.

    Returns:
        The index of the first returned record, the number of all records, and the records.
    """
    first_records: list[LookupRecord] = []
    last_records: deque[LookupRecord] = deque(maxlen=DRAWN_RECORDS)
    count = 0
    end = None  # the index after the last record to return, once the hit is found
    for record in records:
        if count < DRAWN_RECORDS:
            first_records.append(record)
        if end is None or count < end:
            last_records.append(record)
        if end is None and record.offset == hit_offset:
            end = max(count - 3, 0) + DRAWN_RECORDS
        count += 1
    if end is None:
        return 0, count, first_records
    return min(count, end) - len(last_records), count, last_records


def _batch_records(context: LookupContext) -> Iterable[LookupRecord]:
    scan = context.result.scan
    record = context.result.record
    if record:
        return context.records(record.segment_base_offset, record.batch_position)
    return context.records(scan.base_offset, scan.batch.position) if scan and scan.batch else ()


def _records_title(records_view: RecordsView, context: LookupContext, *, is_read: bool) -> str:
    if not is_read:
        return say("stepper_figures.not_read")
    if records_view.fault:
        return say("stepper_figures.fault", fault=records_view.fault)
    offsets = [record.offset for record in records_view.records]
    if records_view.hit_offset not in offsets:
        return say("stepper_figures.no_answer")
    number = records_view.first_number + offsets.index(records_view.hit_offset) + 1
    record = cast(ConsumerRecord, context.result.record)
    return say(
        "stepper_figures.answer",
        offset=records_view.hit_offset,
        number=number,
        count=records_view.count,
        position=record.batch_position,
    )


def _record_rows(records_view: RecordsView, *, is_by_time: bool) -> list[list[str]]:
    shown_from = 0 if len(records_view.records) <= 6 else 3  # without the hour
    rows = []
    for record in records_view.records:
        label = clock(record.timestamp_ms)[shown_from:]
        if record.label and not is_by_time:
            label = record.label
        time = units.moment(record.timestamp_ms)
        rows.append([str(record.offset), format_count(record.offset), label, time])
    return rows


def _records_hint(records_view: RecordsView) -> str:
    if records_view.count <= len(records_view.records):
        return ""
    first = format_count(records_view.first_number + 1)
    last = format_count(records_view.first_number + len(records_view.records))
    count = format_count(records_view.count)
    return say("stepper_figures.some_records", first=first, last=last, count=count)


class LookupSteps:
    """Builds the steps of a lookup. Keeps the state of the figures from step to step."""

    def __init__(
        self,
        context: LookupContext,
        searches: Sequence[SearchView],
        scans: Sequence[ScanView],
        records_view: RecordsView,
    ) -> None:
        self._context = context
        self._searches = searches
        self._scans = scans
        self._records = records_view
        self._search = 0
        self._probes = 0
        self._is_over = False
        self._scan = 0
        self._readings = 0
        self._is_ended = False
        self._previous_values: tuple[str, ...] = ()

    def build(self) -> Iterator[LookupStep]:
        context = self._context
        result = context.result
        if not context.is_index_only:
            yield self._step("segment", _start_text(context))
        search_number = scan_number = 0
        for part in result.path:
            if isinstance(part, ForwardScan):
                yield from self._scan_steps(scan_number)
                scan_number += 1
                continue
            if search_number and not context.is_by_time:
                yield self._step("segment", _next_segment_text(context, search_number))
            yield from self._search_steps(search_number)
            search_number += 1
        if result.outcome and not context.is_index_only:
            yield self._step("record", _outcome_text(context, result.outcome))

    def _search_steps(self, number: int) -> Iterator[LookupStep]:
        search_view = self._searches[number]
        self._search = number
        self._is_over = False
        self._scan = 0 if self._context.is_by_time else min(number, max(0, len(self._scans) - 1))
        self._readings = 0
        self._is_ended = False
        probe_count = len(search_view.rows)
        for step_number, (text, line) in enumerate(search_view.steps, 1):
            self._probes = min(step_number, probe_count)
            self._is_over = step_number > probe_count
            yield self._step(search_view.search.kind, text, ("search", line))

    def _scan_steps(self, number: int) -> Iterator[LookupStep]:
        steps = self._scans[number].steps
        self._scan = number
        for reading, step in enumerate(steps, 1):
            self._readings = reading
            self._is_ended = reading == len(steps)
            yield self._step("log", step.text, ("scan", step.line) if step.line >= 0 else None)

    def _step(
        self, phase: Phase, text: str, line: tuple[Literal["search", "scan"], int] | None = None
    ) -> LookupStep:
        values = self._values()
        values_changed = tuple(
            (value, phase not in ("segment", "record") and value not in (previous, NO_VALUE))
            for previous, value in zip(self._previous_values or values, values, strict=True)
        )
        self._previous_values = values
        return LookupStep(
            phase,
            text,
            self._search,
            self._probes,
            self._is_over,
            self._scan,
            self._readings,
            self._is_ended,
            line,
            values_changed,
            self._figure_titles(phase),
        )

    def _values(self) -> tuple[str, ...]:
        """Returns the value of each of `VALUE_NAMES`."""
        if self._searches:
            values = self._search_values()
        else:
            values = {"target": self._target(), "pages": "0"}
        short_reads = 0
        long_reads = 0
        if self._scans and self._readings:
            scan_view = self._scans[self._scan]
            step = scan_view.steps[self._readings - 1]
            if step.position >= 0:
                values["p"] = format_count(step.position)
            short_reads, long_reads = scan_view.count_reads(step.reads_done)
        values |= {"short": format_count(short_reads), "long": format_count(long_reads)}
        return tuple(values.get(name, NO_VALUE) for name in VALUE_NAMES)

    def _target(self) -> str:
        if self._context.special_timestamp:
            names = {value: name for name, value in NAMES.items()}
            return names.get(self._context.special_timestamp, NO_VALUE)
        target = self._context.target
        return clock(target)[3:] if self._context.is_by_time else format_count(target)

    def _search_values(self) -> dict[str, str]:
        search_view = self._searches[self._search]
        search = search_view.search
        slot_search = search_view.search.slot_search
        probe = slot_search.probes[self._probes - 1] if self._probes else None
        key = None
        remaining = probe.remaining if probe else None
        if self._is_over:
            probe = None
            key = search.entry[0] if search.entry else None
            remaining = (slot_search.slot, slot_search.slot) if slot_search.slot >= 0 else None
        elif probe:
            key = probe.key
        lo, hi = map(format_count, remaining) if remaining else (NO_VALUE, NO_VALUE)
        is_warm_known = slot_search.warm_from_slot is not None and self._probes
        is_middle = probe and probe.branch in MIDDLE_KEYS
        return {
            "target": _short_key(search, slot_search.target),
            "N": format_count(slot_search.entries),
            "F": format_count(slot_search.warm_from_slot) if is_warm_known else NO_VALUE,
            "probes": format_count(self._probes),
            "lo": lo,
            "hi": hi,
            "mid": format_count(probe.slot) if is_middle else NO_VALUE,
            "key": NO_VALUE if key is None else _short_key(search, key),
            "pages": format_count(search_view.count_pages(self._probes)),
        }

    def _figure_titles(self, phase: Phase) -> tuple[str, str, str]:
        index = log = ""
        if self._searches:
            search = self._searches[self._search]
            index = index_search.title(search, self._probes, is_over=self._is_over)
        if self._scans:
            log = log_scan.title(self._scans[self._scan], self._readings, is_over=self._is_ended)
        return index, log, _records_title(self._records, self._context, is_read=phase == "record")


def _short_key(search: IndexSearch, key: int) -> str:
    """Returns an index key as text: an offset, or a time without the hour, such as 29:44.123."""
    return key_text(search.kind, key)[3 if search.kind == TIME else 0 :]


def _start_text(context: LookupContext) -> str:
    result = context.result
    start_choice = result.start_choice
    count = format_count(len(context.log.segments))
    is_only = len(context.log.segments) == 1
    segment_name = units.file_stem(start_choice.base_offset)
    target = format_count(context.target)
    stable = format_count(result.bounds.limit_offset)
    end = format_count(result.bounds.end_offset)
    match start_choice.reason:
        case SegmentReason.OUT_OF_RANGE:
            return say("lookup_steps.refused", error=result.error)
        case SegmentReason.BEYOND_STABLE:
            return say("lookup_steps.beyond_stable", offset=target, stable=stable)
        case SegmentReason.BEYOND_END:
            return say("lookup_steps.beyond_end", offset=target)
        case SegmentReason.LOG_START:
            return say("lookup_steps.earliest", offset=format_count(result.bounds.start_offset))
        case SegmentReason.LOG_END:
            return say("lookup_steps.latest", offset=end)
        case SegmentReason.STABLE_END:
            return say("lookup_steps.latest_stable", end=end, stable=stable)
        case SegmentReason.LARGEST if start_choice.largest_ms >= 0:
            return _largest_text(context, segment_name)
        case SegmentReason.TOO_OLD:
            latest_ms = max(choice.largest_ms for choice in result.choices)
            return say("lookup_steps.time_none", moment=units.moment(latest_ms))
        case SegmentReason.FIRST_REACHING:
            return say(
                f"lookup_steps.time_{'only' if is_only else 'of'}",
                count=count,
                segment=segment_name,
                moment=units.moment(start_choice.largest_ms),
            )
        case SegmentReason.GREATEST_BASE:
            return say(
                f"lookup_steps.offset_{'only' if is_only else 'of'}",
                count=count,
                base=format_count(start_choice.base_offset),
                offset=target,
                segment=segment_name,
            )
    return say("lookup_steps.largest_none")


def _largest_text(context: LookupContext, segment_name: str) -> str:
    result = context.result
    count = len(context.log.segments)
    largest_ms, offset = context.find_segment(result.start_choice.base_offset).max_timestamp
    outcome = "answered" if result.answer else "hidden"
    if result.scans:
        outcome = "scanned"
    return say(
        f"lookup_steps.largest_{'only' if count == 1 else 'of'}",
        count=format_count(count),
        segment=segment_name,
        then=say(f"lookup_steps.largest_{outcome}"),
        moment=units.moment(largest_ms),
        offset=format_count(offset),
    )


def _next_segment_text(context: LookupContext, number: int) -> str:
    before, after = context.result.searches[number - 1 : number + 1]
    return say(
        "lookup_steps.next_segment",
        before=units.file_stem(before.base_offset),
        after=units.file_stem(after.base_offset),
        offset=format_count(context.target),
    )


def _outcome_text(context: LookupContext, outcome: LookupOutcome) -> str:
    result = context.result
    scan = cast(ForwardScan, context.result.scan)
    key = outcome.value
    match outcome:
        case LookupOutcome.NO_BATCH | LookupOutcome.TOO_EARLY:
            return say(f"lookup_steps.{key}")
        case LookupOutcome.HIDDEN:
            offset = format_count(scan.offset)
            stable = format_count(result.bounds.limit_offset)
            return say("lookup_steps.hidden", offset=offset, stable=stable)
    if isinstance(result.error, FailedRead):
        return _failure_text(result.error, scan)
    batch = cast(Batch, scan.batch)
    position = format_count(batch.position)
    target = format_count(context.target)
    if outcome in (LookupOutcome.CORRUPT, LookupOutcome.NO_RECORD):
        return say(f"lookup_steps.{key}", position=position, error=result.error)
    record = cast(ConsumerRecord, result.record)
    if outcome is LookupOutcome.SKIPS:
        skipped = record.offset - batch.base_offset
        return say_count("lookup_steps.skips", skipped, position=position, target=target)
    is_elsewhere = record.segment_base_offset != scan.base_offset
    return say(
        f"lookup_steps.{key}{'_segment' if is_elsewhere else ''}",
        position=position,
        target=target,
        offset=format_count(record.offset),
        next=format_count(record.batch_position),
        segment=units.file_stem(record.segment_base_offset),
    )


def _failure_text(error: FailedRead, scan: ForwardScan) -> str:
    name = error.class_name.rpartition(".")[2]
    fault = describe_error(error)
    if scan.batch is None:
        return say("lookup_steps.broker_fails", name=name, error=fault)
    position = format_count(scan.batch.position)
    return say("lookup_steps.consumer_fails", name=name, error=fault, position=position)


@dataclass(frozen=True)
class StepperView:
    steps: tuple[LookupStep, ...]
    searches: tuple[SearchView, ...]
    scans: tuple[ScanView, ...]
    records: RecordsView


def view(context: LookupContext) -> StepperView:
    searches = tuple(index_search.view(context, search) for search in context.result.searches)
    scans = tuple(log_scan.view(context, scan) for scan in context.result.scans)
    records_view = view_records(context)
    steps = LookupSteps(context, searches, scans, records_view).build()
    return StepperView(tuple(steps), searches, scans, records_view)


def browser_payload(stepper: StepperView, context: LookupContext, key: str) -> dict:
    return {
        "key": key,
        "by": "time" if context.is_by_time else "offset",
        "words": table("stepper"),
        "values": value_names(),
        "steps": [step._asdict() for step in stepper.steps],
        "searches": [
            _with_segment_hint(index_search.browser_object(each), context, each.search.base_offset)
            for each in stepper.searches
        ],
        "scans": [
            _with_segment_hint(log_scan.browser_object(each), context, each.scan.base_offset)
            | {"entry": _entry_text(context, each.scan.base_offset)}
            for each in stepper.scans
        ],
        "scan_code": _scan_code_object(context),
        "records": _record_rows(stepper.records, is_by_time=context.is_by_time),
        "hit": None if stepper.records.hit_offset is None else str(stepper.records.hit_offset),
        "records_hint": _records_hint(stepper.records),
    }


def base_payload(stepper: StepperView, context: LookupContext, key: str) -> dict:
    """Returns `browser_payload` with only one step: the state before the first probe."""
    payload = browser_payload(stepper, context, key)
    searches = [search | {"rows": [], "slot": -1} for search in payload["searches"]]
    return payload | {"steps": [_base_step(stepper)._asdict()], "searches": searches}


def _base_step(stepper: StepperView) -> LookupStep:
    """Returns the step before the first probe.

    If the lookup has a step that chooses the segment, returns this step. Otherwise returns a copy
    of the first step without text and values.
    """
    first_step = stepper.steps[0]
    if first_step.phase == "segment":
        return first_step
    no_values = tuple((NO_VALUE, False) for _ in first_step.values)
    titles = (index_search.title(stepper.searches[0], 0, is_over=False), *first_step.titles[1:])
    return first_step._replace(
        text="", probes=0, over=False, line=None, values=no_values, titles=titles
    )


def _with_segment_hint(figure_object: dict, context: LookupContext, base_offset: int) -> dict:
    if len(context.log.segments) == 1:
        return figure_object
    segment_text = say("stepper_figures.of_segment", segment=units.file_stem(base_offset))
    return figure_object | {"hint": join_sentences([segment_text, figure_object["hint"]])}


def _scan_code_object(context: LookupContext) -> dict:
    code_name = "base" if context.result.profile.by_base_offset else "last"
    if context.is_by_time:
        code_name = "largest" if context.special_timestamp else "time"
    title = say("index_search.code_scan_time" if context.is_by_time else "index_search.code_scan")
    return {"title": title, "code": () if context.is_index_only else code_lines(code_name)}


def _entry_text(context: LookupContext, segment: int) -> str:
    entry = next(
        search.entry
        for search in context.result.searches
        if (search.kind, search.base_offset) == (OFFSET, segment)
    )
    if entry:
        return say("stepper_figures.entry", position=entry[1])
    return say("stepper_figures.log_start")
