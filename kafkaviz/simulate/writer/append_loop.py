"""Appends to one segment in a compiled loop, until it must roll or Kafka refuses an append.

Follows UnifiedLog.append and LogSegment.append of Kafka 1.1 to 4.3.1. For example, each append is a
batch of 1000 bytes and ten records, and index.interval.bytes is 4096. The sixth append finds 5000
bytes without an entry, and gets the entry (offset 59, position 5000). The eleventh gets (109,
10000).
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.simulate.writer.roll_reason import should_roll, waited_ms

STATE: np.dtype = np.dtype(
    [  # the state of an open segment and of the log's end; all offsets are absolute
        ("base_offset", "i8"),
        ("created_ms", "i8"),  # the broker's clock when the segment was opened
        ("jitter_ms", "i8"),
        ("log_bytes", "i8"),
        ("bytes_since_last_index_entry", "i8"),
        ("max_timestamp_ms", "i8"),  # -1 if no batch has a timestamp
        ("max_timestamp_offset", "i8"),
        # the timestamp from which a roll by time counts; -1 if there is none
        ("reference_ms", "i8"),
        ("offset_entries", "i8"),
        ("offset_slots", "i8"),
        ("last_key", "i8"),  # the key of the offset index's last entry
        ("time_entries", "i8"),
        ("time_slots", "i8"),  # usable slots; one more is reserved for the segment's last entry
        ("last_time_ms", "i8"),
        ("last_time_offset", "i8"),
        ("log_end_offset", "i8"),
    ]
)
LIMITS: np.dtype = np.dtype(
    [  # settings and release behaviour that the loop needs
        ("segment_bytes", "i8"),
        ("max_message_bytes", "i8"),
        ("most_segment_ms", "i8"),
        ("index_interval_bytes", "i8"),
        ("per_append", "i8"),
        ("first_offset_keys", "i8"),
        ("valid_rows", "i8"),  # number of leading rows with a right checksum
    ]
)
ACCEPTED, ROLLS, BATCH_TOO_LARGE, CORRUPT, OUT_OF_ORDER, BELOW_END, TOO_LARGE, OUT_OF_RANGE = range(
    8
)
# Kafka throws these after the bytes were written to the .log
OFFSET_FULL, OFFSET_BACKWARDS, TIME_FULL, TIME_BACKWARDS = range(8, 12)


@njit(cache=True, nogil=True)
def take(
    rows: np.ndarray,
    time_offsets: np.ndarray,
    start: int,
    is_rolled: bool,
    states: np.ndarray,
    limits: np.ndarray,
    new: np.ndarray,
) -> tuple[int, int, int, int, int]:
    """Appends rows to the segment, from `start` on.

    Args:
        rows: appends.INCOMING; the positions are filled in.
        time_offsets: per batch, the offset of its largest timestamp.
        is_rolled: whether the segment was just rolled for the append at `start`. This append then
            cannot roll it again.
        new: space for index entries, int64 of shape (n, 4). Columns 0 and 1 are for offset entries:
            relative offset, position. Columns 2 and 3 are for time entries: timestamp, relative
            offset.

    Returns:
        (row after the accepted appends, outcome, cause of the roll or 0, number of offset entries
        in `new`, number of time entries in `new`).
    """
    state = states[0]
    limit = limits[0]
    offsets = 0
    times = 0
    row_number = start
    while row_number < len(rows):
        end, size_bytes, max_ms, max_offset = measure_append(rows, time_offsets, row_number)
        fault = find_refusal(rows, row_number, end, size_bytes, state.log_end_offset, limit)
        if fault:
            return row_number, fault, 0, offsets, times
        relative = rows[end - 1].last_offset - state.base_offset
        if not is_rolled:
            now_ms = rows[row_number].now_ms
            cause = find_roll_cause(state, limit, size_bytes, max_ms, now_ms, relative)
            if cause:
                return row_number, ROLLS, cause, offsets, times
        is_rolled = False
        if relative < 0 or relative > MAX_RELATIVE_OFFSET:
            return row_number, OUT_OF_RANGE, 0, offsets, times
        if state.log_bytes == 0:
            state.reference_ms = max_ms if limit.per_append else rows[row_number].max_timestamp_ms
        written = row_number  # the first row not yet considered for an entry
        while written < end:
            first = written
            written = end if limit.per_append else written + 1
            if not limit.per_append:
                size_bytes = rows[first].size_bytes
                max_ms = rows[first].max_timestamp_ms
                max_offset = time_offsets[first]
            if max_ms > state.max_timestamp_ms:
                state.max_timestamp_ms = max_ms
                state.max_timestamp_offset = max_offset
            if state.bytes_since_last_index_entry > limit.index_interval_bytes:
                key = rows[written - 1].last_offset
                if limit.first_offset_keys:
                    key = rows[first].base_offset
                fault, has_offset_entry, has_time_entry = index(state, key)
                if has_offset_entry:
                    new[offsets, 0] = key - state.base_offset
                    new[offsets, 1] = state.log_bytes
                    offsets += 1
                if has_time_entry:
                    new[times, 2] = state.max_timestamp_ms
                    new[times, 3] = state.max_timestamp_offset - state.base_offset
                    times += 1
                if fault:  # Kafka has written the batches to the .log by then
                    assign_positions(rows, first, end, state)
                    return row_number, fault, 0, offsets, times
                state.bytes_since_last_index_entry = 0
            assign_positions(rows, first, written, state)
            state.bytes_since_last_index_entry += size_bytes
        row_number = end
        state.log_end_offset = rows[end - 1].last_offset + 1
    return row_number, ACCEPTED, 0, offsets, times


@njit(cache=True)
def measure_append(
    rows: np.ndarray, time_offsets: np.ndarray, start: int
) -> tuple[int, int, int, int]:
    """Measures the append that begins at row `start`.

    Returns (row after the append, size of the append in bytes, its largest timestamp, offset of
    this timestamp from `time_offsets`).
    """
    end = start
    size_bytes = 0
    max_ms = -1
    max_offset = -1
    while end < len(rows) and rows[end].append == rows[start].append:
        size_bytes += rows[end].size_bytes
        if rows[end].max_timestamp_ms > max_ms:
            max_ms = rows[end].max_timestamp_ms
            max_offset = time_offsets[end]
        end += 1
    return end, size_bytes, max_ms, max_offset


@njit(cache=True)
def find_roll_cause(
    state: np.record, limit: np.record, size_bytes: int, max_ms: int, now_ms: int, relative: int
) -> int:
    wait_ms = waited_ms(state.reference_ms, max_ms, now_ms, state.created_ms)
    return should_roll(
        state.log_bytes,
        size_bytes,
        limit.segment_bytes,
        wait_ms,
        limit.most_segment_ms - state.jitter_ms,
        state.offset_entries,
        state.offset_slots,
        state.time_entries,
        state.time_slots,
        relative,
    )


@njit(cache=True)
def find_refusal(
    rows: np.ndarray, start: int, end: int, size_bytes: int, log_end_offset: int, limit: np.record
) -> int:
    last_offset = -1
    is_ordered = True
    for row_number in range(start, end):
        is_ordered = is_ordered and rows[row_number].last_offset > last_offset
        last_offset = rows[row_number].last_offset
        if rows[row_number].size_bytes > limit.max_message_bytes:
            return BATCH_TOO_LARGE
        if row_number >= limit.valid_rows:
            return CORRUPT
    if not is_ordered:
        return OUT_OF_ORDER
    # legacy messages: compare the last offset, the only one that a compressed message has
    is_known = rows[start].magic >= 2
    if (rows[start].base_offset if is_known else rows[start].last_offset) < log_end_offset:
        return BELOW_END
    return TOO_LARGE if size_bytes > limit.segment_bytes else 0


@njit(cache=True)
def assign_positions(rows: np.ndarray, start: int, end: int, state: np.record) -> None:
    for row_number in range(start, end):
        rows[row_number].position = state.log_bytes
        state.log_bytes += rows[row_number].size_bytes


@njit(cache=True)
def index(state: np.record, key: int) -> tuple[int, bool, bool]:
    """Adds an offset entry and, if the largest timestamp has risen, a time entry.

    Returns (fault or 0, whether an offset entry was added, whether a time entry was added).
    """
    if state.offset_entries >= state.offset_slots:
        return OFFSET_FULL, False, False
    if state.offset_entries > 0 and key <= state.last_key:
        return OFFSET_BACKWARDS, False, False
    state.offset_entries += 1
    state.last_key = key
    if state.time_entries >= state.time_slots:
        return TIME_FULL, True, False
    if state.time_entries > 0 and state.max_timestamp_offset < state.last_time_offset:
        return TIME_BACKWARDS, True, False
    if state.max_timestamp_ms <= (state.last_time_ms if state.time_entries > 0 else -1):
        return 0, True, False
    state.time_entries += 1
    state.last_time_ms = state.max_timestamp_ms
    state.last_time_offset = state.max_timestamp_offset
    return 0, True, True


@njit(cache=True)
def entry_rows(size_bytes: np.ndarray, interval_bytes: int) -> np.ndarray:
    """Returns the rows that get an index entry if each is an append (LogSegment.append, 4.3.1)."""
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
