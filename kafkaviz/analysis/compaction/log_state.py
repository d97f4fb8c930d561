"""The state of a log on which a cleaning depends, as after the broker's next start-up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.compaction.decision import CleanableSegment, LogFacts, segments_between
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import producer_snapshot
from kafkaviz.format.open_transactions import TransactionFault
from kafkaviz.format.producer_snapshot import PRODUCER
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.partition import Partition, log_end_offset
from kafkaviz.log.segment import LogSegment
from kafkaviz.search.log_view import SegmentView, view_segment
from kafkaviz.simulate.writer.producer_table import ProducerTable

NEVER_MS = 2**62  # with this expiration time, no producer expires


@dataclass(frozen=True, kw_only=True)
class OpenTransaction:
    producer_id: int
    first_offset: int


@dataclass(frozen=True, kw_only=True)
class LogState:
    """A partition's log as a running broker sees it.

    Attributes:
        views: the segments, by base offset; the last one is active.
        producers: the producers that a broker remembers, an array of producer_snapshot.PRODUCER.
        oldest_transaction: the open transaction that began first; None: none is open.
    """

    views: Sequence[SegmentView]
    facts: LogFacts
    producers: np.ndarray
    oldest_transaction: OpenTransaction | None


def read_log_state(
    partition: Partition,
    *,
    now_ms: int,
    producer_expiration_ms: int,
    high_watermark: int | None = None,
) -> LogState:
    """Reads the state of a log, without its records.

    Args:
        partition: must have at least one segment.
        high_watermark: the default is the one in the checkpoint, or else the log end.

    Raises:
        KafkavizError: a file cannot be read.
    """
    segments = partition.without_remote().live
    log_start = partition.log_start_offset or 0
    log_end = log_end_offset(segments[-1])
    producers = _read_producers(partition, segments, log_start, log_end)
    if high_watermark is None:
        high_watermark = partition.high_watermark
    return open_log_state(
        [view_segment(segment) for segment in segments],
        producers,
        log_start_offset=log_start,
        log_end_offset=log_end,
        high_watermark=high_watermark,
        now_ms=now_ms,
        producer_expiration_ms=producer_expiration_ms,
    )


def open_log_state(
    views: Sequence[SegmentView],
    producers: np.ndarray,
    *,
    log_start_offset: int,
    log_end_offset: int,
    now_ms: int,
    producer_expiration_ms: int,
    high_watermark: int | None = None,
) -> LogState:
    """Returns the state of a log that is already open.

    Args:
        views: the segments, by base offset; the last one is active.
        producers: all producers of the log, an array of producer_snapshot.PRODUCER. The result
            lacks producers that have expired at `now_ms` without an open transaction.
        high_watermark: the default is the log end.
    """
    is_open = producers["current_txn_first_offset"] >= 0
    is_expired = now_ms - producers["timestamp_ms"] >= producer_expiration_ms
    producers = producers[is_open | ~is_expired]
    if high_watermark is None:
        high_watermark = log_end_offset
    high_watermark = min(max(high_watermark, log_start_offset), log_end_offset)
    oldest = _oldest_transaction(producers)
    stable = high_watermark if oldest is None else min(oldest.first_offset, high_watermark)
    facts = LogFacts(
        segments=[_segment_facts(view) for view in views],
        log_start_offset=log_start_offset,
        log_end_offset=log_end_offset,
        high_watermark=high_watermark,
        last_stable_offset=stable,
    )
    return LogState(views=views, facts=facts, producers=producers, oldest_transaction=oldest)


def _segment_facts(view: SegmentView) -> CleanableSegment:
    with view.log.open_reader() as read:
        first_batch = batch_at(read, 0, view.size_bytes)
    first_ms = None
    if first_batch is not None and first_batch["max_timestamp_ms"] >= 0:
        first_ms = int(first_batch["max_timestamp_ms"])
    return CleanableSegment(
        base_offset=view.base_offset,
        size_bytes=view.size_bytes,
        largest_timestamp_ms=view.largest_timestamp_ms,
        first_timestamp_ms=first_ms,
    )


def _oldest_transaction(producers: np.ndarray) -> OpenTransaction | None:
    open_rows = producers[producers["current_txn_first_offset"] >= 0]
    if not len(open_rows):
        return None
    oldest = open_rows[int(np.argmin(open_rows["current_txn_first_offset"]))]
    return OpenTransaction(
        producer_id=int(oldest["producer_id"]),
        first_offset=int(oldest["current_txn_first_offset"]),
    )


def _read_producers(
    partition: Partition, segments: Sequence[LogSegment], log_start: int, log_end: int
) -> np.ndarray:
    """Returns the producers at the log end, as an array of PRODUCER.

    Reads the latest valid producer snapshot, and the batches after this snapshot
    (ProducerStateManager.truncateAndReload).
    """
    table, offset = _load_snapshot(partition, log_start, log_end)
    bases = [segment.base_offset for segment in segments]
    for index in segments_between(bases, offset, log_end):
        _take_batches(table, segments[index], offset)
    return producer_snapshot.parse(table.snapshot()).producers.astype(PRODUCER)


def _load_snapshot(partition: Partition, log_start: int, log_end: int) -> tuple[ProducerTable, int]:
    for offset in sorted(partition.snapshots, reverse=True):
        if log_start < offset <= log_end:
            try:
                return ProducerTable(file.read(partition.snapshots[offset].path)), offset
            except CorruptBytes:
                continue
    return ProducerTable(), log_start


def _take_batches(table: ProducerTable, segment: LogSegment, offset: int) -> None:
    entries = segment.offset_index
    before = entries[entries["offset"] < offset]
    position = int(before["position"].max(initial=0))
    with file.reader(segment.log.path) as read:
        for batches in segment.scan(position):
            try:
                table.take(batches[batches["last_offset"] >= offset], read)
            except TransactionFault:
                return
