"""Batches and index entries as arrays, made from a few numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kafkaviz.analysis.inferred_settings import FirstBatch, SegmentFacts, interval_bounds
from kafkaviz.analysis.segment.anatomy import Anatomy, BatchCounter, Tail
from kafkaviz.analysis.segment.batch_table import table_of_rows
from kafkaviz.analysis.segment.links import link
from kafkaviz.format.batch import BATCH, UNKNOWN
from kafkaviz.format.walk import WalkEnd
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import OFFSET_ENTRY, TIME_ENTRY, Index, LogSegment
from kafkaviz.simulate.appends import INCOMING


def batches(
    sizes: Sequence[int],
    counts: Sequence[int] = (),
    times_ms: Sequence[int] = (),
    base_offset: int = 0,
) -> np.ndarray:
    """Returns consecutive batches, by default of one record each and one millisecond apart."""
    table = np.zeros(len(sizes), BATCH)
    counts = np.array(counts or [1] * len(sizes), dtype="i8")
    table["size_bytes"], table["magic"], table["leader_epoch"] = sizes, 2, 0
    table["position"] = np.cumsum([0, *sizes[:-1]])[: len(sizes)]
    table["base_offset"] = base_offset + np.cumsum([0, *counts[:-1]])[: len(sizes)]
    table["last_offset"], table["record_count"] = table["base_offset"] + counts - 1, counts
    table["max_timestamp_ms"] = table["base_timestamp_ms"] = (
        times_ms or np.arange(len(sizes)) + 1_700_000_000_000
    )
    for name in ("producer_id", "producer_epoch", "base_sequence"):
        table[name] = -1
    return table


def incoming(table: np.ndarray, appends: Sequence[int] | np.ndarray | None = None) -> np.ndarray:
    """Returns the batches as the writer gets them, by default each in an append of its own."""
    rows = np.zeros(len(table), INCOMING)
    for name in BATCH.names:
        rows[name] = table[name]
    rows["append"] = np.arange(len(table)) if appends is None else appends
    rows["now_ms"] = rows["max_timestamp_ms"]
    rows["deep_offset"] = rows["last_offset"]
    rows["marker"] = -1
    return rows


def wrapped(table: np.ndarray, rows: Sequence[int]) -> np.ndarray:
    """Returns the batches with compressed magic 0 wrappers in these rows: no first offset or time."""
    table = table.copy()
    table["magic"][rows], table["attributes"][rows] = 0, 1
    for name, value in (
        ("base_offset", UNKNOWN),
        ("record_count", UNKNOWN),
        ("max_timestamp_ms", -1),
        ("base_timestamp_ms", -1),
    ):
        table[name][rows] = value
    return table


def offset_entries(pairs: Sequence[tuple[int, int]], base_offset: int = 0) -> np.ndarray:
    return _entries(pairs, OFFSET_ENTRY, ["offset", "position"], base_offset)


def time_entries(pairs: Sequence[tuple[int, int]], base_offset: int = 0) -> np.ndarray:
    return _entries(pairs, TIME_ENTRY, ["timestamp_ms", "offset"], base_offset)


def _entries(
    pairs: Sequence[tuple[int, int]], layout: np.dtype, fields: list[str], base_offset: int
) -> np.ndarray:
    table = np.zeros(len(pairs), layout)
    table["slot"] = np.arange(len(pairs))
    for field, column in zip(fields, zip(*pairs, strict=True), strict=False):
        table[field] = column
    table["relative_offset"] = table["offset"] - base_offset
    return table


def indexed(
    table: np.ndarray, interval_bytes: int, base_offset: int = 0, closed: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the entries of LogSegment.append (4.3.1), and the last time entry if `closed`."""
    entries, times, since, newest, owner = [], [], 0, -1, base_offset
    for batch in table:
        if batch["max_timestamp_ms"] > newest:
            newest, owner = int(batch["max_timestamp_ms"]), int(batch["last_offset"])
        if since > interval_bytes:
            entries.append((int(batch["last_offset"]), int(batch["position"])))
            times += [(newest, owner)] if newest > (times[-1][0] if times else -1) else []
            since = 0
        since += int(batch["size_bytes"])
    if closed and newest > (times[-1][0] if times else -1):
        times.append((newest, owner))
    return offset_entries(entries, base_offset), time_entries(times, base_offset)


def anatomy(
    table: np.ndarray,
    entries: np.ndarray | None,
    times: np.ndarray | None,
    base_offset: int = 0,
    state: str = "closed",
    unwritten: tuple[int, int] = (0, 0),
    trailing_bytes: tuple[int, int] = (0, 0),
    tail: tuple[str, int] | None = None,
) -> Anatomy:
    """Returns a segment as if it had been read. Entries or times of None mean a missing file.

    `unwritten` and `trailing_bytes` are for .index and .timeindex; `tail` is a kind and a length.
    """
    end = int(table["position"][-1] + table["size_bytes"][-1]) if len(table) else 0
    log_bytes = end + (tail[1] if tail else 0)
    index = _index(entries, offset_entries([]), unwritten[0], trailing_bytes[0])
    time_index = _index(times, time_entries([]), unwritten[1], trailing_bytes[1])
    segment = LogSegment(
        base_offset=base_offset,
        state=state,
        log=_file("log", log_bytes),
        index=_file("index", index.slots * 8 + index.trailing_bytes)
        if entries is not None
        else None,
        timeindex=_file("timeindex", time_index.slots * 12 + time_index.trailing_bytes)
        if times is not None
        else None,
    )
    links = link(table, index.entries, time_index.entries, base_offset)
    by_position = index.entries[np.argsort(index.entries["position"], kind="stable")]
    counter = BatchCounter(log_bytes)
    counter.observe(table)
    end_of = WalkEnd(end, "end" if tail is None else "torn")
    return Anatomy(
        segment=segment,
        batches=table_of_rows(table),
        counts=counter.result(),
        end=end_of,
        index=index,
        times=time_index,
        links=links,
        interval=interval_bounds(table, by_position),
        tail=Tail(tail[0], end, tail[1]) if tail else None,
        log_after=segment.log,
    )


def _index(
    entries: np.ndarray | None, none: np.ndarray, unwritten: int, trailing_bytes: int
) -> Index:
    index = none if entries is None else entries
    return Index(index, len(index) + unwritten, trailing_bytes)


def _file(kind: str, size_bytes: int) -> FileInfo:
    return FileInfo(Path("orders-0"), f"{0:020d}.{kind}", size_bytes, size_bytes, 1)


def even(count: int, size: int = 100, interval: int = 400, base_offset: int = 0, **more):
    table = batches([size] * count, base_offset=base_offset)
    entries, times = indexed(table, interval, base_offset)
    return anatomy(table, entries, times, base_offset, **more)


def segment_facts(
    log_bytes: int,
    first_bytes: int,
    times_ms: tuple[int, int] = (0, 0),
    entries: tuple[int, int] = (0, 0),
    base_offset: int = 0,
    last_offset: int | None = None,
) -> SegmentFacts:
    """Returns facts with the newest times of the first batch and of all, the entries of both
    indexes, and the last offset of the first batch, by default of one record.
    """
    return SegmentFacts(
        base_offset=base_offset,
        log_bytes=log_bytes,
        first_batch=FirstBatch(
            first_bytes, times_ms[0], base_offset if last_offset is None else last_offset
        ),
        max_timestamp_ms=times_ms[1],
        offset_entries=entries[0],
        time_entries=entries[1],
    )
