"""How an index grows, what memory holds and who reads: the sliders, and a real index in place of a
made one.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.page_replay import IndexGrowth, Memory, Readers
from kafkaviz.app.pages.page_cache import indexes, options
from kafkaviz.app.pages.page_cache.options import PRACTICE
from kafkaviz.app.pages.page_cache.replays import ReplaySettings
from kafkaviz.app.state import choice, page_state
from kafkaviz.app.state.page_location import BrokerLocation, Location
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import error_text
from kafkaviz.words import say


def render_settings(
    location: Location,
) -> tuple[ReplaySettings, np.ndarray | None, np.ndarray | None]:
    """The sliders; of a real index its offsets and its positions too."""
    is_practice = chosen_index(location) == PRACTICE
    with st.container(key="kv_set"):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        cold = render_slider(
            first[0],
            "cold",
            page_state.COLD,
            options.COLD,
            "16 MB",
            help=say("page_cache.cold_about"),
        )
        entries = render_slider(
            first[1],
            "grow",
            page_state.GROW,
            options.GROW,
            "40 pages",
            options.pages_text,
            disabled=not is_practice,
        )
        gap = render_slider(
            first[2], "gap", page_state.GAP, options.GAP, "4608 B", disabled=not is_practice
        )
        page_bytes = render_slider(
            second[0], "page_size", page_state.PAGE_SIZE, options.PAGE_SIZE, "4 KiB"
        )
        warm_bytes = render_slider(
            second[1], "section", page_state.SECTION, options.SECTION, "8 KiB", options.size_text
        )
        share = render_slider(
            second[2], "laggards", page_state.LAGGARDS, options.LAGGARDS, "none", options.size_text
        )
        read_around_bytes, appends_a_lookup, entry_bytes, lag, seed, index_name = render_more(
            location
        )
    key, offsets, clock = open_index(cast(BrokerLocation, location), index_name)
    if clock is not None:
        entries, gap, entry_bytes = (
            len(clock),
            max(1, int(clock[-1]) // len(clock)) if len(clock) else 1,
            8,
        )
        text = say(
            "page_cache.real", name=index_name, entries=units.group(entries), gap=units.group(gap)
        )
        st.html(f'<p class="kv-sm kv-fnt" style="margin-top:10px">{elements.escape(text)}</p>')
    readers = Readers(share, *lag, appends_a_lookup, seed)
    return (
        ReplaySettings(
            IndexGrowth(entries, gap, entry_bytes),
            Memory(page_bytes, cold, read_around_bytes),
            readers,
            warm_bytes,
            key,
        ),
        offsets,
        clock,
    )


def chosen_index(location: Location) -> str:
    """The index that the control or the address names, before the control is drawn."""
    name = st.session_state.get(page_state.INDEX) or st.query_params.get(page_state.INDEX)
    return name if name in indexes.indexes(location.broker) else PRACTICE


def render_slider(
    column,
    name: str,
    key: str,
    values: dict,
    default: str,
    describe: Callable[[str], str] = str,
    **widget_options: object,
):
    """A slider over names, the chosen one at the end of its label's line; what that stands for.

    name: of its label in the catalogue; describe: what a choice is called.
    """
    with column:
        value_slot = st.empty()
        value_name = choice.ask(
            st.select_slider,
            say(f"page_cache.{name}"),
            values,
            default,
            key,
            describe,
            **widget_options,
        )
        value_slot.html(
            '<div class="kv-value'
            f'{" asked" if "help" in widget_options else ""}" aria-hidden="true">'
            f"{elements.escape(describe(value_name))}</div>"
        )
    return values[value_name]


def render_more(location: Location) -> tuple:
    """What is seldom changed."""
    names = [PRACTICE, *indexes.indexes(location.broker)]
    with st.expander(say("page_cache.more")):
        first, second = st.columns(3, gap=28), st.columns(3, gap=28)
        read_around_bytes = render_slider(
            first[0],
            "around",
            page_state.READ_AHEAD,
            options.READ_AROUND,
            "none",
            options.size_text,
        )
        appends_a_lookup = render_slider(
            first[1],
            "every",
            page_state.APPENDS_PER_LOOKUP,
            options.LOOKUP_INTERVALS,
            "each append",
            options.lookup_interval_text,
        )
        lag = render_slider(
            first[2], "lag", page_state.LAG, options.LAG, "anywhere", options.lag_text
        )
        kinds = list(options.ENTRY_SIZE)
        kind = choice.ask(
            second[0].selectbox,
            say("page_cache.kind"),
            kinds,
            kinds[0],
            page_state.ENTRY_SIZE,
            options.index_kind_text,
        )
        widget_options: dict[str, Any] = {"help": say("page_cache.index_about")}
        index_name = choice.ask(
            second[1].selectbox,
            say("page_cache.index"),
            names,
            PRACTICE,
            page_state.INDEX,
            options.index_text,
            **widget_options,
        )
        seeds = (0, options.LARGEST_SEED, options.DEFAULT_SEED)
        seed = second[2].number_input(
            say("page_cache.seed"), *seeds, key=page_state.SEED, bind="query-params"
        )
    return (
        read_around_bytes,
        appends_a_lookup,
        options.ENTRY_SIZE[kind],
        lag,
        int(seed or 0),
        index_name,
    )


def open_index(
    location: BrokerLocation, index_name: str
) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """The index that was chosen, if it is a real one and can be read."""
    segment = indexes.indexes(location.broker).get(index_name)
    if segment is None:
        return "", None, None
    try:
        key = f"{location.snapshot.key} {index_name}"
        return key, *indexes.read_index(key, segment)
    except KafkavizError as fault:
        finding = say("page_cache.unread", name=units.escape_controls(index_name))
        with elements.state(
            "unread",
            "warning",
            finding,
            say("page_cache.unread_below", fault=error_text.describe(fault)),
        ):
            pass
        return "", None, None
