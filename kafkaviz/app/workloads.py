"""The workloads offered on Rolls and Tuning: presets and a custom one."""

from collections.abc import Callable, Mapping

import streamlit as st

from kafkaviz import config_def
from kafkaviz.messages import say
from kafkaviz.simulate.config import LogConfig, log_config
from kafkaviz.simulate.producers import workload
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.units import duration, format_bytes

OWN_TITLE = "Your own"
NONE = "none"  # shown for a value that turns a setting off
START = "day"  # name of the first preset shown; its segments are rolled for three reasons


def by_title() -> dict[str, Workload]:
    """Returns the presets by English title. Links contain the title."""
    return {preset.title: preset for preset in _presets().values()}


@st.cache_resource(show_spinner=False)
def _presets() -> dict[str, Workload]:
    return workload.presets()


def preset_name(title: str) -> str:
    """Returns the command-line name of a preset. "" for a custom workload."""
    return next((name for name, preset in _presets().items() if preset.title == title), "")


def display_title(title: str) -> str:
    if title == OWN_TITLE:
        return say("workloads.own")
    name = preset_name(title)
    return say(f"workloads.{name}_title") if name else title


def story_text(title: str) -> str:
    """Returns one or two sentences about a preset, or "" for a custom workload."""
    name = preset_name(title)
    return say(f"workloads.{name}_story") if name else ""


def start_workload() -> Workload:
    """Returns the workload that Rolls shows first, and that a custom workload starts from."""
    return _presets()[START]


def own_text() -> str:
    return workload.to_toml(start_workload())


def edit_own(label: str, key: str, height: int, on_change: Callable[[], None]) -> str:
    """Draws the field with the text of the custom workload. Returns the text."""
    if key not in st.session_state:
        st.session_state[key] = own_text()
    return st.text_area(
        label, key=key, height=height, label_visibility="collapsed", on_change=on_change
    )


def parse_own(text: str) -> Workload:
    """Parses a custom workload. Raises KafkavizError if the text is not valid."""
    return workload.load(text, "your workload")


def config_of(preset: Workload, overrides: Mapping[str, int]) -> LogConfig:
    """Returns Kafka's default settings, changed first by the preset and then by `overrides`."""
    return log_config({**config_def.defaults(preset.release), **dict(preset.settings), **overrides})


def format_setting(name: str, value: int) -> str:
    if name.endswith(".ms"):
        return NONE if name == "segment.jitter.ms" and not value else duration(value)
    return format_bytes(value)
