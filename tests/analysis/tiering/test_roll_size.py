"""The cost of another segment.bytes in tiered storage, held against sums made by hand."""

import json
from dataclasses import replace

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.tiering.roll_size import (
    CANDIDATES,
    MAX_SEGMENT_BYTES,
    RollLimits,
    StoredSegments,
    _cost,
    _positive_or_none,
    growth,
    partition_roll_sizes,
    roll_sizes,
)
from kafkaviz.log.broker import read_tiered_state
from kafkaviz.messages import say
from kafkaviz.units import DAY_MS, GIB, HOUR_MS, MIB
from tests.support.tiered_storage import partition_of, write_aiven_store

LOCAL = StoredSegments(layout="LocalTieredStorage", objects=5, log_share=1)
AIVEN = StoredSegments(layout="Aiven", objects=3, log_share=0.5)


def test_a_day_of_ten_gibibytes():
    """160 segments of 64 MiB, each with five objects, two records now and two at its deletion."""
    limits = RollLimits(segment_bytes=64 * MIB, segment_ms=7 * DAY_MS, retention_ms=2 * DAY_MS)
    cost = _cost(64 * MIB, 10 * GIB, LOCAL, limits)
    assert cost.is_current and not cost.is_time_bound
    assert cost.fill_ms == 9 * 60_000
    assert cost.segments_per_day == pytest.approx(160)
    assert cost.objects_per_day == cost.put_requests_per_day == pytest.approx(800)
    assert cost.metadata_events_per_day == pytest.approx(640)
    assert cost.objects_kept == pytest.approx(1600)


def test_segment_ms_closes_a_segment_first():
    """At 1 GiB per day a segment of 1 GiB takes a day; after an hour it has 1/24 of it."""
    limits = RollLimits(segment_ms=HOUR_MS, retention_bytes=GIB)
    cost = _cost(GIB, GIB, LOCAL, limits)
    assert cost.is_time_bound and cost.fill_ms == HOUR_MS
    assert cost.rolled_bytes == round(GIB / 24)
    assert cost.segments_per_day == pytest.approx(24)
    assert cost.objects_kept == pytest.approx(5 * 24)


def test_without_limits_nothing_is_deleted():
    cost = _cost(GIB, GIB, LOCAL, RollLimits(retention_ms=-1, retention_bytes=-1))
    assert cost.objects_kept is None and cost.metadata_events_per_day == pytest.approx(2)
    unstored = _cost(GIB, GIB, None, RollLimits())
    assert (unstored.objects_per_day, unstored.put_requests_per_day) == (None, None)


def test_a_large_object_is_written_in_parts():
    """Aiven's layout, compressed to half: 512 MiB are 21 parts, a begin and an end."""
    cost = _cost(GIB, GIB, AIVEN, RollLimits())
    assert cost.put_requests_per_day == pytest.approx(2 + 21 + 2)
    small = _cost(50 * MIB, 50 * MIB, AIVEN, RollLimits())
    assert small.put_requests_per_day == pytest.approx(3)


def test_the_growth_and_the_objects_of_real_segments(tiered, tmp_path):
    """Both layouts: five files or six, and three objects; the growth is that of the metadata."""
    logs, store = tiered
    orders = partition_of(read_tiered_state(store, logs), "orders-0")
    copied = [segment for segment in orders.segments if segment.state]
    written = sum(segment.log_bytes for segment in copied[1:])
    span_ms = copied[-1].max_timestamp_ms - copied[0].max_timestamp_ms
    limits = RollLimits(segment_bytes=8192)
    result = partition_roll_sizes(orders, limits)
    assert result.bytes_per_day == growth(orders.segments) == written * DAY_MS / span_ms
    assert [size.segment_bytes for size in result.sizes] == [8192, *CANDIDATES]
    assert CANDIDATES[-1] == MAX_SEGMENT_BYTES
    assert result.stored.objects == sum(len(item.stored.files) for item in copied) / len(copied)
    assert result.stored.log_share == 1
    aiven = write_aiven_store(store, logs, tmp_path / "bucket", compressed=True)
    stored = partition_roll_sizes(
        partition_of(read_tiered_state(aiven, logs), "orders-0"), limits
    ).stored
    assert stored.objects == 3 and 0 < stored.log_share < 1


def test_no_growth_without_two_times(tiered):
    """One segment, the same time twice, and a store alone, whose times nobody tells."""
    logs, store = tiered
    orders = partition_of(read_tiered_state(store, logs), "orders-0")
    first, second, *_ = orders.segments
    assert growth([first]) is None
    assert growth([first, replace(second, max_timestamp_ms=first.max_timestamp_ms)]) is None
    assert roll_sizes(None, read_tiered_state(store)) == ()


def test_numbers_that_no_broker_writes(tiered):
    """Damaged metadata with a negative size, and settings of 0, give no growth and no limit."""
    logs, store = tiered
    orders = partition_of(read_tiered_state(store, logs), "orders-0")
    first, second, *_ = orders.segments
    assert growth([first, replace(second, log_bytes=-5)]) is None
    assert _positive_or_none(0) is _positive_or_none(None) is _positive_or_none(-1) is None
    assert _positive_or_none("4096") == 4096


def test_the_command_prints_a_table(tiered, capsys):
    """One line per candidate and a headline; in JSON only if it is asked for."""
    logs, store = tiered
    arguments = ["tiered", str(logs), "--tiered", str(store)]
    assert main([*arguments, "--json"]) == 0
    assert "roll_sizes" not in json.loads(capsys.readouterr().out)
    arguments += ["--roll-sizes", "--set", "segment.bytes=268435456"]
    assert main([*arguments, "--json"]) == 0
    partitions = json.loads(capsys.readouterr().out)["roll_sizes"]
    assert [item["partition"] for item in partitions] == ["audit-0", "orders-0", "payments-0"]
    sizes = partitions[1]["sizes"]
    assert [size["segment_bytes"] for size in sizes if size["current"]] == [268435456]
    main(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert sum(say("cli_tiered.roll_current", size="256 MiB") in line for line in lines) == 3
    main(["tiered", str(store), "--roll-sizes"])
    assert say("cli_tiered.no_roll_sizes") in capsys.readouterr().out
