"""The log once more: every batch appended anew under other settings, and what its files then
take.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import tuning, what_if
from kafkaviz.analyse.cost_model import JVM_MAPS, MAX_MAP_COUNT
from kafkaviz.analyse.tuning.source import Chunks, Source
from kafkaviz.analyse.what_if import WhatIf
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import before_after, fault_words
from kafkaviz.figures.listed import sentences
from kafkaviz.simulate.config import LogConfig
from kafkaviz.ui import parts, state
from kafkaviz.ui.tables import csv_of, download
from kafkaviz.ui.tuning.compared import before_after_table, commands
from kafkaviz.ui.tuning.settings import considered_config, own_value, setting
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.words import counted, say

AT_ONCE_BYTES = 256 << 20  # of .log that is written once more without being asked for
KEPT = 24


def once_more(shown: Shown) -> None:
    """Every batch appended anew under other settings: segments, rolls by cause, bytes, maps."""
    parts.heading(
        say("tuning.once_more"), "" if shown.case.logs is None else say("tuning.once_more_how")
    )
    st.space(10)
    if shown.case.logs is None:
        _footprint(shown)
        return
    with st.container(key="kv_set"):
        for column, name in zip(st.columns(3, gap=24), state.IF, strict=True):
            with column:
                setting(shown, name)
    st.space(12)
    if shown.case.measured.log_bytes <= AT_ONCE_BYTES or _asked_to_replay(shown):
        _written(shown, considered_config(shown))


def _written(shown: Shown, other: LogConfig) -> None:
    """Both runs side by side, and what to set for the other one; or Kafka's exception."""
    try:
        with st.spinner(say("tuning.appending")):
            pair = _replayed(shown.key, shown.config, other, shown.source)
    except KafkavizError as fault:
        with parts.state("refused", "error", say("tuning.cannot_write"), fault_words.line(fault)):
            pass
        return
    _side_by_side(before_after.replayed_rows(*pair))
    _footprint(shown)
    new = {name: getattr(other, name.replace(".", "_")) for name in state.IF}
    moved = {name: value for name, value in new.items() if value != own_value(shown, name)}
    if moved:
        commands(shown, moved, say("tuning.to_set_those"), "others")


def _side_by_side(rows: Sequence[before_after.Row]) -> None:
    told = [say(f"tuning.head_{one}") for one in ("written", "as_set", "as_considered")]
    before_after_table((*told, say("common.change"), say("tuning.how_known")), rows)
    download(
        say("tuning.csv"),
        lambda: csv_of(before_after.COLUMNS, before_after.cells(rows)),
        "replayed.csv",
        "kv_replayed_csv",
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _replayed(
    key: str, config: LogConfig, other: LogConfig, _source: Source
) -> tuple[WhatIf, WhatIf]:
    """The log with its settings and with others.

    Raises KafkavizError with Kafka's exception where it takes one with an exception.
    """
    case = _source.whole
    changed = {name: getattr(other, name) for name in LogConfig.__dataclass_fields__}
    return what_if.compare(
        cast(Sequence[tuple[Chunks, int]], case.logs), config, changed, _source.of, case.is_leader
    )


def _asked_to_replay(shown: Shown) -> bool:
    """A large log waits for its button."""
    words = say("tuning.write_once_more", size=units.size(shown.case.measured.log_bytes))
    return st.button(words, icon=":material/replay:", key="kv_replay")


def _footprint(shown: Shown) -> None:
    """Files, maps and memory of the log's segments with the indexes of the considered interval."""
    today = replace(shown.case.today, config=considered_config(shown))
    found = tuning.footprint_at(shown.case.measured, today, shown.chosen)
    told = {name: units.group(found[name]) for name in ("files", "maps", "maps_left")}
    told |= {name: units.size(found[f"{name}_bytes"]) for name in ("preallocated", "resident")}
    of = counted("common.n_segments", found["segments"], n=units.group(found["segments"]))
    words = say(
        "tuning.footprint",
        segments=of,
        most=units.group(MAX_MAP_COUNT),
        own=units.group(JVM_MAPS),
        **told,
    )
    if found["stale_maps"]:
        words = sentences(
            [words, say("tuning.footprint_stale", stale=units.group(found["stale_maps"]))]
        )
    st.html(
        f'<p class="kv-sm" style="margin-top:10px;color:var(--kv-ink-2)">{parts.escape(words)}</p>'
    )
