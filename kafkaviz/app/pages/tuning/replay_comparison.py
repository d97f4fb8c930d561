"""The log once more: every batch appended anew under other settings, and what its files then
take.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import tuning, what_if
from kafkaviz.analysis.cost_model import JVM_MAPS, MAX_MAP_COUNT
from kafkaviz.analysis.tuning.source import ChunkFactory, TuningSource
from kafkaviz.analysis.what_if import WhatIf
from kafkaviz.app.pages.tuning.interval_comparison import render_before_after, render_commands
from kafkaviz.app.pages.tuning.settings import considered_config, own_value, render_setting
from kafkaviz.app.pages.tuning.tuning_context import TuningContext
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import download, to_csv
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import before_after, error_text
from kafkaviz.figures.join_text import join_sentences
from kafkaviz.simulate.config import LogConfig
from kafkaviz.words import say, say_count

AT_ONCE_BYTES = 256 << 20  # of .log that is written once more without being asked for
CACHE_ENTRIES = 24


def render_replay(context: TuningContext) -> None:
    """Every batch appended anew under other settings: segments, rolls by cause, bytes, maps."""
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
    """Both runs side by side, and what to set for the other one; or Kafka's exception."""
    try:
        with st.spinner(say("tuning.appending")):
            pair = _replay(context.key, context.config, other_config, context.source)
    except KafkavizError as fault:
        with elements.state(
            "refused", "error", say("tuning.cannot_write"), error_text.describe_sentence(fault)
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
        render_commands(context, changes, say("tuning.to_set_those"), "others")


def _render_side_by_side(rows: Sequence[before_after.ComparisonRow]) -> None:
    heads = [say(f"tuning.head_{head}") for head in ("written", "as_set", "as_considered")]
    render_before_after((*heads, say("common.change"), say("tuning.how_known")), rows)
    download(
        say("tuning.csv"),
        lambda: to_csv(before_after.COLUMNS, before_after.file_cells(rows)),
        "replayed.csv",
        "kv_replayed_csv",
    )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _replay(
    key: str, config: LogConfig, other_config: LogConfig, _source: TuningSource
) -> tuple[WhatIf, WhatIf]:
    """The log with its settings and with others.

    Raises KafkavizError with Kafka's exception where it takes one with an exception.
    """
    case = _source.total
    other_settings = {name: getattr(other_config, name) for name in LogConfig.__dataclass_fields__}
    return what_if.compare(
        cast(Sequence[tuple[ChunkFactory, int]], case.logs),
        config,
        other_settings,
        _source.behaviour,
        is_leader=case.is_leader,
    )


def _is_replay_requested(context: TuningContext) -> bool:
    """A large log waits for its button."""
    text = say("tuning.write_once_more", size=units.size(context.case.measurement.log_bytes))
    return st.button(text, icon=":material/replay:", key="kv_replay")


def _render_footprint(context: TuningContext) -> None:
    """Files, maps and memory of the log's segments with the indexes of the considered interval."""
    today = replace(context.case.today, config=considered_config(context))
    footprint = tuning.footprint_at(context.case.measurement, today, context.alternative_bytes)
    texts = {name: units.group(footprint[name]) for name in ("files", "maps", "maps_left")}
    texts |= {name: units.size(footprint[f"{name}_bytes"]) for name in ("preallocated", "resident")}
    segments_text = say_count(
        "common.n_segments", footprint["segments"], n=units.group(footprint["segments"])
    )
    text = say(
        "tuning.footprint",
        segments=segments_text,
        most=units.group(MAX_MAP_COUNT),
        own=units.group(JVM_MAPS),
        **texts,
    )
    if footprint["stale_maps"]:
        text = join_sentences(
            [text, say("tuning.footprint_stale", stale=units.group(footprint["stale_maps"]))]
        )
    st.html(
        '<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">'
        f"{elements.escape(text)}</p>"
    )
