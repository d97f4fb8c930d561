"""A real segment to scale and as tables, and all segments of a topic-partition."""

from collections.abc import Iterator
from html import escape

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frontend import ruler, ruler_state
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements, segment_widgets
from kafkaviz.figures.segment import segment_tables
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.messages import say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import LessonFigure
from kafkaviz.workshop.lessons.grammar import LessonBlock

SegmentRows = tuple[
    SegmentLocation, Anatomy, PinnedRow
]  # a segment and the rows around the block's offset
FILE_SUFFIXES = {"batches": ".log", "index": ".index", "time-index": ".timeindex"}


def _make(block: LessonBlock) -> SegmentRows:
    location, anatomy = block_location.anatomy(block)
    return location, anatomy, block_location.rows_around(anatomy, block)


def _draw_ruler(segment_rows: SegmentRows, block: LessonBlock, key: str) -> None:
    location, anatomy, _ = segment_rows
    request = ruler_state("slice", segment_cache.key(anatomy.segment), key)
    pinned_offset = selection.select_offset(
        anatomy, request.get("offset") or ("" if block["offset"] is None else str(block["offset"]))
    )
    if "row" in request:
        row = int(request["row"])
    elif "position" in request:
        row = selection.row_at_byte(anatomy, int(request["position"]))
    else:
        row = None
    ruler(
        segment_cache.browser_payload(anatomy, pinned_offset, "Plain", row, location.address),
        key=key,
    )


def _ruler_on_paper(segment_rows: SegmentRows, block: LessonBlock, key: str) -> None:
    location, anatomy, rows = segment_rows
    elements.figure_head(
        f"{location.partition.directory}/{location.segment.name}, {block['data']}", ""
    )
    segment_widgets.index(segment_tables.index_rows(anatomy, rows))


def _draw_table(
    segment_rows: SegmentRows, block: LessonBlock, key: str, *, is_marked: bool = True
) -> None:
    location, anatomy, pinned = segment_rows
    _table_head(location, block, FILE_SUFFIXES[block["of"]])
    if block["of"] == "batches":
        batches = segment_tables.batch_rows(anatomy, pinned)
        segment_widgets.batches(
            row._replace(is_pinned=is_marked and row.is_pinned) for row in batches
        )
    elif block["of"] == "index":
        entries = segment_tables.index_rows(anatomy, pinned)
        segment_widgets.index(
            row._replace(is_pinned=is_marked and row.is_pinned) for row in entries
        )
    else:
        times = segment_tables.time_rows(anatomy, pinned, "")
        segment_widgets.time_index(
            row._replace(is_pinned=is_marked and row.is_pinned) for row in times
        )


def _table_head(location: SegmentLocation, block: LessonBlock, suffix: str) -> None:
    elements.figure_head(
        f"{location.partition.directory}/{location.segment.name}{suffix}, {block['data']}",
        say("workshop.rows_below"),
    )
    st.space(8)


def _draw_log(segment_rows: SegmentRows, block: LessonBlock, key: str) -> None:
    """Draws only the batches; the answer adds the indexes."""
    location, anatomy, rows = segment_rows
    _table_head(location, block, FILE_SUFFIXES["batches"])
    segment_widgets.batches(segment_tables.batch_rows(anatomy, rows))


def _draw_unmarked(segment_rows: SegmentRows, block: LessonBlock, key: str) -> None:
    _draw_table(segment_rows, block, key, is_marked=False)


def _make_segments(block: LessonBlock) -> tuple[SegmentLocation, int | None]:
    """Returns the location, and the base offset of the segment that holds the block's offset."""
    location = block_location.locate(block)
    return location, None if block["offset"] is None else page_location.find_segment(
        location.partition, block["offset"]
    ).base_offset


def _draw_segments(
    result: tuple[SegmentLocation, int | None], block: LessonBlock, key: str
) -> None:
    location, base_offset = result
    columns = (("base_offset", ' class="r"'), ("files", ""), ("log_bytes", ' class="r"'))
    head = "".join(f"<th{kind}>{say(f'workshop.{name}')}</th>" for name, kind in columns)
    with st.container(key=f"kv_fig_{key}"):
        count = units.format_count(len(location.partition.live))
        elements.figure_head(
            say("workshop.segments_of", count=count, name=location.partition.directory),
            say("workshop.segments_below"),
        )
        elements.table(head, _segment_rows(location, base_offset, block["offset"]))


def _draw_segments_question(
    result: tuple[SegmentLocation, int | None], block: LessonBlock, key: str
) -> None:
    _draw_segments((result[0], None), block, key)


def _segment_rows(
    location: SegmentLocation, base_offset: int | None, offset: int | None
) -> Iterator[str]:
    for segment in location.partition.live:
        suffixes = " ".join(file.path.suffix for file in segment.files)
        mark = (
            f' <b style="color:var(--kv-hit-text)">✓ {units.format_count(offset)}</b>'
            if segment.base_offset == base_offset
            else ""
        )
        name_cell = (
            f'{elements.mono(segment.name)}{mark}<div class="kv-fnt kv-sm">{escape(suffixes)}</div>'
        )
        cells = f'<td class="r">{units.format_count(segment.base_offset)}</td><td>{name_cell}</td>'
        yield (
            f"<tr{' class=on' if mark else ''}>{cells}"
            f'<td class="r">{units.format_count(segment.log.size_bytes)}</td></tr>'
        )


RULER = LessonFigure(_make, _draw_ruler, block_location.to_segment, _ruler_on_paper, _draw_log)
TABLE = LessonFigure(_make, _draw_table, block_location.to_segment, question=_draw_unmarked)
SEGMENTS = LessonFigure(
    _make_segments, _draw_segments, block_location.to_segment, question=_draw_segments_question
)
