"""An existing index: lookups in it counted one by one, and the gaps that restarts explain."""

import random
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import lookup_costs
from kafkaviz.analysis.segment import existing_index
from kafkaviz.analysis.tuning import tuning_text
from kafkaviz.analysis.tuning.interval_cost import Budgets, compute_cost
from kafkaviz.analysis.tuning.measurement import CurrentConfig, MeasurementBuilder
from kafkaviz.analysis.tuning.recommendation import TuningVerdict, recommend
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.format.walk import observe_scan
from kafkaviz.log.archives.archive import unpack_if_archive
from tests.analysis import arrays
from tests.support.tuning import cold_reads, columns_of, sweep_times

LEADER = {"user-profiles": (23, 38), "orders": (13, 13), "late-events": (4, 4)}
FOLLOWER = {
    "orders": (13, 460),
    "audit-trail": (9, 653),
    "late-events": (4, 245),
    "ledger": (16, 288),
    "clicks.zstd": (3, 148),
}


def existing(batches, offsets, times, interval: int = 4096, by_base_offset: bool = True):
    how = {"by_base_offset": by_base_offset}
    again = existing_index.ExistingIndexCost(
        sweep.parts(batches, [interval], **how),
        sweep.parts(batches, [interval], targets=sweep.EVERY, **how),
        sweep_times(batches, [interval]),
        cold_reads(batches, np.array([interval]), **how),
        existing_index.EntryGaps(interval_bytes=interval),
    )
    there = existing_index.ExistingIndexSweeper(offsets, times, interval, **how)
    observe_scan(np.array_split(batches, 2), there)
    return again, there.cost(columns_of(batches), again) if there.result() else None


def counted(parts) -> list[int]:
    """Returns the lookups by number of headers."""
    return parts.headers_at(0).tolist()


@pytest.mark.parametrize("by_base_offset", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_an_index_that_the_interval_made_is_its_replay(seed, by_base_offset):
    draw = random.Random(seed)
    sizes = [draw.randint(70, 6000) for _ in range(300)]
    records = [draw.choice([1, 1, 2, 9]) for _ in range(300)]
    batches = arrays.batches(sizes, records)
    again, there = existing(batches, *arrays.indexed(batches, 4096), by_base_offset=by_base_offset)
    for name in ("parts", "every_offset", "timestamps"):
        replayed, real = getattr(again, name), getattr(there, name)
        assert counted(replayed) == counted(real)
        assert replayed.sweep().tolist() == real.sweep().tolist()
    for replayed, real in zip(again.cold.counts, there.cold.counts, strict=True):
        assert replayed.tolist() == real.tolist()
    gaps = there.gaps
    assert (gaps.late, gaps.early, gaps.is_coarse, gaps.is_dense) == (0, 0, False, False)


@pytest.mark.parametrize("seed", range(4))
def test_lookups_in_any_index_are_those_of_one_after_the_other(seed):
    """Entries of appends of several batches: each target's floor, and the headers from there."""
    draw = random.Random(seed)
    batches = arrays.batches(
        [draw.randint(70, 900) for _ in range(60)], [draw.choice([1, 3]) for _ in range(60)]
    )
    pairs = [
        (int(batches["last_offset"][row + draw.randint(0, 3)]), int(batches["position"][row]))
        for row in range(5, 55, 6)
    ]
    _, there = existing(
        batches, arrays.offset_entries(pairs), arrays.time_entries([]), by_base_offset=False
    )

    def headers(target: int, row: int) -> int:
        start = max([position for offset, position in pairs if offset <= target], default=0)
        return row - int(np.searchsorted(batches["position"], start)) + 1

    bases = [headers(int(batch["base_offset"]), row) for row, batch in enumerate(batches)]
    every = [
        headers(offset, row)
        for row, batch in enumerate(batches)
        for offset in range(batch["base_offset"], batch["last_offset"] + 1)
    ]
    assert counted(there.parts) == np.bincount(bases).tolist()
    assert counted(there.every_offset) == np.bincount(every).tolist()
    assert int(there.parts.entries[0]) == len(pairs)


def test_the_first_fetch_of_a_follower_has_no_entry():
    """Half of the log came at once, the rest batch by batch. The keys do not show it, the gap does."""
    batches = arrays.batches([1000] * 200, [5] * 200)
    offsets, times = arrays.indexed(batches, 4096)
    late = offsets[offsets["position"] > 100_000]
    again, there = existing(batches, late, times)
    assert int(there.parts.sweep()[0]["headers_p99"]) > 90
    assert int(again.parts.sweep()[0]["headers_p99"]) < 10
    assert there.gaps.is_coarse and there.gaps.longest_bytes > 90_000 and there.gaps.late == 1


def test_a_restart_explains_a_gap_of_twice_the_interval():
    batches = arrays.batches([1000] * 200, [5] * 200)
    offsets, times = arrays.indexed(batches, 4096)
    moved = offsets.copy()
    for entry in moved[20:]:  # from the restart on three batches later
        row = int(entry["position"]) // 1000 + 3
        if row < 200:
            entry["position"], entry["offset"] = 1000 * row, batches["last_offset"][row]
    moved = moved[np.append(True, np.diff(moved["position"]) > 0)]
    _, there = existing(batches, moved, times)
    assert there.gaps.late == 1 and not there.gaps.is_coarse and not there.gaps.is_dense


def test_an_index_of_a_shorter_interval_is_too_dense():
    batches = arrays.batches([1000] * 200, [5] * 200)
    _, there = existing(batches, *arrays.indexed(batches, 1024))
    assert there.gaps.is_dense and not there.gaps.is_coarse


@pytest.mark.parametrize("pairs", [[(29, 5001)], [(29, 99_000)], [(29, 99_000), (34, 6000)]])
def test_an_index_that_points_between_batches_says_nothing(pairs):
    batches = arrays.batches([1000] * 20, [5] * 20)
    _, there = existing(batches, arrays.offset_entries(pairs), arrays.time_entries([]))
    assert there is None


def test_today_is_what_the_index_has():
    """The answer is priced by the existing index, says so, and proposes nothing unknown."""
    batches = arrays.batches([1000] * 2000, [5] * 2000)
    offsets, times = arrays.indexed(batches, 4096)
    gathering = MeasurementBuilder(
        extra_intervals={4096}, by_base_offset=True, current_interval_bytes=4096
    )
    gathering.add([batches], indexes=(offsets[offsets["position"] > 1_000_000], times))
    measured = gathering.result()
    today = CurrentConfig(interval_bytes=4096, interval_source="as typed", topic="orders")
    costs = lookup_costs(by_base_offset=True)
    recommendation = recommend(measured, today, Budgets(), costs)
    assert recommendation.verdict == TuningVerdict.KEEP
    assert recommendation.current_cost.row["headers_p99"] > 900
    reasons = recommendation.reasons
    assert [reason.code for reason in reasons] == ["plateau", "over-budget", "coarser"]
    on_disk = tuning_text.describe_reason(reasons[-1])["on_disk"]
    assert on_disk.key == "tuning_reason.on-disk"
    names = ("entries", "interval", "entries_replayed", "headers_p99_replayed")
    assert [on_disk[name] for name in names] == [199, 4096, 399, 6]
    coarse = recommend(measured, replace(today, is_coarse=True), Budgets(), costs)
    assert [reason.code for reason in coarse.reasons][-2:] == ["on-disk", "coarse"]


@pytest.mark.parametrize(
    ("name", "topics"), [("kafka-3.9.0-follower", FOLLOWER), ("kafka-3.9.0-leader", LEADER)]
)
def test_directories_of_real_brokers(shared, name, topics):
    """p99 of the replay and of the index on disk. Whole appends get no proposed interval."""
    source = open_source(unpack_if_archive(shared / "data" / f"{name}.tar.gz"))
    costs = lookup_costs(by_base_offset=False)
    for case in (case for case in source.cases if case.name in topics):
        recommendation = recommend(case.measurement, case.today, Budgets(), costs)
        current = recommendation.current_cost
        replay_cost = case.measurement.replay_cost(case.today.interval_bytes)
        again = compute_cost(case.measurement, costs, replay_cost)
        replayed_p99 = int(again.row["headers_p99"])
        real_p99 = int(current.row["headers_p99"])
        assert (replayed_p99, real_p99) == topics[case.name], case.name
        assert case.today.is_coarse == (replayed_p99 != real_p99), case.name
        assert recommendation.verdict == TuningVerdict.KEEP or replayed_p99 == real_p99
        assert case.disk_entries == (int(current.row["entries"]), current.time_entries)
