"""The controls of a simulated log: workload, throughput, batch size and topic settings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import streamlit as st

from kafkaviz import config_def
from kafkaviz.app import page_state, workloads
from kafkaviz.app.widgets import choice, elements
from kafkaviz.app.workloads import NONE, config_of, format_setting
from kafkaviz.errors import KafkavizError
from kafkaviz.html import tag
from kafkaviz.messages import say
from kafkaviz.render.sentences import describe_error_sentence
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.distributions import Spread
from kafkaviz.simulate.producers.traffic import MAX_RECORDS
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.units import DAY_MS, GIB, HOUR_MS, KIB, MIB, MINUTE_MS, SECOND_MS, format_bytes

AS_IT_IS = "unchanged"
SPEEDS = {  # factors by option, in the order of the slider
    "a tenth": 0.1,
    "a quarter": 0.25,
    "half": 0.5,
    AS_IT_IS: 1.0,
    "twice": 2.0,
    "4 times": 4.0,
    "10 times": 10.0,
    "100 times": 100.0,
}
BATCHES = {
    "one record": 1,
    **{
        format_bytes(size_bytes): size_bytes
        for size_bytes in (256, 512, 1 * KIB, 2 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB)
    },
}
BATCH_ORDER = [AS_IT_IS, *BATCHES]
# options to translate; sizes and times are the same in every language
TRANSLATED = {*SPEEDS, NONE, "one record"}
SETTINGS = {  # the values that the slider of a topic setting offers
    "segment.bytes": (
        4 * KIB, 64 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB, GIB,
    ),
    "segment.ms": (
        10 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS,
        HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS,
    ),
    "segment.index.bytes": (
        8, 12, 24, 300, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, MIB, 10 * MIB,
    ),
    "index.interval.bytes": (0, 150, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB),
    "segment.jitter.ms": (
        0, 5 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, DAY_MS,
    ),
}  # fmt: skip
PANEL_SETTINGS = ("segment.bytes", "segment.ms", "segment.index.bytes", "index.interval.bytes")
JITTER_SETTING = "segment.jitter.ms"


class SimulatedLog(NamedTuple):
    """The simulated log that the controls describe."""

    workload: Workload  # at the chosen speed and batch size
    config: LogConfig
    preset: Workload  # the same workload at its original speed and batch size


def option_text(option: str) -> str:
    if option in TRANSLATED:
        return say(f"rolls.option_{option.replace(' ', '_')}")
    return workloads.display_title(option)


def scale_workload(workload: Workload, speed: str, batch: str) -> Workload:
    """Returns the workload at a speed (a key of SPEEDS) and batch size (one of BATCH_ORDER)."""
    phases = (_scale_phase(phase, SPEEDS[speed], BATCHES.get(batch)) for phase in workload.phases)
    return replace(workload, phases=tuple(phases))


def _scale_phase(phase, speed: float, batch_bytes: int | None):
    if phase.silence_ms is not None:
        return phase
    phase = replace(phase, rate=phase.rate * speed)
    if batch_bytes is None:
        return phase
    if batch_bytes == 1:
        return replace(phase, records_per_batch=Spread())
    return replace(phase, batch_bytes=batch_bytes, records_per_batch=Spread(mean=MAX_RECORDS))


def _default_value(workload: Workload, name: str) -> int:
    default = config_def.TOPIC_SETTINGS[name].default(workload.release)
    return cast(int, dict(workload.settings).get(name, default))


def render_controls() -> SimulatedLog | None:
    """Draws the controls. Returns None if the typed workload is not valid."""
    with st.container(key="kv_set"):
        first = st.columns(5, gap=24)
        with first[0]:
            name = _choose_workload()
        is_own = name == workloads.OWN_TITLE
        workload = _edit_own_workload() if is_own else workloads.by_title()[name]
        if workload is None:
            return None
        values = {
            setting_name: _choose_value(first[place], workload, setting_name)
            for place, setting_name in enumerate(PANEL_SETTINGS, start=1)
        }
        with st.expander(say("rolls.more_settings")):
            second = st.columns(4, gap=24)
            speed = _slider(
                second[0], say("rolls.throughput"), page_state.SPEED, list(SPEEDS), AS_IT_IS
            )
            batch = _slider(
                second[1], say("rolls.batch_size"), page_state.BATCH_SIZE, BATCH_ORDER, AS_IT_IS
            )
            values[JITTER_SETTING] = _choose_value(second[2], workload, JITTER_SETTING)
            with second[3]:
                _render_reset()
            elements.paragraph(workloads.story_text(name) or workload.story)
    config = config_of(workload, values)
    return SimulatedLog(scale_workload(workload, speed, batch), config, workload)


def _choose_workload() -> str:
    st.html(tag("div", say("workloads.workload"), class_="kv-lab"))
    names = [*workloads.by_title(), workloads.OWN_TITLE]
    return choice.draw_bound(
        st.selectbox,
        say("workloads.workload"),
        names,
        workloads.start_workload().title,
        page_state.WORKLOAD,
        format_func=workloads.display_title,
        label_visibility="collapsed",
        on_change=_reset_settings,
    )


def _render_reset() -> None:
    st.html(tag("div", say("rolls.all_settings"), class_="kv-lab"))
    st.button(
        say("rolls.settings_anew"),
        type="tertiary",
        icon=":material/restart_alt:",
        key="kv_anew",
        on_click=_reset_settings,
    )


def _reset_settings() -> None:
    others = (page_state.SPEED, page_state.BATCH_SIZE, page_state.ROLLS_ROWS)
    for key in (*page_state.SETTING.values(), *others):
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)


def _edit_own_workload() -> Workload | None:
    with st.expander(say("workloads.own_toml"), expanded=True):
        label = say("workloads.workload")
        text = workloads.edit_own(label, page_state.ROLLS_WORKLOAD_TEXT, 260, _reset_settings)
        elements.paragraph(say("workloads.own_below"), is_faint=True)
    try:
        return workloads.parse_own(text)
    except KafkavizError as fault:
        elements.state("own", "error", say("workloads.no_workload"), describe_error_sentence(fault))
        return None


def _choose_value(column, workload: Workload, name: str) -> int:
    default = _default_value(workload, name)
    values = {format_setting(name, value): value for value in sorted({*SETTINGS[name], default})}
    key = page_state.SETTING[name]
    return values[_slider(column, name, key, list(values), format_setting(name, default))]


def _slider(column, label: str, key: str, names: Sequence[str], default: str) -> str:
    with column:
        return choice.slider(label, names, default, key, option_text)
