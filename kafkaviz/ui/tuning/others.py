"""What other writers make of the same batches, and what remote reads carry."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import sweep, tuning
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import At
from kafkaviz.figures.tuning_terms import change, micros
from kafkaviz.ui import parts
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.ui.tuning.options import KIB
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.words import say

KEPT = 24
WRITERS = {
    "batch": None,
    "follower": 16 * KIB,
    "cleaner": sweep.CLEANER_APPEND_BYTES,
    "catching_up": sweep.FOLLOWER_APPEND_BYTES,
}
WRITER_COLUMNS = ("writer", "entries", "headers_mean", "headers_p99", "warm_p99_us")
REMOTE_COLUMNS = ("what", "today", "considered")
_COLUMNS = np.dtype(
    [("size_bytes", "i8"), ("base_offset", "i8"), ("last_offset", "i8"), ("max_timestamp_ms", "i8")]
)


def by_append(shown: Shown) -> None:
    """One entry an append, as followers and the cleaner wrote until KAFKA-806."""
    parts.heading(
        say("tuning.writers"),
        say("tuning.writers_at", interval=units.size(shown.today.interval_bytes)),
    )
    st.space(8)
    found = writers(shown.key, shown.today.interval_bytes, shown.case.measured.sizes)
    rows = [
        (
            say(f"tuning.writer_{one.name}"),
            units.group(one.entries),
            f"{one.headers_mean:.1f}",
            units.group(one.headers_p99),
            f"≈ {micros(shown.costs.warm_us(one.headers_p99).typical)}",
        )
        for one in found
    ]
    heads = (
        say("tuning.head_writer"),
        say("tuning.head_entries"),
        say("tuning.head_headers_mean"),
        "p99",
        say("tuning.head_warm_p99"),
    )
    table(heads, rows, "wrrrr", 1 if shown.case.today.is_coarse else 0)
    words = say("tuning.writers_coarse" if shown.case.today.is_coarse else "tuning.writers_below")
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{words}</p>')
    download(
        say("tuning.csv"),
        lambda: csv_of(WRITER_COLUMNS, writer_values(found, shown.costs)),
        "writers.csv",
        "kv_writers_csv",
    )


def writer_values(found: Sequence["Writer"], costs: Costs) -> list[tuple]:
    """WRITER_COLUMNS of each."""
    return [
        (
            one.name,
            one.entries,
            round(one.headers_mean, 3),
            one.headers_p99,
            round(costs.warm_us(one.headers_p99).typical, 3),
        )
        for one in found
    ]


@dataclass(frozen=True)
class Writer:
    """Who wrote an index, of WRITERS, and what a lookup in it reads: entries, mean and p99 of
    headers, the mean of skipped bytes.
    """

    name: str
    append_bytes: int | None
    entries: int
    headers_mean: float
    headers_p99: int
    skipped_bytes_mean: float


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def writers(key: str, interval_bytes: int, _sizes: Sequence[np.ndarray]) -> tuple[Writer, ...]:
    """The same batches, indexed append by append: counted, at one interval.

    _sizes: sweep.SIZES of each segment.
    """
    segments = [_batches(one) for one in _sizes]
    found = []
    for name, append_bytes in WRITERS.items():
        row = sweep.sweep(segments, (interval_bytes,), append_bytes=append_bytes)[0]
        mean, skipped = float(row["headers_mean"]), float(row["skipped_bytes_mean"])
        found.append(
            Writer(name, append_bytes, int(row["entries"]), mean, int(row["headers_p99"]), skipped)
        )
    return tuple(found)


def _batches(sizes: np.ndarray) -> np.ndarray:
    """Batches of these sizes; offsets only tell whether one holds one record."""
    rows: np.ndarray = np.zeros(len(sizes), _COLUMNS)
    rows["size_bytes"] = sizes["size_bytes"]
    rows["base_offset"] = 2 * np.arange(len(sizes))
    rows["last_offset"] = rows["base_offset"] + ~sizes["is_single"]
    rows["max_timestamp_ms"] = -1
    return rows


def remote(shown: Shown) -> None:
    """A remote read carries what it skips."""
    parts.heading(
        say("tuning.tiered"), "" if shown.case.today.is_tiered else say("tuning.tiered_if")
    )
    st.space(8)
    now, other = shown.today, shown.considered
    today = shown.case.today
    found = tuning.tiered(now, other, shown.case.measured, today)
    names = [units.size(one.interval_bytes) for one in (now, other)]
    rows = [
        (
            say("tuning.remote_skips"),
            *(units.size(float(one.row["skipped_bytes_mean"])) for one in (now, other)),
            change(float(now.row["skipped_bytes_mean"]), float(other.row["skipped_bytes_mean"])),
        ),
        (
            say("tuning.remote_share"),
            *(f"{100 * found[f'carried_share_{one}']:.2f} %" for one in ("now", "other")),
            "",
        ),
        (
            say("tuning.remote_cached"),
            *(many(found[f"cached_segments_{one}"]) for one in ("now", "other")),
            change(found["cached_segments_now"], found["cached_segments_other"]),
        ),
    ]
    heads = ("", *names, say("common.change"))
    table(heads, rows, "wrrr")
    words = say(
        "tuning.remote_below", interval=units.size(int(tuning.TIERED_SHARE * today.fetch_bytes))
    )
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{words}</p>')
    download(
        say("tuning.csv"),
        lambda: csv_of(REMOTE_COLUMNS, remote_values(now, other, found)),
        "tiered.csv",
        "kv_tiered_csv",
    )


def remote_values(now: At, other: At, found: Mapping[str, float]) -> list[tuple]:
    """REMOTE_COLUMNS of each line; inf segments where there is no end."""
    skipped = (round(float(one.row["skipped_bytes_mean"]), 3) for one in (now, other))
    return [
        ("skipped_bytes_mean", *skipped),
        (
            "carried_share",
            *(round(float(found[f"carried_share_{one}"]), 6) for one in ("now", "other")),
        ),
        (
            "cached_segments",
            *(round(float(found[f"cached_segments_{one}"]), 3) for one in ("now", "other")),
        ),
    ]


def many(count: float) -> str:
    """How many, and that all fit where there is no end."""
    return say("tuning.all") if math.isinf(count) else units.group(round(count))
