"""A reader's own search for the ceiling, turn by turn over the slots of a small index.

What is left is a band, the middle a numbered disc; where it never ends, loses the answer or reads
behind the last slot is written there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.figures import theme
from kafkaviz.messages import say
from kafkaviz.simulate.lessons import ceiling_search
from kafkaviz.simulate.lessons.ceiling_search import (
    CeilingRule,
    CeilingRun,
    CeilingStep,
    Ending,
    run_rule,
)

HEAD_PX, ROW_PX, BAND_PX, BOX_TOP, BOX_PX = 84, 38, 22, 26, 36
WORDS_WIDTH = 6.4  # in slots: the words at the right of the rows
MARKS = {Ending.RIGHT: "✓", Ending.WRONG: "✗", Ending.ENDLESS: "↻", Ending.NO_SLOT: "?"}


@dataclass(frozen=True)
class WrittenRule:
    """What a rule that the reader wrote makes of the same target.

    Attributes:
        floor_slot: what `lookup` gave, -1 for none.
        answer_slot: what the rule made of it: a slot, as many as there are keys for none, or None
            for what is no slot.
    """

    floor_slot: int
    answer_slot: int | None


@dataclass(frozen=True)
class CeilingRunView:
    """One run over the slots.

    Attributes:
        marks: of every target how the rule ends there.
        most_steps: of any rule and target: as many rows have room.
    """

    title: str
    caption: str
    keys: tuple[int, ...]
    run: CeilingRun
    rows: tuple[str, ...]
    verdict: str
    marks: Mapping[int, str]
    most_steps: int
    written: WrittenRule | None
    written_text: str


def view(
    rule: CeilingRule, keys: Sequence[int], target: int, written: WrittenRule | None = None
) -> CeilingRunView:
    """A rule on a target.

    Args:
        keys: rising.
        written: the rule of the exercise, where one was written.
    """
    run = run_rule(rule, keys, target)
    runs = [run_rule(rule, keys, other) for other in ceiling_search.targets(keys)]
    return CeilingRunView(
        _title(run, runs),
        say("ceiling_run.below"),
        tuple(keys),
        run,
        tuple(_step_text(step, target) for step in run.steps),
        _verdict(run, len(keys)),
        {other.target: MARKS[other.ending] for other in runs},
        _most_steps(keys),
        written,
        _written_text(written, run.ceiling, len(keys)) if written else "",
    )


def _most_steps(keys: Sequence[int]) -> int:
    return max(
        len(run_rule(rule, keys, target).steps)
        for rule in ceiling_search.RULES
        for target in ceiling_search.targets(keys)
    )


def _title(run: CeilingRun, runs: Sequence[CeilingRun]) -> str:
    """How the rule ends here, and at how many targets it is right."""
    right = sum(other.ending == Ending.RIGHT for other in runs)
    if right == len(runs):
        return say("ceiling_run.title_all", n=len(runs))
    loses = any(step.loses_ceiling for step in run.steps)
    name = "lost" if run.ending == Ending.WRONG and loses else run.ending
    return say(f"ceiling_run.title_{name}", target=run.target, right=right, count=len(runs))


def _step_text(step: CeilingStep, target: int) -> str:
    if step.key is None:
        return say("ceiling_run.no_key", mid=step.mid)
    text = say(
        "ceiling_run.lower" if step.moves_low else "ceiling_run.upper",
        mid=step.mid,
        key=step.key,
        compare="<" if step.key < target else "=" if step.key == target else ">",
        target=target,
        lo=step.next_lo,
        hi=step.next_hi,
    )
    return say("ceiling_run.loses", step=text) if step.loses_ceiling else text


def _verdict(run: CeilingRun, count: int) -> str:
    if run.ending == Ending.ENDLESS:
        last = run.steps[-1]
        return say("ceiling_run.again", lo=last.next_lo, hi=last.next_hi)
    if run.slot is None:
        return say("ceiling_run.behind")
    ceiling = _slot_text(run.ceiling, count)
    if run.ending == Ending.RIGHT:
        return say("ceiling_run.found", slot=ceiling)
    return say("ceiling_run.missed", slot=_slot_text(run.slot, count), ceiling=ceiling)


def _slot_text(slot: int, count: int) -> str:
    return say("common.none") if slot >= count else say("common.slot", slot=slot)


def _written_text(written: WrittenRule, ceiling: int, count: int) -> str:
    floor = say("common.none") if written.floor_slot < 0 else _slot_text(written.floor_slot, count)
    if written.answer_slot is None:
        return say("ceiling_run.written_no_slot", floor=floor)
    return say(
        "ceiling_run.written_right"
        if written.answer_slot == ceiling
        else "ceiling_run.written_wrong",
        floor=floor,
        slot=_slot_text(written.answer_slot, count),
    )


def describe(run_view: CeilingRunView) -> str:
    """The run in words, for who does not see the figure."""
    texts = [f"{number}: {text}" for number, text in enumerate(run_view.rows, 1)]
    return "; ".join([*texts, run_view.verdict, *filter(None, [run_view.written_text])])


def table_rows(run_view: CeilingRunView) -> list[tuple[str, ...]]:
    """The run as a table: turn, lo, hi, middle, what happens."""
    return [
        (str(number), str(step.lo), str(step.hi), str(step.mid), text)
        for number, (step, text) in enumerate(
            zip(run_view.run.steps, run_view.rows, strict=True), 1
        )
    ]


# ---- the figure


def figure(run_view: CeilingRunView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"; an x is a slot, a y a pixel from the top."""
    colours = theme.colours(mode)
    slots = len(run_view.keys) + 1  # the last one stands for none
    height_px = HEAD_PX + ROW_PX * (run_view.most_steps + 2)
    axis = {"visible": False, "fixedrange": True}
    chart = go.Figure(_middles_trace(run_view, colours))
    return chart.update_layout(
        template=theme.template(mode),
        height=height_px,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        hovermode=False,
        xaxis=axis | {"range": [0, slots + WORDS_WIDTH]},
        yaxis=axis | {"range": [height_px, 0]},
        shapes=[
            _ceiling_shape(run_view, height_px, colours),
            *_slot_shapes(run_view, colours),
            *_band_shapes(run_view, colours),
            *_written_shapes(run_view, colours),
        ],
        annotations=[
            *_slot_notes(run_view, colours),
            *_row_notes(run_view, colours),
            *_written_notes(run_view, colours),
        ],
    )


def _row_middle(row: float) -> float:
    return HEAD_PX + ROW_PX * (row + 0.5)


def _written_row(run_view: CeilingRunView) -> float:
    return run_view.most_steps + 1


def _ceiling_shape(run_view: CeilingRunView, height_px: float, colours: Mapping[str, str]) -> dict:
    """The column of the answer."""
    return {
        "type": "rect",
        "x0": run_view.run.ceiling,
        "x1": run_view.run.ceiling + 1,
        "y0": 0,
        "y1": height_px,
        "fillcolor": colours["hit_soft"],
        "line": {"width": 0},
        "layer": "below",
    }


def _slot_shapes(run_view: CeilingRunView, colours: Mapping[str, str]) -> list[dict]:
    slots = len(run_view.keys)
    return [
        {
            "type": "rect",
            "x0": slot + 0.04,
            "x1": slot + 0.96,
            "y0": BOX_TOP,
            "y1": BOX_TOP + BOX_PX,
            "fillcolor": colours["offset_soft"] if slot < slots else "rgba(0,0,0,0)",
            "line": {
                "color": colours["offset" if slot < slots else "unwritten"],
                "width": 1,
                "dash": "solid" if slot < slots else "dot",
            },
        }
        for slot in range(slots + 1)
    ]


def _slot_notes(run_view: CeilingRunView, colours: Mapping[str, str]) -> list[dict]:
    """The key in each slot, its number above it, and which column is the ceiling."""
    slots = len(run_view.keys)
    notes = [
        _note(
            slot + 0.5,
            BOX_TOP + BOX_PX / 2,
            f"<b>{key}</b>",
            colours["offset_text"],
            size=15,
        )
        for slot, key in enumerate(run_view.keys)
    ]
    numbers = [
        _note(
            slot + 0.5,
            13,
            say("common.slot", slot=slot) if not slot else str(slot),
            colours["ink_3"],
        )
        for slot in range(slots)
    ]
    none = _note(slots + 0.5, BOX_TOP + BOX_PX / 2, say("common.none"), colours["ink_3"])
    target = _note(
        slots + 1.2,
        BOX_TOP + BOX_PX / 2,
        say(
            "ceiling_run.target",
            target=run_view.run.target,
            ceiling=_slot_text(run_view.run.ceiling, slots),
        ),
        colours["hit_text"],
        anchor="left",
    )
    return [*notes, *numbers, none, target]


def _band_shapes(run_view: CeilingRunView, colours: Mapping[str, str]) -> list[dict]:
    """What is between lo and hi, a row a turn."""
    bands = [(step.lo, step.hi) for step in run_view.run.steps]
    if run_view.run.ending == Ending.ENDLESS:
        last = run_view.run.steps[-1]
        bands.append((last.next_lo, last.next_hi))
    return [
        {
            "type": "rect",
            "x0": lo + 0.04,
            "x1": hi + 0.96,
            "y0": _row_middle(row) - BAND_PX / 2,
            "y1": _row_middle(row) + BAND_PX / 2,
            "fillcolor": colours["probe_soft"],
            "opacity": 0.85,
            "line": {"width": 0},
            "layer": "below",
        }
        for row, (lo, hi) in enumerate(bands)
    ]


def _middles_trace(run_view: CeilingRunView, colours: Mapping[str, str]) -> go.Scatter:
    """A numbered disc on the middle of each turn; and the slot that the search gives."""
    steps = run_view.run.steps
    slot = run_view.run.slot
    is_right = run_view.run.ending == Ending.RIGHT
    ends = [] if slot is None else [slot + 0.5]
    return go.Scatter(
        x=[*(step.mid + 0.5 for step in steps), *ends],
        y=[_row_middle(row) for row in range(len(steps) + len(ends))],
        mode="markers+text",
        name="middles",
        text=[*map(str, range(1, len(steps) + 1)), *(["✓" if is_right else "✗"] * len(ends))],
        textfont={"size": 13, "color": colours["bg"]},
        marker={
            "size": 25,
            "color": [
                *(colours["probe" if step.key is not None else "torn"] for step in steps),
                *([colours["hit" if is_right else "torn"]] * len(ends)),
            ],
        },
        cliponaxis=False,
    )


def _row_notes(run_view: CeilingRunView, colours: Mapping[str, str]) -> list[dict]:
    """What happens in each turn, where the answer is lost, and how it ends."""
    words_x = len(run_view.keys) + 1.2
    steps = run_view.run.steps
    notes = [
        _note(
            words_x,
            _row_middle(row),
            text,
            colours["torn_text" if step.loses_ceiling or step.key is None else "ink"],
            anchor="left",
        )
        for row, (text, step) in enumerate(zip(run_view.rows, steps, strict=True))
    ]
    lost = [
        _note(
            run_view.run.ceiling + 0.5,
            _row_middle(row + 1),
            "<b>✗</b>",
            colours["torn_text"],
            size=17,
        )
        for row, step in enumerate(steps)
        if step.loses_ceiling
    ]
    is_right = run_view.run.ending == Ending.RIGHT
    verdict = _note(
        words_x,
        _row_middle(len(steps)),
        f"<b>{run_view.verdict}</b>",
        colours["hit_text" if is_right else "torn_text"],
        anchor="left",
    )
    return [*notes, *lost, verdict]


def _written_shapes(run_view: CeilingRunView, colours: Mapping[str, str]) -> list[dict]:
    """A line above the written rule, and the way from the floor to its answer."""
    if run_view.written is None:
        return []
    y = _row_middle(_written_row(run_view))
    border = {
        "type": "line",
        "x0": 0,
        "x1": len(run_view.keys) + 1 + WORDS_WIDTH,
        "y0": y - ROW_PX / 2,
        "y1": y - ROW_PX / 2,
        "line": {"color": colours["line"], "width": 1},
    }
    floor, answer = run_view.written.floor_slot, run_view.written.answer_slot
    ring = [
        {
            "type": "circle",
            "xsizemode": "pixel",
            "ysizemode": "pixel",
            "xanchor": slot + 0.5,
            "yanchor": y,
            "x0": -10,
            "x1": 10,
            "y0": -10,
            "y1": 10,
            "line": {"color": colours[colour], "width": 2.5, "dash": dash},
        }
        for slot, colour, dash in (
            (floor, "offset", "dot"),
            (answer, "hit" if answer == run_view.run.ceiling else "torn", "solid"),
        )
        if slot is not None and slot >= 0
    ]
    return [border, *ring]


def _written_notes(run_view: CeilingRunView, colours: Mapping[str, str]) -> list[dict]:
    if run_view.written is None:
        return []
    is_right = run_view.written.answer_slot == run_view.run.ceiling
    return [
        _note(
            len(run_view.keys) + 1.2,
            _row_middle(_written_row(run_view)),
            run_view.written_text,
            colours["hit_text" if is_right else "torn_text"],
            anchor="left",
        )
    ]


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
