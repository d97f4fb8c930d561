"""Streams: batches as Kafka's readers read them, the same in any pieces."""

import hashlib
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.errors import KafkavizError
from kafkaviz.format import batch, batch_records, control, record
from kafkaviz.format.batch import BATCH, HEADER_BYTES
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.simulate.appends import ABORT, COMMIT, INCOMING, NO_MARKER
from kafkaviz.simulate.config import LogConfig, log_config, release_behaviour
from kafkaviz.simulate.producers import generator, streams
from kafkaviz.simulate.producers.distributions import UNIFORM, Spread
from kafkaviz.simulate.producers.traffic import (
    Bursts,
    Header,
    Phase,
    RecordKeys,
    TimestampShift,
    TransactionTraffic,
)
from kafkaviz.simulate.producers.workload import PRESETS, Workload, preset
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.simulate.workload_strategies import WORKLOADS
from tests.support.batch_reading import all_records, build_from_row

START_MS = Workload.start_ms
PLAIN, APPEND_TIME = LogConfig(), LogConfig(message_timestamp_type="LogAppendTime")
NEW, OLD = release_behaviour((4, 3, 1)), release_behaviour((3, 9, 0))
EVERYTHING = Phase(
    batches=60, rate=900, records_per_batch=Spread(UNIFORM, least=1, most=80),
    value_bytes=Spread(UNIFORM, least=0, most=300), null_share=0.2,
    keys=RecordKeys(200, 1.0, prefix="käse-"),
    headers=(Header("trace", 16), Header("", 0), Header("none")), producers=3,
    transactions=TransactionTraffic(Spread(UNIFORM, least=1, most=3), 0.4),
    late=TimestampShift(0.3, Spread(mean=90_000)),
)  # fmt: skip


def generate(
    workload: Workload | Phase, config: LogConfig = PLAIN, behaviour=NEW, **options
) -> tuple[np.ndarray, bytes]:
    workload = Workload(phases=(workload,)) if isinstance(workload, Phase) else workload
    chunks = list(streams.chunks(workload, config, behaviour, **options))
    rows = np.concatenate([np.empty(0, INCOMING), *(chunk.rows for chunk in chunks)])
    return rows, b"".join(chunk.data for chunk in chunks) if options.get("payload", True) else None


def pieces(rows: np.ndarray, data: bytes) -> list[bytes]:
    ends = np.cumsum([0, *rows["size_bytes"]]).tolist()
    assert ends[-1] == len(data)
    return [data[start:end] for start, end in pairwise(ends)]


def records(rows: np.ndarray, data: bytes) -> list[list[BatchRecord]]:
    result = []
    for piece in pieces(rows, data):
        batch_records.ensure_valid(piece)
        result.append(batch_records.read_batch(piece))
    return result


def check_twin(rows: np.ndarray, data: bytes) -> None:
    """Asserts that every batch is what format/ builds of its own records."""
    for row, piece in zip(rows, pieces(rows, data), strict=True):
        body, name = piece[HEADER_BYTES:], codec.name(int(row["attributes"]) & batch.CODEC_MASK)
        plain = codec.decompress(name, body)
        plain_records = all_records(plain, 0, int(row["record_count"]))
        assert record.build(plain_records) == plain
        assert build_from_row(row, body) == piece
        header = np.frombuffer(piece, np.uint8)[None, :HEADER_BYTES]
        (again,) = batch.rows(np.zeros(1, np.int64), header)
        assert all(again[field] == row[field] for field in BATCH.names if field != "position")


@pytest.mark.parametrize("name", codec.CODECS)
def test_batches_are_those_that_the_tables_of_format_build(name):
    """Keys, values, nulls, headers, deltas of more than one byte, markers; with each codec."""
    rows, data = generate(replace(EVERYTHING, codec=name))
    check_twin(rows, data)
    assert rows["record_count"].max() > 64
    assert set(rows["marker"]) == {ABORT, COMMIT, NO_MARKER}
    assert set(batch.codec(rows[rows["marker"] == NO_MARKER])) == {codec.CODECS.index(name)}
    assert set(batch.codec(rows[rows["marker"] != NO_MARKER])) == {0}


def test_a_seed_gives_the_same_bytes_everywhere():
    future = TimestampShift(0.1, Spread(mean=7))
    phase = replace(EVERYTHING, arrivals="by-chance", bursts=Bursts(20, 30), future=future)
    digest = "8c886a948b707ca2040f4f705baee2669fad22c4f46024a7e98987ed01a93f89"
    assert hashlib.sha256(generate(phase)[1]).hexdigest() == digest
    first, same, other = (
        generate(EVERYTHING, **seed)[1] for seed in ({}, {"seed": 1}, {"seed": 2})
    )
    assert first == same != other


def check_stream(workload: Workload, config: LogConfig, behaviour) -> tuple[np.ndarray, bytes]:
    """Asserts what holds for every stream: offsets, times, appends, checksums, records."""
    rows, data = generate(workload, config, behaviour)
    check_twin(rows, data)
    ends = np.concatenate([[workload.start_offset], rows["last_offset"] + 1])
    assert (rows["base_offset"] == ends[:-1]).all()
    assert (rows["last_offset"] - rows["base_offset"] + 1 == rows["record_count"]).all()
    assert (rows["record_count"] > 0).all()
    assert (np.diff(rows["now_ms"]) >= 0).all() or any(phase.delay_ms for phase in workload.phases)
    steps = np.diff(rows["append"], prepend=-1)
    assert ((steps == 0) | (steps == 1)).all()
    for row, read_records in zip(rows, records(rows, data), strict=True):
        times = [record.timestamp_ms for record in read_records]
        assert max(times) == row["max_timestamp_ms"]
        if not int(row["attributes"]) & (batch.LOG_APPEND_TIME | batch.CODEC_MASK):
            assert times.index(max(times)) == row["deep_offset"] - row["base_offset"]
            assert times[0] == row["base_timestamp_ms"]
        else:
            assert row["deep_offset"] == row["last_offset"]
    return rows, data


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    WORKLOADS,
    st.sampled_from([PLAIN, APPEND_TIME]),
    st.sampled_from([NEW, OLD]),
    st.integers(1, 40),
)
def test_any_workload_makes_batches_that_kafka_reads(
    workload, config, behaviour, batches_per_chunk
):
    rows, data = check_stream(workload, config, behaviour)
    again, same = generate(workload, config, behaviour, batches_per_chunk=batches_per_chunk)
    assert same == data
    assert again.tobytes() == rows.tobytes()
    pieces_of = {"batches_per_chunk": batches_per_chunk}
    bare, nothing = generate(workload, config, behaviour, payload=False, **pieces_of)
    assert nothing is None
    assert (bare["crc"] == 0).all()
    assert all((bare[name] == rows[name]).all() for name in INCOMING.names if name != "crc")


def test_a_chunk_with_little_room_changes_nothing(monkeypatch):
    """Where a batch no longer fits, and where one batch or one append is larger than a chunk."""
    for phase in (EVERYTHING, replace(EVERYTHING, fetch_batches=7)):
        rows, data = generate(phase)
        for room in (1, 500, 5000):
            with monkeypatch.context() as patch:
                patch.setattr(streams, "CHUNK_BYTES", room)
                chunks = list(streams.chunks(Workload(phases=(phase,)), PLAIN, NEW))
                again, same = generate(phase)
            assert same == data
            assert again.tobytes() == rows.tobytes()
            assert len(chunks) > 1
            appends = [number for chunk in chunks for number in np.unique(chunk.rows["append"])]
            assert appends == list(range(rows["append"][-1] + 1))
            most_bytes = room + phase.fetch_batches * rows["size_bytes"].max()
            assert max(len(chunk.data) for chunk in chunks) < most_bytes


# ---- time


def test_batches_come_at_their_rate():
    """500 records a second in batches of 9: one per 18 ms, with record times since the one before."""
    rows, data = generate(Phase(duration_ms=10_000, rate=500, records_per_batch=Spread(mean=9)))
    assert (np.diff(rows["now_ms"]) == 18).all()
    assert len(rows) == 556
    times_ms = [record.timestamp_ms - START_MS for record in records(rows, data)[1]]
    assert times_ms == [*range(2, 20, 2)]
    assert (rows["max_timestamp_ms"] == rows["now_ms"]).all()


@pytest.mark.parametrize(
    ("rate_of", "column"),
    [("records", "record_count"), ("bytes", "size_bytes"), ("batches", "magic")],
)
@pytest.mark.parametrize("arrivals", ["even", "by-chance"])
def test_a_rate_counts_records_bytes_or_batches(rate_of, column, arrivals):
    phase = Phase(
        duration_ms=100_000,
        rate=1000,
        rate_of=rate_of,
        arrivals=arrivals,
        records_per_batch=Spread(UNIFORM, least=1, most=5),
        producers=1,
    )
    rows, _ = generate(phase, payload=False)
    count = rows[column].sum() / (2 if column == "magic" else 1)
    assert count == pytest.approx(100_000, rel=0.12 if rate_of == "bytes" else 0.03)


def test_bursts_keep_the_rate_and_leave_pauses():
    phase = Phase(duration_ms=60_000, rate=100, bursts=Bursts(1000, 9000))
    rows, _ = generate(phase, payload=False)
    since = rows["now_ms"] - START_MS
    assert len(rows) == 6000
    assert ((since % 10_000) < 1000).all()


def test_silence_passes_and_a_phase_lasts_as_long_as_it_says():
    """The next phase begins where the one before ended, by its duration or with its last batch."""
    slow = Phase(duration_ms=10_000, rate=0.3)
    counted = Phase(batches=3, rate=1)
    phases = (slow, Phase(silence_ms=5000), counted, slow)
    rows, _ = generate(Workload(phases=phases), payload=False)
    times_ms = (rows["now_ms"] - START_MS).tolist()
    assert times_ms[:4] == [0, 3333, 6666, 9999]
    assert times_ms[4:7] == [15_000, 16_000, 17_000]
    assert times_ms[7:] == [17_000, 20_333, 23_666, 26_999]


@pytest.mark.parametrize(
    ("phase", "batches"),
    [
        (Phase(batches=7), 7),
        (Phase(records=7, records_per_batch=Spread(mean=3)), 3),
        (Phase(size_bytes=2000, value_bytes=Spread(mean=51)), 17),
        (Phase(duration_ms=7000), 7),
        (Phase(batches=9, records=5, duration_ms=60_000), 5),
    ],
)
def test_a_phase_ends_at_the_first_of_its_ends(phase, batches):
    rows, _ = generate(phase)
    assert len(rows) == batches
    if phase.records:
        assert rows["record_count"].sum() == phase.records


def test_a_stream_ends_after_a_hundred_years():
    rows, _ = generate(Phase(batches=1 << 40, rate=1e-6), payload=False)
    assert len(rows) == pytest.approx(100 * 365 * 86_400 / 1e6, abs=1)


def test_timestamps_may_be_of_another_clock():
    """Ahead, of another time, faster, or none; the broker's clock is separate."""
    phase = Phase(batches=3, rate=1)
    for clock, expected in (
        ({"clock_ahead_ms": -500}, [START_MS - 500, START_MS + 500, START_MS + 1500]),
        ({"events_from_ms": 1000, "events_speed": 60.5}, [1000, 61_500, 122_000]),
        ({"events_speed": 2}, [START_MS, START_MS + 2000, START_MS + 4000]),
        ({"events_speed": 0}, [START_MS] * 3),
        ({"timestamps": "none"}, [-1] * 3),
    ):
        rows, _ = generate(replace(phase, **clock))
        assert rows["max_timestamp_ms"].tolist() == expected, clock
    shifts = [TimestampShift(0.25, Spread(mean=mean)) for mean in (60_000, 90)]
    shifted = replace(phase, batches=400, late=shifts[0], future=shifts[1])
    late, _ = generate(shifted, payload=False)
    off = late["max_timestamp_ms"] - late["now_ms"]
    assert set(off.tolist()) == {0, -60_000, 90, -59_910}
    assert (off < 0).mean() == pytest.approx(0.25, abs=0.07)


def test_the_deep_offset_is_that_of_the_first_record_with_the_largest_time():
    """For uncompressed batches with late records, and several within a millisecond."""
    rows, data = generate(replace(EVERYTHING, rate=20_000))
    times = [
        [record.timestamp_ms for record in read_records]
        for read_records in records(rows, data)
        if read_records[0].sequence is not None
    ]
    rows = rows[rows["marker"] == NO_MARKER]
    newest = [batch_times.index(max(batch_times)) for batch_times in times]
    assert newest == (rows["deep_offset"] - rows["base_offset"]).tolist()
    assert (newest < rows["record_count"] - 1).any()
    packed, _ = generate(replace(EVERYTHING, codec="lz4"))
    assert (packed["deep_offset"] == packed["last_offset"]).all()


def test_log_append_time_is_the_brokers_clock():
    """Also as largest timestamp and for a marker; base and deltas keep the producer's times."""
    phase = replace(EVERYTHING, clock_ahead_ms=-777_000, delay_ms=5, late=None)
    rows, data = generate(phase, APPEND_TIME)
    assert batch.is_log_append_time(rows).all()
    assert (rows["max_timestamp_ms"] == rows["now_ms"]).all()
    sent, _ = generate(phase)
    assert (rows["base_timestamp_ms"] == sent["base_timestamp_ms"]).all()
    sent = sent[sent["marker"] == NO_MARKER]
    assert (sent["max_timestamp_ms"] < sent["now_ms"] - 777_000).all()
    for row, read_records in zip(rows, records(rows, data), strict=True):
        assert {record.timestamp_ms for record in read_records} == {int(row["now_ms"])}


# ---- records


def test_keys_come_in_turn_or_by_rank():
    def keys(these: RecordKeys) -> list[bytes]:
        rows, data = generate(Phase(batches=600, keys=these))
        return [record.key for read_records in records(rows, data) for record in read_records]

    assert keys(RecordKeys(11, in_turn=True, prefix="k"))[9:13] == [b"k09", b"k10", b"k00", b"k01"]
    drawn = keys(RecordKeys(100, 1.2, prefix=""))
    assert drawn.count(b"00") > drawn.count(b"01") > drawn.count(b"20")
    assert len(drawn[0]) == 2


def test_values_are_numbered_json_where_there_is_room():
    """Words if the field is short, and random bytes that no codec compresses."""
    rows, data = generate(Phase(batches=12, value_bytes=Spread(mean=40)))
    values = [read_records[0].value for read_records in records(rows, data)]
    assert [value[:12] for value in values[9:11]] == [b'{"n":9,"t":"', b'{"n":10,"t":']
    assert all(len(value) == 40 and value.endswith(b'"}') for value in values)
    for size in range(20):
        rows, data = generate(Phase(batches=1, value_bytes=Spread(mean=size)))
        assert len(records(rows, data)[0][0].value) == size
    many = Phase(batches=3, records_per_batch=Spread(mean=50), codec="lz4")
    text, _ = generate(many)
    noise, _ = generate(replace(many, content="random"))
    assert text["size_bytes"].max() < 0.8 * noise["size_bytes"].min()


def test_a_batch_is_filled_to_its_limit():
    many = Phase(batches=50, batch_bytes=1000, records_per_batch=Spread(mean=1000))
    rows, _ = generate(replace(many, value_bytes=Spread(UNIFORM, least=0, most=90)))
    assert (rows["size_bytes"] <= 1000).all()
    assert (rows["size_bytes"] > 1000 - 100).all()
    lonely, _ = generate(replace(many, batches=5, value_bytes=Spread(mean=5000)))
    assert (lonely["record_count"] == 1).all()


# ---- producers


def test_an_idempotent_producer_numbers_its_records():
    rows, _ = generate(Phase(batches=30, producers=3, records_per_batch=Spread(mean=4)))
    for producer in (1000, 1001, 1002):
        own = rows[rows["producer_id"] == producer]
        assert own["base_sequence"].tolist() == [4 * turn for turn in range(10)]
        assert (own["producer_epoch"] == 0).all()
    rows, _ = generate(Phase(batches=3, idempotent=False))
    for name in ("producer_id", "producer_epoch", "base_sequence"):
        assert (rows[name] == -1).all()


def test_a_sequence_wraps_to_0():
    """After 2147483647, by DefaultRecordBatch.incrementSequence."""
    workload = Workload(phases=(Phase(batches=3, records_per_batch=Spread(mean=5)),))
    state, producers = streams._begin(workload, None)
    producers["next_sequence"] = 2**31 - 7
    plan, rows = streams._plan(workload.phases[0], workload, PLAIN, NEW), np.empty(3, INCOMING)
    state["phase_start_ns"] = state["clock_ns"]
    state["marker_due"] = generator.NOBODY
    generator.generate(
        plan[0][0], plan[1], state[0], producers, rows, np.empty(0, np.uint8), 0, 0, 1 << 40, False
    )
    assert rows["base_sequence"].tolist() == [2**31 - 7, 2**31 - 2, 3]


@pytest.mark.parametrize(("behaviour", "epoch_each"), [(OLD, 0), (NEW, 1)])
def test_a_transaction_ends_with_its_marker(behaviour, epoch_each):
    """Since 4.0 with the next epoch, with which the next transaction starts at sequence 0."""
    rows, data = generate(replace(EVERYTHING, batches=200), behaviour=behaviour)
    check_twin(rows, data)
    all_pieces = pieces(rows, data)
    for producer in range(1000, 1003):
        own = np.flatnonzero(rows["producer_id"] == producer)
        epoch, sequence, since = 0, 0, 0
        for place in own:
            row = rows[place]
            if row["marker"] == NO_MARKER:
                since += 1
                assert (row["producer_epoch"], row["base_sequence"]) == (epoch, sequence)
                assert batch.is_transactional(rows[place : place + 1])[0]
                sequence += row["record_count"]
                continue
            assert 1 <= since <= 3
            epoch, sequence, since = epoch + epoch_each, 0 if epoch_each else sequence, 0
            assert (row["producer_epoch"], row["base_sequence"]) == (epoch, -1)
            assert row["size_bytes"] == 78
            assert row["base_timestamp_ms"] == row["max_timestamp_ms"] == row["now_ms"]
            marker = batch_records.read_batch(all_pieces[place])[0]
            kind = "ABORT" if row["marker"] == ABORT else "COMMIT"
            text = control.decode(marker.key, marker.value).text
            assert text == f"endTxnMarker: {kind} coordinatorEpoch: 0"
        assert since == 0
    shares = (rows["marker"] == ABORT).sum() / (rows["marker"] != NO_MARKER).sum()
    assert shares == pytest.approx(0.4, abs=0.15)


def test_transactions_may_be_left_open():
    """Open ones at a phase's end get no marker, and continue in the next phase."""
    phase = Phase(batches=7, transactions=TransactionTraffic(Spread(mean=5), leave_open=True))
    rows, _ = generate(Workload(phases=(phase, phase)))
    assert np.flatnonzero(rows["marker"] == COMMIT).tolist() == [5, 11]
    ended, _ = generate(replace(phase, transactions=TransactionTraffic(Spread(mean=5))))
    assert np.flatnonzero(ended["marker"] == COMMIT).tolist() == [5, 8]


def test_a_producer_whose_epochs_are_used_up_gets_another_id():
    """The coordinator gives it, with epoch 0."""
    phase = Phase(batches=32_770, rate=1e6, transactions=TransactionTraffic())
    rows, _ = generate(phase, payload=False)
    assert rows["producer_epoch"].max() == 2**15 - 2
    assert len(set(rows["producer_id"].tolist())) == 2
    assert rows["producer_epoch"][-3:].tolist() == [3, 3, 4]


# ---- appends


def test_a_follower_takes_many_batches_at_once():
    """At the time of the last of them; the last append of a phase may be smaller."""
    phase = Phase(batches=10, rate=1, fetch_batches=4)
    rows, _ = generate(Workload(phases=(phase, phase)))
    sizes = [4, 4, 2, 4, 4, 2]
    assert rows["append"].tolist() == np.repeat(range(6), sizes).tolist()
    seconds = ((rows["now_ms"] - START_MS) // 1000).tolist()
    assert seconds == np.repeat([3, 7, 9, 12, 16, 18], sizes).tolist()
    assert (rows["max_timestamp_ms"][:4] - START_MS).tolist() == [0, 1000, 2000, 3000]


@pytest.mark.parametrize(
    ("behaviour", "name", "words"),
    [
        ((0, 10, 2), "none", "Kafka 0.10.2 does not support record batches; .* does is 0.11"),
        ((2, 0), "zstd", "Kafka 2.0 does not support zstd batches; .* release that does is 2.1"),
    ],
)
def test_a_release_that_knows_no_such_batch_is_reported(behaviour, name, words):
    workload = Workload(phases=(Phase(silence_ms=1), Phase(batches=1, codec=name)))
    with pytest.raises(KafkavizError, match=f"^phase 2: {words}$"):
        generate(workload, behaviour=release_behaviour(behaviour))


# ---- the presets

ROLLS = {
    "heartbeat": {RollCause.TIME: 4},
    "orders": {RollCause.SIZE: 7},
    "clickstream": {RollCause.SIZE: 6},
    "iot": {RollCause.TIME_INDEX_FULL: 4, RollCause.OFFSET_INDEX_FULL: 6},
    "backfill": {RollCause.TIME: 24},
    "bad-clock": {RollCause.TIME: 8},
    "late-phones": {RollCause.SIZE: 3},
    "append-time": {RollCause.TIME: 5},
    "no-timestamps": {RollCause.TIME: 5},
    "follower": {RollCause.SIZE: 2},
    "strimzi": {RollCause.TIME_INDEX_FULL: 4},
    "day": {RollCause.SIZE: 5, RollCause.TIME: 3, RollCause.TIME_INDEX_FULL: 8},
    "steady": {RollCause.SIZE: 14},
}


def written(workload: Workload, payload: bool = True) -> tuple[UnifiedLog, np.ndarray]:
    config, behaviour = log_config(dict(workload.settings)), release_behaviour(workload.release)
    log = UnifiedLog(
        config,
        behaviour,
        now_ms=workload.start_ms,
        start_offset=workload.start_offset,
        is_leader=workload.is_leader,
    )
    chunks = list(streams.chunks(workload, config, behaviour, payload=payload))
    for chunk in chunks:
        log.append(chunk.rows, chunk.data)
    return log, np.concatenate([chunk.rows for chunk in chunks])


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_shows_what_its_story_says(name):
    workload = preset(name)
    log, rows = written(workload, payload=False)
    causes = [event.reason.cause for event in log.events]
    assert {cause: causes.count(cause) for cause in causes} == ROLLS[name]
    assert rows["size_bytes"].sum() < 256 << 20
    config, behaviour = log_config(dict(workload.settings)), release_behaviour(workload.release)
    first = next(streams.chunks(workload, config, behaviour, batches_per_chunk=300))
    check_twin(first.rows, first.data)


def test_no_segment_rolls_by_time_after_a_bad_clock():
    log, rows = written(preset("bad-clock"), payload=False)
    ahead = rows["base_offset"][rows["max_timestamp_ms"] > rows["now_ms"] + 86_400_000]
    assert [event.offset for event in log.events][-1:] == ahead.tolist()


def test_strimzis_example_comes_out():
    """Batches of 119 bytes; the first segment ends at offset 48 with 24 of 25 time slots."""
    log, rows = written(preset("strimzi"))
    assert set(rows["size_bytes"].tolist()) == {119}
    assert log.events[0].offset == 49
    assert (log.events[0].reason.actual, log.events[0].reason.limit) == (24, 24)


@pytest.mark.parametrize(
    ("phases", "where"),
    [
        ((Phase(silence_ms=streams.LONGEST_MS), Phase(records=1)), "phase 2: "),
        ((Phase(silence_ms=streams.LONGEST_MS), Phase(silence_ms=1)), "phase 2, silence: "),
        ((Phase(silence_ms=streams.LONGEST_MS),) * 3, "phase 2, silence: "),
    ],
)
def test_no_phase_after_a_hundred_years_is_lost(phases, where):
    with pytest.raises(KafkavizError, match=f"^{where}a workload lasts 36500d at most"):
        generate(Workload(phases=phases))
