"""Logs for lessons, in memory: small indexes to search, and a compacted topic of customers.

five()            5 entries, few enough to draw, with the keys 6 14 22 26 31
twenty()          20 entries, 4 of them in the warm section
fourteen_pages()  7168 entries in 14 full pages: the example of KAFKA-6432

The log of `profiles` is for the lesson on the cleaner. Its keys are customers. Each week has three
batches of two records, and segment.ms closes a segment per week. In the third week a customer
leaves, and her service writes a tombstone:

    week 1    0 anna   1 ben     2 anna    3 cleo      4 dan     5 ben
    week 2    6 anna   7 eva     8 ben     9 eva      10 fred   11 anna
    week 3   12 ben   13 gus    14 dan    15 cleo: -  16 anna   17 ben
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.file_view import FileView, always_open, in_memory
from kafkaviz.format import batch, offset_index, record, time_index
from kafkaviz.format.producer_snapshot import parse
from kafkaviz.format.record import Record
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.simulate.appends import ABORT, COMMIT, INCOMING, NO_MARKER, MemoryLogs
from kafkaviz.simulate.cleaner.cleaner import Cleaning
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.batch_encoder import seal
from kafkaviz.simulate.writer.append_loop import entry_rows
from kafkaviz.simulate.writer.writer import UnifiedLog
from kafkaviz.units import DAY_MS, file_stem

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
    (156, 3, 180), (144, 4, 640), (159, 4, 1210), (110, 4, 1900), (87, 2, 2050), (182, 6, 2600),
    (212, 4, 3420), (220, 5, 4100),
)  # fmt: skip
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
    """A log for a lesson."""

    log: LogView
    batches: np.ndarray  # an array of ROW
    apart_ms: int  # milliseconds between two records of a batch
    offset: int  # to search for
    timestamp_ms: int  # to search for


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
    """Returns a log whose index fills 14 pages: 7168 entries, one per 4608 bytes of log."""
    return _log_of_equal_batches(
        PAGES_ENTRIES * PAGES_BATCHES, 512, 4096, offset=100_000, timestamp_ms=START_MS
    )


@cache
def full() -> PracticeLog:
    """Returns a log with a full offset index; its time index has 655 361 entries, one per ms.

    The .log has 500 MiB. Its bytes are built only when they are read.
    """
    return _log_of_equal_batches(
        FULL_ENTRIES, 400, 256, offset=1_234_567, timestamp_ms=START_MS + 308_641
    )


def _log_of_equal_batches(
    last: int, batch_bytes: int, interval_bytes: int, **targets: int
) -> PracticeLog:
    """Returns a log of `last + 1` equal batches. A batch's bytes are built when they are read."""
    batches = _equal_batches(np.arange(last + 1), batch_bytes)
    file = always_open("", len(batches) * batch_bytes, partial(_fill, last, batch_bytes))
    log = _log_view(batches, file, *_build_entries(batches, interval_bytes))
    return PracticeLog(log, batches, 0, **targets)


def _equal_batches(numbers: np.ndarray, batch_bytes: int) -> np.ndarray:
    """Returns the batches with these numbers, as an array of ROW. All batches have one size."""
    batches = np.empty(len(numbers), ROW)
    batches["position"] = numbers * batch_bytes
    batches["size_bytes"] = batch_bytes
    batches["base_offset"] = numbers * FULL_RECORDS
    batches["record_count"] = FULL_RECORDS
    batches["last_offset"] = batches["base_offset"] + FULL_RECORDS - 1
    batches["max_timestamp_ms"] = START_MS + numbers // 2
    return batches


def log_of_keys(keys: Sequence[int]) -> LogView:
    """Returns a log of one segment. Its index has these keys in this order, all at position 0."""
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
    log = _log_view(batches, in_memory("", data), *_build_entries(batches, interval_bytes))
    return PracticeLog(log, batches, apart_ms, **targets)


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
    """Returns a batch of magic 2 with exactly the row's size. The record values consist of dots."""
    count = int(row["record_count"])
    header = np.zeros(1, batch.HEADER)
    header["base_offset"] = row["base_offset"]
    header["magic"] = 2
    header["last_offset_delta"] = count - 1
    header["record_count"] = count
    header["batch_length_bytes"] = int(row["size_bytes"]) - batch.LENGTH_END
    header["base_timestamp_ms"] = int(row["max_timestamp_ms"]) - (count - 1) * apart_ms
    header["max_timestamp_ms"] = row["max_timestamp_ms"]
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = batch.UNKNOWN
    body = _records(count, apart_ms, int(row["size_bytes"]) - batch.HEADER_BYTES)
    header["crc"] = crc32c(header.tobytes()[batch.CRC_START :] + body)
    return header.tobytes() + body


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
    rows = _equal_batches(np.arange(first, -(-end // size_bytes)), size_bytes)
    data = b"".join(batch_bytes(row, 0) for row in rows)
    data = data[position - first * size_bytes : max(position, end) - first * size_bytes]
    buffer[: len(data)] = np.frombuffer(data, np.uint8)
    return len(data)


CUSTOMERS_START_MS = 1_788_163_200_000  # 2026-08-31 08:00 UTC, a Monday
WEEK_MS = 7 * DAY_MS
PARTITION = "profiles-0"
LEAVES = "cleo"  # the customer whose tombstone is written
TOMBSTONE = "-"  # follows a key in the table below
# per week, the keys of the batches of Monday, Wednesday and Friday
WEEKS = (
    ("anna ben", "anna cleo", "dan ben"),
    ("anna eva", "ben eva", "fred anna"),
    ("ben gus", "dan cleo-", "anna ben"),
    ("eva hana", "ben hana", "anna dan"),
    ("ben fred", "anna ivo", "eva ben"),
    ("dan anna", "ben ivo", "hana anna"),
    ("ben eva",),
)
# the same customers in transactions: keys, "commit" or "abort", and the producer before the colon
TRANSACTIONS = (
    ("7: anna ben", "7: commit", "8: anna cleo", "8: abort"),
    ("9: dan eva", "9: commit", "10: ben dan", "10: commit"),
    ("11: eva fred",),
)
MARKERS = {"abort": ABORT, "commit": COMMIT}


@dataclass(frozen=True)
class CustomerLog:
    """The log of a lesson after a clean shutdown."""

    segments: tuple[SegmentView, ...]  # by base offset, the active one last
    log_end_offset: int
    producers: np.ndarray  # an array of producer_snapshot.PRODUCER


def day(number: int) -> int:
    """Returns 08:00 UTC of a day, in ms since 1970; day 0 is the Monday of week 1."""
    return CUSTOMERS_START_MS + number * DAY_MS


def profiles(end_ms: int, config: LogConfig | None = None, *, open_week: int = -1) -> CustomerLog:
    """Returns the log of customers with all batches up to `end_ms`.

    Args:
        config: settings of the topic, by default WEEKLY.
        open_week: the number of a week (from 0) whose first batch begins a transaction that
            never ends; -1 for none.
    """
    return _write(_weekly(WEEKS, open_week), end_ms, config or WEEKLY)


def transactions(end_ms: int) -> CustomerLog:
    """Returns the log up to `end_ms`; in full, 3 committed, 1 aborted and 1 open transaction."""
    return _write(_weekly(TRANSACTIONS), end_ms, WEEKLY)


WEEKLY = LogConfig(cleanup_policy="compact", segment_ms=WEEK_MS - DAY_MS)


def _weekly(weeks: Sequence[Sequence[str]], open_week: int = -1) -> Iterator[tuple[int, str]]:
    for week, batches in enumerate(weeks):
        for number, text in enumerate(batches):
            is_open = week == open_week and number == 0
            yield day(7 * week + 2 * number), f"6: {text}" if is_open else text


def _write(batches: Iterator[tuple[int, str]], end_ms: int, config: LogConfig) -> CustomerLog:
    logs = MemoryLogs()
    log = UnifiedLog(config, now_ms=CUSTOMERS_START_MS, partition=PARTITION, logs=logs)
    for time_ms, text in batches:
        if time_ms <= end_ms:
            row, data = _batch(text, log.log_end_offset, time_ms)
            log.append(row, data)
    log.close(end_ms)
    segments = tuple(
        _segment_view(
            segment.base_offset,
            logs.content(segment.base_offset),
            segment.index.content(),
            segment.timeindex.content(),
            segment.txnindex,
        )
        for segment in log.segments
    )
    producers = parse(log.producers.snapshot()).producers
    return CustomerLog(segments, log.log_end_offset, producers)


def _segment_view(
    base_offset: int, log: bytes, index: bytes, timeindex: bytes, txnindex: bytes | None
) -> SegmentView:
    return SegmentView(
        base_offset=base_offset,
        log=in_memory(f"{file_stem(base_offset)}.log", log),
        index=in_memory("", index),
        timeindex=in_memory("", timeindex),
        txnindex=in_memory("", txnindex or b""),
    )


def _batch(text: str, base_offset: int, time_ms: int) -> tuple[np.ndarray, bytes]:
    """Returns one row of INCOMING and the batch's bytes.

    The text "7: anna cleo-" is a batch of producer 7: a record of key anna, a tombstone of cleo.
    """
    producer, _, words = text.rpartition(": ")
    is_marker = words in MARKERS
    if is_marker:
        records = [_marker(MARKERS[words])]
    else:
        records = [
            _customer(delta, word, base_offset + delta) for delta, word in enumerate(words.split())
        ]
    body = record.build(records)
    row = np.zeros(1, INCOMING)
    row["size_bytes"] = batch.HEADER_BYTES + len(body)
    row["base_offset"] = base_offset
    row["last_offset"] = row["deep_offset"] = base_offset + len(records) - 1
    row["magic"] = batch.MAGIC_2
    row["base_timestamp_ms"] = row["max_timestamp_ms"] = row["now_ms"] = time_ms
    row["record_count"] = len(records)
    row["marker"] = MARKERS[words] if is_marker else NO_MARKER
    row["producer_id"] = row["producer_epoch"] = row["base_sequence"] = batch.UNKNOWN
    if producer:
        row["attributes"] = batch.TRANSACTIONAL | (batch.CONTROL if is_marker else 0)
        row["producer_id"] = int(producer)
        row["producer_epoch"] = 0
        row["base_sequence"] = batch.UNKNOWN if is_marker else 0
    data = np.zeros(batch.HEADER_BYTES + len(body), np.uint8)
    data[batch.HEADER_BYTES :] = np.frombuffer(body, np.uint8)
    seal(row, data)
    return row, data.tobytes()


def _customer(offset_delta: int, word: str, offset: int) -> Record:
    key = word.removesuffix(TOMBSTONE)
    value = None if key != word else f"Elm {offset}".encode()
    return Record(offset_delta=offset_delta, timestamp_delta_ms=0, key=key.encode(), value=value)


def _marker(kind: int) -> Record:
    key = bytes((0, 0, 0, kind))
    return Record(offset_delta=0, timestamp_delta_ms=0, key=key, value=bytes(6))


def cleaned_segments(
    before: Sequence[SegmentView], cleaning: Cleaning, logs: Mapping[int, bytes]
) -> tuple[SegmentView, ...]:
    """Returns the segments after a cleaning. `logs`: the new .log files, by base offset."""
    replaced = {base for segment in cleaning.segments for base in segment.sources}
    views = [
        _segment_view(
            segment.base_offset,
            logs.get(segment.base_offset, b""),
            segment.index,
            segment.timeindex,
            segment.txnindex,
        )
        for segment in cleaning.segments
    ]
    views += [view for view in before if view.base_offset not in replaced]
    return tuple(sorted(views, key=lambda view: view.base_offset))
