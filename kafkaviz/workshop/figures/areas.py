"""Sizes as areas: the three files of a real segment, its batches, and the header of a batch."""

from typing import Any, cast

from kafkaviz.app.widgets.tables import table_html
from kafkaviz.figures.segment import file_areas
from kafkaviz.figures.segment.file_areas import FileAreasView
from kafkaviz.figures.text.sentences import join_semicolon
from kafkaviz.format import spans_batch
from kafkaviz.format.batch import CODEC_MASK, HEADER_BYTES, MAGIC_2
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.workshop.figures import batch_areas, block_location
from kafkaviz.workshop.figures.batch_areas import (
    BatchArea,
    BatchAreasView,
    HeaderAreasView,
    RecordArea,
)
from kafkaviz.workshop.figures.figure import drawn_figure
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

AROUND = 2  # batches before and after the one that holds the offset
FILE_HEADS = (
    "workshop.file",
    "segment.bytes_heading",
    "file_areas.head_share",
    "file_areas.head_content",
)
BATCH_HEADS = (
    "common.offsets",
    "workshop.byte",
    "batch_areas.head_bytes",
    "batch_areas.head_header",
    "common.records",
)
HEADER_HEADS = ("workshop.field", "batch_areas.head_field_bytes", "batch_areas.head_covered")


def _segment_name(block: LessonBlock) -> str:
    location = block_location.locate(block)
    return f"{location.partition.directory}/{location.segment.name}"


# ---- the files


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
        segment=_segment_name(block),
        source=block["data"],
    )


def _files_table(view: FileAreasView) -> str:
    return table_html(list(map(say, FILE_HEADS)), file_areas.rows(view), "mrrl")


FILE_AREAS = drawn_figure(
    _make_files,
    block_location.to_segment,
    (file_areas.figure, file_areas.question_figure),
    _files_table,
    words=file_areas.describe,
    question_words=lambda view: f"{view.files[0].suffix} {view.files[0].size_bytes} B",
)


# ---- batches


def _batch_area(segment: LogSegment, row: Any) -> BatchArea:
    """Returns a batch with its records.

    Raises:
        NoValue: the batch has an old format, or its records are compressed.
    """
    if row["magic"] != MAGIC_2 or row["attributes"] & CODEC_MASK:
        raise NoValue(message("batch_areas.legacy", offset=row["base_offset"], magic=row["magic"]))
    return BatchArea(
        int(row["position"]),
        int(row["size_bytes"]),
        int(row["base_offset"]),
        int(row["last_offset"]),
        tuple(
            RecordArea(record.offset, record.size_bytes)
            for record in segment.records(int(row["position"]))
        ),
    )


def _make_batches(block: LessonBlock) -> BatchAreasView:
    location, anatomy = block_location.anatomy(block)
    row = block_location.rows_around(anatomy, block).row
    segment = cast(LogSegment, location.segment)
    return batch_areas.view(
        [
            _batch_area(segment, batch)
            for batch in anatomy.batches.window(row - AROUND, row + AROUND + 1)
        ],
        block["offset"],
        _segment_name(block),
        block["data"],
    )


def _batches_table(view: BatchAreasView) -> str:
    return table_html(list(map(say, BATCH_HEADS)), batch_areas.rows(view), "rrrrr", view.answer)


BATCH_AREAS = drawn_figure(
    _make_batches,
    block_location.to_segment,
    (batch_areas.figure, batch_areas.question_figure),
    _batches_table,
    words=batch_areas.describe,
    question_words=batch_areas.describe,
)


# ---- the header of a batch


def _make_header(block: LessonBlock) -> HeaderAreasView:
    location, anatomy = block_location.anatomy(block)
    row = block_location.rows_around(anatomy, block).row
    segment = cast(LogSegment, location.segment)
    batch = _batch_area(segment, anatomy.batches.row(row))
    fields = [
        span
        for span in spans_batch.batch(segment.batch_bytes(batch.position))
        if span.end <= HEADER_BYTES
    ]
    return batch_areas.header_view(batch, fields, _segment_name(block), block["data"])


def _header_words(view: HeaderAreasView) -> str:
    return join_semicolon(" ".join(row[:2]) for row in batch_areas.header_rows(view))


def _header_table(view: HeaderAreasView) -> str:
    return table_html(list(map(say, HEADER_HEADS)), batch_areas.header_rows(view), "mrl")


HEADER_AREAS = drawn_figure(
    _make_header,
    block_location.to_segment,
    (batch_areas.header_figure, batch_areas.header_question_figure),
    _header_table,
    words=_header_words,
    question_words=_header_words,
)
