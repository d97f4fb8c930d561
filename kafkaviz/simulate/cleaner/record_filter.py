"""The compiled loops of a cleaning: they fill the offset map, and copy the kept records.

Follows Cleaner.buildOffsetMapForSegment, Cleaner.shouldRetainRecord and MemoryRecords.filterTo of
Kafka 4.3.1. A batch that keeps all its records is copied byte for byte. Any other batch is rebuilt
from its kept records, as by MemoryRecordsBuilder: same offsets, new timestamp deltas.
"""

import numpy as np

from kafkaviz.binary import varint
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import record
from kafkaviz.format.batch import (
    BATCH,
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    MAGIC_2,
    TRANSACTIONAL,
)
from kafkaviz.simulate.cleaner.batch_chunks import DECOMPRESSED, UNREADABLE
from kafkaviz.simulate.cleaner.offset_map import EMPTY, find_slot, hash_key
from kafkaviz.simulate.producers.batch_encoder import put_varint, seal_batch, varint_bytes

DONE, FULL, NEEDS_ROOM, FAULT = range(4)
# what happens to a batch that loses all its records
DELETE, DELETE_EMPTY, RETAIN_EMPTY = range(3)
NO_TIMESTAMP = -1
# the most bytes that a record grows by: three varints are written again
GROWTH_BYTES = 20

MAP_STATE: np.dtype = np.dtype([("size", "i8"), ("latest_offset", "i8")])
RULE: np.dtype = np.dtype(
    [  # how one batch is cleaned
        ("retention", "i1"),  # DELETE, DELETE_EMPTY or RETAIN_EMPTY
        ("discards", "?"),  # whether no record of it stays
        ("is_empty_marker", "?"),  # a marker of a transaction without batches in the log
    ]
)
COPY: np.dtype = np.dtype(
    [  # the values that apply to a whole cleaning
        ("latest_offset", "i8"),  # the latest offset in the map; all later records stay
        ("now_ms", "i8"),
        ("new_horizon_ms", "i8"),  # the delete horizon that batches get now
        ("retains_legacy_deletes", "?"),  # whether tombstones of magic 0 and 1 stay
    ]
)
KEPT_BATCH: np.dtype = np.dtype(
    [  # a batch of the new segment
        *BATCH.descr,
        ("max_offset", "i8"),  # the largest of its records, or the last offset if it was copied
        ("start", "i8"),  # its place in the output
        ("end", "i8"),
        ("needs_codec", "?"),  # whether its records still have to be compressed
    ]
)
TALLY: np.dtype = np.dtype(
    [  # sums over a cleaning
        ("records_read", "i8"),
        ("bytes_read", "i8"),
        ("records_written", "i8"),
        ("keyless_records", "i8"),  # records without a key that were removed
        ("aborted", "i8"),  # records that were removed because their transaction was aborted
        ("expired", "i8"),  # tombstones that were removed because their delete horizon has passed
        ("removed_markers", "i8"),
        ("removed", "i8"),  # records that were removed
        ("removed_ranges", "i8"),
        ("last_removed", "i8"),
        ("retained", "i8"),
        ("retained_ranges", "i8"),
        ("last_retained", "i8"),
        ("tombstones", "i8"),
        ("markers", "i8"),
    ]
)
_KEPT_RECORD: np.dtype = np.dtype(
    [  # a record that stays in the batch
        ("offset", "i8"),
        ("timestamp_ms", "i8"),
        ("start", "i8"),
        ("end", "i8"),
    ]
)
_KEPT_FLAGS = CODEC_MASK | LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
_LEGACY_FLAGS = CODEC_MASK | LOG_APPEND_TIME


@njit(cache=True, boundscheck=True)
def map_batches(
    data: np.ndarray,
    decompressed: np.ndarray,
    batches: np.ndarray,
    bodies: np.ndarray,
    is_skipped: np.ndarray,
    first: int,
    start_offset: int,
    hashes: np.ndarray,
    offsets: np.ndarray,
    seeds: np.ndarray,
    most_keys: int,
    states: np.ndarray,
) -> tuple[int, int]:
    """Puts the keys of batches[first:] into the map, with their last offsets.

    Args:
        is_skipped: True for a control batch, and for a batch of an aborted transaction.
        start_offset: records below this offset are not mapped.
        states: one row of MAP_STATE, updated.

    Returns:
        The row where the loop ended; and the reason: DONE, FULL, NEEDS_ROOM (the table is too small
        for the row's batch) or FAULT (the batch's records cannot be read).
    """
    rows = np.zeros(1, record.ROW)
    state = states[0]
    for place in range(first, len(batches)):
        row = rows[0]  # taken here: a row does not keep its array alive
        batch = batches[place]
        body = bodies[place]
        if not is_skipped[place]:
            if body.place == UNREADABLE or batch.record_count < 0:
                return place, FAULT
            is_compressed = body.place == DECOMPRESSED
            source = decompressed if is_compressed else data
            most_records = min(batch.record_count, (body.end - body.start) // record.MIN_BYTES + 1)
            if 3 * len(offsets) < 4 * min(state.size + most_records, most_keys):
                return place, NEEDS_ROOM
            position = body.start
            for _ in range(batch.record_count):
                code, position, _, _ = record.take_record(
                    source, position, body.end, is_compressed, row
                )
                if code:
                    return place, FAULT
                offset = batch.base_offset + row.offset_delta
                if row.key_size_bytes < 0 or offset < start_offset:
                    continue
                if state.size >= most_keys:
                    return place, FULL
                high, low = hash_key(source, row.key_position, row.key_size_bytes, seeds)
                slot = find_slot(hashes, offsets, high, low)
                if offsets[slot] == EMPTY:
                    hashes[slot, 0] = high
                    hashes[slot, 1] = low
                    state.size += 1
                offsets[slot] = offset
                state.latest_offset = offset
            if batch.record_count > 0 and position < body.end:
                return place, FAULT
        if batch.last_offset >= start_offset:
            state.latest_offset = batch.last_offset
    return len(batches), DONE


@njit(cache=True, boundscheck=True)
def filter_batches(
    data: np.ndarray,
    chunk_position: int,
    decompressed: np.ndarray,
    batches: np.ndarray,
    bodies: np.ndarray,
    rules: np.ndarray,
    copies: np.ndarray,
    hashes: np.ndarray,
    offsets: np.ndarray,
    seeds: np.ndarray,
    out: np.ndarray,
    kept_batches: np.ndarray,
    tallies: np.ndarray,
    removed_ranges: np.ndarray,
    retained_ranges: np.ndarray,
    tombstones: np.ndarray,
    markers: np.ndarray,
) -> tuple[int, int, int]:
    """Copies the batches of a chunk into the output, without the removed records.

    Args:
        rules: one row of RULE per batch.
        copies: one row of COPY: values for the whole cleaning.
        out: the bytes of the new batches, one after another. In a compressed batch, the records are
            not compressed yet and the header is not written.
        kept_batches: rows of KEPT_BATCH to fill.
        tallies: one row of TALLY, updated.
        removed_ranges, retained_ranges: first and last offset of each range, filled until full.
        tombstones, markers: rows to fill: offset, delete horizon before the cleaning, and delete
            horizon after it (NO_TIMESTAMP for none).

    Returns:
        The number of kept batches; the length of the output; the row of a batch whose records
        cannot be read, or the number of batches.
    """
    rows = np.zeros(1, record.ROW)
    tally = tallies[0]
    out_position = 0
    batch_count = 0
    kept_records = np.empty(_most_records(batches, bodies), _KEPT_RECORD)
    for place in range(len(batches)):
        batch = batches[place]
        body = bodies[place]
        rule = rules[place]
        is_compressed = body.place == DECOMPRESSED
        source = decompressed if is_compressed else data
        kept_count, needs_horizon, is_readable = _keep_records(
            source,
            is_compressed,
            batch,
            body,
            rule,
            copies[0],
            hashes,
            offsets,
            seeds,
            rows[0],  # taken here: a row does not keep its array alive
            kept_records,
            tally,
            removed_ranges,
            retained_ranges,
            tombstones,
            markers,
        )
        if not is_readable and rule.retention != DELETE:
            return batch_count, out_position, place
        if kept_count == 0 and rule.retention != RETAIN_EMPTY:
            continue
        new = kept_batches[batch_count]
        batch_count += 1
        tally.records_written += kept_count
        new.start = out_position
        horizon_ms = _delete_horizon(batch)
        sets_horizon = needs_horizon and horizon_ms == NO_TIMESTAMP
        is_whole = kept_count > 0 and kept_count == batch.record_count and batch.magic >= MAGIC_2
        if is_whole and not sets_horizon:
            _copy_header(batch, new)
            start = batch.position - chunk_position
            end = start + batch.size_bytes
            out[out_position : out_position + batch.size_bytes] = data[start:end]
            out_position += batch.size_bytes
        else:
            if sets_horizon:
                horizon_ms = copies[0].new_horizon_ms
            _begin_batch(batch, new, kept_records[:kept_count], horizon_ms)
            out_position += HEADER_BYTES
            for number in range(kept_count):
                out_position = _put_record(out, out_position, source, kept_records[number], new)
            new.size_bytes = out_position - new.start
            if not new.needs_codec:
                seal_batch(out, new.start, new)
        new.end = out_position
    return batch_count, out_position, len(batches)


@njit(cache=True, boundscheck=True)
def _keep_records(
    source: np.ndarray,
    is_compressed: bool,
    batch: np.record,
    body: np.record,
    rule: np.record,
    copy: np.record,
    hashes: np.ndarray,
    offsets: np.ndarray,
    seeds: np.ndarray,
    row: np.record,
    kept_records: np.ndarray,
    tally: np.record,
    removed_ranges: np.ndarray,
    retained_ranges: np.ndarray,
    tombstones: np.ndarray,
    markers: np.ndarray,
) -> tuple[int, bool, bool]:
    """Finds the kept records of a batch (MemoryRecords.filterBatch).

    Returns the number of kept records, whether the batch needs a delete horizon, and whether all
    its records can be read.
    """
    if body.place == UNREADABLE or batch.record_count < 0:
        return 0, False, False
    is_deleted = rule.retention == DELETE
    is_control = batch.magic >= MAGIC_2 and batch.attributes & CONTROL != 0
    is_append_time = batch.attributes & LOG_APPEND_TIME != 0
    horizon_ms = _delete_horizon(batch)
    retains_deletes = horizon_ms == NO_TIMESTAMP or copy.now_ms < horizon_ms
    if batch.magic < MAGIC_2:
        retains_deletes = copy.retains_legacy_deletes
    new_horizon_ms = copy.new_horizon_ms if horizon_ms == NO_TIMESTAMP else horizon_ms
    needs_horizon = rule.is_empty_marker
    kept_count = 0
    position = body.start
    for _ in range(batch.record_count):
        start = position
        code, position, _, _ = record.take_record(source, start, body.end, is_compressed, row)
        if code:
            return kept_count, needs_horizon, False
        offset = batch.base_offset + row.offset_delta
        is_kept = not rule.discards and not is_deleted
        if is_kept and not is_control and offset <= copy.latest_offset:
            if row.key_size_bytes < 0:
                is_kept = False
                tally.keyless_records += 1
            else:
                high, low = hash_key(source, row.key_position, row.key_size_bytes, seeds)
                is_latest = offset >= offsets[find_slot(hashes, offsets, high, low)]
                is_kept = is_latest and (row.value_size_bytes >= 0 or retains_deletes)
                tally.expired += is_latest and not is_kept
        if not is_deleted:
            tally.records_read += 1
        if not is_kept:
            tally.removed += 1
            tally.aborted += rule.discards and not is_control
            tally.removed_markers += is_control
            tally.removed_ranges, tally.last_removed = _add_offset(
                removed_ranges, tally.removed_ranges, tally.last_removed, offset
            )
            continue
        tally.retained += 1
        tally.retained_ranges, tally.last_retained = _add_offset(
            retained_ranges, tally.retained_ranges, tally.last_retained, offset
        )
        if is_control:
            after_ms = new_horizon_ms if rule.is_empty_marker else horizon_ms
            tally.markers = _add_horizon(markers, tally.markers, offset, horizon_ms, after_ms)
        elif row.value_size_bytes < 0:
            needs_horizon = True
            tally.tombstones = _add_horizon(
                tombstones, tally.tombstones, offset, horizon_ms, new_horizon_ms
            )
        kept_record = kept_records[kept_count]
        kept_record.offset = offset
        kept_record.timestamp_ms = batch.base_timestamp_ms + row.timestamp_delta_ms
        if is_append_time:
            kept_record.timestamp_ms = batch.max_timestamp_ms
        kept_record.start = start
        kept_record.end = position
        kept_count += 1
    is_complete = batch.record_count == 0 or position == body.end
    return kept_count, needs_horizon, is_complete


@njit(cache=True)
def _delete_horizon(batch: np.record) -> int:
    if batch.magic >= MAGIC_2 and batch.attributes & DELETE_HORIZON != 0:
        return batch.base_timestamp_ms
    return NO_TIMESTAMP


@njit(cache=True)
def _most_records(batches: np.ndarray, bodies: np.ndarray) -> int:
    most = 0
    for place in range(len(batches)):
        room = (bodies[place].end - bodies[place].start) // record.MIN_BYTES + 1
        most = max(most, min(batches[place].record_count, room))
    return most


@njit(cache=True)
def _add_offset(ranges: np.ndarray, count: int, last: int, offset: int) -> tuple[int, int]:
    """Adds an offset to the last range, or to a new one; returns the new `count` and `last`."""
    if count == 0 or offset != last + 1:
        count += 1
        if count <= len(ranges):
            ranges[count - 1, 0] = offset
    if count <= len(ranges):
        ranges[count - 1, 1] = offset
    return count, offset


@njit(cache=True)
def _add_horizon(rows: np.ndarray, count: int, offset: int, before_ms: int, after_ms: int) -> int:
    if count < len(rows):
        rows[count, 0] = offset
        rows[count, 1] = before_ms
        rows[count, 2] = after_ms
    return count + 1


@njit(cache=True)
def _key_start(source: np.ndarray, position: int, end: int) -> int:
    _, body = varint.scan(source, position, end, varint.VARINT_BYTES)
    _, offset_at = varint.scan(source, body + 1, end, varint.VARLONG_BYTES)
    _, key_at = varint.scan(source, offset_at, end, varint.VARINT_BYTES)
    return key_at


@njit(cache=True)
def _copy_header(batch: np.record, new: np.record) -> None:
    new.size_bytes = batch.size_bytes
    new.base_offset = batch.base_offset
    new.last_offset = batch.last_offset
    new.leader_epoch = batch.leader_epoch
    new.magic = batch.magic
    new.attributes = batch.attributes
    new.base_timestamp_ms = batch.base_timestamp_ms
    new.max_timestamp_ms = batch.max_timestamp_ms
    new.producer_id = batch.producer_id
    new.producer_epoch = batch.producer_epoch
    new.base_sequence = batch.base_sequence
    new.record_count = batch.record_count
    new.crc = batch.crc
    new.max_offset = batch.last_offset
    new.needs_codec = False


@njit(cache=True)
def _begin_batch(
    batch: np.record, new: np.record, kept_records: np.ndarray, horizon_ms: int
) -> None:
    """Fills in the header of a rebuilt batch, except its size and checksum."""
    _copy_header(batch, new)
    new.magic = MAGIC_2
    new.record_count = len(kept_records)
    if len(kept_records) == 0:
        new.attributes = batch.attributes & (_KEPT_FLAGS & ~CODEC_MASK)
        new.base_timestamp_ms = NO_TIMESTAMP
        return
    new.max_offset = kept_records[len(kept_records) - 1].offset
    flags = _KEPT_FLAGS
    if batch.magic < MAGIC_2:
        flags = _LEGACY_FLAGS
        new.base_offset = kept_records[0].offset
        new.last_offset = new.max_offset
    new.attributes = batch.attributes & flags
    new.needs_codec = batch.attributes & CODEC_MASK != 0
    new.base_timestamp_ms = kept_records[0].timestamp_ms
    if horizon_ms != NO_TIMESTAMP:
        new.attributes |= DELETE_HORIZON
        new.base_timestamp_ms = horizon_ms
    if batch.attributes & LOG_APPEND_TIME == 0:
        new.max_timestamp_ms = NO_TIMESTAMP
        for number in range(len(kept_records)):
            new.max_timestamp_ms = max(new.max_timestamp_ms, kept_records[number].timestamp_ms)


@njit(cache=True)
def _put_record(
    out: np.ndarray, position: int, source: np.ndarray, kept_record: np.record, new: np.record
) -> int:
    """Writes a record with new deltas (DefaultRecord.writeTo); returns the next position."""
    tail = _key_start(source, kept_record.start, kept_record.end)
    time_delta = kept_record.timestamp_ms - new.base_timestamp_ms
    offset_delta = kept_record.offset - new.base_offset
    tail_bytes = kept_record.end - tail
    size = 1 + varint_bytes(time_delta) + varint_bytes(offset_delta) + tail_bytes
    position = put_varint(out, position, size)
    out[position] = 0  # attributes
    position = put_varint(out, position + 1, time_delta)
    position = put_varint(out, position, offset_delta)
    out[position : position + tail_bytes] = source[tail : kept_record.end]
    return position + tail_bytes
