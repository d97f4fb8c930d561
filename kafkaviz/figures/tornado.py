"""How far each assumption of the model moves the p99 of a lookup, the one that moves it most first:
a tornado.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from kafkaviz.analyse.tuning import Assumption
from kafkaviz.figures import theme
from kafkaviz.figures.tuning_terms import micros
from kafkaviz.units import group
from kafkaviz.words import counted, say

ROW_PX, TOP, BOTTOM, LEFT, RIGHT = 58, 8, 40, 150, 62
NARROW_PX, CHARACTER_PX = 240, 6.2  # a plot in a narrow window; of a label
NAMES = {
    "µs a header": "header",
    "µs before the first header": "first",
    "reads a header": "reads",
    "µs a device read": "device",
}


@dataclass(frozen=True)
class Bar:
    """An assumption: the time at its low and at its high end, what those ends are, and the answer
    there where it is another.
    """

    name: str
    low_us: float
    high_us: float
    ends: tuple[str, str]
    answers: tuple[str, str]


@dataclass(frozen=True)
class TornadoView:
    """typical_us: with every assumption as it is; budget_us: what a p99 lookup may take, None
    without a budget.
    """

    title: str
    bars: tuple[Bar, ...]
    typical_us: float
    budget_us: float | None


def view(
    assumptions: Sequence[Assumption],
    answer: tuple[str, int],
    typical_us: float,
    budget_us: float | None,
) -> TornadoView:
    """answer: the verdict and the interval that holds now."""
    bars = tuple(_bar(one, answer) for one in assumptions)
    return TornadoView(_title(bars), bars, typical_us, budget_us)


def _bar(one: Assumption, answer: tuple[str, int]) -> Bar:
    unit = f" {one.unit}" if one.unit else ""
    ends = f"{one.low:.3g}{unit}", f"{one.high:.3g}{unit}"
    low, high = (
        "" if found == answer else _answer(found) for found in (one.verdict_low, one.verdict_high)
    )
    return Bar(name(one), one.p99_us_low, one.p99_us_high, ends, (low, high))


def name(one: Assumption) -> str:
    """What an assumption is called."""
    return say(f"curves.assumed_{NAMES[one.name]}")


def _answer(found: tuple[str, int]) -> str:
    return say("curves.keep") if found[0] == "keep" else group(found[1])


def _title(bars: Sequence[Bar]) -> str:
    if not bars:
        return say("curves.no_assumption")
    told = {"name": bars[0].name, "low": micros(bars[0].low_us), "high": micros(bars[0].high_us)}
    turned = sum(any(one.answers) for one in bars)
    if not turned:
        return say("curves.answer_stays", **told)
    return counted("curves.answer_turns", turned, count=len(bars), **told)


def below() -> str:
    """How to read it."""
    return say("curves.below_tornado")


def rows(shown: TornadoView) -> list[tuple[str, ...]]:
    """The figure as a table: assumption, its ends, the p99 at each, the answer at each where it is
    another.
    """
    return [
        (
            one.name,
            *one.ends,
            micros(one.low_us),
            micros(one.high_us),
            *(answer or say("curves.same") for answer in one.answers),
        )
        for one in shown.bars
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


def columns() -> tuple[str, ...]:
    """The heads of rows."""
    return tuple(say(f"curves.{one}") for one in COLUMNS)


def figure(shown: TornadoView, mode: str) -> go.Figure:
    """The view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    places = list(range(len(shown.bars)))
    most = max([one.high_us for one in shown.bars] + [shown.typical_us, 1e-6])
    told = [
        say("curves.bar_hover", name=a, low=b, high=c, at_low=d, at_high=e)
        for a, b, c, d, e, _, _ in rows(shown)
    ]
    chart = go.Figure(
        go.Bar(
            orientation="h",
            base=[min(one.low_us, one.high_us) for one in shown.bars],
            x=[abs(one.high_us - one.low_us) for one in shown.bars],
            y=places,
            width=0.3,
            marker={"color": ink["log"], "line": {"width": 0}},
            customdata=told,
            hovertemplate="%{customdata}<extra></extra>",
            name="p99",
        )
    )
    chart.update_layout(
        template=theme.template(mode),
        height=ROW_PX * max(1, len(places)) + TOP + BOTTOM,
        showlegend=False,
        hovermode="closest",
        margin={"l": LEFT, "r": RIGHT, "t": TOP, "b": BOTTOM},
        xaxis={
            "range": [0, 1.06 * most],
            "showgrid": True,
            "showline": False,
            "ticks": "",
            "fixedrange": True,
            "nticks": 6,
            "ticksuffix": " µs",
            "title": None,
            "zeroline": False,
        },
        yaxis={
            "range": [len(places) - 0.5, -0.5],
            "tickvals": places,
            "ticktext": [one.name for one in shown.bars],
            "ticks": "",
            "ticklabelstandoff": 8,
            "showgrid": False,
            "fixedrange": True,
            "title": None,
            "automargin": False,
        },
        shapes=_lines(shown, most, ink),
        annotations=[*_ends(shown, ink), *_line_words(shown, most, ink)],
    )
    return chart


def _lines(shown: TornadoView, most: float, ink: dict[str, str]) -> list[dict]:
    look = {"type": "line", "yref": "paper", "y0": 0, "y1": 1}
    found = [
        look
        | {
            "x0": shown.typical_us,
            "x1": shown.typical_us,
            "line": {"color": ink["ink"], "width": 1.5},
        }
    ]
    if shown.budget_us is not None and shown.budget_us <= 1.06 * most:
        dotted = {"color": ink["warning"], "width": 1.4, "dash": "2px,3px"}
        found.append(look | {"x0": shown.budget_us, "x1": shown.budget_us, "line": dotted})
    return found


def _line_words(shown: TornadoView, most: float, ink: dict[str, str]) -> list[dict]:
    look = {"yref": "paper", "y": 0, "yanchor": "top", "yshift": -21, "showarrow": False}
    words = say("curves.as_it_is", us=micros(shown.typical_us))
    found = [
        look | {"x": shown.typical_us, "text": words, "font": {"size": 12, "color": ink["ink"]}}
    ]
    is_apart = shown.budget_us is not None and abs(shown.budget_us - shown.typical_us) > 0.3 * most
    if is_apart and shown.budget_us <= 1.06 * most:
        words = f"<b>{say('curves.word_budget')}</b>"
        found.append(
            look
            | {
                "x": shown.budget_us,
                "text": words,
                "font": {"size": 12, "color": ink["warning_text"]},
            }
        )
    return found


def _ends(shown: TornadoView, ink: dict[str, str]) -> list[dict]:
    """What the assumption is at either end, and the answer there, where it is another: beside its
    bar, or below one without room for it.
    """
    found = []
    most = max([one.high_us for one in shown.bars] + [shown.typical_us, 1e-6])
    for place, one in enumerate(shown.bars):
        at = sorted(zip((one.low_us, one.high_us), one.ends, one.answers, strict=True))
        room_px = NARROW_PX * at[0][0] / most, RIGHT + NARROW_PX * (1.06 - at[1][0] / most)
        long = (
            CHARACTER_PX * len(f"{words} → {answer}" if answer else words)
            for _, words, answer in at
        )
        if any(text_px > px for text_px, px in zip(long, room_px, strict=True)):
            found.append(_below(place, at, most, ink))
            continue
        for (us, words, answer), side in zip(at, ("right", "left"), strict=True):
            text = f"{words} → <b>{answer}</b>" if answer else words
            found.append(
                {
                    "x": us,
                    "y": place,
                    "xanchor": side,
                    "xshift": 5 if side == "left" else -5,
                    "showarrow": False,
                    "text": text,
                    "font": {"size": 12, "color": ink["warning_text" if answer else "ink_3"]},
                }
            )
    return found


def _below(place: int, at: list[tuple[float, str, str]], most: float, ink: dict[str, str]) -> dict:
    """Both ends in one line below the bar, from where it begins or up to where it ends."""
    told = " – ".join(f"{words} → <b>{answer}</b>" if answer else words for _, words, answer in at)
    is_left = at[0][0] < most / 2
    colour = ink["warning_text" if any(answer for _, _, answer in at) else "ink_3"]
    return {
        "x": at[0][0] if is_left else at[1][0],
        "y": place,
        "xanchor": "left" if is_left else "right",
        "yshift": -18,
        "showarrow": False,
        "text": told,
        "bgcolor": ink["raised"],
        "borderpad": 0,
        "font": {"size": 12, "color": colour},
    }
