"""A sweep of one interval, replayed append by append, then lookup by lookup."""

from collections import Counter
from collections.abc import Iterable

import numpy as np

from kafkaviz.analysis import sweep

MAX_BYTES = 1 << 62


def appends(batches: np.ndarray, append_bytes: int | None) -> list[list]:
    result: list[list] = []
    filled_bytes = 0
    for batch in batches:
        filled_bytes += int(batch["size_bytes"])
        if result and append_bytes is not None and filled_bytes <= append_bytes:
            result[-1].append(batch)
        else:
            result.append([batch])
            filled_bytes = int(batch["size_bytes"])
    return result


def indexes(
    batches: np.ndarray, interval_bytes: int, append_bytes: int | None = None
) -> tuple[list, list]:
    return entries(appends(batches, append_bytes), interval_bytes, is_closed=True)


def entries(appends: Iterable[list], interval_bytes: int, *, is_closed: bool) -> tuple[list, list]:
    """Returns (last offset, position) and (timestamp, offset) of each entry, by LogSegment.append
    and onBecomeInactiveSegment.
    """
    offsets, times = [], []
    since, position = 0, 0
    newest, owner = -1, -1
    for append in appends:
        for batch in append:
            if batch["max_timestamp_ms"] > newest:
                newest, owner = int(batch["max_timestamp_ms"]), int(batch["last_offset"])
        if since > interval_bytes:
            offsets.append((int(append[-1]["last_offset"]), position))
            if newest > (times[-1][0] if times else -1):
                times.append((newest, owner))
            since = 0
        size_bytes = sum(int(batch["size_bytes"]) for batch in append)
        since += size_bytes
        position += size_bytes
    if is_closed and newest > (times[-1][0] if times else -1):
        times.append((newest, owner))
    return offsets, times


def targets(batches: np.ndarray, kind: str) -> list[int]:
    if kind == sweep.BASE:
        return batches["base_offset"].tolist()
    return [
        offset
        for batch in batches
        for offset in range(int(batch["base_offset"]), int(batch["last_offset"]) + 1)
    ]


def lookup(
    batches: list[tuple], entries: list[tuple], target: int, by_base_offset: bool
) -> tuple[int, int]:
    """Returns (headers read, bytes between the start of the scan and the batch that answers)."""
    start = max((position for key, position in entries if key <= target), default=0)
    headers, before = 0, None
    for position, base, last in batches:
        if position < start:
            continue
        headers += 1
        if by_base_offset:
            if base > target:
                return headers, (before if before[1] >= target else (position, last))[0] - start
            before = position, last
            if base == target:
                break
        elif last >= target:
            return headers, position - start
    return headers, before[0] - start


def row(
    batches: np.ndarray,
    interval_bytes: int,
    kind: str = sweep.BASE,
    by_base_offset: bool = False,
    append_bytes: int | None = None,
) -> tuple[int, int, Counter, int]:
    """Returns (offset entries, time entries, targets by number of headers, bytes skipped)."""
    offsets, times = indexes(batches, interval_bytes, append_bytes)
    table = [
        (int(batch["position"]), int(batch["base_offset"]), int(batch["last_offset"]))
        for batch in batches
    ]
    results = [lookup(table, offsets, target, by_base_offset) for target in targets(batches, kind)]
    return (
        len(offsets),
        len(times),
        Counter(headers for headers, _ in results),
        sum(skipped for _, skipped in results),
    )


def counted(counts: np.ndarray) -> dict[int, int]:
    """Returns the targets by their number of headers."""
    return {number: int(targets) for number, targets in enumerate(counts) if targets}


def times_row(batches: np.ndarray, interval_bytes: int) -> tuple[Counter, int]:
    """Returns (lookups of each batch's first timestamp by number of headers, bytes skipped by all)."""
    offsets, times = indexes(batches, interval_bytes)
    counts, skipped = Counter(), 0
    for target in batches["base_timestamp_ms"].tolist():
        if not 0 <= target <= batches["max_timestamp_ms"].max():
            continue
        key = max((time for time in times if time[0] <= target), default=(-1, -1))[1]
        start = max((position for offset, position in offsets if offset <= key), default=0)
        scanned = batches[batches["position"] >= start]
        headers = int(np.argmax(scanned["max_timestamp_ms"] >= target)) + 1
        counts[headers] += 1
        skipped += int(scanned["position"][headers - 1]) - start
    return counts, skipped
