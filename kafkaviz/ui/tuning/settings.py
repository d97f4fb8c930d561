"""Other settings to write the log with once more: a slider each, beside what the log has."""

from dataclasses import replace

import streamlit as st

from kafkaviz.simulate.config import LogConfig
from kafkaviz.ui import choice, parts, state
from kafkaviz.ui.tuning.options import SETTINGS
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.ui.workloads import written
from kafkaviz.words import say


def considered_config(shown: Shown) -> LogConfig:
    """The settings that the sliders below say; what nobody moved is as it was."""
    fields = {name.replace(".", "_"): _chosen(shown, name) for name in state.IF}
    return replace(shown.config, index_interval_bytes=shown.chosen, **fields)


def _chosen(shown: Shown, name: str) -> int:
    """What a slider says, or the address before it is drawn."""
    known = _choices(shown, name)
    return known[choice.adopt(state.IF[name], known.keys(), written(name, own_value(shown, name)))]


def _choices(shown: Shown, name: str) -> dict[str, int]:
    """What a slider offers: the usual values, and the log's own."""
    return {written(name, one): one for one in sorted({*SETTINGS[name], own_value(shown, name)})}


def own_value(shown: Shown, name: str) -> int:
    """A setting as the log has it."""
    return getattr(shown.config, name.replace(".", "_"))


def setting(shown: Shown, name: str) -> None:
    """A slider with its name and value above it, and where the log's own value is from."""
    own = written(name, own_value(shown, name))
    choice.slider(name, _choices(shown, name), own, state.IF[name])
    words = say(
        "tuning.now_inferred" if name in shown.case.today.inferred else "tuning.now_set", value=own
    )
    st.html(f'<div class="kv-fnt" style="font-size:12px">{parts.escape(words)}</div>')
