"""A real segment to scale and as tables, and all segments of a topic-partition."""

from collections.abc import Callable, Iterator
from functools import partial
from html import escape

from kafkaviz import units
from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frontend import ruler, ruler_state
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements, segment_widgets
from kafkaviz.figures.segment import file_areas, segment_tables
from kafkaviz.figures.segment.file_areas import FileAreasView
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.messages import message, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import Component, LessonFigure, Part, drawn_figure, frame
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

SegmentRows = tuple[
    SegmentLocation, Anatomy, PinnedRow
]  # a segment and the rows around the block's offset
FILE_SUFFIXES = {"batches": ".log", "index": ".index", "time-index": ".timeindex"}


def _make(block: LessonBlock) -> SegmentRows:
    location, anatomy = block_location.anatomy(block)
    return location, anatomy, block_location.rows_around(anatomy, block)


def _draw_ruler(segment_rows: SegmentRows, block: LessonBlock, key: str) -> list[Part]:
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
    data = segment_cache.browser_payload(anatomy, pinned_offset, "Plain", row, location.address)
    return [Component(partial(ruler, data, key=key))]


def _ruler_on_paper(segment_rows: SegmentRows, block: LessonBlock, key: str) -> list[Part]:
    location, anatomy, rows = segment_rows
    return [
        elements.figure_head_html(_segment_title(location, block), ""),
        segment_widgets.index_html(segment_tables.index_rows(anatomy, rows)),
    ]


def _segment_title(location: SegmentLocation, block: LessonBlock, suffix: str = "") -> str:
    return f"{location.partition.directory}/{location.segment.name}{suffix}, {block['data']}"


def _draw_table(
    segment_rows: SegmentRows,
    block: LessonBlock,
    key: str,
    *,
    kind: str = "",
    is_marked: bool = True,
) -> list[Part]:
    """Returns rows of a file around the block's offset.

    Args:
        kind: one of FILE_SUFFIXES, by default that of the block.
    """
    location, anatomy, pinned = segment_rows
    kind = kind or block["of"]
    make_rows, make_table = TABLES[kind]
    rows = (
        row._replace(is_pinned=is_marked and row.is_pinned) for row in make_rows(anatomy, pinned)
    )
    title = _segment_title(location, block, FILE_SUFFIXES[kind])
    return [elements.figure_head_html(title, say("workshop.rows_below")), make_table(rows)]


TABLES: dict[str, tuple[Callable, Callable]] = {
    "batches": (segment_tables.batch_rows, segment_widgets.batches_html),
    "index": (segment_tables.index_rows, segment_widgets.index_html),
    "time-index": (
        partial(segment_tables.time_rows, closing_event=""),
        segment_widgets.time_index_html,
    ),
}


def _make_segments(block: LessonBlock) -> tuple[SegmentLocation, int | None]:
    """Returns the location, and the base offset of the segment that holds the block's offset."""
    location = block_location.locate(block)
    return location, None if block["offset"] is None else page_location.find_segment(
        location.partition, block["offset"]
    ).base_offset


def _draw_segments(
    result: tuple[SegmentLocation, int | None], block: LessonBlock, key: str
) -> list[Part]:
    location, base_offset = result
    columns = (("base_offset", ' class="r"'), ("files", ""), ("log_bytes", ' class="r"'))
    head = "".join(f"<th{kind}>{say(f'workshop.{name}')}</th>" for name, kind in columns)
    count = units.format_count(len(location.partition.live))
    title = say("workshop.segments_of", count=count, name=location.partition.directory)
    rows = _segment_rows(location, base_offset, block["offset"])
    return [
        frame(
            key,
            elements.figure_head_html(title, say("workshop.segments_below")),
            elements.table_html(head, rows),
        )
    ]


def _draw_segments_question(
    result: tuple[SegmentLocation, int | None], block: LessonBlock, key: str
) -> list[Part]:
    return _draw_segments((result[0], None), block, key)


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


RULER = LessonFigure(
    _make,
    _draw_ruler,
    block_location.to_segment,
    _ruler_on_paper,
    partial(_draw_table, kind="batches"),
)
TABLE = LessonFigure(
    _make,
    _draw_table,
    block_location.to_segment,
    question=partial(_draw_table, is_marked=False),
)
SEGMENTS = LessonFigure(
    _make_segments, _draw_segments, block_location.to_segment, question=_draw_segments_question
)


FILE_HEADS = (
    "workshop.file",
    "segment.bytes_heading",
    "file_areas.head_share",
    "file_areas.head_content",
)


def _make_files(block: LessonBlock) -> FileAreasView:
    """Returns the files of a block's segment as areas.

    Raises:
        NoValue: one of the three files is missing or empty.
    """
    location, anatomy = block_location.anatomy(block)
    segment = location.segment
    files = {".log": segment.log, ".index": segment.index, ".timeindex": segment.timeindex}
    sizes = {suffix: info.size_bytes for suffix, info in files.items() if info is not None}
    if len(sizes) < len(files) or not all(sizes.values()):
        raise NoValue(message("file_areas.missing", segment=segment.name))
    counts = {
        ".log": len(anatomy.batches),
        ".index": len(segment.offset_index),
        ".timeindex": len(segment.time_index),
    }
    return file_areas.view(
        sizes,
        counts,
        candidates=block["candidates"] or (sizes[".index"],),
        segment=f"{location.partition.directory}/{segment.name}",
        source=block["data"],
    )


FILE_AREAS = drawn_figure(
    _make_files,
    block_location.to_segment,
    (file_areas.figure, file_areas.question_figure),
    heads=FILE_HEADS,
    rows=file_areas.rows,
    kinds="mrrl",
    words=file_areas.describe,
    question_words=lambda view: f"{view.files[0].suffix} {view.files[0].size_bytes} B",
)
