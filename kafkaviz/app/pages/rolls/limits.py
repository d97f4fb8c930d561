"""Which limit ends a segment first, at any speed."""

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import limits as closed_forms
from kafkaviz.analysis.limits import WriteLoad, safe_index_bytes
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import limit_curves, roll_text
from kafkaviz.simulate.config import LogConfig
from kafkaviz.words import say


def render_limits(history: RollHistory, load: WriteLoad, key: str) -> None:
    """Time until a roll by each limit alone, over the speed."""
    figure_key = "limits", key
    view = charts.view(
        figure_key, lambda: limit_curves.view(history.config, load, history.bytes_per_s)
    )
    charts.render_titled(figure_key, limit_curves.figure, view, "kv_limits")
    with st.expander(say("common.limits_table")):
        st.html(
            '<p class="kv-sm">'
            f"{elements.escape(_safe_size_text(history.config, load, history.bytes_per_s))}"
            "</p>"
        )
        heads = (
            say("rolls.at"),
            say("rolls.first"),
            *(roll_text.cause_name(cause).capitalize() for cause in view.seconds),
        )
        rows = limit_curves.rows(view)
        table(heads, rows, "ll" + "r" * len(view.seconds))
        columns = ("written_per_s", "first_limit", *(cause.value for cause in view.seconds))
        download(say("rolls.csv"), lambda: to_csv(columns, rows), "limits.csv", "kv_limits_csv")


def _safe_size_text(config: LogConfig, load: WriteLoad, bytes_per_s: float) -> str:
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
