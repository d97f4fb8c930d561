"""Which limit ends a segment, by interval and index size; and which assumption would move the
answer.
"""

import streamlit as st

from kafkaviz import units
from kafkaviz.app.pages.tuning.answers import assumptions
from kafkaviz.app.pages.tuning.settings import considered_config
from kafkaviz.app.pages.tuning.tuning_context import TuningContext
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.figures import limit_map, tornado
from kafkaviz.words import say


def render_limits(context: TuningContext) -> None:
    """The interval and the index size together: which limit ends a segment."""
    index_bytes = considered_config(context).segment_index_bytes
    figure_key = ("limits", context.key, context.config, context.alternative_bytes, index_bytes)
    view = charts.view(
        figure_key,
        lambda: limit_map.view(
            context.case.measurement, context.config, context.alternative_bytes, index_bytes
        ),
    )
    _render_figure(figure_key, limit_map.figure, view, limit_map.caption(), "limit_map")
    st.space(12)
    with st.expander(say("common.limits_table")):
        size_text = limit_map.index_size_text(context.case.measurement, context.config)
        st.html(f'<p class="kv-sm">{elements.escape(size_text)}</p>')
        rows = limit_map.rows(view)
        heads = [say(f"tuning.head_{name}") for name in ("interval", "safe", "first_today")]
        table(heads, [(units.group(a), units.group(b), c) for a, b, c in rows], "rrl")
        download(
            say("tuning.csv"),
            lambda: to_csv(limit_map.COLUMNS, rows),
            "limits.csv",
            "kv_limits_csv",
        )


def render_assumptions(context: TuningContext) -> None:
    """What moves the modelled time, and whether the answer would be another."""
    figure_key = ("tornado", context.key, context.budgets, context.costs, context.is_tiered)
    recommendation, effects = assumptions(
        context.key, context.budgets, context.costs, context.is_tiered, context.case
    )
    answer = (str(recommendation.verdict), recommendation.value)
    view = charts.view(
        figure_key,
        lambda: tornado.view(
            effects, answer, recommendation.current_price.p99_us.typical, context.budgets.p99_us
        ),
    )
    _render_figure(figure_key, tornado.figure, view, tornado.caption(), "tornado")
    st.space(12)
    with st.expander(say("tuning.as_table")):
        heads, rows = tornado.column_titles(), tornado.rows(view)
        table(heads, rows, "lrrrrll")
        download(
            say("tuning.csv"),
            lambda: to_csv(tornado.COLUMNS, rows),
            "assumptions.csv",
            "kv_tornado_csv",
        )


def _render_figure(figure_key: tuple, draw: charts.Draw, view, below: str, key: str) -> None:
    """A view and its figure. figure_key: what they depend on."""
    with st.container(key=f"kv_fig_{key}"):
        elements.figure_head(view.title, below)
        charts.plot(
            charts.figure(figure_key, draw, view),
            f"kv_{key}",
            say("common.titled", title=view.title, below=below),
        )
