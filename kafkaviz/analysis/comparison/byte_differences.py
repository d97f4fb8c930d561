"""Where two batches differ to the byte, and which field of the header or of a record that is.

Of a batch of which five bytes of a value were changed and its checksum was mended:

    what="crc"     position 2263, 4 bytes
    what="value"   position 2308, 5 bytes
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary.layouts import field_names, field_start
from kafkaviz.format import record, spans_record
from kafkaviz.format.batch import CODEC_MASK, HEADER, HEADER_BYTES, LEGACY_HEADER, MAGIC_2
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log.segment import LogSegment

MAX_DIFFERENCES = 20  # of one partition that are described
JOINED_BYTES = 8  # bytes that differ no further apart are one difference
MAX_TEXT_BYTES = 24  # of a value that is shown
RECORD_FIELDS = {  # by the names of their spans; a header's are "headers", the first is "length"
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


@dataclass(frozen=True)
class FileLocation:
    """Bytes of a file on one side."""

    file: str
    position: int
    size_bytes: int


@dataclass(frozen=True)
class ByteDifference:
    """Bytes that differ between the two sides.

    Attributes:
        locations: of each side, None where it has no such bytes.
        what: a field of the batch header or of a record ("crc", "value"), "record" of more than
            one field of these, "records" of compressed ones, "entry" or "size" of an index, "file",
            "tail" or "hole".
        values: what each side has there, as text.
        offset: the first offset of the batch, None of an index.
        valid_crcs: whether the checksum of the batch is right on each side, None where there is
            none.
    """

    locations: tuple[FileLocation | None, FileLocation | None]
    what: str
    values: tuple[str | None, str | None]
    offset: int | None = None
    valid_crcs: tuple[bool | None, bool | None] = (None, None)

    @property
    def location(self) -> FileLocation:
        """That of a where it has one, else that of b."""
        location = self.locations[0] or self.locations[1]
        assert location is not None
        return location


def describe_batches(
    sides: Sequence[BatchSide], valid_crcs: tuple[bool, bool]
) -> list[ByteDifference]:
    """The bytes in which two batches of the same place differ."""
    data = [np.frombuffer(side[2], np.uint8) for side in sides]
    offset = min(int(row["base_offset"]) for _, row, _ in sides)
    if len(data[0]) == len(data[1]):
        ranges = list(_ranges(np.flatnonzero(data[0] != data[1])))
    else:
        length = min(map(len, data))
        places = np.flatnonzero(data[0][:length] != data[1][:length])
        header, first = places[places < HEADER_BYTES], places[places >= HEADER_BYTES]
        rest = int(first[0]) if len(first) else length, max(map(len, data))
        ranges = [*_ranges(header), rest]
    differences = []
    for start, stop in ranges:
        for field_start_byte, field_stop, what in _fields(sides, start, stop, valid_crcs):
            parts = [batch[field_start_byte:field_stop] for _, _, batch in sides]
            if parts[0] == parts[1]:
                continue
            begin, end = _differing_range(parts[0], parts[1])
            locations = [
                FileLocation(
                    segment.log.name,
                    int(row["position"]) + field_start_byte + begin,
                    max(0, min(end, len(part)) - begin),
                )
                for (segment, row, _), part in zip(sides, parts, strict=True)
            ]
            values = [_value(side, what, field_start_byte, field_stop) for side in sides]
            differences.append(
                ByteDifference(
                    (locations[0], locations[1]), what, (values[0], values[1]), offset, valid_crcs
                )
            )
    return differences


def describe_records(
    sides: Sequence[BatchSide], records: Sequence[Records]
) -> list[ByteDifference]:
    """Records of one offset with other content in batches that do not begin and end alike."""
    differences = []
    for offset in sorted(records[0].keys() & records[1].keys()):
        what = _differing_field(records[0][offset], records[1][offset])
        if what is None:
            continue
        locations = [
            FileLocation(segment.log.name, int(row["position"]), len(batch))
            for segment, row, batch in sides
        ]
        texts = [_record_text(own_records[offset], what) for own_records in records]
        differences.append(
            ByteDifference(
                (locations[0], locations[1]), what, (texts[0], texts[1]), offset, (True, True)
            )
        )
    return differences


def _differing_range(a: bytes, b: bytes) -> tuple[int, int]:
    """The first byte that differs, and the one behind the last."""
    length = min(len(a), len(b))
    places = np.flatnonzero(
        np.frombuffer(a, np.uint8, length) != np.frombuffer(b, np.uint8, length)
    )
    begin = int(places[0]) if len(places) else length
    return begin, int(places[-1]) + 1 if len(a) == len(b) else max(len(a), len(b))


def _ranges(places: np.ndarray) -> Iterator[tuple[int, int]]:
    """The places as ranges, those close together as one."""
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
    """The fields that a range of differing bytes lies in, each with its bytes."""
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
    """The field of a record that bytes lie in; of two sides, those with a right checksum know."""
    if any(int(row["attributes"]) & CODEC_MASK for _, row, _ in sides):
        return "records"
    names = {
        _field_of(side, start, stop)
        for side, is_valid in zip(sides, valid_crcs, strict=True)
        if is_valid or not any(valid_crcs)
    }
    return names.pop() if len(names) == 1 else "record"


def _field_of(side: BatchSide, start: int, stop: int) -> str:
    """The field of one side; "record" where the bytes are of several, or cannot be read."""
    _, row, batch = side
    if row["magic"] < MAGIC_2:
        return "record"
    body, first, last = memoryview(batch)[HEADER_BYTES:], start - HEADER_BYTES, stop - HEADER_BYTES
    rows, _ = record.readable_rows(body, int(row["record_count"]))
    number = int(np.searchsorted(rows["position"], first, "right")) - 1
    if number < 0:
        return "record"
    begin, size_bytes = int(rows["position"][number]), int(rows["size_bytes"][number])
    base = spans_record.RecordBase(0, 0)
    spans = spans_record.records(body[begin : begin + size_bytes], 1, base, begin)
    for place, span in enumerate(spans):
        if span.start <= first and last <= span.end:
            name = str(span.name)
            field = "headers" if name.startswith("header ") else RECORD_FIELDS.get(name, "record")
            return field if place else "length"
    return "record"


def _differing_field(a: BatchRecord, b: BatchRecord) -> str | None:
    for name, values in {
        "timestamp": (a.timestamp_ms, b.timestamp_ms),
        "key": (a.key, b.key),
        "value": (a.value, b.value),
        "headers": (a.headers, b.headers),
        "sequence": (a.sequence, b.sequence),
    }.items():
        if values[0] != values[1]:
            return name
    return None


def _record_text(record: BatchRecord, what: str) -> str:
    if what in ("key", "value"):
        content = getattr(record, what)
        return "null" if content is None else _hex(content)
    return str({"timestamp": record.timestamp_ms, "sequence": record.sequence}.get(what, ""))


def _value(side: BatchSide, what: str, start: int, stop: int) -> str | None:
    """What a side has there: the number of a header's field, else the bytes in hex."""
    header, data = _header(side), side[2]
    if start >= len(data):
        return None
    if what in field_names(header) and stop <= header.itemsize <= len(data):
        return str(int(np.frombuffer(data[start:stop], header[what])[0]))
    return _hex(data[start:stop])


def _hex(data: bytes) -> str:
    return data[:MAX_TEXT_BYTES].hex(" ") + (" …" if len(data) > MAX_TEXT_BYTES else "")
