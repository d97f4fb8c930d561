"""Reads a sample of a topic's records, decompressed, together with their batches.

A window is a contiguous part of a log. So the gaps between batches and the similarity of
neighbouring records are the same as in the log:

    window   |------ whole batches are read here ------|----- only headers are read ------|
    batches  row 0 (records 0 to 3), row 1 (records 4 to 8), row 2 (a transaction marker) ...
    data     the bytes of all these records one after another, not compressed
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from kafkaviz.analysis.tuning.log_windows import LogWindow
from kafkaviz.binary import codec, varint
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch as batch_format
from kafkaviz.format import record
from kafkaviz.format.batch import BATCH, LOG_APPEND_TIME, MAGIC_2
from kafkaviz.format.walk import CHUNK_BYTES
from kafkaviz.log import file
from kafkaviz.simulate.cleaner.batch_chunks import (
    DECOMPRESSED,
    UNREADABLE,
    BatchChunk,
    BatchChunks,
    CleaningFailed,
)
from kafkaviz.simulate.producers.batch_encoder import put_varint, varint_bytes

RECORD_SAMPLE_BYTES = 8 << 20  # stored bytes whose records are decompressed by default
MAX_WINDOWS = 64  # records are read from at most this many windows
# if there are fewer windows, they are split, so that the records come from the whole log
MIN_WINDOWS = 16
MAX_RECORDS = 1 << 20
MAX_PLAIN_FACTOR = 8  # a sample may decompress to at most this many times its stored bytes
MAX_DELTA_BYTES = 21  # upper bound for a record's length, attributes and two deltas
LEGACY = "legacy"
CONTROL = "control"
UNKNOWN_CODEC = "unknown-codec"
DAMAGED = "damaged"
TOO_LARGE = "too-large"
UNREADABLE_FILE = "unreadable-file"

SAMPLED_BATCH: np.dtype = np.dtype(
    [
        *BATCH.descr,
        ("window", "i4"),  # index into RecordSample.windows
        ("first_record", "i8"),  # its records are rows [first_record, end_record)
        ("end_record", "i8"),
        ("plain_bytes", "i8"),  # size of the records before compression
    ]
)
SAMPLED_RECORD: np.dtype = np.dtype(
    [
        ("batch", "i8"),  # row in RecordSample.batches, which has the producer id and epoch
        ("offset", "i8"),
        ("timestamp_ms", "i8"),
        ("start", "i8"),  # the record is data[start:end], beginning with its length
        ("tail", "i8"),  # position in data of the fields after both deltas
        ("end", "i8"),
    ]
)


@dataclass(frozen=True, kw_only=True)
class RecordSample:
    """Records from some windows of one topic, and their batches.

    - Batches and records are ordered by window, and within a window in log order.
    - The records of a batch are contiguous in `data`, and so are the records of a window.
    - A control batch has no records here.

    Attributes:
        skipped: the number of batches whose records were not read, by reason: "legacy" (magic 0 and
            1), "control", "unknown-codec", "damaged", "too-large" (after decompression). For
            "unreadable-file" it is the number of windows.
        stored_bytes: the size of the read batches in the .log.
    """

    windows: tuple[LogWindow, ...]
    batches: np.ndarray
    records: np.ndarray
    data: np.ndarray
    skipped: dict[str, int] = field(default_factory=dict)
    stored_bytes: int = 0

    @property
    def has_records(self) -> bool:
        return len(self.records) > 0


def read_sample(
    windows: Sequence[LogWindow],
    most_bytes: int = RECORD_SAMPLE_BYTES,
    on_progress: Callable[[float], None] = lambda _share: None,
) -> RecordSample:
    """Reads whole batches from the start of each window (part of a log), at least one per window.

    A window is read up to the first damage. No exception is raised for an unreadable file.
    Reads at most MAX_RECORDS records. Their size after decompression is at most MAX_PLAIN_FACTOR
    times `most_bytes`, or 8 MiB if that is more.

    Args:
        windows: the windows of one topic. If there are more than MAX_WINDOWS, only some are read,
            evenly spread.
        most_bytes: the most .log bytes to read, except for the windows' first batches.
        on_progress: called with the share of windows that are done, 0 to 1. May raise an exception.
    """
    count = min(len(windows), MAX_WINDOWS)
    chosen = [windows[number * len(windows) // count] for number in range(count)]
    if 0 < count < MIN_WINDOWS:
        part_count = -(-MIN_WINDOWS // count)
        chosen = [
            part for window in chosen for part in _split(window, part_count, most_bytes // count)
        ]
        count = len(chosen)
    builder = _SampleBuilder(most_bytes)
    for number, window in enumerate(chosen):
        on_progress(number / count)
        builder.add(number, window, count - number)
    on_progress(1.0)
    return builder.result(tuple(chosen))


def _split(window: LogWindow, part_count: int, most_bytes: int) -> list[LogWindow]:
    """Divides a window (part of a log) into at most `part_count` nearly equal parts.

    Each part begins with a batch. Does not divide a window of at most `most_bytes`, or a window
    with an unreadable header.
    """
    size_bytes = window.stop - window.start
    if size_bytes <= most_bytes:
        return [window]
    targets = window.start + np.arange(part_count) * size_bytes // part_count
    starts = [window.start]
    try:
        for batches in window.segment.scan(window.start, window.stop):
            positions = batches["position"]
            # find the first batch at or after each target that is in this chunk
            is_here = (targets > starts[-1]) & (targets <= positions[-1])
            starts += positions[np.searchsorted(positions, targets[is_here])].tolist()
    except KafkavizError:
        return [window]
    starts = sorted(set(starts))
    stops = [*starts[1:], window.stop]
    return [
        replace(window, start=start, stop=stop) for start, stop in zip(starts, stops, strict=True)
    ]


def _skip_legacy(window: LogWindow) -> tuple[int, int]:
    """Returns the position of the first batch of magic 2, and the number of batches before it.

    If no batch has magic 2, the position is `window.stop`. Older batches are skipped, because
    BatchChunks converts only one MiB per second.
    """
    count = 0
    for batches in window.segment.scan(window.start, window.stop):
        places = np.flatnonzero(batches["magic"] >= MAGIC_2)
        if len(places):
            return int(batches["position"][places[0]]), count + int(places[0])
        count += len(batches)
    return window.stop, count


class _SampleBuilder:
    def __init__(self, most_bytes: int) -> None:
        max_plain_bytes = MAX_PLAIN_FACTOR * max(most_bytes, CHUNK_BYTES)
        self._max_sums = np.array([most_bytes, max_plain_bytes, MAX_RECORDS])
        self.stored_bytes = 0
        self._skipped: Counter[str] = Counter()
        self._batches = [np.empty(0, SAMPLED_BATCH)]
        self._records = [np.empty(0, SAMPLED_RECORD)]
        self._pieces = [np.empty(0, np.uint8)]
        self._batch_count = 0
        self._record_count = 0
        self._plain_bytes = 0

    def add(self, number: int, window: LogWindow, left_windows: int) -> None:
        """Reads the first batches of a window (part of a log), at least one.

        Uses at most 1 / `left_windows` of the bytes and records that may still be read.
        """
        sums = np.array([self.stored_bytes, self._plain_bytes, self._record_count])
        quotas = np.maximum(self._max_sums - sums, 0) // left_windows
        used = np.zeros(len(quotas), np.int64)
        chunk_bytes = int(np.clip(quotas[0], batch_format.HEADER_BYTES, CHUNK_BYTES))
        try:
            start, legacy_count = _skip_legacy(window)
            self._skipped[LEGACY] += legacy_count
            if start == window.stop > window.start and not legacy_count:
                self._skipped[DAMAGED] += 1
            log = file.view(window.segment.log).part("log", start, window.stop)
            for chunk in BatchChunks(log, 0, chunk_bytes):
                sizes = np.stack(
                    [
                        chunk.batches["size_bytes"],
                        np.maximum(chunk.bodies["end"] - chunk.bodies["start"], 0),
                        np.maximum(chunk.batches["record_count"], 0),
                    ],
                    axis=1,
                )
                ends = used + np.cumsum(sizes, axis=0, dtype=np.int64)
                is_past = (ends > quotas).any(axis=1)
                count = int(is_past.argmax()) if is_past.any() else len(ends)
                if not used.any():
                    count = max(1, count)
                if count:
                    self._take(number, start, chunk, count)
                    used = ends[count - 1]
                if count < len(ends):
                    break
        except CleaningFailed:
            self._skipped[DAMAGED] += 1
        except KafkavizError:
            self._skipped[UNREADABLE_FILE] += 1
        self.stored_bytes += int(used[0])

    def _take(self, number: int, position: int, chunk: BatchChunk, count: int) -> None:
        """Adds the first `count` batches of a chunk, and their readable records."""
        batches = np.zeros(count, SAMPLED_BATCH)
        for name in BATCH.names or ():
            batches[name] = chunk.batches[name][:count]
        batches["position"] += position
        batches["window"] = number
        bodies = chunk.bodies[:count]
        is_legacy = batches["magic"] < MAGIC_2
        is_control = batch_format.is_control(batches)
        is_unknown = batch_format.codec(batches) >= len(codec.CODECS)
        is_candidate = ~(is_legacy | is_control | is_unknown)
        counts = batches["record_count"]
        sizes = bodies["end"] - bodies["start"]
        is_taken = is_candidate & (counts >= 0) & (bodies["place"] != UNREADABLE)
        # `add` passes a window's first batch even if it exceeds its share, so check the totals here
        left_bytes = self._max_sums[1] - self._plain_bytes
        left_records = self._max_sums[2] - self._record_count
        is_past = np.cumsum(sizes) > left_bytes
        is_past |= np.cumsum(counts, dtype=np.int64) > left_records
        is_large = is_taken & is_past
        is_taken &= ~is_large
        most_counts = np.minimum(counts, np.maximum(sizes, 0) // record.MIN_BYTES + 1)
        records = np.zeros(int(most_counts[is_taken].sum()), SAMPLED_RECORD)
        out = np.empty(int(sizes[is_taken].sum()), np.uint8)
        record_count, plain_bytes = _take_records(
            chunk.data,
            chunk.decompressed,
            batches,
            bodies,
            is_taken,
            records,
            out,
            self._batch_count,
            self._record_count,
            self._plain_bytes,
        )
        for reason, is_skipped in (
            (LEGACY, is_legacy),
            (CONTROL, is_control),
            (UNKNOWN_CODEC, is_unknown & ~is_control & ~is_legacy),
            (DAMAGED, is_candidate & ~is_taken & ~is_large),
            (TOO_LARGE, is_large),
        ):
            self._skipped[reason] += int(is_skipped.sum())
        self._batches.append(batches)
        self._records.append(records[:record_count].copy())
        self._pieces.append(out[:plain_bytes].copy())
        self._batch_count += count
        self._record_count += record_count
        self._plain_bytes += plain_bytes

    def result(self, windows: tuple[LogWindow, ...]) -> RecordSample:
        return RecordSample(
            windows=windows,
            batches=np.concatenate(self._batches),
            records=np.concatenate(self._records),
            data=np.concatenate(self._pieces),
            skipped={reason: count for reason, count in self._skipped.items() if count},
            stored_bytes=self.stored_bytes,
        )


@njit(cache=True, boundscheck=True)
def _take_records(
    data: np.ndarray,
    decompressed: np.ndarray,
    batches: np.ndarray,
    bodies: np.ndarray,
    is_taken: np.ndarray,
    records: np.ndarray,
    out: np.ndarray,
    first_batch: int,
    first_record: int,
    first_byte: int,
) -> tuple[int, int]:
    """Copies the records of the batches to `out`, and fills in `records` and `batches`.

    Sets `is_taken` to False for a batch with a damaged record. `first_batch`, `first_record` and
    `first_byte` are the numbers of batches, records and bytes already in the sample. Returns the
    number of copied records and of copied bytes.
    """
    rows = np.zeros(1, record.ROW)
    record_count = 0
    out_position = 0
    for place in range(len(batches)):
        row = rows[0]  # in compiled code, a row does not keep its array alive
        batch = batches[place]
        batch.first_record = first_record + record_count
        batch.end_record = batch.first_record
        if not is_taken[place]:
            continue
        body = bodies[place]
        is_compressed = body.place == DECOMPRESSED
        source = decompressed if is_compressed else data
        position = body.start
        shift = out_position - body.start
        number = record_count
        for _ in range(batch.record_count):
            start = position
            code, position, _, _ = record.take_record(source, start, body.end, is_compressed, row)
            if code:
                is_taken[place] = False
                break
            timestamp_ms = batch.base_timestamp_ms + row.timestamp_delta_ms
            if batch.attributes & LOG_APPEND_TIME != 0:
                timestamp_ms = batch.max_timestamp_ms
            _, length_end = varint.scan(source, start, position, varint.VARINT_BYTES)
            _, offset_at = varint.scan(source, length_end + 1, position, varint.VARLONG_BYTES)
            _, tail = varint.scan(source, offset_at, position, varint.VARINT_BYTES)
            sampled = records[number]
            sampled.batch = first_batch + place
            sampled.offset = batch.base_offset + row.offset_delta
            sampled.timestamp_ms = timestamp_ms
            sampled.start = first_byte + start + shift
            sampled.tail = first_byte + tail + shift
            sampled.end = first_byte + position + shift
            number += 1
        if batch.record_count > 0 and position < body.end:
            is_taken[place] = False
        if not is_taken[place] or batch.record_count == 0:
            continue
        size_bytes = body.end - body.start
        out[out_position : out_position + size_bytes] = source[body.start : body.end]
        out_position += size_bytes
        batch.plain_bytes = size_bytes
        batch.end_record = first_record + number
        record_count = number
    return record_count, out_position


@njit(cache=True, boundscheck=True)
def write_records(
    data: np.ndarray, records: np.ndarray, starts: np.ndarray, out: np.ndarray, ends: np.ndarray
) -> int:
    """Writes records as the uncompressed bodies of new batches (DefaultRecord.writeTo, 4.3.1).

    Only the offset and timestamp deltas of a record change: they become relative to the new batch.

    Args:
        records: the records in their new order, rows of SAMPLED_RECORD.
        starts: the first record of each new batch, followed by the number of records.
        out: filled with the bodies, one after another. Its size comes from `most_body_bytes`.
        ends: filled with the end of each body in `out`.

    Returns:
        The total length of all bodies.
    """
    position = 0
    for number in range(len(starts) - 1):
        first = starts[number]
        for place in range(first, starts[number + 1]):
            written = records[place]
            time_delta = written.timestamp_ms - records[first].timestamp_ms
            tail_bytes = written.end - written.tail
            size = 1 + varint_bytes(time_delta) + varint_bytes(place - first) + tail_bytes
            position = put_varint(out, position, size)
            out[position] = 0  # attributes
            position = put_varint(out, position + 1, time_delta)
            position = put_varint(out, position, place - first)
            out[position : position + tail_bytes] = data[written.tail : written.end]
            position += tail_bytes
        ends[number] = position
    return position


def record_bodies(data: np.ndarray, records: np.ndarray, starts: np.ndarray) -> list[bytes]:
    """Returns one body per batch, as `write_records` writes it."""
    out = np.empty(most_body_bytes(records), np.uint8)
    ends = np.zeros(len(starts) + 1, np.int64)
    write_records(data, records, np.append(starts, len(records)), out, ends[1:])
    return [out[start:end].tobytes() for start, end in pairwise(ends.tolist())]


@njit(cache=True)
def cut_batches(records: np.ndarray, batch_bytes: int) -> np.ndarray:
    """Divides records into batches that are as full as possible. Returns each batch's first row.

    `batch_bytes` is the largest size of a batch with its header, before compression. A record that
    does not fit gets its own batch.
    """
    starts = np.empty(len(records), np.int64)
    count = 0
    filled_bytes = np.int64(0)
    for place in range(len(records)):
        size = np.int64(0)
        if count:
            first = starts[count - 1]
            time_delta = records[place].timestamp_ms - records[first].timestamp_ms
            size = record_bytes(time_delta, place - first, records[place].end - records[place].tail)
        if not count or filled_bytes + size > batch_bytes:
            starts[count] = place
            count += 1
            filled_bytes = np.int64(batch_format.HEADER_BYTES)
            size = record_bytes(0, 0, records[place].end - records[place].tail)
        filled_bytes += size
    return starts[:count]


@njit(cache=True)
def record_bytes(time_delta: int, offset_delta: int, tail_bytes: int) -> int:
    """Returns the size of a record (DefaultRecord.sizeInBytes). `tail_bytes` follow its deltas."""
    size = 1 + varint_bytes(time_delta) + varint_bytes(offset_delta) + tail_bytes
    return size + varint_bytes(size)


def most_body_bytes(records: np.ndarray) -> int:
    """Returns an upper bound for the size of the bodies that `write_records` writes."""
    return int((records["end"] - records["tail"]).sum()) + MAX_DELTA_BYTES * len(records)
