"""A real segment to scale and as rows, and all segments of a topic-partition."""

from collections.abc import Iterator
from html import escape

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import pin
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures import segment_tables
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.ui import anatomies, parts, pick, segment_parts
from kafkaviz.ui.components import ruler as ruler_door
from kafkaviz.ui.lessons.grammar import Block
from kafkaviz.ui.lessons.live import places
from kafkaviz.ui.lessons.live.figure import Live
from kafkaviz.ui.pick import InSegment
from kafkaviz.words import say

Around = tuple[InSegment, Anatomy, Chosen]  # a segment, and what lies around the block's offset
ENDS = {"batches": ".log", "index": ".index", "time-index": ".timeindex"}


def _made(block: Block) -> Around:
    here, anatomy = places.anatomy(block)
    return here, anatomy, places.chosen(anatomy, block)


def _draw_ruler(made: Around, block: Block, key: str) -> None:
    here, anatomy, _ = made
    wanted = ruler_door.state("slice", anatomies.key(anatomy.segment), key)
    asked = pin.find(
        anatomy, wanted.get("offset") or ("" if block["offset"] is None else str(block["offset"]))
    )
    row = (
        int(wanted["row"])
        if "row" in wanted
        else pin.row_at(anatomy, int(wanted["position"]))
        if "position" in wanted
        else None
    )
    ruler_door.ruler(anatomies.message(anatomy, asked, "Plain", row, here.address), key=key)


def _ruler_on_paper(made: Around, block: Block, key: str) -> None:
    here, anatomy, around = made
    parts.figure_head(f"{here.partition.directory}/{here.segment.name}, {block['data']}", "")
    segment_parts.index(segment_tables.index_rows(anatomy, around))


def _draw_table(made: Around, block: Block, key: str) -> None:
    here, anatomy, around = made
    parts.figure_head(
        f"{here.partition.directory}/{here.segment.name}{ENDS[block['of']]}, {block['data']}",
        say("workshop.rows_below"),
    )
    st.space(8)
    if block["of"] == "batches":
        segment_parts.batches(segment_tables.batch_rows(anatomy, around))
    elif block["of"] == "index":
        segment_parts.index(segment_tables.index_rows(anatomy, around))
    else:
        segment_parts.time_index(segment_tables.time_rows(anatomy, around, ""))


def _made_all(block: Block) -> tuple[InSegment, int | None]:
    """The topic-partition, and the base offset of the segment that holds the block's offset."""
    here = places.place(block)
    return here, None if block["offset"] is None else pick.segment_of(
        here.partition, block["offset"]
    ).base_offset


def _draw_all(made: tuple[InSegment, int | None], block: Block, key: str) -> None:
    here, held = made
    columns = (("base_offset", ' class="r"'), ("files", ""), ("log_bytes", ' class="r"'))
    head = "".join(f"<th{kind}>{say(f'workshop.{name}')}</th>" for name, kind in columns)
    with st.container(key=f"kv_fig_{key}"):
        count = units.group(len(here.partition.live))
        parts.figure_head(
            say("workshop.segments_of", count=count, name=here.partition.directory),
            say("workshop.segments_below"),
        )
        parts.table(head, _segment_rows(here, held, block["offset"]))


def _segment_rows(here: InSegment, held: int | None, offset: int | None) -> Iterator[str]:
    """A segment a row; the one that holds the offset is marked."""
    for one in here.partition.live:
        ends = " ".join(file.path.suffix for file in one.files)
        mark = (
            f' <b style="color:var(--kv-hit-text)">✓ {units.group(offset)}</b>'
            if one.base_offset == held
            else ""
        )
        named = f'{parts.mono(one.name)}{mark}<div class="kv-fnt kv-sm">{escape(ends)}</div>'
        cells = f'<td class="r">{units.group(one.base_offset)}</td><td>{named}</td>'
        yield (
            f"<tr{' class=on' if mark else ''}>{cells}"
            f'<td class="r">{units.group(one.log.size_bytes)}</td></tr>'
        )


RULER = Live(_made, _draw_ruler, places.to_segment, _ruler_on_paper)
TABLE = Live(_made, _draw_table, places.to_segment)
SEGMENTS = Live(_made_all, _draw_all, places.to_segment)
