"""The effects of a different segment.index.bytes: when segments roll, and what a search reads.

The log's batches are appended to a simulated log. Then they are appended again, with later offsets
and times, until a segment ends. For example, with batches of 1000 B, one per millisecond, interval
4096 and segment.index.bytes 100 KiB:

    offset index   102 400 // 8      = 12 800 entries
    time index     102 400 // 12 - 1 =  8 532 entries, so it is full first
    segment        8 532 * 5000 B    = 42.7 MB, though segment.bytes allows 1 GiB: 25 rolls per GiB
    search         reads 14.4 slots on average, instead of 19.7 at the default size

Sizes are rounded as in Kafka 4.3.1: only complete entries count, and the last slot of a time index
is reserved for the entry that a roll adds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kafkaviz.analysis.cost.cold_reads import SCAN, begin_scan, scanned_bytes, touch_header
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES, LookupCosts, Range
from kafkaviz.analysis.roll_limits import mean_jitter_ms
from kafkaviz.analysis.tuning.interval_cost import ENTRY_BYTES, REPLAYED_BITS, mean_touched_pages
from kafkaviz.analysis.tuning.tuning_case import TuningSource
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.config_def import LONG_MAX
from kafkaviz.search import binary_search
from kafkaviz.simulate.appends import AppendChunk
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import CAUSES, RollCause, should_roll, waited_ms
from kafkaviz.units import DAY_MS, GIB

MAX_BATCHES = 200_000  # batches in one round of appends, over all logs
MAX_SEGMENTS = 4096  # closed segments per log and index size
# row numbers of LogRound.batches
SIZE_BYTES, BASE_OFFSET, LAST_OFFSET, MAX_TIMESTAMP_MS, NOW_MS = range(5)
COLUMNS = ("size_bytes", "base_offset", "last_offset", "max_timestamp_ms", "now_ms")
SEGMENT: np.dtype = np.dtype(
    [  # a closed segment
        ("cause", "i8"),  # index into roll_reason.CAUSES
        ("batches", "i8"),
        ("log_bytes", "i8"),
        ("offset_entries", "i8"),
        ("time_entries", "i8"),  # including the one that the roll adds
        ("open_ms", "i8"),  # by the broker's clock
        # if the base offset of each batch is looked up once: all headers read, and all device reads
        # of the .log with nothing in memory
        ("headers", "i8"),
        ("log_reads", "i8"),
    ]
)
# the parameters of the compiled loop: fields of LogConfig and of LogRound, and the largest age
LIMITS = ("segment_bytes", "index_interval_bytes", "offset_slots", "usable_time_slots")
RULES = ("per_append", "header_bytes", "next_offset", "next_ms", "most_shift_ms")
SETTINGS: np.dtype = np.dtype([(name, "i8") for name in (*LIMITS, *RULES, "most_ms")])
INDEX_SIZES = tuple(1 << power for power in range(6, 27))  # 64 B to 64 MiB
INDEX_CAUSES = (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)


@dataclass(frozen=True, kw_only=True)
class LogRound:
    """The batches of a log, which are appended to a simulated log again and again, in rounds.

    Attributes:
        batches: int64, shape (5, n), with one row for each of `COLUMNS`.
        append_ends: the index of each append's last batch in `batches`, plus 1.
        next_offset, next_ms: what the next round adds to all offsets and to all times.
        most_shift_ms: the most that can be added to the times before they overflow 64 bits.
        per_append: whether an append gets at most one index entry (KAFKA-806).
        header_bytes: bytes that a scan reads of each batch.
    """

    batches: np.ndarray
    append_ends: np.ndarray
    next_offset: int
    next_ms: int
    most_shift_ms: int
    per_append: bool
    header_bytes: int


def log_round(
    chunks: Iterable[AppendChunk],
    most_batches: int = MAX_BATCHES,
    most_bytes: float = float("inf"),
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> LogRound | None:
    """Returns the first batches of a log as a `LogRound`; None if the log has no batch."""
    pieces = []
    count = 0
    log_bytes = 0
    for chunk in chunks:
        pieces.append(chunk.rows[["append", *COLUMNS]].copy())
        count += len(chunk.rows)
        log_bytes += int(chunk.rows["size_bytes"].sum())
        if count >= most_batches or log_bytes >= most_bytes:
            break
    if not count:
        return None
    rows = np.concatenate(pieces)[:most_batches]
    batches = np.array([rows[name] for name in COLUMNS], np.int64)
    ends = np.append(np.flatnonzero(np.diff(rows["append"])) + 1, len(rows)).astype(np.int64)
    clock = batches[NOW_MS]
    span_ms = int(clock.max() - clock.min())
    mean_gap_ms = max(1, round(span_ms / max(1, len(ends) - 1)))
    most_shift_ms = LONG_MAX - max(int(clock.max()), int(batches[MAX_TIMESTAMP_MS].max()), 0)
    return LogRound(
        batches=batches,
        append_ends=ends,
        next_offset=int(batches[LAST_OFFSET].max() + 1 - batches[BASE_OFFSET].min()),
        next_ms=min(span_ms + mean_gap_ms, most_shift_ms),
        most_shift_ms=most_shift_ms,
        per_append=per_append,
        header_bytes=scanned_bytes(by_base_offset=by_base_offset),
    )


def log_rounds(source: TuningSource) -> tuple[LogRound, ...]:
    """Returns the batches of each log that has a batch, as a `LogRound`.

    If only parts of the logs were measured, the `LogRound`s together have about as many bytes as
    these parts.
    """
    logs = source.total.logs or ()
    sample = source.total.sample
    most_batches = max(1000, MAX_BATCHES // max(1, len(logs)))
    most_bytes = float("inf")
    if logs and sample and not sample.is_whole:
        most_bytes = sample.sampled_bytes / len(logs)
    rounds = (
        log_round(
            chunks(),
            most_batches,
            most_bytes,
            per_append=source.behaviour.per_append,
            by_base_offset=source.by_base_offset,
        )
        for chunks, _ in logs
    )
    return tuple(each_round for each_round in rounds if each_round is not None)


def close_segments(round_of_log: LogRound, config: LogConfig) -> np.ndarray | None:
    """Appends the batches in rounds; returns the closed segments as an array of `SEGMENT`.

    Returns None if Kafka would throw because an append does not fit into a segment or an index.
    """
    if not config.usable_time_slots:
        return None
    settings = np.zeros(1, SETTINGS)
    settings["most_ms"] = config.most_segment_ms - round(mean_jitter_ms(config))
    for owner, names in ((config, LIMITS), (round_of_log, RULES)):
        for name in names:
            settings[name] = getattr(owner, name)
    segments = np.zeros(MAX_SEGMENTS, SEGMENT)
    count = _close_segments(
        round_of_log.batches, round_of_log.append_ends, settings, np.zeros(1, SCAN), segments
    )
    return None if count < 0 else segments[:count].copy()


@njit(cache=True)
def _close_segments(
    batches: np.ndarray,
    append_ends: np.ndarray,
    settings: np.ndarray,
    scans: np.ndarray,
    segments: np.ndarray,
) -> int:
    """Fills `segments`, and returns how many were closed; -1 if Kafka throws at an append.

    Args:
        scans: one row with the state of the last scan. If the next lookup starts at the same index
            entry, it continues this scan instead of reading the same headers again.
        segments: rows to fill, all zero.
    """
    limit = settings[0]
    scan = scans[0]
    sizes = batches[SIZE_BYTES]
    newest = batches[MAX_TIMESTAMP_MS]
    segment = segments[0]
    count = number = offset_shift = shift_ms = 0
    base_offset = created_ms = reference_ms = newest_ms = last_time_ms = 0
    is_new = True
    is_round_done = False
    while True:
        start = append_ends[number - 1] if number else 0
        end = append_ends[number]
        append_bytes = sizes[start:end].sum()
        append_ms = newest[start:end].max()
        append_ms = append_ms + shift_ms if append_ms >= 0 else append_ms
        now_ms = batches[NOW_MS, start] + shift_ms
        cause = 0
        if not is_new:
            cause = should_roll(
                segment.log_bytes,
                append_bytes,
                limit.segment_bytes,
                waited_ms(reference_ms, append_ms, now_ms, created_ms),
                limit.most_ms,
                segment.offset_entries,
                limit.offset_slots,
                segment.time_entries,
                limit.usable_time_slots,
                batches[LAST_OFFSET, end - 1] + offset_shift - base_offset,
            )
        if cause:
            segment.cause = cause
            segment.time_entries += 1 if newest_ms > last_time_ms else 0
            segment.open_ms = now_ms - created_ms
            count += 1
            if is_round_done or count == len(segments):
                return count
            segment = segments[count]
            is_new = True
        if append_bytes > limit.segment_bytes:
            return -1
        if is_new:
            is_new = False
            base_offset = batches[BASE_OFFSET, start] + offset_shift
            created_ms = now_ms
            since_entry = 0
            newest_ms = last_time_ms = -1
            # start_: the batch where lookups start to scan. next_: the next header of the current
            # scan. Each has a number in the segment and a position.
            first_row = start
            start_number = start_position = next_number = next_position = 0
            begin_scan(scan, 0)
            first_ms = newest[start] + shift_ms if newest[start] >= 0 else newest[start]
            reference_ms = append_ms if limit.per_append else first_ms
        row = start
        while row < end:
            stop = end if limit.per_append else row + 1
            for each in range(row, stop):
                newest_ms = max(newest_ms, newest[each] + shift_ms if newest[each] >= 0 else -1)
            is_indexed = since_entry > limit.index_interval_bytes
            entry_number = segment.batches
            entry_position = segment.log_bytes
            if is_indexed:
                if (
                    segment.offset_entries >= limit.offset_slots
                    or segment.time_entries >= limit.usable_time_slots
                ):
                    return -1
                segment.offset_entries += 1
                if newest_ms > last_time_ms:
                    segment.time_entries += 1
                    last_time_ms = newest_ms
                since_entry = 0
            for each in range(row, stop):
                is_single = batches[BASE_OFFSET, each] == batches[LAST_OFFSET, each]
                if is_indexed and each == stop - 1 and is_single:
                    # the entry's key is the only offset of the batch
                    start_number = entry_number
                    start_position = entry_position
                if scan.start != start_position:
                    begin_scan(scan, start_position)
                    next_number = start_number
                    next_position = start_position
                while next_number <= segment.batches:
                    touch_header(scan, next_position, limit.header_bytes)
                    next_position += sizes[(first_row + next_number) % len(sizes)]
                    next_number += 1
                segment.headers += segment.batches - start_number + 1
                segment.log_reads += scan.count
                segment.log_bytes += sizes[each]
                segment.batches += 1
                since_entry += sizes[each]
            if is_indexed:
                start_number = entry_number
                start_position = entry_position
            row = stop
        number += 1
        if number == len(append_ends):
            number = 0
            is_round_done = True
            offset_shift += limit.next_offset
            shift_ms += min(limit.next_ms, limit.most_shift_ms - shift_ms)


@dataclass(frozen=True)
class IndexSearchCost:
    """Slots read (probes) and memory pages touched by a search in an offset index.

    `tail_` is for a target above the last key, `mean_` is the mean over all targets.
    """

    tail_probes: int
    tail_pages: int
    mean_probes: float
    mean_pages: float


@lru_cache(maxsize=1024)
def search_cost(entries: int, *, warm: bool = True) -> IndexSearchCost:
    """Returns the cost of a search in an offset index with this number of entries.

    Means are exact up to 2^18 entries. Each further doubling is assumed to add a probe and a page.
    """
    if not entries:
        return IndexSearchCost(0, 0, 0.0, 0.0)
    tail = binary_search.floor(range(0, 2 * entries, 2), 2 * entries, ENTRY_BYTES, warm=warm)
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    keys = 2 * np.arange(entries >> doublings, dtype=np.int64)
    floors = binary_search.floors(keys, keys + 1, ENTRY_BYTES, warm=warm)
    probes, pages = floors[:, 1:].mean(axis=0).tolist()
    return IndexSearchCost(len(tail.probes), len(tail.pages), probes + doublings, pages + doublings)


@dataclass(frozen=True, kw_only=True)
class IndexSizeOutcome:
    """The segments that Kafka writes with one value of segment.index.bytes.

    Attributes:
        segments: the number of closed segments.
        rolls: the number of closed segments per cause of the roll.
        log_bytes, offset_entries, time_entries: means per closed segment.
        open_ms: how long a segment was open on average; 0 if all batches have the same time.
        headers: mean number of headers that a lookup of a batch's base offset reads.
        log_reads: mean device reads of the .log by this lookup, with nothing in memory.
    """

    config: LogConfig
    segments: int
    rolls: Mapping[str, int]
    log_bytes: float
    offset_entries: float
    time_entries: float
    open_ms: float
    headers: float
    log_reads: float

    @property
    def index_bytes(self) -> int:
        return self.config.segment_index_bytes

    @property
    def cause(self) -> RollCause:
        return RollCause(max(self.rolls, key=self.rolls.__getitem__))

    @property
    def is_index_full(self) -> bool:
        return any(cause in self.rolls for cause in INDEX_CAUSES)

    @property
    def rolls_per_gib(self) -> float:
        return GIB / self.log_bytes

    @property
    def rolls_per_day(self) -> float:
        return DAY_MS / self.open_ms if self.open_ms else float("inf")

    @property
    def entries(self) -> int:
        return round(self.offset_entries)

    def search(self, *, warm: bool = True) -> IndexSearchCost:
        """Returns the cost of a search in a closed segment; `warm=False` for Kafka up to 2.0."""
        return search_cost(self.entries, warm=warm)

    @property
    def cold_index_reads(self) -> float:
        return mean_touched_pages(self.entries, READ_AHEAD_BYTES)

    def cold_us(self, costs: LookupCosts) -> Range:
        pages = mean_touched_pages(self.entries)
        return costs.cold_us(self.headers, self.log_reads, self.cold_index_reads, pages)


def write_with(rounds: Sequence[LogRound], config: LogConfig) -> IndexSizeOutcome | None:
    """Simulates writing the logs; returns None without `rounds`, or if Kafka would throw."""
    closed = [close_segments(each_round, config) for each_round in rounds]
    segments = [each for each in closed if each is not None]
    if not closed or len(segments) < len(closed):
        return None
    rows = np.concatenate(segments)
    causes, counts = np.unique(rows["cause"], return_counts=True)
    batches = rows["batches"].sum()
    means = ("log_bytes", "offset_entries", "time_entries", "open_ms")
    return IndexSizeOutcome(
        config=config,
        segments=len(rows),
        rolls={str(CAUSES[int(cause)]): int(n) for cause, n in zip(causes, counts, strict=True)},
        **{name: float(rows[name].mean()) for name in means},
        headers=float(rows["headers"].sum() / batches),
        log_reads=float(rows["log_reads"].sum() / batches),
    )


def sweep_index_sizes(
    rounds: Sequence[LogRound], config: LogConfig, sizes: Iterable[int] = INDEX_SIZES
) -> tuple[IndexSizeOutcome, ...]:
    """Returns the outcome for each segment.index.bytes, the smallest first.

    Includes the size in `config`. Leaves out sizes with which Kafka cannot write this log.
    """
    outcomes: list[IndexSizeOutcome] = []
    for index_bytes in sorted({*sizes, config.segment_index_bytes}):
        sized = replace(config, segment_index_bytes=index_bytes)
        if outcomes and not outcomes[-1].is_index_full:
            outcomes.append(replace(outcomes[-1], config=sized))
        elif outcome := write_with(rounds, sized):
            outcomes.append(outcome)
    return tuple(outcomes)


@dataclass(frozen=True)
class SafeIndexSize:
    """The smallest segment.index.bytes with which no index gets full before the segment ends."""

    interval_bytes: int
    index_bytes: float  # 0 if every tried size is safe, infinite if none is
    cause: RollCause | None  # the index that gets full at smaller sizes


def safe_index_size(
    rounds: Sequence[LogRound], config: LogConfig, outcomes: Sequence[IndexSizeOutcome]
) -> SafeIndexSize:
    """Returns the smallest safe index size, exact to the byte.

    `outcomes` come from `sweep_index_sizes`.
    """
    interval_bytes = config.index_interval_bytes
    full = [outcome for outcome in outcomes if outcome.is_index_full]
    if not full:
        return SafeIndexSize(interval_bytes, 0, None)
    cause = max(INDEX_CAUSES, key=lambda index: full[-1].rolls.get(index, 0))
    if len(full) == len(outcomes):
        return SafeIndexSize(interval_bytes, float("inf"), cause)
    low = full[-1].index_bytes
    high = outcomes[len(full)].index_bytes
    while high - low > 1:
        middle = (low + high) // 2
        outcome = write_with(rounds, replace(config, segment_index_bytes=middle))
        if outcome and not outcome.is_index_full:
            high = middle
        else:
            low = middle
    return SafeIndexSize(interval_bytes, high, cause)
