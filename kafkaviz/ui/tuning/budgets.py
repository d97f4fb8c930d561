"""What a lookup may cost, where cold reads go, and how the log is read: the controls, and what they
say.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from kafkaviz.analyse.tuning import Budgets
from kafkaviz.analyse.tuning.source import Source
from kafkaviz.ui import choice, state, wrote
from kafkaviz.ui.tuning import options
from kafkaviz.ui.tuning.answers import storages
from kafkaviz.words import say


def p99() -> None:
    """What the p99 of a lookup may take."""
    with st.container(width=124, gap=4):
        st.html(f'<div class="kv-lab">{say("tuning.p99_may_take")}</div>')
        look: dict[str, Any] = {"says": options.told, "label_visibility": "collapsed"}
        choice.ask(
            st.selectbox,
            say("tuning.p99_may_take"),
            options.P99_US,
            options.DEFAULT_P99,
            state.P99,
            **look,
        )


def more(source: Source) -> tuple[Budgets, str, bool]:
    """The budgets that are seldom given, where cold reads go, and how the log is read."""
    with st.expander(say("tuning.more")):
        cold = _one_of("tuning.cold_p99", state.COLD_P99, options.COLD_P99_US)
        share = _one_of("tuning.index_share", state.SHARE, options.SHARE)
        fetches = _one_of("tuning.fetches", state.FETCHES, options.FETCHES)
        cores = _one_of("compare.cores", state.CORES, options.CORES, is_free=fetches is not None)
        storage = _one_of("tuning.cold_reads", state.STORAGE, {one: one for one in storages()})
        releases = {one: one for one in options.RELEASES}
        about = say(
            "tuning.as_kafka_now", version=source.version, why=wrote.because(source.because)
        )
        _one_of("tuning.as_kafka", state.READS_AS, releases, about=about)
        tiered = _one_of("tuning.remote_storage", state.TIERED, options.TIERED)
        st.html(f'<p class="kv-sm kv-fnt">{say("tuning.budget_met")}</p>')
    return Budgets(None, cold, cores if fetches else None, share, fetches), storage, tiered


def _one_of(label: str, key: str, choices: dict, is_free: bool = True, about: str | None = None):
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
            says=options.told,
            disabled=not is_free,
            help=about,
        )
    ]


def budgets_now(rest: Budgets) -> Budgets:
    """With the budget of the p99, whose control is drawn above and read before."""
    return replace(
        rest,
        p99_us=options.P99_US[choice.adopt(state.P99, options.P99_US.keys(), options.DEFAULT_P99)],
    )
