"""Which batches are merged, and the log that is written of them."""

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.analysis import sweep
from kafkaviz.analysis.batching import merging
from kafkaviz.analysis.batching.merging import delay_ms, merge_batches, merge_range, write_window
from kafkaviz.analysis.batching.record_sample import RecordSample, read_sample
from kafkaviz.analysis.tuning.log_windows import choose_windows
from kafkaviz.binary import varint
from kafkaviz.format import record
from kafkaviz.format.batch import CONTROL, HEADER_BYTES, LOG_APPEND_TIME, TRANSACTIONAL
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from tests.analysis.batching import samples
from tests.analysis.batching.samples import Sent
from tests.support.batch_reading import all_records

NO_ID = -1
# the size of a record of these tests, whose deltas have a byte each
RECORD_BYTES = len(record.build(Sent([0]).records(0)))


def numbers(sent: list[Sent], linger_ms=10, batch_bytes=16384, ratio=1.0) -> tuple[list, list]:
    """Returns the new batch of each record, with the fewest and the most merged."""
    low, high = fewest_and_most(samples.sample(sent), linger_ms, batch_bytes, ratio)
    return low.tolist(), high.tolist()


def fewest_and_most(
    sample: RecordSample, linger_ms: int, batch_bytes: int, ratio: float
) -> list[np.ndarray]:
    return [
        merge_batches(sample, linger_ms, batch_bytes, {"zstd": ratio}, is_high=is_high)
        for is_high in (False, True)
    ]


@pytest.mark.parametrize(
    ("sent", "low", "high"),
    [
        pytest.param([Sent([0, 1]), Sent([4])], [0, 0, 0], [0, 0, 0], id="one after the other"),
        pytest.param(
            [Sent([0]), Sent([1], 8), Sent([2]), Sent([3], 8)],
            [0, 1, 0, 1],
            [0, 1, 0, 1],
            id="two producers interleaved",
        ),
        pytest.param([Sent([0]), Sent([9])], [0, 0], [0, 0], id="before the linger ends"),
        pytest.param([Sent([0]), Sent([10])], [0, 1], [0, 0], id="when the linger ends"),
        pytest.param([Sent([0]), Sent([11])], [0, 1], [0, 1], id="after the linger ended"),
        pytest.param([Sent([0]), Sent([9, 11])], [0, 1, 1], [0, 0, 0], id="begins before its end"),
        pytest.param(
            [Sent([0]), Sent([6]), Sent([12]), Sent([17])],
            [0, 0, 1, 1],
            [0, 0, 1, 1],
            id="a linger begins with the first record of a batch",
        ),
        pytest.param([Sent([0]), Sent([1], epoch=1)], [0, 1], [0, 1], id="another epoch"),
        pytest.param(
            [
                Sent([0], attributes=TRANSACTIONAL),
                Sent([1], attributes=TRANSACTIONAL | CONTROL),
                Sent([2], attributes=TRANSACTIONAL),
                Sent([3], attributes=TRANSACTIONAL),
            ],
            [0, 1, 1],
            [0, 1, 1],
            id="a marker of the producer",
        ),
        pytest.param(
            [Sent([0]), Sent([1], 8, attributes=TRANSACTIONAL | CONTROL), Sent([2])],
            [0, 0],
            [0, 0],
            id="a marker of another producer",
        ),
        pytest.param([Sent([0], NO_ID), Sent([1], NO_ID)], [0, 1], [0, 0], id="no producer id"),
        pytest.param([Sent([0], codec_name="zstd"), Sent([1])], [0, 1], [0, 1], id="another codec"),
        pytest.param([Sent([0]), Sent([1], window=1)], [0, 1], [0, 1], id="another window"),
        pytest.param([Sent([5]), Sent([4])], [0, 1], [0, 0], id="a step back in time"),
        pytest.param([Sent([-1]), Sent([-1])], [0, 1], [0, 0], id="no timestamps"),
        pytest.param(
            [Sent([0, 3], attributes=LOG_APPEND_TIME), Sent([5, 13], attributes=LOG_APPEND_TIME)],
            [0, 0, 1, 1],
            [0, 0, 0, 0],
            id="LogAppendTime: all records have the latest time",
        ),
    ],
)
def test_which_batches_are_merged(sent, low, high):
    assert numbers(sent) == (low, high)


def test_other_partitions_of_a_producer_may_send_a_batch_early():
    """The fewest merged are those of requests at 0, 10, 20 ms ..."""
    sample = samples.sample([Sent([6]), Sent([9]), Sent([11]), Sent([15])])
    rule = {"linger_ms": 10, "batch_bytes": 16384, "ratios": {}, "is_high": False}
    assert merge_batches(sample, **rule).tolist() == [0, 0, 0, 0]
    assert merge_batches(sample, **rule, shared_ids=[7]).tolist() == [0, 0, 1, 1]
    assert merge_batches(sample, **rule, shared_ids=[8]).tolist() == [0, 0, 0, 0]


def test_a_producer_may_be_late():
    """Of a hundred batches the two longest were open for 3 ms longer than half of them."""
    sent = [Sent([20 * row, 20 * row + 1]) for row in range(98)]
    assert delay_ms(samples.sample(sent)) == 0
    sent += [Sent([2900, 2904]), Sent([3000, 3004])]
    assert delay_ms(samples.sample(sent)) == 3
    sample = samples.sample([*sent, Sent([3012]), Sent([3013])])
    low, high = merge_range(sample, 10, 16384, {})
    assert low[-4:].tolist() == [99, 99, 100, 100]
    assert high[-4:].tolist() == [99, 99, 99, 99]
    # at most by linger.ms
    assert merge_range(samples.sample([*sent, Sent([3005])]), 2, 16384, {})[1][-1] == 100


def test_a_batch_takes_the_records_that_fit():
    """The others begin the next batch, with a linger of its own."""
    room = HEADER_BYTES + 3 * RECORD_BYTES
    sent = [Sent([0, 1]), Sent([2, 3]), Sent([11]), Sent([14])]
    assert numbers(sent, batch_bytes=room)[0] == [0, 0, 0, 1, 1, 2]
    assert numbers(sent, batch_bytes=room - 1)[0] == [0, 0, 1, 1, 2, 2]


def test_a_batch_of_today_is_not_cut_because_it_is_large():
    sent = [Sent([0] * 9), Sent([1] * 9)]
    assert numbers(sent, batch_bytes=HEADER_BYTES + RECORD_BYTES)[0] == [0] * 9 + [1] * 9


def test_a_compressed_batch_is_full_by_its_estimated_bytes():
    """As MemoryRecordsBuilder.hasRoomFor: the next record is not yet compressed."""
    sent = [Sent([0], codec_name="zstd") for _ in range(10)]
    batch_bytes = HEADER_BYTES + int(6 * RECORD_BYTES * 0.5 * 1.05) + RECORD_BYTES
    low, high = numbers(sent, batch_bytes=batch_bytes, ratio=0.5)
    assert high == [0] * 7 + [1] * 3
    assert low == [0] * 4 + [1] * 4 + [2] * 2
    # without compression the two do not differ
    sent = [Sent([0]) for _ in range(10)]
    assert numbers(sent, batch_bytes=batch_bytes, ratio=0.5) == (low, low)


# ---- any batches

ATTRIBUTES = [0, 0, 0, TRANSACTIONAL, TRANSACTIONAL | CONTROL, LOG_APPEND_TIME]


@st.composite
def histories(draw) -> list[Sent]:
    """Returns batches of a log, in which time does not go back."""
    time_ms = 1000
    sent = []
    for _ in range(draw(st.integers(1, 25))):
        attributes = draw(st.sampled_from(ATTRIBUTES))
        count = 1 if attributes & CONTROL else draw(st.integers(1, 4))
        times_ms = []
        for _ in range(count):
            time_ms += draw(st.sampled_from([0, 0, 1, 2, 5, 200]))
            times_ms.append(time_ms)
        sent.append(
            Sent(
                times_ms,
                draw(st.sampled_from([NO_ID, 7, 8])),
                draw(st.sampled_from([0, 0, 0, 1])),
                attributes,
                draw(st.sampled_from(["none", "none", "zstd"])),
                draw(st.sampled_from([0, 5, 80])),
            )
        )
    return sent


SETTINGS = {
    "linger_ms": st.sampled_from([0, 1, 5, 10]),
    "batch_bytes": st.sampled_from([100, 200, 400, 16384]),
    "ratio": st.sampled_from([0.2, 0.5, 1.0, 1.4]),
}


def plain_numbers(
    sample: RecordSample,
    linger_ms: int,
    batch_bytes: int,
    ratio: float,
    *,
    is_high: bool,
    late_ms: int,
    shared_ids: list[int],
) -> list[int]:
    """Returns the same as merge_batches, from a dictionary of open batches."""
    opened: dict[tuple, dict] = {}
    markers: defaultdict[tuple, int] = defaultdict(int)
    result = []
    count = 0
    for row, batch in enumerate(sample.batches):
        producer = int(batch["window"]), int(batch["producer_id"])
        markers[producer] += bool(batch["attributes"] & CONTROL)
        flags = int(batch["attributes"]) & (7 | TRANSACTIONAL | LOG_APPEND_TIME)
        stream = (*producer, int(batch["producer_epoch"]), flags, markers[producer])
        records = sample.records[sample.records["batch"] == row]
        if not len(records):
            continue
        times = records["timestamp_ms"].tolist()
        is_compressed = is_high and flags & 7
        factor = min(1.0, 1.05 * ratio) if is_compressed else 1.0
        now = opened.get(stream)
        joins = now is not None and times[0] <= now["time"] + linger_ms + late_ms
        if now is not None and not is_high:
            end = now["time"] + linger_ms
            if batch["producer_id"] in shared_ids:
                end = next(
                    (time for time in range(now["time"] + 1, end) if not time % linger_ms), end
                )
            joins = (
                batch["producer_id"] >= 0 and 0 <= min(times) >= now["time"] and max(times) < end
            )
        for one in records:
            tail = int(one["end"] - one["tail"])
            if joins:
                size = record_size(int(one["timestamp_ms"]) - now["time"], now["count"], tail)
                joins = HEADER_BYTES + int(now["bytes"] * factor) + size <= batch_bytes
            if not joins and (now is None or now.get("row") != row):
                now = {"time": int(one["timestamp_ms"]), "count": 0, "bytes": 0, "row": row}
                now["number"], count = count, count + 1
                opened[stream] = now
            now["bytes"] += record_size(int(one["timestamp_ms"]) - now["time"], now["count"], tail)
            now["count"] += 1
            result.append(now["number"])
    return result


def record_size(time_delta: int, offset_delta: int, tail_bytes: int) -> int:
    size = 1 + len(varint.write_varlong(time_delta)) + len(varint.write_varint(offset_delta))
    return len(varint.write_varint(size + tail_bytes)) + size + tail_bytes


@settings(max_examples=150, deadline=None)
@given(
    histories(),
    *SETTINGS.values(),
    st.booleans(),
    st.sampled_from([0, 3]),
    st.sampled_from([[], [7], [7, 8]]),
)
def test_the_compiled_loop_is_the_plain_one(
    sent, linger_ms, batch_bytes, ratio, is_high, late_ms, shared_ids
):
    sample = samples.sample(sent)
    rule = {"is_high": is_high, "late_ms": late_ms, "shared_ids": shared_ids}
    found = merge_batches(sample, linger_ms, batch_bytes, {"zstd": ratio}, **rule)
    assert found.tolist() == plain_numbers(sample, linger_ms, batch_bytes, ratio, **rule)


@settings(max_examples=100, deadline=None)
@given(histories(), *SETTINGS.values())
def test_the_most_merged_are_never_more_batches(sent, linger_ms, batch_bytes, ratio):
    sample = samples.sample(sent)
    today = len(np.unique(sample.records["batch"]))
    low, high = fewest_and_most(sample, linger_ms, batch_bytes, ratio)
    assert high.max(initial=-1) <= low.max(initial=-1) < max(today, 1)
    for found in (low, high):
        assert len(found) == len(sample.records)
        assert len(np.unique(found)) == found.max(initial=-1) + 1
    low_of_range, high_of_range = merge_range(sample, linger_ms, batch_bytes, {"zstd": ratio})
    assert low_of_range.tolist() == low.tolist()
    assert high_of_range.max(initial=-1) <= high.max(initial=-1)


@settings(max_examples=60, deadline=None)
@given(histories(), *SETTINGS.values(), st.booleans())
def test_merged_batches_hold_the_same_records(sent, linger_ms, batch_bytes, ratio, is_high):
    """Only deltas change: keys, values, headers and timestamps of each producer are conserved."""
    sample = samples.sample(sent)
    found = merge_batches(sample, linger_ms, batch_bytes, {"zstd": ratio}, is_high=is_high)
    rows, data = write_window(sample, found, 0)
    read, end = walk(data.tobytes())
    assert end.reason == "end"
    read["position"] = rows["position"]
    assert read.tolist() == rows.tolist()
    expected = []
    offset = 0
    for batch in sent:
        times_ms = batch.times_ms
        if batch.attributes & LOG_APPEND_TIME:
            times_ms = [max(times_ms)] * len(times_ms)
        for time_ms, one in zip(times_ms, batch.records(offset), strict=True):
            if not batch.attributes & CONTROL:
                expected.append((batch.producer_id, time_ms, (one.key, one.value, one.headers)))
        offset += len(times_ms)
    assert decoded(data.tobytes(), rows) == sorted(expected)
    assert np.array_equal(rows["base_offset"][1:], rows["last_offset"][:-1] + 1)


def decoded(data: bytes, rows: np.ndarray) -> list[tuple]:
    result = []
    for row in rows:
        if row["attributes"] & CONTROL:
            continue
        body = data[row["position"] + HEADER_BYTES : row["position"] + row["size_bytes"]]
        parts = all_records(body, int(row["attributes"]) & 7, int(row["record_count"]))
        assert [one.offset_delta for one in parts] == list(range(len(parts)))
        for one in parts:
            time_ms = int(row["base_timestamp_ms"]) + one.timestamp_delta_ms
            content = one.key, one.value, one.headers
            result.append((int(row["producer_id"]), time_ms, content))
    return sorted(result)


# ---- the measured logs


def test_todays_batches_are_written_as_they_are(clean):
    """Kafka's own batches in every codec: the same bytes of the .log, and the same entries.

    cramjam's snappy makes blocks 0.3 % smaller than snappy-java, and other releases of the
    libraries may differ as much.
    """
    names = ["clicks-gzip", "clicks-snappy", "orders", "clicks-zstd", "payments", "refunds"]
    for name in names:
        logs = [(p, p.live) for p in open_broker(clean).partitions if p.topic == name]
        sample = read_sample(choose_windows(logs, None))
        merged = merging.measure_merges(sample, {}, 60, lingers_ms=[5], batch_sizes=[16384])
        segments = [segment.batches() for _, segments in logs for segment in segments]
        today = sweep.parts(segments, [4096], by_base_offset=True)
        share = 0 if name in ("payments", "refunds") else 0.03
        assert merged.stored_bytes == today.log_bytes
        assert merged.today.log_bytes == pytest.approx(today.log_bytes, rel=share / 3)
        assert merged.today.index_entries == pytest.approx(int(today.entries[0]), rel=share)
        headers_mean = today.sweep()["headers_mean"][0]
        assert merged.today.headers_mean == pytest.approx(headers_mean, rel=share)
        assert merged.today.records == len(sample.records)
        merge = merged.at(5, 16384)
        assert merge.high.batches <= merge.low.batches <= merged.today.batches
        assert merge.high.log_bytes <= merge.low.log_bytes <= merged.today.log_bytes
        assert merge.low.plain_bytes == merged.today.plain_bytes == len(sample.data)


def test_larger_batches_have_fewer_headers():
    sent = [Sent([time_ms], value_bytes=100) for time_ms in range(0, 4000, 2)]
    merged = merging.measure_merges(samples.sample(sent), {}, 60)
    assert merged.today.header_bytes == HEADER_BYTES * 2000
    low = merged.at(20, 16384).low
    assert low.batches == 200  # ten records in 20 ms
    # two bytes of deltas more for some records
    saved_bytes = merged.today.log_bytes - low.log_bytes
    assert 1800 * HEADER_BYTES - 2 * 2000 <= saved_bytes <= 1800 * HEADER_BYTES
    assert low.headers_mean < merged.today.headers_mean / 2
    with pytest.raises(KeyError):
        merged.at(7, 16384)


def test_a_log_without_records_has_nothing_to_merge():
    assert merging.measure_merges(samples.sample([]), {}, 1) is None
    marker = Sent([0], attributes=TRANSACTIONAL | CONTROL)
    assert merging.measure_merges(samples.sample([marker]), {}, 1) is None


def test_little_time_writes_one_window():
    sent = [Sent([time_ms], window=time_ms % 5) for time_ms in range(50)]
    sent.sort(key=lambda one: one.window)
    merged = merging.measure_merges(samples.sample(sent), {}, 0.0)
    assert (merged.windows, merged.today.records) == (1, 10)
    assert not math.isnan(merged.today.headers_mean)
