"""Which limit ends a segment first, at any speed."""

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import limits as closed_forms
from kafkaviz.analyse.lanes import Lanes
from kafkaviz.analyse.limits import Load, safe_index_bytes
from kafkaviz.figures import limit_curves, roll_words
from kafkaviz.simulate.config import LogConfig
from kafkaviz.ui import charts, parts
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import say


def limits(shown: Lanes, load: Load, key: str) -> None:
    """Time until a roll by each limit alone, over the speed."""
    of = "limits", key
    view = charts.view(of, lambda: limit_curves.view(shown.config, load, shown.bytes_per_s))
    charts.titled(of, limit_curves.figure, view, "kv_limits")
    with st.expander(say("common.limits_table")):
        st.html(
            f'<p class="kv-sm">{parts.escape(_safe_words(shown.config, load, shown.bytes_per_s))}'
            "</p>"
        )
        heads = (
            say("rolls.at"),
            say("rolls.first"),
            *(roll_words.name(cause).capitalize() for cause in view.seconds),
        )
        rows = limit_curves.rows(view)
        table(heads, rows, "ll" + "r" * len(view.seconds))
        columns = ("written_per_s", "first_limit", *(cause.value for cause in view.seconds))
        download(say("rolls.csv"), lambda: csv_of(columns, rows), "limits.csv", "kv_limits_csv")


def _safe_words(config: LogConfig, load: Load, bytes_per_s: float) -> str:
    """How large segment.index.bytes must be for no index to fill first."""
    gap = closed_forms.gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = float(closed_forms.time_share(gap, bytes_per_s)) if bytes_per_s > 0 else 1.0
    safe = safe_index_bytes(config.segment_bytes, gap, share)
    return say(
        "rolls.safe" if config.segment_index_bytes >= safe else "rolls.unsafe",
        batch=units.size(round(load.batch_bytes)),
        gap=units.group(round(gap)),
        share=units.share(share, 1),
        safe=units.group(safe),
        now=units.group(config.segment_index_bytes),
    )
