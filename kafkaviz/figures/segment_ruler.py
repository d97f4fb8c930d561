"""What the segment ruler is sent: the title, the lanes, the whole segment in columns, and the
batches and entries around a window.
"""

import json
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.analyse import pin
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.pin import Asked
from kafkaviz.analyse.tail import Tail
from kafkaviz.figures import segment_shade, segment_slice, segment_words
from kafkaviz.figures.listed import gap
from kafkaviz.figures.segment_shade import Overview
from kafkaviz.figures.segment_slice import Columns, Slice
from kafkaviz.log.segment import Index
from kafkaviz.words import say, table


class Lane(NamedTuple):
    """One index file: how many slots it has, how many hold an entry, and what is said of the rest
    of them.

    unwritten: "never_written" or "zeros". words stand in the lane where it shows no entry;
    cut_bytes is what is left of a last slot that is not whole.
    """

    written: int
    slots: int
    unwritten: str
    words: str
    missing: bool
    cut_bytes: int


@dataclass(frozen=True)
class RulerView:
    """All that the ruler draws; rows and slots count from 0 in the whole segment, positions and
    sizes are bytes of the .log.
    """

    title: str
    hint: str
    base_offset: int
    end_position: int  # behind the last batch
    log_bytes: int
    tail: Tail | None
    closing: str  # when a time entry without an offset entry was written: segment_words.closing
    index: Lane
    times: Lane
    slice: Slice
    overview: Overview | None  # None: there are few enough batches to draw each
    asked: Asked
    why: str  # why what was asked for is not here
    span_bytes: int  # of a window that nobody has moved
    shade: str  # of SHADES
    darkest: tuple[int, int]  # the bytes or milliseconds drawn lightest and darkest
    columns: dict[str, Columns]  # of "batch", "entry" and "time"


def view(
    anatomy: Anatomy, asked: Asked, shade: str = "Plain", centre_row: int | None = None
) -> RulerView:
    """The ruler of a segment with at least one batch.

    centre_row: the row around which to cut the slice of a large segment; by default the one that
    was asked for.
    """
    first_row = asked.row if asked.row is not None else pin.telling(anatomy).row
    part = segment_slice.sliced(anatomy, cast(int, first_row) if centre_row is None else centre_row)
    darkest = segment_shade.darkest(anatomy, shade)
    return RulerView(
        title=segment_words.finding(anatomy),
        hint=segment_shade.hint(shade, darkest),
        base_offset=anatomy.segment.base_offset,
        end_position=anatomy.end.position,
        log_bytes=anatomy.segment.log.size_bytes,
        tail=anatomy.tail,
        closing=segment_words.closing(anatomy),
        index=_index_lane(anatomy),
        times=_time_lane(anatomy),
        slice=part,
        overview=segment_shade.overview(anatomy, shade, darkest),
        asked=asked,
        why=segment_words.not_here(anatomy, asked),
        span_bytes=pin.window_bytes(anatomy),
        shade=shade,
        darkest=darkest,
        columns=segment_slice.columns(anatomy, part),
    )


def _index_lane(anatomy: Anatomy) -> Lane:
    missing = anatomy.segment.index is None
    words = say("ruler.without_index" if missing else "ruler.no_entry")
    return _lane(anatomy, anatomy.index, words, missing)


def _time_lane(anatomy: Anatomy) -> Lane:
    missing = anatomy.segment.timeindex is None
    empty = "ruler.without_time" if (anatomy.batches["magic"] == 0).all() else "ruler.no_entry"
    return _lane(
        anatomy, anatomy.times, say("ruler.without_timeindex" if missing else empty), missing
    )


def _lane(anatomy: Anatomy, index: Index, words: str, missing: bool) -> Lane:
    unwritten = "never_written" if anatomy.segment.state == "active" else "zeros"
    return Lane(len(index.entries), index.slots, unwritten, words, missing, index.trailing_bytes)


def message(shown: RulerView, key: str, address: dict[str, str]) -> bytes:
    """The view as one stretch of bytes, which Streamlit hands to a component as it is: JSON, and
    the columns behind it.

    Eight bytes tell the length of the JSON, little-endian; columns follow as int64, little-endian,
    one after the other, then the overview as uint8. "sections" names where each table starts,
    counted from the end of the JSON. key: tells segments apart, and readings of one that changed.
    address: what else the address holds, for links to a pin.
    """
    packed = [pack(columns) for columns in shown.columns.values()]
    packed.append(b"".join(part.tobytes() for part in shown.overview) if shown.overview else b"")
    starts = np.cumsum([0, *map(len, packed)]).tolist()
    words = {
        "key": key,
        "address": address,
        "title": shown.title,
        "hint": shown.hint,
        "base": str(shown.base_offset),
        "end": shown.end_position,
        "size": shown.log_bytes,
        "tail": {
            "kind": "zeros" if shown.tail.kind == "zeros" else "torn",
            "size": shown.tail.size_bytes,
        }
        if shown.tail
        else None,
        "closing": shown.closing,
        "lanes": {"index": shown.index._asdict(), "time": shown.times._asdict()},
        "slice": shown.slice._asdict(),
        "asked": shown.asked._asdict() | {"why": shown.why},
        "words": table("ruler") | {"gap": gap()},
        "span": shown.span_bytes,
        "shade": {"by": shown.shade, "low": shown.darkest[0], "high": shown.darkest[1]},
        "columns": {name: list(columns) for name, columns in shown.columns.items()},
        "sections": {
            name: starts[place : place + 2]
            for place, name in enumerate((*shown.columns, "overview"))
        },
    }
    head = json.dumps(words).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(packed)


def pack(columns: dict[str, np.ndarray]) -> bytes:
    """Columns as int64, little-endian, one after the other: the browser reads them as one
    BigInt64Array.
    """
    return (
        np.concatenate([column.astype(np.int64) for column in columns.values()])
        .astype("<i8")
        .tobytes()
    )
