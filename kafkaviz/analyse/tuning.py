"""Another index.interval.bytes for a log, or the one that it has: by budgets that somebody states, and with the error of every number.

The rule is the smallest index with which a lookup keeps within its budget: of all intervals that meet every budget, the largest. A change
is proposed only where its gain is surely worth it; otherwise the answer is keep, and for most logs that is the honest one.

    batches of 16 KB, interval 4096     every batch is indexed already: keep, and nothing below the smallest batch would change anything
    batches of 97 B, interval 4096      p99 of 44 headers, over 50 µs at the high end of its range: 2048 would halve it, by less than 50 µs
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

import numpy as np

from kafkaviz.analyse import held, limits, sweep
from kafkaviz.analyse.cold_reads import ColdReads
from kafkaviz.analyse.cost_model import MAX_MAP_COUNT, OBJECT_STORE, Costs, Range, footprint, implied_price_us
from kafkaviz.analyse.held import Held
from kafkaviz.analyse.probes import touched
from kafkaviz.analyse.sweep import SweepParts
from kafkaviz.format import offset_index, time_index
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.simulate.config import LogConfig

SETTING, BROKER_SETTING = "index.interval.bytes", "log.index.interval.bytes"
LEAST_GAIN = 0.10  # of what it is today
LEAST_INDEX_GAIN = 0.01  # of the log
LEAST_GAIN_US = 50.0  # of the p99 lookup; where less is allowed for all of it, that
LEAST_CORES_GAIN = 0.05
FETCH_BYTES = 1 << 20  # max.partition.fetch.bytes
TIERED_SHARE = 0.05  # of a fetch that a remote read may carry for nothing
REMOTE_INDEX_CACHE_BYTES = 1 << 30  # remote.log.index.file.cache.total.size.bytes
SAFE_INDEX_MARGIN = 1.25
TINY_BATCH_BYTES = 300
MOSTLY_INDEXED = 0.8  # of the batches that can have an entry
RESAMPLES, SEED, LEAST_BLOCKS = 400, 1, 8
BLOCKS, LEAST_BLOCK_BATCHES = 40, 16


class Verdict(StrEnum):
    """What to do with the interval."""

    KEEP = "keep"
    CHANGE = "change"


@dataclass(frozen=True)
class Budgets:
    """What somebody allows; None: no matter.

    p99_us, cold_p99_us: for the lookup that one in a hundred exceeds, with the log in the page cache and without. cores: for all lookups
    of fetches_per_s. index_share: of the log, for both indexes. A budget is met where the high end of a range meets it.
    """

    p99_us: float | None = 50.0
    cold_p99_us: float | None = None
    cores: float | None = None
    index_share: float | None = None
    fetches_per_s: float | None = None


@dataclass(frozen=True)
class Block:
    """A stretch of the log for the ranges: its bytes, and of each interval in Measured.block_intervals entries and headers of lookups."""

    log_bytes: int
    entries: tuple[int, ...]
    headers: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Measured:
    """What is exact of a log: the sweep, and what the model needs of its batches.

    parts: lookups at each batch's base offset. cold: the device reads of the same. every_offset, timestamps: lookups of other targets.
    sizes: for each segment its batch sizes and whether a batch is of one offset, from which ranges are drawn. batch_bytes: the mean;
    spread: the standard deviation over it. bytes_per_s: by the largest timestamps; None where they do not tell. followers: the same
    batches on a follower that appends a whole fetch at once, of today's interval and releases that index an append once. held: the
    indexes that are there; None of a workload, whose replay is all there is. one_read_share: of the batches, those of magic 0 and 1.
    empty_segments: those without a batch, which parts do not count: they cost no lookup anything, but have files and maps.
    """

    parts: SweepParts
    cold: ColdReads
    every_offset: SweepParts
    timestamps: SweepParts
    sizes: tuple[np.ndarray, ...] = field(repr=False, default=())
    batch_bytes: float = float("nan")
    spread: float = 0.0
    single_share: float = 0.0
    bytes_per_s: float | None = None
    followers: SweepParts | None = None
    held: Held | None = None
    one_read_share: float = 0.0
    empty_segments: int = 0

    @property
    def segments(self) -> int:
        """All of them, the empty ones too."""
        return self.parts.segments + self.empty_segments

    @property
    def log_bytes(self) -> int:
        """Of all segments."""
        return self.parts.log_bytes

    def replayed(self, interval_bytes: int) -> Held:
        """What the replay says of a swept interval."""
        return held.replayed(self.parts, self.every_offset, self.timestamps, self.cold, interval_bytes)

    def today(self, interval_bytes: int) -> Held:
        """What lookups find today: the indexes that are there, else those that the replay of today's interval has."""
        return self.held or self.replayed(interval_bytes)


@dataclass(frozen=True)
class Today:
    """The log as it is run. interval_source: where the interval is from. is_tiered: remote.storage.enable; is_coarse: its entries stand for
    whole appends (KAFKA-806). partitions: how many logs; topic: its name, None of a whole broker. inferred: settings of config that no
    file tells, and that the log's rolls do. rooms: segment.index.bytes of each partition of a broker, whose topics differ; empty where
    that of config is all of theirs. leaves_maps: whether a roll leaves dead maps behind (KAFKA-19390)."""

    interval_bytes: int
    interval_source: str
    config: LogConfig = field(default_factory=LogConfig)
    topic: str | None = None
    partitions: int = 1
    is_tiered: bool = False
    is_coarse: bool = False
    fetch_bytes: int = FETCH_BYTES
    inferred: tuple[str, ...] = ()
    rooms: tuple[int, ...] = ()
    leaves_maps: bool = False


@dataclass(frozen=True)
class At:
    """One interval with its prices.

    row: of lookups of each batch's base offset, which prices are of; every_row, time_row: of every offset, and of timestamps.
    cold_reads_mean, cold_reads_p99: device reads of the .log; index_reads: of the offset index.
    """

    interval_bytes: int
    row: np.void  # sweep.SWEEP
    every_row: np.void
    time_row: np.void
    mean_us: Range
    p99_us: Range
    cold_mean_us: Range
    cold_p99_us: Range
    cold_reads_mean: float
    cold_reads_p99: int
    index_reads: float
    index_share: float
    cores: Range | None
    price_us: float  # of a mean lookup that a MB of index a GiB buys at this interval

    @property
    def time_entries(self) -> int:
        """Of the time index; the row has those of the offset index, and the bytes of both."""
        offset_bytes = int(self.row["entries"]) * offset_index.ENTRY.itemsize
        return (int(self.row["index_bytes"]) - offset_bytes) // time_index.ENTRY.itemsize


@dataclass(frozen=True)
class Gain:
    """What a change would bring: the ends of each range hold for the costs and for 90 of 100 logs like this one. Below 0 it would cost.

    p99_us, mean_us: of a warm lookup; index_share: of the log; cores: None without fetches_per_s. blocks: how many stretches of the
    log were drawn from; with fewer than 8 the range is that of the costs alone.
    """

    p99_us: Range
    mean_us: Range
    index_share: Range
    cores: Range | None
    blocks: int


@dataclass(frozen=True)
class Reason:
    """Why, as values; tuning_words has the words."""

    code: str
    values: Mapping[str, object]


@dataclass(frozen=True)
class Limits:
    """When this log's segments end, and what an index needs.

    ends_bytes: of each of limits.ENDS the .log at which it ends a segment, infinite where it never does; by time at the speed that the
    largest timestamps tell. least_index_bytes: the least segment.index.bytes with which no index is full before segment.bytes are,
    however fast or slow the log is; safe_index_bytes: a quarter more, for batches that become smaller.
    """

    ends_bytes: Mapping[str, float]
    least_index_bytes: int
    safe_index_bytes: int

    @property
    def binding(self) -> str:
        """The first of them."""
        return min(self.ends_bytes, key=self.ends_bytes.get)


@dataclass(frozen=True)
class Recommendation:
    """The answer. value: the interval to have, today's where the verdict is keep. considered: what the budgets alone would choose, or
    where none meets them all what comes nearest."""

    verdict: Verdict
    value: int
    considered: int
    because: tuple[Reason, ...]
    not_fixed: tuple[Reason, ...]
    gain: Gain
    today: At
    proposed: At
    meets_budgets: bool


# ---- one interval


def at(measured: Measured, costs: Costs, interval_bytes: int, budgets: Budgets = Budgets()) -> At:
    """A swept interval with its prices, as the replay has it; KeyError for one that was not swept."""
    return _at(measured, costs, measured.replayed(interval_bytes), budgets)


def today_at(measured: Measured, costs: Costs, interval_bytes: int, budgets: Budgets = Budgets()) -> At:
    """Today's interval with the prices of lookups in the indexes that are there."""
    return _at(measured, costs, measured.today(interval_bytes), budgets)


def every(measured: Measured, costs: Costs, budgets: Budgets = Budgets()) -> tuple[At, ...]:
    """Every swept interval with its prices, as the replay has it, for curves."""
    return tuple(at(measured, costs, int(interval), budgets) for interval in measured.parts.intervals)


def _at(measured: Measured, costs: Costs, found: Held, budgets: Budgets) -> At:
    costs = costs.of(measured.one_read_share)
    row, every_row, time_row = (one.sweep()[0] for one in (found.parts, found.every_offset, found.timestamps))
    mean, p99 = float(row["headers_mean"]), float(row["headers_p99"])
    reads = sweep.mean(found.cold.counts[0]), sweep.quantile(found.cold.counts[0], 0.99)
    index = _index_reads(int(row["entries"]) // max(1, found.parts.segments), costs.read_ahead_bytes)
    cores = None if budgets.fetches_per_s is None else costs.cores(mean, budgets.fetches_per_s)
    share = float(row["index_bytes"]) / measured.log_bytes if measured.log_bytes else float("nan")
    price = implied_price_us(int(row["interval_bytes"]), measured.batch_bytes, measured.spread, costs.each_us.typical)
    cold = costs.cold_us(mean, reads[0], *index), costs.cold_us(p99, reads[1], *index)
    return At(
        int(row["interval_bytes"]), row, every_row, time_row, costs.warm_us(mean), costs.warm_us(p99), *cold, *reads, index[0], share,
        cores, price,
    )  # fmt: skip


def _index_reads(entries: int, read_ahead_bytes: int) -> tuple[float, float]:
    """(device reads, pages) of a search in a cold offset index of so many entries, on average: a read brings its neighbours along."""
    each = offset_index.ENTRY.itemsize
    return touched(entries, each, max(PAGE_BYTES, read_ahead_bytes)), touched(entries, each)


def by_target(one: At) -> dict[str, np.void]:
    """The lookups by what they look for: sweep.SWEEP rows."""
    return {"base_offset": one.row, "every_offset": one.every_row, "timestamp": one.time_row}


def unmet(one: At, budgets: Budgets) -> tuple[str, ...]:
    """The budgets that an interval does not meet at the high end of its ranges: "p99", "cold-p99", "cores", "index"."""
    return tuple(name for name, (value, budget) in spent(one, budgets).items() if value > budget)


def spent(one: At, budgets: Budgets) -> dict[str, tuple[float, float]]:
    """Of each budget that is given what an interval takes of it at the high end of its range, and what is allowed."""
    found = {
        "p99": (one.p99_us.high, budgets.p99_us), "cold-p99": (one.cold_p99_us.high, budgets.cold_p99_us),
        "cores": (one.cores.high if one.cores else 0.0, budgets.cores), "index": (one.index_share, budgets.index_share),
    }  # fmt: skip
    return {name: (value, budget) for name, (value, budget) in found.items() if budget is not None}


# ---- the rule


def recommend(measured: Measured, today: Today, budgets: Budgets, costs: Costs) -> Recommendation | None:
    """The interval to have, and why; None of a log without a batch."""
    if not measured.parts.batches:
        return None
    priced = {one.interval_bytes: one for one in every(measured, costs, budgets)}
    now, again = today_at(measured, costs, today.interval_bytes, budgets), priced[today.interval_bytes]
    is_known = not (today.is_coarse or differs(measured))  # else what writes this index is not what is replayed
    chosen = [priced[one] for one in candidates(measured, today, costs)] if is_known else [again]
    best = _best(chosen, again, budgets, bool(upper_bounds(measured, today, costs)))
    gain = gain_of(measured, costs, again, best, budgets)
    if is_known and unmet(best, budgets):
        changes, why = False, (_unmeetable(best, budgets),)
    else:
        changes, why = _worth(again, best, gain, measured, today, budgets)
    because = (*_facts(now, again, measured, today, budgets, costs), *why)
    return Recommendation(
        Verdict.CHANGE if changes else Verdict.KEEP, best.interval_bytes if changes else now.interval_bytes, best.interval_bytes, because,
        not_fixed(best if changes else now, measured, today, costs), gain, now, best, not unmet(now if best is again else best, budgets),
    )  # fmt: skip


def candidates(measured: Measured, today: Today, costs: Costs) -> list[int]:
    """The intervals that may be proposed: round ones, none below which nothing changes, none too long for the storage; and today's."""
    least = measured.parts.least_batch_bytes or 0
    most = min(upper_bounds(measured, today, costs).values(), default=float("inf"))
    swept = [int(one) for one in measured.parts.intervals]
    powers = [one for one in swept if one and one & (one - 1) == 0]
    above = [one for one in powers if one >= least]
    plateau = [one for one in powers if one < least][-1:]  # every batch is indexed, and a longer one would not do that
    allowed = [one for one in (*plateau, *above) if one <= most] or plateau or powers[:1]
    return sorted({*allowed, *([today.interval_bytes] if today.interval_bytes <= most else [])})


def upper_bounds(measured: Measured, today: Today, costs: Costs) -> dict[str, float]:
    """What an interval should not exceed, whatever a warm lookup allows: by the cause."""
    bounds = {}
    if today.is_tiered or costs.storage.name == OBJECT_STORE:
        bounds["tiered"] = TIERED_SHARE * today.fetch_bytes
    if costs.storage.seeks:
        bounds["hdd"] = max(measured.batch_bytes, measured.parts.least_batch_bytes or 0)
    return bounds


def _best(chosen: Sequence[At], now: At, budgets: Budgets, is_bound: bool) -> At:
    """Of the intervals that meet every budget the largest; where none does, the one that comes nearest.

    Where only the index is bounded it is the smallest that meets that, and where nothing is the one that there is: an interval without a
    reason is none to change to. is_bound: whether the storage bounds it.
    """
    chosen = [one for one in chosen if one.row["entries"] or one is now] or [now]
    meeting = [one for one in chosen if not unmet(one, budgets)]
    if not meeting:
        return min(reversed(chosen), key=lambda one: (_overrun(one, budgets), one is not now))
    asked = spent(now, budgets)
    if not asked and not is_bound:
        return now
    best = meeting[0] if asked.keys() == {"index"} else meeting[-1]
    return now if best.row["index_bytes"] == now.row["index_bytes"] and now in meeting else best


def _overrun(one: At, budgets: Budgets) -> float:
    """How many times what is allowed an interval takes, of the budget that it misses most."""
    return max(value / max(budget, 1e-9) for value, budget in spent(one, budgets).values())


def _unmeetable(nearest: At, budgets: Budgets) -> Reason:
    return Reason("unmeetable", {"at": nearest, "budgets": budgets, "to": nearest.interval_bytes, "missed": unmet(nearest, budgets)})


def _worth(now: At, best: At, gain: Gain, measured: Measured, today: Today, budgets: Budgets) -> tuple[bool, tuple[Reason, ...]]:
    """(whether the gain is surely worth a change, why or why not)."""
    if best.interval_bytes == now.interval_bytes:
        return False, ()
    values = {"from": now.interval_bytes, "to": best.interval_bytes, "gain": gain}
    if gain.blocks < LEAST_BLOCKS:
        return False, (Reason("too-little-data", values | {"batches": measured.parts.batches}),)
    if best.interval_bytes < now.interval_bytes:
        least_us = max(LEAST_GAIN * now.p99_us.typical, min(LEAST_GAIN_US, budgets.p99_us or LEAST_GAIN_US))
        cold_us = now.cold_p99_us.low - best.cold_p99_us.low
        is_cold = "cold-p99" in unmet(now, budgets) and cold_us > max(LEAST_GAIN_US, LEAST_GAIN * now.cold_p99_us.typical)
        is_cores = gain.cores is not None and gain.cores.low > max(LEAST_CORES_GAIN, LEAST_GAIN * now.cores.typical)
        if gain.p99_us.low > least_us or is_cold or is_cores:
            return True, (Reason("faster", values),)
        return False, (Reason("faster-too-little", values | {"least_us": least_us}),)
    saved = gain.index_share.low
    part = saved / now.index_share if now.index_share else 0.0
    if part > LEAST_GAIN and saved > LEAST_INDEX_GAIN:
        return True, (Reason("smaller", values),)
    if today.is_tiered and part > 0.5:
        return True, (Reason("smaller-for-tiered", values | tiered(now, best, measured, today)),)
    if "index" in unmet(now, budgets) and part > LEAST_GAIN:
        return True, (Reason("smaller", values),)
    return False, (Reason("smaller-too-little", values),)


def differs(measured: Measured) -> bool:
    """Whether the indexes that are there are others than the replay of today's interval and some restarts would have written."""
    return measured.held is not None and (measured.held.gaps.is_coarse or measured.held.gaps.is_dense)


def _facts(now: At, again: At, measured: Measured, today: Today, budgets: Budgets, costs: Costs) -> tuple[Reason, ...]:
    """What holds of the log whatever is decided."""
    found = []
    least, all_indexed = measured.parts.least_batch_bytes, measured.parts.batches - measured.parts.segments
    entries = int(now.row["entries"])
    if all_indexed and entries >= MOSTLY_INDEXED * all_indexed:
        is_default = now.interval_bytes == LogConfig().index_interval_bytes
        values = {"interval": now.interval_bytes, "entries": entries, "of": all_indexed, "is_default": is_default}
        found.append(Reason("every-batch-indexed" if entries == all_indexed else "most-batches-indexed", values))
    if least is not None:
        found.append(Reason("plateau", {"least_batch_bytes": least, "interval": now.interval_bytes}))
    missed = unmet(now, budgets)
    found.append(Reason("over-budget" if missed else "within-budget", {"at": now, "budgets": budgets, "missed": missed, "costs": costs}))
    if measured.held is not None and (today.is_coarse or differs(measured)):
        found.append(_on_disk(now, again, measured, today))
    if measured.followers is not None and not today.is_coarse:
        row = measured.followers.sweep()[measured.followers.at(today.interval_bytes)]
        values = {"append_bytes": sweep.FOLLOWER_APPEND_BYTES, "headers_mean": float(row["headers_mean"])}
        found.append(Reason("followers", values | {"headers_p99": int(row["headers_p99"])}))
    if today.is_coarse:
        found.append(Reason("coarse", {"append_bytes": sweep.FOLLOWER_APPEND_BYTES}))
    for cause, most in upper_bounds(measured, today, costs).items():
        found.append(Reason(f"bound-{cause}", {"most_bytes": most, "interval": now.interval_bytes}))
    return tuple(found)


def _on_disk(now: At, again: At, measured: Measured, today: Today) -> Reason:
    """How the indexes that are there differ from the replay of today's interval."""
    is_dense = not today.is_coarse and measured.held.gaps.is_dense
    values = {"interval": now.interval_bytes, "entries": int(now.row["entries"]), "entries_replayed": int(again.row["entries"])}
    headers = {"headers_p99": int(now.row["headers_p99"]), "headers_p99_replayed": int(again.row["headers_p99"])}
    return Reason("denser" if is_dense else "on-disk" if today.is_coarse else "coarser", values | headers)


def not_fixed(one: At, measured: Measured, today: Today, costs: Costs) -> tuple[Reason, ...]:
    """What no interval changes, as far as it weighs for this log."""
    found = []
    if measured.batch_bytes < TINY_BATCH_BYTES:
        found.append(Reason("tiny-batches", {"batch_bytes": measured.batch_bytes, "single_share": measured.single_share}))
    if measured.single_share < 0.5:
        found.append(Reason("two-headers", {}))
    found.append(Reason("cold", {"at": one, "costs": costs}))
    found.append(Reason("old-segments", {}))
    return tuple(found)


# ---- ranges


def gain_of(measured: Measured, costs: Costs, now: At, other: At, budgets: Budgets) -> Gain:
    """What the other interval brings: by a block bootstrap over stretches of the log, and the ranges of the costs."""
    blocks = _blocks(measured, (now.interval_bytes, other.interval_bytes))
    share = now.index_share - other.index_share
    means = (now.row["headers_mean"] - other.row["headers_mean"],) * 2
    p99s, shares = (int(now.row["headers_p99"]) - int(other.row["headers_p99"]),) * 2, (share, share)
    if len(blocks) >= LEAST_BLOCKS:
        means, p99s, shares = _drawn(blocks)
        points = (now.row["entries"] - other.row["entries"]) / measured.log_bytes
        shares = tuple(one * share / points for one in shares) if points else (share, share)
    header = costs.of(measured.one_read_share).each_us
    mean_us = _priced(means, float(now.row["headers_mean"] - other.row["headers_mean"]), header)
    p99_us = _priced(p99s, float(now.row["headers_p99"] - other.row["headers_p99"]), header)
    cores = None if budgets.fetches_per_s is None else mean_us.times(budgets.fetches_per_s / 1e6)
    return Gain(p99_us, mean_us, Range(min(shares[0], share), share, max(shares[1], share)), cores, len(blocks))


def _priced(headers: tuple[float, float], typical: float, header_us: Range) -> Range:
    """A difference of headers in µs; the widest that costs and draws allow."""
    low, high = min(headers[0], typical), max(headers[1], typical)
    ends = [count * us for count in (low, high) for us in (header_us.low, header_us.high)]
    return Range(min(ends), typical * header_us.typical, max(ends))


def _blocks(measured: Measured, intervals: tuple[int, int]) -> list[Block]:
    """Stretches of the log of as many batches each; the counter runs on from one to the next."""
    batches = sum(len(one) for one in measured.sizes)
    length = max(LEAST_BLOCK_BATCHES, -(-batches // BLOCKS))
    found = []
    for segment in measured.sizes:
        each = [sweep.headers(segment, interval) for interval in intervals]
        for start in range(0, len(segment), length):
            stretch = slice(start, start + length)
            if start and len(segment) - start < length // 2:
                continue  # what is left over is too short to weigh as much as the others
            counts = tuple(np.bincount(headers[stretch]) for headers, _ in each)
            entries = tuple(int(indexed[stretch].sum()) for _, indexed in each)
            found.append(Block(int(segment["size_bytes"][stretch].sum()), entries, counts))
    return found


def _drawn(blocks: Sequence[Block]) -> tuple[tuple[float, float], ...]:
    """The 5th and the 95th of 100 draws of the difference: (mean headers, p99 of headers, entries a byte of log)."""
    random = np.random.default_rng(SEED)
    times = random.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)), RESAMPLES)
    means, p99s = zip(*(_of_draws(times, [block.headers[which] for block in blocks]) for which in (0, 1)), strict=True)
    log_bytes = times @ np.array([block.log_bytes for block in blocks])
    entries = [times @ np.array([block.entries[which] for block in blocks]) for which in (0, 1)]
    points = (entries[0] - entries[1]) / log_bytes
    return tuple(tuple(np.percentile(one, (5, 95)).tolist()) for one in (means[0] - means[1], p99s[0] - p99s[1], points))


def _of_draws(times: np.ndarray, counts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """(the mean, the p99) of each draw. times: (draws, blocks), how often each block was drawn."""
    most = max(len(one) for one in counts)
    table = np.zeros((len(counts), most), np.float64)
    for row, one in zip(table, counts, strict=True):
        row[: len(one)] = one
    drawn = times @ table
    reached = np.cumsum(drawn, axis=1)
    total = reached[:, -1]
    return drawn @ np.arange(most) / total, (reached < np.ceil(0.99 * total - 1e-9)[:, None]).sum(axis=1)


# ---- what else depends on the interval


def limits_at(measured: Measured, config: LogConfig, interval_bytes: int) -> Limits:
    """When segments end with a swept interval, which limit is the first, and how large an index is safe."""
    place = measured.parts.at(interval_bytes)
    entries, times = int(measured.parts.entries[place]), int(measured.parts.time_entries[place])
    gap, share = (measured.log_bytes / entries, min(1.0, times / entries)) if entries else (float("inf"), 0.0)
    room, speed = config.segment_index_bytes, measured.bytes_per_s
    waited_s = (config.most_segment_ms - limits.mean_jitter_ms(config)) / 1000
    ends = (
        float(config.segment_bytes), speed * waited_s if speed else float("inf"),
        limits.offset_index_full_bytes(room, gap) if entries else float("inf"),
        limits.time_index_full_bytes(room, gap, share) if share else float("inf"),
    )  # fmt: skip
    least = limits.safe_index_bytes(config.segment_bytes, gap, share)
    return Limits(dict(zip(limits.ENDS, ends, strict=True)), least, round(SAFE_INDEX_MARGIN * least))


def tiered(now: At, other: At, measured: Measured, today: Today) -> dict[str, float]:
    """Of a topic with remote storage: segments whose indexes fit the remote index cache, and what a remote read carries for nothing."""
    found = {}
    for name, one in (("now", now), ("other", other)):
        per_segment = one.index_share * today.config.segment_bytes
        found[f"cached_segments_{name}"] = REMOTE_INDEX_CACHE_BYTES / per_segment if per_segment else float("inf")
        found[f"carried_share_{name}"] = float(one.row["skipped_bytes_mean"]) / today.fetch_bytes
    return found


def footprint_at(measured: Measured, today: Today, interval_bytes: int, max_map_count: int = MAX_MAP_COUNT) -> dict[str, int]:
    """Files, maps, memory and what is preallocated, with the indexes of a swept interval; of today's with those that are there."""
    is_today = interval_bytes == today.interval_bytes
    parts = measured.today(interval_bytes).parts if is_today else measured.parts.only(interval_bytes)
    rooms = today.rooms or (today.config.segment_index_bytes,) * today.partitions
    found = footprint(measured.segments, int(parts.index_bytes[0]), rooms, today.leaves_maps)
    return {
        "segments": found.segments, "files": found.files, "maps": found.maps, "stale_maps": found.stale_maps,
        "maps_left": found.maps_left(max_map_count), "index_bytes": found.index_bytes, "preallocated_bytes": found.preallocated_bytes,
        "resident_bytes": found.resident_bytes,
    }  # fmt: skip


# ---- what would have to be true


@dataclass(frozen=True)
class Assumption:
    """One assumption moved to either end while the others stay: the p99 of a warm lookup today, and the answer then."""

    name: str
    unit: str
    low: float
    typical: float
    high: float
    p99_us_low: float
    p99_us_high: float
    verdict_low: tuple[str, int]
    verdict_high: tuple[str, int]


def tornado(measured: Measured, today: Today, budgets: Budgets, costs: Costs) -> tuple[Assumption, ...]:
    """Each assumption of the model, the one that moves the result most first; empty of a log without a batch."""
    if not measured.parts.batches:
        return ()
    one_read, two_reads = (1.0, 2.0) if costs.is_modelled else (0.5, 1.0)  # of what a header is priced with
    reads = Range(1, 1 if costs.is_modelled else 2, 2)
    moved = [
        ("µs a header", "µs", costs.header_us, lambda us: replace(costs, header_us=_fixed(us))),
        ("µs before the first header", "µs", costs.first_us, lambda us: replace(costs, first_us=_fixed(us))),
        ("reads a header", "", reads, lambda count: replace(costs, header_us=costs.header_us.times(one_read if count == 1 else two_reads))),
    ]
    if budgets.cold_p99_us is not None:
        read = costs.storage
        moved.append(("µs a device read", "µs", read.read_us, lambda us: replace(costs, storage=replace(read, read_us=_fixed(us)))))
    found = [_moved(name, unit, over, measured, priced, today, budgets) for name, unit, over, priced in moved]
    return tuple(sorted(found, key=lambda one: one.p99_us_low - one.p99_us_high))


def _fixed(us: float) -> Range:
    return Range(us, us, us)


def _moved(
    name: str, unit: str, over: Range, measured: Measured, priced: Callable[[float], Costs], today: Today, budgets: Budgets
) -> Assumption:
    ends = []
    for value in (over.low, over.high):
        answer = recommend(measured, today, budgets, priced(value))
        ends.append((answer.today.p99_us.typical, (str(answer.verdict), answer.value)))
    return Assumption(name, unit, *over, ends[0][0], ends[1][0], ends[0][1], ends[1][1])


# ---- many logs under one setting


def recommend_broker(each: Mapping[str, Recommendation], whole: Recommendation) -> Recommendation:
    """The answer for the broker's default, of its topics' answers: what one topic needs is set for that topic, the rest keeps.

    each: by topic, of those with a batch; whole: of all their batches together. Only where every topic wants the same is it the broker's.
    """
    wanted = {(one.verdict, one.value) for one in each.values()}
    if len(wanted) <= 1 and (whole.verdict, whole.value) in wanted:
        return whole
    changing = {name: one.value for name, one in each.items() if one.verdict == Verdict.CHANGE}
    reason = Reason("topic-by-topic", {"changing": changing, "topics": len(each), "interval": whole.today.interval_bytes})
    kept = tuple(one for one in whole.because if one.code not in ("faster", "smaller", "smaller-for-tiered"))
    return replace(
        whole, verdict=Verdict.KEEP, value=whole.today.interval_bytes, proposed=whole.today, because=(reason, *kept)
    )  # fmt: skip


class Tuned(Protocol):
    """A log under a name."""

    name: str
    today: Today
    measured: Measured


def answers(
    cases: Sequence[Tuned], whole: Tuned, budgets: Budgets, costs: Costs
) -> tuple[dict[str, Recommendation | None], Recommendation | None]:
    """(each case's answer by its name, the answer for all of them)."""
    each = {case.name: recommend(case.measured, case.today, budgets, costs) for case in cases}
    if len(cases) == 1:
        return each, each[cases[0].name]
    found = recommend(whole.measured, whole.today, budgets, costs)
    return each, found and recommend_broker({name: one for name, one in each.items() if one}, found)
