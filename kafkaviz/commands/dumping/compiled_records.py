"""The lines of records, many batches a call: of batches of magic 2 that are in order and hold text.

It prints what record_lines prints and stops before a batch that needs more than this: control
records, damaged ones, old messages, text that is no UTF-8, and decoders of Kafka's own topics.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from kafkaviz.binary.varint import VARINT_BYTES, scan, unfold32
from kafkaviz.commands.dumping.lines import NUMBER_BYTES, decimal
from kafkaviz.format.batch import CONTROL, LOG_APPEND_TIME
from kafkaviz.format.record import LEAST_BYTES, ROW, take_record

DONE, NEEDS_ROOM, OTHER = range(3)
ROOM_BYTES, ROOM_GAPS = 8 << 20, 1 << 16


def _bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


_OFFSET, _CREATE, _APPEND = (
    _bytes("| offset: "),
    _bytes(" CreateTime: "),
    _bytes(" LogAppendTime: "),
)
_KEY_SIZE, _VALUE_SIZE, _SEQUENCE = (
    _bytes(" keySize: "),
    _bytes(" valueSize: "),
    _bytes(" sequence: "),
)
_HEADERS, _KEY, _PAYLOAD, _END = (
    _bytes(" headerKeys: ["),
    _bytes(" key: "),
    _bytes(" payload: "),
    _bytes("]"),
)
_WORDS_BYTES = (
    sum(
        map(
            len,
            (_OFFSET, _APPEND, _KEY_SIZE, _VALUE_SIZE, _SEQUENCE, _HEADERS, _KEY, _PAYLOAD, _END),
        )
    )
    + 1
)
# of a record, without what its headers, key and value take
_LINE_BYTES = _WORDS_BYTES + 5 * NUMBER_BYTES
_LARGEST_INT = 2**31 - 1


@dataclass
class Written:
    """What a run of calls fills: lines, and pairs of offsets that do not follow each other.

    last_offset: of the record before, -1 before the first. room, gaps: buffers; used_bytes,
    used_gaps: how far they are filled.
    """

    last_offset: int = -1
    room: np.ndarray = field(default_factory=lambda: np.empty(ROOM_BYTES, np.uint8))
    gaps: np.ndarray = field(default_factory=lambda: np.empty((ROOM_GAPS, 2), np.int64))
    used_bytes: int = 0
    used_gaps: int = 0

    def take(self) -> tuple[bytes, list[list[int]]]:
        """What was filled, and starts anew."""
        taken = self.room[: self.used_bytes].tobytes(), self.gaps[: self.used_gaps].tolist()
        self.used_bytes = self.used_gaps = 0
        return taken

    def has_room(self, batch: np.void, records_bytes: int, line_bytes: int) -> bool:
        """Whether the empty buffers are large enough for a batch."""
        records = _most_records(int(batch["record_count"]), records_bytes)
        return (
            line_bytes + 2 * records_bytes + records * _LINE_BYTES <= self.room.size
            and records <= len(self.gaps)
        )


def write(
    written: Written,
    batches: np.ndarray,
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    compressed: bool,
    prints: bool,
    lines: np.ndarray,
    line_ends: np.ndarray,
) -> tuple[int, int]:
    """Writes each batch's line and its records' below it: (batches written, DONE, NEEDS_ROOM or
    OTHER for the next).

    data[start:end] are the records of a batch, decompressed; lines, line_ends: the lines of the
    batches (uint8), and where each begins and ends: one more than there are batches. prints: with
    keys and values.
    """
    count, code, written.used_bytes, written.used_gaps, written.last_offset = _write(
        batches,
        data,
        starts,
        ends,
        compressed,
        prints,
        lines,
        line_ends,
        written.room,
        written.used_bytes,
        written.gaps,
        written.used_gaps,
        written.last_offset,
        np.zeros(1, ROW),
    )
    return count, code


def write_large(
    written: Written,
    batch: np.void,
    data: np.ndarray,
    place: tuple[int, int],
    compressed: bool,
    prints: bool,
) -> Iterator[None]:
    """Writes the lines of the records of one batch, data[start:end] of place, buffer by buffer;
    each is to be taken before the next.

    Gives nothing where not all of the records are for this module.
    """
    (position, end), left, row = place, int(batch["record_count"]), np.zeros(1, ROW)
    batches = np.asarray(batch).reshape(1)
    if not _is_plain(batches, data, position, end, compressed, prints, row):
        return
    while left:
        position, done, written.used_bytes, written.used_gaps, written.last_offset, needed = (
            _write_some(
                batches,
                data,
                position,
                end,
                left,
                compressed,
                prints,
                written.room,
                written.gaps,
                written.last_offset,
                row,
            )
        )
        left -= done
        if needed > written.room.size:
            written.room = np.empty(needed, np.uint8)
        if not len(written.gaps):
            written.gaps = np.empty((ROOM_GAPS, 2), np.int64)
        yield


@njit(cache=True, boundscheck=True)
def _is_plain(batches, data, start, end, compressed, prints, table):
    """Whether every record of a batch is in order and holds text."""
    batch, row, position = batches[0], table[0], start
    if batch.record_count < 0 or batch.attributes & CONTROL:
        return False
    for _ in range(batch.record_count):
        fault, behind, _, _ = take_record(data, position, end, compressed, row)
        if fault or not _is_text(data, row, prints):
            return False
        position = behind
    return position == end or batch.record_count == 0


@njit(cache=True, boundscheck=True)
def _write_some(
    batches, data, position, end, left, compressed, prints, out, gaps, last_offset, table
):
    """Fills the empty buffers with records that are in order: (position, records, bytes and gaps
    used, last offset, bytes needed).
    """
    batch, row, at, used_gaps, done = batches[0], table[0], 0, 0, 0
    while done < left:
        _, behind, _, _ = take_record(data, position, end, compressed, row)
        needed = _LINE_BYTES + 2 * (behind - position)
        if at + needed > len(out) or used_gaps == len(gaps):
            return position, done, at, used_gaps, last_offset, needed
        offset = batch.base_offset + row.offset_delta
        if offset != last_offset + 1:
            gaps[used_gaps, 0], gaps[used_gaps, 1] = last_offset, offset
            used_gaps += 1
        at, last_offset, position, done = (
            _line(batch, offset, data, row, prints, out, at),
            offset,
            behind,
            done + 1,
        )
    return position, done, at, used_gaps, last_offset, 0


@njit(cache=True)
def _most_records(record_count, records_bytes):
    """A bound of the records that fit."""
    return max(0, min(record_count, records_bytes // LEAST_BYTES + 1))


@njit(cache=True, boundscheck=True)
def _write(
    batches,
    data,
    starts,
    ends,
    compressed,
    prints,
    lines,
    line_ends,
    out,
    at,
    gaps,
    used_gaps,
    last_offset,
    table,
):
    """write, compiled: (batches written, code, bytes used, gaps used, last offset)."""
    for place in range(len(batches)):
        start, end = starts[place], ends[place]
        if end < start or batches[place].attributes & CONTROL:
            return place, OTHER, at, used_gaps, last_offset
        records = _most_records(batches[place].record_count, end - start)
        line_start, line_end = line_ends[place], line_ends[place + 1]
        room = line_end - line_start + 2 * (end - start) + records * _LINE_BYTES
        if at + room > len(out) or used_gaps + records > len(gaps):
            return place, NEEDS_ROOM, at, used_gaps, last_offset
        behind = _copy(lines, line_start, line_end, out, at)
        found = _records(
            batches[place],
            data,
            start,
            end,
            compressed,
            prints,
            out,
            behind,
            gaps,
            used_gaps,
            last_offset,
            table,
        )
        if found[0] < 0:
            return place, OTHER, at, used_gaps, last_offset
        at, used_gaps, last_offset = found
    return len(batches), DONE, at, used_gaps, last_offset


@njit(cache=True, boundscheck=True)
def _records(
    batch, data, start, end, compressed, prints, out, at, gaps, used_gaps, last_offset, table
):
    """The lines of a batch's records: (bytes used, gaps used, last offset), the first -1 where they
    are not for this module.
    """
    row, position = table[0], start
    if batch.record_count < 0:
        return -1, used_gaps, last_offset
    for _ in range(batch.record_count):
        fault, behind, _, _ = take_record(data, position, end, compressed, row)
        if fault or not _is_text(data, row, prints):
            return -1, used_gaps, last_offset
        offset = batch.base_offset + row.offset_delta
        if offset != last_offset + 1:
            gaps[used_gaps, 0], gaps[used_gaps, 1] = last_offset, offset
            used_gaps += 1
        at, last_offset, position = _line(batch, offset, data, row, prints, out, at), offset, behind
    if batch.record_count > 0 and position < end:
        return -1, used_gaps, last_offset
    return at, used_gaps, last_offset


@njit(cache=True, boundscheck=True)
def _line(batch, offset, data, row, prints, out, at):
    """One line; the byte behind it."""
    at = decimal(offset, out, _put(_OFFSET, out, at))
    if batch.attributes & LOG_APPEND_TIME:
        at = decimal(batch.max_timestamp_ms, out, _put(_APPEND, out, at))
    else:
        at = decimal(batch.base_timestamp_ms + row.timestamp_delta_ms, out, _put(_CREATE, out, at))
    at = decimal(max(-1, row.key_size_bytes), out, _put(_KEY_SIZE, out, at))
    at = decimal(max(-1, row.value_size_bytes), out, _put(_VALUE_SIZE, out, at))
    at = decimal(_sequence(batch.base_sequence, row.offset_delta), out, _put(_SEQUENCE, out, at))
    at = _put(_END, out, _header_names(data, row, out, _put(_HEADERS, out, at)))
    if prints and row.key_size_bytes >= 0:
        at = _copy(
            data, row.key_position, row.key_position + row.key_size_bytes, out, _put(_KEY, out, at)
        )
    if prints and row.value_size_bytes >= 0:
        at = _copy(
            data,
            row.value_position,
            row.value_position + row.value_size_bytes,
            out,
            _put(_PAYLOAD, out, at),
        )
    out[at] = 10
    return at + 1


@njit(cache=True, boundscheck=True)
def _sequence(base, delta):
    """DefaultRecordBatch.incrementSequence: behind 2147483647 follows 0; its sums are of 32
    bits.
    """
    if base < 0:
        return np.int64(-1)
    if base > np.int32(_LARGEST_INT - delta):
        return np.int64(np.int32(delta - (_LARGEST_INT - base) - 1))
    return np.int64(np.int32(np.int64(base) + delta))


@njit(cache=True, boundscheck=True)
def _header_names(data, row, out, at):
    """The names of the headers, a comma between them; take_record has looked at their bounds."""
    position = row.headers_position
    for header in range(row.header_count):
        if header:
            out[at] = 44
            at += 1
        start, end, position = _header(data, position)
        at = _copy(data, start, end, out, at)
    return at


@njit(cache=True, boundscheck=True)
def _is_text(data, row, prints):
    """Whether all that is printed of a record is UTF-8."""
    position = row.headers_position
    for _ in range(row.header_count):
        start, end, position = _header(data, position)
        if not is_utf8(data, start, end):
            return False
    if not prints:
        return True
    key, value = row.key_position, row.value_position
    return is_utf8(data, key, key + max(row.key_size_bytes, 0)) and is_utf8(
        data, value, value + max(row.value_size_bytes, 0)
    )


@njit(cache=True, boundscheck=True)
def _header(data, position):
    """(first byte of its name, the byte behind it, the byte behind the header)."""
    name_size, start = _varint(data, position)
    value_size, value = _varint(data, start + name_size)
    return start, start + name_size, value + max(value_size, 0)


@njit(cache=True, boundscheck=True)
def _varint(data, position):
    """(a signed number whose bytes are there, the byte behind it)."""
    number, behind = scan(data, position, len(data), VARINT_BYTES)
    return unfold32(number), behind


@njit(cache=True, boundscheck=True)
def is_utf8(data, start, end):
    """Whether data[start:end] decodes: shortest forms, no halves of surrogate pairs, nothing above
    U+10FFFF.
    """
    at = start
    while at < end:
        lead = data[at]
        if lead < 0x80:
            at += 1
            continue
        more = (
            1
            if 0xC2 <= lead <= 0xDF
            else 2
            if 0xE0 <= lead <= 0xEF
            else 3
            if 0xF0 <= lead <= 0xF4
            else 0
        )
        if more == 0 or at + more >= end:
            return False
        least = 0xA0 if lead == 0xE0 else 0x90 if lead == 0xF0 else 0x80
        most = 0x9F if lead == 0xED else 0x8F if lead == 0xF4 else 0xBF
        if not least <= data[at + 1] <= most:
            return False
        for place in range(2, more + 1):
            if not 0x80 <= data[at + place] <= 0xBF:
                return False
        at += more + 1
    return True


@njit(cache=True)
def _put(words, out, at):
    """Copies words; the byte behind them."""
    return _copy(words, 0, len(words), out, at)


@njit(cache=True, boundscheck=True)
def _copy(data, start, end, out, at):
    """Copies a stretch; the byte behind it."""
    for place in range(end - start):
        out[at + place] = data[start + place]
    return at + end - start
