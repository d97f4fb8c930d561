"""A compacted topic of customers, week by week, for the lesson on the cleaner.

Each week has three batches of two records, and segment.ms closes a segment per week. In the third
week a customer leaves, and her service writes a tombstone:

    week 1    0 anna   1 ben     2 anna    3 cleo      4 dan     5 ben
    week 2    6 anna   7 eva     8 ben     9 eva      10 fred   11 anna
    week 3   12 ben   13 gus    14 dan    15 cleo: -  16 anna   17 ben
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary.file_view import in_memory
from kafkaviz.config_def import DAY_MS
from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, HEADER_BYTES, MAGIC_2, TRANSACTIONAL, UNKNOWN
from kafkaviz.format.producer_snapshot import parse
from kafkaviz.format.record import Record
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.append_batches import ABORT, COMMIT, INCOMING, NO_MARKER
from kafkaviz.simulate.cleaner.cleaner import Cleaning
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.log_bytes import MemoryLogs
from kafkaviz.simulate.producers.batch_encoder import seal
from kafkaviz.simulate.writer.writer import UnifiedLog
from kafkaviz.units import file_stem

START_MS = 1_788_163_200_000  # 2026-08-31 08:00 UTC, a Monday
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
    """The segments of a log after a clean shutdown.

    Attributes:
        segments: the segments by base offset, the active one last.
        producers: an array of producer_snapshot.PRODUCER.
    """

    segments: tuple[SegmentView, ...]
    log_end_offset: int
    producers: np.ndarray


def day(number: int) -> int:
    """Returns 8 o'clock of a day, in ms since 1970; day 0 is the Monday of week 1."""
    return START_MS + number * DAY_MS


def profiles(end_ms: int, config: LogConfig | None = None, *, open_week: int = -1) -> CustomerLog:
    """Returns the log with all batches up to a moment.

    Args:
        config: settings of the topic, by default WEEKLY.
        open_week: the first batch of this week (from 0) begins a transaction that never ends.
    """
    return _write(_weekly(WEEKS, open_week), end_ms, config or WEEKLY)


def transactions(end_ms: int) -> CustomerLog:
    """Returns a log with two committed, one aborted and one open transaction."""
    return _write(_weekly(TRANSACTIONS), end_ms, WEEKLY)


WEEKLY = LogConfig(cleanup_policy="compact", segment_ms=WEEK_MS - DAY_MS)


def _weekly(weeks: Sequence[Sequence[str]], open_week: int = -1) -> Iterator[tuple[int, str]]:
    for week, batches in enumerate(weeks):
        for number, text in enumerate(batches):
            is_open = week == open_week and number == 0
            yield day(7 * week + 2 * number), f"6: {text}" if is_open else text


def _write(batches: Iterator[tuple[int, str]], end_ms: int, config: LogConfig) -> CustomerLog:
    logs = MemoryLogs()
    log = UnifiedLog(config, now_ms=START_MS, partition=PARTITION, logs=logs)
    for time_ms, text in batches:
        if time_ms <= end_ms:
            row, data = _batch(text, log.log_end_offset, time_ms)
            log.append(row, data)
    log.close(end_ms)
    return CustomerLog(
        segments=tuple(
            SegmentView(
                base_offset=segment.base_offset,
                log=in_memory(
                    f"{file_stem(segment.base_offset)}.log", logs.content(segment.base_offset)
                ),
                index=in_memory("", segment.index.content()),
                timeindex=in_memory("", segment.timeindex.content()),
                txnindex=in_memory("", segment.txnindex or b""),
            )
            for segment in log.segments
        ),
        log_end_offset=log.log_end_offset,
        producers=parse(log.producers.snapshot()).producers,
    )


def _batch(text: str, base_offset: int, time_ms: int) -> tuple[np.ndarray, bytes]:
    """Returns one row of INCOMING and the batch's bytes.

    The text "7: anna cleo-" is a batch of producer 7: a record of anna, and a tombstone of cleo.
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
    row["size_bytes"] = HEADER_BYTES + len(body)
    row["base_offset"] = base_offset
    row["last_offset"] = row["deep_offset"] = base_offset + len(records) - 1
    row["magic"] = MAGIC_2
    row["base_timestamp_ms"] = row["max_timestamp_ms"] = row["now_ms"] = time_ms
    row["record_count"] = len(records)
    row["marker"] = MARKERS[words] if is_marker else NO_MARKER
    row["producer_id"] = row["producer_epoch"] = row["base_sequence"] = UNKNOWN
    if producer:
        row["attributes"] = TRANSACTIONAL | (CONTROL if is_marker else 0)
        row["producer_id"] = int(producer)
        row["producer_epoch"] = 0
        row["base_sequence"] = UNKNOWN if is_marker else 0
    data = np.zeros(HEADER_BYTES + len(body), np.uint8)
    data[HEADER_BYTES:] = np.frombuffer(body, np.uint8)
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
    """Returns the segments after a cleaning.

    `logs` holds the bytes of each new .log by base offset.
    """
    replaced = {base for segment in cleaning.segments for base in segment.sources}
    views = [
        SegmentView(
            base_offset=segment.base_offset,
            log=in_memory(
                f"{file_stem(segment.base_offset)}.log", logs.get(segment.base_offset, b"")
            ),
            index=in_memory("", segment.index),
            timeindex=in_memory("", segment.timeindex),
            txnindex=in_memory("", segment.txnindex or b""),
        )
        for segment in cleaning.segments
    ]
    views += [view for view in before if view.base_offset not in replaced]
    return tuple(sorted(views, key=lambda view: view.base_offset))
