"""The effect of another segment.index.bytes: roll rules compared with a real broker's segments,
with the writer and with sums; and the reads of a search.
"""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis import sweep
from kafkaviz.analysis.tuning import index_size
from kafkaviz.analysis.tuning.index_size import LogRound, log_round, search_cost
from kafkaviz.analysis.tuning.interval_cost import compute_cost
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.simulate.appends import AppendChunk
from kafkaviz.simulate.config import LogConfig, release_behaviour
from kafkaviz.simulate.writer.open_segment import OpenSegment
from kafkaviz.simulate.writer.roll_reason import CAUSES, RollCause
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.analysis import arrays
from tests.support.tuning import NEW, cold_reads

OFFSET_FULL, TIME_FULL = 3, 4


def incoming(sizes: list[int], times_ms: list[int], appends: list[int] | None = None) -> np.ndarray:
    return arrays.incoming(arrays.batches(sizes, times_ms=times_ms), appends)


def steady(count: int = 100, batch_bytes: int = 1000, gap_ms: int = 1) -> LogRound:
    rows = incoming([batch_bytes] * count, [1_700_000_000_000 + gap_ms * n for n in range(count)])
    return log_round([AppendChunk(rows)])


def counts(segment: OpenSegment) -> tuple[int, int]:
    return segment.index.count, segment.timeindex.count


def as_tuples(segments: np.ndarray | None) -> list[tuple[int, int, int, int]]:
    names = ["cause", "log_bytes", "offset_entries", "time_entries"]
    return [tuple(map(int, row)) for row in segments[names].tolist()]


@pytest.fixture(scope="module")
def tiny(clean):
    """Returns batches of 119 B by Kafka 4.3.1 with an interval of 150 and an index of 300 B."""
    return open_source(clean / "tiny-index-0")


# ---- when segments roll


@pytest.mark.parametrize(
    ("directory", "closed"),
    [
        ("tiny-index-0", 28),
        ("rolls-by-time-0", 12),
        ("heartbeat-0", 3),
        ("orders-0", 2),
        ("weblogs-0", 1),
    ],
)
def test_it_closes_the_segments_that_a_broker_closed(clean, directory, closed):
    """Kafka 4.3.1 rolled by a full time index of 300 B, by time and by size."""
    source = open_source(clean / directory)
    (log,) = index_size.log_rounds(source)
    files = sorted((clean / directory).glob("*.log"))[:-1]
    written = [
        (
            file.stat().st_size,
            file.with_suffix(".index").stat().st_size // 8,
            file.with_suffix(".timeindex").stat().st_size // 12,
        )
        for file in files
    ]
    assert len(written) == closed
    segments = as_tuples(index_size.close_segments(log, source.total.today.config))
    assert [row[1:] for row in segments[:closed]] == written


def test_a_real_index_of_300_bytes_ends_at_24_entries(tiny):
    """25 slots of 12 bytes, of which one is kept; 37 slots of 8."""
    case = tiny.total
    outcome = index_size.write_with(index_size.log_rounds(tiny), case.today.config)
    assert (outcome.config.offset_slots, outcome.config.usable_time_slots) == (37, 24)
    assert outcome.rolls == {"time-index-full": 29}
    assert (outcome.log_bytes, outcome.offset_entries, outcome.time_entries) == (5831, 24, 24)


@pytest.mark.parametrize("index_bytes", [24, 64, 300, 1024, 10 << 20])
@pytest.mark.parametrize("interval", [0, 150, 4096])
def test_the_writer_closes_the_same(tiny, index_bytes, interval):
    config = replace(
        tiny.total.today.config,
        segment_index_bytes=index_bytes,
        index_interval_bytes=interval,
        segment_bytes=50_000,
    )
    chunks, start = tiny.total.logs[0]
    log = UnifiedLog(config, tiny.behaviour, now_ms=0, start_offset=start)
    for chunk in chunks():
        log.append(chunk.rows.copy())
    log.close(0)
    written = [
        (CAUSES.index(closed.roll_reason.cause), closed.log_bytes, *counts(closed))
        for closed in log.segments
        if closed.roll_reason
    ]
    (rounds,) = index_size.log_rounds(tiny)
    closed = as_tuples(index_size.close_segments(rounds, config))
    assert len(written) >= 3
    assert closed[: len(written)] == written


def test_the_offset_index_is_full_with_its_last_slot():
    """With one timestamp the time index gets one entry. The offset index has eight slots and an
    entry per fifth batch; the batch after the eighth entry rolls.
    """
    log = replace(steady(gap_ms=0), next_ms=0)
    (first, *_) = as_tuples(index_size.close_segments(log, LogConfig(segment_index_bytes=64)))
    assert first == (OFFSET_FULL, 41_000, 8, 1)


def test_the_example_of_the_module():
    """100 KiB compared with the default, batches of 1000 B a millisecond apart."""
    small, default = (
        index_size.write_with([steady()], LogConfig(segment_index_bytes=size))
        for size in (102_400, 10 << 20)
    )
    assert (small.config.offset_slots, small.config.usable_time_slots) == (12_800, 8532)
    assert (small.cause, small.entries) == (RollCause.TIME_INDEX_FULL, 8532)
    assert small.log_bytes == 8532 * 5000 + 1000
    assert small.rolls_per_gib == pytest.approx(25.2, abs=0.05)
    assert (default.cause, default.entries) == (RollCause.SIZE, 214_748)
    assert default.rolls_per_gib == pytest.approx(1.0, abs=1e-5)
    assert small.search().mean_probes == pytest.approx(14.4, abs=0.05)
    assert default.search().mean_probes == pytest.approx(19.7, abs=0.05)


def test_an_append_of_several_batches_gets_one_entry_up_to_4_0_0():
    """KAFKA-806: the writer of 3.9.0 does so on a follower."""
    rows = incoming([1000] * 60, list(range(1000, 1060)), [number // 6 for number in range(60)])
    config = LogConfig(segment_index_bytes=64, segment_bytes=100_000)
    writer = UnifiedLog(config, release_behaviour((3, 9, 0)), now_ms=0, is_leader=False)
    writer.append(rows.copy())
    log = log_round([AppendChunk(rows)], per_append=True)
    closed = as_tuples(index_size.close_segments(log, config))
    first = writer.segments[0]
    assert closed[0] == (TIME_FULL, first.log_bytes, *counts(first)) and first.index.count == 4


def test_what_kafka_cannot_write_is_no_outcome():
    """A batch larger than a segment, and a time index with its kept slot only."""
    assert index_size.close_segments(steady(), LogConfig(segment_bytes=999)) is None
    assert index_size.close_segments(steady(), LogConfig(segment_index_bytes=23)) is None
    assert index_size.close_segments(steady(), LogConfig(segment_index_bytes=24)) is not None


def test_a_follower_whose_append_fills_an_index_is_no_outcome():
    """From 4.0.1 on each batch gets its entry, and the fifth finds the time index full."""
    rows = incoming([5000] * 60, list(range(1000, 1060)), [number // 30 for number in range(60)])
    log = log_round([AppendChunk(rows)])
    assert index_size.close_segments(log, LogConfig(segment_index_bytes=64)) is None


def test_a_stopped_clock_has_no_rolls_per_day():
    outcome = index_size.write_with([replace(steady(gap_ms=0), next_ms=0)], LogConfig())
    assert outcome.rolls_per_day == float("inf")


# ---- every size


def test_sizes_above_the_first_that_never_fills_write_the_same_log():
    config = LogConfig(segment_bytes=1 << 20)
    outcomes = index_size.sweep_index_sizes([steady()], config)
    alone = [
        index_size.write_with([steady()], replace(config, segment_index_bytes=each.index_bytes))
        for each in outcomes
    ]
    assert list(outcomes) == alone
    assert [each.index_bytes for each in outcomes] == sorted({*index_size.INDEX_SIZES, 10 << 20})


@pytest.mark.parametrize(("name", "first"), [("tiny-index-0", "time"), ("dense-index-0", "offset")])
def test_one_byte_below_the_safe_size_an_index_ends_a_segment(clean, name, first):
    source = open_source(clean / name)
    rounds = index_size.log_rounds(source)
    config = source.total.today.config
    outcomes = index_size.sweep_index_sizes(rounds, config)
    safe = index_size.safe_index_size(rounds, config, outcomes)
    below, at = (
        index_size.write_with(rounds, replace(config, segment_index_bytes=index_bytes))
        for index_bytes in (safe.index_bytes - 1, safe.index_bytes)
    )
    assert safe.cause == f"{first}-index-full"
    assert safe.cause in below.rolls
    assert not at.is_index_full


def test_a_log_may_have_no_safe_size_or_only_safe_sizes():
    config = LogConfig(segment_bytes=1 << 20)
    outcomes = index_size.sweep_index_sizes([steady()], config)
    full = [outcome for outcome in outcomes if outcome.is_index_full]
    never = index_size.safe_index_size([steady()], config, full)
    assert (never.index_bytes, never.cause) == (float("inf"), RollCause.TIME_INDEX_FULL)
    always = index_size.safe_index_size([steady()], config, outcomes[-1:])
    assert (always.index_bytes, always.cause) == (0, None)


def test_larger_sizes_never_roll_sooner(tiny):
    case = tiny.total
    outcomes = index_size.sweep_index_sizes(index_size.log_rounds(tiny), case.today.config)
    rolls = [each.rolls_per_gib for each in outcomes]
    assert rolls == sorted(rolls, reverse=True)
    probes = [each.search(warm=False).mean_probes for each in outcomes]
    assert probes == sorted(probes)


def test_a_log_without_a_batch_has_no_round():
    assert log_round([]) is None
    assert index_size.write_with([], LogConfig()) is None


# ---- what a search reads


@pytest.mark.parametrize(
    ("entries", "mean"), [(3, 1.6667), (5, 2.4), (683, 9.5007), (1000, 9.976), (261_120, 17.9961)]
)
def test_a_plain_search_reads_slot_0_and_bisects(entries, mean):
    """The means of the tuning model, which leave the first slot out."""
    assert search_cost(entries, warm=False).mean_probes == pytest.approx(1 + mean, abs=5e-5)


def test_the_reader_at_the_end_stays_in_the_warm_section():
    """Pages 11 to 13 of 14, and 12 probes where bisection takes 14."""
    warm, plain = search_cost(7168), search_cost(7168, warm=False)
    assert (warm.tail_probes, warm.tail_pages) == (12, 3)
    assert (plain.tail_probes, plain.tail_pages) == (14, 5)


@pytest.mark.parametrize("interval", [0, 512, 4096, 16_384])
@pytest.mark.parametrize("directory", ["heartbeat-0", "orders-0"])
def test_a_lookup_reads_and_costs_what_the_curve_of_intervals_says(clean, directory, interval):
    source = open_source(clean / directory, overrides={"index.interval.bytes": str(interval)})
    case = source.total
    outcome = index_size.write_with(index_size.log_rounds(source), case.today.config)
    cost = compute_cost(case.measurement, NEW, case.measurement.replay_cost(interval))
    assert outcome.headers == pytest.approx(float(cost.row["headers_mean"]), rel=0.02)
    assert outcome.log_reads == pytest.approx(cost.cold_reads_mean, rel=0.02)
    assert outcome.cold_us(NEW).typical == pytest.approx(cost.cold_mean_us.typical, rel=0.02)


@pytest.mark.parametrize("records", [1, 5])
def test_headers_and_reads_of_a_segment_are_the_sweeps(records):
    sizes = np.random.default_rng(3).integers(100, 9000, 500).tolist()
    batches = arrays.batches(sizes, [records] * 500)
    log = log_round([AppendChunk(arrays.incoming(batches))])
    config = LogConfig(index_interval_bytes=20_000, segment_bytes=sum(sizes))
    (segment, *_) = index_size.close_segments(log, config)
    assert segment["batches"] == 500
    (row,) = sweep.sweep(batches, (20_000,))
    assert segment["headers"] / 500 == row["headers_mean"]
    reads = cold_reads(batches, np.array([20_000]), by_base_offset=True)
    assert segment["log_reads"] / 500 == sweep.mean(reads.counts[0])


def test_a_lookup_in_an_append_of_one_entry_starts_at_its_first_batch():
    """Ten appends of six batches, KAFKA-806: the same numbers as the sweep of such appends."""
    rows = incoming([1000] * 60, list(range(1000, 1060)), [number // 6 for number in range(60)])
    log = log_round([AppendChunk(rows)], per_append=True)
    config = LogConfig(segment_bytes=60_000)
    segments = index_size.close_segments(log, config)
    sweeper = sweep.Sweeper((4096,), by_append=True)
    sweeper.observe(rows)
    (row,) = sweeper.result().sweep()
    assert segments[0]["headers"] / 60 == row["headers_mean"]
