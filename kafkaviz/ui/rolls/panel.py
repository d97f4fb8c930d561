"""The workload and the settings of a simulated log: a row of controls, and a field for a workload
of one's own.
"""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import choice, parts, state, workloads
from kafkaviz.ui.rolls import options
from kafkaviz.words import say

PANEL = ("segment.bytes", "segment.ms", "segment.index.bytes", "index.interval.bytes")
MORE = "segment.jitter.ms"


def controls() -> tuple[Workload, LogConfig] | None:
    """The workload and the settings that the sliders say; None where what somebody wrote is no
    workload.
    """
    with st.container(key="kv_set"):
        first = st.columns(5, gap=24)
        with first[0]:
            name = _workload()
        of = _own_workload() if name == workloads.OWN else workloads.by_title()[name]
        if of is None:
            return None
        values = {one: _setting(first[place], of, one) for place, one in enumerate(PANEL, start=1)}
        second = st.columns(5, gap=24)
        with second[0]:
            _story(workloads.story_of(name) or of.story)
        speed = _slider(
            second[1], say("rolls.throughput"), state.SPEED, options.SPEED_ORDER, options.AS_IT_IS
        )
        batch = _slider(
            second[2],
            say("rolls.batch_size"),
            state.BATCH_SIZE,
            options.BATCH_ORDER,
            options.AS_IT_IS,
        )
        values[MORE] = _setting(second[3], of, MORE)
        with second[4]:
            _anew()
    st.space(16)
    return options.changed(of, speed, batch), options.config_of(of, values)


def _workload() -> str:
    """Which one, by its title."""
    st.html(f'<div class="kv-lab">{say("workloads.workload")}</div>')
    names = [*workloads.by_title(), workloads.OWN]
    look: dict[str, Any] = {
        "says": workloads.told,
        "label_visibility": "collapsed",
        "on_change": settings_anew,
    }
    return choice.ask(
        st.selectbox,
        say("workloads.workload"),
        names,
        workloads.start().title,
        state.WORKLOAD,
        **look,
    )


def _story(text: str) -> None:
    """What the workload is about."""
    story = parts.escape(text)
    st.html(
        f'<div class="kv-lab">{say("rolls.story")}</div>'
        f'<p class="kv-sm kv-story" title="{story}">{story}</p>'
    )


def _anew() -> None:
    """All settings as the workload has them."""
    st.html(f'<div class="kv-lab">{say("rolls.all_settings")}</div>')
    st.button(
        say("rolls.settings_anew"),
        type="tertiary",
        icon=":material/restart_alt:",
        key="kv_anew",
        on_click=settings_anew,
    )


def settings_anew() -> None:
    """Another workload comes with its own settings."""
    for key in (*state.SETTING.values(), state.SPEED, state.BATCH_SIZE, state.ROLLS_ROWS):
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)


def _own_workload() -> Workload | None:
    """The field for a workload of one's own; what is wrong with it."""
    if state.OWN_TEXT not in st.session_state:
        st.session_state[state.OWN_TEXT] = workloads.own_text()
    with st.expander(say("workloads.own_toml"), expanded=True):
        look: dict[str, Any] = {
            "height": 260,
            "label_visibility": "collapsed",
            "on_change": settings_anew,
        }
        text = st.text_area(say("workloads.workload"), key=state.OWN_TEXT, **look)
        st.html(f'<p class="kv-sm kv-fnt">{say("workloads.own_below")}</p>')
    try:
        return workloads.own(text)
    except KafkavizError as fault:
        with parts.state("own", "error", say("workloads.no_workload"), fault_words.line(fault)):
            pass
        return None


def _setting(column, of: Workload, name: str) -> int:
    """One of the topic's settings."""
    values = options.choices(of, name)
    return values[
        _slider(
            column,
            name,
            state.SETTING[name],
            list(values),
            workloads.written(name, options.setting(of, name)),
        )
    ]


def _slider(column, label: str, key: str, names: Sequence[str], default: str) -> str:
    """A slider over names."""
    with column:
        return choice.slider(label, names, default, key, options.told)
