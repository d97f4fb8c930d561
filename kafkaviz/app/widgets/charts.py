"""A figure as pages show it.

Its title above it, drawn once for a view and a mode, and in words for who does not see it.
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import streamlit as st

from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.messages import language, say

if TYPE_CHECKING:
    from kafkaviz.figures.plain_figure import PlainFigure

MAX_FIGURES = 256
NO_TITLE_PX = 12  # above and below the words of the template's title
SELECTING = {  # what Streamlit sets where points are chosen
    "clickmode": "event+select",
    "hovermode": "closest",
    "dragmode": "pan",
}
View = TypeVar("View")


class Draw(Protocol):
    """What draws a view in a mode: a function, known by its name."""

    __module__: str
    __qualname__: str

    def __call__(self, figure_view: Any, mode: str, /) -> Any:
        """The figure, Plotly's or plain."""


def mode() -> str:
    """Light or dark; paper is light."""
    return "light" if st.query_params.get(page_state.PAPER) else st.context.theme.type or "light"


def view(view_key: Hashable, make: Callable[[], View]) -> View:
    """A view that takes some time to work out, kept between reruns.

    Args:
        view_key: what distinguishes it from all others.
    """
    return _view(view_key, language(), make)


@st.cache_resource(max_entries=MAX_FIGURES, show_spinner=False)
def _view(view_key: Hashable, language_code: str, _make: Callable[[], View]) -> View:
    return _make()


def figure(view_key: Hashable, draw: Draw, figure_view: object) -> "PlainFigure":
    """A view as it is drawn in this mode.

    Args:
        view_key: what the view depends on; to make a figure takes Plotly as long as all else of a
            rerun.
    """
    return _figure(
        view_key, f"{draw.__module__}.{draw.__qualname__}", mode(), language(), draw, figure_view
    )


@st.cache_resource(max_entries=MAX_FIGURES, show_spinner=False)
def _figure(
    view_key: Hashable,
    draw_name: str,
    mode: str,
    language_code: str,
    _draw: Draw,
    _figure_view: object,
) -> "PlainFigure":
    # plotly takes half a second to import: what stands above a chart need not wait
    from kafkaviz.figures.plain_figure import PlainFigure

    return PlainFigure.from_plotly(_draw(_figure_view, mode))


def plot(plotly_figure: Any, key: str, alt: str, **selects: Any) -> Any:
    """A Plotly figure in our own look.

    Args:
        selects: how its points are chosen, where they are; then what is chosen comes back.
    """
    plotly_figure = _drawn_once(plotly_figure, SELECTING if selects else {})
    return st.plotly_chart(
        plotly_figure, theme=None, config={"displayModeBar": False}, key=key, alt=alt, **selects
    )


def _drawn_once(plotly_figure: Any, selecting: dict[str, str]) -> "PlainFigure":
    """The figure with what Plotly and Streamlit would else find out by drawing it a second time.

    That is the room that Plotly keeps for a title where there is none, and how points are chosen.
    """
    from kafkaviz.figures.plain_figure import PlainFigure

    plain = plotly_figure.to_dict()
    layout = plain["layout"] | selecting
    margin = layout.get("margin", {})
    if "title" not in layout:
        layout["title"] = {"automargin": False}
        if margin.get("t", NO_TITLE_PX) < NO_TITLE_PX:
            layout["margin"] = margin | {"t": margin["t"] + NO_TITLE_PX}
    return PlainFigure(plain | {"layout": layout})


def render_titled(view_key: Hashable, draw: Draw, figure_view, key: str) -> None:
    """A view that has a title and a line below it, under both.

    Args:
        view_key: as of `figure`.
    """
    elements.figure_head(figure_view.title, figure_view.caption)
    render_figure(view_key, draw, figure_view, key)


def render_figure(view_key: Hashable, draw: Draw, figure_view, key: str) -> None:
    """The same, its title already written."""
    plot(
        figure(view_key, draw, figure_view),
        key,
        say("common.titled", title=figure_view.title, below=figure_view.caption),
    )
