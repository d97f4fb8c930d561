"""The type of all lesson figures, and the parts that a figure consists of."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures import theme
from kafkaviz.html import Html
from kafkaviz.messages import language, say
from kafkaviz.workshop.lessons.grammar import LessonBlock

PAPER_ROWS = 12  # maximum number of rows in a printed table
UNKNOWN = "?"  # shown in a cell until the answer is given


@dataclass(frozen=True)
class Markdown:
    text: str


@dataclass(frozen=True)
class CodeText:
    text: str


@dataclass(frozen=True)
class Chart:
    draw: charts.Draw  # returns the Plotly figure, given (view, "light" or "dark")
    view: Any
    key: str
    view_key: Hashable  # a cache key for everything that the view depends on
    alt: str


@dataclass(frozen=True)
class Component:
    """An element with its own JavaScript, from app/frontend. `draw()` puts it on the page."""

    draw: Callable[[], None]


@dataclass(frozen=True)
class Group:
    """Parts of a figure, side by side in equal columns if `is_row`, else one below the other."""

    parts: Sequence["Part"]
    key: str = ""
    gap_px: int = 16
    is_row: bool = False


Part = Html | Markdown | CodeText | Chart | Component | Group
# Any stands for the view that the `make` of the same LessonFigure returns
Draw = Callable[[Any, LessonBlock, str], Sequence[Part]]
Destination = tuple[str, dict[str, str]]  # a page of the app, and its URL parameters


def render(parts: Iterable[Part]) -> None:
    """Draws parts with Streamlit. takeaway/page_file.py writes the same parts into a file."""
    for part in parts:
        if isinstance(part, Html):
            st.html(part)
        elif isinstance(part, Markdown):
            st.markdown(part.text)
        elif isinstance(part, CodeText):
            st.code(part.text, language=None, wrap_lines=True)
        elif isinstance(part, Chart):
            drawn = charts.figure(part.view_key, part.draw, part.view)
            charts.plot(drawn, part.key, part.alt)
        elif isinstance(part, Component):
            part.draw()
        elif part.is_row:
            columns = st.columns(len(part.parts), gap=part.gap_px)
            for column, inner in zip(columns, part.parts, strict=True):
                with column:
                    render([inner])
        else:
            with st.container(key=part.key or None, gap=part.gap_px or None):
                render(part.parts)


def frame(key: str, *parts: Part, gap_px: int = 16) -> Group:
    return Group(parts, f"kv_fig_{key}", gap_px)


def drawing(
    draw: charts.Draw,
    view: Any,
    block: LessonBlock,
    key: str,
    *,
    title: str = "",  # the view's title by default
    words: str = "",  # the alternative text after the title; the view's caption by default
    below: Html | None = None,
) -> Group:
    """Returns a chart in a frame with title and caption."""
    title = title or view.title
    alt = say("common.titled", title=title, below=words or view.caption)
    head = elements.figure_head_html(title, view.caption)
    chart = Chart(draw, view, key, (key, block_key(block)), alt)
    return frame(key, head, chart, *([below] if below else []))


def titled_table(
    title: str,
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    kinds: str,
    *,
    marked_row: int | None = None,
) -> list[Part]:
    """Returns a table with a title and a caption, see `table_html` for the arguments."""
    return [elements.figure_head_html(title, caption), table_html(heads, rows, kinds, marked_row)]


@dataclass(frozen=True)
class LessonFigure:
    """A kind of figure: how to make a view from a lesson block, and how to draw the view."""

    make: Callable[[LessonBlock], Any]  # returns the view that a block describes
    draw: Draw  # returns the parts of the figure, given (view, block, key)
    destination: Callable[[LessonBlock], Destination]  # the app page that shows more
    paper: Draw | None = None  # like `draw`, for print; None: use `draw`
    question: Draw | None = None  # like `draw`, before the reader has answered; None: use `draw`


def quiz_figure(
    make: Callable[[LessonBlock], Any],
    draw: Callable[..., Sequence[Part]],
    destination: Callable[[LessonBlock], Destination],
    paper: Draw | None = None,
) -> LessonFigure:
    """Returns a kind of figure that one function draws before and after the answer.

    `draw` returns the parts, given (view, block, key) and the keyword `is_answered`.
    """
    question = partial(draw, is_answered=False)
    return LessonFigure(make, partial(draw, is_answered=True), destination, paper, question)


def drawn_figure(
    make: Callable[[LessonBlock], Any],
    destination: Callable[[LessonBlock], Destination],
    figures: tuple[charts.Draw, charts.Draw],  # the chart, and the chart before the answer
    *,
    heads: Sequence[str],  # message keys
    rows: Callable[[Any], Iterable[Sequence[str]]],
    kinds: str,  # a letter per column, see `table_html`
    marked_row: Callable[[Any], int | None] = lambda _view: None,  # the highlighted row
    words: Callable[[Any], str] = lambda view: view.caption,  # the alternative text
    question_words: Callable[[Any], str] = lambda view: view.caption,
    has_table_below: bool = False,  # whether the screen shows the table too
    legend: Callable[[], Html | None] = lambda: None,
    answer_legend: Callable[[Any], Html | None] = lambda _view: None,  # None: use `legend`
) -> LessonFigure:
    """Returns a kind of figure that is a chart on screen and a table in print."""
    figure, question_figure = figures

    def table(view: Any) -> Html:
        return table_html(list(map(say, heads)), rows(view), kinds, marked_row(view))

    def draw(view: Any, block: LessonBlock, key: str) -> Sequence[Part]:
        below = answer_legend(view) or legend()
        drawn = drawing(figure, view, block, key, words=words(view), below=below)
        return [drawn, table(view)] if has_table_below else [drawn]

    def ask(view: Any, block: LessonBlock, key: str) -> Sequence[Part]:
        title = view.question
        words = question_words(view)
        below = legend()
        return [drawing(question_figure, view, block, key, title=title, words=words, below=below)]

    def print_form(view: Any, _block: LessonBlock, _key: str) -> Sequence[Part]:
        return [elements.figure_head_html(view.title, view.caption), table(view)]

    return LessonFigure(make, draw, destination, print_form, ask)


def block_key(block: LessonBlock) -> str:
    return f"lesson {language()} {block.kind} {block.lines}"


def start_parameters(block: LessonBlock) -> dict[str, str]:
    """Returns the URL parameter for the step that a figure shows first; {} if `block` has none."""
    return {page_state.STEP: str(block["step"])} if block["step"] else {}


def current_step(key: str) -> dict[str, str]:
    """Returns the URL parameter for the current step of the stepper `key`.

    Returns {} if the address contains no step, or a step of another stepper.
    """
    name, _, step = st.query_params.get(page_state.STEP, "").rpartition(".")
    return {page_state.STEP: step} if name == key and step.isdecimal() else {}


def stepper_data(block: LessonBlock, key: str) -> dict[str, str | int]:
    """Returns {"name": the stepper's key, "begin": the index of the step to show first}."""
    return {"name": key, "begin": max(0, (block["step"] or 1) - 1)}


def note(
    x: Any, y: Any, text: str, colour: str, *, size: float = 13, **style: Any
) -> dict[str, Any]:
    return theme.note(text, colour, size, x=x, y=y, **style)


def hover_points(
    name: str | None, x: Sequence[float], y: Sequence[float], texts: Sequence[str], *, size: int
) -> go.Scatter:
    """Returns invisible points that show their texts on hover."""
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        name=name,
        marker={"size": size, "opacity": 0},
        **theme.hover(texts),
    )
