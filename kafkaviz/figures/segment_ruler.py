"""What the segment ruler is sent: the title, the whole segment in columns, and the batches and entries around a window.

A segment of up to 5000 batches is sent whole, and the browser never asks again. Of a larger one a slice is sent, 2000 batches that
start at a multiple of 1000, so that a window can move some way before the next slice is needed. Offsets are sent from the segment's
base offset, because JavaScript's numbers are exact to 2**53 only; the base goes along as text.
"""

import json
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.density import density
from kafkaviz.analyse.links import NONE, Aim, containing, holding
from kafkaviz.analyse.tail import Tail
from kafkaviz.log.segment import Index

WHOLE_ROWS = 5000
SLICE_ROWS, STEP_ROWS = 2000, 1000
EXACT_ROWS = 1000  # up to here the overview draws each batch
COLUMNS = 1000  # of the overview beyond
SHADES = ("Plain", "Size", "Age")
GAPS_SHOWN = 4.81  # entries a window shows at first: what has room for its numbers
FIRST_ENTRY_AT = 0.45  # of the entries: a pin nobody chose stands a little before the middle
DAY_MS = 86_400_000
OFFSET_DIGITS = 19  # of the largest one; Python refuses to read thousands of digits
NO_BATCH = {
    "zeros": "all zeros: the file was made this long before anything was written",
    "torn": "the beginning of a batch and no more",
    "garbage": "none of which start a batch",
}
WITHOUT_INDEX = "A broker builds it from the log when it next loads this segment. Until then a search would start at byte 0."
WITHOUT_TIMEINDEX = "A broker makes an empty one when it next loads this segment, and takes the file’s time for that of the newest record."
RENAMED = {
    "deleted": "Its files are renamed .deleted and wait to be removed.",
    "cleaned": "Its files are .cleaned: a compaction was writing them.",
    "swap": "Its files are .swap: a compaction was putting them in place.",
    "delete": "The topic is deleted and its directory waits to be removed.",
    "future": "Its directory is being moved between log directories.",
    "stray": "The broker found it where it should not be.",
}


class Lane(NamedTuple):
    """One index file: how many slots it has, how many hold an entry, and what is said of the rest of them.

    words stand in the lane where it shows no entry; cut_bytes is what is left of a last slot that is not whole.
    """

    written: int
    slots: int
    unwritten: str
    words: str
    missing: bool
    cut_bytes: int


class Slice(NamedTuple):
    """The rows that are sent, from one of them up to another (not included), of how many, and the slots that belong to them."""

    from_row: int
    to_row: int
    rows: int
    from_slot: int
    to_slot: int
    from_time: int
    to_time: int


class Overview(NamedTuple):
    """The segment in equal columns: entries that point into each, and how dark its batches are, 0 to 255."""

    entries: np.ndarray
    shades: np.ndarray


class Asked(NamedTuple):
    """An offset somebody asked for, its row, and if it has none why not.

    "" is nobody's, and its row a telling one; slot and time are then the slots to look at, where they are what tells.
    """

    offset: str
    row: int | None
    why: str = ""
    slot: int = NONE
    time: int = NONE


@dataclass(frozen=True)
class RulerView:
    """All that the ruler draws; rows and slots count from 0 in the whole segment, positions and sizes are bytes of the .log."""

    title: str
    hint: str
    base_offset: int
    end_position: int  # behind the last batch
    log_bytes: int
    tail: Tail | None
    closing: str  # what is said of a time entry without an offset entry
    index: Lane
    times: Lane
    slice: Slice
    overview: Overview | None  # None: there are few enough batches to draw each
    asked: Asked
    span_bytes: int  # of a window that nobody has moved
    shade: str  # of SHADES
    darkest: tuple[int, int]  # the bytes or milliseconds drawn lightest and darkest
    batch_columns: dict[str, np.ndarray]
    entry_columns: dict[str, np.ndarray]
    time_columns: dict[str, np.ndarray]


def view(anatomy: Anatomy, asked: Asked, shade: str = "Plain", centre_row: int | None = None) -> RulerView:
    """The ruler of a segment with at least one batch.

    centre_row: the row around which to cut the slice of a large segment; by default the one that was asked for.
    """
    first_row = asked.row if asked.row is not None else telling(anatomy).row
    part = sliced(anatomy, first_row if centre_row is None else centre_row)
    darkest = _darkest(anatomy, shade)
    return RulerView(
        title=finding(anatomy),
        hint=_hint(shade, darkest),
        base_offset=anatomy.segment.base_offset,
        end_position=anatomy.end.position,
        log_bytes=anatomy.segment.log.size_bytes,
        tail=anatomy.tail,
        closing=closing(anatomy),
        index=_index_lane(anatomy),
        times=_time_lane(anatomy),
        slice=part,
        overview=_overview(anatomy, shade, darkest) if len(anatomy.batches) > EXACT_ROWS else None,
        asked=asked,
        span_bytes=_span(anatomy),
        shade=shade,
        darkest=darkest,
        batch_columns=_batch_columns(anatomy, part),
        entry_columns=_entry_columns(anatomy, part),
        time_columns=_time_columns(anatomy, part),
    )


def find(anatomy: Anatomy, text: str) -> Asked:
    """The row of the batch that holds an offset; for "" what to look at first."""
    if not text:
        return telling(anatomy)
    first, last = offsets(anatomy)
    digits = text.strip()
    if not digits.isascii() or not digits.isdigit():
        return Asked(text, None, "An offset is a whole number")
    if len(digits) > OFFSET_DIGITS or not first <= int(digits) <= last:
        return Asked(text, None, f"This segment holds {units.group(first)} – {units.group(last)}")
    return Asked(text, int(holding(anatomy.batches, np.array([int(digits)]))[0]))


def offsets(anatomy: Anatomy) -> tuple[int, int]:
    """The first and the last offset of a segment that has a batch."""
    first = int(anatomy.batches["base_offset"][0])
    return first if first >= 0 else anatomy.segment.base_offset, int(anatomy.batches["last_offset"].max())


def telling(anatomy: Anatomy) -> Asked:
    """What to show first: an entry that leads astray, the end of a file in use or cut, else an entry of several records in the middle."""
    links = anatomy.links
    if len(links.wrong_entries):
        slot = int(links.wrong_entries[0])
        return Asked("", int(max(links.entry_batch[slot], links.entry_home[slot], 0)), slot=slot)
    if len(links.wrong_times):
        time = int(links.wrong_times[0])
        return Asked("", int(max(links.time_batch[time], 0)), time=time)
    rows = np.flatnonzero(links.batch_slot != NONE)
    if not len(rows):
        return Asked("", len(anatomy.batches) // 2)
    if anatomy.tail or anatomy.index.unwritten or anatomy.index.trailing_bytes:
        return Asked("", _near_the_end(anatomy, rows))
    middle = rows[int(len(rows) * FIRST_ENTRY_AT) + 1 :]
    several = middle[anatomy.batches["record_count"][middle] >= 3]
    return Asked("", int(several[0] if len(several) else rows[len(rows) // 2]))


def _near_the_end(anatomy: Anatomy, rows: np.ndarray) -> int:
    """The last entry but two, or a later one if a window cannot show both that and the end."""
    last = rows[-3:]
    shown = anatomy.batches["position"][last] > anatomy.batches["position"][rows[-1]] - _span(anatomy) // 2
    return int(last[np.argmax(shown)])


def sliced(anatomy: Anatomy, centre_row: int) -> Slice:
    """The rows around one of them; always the same ones for rows that lie close together."""
    rows = len(anatomy.batches)
    start, stop = 0, rows
    if rows > WHOLE_ROWS:
        start = max(0, min((centre_row - STEP_ROWS // 2) // STEP_ROWS * STEP_ROWS, rows - SLICE_ROWS))
        stop = start + SLICE_ROWS
    if (start, stop) == (0, rows):
        return Slice(0, rows, rows, 0, len(anatomy.index.entries), 0, len(anatomy.times.entries))
    last_offset = anatomy.batches["last_offset"][stop - 1]
    from_slot, to_slot = max(0, int(anatomy.links.batch_via[start])), _slots_to(anatomy.index.entries, last_offset)
    after = anatomy.batches["last_offset"][start - 1] if start else -1
    from_time, to_time = _slots_to(anatomy.times.entries, after), _slots_to(anatomy.times.entries, last_offset)
    twins = anatomy.links.entry_time[from_slot:to_slot]
    twins = twins[twins != NONE]  # of an entry whose newest record came before the slice
    from_time = min(from_time, int(twins[0])) if len(twins) else from_time
    return Slice(
        start, stop, rows, from_slot, min(to_slot, from_slot + 2 * SLICE_ROWS), from_time, min(to_time, from_time + 2 * SLICE_ROWS)
    )


def _slots_to(entries: np.ndarray, offset: int) -> int:
    """How many slots there are up to the last one at or below an offset."""
    return int(np.searchsorted(np.maximum.accumulate(entries["offset"]), offset, side="right")) if len(entries) else 0


def centre(anatomy: Anatomy, position: int) -> int:
    """The row at a byte of the .log; the last one for a byte behind it."""
    row = int(containing(anatomy.batches, np.array([position]))[0])
    return row if row != NONE else len(anatomy.batches) - 1 if position > 0 else 0


# ---- words


def lead(anatomy: Anatomy, partition_state: str = "current") -> str:
    """The sentence below the page's title: how many batches, and how a search reaches them."""
    count, indexed = len(anatomy.batches), int(np.count_nonzero(anatomy.links.batch_slot != NONE))
    renamed = RENAMED.get(anatomy.segment.state) or RENAMED.get(partition_state, "")
    if not count:
        return renamed
    batches = f"{units.group(count)} batch{'' if count == 1 else 'es'} in {units.size(anatomy.end.position)}"
    if not indexed:
        said = f"{batches}, none with an index entry: a search steps from the first one on."
    else:
        have = f"{units.group(indexed)} {'has' if indexed == 1 else 'have'} an index entry"
        others = units.group(count - indexed)
        said = f"{batches}. {have}; the other {others} {'is' if others == '1' else 'are'} reached by stepping from one that has."
    return f"{said} {renamed}".strip()


def nothing(anatomy: Anatomy) -> tuple[str, str]:
    """What is said of a log without a whole batch, and why it is so."""
    tail = anatomy.tail
    if tail:
        size = f"{units.group(tail.size_bytes)} byte{'' if tail.size_bytes == 1 else 's'}"
        return "No whole batch in this log", f"It holds {size}, {NO_BATCH[tail.kind]}."
    made = f" Its .index was made {units.size(anatomy.segment.index.size_bytes)} long, for entries to come." if anatomy.index.slots else ""
    return "Nothing was written here yet", f"The log has 0 bytes. A broker makes the files of a segment before its first record.{made}"


def no_entry(anatomy: Anatomy) -> str:
    """Why an .index that is there holds no entry."""
    why = "The first batch of a segment never gets an entry, and the next one only after more than index.interval.bytes."
    return f"{why} {units.group(anatomy.index.slots)} slots are waiting." if anatomy.index.slots else why


def no_time(anatomy: Anatomy) -> str:
    """Why a .timeindex that is there holds no entry."""
    if (anatomy.batches["magic"] == 0).all():
        return "Messages of magic 0 have no timestamp."
    return "A time entry comes with an index entry, and once more when the segment is rolled or closed."


def finding(anatomy: Anatomy) -> str:
    """What this segment shows, the gravest first, as a sentence without a full stop."""
    for telling in (_astray, _index_absent, _index_cut, _times_wrong, _index_unwritten, _times_unwritten, _tail_words, _times_absent):
        if words := telling(anatomy):
            return words
    return _sampling(anatomy)


def _astray(anatomy: Anatomy) -> str:
    wrong = anatomy.links.wrong_entries
    if not len(wrong):
        return ""
    slot = int(wrong[0])
    if len(wrong) > 1:
        return f"{units.group(len(wrong))} entries of the index lead searches astray, the first in slot {units.group(slot)}"
    missed = missed_offsets(anatomy, slot)
    if missed:
        return (
            f"Slot {units.group(slot)} points past its batch: offsets {units.group(missed[0])} – {units.group(missed[1])} cannot be found"
        )
    where = {Aim.INSIDE: "into the middle of a batch", Aim.BEYOND: "beyond the last batch"}.get(Aim(int(anatomy.links.entry_aim[slot])))
    return f"Slot {units.group(slot)} points {where}" if where else f"The keys of the index do not grow at slot {units.group(slot)}"


def missed_offsets(anatomy: Anatomy, slot: int) -> tuple[int, int] | None:
    """The first and last offset that a search from this slot passes over, where it points past the batch of its key."""
    links, entries = anatomy.links, anatomy.index.entries
    if links.entry_aim[slot] != Aim.PAST:
        return None
    last = int(anatomy.batches["base_offset"][links.entry_batch[slot]]) - 1
    if slot + 1 < len(entries):
        last = min(last, int(entries["offset"][slot + 1]) - 1)
    return int(entries["offset"][slot]), last


def _index_absent(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.index else "There is no .index: every search in this segment starts at byte 0"


def _index_cut(anatomy: Anatomy) -> str:
    for index, name, size_bytes in ((anatomy.index, "index", 8), (anatomy.times, "time index", 12)):
        if index.trailing_bytes:
            return (
                f"The {name} ends inside an entry: {index.trailing_bytes} of {size_bytes} bytes follow slot {units.group(index.slots - 1)}"
            )
    return ""


def _times_wrong(anatomy: Anatomy) -> str:
    wrong = anatomy.links.wrong_times
    if not len(wrong):
        return ""
    slot = units.group(int(wrong[0]))
    if len(wrong) == 1:
        return f"Slot {slot} of the time index names a time that its batch does not hold"
    return f"{units.group(len(wrong))} entries of the time index disagree with the log, the first in slot {slot}"


def _index_unwritten(anatomy: Anatomy) -> str:
    index, file = anatomy.index, anatomy.segment.index
    if not index.unwritten:
        return ""
    if anatomy.segment.state == "active":
        created = units.size(file.size_bytes)
        if not len(index.entries):
            return f"The index was created at {created} and none of its {units.group(index.slots)} slots was written yet"
        unwritten = f"{units.group(index.unwritten)} of its {units.group(index.slots)} slots"
        return f"The index was created at {created} and {unwritten} were never written"
    return f"The last {units.group(index.unwritten)} of the index’s {units.group(index.slots)} slots are zeros"


def _times_unwritten(anatomy: Anatomy) -> str:
    if not anatomy.times.unwritten or anatomy.segment.state == "active":
        return ""
    return f"The time index ends in {units.group(anatomy.times.unwritten)} zero slots, so a search by time passes this segment over"


def _tail_words(anatomy: Anatomy) -> str:
    tail = anatomy.tail
    if not tail:
        return ""
    size = units.size(tail.size_bytes) if tail.size_bytes >= 1 << 20 else f"{units.group(tail.size_bytes)} bytes"
    return f"The log ends in {size} {'of zeros' if tail.kind == 'zeros' else 'that are no batch'}"


def _times_absent(anatomy: Anatomy) -> str:
    return "" if anatomy.segment.timeindex else "There is no .timeindex: a search by time has nothing to go by"


def _sampling(anatomy: Anatomy) -> str:
    """How the index samples a segment in which nothing is wrong."""
    entries, count = anatomy.index.entries, len(anatomy.batches)
    unit = "append" if (anatomy.links.entry_aim == Aim.COARSE).any() else "batch"
    if not len(entries):
        return (
            "One batch, and the first batch of a segment never gets an entry"
            if count == 1
            else "No batch has an entry: a search starts at byte 0"
        )
    if len(entries) == 1:
        return f"One entry, for the {unit} at byte {units.group(int(entries['position'][0]))}"
    if count > 2 and len(entries) == count - 1:
        return "Every batch but the first has an entry"
    median = density(entries, anatomy.links.batch_slot).gap_median_bytes
    return f"Every {units.group(median)} bytes or so, one {unit} gets an entry"


def closing(anatomy: Anatomy) -> str:
    """When a time entry without an offset entry was written, as far as the index is whole: only the last segment is open at a stop."""
    if anatomy.segment.state == "active":
        return "at a stop"
    return "" if anatomy.index.unwritten or anatomy.index.trailing_bytes or not anatomy.segment.index else "at the roll"


def _hint(shade: str, darkest: tuple[int, int]) -> str:
    low, high = darkest
    if shade == "Size":
        said = f"Darker is larger, {units.group(low)} – {units.group(high)} B." if low < high else f"Each batch takes {units.group(low)} B."
    elif shade == "Age":
        when = units.moment if high - low >= DAY_MS else units.clock
        said = f"Darker is newer, {when(low)} – {when(high)}."
    else:
        said = "An entry is written once more than index.interval.bytes have passed."
    return f"{said} Drag the window, scroll to zoom, click to pin."


def _index_lane(anatomy: Anatomy) -> Lane:
    missing = anatomy.segment.index is None
    words = "no .index: Kafka builds it from the log when it next loads this segment" if missing else "no entry"
    return _lane(anatomy, anatomy.index, words, missing)


def _time_lane(anatomy: Anatomy) -> Lane:
    missing = anatomy.segment.timeindex is None
    words = "no .timeindex: Kafka takes the time of the file for that of the newest record" if missing else "no entry"
    if not missing and (anatomy.batches["magic"] == 0).all():
        words = "no entry: messages of magic 0 have no timestamp"
    return _lane(anatomy, anatomy.times, words, missing)


def _lane(anatomy: Anatomy, index: Index, words: str, missing: bool) -> Lane:
    unwritten = "never written" if anatomy.segment.state == "active" else "zeros"
    return Lane(len(index.entries), index.slots, unwritten, words, missing, index.trailing_bytes)


# ---- numbers


def _span(anatomy: Anatomy) -> int:
    """A window with room for five entries; without entries, for forty batches; never less than one and a half of the median batch."""
    median = density(anatomy.index.entries, anatomy.links.batch_slot).gap_median_bytes
    batch = int(np.median(anatomy.batches["size_bytes"]))
    return max(int(median * GAPS_SHOWN) if median else 40 * batch, batch * 3 // 2)


def _darkest(anatomy: Anatomy, shade: str) -> tuple[int, int]:
    """The values drawn lightest and darkest: all but the largest hundredth of the sizes, and all times there are."""
    if shade == "Size":
        sizes = anatomy.batches["size_bytes"]
        return int(sizes.min()), int(np.sort(sizes)[int(0.99 * (len(sizes) - 1))])
    known = anatomy.batches["max_timestamp_ms"][anatomy.batches["max_timestamp_ms"] >= 0]
    return (int(known.min()), int(known.max())) if shade == "Age" and len(known) else (0, 0)


def _overview(anatomy: Anatomy, shade: str, darkest: tuple[int, int]) -> Overview:
    """The segment in columns of equal length; a column between two starts belongs to the batch that covers it."""
    width_bytes = max(1, anatomy.segment.log.size_bytes) / COLUMNS
    starts = np.minimum((anatomy.batches["position"] / width_bytes).astype(int), COLUMNS - 1)
    pointed = anatomy.index.entries["position"]
    pointed = pointed[(pointed >= 0) & (pointed < anatomy.segment.log.size_bytes)]
    entries = np.bincount(np.minimum((pointed / width_bytes).astype(int), COLUMNS - 1), minlength=COLUMNS)
    counts = np.bincount(starts, minlength=COLUMNS)
    if shade == "Plain":
        values, low, high = counts, 0, max(1, int(counts.max()))
    else:
        field = anatomy.batches["size_bytes" if shade == "Size" else "max_timestamp_ms"].astype(float)
        values, (low, high) = np.bincount(starts, field, COLUMNS) / np.maximum(counts, 1), darkest
    covering = np.maximum.accumulate(np.where(counts > 0, np.arange(COLUMNS), 0))
    shades = np.clip((values[covering] - low) / max(1, high - low), 0, 1) * 255
    shades[np.arange(COLUMNS) * width_bytes >= anatomy.end.position] = 0
    return Overview(np.minimum(entries, 255).astype(np.uint8), shades.astype(np.uint8))


def _batch_columns(anatomy: Anatomy, part: Slice) -> dict[str, np.ndarray]:
    rows, links, base = slice(part.from_row, part.to_row), anatomy.links, anatomy.segment.base_offset
    batches = anatomy.batches[rows]
    return {
        "position": batches["position"],
        "size": batches["size_bytes"],
        "first": batches["base_offset"] - base,
        "last": batches["last_offset"] - base,
        "newest": batches["max_timestamp_ms"],
        "records": batches["record_count"],
        "slot": links.batch_slot[rows],
        "via": links.batch_via[rows],
    }


def _entry_columns(anatomy: Anatomy, part: Slice) -> dict[str, np.ndarray]:
    slots, links = slice(part.from_slot, part.to_slot), anatomy.links
    entries = anatomy.index.entries[slots]
    return {
        "key": entries["relative_offset"],
        "position": entries["position"],
        "batch": links.entry_batch[slots],
        "home": links.entry_home[slots],
        "home_position": _position(anatomy, links.entry_home[slots]),
        "time": links.entry_time[slots],
        "aim": links.entry_aim[slots],
    }


def _time_columns(anatomy: Anatomy, part: Slice) -> dict[str, np.ndarray]:
    slots, links = slice(part.from_time, part.to_time), anatomy.links
    times = anatomy.times.entries[slots]
    return {
        "timestamp": times["timestamp_ms"],
        "offset": times["relative_offset"],
        "slot": links.time_slot[slots],
        "batch": links.time_batch[slots],
        "batch_position": _position(anatomy, links.time_batch[slots]),
        "true": links.time_true[slots],
    }


def _position(anatomy: Anatomy, rows: np.ndarray) -> np.ndarray:
    """Where the batches of these rows start; the end of the last one for NONE."""
    positions = np.append(anatomy.batches["position"], anatomy.end.position)
    return positions[np.where(rows == NONE, len(anatomy.batches), rows)]


def message(shown: RulerView, key: str, address: dict[str, str]) -> bytes:
    """The view as one stretch of bytes, which Streamlit hands to a component as it is: JSON, and the columns behind it.

    Eight bytes tell the length of the JSON, little-endian; columns follow as int64, little-endian, one after the other, then the
    overview as uint8. "sections" names where each table starts, counted from the end of the JSON.
    key: tells segments apart, and readings of one that changed. address: what else the address holds, for links to a pin.
    """
    tables = {name: getattr(shown, f"{name}_columns") for name in ("batch", "entry", "time")}
    packed = [pack(columns) for columns in tables.values()]
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
        "tail": {"kind": "zeros" if shown.tail.kind == "zeros" else "torn", "size": shown.tail.size_bytes} if shown.tail else None,
        "closing": shown.closing,
        "lanes": {"index": shown.index._asdict(), "time": shown.times._asdict()},
        "slice": shown.slice._asdict(),
        "asked": shown.asked._asdict(),
        "span": shown.span_bytes,
        "shade": {"by": shown.shade, "low": shown.darkest[0], "high": shown.darkest[1]},
        "columns": {name: list(columns) for name, columns in tables.items()},
        "sections": {name: starts[place : place + 2] for place, name in enumerate((*tables, "overview"))},
    }
    head = json.dumps(words).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + b"".join(packed)


def pack(columns: dict[str, np.ndarray]) -> bytes:
    """Columns as int64, little-endian, one after the other: the browser reads them as one BigInt64Array."""
    return np.concatenate([column.astype(np.int64) for column in columns.values()]).astype("<i8").tobytes()
