"""Rolls and index entries of a log without payload, against Kafka's rules as a loop in plain
Python.
"""

import time

import numpy as np

from benchmarks import row
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.writer import UnifiedLog

BATCHES, PLAIN_BATCHES, BATCH_BYTES, RECORDS = 4_000_000, 200_000, 1000, 10
FIRST_MS = 1_790_000_000_000
RUNS = 3


def run() -> list[str]:
    """Returns rows for segments of 1 GiB, for small segments, and for an index entry per batch."""
    configs = {
        "segments of 1 GiB": LogConfig(),
        "segments of 16 MiB": LogConfig(segment_bytes=16 << 20),
        "segments of 1 GiB, an entry a batch": LogConfig(index_interval_bytes=0),
    }
    appends, rows = batches(BATCHES), []
    UnifiedLog(LogConfig(), now_ms=0).append(appends[:10].copy())  # compiles
    for name, config in configs.items():
        measured = BATCHES / min(seconds(config, appends) for _ in range(RUNS))
        started = time.perf_counter()
        plain(appends[:PLAIN_BATCHES].tolist(), config)
        ratio = measured / (PLAIN_BATCHES / (time.perf_counter() - started))
        what, text = f"roll replay, {name}, no payload", f"{measured / 1e6:.1f} M batches/s"
        rows.append(row(what, text, "the rules as a loop of Python", f"{ratio:.0f} ×"))
    return rows


def seconds(config: LogConfig, appends: np.ndarray) -> float:
    """Returns the time that a log takes for all batches in one call."""
    log, rows = UnifiedLog(config, now_ms=FIRST_MS), appends.copy()
    started = time.perf_counter()
    log.append(rows)
    return time.perf_counter() - started


def batches(count: int) -> np.ndarray:
    """Returns uncompressed batches of one size, a millisecond apart, each appended alone."""
    rows = np.zeros(count, INCOMING)
    rows["size_bytes"], rows["record_count"], rows["magic"], rows["marker"], rows["producer_id"] = (
        BATCH_BYTES,
        RECORDS,
        2,
        -1,
        -1,
    )
    rows["append"] = np.arange(count)
    rows["base_offset"] = rows["append"] * RECORDS
    rows["last_offset"] = rows["deep_offset"] = rows["base_offset"] + RECORDS - 1
    rows["max_timestamp_ms"] = rows["base_timestamp_ms"] = rows["now_ms"] = (
        FIRST_MS + rows["append"]
    )
    return rows


def plain(appends: list[tuple], config: LogConfig) -> list[tuple[list, list]]:
    """Returns the entries of each segment by the rules of LogSegment, batch by batch."""
    size_at, last_at, newest_at = (
        list(INCOMING.fields or ()).index(name)
        for name in ("size_bytes", "last_offset", "max_timestamp_ms")
    )
    segments, base, size, counter, newest, first = [([], [])], 0, 0, 0, (-1, 0), None
    for row_ in appends:
        incoming, last, newest_ms = row_[size_at], row_[last_at], row_[newest_at]
        offsets, times = segments[-1]
        is_old = first is not None and newest_ms - first > config.most_segment_ms
        is_full = len(offsets) >= config.offset_slots or len(times) >= config.usable_time_slots
        if size > config.segment_bytes - incoming or is_old or is_full or last - base >= 1 << 31:
            offsets, times = [], []
            segments.append((offsets, times))
            base, size, counter, newest, first = last - RECORDS + 1, 0, 0, (-1, 0), None
        first = newest_ms if first is None else first
        newest = max(newest, (newest_ms, last), key=lambda stamp: stamp[0])
        if counter > config.index_interval_bytes:
            offsets.append((last - base, size))
            if newest[0] > (times[-1][0] if times else -1):
                times.append(newest)
            counter = 0
        size += incoming
        counter += incoming
    return segments
