"""What Kafka's own dump tool prints of an index of a real segment."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from kafkaviz.app.lessons.grammar import LessonBlock, NoValue
from kafkaviz.app.lessons.live import block_location
from kafkaviz.app.lessons.live.figure import UNKNOWN, LessonFigure
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say

COMMAND = "kafka-dump-log.sh --files"


@dataclass(frozen=True)
class IndexDump:
    """The lines of an .index.

    Attributes:
        path: of the file in its broker directory, as it was typed.
        entries: a line each, as many as the block asks for.
        mismatches: what stands below the entries, if one is wrong.
    """

    location: SegmentLocation
    path: str
    entries: tuple[str, ...]
    count: int
    mismatches: tuple[str, ...]

    def text(self, entries: tuple[str, ...], mismatches: tuple[str, ...]) -> str:
        """All of it, the command first."""
        more = ("…",) if len(self.entries) < self.count else ()
        lines = (f"$ {COMMAND} {self.path}", f"Dumping {self.path}", *entries, *more, *mismatches)
        return "\n".join(lines)


def _make(block: LessonBlock) -> IndexDump:
    """The index of a block.

    Raises:
        NoValue: it has none, or no .log to hold it against.
    """
    location = block_location.locate(block)
    segment = location.segment
    if segment.index is None or not isinstance(segment, LogSegment):
        file = ".index" if segment.index is None else ".log"
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=file))
    path = f"{location.partition.directory}/{segment.name}.index"
    slots, batches = segment.offset_index, segment.batches()
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
    """Each entry whose batch ends with another offset, and that offset.

    The tool reads the batch at each entry's position; in a sample there is one.
    """
    rows = np.searchsorted(batches["position"], slots["position"])
    last_offsets = batches["last_offset"][np.minimum(rows, len(batches) - 1)]
    return [
        (int(offset), int(last_offset))
        for offset, last_offset in zip(slots["offset"], last_offsets, strict=True)
        if offset != last_offset
    ]


def _draw(dump: IndexDump, block: LessonBlock, key: str) -> None:
    _render(dump, block, dump.text(dump.entries, dump.mismatches))


def _draw_question(dump: IndexDump, block: LessonBlock, key: str) -> None:
    """As many lines, with nothing in them, and no word of what is wrong."""
    unknown = tuple(f"offset: {UNKNOWN} position: {UNKNOWN}" for _ in dump.entries)
    _render(dump, block, dump.text(unknown, ()))


def _render(dump: IndexDump, block: LessonBlock, text: str) -> None:
    elements.figure_head(say("index_dump.title"), say("index_dump.below", source=block["data"]))
    st.space(8)
    st.code(text, language=None, wrap_lines=True)


DUMP = LessonFigure(_make, _draw, block_location.to_segment, question=_draw_question)
