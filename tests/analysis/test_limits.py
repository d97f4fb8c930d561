"""Closed forms of the limits, compared with tables that were verified with LogSegment of 4.3.1."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis import roll_limits
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.analysis.roll_limits import IndexRoom, WriteLoad
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.workloads import config_of
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers import workload
from kafkaviz.simulate.writer.roll_reason import CAUSES, RollCause, should_roll

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HOUR_S, WEEK_MS = 3600, 604_800_000
DENSE = {"index_interval_bytes": 256}
SMALL = {"segment_index_bytes": 102_400}


def first_cause(seconds: dict) -> RollCause:
    return roll_limits.CAUSES[roll_limits.first_limit(seconds)[0][0]]


@pytest.mark.parametrize(
    ("index_bytes", "slots", "full_mb"),
    [
        (64 * KIB, (8192, 5460), (37.7, 25.2)),
        (102_400, (12_800, 8532), (59.0, 39.3)),
        (MIB, (131_072, 87_380), (604, 403)),
        (2 * MIB, (262_144, 174_761), (1208, 805)),
        (10 * MIB, (1_310_720, 873_812), (6040, 4027)),
    ],
)
def test_when_the_index_is_the_one_that_rolls(index_bytes, slots, full_mb):
    """Slots, and the segment's size when each index is full, at a gap of 4608 B."""
    sized = LogConfig(segment_index_bytes=index_bytes)
    assert (sized.offset_slots, sized.usable_time_slots) == slots
    offset_mb = roll_limits.offset_index_full_bytes(index_bytes, 4608) / 1e6
    time_mb = roll_limits.time_index_full_bytes(index_bytes, 4608) / 1e6
    assert (offset_mb, time_mb) == pytest.approx(full_mb, rel=2e-3)


@pytest.mark.parametrize(
    ("settings", "load", "bytes_per_s", "hours", "winner"),
    [
        ({}, WriteLoad(150), 20, (14_913, 168, 76_459, 50_972), RollCause.TIME),
        ({}, WriteLoad(1500), 1500, (199, 168, 1092, 728), RollCause.TIME),
        ({}, WriteLoad(2000), 100e3, (2.98, 168, 21.9, 14.6), RollCause.SIZE),
        ({}, WriteLoad(16_384), 5e6, (3.58 / 60, 168, 1.19, 0.80), RollCause.SIZE),
        ({}, WriteLoad(65_536), 50e6, (21.5 / 3600, 168, 0.48, 0.32), RollCause.SIZE),
        (DENSE, WriteLoad(150), 1e6, (0.30, 168, 0.11, 0.24), RollCause.OFFSET_INDEX_FULL),
        (SMALL, WriteLoad(1000), 1e6, (0.30, 168, 0.018, 0.012), RollCause.TIME_INDEX_FULL),
    ],
)
def test_time_until_a_roll(settings, load, bytes_per_s, hours, winner):
    seconds = roll_limits.seconds_until_roll(LogConfig(**settings), load, bytes_per_s)
    assert [float(seconds[cause]) / HOUR_S for cause in CAUSES[1:5]] == pytest.approx(
        hours, rel=0.015
    )
    assert first_cause(seconds) == winner


def test_size_beats_time_above_1775_bytes_a_second():
    """1 GiB in 7 days, as long as no index fills."""
    time, size = roll_limits.speed_ranges(LogConfig(), WriteLoad(4096), np.geomspace(10, 1e5, 50))
    assert (time.cause, size.cause) == (RollCause.TIME, RollCause.SIZE)
    assert size.first == time.last == pytest.approx(1775.3, abs=0.2)


def test_a_time_index_of_10_mib_is_full_no_sooner_than_in_14_6_minutes():
    """A clock gives at most one entry per millisecond; at 256 B between points that is 50 MB/s."""
    fast = roll_limits.seconds_until_roll(
        LogConfig(index_interval_bytes=0), WriteLoad(256), np.geomspace(1e6, 1e9, 20)
    )
    assert fast[RollCause.TIME_INDEX_FULL].min() == pytest.approx(873.812)


def test_two_thirds_decide_which_index_is_full_first():
    """The time index fills first if more than two thirds of the points add a time entry."""
    index_bytes = LogConfig().segment_index_bytes
    offset_bytes = roll_limits.offset_index_full_bytes(index_bytes, 1000)
    for share, is_time_first in ((0.67, True), (0.66, False)):
        time_bytes = roll_limits.time_index_full_bytes(index_bytes, 1000, share)
        assert (time_bytes < offset_bytes) == is_time_first


@pytest.mark.parametrize("gap", [97, 1000, 4608])
@pytest.mark.parametrize("share", [0.3, 1])
def test_a_safe_index_is_just_large_enough(gap, share):
    """Neither index is then full at segment.bytes; with a few slots less, one is."""
    safe = roll_limits.safe_index_bytes(GIB, gap, share)

    def full(index_bytes):
        return min(
            roll_limits.offset_index_full_bytes(index_bytes, gap),
            roll_limits.time_index_full_bytes(index_bytes, gap, share),
        )

    assert full(safe) >= GIB > full(safe - 36)
    # the entry that fills an index counts at the next append
    assert LogConfig(segment_index_bytes=safe).usable_time_slots > share * GIB / gap


@pytest.mark.parametrize(
    ("gap", "share", "safe"),
    [(4608, 1, 2_796_228), (819.2, 0.5, 10_485_760), (1228.8, 1, 10_485_792)],
)
def test_safe_sizes(gap, share, safe):
    """max(8 ceil(S / G), 12 (ceil(f S / G) + 2)) of 1 GiB."""
    assert roll_limits.safe_index_bytes(GIB, gap, share) == safe


def test_with_the_default_interval_ten_mib_are_always_safe():
    """A gap is more than the interval, and segment.bytes is an int."""
    gap = roll_limits.gap_bytes(4096, 1)
    assert roll_limits.safe_index_bytes(roll_limits.MAX_SEGMENT_BYTES, gap) < 10 * MIB


@pytest.mark.parametrize(
    ("index_bytes", "room"),
    [
        (0, IndexRoom.NONE),
        (4, IndexRoom.NONE),
        (11, IndexRoom.NONE),
        (12, IndexRoom.ALWAYS_FULL),
        (23, IndexRoom.ALWAYS_FULL),
        (24, IndexRoom.WORKS),
        (10 * MIB, IndexRoom.WORKS),
    ],
)
def test_sizes_that_cannot_work(index_bytes, room):
    """Below 12 a file cannot be created, below 24 the time index is always full."""
    assert roll_limits.index_room(index_bytes) == room
    if room == IndexRoom.ALWAYS_FULL:
        config = LogConfig(segment_index_bytes=index_bytes)
        seconds = roll_limits.seconds_until_roll(config, WriteLoad(100), 1e3)
        assert seconds[RollCause.TIME_INDEX_FULL] == 0


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({"segment_jitter_ms": 7_200_000}, 604_800 - 3600 + 1),
        ({"segment_ms": 60_000, "segment_jitter_ms": WEEK_MS}, 31),
        ({"max_compaction_lag_ms": 10_000}, 604_801),
        ({"max_compaction_lag_ms": 10_000, "cleanup_policy": "compact,delete"}, 11),
    ],
)
def test_jitter_and_compaction_shorten_the_wait(settings, seconds):
    """Half the jitter on average; max.compaction.lag.ms counts for compacted logs only."""
    waits = roll_limits.seconds_until_roll(LogConfig(**settings), WriteLoad(1), 1.0)
    assert float(waits[RollCause.TIME]) == seconds


def test_offsets_run_out_only_with_many_records_a_byte():
    seconds = roll_limits.seconds_until_roll(
        LogConfig(segment_bytes=roll_limits.MAX_SEGMENT_BYTES),
        WriteLoad(1000, records_per_batch=4000),
        1e6,
    )
    assert first_cause(seconds) == RollCause.OFFSET_OVERFLOW


LEADERS = ("day", "iot", "backfill", "late-phones", "append-time", "no-timestamps", "bad-clock")


def simulated(name: str) -> tuple[RollHistory, np.ndarray]:
    preset = workload.preset(name)
    run = simulation_cache.simulate(preset, config_of(preset, {}))
    return run.history, run.appended_batches


def segment_rows(history: RollHistory, appended: np.ndarray) -> Iterator[tuple]:
    """Returns each rolled segment: the appends from it on, and how many are its own."""
    bases = [segment.base_offset for segment in history.segments]
    first = np.searchsorted(appended["base_offset"], bases)
    for segment, low, high in zip(history.segments, first, first[1:], strict=False):
        yield segment, appended[low:], high - low


@pytest.mark.parametrize("name", LEADERS)
def test_the_race_ends_as_the_writer_ended_the_segment(name):
    """The append that found the segment full, and the cause that the writer noted."""
    history, appended = simulated(name)
    for segment, rows, count in segment_rows(history, appended):
        race = roll_limits.race(rows, history.config)
        assert (race.cause, race.roll) == (segment.reason.cause, count)


def seventh_of_the_day() -> tuple[np.ndarray, LogConfig]:
    """Returns the appends from a segment on whose time index becomes full."""
    history, appended = simulated("day")
    return appended[np.searchsorted(appended["base_offset"], 685_502) :], history.config


def test_a_limit_alone_rolls_where_the_rules_say():
    """LogSegment.shouldRoll asked append by append, with every other limit out of reach."""
    rows, config = seventh_of_the_day()
    race = roll_limits.race(rows, config)
    values = {
        "segment_bytes": config.segment_bytes,
        "most_ms": config.segment_ms,
        "offset_slots": config.offset_slots,
        "time_slots": config.usable_time_slots,
    }
    alone = {
        cause: first_roll(rows, {**dict.fromkeys(values, 2**62), name: values[name]})
        for cause, name in zip(CAUSES[1:], values, strict=False)
    }
    assert {cause: race.reached[cause] for cause in alone} == alone


def first_roll(rows: np.ndarray, limits: dict[str, int]) -> int:
    log_bytes = since = offset_entries = time_entries = 0
    newest_ms = last_entry_ms = -1
    first_ms = int(rows["max_timestamp_ms"][0])
    for number, row in enumerate(rows):
        batch_bytes, time_ms = int(row["size_bytes"]), int(row["max_timestamp_ms"])
        if should_roll(
            log_bytes,
            batch_bytes,
            limits["segment_bytes"],
            time_ms - first_ms,
            limits["most_ms"],
            offset_entries,
            limits["offset_slots"],
            time_entries,
            limits["time_slots"],
            int(row["last_offset"] - rows["base_offset"][0]),
        ):
            return number
        newest_ms = max(newest_ms, time_ms)
        if since > 4096:
            offset_entries += 1
            time_entries += newest_ms > last_entry_ms
            last_entry_ms, since = max(last_entry_ms, newest_ms), 0
        log_bytes, since = log_bytes + batch_bytes, since + batch_bytes
    raise AssertionError("no roll")


def test_the_shares_at_the_roll_of_the_lesson():
    """Segment 7 of the day: only its time index is full."""
    race = roll_limits.race(*seventh_of_the_day())
    shares = {cause: round(float(race.shares(cause)[race.roll]), 3) for cause in RollCause}
    assert shares == {
        RollCause.SIZE: 0.709,
        RollCause.TIME: 0.331,
        RollCause.OFFSET_INDEX_FULL: 0.666,
        RollCause.TIME_INDEX_FULL: 1.0,
        RollCause.OFFSET_OVERFLOW: 0.0,
    }


def test_the_first_of_several_in_kafkas_order_counts():
    _, appended = simulated("day")
    config = replace(LogConfig(), segment_bytes=1, segment_index_bytes=0, segment_ms=1)
    assert roll_limits.race(appended[:10], config).cause == RollCause.SIZE


def test_a_segment_that_is_not_full_has_no_roll():
    """Ten batches do not fill a gibibyte."""
    _, appended = simulated("day")
    assert roll_limits.race(appended[:10], LogConfig()).roll is None
