"""The records of many batches at once, as Arrow columns.

Batches that lie side by side are read together, their checksums looked at, decompressed, and their
records found by one compiled loop: of 500 batches of 16 records come 8000 rows. A batch of magic 0
or 1, and one with a fault in it, is read by itself. Of one whose checksum is wrong, that cannot be
decompressed, or whose records break their format, no record is given, as a consumer is given none
that it can trust: its fault stands in their place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from crc32c import crc32c

from kafkaviz.binary import codec
from kafkaviz.binary.compiled import njit
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, batch_records, record
from kafkaviz.format.batch import CRC_START, HEADER_BYTES
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.walk import Read
from kafkaviz.pipeline.pushed import ALL, Limits

RUN_BYTES = 8 << 20  # of .log, read at once
PLAIN_BYTES = 32 << 20  # of records decompressed, before they become rows
HEADERS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.binary())]))
Columns = dict[str, pa.Array | np.ndarray]


class Trouble(NamedTuple):
    """A batch whose records cannot be had, and why."""

    position: int
    base_offset: int
    what: str


@dataclass(frozen=True)
class Wish:
    """Which records are wanted; payload: with their keys, values and headers."""

    offsets: Limits = ALL
    times_ms: Limits = ALL
    payload: bool = False


class _Body(NamedTuple):
    """What follows the header of a batch of magic 2, decompressed."""

    number: int  # of the batch among those given
    whole: memoryview  # as it lies in the .log
    records: bytes | memoryview
    compressed: bool


def records(read: Read, batches: np.ndarray, wish: Wish) -> Iterator[Columns | Trouble]:
    """Columns of the wanted records, some thousands at a time, in the order of the batches; what
    cannot be read stands between them.

    batches: format.batch.BATCH, in the order of the log. read: fills a buffer from a byte of the
    .log.
    """
    bodies, plain_bytes = [], 0
    for number, data in enumerate(_batches(read, batches)):
        body = _body(number, batches[number], data)
        if body is not None:
            bodies.append(body)
            plain_bytes += len(body.records)
        if bodies and (body is None or plain_bytes > PLAIN_BYTES):
            yield from _together(batches, bodies, wish)
            bodies, plain_bytes = [], 0
        if body is None:
            yield from _alone(batches[number], data, wish)
    if bodies:
        yield from _together(batches, bodies, wish)


def crcs_valid(read: Read, batches: np.ndarray) -> np.ndarray:
    """Whether the checksum of each batch is right; of one that is not all there it is not."""
    return np.fromiter(map(batch_records.crc_valid, _batches(read, batches)), bool, len(batches))


def _batches(read: Read, batches: np.ndarray) -> Iterator[memoryview]:
    """The bytes of each batch; of one too large to be held its header alone."""
    for run in _runs(batches):
        first, last = run[0], run[-1]
        start, size_bytes = (
            int(first["position"]),
            int(last["position"] + last["size_bytes"] - first["position"]),
        )
        buffer = np.empty(size_bytes if size_bytes <= codec.LIMIT_BYTES else HEADER_BYTES, np.uint8)
        data = buffer[: read(start, buffer)].data
        for at, size_bytes in zip(
            (run["position"] - start).tolist(), run["size_bytes"].tolist(), strict=True
        ):
            yield data[at : at + size_bytes]


def _runs(batches: np.ndarray) -> Iterator[np.ndarray]:
    """The batches in stretches without a gap, of RUN_BYTES at most or of one batch."""
    starts = batches["position"]
    ends = starts + batches["size_bytes"]
    gaps = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    first = 0
    for behind in [*gaps.tolist(), len(batches)]:
        while first < behind:
            length = max(
                1, int(np.searchsorted(ends[first:behind], starts[first] + RUN_BYTES, "right"))
            )
            yield batches[first : first + length]
            first += length


def _body(number: int, row: np.void, data: memoryview) -> _Body | None:
    """The records of a batch as bytes; None for one that must be read by itself."""
    codec_id, count = int(row["attributes"]) & batch.CODEC_MASK, int(row["record_count"])
    if not 2 <= row["magic"] < 128 or len(data) != row["size_bytes"] or len(data) < HEADER_BYTES:
        return None
    if crc32c(data[CRC_START:]) != row["crc"]:
        return None
    body = data[HEADER_BYTES:]
    try:
        plain = codec.decompress(codec.name(codec_id), body) if codec_id and count > 0 else body
    except CorruptBytes:
        return None
    most = len(plain) // record.LEAST_BYTES
    return _Body(number, data, plain, bool(codec_id)) if 0 <= count <= most else None


def _together(
    batches: np.ndarray, bodies: Sequence[_Body], wish: Wish
) -> Iterator[Columns | Trouble]:
    """The records of these batches; where one has a fault, that."""
    data = np.frombuffer(b"".join(one.records for one in bodies), np.uint8)
    ends = np.cumsum([len(one.records) for one in bodies])
    headers = batches[[one.number for one in bodies]]
    counts = headers["record_count"].astype(np.int64)
    rows = np.zeros(int(counts.sum()), record.ROW)
    edges = np.append(0, np.cumsum(counts))
    faulty = _fill(data, ends, edges, np.array([one.compressed for one in bodies]), rows)
    first = 0
    for place in [*np.flatnonzero(faulty).tolist(), len(bodies)]:
        if place > first:
            owners = np.repeat(np.arange(first, place), counts[first:place])
            yield from _columns(data, rows[edges[first] : edges[place]], headers[owners], wish)
        if place < len(bodies):
            yield from _alone(headers[place], bodies[place].whole, wish)
        first = place + 1


@njit(cache=True, boundscheck=True)
def _fill(data, ends, edges, compressed, rows):
    """Fills the rows of each batch; whether it has a fault.

    Batch n has the bytes up to ends[n] and the rows up to edges[n + 1].
    """
    faulty, start = np.zeros(len(ends), np.bool_), 0
    for number in range(len(ends)):
        position, end = start, ends[number]
        for row in range(edges[number], edges[number + 1]):
            fault, position, _, _ = record.take_record(
                data, position, end, compressed[number], rows[row]
            )
            if fault:
                faulty[number] = True
                break
        if edges[number + 1] > edges[number] and position != end:
            faulty[number] = True
        start = end
    return faulty


def _columns(
    data: np.ndarray, rows: np.ndarray, headers: np.ndarray, wish: Wish
) -> Iterator[Columns]:
    """The wanted ones of these records; headers: of each the header of its batch
    (format.batch.BATCH).
    """
    offsets = headers["base_offset"] + rows["offset_delta"]
    created_ms = headers["base_timestamp_ms"] + rows["timestamp_delta_ms"]
    times_ms = np.where(batch.is_log_append_time(headers), headers["max_timestamp_ms"], created_ms)
    wanted = wish.offsets.rows(offsets) & wish.times_ms.rows(times_ms)
    if not wanted.any():
        return
    rows, headers = rows[wanted], headers[wanted]
    columns = {
        "batch_position": headers["position"],
        "offset": offsets[wanted],
        "timestamp_ms": times_ms[wanted],
        "is_control": batch.is_control(headers),
        "key_size_bytes": _size(rows["key_size_bytes"]),
        "value_size_bytes": _size(rows["value_size_bytes"]),
        "header_count": rows["header_count"],
    }
    if wish.payload:
        columns["key"] = _binary(data, rows["key_position"], rows["key_size_bytes"])
        columns["value"] = _binary(data, rows["value_position"], rows["value_size_bytes"])
        columns["headers"] = _headers(data, rows)
    yield columns


def _size(sizes: np.ndarray) -> pa.Array:
    """Sizes, null for what is null."""
    return pa.array(np.ascontiguousarray(sizes), mask=sizes < 0)


def _binary(data: np.ndarray, positions: np.ndarray, sizes: np.ndarray) -> pa.Array:
    """The stretches of data, null where a size is negative."""
    offsets = np.append(0, np.cumsum(np.maximum(sizes, 0), dtype=np.int64))
    values = np.empty(int(offsets[-1]), np.uint8)
    _gather(data, np.ascontiguousarray(positions), offsets, values)
    present = np.packbits(sizes >= 0, bitorder="little")
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(sizes), [pa.py_buffer(one) for one in (present, offsets, values)]
    )


@njit(cache=True, boundscheck=True)
def _gather(data, positions, offsets, values):
    """Copies a stretch of data to each place of values."""
    for row in range(len(positions)):
        start, stop = offsets[row], offsets[row + 1]
        for byte in range(stop - start):
            values[start + byte] = data[positions[row] + byte]


def _headers(data: np.ndarray, rows: np.ndarray) -> pa.Array:
    """The headers of each record: most have none."""
    found: list[list[tuple]] = [[] for _ in range(len(rows))]
    for place in np.flatnonzero(rows["header_count"]).tolist():
        (one,) = record.of_rows(data.data, rows[place : place + 1])
        found[place] = list(one.headers)
    return pa.array(found, HEADERS)


def _alone(row: np.void, data: memoryview, wish: Wish) -> Iterator[Columns | Trouble]:
    """The records of one batch, some thousand at a time, or its fault; of messages within a wrapper
    each has a checksum too.
    """
    try:
        batch_records.ensure_valid(data)
        if fault := batch_records.fault_of(data):
            raise fault
        checked = batch_records.iterate(data) if row["magic"] < 2 else ()
        if wrong := next((one for one in checked if one.is_valid is False), None):
            # within a wrapper that is whole
            raise CorruptBytes(0, f"Record is corrupt (stored crc = {wrong.crc})")
    except CorruptBytes as fault:
        position = int(row["position"])
        yield Trouble(
            position, int(row["base_offset"]), f"byte {position + fault.position}: {fault.what}"
        )
        return
    wanted = (
        one
        for one in batch_records.iterate(data)
        if wish.offsets.has(one.offset) and wish.times_ms.has(one.timestamp_ms)
    )
    while some := list(islice(wanted, record.RUN_ROWS)):
        yield _columns_of(row, some, wish.payload)


def _columns_of(row: np.void, found: Sequence[BatchRecord], payload: bool) -> Columns:
    columns: Columns = {
        "batch_position": np.full(len(found), row["position"]),
        "offset": np.array([one.offset for one in found]),
        "timestamp_ms": np.array([one.timestamp_ms for one in found]),
        "is_control": np.full(len(found), batch.is_control(np.array([row]))[0]),
        "key_size_bytes": pa.array(
            [None if one.key is None else len(one.key) for one in found], pa.int32()
        ),
        "value_size_bytes": pa.array(
            [None if one.value is None else len(one.value) for one in found], pa.int32()
        ),
        "header_count": np.array([len(one.headers) for one in found]),
    }
    if payload:
        columns["key"] = pa.array([one.key for one in found], pa.binary())
        columns["value"] = pa.array([one.value for one in found], pa.binary())
        columns["headers"] = pa.array([list(one.headers) for one in found], HEADERS)
    return columns
