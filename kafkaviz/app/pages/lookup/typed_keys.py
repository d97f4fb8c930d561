"""An index of keys that the reader typed, without a log."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache.lookup_source import LookupSource
from kafkaviz.app.widgets import elements
from kafkaviz.messages import say, say_count
from kafkaviz.search.log_view import table_of_rows
from kafkaviz.simulate.lessons import practice
from kafkaviz.units import format_count

DEFAULT_KEYS = "6 14 22 26 31 40 47 55 58 66 71 80"
MAX_KEYS = 4096


def open_source() -> LookupSource:
    """Returns an index of the keys in the field, or of DEFAULT_KEYS if they are not valid."""
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
    """Returns the whole numbers in a text.

    Raises:
        ValueError: says which part is not a number or too large, or that there are too many.
    """
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    for part in parts:
        if not re.fullmatch(r"-?\d{1,10}", part) or abs(int(part)) >= 1 << 31:
            raise ValueError(say("lookup.no_key", text=part[:20]))
    if len(parts) > MAX_KEYS:
        raise ValueError(say_count("lookup.many_keys", len(parts), most=format_count(MAX_KEYS)))
    return [int(part) for part in parts]


def render_field(on_change: Callable[[], None]) -> None:
    st.text_input(
        say("lookup.own_keys"),
        DEFAULT_KEYS,
        key=page_state.KEYS,
        bind="query-params",
        on_change=on_change,
    )


def render_fault() -> None:
    """Draws why the keys in the field are not valid, if so. The page then shows DEFAULT_KEYS."""
    try:
        parse_keys(st.session_state.get(page_state.KEYS) or "")
    except ValueError as fault:
        with elements.state(
            "keys", "info", str(fault), say("lookup.keys_below", keys=DEFAULT_KEYS)
        ):
            pass
        st.space(16)
