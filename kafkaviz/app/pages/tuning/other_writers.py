"""What other writers make of the same batches, and what remote reads carry."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import sweep, tuning
from kafkaviz.analysis.cost_model import LookupPrices
from kafkaviz.analysis.tuning import IntervalPrice
from kafkaviz.app.pages.tuning.options import KIB
from kafkaviz.app.pages.tuning.tuning_context import TuningContext
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures.tuning_terms import change_text, micros
from kafkaviz.words import say

CACHE_ENTRIES = 24
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


def render_writers(context: TuningContext) -> None:
    """One entry an append, as followers and the cleaner wrote until KAFKA-806."""
    elements.heading(
        say("tuning.writers"),
        say("tuning.writers_at", interval=units.size(context.today.interval_bytes)),
    )
    st.space(8)
    index_writers = compare_writers(
        context.key, context.today.interval_bytes, context.case.measurement.sizes
    )
    rows = [
        (
            say(f"tuning.writer_{writer.name}"),
            units.group(writer.entries),
            f"{writer.headers_mean:.1f}",
            units.group(writer.headers_p99),
            f"≈ {micros(context.costs.warm_us(writer.headers_p99).typical)}",
        )
        for writer in index_writers
    ]
    heads = (
        say("tuning.head_writer"),
        say("tuning.head_entries"),
        say("tuning.head_headers_mean"),
        "p99",
        say("tuning.head_warm_p99"),
    )
    table(heads, rows, "wrrrr", 1 if context.case.today.is_coarse else 0)
    text = say("tuning.writers_coarse" if context.case.today.is_coarse else "tuning.writers_below")
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{text}</p>')
    download(
        say("tuning.csv"),
        lambda: to_csv(WRITER_COLUMNS, writer_values(index_writers, context.costs)),
        "writers.csv",
        "kv_writers_csv",
    )


def writer_values(index_writers: Sequence["IndexWriter"], costs: LookupPrices) -> list[tuple]:
    """WRITER_COLUMNS of each."""
    return [
        (
            writer.name,
            writer.entries,
            round(writer.headers_mean, 3),
            writer.headers_p99,
            round(costs.warm_us(writer.headers_p99).typical, 3),
        )
        for writer in index_writers
    ]


@dataclass(frozen=True)
class IndexWriter:
    """Who wrote an index, of WRITERS, and what a lookup in it reads: entries, mean and p99 of
    headers, the mean of skipped bytes.
    """

    name: str
    append_bytes: int | None
    entries: int
    headers_mean: float
    headers_p99: int
    skipped_bytes_mean: float


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def compare_writers(
    key: str, interval_bytes: int, _sizes: Sequence[np.ndarray]
) -> tuple[IndexWriter, ...]:
    """The same batches, indexed append by append: counted, at one interval.

    _sizes: sweep.SIZES of each segment.
    """
    segments = [_batches(segment_sizes) for segment_sizes in _sizes]
    results = []
    for name, append_bytes in WRITERS.items():
        row = sweep.sweep(segments, (interval_bytes,), append_bytes=append_bytes)[0]
        mean, skipped = float(row["headers_mean"]), float(row["skipped_bytes_mean"])
        results.append(
            IndexWriter(
                name, append_bytes, int(row["entries"]), mean, int(row["headers_p99"]), skipped
            )
        )
    return tuple(results)


def _batches(sizes: np.ndarray) -> np.ndarray:
    """Batches of these sizes; offsets only tell whether one holds one record."""
    rows: np.ndarray = np.zeros(len(sizes), _COLUMNS)
    rows["size_bytes"] = sizes["size_bytes"]
    rows["base_offset"] = 2 * np.arange(len(sizes))
    rows["last_offset"] = rows["base_offset"] + ~sizes["is_single"]
    rows["max_timestamp_ms"] = -1
    return rows


def render_remote_reads(context: TuningContext) -> None:
    """A remote read carries what it skips."""
    elements.heading(
        say("tuning.tiered"), "" if context.case.today.is_tiered else say("tuning.tiered_if")
    )
    st.space(8)
    current, alternative = context.today, context.alternative
    today = context.case.today
    remote_costs = tuning.tiered_cost(current, alternative, today)
    names = [units.size(interval.interval_bytes) for interval in (current, alternative)]
    rows = [
        (
            say("tuning.remote_skips"),
            *(
                units.size(float(interval.row["skipped_bytes_mean"]))
                for interval in (current, alternative)
            ),
            change_text(
                float(current.row["skipped_bytes_mean"]),
                float(alternative.row["skipped_bytes_mean"]),
            ),
        ),
        (
            say("tuning.remote_share"),
            *(f"{100 * remote_costs[f'carried_share_{side}']:.2f} %" for side in ("now", "other")),
            "",
        ),
        (
            say("tuning.remote_cached"),
            *(count_text(remote_costs[f"cached_segments_{side}"]) for side in ("now", "other")),
            change_text(remote_costs["cached_segments_now"], remote_costs["cached_segments_other"]),
        ),
    ]
    heads = ("", *names, say("common.change"))
    table(heads, rows, "wrrr")
    text = say(
        "tuning.remote_below", interval=units.size(int(tuning.TIERED_SHARE * today.fetch_bytes))
    )
    st.html(f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{text}</p>')
    download(
        say("tuning.csv"),
        lambda: to_csv(REMOTE_COLUMNS, remote_values(current, alternative, remote_costs)),
        "tiered.csv",
        "kv_tiered_csv",
    )


def remote_values(
    current: IntervalPrice, alternative: IntervalPrice, remote_costs: Mapping[str, float]
) -> list[tuple]:
    """REMOTE_COLUMNS of each line; inf segments where there is no end."""
    skipped = (
        round(float(interval.row["skipped_bytes_mean"]), 3) for interval in (current, alternative)
    )
    return [
        ("skipped_bytes_mean", *skipped),
        (
            "carried_share",
            *(round(float(remote_costs[f"carried_share_{side}"]), 6) for side in ("now", "other")),
        ),
        (
            "cached_segments",
            *(
                round(float(remote_costs[f"cached_segments_{side}"]), 3)
                for side in ("now", "other")
            ),
        ),
    ]


def count_text(count: float) -> str:
    """How many, and that all fit where there is no end."""
    return say("tuning.all") if math.isinf(count) else units.group(round(count))
