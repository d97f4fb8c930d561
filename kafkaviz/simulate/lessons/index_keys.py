"""Generates the keys of an offset index for steady, bursty or heavy-tailed workloads.

Kafka adds an entry before an append if more than index.interval.bytes were written since the last
entry. For batches of 1000 bytes with one record and interval 4096, 5000 bytes were written before
batch 5. So the keys are 5, 10, 15 and so on.
"""

from collections.abc import Callable

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.simulate.config import IndexConfig

STEADY = "Steady"
BURSTY = "Bursty"
HEAVY = "Heavy-tailed"
SMALLEST_BYTES = 70  # size of a batch with one small record
# mean length of a quiet or busy period
QUIET_BATCHES = 4000
BUSY_BATCHES = 1333
STRETCHES = 64  # periods of each kind per draw
DRAWN_AT_ONCE = 1 << 18

BatchColumns = tuple[np.ndarray, np.ndarray]  # sizes in bytes and record counts of batches


@njit(cache=True)
def entry_rows(size_bytes: np.ndarray, interval_bytes: int) -> np.ndarray:
    """Returns the numbers of the batches that get an entry, shape (n,).

    As LogSegment.append of 4.3.1, with one batch per append.
    """
    rows = np.empty(len(size_bytes), np.int64)
    count = 0
    since = 0
    for row in range(len(size_bytes)):
        if since > interval_bytes:
            rows[count] = row
            count += 1
            since = 0
        since += size_bytes[row]
    return rows[:count].copy()


def generate_keys(workload: str, entries: int, seed: int = 8) -> np.ndarray:
    """Returns the first keys of an index: ascending int64, shape (entries,).

    Offsets start at 0, and each key is the last offset of its batch.
    """
    random = np.random.default_rng(seed)
    interval = IndexConfig().index_interval_bytes
    sizes = np.empty(0, np.int64)
    counts = np.empty(0, np.int64)
    rows = np.empty(0, np.int64)
    while len(rows) < entries:
        more = WORKLOADS[workload](random)
        sizes = np.concatenate((sizes, more[0]))
        counts = np.concatenate((counts, more[1]))
        rows = entry_rows(sizes, interval)
    return np.cumsum(counts)[rows[:entries]] - 1


def _sizes(random: np.random.Generator, mean: int, spread: float, batches: int) -> np.ndarray:
    sizes = random.lognormal(np.log(mean) - spread * spread / 2, spread, batches)
    return np.maximum(SMALLEST_BYTES, sizes).astype(np.int64)


def _steady(random: np.random.Generator) -> BatchColumns:
    return _sizes(random, 1000, 0.1, DRAWN_AT_ONCE), np.full(DRAWN_AT_ONCE, 10)


def _bursty(random: np.random.Generator) -> BatchColumns:
    stretches = 1 + random.exponential([QUIET_BATCHES, BUSY_BATCHES], (STRETCHES, 2)).astype(
        np.int64
    )
    is_busy = np.repeat(np.tile([False, True], STRETCHES), stretches.ravel())
    quiet, busy = (_sizes(random, mean, 0.3, len(is_busy)) for mean in (300, 3000))
    return np.where(is_busy, busy, quiet), np.where(is_busy, 50, 1)


def _heavy(random: np.random.Generator) -> BatchColumns:
    counts = np.minimum(1 + random.pareto(1.35, DRAWN_AT_ONCE), 1000).astype(np.int64)
    return _sizes(random, 1000, 0.3, DRAWN_AT_ONCE), counts


WORKLOADS: dict[str, Callable[[np.random.Generator], BatchColumns]] = {
    STEADY: _steady,
    BURSTY: _bursty,
    HEAVY: _heavy,
}
WORDS = {
    STEADY: "Batches of about 1000 B and ten records",
    BURSTY: "Small batches of one record, and in bursts large ones of 50",
    HEAVY: "Batches of about 1000 B: most hold one record, some up to a thousand",
}
