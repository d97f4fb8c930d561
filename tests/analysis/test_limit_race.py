"""A segment's race to its limits, compared with the simulated writer and a plain loop."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis.rolls import limit_race
from kafkaviz.analysis.rolls.roll_history import RollHistory
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.workloads import config_of
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers import workload
from kafkaviz.simulate.writer.roll_reason import CAUSES, RollCause, should_roll

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
        race = limit_race.race(rows, history.config)
        assert (race.cause, race.roll) == (segment.reason.cause, count)


def test_a_limit_alone_rolls_where_the_rules_say():
    """LogSegment.shouldRoll asked append by append, with every other limit out of reach."""
    history, appended = simulated("day")
    rows = appended[np.searchsorted(appended["base_offset"], 685_502) :]
    race, config = limit_race.race(rows, history.config), history.config
    limits = {
        "segment_bytes": config.segment_bytes,
        "most_ms": config.segment_ms,
        "offset_slots": config.offset_slots,
        "time_slots": config.usable_time_slots,
    }
    alone = {
        cause: first_roll(rows, {**dict.fromkeys(limits, 2**62), name: limits[name]})
        for cause, name in zip(CAUSES[1:], limits, strict=False)
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
    history, appended = simulated("day")
    rows = appended[np.searchsorted(appended["base_offset"], 685_502) :]
    race = limit_race.race(rows, history.config)
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
    assert limit_race.race(appended[:10], config).cause == RollCause.SIZE


def test_a_segment_that_is_not_full_has_no_roll():
    """Ten batches do not fill a gibibyte."""
    _, appended = simulated("day")
    assert limit_race.race(appended[:10], LogConfig()).roll is None
