"""The curves of the Tuning page, and the sliders for the considered settings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import tuning
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.tuning import SETTING, Assumption, Budgets, IntervalCost, Recommendation
from kafkaviz.analysis.tuning.index_size import (
    INDEX_SIZES,
    IndexSizeOutcome,
    log_rounds,
    sweep_index_sizes,
)
from kafkaviz.analysis.tuning.tuning_case import TuningCase, TuningSource
from kafkaviz.analysis.tuning.tuning_text import format_us
from kafkaviz.app import page_state
from kafkaviz.app.pages.tuning.tuning_context import CACHE_ENTRIES, TuningContext
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.app.workloads import format_setting
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS
from kafkaviz.figures.text import roll_text
from kafkaviz.figures.tuning import (
    cost_curve,
    index_size_curve,
    index_size_map,
    limit_map,
    tornado,
    tuning_curve,
)
from kafkaviz.figures.tuning.tuning_verdict import range_text
from kafkaviz.html import tag, worded
from kafkaviz.messages import say
from kafkaviz.simulate.config import LogConfig

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
INDEX_SIZE = "segment.index.bytes"
SETTINGS = {  # the values that each slider offers
    "segment.bytes": (MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 2**31 - 1),
    "segment.ms": (MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS),
    INDEX_SIZE: (
        4 * KIB,
        16 * KIB,
        64 * KIB,
        100 * KIB,
        256 * KIB,
        MIB,
        2 * MIB,
        10 * MIB,
    ),
}

SIZE_HEADS = (
    "tuning.tab_index_size",
    "index_size.head_slots",
    "index_size.head_ends",
    "index_size.head_log",
    "index_size.head_gib",
    "index_size.head_day",
    "tuning.head_entries",
    "lookup.count_headers",
    "index_size.head_probes",
    "lookup.count_pages",
    "index_size.head_reads",
    "index_size.head_cold",
)


def choose_interval(context: TuningContext) -> int:
    """Draws the slider of the intervals and returns the chosen one.

    The default is the interval that the recommendation considers.
    """
    options = [str(interval_cost.interval_bytes) for interval_cost in context.answer.interval_costs]
    default = str(context.recommendation.considered_bytes)
    with st.container(width="stretch", gap=4):
        label_slot = st.empty()
        interval_bytes = int(
            choice.draw_bound(
                st.select_slider,
                SETTING,
                options,
                default,
                page_state.CONSIDERED_INTERVAL,
                label_visibility="collapsed",
            )
        )
        text = tag("b", units.format_count(interval_bytes), style="color:var(--kv-ink)")
        if interval_bytes == context.today.interval_bytes:
            text = worded(context.today_key, value=text)
        label_slot.html(tag("div", SETTING, " \u00a0", text, class_="kv-lab"))
    return interval_bytes


def reset_interval(interval_bytes: int) -> None:
    st.session_state[page_state.CONSIDERED_INTERVAL] = str(interval_bytes)


def considered_config(context: TuningContext) -> LogConfig:
    """Returns the log's settings with the considered interval and the values of the sliders."""
    fields = {
        name.replace(".", "_"): _chosen_value(context, name) for name in page_state.REPLAY_SETTINGS
    }
    return replace(context.config, index_interval_bytes=context.alternative_bytes, **fields)


def _chosen_value(context: TuningContext, name: str) -> int:
    """Returns the value of a slider, or of the address before the slider is drawn."""
    choices = _choices(context, name)
    return choices[
        choice.take_from_address(
            page_state.REPLAY_SETTINGS[name],
            choices.keys(),
            format_setting(name, own_value(context, name)),
        )
    ]


def _choices(context: TuningContext, name: str) -> dict[str, int]:
    return {
        format_setting(name, value): value
        for value in sorted({*SETTINGS[name], own_value(context, name)})
    }


def own_value(context: TuningContext, name: str) -> int:
    return getattr(context.config, name.replace(".", "_"))


def render_setting(context: TuningContext, name: str) -> None:
    """Draws a slider, and below it the log's own value and where it is from."""
    own_text = format_setting(name, own_value(context, name))
    choice.slider(name, _choices(context, name), own_text, page_state.REPLAY_SETTINGS[name])
    text = say(
        "tuning.now_inferred" if name in context.case.today.inferred_settings else "tuning.now_set",
        value=own_text,
    )
    st.html(tag("div", text, class_="kv-fnt", style="font-size:12px"))


def render_cost_curve(context: TuningContext) -> None:
    """Draws headers read against index bytes, a point per interval. A click on one considers it."""
    view = charts.view(("cost", *context.figure_key), lambda: cost_curve.view(_curve_view(context)))
    with st.container(key="kv_fig_cost", gap=0):
        elements.figure_head(view.title, view.caption)
        _render_selectable(
            charts.figure(("cost", *context.figure_key), cost_curve.figure, view),
            "kv_cost_curve",
            say("common.titled", title=view.title, below=view.caption),
        )


def render_curves(context: TuningContext) -> None:
    """Draws headers and bytes over the interval. A click on a point considers it."""
    view = _curve_view(context)
    below = tuning_curve.captions(view)
    with st.container(key="kv_fig_headers", gap=0):
        elements.figure_head(view.titles[0], below[0])
        _render_selectable(
            charts.figure(("headers", *context.figure_key), tuning_curve.headers_figure, view),
            "kv_headers",
            say("tuning.curve_alt", title=view.titles[0]),
        )
    st.space(16)
    with st.container(key="kv_fig_bytes", gap=0):
        elements.figure_head(view.titles[1], below[1])
        _render_selectable(
            charts.figure(("bytes", *context.figure_key), tuning_curve.bytes_figure, view),
            "kv_bytes_curve",
            say("tuning.curve_alt", title=view.titles[1]),
        )
    st.space(16)
    with st.expander(say("tuning.every_interval")):
        _render_intervals(context)


def _curve_view(context: TuningContext) -> tuning_curve.TuningCurveView:
    return charts.view(("curve", *context.figure_key), lambda: _view(context))


def _view(context: TuningContext) -> tuning_curve.TuningCurveView:
    measurement = context.case.measurement
    interval_costs = context.answer.interval_costs
    return tuning_curve.view(
        interval_costs,
        context.today,
        context.alternative_bytes,
        log_bytes=measurement.log_bytes,
        least_batch_bytes=measurement.parts.least_batch_bytes,
        budgets=context.budgets,
        costs=context.costs,
        is_today_known=context.case.today.is_interval_known,
    )


def _render_selectable(figure, key: str, alt: str) -> None:
    st.plotly_chart(
        figure,
        on_select=lambda: _consider_clicked(key),
        selection_mode="points",
        theme=None,
        config={"displayModeBar": False},
        key=key,
        alt=alt,
    )


def _consider_clicked(key: str) -> None:
    event = st.session_state.get(key)
    points = [
        point for point in (event.selection.points if event else []) if point.get("customdata")
    ]
    if points:
        st.session_state[page_state.CONSIDERED_INTERVAL] = str(points[0]["customdata"][0])


def _render_intervals(context: TuningContext) -> None:
    rows = tuning_curve.rows(context.answer.interval_costs)
    heads = (
        say("tuning.head_interval"),
        say("tuning.head_entries"),
        say("before_after.both_indexes"),
        say("tuning.head_headers_mean"),
        "p50",
        "p99",
        "max",
        say("tuning.head_warm_p99"),
    )
    cells = [
        _cells(row, interval_cost)
        for row, interval_cost in zip(rows, context.answer.interval_costs, strict=True)
    ]
    marked_row = next(
        place for place, row in enumerate(rows) if row[0] == context.today.interval_bytes
    )
    with st.container(key="kv_tune_table"):
        table(heads, cells, "rrrrrrrr", marked_row)
    download(
        say("tuning.every_interval_csv"),
        lambda: to_csv(tuning_curve.COLUMNS, rows),
        "sweep.csv",
        "kv_sweep_csv",
    )


def _cells(row: tuple, interval_cost: IntervalCost) -> tuple[str, ...]:
    interval, entries, p50, p99, maximum = map(
        units.format_count, (row[0], row[1], row[5], row[7], row[8])
    )
    return (
        interval,
        entries,
        units.format_bytes(row[2]),
        f"{row[4]:.1f}",
        p50,
        p99,
        maximum,
        range_text(interval_cost.p99_us),
    )


def render_index_size(context: TuningContext) -> None:
    """Draws the effect of another segment.index.bytes. It needs the logs to append them again."""
    if context.case.logs is None:
        with elements.empty("size", say("index_size.no_log"), say("index_size.no_log_below")):
            pass
        return
    with st.spinner(say("tuning.appending")):
        outcomes = _index_sizes(context.key, context.config, context.source)
    if not outcomes.get(context.config.index_interval_bytes):
        with elements.state(
            "refused", "error", say("tuning.cannot_write"), say("index_size.cannot")
        ):
            pass
        return
    for column, render in zip(
        st.columns((1, 1), gap=20), (_render_size_curve, _render_size_map), strict=True
    ):
        with column, st.container(gap=None):
            render(context, outcomes)
    st.space(12)
    _render_size_choice(context, outcomes[context.config.index_interval_bytes])
    st.space(12)
    _render_size_table(context, outcomes[context.config.index_interval_bytes])


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _index_sizes(
    key: str, config: LogConfig, _source: TuningSource
) -> dict[int, tuple[IndexSizeOutcome, ...]]:
    """Returns the outcome of each index size, by interval: today's and the powers of two."""
    case = _source.total
    rounds = log_rounds(case.logs or ())
    today = config.index_interval_bytes
    intervals = {
        interval
        for interval in case.measurement.parts.intervals.tolist()
        if interval >= tuning_curve.MIN_X and interval.bit_count() == 1
    }
    return {
        interval: sweep_index_sizes(
            rounds,
            replace(config, index_interval_bytes=interval),
            {*INDEX_SIZES, *SETTINGS[INDEX_SIZE]},
            per_append=_source.behaviour.per_append,
            by_base_offset=_source.by_base_offset,
        )
        for interval in sorted({today, *intervals})
    }


def _size_costs(context: TuningContext) -> LookupCosts:
    return context.costs.with_one_read_share(context.case.measurement.one_read_share)


def _render_size_curve(
    context: TuningContext, outcomes: Mapping[int, Sequence[IndexSizeOutcome]]
) -> None:
    today = context.config.index_interval_bytes
    considered_bytes = considered_config(context).segment_index_bytes
    figure_key = ("index_size", *context.figure_key, considered_bytes)
    view = charts.view(
        figure_key,
        lambda: index_size_curve.view(
            outcomes[today],
            _size_costs(context),
            today_bytes=context.config.segment_index_bytes,
            considered_bytes=considered_bytes,
        ),
    )
    with st.container(key="kv_fig_index_size"):
        charts.render_titled(figure_key, index_size_curve.figure, view, "kv_index_size")


def _render_size_map(
    context: TuningContext, outcomes: Mapping[int, Sequence[IndexSizeOutcome]]
) -> None:
    today = context.config.index_interval_bytes, context.config.segment_index_bytes
    considered = context.alternative_bytes, considered_config(context).segment_index_bytes
    figure_key = ("index_size_map", *context.figure_key, considered)
    view = charts.view(
        figure_key,
        lambda: index_size_map.view(
            outcomes, _size_costs(context), today=today, considered=considered
        ),
    )
    with st.container(key="kv_fig_index_size_map"):
        charts.render_titled(figure_key, index_size_map.figure, view, "kv_index_size_map")


def _render_size_choice(context: TuningContext, outcomes: Sequence[IndexSizeOutcome]) -> None:
    slider, words = st.columns((1, 1), gap=20)
    with slider, st.container(key="kv_set"):
        render_setting(context, INDEX_SIZE)
    with words:
        warm_us = _size_costs(context).warm_us(_current_outcome(context, outcomes).headers)
        text = say("index_size.warm", us=format_us(warm_us.typical))
        elements.paragraph(text)


def _current_outcome(
    context: TuningContext, outcomes: Sequence[IndexSizeOutcome]
) -> IndexSizeOutcome:
    index_bytes = context.config.segment_index_bytes
    return next(outcome for outcome in outcomes if outcome.index_bytes == index_bytes)


def _render_size_table(context: TuningContext, outcomes: Sequence[IndexSizeOutcome]) -> None:
    with st.expander(say("index_size.table")):
        rows = index_size_curve.rows(outcomes, _size_costs(context))
        heads = [say(name) for name in SIZE_HEADS]
        with st.container(key="kv_size_table"):
            cells = [_size_cells(outcome, row) for outcome, row in zip(outcomes, rows, strict=True)]
            table(heads, cells, "rrlrrrrrrrrr", outcomes.index(_current_outcome(context, outcomes)))
        download(
            say("index_size.csv"),
            lambda: to_csv(index_size_curve.COLUMNS, rows),
            "index-sizes.csv",
            "kv_sizes_csv",
        )


def _size_cells(outcome: IndexSizeOutcome, row: tuple) -> tuple[str, ...]:
    values = dict(zip(index_size_curve.COLUMNS, row, strict=True))
    slots = units.format_count(outcome.offset_slots)
    time_slots = units.format_count(outcome.usable_time_slots)
    return (
        units.format_bytes(outcome.index_bytes),
        f"{slots}, {time_slots}",
        roll_text.cause_name(outcome.cause),
        units.format_bytes(outcome.log_bytes),
        index_size_curve.count_text(outcome.rolls_per_gib),
        index_size_curve.count_text(outcome.rolls_per_day),
        units.format_count(outcome.entries),
        f"{values['headers_mean']:.1f}",
        f"{values['probes_mean']:.1f} ({values['plain_probes_mean']:.1f})",
        f"{values['pages_mean']:.1f}",
        f"{values['cold_reads_mean']:.1f}",
        f"≈ {format_us(values['cold_mean_us'])}",
    )


def render_limits(context: TuningContext) -> None:
    """Draws which limit ends a segment, over the interval and the index size."""
    index_bytes = considered_config(context).segment_index_bytes
    figure_key = ("limits", context.key, context.config, context.alternative_bytes, index_bytes)
    view = charts.view(
        figure_key,
        lambda: limit_map.view(
            context.case.measurement, context.config, context.alternative_bytes, index_bytes
        ),
    )
    with st.container(key="kv_fig_limit_map"):
        charts.render_titled(figure_key, limit_map.figure, view, "kv_limit_map")
    st.space(12)
    with st.expander(say("common.limits_table")):
        size_text = limit_map.index_size_text(context.case.measurement, context.config)
        st.html(tag("p", size_text, class_="kv-sm"))
        rows = limit_map.rows(view)
        heads = [say(f"tuning.head_{name}") for name in ("interval", "safe", "first_today")]
        cells = [
            (units.format_count(interval), units.format_count(index_bytes), limit)
            for interval, index_bytes, limit in rows
        ]
        table(heads, cells, "rrl")
        download(
            say("common.csv"),
            lambda: to_csv(limit_map.COLUMNS, rows),
            "limits.csv",
            "kv_limits_csv",
        )


def render_assumptions(context: TuningContext) -> None:
    """Draws how each assumption moves the modelled time, and whether it changes the result."""
    figure_key = ("tornado", context.key, context.budgets, context.costs, context.is_tiered)
    recommendation, effects = _assumptions(
        context.key, context.budgets, context.costs, is_tiered=context.is_tiered, _case=context.case
    )
    answer = (str(recommendation.verdict), recommendation.value)
    view = charts.view(
        figure_key,
        lambda: tornado.view(
            effects, answer, recommendation.current_cost.p99_us.typical, context.budgets.p99_us
        ),
    )
    with st.container(key="kv_fig_tornado"):
        charts.render_titled(figure_key, tornado.figure, view, "kv_tornado")
    st.space(12)
    with st.expander(say("common.as_table")):
        heads = tornado.column_titles()
        rows = tornado.rows(view)
        table(heads, rows, "lrrrrll")
        download(
            say("common.csv"),
            lambda: to_csv(tornado.COLUMNS, rows),
            "assumptions.csv",
            "kv_tornado_csv",
        )


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _assumptions(
    key: str, budgets: Budgets, costs: LookupCosts, *, is_tiered: bool, _case: TuningCase
) -> tuple[Recommendation, tuple[Assumption, ...]]:
    recommendation = cast(
        Recommendation, tuning.recommend(_case.measurement, _case.today, budgets, costs)
    )
    return recommendation, tuning.tornado(_case.measurement, _case.today, budgets, costs)
