"""Three ways on: learn, inspect, tune."""

from collections.abc import Generator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz.analysis import overview as overview_table
from kafkaviz.analysis.overview import BrokerOverview
from kafkaviz.app.components import art
from kafkaviz.app.frame import pages
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.words import say


def render_page_links(location: Location, overview: BrokerOverview) -> None:
    """Three ways on: learn, inspect, tune."""
    st.space(16)
    default_segment, largest_segment = (
        overview_table.default_segment(overview) or overview_table.largest_segment(overview),
        overview_table.largest_segment(overview),
    )
    learn, inspect, tune = st.columns(3, gap=12)
    with _card(learn, "learn"):
        _render_segment_link("learn", location, default_segment)
    with _card(inspect, "inspect"):
        _render_segment_link("inspect", location, largest_segment)
    with _card(tune, "tune"):
        tuning_address = page_state.address(location.directory) | {
            page_state.TUNING_SUBJECT: page_state.WHOLE_BROKER
        }
        st.page_link(
            pages()["Tuning"].script, label=say("broker.tune"), query_params=tuning_address
        )


@contextmanager
def _card(column: DeltaGenerator, name: str) -> Generator[None]:
    """A card that is all one link: the with block draws the link, which lies over it."""
    with column.container(key=f"kv_door_{name}"):
        yield
        with st.container(horizontal=True, gap=14, wrap=False):
            art(name, 64, 46)
            st.html(f'<div class="kv-door">{say(f"broker.{name}_below")}</div>')


def _render_segment_link(name: str, location: Location, target: tuple[str, int] | None) -> None:
    """A link to a segment; where there is none, to the page of the directory."""
    script = pages()["Segment"].script if target else "app.py"
    st.page_link(
        script,
        label=say(f"broker.{name}"),
        query_params=page_state.address(location.directory, *(target or ())),
    )
