"""The advice on segment.bytes: what retention keeps, active segments, and memory maps."""

from dataclasses import replace

import pytest

from kafkaviz.analysis.tuning.measurement import CurrentConfig
from kafkaviz.analysis.tuning.segment_size import (
    Basis,
    KnownNumber,
    SegmentSizeAdvice,
    advise_segment_size,
    advise_segment_sizes,
)
from kafkaviz.analysis.tuning.tuning_case import TuningCase
from kafkaviz.analysis.tuning.tuning_text import describe_segment_numbers, describe_segment_reason
from kafkaviz.simulate.config import LogConfig
from tests.support.tuning import measured

MIB = 1 << 20
GIB = 1 << 30


def advised(
    log_mib: int,
    *,
    segment_bytes: int = GIB,
    active_mib: int = 10,
    policy: str = "delete",
    retention_bytes: int = -1,
    retention_ms: int = -1,
    bytes_per_s: float | None = None,
    segments: int = 2,
    broker_segments: int = 20,
) -> SegmentSizeAdvice:
    """Returns the advice for a log of one partition with batches of 1 MiB."""
    today = CurrentConfig(
        interval_bytes=4096,
        interval_source="",
        config=LogConfig(segment_bytes=segment_bytes, cleanup_policy=policy),
        topic="orders",
        retention_bytes=retention_bytes,
        retention_ms=retention_ms,
    )
    case = TuningCase(
        name="orders",
        today=today,
        measurement=replace(measured(MIB, log_mib), bytes_per_s=bytes_per_s),
        live_segments=segments,
        active_bytes=active_mib * MIB,
    )
    return advise_segment_size(case, broker_segments)


def test_a_segment_larger_than_what_retention_keeps_gets_smaller():
    """retention.bytes 1 GiB with segments of 1 GiB keeps up to 2 GiB; with 256 MiB, 1.25 GiB."""
    advice = advised(600, retention_bytes=GIB)
    assert (advice.verdict, advice.value, advice.reason) == ("change", 256 * MIB, "overshoot")
    assert advice.today.overshoot_bytes == KnownNumber(GIB, Basis.MODELLED)
    assert advice.considered.overshoot_bytes == KnownNumber(256 * MIB, Basis.MODELLED)
    assert advice.today.active_bytes == KnownNumber(10 * MIB, Basis.EXACT)
    assert advice.today.recovered_bytes == KnownNumber(10 * MIB, Basis.INFERRED)
    assert advice.today.maps == KnownNumber(40, Basis.EXACT)
    # 18 other segments, and 600 MiB in segments of 256 MiB
    assert advice.considered.maps == KnownNumber(2 * (18 + 1 + 2), Basis.MODELLED)
    assert str(describe_segment_reason(advice)) == (
        "retention asks for 1 GiB per partition, but only whole segments are deleted, and they end at "
        "1 GiB; so a partition keeps up to 100 % more"
    )
    assert str(describe_segment_numbers(advice.today)) == (
        "kept beyond retention: up to 1 GiB (modelled); active, never compacted: 10 MiB (exact); "
        "read again after a kill: at most 10 MiB (inferred); "
        "memory maps of all segments of the broker: 40 of 65530 (exact)"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"retention_bytes": 20 * GIB}, "fits"),
        ({"retention_bytes": GIB, "segment_bytes": 256 * MIB}, "fits"),
        # 1 MB/s for a day are 86 GB
        ({"retention_ms": 86_400_000, "bytes_per_s": 1e6}, "fits"),
        # a segment ends after 7 days, of which retention keeps 30
        ({"retention_ms": 30 * 86_400_000, "bytes_per_s": 1000.0}, "other-limit"),
        ({"retention_bytes": GIB, "log_mib": 100}, "small-log"),
        ({}, "no-retention"),
        ({"policy": "compact", "active_mib": 20}, "fits"),
        ({"policy": "compact", "retention_bytes": GIB}, "fits"),
    ],
)
def test_reasons_to_keep_the_size(options, reason):
    advice = advised(**({"log_mib": 600} | options))
    assert (advice.verdict, advice.reason, advice.considered) == ("keep", reason, None)
    assert len(str(describe_segment_reason(advice))) > 40


def test_the_cleaner_never_takes_an_active_segment():
    advice = advised(600, policy="compact", active_mib=500)
    assert (advice.value, advice.reason) == (128 * MIB, "not-compacted")


def test_a_broker_with_too_many_maps_gets_larger_segments():
    """Segments of 32 MiB instead of 16 MiB halve the maps of this topic."""
    advice = advised(
        600, segment_bytes=16 * MIB, segments=38, broker_segments=20_000, retention_bytes=20 * GIB
    )
    assert (advice.verdict, advice.value, advice.reason) == ("change", 32 * MIB, "maps")
    assert advice.considered.maps.value < advice.today.maps.value == 40_000


@pytest.mark.slow
def test_the_active_segments_and_maps_of_a_broker_are_counted(clean_source):
    by_topic, advice = advise_segment_sizes(clean_source)
    assert advice.reason == "topic-by-topic" and not advice.changing
    assert advice.today.active_bytes.value == sum(case.active_bytes for case in clean_source.cases)
    assert advice.today.maps.value == 2 * clean_source.broker_segments
    assert by_topic["orders"].today.segment_bytes == MIB
