"""The compiled loop that generates the batches of simulate.producers.streams.

Each turn generates one batch: a data batch, or a transaction marker. For example, with 9 records
per batch and 500 records per second a batch takes 18 ms:

    time    0 ms     18 ms    36 ms
    batch   0 to 8   9 to 17  18 to 26
"""

from typing import NamedTuple

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.batch import CODEC_MASK, HEADER_BYTES, LOG_APPEND_TIME, MAGIC_2, TRANSACTIONAL
from kafkaviz.simulate.appends import ABORT, COMMIT, NO_MARKER
from kafkaviz.simulate.producers.batch_encoder import (
    MARKER_BYTES,
    NULL,
    digits,
    put_digits,
    put_hex,
    put_marker,
    put_pieces,
    put_varint,
    varint_bytes,
)
from kafkaviz.simulate.producers.distributions import ONE_BITS, draw_number, happens, stream

PLAN: np.dtype = np.dtype(
    [  # a phase as numbers
        ("unit_ns", "f8"),  # time per record, byte or batch at the phase's rate
        ("rate_of", "i8"),  # 0 records, 1 bytes, 2 batches
        ("by_chance", "?"),
        ("on_ns", "i8"),  # length of a burst; 0 without bursts
        ("off_ns", "i8"),
        ("most_ns", "i8"),
        ("most_records", "i8"),
        ("most_batches", "i8"),
        ("most_bytes", "i8"),
        ("start_ms", "i8"),  # start of the workload
        ("no_timestamps", "?"),
        ("ahead_ms", "i8"),
        # timestamps count from from_ms (-1: the phase's start) and run faster or slower
        ("other_time", "?"),
        ("from_ms", "i8"),
        ("speed_thousandths", "i8"),
        ("late_threshold", "i8"),
        ("future_threshold", "i8"),
        ("delay_ms", "i8"),
        ("batch_bytes", "i8"),
        ("key_bytes", "i8"),  # -1 without keys
        ("key_digits", "i8"),
        ("key_count", "i8"),
        ("keys_in_turn", "?"),
        ("null_threshold", "i8"),
        ("is_random", "?"),
        ("header_count", "i8"),
        ("attributes", "i8"),
        ("marker_attributes", "i8"),
        ("idempotent", "?"),
        ("abort_threshold", "i8"),
        ("leave_open", "?"),
        ("epoch_each", "?"),  # whether a marker raises its producer's epoch (transaction.version 2)
        ("leader_epoch", "i8"),
        ("fetch_batches", "i8"),
    ]
)
STATE: np.dtype = np.dtype(
    [  # the position in a stream, always between two batches
        ("seed", "u8"),
        ("next_offset", "i8"),
        ("batches", "i8"),  # data batches so far, over all phases
        ("records", "i8"),
        ("append", "i8"),
        ("in_append", "i8"),  # batches of the incomplete append
        ("clock_ns", "i8"),  # since the start of the workload
        ("phase_start_ns", "i8"),
        ("busy_ns", "i8"),  # time in the phase, without the pauses between bursts
        ("last_amount", "i8"),  # the size of the last batch in the unit of the rate
        ("phase_batches", "i8"),
        ("phase_records", "i8"),
        ("phase_bytes", "i8"),
        ("marker_due", "i8"),  # the producer whose transaction ends next, or NOBODY
    ]
)
PRODUCER: np.dtype = np.dtype(
    [
        ("id", "i8"),
        ("epoch", "i8"),
        ("next_sequence", "i8"),
        ("left", "i8"),  # batches until its transaction ends
        ("open", "?"),
    ]
)
HEADER_SPAN: np.dtype = np.dtype([("position", "i8"), ("size_bytes", "i8")])
COUNTS, VALUES, RANKS, LATE, FUTURE, TRANSACTION, WAITS = range(7)  # rows of the tables
FULL, NO_ROOM, DONE = range(3)
NOBODY = -1
MAX_EPOCH = 2**15 - 2  # at this epoch a producer gets a new id (ProducerIdAndEpoch)
SEQUENCES = 1 << 31
LONGEST_NS = 100 * 365 * 86_400 * 10**9
JSON_BYTES = 11  # {"n":,"t":" without the number; the closing "} adds two

_DRAW_WAIT = 0
_DRAW_COUNT = 1
_DRAW_TRANSACTION = 2
_DRAW_END = 3
_RECORDS_FROM = 16  # streams of a batch from this number on belong to its records
(
    _DRAW_VALUE,
    _DRAW_NULL,
    _DRAW_KEY,
    _DRAW_LATE,
    _DRAW_LATE_BY,
    _DRAW_FUTURE,
    _DRAW_FUTURE_BY,
    _DRAW_TEXT,
    _DRAW_HEADER,
) = range(9)
_HEAD = np.frombuffer(b'{"n":', np.uint8)
_MIDDLE = np.frombuffer(b',"t":"', np.uint8)
_MS = 1_000_000


class Parts(NamedTuple):
    """The arrays from which records are generated."""

    tables: np.ndarray  # shape (distributions, CELLS + 3)
    prefix: np.ndarray  # of a key
    headers: np.ndarray  # as in a record, with blank values
    spans: np.ndarray  # HEADER_SPAN: the places of the values in headers
    pool: np.ndarray  # values are cut from it


@njit(cache=True)
def generate(
    plan: np.record,
    parts: Parts,
    state: np.record,
    producers: np.ndarray,
    rows: np.ndarray,
    data: np.ndarray,
    row_count: int,
    used_bytes: int,
    enough_bytes: int,
    write: bool,
) -> tuple[int, int, int]:
    """Generates batches into rows[row_count:] and data[used_bytes:]. Stops for one of 3 reasons.

    - FULL: `rows` is full, or `enough_bytes` were reached and the append is complete.
    - NO_ROOM: `data` has no space for the next batch. Call again with a larger `data`. Happens only
      if `write` is set.
    - DONE: the phase is over.

    Returns:
        The reason, the new `row_count` and the new `used_bytes`.
    """
    while row_count < len(rows) and (used_bytes < enough_bytes or state.in_append > 0):
        producer_number = state.marker_due
        wait_ns = _time_to_next_batch_ns(plan, parts.tables, state)
        if producer_number == NOBODY and _is_over(plan, state, wait_ns):
            producer_number = _first_open_producer(plan, producers)
            if producer_number == NOBODY:
                state.append = state.append + (state.in_append > 0)
                state.in_append = 0
                return DONE, row_count, used_bytes
        if producer_number != NOBODY:
            if write and used_bytes + MARKER_BYTES > len(data):
                return NO_ROOM, row_count, used_bytes
            _generate_marker(
                plan, state, producers[producer_number], rows[row_count], data, used_bytes, write
            )
            state.marker_due = NOBODY
        else:
            turn = state.batches % len(producers) if len(producers) > 1 else 0
            if not _generate_batch(
                plan,
                parts,
                state,
                producers[turn],
                turn,
                wait_ns,
                rows[row_count],
                data,
                used_bytes,
                write,
            ):
                return NO_ROOM, row_count, used_bytes
        used_bytes += rows[row_count].size_bytes
        row_count += 1
    return FULL, row_count, used_bytes


@njit(cache=True)
def _is_over(plan: np.record, state: np.record, wait_ns: int) -> bool:
    if (
        state.phase_records >= plan.most_records
        or state.phase_batches >= plan.most_batches
        or state.phase_bytes >= plan.most_bytes
    ):
        return True
    since = _real_ns(plan, state.busy_ns + wait_ns)
    return since >= plan.most_ns or state.phase_start_ns + since >= LONGEST_NS


@njit(cache=True)
def _time_to_next_batch_ns(plan: np.record, tables: np.ndarray, state: np.record) -> int:
    wait = state.last_amount * plan.unit_ns
    if plan.on_ns > 0:
        wait = wait * plan.on_ns / (plan.on_ns + plan.off_ns)
    if plan.by_chance:
        batch_stream = stream(state.seed, state.batches)
        wait = wait * draw_number(tables[WAITS], stream(batch_stream, _DRAW_WAIT)) / (1 << ONE_BITS)
    return int(min(wait, LONGEST_NS))


@njit(cache=True)
def _real_ns(plan: np.record, busy_ns: int) -> int:
    """Returns the ns since the phase began, pauses included. `busy_ns` counts only the bursts."""
    return busy_ns if plan.on_ns == 0 else busy_ns + busy_ns // plan.on_ns * plan.off_ns


@njit(cache=True)
def _first_open_producer(plan: np.record, producers: np.ndarray) -> int:
    if not plan.leave_open and plan.attributes & TRANSACTIONAL:
        for place in range(len(producers)):
            if producers[place].open:
                return place
    return NOBODY


@njit(cache=True)
def _generate_batch(
    plan: np.record,
    parts: Parts,
    state: np.record,
    producer: np.record,
    turn: int,
    wait_ns: int,
    row: np.record,
    data: np.ndarray,
    used_bytes: int,
    write: bool,
) -> bool:
    """Generates a data batch `wait_ns` after the last one. Returns False if `data` is too small."""
    batch_stream = stream(state.seed, state.batches)
    tables = parts.tables
    most = _draw_from(tables[COUNTS], batch_stream, _DRAW_COUNT)
    most = min(most, plan.most_records - state.phase_records)
    busy_ns = state.busy_ns + wait_ns
    step_ns = wait_ns // most if most > 1 else 0
    count = 0
    first_ms = -1
    max_ms = -1
    deep = 0
    position = used_bytes + HEADER_BYTES
    while count < most:
        record_stream = stream(batch_stream, _RECORDS_FROM + count)
        record_ns = busy_ns - step_ns * (most - 1 - count)
        ms = _timestamp_ms(plan, tables, state, record_ns, record_stream)
        delta_ms = ms - first_ms if count else 0
        value_bytes = _value_bytes(plan, tables, record_stream)
        body = 1 + varint_bytes(delta_ms) + varint_bytes(count)
        body += varint_bytes(plan.key_bytes) + max(plan.key_bytes, 0)
        body += varint_bytes(value_bytes) + max(value_bytes, 0)
        body += varint_bytes(plan.header_count) + len(parts.headers)
        end = position + varint_bytes(body) + body
        if count and end - used_bytes > plan.batch_bytes:
            break
        if write:
            if end > len(data):
                return False
            number = state.records + count
            _put_record(
                plan,
                parts,
                data,
                position,
                body,
                delta_ms,
                count,
                value_bytes,
                number,
                record_stream,
            )
        if count == 0:
            first_ms = ms
        if count == 0 or ms > max_ms:
            max_ms = ms
            deep = count
        position = end
        count = count + 1
    state.busy_ns = busy_ns
    state.clock_ns = state.phase_start_ns + _real_ns(plan, busy_ns)
    _fill_row(plan, state, row, position - used_bytes, count, first_ms, max_ms, deep)
    _set_producer_fields(plan, tables, state, producer, turn, row, batch_stream)
    _count(plan, state, row, position - used_bytes)
    return True


@njit(cache=True)
def _timestamp_ms(
    plan: np.record, tables: np.ndarray, state: np.record, busy_ns: int, record_stream: np.uint64
) -> int:
    if plan.no_timestamps:
        return -1
    since_ns = _real_ns(plan, busy_ns)
    if plan.other_time:
        since_us = since_ns // 1000
        ms = since_us // _MS * plan.speed_thousandths
        ms += since_us % _MS * plan.speed_thousandths // _MS
        ms += plan.start_ms + state.phase_start_ns // _MS if plan.from_ms < 0 else plan.from_ms
    else:
        ms = plan.start_ms + (state.phase_start_ns + since_ns) // _MS
    ms += plan.ahead_ms
    if plan.late_threshold and happens(stream(record_stream, _DRAW_LATE), plan.late_threshold):
        ms -= draw_number(tables[LATE], stream(record_stream, _DRAW_LATE_BY))
    if plan.future_threshold and happens(
        stream(record_stream, _DRAW_FUTURE), plan.future_threshold
    ):
        ms += draw_number(tables[FUTURE], stream(record_stream, _DRAW_FUTURE_BY))
    return max(ms, 0)


@njit(cache=True)
def _value_bytes(plan: np.record, tables: np.ndarray, record_stream: np.uint64) -> int:
    if plan.null_threshold and happens(stream(record_stream, _DRAW_NULL), plan.null_threshold):
        return NULL
    return _draw_from(tables[VALUES], record_stream, _DRAW_VALUE)


@njit(cache=True)
def _draw_from(numbers: np.ndarray, random_stream: np.uint64, draw: int) -> int:
    if numbers[2] == numbers[len(numbers) - 1]:
        return draw_number(numbers, np.uint64(0))
    return draw_number(numbers, stream(random_stream, draw))


@njit(cache=True)
def _fill_row(
    plan: np.record,
    state: np.record,
    row: np.record,
    size_bytes: int,
    count: int,
    first_ms: int,
    max_ms: int,
    deep: int,
) -> None:
    _fill_position(plan, state, row, size_bytes, count)
    row.attributes = plan.attributes
    row.marker = NO_MARKER
    row.base_timestamp_ms = first_ms
    append_time = plan.attributes & LOG_APPEND_TIME != 0
    row.max_timestamp_ms = row.now_ms if append_time else max_ms
    uses_last_offset = append_time or plan.attributes & CODEC_MASK != 0
    row.deep_offset = row.last_offset if uses_last_offset else row.base_offset + deep


@njit(cache=True)
def _fill_position(
    plan: np.record, state: np.record, row: np.record, size_bytes: int, count: int
) -> None:
    row.position = 0
    row.crc = 0
    row.magic = MAGIC_2
    row.leader_epoch = plan.leader_epoch
    row.size_bytes = size_bytes
    row.record_count = count
    row.base_offset = state.next_offset
    row.last_offset = state.next_offset + count - 1
    row.append = state.append
    row.now_ms = plan.start_ms + state.clock_ns // _MS + plan.delay_ms
    state.next_offset += count
    state.in_append += 1
    if state.in_append == plan.fetch_batches:
        state.append = state.append + 1
        state.in_append = 0


@njit(cache=True)
def _set_producer_fields(
    plan: np.record,
    tables: np.ndarray,
    state: np.record,
    producer: np.record,
    turn: int,
    row: np.record,
    batch_stream: np.uint64,
) -> None:
    """Fills in the producer's id, epoch and sequence; may schedule a transaction's end."""
    row.producer_id = -1
    row.producer_epoch = -1
    row.base_sequence = -1
    if not plan.idempotent:
        return
    row.producer_id = producer.id
    row.producer_epoch = producer.epoch
    row.base_sequence = producer.next_sequence
    producer.next_sequence = (producer.next_sequence + row.record_count) % SEQUENCES
    if plan.attributes & TRANSACTIONAL:
        if not producer.open:
            producer.open = True
            draw = stream(batch_stream, _DRAW_TRANSACTION)
            producer.left = draw_number(tables[TRANSACTION], draw)
        producer.left -= 1
        if producer.left <= 0:
            state.marker_due = turn


@njit(cache=True)
def _count(plan: np.record, state: np.record, row: np.record, size_bytes: int) -> None:
    if plan.rate_of == 0:
        state.last_amount = row.record_count
    elif plan.rate_of == 1:
        state.last_amount = size_bytes
    else:
        state.last_amount = 1
    state.batches += 1
    state.records += row.record_count
    state.phase_batches += 1
    state.phase_records += row.record_count
    state.phase_bytes += size_bytes


@njit(cache=True)
def _generate_marker(
    plan: np.record,
    state: np.record,
    producer: np.record,
    row: np.record,
    data: np.ndarray,
    used_bytes: int,
    write: bool,
) -> None:
    aborts = happens(stream(stream(state.seed, state.batches), _DRAW_END), plan.abort_threshold)
    _fill_position(plan, state, row, MARKER_BYTES, 1)
    row.attributes = plan.marker_attributes
    row.marker = ABORT if aborts else COMMIT
    row.base_timestamp_ms = row.now_ms
    row.max_timestamp_ms = row.now_ms
    row.deep_offset = row.base_offset
    if plan.epoch_each:
        producer.epoch = producer.epoch + 1
        producer.next_sequence = 0
    row.producer_id = producer.id
    row.producer_epoch = producer.epoch
    row.base_sequence = -1
    if producer.epoch >= MAX_EPOCH:
        producer.id = producer.id + (1 << 32)
        producer.epoch = 0
    producer.open = False
    if write:
        put_marker(data, used_bytes, row.marker, 0)


@njit(cache=True)
def _put_record(
    plan: np.record,
    parts: Parts,
    data: np.ndarray,
    position: int,
    body: int,
    delta_ms: int,
    delta: int,
    value_bytes: int,
    number: int,
    record_stream: np.uint64,
) -> None:
    tables, prefix, headers, spans, pool = parts
    position = put_varint(data, position, body)
    data[position] = 0  # attributes
    position = put_varint(data, put_varint(data, position + 1, delta_ms), delta)
    position = put_varint(data, position, plan.key_bytes)
    if plan.key_bytes >= 0:
        put_pieces(data, position, len(prefix), prefix, 0)
        key = (
            number % plan.key_count
            if plan.keys_in_turn
            else draw_number(tables[RANKS], stream(record_stream, _DRAW_KEY)) - 1
        )
        put_digits(data, position + len(prefix), key, plan.key_digits)
        position += plan.key_bytes
    position = put_varint(data, position, value_bytes)
    if value_bytes > 0:
        _put_value(plan, pool, data, position, value_bytes, number, record_stream)
        position += value_bytes
    position = put_varint(data, position, plan.header_count)
    put_pieces(data, position, len(headers), headers, 0)
    for place in range(len(spans)):
        span = spans[place]
        digits_stream = stream(record_stream, _DRAW_HEADER + place)
        put_hex(data, position + span.position, digits_stream, span.size_bytes)


@njit(cache=True)
def _put_value(
    plan: np.record,
    pool: np.ndarray,
    data: np.ndarray,
    position: int,
    count: int,
    number: int,
    record_stream: np.uint64,
) -> None:
    """Writes a value: bytes of the pool, or JSON with such bytes: {"n":17,"t":"paid berlin"}."""
    start = int(np.int64(stream(record_stream, _DRAW_TEXT) % np.uint64(len(pool))))
    digit_count = digits(number)
    if plan.is_random or count <= JSON_BYTES + digit_count + 1:
        put_pieces(data, position, count, pool, start)
        return
    put_pieces(data, position, len(_HEAD), _HEAD, 0)
    put_digits(data, position + len(_HEAD), number, digit_count)
    put_pieces(data, position + len(_HEAD) + digit_count, len(_MIDDLE), _MIDDLE, 0)
    text_start = len(_HEAD) + digit_count + len(_MIDDLE)
    put_pieces(data, position + text_start, count - text_start - 2, pool, start)
    # "}
    data[position + count - 2] = 34
    data[position + count - 1] = 125
