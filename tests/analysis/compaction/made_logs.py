"""Compacted logs that a test makes in memory, and their cleaning."""

from collections.abc import Iterable, Sequence

import numpy as np

from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import producer_snapshot, record
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.cleaner.cleaner import CleanerConfig, Cleaning, CleaningRange, clean
from kafkaviz.simulate.cleaner.offset_map import OffsetMap
from kafkaviz.simulate.config import LogConfig
from tests.pipeline import whole_logs

NOW_MS = 1_000_000


def build_body(records: Iterable[tuple[bytes | None, bytes | None]], first_delta: int = 0) -> bytes:
    return record.build(
        record.Record(offset_delta=delta, timestamp_delta_ms=delta, key=key, value=value)
        for delta, (key, value) in enumerate(records, first_delta)
    )


def build_batch(
    base_offset: int, body: bytes, records: int = 1, attributes: int = 0, **fields: int
) -> bytes:
    """Returns a batch of that many records, or with other header fields, around a body."""
    times_ms = range(base_offset, base_offset + records)
    return whole_logs.framed(base_offset, body, times_ms, attributes, **fields)


def view(base_offset: int, data: bytes) -> SegmentView:
    return SegmentView(base_offset=base_offset, log=in_memory("log", data))


def clean_segments(
    views: Sequence[SegmentView],
    offset_map: OffsetMap,
    first_dirty_offset: int = 0,
    segment_bytes: int = LogConfig().segment_bytes,
    write=None,
) -> Cleaning:
    """Returns the result of cleaning all segments except the last, the active one."""
    cleaned = CleaningRange(
        segments=views,
        log_start_offset=0,
        high_watermark=-1,
        first_dirty_offset=first_dirty_offset,
        stop_offset=views[-1].base_offset,
        producers=np.empty(0, producer_snapshot.PRODUCER),
    )
    config = CleanerConfig(
        log=LogConfig(segment_bytes=segment_bytes),
        delete_retention_ms=1000,
        most_keys=offset_map.most_keys,
        io_buffer_bytes=1000,
    )
    return clean(cleaned, config, (4, 4), NOW_MS, offset_map=offset_map, write=write)
