"""The data of the segment ruler.

It is the title, the lanes, the entire segment in columns, and the batches and entries around a
window.
"""

import json
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.analysis.segment.tail import Tail
from kafkaviz.figures.segment import segment_shade, segment_slice
from kafkaviz.figures.segment.segment_shade import SegmentOverview
from kafkaviz.figures.segment.segment_slice import Columns, Slice
from kafkaviz.figures.text import segment_text
from kafkaviz.figures.text.join_text import sentence_gap
from kafkaviz.log.segment import Index
from kafkaviz.messages import say, table


class IndexLane(NamedTuple):
    """One index file.

    Attributes:
        written: number of slots that hold an entry.
        unwritten: the kind of the other slots, "never_written" or "zeros".
        words: shown if the lane has no entry.
        cut_bytes: bytes of an incomplete last slot.
    """

    written: int
    slots: int
    unwritten: str
    words: str
    missing: bool
    cut_bytes: int


@dataclass(frozen=True, kw_only=True)
class RulerView:
    """Everything the ruler draws.

    Rows and slots count from 0 in the entire segment; positions and sizes are bytes of the .log.
    """

    title: str
    hint: str
    base_offset: int
    end_position: int  # the end of the last batch
    log_bytes: int
    tail: Tail | None
    # when a time entry without an offset entry was written; see segment_text.closing_event
    closing_event: str
    index: IndexLane
    times: IndexLane
    slice: Slice
    overview: SegmentOverview | None  # None if there are few enough batches to draw each
    selection: Selection
    missing_reason: str  # why the requested offset is not here
    span_bytes: int  # size of the window before a reader moves it
    shade: str  # one of SHADES
    shade_range: tuple[int, int]  # the bytes or milliseconds drawn lightest and darkest
    columns: dict[str, Columns]  # keys: "batch", "entry" and "time"


def view(
    anatomy: Anatomy, row_selection: Selection, shade: str = "Plain", centre_row: int | None = None
) -> RulerView:
    """Returns the ruler of a segment with at least one batch.

    Args:
        centre_row: the row in the middle of the slice of a large segment; by default the requested
            one.
    """
    centre = (
        row_selection.row
        if row_selection.row is not None
        else selection.default_selection(anatomy).row
    )
    row_slice = segment_slice.find_slice(
        anatomy, cast(int, centre) if centre_row is None else centre_row
    )
    shade_range = segment_shade.shade_range(anatomy, shade)
    return RulerView(
        title=segment_text.headline(anatomy),
        hint=segment_shade.hint_text(shade, shade_range),
        base_offset=anatomy.segment.base_offset,
        end_position=anatomy.end.position,
        log_bytes=anatomy.segment.log.size_bytes,
        tail=anatomy.tail,
        closing_event=segment_text.closing_event(anatomy),
        index=_index_lane(anatomy),
        times=_time_lane(anatomy),
        slice=row_slice,
        overview=segment_shade.build_overview(anatomy, shade, shade_range),
        selection=row_selection,
        missing_reason=segment_text.missing_reason(anatomy, row_selection),
        span_bytes=selection.window_bytes(anatomy),
        shade=shade,
        shade_range=shade_range,
        columns=segment_slice.build_columns(anatomy, row_slice),
    )


def _index_lane(anatomy: Anatomy) -> IndexLane:
    is_missing = anatomy.segment.index is None
    text = say("ruler.without_index" if is_missing else "ruler.no_entry")
    return _lane(anatomy, anatomy.index, text, is_missing=is_missing)


def _time_lane(anatomy: Anatomy) -> IndexLane:
    is_missing = anatomy.segment.timeindex is None
    empty_key = "ruler.without_time" if anatomy.counts.is_without_time else "ruler.no_entry"
    return _lane(
        anatomy,
        anatomy.times,
        say("ruler.without_timeindex" if is_missing else empty_key),
        is_missing=is_missing,
    )


def _lane(anatomy: Anatomy, index: Index, text: str, *, is_missing: bool) -> IndexLane:
    unwritten = "never_written" if anatomy.segment.state == "active" else "zeros"
    return IndexLane(
        len(index.entries), index.slots, unwritten, text, is_missing, index.trailing_bytes
    )


def browser_payload(ruler: RulerView, key: str, address: dict[str, str]) -> bytes:
    """Returns the view as bytes, which Streamlit passes to a component unchanged.

    The first eight bytes are the length of the JSON (little-endian). After the JSON come the
    columns as little-endian int64, one after the other, and the overview as uint8. "sections" gives
    the start of each table, counted from the end of the JSON.

    Args:
        key: changes with the segment and with its content.
        address: the other parameters of the address, for links to a pin.
    """
    sections = [pack(columns) for columns in ruler.columns.values()]
    sections.append(
        b"".join(overview_column.tobytes() for overview_column in ruler.overview)
        if ruler.overview
        else b""
    )
    starts = np.cumsum([0, *map(len, sections)]).tolist()
    payload = {
        "key": key,
        "address": address,
        "title": ruler.title,
        "hint": ruler.hint,
        "base": str(ruler.base_offset),
        "end": ruler.end_position,
        "size": ruler.log_bytes,
        "tail": {
            "kind": "zeros" if ruler.tail.kind == "zeros" else "torn",
            "size": ruler.tail.size_bytes,
        }
        if ruler.tail
        else None,
        "closing": ruler.closing_event,
        "lanes": {"index": ruler.index._asdict(), "time": ruler.times._asdict()},
        "slice": ruler.slice._asdict(),
        "asked": ruler.selection._asdict() | {"why": ruler.missing_reason},
        "words": table("ruler") | {"gap": sentence_gap()},
        "span": ruler.span_bytes,
        "shade": {"by": ruler.shade, "low": ruler.shade_range[0], "high": ruler.shade_range[1]},
        "columns": {name: list(columns) for name, columns in ruler.columns.items()},
        "sections": {
            name: starts[index : index + 2]
            for index, name in enumerate((*ruler.columns, "overview"))
        },
    }
    head = json.dumps(payload).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(sections)


def pack(columns: dict[str, np.ndarray]) -> bytes:
    """Returns columns as little-endian int64, one after the other.

    The browser reads them as one BigInt64Array.
    """
    return (
        np.concatenate([column.astype(np.int64) for column in columns.values()])
        .astype("<i8")
        .tobytes()
    )
