"""A rule for the ceiling, run over the slots of a small index: a row a target.

In each row a ring where `lookup` stands, a green slot that is the ceiling, and the slot that the
rule makes of the one to give the other. Left of slot 0 is none, which is -1; right of the last one
a slot that is not there.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.figures import theme
from kafkaviz.figures.text.join_text import join_comma, join_semicolon
from kafkaviz.messages import say
from kafkaviz.search.slots import NONE

HEAD_PX, ROW_PX, CELL_PX, MARK_PX = 62, 23, 18, 16
KEY_TOP, KEY_PX = 24, 30
TARGET_WIDTH, WORDS_WIDTH = 1.8, 3.2  # in slots: left of the slots, and right of them


class CeilingCase(NamedTuple):
    """A target.

    Attributes:
        target: None of an index without an entry.
        floor_slot: what `lookup` gives, NONE where it gives none; the ceiling in the same way.
        answer_slot: what a rule makes of it; None where that is no slot, or where there is no rule.
        words: the answer in words.
        is_right: None where there is no rule.
    """

    target: int | None
    floor_slot: int
    ceiling: int
    answer_slot: int | None
    words: str
    is_right: bool | None


@dataclass(frozen=True)
class CeilingCasesView:
    """A rule at all its targets, or before there is one."""

    title: str
    caption: str
    keys: tuple[int, ...]
    cases: tuple[CeilingCase, ...]


def slot_text(slot: int) -> str:
    """A slot, or none."""
    return say("common.none") if slot == NONE else say("common.slot", slot=slot)


def rows(cases_view: CeilingCasesView) -> list[tuple[str, ...]]:
    """The figure as a table: the target, what `lookup` gives, what the rule, and the ceiling."""
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
    """The figure in words, for who does not see it."""
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
    """The view in a mode, "light" or "dark"; an x is a slot, a y a pixel from the top."""
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
    """Each case, and the middle of its row."""
    return ((_middle(row), case) for row, case in enumerate(cases_view.cases))


def _moves_trace(cases_view: CeilingCasesView, colours: Mapping[str, str]) -> go.Scatter:
    """From the slot of `lookup` to that of the rule."""
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
    """A ring where `lookup` stands."""
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
    """A disc on each slot that the rule gives."""
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
    """The slots of the index, and beside them none and a slot that is not there."""
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
    """The slots once more in each row, the ceiling green."""
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
    """The key in each slot, its number above it, and what stands in the other columns."""
    slots, key_y = len(cases_view.keys), KEY_TOP + KEY_PX / 2
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
    """The target of each row, bold where it is a key; and the answer in words."""
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
