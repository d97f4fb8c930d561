"""Two figures: areas in proportion to the bytes of batches, and one batch's header, magnified."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import plotly.graph_objects as go

from kafkaviz.binary.layouts import Span
from kafkaviz.figures import theme
from kafkaviz.format import spans_batch
from kafkaviz.format.batch import CODEC_MASK, CRC_START, HEADER_BYTES, MAGIC_2, MAGIC_END
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, render, say, say_count
from kafkaviz.render.sentences import join_semicolon
from kafkaviz.units import format_count, format_percent
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import drawn_figure, hover_points, note
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

HEIGHT_PX = 326
LABEL_PX = 58
TOP_PX = 40
GAP = 0.12  # gap between the squares of two batches, as a share of their mean side
BAR_TOP = 32
BAR_PX = 54
FIELDS_TOP = 150
FIELDS_PX = 136
HEADER_HEIGHT_PX = 332
AROUND = 2  # number of batches before and after the one that holds the target
BATCH_HEADS = (
    "common.offsets",
    "workshop.byte",
    "batch_areas.head_bytes",
    "batch_areas.head_header",
    "common.records",
)
HEADER_HEADS = ("workshop.field", "batch_areas.head_field_bytes", "batch_areas.head_covered")


@dataclass(frozen=True)
class BatchArea:
    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    records: tuple[BatchRecord, ...]


@dataclass(frozen=True, kw_only=True)
class BatchAreasView:
    """Consecutive batches of a .log. `batches[answer]` holds the offset `target`."""

    title: str
    question: str
    caption: str
    batches: tuple[BatchArea, ...]
    target: int
    answer: int


def rows(areas: BatchAreasView) -> list[tuple[str, ...]]:
    """Returns a row per batch: offsets, position, bytes, the header's share, number of records."""
    return [
        (
            _offsets(batch),
            format_count(batch.position),
            format_count(batch.size_bytes),
            format_percent(HEADER_BYTES, batch.size_bytes),
            format_count(len(batch.records)),
        )
        for batch in areas.batches
    ]


def describe(areas: BatchAreasView) -> str:
    return join_semicolon(_batch_label(batch, " ") for batch in areas.batches)


def question_figure(areas: BatchAreasView, mode: str) -> go.Figure:
    return figure(areas, mode, is_answered=False)


def figure(areas: BatchAreasView, mode: str, *, is_answered: bool = True) -> go.Figure:
    colours = theme.colours(mode)
    sides = [batch.size_bytes**0.5 for batch in areas.batches]
    gap = GAP * sum(sides) / len(sides) + 12
    lefts = [sum(sides[:number]) + gap * (number + 0.5) for number in range(len(sides))]
    middles = [left + side / 2 for left, side in zip(lefts, sides, strict=True)]
    tallest = max(sides)
    shapes = []
    notes = []
    for number, batch in enumerate(areas.batches):
        shapes += _batch_shapes(batch, lefts[number], areas.target, colours)
        colour = colours["hit_text" if is_answered and number == areas.answer else "ink_2"]
        label = note(middles[number], 0, _batch_label(batch, "<br>"), colour, size=12)
        notes.append(label | {"xanchor": "center", "yanchor": "top", "yshift": -4})
    batch = areas.batches[areas.answer]
    left = lefts[areas.answer]
    side = sides[areas.answer]
    middle = middles[areas.answer]
    if is_answered:
        frame = {"color": colours["hit"], "width": 3}
        shapes.append(theme.rectangle(left, left + side, 0, side, line=frame))
    line = {"color": colours["hit" if is_answered else "ink"], "width": 1.2}
    shapes.append(theme.straight_line(middle, middle, side, 1.04 * tallest, line=line))
    text = say(
        "batch_areas.sent" if is_answered else "batch_areas.asked",
        offset=areas.target,
        first=batch.base_offset,
        position=batch.position,
        end=batch.position + batch.size_bytes - 1,
    )
    title = note(middle, 1, f"<b>{text}</b>", colours["hit_text" if is_answered else "ink"])
    place = {"xanchor": "center", "yref": "paper", "yanchor": "bottom", "yshift": 12}
    hover_texts = [
        say(
            "batch_areas.hover",
            offsets=_offsets(batch),
            share=format_percent(HEADER_BYTES, batch.size_bytes),
        )
        for batch in areas.batches
    ]
    halves = [side / 2 for side in sides]
    axis = {"visible": False, "fixedrange": True}
    chart = go.Figure(hover_points("batches", middles, halves, hover_texts, size=24))
    return chart.update_layout(
        theme.chart_layout(mode, HEIGHT_PX, (0, 0, TOP_PX, LABEL_PX)),
        hovermode="closest",
        xaxis=axis | {"range": [0, lefts[-1] + sides[-1] + gap / 2]},
        yaxis=axis | {"range": [0, tallest]},
        shapes=shapes,
        annotations=[*notes, title | place],
    )


def _offsets(batch: BatchArea) -> str:
    return f"{format_count(batch.base_offset)}–{format_count(batch.last_offset)}"


def _batch_label(batch: BatchArea, separator: str) -> str:
    records = say_count("common.n_records", len(batch.records))
    return separator.join((_offsets(batch), f"{format_count(batch.size_bytes)} B", records))


def _batch_shapes(
    batch: BatchArea, left: float, target: int, colours: Mapping[str, str]
) -> list[dict]:
    """Returns rectangles that form a square: a batch's header, then its records.

    Areas are in proportion to bytes.
    """
    strips = [(HEADER_BYTES, "log")] + [
        (record.size_bytes, "offset" if record.offset == target else "log_soft")
        for record in batch.records
    ]
    shapes = []
    side = batch.size_bytes**0.5
    top = side
    line = {"color": colours["bg"], "width": 0.8}
    for size_bytes, fill in strips:
        bottom = top - side * size_bytes / batch.size_bytes
        strip = theme.area(colours[fill], x0=left, x1=left + side, y0=bottom, y1=top)
        shapes.append(strip | {"line": line})
        top = bottom
    return shapes


def _batch_area(segment: LogSegment, row: Any) -> BatchArea:
    if row["magic"] != MAGIC_2 or row["attributes"] & CODEC_MASK:
        raise NoValue(message("batch_areas.legacy", offset=row["base_offset"], magic=row["magic"]))
    names = ("position", "size_bytes", "base_offset", "last_offset")
    position, size_bytes, base_offset, last_offset = (int(row[name]) for name in names)
    records = tuple(segment.records(position))
    return BatchArea(position, size_bytes, base_offset, last_offset, records)


def _make_batches(block: LessonBlock) -> BatchAreasView:
    location, anatomy = block_location.anatomy(block)
    row = block_location.rows_around(anatomy, block).row
    segment = cast(LogSegment, location.segment)
    target = block["offset"]
    window = anatomy.batches.window(row - AROUND, row + AROUND + 1)
    batches = tuple(_batch_area(segment, batch) for batch in window)
    answer = next(number for number, batch in enumerate(batches) if target <= batch.last_offset)
    batch = batches[answer]
    name = f"{location.partition.directory}/{segment.name}"
    return BatchAreasView(
        title=say(
            "batch_areas.title",
            offset=target,
            first=batch.base_offset,
            last=batch.last_offset,
            size=batch.size_bytes,
        ),
        question=say("batch_areas.question", offset=target),
        caption=say("batch_areas.below", segment=name, source=block["data"]),
        batches=batches,
        target=target,
        answer=answer,
    )


BATCH_AREAS = drawn_figure(
    _make_batches,
    block_location.to_segment,
    (figure, question_figure),
    heads=BATCH_HEADS,
    rows=rows,
    kinds="rrrrr",
    marked_row=lambda view: view.answer,
    words=describe,
    question_words=describe,
)


@dataclass(frozen=True)
class HeaderAreasView:
    """A batch and the fields of its header. Positions count from the start of the batch."""

    title: str
    question: str
    caption: str
    batch: BatchArea
    fields: tuple[Span, ...]


def header_rows(areas: HeaderAreasView) -> list[tuple[str, str, str]]:
    """Returns a row per field: name, range of bytes, whether the checksum covers the field."""
    return [
        (
            render(field.name),
            f"{field.start}–{field.end - 1}",
            say("batch_areas.covered" if field.start >= CRC_START else "batch_areas.not_covered"),
        )
        for field in areas.fields
    ]


def header_question_figure(areas: HeaderAreasView, mode: str) -> go.Figure:
    return header_figure(areas, mode, is_answered=False)


def header_figure(areas: HeaderAreasView, mode: str, *, is_answered: bool = True) -> go.Figure:
    """Draws the view. x counts bytes of the batch; y counts pixels from the top."""
    colours = theme.colours(mode)
    size_bytes = areas.batch.size_bytes
    zoom = size_bytes / HEADER_BYTES
    axis = {"visible": False, "fixedrange": True}
    # a line below the header fields that are read to find the next batch
    step_y = FIELDS_TOP + FIELDS_PX + 21
    ink = {"color": colours["ink_2"], "width": 2}
    step_line = theme.straight_line(0, zoom * MAGIC_END, step_y, step_y, line=ink)
    step_text = say("batch_areas.steps", step=MAGIC_END)
    step_note = note(0, step_y + 13, step_text, colours["ink_2"], xanchor="left")
    hover_texts = [
        say(
            "batch_areas.hover_field",
            field=field.name,
            first=field.start,
            last=field.end - 1,
            value=field.value,
        )
        for field in areas.fields
    ]
    middles = [zoom * (field.start + field.end) / 2 for field in areas.fields]
    heights = [FIELDS_TOP + FIELDS_PX / 2] * len(areas.fields)
    chart = go.Figure(hover_points("fields", middles, heights, hover_texts, size=26))
    return chart.update_layout(
        theme.chart_layout(mode, HEADER_HEIGHT_PX, (1, 1, 0, 0)),
        hovermode="closest",
        xaxis=axis | {"range": [0, size_bytes]},
        yaxis=axis | {"range": [HEADER_HEIGHT_PX, 0]},
        shapes=[
            *_bar_shapes(areas, colours),
            *_field_shapes(areas, zoom, colours, is_answered=is_answered),
            step_line,
            *(_coverage_shapes(areas, zoom, colours) if is_answered else ()),
        ],
        annotations=[
            *_bar_notes(areas, colours),
            *_field_notes(areas, zoom, colours),
            step_note,
            *(_coverage_notes(areas, colours) if is_answered else ()),
        ],
    )


def _bar_shapes(areas: HeaderAreasView, colours: Mapping[str, str]) -> list[dict]:
    rows = {"y0": BAR_TOP, "y1": BAR_TOP + BAR_PX}
    shapes = [theme.area(colours["log"], x0=0, x1=HEADER_BYTES) | rows]
    first = HEADER_BYTES
    for record in areas.batch.records:
        last = first + record.size_bytes
        box = theme.area(colours["log_soft"], x0=first, x1=last) | rows
        shapes.append(box | {"line": {"color": colours["bg"], "width": 1.5}})
        first = last
    ray = {"color": colours["ink_3"], "width": 1}
    return shapes + [
        theme.straight_line(x, to_x, BAR_TOP + BAR_PX, FIELDS_TOP, line=ray, layer="below")
        for x, to_x in ((0, 0), (HEADER_BYTES, areas.batch.size_bytes))
    ]


def _field_shapes(
    areas: HeaderAreasView, zoom: float, colours: Mapping[str, str], *, is_answered: bool
) -> list[dict]:
    style = {
        "y0": FIELDS_TOP,
        "y1": FIELDS_TOP + FIELDS_PX,
        "line": {"color": colours["bg"], "width": 1.5},
    }
    faint = {"opacity": 0.35}
    return [
        theme.area(colours[f"b_{field.kind}"], x0=zoom * field.start, x1=zoom * field.end)
        | style
        | (faint if is_answered and field.start < CRC_START else {})
        for field in areas.fields
    ]


def _coverage_shapes(areas: HeaderAreasView, zoom: float, colours: Mapping[str, str]) -> list[dict]:
    line = {"color": colours["hit"], "width": 4}
    return [
        theme.straight_line(first, areas.batch.size_bytes, top, top, line=line)
        for first, top in ((CRC_START, BAR_TOP - 6), (zoom * CRC_START, FIELDS_TOP - 6))
    ]


def _bar_notes(areas: HeaderAreasView, colours: Mapping[str, str]) -> list[dict]:
    middle = BAR_TOP + BAR_PX / 2
    header = say("batch_areas.header", size=HEADER_BYTES)
    notes = [note(HEADER_BYTES / 2, middle, header, colours["on_log"], xanchor="center")]
    first = HEADER_BYTES
    for record in areas.batch.records:
        text = say("batch_areas.record", offset=record.offset, size=record.size_bytes)
        x = first + record.size_bytes / 2
        notes.append(note(x, middle, text, colours["ink_2"], xanchor="center"))
        first += record.size_bytes
    return notes


def _field_notes(areas: HeaderAreasView, zoom: float, colours: Mapping[str, str]) -> list[dict]:
    notes = []
    name_y = FIELDS_TOP + FIELDS_PX / 2
    size_y = FIELDS_TOP + FIELDS_PX + 11
    for field in areas.fields:
        x = zoom * (field.start + field.end) / 2
        name = render(field.name)
        size = str(field.end - field.start)
        notes += [
            note(x, name_y, name, colours["ink"], xanchor="center", textangle=-90),
            note(x, size_y, size, colours["ink_3"], xanchor="center", size=12),
        ]
    return notes


def _coverage_notes(areas: HeaderAreasView, colours: Mapping[str, str]) -> list[dict]:
    size_bytes = areas.batch.size_bytes
    covered = f"<b>{say('batch_areas.covers', n=size_bytes - CRC_START)}</b>"
    before = say("batch_areas.before", n=CRC_START)
    return [
        note(size_bytes, BAR_TOP - 18, covered, colours["hit_text"], xanchor="right"),
        note(0, FIELDS_TOP - 14, before, colours["ink_2"], xanchor="left"),
    ]


def _make_header(block: LessonBlock) -> HeaderAreasView:
    location, anatomy = block_location.anatomy(block)
    row = block_location.rows_around(anatomy, block).row
    segment = cast(LogSegment, location.segment)
    batch = _batch_area(segment, anatomy.batches.row(row))
    spans = spans_batch.batch(segment.batch_bytes(batch.position))
    return HeaderAreasView(
        title=say("batch_areas.header_title", first=CRC_START, last=batch.size_bytes - 1),
        question=say(
            "batch_areas.header_question",
            header=HEADER_BYTES,
            size=batch.size_bytes,
            share=format_percent(HEADER_BYTES, batch.size_bytes),
        ),
        caption=say(
            "batch_areas.header_below",
            offsets=_offsets(batch),
            segment=f"{location.partition.directory}/{segment.name}",
            source=block["data"],
        ),
        batch=batch,
        fields=tuple(span for span in spans if span.end <= HEADER_BYTES),
    )


def _header_words(view: HeaderAreasView) -> str:
    return join_semicolon(" ".join(row[:2]) for row in header_rows(view))


HEADER_AREAS = drawn_figure(
    _make_header,
    block_location.to_segment,
    (header_figure, header_question_figure),
    heads=HEADER_HEADS,
    rows=header_rows,
    kinds="mrl",
    words=_header_words,
    question_words=_header_words,
)
