"""The effects of another segment.index.bytes: when segments roll, and how much a search reads.

The log's batches are appended to a simulated log, in rounds. Each round appends all batches again,
with later offsets and times. The rounds end when at least one segment has ended, because a short
log may not fill a segment in one round. (A formula would work only for equal batches.) For example,
with batches of 1000 B, one per millisecond, index.interval.bytes 4096 and segment.index.bytes 100
KiB:

    offset index   102 400 // 8      = 12 800 entries
    time index     102 400 // 12 - 1 =  8 532 entries, so it is full first
    segment        8 532 * 5000 B    = 42.7 MB, though segment.bytes allows 1 GiB: 25 rolls per GiB
    search         reads 14.4 slots on average, instead of 19.7 at the default size

Sizes are rounded as in AbstractIndex, OffsetIndex and TimeIndex of Kafka 4.3.1: only complete
entries count, and the last slot of a time index is reserved for the entry that a roll adds. Rolls,
entries, headers, probes and pages are counted. Device reads and microseconds come from the same
cost model as in cost/.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kafkaviz.analysis.cost.cold_reads import (
    SCAN,
    begin_scan,
    scanned_bytes,
    touch_header,
)
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES, LookupCosts, Range
from kafkaviz.analysis.roll_limits import mean_jitter_ms
from kafkaviz.analysis.tuning.interval_cost import ENTRY_BYTES, REPLAYED_BITS, mean_touched_pages
from kafkaviz.analysis.tuning.log_windows import LogSample
from kafkaviz.analysis.tuning.tuning_case import TuningSource
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.config_def import LONG_MAX
from kafkaviz.search import slots
from kafkaviz.simulate.appends import AppendChunk
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import CAUSES, RollCause, should_roll, waited_ms

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
SETTINGS: np.dtype = np.dtype(
    [  # the parameters of the compiled loop
        ("segment_bytes", "i8"),
        ("most_ms", "i8"),
        ("index_interval_bytes", "i8"),
        ("offset_slots", "i8"),
        ("time_slots", "i8"),
        ("per_append", "i8"),
        ("next_offset", "i8"),  # added to all offsets after each round
        ("next_ms", "i8"),  # added to all times after each round
        ("most_shift_ms", "i8"),  # times that are shifted by more would overflow 64 bits
        ("header_bytes", "i8"),  # bytes that a scan reads of each batch
    ]
)
INDEX_SIZES = tuple(1 << power for power in range(6, 27))  # 64 B to 64 MiB
DAY_MS = 86_400_000
GIB = 1 << 30
INDEX_CAUSES = (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)


@dataclass(frozen=True)
class LogRound:
    """The batches of one round of appends, and the numbers to add to them in each further round.

    Attributes:
        batches: int64, shape (5, n), with one row for each of `COLUMNS`.
        append_ends: the index of each append's last batch in `batches`, plus 1.
        next_offset: added to all offsets after each round.
        next_ms: added to all times after each round.
        most_shift_ms: the most that all rounds together may add to the times.
    """

    batches: np.ndarray
    append_ends: np.ndarray
    next_offset: int
    next_ms: int
    most_shift_ms: int


def log_round(
    chunks: Iterable[AppendChunk],
    most_batches: int = MAX_BATCHES,
    most_bytes: float = float("inf"),
) -> LogRound | None:
    """Returns the first batches of a log as a round, or None if the log has no batch.

    Args:
        most_bytes: reading stops after this many bytes of .log.
    """
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
    next_offset = int(batches[LAST_OFFSET].max() + 1 - batches[BASE_OFFSET].min())
    newest_ms = max(int(clock.max()), int(batches[MAX_TIMESTAMP_MS].max()), 0)
    most_shift_ms = LONG_MAX - newest_ms
    next_ms = min(span_ms + mean_gap_ms, most_shift_ms)
    return LogRound(batches, ends, next_offset, next_ms, most_shift_ms)


def log_rounds(
    logs: Sequence[tuple[Callable[[], Iterable[AppendChunk]], int]],
    sample: LogSample | None = None,
) -> tuple[LogRound, ...]:
    """Returns one round of appends for each log with a batch.

    Args:
        logs: a function that returns, for each log, the appends and the first offset.
        sample: the parts of the logs that were measured. This limits how many bytes are read.
    """
    most_batches = max(1000, MAX_BATCHES // max(1, len(logs)))
    is_part = sample is not None and not sample.is_whole
    most_bytes = sample.sampled_bytes / len(logs) if sample and is_part else float("inf")
    rounds = (log_round(chunks(), most_batches, most_bytes) for chunks, _ in logs)
    return tuple(each_round for each_round in rounds if each_round is not None)


def close_segments(
    round_of_log: LogRound,
    config: LogConfig,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> np.ndarray | None:
    """Appends a log in rounds, and returns its closed segments as an array of SEGMENT.

    Args:
        per_append: whether an append gets at most one entry (KAFKA-806).
        by_base_offset: whether scans read 17 bytes of a header, as since Kafka 4.1, instead of 61.

    Returns:
        None if Kafka would throw at an append. It does so if the append is larger than a segment,
        if it needs more entries than fit into the index, or if the index has no room at all.
    """
    if not config.usable_time_slots:
        return None
    settings = np.zeros(1, SETTINGS)
    settings["segment_bytes"] = config.segment_bytes
    settings["most_ms"] = config.most_segment_ms - round(mean_jitter_ms(config))
    settings["index_interval_bytes"] = config.index_interval_bytes
    settings["offset_slots"] = config.offset_slots
    settings["time_slots"] = config.usable_time_slots
    settings["per_append"] = per_append
    settings["next_offset"] = round_of_log.next_offset
    settings["next_ms"] = round_of_log.next_ms
    settings["most_shift_ms"] = round_of_log.most_shift_ms
    settings["header_bytes"] = scanned_bytes(by_base_offset=by_base_offset)
    segments = np.zeros(MAX_SEGMENTS, SEGMENT)
    count = _close_segments(
        round_of_log.batches,
        round_of_log.append_ends,
        settings,
        np.zeros(1, SCAN),
        segments,
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
        scans: the state of one scan. A lookup that starts at the same index entry as the previous
            one continues its scan.
    """
    limit = settings[0]
    scan = scans[0]
    sizes = batches[SIZE_BYTES]
    newest = batches[MAX_TIMESTAMP_MS]
    count = 0
    number = 0
    offset_shift = 0
    shift_ms = 0
    base_offset = batches[BASE_OFFSET, 0]
    created_ms = batches[NOW_MS, 0]
    log_bytes = 0
    rows_in = 0
    since_entry = 0
    offset_entries = 0
    time_entries = 0
    reference_ms = -1
    newest_ms = -1
    last_time_ms = -1
    is_new = True
    is_round_done = False
    # the batch where lookups start to scan: its number in the segment, its position, and its row in
    # the round. The next_ variables are the same for the next header of the current scan.
    start_number = 0
    start_position = 0
    start_row = 0
    next_number = 0
    next_position = 0
    next_row = 0
    headers = 0
    log_reads = 0
    while True:
        start = append_ends[number - 1] if number else 0
        end = append_ends[number]
        append_bytes = 0
        append_ms = -1
        for row in range(start, end):
            append_bytes += sizes[row]
            append_ms = max(append_ms, newest[row])
        append_ms = append_ms + shift_ms if append_ms >= 0 else append_ms
        now_ms = batches[NOW_MS, start] + shift_ms
        cause = 0
        if not is_new:
            cause = should_roll(
                log_bytes,
                append_bytes,
                limit.segment_bytes,
                waited_ms(reference_ms, append_ms, now_ms, created_ms),
                limit.most_ms,
                offset_entries,
                limit.offset_slots,
                time_entries,
                limit.time_slots,
                batches[LAST_OFFSET, end - 1] + offset_shift - base_offset,
            )
        if cause:
            segment = segments[count]
            segment.cause = cause
            segment.batches = rows_in
            segment.log_bytes = log_bytes
            segment.offset_entries = offset_entries
            segment.time_entries = time_entries + (1 if newest_ms > last_time_ms else 0)
            segment.open_ms = now_ms - created_ms
            segment.headers = headers
            segment.log_reads = log_reads
            count += 1
            if is_round_done or count == len(segments):
                return count
            is_new = True
        if append_bytes > limit.segment_bytes:
            return -1
        if is_new:
            base_offset = batches[BASE_OFFSET, start] + offset_shift
            created_ms = now_ms
            log_bytes = 0
            rows_in = 0
            since_entry = 0
            offset_entries = 0
            time_entries = 0
            newest_ms = -1
            last_time_ms = -1
            start_number = 0
            start_position = 0
            start_row = start
            next_number = 0
            next_position = 0
            next_row = start
            headers = 0
            log_reads = 0
            begin_scan(scan, 0)
            first_ms = newest[start] + shift_ms if newest[start] >= 0 else newest[start]
            reference_ms = append_ms if limit.per_append else first_ms
        is_new = False
        row = start
        while row < end:
            stop = end if limit.per_append else row + 1
            for each in range(row, stop):
                newest_ms = max(newest_ms, newest[each] + shift_ms if newest[each] >= 0 else -1)
            is_indexed = since_entry > limit.index_interval_bytes
            entry_number = rows_in
            entry_position = log_bytes
            if is_indexed:
                if offset_entries >= limit.offset_slots or time_entries >= limit.time_slots:
                    return -1
                offset_entries += 1
                if newest_ms > last_time_ms:
                    time_entries += 1
                    last_time_ms = newest_ms
                since_entry = 0
            for each in range(row, stop):
                is_own = (
                    each == stop - 1 and batches[BASE_OFFSET, each] == batches[LAST_OFFSET, each]
                )
                if is_indexed and is_own:  # the entry's key is the only offset of the batch
                    start_number = entry_number
                    start_position = entry_position
                    start_row = row
                if scan.start != start_position:
                    begin_scan(scan, start_position)
                    next_number = start_number
                    next_position = start_position
                    next_row = start_row
                while next_number <= rows_in:
                    touch_header(scan, next_position, limit.header_bytes)
                    next_position += sizes[next_row]
                    next_number += 1
                    next_row = next_row + 1 if next_row + 1 < len(sizes) else 0
                headers += rows_in - start_number + 1
                log_reads += scan.count
                log_bytes += sizes[each]
                since_entry += sizes[each]
                rows_in += 1
            if is_indexed:
                start_number = entry_number
                start_position = entry_position
                start_row = row
            row = stop
        number += 1
        if number == len(append_ends):
            number = 0
            is_round_done = True
            offset_shift += limit.next_offset
            shift_ms += min(limit.next_ms, limit.most_shift_ms - shift_ms)


# ---- the cost of a search in an index


@dataclass(frozen=True)
class IndexSearchCost:
    """The cost of a search in an offset index of a given size.

    Attributes:
        tail_probes: slots read to find a target above the last key.
        tail_pages: pages touched to find a target above the last key.
        mean_probes: mean number of slots read, over all targets.
        mean_pages: mean number of pages touched, over all targets.
    """

    tail_probes: int
    tail_pages: int
    mean_probes: float
    mean_pages: float


@lru_cache(maxsize=1024)
def search_cost(entries: int, *, warm: bool = True) -> IndexSearchCost:
    """Runs searches in an offset index of a given size and returns their cost.

    The cost for a target above the last key is exact at any size. Means are exact up to 2^18
    entries. Beyond, each doubling of the size adds a probe and a page, as in a binary search.
    """
    if not entries:
        return IndexSearchCost(0, 0, 0.0, 0.0)
    tail = slots.floor(range(0, 2 * entries, 2), 2 * entries, ENTRY_BYTES, warm=warm)
    doublings = max(0, (entries - 1).bit_length() - REPLAYED_BITS)
    keys = 2 * np.arange(entries >> doublings, dtype=np.int64)
    floors = slots.floors(keys, keys + 1, ENTRY_BYTES, warm=warm)
    probes, pages = floors[:, 1:].mean(axis=0).tolist()
    return IndexSearchCost(len(tail.probes), len(tail.pages), probes + doublings, pages + doublings)


# ---- sizes


@dataclass(frozen=True, kw_only=True)
class IndexSizeOutcome:
    """The segments of a log that is written with one segment.index.bytes and one interval.

    Attributes:
        offset_slots: the number of entries at which the offset index is full.
        usable_time_slots: the number of entries at which the time index is full.
        segments: the number of closed segments.
        rolls: the number of closed segments per cause of their end. All attributes below are means
            over these segments.
        open_ms: how long a segment was open, by the broker's clock; 0 if the clock did not move.
        headers: headers that a lookup of a batch's base offset reads.
        log_reads: device reads that such a lookup makes in the .log, if nothing of it is in memory.
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
        """Whether a full index ended at least one segment."""
        return any(cause in self.rolls for cause in INDEX_CAUSES)

    @property
    def rolls_per_gib(self) -> float:
        return GIB / self.log_bytes

    @property
    def rolls_per_day(self) -> float:
        """Rolls per day of one topic-partition; infinite if the clock did not move."""
        return DAY_MS / self.open_ms if self.open_ms else float("inf")

    @property
    def entries(self) -> int:
        return round(self.offset_entries)

    def search(self, *, warm: bool = True) -> IndexSearchCost:
        """Returns the cost of a search in a closed segment; `warm=False` for Kafka up to 2.0."""
        return search_cost(self.entries, warm=warm)

    @property
    def cold_index_reads(self) -> float:
        """Modelled device reads of a search when no part of the index is in memory."""
        return mean_touched_pages(self.entries, READ_AHEAD_BYTES)

    def cold_us(self, costs: LookupCosts) -> Range:
        """Returns the mean time of a lookup when nothing is in memory."""
        pages = mean_touched_pages(self.entries)
        return costs.cold_us(self.headers, self.log_reads, self.cold_index_reads, pages)


def write_with(
    rounds: Sequence[LogRound],
    config: LogConfig,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> IndexSizeOutcome | None:
    """Simulates writing the logs with the settings in `config`; returns the outcome.

    Returns:
        None without a log, or if Kafka would throw at an append.
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
    """Returns the outcome for each segment.index.bytes, the smallest first.

    The size in `config` is included. Sizes with which Kafka cannot write this log are left out. All
    sizes at which no index gets full give the same log, which is simulated only once.
    """
    outcomes: list[IndexSizeOutcome] = []
    for index_bytes in sorted({*sizes, config.segment_index_bytes}):
        sized = replace(config, segment_index_bytes=index_bytes)
        if outcomes and not outcomes[-1].is_index_full:
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


@dataclass(frozen=True)
class SafeIndexSize:
    """The smallest segment.index.bytes with which no index gets full before the segment ends.

    Attributes:
        index_bytes: 0 if an index of any size is safe, infinite if none is.
        cause: the index that gets full first at smaller sizes; None if no size is smaller.
    """

    interval_bytes: int
    index_bytes: float
    cause: RollCause | None


def safe_index_size(
    rounds: Sequence[LogRound],
    config: LogConfig,
    outcomes: Sequence[IndexSizeOutcome],
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> SafeIndexSize:
    """Returns the smallest safe index size in bytes, by binary search between two outcomes.

    Args:
        outcomes: the result of `sweep_index_sizes` with the same settings.
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
        sized = replace(config, segment_index_bytes=middle)
        outcome = write_with(rounds, sized, per_append=per_append, by_base_offset=by_base_offset)
        if outcome and not outcome.is_index_full:
            high = middle
        else:
            low = middle
    return SafeIndexSize(interval_bytes, high, cause)


def sweep_source(source: TuningSource) -> tuple[IndexSizeOutcome, ...]:
    """Returns the outcome for each index size with today's interval; empty without a log."""
    case = source.total
    return sweep_index_sizes(
        log_rounds(case.logs or (), case.sample),
        case.today.config,
        per_append=source.behaviour.per_append,
        by_base_offset=source.by_base_offset,
    )
