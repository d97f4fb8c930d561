"""A figure as pages show it: its title above it, drawn once for a view and a mode, and in words for
who does not see it.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

import streamlit as st

from kafkaviz.ui import parts, state
from kafkaviz.words import language, say

KEPT = 256
View = TypeVar("View")


class Draw(Protocol):
    """What draws a view in a mode: a function, known by its name."""

    __module__: str
    __qualname__: str

    def __call__(self, shown: Any, mode: str, /) -> object:
        """The figure."""


def mode() -> str:
    """Light or dark; paper is light."""
    return "light" if st.query_params.get(state.PAPER) else st.context.theme.type or "light"


def view(of: Hashable, make: Callable[[], View]) -> View:
    """A view that takes some time to work out, kept between reruns. of: what tells it from all
    others.
    """
    return _view(of, language(), make)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _view(of: Hashable, spoken: str, _make: Callable[[], View]) -> View:
    return _make()


def figure(of: Hashable, draw: Draw, shown: object) -> object:
    """A view as it is drawn in this mode. of: what the view depends on; to make a figure takes
    Plotly as long as all else of a rerun.
    """
    return _figure(of, f"{draw.__module__}.{draw.__qualname__}", mode(), language(), draw, shown)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _figure(of: Hashable, by: str, mode: str, spoken: str, _draw: Draw, _shown: object) -> object:
    return _draw(_shown, mode)


def plot(drawn: Any, key: str, alt: str, **selects: Any) -> Any:
    """A Plotly figure in our own look. selects: how its points are chosen, where they are; then
    what is chosen comes back.
    """
    return st.plotly_chart(
        drawn, theme=None, config={"displayModeBar": False}, key=key, alt=alt, **selects
    )


def titled(of: Hashable, draw: Draw, shown, key: str) -> None:
    """A view that has a title and a line below it, under both. of: as of `figure`."""
    parts.figure_head(shown.title, shown.below)
    plotted(of, draw, shown, key)


def plotted(of: Hashable, draw: Draw, shown, key: str) -> None:
    """The same, its title already written."""
    plot(figure(of, draw, shown), key, say("common.titled", title=shown.title, below=shown.below))
