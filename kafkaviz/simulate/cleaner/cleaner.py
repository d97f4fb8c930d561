"""Cleans a log once: writes new segments without records that have a later record of their key.

Follows Cleaner of Kafka 4.1 to 4.4.0, which reads the log twice. The first pass maps each key to
its last offset, from the first dirty offset on, until the map is full. The second pass copies all
segments up to the map's last offset, and merges small segments. For example, with the map {k1: 14,
k2: 28}, the record of k1 at 3 is removed, and the record at 14 stays. Any record at 40 stays,
because the map ends at 28.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kafkaviz import versions
from kafkaviz.binary import codec
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import offset_index, record, txn_index
from kafkaviz.format.batch import BATCH, CODEC_MASK, HEADER_BYTES, has_delete_horizon, is_control
from kafkaviz.format.walk import CHUNK_BYTES
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.appends import INCOMING
from kafkaviz.simulate.cleaner import record_filter
from kafkaviz.simulate.cleaner.batch_chunks import (
    BatchChunk,
    BatchChunks,
    CleanedTransactions,
    CleaningFailed,
)
from kafkaviz.simulate.cleaner.offset_map import OffsetMap
from kafkaviz.simulate.cleaner.record_filter import DELETE, DELETE_EMPTY, NO_TIMESTAMP, RETAIN_EMPTY
from kafkaviz.simulate.config import LogConfig, release_behaviour
from kafkaviz.simulate.producers.batch_encoder import seal
from kafkaviz.simulate.writer import append_loop
from kafkaviz.simulate.writer.open_segment import OpenSegment
from kafkaviz.simulate.writer.refusals import RefusedAppend, broker_exception
from kafkaviz.versions import Release

LISTED_RANGES = 100_000  # most ranges, tombstones and markers that a cleaning lists
NO_LIMIT = 1 << 62
OFFSET, BEFORE, AFTER = range(3)  # the columns of tombstones and markers
Write = Callable[[int, bytes], None]
OnRead = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class CleanerConfig:
    """The settings of a cleaning."""

    log: LogConfig  # the topic's settings
    delete_retention_ms: int
    most_keys: int  # the number of keys that the map of one cleaner thread can hold
    io_buffer_bytes: int  # the read buffer of one cleaner thread


@dataclass(frozen=True, kw_only=True)
class CleaningRange:
    """The part of a log that is cleaned."""

    segments: Sequence[SegmentView]  # all of the log by base offset, the active one last
    log_start_offset: int
    high_watermark: int
    first_dirty_offset: int
    stop_offset: int  # the base offset of the first segment that is not cleaned
    producers: np.ndarray  # those that the broker remembers, an array of producer_snapshot.PRODUCER

    @cached_property
    def bases(self) -> list[int]:
        return [segment.base_offset for segment in self.segments]

    def between(self, start: int, stop: int) -> Sequence[SegmentView]:
        """Returns the segments with offsets from `start` to `stop` - 1 (LogSegments.values)."""
        if start >= stop:
            return ()
        first = max(0, bisect_right(self.bases, start) - 1)
        return self.segments[first : bisect_left(self.bases, stop)]

    def aborted(self, start: int, stop: int) -> Iterator[np.ndarray]:
        """Yields the aborted transactions that overlap a range (collectAbortedTransactions)."""
        count = bisect_right(self.bases, start)
        first = bisect_left(self._indexed_bases, self.bases[count - 1]) if count else 0
        for segment in self._indexed[first:]:
            entries, is_complete = txn_index.collect(segment.aborted, self.log_start_offset, stop)
            yield entries
            if is_complete:
                return

    @cached_property
    def _indexed(self) -> list[SegmentView]:
        return [view for view in self.segments if view.txnindex and view.txnindex.size_bytes]

    @cached_property
    def _indexed_bases(self) -> list[int]:
        return [segment.base_offset for segment in self._indexed]


@dataclass(frozen=True, kw_only=True)
class CleanedSegment:
    """A segment that the cleaner writes."""

    base_offset: int
    sources: tuple[int, ...]  # the base offsets of the segments that it replaces
    log_bytes: int
    index: bytes
    timeindex: bytes
    txnindex: bytes | None  # None if the file does not exist


@dataclass(frozen=True, kw_only=True)
class OffsetRanges:
    """Ranges of record offsets."""

    records: int
    count: int  # the number of ranges
    # first and last offset of the first LISTED_RANGES ranges, shape (ranges, 2)
    ranges: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Cleaning:
    """The result of one cleaning."""

    next_first_dirty_offset: int  # unchanged if the map cannot hold a key
    map_keys: int  # the number of keys in the map
    # the number of cleanings, including this one, that it takes to map all keys of the dirty part;
    # None if a map cannot hold a single key
    passes: int | None
    removed: OffsetRanges
    retained: OffsetRanges
    aborted_records: int  # removed because their transaction was aborted
    # the first LISTED_RANGES kept tombstones, shape (records, 3): offset, delete horizon before the
    # cleaning, and delete horizon after it (-1: none)
    tombstones: np.ndarray
    tombstone_count: int
    markers: np.ndarray  # like `tombstones`
    marker_count: int
    segments: tuple[CleanedSegment, ...]
    source_bytes: int  # the size of the replaced .log files
    records_read: int
    records_written: int
    keyless_records: int  # removed because they have no key
    expired_tombstones: int  # removed because their delete horizon has passed
    removed_markers: int
    # the bytes of all removed records except markers and aborted records, without batch headers;
    # for a compressed batch, its old size minus its new size
    superseded_bytes: int

    @property
    def log_bytes(self) -> int:
        return sum(segment.log_bytes for segment in self.segments)

    @property
    def replaced_records(self) -> int:
        """The number of records removed because the map has a later record with their key."""
        others = self.aborted_records + self.keyless_records + self.removed_markers
        return self.removed.records - others - self.expired_tombstones

    @property
    def bytes_freed(self) -> int:
        """The number of bytes by which the .log files shrink; negative if they grow."""
        return self.source_bytes - self.log_bytes

    @property
    def tombstones_left(self) -> list[tuple[int, int | None]]:
        """The offset of each kept tombstone, and its delete horizon (or None) after cleaning."""
        return _horizons(self.tombstones, AFTER)

    @property
    def tombstones_before(self) -> list[tuple[int, int | None]]:
        """The offset of each kept tombstone, and its delete horizon (or None) before cleaning."""
        return _horizons(self.tombstones, BEFORE)

    @property
    def markers_left(self) -> list[tuple[int, int | None]]:
        """The offset of each kept marker, and its delete horizon (or None) after cleaning."""
        return _horizons(self.markers, AFTER)

    @property
    def markers_before(self) -> list[tuple[int, int | None]]:
        """The offset of each kept marker, and its delete horizon (or None) before cleaning."""
        return _horizons(self.markers, BEFORE)


def clean(
    cleaning_range: CleaningRange,
    config: CleanerConfig,
    release: Release,
    now_ms: int,
    *,
    offset_map: OffsetMap | None = None,
    write: Write | None = None,
    on_read: OnRead | None = None,
) -> Cleaning:
    """Returns the result of one cleaning. Raises CleaningFailed if Kafka's cleaner would throw.

    Args:
        offset_map: a map of an earlier cleaning, whose memory is used again.
        write: called as write(base_offset, data) with the next bytes of a new .log.
        on_read: called with the size in bytes of each chunk that is read. Dirty chunks are read
            twice. If `on_read` raises, the cleaning ends.
    """
    if offset_map is None:
        offset_map = OffsetMap(config.most_keys)
    offset_map.clear()
    cleaner = _Cleaner(cleaning_range, config, release, now_ms, offset_map)
    return cleaner.run(write, on_read)


class _Cleaner:
    def __init__(
        self,
        cleaning_range: CleaningRange,
        config: CleanerConfig,
        release: Release,
        now_ms: int,
        offset_map: OffsetMap,
    ) -> None:
        self._range = cleaning_range
        self._config = config
        self._release = release
        self._behaviour = release_behaviour(release)
        self._now_ms = now_ms
        self._write: Write | None = None
        self._on_read: OnRead | None = None
        self._copies = np.zeros(1, record_filter.COPY)
        self._copies["now_ms"] = now_ms
        self._copies["new_horizon_ms"] = now_ms + config.delete_retention_ms
        self._tally = np.zeros(1, record_filter.TALLY)
        self._removed, self._retained = np.empty((2, LISTED_RANGES, 2), np.int64)
        self._tombstones, self._markers = np.empty((2, LISTED_RANGES, 3), np.int64)
        self._superseded_bytes = 0
        self._transactions = CleanedTransactions()
        self._map = offset_map
        # up to 4.0.0 an index gets at most one entry per chunk that is copied
        self._chunk_bytes = config.io_buffer_bytes if self._behaviour.per_append else CHUNK_BYTES

    def run(self, write: Write | None, on_read: OnRead | None) -> Cleaning:
        self._write = write
        self._on_read = on_read
        latest, is_full = self._build_map(self._map, self._range.first_dirty_offset)
        self._copies["latest_offset"] = latest
        sources = self._range.between(0, latest + 1)
        groups = group_segments(sources, self._config.log, self._range.stop_offset)
        segments = tuple(map(self._clean_group, groups))
        tally = self._tally[0]
        return Cleaning(
            # a map that takes no key has no latest offset
            next_first_dirty_offset=max(latest + 1, self._range.first_dirty_offset),
            map_keys=self._map.size,
            passes=self._count_passes(latest) if is_full else 1,
            removed=_ranges(tally, "removed", self._removed),
            retained=_ranges(tally, "retained", self._retained),
            aborted_records=int(tally["aborted"]),
            tombstones=self._tombstones[: int(tally["tombstones"])].copy(),
            tombstone_count=int(tally["tombstones"]),
            markers=self._markers[: int(tally["markers"])].copy(),
            marker_count=int(tally["markers"]),
            segments=segments,
            source_bytes=sum(source.size_bytes for source in sources),
            records_read=int(tally["records_read"]),
            records_written=int(tally["records_written"]),
            keyless_records=int(tally["keyless_records"]),
            expired_tombstones=int(tally["expired"]),
            removed_markers=int(tally["removed_markers"]),
            superseded_bytes=max(0, self._superseded_bytes),
        )

    def _report(self, chunk: BatchChunk) -> None:
        if self._on_read:
            self._on_read(int(chunk.batches["size_bytes"].sum()))

    # ---- the map

    def _build_map(self, offset_map: OffsetMap, start: int) -> tuple[int, bool]:
        """Maps each key to its last offset, from `start` on (Cleaner.buildOffsetMap).

        Returns the last mapped offset, and whether the map is full.
        """
        stop = self._range.stop_offset
        dirty_segments = self._range.between(start, stop)
        transactions = CleanedTransactions()
        transactions.add_aborted(self._range.aborted(start, stop))
        states = np.array([(0, -1)], record_filter.MAP_STATE)
        for place, segment in enumerate(dirty_segments):
            position = _position_of(segment, start)
            for chunk in BatchChunks(segment.log, position):
                if self._map_chunk(offset_map, chunk, transactions, start, states):
                    # a damaged batch can have any offset
                    return min(int(states["latest_offset"][0]), stop - 1), True
            following = dirty_segments[place + 1 : place + 2]
            end = following[0].base_offset if following else stop
            states["latest_offset"] = end - 1
        return int(states["latest_offset"][0]), False

    def _map_chunk(
        self,
        offset_map: OffsetMap,
        chunk: BatchChunk,
        transactions: CleanedTransactions,
        start: int,
        states: np.ndarray,
    ) -> bool:
        self._report(chunk)
        can_discard, _ = transactions.take(chunk)
        is_skipped = is_control(chunk.batches) | can_discard
        row = 0
        outcome = record_filter.NEEDS_ROOM
        while outcome == record_filter.NEEDS_ROOM:
            row, outcome = record_filter.map_batches(
                chunk.data,
                chunk.decompressed,
                chunk.batches,
                chunk.bodies,
                is_skipped,
                row,
                start,
                offset_map.hashes,
                offset_map.offsets,
                offset_map.seeds,
                offset_map.most_keys,
                states,
            )
            offset_map.size = int(states["size"][0])
            if outcome == record_filter.FAULT:
                raise chunk.fault_of(row)
            if outcome == record_filter.NEEDS_ROOM:
                body_bytes = int(chunk.bodies["end"][row] - chunk.bodies["start"][row])
                record_count = int(chunk.batches["record_count"][row])
                offset_map.make_room(min(record_count, body_bytes // record.MIN_BYTES + 1))
        return outcome == record_filter.FULL

    def _count_passes(self, latest: int) -> int | None:
        passes = 1
        is_full = True
        rest_map = OffsetMap(self._config.most_keys)
        while is_full:
            start = latest + 1
            rest_map.clear()
            latest, is_full = self._build_map(rest_map, start)
            if is_full and latest < start:
                return None
            passes += 1
        return passes

    # ---- the new segments

    def _clean_group(self, group: Sequence[SegmentView]) -> CleanedSegment:
        """Writes the segment that replaces a group of segments (Cleaner.cleanSegments)."""
        base_offset = group[0].base_offset
        opened = OpenSegment(base_offset, self._config.log, self._now_ms, jitter_ms=0)
        for source in group:
            bases = self._range.bases
            place = bisect_right(bases, source.base_offset)
            stop = bases[place] if place < len(bases) else self._range.stop_offset
            self._transactions.add_aborted(self._range.aborted(source.base_offset, stop))
            retains_deletes = source.log.modified_ms > self._legacy_horizon_ms
            self._copies["retains_legacy_deletes"] = retains_deletes
            for chunk in BatchChunks(source.log, 0, self._chunk_bytes):
                self._copy_chunk(chunk, opened)
        opened.end()
        return CleanedSegment(
            base_offset=base_offset,
            sources=tuple(source.base_offset for source in group),
            log_bytes=opened.log_bytes,
            index=opened.index.content(),
            timeindex=opened.timeindex.content(),
            txnindex=opened.txnindex,
        )

    @property
    def _legacy_horizon_ms(self) -> int:
        """A .log not modified after this time (in ms) loses its tombstones of magic 0 and 1."""
        clean_segments = self._range.between(0, self._range.first_dirty_offset)
        if not clean_segments:
            return 0
        return clean_segments[-1].log.modified_ms - self._config.delete_retention_ms

    def _copy_chunk(self, chunk: BatchChunk, opened: OpenSegment) -> None:
        """Appends the kept records of a chunk to the new segment (Cleaner.cleanInto)."""
        self._report(chunk)
        can_discard, entries = self._transactions.take(chunk)
        opened.add_aborted(entries)
        out = np.empty(_most_bytes(chunk), np.uint8)
        kept_batches = np.zeros(len(chunk.batches), record_filter.KEPT_BATCH)
        count, length, row = record_filter.filter_batches(
            chunk.data,
            chunk.position,
            chunk.decompressed,
            chunk.batches,
            chunk.bodies,
            self._rules(chunk.batches, can_discard),
            self._copies,
            self._map.hashes,
            self._map.offsets,
            self._map.seeds,
            out,
            kept_batches,
            self._tally,
            self._removed,
            self._retained,
            self._tombstones,
            self._markers,
        )
        if row < len(chunk.batches):
            raise chunk.fault_of(row)
        self._superseded_bytes += record_bytes(chunk.batches[~can_discard])
        if not count:
            return
        kept_batches = kept_batches[:count]
        data = out[:length]
        if kept_batches["needs_codec"].any():
            data = np.frombuffer(_compress(data, kept_batches), np.uint8)
        self._superseded_bytes -= record_bytes(kept_batches)
        self._append(opened, kept_batches)
        if self._write:
            self._write(opened.base_offset, data.tobytes())

    def _rules(self, batches: np.ndarray, can_discard: np.ndarray) -> np.ndarray:
        """Returns how to clean each batch, as rows of record_filter.RULE (checkBatchRetention)."""
        is_marker = is_control(batches)
        is_past = has_delete_horizon(batches) & (batches["base_timestamp_ms"] <= self._now_ms)
        rules = np.zeros(len(batches), record_filter.RULE)
        rules["discards"] = can_discard & (~is_marker | is_past)
        rules["is_empty_marker"] = can_discard & is_marker
        rules["retention"] = np.where(rules["discards"], DELETE, DELETE_EMPTY)
        is_needed = self._ends_producer(batches, is_marker) | self._must_stay_empty(batches)
        rules["retention"][is_needed] = RETAIN_EMPTY
        return rules

    def _ends_producer(self, batches: np.ndarray, is_marker: np.ndarray) -> np.ndarray:
        """Returns, per batch, whether the broker remembers it as the last batch of its producer."""
        producers = self._range.producers
        if not len(producers):
            return np.zeros(len(batches), np.bool_)
        order = np.argsort(producers["producer_id"])
        ids = producers["producer_id"][order].astype(np.int64)
        places = np.searchsorted(ids, batches["producer_id"]).clip(max=len(ids) - 1)
        last = producers[order][places]
        is_known = (batches["producer_id"] >= 0) & (ids[places] == batches["producer_id"])
        is_last_data = batches["last_offset"] == last["last_offset"]
        is_last_marker = is_marker & (batches["producer_epoch"] == last["producer_epoch"])
        return is_known & np.where(last["last_offset"] >= 0, is_last_data, is_last_marker)

    def _must_stay_empty(self, batches: np.ndarray) -> np.ndarray:
        """Returns, per batch, whether the batch stays even if the cleaner removes all its records.

        Only the batch that ends at the high watermark stays. In older releases, it is the batch
        that ends at the end of the cleaned range, or no batch.
        """
        next_offsets = batches["last_offset"] + 1
        if versions.EMPTY_BATCH_AT_WATERMARK.applies_to(self._release):
            return next_offsets == self._range.high_watermark
        if versions.EMPTY_BATCH_AT_ROUND_END.applies_to(self._release):
            return next_offsets == self._range.stop_offset
        return np.zeros(len(batches), np.bool_)

    def _append(self, opened: OpenSegment, kept_batches: np.ndarray) -> None:
        incoming = np.zeros(len(kept_batches), INCOMING)
        for name in field_names(BATCH):
            incoming[name] = kept_batches[name]
        if self._behaviour.per_append:
            incoming["last_offset"][-1] = kept_batches["max_offset"].max()
        limits = np.zeros(1, append_loop.LIMITS)
        for name in ("segment_bytes", "max_message_bytes", "most_segment_ms"):
            limits[name] = NO_LIMIT
        limits["index_interval_bytes"] = self._config.log.index_interval_bytes
        limits["per_append"] = self._behaviour.per_append
        limits["first_offset_keys"] = self._behaviour.first_offset_keys
        limits["valid_rows"] = len(incoming)
        last_offsets = incoming["last_offset"].copy()
        new = np.empty((len(incoming), 4), np.int64)
        _, outcome, _ = opened.take(
            incoming, last_offsets, 0, is_rolled=True, limits=limits, new=new
        )
        if outcome != append_loop.ACCEPTED:
            refused = RefusedAppend(
                segment=opened,
                rows=incoming,
                offsets=lambda: incoming["last_offset"].tolist(),
                partition="",
                log_start=self._range.log_start_offset,
                config=self._config.log,
                release=self._release,
                valid=len(incoming),
            )
            raise CleaningFailed(broker_exception(outcome, refused))


def group_segments(
    segments: Sequence[SegmentView], config: LogConfig, stop_offset: int
) -> list[list[SegmentView]]:
    """Groups segments. The cleaner merges each group into one (Cleaner.groupSegmentsBySize)."""
    groups: list[list[SegmentView]] = []
    log_bytes = 0
    index_bytes = 0
    timeindex_bytes = 0
    for number, segment in enumerate(segments):
        log_bytes += segment.size_bytes
        index_bytes += segment.offset_slots.nbytes
        timeindex_bytes += segment.time_slots.nbytes
        following = segments[number + 1 : number + 2]
        last_offset = (following[0].base_offset if following else stop_offset) - 1
        fits = (
            bool(groups)
            and log_bytes <= config.segment_bytes
            and max(index_bytes, timeindex_bytes) <= config.segment_index_bytes
        )
        if fits and segment.size_bytes:
            relative_offset = last_offset - groups[-1][0].base_offset
            fits = relative_offset <= offset_index.MAX_RELATIVE_OFFSET
        if fits:
            groups[-1].append(segment)
        else:
            groups.append([segment])
            log_bytes = segment.size_bytes
            index_bytes = segment.offset_slots.nbytes
            timeindex_bytes = segment.time_slots.nbytes
    return groups


def _position_of(segment: SegmentView, offset: int) -> int:
    """Returns the position in the last index entry at or below an offset; 0 without one."""
    slots = segment.offset_slots
    place = int(np.searchsorted(slots["relative_offset"], offset - segment.base_offset, "right"))
    return int(slots["position"][place - 1]) if place else 0


def _most_bytes(chunk: BatchChunk) -> int:
    rooms = np.maximum(chunk.bodies["end"] - chunk.bodies["start"], 0) // 7 + 1
    records = np.minimum(np.maximum(chunk.batches["record_count"], 0), rooms).sum()
    headers = HEADER_BYTES * len(chunk.batches)
    growth = record_filter.GROWTH_BYTES * int(records)
    return len(chunk.data) + len(chunk.decompressed) + headers + growth


def record_bytes(batches: np.ndarray) -> int:
    """Returns the size of all records in the data batches, without batch headers of magic 2."""
    data_batches = batches[~is_control(batches)]
    header_bytes = np.where(data_batches["magic"] >= 2, HEADER_BYTES, 0)
    return int((data_batches["size_bytes"] - header_bytes).sum())


def _compress(out: np.ndarray, kept_batches: np.ndarray) -> bytes:
    pieces: list[bytes] = []
    copied_to = 0
    for row in np.flatnonzero(kept_batches["needs_codec"]).tolist():
        start = int(kept_batches["start"][row])
        end = int(kept_batches["end"][row])
        pieces.append(out[copied_to:start].tobytes())
        name = codec.CODECS[int(kept_batches["attributes"][row]) & CODEC_MASK]
        body = codec.compress_as_broker(name, out[start + HEADER_BYTES : end].tobytes())
        data = np.empty(HEADER_BYTES + len(body), np.uint8)
        data[HEADER_BYTES:] = np.frombuffer(body, np.uint8)
        kept_batches["size_bytes"][row] = len(data)
        seal(kept_batches[row : row + 1], data)
        pieces.append(data.tobytes())
        copied_to = end
    pieces.append(out[copied_to:].tobytes())
    return b"".join(pieces)


def _horizons(rows: np.ndarray, column: int) -> list[tuple[int, int | None]]:
    pairs = rows[:, [OFFSET, column]].tolist()
    return [(offset, None if time_ms == NO_TIMESTAMP else time_ms) for offset, time_ms in pairs]


def _ranges(tally: np.void, name: str, ranges: np.ndarray) -> OffsetRanges:
    count = int(tally[f"{name}_ranges"])
    return OffsetRanges(records=int(tally[name]), count=count, ranges=ranges[:count].copy())
