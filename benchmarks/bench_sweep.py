"""Fifty intervals over a million batches, against Kafka's counter replayed literally in Python."""

import time
from functools import partial

import numpy as np

from benchmarks import row
from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cold_reads import ColdSweeper
from kafkaviz.format.batch import BATCH

BATCHES, PLAIN_BATCHES, PLAIN_INTERVAL = 1_000_000, 200_000, 4096
RUNS = 5


def run() -> list[str]:
    """Returns rows for lookups at each batch's base offset, for all offsets, and for the appends of
    a follower.
    """
    appended = batches(BATCHES)
    ways = {
        "each batch's base offset": sweep.sweep,
        "every offset": partial(sweep.sweep, targets=sweep.EVERY),
        "appends of 1 MiB": partial(sweep.sweep, append_bytes=1 << 20),
    }
    rows = []
    for name, run_sweep in ways.items():
        run_sweep(appended[:10])  # compiles
        measured = min(seconds(partial(run_sweep, appended)) for _ in range(RUNS))
        rows.append(
            _row(
                f"sweep of {len(sweep.INTERVALS)} intervals over 1 M batches, {name}",
                measured,
                appended,
            )
        )
    intervals = np.array(sweep.INTERVALS)
    ColdSweeper(intervals).observe(appended[:10])
    measured = min(seconds(lambda: ColdSweeper(intervals).observe(appended)) for _ in range(2))
    return [*rows, _row("the same, device reads of cold lookups", measured, appended)]


def _row(what: str, measured: float, appended: np.ndarray) -> str:
    """Returns a row with the time of the literal replay, extrapolated from a part of the batches
    and intervals.
    """
    rows = appended[:PLAIN_BATCHES].tolist()
    plain_s = (
        seconds(lambda: plain(rows, PLAIN_INTERVAL))
        * len(sweep.INTERVALS)
        * BATCHES
        / PLAIN_BATCHES
    )
    return row(
        what,
        f"{measured:.2f} s",
        f"the counter as a loop of Python, entries alone, {plain_s:.1f} s",
        f"{plain_s / measured:.0f} ×",
    )


def seconds(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def batches(count: int) -> np.ndarray:
    """Returns batches of 1 KB on average, with five records each, a millisecond apart."""
    random = np.random.default_rng(1)
    table = np.zeros(count, BATCH)
    table["size_bytes"] = np.maximum(70, random.lognormal(6.71, 0.64, count)).astype(np.int64)
    table["base_offset"] = np.arange(count) * 5
    table["last_offset"], table["max_timestamp_ms"] = table["base_offset"] + 4, np.arange(count)
    return table


def plain(rows: list[tuple], interval: int) -> tuple[int, int]:
    """Returns offset and time entries by the rule of LogSegment.append, batch by batch."""
    names = list(BATCH.fields or ())
    size_at = names.index("size_bytes")
    newest_at = names.index("max_timestamp_ms")
    since, entries, times, newest, last_time = 0, 0, 0, -1, -1
    for batch in rows:
        newest = max(newest, batch[newest_at])
        if since > interval:
            entries, since = entries + 1, 0
            if newest > last_time:
                times, last_time = times + 1, newest
        since += batch[size_at]
    return entries, times + (newest > last_time)
