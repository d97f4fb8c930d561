"""An index whose keys somebody typed, without a log."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from kafkaviz.app.cache.lookup_source import LookupSource
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.messages import say, say_count
from kafkaviz.search.log_view import table_of_rows
from kafkaviz.simulate.lessons import practice
from kafkaviz.units import group

DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"
MAX_KEYS = 4096


def open_source() -> LookupSource:
    """The index of the keys in the field; where they are none, of DEFAULT_KEYS."""
    text = (
        st.session_state.get(page_state.KEYS)
        or st.query_params.get(page_state.KEYS)
        or DEFAULT_KEYS
    )
    try:
        return make_source(parse_keys(text))
    except ValueError:
        return make_source(parse_keys(DEFAULT_KEYS))


def make_source(keys: Sequence[int]) -> LookupSource:
    """An index of these keys."""
    low, high = (min(keys), max(keys)) if keys else (0, 0)
    log = practice.log_of_keys(keys)
    return LookupSource(
        key=f"keys {' '.join(map(str, keys))}",
        title=say_count("lookup.keys_title", len(keys)),
        note=say("lookup.keys_note"),
        log=log,
        first_offset=min(0, low),
        last_offset=high + 1,
        first_ms=None,
        last_ms=None,
        segment=log.segments[0],
        last_of_segment=high + 1,
        last_ms_of_segment=0,
        offset=keys[len(keys) * 3 // 5] + 1 if keys else 0,
        timestamp_ms=0,
        batches=lambda _base_offset: table_of_rows(np.empty(0, practice.ROW)),
        records=lambda _base_offset, _position: (),
        times=lambda _base_offset: None,
        is_synthetic=True,
        is_index_only=True,
    )


def parse_keys(text: str) -> list[int]:
    """The whole numbers of a line.

    Raises:
        ValueError: says in words what is no number, too large for an index, or too much.
    """
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    for part in parts:
        if not re.fullmatch(r"-?\d{1,10}", part) or abs(int(part)) >= 1 << 31:
            raise ValueError(say("lookup.no_key", text=part[:20]))
    if len(parts) > MAX_KEYS:
        raise ValueError(say_count("lookup.many_keys", len(parts), most=group(MAX_KEYS)))
    return [int(part) for part in parts]


def render_field(on_change: Callable[[], None]) -> None:
    """Where the keys are typed."""
    st.text_input(
        say("lookup.own_keys"),
        DEFAULT_KEYS,
        key=page_state.KEYS,
        bind="query-params",
        on_change=on_change,
    )


def render_fault() -> None:
    """What is wrong with the keys in the field, if anything; the page then shows others."""
    try:
        parse_keys(st.session_state.get(page_state.KEYS) or "")
    except ValueError as fault:
        with elements.state(
            "keys", "info", str(fault), say("lookup.keys_below", keys=DEFAULT_KEYS)
        ):
            pass
        st.space(16)
