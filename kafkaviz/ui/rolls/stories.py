"""A log that grows in the stepper, append by append: two that come along, and the beginning of the
simulated one.
"""

from typing import Any, cast

import streamlit as st

from kafkaviz import words
from kafkaviz.figures import growth as growth_figure
from kafkaviz.figures.growth import GrowthView
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.lessons import growth
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import choice, parts, state
from kafkaviz.ui.components.growth import growth as growth_door
from kafkaviz.ui.rolls.simulated import key_of, stream
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import say

SHOWN_APPENDS = 120  # of the log above, step by step
ABOVE = "The log above"
STORIES = {
    "From the first batch": growth.first_segments,
    "A full time index": growth.full_time_index,
}
STORY_KEYS = {
    "From the first batch": "first_batch",
    "A full time index": "full_time_index",
    ABOVE: "above",
}
HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def step_by_step(above: tuple[Workload, LogConfig] | None) -> None:
    """The stepper. above: the simulated log, if one is shown."""
    names = [*STORIES, *([ABOVE] if above else [])]
    with st.container(horizontal=True, vertical_alignment="center", key="kv_story_head"):
        parts.heading(say("rolls.by_append"), say("rolls.by_append_keys"))
        look: dict[str, Any] = {
            "required": True,
            "label_visibility": "collapsed",
            "says": lambda one: say(f"rolls.story_{STORY_KEYS[one]}"),
        }
        name = choice.ask(
            st.segmented_control, say("rolls.story"), names, names[0], state.STORY, **look
        )
    below = say(f"rolls.story_{STORY_KEYS[name]}_below", n=SHOWN_APPENDS)
    st.html(
        f'<p class="kv-sm" style="color:var(--kv-ink-2);margin:4px 0 12px">{parts.escape(below)}'
        "</p>"
    )
    shown = story_above(*cast(tuple[Workload, LogConfig], above)) if name == ABOVE else story(name)
    growth_door(growth_figure.message(shown))
    st.space(16)
    with st.expander(say("rolls.every_step")):
        heads, rows = [say(f"rolls.head_{one}") for one in HEADS], growth_figure.rows(shown)
        table(heads, rows, "rwrrr")
        download(
            say("rolls.every_step_csv"), lambda: csv_of(HEADS, rows), "growth.csv", "kv_growth_csv"
        )


def story(name: str) -> GrowthView:
    """One of the stories that come along."""
    return _story(name, words.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _story(name: str, language: str) -> GrowthView:
    return growth_figure.view(STORIES[name](), name)


def story_above(of: Workload, config: LogConfig) -> GrowthView:
    """The beginning of a simulated log. Raises CannotLoad where it cannot be opened."""
    return _story_above(of, config, words.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _story_above(of: Workload, config: LogConfig, language: str) -> GrowthView:
    rows, _ = stream(of)
    shown = growth.grow_by_rows(config, rows[:SHOWN_APPENDS].copy(), of.start_ms)
    return growth_figure.view(shown, key_of(of, config))
