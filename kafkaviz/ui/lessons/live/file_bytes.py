"""The bytes of a real segment, or of a file beside it, each field named."""

from dataclasses import dataclass
from typing import cast

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures import segment_bytes
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.log.file import FileInfo
from kafkaviz.ui import parts, state
from kafkaviz.ui.components import bytes as bytes_door
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live import places
from kafkaviz.ui.lessons.live.figure import PAPER_ROWS, Live, Onward, told
from kafkaviz.ui.pick import InSegment
from kafkaviz.ui.tables import table
from kafkaviz.words import say

PAPER_FIELDS = 26  # of a file that is printed
PAPER_BYTES = 16  # of a field


@dataclass(frozen=True)
class Found:
    """A file of a segment, with what lies around an offset, or (beside) another file of its
    topic-partition.
    """

    place: InSegment
    anatomy: Anatomy | None = None
    around: Chosen | None = None
    beside: FileInfo | None = None

    def view(self, block: Block, key: str) -> tuple[segment_bytes.BytesView, str]:
        """The bytes that the component asked for, and the name of what it shows."""
        of = f"{told(block)} {self.place.listed.key}"
        said = bytes_door.wanted(of, key)
        wanted = segment_bytes.Wanted(said.get("outer"), said.get("inner"))
        if self.beside is not None:
            return segment_bytes.whole(self.beside, block["file"], wanted, block["byte"]), of
        return segment_bytes.view(
            cast(Anatomy, self.anatomy),
            block["file"],
            *cast(Chosen, self.around),
            wanted,
            segment_bytes.Look(block["byte"]),
        ), of


def _made(block: Block) -> Found:
    if block["file"] not in segment_bytes.FILES:
        return _beside(block)
    here, anatomy = places.anatomy(block)
    if block["file"] not in segment_bytes.files(here.segment):
        raise NoValue(f"the segment {here.segment.name} has no {block['file']}")
    return Found(here, anatomy, places.chosen(anatomy, block))


def _beside(block: Block) -> Found:
    here = places.place(block)
    known = {one.name: one for one in here.partition.others}
    if block["file"] not in known:
        raise NoValue(f"{block['tp']} has no file {block['file']}")
    return Found(here, beside=known[block["file"]])


def _draw(found: Found, block: Block, key: str) -> None:
    shown, of = found.view(block, key)
    with st.container(gap=10):
        parts.figure_head(_name(found.place, block), say("workshop.bytes_below"))
        st.html(parts.key((f"byte-{kind}", words) for kind, words in segment_bytes.legend(shown)))
        bytes_door.bytes_view(segment_bytes.message(shown, of), key=key)


def _name(here: InSegment, block: Block) -> str:
    file = f"{here.segment.name}{block['file']}" if block["file"].startswith(".") else block["file"]
    return f"{here.partition.directory}/{file}, {block['data']}"


def _on_paper(found: Found, block: Block, key: str) -> None:
    pane = found.view(block, key)[0].outer
    chosen = next((number for number, span in enumerate(pane.spans) if span.end > pane.chosen), 0)
    first = 0 if chosen < PAPER_FIELDS else chosen - PAPER_ROWS
    parts.figure_head(_name(found.place, block), "")
    heads = [say(f"workshop.{name}") for name in ("byte", "raw", "field", "value")]
    table(heads, [_field(span, pane) for span in pane.spans[first : first + PAPER_FIELDS]], "rmlw")


def _field(span, pane) -> tuple[str, ...]:
    """Where a field begins, its bytes, its name and its value."""
    data = pane.data[max(0, span.start - pane.first) : span.end - pane.first]
    text = data[:PAPER_BYTES].hex(" ") + (" …" if len(data) > PAPER_BYTES else "")
    return units.group(span.start), text, span.name, str(span.value)[:60]


def _onward(block: Block) -> Onward:
    byte = {} if block["byte"] is None else {state.BYTE: str(block["byte"])}
    page, address = places.to_segment(block)
    return page, address | {state.TAB: "Bytes", state.FILE: block["file"]} | byte


BYTES = Live(_made, _draw, _onward, _on_paper)
