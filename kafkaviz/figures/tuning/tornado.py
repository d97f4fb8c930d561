"""A tornado chart of the model's assumptions: how far each moves the p99 of a lookup.

The strongest assumption comes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.analysis.tuning import Assumption
from kafkaviz.analysis.tuning.tuning_text import format_us
from kafkaviz.figures import theme
from kafkaviz.messages import language, say, say_count
from kafkaviz.units import format_count

ROW_PX = 58
TOP = 8
BOTTOM = 40
LEFT = 150
RIGHT = 62
# the plot's width in a narrow window; a character's width
NARROW_PX = 240
CHARACTER_PX = 6.2


@dataclass(frozen=True)
class AssumptionBar:
    """An assumption.

    Attributes:
        low_us, high_us: the time at its low and at its high end.
        ends: the values at its ends.
        answers: the answer at each end, "" if it does not change.
    """

    name: str
    low_us: float
    high_us: float
    ends: tuple[str, str]
    answers: tuple[str, str]


@dataclass(frozen=True)
class TornadoView:
    """How far each assumption moves the cost of a lookup.

    Attributes:
        typical_us: the time with the typical value of every assumption.
        budget_us: the budget of a p99 lookup, None without one.
    """

    title: str
    caption: str
    bars: tuple[AssumptionBar, ...]
    typical_us: float
    budget_us: float | None

    @property
    def most_us(self) -> float:
        return max([bar.high_us for bar in self.bars] + [self.typical_us, 1e-6])


def view(
    assumptions: Sequence[Assumption],
    answer: tuple[str, int],
    typical_us: float,
    budget_us: float | None,
) -> TornadoView:
    """Returns the bars of the assumptions.

    Args:
        answer: the current verdict and interval.
    """
    bars = tuple(_bar(assumption, answer) for assumption in assumptions)
    return TornadoView(_title(bars), say("curves.below_tornado"), bars, typical_us, budget_us)


def _bar(assumption: Assumption, answer: tuple[str, int]) -> AssumptionBar:
    unit = f" {assumption.unit}" if assumption.unit else ""
    answers = []
    for end_answer in (assumption.verdict_low, assumption.verdict_high):
        text = say("curves.keep") if end_answer[0] == "keep" else format_count(end_answer[1])
        answers.append("" if end_answer == answer else text)
    return AssumptionBar(
        assumption_name(assumption),
        assumption.p99_us_low,
        assumption.p99_us_high,
        (f"{assumption.low:.3g}{unit}", f"{assumption.high:.3g}{unit}"),
        (answers[0], answers[1]),
    )


def assumption_name(assumption: Assumption) -> str:
    return assumption.name.render(language())


def _title(bars: Sequence[AssumptionBar]) -> str:
    if not bars:
        return say("curves.no_assumption")
    values = {
        "name": bars[0].name,
        "low": format_us(bars[0].low_us),
        "high": format_us(bars[0].high_us),
    }
    turning_bars = sum(any(bar.answers) for bar in bars)
    if not turning_bars:
        return say("curves.answer_stays", **values)
    return say_count("curves.answer_turns", turning_bars, count=len(bars), **values)


def rows(tornado: TornadoView) -> list[tuple[str, ...]]:
    """Returns rows of assumption, its ends, the p99 at each, the answer at each."""
    return [
        (
            bar.name,
            *bar.ends,
            format_us(bar.low_us),
            format_us(bar.high_us),
            *(answer or say("curves.same") for answer in bar.answers),
        )
        for bar in tornado.bars
    ]


COLUMNS = (
    "assumption",
    "low_end",
    "high_end",
    "p99_at_low",
    "p99_at_high",
    "answer_at_low",
    "answer_at_high",
)


def column_titles() -> tuple[str, ...]:
    return tuple(say(f"curves.{column}") for column in COLUMNS)


def figure(tornado: TornadoView, mode: str) -> go.Figure:
    colours = theme.colours(mode)
    indexes = list(range(len(tornado.bars)))
    most_us = tornado.most_us
    hover_texts = [
        say("curves.bar_hover", name=a, low=b, high=c, at_low=d, at_high=e)
        for a, b, c, d, e, _, _ in rows(tornado)
    ]
    chart = go.Figure(
        go.Bar(
            orientation="h",
            base=[min(bar.low_us, bar.high_us) for bar in tornado.bars],
            x=[abs(bar.high_us - bar.low_us) for bar in tornado.bars],
            y=indexes,
            width=0.3,
            marker={"color": colours["log"], "line": {"width": 0}},
            name="p99",
            **theme.hover(hover_texts),
        )
    )
    chart.update_layout(
        theme.chart_layout(
            mode, ROW_PX * max(1, len(indexes)) + TOP + BOTTOM, (LEFT, RIGHT, TOP, BOTTOM)
        ),
        hovermode="closest",
        xaxis=theme.bar_axis(1.06 * most_us, 6) | {"ticksuffix": " µs", "zeroline": False},
        yaxis=theme.row_axis([bar.name for bar in tornado.bars], 8) | {"automargin": False},
        shapes=_line_shapes(tornado, most_us, colours),
        annotations=[
            *_end_annotations(tornado, colours),
            *_line_annotations(tornado, most_us, colours),
        ],
    )
    return chart


def _line_shapes(tornado: TornadoView, most_us: float, colours: dict[str, str]) -> list[dict]:
    lines = [theme.vertical_line(tornado.typical_us, {"color": colours["ink"], "width": 1.5})]
    if tornado.budget_us is not None and tornado.budget_us <= 1.06 * most_us:
        budget_line = {"color": colours["warning"], "width": 1.4, "dash": "2px,3px"}
        lines.append(theme.vertical_line(tornado.budget_us, budget_line))
    return lines


def _line_annotations(tornado: TornadoView, most_us: float, colours: dict[str, str]) -> list[dict]:
    below_axis = {"yref": "paper", "y": 0, "yanchor": "top", "yshift": -21}
    text = say("curves.as_it_is", us=format_us(tornado.typical_us))
    annotations = [theme.note(text, colours["ink"], x=tornado.typical_us, **below_axis)]
    if (
        tornado.budget_us is not None
        and abs(tornado.budget_us - tornado.typical_us) > 0.3 * most_us
        and tornado.budget_us <= 1.06 * most_us
    ):
        text = f"<b>{say('curves.word_budget')}</b>"
        annotations.append(
            theme.note(text, colours["warning_text"], x=tornado.budget_us, **below_axis)
        )
    return annotations


def _end_annotations(tornado: TornadoView, colours: dict[str, str]) -> list[dict]:
    """Returns the values at each bar's ends, with the answer at an end that changes it.

    They are next to the bar, or below it if they do not fit.
    """
    annotations = []
    most_us = tornado.most_us
    for index, bar in enumerate(tornado.bars):
        ends = sorted(zip((bar.low_us, bar.high_us), bar.ends, bar.answers, strict=True))
        room_px = (
            NARROW_PX * ends[0][0] / most_us,
            RIGHT + NARROW_PX * (1.06 - ends[1][0] / most_us),
        )
        texts_px = (
            CHARACTER_PX * len(f"{end_text} → {answer}" if answer else end_text)
            for _, end_text, answer in ends
        )
        if any(text_px > px for text_px, px in zip(texts_px, room_px, strict=True)):
            annotations.append(_ends_annotation(index, ends, most_us, colours))
            continue
        for (us, end_text, answer), side in zip(ends, ("right", "left"), strict=True):
            text = f"{end_text} → <b>{answer}</b>" if answer else end_text
            colour = colours["warning_text" if answer else "ink_3"]
            shift_px = 5 if side == "left" else -5
            annotations.append(
                theme.note(text, colour, x=us, y=index, xanchor=side, xshift=shift_px)
            )
    return annotations


def _ends_annotation(
    index: int, ends: list[tuple[float, str, str]], most_us: float, colours: dict[str, str]
) -> dict:
    text = " – ".join(
        f"{end_text} → <b>{answer}</b>" if answer else end_text for _, end_text, answer in ends
    )
    is_left = ends[0][0] < most_us / 2
    colour = colours["warning_text" if any(answer for _, _, answer in ends) else "ink_3"]
    return theme.note(
        text,
        colour,
        x=ends[0][0] if is_left else ends[1][0],
        y=index,
        xanchor="left" if is_left else "right",
        yshift=-18,
        bgcolor=colours["raised"],
        borderpad=0,
    )
