"""The records of many batches at once, as Arrow columns.

Adjacent batches are read, verified and decompressed together, and one compiled loop finds their
records: 500 batches of 16 records give 8000 rows. Batches of magic 0 or 1, or with a fault, are
read one by one. A batch with a wrong checksum, damaged compressed data or malformed records gives
an `UnreadableBatch` and no records, because consumers get none either.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from crc32c import crc32c

from kafkaviz.binary import codec
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, batch_records, record
from kafkaviz.format.batch import CRC_START, HEADER_BYTES
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.record import Header
from kafkaviz.messages import message, verbatim
from kafkaviz.pipeline.catalog import arrow_columns
from kafkaviz.pipeline.catalog.arrow_columns import list_column, numbers, numpy_column
from kafkaviz.pipeline.catalog.schema import BATCHES, BINARY, BOOL, INT, LONG, STRING
from kafkaviz.pipeline.datasource.pushdown import ALL, NumberRange

RUN_BYTES = 1 << 20  # most bytes of .log that are read at once
PLAIN_BYTES = 2 << 20  # decompressed records become rows once they take this many bytes
MAX_ROWS = 1 << 14  # most rows that are yielded at once
TIMESTAMP = pa.timestamp("us", tz="UTC")
NO_TIMESTAMP = -1
MAX_MS = (2**63 - 1) // 1000  # the largest time in ms whose microseconds fit into 64 bits
HEADERS = pa.list_(pa.struct([("name", STRING), ("value", BINARY)]))
Columns = dict[str, pa.Array | np.ndarray]


class UnreadableBatch(NamedTuple):
    """A batch whose records cannot be read, with the reason."""

    position: int
    base_offset: int
    what: str


@dataclass(frozen=True)
class RecordSelection:
    """Which records and columns are requested."""

    offsets: NumberRange = ALL
    times_ms: NumberRange = ALL
    payload: bool = False  # whether to return keys, values and headers
    # from the batch header: timestamp_type, leader_epoch, producer_id, producer_epoch,
    # is_transactional
    header_columns: tuple[str, ...] = ()


class _Body(NamedTuple):
    number: int  # index of the record's batch
    batch_bytes: memoryview  # bytes of the batch in the .log
    records: bytes | memoryview
    compressed: bool


def records(
    read: ReadInto, batches: np.ndarray, selection: RecordSelection
) -> Iterator[Columns | UnreadableBatch]:
    """Yields the selected records, thousands at a time, in the order of the batches.

    For a batch that cannot be read, yields an `UnreadableBatch` in its place. `batches` are rows of
    format.batch.BATCH, in the order of the log.
    """
    bodies = []
    plain_bytes = 0
    for number, data in enumerate(_batches(read, batches)):
        body = _body(number, batches[number], data)
        if body is not None:
            bodies.append(body)
            plain_bytes += len(body.records)
        if bodies and (body is None or plain_bytes > PLAIN_BYTES):
            yield from _decode_batches(batches, bodies, selection)
            bodies = []
            plain_bytes = 0
        if body is None:
            yield from _decode_single(batches[number], data, selection)
    if bodies:
        yield from _decode_batches(batches, bodies, selection)


def timestamps(times_ms: pa.Array | np.ndarray, *, none: int | None = NO_TIMESTAMP) -> pa.Array:
    """Converts milliseconds since 1970 to Spark's microseconds.

    The value `none` means "no time" and becomes null. A time that needs more than 64 bits in
    microseconds becomes null too.
    """
    if isinstance(times_ms, pa.Array):
        times_ms, is_absent = numbers(times_ms)
    else:
        is_absent = np.zeros(len(times_ms), bool)
    fits = (times_ms >= -MAX_MS) & (times_ms <= MAX_MS) & (none is None or times_ms != none)
    microseconds = np.where(fits, times_ms, 0) * 1000
    return numpy_column(microseconds, LONG, ~fits | is_absent).cast(TIMESTAMP)


def crcs_valid(read: ReadInto, batches: np.ndarray) -> np.ndarray:
    """Returns whether each batch is complete and has a valid checksum."""
    return np.fromiter(map(batch_records.is_crc_valid, _batches(read, batches)), bool, len(batches))


def _batches(read: ReadInto, batches: np.ndarray) -> Iterator[memoryview]:
    """Yields the bytes of each batch, or only the header if a batch does not fit into memory."""
    for run in _runs(batches):
        first = run[0]
        last = run[-1]
        start = int(first["position"])
        size_bytes = int(last["position"] + last["size_bytes"] - first["position"])
        buffer = np.empty(size_bytes if size_bytes <= codec.LIMIT_BYTES else HEADER_BYTES, np.uint8)
        data = buffer[: read(start, buffer)].data
        for position, size_bytes in zip(
            (run["position"] - start).tolist(), run["size_bytes"].tolist(), strict=True
        ):
            yield data[position : position + size_bytes]


def _runs(batches: np.ndarray) -> Iterator[np.ndarray]:
    """Yields runs of adjacent batches. A run has at most `RUN_BYTES`, or is a single batch."""
    starts = batches["position"]
    ends = starts + batches["size_bytes"]
    gaps = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    first = 0
    for end in [*gaps.tolist(), len(batches)]:
        while first < end:
            fitting = int(np.searchsorted(ends[first:end], starts[first] + RUN_BYTES, "right"))
            length = max(1, fitting)
            yield batches[first : first + length]
            first += length


def _body(number: int, row: np.void, data: memoryview) -> _Body | None:
    """Returns the decompressed records of a batch. None: the batch is faulty or has magic 0 or 1.

    `_decode_single` reads such a batch.
    """
    codec_id = int(row["attributes"]) & batch.CODEC_MASK
    count = int(row["record_count"])
    if not 2 <= row["magic"] < 128 or len(data) != row["size_bytes"] or len(data) < HEADER_BYTES:
        return None
    if crc32c(data[CRC_START:]) != row["crc"]:
        return None
    body = data[HEADER_BYTES:]
    try:
        plain = codec.decompress(codec.name(codec_id), body) if codec_id and count > 0 else body
    except CorruptBytes:
        return None
    most = len(plain) // record.MIN_BYTES
    return _Body(number, data, plain, bool(codec_id)) if 0 <= count <= most else None


def _decode_batches(
    batches: np.ndarray, bodies: Sequence[_Body], selection: RecordSelection
) -> Iterator[Columns | UnreadableBatch]:
    data = np.frombuffer(b"".join(body.records for body in bodies), np.uint8)
    ends = np.cumsum([len(body.records) for body in bodies])
    headers = batches[[body.number for body in bodies]]
    counts = headers["record_count"].astype(np.int64)
    rows = np.zeros(int(counts.sum()), record.ROW)
    edges = np.append(0, np.cumsum(counts))
    faulty = _fill(data, ends, edges, np.array([body.compressed for body in bodies]), rows)
    first = 0
    for place in [*np.flatnonzero(faulty).tolist(), len(bodies)]:
        owners = np.repeat(np.arange(first, place), counts[first:place])
        readable = rows[edges[first] : edges[place]]
        for start in range(0, len(readable), MAX_ROWS):
            part = slice(start, start + MAX_ROWS)
            yield from _columns(data, readable[part], headers[owners[part]], selection)
        if place < len(bodies):
            yield from _decode_single(headers[place], bodies[place].batch_bytes, selection)
        first = place + 1


@njit(cache=True, boundscheck=True)
def _fill(
    data: np.ndarray, ends: np.ndarray, edges: np.ndarray, compressed: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """Fills `rows` with the records of batches, and returns a mask of the faulty batches.

    The bytes of batch n end at `ends[n]`. Its records go to rows `edges[n]` to `edges[n + 1]`.
    """
    faulty = np.zeros(len(ends), np.bool_)
    start = 0
    for number in range(len(ends)):
        table = rows[edges[number] : edges[number + 1]]
        fault, position, _, _ = record.take_records(
            data, start, ends[number], compressed[number], table
        )
        faulty[number] = fault != 0 or (len(table) > 0 and position != ends[number])
        start = ends[number]
    return faulty


def _columns(
    data: np.ndarray, rows: np.ndarray, headers: np.ndarray, selection: RecordSelection
) -> Iterator[Columns]:
    offsets = headers["base_offset"] + rows["offset_delta"]
    created_ms = headers["base_timestamp_ms"] + rows["timestamp_delta_ms"]
    times_ms = np.where(batch.is_log_append_time(headers), headers["max_timestamp_ms"], created_ms)
    mask = selection.offsets.rows(offsets) & selection.times_ms.rows(times_ms)
    if not mask.any():
        return
    rows = rows[mask]
    headers = headers[mask]
    columns = {
        "batch_position": headers["position"],
        "offset": offsets[mask],
        "timestamp_ms": times_ms[mask],
        "is_control": batch.is_control(headers),
        "key_size_bytes": _present_sizes(rows["key_size_bytes"]),
        "value_size_bytes": _present_sizes(rows["value_size_bytes"]),
        "header_count": rows["header_count"],
        **_header_columns(headers, selection.header_columns),
    }
    if selection.payload:
        columns["key"] = _binary(data, rows["key_position"], rows["key_size_bytes"])
        columns["value"] = _binary(data, rows["value_position"], rows["value_size_bytes"])
        columns["headers"] = _headers(data, rows)
    yield columns


def _header_columns(headers: np.ndarray, names: Sequence[str]) -> Columns:
    legacy = headers["magic"] < batch.MAGIC_2
    columns: Columns = {}
    for name in names:
        if name == "timestamp_type":
            columns[name] = np.where(
                headers["magic"] < 1, NO_TIMESTAMP, batch.is_log_append_time(headers)
            )
        elif name == "is_transactional":
            columns[name] = batch.is_transactional(headers)
        else:
            columns[name] = numpy_column(headers[name], BATCHES.field(name).type, legacy)
    return columns


def _present_sizes(sizes: np.ndarray) -> pa.Array:
    return numpy_column(sizes, INT, sizes < 0)


def _binary(data: np.ndarray, positions: np.ndarray, sizes: np.ndarray) -> pa.Array:
    offsets = np.append(0, np.cumsum(np.maximum(sizes, 0), dtype=np.int64))
    values = np.empty(int(offsets[-1]), np.uint8)
    _gather(data, np.ascontiguousarray(positions), offsets, values)
    present = np.packbits(sizes >= 0, bitorder="little")
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(sizes), [pa.py_buffer(array) for array in (present, offsets, values)]
    )


@njit(cache=True, boundscheck=True)
def _gather(
    data: np.ndarray, positions: np.ndarray, offsets: np.ndarray, values: np.ndarray
) -> None:
    for row in range(len(positions)):
        start = offsets[row]
        stop = offsets[row + 1]
        for byte in range(stop - start):
            values[start + byte] = data[positions[row] + byte]


def _headers(data: np.ndarray, rows: np.ndarray) -> pa.Array:
    headers: list[Header] = []
    for place in np.flatnonzero(rows["header_count"]).tolist():
        (batch_record,) = record.records_from_rows(data.data, rows[place : place + 1])
        headers += batch_record.headers
    return _headers_column(headers, rows["header_count"])


def _headers_column(headers: Sequence[Header], counts: np.ndarray) -> pa.ListArray:
    names = arrow_columns.column([name for name, _ in headers], STRING)
    values = arrow_columns.column([value for _, value in headers], BINARY)
    return list_column(pa.StructArray.from_arrays([names, values], ["name", "value"]), counts)


def _decode_single(
    row: np.void, data: memoryview, selection: RecordSelection
) -> Iterator[Columns | UnreadableBatch]:
    """Yields the records of one batch, thousands at a time, or an `UnreadableBatch`.

    Messages inside a wrapper (magic 0 and 1) have their own checksums, which are verified too.
    """
    try:
        batch_records.ensure_valid(data)
        if fault := batch_records.find_fault(data):
            raise fault
        for inner in batch_records.iterate(data) if row["magic"] < 2 else ():
            if inner.is_valid is False:  # the checksum of the wrapper itself is right
                raise CorruptBytes(0, verbatim(f"Record is corrupt (stored crc = {inner.crc})"))
    except CorruptBytes as fault:
        position = int(row["position"])
        what = message("errors.at_byte", position=position + fault.position, problem=fault.what)
        yield UnreadableBatch(position, int(row["base_offset"]), str(what))
        return
    matches = (
        batch_record
        for batch_record in batch_records.iterate(data)
        if selection.offsets.has(batch_record.offset)
        and selection.times_ms.has(batch_record.timestamp_ms)
    )
    while chunk := list(islice(matches, record.RUN_ROWS)):
        yield _columns_of(row, chunk, selection)


def _columns_of(row: np.void, chunk: Sequence[BatchRecord], selection: RecordSelection) -> Columns:
    headers = np.full(len(chunk), row)
    keys = [batch_record.key for batch_record in chunk]
    values = [batch_record.value for batch_record in chunk]
    header_counts = np.array([len(batch_record.headers) for batch_record in chunk])
    columns: Columns = {
        "batch_position": np.full(len(chunk), row["position"]),
        "offset": np.array([batch_record.offset for batch_record in chunk]),
        "timestamp_ms": np.array([batch_record.timestamp_ms for batch_record in chunk]),
        "is_control": batch.is_control(headers),
        "key_size_bytes": _sizes(keys),
        "value_size_bytes": _sizes(values),
        "header_count": header_counts,
        **_header_columns(headers, selection.header_columns),
    }
    if selection.payload:
        columns["key"] = arrow_columns.column(keys, BINARY)
        columns["value"] = arrow_columns.column(values, BINARY)
        columns["headers"] = _headers_column(
            [header for batch_record in chunk for header in batch_record.headers], header_counts
        )
    return columns


def _sizes(parts: Sequence[bytes | None]) -> pa.Array:
    sizes = [None if part is None else len(part) for part in parts]
    return arrow_columns.column(sizes, INT)


def consumer_columns(record_columns: Mapping[str, pa.Array | np.ndarray]) -> Columns:
    """Returns the columns of kafka_files, in the form of Spark's own kafka source.

    Control records are left out, because consumers do not get them. As in KafkaRecordToRowConverter
    of Spark 4.3, a record without a timestamp (-1 in Kafka) has the last millisecond of 1969. A
    record without headers has null headers. `record_columns` are columns from `records`.
    """
    is_visible = ~np.asarray(record_columns["is_control"])
    visible = {
        name: column if is_visible.all() else _filter(column, is_visible)
        for name, column in record_columns.items()
    }
    visible["timestamp"] = timestamps(visible["timestamp_ms"], none=None)
    if "timestamp_type" in visible:
        visible["timestampType"] = visible["timestamp_type"]
    if "headers" in visible:
        visible["headers"] = _consumer_headers(visible["headers"])
    return visible


def _filter(column: pa.Array | np.ndarray, mask: np.ndarray) -> pa.Array | np.ndarray:
    if isinstance(column, pa.Array):
        return column.filter(numpy_column(mask, BOOL))
    return column[mask]


def _consumer_headers(headers: pa.ListArray) -> pa.ListArray:
    counts, _ = numbers(headers.value_lengths())
    names, values = headers.flatten().flatten()
    items = pa.StructArray.from_arrays([names, values], ["key", "value"])
    return list_column(items, counts, counts == 0)
