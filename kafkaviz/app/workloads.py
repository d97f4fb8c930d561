"""The workloads to choose from on Rolls and on Tuning.

Those that come along, as both commands know them, and one of one's own.
"""

from collections.abc import Mapping

import streamlit as st

from kafkaviz import config_def
from kafkaviz.messages import say
from kafkaviz.simulate.config import LogConfig, log_config
from kafkaviz.simulate.producers import workload
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.units import duration, size

OWN_TITLE = "Your own"
NONE = "none"  # of a setting's values
START = "day"  # with its own settings it rolls for three reasons


def by_title() -> dict[str, Workload]:
    """What there is to choose from, by its English title, which links name."""
    return {preset.title: preset for preset in _presets().values()}


@st.cache_resource(show_spinner=False)
def _presets() -> dict[str, Workload]:
    return workload.presets()


def preset_name(title: str) -> str:
    """What the commands call one that comes along; nothing of one's own."""
    return next((name for name, preset in _presets().items() if preset.title == title), "")


def display_title(title: str) -> str:
    """The title as the reader's language has it."""
    if title == OWN_TITLE:
        return say("workloads.own")
    name = preset_name(title)
    return say(f"workloads.{name}_title") if name else title


def story_text(title: str) -> str:
    """What a workload is about, in a sentence or two; nothing of one's own."""
    name = preset_name(title)
    return say(f"workloads.{name}_story") if name else ""


def start_workload() -> Workload:
    """What Rolls opens with, and the field of one's own."""
    return _presets()[START]


def own_text() -> str:
    """What the field of one's own workload starts with."""
    return workload.to_toml(start_workload())


def parse_own(text: str) -> Workload:
    """The workload that somebody wrote.

    Raises:
        KafkavizError: a key is wrong; it says which.
    """
    return workload.load(text, "your workload")


def config_of(preset: Workload, overrides: Mapping[str, int]) -> LogConfig:
    """What the log is run with: the workload's settings, and what was chosen instead."""
    return log_config({**config_def.defaults(preset.release), **dict(preset.settings), **overrides})


def format_setting(name: str, value: int) -> str:
    """The value of a topic's setting as a slider has it."""
    if name.endswith(".ms"):
        return NONE if name == "segment.jitter.ms" and not value else duration(value)
    return size(value)
