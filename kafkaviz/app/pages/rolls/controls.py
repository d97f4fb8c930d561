"""The workload and the settings of a simulated log: a row of controls, and a field for a workload
of one's own.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from kafkaviz.app import workloads
from kafkaviz.app.pages.rolls import options
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import error_text
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.words import say

PANEL = ("segment.bytes", "segment.ms", "segment.index.bytes", "index.interval.bytes")
JITTER_SETTING = "segment.jitter.ms"


def render_controls() -> tuple[Workload, LogConfig] | None:
    """The workload and the settings that the sliders say; None where what somebody wrote is no
    workload.
    """
    with st.container(key="kv_set"):
        first = st.columns(5, gap=24)
        with first[0]:
            name = _choose_workload()
        workload = (
            _edit_own_workload() if name == workloads.OWN_TITLE else workloads.by_title()[name]
        )
        if workload is None:
            return None
        values = {
            setting_name: _choose_value(first[place], workload, setting_name)
            for place, setting_name in enumerate(PANEL, start=1)
        }
        second = st.columns(5, gap=24)
        with second[0]:
            _render_story(workloads.story_text(name) or workload.story)
        speed = _slider(
            second[1],
            say("rolls.throughput"),
            page_state.SPEED,
            options.SPEED_ORDER,
            options.AS_IT_IS,
        )
        batch = _slider(
            second[2],
            say("rolls.batch_size"),
            page_state.BATCH_SIZE,
            options.BATCH_ORDER,
            options.AS_IT_IS,
        )
        values[JITTER_SETTING] = _choose_value(second[3], workload, JITTER_SETTING)
        with second[4]:
            _render_reset()
    st.space(16)
    return options.scale_workload(workload, speed, batch), options.config_of(workload, values)


def _choose_workload() -> str:
    """Which one, by its title."""
    st.html(f'<div class="kv-lab">{say("workloads.workload")}</div>')
    names = [*workloads.by_title(), workloads.OWN_TITLE]
    widget_options: dict[str, Any] = {
        "format_func": workloads.display_title,
        "label_visibility": "collapsed",
        "on_change": reset_settings,
    }
    return choice.ask(
        st.selectbox,
        say("workloads.workload"),
        names,
        workloads.start_workload().title,
        page_state.WORKLOAD,
        **widget_options,
    )


def _render_story(text: str) -> None:
    """What the workload is about."""
    story = elements.escape(text)
    st.html(
        f'<div class="kv-lab">{say("rolls.story")}</div>'
        f'<p class="kv-sm kv-story" title="{story}">{story}</p>'
    )


def _render_reset() -> None:
    """All settings as the workload has them."""
    st.html(f'<div class="kv-lab">{say("rolls.all_settings")}</div>')
    st.button(
        say("rolls.settings_anew"),
        type="tertiary",
        icon=":material/restart_alt:",
        key="kv_anew",
        on_click=reset_settings,
    )


def reset_settings() -> None:
    """Another workload comes with its own settings."""
    for key in (
        *page_state.SETTING.values(),
        page_state.SPEED,
        page_state.BATCH_SIZE,
        page_state.ROLLS_ROWS,
    ):
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)


def _edit_own_workload() -> Workload | None:
    """The field for a workload of one's own; what is wrong with it."""
    if page_state.ROLLS_WORKLOAD_TEXT not in st.session_state:
        st.session_state[page_state.ROLLS_WORKLOAD_TEXT] = workloads.own_text()
    with st.expander(say("workloads.own_toml"), expanded=True):
        widget_options: dict[str, Any] = {
            "height": 260,
            "label_visibility": "collapsed",
            "on_change": reset_settings,
        }
        text = st.text_area(
            say("workloads.workload"), key=page_state.ROLLS_WORKLOAD_TEXT, **widget_options
        )
        st.html(f'<p class="kv-sm kv-fnt">{say("workloads.own_below")}</p>')
    try:
        return workloads.parse_own(text)
    except KafkavizError as fault:
        with elements.state(
            "own", "error", say("workloads.no_workload"), error_text.describe_sentence(fault)
        ):
            pass
        return None


def _choose_value(column, workload: Workload, name: str) -> int:
    """One of the topic's settings."""
    values = options.choices(workload, name)
    return values[
        _slider(
            column,
            name,
            page_state.SETTING[name],
            list(values),
            workloads.format_setting(name, options.setting(workload, name)),
        )
    ]


def _slider(column, label: str, key: str, names: Sequence[str], default: str) -> str:
    """A slider over names."""
    with column:
        return choice.slider(label, names, default, key, options.option_text)
