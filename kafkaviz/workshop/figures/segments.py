"""Lesson figures of a real segment (files, indexes, transactions), and a table of all segments."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.transactions import read_committed
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frontend import ruler, ruler_state
from kafkaviz.app.state import page_location, transaction_jobs
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements, segment_widgets
from kafkaviz.figures.segment import file_areas, segment_tables, transaction_lanes
from kafkaviz.figures.segment.file_areas import FileAreasView
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.figures.segment.transaction_lanes import TransactionLanesView
from kafkaviz.format import offset_index, time_index
from kafkaviz.html import Html, join, tag
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.search.binary_search import WARM_BYTES
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    CodeText,
    Component,
    LessonFigure,
    Part,
    drawn_figure,
    frame,
    quiz_figure,
    titled_table,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

# a segment and the rows around the block's offset
SegmentRows = tuple[SegmentLocation, Anatomy, PinnedRow]
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
    segment_rows: SegmentRows, block: LessonBlock, key: str, *, is_answered: bool, kind: str = ""
) -> list[Part]:
    location, anatomy, pinned = segment_rows
    kind = kind or block["of"]
    make_rows, make_table = TABLES[kind]
    rows = [
        row._replace(is_pinned=is_answered and row.is_pinned) for row in make_rows(anatomy, pinned)
    ]
    title = _segment_title(location, block, FILE_SUFFIXES[kind])
    return [elements.figure_head_html(title, say("workshop.rows_below")), make_table(rows)]


_time_rows = partial(segment_tables.time_rows, closing_event="")
TABLES: dict[str, tuple[Callable, Callable]] = {
    "batches": (segment_tables.batch_rows, segment_widgets.batches_html),
    "index": (segment_tables.index_rows, segment_widgets.index_html),
    "time-index": (_time_rows, segment_widgets.time_index_html),
}


def _make_segments(block: LessonBlock) -> tuple[SegmentLocation, int | None]:
    """Returns (the block's segment, base offset of the segment to highlight or None)."""
    location = block_location.locate(block)
    if block["offset"] is None:
        return location, None
    return location, page_location.find_segment(location.partition, block["offset"]).base_offset


def _draw_segments(
    result: tuple[SegmentLocation, int | None], block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    location, base_offset = result
    segments = location.partition.live
    heads = [say(f"workshop.{name}") for name in ("base_offset", "files", "log_bytes")]
    count = format_count(len(segments))
    title = say("workshop.segments_of", count=count, name=location.partition.directory)
    bases = [segment.base_offset for segment in segments]
    marked_row = bases.index(base_offset) if is_answered and base_offset in bases else None
    rows = (
        _segment_cells(segment, block["offset"] if row == marked_row else None)
        for row, segment in enumerate(segments)
    )
    caption = say("workshop.segments_below")
    return [frame(key, *titled_table(title, caption, heads, rows, "rlr", marked_row=marked_row))]


def _segment_cells(segment: LogSegment, marked_offset: int | None) -> tuple[str, Html, str]:
    name: list[str] = [elements.mono(segment.name)]
    if marked_offset is not None:
        text = f"✓ {format_count(marked_offset)}"
        name += [" ", tag("b", text, style="color:var(--kv-hit-text)")]
    suffixes = " ".join(file.path.suffix for file in segment.files)
    return (
        format_count(segment.base_offset),
        join((*name, tag("div", suffixes, class_="kv-fnt kv-sm"))),
        format_count(segment.log.size_bytes),
    )


RULER = LessonFigure(
    _make,
    _draw_ruler,
    block_location.to_segment,
    _ruler_on_paper,
    partial(_draw_table, is_answered=True, kind="batches"),
)
TABLE = quiz_figure(_make, _draw_table, block_location.to_segment)
SEGMENTS = quiz_figure(_make_segments, _draw_segments, block_location.to_segment)

FILE_HEADS = (
    "workshop.file",
    "segment.bytes_heading",
    "file_areas.head_share",
    "file_areas.head_content",
)


def _make_files(block: LessonBlock) -> FileAreasView:
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

INDEX_RULES = ("key", "value", "written", "rising", "nothing_below", "missing")


@dataclass(frozen=True)
class ComparedIndexes:
    location: SegmentLocation
    offset_entries: int
    time_entries: int


def _make_indexes(block: LessonBlock) -> ComparedIndexes:
    location = block_location.locate(block)
    segment = location.segment
    for info, suffix in ((segment.index, ".index"), (segment.timeindex, ".timeindex")):
        if info is None:
            raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=suffix))
    return ComparedIndexes(location, len(segment.offset_index), len(segment.time_index))


def index_facts(compared: ComparedIndexes) -> Iterator[tuple[str, str, str]]:
    """Yields (property, value for the offset index, value for the time index)."""
    config = IndexConfig()
    sizes = [layout.ENTRY.itemsize for layout in (offset_index, time_index)]
    entries = say("indexes.entries", segment=compared.location.segment.name)
    numbers = (
        (say("indexes.entry_bytes"), sizes),
        (entries, (compared.offset_entries, compared.time_entries)),
        (say("indexes.slots"), (config.offset_slots, config.time_slots)),
        (say("indexes.full_at"), (config.offset_slots, config.usable_time_slots)),
        (say("indexes.warm"), [WARM_BYTES // size + 1 for size in sizes]),
    )
    for name in INDEX_RULES[:2]:
        yield _index_rule(name)
    for label, (offset_number, time_number) in numbers:
        yield label, format_count(offset_number), format_count(time_number)
    for name in INDEX_RULES[2:]:
        yield _index_rule(name)


def _index_rule(name: str) -> tuple[str, str, str]:
    return say(f"indexes.{name}"), say(f"indexes.{name}_offset"), say(f"indexes.{name}_time")


def _draw_indexes(
    compared: ComparedIndexes, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    cells = [*index_facts(compared)]
    if not is_answered:
        hidden = len(INDEX_RULES) - 2
        cells[-hidden:] = [(name, UNKNOWN, UNKNOWN) for name, _, _ in cells[-hidden:]]
    caption = say("indexes.below", partition=block["tp"], source=block["data"])
    heads = [say("indexes.head_what"), "OffsetIndex (.index)", "TimeIndex (.timeindex)"]
    return titled_table(say("indexes.title"), caption, heads, cells, "lww")


INDEXES = quiz_figure(_make_indexes, _draw_indexes, block_location.to_segment)

COMMAND = "kafka-dump-log.sh --files"


@dataclass(frozen=True)
class IndexDump:
    """The dump of an .index file."""

    path: str
    entries: tuple[str, ...]  # a line per entry; only the first entries if the file has many
    count: int  # the number of entries in the file
    mismatches: tuple[str, ...]  # a heading, then one line per wrong entry; () if none


def _make_dump(block: LessonBlock) -> IndexDump:
    location = block_location.locate(block)
    segment = location.segment
    if segment.index is None or not isinstance(segment, LogSegment):
        file = ".index" if segment.index is None else ".log"
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=file))
    path = f"{location.partition.directory}/{segment.name}.index"
    slots = segment.offset_index
    entries = tuple(
        f"offset: {slot['offset']} position: {slot['position']}" for slot in slots[: block["lines"]]
    )
    batches = segment.batches()
    # in the samples, the position of each entry is the start of a batch
    rows = np.searchsorted(batches["position"], slots["position"])
    last_offsets = batches["last_offset"][np.minimum(rows, len(batches) - 1)]
    wrong = tuple(
        f"  Index offset: {offset}, log offset: {last_offset}"
        for offset, last_offset in zip(slots["offset"], last_offsets, strict=True)
        if offset != last_offset
    )
    mismatches = (f"Mismatches in :/…/{path}", *wrong) if wrong else ()
    return IndexDump(path, entries, len(slots), mismatches)


def _draw_dump(dump: IndexDump, block: LessonBlock, key: str, *, is_answered: bool) -> list[Part]:
    entries = dump.entries
    mismatches = dump.mismatches
    if not is_answered:
        entries = tuple(f"offset: {UNKNOWN} position: {UNKNOWN}" for _ in entries)
        mismatches = ()
    more = ("…",) if len(entries) < dump.count else ()
    lines = (f"$ {COMMAND} {dump.path}", f"Dumping {dump.path}", *entries, *more, *mismatches)
    caption = say("index_dump.below", source=block["data"])
    head = elements.figure_head_html(say("index_dump.title"), caption)
    return [head, CodeText("\n".join(lines))]


DUMP = quiz_figure(_make_dump, _draw_dump, block_location.to_segment)


def _make_lanes(block: LessonBlock) -> TransactionLanesView:
    location = block_location.locate(block)
    transactions = transaction_jobs.get_or_start(location.snapshot, location.partition).wait()
    assert transactions is not None  # `wait` has no timeout here
    base_offsets = [segment.base_offset for segment in location.partition.live]
    first_offset = location.segment.base_offset if block["offset"] is None else block["offset"]
    return transaction_lanes.view(
        transactions,
        first_offset,
        base_offsets,
        read_runs=partial(read_committed.read_runs, location.segment, transactions),
    )


TRANSACTIONS = drawn_figure(
    _make_lanes,
    partial(block_location.to_tab, block_location.to_segment, "Transactions"),
    (transaction_lanes.figure, transaction_lanes.question_figure),
    heads=transaction_lanes.HEADS,
    rows=transaction_lanes.rows,
    kinds="llrllrr",
    legend=partial(segment_widgets.lanes_legend, ("committed", "aborted", "open", "marker")),
    answer_legend=segment_widgets.transactions_legend,
)
