"""Which limit ends a segment, by interval and index size; and which assumption would move the
answer.
"""

import streamlit as st

from kafkaviz import units
from kafkaviz.figures import limit_map, tornado
from kafkaviz.ui import charts, parts
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.ui.tuning.answers import assumptions
from kafkaviz.ui.tuning.settings import considered_config
from kafkaviz.ui.tuning.shown import Shown
from kafkaviz.words import say


def limits(shown: Shown) -> None:
    """The interval and the index size together: which limit ends a segment."""
    room = considered_config(shown).segment_index_bytes
    of = ("limits", shown.key, shown.config, shown.chosen, room)
    view = charts.view(
        of, lambda: limit_map.view(shown.case.measured, shown.config, shown.chosen, room)
    )
    _framed(of, limit_map.figure, view, limit_map.below(), "limit_map")
    st.space(12)
    with st.expander(say("common.limits_table")):
        st.html(
            '<p class="kv-sm">'
            f"{parts.escape(limit_map.words(view, shown.case.measured, shown.config))}</p>"
        )
        rows = limit_map.rows(view)
        heads = [say(f"tuning.head_{one}") for one in ("interval", "safe", "first_today")]
        table(heads, [(units.group(a), units.group(b), c) for a, b, c in rows], "rrl")
        download(
            say("tuning.csv"),
            lambda: csv_of(limit_map.COLUMNS, rows),
            "limits.csv",
            "kv_limits_csv",
        )


def doubts(shown: Shown) -> None:
    """What moves the modelled time, and whether the answer would be another."""
    of = ("tornado", shown.key, shown.budgets, shown.costs, shown.is_tiered)
    now, found = assumptions(shown.key, shown.budgets, shown.costs, shown.is_tiered, shown.case)
    answer = (str(now.verdict), now.value)
    view = charts.view(
        of, lambda: tornado.view(found, answer, now.today.p99_us.typical, shown.budgets.p99_us)
    )
    _framed(of, tornado.figure, view, tornado.below(), "tornado")
    st.space(12)
    with st.expander(say("tuning.as_table")):
        heads, rows = tornado.columns(), tornado.rows(view)
        table(heads, rows, "lrrrrll")
        download(
            say("tuning.csv"),
            lambda: csv_of(tornado.COLUMNS, rows),
            "assumptions.csv",
            "kv_tornado_csv",
        )


def _framed(of: tuple, draw: charts.Draw, view, below: str, key: str) -> None:
    """A view and its figure. of: what they depend on."""
    with st.container(key=f"kv_fig_{key}"):
        parts.figure_head(view.title, below)
        charts.plot(
            charts.figure(of, draw, view),
            f"kv_{key}",
            say("common.titled", title=view.title, below=below),
        )
