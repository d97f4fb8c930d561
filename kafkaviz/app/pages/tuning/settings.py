"""Other settings to write the log with once more: a slider each, beside what the log has."""

from dataclasses import replace

import streamlit as st

from kafkaviz.app.pages.tuning.options import SETTINGS
from kafkaviz.app.pages.tuning.tuning_context import TuningContext
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import elements
from kafkaviz.app.workloads import format_setting
from kafkaviz.simulate.config import LogConfig
from kafkaviz.words import say


def considered_config(context: TuningContext) -> LogConfig:
    """The settings that the sliders below say; what nobody moved is as it was."""
    fields = {
        name.replace(".", "_"): _chosen_value(context, name) for name in page_state.REPLAY_SETTINGS
    }
    return replace(context.config, index_interval_bytes=context.alternative_bytes, **fields)


def _chosen_value(context: TuningContext, name: str) -> int:
    """What a slider says, or the address before it is drawn."""
    choices = _choices(context, name)
    return choices[
        choice.adopt(
            page_state.REPLAY_SETTINGS[name],
            choices.keys(),
            format_setting(name, own_value(context, name)),
        )
    ]


def _choices(context: TuningContext, name: str) -> dict[str, int]:
    """What a slider offers: the usual values, and the log's own."""
    return {
        format_setting(name, value): value
        for value in sorted({*SETTINGS[name], own_value(context, name)})
    }


def own_value(context: TuningContext, name: str) -> int:
    """A setting as the log has it."""
    return getattr(context.config, name.replace(".", "_"))


def render_setting(context: TuningContext, name: str) -> None:
    """A slider with its name and value above it, and where the log's own value is from."""
    own_text = format_setting(name, own_value(context, name))
    choice.slider(name, _choices(context, name), own_text, page_state.REPLAY_SETTINGS[name])
    text = say(
        "tuning.now_inferred" if name in context.case.today.inferred_settings else "tuning.now_set",
        value=own_text,
    )
    st.html(f'<div class="kv-fnt" style="font-size:12px">{elements.escape(text)}</div>')
