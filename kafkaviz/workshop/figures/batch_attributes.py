"""The attributes of real batches, bit by bit, and their producers: one column per batch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkaviz.app import page_state
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.binary.codec import CODECS
from kafkaviz.format import batch
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.search.log_view import NO_ROW
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, Destination, LessonFigure, Part
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

LOW_BITS = 0xFF  # one byte: the bits in use and one spare
THIN_SPACE = "\u202f"  # a space that does not break the line
NONE = -1  # stands for no producer id, epoch or sequence


@dataclass(frozen=True)
class SampleBatch:
    partition: str
    location: SegmentLocation
    header: np.void


def _make(block: LessonBlock) -> tuple[SampleBatch, ...]:
    """Finds the batches that a block names.

    Raises:
        NoValue: the block names no batch, or one that does not exist.
    """
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
    return SampleBatch(name, location, headers.row(row))


def rows(batches: tuple[SampleBatch, ...]) -> Iterator[tuple[str, ...]]:
    """Yields rows of bit numbers, their meaning, and the value in each batch."""
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
        *(_number(int(header[name])) for name in producer),
    )


def _number(number: int) -> str:
    return "–" if number == NONE else format_count(number)


def _draw(batches: tuple[SampleBatch, ...], block: LessonBlock, key: str) -> list[Part]:
    return _parts(batches, [*rows(batches)], block)


def _draw_question(batches: tuple[SampleBatch, ...], block: LessonBlock, key: str) -> list[Part]:
    """Returns the bits of each batch, with their meaning hidden."""
    first, *others = rows(batches)
    unknown = [(*row[:2], *[UNKNOWN] * len(batches)) for row in others]
    return _parts(batches, [first, *unknown], block)


def _parts(
    batches: tuple[SampleBatch, ...], cells: list[tuple[str, ...]], block: LessonBlock
) -> list[Part]:
    heads = [
        f"{batch_row.partition} {format_count(int(batch_row.header['base_offset']))}"
        for batch_row in batches
    ]
    return [
        elements.figure_head_html(
            say("attributes.title", count=len(batches)),
            say("attributes.below", source=block["data"]),
        ),
        table_html(
            [say("attributes.head_bits"), say("workshop.field"), *heads],
            cells,
            "rw" + "w" * len(batches),
        ),
    ]


def _to_segment(block: LessonBlock) -> Destination:
    partition, offset = block["batch"][0]
    batch_row = _find(block, partition, offset)
    return "Segment", batch_row.location.address | {
        page_state.PIN: str(offset),
        page_state.TAB: "Bytes",
        page_state.FILE: ".log",
    }


ATTRIBUTES = LessonFigure(_make, _draw, _to_segment, question=_draw_question)
