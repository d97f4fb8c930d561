"""Two figures: the bytes of a real file with their fields, and the bits of batch attributes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.segment.batch_table import NO_ROW
from kafkaviz.app import page_state
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frontend import byte_request, bytes_view
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import charts, elements
from kafkaviz.binary.codec import CODECS
from kafkaviz.figures.segment import segment_bytes
from kafkaviz.figures.segment.segment_bytes import BytesView, ByteWindow
from kafkaviz.format import batch
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import (
    PAPER_ROWS,
    UNKNOWN,
    Component,
    Destination,
    Part,
    block_key,
    frame,
    quiz_figure,
    titled_table,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

PAPER_FIELDS = 26  # maximum number of fields in the printed form
PAPER_BYTES = 16  # maximum number of bytes per field in the printed form


@dataclass(frozen=True)
class LessonFile:
    """A file whose bytes a lesson shows. `read` gets a ByteWindow as the keyword `window`."""

    location: SegmentLocation
    read: Callable[..., BytesView]

    def view(self, block: LessonBlock, key: str) -> tuple[BytesView, str]:
        """Returns the visible bytes of the file, and a key for the file's content.

        The bytes that are visible first are the same for all readers and are cached.
        """
        content_key = f"{block_key(block)} {self.location.snapshot.key}"
        request = byte_request(content_key, key)
        window = ByteWindow(request.get("outer"), request.get("inner"))
        if window == ByteWindow():
            view = charts.view(("bytes", content_key), partial(self.read, window=window))
            return view, content_key
        return self.read(window=window), content_key


def _make(block: LessonBlock) -> LessonFile:
    name = block["file"]
    if name not in segment_bytes.FILES:
        return _make_other_file(block)
    location, anatomy = block_location.anatomy(block)
    segment = location.segment
    if name not in segment_bytes.find_files(segment):
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=name))
    rows = block_location.rows_around(anatomy, block)
    initial = segment_bytes.InitialByte(block["byte"])
    return LessonFile(location, partial(segment_bytes.view, anatomy, name, *rows, initial=initial))


def _make_other_file(block: LessonBlock) -> LessonFile:
    location = block_location.locate(block)
    name = block["file"]
    files_by_name = {info.name: info for info in location.partition.other_files}
    if name not in files_by_name:
        raise NoValue(message("lesson.partition_has_no_file", partition=block["tp"], file=name))
    read = partial(segment_bytes.file_view, files_by_name[name], name, byte=block["byte"])
    return LessonFile(location, read)


def _draw(
    lesson_file: LessonFile, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    view, content_key = lesson_file.view(block, key)
    name = _name(lesson_file.location, block)
    parts: list[Part] = [elements.figure_head_html(name, say("workshop.bytes_below"))]
    if is_answered:
        legend = segment_bytes.legend(view)
        parts.append(elements.key((f"byte-{kind}", words) for kind, words in legend))
    else:
        view = segment_bytes.unnamed_view(view, block["byte"])
        content_key = f"{content_key} ?"
    data = segment_bytes.browser_payload(view, content_key)
    return [frame(key, *parts, Component(partial(bytes_view, data, key=key)), gap_px=10)]


def _name(location: SegmentLocation, block: LessonBlock) -> str:
    file = block["file"]
    if file.startswith("."):
        file = f"{location.segment.name}{file}"
    return f"{location.partition.directory}/{file}, {block['data']}"


def _on_paper(lesson_file: LessonFile, block: LessonBlock, key: str) -> list[Part]:
    pane = lesson_file.view(block, key)[0].outer
    index = next((number for number, span in enumerate(pane.spans) if span.end > pane.chosen), 0)
    first = 0 if index < PAPER_FIELDS else index - PAPER_ROWS
    heads = [say(f"workshop.{name}") for name in ("byte", "raw", "field", "value")]
    fields = [_field(span, pane) for span in pane.spans[first : first + PAPER_FIELDS]]
    return titled_table(_name(lesson_file.location, block), "", heads, fields, "rmlw")


def _field(span, pane) -> tuple[str, ...]:
    data = pane.data[max(0, span.start - pane.first) : span.end - pane.first]
    text = data[:PAPER_BYTES].hex(" ") + (" …" if len(data) > PAPER_BYTES else "")
    return units.format_count(span.start), text, span.name, str(span.value)[:60]


def _to_segment(block: LessonBlock) -> Destination:
    byte = {} if block["byte"] is None else {page_state.BYTE: str(block["byte"])}
    page, address = block_location.to_segment(block)
    return page, address | {page_state.TAB: "Bytes", page_state.FILE: block["file"]} | byte


BYTES = quiz_figure(_make, _draw, _to_segment, _on_paper)

LOW_BITS = 0xFF  # mask of the low byte, which contains all bits in use
THIN_SPACE = "\u202f"  # a thin no-break space
NONE = -1  # the value of a missing producer id, epoch or sequence


@dataclass(frozen=True)
class SampleBatch:
    location: SegmentLocation
    header: np.void


def _make_attributes(block: LessonBlock) -> tuple[SampleBatch, ...]:
    if not block["batch"]:
        raise NoValue(message("lesson.key_missing", key="batch"))
    return tuple(_find(block, partition, offset) for partition, offset in block["batch"])


def _find(block: LessonBlock, name: str, offset: int) -> SampleBatch:
    location = block_location.locate_offset(block["data"], name, offset)
    segment = location.segment
    if not isinstance(segment, LogSegment):
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=".log"))
    headers = segment_cache.read(segment).batches
    row = headers.row_holding_offset(offset)
    if row == NO_ROW or headers.row(row)["base_offset"] > offset:
        raise NoValue(message("attributes.no_batch", offset=offset, partition=name))
    return SampleBatch(location, headers.row(row))


def attribute_rows(batches: tuple[SampleBatch, ...]) -> Iterator[tuple[str, ...]]:
    """Yields rows: bit numbers, meaning, and the value in each batch."""
    columns = tuple(_values(batch_row.header) for batch_row in batches)
    names = (
        ("0–7", "attributes.bits"),
        ("0–2", "attributes.codec"),
        ("3", "attributes.timestamp_type"),
        ("4", "attributes.transactional"),
        ("5", "attributes.control"),
        ("6", "attributes.delete_horizon"),
        ("", "attributes.leader_epoch"),
        ("", "attributes.producer_id"),
        ("", "attributes.producer_epoch"),
        ("", "attributes.sequence"),
    )
    for place, (bits, name) in enumerate(names):
        yield (bits, say(name), *(column[place] for column in columns))


def _values(header: np.void) -> tuple[str, ...]:
    flags = (
        batch.is_log_append_time,
        batch.is_transactional,
        batch.is_control,
        batch.has_delete_horizon,
    )
    producer = ("producer_id", "producer_epoch", "base_sequence")
    bits = f"{int(header['attributes']) & LOW_BITS:08b}"
    return (
        f"{bits[:4]}{THIN_SPACE}{bits[4:]}",
        CODECS[int(batch.codec(header))],
        *(str(int(flag(header))) for flag in flags),
        format_count(int(header["leader_epoch"])),
        *("–" if header[name] == NONE else format_count(int(header[name])) for name in producer),
    )


def _draw_attributes(
    batches: tuple[SampleBatch, ...], block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    first, *others = attribute_rows(batches)
    if not is_answered:
        others = [(*row[:2], *[UNKNOWN] * len(batches)) for row in others]
    heads = [
        f"{batch_row.location.partition.directory} "
        f"{format_count(int(batch_row.header['base_offset']))}"
        for batch_row in batches
    ]
    return titled_table(
        say("attributes.title", count=len(batches)),
        say("attributes.below", source=block["data"]),
        [say("attributes.head_bits"), say("workshop.field"), *heads],
        [first, *others],
        "rw" + "w" * len(batches),
    )


def _to_batch(block: LessonBlock) -> Destination:
    partition, offset = block["batch"][0]
    location = _find(block, partition, offset).location
    bytes_tab = {page_state.PIN: str(offset), page_state.TAB: "Bytes", page_state.FILE: ".log"}
    return "Segment", location.address | bytes_tab


ATTRIBUTES = quiz_figure(_make_attributes, _draw_attributes, _to_batch)
