"""Figures about tuning: what other index settings would cost, and what a lookup costs in a fetch.

The last figure lists the broker's names for topic settings, in order of precedence.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.tuning import index_size
from kafkaviz.analysis.tuning.index_size import IndexSizeOutcome
from kafkaviz.analysis.tuning.interval_cost import Budgets, compute_cost, compute_costs
from kafkaviz.analysis.tuning.measurement import SETTING
from kafkaviz.analysis.tuning.recommendation import Recommendation, TuningVerdict, recommend
from kafkaviz.analysis.tuning.source import TuningSource, open_source
from kafkaviz.app.widgets import charts
from kafkaviz.config_def import Setting
from kafkaviz.figures.tuning import index_size_curve, index_size_map
from kafkaviz.figures.tuning import tuning_curve as curve
from kafkaviz.figures.tuning.index_size_curve import IndexSizeCurveView
from kafkaviz.figures.tuning.index_size_map import IndexSizeMapView
from kafkaviz.html import tag
from kafkaviz.messages import message, say
from kafkaviz.units import format_count, format_percent
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    Group,
    Part,
    drawing,
    quiz_figure,
    titled_table,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

INTERVALS = (0, 512, 1024, 2048, 4096, 8192, 16384, 65536)
INTERVAL_HEADS = ("interval", "offset_entries", "index_bytes", "headers_mean", "headers_p99")


def _interval_row(row: np.void) -> tuple[str, ...]:
    names = ("interval_bytes", "entries", "index_bytes", "headers_p99")
    interval, entries, index_bytes, p99 = (format_count(int(row[name])) for name in names)
    return interval, entries, index_bytes, f"{row['headers_mean']:.1f}", p99


@dataclass(frozen=True)
class LessonTuning:
    """The estimated cost of several index intervals for a topic-partition."""

    view: curve.TuningCurveView
    intervals: tuple  # the cost of each index interval that was tried
    verdict: str  # the recommendation in one line; "" if there is none
    today_bytes: int


def _cached(block: LessonBlock, compute: Callable[..., Any], *arguments: int) -> Any:
    """Returns `compute(source, *arguments)` for the topic-partition that a block names."""
    location = block_location.locate(block)
    key = (block.kind, location.snapshot.key, location.partition.directory, *arguments)
    return charts.view(key, lambda: compute(open_source(location.partition.path), *arguments))


def _make_tuning(block: LessonBlock) -> LessonTuning:
    return _cached(block, _tuning, block["considered"])


def _tuning(source: TuningSource, considered_bytes: int) -> LessonTuning:
    case = source.total
    budgets = Budgets()
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    intervals = compute_costs(case.measurement, costs)
    today = case.today.interval_bytes
    if considered_bytes not in {interval.interval_bytes for interval in intervals}:
        raise NoValue(message("lesson.not_swept", value=considered_bytes))
    current = compute_cost(case.measurement, costs, case.measurement.current_cost(today))
    view = curve.view(
        intervals,
        current,
        considered_bytes,
        least_batch_bytes=case.measurement.parts.least_batch_bytes,
        budgets=budgets,
        costs=costs,
    )
    recommendation = recommend(case.measurement, case.today, budgets, costs)
    verdict = _verdict(recommendation) if recommendation else ""
    return LessonTuning(view, intervals, verdict, today)


def _verdict(recommendation: Recommendation) -> str:
    keeps_setting = recommendation.verdict == TuningVerdict.KEEP
    key = "tuning_answer.keep" if keeps_setting else "workshop.tuning_change"
    today = recommendation.current_cost.interval_bytes
    return say(key, name=SETTING, today=today, value=recommendation.value)


def _draw_tuning(
    lesson_tuning: LessonTuning, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    if not is_answered:
        view = curve.before_sweep(lesson_tuning.view)
        return [drawing(curve.figure, view, block, f"{key}_asked")]
    curves = drawing(curve.figure, lesson_tuning.view, block, key)
    if not lesson_tuning.verdict:
        return [curves]
    verdict = tag("b", lesson_tuning.verdict)
    return [curves, tag("p", _subject(block), tag("br"), verdict, class_="kv-sm")]


def _subject(block: LessonBlock) -> str:
    return f"{block['tp']}, {block['data']}"


def _tuning_on_paper(lesson_tuning: LessonTuning, block: LessonBlock, key: str) -> list[Part]:
    printed = [each for each in lesson_tuning.intervals if each.interval_bytes in INTERVALS]
    sizes = [interval.interval_bytes for interval in printed]
    today = lesson_tuning.today_bytes
    marked_row = sizes.index(today) if today in sizes else None
    rows = [_interval_row(interval.row) for interval in printed]
    heads = [say(f"workshop.{name}") for name in INTERVAL_HEADS]
    caption = say("workshop.sweep_below")
    return titled_table(_subject(block), caption, heads, rows, "rrrrr", marked_row=marked_row)


TUNING = quiz_figure(_make_tuning, _draw_tuning, block_location.to_tuning, _tuning_on_paper)

MAP_INTERVALS = tuple(1 << power for power in range(6, 23, 2))  # 64 B to 4 MiB
PAPER_SIZES = tuple(1 << power for power in range(8, 25, 4))
SIZE_HEADS = (
    "index_size.head_size",
    "index_size.head_log",
    "index_size.head_gib",
    "tuning.head_entries",
    "index_size.head_probes",
    "index_size.head_reads",
)


@dataclass(frozen=True, kw_only=True)
class LessonIndexSize:
    """The segments of a topic-partition with other index sizes and other index intervals."""

    curve: IndexSizeCurveView
    size_map: IndexSizeMapView
    outcomes: tuple[IndexSizeOutcome, ...]  # the result of each size at the current interval
    costs: LookupCosts
    today_bytes: int


def _sizes(source: TuningSource) -> LessonIndexSize:
    config = source.total.today.config
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    rounds = index_size.log_rounds(source)
    today = config.index_interval_bytes
    today_bytes = config.segment_index_bytes
    sizes = {*index_size.INDEX_SIZES, today_bytes, index_size_curve.DEFAULT_BYTES}
    outcomes = {
        interval: index_size.sweep_index_sizes(
            rounds, replace(config, index_interval_bytes=interval), sizes
        )
        for interval in sorted({today, *MAP_INTERVALS})
    }
    curve = index_size_curve.view(
        outcomes[today],
        costs,
        today_bytes=today_bytes,
        considered_bytes=today_bytes,
        safe=index_size.safe_index_size(rounds, config, outcomes[today]),
    )
    settings = today, today_bytes
    size_map = index_size_map.view(outcomes, costs, today=settings, considered=settings)
    return LessonIndexSize(
        curve=curve,
        size_map=size_map,
        outcomes=outcomes[today],
        costs=costs,
        today_bytes=today_bytes,
    )


def _draw_sizes(
    sizes: LessonIndexSize, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    if not is_answered:
        curve = index_size_curve.before_sweep(sizes.curve)
        return [drawing(index_size_curve.figure, curve, block, f"{key}_asked")]
    left = drawing(index_size_curve.figure, sizes.curve, block, f"{key}_curve")
    right = drawing(index_size_map.figure, sizes.size_map, block, f"{key}_map")
    return [Group([left, right], gap_px=20, is_row=True)]


def _sizes_on_paper(sizes: LessonIndexSize, block: LessonBlock, key: str) -> list[Part]:
    printed = {*PAPER_SIZES, sizes.today_bytes}
    outcomes = [outcome for outcome in sizes.outcomes if outcome.index_bytes in printed]
    heads, cells = index_size_curve.table(outcomes, sizes.costs, SIZE_HEADS)
    marked_row = [outcome.index_bytes for outcome in outcomes].index(sizes.today_bytes)
    caption = sizes.curve.caption
    return titled_table(_subject(block), caption, heads, cells, "rrrrrr", marked_row=marked_row)


_to_index_tab = partial(block_location.to_tab, block_location.to_tuning, "Index")
INDEX_SIZE = quiz_figure(
    partial(_cached, compute=_sizes), _draw_sizes, _to_index_tab, _sizes_on_paper
)

LINK_BITS_PER_US = 10_000  # 10 Gbit/s
# response sizes; the last one is the default of max.partition.fetch.bytes
FETCH_BYTES = (4 << 10, 64 << 10, 1 << 20)
FETCHES_PER_S = 10_000


@dataclass(frozen=True)
class FetchShare:
    """The mean cost of a lookup in a topic-partition."""

    lookup_us: Range  # estimated, if all pages are in the page cache
    headers: float  # the number of batch headers that a lookup reads
    cores: Range  # CPU cores that FETCHES_PER_S lookups per second keep busy


def _share(source: TuningSource) -> FetchShare:
    case = source.total
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    current_cost = case.measurement.current_cost(case.today.interval_bytes)
    current = compute_cost(case.measurement, costs, current_cost)
    headers = float(current.row["headers_mean"])
    return FetchShare(current.mean_us, headers, costs.cores(headers, FETCHES_PER_S))


def sending_us(size_bytes: int) -> float:
    return size_bytes * 8 / LINK_BITS_PER_US


def share_rows(fetch_share: FetchShare) -> Iterator[tuple[str, str, str, str]]:
    """Yields (response size, lookup time, sending time, lookup time as a share of their sum)."""
    lookup = fetch_share.lookup_us
    for size_bytes in FETCH_BYTES:
        sending = sending_us(size_bytes)
        yield (
            format_count(size_bytes),
            say("fetch_share.range", low=lookup.low, typical=lookup.typical, high=lookup.high),
            say("fetch_share.microseconds", us=sending),
            format_percent(lookup.typical, lookup.typical + sending),
        )


def _draw_share(cost: FetchShare, block: LessonBlock, key: str, *, is_answered: bool) -> list[Part]:
    caption = say(
        "fetch_share.below", headers=cost.headers, partition=block["tp"], source=block["data"]
    )
    names = ("head_bytes", "head_lookup", "head_sending", "head_share")
    heads = [say(f"fetch_share.{name}") for name in names]
    cells = list(share_rows(cost))
    if not is_answered:
        cells = [(size, UNKNOWN, sending, UNKNOWN) for size, _, sending, _ in cells]
    parts = titled_table(say("fetch_share.title"), caption, heads, cells, "rrrr")
    if is_answered:
        text = say("fetch_share.cores", fetches=FETCHES_PER_S, **cost.cores._asdict())
        parts.append(tag("p", text, class_="kv-sm"))
    return parts


FETCH_SHARE = quiz_figure(partial(_cached, compute=_share), _draw_share, block_location.to_tuning)

SettingNames = tuple[tuple[Setting, ...], str]  # settings, and a release of Kafka


def _make_names(block: LessonBlock) -> SettingNames:
    return tuple(config_def.setting(name) for name in block["name"]), block["release"]


def name_rows(names: SettingNames, *, is_ordered: bool = True) -> Iterator[tuple[str, str, str]]:
    """Yields a row per setting: the topic-level name, the broker-level names, the default.

    The broker-level names are in order of precedence if `is_ordered`, else sorted by name.
    """
    settings, release = names
    for setting in settings:
        default = setting.default(versions.parse(release))
        broker_names = [name for name, _ in setting.broker_names]
        yield (
            setting.name,
            " → ".join(broker_names) if is_ordered else " / ".join(sorted(broker_names)),
            format_count(default) if isinstance(default, int) else str(default),
        )


def _draw_names(
    names: SettingNames, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    settings, release = names
    title = say("setting_names.title", count=len(settings))
    below = "setting_names.below" if is_answered else "setting_names.below_asked"
    keys = ("tuning.head_topic", "setting_names.head_broker", "setting_names.head_default")
    heads = [say(key) for key in keys]
    rows = name_rows(names, is_ordered=is_answered)
    return titled_table(title, say(below, release=release), heads, rows, "ccr")


SETTINGS = quiz_figure(_make_names, _draw_names, lambda _block: ("Rolls", {}))
