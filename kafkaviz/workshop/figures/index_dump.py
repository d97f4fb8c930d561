"""The output of Kafka's dump tool for an index of a real segment."""

from dataclasses import dataclass

import numpy as np

from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, Code, LessonFigure, Part
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

COMMAND = "kafka-dump-log.sh --files"


@dataclass(frozen=True)
class IndexDump:
    """The dump of an .index file.

    Attributes:
        path: the path given to the command.
        entries: one line per entry, as many as the block asks for.
        count: the number of entries in the file.
        mismatches: the lines after the entries if any entry is wrong.
    """

    location: SegmentLocation
    path: str
    entries: tuple[str, ...]
    count: int
    mismatches: tuple[str, ...]

    def text(self, entries: tuple[str, ...], mismatches: tuple[str, ...]) -> str:
        more = ("…",) if len(self.entries) < self.count else ()
        lines = (f"$ {COMMAND} {self.path}", f"Dumping {self.path}", *entries, *more, *mismatches)
        return "\n".join(lines)


def _make(block: LessonBlock) -> IndexDump:
    """Dumps the index of a block.

    Raises:
        NoValue: the segment has no .index, or no .log to compare it with.
    """
    location = block_location.locate(block)
    segment = location.segment
    if segment.index is None or not isinstance(segment, LogSegment):
        file = ".index" if segment.index is None else ".log"
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=file))
    path = f"{location.partition.directory}/{segment.name}.index"
    slots = segment.offset_index
    batches = segment.batches()
    entries = tuple(
        f"offset: {slot['offset']} position: {slot['position']}" for slot in slots[: block["lines"]]
    )
    wrong = tuple(
        f"  Index offset: {offset}, log offset: {last_offset}"
        for offset, last_offset in _mismatches(slots, batches)
    )
    mismatches = (f"Mismatches in :/…/{path}", *wrong) if wrong else ()
    return IndexDump(location, path, entries, len(slots), mismatches)


def _mismatches(slots: np.ndarray, batches: np.ndarray) -> list[tuple[int, int]]:
    """Returns each entry's offset and the last offset of its batch, if they differ.

    The tool reads the batch at an entry's position. In the samples every position has one.
    """
    rows = np.searchsorted(batches["position"], slots["position"])
    last_offsets = batches["last_offset"][np.minimum(rows, len(batches) - 1)]
    return [
        (int(offset), int(last_offset))
        for offset, last_offset in zip(slots["offset"], last_offsets, strict=True)
        if offset != last_offset
    ]


def _draw(dump: IndexDump, block: LessonBlock, key: str) -> list[Part]:
    return _parts(block, dump.text(dump.entries, dump.mismatches))


def _draw_question(dump: IndexDump, block: LessonBlock, key: str) -> list[Part]:
    """Returns the same number of lines without values, and no mismatches."""
    unknown = tuple(f"offset: {UNKNOWN} position: {UNKNOWN}" for _ in dump.entries)
    return _parts(block, dump.text(unknown, ()))


def _parts(block: LessonBlock, text: str) -> list[Part]:
    caption = say("index_dump.below", source=block["data"])
    return [elements.figure_head_html(say("index_dump.title"), caption), Code(text)]


DUMP = LessonFigure(_make, _draw, block_location.to_segment, question=_draw_question)
