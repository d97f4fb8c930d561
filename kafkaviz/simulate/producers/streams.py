"""Generates the batches of a workload in the order in which they reach the log.

    for chunk in chunks(load(text), config, release_behaviour((4, 3, 1))):
        log.append(chunk.rows, chunk.data)

The same workload and seed give the same records on every machine, in chunks of any size. Compressed
bytes depend on the release of the codec's library.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import numpy as np

from kafkaviz import versions
from kafkaviz.binary import codec
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import CONTROL, HEADER_BYTES, LOG_APPEND_TIME, TRANSACTIONAL
from kafkaviz.messages import Message, message
from kafkaviz.simulate.appends import INCOMING, AppendChunk
from kafkaviz.simulate.config import LogConfig, ReleaseBehaviour
from kafkaviz.simulate.producers import batch_encoder, distributions, generator, traffic
from kafkaviz.simulate.producers.distributions import Spread, stream
from kafkaviz.simulate.producers.toml_fields import LONGEST_MS, duration_text
from kafkaviz.simulate.producers.traffic import Header, Phase
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.units import MS_NS

BATCHES_PER_CHUNK = 1 << 16
CHUNK_BYTES = 8 << 20  # the buffer has twice this size, because the last append may exceed it
FIRST_PRODUCER_ID = 1000
POOL_BYTES = 1 << 16
NOTHING = np.empty(0, np.uint8)
WORDS = (
    "order", "paid", "shipped", "returned", "invoice", "customer", "basket", "checkout", "refund",
    "pending", "amsterdam", "berlin", "lisbon", "nairobi", "osaka", "quito", "blue", "green",
    "small", "large", "express", "standard", "monday", "friday",
)  # fmt: skip


def chunks(
    workload: Workload,
    config: LogConfig,
    behaviour: ReleaseBehaviour,
    seed: int | None = None,
    *,
    payload: bool = True,
    batches_per_chunk: int = BATCHES_PER_CHUNK,
) -> Iterator[AppendChunk]:
    """Yields the batches of a workload in chunks. Ends after 100 years of simulated time.

    A chunk contains complete appends from one phase of the workload.

    Args:
        config: only the timestamp type matters.
        behaviour: only its release matters. Since 4.0, each transaction marker raises its
            producer's epoch (KIP-890).
        seed: the seed of the random numbers; the workload's if None.
        payload: whether chunks have bytes. If not, crc is 0. Batches with a codec are compressed
            even then, because their sizes are needed.

    Raises KafkavizError if the release does not know a phase's batches (magic 2, zstd), or if a
    phase begins or a silence ends after the 100 years.
    """
    state, producers = _begin(workload, seed)
    for number, phase in enumerate(workload.phases, start=1):
        if phase.silence_ms is not None:
            state["clock_ns"] += phase.silence_ms * MS_NS
            where = message("errors.phase_silence", number=number)
            _ensure_time(int(state["clock_ns"][0]), where)
            continue
        _check(phase, behaviour, number)
        _ensure_time(int(state["clock_ns"][0]) + 1, message("errors.phase_number", number=number))
        plan = _plan(phase, workload, config, behaviour)
        state["phase_start_ns"] = state["clock_ns"]
        for name in ("busy_ns", "phase_batches", "phase_records", "phase_bytes", "last_amount"):
            state[name] = 0
        state["marker_due"] = generator.NOBODY
        yield from _phase_chunks(
            phase,
            plan,
            state,
            producers[: phase.producers],
            payload=payload,
            batches_per_chunk=batches_per_chunk,
        )


def _check(phase: Phase, behaviour: ReleaseBehaviour, number: int) -> None:
    what = message("errors.record_batch")
    feature = versions.RECORD_BATCHES
    if phase.codec == "zstd":
        what = message("errors.zstd_batch")
        feature = versions.ZSTD
    if not feature.applies_to(behaviour.release):
        problem = message(
            "errors.release_takes_no",
            number=number,
            release=".".join(map(str, behaviour.release)),
            feature=what,
            since=versions.text(feature.first_release),
        )
        raise KafkavizError(problem)


def _ensure_time(end_ns: int, where: Message) -> None:
    if end_ns > generator.LONGEST_NS:
        raise KafkavizError(
            message("errors.workload_too_long", where=where, longest=duration_text(LONGEST_MS))
        )


def _begin(workload: Workload, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
    state = np.zeros(1, generator.STATE)
    state["seed"] = distributions.seed_stream(workload.seed if seed is None else seed)
    state["next_offset"] = workload.start_offset
    producers = np.zeros(max(phase.producers for phase in workload.phases), generator.PRODUCER)
    producers["id"] = FIRST_PRODUCER_ID + np.arange(len(producers))
    return state, producers


def _phase_chunks(
    phase: Phase,
    plan: tuple[np.ndarray, generator.Parts],
    state: np.ndarray,
    producers: np.ndarray,
    *,
    payload: bool,
    batches_per_chunk: int,
) -> Iterator[AppendChunk]:
    write = payload or phase.codec != "none"
    is_over = False
    row_count = -(-batches_per_chunk // phase.fetch_batches) * phase.fetch_batches
    data = np.empty(2 * CHUNK_BYTES if write else 0, np.uint8)
    while not is_over:
        rows = np.empty(row_count, INCOMING)
        filled_count, used_bytes, is_over, data = _fill(
            plan, state, producers, rows, data, write=write
        )
        filled_rows = rows[:filled_count]
        if phase.fetch_batches > 1:
            # all batches of an append arrive with the last one
            last = np.flatnonzero(np.diff(filled_rows["append"], append=-1))
            arrivals_ms = filled_rows["now_ms"][last]
            filled_rows["now_ms"] = np.repeat(arrivals_ms, np.diff(last, prepend=-1))
        if filled_count:
            yield _chunk(filled_rows, data[:used_bytes], phase.codec, payload=payload)
    is_below = [
        state[f"phase_{name}"][0] < plan[0][f"most_{name}"][0]
        for name in ("batches", "records", "bytes")
    ]
    if phase.duration_ms is not None and all(is_below):
        state["clock_ns"] = state["phase_start_ns"] + phase.duration_ms * MS_NS


def _fill(
    plan: tuple[np.ndarray, generator.Parts],
    state: np.ndarray,
    producers: np.ndarray,
    rows: np.ndarray,
    data: np.ndarray,
    *,
    write: bool,
) -> tuple[int, int, bool, np.ndarray]:
    """Fills `rows` with batches and, if `write` is set, `data` with the bytes of these batches.

    If a complete append does not fit into `data`, copies `data` to a larger array.

    Returns (number of rows, number of bytes, whether the phase is over, `data` or the larger copy).
    """
    filled_count = 0
    used_bytes = 0
    enough_bytes = CHUNK_BYTES if write else np.iinfo(np.int64).max
    while True:
        outcome, filled_count, used_bytes = generator.generate(
            plan[0][0],
            plan[1],
            state[0],
            producers,
            rows,
            data,
            filled_count,
            used_bytes,
            enough_bytes,
            write,
        )
        if outcome != generator.NO_ROOM or (filled_count and state["in_append"][0] == 0):
            return filled_count, used_bytes, outcome == generator.DONE, data
        data = np.concatenate([data, np.empty(max(len(data), CHUNK_BYTES), np.uint8)])


def _chunk(rows: np.ndarray, data: np.ndarray, codec_name: str, *, payload: bool) -> AppendChunk:
    if codec_name != "none":
        data = _compress(rows, data.data, codec_name)
    if not payload:
        return AppendChunk(rows)
    batch_encoder.seal(rows, data)
    return AppendChunk(rows, data.tobytes())


def _compress(rows: np.ndarray, data: memoryview, codec_name: str) -> np.ndarray:
    """Compresses all but the control batches. Returns all batches; updates the sizes in `rows`."""
    ends = np.cumsum(rows["size_bytes"]).tolist()
    gap = bytes(HEADER_BYTES)
    pieces = []
    start = 0
    for end, is_control in zip(ends, ((rows["attributes"] & CONTROL) != 0).tolist(), strict=True):
        body = data[start + HEADER_BYTES : end]
        pieces += [gap, body if is_control else codec.compress(codec_name, body)]
        start = end
    rows["size_bytes"] = [HEADER_BYTES + len(body) for body in pieces[1::2]]
    return np.frombuffer(bytearray().join(pieces), np.uint8)


# ---- a phase as numbers


def _plan(
    phase: Phase, workload: Workload, config: LogConfig, behaviour: ReleaseBehaviour
) -> tuple[np.ndarray, generator.Parts]:
    plan = np.zeros(1, generator.PLAN)
    headers, values = _headers(phase.headers)
    by_name = (
        {
            "unit_ns": 1e9 / phase.rate,
            "rate_of": traffic.RATES.index(phase.rate_of),
            "by_chance": phase.arrivals == traffic.BY_CHANCE,
            "start_ms": workload.start_ms,
            "delay_ms": phase.delay_ms,
            "fetch_batches": phase.fetch_batches,
            "leader_epoch": phase.leader_epoch,
            "batch_bytes": phase.batch_bytes,
            "header_count": len(phase.headers),
            "is_random": phase.content == traffic.RANDOM,
            "null_threshold": distributions.threshold(phase.null_share),
        }
        | _limits(phase)
        | _times(phase)
        | _keys(phase)
        | _producers(phase, config, behaviour)
    )
    for name, value in by_name.items():
        plan[name] = value
    pool = _random() if phase.content == traffic.RANDOM else _text()
    prefix = np.frombuffer(phase.keys.prefix.encode(), np.uint8) if phase.keys else NOTHING
    return plan, generator.Parts(_tables(phase), _freeze(prefix), _freeze(headers), values, pool)


def _limits(phase: Phase) -> dict[str, int]:
    """Returns the limits of a phase; the largest int64 for a limit that is not set."""
    most = np.iinfo(np.int64).max
    return {
        "most_ns": min(phase.duration_ms or LONGEST_MS, LONGEST_MS) * MS_NS,
        "most_records": phase.records or most,
        "most_batches": phase.batches or most,
        "most_bytes": phase.size_bytes or most,
    }


def _times(phase: Phase) -> dict[str, int]:
    return {
        "on_ns": phase.bursts.on_ms * MS_NS if phase.bursts else 0,
        "off_ns": phase.bursts.off_ms * MS_NS if phase.bursts else 0,
        "no_timestamps": phase.timestamps != traffic.CREATE,
        "ahead_ms": phase.clock_ahead_ms,
        "other_time": phase.events_from_ms is not None or phase.events_speed != 1,
        "from_ms": -1 if phase.events_from_ms is None else phase.events_from_ms,
        "speed_thousandths": round(phase.events_speed * 1000),
        "late_threshold": distributions.threshold(phase.late.share) if phase.late else 0,
        "future_threshold": distributions.threshold(phase.future.share) if phase.future else 0,
    }


def _keys(phase: Phase) -> dict[str, int]:
    if not phase.keys:
        return {"key_bytes": batch_encoder.NULL}
    digits = len(str(phase.keys.count - 1))
    return {
        "key_bytes": len(phase.keys.prefix.encode()) + digits,
        "key_digits": digits,
        "key_count": phase.keys.count,
        "keys_in_turn": phase.keys.in_turn,
    }


def _producers(phase: Phase, config: LogConfig, behaviour: ReleaseBehaviour) -> dict[str, int]:
    append_time = LOG_APPEND_TIME if config.message_timestamp_type == "LogAppendTime" else 0
    transactional = TRANSACTIONAL if phase.transactions else 0
    abort_share = phase.transactions.abort_share if phase.transactions else 0
    return {
        "attributes": codec.CODECS.index(phase.codec) | append_time | transactional,
        "marker_attributes": CONTROL | TRANSACTIONAL | append_time,
        "idempotent": phase.idempotent,
        "abort_threshold": distributions.threshold(abort_share),
        "leave_open": bool(phase.transactions and phase.transactions.leave_open),
        "epoch_each": versions.MARKER_RAISES_EPOCH.applies_to(behaviour.release),
    }


def _tables(phase: Phase) -> np.ndarray:
    nothing = Spread(mean=0)
    ranks = distributions.table(nothing)
    if phase.keys:
        ranks = distributions.rank_table(phase.keys.count, phase.keys.zipf)
    most = distributions.MAX_NUMBER
    transactions = phase.transactions
    return np.stack(
        [
            _limit_table(phase.records_per_batch, 1, traffic.MAX_RECORDS),
            _limit_table(phase.value_bytes, 0, traffic.MAX_VALUE_BYTES),
            ranks,
            _limit_table(phase.late.by_ms if phase.late else nothing, 0, most),
            _limit_table(phase.future.by_ms if phase.future else nothing, 0, most),
            _limit_table(transactions.batches if transactions else nothing, 0, traffic.MAX_RECORDS),
            distributions.waits(),
        ]
    )


def _limit_table(spread: Spread, least: int, most: int) -> np.ndarray:
    spread = replace(spread, least=max(spread.least, least), most=min(spread.most, most))
    return distributions.table(spread)


def _headers(headers: tuple[Header, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns (the bytes of a record's headers, position and size of each value in these bytes)."""
    header_bytes = bytearray()
    spans = []
    for header in headers:
        name = header.name.encode()
        size = batch_encoder.NULL if header.size_bytes is None else header.size_bytes
        header_bytes += _varint(len(name)) + name + _varint(size)
        spans.append((len(header_bytes), max(size, 0)))
        header_bytes += bytes(max(size, 0))
    return np.frombuffer(bytes(header_bytes), np.uint8), np.array(spans, generator.HEADER_SPAN)


def _varint(number: int) -> bytes:
    room = np.empty(10, np.uint8)
    return room[: batch_encoder.put_varint(room, 0, number)].tobytes()


# ---- the content of values


@lru_cache(maxsize=1)
def _text() -> np.ndarray:
    words = []
    count = 0
    while count < POOL_BYTES:
        word = WORDS[stream(np.uint64(0), len(words)) % len(WORDS)]
        words.append(word)
        count += len(word) + 1
    return _freeze(np.frombuffer(" ".join(words).encode(), np.uint8))


@lru_cache(maxsize=1)
def _random() -> np.ndarray:
    numbers = [stream(np.uint64(1), place) for place in range(POOL_BYTES // 2)]
    return _freeze(np.array(numbers, "<u8").view(np.uint8))


def _freeze(data: np.ndarray) -> np.ndarray:
    array = np.array(data, np.uint8)
    array.flags.writeable = False
    return array
