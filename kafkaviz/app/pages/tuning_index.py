"""The tab Index: what other values of index.interval.bytes and segment.index.bytes would cost."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analysis import rebuild
from kafkaviz.analysis.cost.cost_model import JVM_MAPS, MAX_MAP_COUNT, LookupCosts
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.tuning import index_size, tuning_text
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome, LogRound, SafeIndexSize
from kafkaviz.analysis.tuning.interval_cost import IntervalCost
from kafkaviz.analysis.tuning.measurement import SETTING
from kafkaviz.analysis.tuning.recommendation import TuningVerdict
from kafkaviz.analysis.tuning.segment_size import (
    SEGMENT_SETTING,
    advise_segment_sizes,
    footprint_at,
)
from kafkaviz.analysis.tuning.tuning_case import ChunkFactory, TuningSource
from kafkaviz.app import page_state
from kafkaviz.app.pages.tuning_context import (
    CACHE_ENTRIES,
    TuningContext,
    render_answer,
    render_budgets,
    render_p99,
    tuning_json,
)
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.app.workloads import format_setting
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.tuning import (
    index_size_curve,
    index_size_map,
    replay_table,
    tuning_curve,
    tuning_verdict,
)
from kafkaviz.figures.tuning.tuning_verdict import describe_all
from kafkaviz.html import join, tag
from kafkaviz.messages import Message, render, say, say_count
from kafkaviz.render.sentences import describe_error_sentence, join_sentences, to_sentence
from kafkaviz.simulate.config import LogConfig
from kafkaviz.units import DAY_MS, GIB, HOUR_MS, MIB, MINUTE_MS

INDEX_SIZE = "segment.index.bytes"
SETTINGS = {  # the values that each slider offers
    "segment.bytes": (MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 2**31 - 1),
    "segment.ms": (MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS),
    INDEX_SIZE: (*index_size.INDEX_SIZES, index_size_curve.DEFAULT_BYTES),
}
SEGMENT_SETTINGS = ("segment.bytes", "segment.ms")
AT_ONCE_BYTES = 256 * MIB  # a log of up to this size is simulated again without a click


def render_index(context: TuningContext, render_topics: Callable[[TuningContext], None]) -> None:
    """Draws everything about index.interval.bytes and segment.index.bytes.

    From top to bottom: controls, curves, the advice with its reasons, topics, other settings.
    """
    with st.container(key="kv_interval_set", horizontal=True, vertical_alignment="bottom", gap=20):
        with st.container(gap=None):
            context = replace(context, alternative_bytes=_choose_interval(context))
        if context.case.logs is not None:
            with st.container(gap=None):
                _draw_slider(context, INDEX_SIZE)
        render_p99()
        st.button(
            say("tuning.today"),
            icon=":material/replay:",
            key="kv_today",
            on_click=_reset_settings,
            args=(context.today.interval_bytes,),
        )
    if context.case.logs is None:
        _render_interval_curve(context)
        elements.paragraph(say("index_size.no_log_below"), above_px=10)
    else:
        interval, size = st.columns(2, gap=20)
        with interval:
            _render_interval_curve(context)
        with size:
            _render_size_curve(context)
    st.space(24)
    _render_verdict(context)
    st.space(24)
    _render_reasons(context)
    st.space(24)
    render_topics(context)
    _render_other_settings(context)


# ---- the interval


def _choose_interval(context: TuningContext) -> int:
    """Draws the slider of intervals and returns the chosen interval in bytes.

    The default is the interval that the recommendation compares with today's interval.
    """
    today = context.today.interval_bytes
    is_known = context.case.today.is_interval_known
    beside = "tuning.beside_today" if is_known else "tuning.beside_assumed_today"
    texts = {}
    for interval_bytes in (cost.interval_bytes for cost in context.answer.interval_costs):
        number = units.format_count(interval_bytes)
        text = say(beside, value=number, today=units.format_count(today))
        if interval_bytes == today:
            text = say(context.today_key, value=number)
        texts[str(interval_bytes)] = text
    default = str(context.recommendation.considered_bytes)
    word = choice.slider(
        SETTING,
        list(texts),
        default,
        page_state.CONSIDERED_INTERVAL,
        lambda option: texts.get(option, option),  # in AppTest, an option may be its text
    )
    return int(word)


def _reset_settings(interval_bytes: int) -> None:
    st.session_state[page_state.CONSIDERED_INTERVAL] = str(interval_bytes)
    for parameter in page_state.REPLAY_SETTINGS.values():
        st.session_state.pop(parameter, None)
        st.query_params.pop(parameter, None)


def _render_verdict(context: TuningContext) -> None:
    view = tuning_verdict.view(context.recommendation)
    intervals = [context.today]
    heads = [say(context.today_key, value=units.format_count(context.today.interval_bytes))]
    if context.alternative is not context.today:
        intervals.append(context.alternative)
        heads.append(units.format_count(context.alternative.interval_bytes))
    verdict, price = st.columns(2, gap=20)
    with verdict, st.container(gap=16):
        render_answer(view.mark, view.headline, view.reason)
        if context.recommendation.verdict == TuningVerdict.CHANGE:
            _render_command(context, SETTING, context.recommendation.value)
    with price, st.container(key="kv_price"):
        rows = [
            (say(f"tuning.price_{name}"), *map(format_cell, intervals))
            for name, format_cell in PRICE_CELLS.items()
        ]
        table(["", *heads], rows, "w" + "r" * len(heads))


PRICE_CELLS: dict[str, Callable[[IntervalCost], str]] = {
    "headers": lambda cost: f"{cost.row['headers_mean']:.1f}",
    "p99": lambda cost: f"≈ {units.format_us(cost.p99_us.typical)}",
    "indexes": lambda cost: units.format_bytes(int(cost.row["index_bytes"])),
    "share": lambda cost: f"{100 * cost.index_share:.2f} %",
}


def _render_command(context: TuningContext, name: str, value: int) -> None:
    topic = None if context.scope.kind == "broker" else context.case.today.topic
    line = tuning_text.alter_line(name, value, topic)
    with st.container(key=f"kv_tune_cmd_{name.replace('.', '_')}", gap=8):
        elements.paragraph(say("tuning.to_change"))
        st.code(units.escape_controls(line), language=None, wrap_lines=True)
        elements.paragraph(_sentence(tuning_text.describe_reach(name)), is_faint=True)


def _sentence(text: Message) -> str:
    return to_sentence(render(text))


def _render_interval_curve(context: TuningContext) -> None:
    """Draws the curve of the batch headers that a lookup reads at each interval.

    A click chooses an interval.
    """
    view = charts.view(("curve", *context.figure_key), lambda: _interval_view(context))
    weighted = ""
    if len(context.source.cases) > 1:
        weighted = to_sentence(say("tuning_answer.weighted"))
    caption = join_sentences([view.caption, weighted])
    with st.container(key="kv_fig_headers", gap=0):
        elements.figure_head(view.title, caption)
        charts.plot(
            charts.figure(("headers", *context.figure_key), tuning_curve.figure, view),
            "kv_headers",
            say("tuning.curve_alt", title=view.title),
            on_select=_consider_clicked,
            selection_mode="points",
        )


def _interval_view(context: TuningContext) -> tuning_curve.TuningCurveView:
    measurement = context.case.measurement
    return tuning_curve.view(
        context.answer.interval_costs,
        context.today,
        context.alternative_bytes,
        least_batch_bytes=measurement.parts.least_batch_bytes,
        budgets=context.budgets,
        costs=context.costs,
        is_today_known=context.case.today.is_interval_known,
        headline=tuning_verdict.figure_headline(context.recommendation),
    )


def _consider_clicked() -> None:
    event = st.session_state.get("kv_headers")
    points = [
        point for point in (event.selection.points if event else []) if point.get("customdata")
    ]
    if points:
        st.session_state[page_state.CONSIDERED_INTERVAL] = str(points[0]["customdata"][0])


def _render_reasons(context: TuningContext) -> None:
    elements.heading(say("tuning.reasons"), gap=10)
    known = _sentence(tuning_text.describe_known(context.case, context.costs))
    price = _sentence(tuning_text.describe_price(context.today))
    with st.container(key="kv_reasons"):
        rows = [(say("tuning.how_known"), known), (say("tuning.worth"), price)]
        table((say("tuning.head_about"), say("tuning.head_why")), rows, "lw")
    st.space(12)
    with st.container(gap=8):
        with st.expander(say("tuning.every_reason")):
            reasons = describe_all(context.recommendation)
            st.html(join(tag("p", reason, class_="kv-sm kv-reason") for reason in reasons))
        with st.expander(say("tuning.every_interval")):
            _render_intervals(context)
        with st.expander(say("tuning.more")):
            render_budgets(context)


def _render_intervals(context: TuningContext) -> None:
    heads, cells, marked_row = tuning_curve.table(
        context.answer.interval_costs, context.today.interval_bytes
    )
    with st.container(key="kv_tune_table"):
        table(heads, cells, "r" * len(heads), marked_row)
    with st.container(horizontal=True, gap=12):
        download(
            say("tuning.every_interval_csv"),
            lambda: to_csv(tuning_curve.COLUMNS, tuning_curve.rows(context.answer.interval_costs)),
            "sweep.csv",
            "kv_sweep_csv",
        )
        download(
            say("tuning.json"),
            partial(
                tuning_json,
                context.source,
                context.answer,
                context.budgets,
                context.costs,
                is_tiered=context.is_tiered,
            ),
            f"tuning-{context.scope.label.replace(' ', '-')}.json",
            "kv_tuning_json",
            "application/json",
        )


# ---- the index size


def _draw_slider(context: TuningContext, name: str) -> None:
    own_text = format_setting(name, _own_value(context, name))
    choice.slider(name, _choices(context, name), own_text, page_state.REPLAY_SETTINGS[name])


def _considered_config(context: TuningContext) -> LogConfig:
    fields = {
        name.replace(".", "_"): _chosen_value(context, name) for name in page_state.REPLAY_SETTINGS
    }
    return replace(context.config, index_interval_bytes=context.alternative_bytes, **fields)


def _chosen_value(context: TuningContext, name: str) -> int:
    choices = _choices(context, name)
    own_text = format_setting(name, _own_value(context, name))
    parameter = page_state.REPLAY_SETTINGS[name]
    return choices[choice.take_from_address(parameter, choices.keys(), own_text)]


def _choices(context: TuningContext, name: str) -> dict[str, int]:
    values = sorted({*SETTINGS[name], _own_value(context, name)})
    return {format_setting(name, value): value for value in values}


def _own_value(context: TuningContext, name: str) -> int:
    return getattr(context.config, name.replace(".", "_"))


def _render_size_curve(context: TuningContext) -> None:
    with st.spinner(say("tuning.appending")):
        outcomes = _index_sizes(
            context.key, context.config, context.alternative_bytes, context.source
        )
    considered_bytes = _considered_config(context).segment_index_bytes
    today_bytes = context.config.segment_index_bytes
    if not {today_bytes, considered_bytes} <= {outcome.index_bytes for outcome in outcomes}:
        elements.state("refused", "error", say("tuning.cannot_write"), say("index_size.cannot"))
        return
    today_interval = context.today.interval_bytes
    is_what_if = context.alternative_bytes != today_interval
    figure_key = ("index_size", *context.figure_key, considered_bytes)
    view = charts.view(
        figure_key,
        lambda: index_size_curve.view(
            outcomes,
            _size_costs(context),
            today_bytes=today_bytes,
            considered_bytes=considered_bytes,
            safe=_safe_size(context, context.alternative_bytes),
            safe_today=_safe_size(context, today_interval) if is_what_if else None,
            is_today_known=context.case.today.is_interval_known,
        ),
    )
    with st.container(key="kv_fig_index_size", gap=0):
        charts.render_titled(figure_key, index_size_curve.figure, view, "kv_index_size")


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _log_rounds(key: str, _source: TuningSource) -> tuple[LogRound, ...]:
    return index_size.log_rounds(_source)


@st.cache_resource(max_entries=20 * CACHE_ENTRIES, show_spinner=False)
def _index_sizes(
    key: str, config: LogConfig, interval_bytes: int, _source: TuningSource
) -> tuple[IndexSizeOutcome, ...]:
    config = replace(config, index_interval_bytes=interval_bytes)
    return index_size.sweep_index_sizes(_log_rounds(key, _source), config, SETTINGS[INDEX_SIZE])


def _safe_size(context: TuningContext, interval_bytes: int) -> SafeIndexSize:
    rounds = _log_rounds(context.key, context.source)
    config = replace(context.config, index_interval_bytes=interval_bytes)
    outcomes = _index_sizes(context.key, context.config, interval_bytes, context.source)
    return index_size.safe_index_size(rounds, config, outcomes)


def _size_costs(context: TuningContext) -> LookupCosts:
    return context.costs.with_one_read_share(context.case.measurement.one_read_share)


# ---- other settings


def _render_other_settings(context: TuningContext) -> None:
    if context.case.logs is not None:
        _render_size_map(context)
        st.space(24)
    about = "" if context.case.logs is None else say("tuning.appended")
    elements.heading(say("tuning.other_settings"), about, gap=10)
    _render_segment_size(context)
    if context.case.logs is None:
        _render_footprint(context)
        return
    st.space(12)
    with st.container(key="kv_set"):
        for column, name in zip(st.columns(2, gap=24), SEGMENT_SETTINGS, strict=True):
            with column:
                _draw_slider(context, name)
                is_inferred = name in context.case.today.inferred_settings
                key = "tuning.now_inferred" if is_inferred else "tuning.now_set"
                text = say(key, value=format_setting(name, _own_value(context, name)))
                st.html(tag("div", text, class_="kv-fnt", style="font-size:12px"))
    st.space(12)
    size_bytes = context.case.measurement.log_bytes
    text = say("tuning.write_once_more", size=size_bytes)
    icon = ":material/replay:"
    if size_bytes <= AT_ONCE_BYTES or st.button(text, icon=icon, key="kv_replay"):
        _render_replay(context)


def _render_size_map(context: TuningContext) -> None:
    today = context.config.index_interval_bytes, context.config.segment_index_bytes
    considered = context.alternative_bytes, _considered_config(context).segment_index_bytes
    powers = {
        interval
        for interval in context.case.measurement.parts.intervals.tolist()
        if interval >= tuning_curve.MIN_X and interval.bit_count() == 1
    }
    with st.spinner(say("tuning.appending")):
        outcomes = {
            interval: _index_sizes(context.key, context.config, interval, context.source)
            for interval in sorted({today[0], *powers})
        }
    if not outcomes[today[0]]:
        return
    figure_key = ("index_size_map", *context.figure_key, considered)
    view = charts.view(
        figure_key,
        lambda: index_size_map.view(
            outcomes, _size_costs(context), today=today, considered=considered
        ),
    )
    with st.container(key="kv_fig_index_size_map"):
        charts.render_titled(figure_key, index_size_map.figure, view, "kv_index_size_map")
    of_today = outcomes[today[0]]
    current = next(outcome for outcome in of_today if outcome.index_bytes == today[1])
    warm_us = _size_costs(context).warm_us(current.headers)
    elements.paragraph(say("index_size.warm", us=units.format_us(warm_us.typical)), above_px=10)
    with st.expander(say("index_size.table")):
        _render_size_table(context, of_today, of_today.index(current))


def _render_segment_size(context: TuningContext) -> None:
    _, advice = advise_segment_sizes(context.source)
    is_known = SEGMENT_SETTING not in context.case.today.unknown_settings
    line = tuning_text.setting_headline(
        SEGMENT_SETTING, advice.today.segment_bytes, advice.value, is_known=is_known
    )
    reason = tuning_text.describe_segment_reason(advice)
    rows = [
        (say("tuning.head_answer"), join_sentences([_sentence(line), _sentence(reason)])),
        (say("tuning.today"), _sentence(tuning_text.describe_segment_numbers(advice.today))),
    ]
    if advice.considered:
        numbers = tuning_text.describe_segment_numbers(advice.considered)
        rows.append((units.format_bytes(advice.value), _sentence(numbers)))
    with st.container(key="kv_segment_size", gap=12):
        table((config_def.label(SEGMENT_SETTING), say("tuning.head_why")), rows, "lw")
        if advice.considered:
            _render_command(context, SEGMENT_SETTING, advice.value)


def _render_size_table(
    context: TuningContext, outcomes: Sequence[IndexSizeOutcome], marked_row: int
) -> None:
    costs = _size_costs(context)
    heads, cells = index_size_curve.table(outcomes, costs)
    with st.container(key="kv_size_table"):
        table(heads, cells, "rrlrrrrrrrrr", marked_row)
    download(
        say("index_size.csv"),
        lambda: to_csv(index_size_curve.COLUMNS, index_size_curve.rows(outcomes, costs)),
        "index-sizes.csv",
        "kv_sizes_csv",
    )


def _render_replay(context: TuningContext) -> None:
    other_config = _considered_config(context)
    try:
        with st.spinner(say("tuning.appending")):
            pair = _replay(context.key, context.config, other_config, context.source)
    except KafkavizError as fault:
        reason = describe_error_sentence(fault)
        elements.state("refused_replay", "error", say("tuning.cannot_write"), reason)
        return
    rows = replay_table.rows(*pair)
    heads = [say(f"tuning.head_{head}") for head in ("written", "as_set", "as_considered")]
    heads += [say("common.change"), say("tuning.how_known")]
    table(heads, map(replay_table.cells, rows), "wrrrw")
    download(
        say("common.csv"),
        lambda: to_csv(replay_table.COLUMNS, replay_table.file_cells(rows)),
        "replayed.csv",
        "kv_replayed_csv",
    )
    _render_footprint(context)


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False)
def _replay(
    key: str, config: LogConfig, other_config: LogConfig, _source: TuningSource
) -> tuple[WhatIf, WhatIf]:
    """Writes the log's batches twice: with `config` and with `other_config`.

    Raises KafkavizError if Kafka throws an exception with `other_config`.
    """
    case = _source.total
    other_settings = {name: getattr(other_config, name) for name in LogConfig.__dataclass_fields__}
    logs = cast(Sequence[tuple[ChunkFactory, int]], case.logs)
    return rebuild.compare(
        logs, config, other_settings, _source.behaviour, is_leader=case.is_leader
    )


def _render_footprint(context: TuningContext) -> None:
    today = replace(context.case.today, config=_considered_config(context))
    footprint = footprint_at(context.case.measurement, today, context.alternative_bytes)
    texts = {name: units.format_count(footprint[name]) for name in ("files", "maps", "maps_left")}
    texts |= {
        name: units.format_bytes(footprint[f"{name}_bytes"])
        for name in ("preallocated", "resident")
    }
    segments_text = say_count("common.n_segments", footprint["segments"])
    text = say(
        "tuning.footprint", segments=segments_text, most=MAX_MAP_COUNT, own=JVM_MAPS, **texts
    )
    if footprint["stale_maps"]:
        text = join_sentences([text, say("tuning.footprint_stale", stale=footprint["stale_maps"])])
    elements.paragraph(text, above_px=10)
