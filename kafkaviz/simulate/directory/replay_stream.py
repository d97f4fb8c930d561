"""Turns an existing log into a stream of appends, to write it again with any settings.

A .log does not record which batches came in one append, or when. Each batch counts as one append.
The clock is the largest timestamp so far, or the .log's modification time if no batch has one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary.file_view import FileView, ReadInto, reader
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, record
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.format.names import parse_file
from kafkaviz.format.open_transactions import TransactionFault, marker
from kafkaviz.format.walk import CHUNK_BYTES, Walk
from kafkaviz.messages import message
from kafkaviz.simulate.appends import INCOMING, NO_MARKER, AppendChunk
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.segment_check import resolve_first_offsets
from kafkaviz.simulate.steps import StoredLog

PIECE_BYTES = 8 << 20


def chunks(
    log: StoredLog, behaviour: ReleaseBehaviour, *, payload: bool = True
) -> Iterator[AppendChunk]:
    """Yields the batches of a log in order, with the bytes of the batches if `payload` is set.

    Leaves out the rest of a segment after its last readable batch, as Kafka does; see
    `find_unread`. Checksums are not checked.
    """
    row_count = 0
    now_ms = -1
    for file in _logs(log):
        with file.open_reader() as read:
            for batches in _pieces(Walk(read, 0, file.size_bytes)):
                rows = _rows(resolve_first_offsets(read, batches))
                clock_ms = np.maximum.accumulate(np.append(now_ms, rows["max_timestamp_ms"]))[1:]
                now_ms = int(clock_ms[-1])
                rows["now_ms"] = np.where(clock_ms < 0, file.modified_ms, clock_ms)
                rows["append"] = np.arange(row_count, row_count + len(rows))
                row_count += len(rows)
                if behaviour.deep_time_offsets:
                    _fill_deep_offsets(read, rows)
                if payload:
                    yield AppendChunk(rows, _bytes_in(f"{log.directory}/{file.name}", read, rows))
                else:
                    _fill_markers(read, rows)
                    yield AppendChunk(rows)


@dataclass(frozen=True)
class UnreadTail:
    """The bytes after the last complete batch of a .log. `reason` is as in format.walk.WalkEnd."""

    name: str
    from_position: int
    size_bytes: int
    reason: str


def find_unread(log: StoredLog) -> list[UnreadTail]:
    """Returns the bytes that `chunks` leaves out: the unreadable end of each .log that has one."""
    unread_tails = []
    for file in _logs(log):
        with file.open_reader() as read:
            walk = Walk(read, 0, file.size_bytes)
            for _ in walk:
                pass
        end = walk.end
        if left_bytes := file.size_bytes - end.position:
            unread_tails.append(UnreadTail(file.name, end.position, left_bytes, end.reason))
    return unread_tails


def count_valid(chunk: AppendChunk) -> int:
    """Returns the number of batches before the first wrong checksum.

    In a chunk without bytes, every checksum counts as right.
    """
    if chunk.data is None:
        return len(chunk.rows)
    scan = DeepScan(
        reader(chunk.data), 0, len(chunk.data), limit_bytes=CHUNK_BYTES, reads_records=False
    )
    return int(np.argmin(np.concatenate([*(rows["crc_valid"] for rows in scan), [False]])))


def start_offset(log: StoredLog) -> int:
    parsed_names = (parse_file(file.name) for file in _logs(log))
    return min((name.base_offset for name in parsed_names if name), default=0)


def _logs(log: StoredLog) -> list[FileView]:
    """Returns the .log files without a suffix such as .deleted, sorted by name."""
    logs = [
        file
        for file in log.files
        if (name := parse_file(file.name)) and name.kind == "log" and not name.suffix
    ]
    return sorted(logs, key=lambda file: file.name)


def _pieces(walk: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Splits arrays of batches into arrays of about PIECE_BYTES bytes of .log each."""
    for batches in walk:
        ends = np.cumsum(batches["size_bytes"])
        cuts = np.flatnonzero(np.diff(ends // PIECE_BYTES)) + 1
        yield from (part for part in np.split(batches, cuts) if len(part))


def _rows(batches: np.ndarray) -> np.ndarray:
    rows = np.empty(len(batches), INCOMING)
    for name in field_names(batches.dtype):
        rows[name] = batches[name]
    rows["deep_offset"] = rows["last_offset"]
    rows["marker"] = NO_MARKER
    return rows


def _fill_deep_offsets(read: ReadInto, rows: np.ndarray) -> None:
    is_plain = (rows["magic"] >= batch.MAGIC_2) & (batch.codec(rows) == 0)
    has_deep_offset = is_plain & ~batch.is_log_append_time(rows) & (rows["record_count"] > 1)
    for row in np.flatnonzero(has_deep_offset).tolist():
        data = _bytes(read, rows[row : row + 1])[batch.HEADER_BYTES :]
        try:
            table = record.rows(data, int(rows["record_count"][row]))
        except CorruptBytes:
            continue
        newest = int(table["timestamp_delta_ms"].argmax())
        rows["deep_offset"][row] = rows["base_offset"][row] + table["offset_delta"][newest]


def _fill_markers(read: ReadInto, rows: np.ndarray) -> None:
    for row in np.flatnonzero(batch.is_control(rows) & (rows["record_count"] > 0)).tolist():
        try:
            rows["marker"][row] = min(marker(read, rows[row], row).kind, np.iinfo(np.int8).max)
        except TransactionFault:
            continue


def _bytes_in(name: str, read: ReadInto, rows: np.ndarray) -> bytes:
    try:
        return _bytes(read, rows)
    except CorruptBytes as fault:
        raise fault.in_file(name) from None


def _bytes(read: ReadInto, rows: np.ndarray) -> bytes:
    start = int(rows["position"][0])
    data = np.empty(int(rows["size_bytes"].sum()), np.uint8)
    filled_bytes = 0
    while filled_bytes < len(data):
        length = read(start + filled_bytes, data[filled_bytes:])
        if not length:
            raise CorruptBytes(start + filled_bytes, message("corrupt.log_became_shorter"))
        filled_bytes += length
    return data.tobytes()
