"""How an index grows, what memory holds and who reads: the sliders, and a real index in place of a
made one.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.search.pages import Growth, Memory, Readers
from kafkaviz.ui import choice, parts, state
from kafkaviz.ui.page_cache import indexes, options
from kafkaviz.ui.page_cache.options import PRACTICE
from kafkaviz.ui.page_cache.replays import Settings
from kafkaviz.ui.pick import InBroker, Place
from kafkaviz.words import say


def settings(place: Place) -> tuple[Settings, np.ndarray | None, np.ndarray | None]:
    """The sliders; of a real index its offsets and its positions too."""
    is_made = index_asked(place) == PRACTICE
    with st.container(key="kv_set"):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        cold = slider(
            first[0], "cold", state.COLD, options.COLD, "16 MB", help=say("page_cache.cold_about")
        )
        entries = slider(
            first[1],
            "grow",
            state.GROW,
            options.GROW,
            "40 pages",
            options.pages_words,
            disabled=not is_made,
        )
        gap = slider(first[2], "gap", state.GAP, options.GAP, "4608 B", disabled=not is_made)
        page_bytes = slider(second[0], "page_size", state.PAGE_SIZE, options.PAGE_SIZE, "4 KiB")
        warm_bytes = slider(
            second[1], "section", state.SECTION, options.SECTION, "8 KiB", options.or_none
        )
        share = slider(
            second[2], "laggards", state.LAGGARDS, options.LAGGARDS, "none", options.or_none
        )
        around, every, entry_bytes, lag, seed, chosen = more(place)
    key, offsets, clock = real(cast(InBroker, place), chosen)
    if clock is not None:
        entries, gap, entry_bytes = (
            len(clock),
            max(1, int(clock[-1]) // len(clock)) if len(clock) else 1,
            8,
        )
        words = say(
            "page_cache.real", name=chosen, entries=units.group(entries), gap=units.group(gap)
        )
        st.html(f'<p class="kv-sm kv-fnt" style="margin-top:10px">{parts.escape(words)}</p>')
    readers = Readers(share, *lag, every, seed)
    return (
        Settings(
            Growth(entries, gap, entry_bytes),
            Memory(page_bytes, cold, around),
            readers,
            warm_bytes,
            key,
        ),
        offsets,
        clock,
    )


def index_asked(place: Place) -> str:
    """The index that the control or the address names, before the control is drawn."""
    said = st.session_state.get(state.INDEX) or st.query_params.get(state.INDEX)
    return said if said in indexes.indexes(place.broker) else PRACTICE


def slider(
    column,
    name: str,
    key: str,
    named: dict,
    default: str,
    says: Callable[[str], str] = str,
    **look: object,
):
    """A slider over names, the chosen one at the end of its label's line; what that stands for.

    name: of its label in the catalogue; says: what a choice is called.
    """
    with column:
        beside = st.empty()
        chosen = choice.ask(
            st.select_slider, say(f"page_cache.{name}"), named, default, key, says, **look
        )
        beside.html(
            f'<div class="kv-value{" asked" if "help" in look else ""}" aria-hidden="true">'
            f"{parts.escape(says(chosen))}</div>"
        )
    return named[chosen]


def more(place: Place) -> tuple:
    """What is seldom changed."""
    names = [PRACTICE, *indexes.indexes(place.broker)]
    with st.expander(say("page_cache.more")):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        around = slider(first[0], "around", state.AROUND, options.AROUND, "none", options.or_none)
        every = slider(
            first[1], "every", state.EVERY, options.EVERY, "each append", options.every_words
        )
        lag = slider(first[2], "lag", state.LAG, options.LAG, "anywhere", options.lag_words)
        kinds = list(options.ENTRY_SIZE)
        kind = choice.ask(
            second[0].selectbox,
            say("page_cache.kind"),
            kinds,
            kinds[0],
            state.ENTRY_SIZE,
            options.kind_words,
        )
        look: dict[str, Any] = {"help": say("page_cache.index_about")}
        chosen = choice.ask(
            second[1].selectbox,
            say("page_cache.index"),
            names,
            PRACTICE,
            state.INDEX,
            options.index_words,
            **look,
        )
        seeds = (0, options.LARGEST_SEED, options.DEFAULT_SEED)
        seed = second[2].number_input(
            say("page_cache.seed"), *seeds, key=state.SEED, bind="query-params"
        )
    return around, every, options.ENTRY_SIZE[kind], lag, int(seed or 0), chosen


def real(place: InBroker, chosen: str) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The index that was chosen, if it is a real one and can be read."""
    segment = indexes.indexes(place.broker).get(chosen)
    if segment is None:
        return "", None, None
    try:
        key = f"{place.listed.key} {chosen}"
        return key, *indexes.read(key, segment)
    except KafkavizError as fault:
        unread = say("page_cache.unread", name=units.legible(chosen))
        with parts.state(
            "unread",
            "warning",
            unread,
            say("page_cache.unread_below", fault=fault_words.told(fault)),
        ):
            pass
        return "", None, None
