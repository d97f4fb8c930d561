"""Comparisons with today: another interval, other settings, other index writers, remote reads.

Also the commands that change the settings.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import rebuild, sweep, tuning
from kafkaviz.analysis.cost.cost_model import JVM_MAPS, MAX_MAP_COUNT, LookupCosts
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.tuning import SETTING, IntervalCost, TuningVerdict, tuning_text
from kafkaviz.analysis.tuning.tuning_case import ChunkFactory, TuningSource
from kafkaviz.analysis.tuning.tuning_text import format_us
from kafkaviz.app import page_state
from kafkaviz.app.pages.tuning.curves import considered_config, own_value, render_setting
from kafkaviz.app.pages.tuning.tuning_context import (
    CACHE_ENTRIES,
    TuningContext,
    subject_text,
    tuning_json,
    verdict_view,
)
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.text.sentences import describe_error_sentence, join_sentences
from kafkaviz.figures.tuning import before_after
from kafkaviz.figures.tuning.tuning_verdict import change_text
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.config import LogConfig

AT_ONCE_BYTES = 256 << 20  # a .log up to this size is replayed without a request
WRITERS = {
    "batch": None,
    "follower": 16 << 10,
    "cleaner": sweep.CLEANER_APPEND_BYTES,
    "catching_up": sweep.FOLLOWER_APPEND_BYTES,
}
WRITER_COLUMNS = ("writer", "entries", "headers_mean", "headers_p99", "warm_p99_us")
REMOTE_COLUMNS = ("what", "today", "considered")
_COLUMNS = np.dtype(
    [("size_bytes", "i8"), ("base_offset", "i8"), ("last_offset", "i8"), ("max_timestamp_ms", "i8")]
)


def render_comparison(context: TuningContext) -> None:
    """Draws today's and the considered interval with their costs, and the command that changes it.

    If both are equal, it compares the existing index with one built batch by batch.
    """
    current = context.today
    alternative = context.alternative
    is_same = current is alternative or current.interval_bytes == alternative.interval_bytes
    names = [units.format_bytes(interval.interval_bytes) for interval in (current, alternative)]
    elements.heading(
        say("tuning.today_alone")
        if is_same
        else say("tuning.against", today=names[0], other=names[1])
    )
    if is_same:
        by_interval = {cost.interval_bytes: cost for cost in context.answer.interval_costs}
        alternative = by_interval.get(current.interval_bytes, current)
        names = [say("tuning.as_it_is"), say("tuning.batch_by_batch")]
    st.space(10)
    rows = _rows(context, alternative)
    heads = (
        say("tuning.for", subject=subject_text(context)),
        *names,
        say("common.change"),
        say("tuning.how_known"),
    )
    _render_before_after(heads, rows)
    _render_downloads(context, rows)
    recommendation = context.recommendation
    is_proposed = (
        recommendation.verdict == TuningVerdict.CHANGE
        and alternative.interval_bytes == recommendation.value
    )
    _render_commands(
        context,
        {SETTING: alternative.interval_bytes} if is_proposed and not is_same else {},
        verdict_view(context).command_lead,
        nothing=say(
            "tuning.nothing_to_run" if is_same else "tuning.not_proposed",
            interval=alternative.interval_bytes,
        ),
    )


def _rows(context: TuningContext, alternative: IntervalCost) -> list[before_after.ComparisonRow]:
    current = context.today
    measurement = context.case.measurement
    time_entries = current.time_entries, alternative.time_entries
    ends = tuple(
        tuning.limits_at(measurement, context.config, interval.interval_bytes).binding
        for interval in (current, alternative)
    )
    return before_after.rows(
        current,
        alternative,
        context.costs,
        budgets=context.budgets,
        times=time_entries,
        binding_limits=ends,
    )


def _render_downloads(context: TuningContext, rows: Sequence[before_after.ComparisonRow]) -> None:
    with st.container(horizontal=True, gap=12):
        download(
            say("common.csv"),
            lambda: to_csv(before_after.COLUMNS, before_after.file_cells(rows)),
            "before-after.csv",
            "kv_compared_csv",
        )
        build_json = partial(
            tuning_json,
            context.source,
            context.answer,
            context.budgets,
            context.costs,
            is_tiered=context.is_tiered,
        )
        name = f"tuning-{context.label.replace(' ', '-')}.json"
        st.download_button(
            say("tuning.json"),
            build_json,
            name,
            "application/json",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
            key="kv_tuning_json",
        )


def _render_before_after(heads: Sequence[str], rows: Iterable[before_after.ComparisonRow]) -> None:
    head = join(
        tag("th", label, class_="r" if 0 < place < 4 else None) for place, label in enumerate(heads)
    )
    elements.table(head, map(_before_after_row, rows))


def _before_after_row(row: before_after.ComparisonRow) -> Html:
    return tag(
        "tr",
        tag("td", row.name),
        tag("td", row.before, class_="r"),
        tag("td", tag("b", row.after), class_="r"),
        tag("td", row.change, class_=f"r kv-{row.kind or 'fnt'}"),
        tag("td", row.basis, class_="kv-fnt"),
    )


def _render_commands(
    context: TuningContext,
    settings: dict[str, int],
    text: str,
    name: str = "interval",
    nothing: str = "",
) -> None:
    """Draws the commands that change the settings, or the text in `nothing` if there are none."""
    topic = None if context.kind == "broker" else context.case.today.topic
    with st.container(key=f"kv_tune_cmd_{name}", gap=8):
        if not settings:
            lines = nothing
        else:
            elements.paragraph(text)
            lines = "\n".join(
                tuning_text.alter_line(name, value, topic) for name, value in settings.items()
            )
        st.code(units.escape_controls(lines), language=None, wrap_lines=True)
        notes = [
            say("tuning.at_once", name=setting_name)
            for setting_name in settings
            if setting_name not in tuning_text.NEW_SEGMENTS
        ]
        elements.paragraph(join_sentences([say("tuning.reach"), *notes]), is_faint=True)


def render_replay(context: TuningContext) -> None:
    """Draws what happens if every batch is appended again with other settings."""
    elements.heading(
        say("tuning.once_more"), "" if context.case.logs is None else say("tuning.once_more_how")
    )
    st.space(10)
    if context.case.logs is None:
        _render_footprint(context)
        return
    with st.container(key="kv_set"):
        for column, name in zip(st.columns(3, gap=24), page_state.REPLAY_SETTINGS, strict=True):
            with column:
                render_setting(context, name)
    st.space(12)
    if context.case.measurement.log_bytes <= AT_ONCE_BYTES or _is_replay_requested(context):
        _render_replayed(context, considered_config(context))


def _render_replayed(context: TuningContext, other_config: LogConfig) -> None:
    """Draws both runs, and the commands for the other settings; or Kafka's exception."""
    try:
        with st.spinner(say("tuning.appending")):
            pair = _replay(context.key, context.config, other_config, context.source)
    except KafkavizError as fault:
        with elements.state(
            "refused", "error", say("tuning.cannot_write"), describe_error_sentence(fault)
        ):
            pass
        return
    _render_side_by_side(before_after.replay_rows(*pair))
    _render_footprint(context)
    values = {
        name: getattr(other_config, name.replace(".", "_")) for name in page_state.REPLAY_SETTINGS
    }
    changes = {name: value for name, value in values.items() if value != own_value(context, name)}
    if changes:
        _render_commands(context, changes, say("tuning.to_set_those"), "others")


def _render_side_by_side(rows: Sequence[before_after.ComparisonRow]) -> None:
    heads = [say(f"tuning.head_{head}") for head in ("written", "as_set", "as_considered")]
    _render_before_after((*heads, say("common.change"), say("tuning.how_known")), rows)
    download(
        say("common.csv"),
        lambda: to_csv(before_after.COLUMNS, before_after.file_cells(rows)),
        "replayed.csv",
        "kv_replayed_csv",
    )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _replay(
    key: str, config: LogConfig, other_config: LogConfig, _source: TuningSource
) -> tuple[WhatIf, WhatIf]:
    """Returns the log written with its own settings and with others.

    Raises:
        KafkavizError: Kafka throws an exception with these settings.
    """
    case = _source.total
    other_settings = {name: getattr(other_config, name) for name in LogConfig.__dataclass_fields__}
    return rebuild.compare(
        cast(Sequence[tuple[ChunkFactory, int]], case.logs),
        config,
        other_settings,
        _source.behaviour,
        is_leader=case.is_leader,
    )


def _is_replay_requested(context: TuningContext) -> bool:
    text = say(
        "tuning.write_once_more", size=units.format_bytes(context.case.measurement.log_bytes)
    )
    return st.button(text, icon=":material/replay:", key="kv_replay")


def _render_footprint(context: TuningContext) -> None:
    today = replace(context.case.today, config=considered_config(context))
    footprint = tuning.footprint_at(context.case.measurement, today, context.alternative_bytes)
    texts = {name: units.format_count(footprint[name]) for name in ("files", "maps", "maps_left")}
    texts |= {
        name: units.format_bytes(footprint[f"{name}_bytes"])
        for name in ("preallocated", "resident")
    }
    segments_text = say_count("common.n_segments", footprint["segments"])
    text = say(
        "tuning.footprint",
        segments=segments_text,
        most=units.format_count(MAX_MAP_COUNT),
        own=units.format_count(JVM_MAPS),
        **texts,
    )
    if footprint["stale_maps"]:
        text = join_sentences(
            [text, say("tuning.footprint_stale", stale=units.format_count(footprint["stale_maps"]))]
        )
    elements.paragraph(text, above_px=10)


def render_writers(context: TuningContext) -> None:
    """Draws how the writer of an index affects its lookups.

    Up to Kafka 3.9.0 and in 4.0.0, followers and the cleaner wrote at most one entry per append
    (KAFKA-806).
    """
    elements.heading(
        say("tuning.writers"),
        say("tuning.writers_at", interval=units.format_bytes(context.today.interval_bytes)),
    )
    st.space(8)
    index_writers = compare_writers(
        context.key, context.today.interval_bytes, context.case.measurement.sizes
    )
    rows = [
        (
            say(f"tuning.writer_{name}"),
            units.format_count(int(row["entries"])),
            f"{row['headers_mean']:.1f}",
            units.format_count(int(row["headers_p99"])),
            f"≈ {format_us(context.costs.warm_us(int(row['headers_p99'])).typical)}",
        )
        for name, row in index_writers.items()
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
    elements.paragraph(text, above_px=10)
    download(
        say("common.csv"),
        lambda: to_csv(WRITER_COLUMNS, writer_values(index_writers, context.costs)),
        "writers.csv",
        "kv_writers_csv",
    )


def writer_values(index_writers: Mapping[str, np.void], costs: LookupCosts) -> list[tuple]:
    return [
        (
            name,
            int(row["entries"]),
            round(float(row["headers_mean"]), 3),
            int(row["headers_p99"]),
            round(costs.warm_us(int(row["headers_p99"])).typical, 3),
        )
        for name, row in index_writers.items()
    ]


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def compare_writers(
    key: str, interval_bytes: int, _sizes: Sequence[np.ndarray]
) -> dict[str, np.void]:
    """Returns what each of WRITERS would write for the same batches, as a row of sweep.SWEEP.

    Args:
        _sizes: sweep.SIZES of each segment.
    """
    segments = [_batches(segment_sizes) for segment_sizes in _sizes]
    return {
        name: sweep.sweep(segments, (interval_bytes,), append_bytes=append_bytes)[0]
        for name, append_bytes in WRITERS.items()
    }


def _batches(sizes: np.ndarray) -> np.ndarray:
    """Returns batches of these sizes. Their offsets only tell whether a batch has one record."""
    rows: np.ndarray = np.zeros(len(sizes), _COLUMNS)
    rows["size_bytes"] = sizes["size_bytes"]
    rows["base_offset"] = 2 * np.arange(len(sizes))
    rows["last_offset"] = rows["base_offset"] + ~sizes["is_single"]
    rows["max_timestamp_ms"] = -1
    return rows


def render_remote_reads(context: TuningContext) -> None:
    """Draws what remote storage costs at both intervals.

    This is how many bytes a remote read transfers and skips, and how many segments' indexes the
    cache holds.
    """
    elements.heading(
        say("tuning.tiered"), "" if context.case.today.is_tiered else say("tuning.tiered_if")
    )
    st.space(8)
    current = context.today
    alternative = context.alternative
    today = context.case.today
    remote_costs = tuning.tiered_cost(current, alternative, today)
    names = [units.format_bytes(interval.interval_bytes) for interval in (current, alternative)]
    skipped_bytes = [float(cost.row["skipped_bytes_mean"]) for cost in (current, alternative)]
    shares = [remote_costs[f"carried_share_{side}"] for side in ("now", "other")]
    segments = [remote_costs[f"cached_segments_{side}"] for side in ("now", "other")]
    rows = [
        (
            say("tuning.remote_skips"),
            *map(units.format_bytes, skipped_bytes),
            change_text(*skipped_bytes),
        ),
        (say("tuning.remote_share"), *(f"{100 * share:.2f} %" for share in shares), ""),
        (say("tuning.remote_cached"), *map(_count_text, segments), change_text(*segments)),
    ]
    heads = ("", *names, say("common.change"))
    table(heads, rows, "wrrr")
    text = say(
        "tuning.remote_below",
        interval=units.format_bytes(int(tuning.TIERED_SHARE * today.fetch_bytes)),
    )
    elements.paragraph(text, above_px=10)
    download(
        say("common.csv"),
        lambda: to_csv(REMOTE_COLUMNS, remote_values(current, alternative, remote_costs)),
        "tiered.csv",
        "kv_tiered_csv",
    )


def remote_values(
    current: IntervalCost, alternative: IntervalCost, remote_costs: Mapping[str, float]
) -> list[tuple]:
    """Returns the REMOTE_COLUMNS of each row. The number of cached segments is inf if all fit."""
    skipped = [float(cost.row["skipped_bytes_mean"]) for cost in (current, alternative)]
    shares = [float(remote_costs[f"carried_share_{side}"]) for side in ("now", "other")]
    segments = [float(remote_costs[f"cached_segments_{side}"]) for side in ("now", "other")]
    return [
        ("skipped_bytes_mean", *(round(value, 3) for value in skipped)),
        ("carried_share", *(round(share, 6) for share in shares)),
        ("cached_segments", *(round(count, 3) for count in segments)),
    ]


def _count_text(count: float) -> str:
    return say("tuning.all") if math.isinf(count) else units.format_count(round(count))
