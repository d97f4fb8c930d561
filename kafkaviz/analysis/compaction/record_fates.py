"""Why records are still in a log: the records of one key, or all records of a small log.

For example, profiles-0 has the key "anna" at the offsets 12, 60 and 95. The log is clean below 50,
and the active segment begins at 90. A cleaning now would do this:

    12   removed: the cleaner's offset map has offset 60 for the key
    60   kept: its replacement 95 is in a segment that cannot be cleaned yet
    95   kept: the latest record

The rule is Cleaner.shouldRetainRecord of 4.3.1 and 4.4.0 for batches of magic 2. `key_story`
assumes that the cleaner's map has room for all keys. `log_records` takes a simulated cleaning,
which shows which transaction markers are removed, and at which offset the map became full.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kafkaviz.analysis.compaction.compaction import DecidedLog, log_transactions
from kafkaviz.analysis.compaction.decision import CleaningDecision, LogState
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, control
from kafkaviz.format import record as record_format
from kafkaviz.format.batch import LOG_APPEND_TIME, has_delete_horizon, is_control
from kafkaviz.search.log_view import SegmentView
from kafkaviz.simulate.cleaner.batch_chunks import (
    DECOMPRESSED,
    UNREADABLE,
    BatchChunk,
    BatchChunks,
    CleaningFailed,
)
from kafkaviz.simulate.cleaner.cleaner import Cleaning

LISTED_RECORDS = 10_000  # at most this many records of a key are listed, the last ones
NONE = -1
MATCH: np.dtype = np.dtype(
    [  # a record of the key
        ("batch", "i8"),  # the row of the record's batch in the chunk
        ("offset", "i8"),
        ("timestamp_ms", "i8"),
        ("size_bytes", "i8"),
        ("value_bytes", "i8"),  # negative for a tombstone
        ("key_position", "i8"),  # position in the data of the chunk, or in its decompressed records
        ("key_bytes", "i8"),
        ("value_position", "i8"),
    ]
)
MAX_RECORDS = 100
MAX_BYTES = 1 << 20  # a larger log is not read


class Fate(StrEnum):
    """Why a cleaning now would keep or remove a record."""

    LATEST = "latest"
    LATEST_TOMBSTONE = "latest-tombstone"  # stays; the cleaning gives it a delete horizon
    TOMBSTONE_WAITS = "tombstone-waits"  # stays until its delete horizon
    REPLACED_LATER = "replaced-later"  # stays: the replacement cannot be cleaned yet
    REPLACED_UNCLEANABLE = "replaced-uncleanable"  # stays: its segment cannot be cleaned yet
    NEITHER_IS_DIRTY = "neither-is-dirty"  # stays: it and the replacement are in the clean part
    ABORTED_UNCLEANABLE = "aborted-uncleanable"  # stays: its segment cannot be cleaned yet
    # the cleaning removes these
    REPLACED = "replaced"
    TOMBSTONE_DUE = "tombstone-due"  # its delete horizon has passed
    ABORTED = "aborted"  # from an aborted transaction
    # these occur only in a list of all records of a log, not in the story of one key
    AFTER_MAP = "after-map"  # stays: the cleaner's map was full before this record
    REPLACED_AFTER_MAP = "replaced-after-map"  # stays: replaced only after the map was full
    MARKER = "marker"  # a transaction marker that stays
    MARKER_DUE = "marker-due"  # a transaction marker that the cleaning removes
    KEYLESS = "keyless"  # the cleaning removes it
    KEYLESS_UNCLEANABLE = "keyless-uncleanable"  # stays: its segment cannot be cleaned yet


GOES = (Fate.TOMBSTONE_DUE, Fate.REPLACED, Fate.ABORTED, Fate.MARKER_DUE, Fate.KEYLESS)


@dataclass(frozen=True, kw_only=True)
class KeyRecord:
    """A record of a key."""

    segment: int  # its base offset
    position: int  # of the record's batch
    offset: int
    timestamp_ms: int
    size_bytes: int  # before compression
    value_bytes: int | None  # None for a tombstone
    is_aborted: bool
    delete_horizon_ms: int | None  # of the record's batch
    replaced_by: int | None = None  # the offset of the key's next record that is not aborted
    fate: Fate = Fate.LATEST


@dataclass(frozen=True, kw_only=True)
class UnreadPart:
    """The unreadable end of the active segment, from `position` on."""

    segment: int
    position: int


@dataclass(frozen=True, kw_only=True)
class KeyStory:
    """The records of one key, ordered by offset."""

    key: bytes
    log: DecidedLog
    records: tuple[KeyRecord, ...]  # the last LISTED_RECORDS records of the key
    record_count: int  # how many records have the key
    unread_from: UnreadPart | None = None

    @property
    def key_text(self) -> str:
        return self.key.decode(errors="replace")

    @property
    def key_hex(self) -> str:
        return self.key.hex()


def key_story(
    log: DecidedLog, key: bytes, now_ms: int, on_read: Callable[[int], None] | None = None
) -> KeyStory:
    """Returns the records of a key, and why each is still there at `now_ms`.

    An unreadable end of the active segment is left out.

    Args:
        on_read: called with the number of bytes read since the last call.

    Raises:
        CleaningFailed: a batch of a closed segment cannot be read.
        CannotOpen: a file cannot be read.
    """
    decision = log.decision
    # without the replacement and the fate
    matches: deque[KeyRecord] = deque(maxlen=LISTED_RECORDS)
    count = 0
    # the offset that the next cleaning has in its map for the key
    mapped_offset = NONE
    search = _KeySearch(log.state, key, on_read)
    for match in search.matches():
        count += 1
        is_dirty = match.offset >= decision.first_dirty_offset
        if is_dirty and match.offset < decision.first_uncleanable_segment and not match.is_aborted:
            mapped_offset = match.offset
        matches.append(match)
    records = []
    replaced_by = None
    for match in reversed(matches):
        fate = find_fate(match, replaced_by, mapped_offset, decision, now_ms)
        records.append(replace(match, replaced_by=replaced_by, fate=fate))
        if not match.is_aborted:
            replaced_by = match.offset
    return KeyStory(
        key=key,
        log=log,
        records=tuple(records[::-1]),
        record_count=count,
        unread_from=search.unread_from,
    )


def find_fate(
    match: KeyRecord,
    replaced_by: int | None,
    mapped_offset: int,
    decision: CleaningDecision,
    now_ms: int,
) -> Fate:
    """Returns what the next cleaning does to a record (Cleaner.shouldRetainRecord)."""
    is_cleanable = match.offset < decision.first_uncleanable_segment
    if match.is_aborted:
        return Fate.ABORTED if is_cleanable else Fate.ABORTED_UNCLEANABLE
    if not is_cleanable:
        return Fate.LATEST if replaced_by is None else Fate.REPLACED_UNCLEANABLE
    if match.offset < mapped_offset:
        return Fate.REPLACED
    horizon_ms = match.delete_horizon_ms
    if match.value_bytes is None and horizon_ms is not None and horizon_ms <= now_ms:
        return Fate.TOMBSTONE_DUE
    if replaced_by is not None:
        is_uncleanable = replaced_by >= decision.first_uncleanable_segment
        return Fate.REPLACED_LATER if is_uncleanable else Fate.NEITHER_IS_DIRTY
    if match.value_bytes is not None:
        return Fate.LATEST
    return Fate.LATEST_TOMBSTONE if horizon_ms is None else Fate.TOMBSTONE_WAITS


class _KeySearch:
    def __init__(self, state: LogState, key: bytes, on_read: Callable[[int], None] | None) -> None:
        self._state = state
        self._on_read = on_read
        self._key = np.frombuffer(key, np.uint8)
        self.unread_from: UnreadPart | None = None

    def matches(self) -> Iterator[KeyRecord]:
        transactions = log_transactions(self._state)
        for view in self._state.views:
            position = 0
            try:
                for chunk in BatchChunks(view.log):
                    can_discard, _ = transactions.take(chunk)
                    yield from _find_in_chunk(view, chunk, can_discard, self._key)
                    position = int(chunk.batches["position"][-1] + chunk.batches["size_bytes"][-1])
                    if self._on_read:
                        self._on_read(int(chunk.batches["size_bytes"].sum()))
            except CleaningFailed:
                if view is not self._state.views[-1]:
                    raise
                self.unread_from = UnreadPart(segment=view.base_offset, position=position)


def _find_in_chunk(
    view: SegmentView, chunk: BatchChunk, can_discard: np.ndarray, key_bytes: np.ndarray
) -> Iterator[KeyRecord]:
    batches = chunk.batches
    has_horizon = has_delete_horizon(batches)
    matches, fault = match_keys(chunk, key_bytes)
    for row in matches:
        batch = int(row["batch"])
        horizon_ms = int(batches["base_timestamp_ms"][batch])
        value_bytes = int(row["value_bytes"])
        yield KeyRecord(
            segment=view.base_offset,
            position=int(batches["position"][batch]),
            offset=int(row["offset"]),
            timestamp_ms=int(row["timestamp_ms"]),
            size_bytes=int(row["size_bytes"]),
            value_bytes=None if value_bytes < 0 else value_bytes,
            is_aborted=bool(can_discard[batch]),
            delete_horizon_ms=horizon_ms if has_horizon[batch] else None,
        )
    if fault != NONE:
        raise chunk.fault_of(fault)


def match_keys(
    chunk: BatchChunk, key_bytes: np.ndarray, start: int = 0, *, is_part: bool = False
) -> tuple[np.ndarray, int]:
    """Finds the records of a chunk whose key matches. Skips transaction markers.

    A key matches if its bytes from `start` on are `key_bytes`. If `is_part`, more bytes may follow.
    Returns an array of MATCH, and the row of the first unreadable batch or NONE.
    """
    body_bytes = chunk.bodies["end"] - chunk.bodies["start"]
    most_records = np.minimum(
        chunk.batches["record_count"], body_bytes // record_format.MIN_BYTES + 1
    )
    table = np.empty(int(np.maximum(most_records, 0).sum()), MATCH)
    count, fault = find_key(
        chunk.data,
        chunk.decompressed,
        chunk.batches,
        chunk.bodies,
        is_control(chunk.batches),
        key_bytes,
        start,
        is_part,
        table,
    )
    return table[:count], fault


@njit(cache=True, boundscheck=True)
def find_key(
    data: np.ndarray,
    decompressed: np.ndarray,
    batches: np.ndarray,
    bodies: np.ndarray,
    is_skipped: np.ndarray,
    key_bytes: np.ndarray,
    start: int,
    is_part: bool,  # noqa: FBT001 - compiled functions take no keywords only
    table: np.ndarray,
) -> tuple[int, int]:
    """Finds the records with a key. `match_keys` explains the other arguments.

    Args:
        is_skipped: whether the records of a batch are skipped, for each batch.
        table: an array of MATCH to fill, with at least one row per record.

    Returns the number of filled rows, and the row of the first unreadable batch or NONE.
    """
    rows = np.zeros(1, record_format.ROW)
    count = 0
    for place in range(len(batches)):
        row = rows[0]  # in compiled code, a row does not keep its array alive
        batch = batches[place]
        body = bodies[place]
        if is_skipped[place]:
            continue
        if body.place == UNREADABLE or batch.record_count < 0:
            return count, place
        is_compressed = body.place == DECOMPRESSED
        source = decompressed if is_compressed else data
        position = body.start
        for _ in range(batch.record_count):
            code, position, _, _ = record_format.take_record(
                source, position, body.end, is_compressed, row
            )
            if code:
                return count, place
            end = start + len(key_bytes)
            if row.key_size_bytes < end or (row.key_size_bytes > end and not is_part):
                continue
            is_same = True
            for index in range(len(key_bytes)):
                if source[row.key_position + start + index] != key_bytes[index]:
                    is_same = False
                    break
            if is_same:
                table[count].batch = place
                table[count].offset = batch.base_offset + row.offset_delta
                if batch.attributes & LOG_APPEND_TIME:
                    table[count].timestamp_ms = batch.max_timestamp_ms
                else:
                    table[count].timestamp_ms = batch.base_timestamp_ms + row.timestamp_delta_ms
                table[count].size_bytes = row.size_bytes
                table[count].value_bytes = row.value_size_bytes
                table[count].key_position = row.key_position
                table[count].key_bytes = row.key_size_bytes
                table[count].value_position = row.value_position
                count += 1
    return count, NONE


@dataclass(frozen=True, kw_only=True)
class LogRecord(KeyRecord):
    """A record of a log."""

    key: bytes | None
    value: bytes | None
    marker: str | None  # the type of a control record, such as "COMMIT"
    new_horizon_ms: int | None = None  # the delete horizon after the cleaning
    is_mapped: bool = False  # whether the cleaner's map has this offset for the key

    @property
    def is_tombstone(self) -> bool:
        return self.value is None and self.marker is None


def log_records(
    log: DecidedLog, cleaning: Cleaning | None, now_ms: int, max_records: int = MAX_RECORDS
) -> tuple[LogRecord, ...] | None:
    """Returns every record of a small log, with its fate in a cleaning.

    None: the log has more than `max_records` records or MAX_BYTES bytes, or a closed segment is
    unreadable. An unreadable end of the active segment is left out. If `cleaning` is None, every
    transaction marker counts as kept.
    """
    if sum(view.size_bytes for view in log.state.views) > MAX_BYTES:
        return None
    records: list[LogRecord] = []
    try:
        for record in _read(log):
            records.append(record)
            if len(records) > max_records:
                return None
    except (CleaningFailed, CorruptBytes):
        return None
    return _with_fates(log, cleaning, now_ms, records)


def _read(log: DecidedLog) -> Iterator[LogRecord]:
    transactions = log_transactions(log.state)
    for view in log.state.views:
        try:
            for chunk in BatchChunks(view.log):
                can_discard, _ = transactions.take(chunk)
                for row in range(len(chunk.batches)):
                    yield from _read_batch(view, chunk, row, can_discard=bool(can_discard[row]))
        except (CleaningFailed, CorruptBytes):
            if view is not log.state.views[-1]:
                raise


def _read_batch(
    view: SegmentView, chunk: BatchChunk, row: int, *, can_discard: bool
) -> Iterator[LogRecord]:
    batch = chunk.batches[row]
    position = int(batch["position"])
    start = position - chunk.position
    data = chunk.data[start : start + int(batch["size_bytes"])].data
    is_marker = bool(is_control(batch))
    has_horizon = bool(has_delete_horizon(batch))
    for record in batch_records.iterate(data):
        yield LogRecord(
            segment=view.base_offset,
            position=position,
            offset=record.offset,
            timestamp_ms=record.timestamp_ms,
            size_bytes=record.size_bytes,
            value_bytes=None if record.value is None else len(record.value),
            is_aborted=can_discard and not is_marker,
            delete_horizon_ms=int(batch["base_timestamp_ms"]) if has_horizon else None,
            key=record.key,
            value=record.value,
            marker=control.decode(record.key, record.value).name if is_marker else None,
        )


def _with_fates(
    log: DecidedLog, cleaning: Cleaning | None, now_ms: int, unjudged: Sequence[LogRecord]
) -> tuple[LogRecord, ...]:
    decision = log.decision
    # from this offset on, the cleaner's map has no keys
    stop = decision.first_uncleanable_segment
    removed: set[int] = set()
    new_horizons: dict[int, int | None] = {}
    if cleaning:
        stop = min(stop, cleaning.next_first_dirty_offset)
        for first, last in cleaning.removed.ranges.tolist():
            removed.update(range(first, last + 1))
        new_horizons = dict(cleaning.tombstones_left + cleaning.markers_left)
    mapped = {
        record.key: record.offset
        for record in unjudged
        if decision.first_dirty_offset <= record.offset < stop and _has_place_in_map(record)
    }
    records = []
    replaced_by: dict[bytes | None, int] = {}
    for record in reversed(unjudged):
        next_offset = replaced_by.get(record.key)
        mapped_offset = mapped.get(record.key, NONE)
        if record.marker is not None:
            fate = Fate.MARKER_DUE if record.offset in removed else Fate.MARKER
        elif record.key is None and not record.is_aborted:
            fate = Fate.KEYLESS if record.offset < stop else Fate.KEYLESS_UNCLEANABLE
        elif stop <= record.offset < decision.first_uncleanable_segment:
            fate = Fate.AFTER_MAP
        else:
            fate = find_fate(record, next_offset, mapped_offset, decision, now_ms)
            if fate == Fate.NEITHER_IS_DIRTY and next_offset is not None and next_offset >= stop:
                fate = Fate.REPLACED_AFTER_MAP
        if record.offset in removed and fate not in GOES:
            fate = Fate.TOMBSTONE_DUE  # a tombstone of magic 0 or 1, which has no delete horizon
        records.append(
            replace(
                record,
                new_horizon_ms=new_horizons.get(record.offset, record.delete_horizon_ms),
                replaced_by=next_offset,
                is_mapped=record.offset == mapped_offset,
                fate=fate,
            )
        )
        if _has_place_in_map(record):
            replaced_by[record.key] = record.offset
    return tuple(records[::-1])


def _has_place_in_map(record: LogRecord) -> bool:
    return record.key is not None and record.marker is None and not record.is_aborted
