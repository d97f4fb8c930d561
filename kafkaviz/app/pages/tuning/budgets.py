"""What a lookup may cost, where cold reads go, and how the log is read: the controls, and what they
say.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from kafkaviz.analysis.tuning import Budgets
from kafkaviz.analysis.tuning.source import TuningSource
from kafkaviz.app.pages.tuning import options
from kafkaviz.app.pages.tuning.answers import storages
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.widgets import version_text
from kafkaviz.words import say


def render_p99() -> None:
    """What the p99 of a lookup may take."""
    with st.container(width=124, gap=4):
        st.html(f'<div class="kv-lab">{say("tuning.p99_may_take")}</div>')
        widget_options: dict[str, Any] = {
            "format_func": options.option_text,
            "label_visibility": "collapsed",
        }
        choice.ask(
            st.selectbox,
            say("tuning.p99_may_take"),
            options.P99_US,
            options.DEFAULT_P99,
            page_state.P99,
            **widget_options,
        )


def render_more(source: TuningSource) -> tuple[Budgets, str, bool]:
    """The budgets that are seldom given, where cold reads go, and how the log is read."""
    with st.expander(say("tuning.more")):
        cold = _choose("tuning.cold_p99", page_state.COLD_P99, options.COLD_P99_US)
        share = _choose("tuning.index_share", page_state.SHARE, options.SHARE)
        fetches = _choose("tuning.fetches", page_state.FETCHES, options.FETCHES)
        cores = _choose(
            "compare.cores", page_state.CORES, options.CORES, is_enabled=fetches is not None
        )
        storage = _choose(
            "tuning.cold_reads",
            page_state.STORAGE,
            {storage_name: storage_name for storage_name in storages()},
        )
        releases = {version: version for version in options.RELEASES}
        help_text = say(
            "tuning.as_kafka_now",
            version=source.version,
            why=version_text.describe_traces(source.version_reason),
        )
        _choose("tuning.as_kafka", page_state.READ_RELEASE, releases, help_text=help_text)
        tiered = _choose("tuning.remote_storage", page_state.TIERED, options.TIERED)
        st.html(f'<p class="kv-sm kv-fnt">{say("tuning.budget_met")}</p>')
    return Budgets(None, cold, cores if fetches else None, share, fetches), storage, tiered


def _choose(
    label: str, key: str, choices: dict, is_enabled: bool = True, help_text: str | None = None
):
    """A selectbox over names, the first of which goes without saying; what the name stands for.
    label: a key of the catalogue.
    """
    names = list(choices)
    return choices[
        choice.ask(
            st.selectbox,
            say(label),
            names,
            names[0],
            key,
            format_func=options.option_text,
            disabled=not is_enabled,
            help=help_text,
        )
    ]


def with_p99(budgets: Budgets) -> Budgets:
    """With the budget of the p99, whose control is drawn above and read before."""
    return replace(
        budgets,
        p99_us=options.P99_US[
            choice.adopt(page_state.P99, options.P99_US.keys(), options.DEFAULT_P99)
        ],
    )
