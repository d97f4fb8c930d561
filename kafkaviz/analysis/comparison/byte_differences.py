"""The bytes in which two batches differ, and the fields that contain these bytes.

For example, someone changed five bytes of a value and corrected the batch's checksum:

    what="crc"     position 2263, 4 bytes
    what="value"   position 2308, 5 bytes
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.layouts import field_names, field_start
from kafkaviz.format import record, spans_record
from kafkaviz.format.batch import CODEC_MASK, HEADER, HEADER_BYTES, LEGACY_HEADER, MAGIC_2
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import LogSegment

MAX_DIFFERENCES = 20  # at most this many differences per partition are described
JOINED_BYTES = 8  # differing bytes at most this far apart count as one difference
MAX_TEXT_BYTES = 24  # at most this many bytes of a value are shown
# The field of a record by the name of a span. All spans of record headers are "headers".
RECORD_FIELDS = {
    "attributes": "attributes",
    "timestampDelta": "timestamp",
    "offsetDelta": "offset_delta",
    "keyLength": "key_length",
    "key": "key",
    "valueLength": "value_length",
    "value": "value",
    "headerCount": "headers",
}

# a segment, a row of format.batch.BATCH, and the bytes of that batch
BatchSide = tuple[LogSegment, np.void, bytes]
Records = Mapping[int, BatchRecord]
CHUNK_BYTES = 1 << 20
T = TypeVar("T")


@dataclass(frozen=True)
class FileLocation:
    file: str
    position: int
    size_bytes: int


@dataclass(frozen=True)
class ByteDifference:
    """Bytes that differ between the two sides. Pairs have one value per side.

    Attributes:
        locations: the file, position and length of the bytes; None: the side does not have them.
        what: a field of a batch header or record, such as "crc" or "value"; "record": several
            fields of a record; "records": compressed records; "entry": an index entry; "size": the
            size of an index; "file": an index that one side lacks; "tail": the bytes after the
            last batch; "hole": an unreadable range.
        offset: the first offset of the batch or unreadable range, or if `describe_records` found
            the difference, the offset of the record. None for an index or a tail.
        valid_crcs: whether the batch has a valid checksum; None if a side has no batch.
    """

    locations: tuple[FileLocation | None, FileLocation | None]
    what: str
    values: tuple[str | None, str | None]
    offset: int | None = None
    valid_crcs: tuple[bool | None, bool | None] = (None, None)

    @property
    def location(self) -> FileLocation:
        location = self.locations[0] or self.locations[1]
        assert location is not None
        return location


def pair(values: Iterable[T]) -> tuple[T, T]:
    a, b = values
    return a, b


def one_sided(side: int, value: T) -> tuple[T | None, T | None]:
    """Returns a pair with `value` for one side (0: a, 1: b), and None for the other."""
    return (value, None) if side == 0 else (None, value)


def describe_batches(
    sides: Sequence[BatchSide], valid_crcs: tuple[bool, bool]
) -> list[ByteDifference]:
    a, b = (data for _, _, data in sides)
    offset = min(int(row["base_offset"]) for _, row, _ in sides)
    places = differing_places(a, b)
    if len(a) == len(b):
        ranges = list(_ranges(places))
    else:
        in_records = places[places >= HEADER_BYTES]
        rest_start = int(in_records[0]) if len(in_records) else min(len(a), len(b))
        ranges = [*_ranges(places[places < HEADER_BYTES]), (rest_start, max(len(a), len(b)))]
    differences = []
    for range_start, range_stop in ranges:
        for start, stop, what in _fields(sides, range_start, range_stop, valid_crcs):
            parts = a[start:stop], b[start:stop]
            if parts[0] == parts[1]:
                continue
            places = differing_places(*parts)
            begin = int(places[0]) if len(places) else min(map(len, parts))
            is_same_size = len(parts[0]) == len(parts[1])
            end = int(places[-1]) + 1 if is_same_size else max(map(len, parts))
            locations = pair(
                FileLocation(
                    segment.log.name,
                    int(row["position"]) + start + begin,
                    max(0, min(end, len(part)) - begin),
                )
                for (segment, row, _), part in zip(sides, parts, strict=True)
            )
            values = pair(_value(side, what, start, stop) for side in sides)
            differences.append(ByteDifference(locations, what, values, offset, valid_crcs))
    return differences


def describe_records(
    sides: Sequence[BatchSide], records: Sequence[Records]
) -> list[ByteDifference]:
    """Returns the differences between records with equal offsets.

    Use this if the batches begin or end at different offsets on the two sides.
    """
    locations = pair(
        FileLocation(segment.log.name, int(row["position"]), len(batch))
        for segment, row, batch in sides
    )
    differences = []
    for offset in sorted(records[0].keys() & records[1].keys()):
        what = _differing_field(records[0][offset], records[1][offset])
        if what is not None:
            texts = pair(_record_text(own_records[offset], what) for own_records in records)
            differences.append(ByteDifference(locations, what, texts, offset, (True, True)))
    return differences


def differing_places(a: bytes, b: bytes) -> np.ndarray:
    """Returns the positions at which the bytes of both sides differ, up to the shorter length."""
    length = min(len(a), len(b))
    return np.flatnonzero(np.frombuffer(a, np.uint8, length) != np.frombuffer(b, np.uint8, length))


def _ranges(places: np.ndarray) -> Iterator[tuple[int, int]]:
    if not len(places):
        return
    breaks = np.flatnonzero(np.diff(places) > JOINED_BYTES)
    firsts = places[np.append(0, breaks + 1)]
    lasts = places[np.append(breaks, len(places) - 1)]
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        yield first, last + 1


def _header(side: BatchSide) -> np.dtype:
    return HEADER if side[1]["magic"] >= MAGIC_2 else LEGACY_HEADER


def _fields(
    sides: Sequence[BatchSide], start: int, stop: int, valid_crcs: tuple[bool, bool]
) -> Iterator[tuple[int, int, str]]:
    header = _header(sides[0])
    for name in field_names(header):
        first = field_start(header, name)
        last = first + header[name].itemsize
        if start < last and stop > first:
            yield first, last, name
    if stop > header.itemsize:
        start = max(start, header.itemsize)
        yield start, stop, _record_field(sides, start, stop, valid_crcs)


def _record_field(
    sides: Sequence[BatchSide], start: int, stop: int, valid_crcs: tuple[bool, bool]
) -> str:
    if any(int(row["attributes"]) & CODEC_MASK for _, row, _ in sides):
        return "records"
    names = {
        _field_of(side, start, stop)
        for side, is_valid in zip(sides, valid_crcs, strict=True)
        if is_valid or not any(valid_crcs)
    }
    return names.pop() if len(names) == 1 else "record"


def _field_of(side: BatchSide, start: int, stop: int) -> str:
    """Returns the record field that contains the bytes, or "record" if no single field does."""
    _, row, batch = side
    if row["magic"] < MAGIC_2:
        return "record"
    body = memoryview(batch)[HEADER_BYTES:]
    first = start - HEADER_BYTES
    last = stop - HEADER_BYTES
    rows, _ = record.readable_rows(body, int(row["record_count"]))
    number = int(np.searchsorted(rows["position"], first, "right")) - 1
    if number < 0:
        return "record"
    begin = int(rows["position"][number])
    size_bytes = int(rows["size_bytes"][number])
    base = spans_record.RecordBase(0, 0)
    spans = spans_record.records(body[begin : begin + size_bytes], 1, base, begin)
    for place, span in enumerate(spans):
        if span.start <= first and last <= span.end:
            name = str(span.name)
            field = "headers" if name.startswith("header ") else RECORD_FIELDS.get(name, "record")
            return field if place else "length"
    return "record"


def _differing_field(a: BatchRecord, b: BatchRecord) -> str | None:
    fields = ("timestamp_ms", "key", "value", "headers", "sequence")
    differing = (name for name in fields if getattr(a, name) != getattr(b, name))
    return next((name.removesuffix("_ms") for name in differing), None)


def _record_text(record: BatchRecord, what: str) -> str:
    if what in ("key", "value"):
        content = getattr(record, what)
        return "null" if content is None else _hex(content)
    return str({"timestamp": record.timestamp_ms, "sequence": record.sequence}.get(what, ""))


def _value(side: BatchSide, what: str, start: int, stop: int) -> str | None:
    header = _header(side)
    data = side[2]
    if start >= len(data):
        return None
    if what in field_names(header) and stop <= header.itemsize <= len(data):
        return str(int(np.frombuffer(data[start:stop], header[what])[0]))
    return _hex(data[start:stop])


def _hex(data: bytes) -> str:
    return data[:MAX_TEXT_BYTES].hex(" ") + (" …" if len(data) > MAX_TEXT_BYTES else "")


def is_equal_file(a: FileInfo, b: FileInfo) -> bool:
    return a.size_bytes == b.size_bytes and common_prefix_bytes(a, b) == a.size_bytes


def common_prefix_bytes(a: FileInfo, b: FileInfo) -> int:
    size_bytes = min(a.size_bytes, b.size_bytes)
    with file.reader(a.path) as read_a, file.reader(b.path) as read_b:
        for position, places in differing_chunks(read_a, 0, read_b, 0, size_bytes=size_bytes):
            if len(places):
                return position + int(places[0])
    return size_bytes


def differing_chunks(
    read_a: ReadInto, start_a: int, read_b: ReadInto, start_b: int, *, size_bytes: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yields where two ranges of bytes differ, chunk by chunk.

    Yields the start of the chunk in the range, and the positions in the chunk that differ.
    """
    buffers = np.empty(CHUNK_BYTES, np.uint8), np.empty(CHUNK_BYTES, np.uint8)
    for position in range(0, size_bytes, CHUNK_BYTES):
        length = min(CHUNK_BYTES, size_bytes - position)
        count_a = read_a(start_a + position, buffers[0][:length])
        count_b = read_b(start_b + position, buffers[1][:length])
        count = min(count_a, count_b)
        places = np.flatnonzero(buffers[0][:count] != buffers[1][:count])
        if count < length:  # a file was truncated after its size was read
            places = np.append(places, np.arange(count, length))
        yield position, places
