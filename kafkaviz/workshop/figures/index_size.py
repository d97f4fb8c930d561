"""The effect of other index sizes on a real log: reads per search, and rolls."""

from dataclasses import dataclass, replace

import streamlit as st

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.tuning import index_size, segment_rounds
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.tuning import index_size_curve, index_size_map
from kafkaviz.figures.tuning.index_size_curve import IndexSizeCurveView
from kafkaviz.figures.tuning.index_size_map import IndexSizeMapView
from kafkaviz.messages import language, say
from kafkaviz.units import format_bytes, format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import Destination, Group, LessonFigure, Part, drawing
from kafkaviz.workshop.lessons.grammar import LessonBlock

INTERVALS = tuple(1 << power for power in range(6, 23, 2))  # 64 B to 4 MiB
PAPER_SIZES = tuple(1 << power for power in range(8, 25, 4))
PAPER_HEADS = (
    "tuning.tab_index_size",
    "index_size.head_log",
    "index_size.head_gib",
    "tuning.head_entries",
    "index_size.head_probes",
    "index_size.head_reads",
)


@dataclass(frozen=True)
class LessonIndexSize:
    """A topic-partition rewritten with each index size and each interval.

    Attributes:
        rows: the rows of index_size_curve.rows at the current interval.
    """

    location: SegmentLocation
    curve: IndexSizeCurveView
    size_map: IndexSizeMapView
    rows: tuple[tuple, ...]
    today_bytes: int


def _make(block: LessonBlock) -> LessonIndexSize:
    location = block_location.locate(block)
    return _cached_sizes(
        location.snapshot, location.partition.directory, language(), _location=location
    )


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _cached_sizes(
    snapshot: BrokerSnapshot, directory: str, language_code: str, *, _location: SegmentLocation
) -> LessonIndexSize:
    source = open_source(_location.partition.path)
    config = source.total.today.config
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    rounds = segment_rounds.log_rounds(source.total.logs or ())
    today = config.index_interval_bytes
    outcomes = {
        interval: index_size.sweep_index_sizes(
            rounds,
            replace(config, index_interval_bytes=interval),
            {*index_size.INDEX_SIZES, config.segment_index_bytes, index_size_curve.DEFAULT_BYTES},
            per_append=source.behaviour.per_append,
            by_base_offset=source.by_base_offset,
        )
        for interval in sorted({today, *INTERVALS})
    }
    curve = index_size_curve.view(
        outcomes[today],
        costs,
        today_bytes=config.segment_index_bytes,
        considered_bytes=config.segment_index_bytes,
    )
    settings = today, config.segment_index_bytes
    size_map = index_size_map.view(outcomes, costs, today=settings, considered=settings)
    rows = index_size_curve.rows(outcomes[today], costs)
    return LessonIndexSize(_location, curve, size_map, tuple(rows), config.segment_index_bytes)


def _draw(sizes: LessonIndexSize, block: LessonBlock, key: str) -> list[Part]:
    return [_pair(sizes.curve, sizes.size_map, block, key)]


def _draw_question(sizes: LessonIndexSize, block: LessonBlock, key: str) -> list[Part]:
    """Returns the effect of the current size only."""
    curve = index_size_curve.before_sweep(sizes.curve)
    return [_pair(curve, index_size_map.before_sweep(sizes.size_map), block, f"{key}_asked")]


def _pair(
    curve: IndexSizeCurveView, size_map: IndexSizeMapView, block: LessonBlock, key: str
) -> Group:
    left = drawing(index_size_curve.figure, curve, block, f"{key}_curve")
    right = drawing(index_size_map.figure, size_map, block, f"{key}_map")
    return Group([left, right], gap_px=20, is_row=True)


def _on_paper(sizes: LessonIndexSize, block: LessonBlock, key: str) -> list[Part]:
    rows = [
        dict(zip(index_size_curve.COLUMNS, row, strict=True))
        for row in sizes.rows
        if row[0] in {*PAPER_SIZES, sizes.today_bytes}
    ]
    cells = [
        (
            format_bytes(row["segment_index_bytes"]),
            format_bytes(row["segment_log_bytes"]),
            index_size_curve.count_text(row["rolls_a_gib"]),
            format_count(row["entries"]),
            f"{row['probes_mean']:.1f} ({row['plain_probes_mean']:.1f})",
            f"{row['cold_reads_mean']:.1f}",
        )
        for row in rows
    ]
    marked_row = next(
        number for number, row in enumerate(rows) if row["segment_index_bytes"] == sizes.today_bytes
    )
    title = f"{sizes.location.partition.directory}, {block['data']}"
    return [
        elements.figure_head_html(title, sizes.curve.caption),
        table_html([say(head) for head in PAPER_HEADS], cells, "rrrrrr", marked_row),
    ]


def _to_index_size(block: LessonBlock) -> Destination:
    page, address = block_location.to_tuning(block)
    return page, address | {page_state.TAB: "IndexSize"}


INDEX_SIZE = LessonFigure(_make, _draw, _to_index_size, _on_paper, _draw_question)
