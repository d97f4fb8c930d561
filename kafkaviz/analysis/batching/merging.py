"""Writes the batches that producers would have sent with another linger.ms and batch.size.

The rules are from RecordAccumulator, ProducerBatch and MemoryRecordsBuilder.hasRoomFor (4.3.1). A
producer has one open batch per partition. It sends the batch when the next record has no room, or
when linger.ms has passed since the batch was opened, or later if the connection is busy. The log
has the timestamps of records, but not the time of sending. So the answer is a range:

    today, linger.ms 0      |a b|   |c|      |d e|             |f|
    time in ms               0 1     4        9 11              30
    linger.ms 10, low       |a b     c|      |d e|             |f|     e is after 0 + 10
    linger.ms 10, high      |a b     c        d e|             |f|     d is at or before 0 + 10

*Low* merges the fewest batches:

- A batch joins the open batch if all its records are at or after the opening, and before the
  opening + linger.ms.
- The size before compression decides when a batch is full.
- Batches without a producer id are not merged: each may be from another producer.
- If a producer id writes to several partitions, an open batch ends at the next multiple of
  linger.ms. RecordAccumulator.drain sends the open batches of all partitions of a broker once one
  is ready, in the worst case every linger.ms.

*High* merges the most batches:

- A batch joins if its first record is at or before the opening + linger.ms + `delay_ms`, because
  the producer's thread may be late.
- The compressed size decides when a batch is full. It is estimated as in
  CompressionRatioEstimator, with 1.05 times the ratio of the topic.
- Batches without a producer id count as if from one producer.

Batches of today are never divided because of linger.ms. If a batch is too large to join, its first
records join, and the others begin the next batch. A new epoch, another transaction or another codec
ends a batch.

The two rules assume that records arrive at the same times as today, that the producer does not wait
for each acknowledgement, and that the application does not call flush. A producer that sends as
fast as it can may merge a few more batches.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.batching.batch_facts import DEFAULT_BATCH_BYTES
from kafkaviz.analysis.batching.record_sample import (
    RecordSample,
    most_body_bytes,
    record_bytes,
    write_records,
)
from kafkaviz.binary import codec
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import batch as batch_format
from kafkaviz.format.batch import BATCH, CODEC_MASK, HEADER_BYTES, LOG_APPEND_TIME, TRANSACTIONAL
from kafkaviz.simulate.producers.batch_encoder import seal

LINGERS_MS = (5, 20, 50, 100)
BATCH_SIZES = (DEFAULT_BATCH_BYTES, 128 << 10)
RATIO_FACTOR = 1.05  # MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR
_KEPT_FLAGS = CODEC_MASK | LOG_APPEND_TIME | TRANSACTIONAL


@dataclass(frozen=True, kw_only=True)
class MergedBatches:
    """Counts and sizes of sampled records after they were merged into larger batches."""

    batches: int  # including transaction markers
    records: int
    plain_bytes: int  # of the records before compression
    log_bytes: int
    header_bytes: int
    index_entries: int
    headers_mean: float  # headers that a lookup of a base offset reads; NaN without batches


@dataclass(frozen=True, kw_only=True)
class Merge:
    """The results for one linger.ms and batch.size, with the fewest and the most batches merged."""

    linger_ms: int
    batch_bytes: int
    low: MergedBatches
    high: MergedBatches


@dataclass(frozen=True, kw_only=True)
class Merging:
    """The sizes of a sample in today's batches and in merged batches.

    kafkaviz compressed the records in both cases, so these sizes can be compared with each other.
    Do not compare them with the original log, because its compression level is unknown.

    Attributes:
        windows: the number of windows that were written. If time ran out, the sample has more
            windows.
        stored_bytes: the size of these windows' batches in the original log.
    """

    today: MergedBatches
    merges: tuple[Merge, ...]
    windows: int
    stored_bytes: int

    def at(self, linger_ms: int, batch_bytes: int) -> Merge:
        """Returns the result for this pair. Raises KeyError if the pair was not measured."""
        for merge in self.merges:
            if (merge.linger_ms, merge.batch_bytes) == (linger_ms, batch_bytes):
                return merge
        raise KeyError((linger_ms, batch_bytes))


def measure_merges(
    sample: RecordSample,
    ratios: Mapping[str, float],
    seconds: float,
    *,
    lingers_ms: Sequence[int] = LINGERS_MS,
    batch_sizes: Sequence[int] = BATCH_SIZES,
    interval_bytes: int = 4096,
    by_base_offset: bool = True,
    on_progress: Callable[[float], None] = lambda _share: None,
) -> Merging | None:
    """Returns a sample's sizes in today's and in merged batches. None: the sample is empty.

    Args:
        ratios: the compressed size divided by the uncompressed size, by codec.
        seconds: the time to use. If it is short, only some windows are measured, at least one.
        by_base_offset: whether a lookup reads only 17 of a header's 61 bytes (since Kafka 4.1).
    """
    if not sample.has_records:
        return None
    shared_ids = _shared_ids(sample)
    writer = _SampleWriter(sample, interval_bytes, by_base_offset=by_base_offset)
    settings = [(linger_ms, size) for size in batch_sizes for linger_ms in lingers_ms]
    write_count = 2 * len(settings) + 1
    # twice its share of the time: at least half of the other writes usually repeat an earlier one
    today = writer.write_today(2 * seconds / write_count)
    merges = []
    for number, (linger_ms, batch_bytes) in enumerate(settings):
        on_progress((2 * number + 1) / write_count)
        low, high = merge_range(
            writer.sample, linger_ms, batch_bytes, ratios, shared_ids=shared_ids
        )
        merges.append(
            Merge(
                linger_ms=linger_ms,
                batch_bytes=batch_bytes,
                low=writer.write(low),
                high=writer.write(high),
            )
        )
    on_progress(1.0)
    return Merging(
        today=today,
        merges=tuple(merges),
        windows=len(writer.windows),
        stored_bytes=writer.stored_bytes,
    )


def merge_range(
    sample: RecordSample,
    linger_ms: int,
    batch_bytes: int,
    ratios: Mapping[str, float],
    *,
    shared_ids: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns each record's new batch number by the rule "low", and by the rule "high".

    "low" merges the fewest batches, and "high" the most. If "high" gives more batches than "low",
    the numbers of "low" are returned for both. This happens if timestamps do not ascend.
    """
    if shared_ids is None:
        shared_ids = _shared_ids(sample)
    low = merge_batches(
        sample, linger_ms, batch_bytes, ratios, is_high=False, shared_ids=shared_ids
    )
    late_ms = min(delay_ms(sample), linger_ms)
    high = merge_batches(sample, linger_ms, batch_bytes, ratios, is_high=True, late_ms=late_ms)
    if high.max(initial=-1) > low.max(initial=-1):
        high = low
    return low, high


def merge_batches(
    sample: RecordSample,
    linger_ms: int,
    batch_bytes: int,
    ratios: Mapping[str, float],
    *,
    is_high: bool,
    late_ms: int = 0,
    shared_ids: Sequence[int] = (),
) -> np.ndarray:
    """Returns each record's new batch number by the rule "low" or "high", shape (records,).

    The numbers are 0, 1, 2 ... in the order in which the batches are opened.

    Args:
        is_high: whether the rule is "high" (most merged) or "low" (fewest merged).
        late_ms: how late a batch may be sent. Used only by "high".
        shared_ids: the producer ids that write to several partitions. Used only by "low".
    """
    batches = sample.batches
    factors = np.ones(CODEC_MASK + 1)
    if is_high:
        for codec_id, name in enumerate(codec.CODECS[1:], 1):
            factors[codec_id] = min(1.0, RATIO_FACTOR * ratios.get(name, 1.0))
    # by the rule "low", batches without a producer id are not merged
    is_alone = (batches["producer_id"] < 0) & (not is_high)
    numbers = np.full(len(sample.records), -1, np.int64)
    streams = _streams(batches)
    _merge(
        batches,
        sample.records,
        streams,
        is_alone,
        np.isin(batches["producer_id"], np.array(shared_ids, np.int64)),
        factors[batch_format.codec(batches)],
        int(streams.max(initial=-1)) + 1,
        linger_ms,
        late_ms,
        batch_bytes,
        is_high,
        numbers,
    )
    return numbers


def delay_ms(sample: RecordSample) -> int:
    """Returns how much later than usual a producer may send a batch, in ms.

    Each batch has a time from its first to its last record. The result is the 99th percentile of
    these times minus their median.
    """
    batches = sample.batches
    is_read = batches["end_record"] > batches["first_record"]
    first_ms = sample.records["timestamp_ms"][batches["first_record"][is_read]]
    open_ms = batches["max_timestamp_ms"][is_read] - first_ms
    if not len(open_ms):
        return 0
    usual, longest = np.percentile(open_ms, [50, 99], method="higher")
    return max(0, int(longest - usual))


def _shared_ids(sample: RecordSample) -> list[int]:
    directories = [window.partition.directory for window in sample.windows]
    if len(set(directories)) < 2:
        return []
    numbers = np.unique(directories, return_inverse=True)[1]
    batches = sample.batches
    pairs = np.stack([batches["producer_id"], numbers[batches["window"]]], axis=1)
    ids, partition_counts = np.unique(np.unique(pairs, axis=0)[:, 0], return_counts=True)
    return ids[(partition_counts > 1) & (ids >= 0)].tolist()


def _streams(batches: np.ndarray) -> np.ndarray:
    """Returns a number per batch. Only batches with equal numbers may be merged.

    Numbers are equal if window, producer id, epoch, transaction, codec and timestamp type are.
    """
    is_control = batch_format.is_control(batches)
    order = np.lexsort((np.arange(len(batches)), batches["producer_id"], batches["window"]))
    transactions = np.empty(len(batches), np.int64)
    transactions[order] = np.cumsum(is_control[order])
    keys = np.stack(
        [
            batches["window"].astype(np.int64),
            batches["producer_id"],
            batches["producer_epoch"].astype(np.int64),
            batches["attributes"].astype(np.int64) & _KEPT_FLAGS,
            transactions,
        ],
        axis=1,
    )
    # this takes a fifth of the time of np.unique, which compares rows as bytes
    sorted_rows = np.lexsort(keys.T)
    is_new = (np.diff(keys[sorted_rows], axis=0) != 0).any(axis=1)
    streams = np.zeros(len(batches), np.int64)
    streams[sorted_rows[1:]] = np.cumsum(is_new)
    return streams


@njit(cache=True, boundscheck=True)
def _merge(
    batches: np.ndarray,
    records: np.ndarray,
    streams: np.ndarray,
    is_alone: np.ndarray,
    is_shared: np.ndarray,
    factors: np.ndarray,
    stream_count: int,
    linger_ms: int,
    late_ms: int,
    batch_bytes: int,
    is_high: bool,
    numbers: np.ndarray,
) -> int:
    """Fills `numbers` with each record's new batch, and returns the number of batches."""
    open_numbers = np.full(stream_count, -1, np.int64)
    opened_ms = np.zeros(stream_count, np.int64)
    plain_bytes = np.zeros(stream_count, np.int64)
    record_counts = np.zeros(stream_count, np.int64)
    first_ms = np.zeros(stream_count, np.int64)
    count = 0
    for place in range(len(batches)):
        first = batches[place].first_record
        end = batches[place].end_record
        if first == end:
            continue
        stream = streams[place]
        position = first
        if open_numbers[stream] >= 0 and not is_alone[place]:
            earliest_ms = records[first].timestamp_ms
            latest_ms = earliest_ms
            for row in range(first, end):
                earliest_ms = min(earliest_ms, records[row].timestamp_ms)
                latest_ms = max(latest_ms, records[row].timestamp_ms)
            deadline_ms = opened_ms[stream] + linger_ms
            joins = records[first].timestamp_ms <= deadline_ms + late_ms
            if not is_high:
                if is_shared[place] and linger_ms > 0:
                    deadline_ms = (opened_ms[stream] // linger_ms + 1) * linger_ms
                is_known = earliest_ms >= 0
                joins = is_known and earliest_ms >= opened_ms[stream] and latest_ms < deadline_ms
            if joins:
                while position < end:
                    size = record_bytes(
                        records[position].timestamp_ms - first_ms[stream],
                        record_counts[stream],
                        records[position].end - records[position].tail,
                    )
                    written = HEADER_BYTES + np.int64(plain_bytes[stream] * factors[place])
                    if written + size > batch_bytes:
                        break
                    plain_bytes[stream] += size
                    record_counts[stream] += 1
                    numbers[position] = open_numbers[stream]
                    position += 1
        if position < end:
            open_numbers[stream] = count
            count += 1
            opened_ms[stream] = records[position].timestamp_ms
            first_ms[stream] = records[position].timestamp_ms
            plain_bytes[stream] = 0
            record_counts[stream] = 0
            while position < end:
                plain_bytes[stream] += record_bytes(
                    records[position].timestamp_ms - first_ms[stream],
                    record_counts[stream],
                    records[position].end - records[position].tail,
                )
                record_counts[stream] += 1
                numbers[position] = open_numbers[stream]
                position += 1
    return count


def today_numbers(sample: RecordSample) -> np.ndarray:
    """Returns the number of the batch that holds each record today, shape (records,).

    The batches are numbered from 0 on, in the order of the column `batch`.
    """
    return np.unique(sample.records["batch"], return_inverse=True)[1].reshape(-1)


def write_window(
    sample: RecordSample, numbers: np.ndarray, window: int
) -> tuple[np.ndarray, np.ndarray]:
    """Writes the records of one window (part of a log) in new batches.

    `numbers` has each record's new batch number.

    - Batches are in the order of their last records.
    - Transaction markers keep their place among the records.
    - Offsets begin at the window's first offset and have no gaps.
    - A new batch has the codec of its first record's old batch, at Kafka's default level.

    Returns an array of BATCH, and the bytes of the log.
    """
    is_here = sample.batches["window"] == window
    today = sample.batches[is_here]
    first = int(today["first_record"].min(initial=len(sample.records)))
    end = int(today["end_record"].max(initial=first))
    places = np.arange(first, end)
    # the batch with the earliest last record comes first
    window_numbers = numbers[first:end]
    last_places = np.full(int(window_numbers.max(initial=-1)) + 1, -1, np.int64)
    np.maximum.at(last_places, window_numbers, places)
    order = np.lexsort((places, last_places[window_numbers]))
    records = sample.records[first:end][order]
    starts = np.flatnonzero(np.diff(window_numbers[order], prepend=-1))
    starts = np.append(starts, len(records))
    bodies = np.empty(most_body_bytes(records), np.uint8)
    ends = np.empty(len(starts) - 1, np.int64)
    write_records(sample.data, records, starts, bodies, ends)
    markers = today[batch_format.is_control(today)]
    rows = np.zeros(len(ends) + len(markers), BATCH)
    # a marker comes before the batches whose last record is after it
    marker_places = np.searchsorted(
        last_places[window_numbers[order][starts[:-1]]], markers["first_record"]
    )
    is_marker = np.zeros(len(rows), np.bool_)
    is_marker[marker_places + np.arange(len(markers))] = True
    for name in BATCH.names or ():
        rows[name][is_marker] = markers[name]
        rows[name][~is_marker] = sample.batches[name][records["batch"][starts[:-1]]]
    pieces = _pack_bodies(rows, is_marker, bodies, ends)
    rows["record_count"][~is_marker] = np.diff(starts)
    rows["attributes"][~is_marker] &= _KEPT_FLAGS
    rows["base_timestamp_ms"][~is_marker] = records["timestamp_ms"][starts[:-1]]
    if len(ends):
        rows["max_timestamp_ms"][~is_marker] = np.maximum.reduceat(
            records["timestamp_ms"], starts[:-1]
        )
    counts = np.maximum(rows["record_count"], 1)
    base_offset = int(today["base_offset"][0]) if len(today) else 0
    rows["base_offset"] = base_offset + np.cumsum(counts) - counts
    rows["last_offset"] = rows["base_offset"] + counts - 1
    rows["base_sequence"] = -1
    rows["position"] = np.cumsum(rows["size_bytes"]) - rows["size_bytes"]
    data = np.zeros(int(rows["size_bytes"].sum()), np.uint8)
    for position, piece in zip(rows["position"].tolist(), pieces, strict=True):
        start = position + HEADER_BYTES
        data[start : start + len(piece)] = np.frombuffer(piece, np.uint8)
    seal(rows, data)
    return rows, data


def _pack_bodies(
    rows: np.ndarray, is_marker: np.ndarray, bodies: np.ndarray, ends: np.ndarray
) -> list[bytes]:
    """Compresses the records of each batch, and fills in the column `size_bytes` of `rows`.

    Returns the bytes after each batch header. For a transaction marker they are zeros.
    """
    pieces = []
    body_ends = iter(ends.tolist())
    start = 0
    for row, is_marker_row in zip(rows, is_marker.tolist(), strict=True):
        if is_marker_row:
            pieces.append(bytes(int(row["size_bytes"]) - HEADER_BYTES))
            continue
        end = next(body_ends)
        codec_name = codec.CODECS[int(row["attributes"]) & CODEC_MASK]
        pieces.append(codec.compress_as_broker(codec_name, bodies[start:end].tobytes()))
        row["size_bytes"] = HEADER_BYTES + len(pieces[-1])
        start = end
    return pieces


class _SampleWriter:
    """Writes a sample several times in different batches. Call `write_today` first."""

    def __init__(self, sample: RecordSample, interval_bytes: int, *, by_base_offset: bool) -> None:
        self.sample = sample
        self.windows: list[int] = []
        self.stored_bytes = 0
        self._interval_bytes = interval_bytes
        self._by_base_offset = by_base_offset
        self._written: list[tuple[np.ndarray, MergedBatches]] = []

    def write_today(self, seconds: float) -> MergedBatches:
        """Writes window after window in today's batches until time is up. Drops the other windows.

        Writes at least one window.
        """
        windows = np.unique(self.sample.batches["window"][self.sample.records["batch"]])
        numbers = today_numbers(self.sample)
        start = time.monotonic()
        written_rows = []
        for window in windows[spread_order(len(windows))].tolist():
            if written_rows and time.monotonic() - start > seconds:
                break
            self.windows.append(window)
            written_rows.append(write_window(self.sample, numbers, window)[0])
        self.sample = _take_windows(self.sample, self.windows)
        batches = self.sample.batches
        is_written = batches["end_record"] > batches["first_record"]
        is_written |= batch_format.is_control(batches)
        self.stored_bytes = int(batches["size_bytes"][is_written].sum())
        return self._keep(today_numbers(self.sample), written_rows)

    def write(self, numbers: np.ndarray) -> MergedBatches:
        """Writes the sample, and returns its sizes. `numbers` has each record's new batch number.

        If the same numbers were written before, returns the sizes that were measured then.
        """
        for written_numbers, merged in self._written:
            if np.array_equal(written_numbers, numbers):
                return merged
        written_rows = (write_window(self.sample, numbers, window)[0] for window in self.windows)
        return self._keep(numbers, written_rows)

    def _keep(self, numbers: np.ndarray, written_rows: Iterable[np.ndarray]) -> MergedBatches:
        intervals = [self._interval_bytes]
        parts = sweep.parts(written_rows, intervals, by_base_offset=self._by_base_offset)
        row = parts.sweep()[0]
        merged = MergedBatches(
            batches=parts.batches,
            records=len(self.sample.records),
            plain_bytes=int(self.sample.batches["plain_bytes"].sum()),
            log_bytes=parts.log_bytes,
            header_bytes=HEADER_BYTES * parts.batches,
            index_entries=int(row["entries"]),
            headers_mean=float(row["headers_mean"]),
        )
        self._written.append((numbers, merged))
        return merged


def _take_windows(sample: RecordSample, windows: Sequence[int]) -> RecordSample:
    is_taken = np.isin(sample.batches["window"], windows)
    records = sample.records[is_taken[sample.records["batch"]]]
    batches = sample.batches[is_taken]
    records["batch"] = (np.cumsum(is_taken) - 1)[records["batch"]]
    counts = batches["end_record"] - batches["first_record"]
    batches["end_record"] = np.cumsum(counts)
    batches["first_record"] = batches["end_record"] - counts
    return replace(sample, batches=batches, records=records)


def spread_order(count: int) -> list[int]:
    """Returns 0 to count - 1, ordered so that the first n are evenly spread, for any n.

    For example, 0, 4, 2, 6, 1, 5, 3, 7 for a count of 8.
    """
    bits = max(1, (count - 1).bit_length())
    reversed_numbers = [int(f"{number:0{bits}b}"[::-1], 2) for number in range(1 << bits)]
    return [number for number in reversed_numbers if number < count]
