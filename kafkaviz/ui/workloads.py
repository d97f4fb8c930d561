"""The workloads to choose from on Rolls and on Tuning: those that come along, as both commands know
them, and one of one's own.
"""

import streamlit as st

from kafkaviz.simulate.sending import workload
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.units import duration, size
from kafkaviz.words import say

OWN = "Your own"
NONE = "none"  # of a setting's values
START = "day"  # with its own settings it rolls for three reasons


def by_title() -> dict[str, Workload]:
    """What there is to choose from, by its English title, which links name."""
    return {one.title: one for one in _by_name().values()}


@st.cache_resource(show_spinner=False)
def _by_name() -> dict[str, Workload]:
    return workload.presets()


def name_of(title: str) -> str:
    """What the commands call one that comes along; nothing of one's own."""
    return next((name for name, one in _by_name().items() if one.title == title), "")


def told(title: str) -> str:
    """The title as the reader's language has it."""
    if title == OWN:
        return say("workloads.own")
    name = name_of(title)
    return say(f"workloads.{name}_title") if name else title


def story_of(title: str) -> str:
    """What a workload is about, in a sentence or two; nothing of one's own."""
    name = name_of(title)
    return say(f"workloads.{name}_story") if name else ""


def start() -> Workload:
    """What Rolls opens with, and the field of one's own."""
    return _by_name()[START]


def own_text() -> str:
    """What the field of one's own workload starts with."""
    return workload.to_toml(start())


def own(text: str) -> Workload:
    """The workload that somebody wrote. Raises KafkavizError with the key that is wrong."""
    return workload.load(text, "your workload")


def written(name: str, value: int) -> str:
    """The value of a topic's setting as a slider has it."""
    if name.endswith(".ms"):
        return NONE if name == "segment.jitter.ms" and not value else duration(value)
    return size(value)
