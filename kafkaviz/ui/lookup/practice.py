"""Logs made for lessons, and an index of keys that somebody typed, to look things up in."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from kafkaviz.figures.lookup_made import Seen
from kafkaviz.format import batch_records
from kafkaviz.simulate.lessons import practice
from kafkaviz.simulate.lessons.practice import Practice
from kafkaviz.ui.lookup.source import Source
from kafkaviz.units import group
from kafkaviz.words import counted, say

OWN, KEYS = "real", "keys"
PRACTICE = {"five": practice.five, "twenty": practice.twenty, "full": practice.full}
SETS = (*PRACTICE, KEYS)
MOST_KEYS = 4096


def of_practice(name: str) -> Source:
    """A log made for lessons, by its name in PRACTICE."""
    made, title, note = _practice(name), say(f"lookup.{name}_title"), say(f"lookup.{name}_note")
    rows = made.batches

    def records(base_offset: int, position: int) -> list[Seen]:
        row = rows[np.searchsorted(rows["position"], position)]
        return [
            Seen(one.offset, one.timestamp_ms)
            for one in batch_records.of_batch(practice.batch_bytes(row, made.apart_ms))
        ]

    return Source(
        name,
        title,
        note,
        made.log,
        0,
        int(rows["last_offset"][-1]),
        int(rows["max_timestamp_ms"][0]),
        int(rows["max_timestamp_ms"][-1]),
        made.offset,
        made.timestamp_ms,
        lambda base_offset: rows,
        records,
        lambda base_offset: rows,
        is_made=True,
    )


@st.cache_resource(show_spinner=False)
def _practice(name: str) -> Practice:
    return PRACTICE[name]()


def of_keys(keys: Sequence[int]) -> Source:
    """An index of these keys, without a log."""
    title = counted("lookup.keys_title", len(keys), n=group(len(keys)))
    low, high = (min(keys), max(keys)) if keys else (0, 0)
    return Source(
        f"keys {' '.join(map(str, keys))}",
        title,
        say("lookup.keys_note"),
        practice.typed(keys),
        min(0, low),
        high + 1,
        None,
        None,
        keys[len(keys) * 3 // 5] + 1 if keys else 0,
        0,
        lambda base_offset: np.empty(0, practice.ROW),
        lambda base_offset, position: (),
        lambda base_offset: None,
        is_made=True,
        is_alone=True,
    )


def parsed_keys(text: str) -> list[int]:
    """The whole numbers of a line; ValueError in words for what is none, is too large for an index,
    or too much.
    """
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    for part in parts:
        if not re.fullmatch(r"-?\d{1,10}", part) or abs(int(part)) >= 1 << 31:
            raise ValueError(say("lookup.no_key", said=part[:20]))
    if len(parts) > MOST_KEYS:
        raise ValueError(say("lookup.many_keys", n=group(len(parts)), most=group(MOST_KEYS)))
    return [int(part) for part in parts]
