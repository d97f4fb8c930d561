"""The recommendation: budgets, plateaus, gains within the error, and reasons to keep a setting."""

from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cold_reads import ColdReads
from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost, compute_cost
from kafkaviz.analysis.tuning.measurement import (
    CurrentConfig,
    MeasurementBuilder,
    merge_measurements,
)
from kafkaviz.analysis.tuning.recommendation import (
    ReasonCode,
    Recommendation,
    TuningVerdict,
    candidates,
    not_fixed,
    recommend,
    recommend_all,
    recommend_broker,
)
from kafkaviz.analysis.tuning.segment_size import limits_at
from kafkaviz.simulate.config import LogConfig
from tests.analysis import arrays
from tests.support.tuning import NEW, OLD, measure, measured

UNBOUND = Budgets(p99_us=None)
KEEP, CHANGE = TuningVerdict


def today(interval: int = 4096, **more) -> CurrentConfig:
    return CurrentConfig(
        interval_bytes=interval, interval_source="as typed", topic="orders", **more
    )


def codes(recommendation: Recommendation) -> list[str]:
    return [reason.code for reason in recommendation.reasons]


def replayed(measurement, costs, interval: int) -> IntervalCost:
    return compute_cost(measurement, costs, measurement.replay_cost(interval))


def outcome(recommendation: Recommendation) -> tuple[TuningVerdict, int, int, str]:
    """Returns the verdict, the proposed and the considered interval, and the last reason's code."""
    return (
        recommendation.verdict,
        recommendation.value,
        recommendation.considered_bytes,
        codes(recommendation)[-1],
    )


def test_batches_of_16_kb_keep_the_default():
    recommendation = recommend(measured(16_384, spread=2000), today(), Budgets(), OLD)
    assert outcome(recommendation) == (KEEP, 4096, 131_072, "smaller-too-little")
    words = tuning_text.describe_reason(recommendation.reasons[0])
    assert words.key == "tuning_reason.every-batch-indexed-default"
    assert words["interval"] == 4096


@pytest.mark.parametrize(("costs", "value"), [(OLD, 1024), (NEW, 2048)])
def test_tiny_batches_get_a_value_that_is_not_worth_a_change(costs, value):
    """Batches of 97 bytes with one record each exceed 50 µs at the high end.

    The gain is given with its range and is too small.
    """
    recommendation = recommend(measured(97, 20_000, 1, 2), today(), Budgets(), costs)
    assert outcome(recommendation) == (KEEP, 4096, value, "faster-too-little")
    assert "over-budget" in codes(recommendation)
    gain = recommendation.gain.p99_us
    assert 0 < gain.low < gain.typical < gain.high and gain.low < 50
    words = tuning_text.describe_reason(recommendation.reasons[-1])
    assert words.key == "tuning_reason.faster-too-little"
    assert (words["to"], words["least_us"]) == (value, 50.0)
    assert words["gain"].key == "tuning_reason.gain_grows"
    left = [reason.code for reason in recommendation.not_fixed]
    assert left == ["tiny-batches", "cold", "old-segments"]


@pytest.mark.parametrize(("costs", "budget_us"), [(OLD, 25), (NEW, 15)])
def test_who_asks_for_less_gets_a_change(costs, budget_us):
    budgets = Budgets(p99_us=budget_us)
    recommendation = recommend(measured(97, 20_000, 1, 2), today(), budgets, costs)
    assert outcome(recommendation) == (CHANGE, 256, 256, "faster")
    assert recommendation.gain.p99_us.low > budget_us
    assert recommendation.gain.index_share.typical < 0
    assert recommendation.proposed_cost.p99_us.high <= budget_us
    assert budget_us < recommendation.current_cost.p99_us.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mean", "budget", "interval"),
    [
        (1000, 25, 7766),
        (16_384, 50, 360_974),
        pytest.param(200, 25, 1410, marks=pytest.mark.nightly),
        pytest.param(1000, 100, 42_779, marks=pytest.mark.nightly),
    ],
)
def test_the_largest_interval_within_a_budget(mean, budget, interval):
    """The table of p99 budgets at 1.8 µs per header: the next lower round value."""
    random = np.random.default_rng(6)
    spread2 = {200: 0.3, 1000: 0.5, 16_384: 0.1}[mean]
    sigma = np.log(1 + spread2) ** 0.5
    drawn = random.lognormal(np.log(mean) - sigma**2 / 2, sigma, 200_000)
    sizes = np.maximum(70, drawn).astype(int).tolist()
    measurement = measure(arrays.batches(sizes, [5] * len(sizes)), by_base_offset=False)
    exact = replace(
        OLD, header_us=cost_model.Range(1.8, 1.8, 1.8), first_us=cost_model.Range(2.2, 2.2, 2.2)
    )
    recommendation = recommend(measurement, today(), Budgets(p99_us=budget), exact)
    assert recommendation.considered_bytes == 1 << (interval.bit_length() - 1)


def test_a_gain_within_its_error_is_not_counted():
    """The next lower interval would gain less than a fifth of the budget at the low end."""
    measurement = measured(1000)
    over = replayed(measurement, OLD, 4096).p99_us.high - 0.1
    recommendation = recommend(measurement, today(), Budgets(p99_us=over), OLD)
    assert outcome(recommendation) == (KEEP, 4096, 2048, "faster-too-little")


def test_a_needlessly_dense_index_is_made_smaller():
    """Interval 0 with batches of 500 bytes: the index is 4 % of the log."""
    measurement = measure(arrays.batches([500] * 3000, [5] * 3000), extra_intervals={0})
    recommendation = recommend(measurement, today(0), Budgets(), NEW)
    assert outcome(recommendation) == (CHANGE, 8192, 8192, "smaller")
    assert recommendation.gain.index_share.low > 0.01


def test_nothing_is_proposed_below_the_smallest_batch():
    assert candidates(measured(3000), today(), OLD)[:2] == [2048, 4096]
    recommendation = recommend(measured(3000), today(), Budgets(p99_us=0.1), OLD)
    assert outcome(recommendation) == (KEEP, 4096, 2048, "unmeetable")
    assert not recommendation.meets_budgets


@pytest.mark.parametrize(
    ("size", "records", "budgets", "considered", "words"),
    [
        (97, 1, Budgets(p99_us=1), 64, "64 comes nearest, and with it the p99 lookup takes"),
        (1000, 5, Budgets(p99_us=5, index_share=0.001), 4096, "0.40 %, above the budget of 0.10 %"),
        (1000, 5, replace(UNBOUND, index_share=0.0), 2_097_152, "< 0.01 %, above the budget of"),
    ],
)
def test_what_no_interval_can_do_is_reported(size, records, budgets, considered, words):
    """Then nothing is changed, and the nearest interval is named with how far it misses the budget."""
    recommendation = recommend(measured(size, 4000, records), today(), budgets, NEW)
    assert outcome(recommendation) == (KEEP, 4096, considered, "unmeetable")
    assert not recommendation.meets_budgets
    assert words in str(tuning_text.describe_reason(recommendation.reasons[-1]))


def test_where_only_the_index_is_bounded_lookups_stay_as_cheap_as_they_can():
    """A tenth of a per cent: the smallest interval that fits, not one without an entry."""
    measurement = measured(1000, 20_000)
    narrow = recommend(measurement, today(), Budgets(p99_us=None, index_share=0.001), NEW)
    assert outcome(narrow) == (CHANGE, 32_768, 32_768, "smaller")
    next_lower = replayed(measurement, NEW, 16_384)
    assert narrow.proposed_cost.index_share <= 0.001 < next_lower.index_share
    wide = recommend(measurement, today(), Budgets(p99_us=None, index_share=0.5), NEW)
    assert outcome(wide) == (KEEP, 4096, 512, "faster-too-little")


def test_who_asks_for_nothing_changes_nothing():
    recommendation = recommend(measured(500), today(), UNBOUND, NEW)
    assert outcome(recommendation) == (KEEP, 4096, 4096, "within-budget")
    assert recommendation.meets_budgets
    budget = tuning_text.describe_reason(recommendation.reasons[-1])
    assert [part.key for part in budget["parts"]] == ["tuning_reason.p99_unasked"]


def test_too_few_batches_say_nothing():
    recommendation = recommend(measured(97, 100, 1), today(), Budgets(p99_us=20), OLD)
    assert outcome(recommendation) == (KEEP, 4096, 256, "too-little-data")


def test_an_empty_log_has_no_answer():
    assert recommend(measure(), today(), Budgets(), NEW) is None


def test_remote_storage_bounds_what_a_read_carries():
    """Five per cent of a fetch of 1 MiB; half the index bytes cache twice the segments."""
    measurement = measured(1000, 20_000)
    recommendation = recommend(measurement, today(is_tiered=True), UNBOUND, OLD)
    assert outcome(recommendation) == (CHANGE, 32_768, 32_768, "smaller-for-tiered")
    values = recommendation.reasons[-1].values
    assert values["cached_segments_other"] > 2 * values["cached_segments_now"]
    words = tuning_text.describe_reason(recommendation.reasons[-1])
    assert words.key == "tuning_reason.smaller-for-tiered"
    assert "bound-tiered" not in codes(recommend(measurement, today(), UNBOUND, OLD))


@pytest.mark.parametrize(
    "costs",
    [
        cost_model.lookup_costs(by_base_offset=False, storage="hdd"),
        replace(
            OLD,
            storage=cost_model.Storage(cost_model.CALIBRATED, cost_model.Range(5000, 9000, 20_000)),
        ),
    ],
    ids=["hdd", "calibrated"],
)
def test_a_disk_that_seeks_takes_no_interval_above_a_batch(costs):
    """A calibration has its own name but the same bound."""
    assert max(candidates(measured(16_384), today(), costs)) <= 16_384
    assert "bound-hdd" in codes(recommend(measured(16_384), today(), Budgets(), costs))


def test_a_cold_lookup_reads_its_index_too():
    """At one entry per batch the index is larger, and its search takes more reads."""
    measurement = measured(100, 200_000)
    dense, sparse = (replayed(measurement, NEW, interval) for interval in (0, 65_536))
    assert dense.index_reads > sparse.index_reads == 1.0
    reason = next(why for why in not_fixed(dense, measured(100), NEW) if why.code == "cold")
    words = tuning_text.describe_reason(reason)
    assert words.key == "tuning_reason.cold"
    assert (words["index"], words["reads"]) == (dense.index_reads, dense.cold_reads_mean)


def test_old_batches_cost_half():
    measurement = measured(1000)
    new, old = (
        replayed(replace(measurement, one_read_share=share), OLD, 4096) for share in (0.0, 1.0)
    )
    first_us = OLD.first_us.typical
    assert old.p99_us.typical - first_us == pytest.approx((new.p99_us.typical - first_us) / 2)


def test_lookups_by_what_they_look_for():
    """From 4.1 on a lookup inside a batch reads one header more than that of its first offset; one
    by timestamp starts at the entry's own batch.
    """
    costs = replayed(measured(1000, by_base_offset=True), NEW, 4096).by_target
    assert list(costs) == ["base_offset", "every_offset", "timestamp"]
    assert costs["every_offset"]["headers_max"] == costs["base_offset"]["headers_max"] + 1
    assert (costs["base_offset"]["headers_p99"], costs["timestamp"]["headers_p99"]) == (6, 5)


@pytest.mark.parametrize(
    ("index_bytes", "binding"), [(10 << 20, "size"), (100 << 10, "time-index-full")]
)
def test_which_limit_binds(index_bytes, binding):
    """At 10 MiB the segment is full first, at 100 KiB the time index."""
    measurement = measured(1000)
    config = LogConfig(segment_index_bytes=index_bytes)
    limits = limits_at(measurement, config, 4096)
    assert limits.binding == binding
    full_bytes = (index_bytes // 12 - 1) * 5000
    assert limits.ends_bytes["time-index-full"] == pytest.approx(full_bytes, rel=0.01)
    assert limits.safe_index_bytes == pytest.approx(1.25 * limits.least_index_bytes, abs=1)
    for room, is_safe in (
        (limits.safe_index_bytes, True),
        (limits.least_index_bytes, True),
        (limits.least_index_bytes - 48, False),
    ):
        smaller = limits_at(measurement, replace(config, segment_index_bytes=room), 4096)
        assert (smaller.binding == "size") == is_safe


def test_a_safe_index_is_one_for_full_segments():
    """A gigabyte with an entry per 5268 bytes, each with a time entry: 3.06 MB at any speed."""
    measurement = replace(measured(5268), bytes_per_s=20.0)
    limits = limits_at(measurement, LogConfig(), 4096)
    assert limits.binding == "time"
    assert tuning_text.describe_limits(limits).key == "tuning_answer.limit_time"
    assert limits.safe_index_bytes == pytest.approx(3.06e6, rel=0.002)
    timeless = limits_at(replace(measurement, bytes_per_s=None), LogConfig(), 4096)
    assert limits.safe_index_bytes == timeless.safe_index_bytes


def test_a_bootstrap_is_the_same_every_time():
    random = np.random.default_rng(8)
    sizes = [random.integers(80, 120, 3000), random.integers(700, 900, 3000)]
    measurement = measure(arrays.batches(np.concatenate(sizes).tolist()))
    hot, other = (recommend(measurement, today(), Budgets(p99_us=20), NEW) for _ in range(2))
    assert hot.gain == other.gain
    fewer = hot.current_cost.row["headers_mean"] - hot.proposed_cost.row["headers_mean"]
    assert hot.gain.mean_us.high > fewer * NEW.header_us.high * 1.05


def test_segments_joined_are_one_log():
    sizes = np.random.default_rng(9).integers(100, 5000, 600)
    parts = [
        measure(arrays.batches(piece.tolist(), [2] * len(piece)))
        for piece in np.split(sizes, [200, 500])
    ]
    merged = merge_measurements(parts)
    assert merged.batch_bytes == pytest.approx(sizes.mean())
    assert merged.spread == pytest.approx(sizes.std() / sizes.mean())
    assert merged.log_bytes == sizes.sum() and merged.parts.segments == 3
    assert isinstance(merged.cold, ColdReads) and merged.cold.counts[0].sum() == 600


def test_an_empty_log_next_to_others_changes_nothing():
    measurement = measured(1000)
    empty = measure(by_base_offset=False)
    for both in ([empty, measurement], [measurement, empty]):
        merged = merge_measurements(both)
        assert merged.batch_bytes == measurement.batch_bytes
        assert merged.parts.batches == measurement.parts.batches
    assert merge_measurements([empty, empty]).parts.batches == 0


def test_measuring_shows_how_far_it_is():
    shares: list[float] = []
    builder = MeasurementBuilder(extra_intervals={4096}, by_base_offset=True)
    builder.add([arrays.batches([1000] * 100, [5] * 100)], report_share=shares.append)
    assert len(shares) > 2 and shares == sorted(set(shares))
    assert shares[0] > 0 and shares[-1] < 1


def test_an_index_of_whole_appends_is_kept():
    """The effect of an interval is not known there: only a newer release helps."""
    recommendation = recommend(measured(97, 20_000, 1, 2), today(is_coarse=True), Budgets(), OLD)
    assert outcome(recommendation) == (KEEP, 4096, 4096, "coarse")


def test_a_broker_of_one_topic_that_has_its_own_interval_keeps_its_default():
    """The broker's setting differs from the topic's, so no broker change is derived from the topic."""
    measurement = measured(97, 20_000, 1, 2)

    def tuned(interval):
        return SimpleNamespace(name="a", today=today(interval), measurement=measurement)

    each, both = recommend_all([tuned(64)], tuned(4096), Budgets(), NEW)
    assert (each["a"].verdict, each["a"].current_cost.interval_bytes) == (CHANGE, 64)
    assert (both.verdict, both.value, both.current_cost.interval_bytes) == (KEEP, 4096, 4096)
    each, both = recommend_all([tuned(64)], tuned(64), Budgets(), NEW)
    assert both is each["a"]


def test_a_broker_of_topics_that_differ_keeps_its_default():
    """A single topic that gains is named; where all gain, the broker's default is changed."""
    tiny, large = measured(97, 20_000, 1, 2), measured(16_384, spread=2000)
    tiny_topic, large_topic, both = (
        recommend(measurement, today(), Budgets(p99_us=15), NEW)
        for measurement in (tiny, large, merge_measurements([tiny, large]))
    )
    broker = recommend_broker({"a": tiny_topic, "b": large_topic}, both)
    assert (broker.verdict, broker.value, codes(broker)[0]) == (KEEP, 4096, "topic-by-topic")
    words = str(tuning_text.describe_reason(broker.reasons[0]))
    assert "1 topic would gain from an interval of its own: a (256)" in words
    assert recommend_broker({"a": tiny_topic}, tiny_topic) is tiny_topic


def test_an_old_follower_is_reported():
    """A release that indexes an append once costs 1.5 times the batches of a fetch."""
    recommendation = recommend(measured(1000, 20_000, per_append=True), today(), Budgets(), OLD)
    reason = next(reason for reason in recommendation.reasons if reason.code == "followers")
    assert reason.values["headers_mean"] == pytest.approx(1.5 * (1 << 20) / 1000, rel=0.05)


def test_every_reason_has_words():
    codes_seen = set()
    for measurement, settings, budgets in (
        (measured(97, 20_000, 1), today(), Budgets()),
        (measured(16_384), today(is_tiered=True), UNBOUND),
        (measured(16_384, per_append=True), today(is_coarse=True), Budgets()),
        (measured(97, 100, 1), today(), Budgets(p99_us=1)),
    ):
        recommendation = recommend(measurement, settings, budgets, OLD)
        for reason in (*recommendation.reasons, *recommendation.not_fixed):
            assert len(str(tuning_text.describe_reason(reason))) > 20
            codes_seen.add(reason.code)
    assert codes_seen <= set(get_args(ReasonCode)) and len(codes_seen) > 8
