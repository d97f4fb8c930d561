"""A plain Python reader of records, to compare with the compiled one."""

from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes
from kafkaviz.format.record import Record
from kafkaviz.messages import message, verbatim


class Structure(Exception):
    """A field for which its record has no room, or a malformed number, at a byte."""


def refusal(position: int, text: str) -> CorruptBytes:
    return CorruptBytes(position, verbatim(text))


def parse(data: bytes, record_count: int, is_compressed: bool) -> list[Record]:
    if record_count < 0:
        raise refusal(0, f"Found invalid record count {record_count} in magic v2 batch")
    records, position = [], 0
    for _ in range(record_count):
        record = parse_record(data, position, is_compressed)
        records.append(record)
        position += record.size_bytes
    if record_count and position < len(data):
        raise refusal(position, "Incorrect declared batch size, records still remaining in file")
    return records


def parse_record(data: bytes, start: int, is_compressed: bool) -> Record:
    """Returns the record at a byte. Its body is read from the rest of the data, or from the record
    alone if the batch was compressed.
    """
    try:
        size, body = varint.read_varint(data, start)
    except CorruptBytes as fault:
        ends = is_compressed or fault.what == message("corrupt.varint_cut")
        raise CorruptBytes(
            start,
            verbatim("Incorrect declared batch size, premature EOF reached")
            if ends
            else fault.what,
        ) from None
    if is_compressed and size < 0:
        raise refusal(start, "Incorrect declared batch size, premature EOF reached")
    rest = len(data) - body
    if rest < size:
        text = (
            "the record payload reached EOF."
            if is_compressed
            else f"instead the buffer has only {rest} remaining bytes."
        )
        raise refusal(
            start, f"Invalid record size: expected {size} bytes in record payload, but {text}"
        )
    try:
        fields, end = read_body(data[: body + size] if is_compressed else data, body)
    except Structure as fault:
        raise refusal(fault.args[0], "Found invalid record structure") from None
    if end - body != size:
        raise refusal(
            start,
            (
                f"Invalid record size: expected to read {size} bytes in record payload, but "
                f"instead read {end - body}"
            ),
        )
    return Record(**fields, position=start, size_bytes=end - start)


def read_body(data: bytes, position: int) -> tuple[dict, int]:
    """Returns (the fields of a record, the position after it)."""
    if position >= len(data):
        raise Structure(position)
    attributes = data[position] - 256 if data[position] > 127 else data[position]
    timestamp_delta_ms, position = number(data, position + 1, varint.read_varlong)
    offset_delta, position = number(data, position)
    key, position = sized(data, position)
    value, position = sized(data, position)
    headers, position = read_headers(data, position)
    fields = dict(
        offset_delta=offset_delta,
        timestamp_delta_ms=timestamp_delta_ms,
        key=key,
        value=value,
        headers=headers,
    )
    return fields | {"attributes": attributes}, position


def read_headers(data: bytes, position: int) -> tuple[tuple, int]:
    """Returns (the headers, the position after them)."""
    start = position
    count, position = number(data, position)
    if count < 0:
        raise refusal(start, f"Found invalid number of record headers {count}")
    if count > len(data) - position:
        raise refusal(
            start,
            (
                f"Found invalid number of record headers. {count} is larger than the remaining "
                "size of the buffer"
            ),
        )
    headers = []
    for _ in range(count):
        start = position
        key, position = sized(data, position)
        if key is None:
            raise refusal(start, f"Invalid negative header key size {number(data, start)[0]}")
        value, position = sized(data, position)
        headers.append((key.decode("utf-8", "replace"), value))
    return tuple(headers), position


def number(data: bytes, position: int, read=varint.read_varint) -> tuple[int, int]:
    """Returns (a number, the position after it)."""
    try:
        return read(data, position)
    except CorruptBytes:
        raise Structure(position) from None


def sized(data: bytes, position: int) -> tuple[bytes | None, int]:
    size, start = number(data, position)
    if size > len(data) - start:
        raise Structure(position)
    return (None, start) if size < 0 else (data[start : start + size], start + size)
