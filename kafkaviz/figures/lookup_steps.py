"""The steps of a lookup one by one: what each says, which line of the pseudocode it is, and how
every value and figure then stands.

Phases: "segment" which .log, "time" and "offset" the searches in its indexes, "log" the headers
read, "record" what comes of it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kafkaviz.figures import lookup_chain, lookup_log, lookup_records, lookup_search, lookup_text
from kafkaviz.figures.lookup_context import LookupContext
from kafkaviz.figures.lookup_log import ScanView
from kafkaviz.figures.lookup_records import RecordsView
from kafkaviz.figures.lookup_search import SearchView
from kafkaviz.figures.lookup_text import key_text
from kafkaviz.search.index import TIME
from kafkaviz.units import clock, group
from kafkaviz.words import say

VALUE_NAMES = (
    "target",
    "N",
    "F",
    "probes",
    "lo",
    "hi",
    "mid",
    "key",
    "p",
    "short",
    "long",
    "pages",
)
COUNT_VALUES = ("probes", "short", "long", "pages")
NO_VALUE = "–"


class LookupStep(NamedTuple):
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
    return [
        say(f"stepper_figures.value_{name}") if name in COUNT_VALUES else name
        for name in VALUE_NAMES
    ]


class LookupSteps:
    """The steps one by one; what is drawn is carried from each to the next."""

    def __init__(
        self,
        context: LookupContext,
        searches: Sequence[SearchView],
        scans: Sequence[ScanView],
        records: RecordsView,
    ) -> None:
        self._context, self._searches, self._scans, self._records = (
            context,
            searches,
            scans,
            records,
        )
        self._search, self._probes, self._is_over = 0, 0, False
        self._scan, self._readings, self._is_ended = 0, 0, False
        self._previous_values: tuple[str, ...] = ()

    def build(self) -> list[LookupStep]:
        """Every step of the lookup."""
        steps = (
            []
            if self._context.is_index_alone
            else [self._step("segment", lookup_chain.describe_segment(self._context))]
        )
        scans = list(range(len(self._scans)))
        for index in range(len(self._searches)):
            steps += self._search_steps(index)
            if not self._context.is_by_time and scans:
                steps += self._scan_steps(scans.pop(0))
        steps += [step for index in scans for step in self._scan_steps(index)]
        return steps if self._context.is_index_alone else [*steps, *self._result_steps()]

    def _search_steps(self, index: int) -> list[LookupStep]:
        search_view = self._searches[index]
        segment_steps = (
            [self._step("segment", lookup_chain.describe_next_segment(self._context, index))]
            if index and not self._context.is_by_time
            else []
        )
        self._search, self._probes, self._is_over = index, 0, False
        self._scan = min(index if not self._context.is_by_time else 0, max(0, len(self._scans) - 1))
        self._readings, self._is_ended = 0, False
        steps = []
        for self._probes, step_text in enumerate(search_view.steps, 1):
            steps.append(
                self._step(search_view.search.kind, step_text.text, ("search", step_text.line))
            )
        self._is_over = True
        return [
            *segment_steps,
            *steps,
            self._step(
                search_view.search.kind,
                search_view.result.text,
                ("search", search_view.result.line),
            ),
        ]

    def _scan_steps(self, index: int) -> list[LookupStep]:
        scan_view, steps = self._scans[index], []
        self._scan, self._is_ended = index, False
        for self._readings, scan_step in enumerate(scan_view.steps, 1):
            self._is_ended = self._readings == len(scan_view.steps)
            steps.append(
                self._step(
                    "log", scan_step.text, ("scan", scan_step.line) if scan_step.line >= 0 else None
                )
            )
        return steps

    def _result_steps(self) -> list[LookupStep]:
        text = lookup_chain.describe_result(self._context)
        return [self._step("record", text)] if text else []

    def _step(self, phase: str, text: str, line: tuple[str, int] | None = None) -> LookupStep:
        values = self._values(phase)
        values_changed = tuple(
            (value, phase not in ("segment", "record") and value not in (previous, NO_VALUE))
            for previous, value in self._value_pairs(values)
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

    def _value_pairs(self, values: tuple[str, ...]) -> list[tuple[str, str]]:
        return list(zip(self._previous_values or values, values, strict=True))

    def _values(self, phase: str) -> tuple[str, ...]:
        index = self._search_values() if self._searches else (self._target(), *[NO_VALUE] * 6, "0")
        position, counts = NO_VALUE, lookup_log.ReadCounts(0, 0)
        if self._scans and self._readings:
            scan = self._scans[self._scan]
            scan_step = scan.steps[self._readings - 1]
            position, counts = (
                group(scan_step.position) if scan_step.position >= 0 else NO_VALUE,
                scan.count_reads(scan_step.reads_done),
            )
        *values, pages = index
        return (*values, position, group(counts.short_reads), group(counts.long_reads), pages)

    def _target(self) -> str:
        if self._context.special_timestamp:
            return lookup_text.SPECIAL_NAMES.get(self._context.special_timestamp, NO_VALUE)
        return (
            clock(self._context.target)[3:]
            if self._context.is_by_time
            else group(self._context.target)
        )

    def _search_values(self) -> tuple[str, ...]:
        """Target, N, F, probes, lo, hi, mid, key and pages."""
        search_view = self._searches[self._search]
        slot_search, kind, probe_count = (
            search_view.search.slot_search,
            search_view.search.kind,
            self._probes,
        )
        short_key = lambda key: key_text(kind, key)[3 if kind == TIME else 0 :]  # noqa: E731 - a time of day without its hour
        probe = slot_search.probes[probe_count - 1] if probe_count and not self._is_over else None
        slots_left = (
            search_view.result.slots_left
            if self._is_over
            else search_view.slots_left(probe_count)
            if probe_count
            else None
        )
        lo, hi = map(group, slots_left) if slots_left else (NO_VALUE, NO_VALUE)
        is_middle = probe is not None and probe_count > (
            1 if slot_search.section == "warm" or slot_search.warm_from_slot is None else 2
        )
        key = (
            short_key(probe.key)
            if probe
            else short_key(search_view.search.entry[0])
            if self._is_over and search_view.search.entry
            else NO_VALUE
        )
        first_warm = (
            NO_VALUE
            if slot_search.warm_from_slot is None or not probe_count
            else group(slot_search.warm_from_slot)
        )
        middle = group(probe.slot) if is_middle else NO_VALUE
        return (
            short_key(slot_search.target),
            group(slot_search.entries),
            first_warm,
            group(probe_count),
            lo,
            hi,
            middle,
            key,
            group(search_view.pages_touched(probe_count)),
        )

    def _figure_titles(self, phase: str) -> tuple[str, str, str]:
        index = log = ""
        if self._searches:
            index = lookup_search.title(self._searches[self._search], self._probes, self._is_over)
        if self._scans:
            log = lookup_log.title(self._scans[self._scan], self._readings, self._is_ended)
        return index, log, lookup_records.title(self._records, self._context, phase == "record")
