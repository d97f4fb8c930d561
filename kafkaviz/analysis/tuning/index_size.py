"""What another segment.index.bytes would do to a log: when segments roll, what a search reads.

The log's own batches are appended in rounds, again and again with later offsets and times, until
all of them were and a segment has ended, by the rules that the writer rolls by. Batches of 1000 B
and a millisecond each, index.interval.bytes 4096, segment.index.bytes 100 KiB:

    offset index   102 400 // 8      = 12 800 entries
    time index     102 400 // 12 - 1 =  8 532 entries, and it is the one that is full first
    segment        8 532 * 5000 B    = 42.7 MB, where segment.bytes allows 1 GiB: 25 rolls a GiB
    search         14.4 slots of such an index on average, instead of 19.7 at the default size

Sizes as AbstractIndex, OffsetIndex and TimeIndex of Kafka 4.3.1 round them: complete entries alone,
and the last slot of a time index is kept for the entry of the roll. Rolls, entries, headers, probes
and pages are counted; device reads and microseconds are those of the model that prices intervals.

Why in rounds: a log shorter than a segment would say nothing of a full one, and a closed form
nothing of batches that differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kafkaviz.analysis.cost.cold_reads import (
    SCAN,
    begin_scan,
    header_and_window,
    touch_header,
)
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES, LookupPrices, Range
from kafkaviz.analysis.rolls.limits import mean_jitter_ms
from kafkaviz.analysis.tuning.interval_price import REPLAYED_BITS, mean_touched_pages, probes
from kafkaviz.analysis.tuning.source import TuningSource
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import offset_index
from kafkaviz.search import slots
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.simulate.append_batches import AppendChunk
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.writer.roll_reason import CAUSES, Cause, should_roll, waited_ms

INDEX_SIZES = tuple(1 << power for power in range(6, 27))  # 64 B to 64 MiB
LEAST_INDEX_BYTES = 24  # with less the time index has no slot but the one that is kept
MOST_BATCHES = 200_000  # of a round, over all logs
MOST_SEGMENTS = 4096  # of a log and a size
DAY_MS, GIB = 86_400_000, 1 << 30
INDEX_CAUSES = (Cause.OFFSET_INDEX_FULL, Cause.TIME_INDEX_FULL)
ENTRY_BYTES = offset_index.ENTRY.itemsize

# rows of LogRound.batches
SIZE_BYTES, BASE_OFFSET, LAST_OFFSET, MAX_TIMESTAMP_MS, NOW_MS = range(5)
COLUMNS = ("size_bytes", "base_offset", "last_offset", "max_timestamp_ms", "now_ms")
SEGMENT: np.dtype = np.dtype(
    [  # one that was closed
        ("cause", "i8"),  # a number of roll_reason.CAUSES
        ("batches", "i8"),
        ("log_bytes", "i8"),
        ("offset_entries", "i8"),
        ("time_entries", "i8"),  # with that of the roll
        ("open_ms", "i8"),  # by the broker's clock
        # of lookups of each batch's base offset, summed: headers, and cold reads of the .log
        ("headers", "i8"),
        ("log_reads", "i8"),
    ]
)
SETTINGS: np.dtype = np.dtype(
    [  # what the loop must know of the log
        ("segment_bytes", "i8"),
        ("most_ms", "i8"),
        ("index_interval_bytes", "i8"),
        ("offset_slots", "i8"),
        ("time_slots", "i8"),
        ("per_append", "i8"),
        ("next_offset", "i8"),  # what a round adds to offsets and to times
        ("next_ms", "i8"),
        ("header_bytes", "i8"),  # that a scan reads of each batch
        ("window_pages", "i8"),  # that the kernel reads ahead at most
    ]
)


@dataclass(frozen=True)
class LogRound:
    """A log's batches, and how the next round of them differs.

    Attributes:
        batches: (5, n) int64, a row for each of COLUMNS.
        append_ends: of each append the place behind its last batch.
        next_offset, next_ms: what a round adds to offsets and to times.
    """

    batches: np.ndarray
    append_ends: np.ndarray
    next_offset: int
    next_ms: int


def log_round(chunks: Iterable[AppendChunk], most_batches: int = MOST_BATCHES) -> LogRound | None:
    """A log's first batches, as many as a round takes; None of a log without a batch."""
    pieces, count = [], 0
    for chunk in chunks:
        pieces.append(chunk.rows[["append", *COLUMNS]].copy())
        count += len(chunk.rows)
        if count >= most_batches:
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
    return LogRound(batches, ends, next_offset, span_ms + mean_gap_ms)


def log_rounds(
    logs: Sequence[tuple[Callable[[], Iterable[AppendChunk]], int]],
) -> tuple[LogRound, ...]:
    """Of each log its round.

    Args:
        logs: as of TuningCase, the chunks of each and its first offset.
    """
    most_batches = max(1000, MOST_BATCHES // max(1, len(logs)))
    rounds = (log_round(chunks(), most_batches) for chunks, _ in logs)
    return tuple(each_round for each_round in rounds if each_round is not None)


def close_segments(
    round_of_log: LogRound,
    config: LogConfig,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> np.ndarray | None:
    """The segments that a log closes while it is appended in rounds: SEGMENT.

    Args:
        per_append: an append gets one entry at most (KAFKA-806).
        by_base_offset: the scan of 4.1 and later, which takes 17 bytes of a header and not 61.

    Returns:
        None where Kafka ends an append with an exception: it is larger than a segment, or has more
        entries than the index has room for, or there is no room at all.
    """
    if not config.usable_time_slots:
        return None
    settings = np.zeros(1, SETTINGS)
    settings["segment_bytes"] = config.segment_bytes
    settings["most_ms"] = config.most_segment_ms - round(mean_jitter_ms(config))
    settings["index_interval_bytes"] = config.index_interval_bytes
    settings["offset_slots"], settings["time_slots"] = config.offset_slots, config.usable_time_slots
    settings["per_append"] = per_append
    settings["next_offset"] = round_of_log.next_offset
    settings["next_ms"] = round_of_log.next_ms
    settings["header_bytes"], settings["window_pages"] = header_and_window(
        by_base_offset=by_base_offset, read_ahead_bytes=READ_AHEAD_BYTES
    )
    segments = np.zeros(MOST_SEGMENTS, SEGMENT)
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
    """Fills the segments; their number, or -1 where Kafka takes an append with an exception.

    Args:
        scans: space for one, which goes on from lookup to lookup as long as they start at one
            entry.
    """
    limit, scan = settings[0], scans[0]
    sizes, newest = batches[SIZE_BYTES], batches[MAX_TIMESTAMP_MS]
    count, number, offset_shift, shift_ms = 0, 0, 0, 0
    base_offset, created_ms = batches[BASE_OFFSET, 0], batches[NOW_MS, 0]
    log_bytes, rows_in, since_entry, offset_entries, time_entries = 0, 0, 0, 0, 0
    reference_ms, newest_ms, last_time_ms = -1, -1, -1
    is_new, is_round_done = True, False
    # where lookups start: the batch's number in its segment, its position, its row in the round;
    # and the next header of the scan that is going on
    start_number, start_position, start_row = 0, 0, 0
    next_number, next_position, next_row = 0, 0, 0
    headers, log_reads = 0, 0
    while True:
        start, end = (append_ends[number - 1] if number else 0), append_ends[number]
        append_bytes, append_ms = 0, -1
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
            segment.cause, segment.batches, segment.log_bytes = cause, rows_in, log_bytes
            segment.offset_entries = offset_entries
            segment.time_entries = time_entries + (1 if newest_ms > last_time_ms else 0)
            segment.open_ms = now_ms - created_ms
            segment.headers, segment.log_reads = headers, log_reads
            count += 1
            if is_round_done or count == len(segments):
                return count
            base_offset, created_ms = batches[BASE_OFFSET, start] + offset_shift, now_ms
            log_bytes, rows_in, since_entry, offset_entries, time_entries = 0, 0, 0, 0, 0
            reference_ms, newest_ms, last_time_ms = -1, -1, -1
            is_new = True
            continue
        if append_bytes > limit.segment_bytes:
            return -1
        if is_new:
            start_number, start_position, start_row = 0, 0, start
            next_number, next_position, next_row = 0, 0, start
            headers, log_reads = 0, 0
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
            entry_number, entry_position = rows_in, log_bytes
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
                if is_indexed and is_own:  # its key is the batch's only offset
                    start_number, start_position, start_row = entry_number, entry_position, row
                if scan.start != start_position:
                    begin_scan(scan, start_position)
                    next_number, next_position, next_row = start_number, start_position, start_row
                while next_number <= rows_in:
                    touch_header(scan, next_position, limit.header_bytes, limit.window_pages)
                    next_position += sizes[next_row]
                    next_number += 1
                    next_row = next_row + 1 if next_row + 1 < len(sizes) else 0
                headers += rows_in - start_number + 1
                log_reads += scan.count
                log_bytes += sizes[each]
                since_entry += sizes[each]
                rows_in += 1
            if is_indexed:
                start_number, start_position, start_row = entry_number, entry_position, row
            row = stop
        number += 1
        if number == len(append_ends):
            number, is_round_done = 0, True
            offset_shift += limit.next_offset
            shift_ms += limit.next_ms


# ---- what a search reads in such an index


@dataclass(frozen=True)
class IndexSearchCost:
    """What a search reads in an offset index of so many entries.

    Attributes:
        tail_probes, tail_pages: slots read and pages touched for a target behind the last key.
        mean_probes, mean_pages: of all targets.
    """

    tail_probes: int
    tail_pages: int
    mean_probes: float
    mean_pages: float


@lru_cache(maxsize=1024)
def search_cost(entries: int, *, warm: bool = True) -> IndexSearchCost:
    """A search in an offset index, played through.

    The tail is exact at any size. Means are exact up to 2^18 entries; beyond, each doubling of the
    index adds a probe and a page, as a bisection does.
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


@dataclass(frozen=True)
class IndexSizeOutcome:
    """A log that is written with one segment.index.bytes, and one index.interval.bytes.

    Attributes:
        offset_slots, usable_time_slots: the entries with which either index is full.
        segments: how many were closed; the other numbers are means of them.
        rolls: of these by cause, in words of the writer.
        open_ms: by the broker's clock, 0 where that stood still.
        headers, log_reads: of a lookup of a batch's base offset, and device reads of the .log where
            nothing of it is in memory.
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
    def cause(self) -> Cause:
        """What ends most segments."""
        return Cause(max(self.rolls, key=self.rolls.__getitem__))

    @property
    def is_index_full(self) -> bool:
        """Whether an index is what ends them."""
        return self.cause in INDEX_CAUSES

    @property
    def rolls_a_gib(self) -> float:
        """Segments for each GiB of log."""
        return GIB / self.log_bytes

    @property
    def rolls_a_day(self) -> float:
        """Of one topic-partition; infinite where the clock stood still."""
        return DAY_MS / self.open_ms if self.open_ms else float("inf")

    @property
    def entries(self) -> int:
        """Of the offset index of a closed segment, which a search goes through."""
        return round(self.offset_entries)

    def search(self, *, warm: bool = True) -> IndexSearchCost:
        """A search in the index of a closed segment; plain as up to Kafka 2.0."""
        return search_cost(self.entries, warm=warm)

    def cold_index_reads(self, costs: LookupPrices) -> float:
        """Device reads of a search that finds nothing of the index in memory, modelled."""
        return mean_touched_pages(
            self.entries, ENTRY_BYTES, max(PAGE_BYTES, costs.read_ahead_bytes)
        )

    def cold_us(self, costs: LookupPrices) -> Range:
        """A mean lookup that finds nothing in memory."""
        pages = mean_touched_pages(self.entries, ENTRY_BYTES)
        return costs.cold_us(self.headers, self.log_reads, self.cold_index_reads(costs), pages)


def write_with(
    rounds: Sequence[LogRound],
    config: LogConfig,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> IndexSizeOutcome | None:
    """The logs as they are written with the sizes of a config.

    Returns:
        None where there is no log, or Kafka ends an append with an exception.
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
    return IndexSizeOutcome(
        config.index_interval_bytes,
        config.segment_index_bytes,
        config.offset_slots,
        config.usable_time_slots,
        len(rows),
        {str(CAUSES[int(cause)]): int(n) for cause, n in zip(causes, counts, strict=True)},
        *(
            float(rows[name].mean())
            for name in ("log_bytes", "offset_entries", "time_entries", "open_ms")
        ),
        *(float(rows[name].sum() / rows["batches"].sum()) for name in ("headers", "log_reads")),
    )


def sweep_index_sizes(
    rounds: Sequence[LogRound],
    config: LogConfig,
    sizes: Iterable[int] = INDEX_SIZES,
    *,
    per_append: bool = False,
    by_base_offset: bool = True,
) -> tuple[IndexSizeOutcome, ...]:
    """Each size with what it does, smallest first; config's own among them.

    Sizes with which Kafka cannot write this log are left out. With the least size that no index
    of any segment fills, all larger ones write the same log: it is written once.
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
    """Each size of what is tuned, at today's interval; nothing where there is no log to append."""
    case = source.total
    return sweep_index_sizes(
        log_rounds(case.logs or ()),
        case.today.config,
        per_append=source.behaviour.per_append,
        by_base_offset=source.by_base_offset,
    )
