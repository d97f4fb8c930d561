"""Figures on a page: cached per view and theme, with a title and an alternative text.

A click in a figure or table starts a run. If that run changes the figure or table, st.plotly_chart
and st.dataframe return no selection. So a callback, made by `keep_click`, stores the click before
the run, and `take_click` returns the click.
"""

from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.messages import language, say

if TYPE_CHECKING:
    from kafkaviz.figures.theme import PlainFigure

MAX_FIGURES = 256
NO_TITLE_PX = 12  # padding above and below the template's title
SELECTING = {  # the layout that Streamlit sets when points can be selected
    "clickmode": "event+select",
    "hovermode": "closest",
    "dragmode": "pan",
}
View = TypeVar("View")
Target = TypeVar("Target")


class Draw(Protocol):
    """A function that draws a view in a theme. The cache key has the function's module and name."""

    __module__: str
    __qualname__: str

    def __call__(self, figure_view: Any, mode: str, /) -> Any:
        """Returns a Plotly figure, or a PlainFigure."""


def mode() -> str:
    """Returns the theme: "light" or "dark". A printed page is always light."""
    return "light" if st.query_params.get(page_state.PAPER) else st.context.theme.type or "light"


def view(view_key: Hashable, make: Callable[[], View]) -> View:
    """Returns the result of `make`, which is cached by `view_key` and language."""
    return _view(view_key, language(), make)


@st.cache_resource(max_entries=MAX_FIGURES, show_spinner=False)
def _view(view_key: Hashable, language_code: str, _make: Callable[[], View]) -> View:
    return _make()


def figure(view_key: Hashable, draw: Draw, figure_view: object) -> "PlainFigure":
    """Draws a view as a figure. `view_key` must contain everything that the view depends on."""
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
    # imported here because importing plotly takes half a second: the page above a chart is drawn
    # first
    from kafkaviz.figures.theme import PlainFigure

    return PlainFigure.from_plotly(_draw(_figure_view, mode))


def plot(plotly_figure: Any, key: str, alt: str, **selects: Any) -> Any:
    """Draws a Plotly figure without Streamlit's theme and mode bar."""
    plotly_figure = with_page_layout(plotly_figure, SELECTING if selects else {})
    return st.plotly_chart(
        plotly_figure, theme=None, config={"displayModeBar": False}, key=key, alt=alt, **selects
    )


def with_page_layout(
    plotly_figure: Any, selecting: Mapping[str, str] = MappingProxyType({})
) -> "PlainFigure":
    """Returns the figure with its final layout, so that the browser draws it only once."""
    from kafkaviz.figures.theme import PlainFigure

    plain = plotly_figure.to_dict()
    layout = plain["layout"] | dict(selecting)
    margin = layout.get("margin", {})
    if "title" not in layout:
        layout["title"] = {"automargin": False}
        if margin.get("t", NO_TITLE_PX) < NO_TITLE_PX:
            layout["margin"] = margin | {"t": margin["t"] + NO_TITLE_PX}
    return PlainFigure(plain | {"layout": layout})


def render_titled(view_key: Hashable, draw: Draw, figure_view, key: str) -> None:
    """Draws the title and the caption of a view, and the figure below."""
    elements.figure_head(figure_view.title, figure_view.caption)
    render_figure(view_key, draw, figure_view, key)


def render_figure(view_key: Hashable, draw: Draw, figure_view, key: str) -> None:
    """Draws the figure of a view, without a title."""
    plot(
        figure(view_key, draw, figure_view),
        key,
        say("common.titled", title=figure_view.title, below=figure_view.caption),
    )


def keep_click(key: str, read: Callable[[Any], Target | None]) -> Callable[[], None]:
    """Returns an `on_select` callback that stores a click in the element `key` for `take_click`.

    `read` gets the selection (with `points` or `rows`) and returns the click's target, or None.
    """

    def keep_target() -> None:
        target = read(st.session_state[key].selection)
        if target is not None:
            st.session_state[_state_key(key)] = (_address(), target)

    return keep_target


def take_click(key: str) -> Any:
    """Returns the target of a new click in the element `key`. None without a new click."""
    address, target = st.session_state.pop(_state_key(key), ("", None))
    return target if address == _address() else None


def first_point(selection: Any) -> Any:
    """Returns the customdata of the first selected point of a figure, or None."""
    return selection.points[0].get("customdata") if selection.points else None


def _address() -> str:
    """Returns the page's address. `take_click` ignores a click that was made at another address."""
    return f"{st.context.url} {st.query_params.to_dict()}"


def _state_key(key: str) -> str:
    return f"{key}_clicked"
