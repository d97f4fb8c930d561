"""The effect of another segment.index.bytes on a log: when segments roll, and what a search reads.

The log's own batches are appended in rounds (segment_rounds). For example, with batches of 1000 B
and one per millisecond, index.interval.bytes 4096 and segment.index.bytes 100 KiB:

    offset index   102 400 // 8      = 12 800 entries
    time index     102 400 // 12 - 1 =  8 532 entries, so it is full first
    segment        8 532 * 5000 B    = 42.7 MB, though segment.bytes allows 1 GiB: 25 rolls per GiB
    search         reads 14.4 slots on average, instead of 19.7 at the default size

Sizes are rounded as in AbstractIndex, OffsetIndex and TimeIndex of Kafka 4.3.1: only complete
entries count, and the last slot of a time index is kept for the entry of the roll. Rolls, entries,
headers, probes and pages are counted. Device reads and microseconds come from the model that also
prices intervals.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.tuning.interval_cost import REPLAYED_BITS, mean_touched_pages, probes
from kafkaviz.analysis.tuning.segment_rounds import LogRound, close_segments, log_rounds
from kafkaviz.analysis.tuning.tuning_case import TuningSource
from kafkaviz.format import offset_index
from kafkaviz.roll_cause import RollCause
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import CAUSES

INDEX_SIZES = tuple(1 << power for power in range(6, 27))  # 64 B to 64 MiB
DAY_MS = 86_400_000
GIB = 1 << 30
INDEX_CAUSES = (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
ENTRY_BYTES = offset_index.ENTRY.itemsize


# ---- the cost of a search in an index


@dataclass(frozen=True)
class IndexSearchCost:
    """The cost of a search in an offset index of a given size.

    Attributes:
        tail_probes, tail_pages: slots read and pages touched for a target above the last key.
        mean_probes, mean_pages: means over all targets.
    """

    tail_probes: int
    tail_pages: int
    mean_probes: float
    mean_pages: float


@lru_cache(maxsize=1024)
def search_cost(entries: int, *, warm: bool = True) -> IndexSearchCost:
    """Returns the cost of a search in an offset index, by running searches.

    The tail is exact at any size. Means are exact up to 2^18 entries. Each doubling beyond that
    adds a probe and a page, as in a bisection.
    """
    if not entries:
        return IndexSearchCost(0, 0, 0.0, 0.0)
    tail = slots.floor(range(0, 2 * entries, 2), 2 * entries, ENTRY_BYTES, warm=warm)
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    played = probes.__wrapped__(entries >> doublings, ENTRY_BYTES, warm=warm)
    return IndexSearchCost(
        len(tail.probes),
        len(tail.pages),
        float(played.probes.mean()) + doublings,
        float(played.pages.mean()) + doublings,
    )


# ---- sizes


@dataclass(frozen=True, kw_only=True)
class IndexSizeOutcome:
    """A log written with one segment.index.bytes and one index.interval.bytes.

    Attributes:
        offset_slots, usable_time_slots: the numbers of entries at which the indexes are full.
        segments: number of closed segments; the numbers below rolls are means over them.
        rolls: number of closed segments by cause.
        open_ms: time by the broker's clock, 0 if it stood still.
        headers: headers read by a lookup of a batch's base offset.
        log_reads: device reads of the .log in such a lookup, if no part of it is in memory.
    """

    interval_bytes: int
    index_bytes: int
    offset_slots: int
    usable_time_slots: int
    segments: int
    rolls: Mapping[str, int]
    log_bytes: float
    offset_entries: float
    time_entries: float
    open_ms: float
    headers: float
    log_reads: float

    @property
    def cause(self) -> RollCause:
        return RollCause(max(self.rolls, key=self.rolls.__getitem__))

    @property
    def is_index_full(self) -> bool:
        return self.cause in INDEX_CAUSES

    @property
    def rolls_a_gib(self) -> float:
        return GIB / self.log_bytes

    @property
    def rolls_a_day(self) -> float:
        """Rolls per day of one topic-partition; infinite if the clock stood still."""
        return DAY_MS / self.open_ms if self.open_ms else float("inf")

    @property
    def entries(self) -> int:
        return round(self.offset_entries)

    def search(self, *, warm: bool = True) -> IndexSearchCost:
        """Returns the cost of a search in a closed segment; `warm=False` for Kafka up to 2.0."""
        return search_cost(self.entries, warm=warm)

    def cold_index_reads(self, costs: LookupCosts) -> float:
        """Returns the modelled device reads of a search with no part of the index in memory."""
        return mean_touched_pages(
            self.entries, ENTRY_BYTES, max(PAGE_BYTES, costs.read_ahead_bytes)
        )

    def cold_us(self, costs: LookupCosts) -> Range:
        """Returns the time of a mean lookup that finds nothing in memory."""
        pages = mean_touched_pages(self.entries, ENTRY_BYTES)
        return costs.cold_us(self.headers, self.log_reads, self.cold_index_reads(costs), pages)


def write_with(
    rounds: Sequence[LogRound],
    config: LogConfig,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> IndexSizeOutcome | None:
    """Writes the logs with the sizes in a config, and returns the outcome.

    Returns:
        None without a log, or if Kafka ends an append with an exception.
    """
    closed = [
        close_segments(each_round, config, per_append=per_append, by_base_offset=by_base_offset)
        for each_round in rounds
    ]
    segments = [each for each in closed if each is not None]
    if not closed or len(segments) < len(closed):
        return None
    rows = np.concatenate(segments)
    causes, counts = np.unique(rows["cause"], return_counts=True)
    batches = rows["batches"].sum()
    return IndexSizeOutcome(
        interval_bytes=config.index_interval_bytes,
        index_bytes=config.segment_index_bytes,
        offset_slots=config.offset_slots,
        usable_time_slots=config.usable_time_slots,
        segments=len(rows),
        rolls={str(CAUSES[int(cause)]): int(n) for cause, n in zip(causes, counts, strict=True)},
        log_bytes=float(rows["log_bytes"].mean()),
        offset_entries=float(rows["offset_entries"].mean()),
        time_entries=float(rows["time_entries"].mean()),
        open_ms=float(rows["open_ms"].mean()),
        headers=float(rows["headers"].sum() / batches),
        log_reads=float(rows["log_reads"].sum() / batches),
    )


def sweep_index_sizes(
    rounds: Sequence[LogRound],
    config: LogConfig,
    sizes: Iterable[int] = INDEX_SIZES,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> tuple[IndexSizeOutcome, ...]:
    """Returns the outcome of each size and of config's own, the smallest size first.

    Sizes with which Kafka cannot write this log are left out. Above the first size at which no
    index fills, all sizes give the same log, so it is written only once.
    """
    outcomes: list[IndexSizeOutcome] = []
    for index_bytes in sorted({*sizes, config.segment_index_bytes}):
        sized = replace(config, segment_index_bytes=index_bytes)
        if outcomes and not _fills_an_index(outcomes[-1]):
            outcome = replace(
                outcomes[-1],
                index_bytes=index_bytes,
                offset_slots=sized.offset_slots,
                usable_time_slots=sized.usable_time_slots,
            )
        else:
            outcome = write_with(
                rounds, sized, per_append=per_append, by_base_offset=by_base_offset
            )
        if outcome:
            outcomes.append(outcome)
    return tuple(outcomes)


def _fills_an_index(outcome: IndexSizeOutcome) -> bool:
    return any(cause in outcome.rolls for cause in INDEX_CAUSES)


def sweep_source(source: TuningSource) -> tuple[IndexSizeOutcome, ...]:
    """Returns the outcome of each size at today's interval; empty without a log to append."""
    case = source.total
    return sweep_index_sizes(
        log_rounds(case.logs or ()),
        case.today.config,
        per_append=source.behaviour.per_append,
        by_base_offset=source.by_base_offset,
    )
