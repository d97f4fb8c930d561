"""The data of the segment ruler: title, lanes, overview, and the batches in view or near the view.

A segment of up to 5000 batches is sent completely. A larger one is sent in slices of 2000 batches.
Each slice except the last starts at a batch whose number is a multiple of 1000. Offsets are
relative to the base offset of the segment, because JavaScript's numbers are exact only to 2**53.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import COLUMNS, Anatomy, Tail
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.binary.layouts import FieldDisplay, field_names
from kafkaviz.format import spans_batch
from kafkaviz.format.batch import BATCH, HEADER, LEGACY_HEADER
from kafkaviz.log.segment import Index
from kafkaviz.messages import say, table
from kafkaviz.render import segment_text
from kafkaviz.render.sentences import join_sentences, sentence_gap

SHADES = PLAIN, SIZE, AGE = "Plain", "Size", "Age"
EXACT_ROWS = 1000  # up to this many batches are drawn one by one


class SegmentOverview(NamedTuple):
    """The overview of a segment: the .log divided into columns of equal length."""

    entries: np.ndarray  # number of index entries that point into each column, at most 255
    shades: np.ndarray  # darkness of each column's batches, 0 to 255


def shade_range(anatomy: Anatomy, shade: str) -> tuple[int, int]:
    """Returns the (smallest, largest) size or time to shade. Ignores the largest 1 % of sizes."""
    if shade == "Size":
        last_rank = len(anatomy.batches) - 1
        return int(anatomy.counts.sizes[0]), anatomy.counts.size_at(int(0.99 * last_rank))
    return (shade == "Age" and anatomy.counts.known_ms) or (0, 0)


def hint_text(shade: str, value_range: tuple[int, int]) -> str:
    """Explains the shades and the controls of the figure."""
    low, high = value_range
    if shade == "Size" and low < high:
        low_text = units.format_count(low)
        shade_text = say("ruler.by_size", low=low_text, high=high)
    elif shade == "Size":
        shade_text = say("ruler.all_of_size", size=low)
    elif shade == "Age":
        format_time = units.moment if high - low >= units.DAY_MS else units.clock
        shade_text = say("ruler.by_age", low=format_time(low), high=format_time(high))
    else:
        shade_text = say("ruler.by_interval")
    return join_sentences([shade_text, say("ruler.hint")])


def build_overview(
    anatomy: Anatomy, shade: str, value_range: tuple[int, int]
) -> SegmentOverview | None:
    """Returns the segment in columns; None if the batches are few enough to be drawn singly.

    A column in which no batch begins has the shade of the batch that covers it. `value_range` is
    the result of `shade_range`.
    """
    if len(anatomy.batches) <= EXACT_ROWS:
        return None
    width_bytes = max(1, anatomy.segment.log.size_bytes) / COLUMNS
    positions = anatomy.index.entries["position"]
    positions = positions[(positions >= 0) & (positions < anatomy.segment.log.size_bytes)]
    entry_columns = np.minimum((positions / width_bytes).astype(int), COLUMNS - 1)
    entries = np.bincount(entry_columns, minlength=COLUMNS)
    columns = anatomy.counts.columns
    counts = columns.batches
    if shade == "Plain":
        values = counts
        low = 0
        high = max(1, int(counts.max()))
    else:
        sums = columns.size_bytes if shade == "Size" else columns.max_timestamp_ms
        values = sums / np.maximum(counts, 1)
        low, high = value_range
    covering_columns = np.maximum.accumulate(np.where(counts > 0, np.arange(COLUMNS), 0))
    shades = np.clip((values[covering_columns] - low) / max(1, high - low), 0, 1) * 255
    shades[np.arange(COLUMNS) * width_bytes >= anatomy.end.position] = 0
    return SegmentOverview(np.minimum(entries, 255).astype(np.uint8), shades.astype(np.uint8))


HEX_FIELDS = ("crc", "attributes")
Columns = dict[str, np.ndarray]  # columns by name; those of one table have the same length
WHOLE_ROWS = 5000
SLICE_ROWS = 2000
STEP_ROWS = 1000


class Slice(NamedTuple):
    """A range of rows (batches) to send, and of slots in both indexes. Ends are exclusive."""

    from_row: int
    to_row: int
    rows: int  # the number of rows of the whole segment
    from_slot: int
    to_slot: int
    from_time: int
    to_time: int


def find_slice(anatomy: Anatomy, centre_row: int) -> Slice:
    """Returns the slice to send around a row. Rows that are close usually have the same slice."""
    rows = len(anatomy.batches)
    if rows <= WHOLE_ROWS:
        return Slice(0, rows, rows, 0, len(anatomy.index.entries), 0, len(anatomy.times.entries))
    start = (centre_row - STEP_ROWS // 2) // STEP_ROWS * STEP_ROWS
    start = max(0, min(start, rows - SLICE_ROWS))
    stop = start + SLICE_ROWS
    batches = anatomy.batches
    links = anatomy.links
    last_offset = batches.row(stop - 1)["last_offset"]
    from_slot = max(0, int(links.search_slots(batches, start, start + 1)[0]))
    to_slot = _slots_to(anatomy.index.entries, last_offset)
    last_before = batches.row(start - 1)["last_offset"] if start else -1
    from_time = _slots_to(anatomy.times.entries, last_before)
    to_time = _slots_to(anatomy.times.entries, last_offset)
    twin_slots = links.entry_time[from_slot:to_slot]
    twin_slots = twin_slots[twin_slots != NONE]
    if len(twin_slots):  # the newest record that an entry names may be in a batch before the slice
        from_time = min(from_time, int(twin_slots[0]))
    to_slot = min(to_slot, from_slot + 2 * SLICE_ROWS)
    to_time = min(to_time, from_time + 2 * SLICE_ROWS)
    return Slice(start, stop, rows, from_slot, to_slot, from_time, to_time)


def _slots_to(entries: np.ndarray, offset: int) -> int:
    if len(entries):
        return int(np.searchsorted(np.maximum.accumulate(entries["offset"]), offset, side="right"))
    return 0


def build_columns(anatomy: Anatomy, row_slice: Slice) -> dict[str, Columns]:
    """Returns what the ruler shows of a slice, as the columns of three tables.

    The keys are "batch" (batches), "entry" (slots of the .index) and "time" (slots of the
    .timeindex). `Links` in analysis/segment/links.py has the columns that link two tables.
    """
    links = anatomy.links
    rows = (row_slice.from_row, row_slice.to_row)
    slots = slice(row_slice.from_slot, row_slice.to_slot)
    times = slice(row_slice.from_time, row_slice.to_time)
    batches = anatomy.batches.window(*rows)
    base_offset = anatomy.segment.base_offset
    return {
        "batch": {
            **{name: batches[name] for name in field_names(BATCH)},
            **{name: batches[name] - base_offset for name in ("base_offset", "last_offset")},
            "slot": links.own_slots(*rows),
            "via": links.search_slots(anatomy.batches, *rows),
        },
        "entry": {
            "key": anatomy.index.entries["relative_offset"][slots],
            "position": anatomy.index.entries["position"][slots],
            "batch": links.entry_batch[slots],
            "home": links.entry_home[slots],
            "aim": links.entry_aim[slots],
            "time": links.entry_time[slots],
            "home_position": _positions_or_end(anatomy, links.home_position[slots]),
        },
        "time": {
            "timestamp": anatomy.times.entries["timestamp_ms"][times],
            "offset": anatomy.times.entries["relative_offset"][times],
            "batch": links.time_batch[times],
            "slot": links.time_slot[times],
            "true": links.time_true[times],
            "batch_position": _positions_or_end(anatomy, links.time_position[times]),
        },
    }


def _positions_or_end(anatomy: Anatomy, positions: np.ndarray) -> np.ndarray:
    return np.where(positions == NONE, anatomy.end.position, positions)


class IndexLane(NamedTuple):
    written: int  # number of slots that hold an entry
    slots: int
    unwritten: str  # the kind of the other slots, "never_written" or "zeros"
    words: str  # shown if the lane has no entry
    missing: bool
    cut_bytes: int  # bytes of an incomplete last slot


@dataclass(frozen=True, kw_only=True)
class RulerView:
    """The data that the segment ruler draws.

    Rows and slots count from 0 in the entire segment. Positions and sizes are bytes of the .log.
    """

    title: str
    hint: str
    base_offset: int
    end_position: int  # the end of the last batch
    log_bytes: int
    tail: Tail | None
    # the event that may have added a time entry but no offset entry; see segment_text.closing_event
    closing_event: str
    index: IndexLane
    times: IndexLane
    slice: Slice
    overview: SegmentOverview | None  # None if there are few enough batches to draw each
    selection: Selection
    missing_reason: str  # why the requested offset is not in this segment
    span_bytes: int  # bytes that the window shows before the reader moves it
    shade: str  # one of SHADES
    shade_range: tuple[int, int]  # the bytes or milliseconds drawn lightest and darkest
    columns: dict[str, Columns]  # keys: "batch", "entry" and "time"


def view(
    anatomy: Anatomy, row_selection: Selection, shade: str = "Plain", centre_row: int | None = None
) -> RulerView:
    """Returns the ruler of a segment with at least one batch.

    `centre_row` is the middle of the batches to send. None: the requested row, or a default row.
    """
    if centre_row is None:
        centre_row = row_selection.row
    if centre_row is None:
        centre_row = cast(int, selection.default_selection(anatomy).row)
    row_slice = find_slice(anatomy, centre_row)
    value_range = shade_range(anatomy, shade)
    return RulerView(
        title=segment_text.headline(anatomy),
        hint=hint_text(shade, value_range),
        base_offset=anatomy.segment.base_offset,
        end_position=anatomy.end.position,
        log_bytes=anatomy.segment.log.size_bytes,
        tail=anatomy.tail,
        closing_event=segment_text.closing_event(anatomy),
        index=_index_lane(anatomy),
        times=_time_lane(anatomy),
        slice=row_slice,
        overview=build_overview(anatomy, shade, value_range),
        selection=row_selection,
        missing_reason=segment_text.missing_reason(anatomy, row_selection),
        span_bytes=selection.window_bytes(anatomy),
        shade=shade,
        shade_range=value_range,
        columns=build_columns(anatomy, row_slice),
    )


def _index_lane(anatomy: Anatomy) -> IndexLane:
    is_missing = anatomy.segment.index is None
    text_key = "without_index" if is_missing else "no_entry"
    return _lane(anatomy, anatomy.index, text_key, is_missing=is_missing)


def _time_lane(anatomy: Anatomy) -> IndexLane:
    is_missing = anatomy.segment.timeindex is None
    text_key = "without_time" if anatomy.counts.is_without_time else "no_entry"
    if is_missing:
        text_key = "without_timeindex"
    return _lane(anatomy, anatomy.times, text_key, is_missing=is_missing)


def _lane(anatomy: Anatomy, index: Index, text_key: str, *, is_missing: bool) -> IndexLane:
    unwritten = "never_written" if anatomy.segment.state == "active" else "zeros"
    text = say(f"ruler.{text_key}")
    count = len(index.entries)
    return IndexLane(count, index.slots, unwritten, text, is_missing, index.trailing_bytes)


def browser_payload(ruler: RulerView, key: str, address: dict[str, str]) -> bytes:
    """Returns the view as bytes: length of the JSON (8 bytes), JSON, tables.

    A column is little-endian int64, and the overview is uint8. The field "sections" of the JSON has
    the start and end of each table, counted from the end of the JSON. `key` changes with the
    segment and its content. `address` has the URL parameters for links, without the offset.
    """
    sections = [pack(columns) for columns in ruler.columns.values()]
    sections.append(b"".join(column.tobytes() for column in ruler.overview or ()))
    starts = np.cumsum([0, *map(len, sections)]).tolist()
    tail = None
    if ruler.tail:
        tail_kind = "zeros" if ruler.tail.kind == "zeros" else "torn"
        tail = {"kind": tail_kind, "size": ruler.tail.size_bytes}
    payload = {
        "key": key,
        "address": address,
        "title": ruler.title,
        "hint": ruler.hint,
        "base": str(ruler.base_offset),
        "end": ruler.end_position,
        "size": ruler.log_bytes,
        "tail": tail,
        "closing": ruler.closing_event,
        "lanes": {"index": ruler.index._asdict(), "time": ruler.times._asdict()},
        "slice": ruler.slice._asdict(),
        "asked": ruler.selection._asdict() | {"why": ruler.missing_reason},
        "words": table("ruler") | {"gap": sentence_gap()},
        "span": ruler.span_bytes,
        "shade": {"by": ruler.shade, "low": ruler.shade_range[0], "high": ruler.shade_range[1]},
        "headers": [
            _header_fields(spans_batch.LEGACY_MAGIC_0, spans_batch.LEGACY_FIELDS),
            _header_fields(LEGACY_HEADER, spans_batch.LEGACY_FIELDS),
            _header_fields(HEADER, spans_batch.FIELDS),
        ],
        "columns": {name: list(columns) for name, columns in ruler.columns.items()},
        "sections": {
            name: starts[index : index + 2]
            for index, name in enumerate((*ruler.columns, "overview"))
        },
    }
    head = json.dumps(payload).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(sections)


def _header_fields(
    layout: np.dtype, displays: Mapping[str, FieldDisplay]
) -> list[tuple[str, int, str, bool]]:
    """Returns (name in Kafka, bytes, name in `layout`, is hexadecimal) of each field."""
    return [
        (displays[name].name, layout[name].itemsize, name, name in HEX_FIELDS)
        for name in field_names(layout)
    ]


def pack(columns: dict[str, np.ndarray]) -> bytes:
    """Returns the columns, one after the other, as a BigInt64Array: little-endian int64."""
    return np.concatenate([column.astype("<i8") for column in columns.values()]).tobytes()
