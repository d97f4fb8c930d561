"""Logs for lessons: one segment each, in memory, with real bytes for searches to read.

five()            5 entries, few enough to draw, with the keys 6 14 22 26 31
twenty()          20 entries, 4 of them in the warm section
fourteen_pages()  7168 entries in 14 full pages: the case of KAFKA-6432
full()            1 310 720 entries, as many as fit into 10 MiB
log_of_keys()     an index of keys that a user typed, without a log
entry_rows()      the batches that get an index entry
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.file_view import FileView, always_open, in_memory
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import offset_index, record, time_index
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END, UNKNOWN
from kafkaviz.format.record import Record
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.units import file_stem


@njit(cache=True)
def entry_rows(size_bytes: np.ndarray, interval_bytes: int) -> np.ndarray:
    """Returns the numbers of the batches that get an index entry, shape (n,).

    Follows LogSegment.append of 4.3.1, with one batch per append.
    """
    rows = np.empty(len(size_bytes), np.int64)
    count = 0
    since = 0
    for row in range(len(size_bytes)):
        if since > interval_bytes:
            rows[count] = row
            count += 1
            since = 0
        since += size_bytes[row]
    return rows[:count].copy()


ROW: np.dtype = np.dtype(
    [  # the columns of format.batch.BATCH that a lookup needs
        ("position", "i8"),
        ("size_bytes", "i8"),
        ("base_offset", "i8"),
        ("last_offset", "i8"),
        ("max_timestamp_ms", "i8"),
        ("record_count", "i8"),
    ]
)
START_MS = 1_700_000_000_000
FIVE = (
    (156, 3, 180),
    (144, 4, 640),
    (159, 4, 1210),
    (110, 4, 1900),
    (87, 2, 2050),
    (182, 6, 2600),
    (212, 4, 3420),
    (220, 5, 4100),
)
TWENTY = (  # size in bytes, record count, and largest timestamp in ms after START_MS
    (121, 3, 181), (161, 4, 359), (177, 4, 418), (137, 4, 508), (129, 4, 648), (78, 1, 863),
    (169, 4, 1096), (86, 1, 1265), (89, 1, 1323), (133, 4, 1370), (139, 3, 1634), (173, 4, 1867),
    (82, 1, 1946), (124, 3, 2064), (141, 4, 2331), (118, 3, 2491), (127, 3, 2609), (157, 4, 2741),
    (133, 3, 2885), (118, 3, 2947), (130, 3, 3105), (105, 2, 3166), (137, 4, 3237), (157, 4, 3438),
    (137, 4, 3603), (111, 2, 3820), (80, 1, 4021), (81, 1, 4263), (149, 4, 4398), (121, 3, 4514),
    (141, 4, 4709), (89, 1, 4928), (97, 2, 5183), (99, 2, 5341), (145, 4, 5381), (97, 2, 5679),
    (109, 2, 5873), (165, 4, 6166), (99, 2, 6335), (115, 2, 6507), (169, 4, 6678), (145, 4, 6870),
    (149, 4, 6998), (148, 3, 7265), (80, 1, 7394), (79, 1, 7606), (137, 4, 7790), (99, 2, 7986),
    (148, 3, 8263), (87, 1, 8334),
)  # fmt: skip
FULL_ENTRIES = 1_310_720
PAGES_ENTRIES = 14 * 512
PAGES_BATCHES = 9  # batches for each entry
FULL_RECORDS = 4


@dataclass(frozen=True)
class PracticeLog:
    """A log for a lesson.

    Attributes:
        batches: an array of ROW.
        apart_ms: milliseconds between two records of a batch.
        offset, timestamp_ms: targets for a search.
    """

    log: LogView
    batches: np.ndarray
    apart_ms: int
    offset: int
    timestamp_ms: int


@cache
def five() -> PracticeLog:
    """Returns a log of five index entries; index.interval.bytes is 150."""
    return _small(FIVE, 150, 60, offset=23, timestamp_ms=START_MS + 3000)


@cache
def twenty() -> PracticeLog:
    """Returns a log of twenty index entries; index.interval.bytes is 230."""
    return _small(TWENTY, 230, 20, offset=66, timestamp_ms=START_MS + 4200)


@cache
def fourteen_pages() -> PracticeLog:
    """Returns a log of 7168 index entries, which fill 14 pages; 4608 bytes of log per entry."""
    return _log_of_equal_batches(
        PAGES_ENTRIES * PAGES_BATCHES, 512, 4096, offset=100_000, timestamp_ms=START_MS
    )


@cache
def full() -> PracticeLog:
    """Returns a log with a full offset index; its time index has 655 361 entries, one per ms.

    Of its 500 MiB of .log, only the bytes that are read are built.
    """
    return _log_of_equal_batches(
        FULL_ENTRIES, 400, 256, offset=1_234_567, timestamp_ms=START_MS + 308_641
    )


def _log_of_equal_batches(
    last: int, batch_bytes: int, interval_bytes: int, **targets: int
) -> PracticeLog:
    """Returns a log of `last + 1` equal batches, whose bytes are built when they are read."""
    number = np.arange(last + 1)
    batches = np.empty(last + 1, ROW)
    batches["position"] = number * batch_bytes
    batches["size_bytes"] = batch_bytes
    batches["base_offset"] = number * FULL_RECORDS
    batches["record_count"] = FULL_RECORDS
    batches["last_offset"] = batches["base_offset"] + FULL_RECORDS - 1
    batches["max_timestamp_ms"] = START_MS + number // 2
    log = _log_view(
        batches,
        always_open("", len(batches) * batch_bytes, partial(_fill, last, batch_bytes)),
        *_build_entries(batches, interval_bytes),
    )
    return PracticeLog(log, batches, 0, **targets)


def log_of_keys(keys: Sequence[int]) -> LogView:
    """Returns a segment whose offset index has these keys in this order, all at position 0."""
    entries = np.zeros(len(keys), offset_index.ENTRY)
    entries["relative_offset"] = keys
    return _log_view(np.empty(0, ROW), in_memory("", b""), entries, np.empty(0, time_index.ENTRY))


def _small(batch_table: tuple, interval_bytes: int, apart_ms: int, **targets: int) -> PracticeLog:
    sizes, counts, newest = (np.array(column) for column in zip(*batch_table, strict=True))
    batches = np.empty(len(batch_table), ROW)
    batches["size_bytes"] = sizes
    batches["record_count"] = counts
    batches["max_timestamp_ms"] = newest + START_MS
    batches["position"] = np.cumsum(sizes) - sizes
    batches["base_offset"] = np.cumsum(counts) - counts
    batches["last_offset"] = batches["base_offset"] + counts - 1
    data = b"".join(batch_bytes(row, apart_ms) for row in batches)
    return PracticeLog(
        _log_view(batches, in_memory("", data), *_build_entries(batches, interval_bytes)),
        batches,
        apart_ms,
        **targets,
    )


def _build_entries(batches: np.ndarray, interval_bytes: int) -> tuple[np.ndarray, np.ndarray]:
    entry_batches = entry_rows(np.ascontiguousarray(batches["size_bytes"]), interval_bytes)
    entries = np.empty(len(entry_batches), offset_index.ENTRY)
    entries["relative_offset"] = batches["last_offset"][entry_batches]
    entries["position"] = batches["position"][entry_batches]
    # the first batch with each timestamp
    newest, first = np.unique(batches["max_timestamp_ms"], return_index=True)
    reached_ms = np.unique(batches["max_timestamp_ms"][entry_batches])
    times = np.empty(len(reached_ms), time_index.ENTRY)
    times["timestamp_ms"] = reached_ms
    times["relative_offset"] = batches["last_offset"][first[np.searchsorted(newest, reached_ms)]]
    return entries, times


def batch_bytes(row: np.void, apart_ms: int) -> bytes:
    """Returns a batch of magic 2 with exactly the row's size; dots fill the values."""
    count = int(row["record_count"])
    header = np.zeros(1, HEADER)
    header["base_offset"] = row["base_offset"]
    header["magic"] = 2
    header["last_offset_delta"] = count - 1
    header["record_count"] = count
    header["batch_length_bytes"] = int(row["size_bytes"]) - LENGTH_END
    header["base_timestamp_ms"] = int(row["max_timestamp_ms"]) - (count - 1) * apart_ms
    header["max_timestamp_ms"] = row["max_timestamp_ms"]
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = UNKNOWN
    data = bytearray(
        header.tobytes() + _records(count, apart_ms, int(row["size_bytes"]) - HEADER_BYTES)
    )
    header["crc"] = crc32c(bytes(data[CRC_START:]))
    data[:HEADER_BYTES] = header.tobytes()
    return bytes(data)


@cache
def _records(count: int, apart_ms: int, size_bytes: int) -> bytes:
    lengths = [0] * count
    turn = 0
    while (short := size_bytes - len(data := _build_records(lengths, apart_ms))) > 0:
        lengths[turn % count] += max(1, short // count - 2)
        turn += 1
    if short:
        raise ValueError(f"{count} records do not fit {size_bytes} bytes")
    return data


def _build_records(lengths: Sequence[int], apart_ms: int) -> bytes:
    return record.build(
        Record(
            offset_delta=number, timestamp_delta_ms=number * apart_ms, key=None, value=b"." * length
        )
        for number, length in enumerate(lengths)
    )


def _log_view(
    batches: np.ndarray, log: FileView, entries: np.ndarray, times: np.ndarray
) -> LogView:
    stem = file_stem(0)
    modified_ms = int(batches["max_timestamp_ms"][-1]) if len(batches) else 0
    log = replace(log, name=f"{stem}.log", modified_ms=modified_ms)
    segment_view = SegmentView(
        base_offset=0,
        log=log,
        index=in_memory(f"{stem}.index", offset_index.build(entries)),
        timeindex=in_memory(f"{stem}.timeindex", time_index.build(times)),
    )
    return LogView("practice log", (segment_view,))


def _fill(last: int, size_bytes: int, position: int, buffer: np.ndarray) -> int:
    first = position // size_bytes
    end = min(position + len(buffer), (last + 1) * size_bytes)
    rows = np.zeros(max(0, -(-end // size_bytes) - first), ROW)
    number = first + np.arange(len(rows))
    rows["size_bytes"] = size_bytes
    rows["base_offset"] = number * FULL_RECORDS
    rows["record_count"] = FULL_RECORDS
    rows["max_timestamp_ms"] = START_MS + number // 2
    data = b"".join(batch_bytes(row, 0) for row in rows)[position - first * size_bytes :][
        : max(0, end - position)
    ]
    buffer[: len(data)] = np.frombuffer(data, np.uint8)
    return len(data)
