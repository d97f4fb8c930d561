"""A log that grows in the stepper, append by append: two that come along, and the beginning of the
simulated one.
"""

from typing import Any, cast

import streamlit as st

from kafkaviz import words
from kafkaviz.app.components.growth import growth as growth_component
from kafkaviz.app.pages.rolls.simulated_log import key_of, stream
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import growth as growth_figure
from kafkaviz.figures.growth import GrowthView
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.lessons import growth
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.words import say

STORY_APPENDS = 120  # of the log above, step by step
SIMULATED_LOG = "The log above"
STORIES = {
    "From the first batch": growth.first_segments,
    "A full time index": growth.full_time_index,
}
STORY_KEYS = {
    "From the first batch": "first_batch",
    "A full time index": "full_time_index",
    SIMULATED_LOG: "above",
}
HEADS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def render_stories(simulated_log: tuple[Workload, LogConfig] | None) -> None:
    """The stepper. simulated_log: the simulated log, if one is shown."""
    names = [*STORIES, *([SIMULATED_LOG] if simulated_log else [])]
    with st.container(horizontal=True, vertical_alignment="center", key="kv_story_head"):
        elements.heading(say("rolls.by_append"), say("rolls.by_append_keys"))
        widget_options: dict[str, Any] = {
            "required": True,
            "label_visibility": "collapsed",
            "format_func": lambda story_name: say(f"rolls.story_{STORY_KEYS[story_name]}"),
        }
        name = choice.ask(
            st.segmented_control,
            say("rolls.story"),
            names,
            names[0],
            page_state.STORY,
            **widget_options,
        )
    below = say(f"rolls.story_{STORY_KEYS[name]}_below", n=STORY_APPENDS)
    st.html(
        f'<p class="kv-sm" style="color:var(--kv-ink-2);margin:4px 0 12px">{elements.escape(below)}'
        "</p>"
    )
    view = (
        simulated_story(*cast(tuple[Workload, LogConfig], simulated_log))
        if name == SIMULATED_LOG
        else lesson_story(name)
    )
    growth_component(growth_figure.message(view))
    st.space(16)
    with st.expander(say("rolls.every_step")):
        heads, rows = [say(f"rolls.head_{column}") for column in HEADS], growth_figure.rows(view)
        table(heads, rows, "rwrrr")
        download(
            say("rolls.every_step_csv"), lambda: to_csv(HEADS, rows), "growth.csv", "kv_growth_csv"
        )


def lesson_story(name: str) -> GrowthView:
    """One of the stories that come along."""
    return _lesson_story(name, words.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _lesson_story(name: str, language: str) -> GrowthView:
    return growth_figure.view(STORIES[name](), name)


def simulated_story(workload: Workload, config: LogConfig) -> GrowthView:
    """The beginning of a simulated log. Raises CannotLoad where it cannot be opened."""
    return _simulated_story(workload, config, words.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _simulated_story(workload: Workload, config: LogConfig, language: str) -> GrowthView:
    rows, _ = stream(workload)
    steps = growth.grow_by_rows(config, rows[:STORY_APPENDS].copy(), workload.start_ms)
    return growth_figure.view(steps, key_of(workload, config))
