"""Three ways on: learn, inspect, tune."""

from collections.abc import Generator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.analyse import overview as table
from kafkaviz.analyse.overview import Overview
from kafkaviz.ui import state
from kafkaviz.ui.components import art
from kafkaviz.ui.frame import pages
from kafkaviz.ui.pick import Place
from kafkaviz.words import say


def doors(place: Place, known: Overview) -> None:
    """Three ways on: learn, inspect, tune."""
    st.space(16)
    telling, largest = table.telling(known) or table.largest(known), table.largest(known)
    learn, inspect, tune = st.columns(3, gap=12)
    with _door(learn, "learn"):
        _segment_link("learn", place, telling)
    with _door(inspect, "inspect"):
        _segment_link("inspect", place, largest)
    with _door(tune, "tune"):
        whole = state.address(place.directory) | {state.TUNING_OF: state.WHOLE_BROKER}
        st.page_link(pages()["Tuning"].script, label=say("broker.tune"), query_params=whole)


@contextmanager
def _door(column: DeltaGenerator, name: str) -> Generator[None]:
    """A card that is all one link: the with block draws the link, which lies over it."""
    with column.container(key=f"kv_door_{name}"):
        yield
        with st.container(horizontal=True, gap=14, wrap=False):
            art(name, 64, 46)
            st.html(f'<div class="kv-door">{say(f"broker.{name}_below")}</div>')


def _segment_link(name: str, place: Place, target: tuple[str, int] | None) -> None:
    """A link to a segment; where there is none, to the page of the directory."""
    script = pages()["Segment"].script if target else "app.py"
    st.page_link(
        script,
        label=say(f"broker.{name}"),
        query_params=state.address(place.directory, *(target or ())),
    )
