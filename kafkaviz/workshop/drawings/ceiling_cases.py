"""A rule for the ceiling, applied to the slots of a small index: one row per target.

The rule computes the ceiling from the slot that `lookup` returns. In each row, that slot has a
ring, the true ceiling is green, and the rule's slot has a disc. The column left of slot 0 is -1,
for none; the column right of the last slot is a slot that does not exist.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.figures import theme
from kafkaviz.figures.text.sentences import join_comma, join_semicolon
from kafkaviz.messages import say
from kafkaviz.search.slots import NONE

HEAD_PX = 62
ROW_PX = 23
CELL_PX = 18
MARK_PX = 16
KEY_TOP = 24
KEY_PX = 30
# in slots: the space left and right of the slots
TARGET_WIDTH = 1.8
WORDS_WIDTH = 3.2


class CeilingCase(NamedTuple):
    """A target, and the slots found for it.

    Attributes:
        target: None for an index without entries.
        floor_slot: the slot that `lookup` returns, or NONE.
        ceiling: the right slot, or NONE.
        answer_slot: the rule's slot; None if the rule returns something else or is missing.
        words: the rule's answer in words.
        is_right: None without a rule.
    """

    target: int | None
    floor_slot: int
    ceiling: int
    answer_slot: int | None
    words: str
    is_right: bool | None


@dataclass(frozen=True)
class CeilingCasesView:
    title: str
    caption: str
    keys: tuple[int, ...]
    cases: tuple[CeilingCase, ...]


def slot_text(slot: int) -> str:
    return say("common.none") if slot == NONE else say("common.slot", slot=slot)


def rows(cases_view: CeilingCasesView) -> list[tuple[str, ...]]:
    """Returns rows of target, slot of `lookup`, the rule's answer, ceiling."""
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
    names = ("target", "floor", "rule", "ceiling")
    heads = [say(f"ceiling_cases.head_{name}") for name in names]
    return join_semicolon(
        join_comma(
            say("common.labelled", where=head, text=text)
            for head, text in zip(heads, row, strict=True)
        )
        for row in rows(cases_view)
    )


def _target_text(case: CeilingCase) -> str:
    return say("ceiling_cases.no_entry") if case.target is None else str(case.target)


def _mark(case: CeilingCase) -> str:
    return {None: "", True: " ✓", False: " ✗"}[case.is_right]


# ---- the figure


def figure(cases_view: CeilingCasesView, mode: str) -> go.Figure:
    """Draws the view in a mode, "light" or "dark"; x counts slots, y pixels from the top."""
    colours = theme.colours(mode)
    slots = len(cases_view.keys)
    height_px = HEAD_PX + ROW_PX * len(cases_view.cases)
    axis = {"visible": False, "fixedrange": True}
    chart = go.Figure(
        [
            _moves_trace(cases_view, colours),
            _floors_trace(cases_view, colours),
            _answers_trace(cases_view, colours),
        ]
    )
    return chart.update_layout(
        template=theme.template(mode),
        height=height_px,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        hovermode=False,
        xaxis=axis | {"range": [NONE - 0.5 - TARGET_WIDTH, slots + 0.5 + WORDS_WIDTH]},
        yaxis=axis | {"range": [height_px, 0]},
        shapes=[*_key_shapes(slots, colours), *_cell_shapes(cases_view, colours)],
        annotations=[*_head_notes(cases_view, colours), *_case_notes(cases_view, colours)],
    )


def _middle(row: int) -> float:
    return HEAD_PX + ROW_PX * (row + 0.5)


def _numbered(cases_view: CeilingCasesView) -> Iterator[tuple[float, CeilingCase]]:
    return ((_middle(row), case) for row, case in enumerate(cases_view.cases))


def _moves_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    moves = [
        (case.floor_slot, case.answer_slot, y)
        for y, case in _numbered(cases_view)
        if case.answer_slot is not None
    ]
    return go.Scatter(
        x=[x for floor, answer, _ in moves for x in (floor, answer, None)],
        y=[y for *_, middle in moves for y in (middle, middle, None)],
        mode="lines",
        name="moves",
        line={"color": colours["ink_3"], "width": 1.5},
    )


def _floors_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    numbered = list(_numbered(cases_view))
    return go.Scatter(
        x=[case.floor_slot for _, case in numbered],
        y=[y for y, _ in numbered],
        mode="markers",
        name="floors",
        marker={
            "size": MARK_PX,
            "color": colours["bg"],
            "line": {"color": colours["offset"], "width": 2.5},
        },
    )


def _answers_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    numbered = [(y, case) for y, case in _numbered(cases_view) if case.answer_slot is not None]
    return go.Scatter(
        x=[case.answer_slot for _, case in numbered],
        y=[y for y, _ in numbered],
        mode="markers+text",
        name="answers",
        text=[_mark(case).strip() for _, case in numbered],
        textfont={"size": 11, "color": colours["bg"]},
        marker={
            "size": MARK_PX,
            "color": [colours["hit" if case.is_right else "torn"] for _, case in numbered],
        },
    )


def _key_shapes(slots: int, colours: Mapping[str, str]) -> list[dict]:
    """Draws the slots of the index, and dotted boxes for slot -1 and the one after the last."""
    return [
        _box(
            slot,
            KEY_TOP + KEY_PX / 2,
            KEY_PX,
            fill=colours["offset_soft"] if 0 <= slot < slots else "rgba(0,0,0,0)",
            line={
                "color": colours["offset" if 0 <= slot < slots else "unwritten"],
                "width": 1,
                "dash": "solid" if 0 <= slot < slots else "dot",
            },
        )
        for slot in range(NONE, slots + 1)
    ]


def _cell_shapes(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> Iterable[dict]:
    for y, case in _numbered(cases_view):
        count = 0 if case.target is None else len(cases_view.keys)
        for slot in range(count):
            if slot != case.ceiling:
                yield _box(slot, y, CELL_PX, fill=colours["panel"], line={"width": 0})
        yield _box(
            case.ceiling,
            y,
            CELL_PX,
            fill=colours["hit_soft"],
            line={"color": colours["hit"], "width": 1.5},
        )


def _box(slot: int, y: float, height_px: float, *, fill: str, line: dict) -> dict:
    return {
        "type": "rect",
        "x0": slot - 0.46,
        "x1": slot + 0.46,
        "y0": y - height_px / 2,
        "y1": y + height_px / 2,
        "fillcolor": fill,
        "line": line,
        "layer": "below",
    }


def _head_notes(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> list[dict]:
    slots = len(cases_view.keys)
    key_y = KEY_TOP + KEY_PX / 2
    keys = [
        _note(slot, key_y, f"<b>{key}</b>", colours["offset_text"], size=15)
        for slot, key in enumerate(cases_view.keys)
    ]
    numbers = [_note(slot, 12, str(slot), colours["ink_3"]) for slot in range(NONE, slots + 1)]
    others = [
        _note(NONE, key_y, say("common.none"), colours["ink_3"]),
        _note(slots, key_y, units.MISSING, colours["ink_3"]),
        _note(
            NONE - 0.6, key_y, say("ceiling_cases.head_target"), colours["ink_3"], anchor="right"
        ),
        _note(slots + 0.7, key_y, say("ceiling_cases.head_rule"), colours["ink_3"], anchor="left"),
    ]
    return [*keys, *numbers, *others]


def _case_notes(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> list[dict]:
    notes = []
    for y, case in _numbered(cases_view):
        target = _target_text(case)
        if case.target in cases_view.keys:
            target = f"<b>{target}</b>"
        colour = {None: "ink_3", True: "hit_text", False: "torn_text"}[case.is_right]
        notes += [
            _note(NONE - 0.6, y, target, colours["ink_2"], anchor="right"),
            _note(
                len(cases_view.keys) + 0.7,
                y,
                case.words + _mark(case),
                colours[colour],
                anchor="left",
            ),
        ]
    return notes


def _note(
    x: float, y: float, text: str, colour: str, *, anchor: str = "center", size: float = 13
) -> dict:
    return {
        "x": x,
        "y": y,
        "xanchor": anchor,
        "yanchor": "middle",
        "showarrow": False,
        "text": text,
        "font": {"size": size, "color": colour},
    }
