"""Logs made for lessons, and an index of keys that somebody typed, to look things up in."""

import re
from collections.abc import Sequence

import numpy as np
import streamlit as st

from kafkaviz.app.pages.lookup.source import LookupSource
from kafkaviz.figures.stepper.context import LookupRecord
from kafkaviz.format import batch_records
from kafkaviz.simulate.lessons import practice
from kafkaviz.simulate.lessons.practice import PracticeLog
from kafkaviz.units import group
from kafkaviz.words import say, say_count

OWN_SET, KEYS_SET = "real", "keys"
PRACTICE = {"five": practice.five, "twenty": practice.twenty, "full": practice.full}
SETS = (*PRACTICE, KEYS_SET)
MOST_KEYS = 4096


def practice_source(name: str) -> LookupSource:
    """A log made for lessons, by its name in PRACTICE."""
    practice_log, title, note = (
        _practice(name),
        say(f"lookup.{name}_title"),
        say(f"lookup.{name}_note"),
    )
    rows = practice_log.batches

    def records(base_offset: int, position: int) -> list[LookupRecord]:
        row = rows[np.searchsorted(rows["position"], position)]
        return [
            LookupRecord(record.offset, record.timestamp_ms)
            for record in batch_records.read_batch(practice.batch_bytes(row, practice_log.apart_ms))
        ]

    return LookupSource(
        name,
        title,
        note,
        practice_log.log,
        0,
        int(rows["last_offset"][-1]),
        int(rows["max_timestamp_ms"][0]),
        int(rows["max_timestamp_ms"][-1]),
        practice_log.offset,
        practice_log.timestamp_ms,
        lambda base_offset: rows,
        records,
        lambda base_offset: rows,
        is_synthetic=True,
    )


@st.cache_resource(show_spinner=False)
def _practice(name: str) -> PracticeLog:
    return PRACTICE[name]()


def keys_source(keys: Sequence[int]) -> LookupSource:
    """An index of these keys, without a log."""
    title = say_count("lookup.keys_title", len(keys), n=group(len(keys)))
    low, high = (min(keys), max(keys)) if keys else (0, 0)
    return LookupSource(
        f"keys {' '.join(map(str, keys))}",
        title,
        say("lookup.keys_note"),
        practice.log_of_keys(keys),
        min(0, low),
        high + 1,
        None,
        None,
        keys[len(keys) * 3 // 5] + 1 if keys else 0,
        0,
        lambda base_offset: np.empty(0, practice.ROW),
        lambda base_offset, position: (),
        lambda base_offset: None,
        is_synthetic=True,
        is_index_only=True,
    )


def parse_keys(text: str) -> list[int]:
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
