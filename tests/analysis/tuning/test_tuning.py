"""The recommendation: budgets, plateaus, gains within the error, and reasons to keep a setting."""

from dataclasses import replace
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cold_reads import ColdReads
from kafkaviz.analysis.tuning import tuning_text as tuning_text
from kafkaviz.analysis.tuning.interval_cost import Budgets, compute_cost
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

OLD, NEW = (
    cost_model.lookup_costs(by_base_offset=False),
    cost_model.lookup_costs(by_base_offset=True),
)
UNBOUND = Budgets(p99_us=None)


def measured(size: int, count: int = 4000, records: int = 5, spread: int = 0, **how):
    """Returns a segment of batches of about that size."""
    random = np.random.default_rng(4)
    sizes = random.integers(size - spread, size + spread + 1, count).tolist()
    gathering = MeasurementBuilder(extra_intervals={4096}, **({"by_base_offset": False} | how))
    gathering.add([arrays.batches(sizes, [records] * count)])
    return gathering.result()


def today(interval: int = 4096, **more) -> CurrentConfig:
    return CurrentConfig(
        interval_bytes=interval, interval_source="as typed", topic="orders", **more
    )


def codes(recommendation: Recommendation) -> list[str]:
    return [reason.code for reason in recommendation.reasons]


def test_batches_of_16_kb_keep_the_default():
    recommendation = recommend(measured(16_384, spread=2000), today(), Budgets(), OLD)
    assert (recommendation.verdict, recommendation.value) == (TuningVerdict.KEEP, 4096)
    assert "every-batch-indexed" in codes(recommendation) and "smaller-too-little" in codes(
        recommendation
    )
    words = [tuning_text.describe_reason(reason) for reason in recommendation.reasons]
    assert (words[0].key, words[0]["interval"]) == (
        "tuning_reason.every-batch-indexed-default",
        4096,
    )


@pytest.mark.parametrize(("costs", "value"), [(OLD, 1024), (NEW, 2048)])
def test_tiny_batches_get_a_value_that_is_not_worth_a_change(costs, value):
    """Batches of 97 bytes with one record each exceed 50 µs at the high end.

    The gain is given with its range and is too small.
    """
    recommendation = recommend(measured(97, 20_000, 1, 2), today(), Budgets(), costs)
    assert (recommendation.verdict, recommendation.value, recommendation.considered_bytes) == (
        TuningVerdict.KEEP,
        4096,
        value,
    )
    assert codes(recommendation)[-1] == "faster-too-little" and "over-budget" in codes(
        recommendation
    )
    assert (
        0
        < recommendation.gain.p99_us.low
        < recommendation.gain.p99_us.typical
        < recommendation.gain.p99_us.high
        and recommendation.gain.p99_us.low < 50
    )
    words = tuning_text.describe_reason(recommendation.reasons[-1])
    assert (words.key, words["to"], words["least_us"]) == (
        "tuning_reason.faster-too-little",
        value,
        50.0,
    )
    assert words["gain"].key == "tuning_reason.gain_grows"
    assert [reason.code for reason in recommendation.not_fixed] == [
        "tiny-batches",
        "cold",
        "old-segments",
    ]


@pytest.mark.parametrize(("costs", "budget_us", "value"), [(OLD, 25, 256), (NEW, 15, 256)])
def test_who_asks_for_less_gets_a_change(costs, budget_us, value):
    recommendation = recommend(
        measured(97, 20_000, 1, 2), today(), Budgets(p99_us=budget_us), costs
    )
    assert (recommendation.verdict, recommendation.value, codes(recommendation)[-1]) == (
        TuningVerdict.CHANGE,
        value,
        "faster",
    )
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
    sizes = np.maximum(70, random.lognormal(np.log(mean) - sigma**2 / 2, sigma, 200_000)).astype(
        int
    )
    gathering = MeasurementBuilder(extra_intervals={4096}, by_base_offset=False)
    gathering.add([arrays.batches(sizes.tolist(), [5] * len(sizes))])
    exact = replace(
        OLD, header_us=cost_model.Range(1.8, 1.8, 1.8), first_us=cost_model.Range(2.2, 2.2, 2.2)
    )
    recommendation = recommend(gathering.result(), today(), Budgets(p99_us=budget), exact)
    assert recommendation.considered_bytes == 1 << (interval.bit_length() - 1)


def test_a_gain_within_its_error_is_not_counted():
    """The next lower interval would gain less than a fifth of the budget at the low end."""
    measurement = measured(1000)
    over = compute_cost(measurement, OLD, 4096).p99_us.high - 0.1
    recommendation = recommend(measurement, today(), Budgets(p99_us=over), OLD)
    assert (recommendation.verdict, recommendation.value) == (
        TuningVerdict.KEEP,
        4096,
    ) and recommendation.considered_bytes < 4096
    assert codes(recommendation)[-1] == "faster-too-little"


def test_a_needlessly_dense_index_is_made_smaller():
    """Interval 0 with batches of 500 bytes: the index is 4 % of the log."""
    gathering = MeasurementBuilder(extra_intervals={0}, by_base_offset=True)
    gathering.add([arrays.batches([500] * 3000, [5] * 3000)])
    recommendation = recommend(gathering.result(), today(0), Budgets(), NEW)
    assert (
        recommendation.verdict == TuningVerdict.CHANGE
        and recommendation.value > 4096
        and codes(recommendation)[-1] == "smaller"
    )
    assert recommendation.gain.index_share.low > 0.01


def test_nothing_is_proposed_below_the_smallest_batch():
    assert candidates(measured(3000), today(), OLD)[:2] == [2048, 4096]
    recommendation = recommend(measured(3000), today(), Budgets(p99_us=0.1), OLD)
    assert (
        recommendation.verdict,
        recommendation.value,
        recommendation.considered_bytes,
        recommendation.meets_budgets,
    ) == (
        TuningVerdict.KEEP,
        4096,
        2048,
        False,
    )


@pytest.mark.parametrize(
    ("size", "records", "budgets", "considered", "words"),
    [
        (
            97,
            1,
            Budgets(p99_us=1),
            64,
            "64 comes nearest, and with it the p99 lookup at worst is 5.6 µs, above the budget of 1.0 µs",
        ),
        (
            1000,
            5,
            Budgets(p99_us=5, index_share=0.001),
            4096,
            "the size of both indexes is 0.40 %, above the budget of 0.10 %",
        ),
        (
            1000,
            5,
            Budgets(p99_us=None, index_share=0.0),
            2_097_152,
            "the size of both indexes is < 0.01 %, above the budget of 0.00 %",
        ),
    ],
)
def test_what_no_interval_can_do_is_reported(size, records, budgets, considered, words):
    """Then nothing is changed, and the nearest interval is named with how far it misses the budget."""
    recommendation = recommend(measured(size, 4000, records), today(), budgets, NEW)
    assert (
        recommendation.verdict,
        recommendation.value,
        recommendation.considered_bytes,
        recommendation.meets_budgets,
    ) == (
        TuningVerdict.KEEP,
        4096,
        considered,
        False,
    )
    assert codes(recommendation)[-1] == "unmeetable"
    assert words in str(tuning_text.describe_reason(recommendation.reasons[-1]))


def test_where_only_the_index_is_bounded_lookups_stay_as_cheap_as_they_can():
    """A tenth of a per cent: the smallest interval that fits, not one without an entry."""
    recommendation = recommend(
        measured(1000, 20_000), today(), Budgets(p99_us=None, index_share=0.001), NEW
    )
    assert (recommendation.verdict, recommendation.value, codes(recommendation)[-1]) == (
        TuningVerdict.CHANGE,
        32_768,
        "smaller",
    )
    assert (
        recommendation.proposed_cost.index_share
        <= 0.001
        < compute_cost(measured(1000, 20_000), NEW, 16_384).index_share
    )
    wide = recommend(measured(1000, 20_000), today(), Budgets(p99_us=None, index_share=0.5), NEW)
    assert (wide.verdict, wide.considered_bytes, codes(wide)[-1]) == (
        TuningVerdict.KEEP,
        512,
        "faster-too-little",
    )


def test_who_asks_for_nothing_changes_nothing():
    recommendation = recommend(measured(500), today(), UNBOUND, NEW)
    assert (
        recommendation.verdict,
        recommendation.considered_bytes,
        recommendation.meets_budgets,
    ) == (
        TuningVerdict.KEEP,
        4096,
        True,
    )
    budget = tuning_text.describe_reason(recommendation.reasons[-1])
    assert [part.key for part in budget["parts"]] == ["tuning_reason.p99_unasked"]


def test_too_few_batches_say_nothing():
    recommendation = recommend(measured(97, 100, 1), today(), Budgets(p99_us=20), OLD)
    assert (
        recommendation.verdict == TuningVerdict.KEEP
        and codes(recommendation)[-1] == "too-little-data"
    )


def test_an_empty_log_has_no_answer():
    result = MeasurementBuilder(extra_intervals={4096}, by_base_offset=True).result()
    assert recommend(result, today(), Budgets(), NEW) is None


def test_remote_storage_bounds_what_a_read_carries():
    """Five per cent of a fetch of 1 MiB; half the index bytes cache twice the segments."""
    measurement = measured(1000, 20_000)
    recommendation = recommend(measurement, today(is_tiered=True), Budgets(p99_us=None), OLD)
    assert (recommendation.verdict, recommendation.value) == (TuningVerdict.CHANGE, 32_768)
    assert codes(recommendation)[-1] == "smaller-for-tiered"
    values = recommendation.reasons[-1].values
    assert values["cached_segments_other"] > 2 * values["cached_segments_now"]
    words = tuning_text.describe_reason(recommendation.reasons[-1])
    assert words.key == "tuning_reason.smaller-for-tiered"
    assert "bound-tiered" not in codes(recommend(measurement, today(), UNBOUND, OLD))


def test_a_disk_that_seeks_takes_no_interval_above_a_batch():
    costs = cost_model.lookup_costs(by_base_offset=False, storage="hdd")
    assert max(candidates(measured(16_384), today(), costs)) <= 16_384
    assert "bound-hdd" in codes(recommend(measured(16_384), today(), Budgets(), costs))


def test_a_disk_that_was_measured_to_seek_takes_none_either():
    """A calibration has its own name but the same bound."""
    costs = replace(
        OLD,
        storage=cost_model.Storage(cost_model.CALIBRATED, cost_model.Range(5000, 9000, 20_000)),
    )
    assert "bound-hdd" in codes(recommend(measured(16_384), today(), Budgets(), costs))


def test_a_cold_lookup_reads_its_index_too():
    """At one entry per batch the index is larger, and its search takes more reads."""
    sparse, other = (
        compute_cost(measured(100, 200_000), NEW, interval) for interval in (0, 65_536)
    )
    assert sparse.index_reads > other.index_reads == 1.0
    reason = next(why for why in not_fixed(sparse, measured(100), NEW) if why.code == "cold")
    words = tuning_text.describe_reason(reason)
    assert words.key == "tuning_reason.cold"
    assert (words["index"], words["reads"]) == (sparse.index_reads, sparse.cold_reads_mean)


def test_old_batches_cost_half():
    measurement = measured(1000)
    new, old = (
        compute_cost(replace(measurement, one_read_share=share), OLD, 4096) for share in (0.0, 1.0)
    )
    assert old.p99_us.typical - OLD.first_us.typical == pytest.approx(
        (new.p99_us.typical - OLD.first_us.typical) / 2
    )


def test_lookups_by_what_they_look_for():
    """From 4.1 on a lookup inside a batch reads one header more than that of its first offset; one
    by timestamp starts at the entry's own batch.
    """
    costs = compute_cost(measured(1000, by_base_offset=True), NEW, 4096).by_target
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
    assert limits.ends_bytes["time-index-full"] == pytest.approx(
        (index_bytes // 12 - 1) * 5000, rel=0.01
    )
    assert limits.safe_index_bytes == pytest.approx(1.25 * limits.least_index_bytes, abs=1)
    for room, is_safe in (
        (limits.safe_index_bytes, True),
        (limits.least_index_bytes, True),
        (limits.least_index_bytes - 48, False),
    ):
        assert (
            limits_at(measurement, replace(config, segment_index_bytes=room), 4096).binding
            == "size"
        ) == is_safe


def test_a_safe_index_is_one_for_full_segments():
    """A gigabyte with an entry per 5268 bytes, each with a time entry: 3.06 MB at any speed."""
    measurement = replace(measured(5268), bytes_per_s=20.0)
    limits = limits_at(measurement, LogConfig(), 4096)
    assert limits.binding == "time"
    assert tuning_text.describe_limits(limits).key == "tuning_answer.limit_time"
    assert limits.safe_index_bytes == pytest.approx(3.06e6, rel=0.002)
    assert (
        limits.safe_index_bytes
        == limits_at(replace(measurement, bytes_per_s=None), LogConfig(), 4096).safe_index_bytes
    )


def test_a_bootstrap_is_the_same_every_time():
    random = np.random.default_rng(8)
    sizes = np.concatenate(
        [random.integers(80, 120, 3000), random.integers(700, 900, 3000)]
    ).tolist()
    gathering = MeasurementBuilder(extra_intervals={4096}, by_base_offset=True)
    gathering.add([arrays.batches(sizes)])
    hot, other = (recommend(gathering.result(), today(), Budgets(p99_us=20), NEW) for _ in range(2))
    assert hot.gain == other.gain
    alone = (
        hot.current_cost.row["headers_mean"] - hot.proposed_cost.row["headers_mean"]
    ) * NEW.header_us.high
    assert hot.gain.mean_us.high > alone * 1.05


def test_segments_joined_are_one_log():
    sizes = np.random.default_rng(9).integers(100, 5000, 600)
    parts = []
    for piece in np.split(sizes, [200, 500]):
        gathering = MeasurementBuilder(extra_intervals={4096}, by_base_offset=True)
        gathering.add([arrays.batches(piece.tolist(), [2] * len(piece))])
        parts.append(gathering.result())
    merged = merge_measurements(parts)
    assert (merged.batch_bytes, merged.spread) == (
        pytest.approx(sizes.mean()),
        pytest.approx(sizes.std() / sizes.mean()),
    )
    assert merged.log_bytes == sizes.sum() and merged.parts.segments == 3
    assert isinstance(merged.cold, ColdReads) and merged.cold.counts[0].sum() == 600


def test_an_empty_log_next_to_others_changes_nothing():
    measurement, empty = (
        measured(1000),
        MeasurementBuilder(extra_intervals={4096}, by_base_offset=False).result(),
    )
    for both in (
        merge_measurements([empty, measurement]),
        merge_measurements([measurement, empty]),
    ):
        assert (both.batch_bytes, both.parts.batches) == (
            measurement.batch_bytes,
            measurement.parts.batches,
        )
    assert merge_measurements([empty, empty]).parts.batches == 0


def test_measuring_shows_how_far_it_is():
    """Also within a .log of millions of batches."""
    latencies: list[float] = []
    batches = arrays.batches([1000] * 100, [5] * 100)
    MeasurementBuilder(extra_intervals={4096}, by_base_offset=True).add(
        [batches], report_share=latencies.append
    )
    assert (
        len(latencies) > 2
        and latencies == sorted(set(latencies))
        and latencies[0] > 0
        and latencies[-1] < 1
    )


def test_an_index_of_whole_appends_is_kept():
    """The effect of an interval is not known there: only a newer release helps."""
    recommendation = recommend(measured(97, 20_000, 1, 2), today(is_coarse=True), Budgets(), OLD)
    assert (recommendation.verdict, recommendation.value, codes(recommendation)[-1]) == (
        TuningVerdict.KEEP,
        4096,
        "coarse",
    )


def test_a_broker_of_one_topic_that_has_its_own_interval_keeps_its_default():
    """The broker's setting differs from the topic's, so no broker change is derived from the topic."""

    def tuned(interval):
        return SimpleNamespace(
            name="a", today=today(interval), measurement=measured(97, 20_000, 1, 2)
        )

    each, both = recommend_all([tuned(64)], tuned(4096), Budgets(), NEW)
    assert (each["a"].verdict, each["a"].current_cost.interval_bytes) == (TuningVerdict.CHANGE, 64)
    assert (both.verdict, both.value, both.current_cost.interval_bytes) == (
        TuningVerdict.KEEP,
        4096,
        4096,
    )
    each, both = recommend_all([tuned(64)], tuned(64), Budgets(), NEW)
    assert both is each["a"]


def test_a_broker_of_topics_that_differ_keeps_its_default():
    """A single topic that gains is named; where all gain, the broker's default is changed."""
    tiny, large = measured(97, 20_000, 1, 2), measured(16_384, spread=2000)
    merged = merge_measurements([tiny, large])
    tiny_recommendation, other = (
        recommend(measurement, today(), Budgets(p99_us=15), NEW) for measurement in (tiny, large)
    )
    both = recommend(merged, today(), Budgets(p99_us=15), NEW)
    broker_recommendation = recommend_broker({"a": tiny_recommendation, "b": other}, both)
    assert (
        broker_recommendation.verdict,
        broker_recommendation.value,
        broker_recommendation.reasons[0].code,
    ) == (
        TuningVerdict.KEEP,
        4096,
        "topic-by-topic",
    )
    assert "1 topic would gain from an interval of its own: a (256)" in str(
        tuning_text.describe_reason(broker_recommendation.reasons[0])
    )
    assert recommend_broker({"a": tiny_recommendation}, tiny_recommendation) is tiny_recommendation


def test_an_old_follower_is_reported():
    """A release that indexes an append once costs 1.5 times the batches of a fetch."""
    recommendation = recommend(measured(1000, 20_000, per_append=True), today(), Budgets(), OLD)
    reason = next(reason for reason in recommendation.reasons if reason.code == "followers")
    assert reason.values["headers_mean"] == pytest.approx(1.5 * (1 << 20) / 1000, rel=0.05)


def test_every_reason_has_words():
    codes_seen = set()
    for measurement, settings, budgets in (
        (measured(97, 20_000, 1), today(), Budgets()), (measured(16_384), today(is_tiered=True), UNBOUND),
        (measured(16_384, per_append=True), today(is_coarse=True), Budgets()), (measured(97, 100, 1), today(), Budgets(p99_us=1)),
    ):  # fmt: skip
        recommendation = recommend(measurement, settings, budgets, OLD)
        for reason in (*recommendation.reasons, *recommendation.not_fixed):
            assert len(str(tuning_text.describe_reason(reason))) > 20
            codes_seen.add(reason.code)
    assert codes_seen <= set(get_args(ReasonCode)) and len(codes_seen) > 8
