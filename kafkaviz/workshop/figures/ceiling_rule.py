"""The figure of the exercise on the ceiling, the smallest key that is not below a target.

Each row shows one target. A ring marks the floor: the slot that Kafka's `lookup` returns. A green
cell marks the ceiling, and a disc marks the slot that the reader's rule returns. The column left of
slot 0 means "no slot" (-1). The column right of the last slot means a slot that does not exist.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from kafkaviz import units, workshop
from kafkaviz.app import page_state
from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.widgets import elements
from kafkaviz.figures import theme
from kafkaviz.messages import message, say
from kafkaviz.render.sentences import join_comma, join_semicolon
from kafkaviz.search.binary_search import NONE
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    Chart,
    Destination,
    LessonFigure,
    Part,
    block_key,
    frame,
    note,
    titled_table,
)
from kafkaviz.workshop.lessons import exercise
from kafkaviz.workshop.lessons.exercise import CeilingRule, RuleCase, RuleCheck
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

HEAD_PX = 62
ROW_PX = 23
CELL_PX = 18
MARK_PX = 16
KEY_TOP = 24
KEY_PX = 30
# widths of the space to the left and right of the slots, in slots
TARGET_WIDTH = 1.8
WORDS_WIDTH = 3.2


class CeilingCase(NamedTuple):
    """The result of a rule for one target."""

    target: int | None  # the key to find; None in an index without entries
    floor_slot: int
    ceiling: int
    answer_slot: int | None  # the slot that the rule returns; None if no column shows it
    words: str  # the rule's result in words
    is_right: bool | None  # None if the rule is incomplete


@dataclass(frozen=True)
class CeilingCasesView:
    title: str
    caption: str
    keys: tuple[int, ...]
    cases: tuple[CeilingCase, ...]


def slot_text(slot: int) -> str:
    return say("common.none") if slot == NONE else say("common.slot", slot=slot)


def rows(cases_view: CeilingCasesView) -> list[tuple[str, ...]]:
    """Returns a row per target: (target, floor slot, result of the rule, correct result)."""
    return [
        (
            _target_text(case),
            slot_text(case.floor_slot),
            case.words + _mark(case),
            slot_text(case.ceiling),
        )
        for case in cases_view.cases
    ]


def describe(cases_view: CeilingCasesView) -> str:
    return join_semicolon(
        join_comma(
            say("common.labelled", where=head, text=text)
            for head, text in zip(_heads(), row, strict=True)
        )
        for row in rows(cases_view)
    )


def _heads() -> list[str]:
    return [say(f"ceiling_cases.head_{name}") for name in ("target", "floor", "rule", "ceiling")]


def _target_text(case: CeilingCase) -> str:
    return say("ceiling_cases.no_entry") if case.target is None else str(case.target)


def _mark(case: CeilingCase) -> str:
    return {None: "", True: " ✓", False: " ✗"}[case.is_right]


def figure(cases_view: CeilingCasesView, mode: str) -> go.Figure:
    """Draws the view. x counts slots; y counts pixels from the top."""
    colours = theme.colours(mode)
    slots = len(cases_view.keys)
    height_px = HEAD_PX + ROW_PX * len(cases_view.cases)
    axis = {"visible": False, "fixedrange": True}
    traces = [trace(cases_view, colours) for trace in (_moves_trace, _floors_trace, _answers_trace)]
    return go.Figure(traces).update_layout(
        theme.chart_layout(mode, height_px, (0, 0, 0, 0)),
        hovermode=False,
        xaxis=axis | {"range": [NONE - 0.5 - TARGET_WIDTH, slots + 0.5 + WORDS_WIDTH]},
        yaxis=axis | {"range": [height_px, 0]},
        shapes=[*_key_shapes(slots, colours), *_cell_shapes(cases_view, colours)],
        annotations=[*_head_notes(cases_view, colours), *_case_notes(cases_view, colours)],
    )


def _numbered(cases_view: CeilingCasesView) -> Iterator[tuple[float, CeilingCase]]:
    return ((HEAD_PX + ROW_PX * (row + 0.5), case) for row, case in enumerate(cases_view.cases))


def _moves_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    moves = [(y, case) for y, case in _numbered(cases_view) if case.answer_slot is not None]
    return go.Scatter(
        x=[x for _, case in moves for x in (case.floor_slot, case.answer_slot, None)],
        y=[y for middle, _ in moves for y in (middle, middle, None)],
        mode="lines",
        name="moves",
        line={"color": colours["ink_3"], "width": 1.5},
    )


def _floors_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    numbered = list(_numbered(cases_view))
    ring = {"color": colours["offset"], "width": 2.5}
    return go.Scatter(
        x=[case.floor_slot for _, case in numbered],
        y=[y for y, _ in numbered],
        mode="markers",
        name="floors",
        marker={"size": MARK_PX, "color": colours["bg"], "line": ring},
    )


def _answers_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    numbered = [(y, case) for y, case in _numbered(cases_view) if case.answer_slot is not None]
    fills = [colours["hit" if case.is_right else "torn"] for _, case in numbered]
    return go.Scatter(
        x=[case.answer_slot for _, case in numbered],
        y=[y for y, _ in numbered],
        mode="markers+text",
        name="answers",
        text=[_mark(case).strip() for _, case in numbered],
        textfont={"size": 11, "color": colours["bg"]},
        marker={"size": MARK_PX, "color": fills},
    )


def _key_shapes(slots: int, colours: Mapping[str, str]) -> list[dict]:
    """Returns a box per slot of the index, and a dotted box before and after the slots."""
    middle = KEY_TOP + KEY_PX / 2
    line = {"color": colours["offset"], "width": 1, "dash": "solid"}
    dots = {"color": colours["ink_3"], "width": 1, "dash": "dot"}
    fill = colours["offset_soft"]
    return [
        _box(NONE, middle, KEY_PX, fill="rgba(0,0,0,0)", line=dots),
        *(_box(slot, middle, KEY_PX, fill=fill, line=line) for slot in range(slots)),
        _box(slots, middle, KEY_PX, fill="rgba(0,0,0,0)", line=dots),
    ]


def _cell_shapes(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> Iterable[dict]:
    ring = {"color": colours["hit"], "width": 1.5}
    for y, case in _numbered(cases_view):
        count = 0 if case.target is None else len(cases_view.keys)
        for slot in range(count):
            if slot != case.ceiling:
                yield _box(slot, y, CELL_PX, fill=colours["panel"], line={"width": 0})
        yield _box(case.ceiling, y, CELL_PX, fill=colours["hit_soft"], line=ring)


def _box(slot: int, y: float, height_px: float, *, fill: str, line: dict) -> dict:
    half_px = height_px / 2
    box = theme.area(fill, x0=slot - 0.46, x1=slot + 0.46, y0=y - half_px, y1=y + half_px)
    return box | {"line": line}


def _head_notes(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> list[dict]:
    slots = len(cases_view.keys)
    key_y = KEY_TOP + KEY_PX / 2
    faint = colours["ink_3"]
    keys = [
        _note(slot, key_y, f"<b>{key}</b>", colours["offset_text"], size=15)
        for slot, key in enumerate(cases_view.keys)
    ]
    return [
        *keys,
        *(_note(slot, 12, str(slot), faint) for slot in range(NONE, slots + 1)),
        _note(NONE, key_y, say("common.none"), faint),
        _note(slots, key_y, units.MISSING, faint),
        _note(NONE - 0.6, key_y, say("ceiling_cases.head_target"), faint, anchor="right"),
        _note(slots + 0.7, key_y, say("ceiling_cases.head_rule"), faint, anchor="left"),
    ]


def _case_notes(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> list[dict]:
    notes = []
    end = len(cases_view.keys)
    for y, case in _numbered(cases_view):
        target = _target_text(case)
        if case.target in cases_view.keys:
            target = f"<b>{target}</b>"
        answer = case.words + _mark(case)
        colour = {None: "ink_3", True: "hit_text", False: "torn_text"}[case.is_right]
        notes += [
            _note(NONE - 0.6, y, target, colours["ink_2"], anchor="right"),
            _note(end + 0.7, y, answer, colours[colour], anchor="left"),
        ]
    return notes


def _note(
    x: float, y: float, text: str, colour: str, *, anchor: str = "center", size: float = 13
) -> dict:
    return note(x, y, text, colour, size=size, xanchor=anchor, yanchor="middle")


MAX_KEYS = 8


def _make(block: LessonBlock) -> tuple[int, ...]:
    keys = block["keys"]
    does_rise = all(lower < higher for lower, higher in pairwise(keys))
    if not (2 <= len(keys) <= MAX_KEYS and does_rise):
        raise NoValue(message("ceiling_cases.keys", most=MAX_KEYS))
    return keys


def view(keys: tuple[int, ...], rule: str) -> CeilingCasesView:
    """Returns a rule's results for all targets of an index. An incomplete rule gives "?"."""
    known_rule = exercise.read(rule)
    is_rule = known_rule is not None
    rule_check = exercise.check(known_rule or CeilingRule((), "none"), keys)
    cases = tuple(_case(case, keys, is_rule=is_rule) for case in rule_check.cases)
    title = _title(rule_check) if is_rule else say("ceiling_cases.title_open", n=len(cases))
    caption = say("ceiling_cases.below" if is_rule else "ceiling_cases.below_open")
    return CeilingCasesView(title, caption, keys, cases)


def _title(rule_check: RuleCheck) -> str:
    count = len(rule_check.cases)
    if rule_check.is_right:
        return say("ceiling_cases.title_right", n=count)
    return say(
        "ceiling_cases.title_wrong",
        wrong=len(rule_check.wrong_cases),
        n=count,
        kinds=exercise.describe_failures(rule_check),
    )


def _case(case: RuleCase, keys: tuple[int, ...], *, is_rule: bool) -> CeilingCase:
    has_place = is_rule and NONE <= case.answer_slot <= len(keys)
    return CeilingCase(
        None if case.kind == exercise.EMPTY else case.target,
        case.floor_slot,
        case.ceiling,
        case.answer_slot if has_place else None,
        _answer_text(case, keys) if is_rule else UNKNOWN,
        case.is_right if is_rule else None,
    )


def _answer_text(case: RuleCase, keys: tuple[int, ...]) -> str:
    if case.answer_slot in (exercise.BASE, exercise.NO_ANSWER):
        name = "base" if case.answer_slot == exercise.BASE else "no_answer"
        return say(f"ceiling_cases.{name}")
    is_there = case.answer_slot < (0 if case.kind == exercise.EMPTY else len(keys))
    if is_there and case.answer_slot >= NONE:
        return slot_text(case.answer_slot)
    return say("ceiling_cases.no_such_slot", slot=case.answer_slot)


def _draw(keys: tuple[int, ...], block: LessonBlock, key: str) -> list[Part]:
    rule = st.query_params.get(workshop.TYPED_ANSWER, "")
    cases_view = view(keys, rule)
    alt = say("common.titled", title=cases_view.title, below=describe(cases_view))
    head = elements.figure_head_html(cases_view.title, cases_view.caption)
    chart = Chart(figure, cases_view, key, (key, block_key(block), rule), alt)
    return [frame(key, head, chart)]


def _on_paper(keys: tuple[int, ...], block: LessonBlock, key: str) -> list[Part]:
    cases_view = view(keys, "")
    return titled_table(cases_view.title, "", _heads(), rows(cases_view), "rlll")


def _to_lookup(block: LessonBlock) -> Destination:
    keys = block["keys"]
    index = {page_state.SET: lookup_cache.TYPED_KEYS, page_state.KEYS: " ".join(map(str, keys))}
    target = str(keys[len(keys) // 2] + 1)
    return "Lookup", index | {page_state.BY: "offset", page_state.TARGET: target}


# the same function draws figure and question: without a typed rule no results are shown
OWN_RULE = LessonFigure(_make, _draw, _to_lookup, _on_paper, _draw)
