"""An existing index: lookups in it counted one by one, and the gaps that restarts explain."""

import random
from dataclasses import replace

import numpy as np
import pytest

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import lookup_costs
from kafkaviz.analysis.segment import existing_index
from kafkaviz.analysis.tuning import tuning_text as tuning_text
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
    every = sweep.parts(batches, [interval], targets=sweep.EVERY, **how)
    cold = cold_reads(batches, np.array([interval]), by_base_offset=by_base_offset)
    again = existing_index.cost_from_replay(
        sweep.parts(batches, [interval], **how),
        every,
        sweep_times(batches, [interval]),
        cold,
        interval,
    )
    there, middle = (
        existing_index.ExistingIndexSweeper(
            offsets, times, interval, by_base_offset=by_base_offset
        ),
        len(batches) // 2,
    )
    observe_scan((batches[:middle], batches[middle:]), there)
    columns = columns_of(batches)
    return again, there.cost(columns, again) if there.result() else None


def counted(parts) -> list[int]:
    """Returns the lookups by number of headers."""
    return parts.headers_at(0).tolist()


@pytest.mark.parametrize("by_base_offset", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_an_index_that_the_interval_made_is_its_replay(seed, by_base_offset):
    draw = random.Random(seed)
    sizes, records = (
        [draw.randint(70, 6000) for _ in range(300)],
        [draw.choice([1, 1, 2, 9]) for _ in range(300)],
    )
    batches = arrays.batches(sizes, records)
    again, there = existing(batches, *arrays.indexed(batches, 4096), by_base_offset=by_base_offset)
    for name in ("parts", "every_offset", "timestamps"):
        replayed_column, other = getattr(again, name), getattr(there, name)
        assert (
            counted(replayed_column) == counted(other)
            and replayed_column.sweep().tolist() == other.sweep().tolist()
        )
    assert [count.tolist() for count in again.cold.counts] == [
        count.tolist() for count in there.cold.counts
    ]
    assert (there.gaps.late, there.gaps.early, there.gaps.is_coarse, there.gaps.is_dense) == (
        0,
        0,
        False,
        False,
    )


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
    assert (
        counted(there.parts) == np.bincount(bases).tolist()
        and counted(there.every_offset) == np.bincount(every).tolist()
    )
    assert int(there.parts.entries[0]) == len(pairs)


def test_the_first_fetch_of_a_follower_has_no_entry():
    """Half of the log came at once, the rest batch by batch. The keys do not show it, the gap does."""
    batches = arrays.batches([1000] * 200, [5] * 200)
    offsets, times = arrays.indexed(batches, 4096)
    late = offsets[offsets["position"] > 100_000]
    again, there = existing(batches, late, times)
    assert (
        int(there.parts.sweep()[0]["headers_p99"])
        > 90
        > 10
        > int(again.parts.sweep()[0]["headers_p99"])
    )
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


def test_an_index_that_points_between_batches_says_nothing():
    batches = arrays.batches([1000] * 20, [5] * 20)
    assert (
        existing(batches, arrays.offset_entries([(29, 5001)]), arrays.time_entries([]))[1] is None
    )
    assert (
        existing(batches, arrays.offset_entries([(29, 99_000)]), arrays.time_entries([]))[1] is None
    )
    assert (
        existing(
            batches, arrays.offset_entries([(29, 99_000), (34, 6000)]), arrays.time_entries([])
        )[1]
        is None
    )


def test_today_is_what_the_index_has():
    """The answer is priced by the existing index, says so, and proposes nothing unknown."""
    batches = arrays.batches([1000] * 2000, [5] * 2000)
    offsets, times = arrays.indexed(batches, 4096)
    gathering = MeasurementBuilder(
        extra_intervals={4096}, by_base_offset=True, current_interval_bytes=4096
    )
    gathering.add([batches], indexes=(offsets[offsets["position"] > 1_000_000], times))
    measured, today = (
        gathering.result(),
        CurrentConfig(interval_bytes=4096, interval_source="as typed", topic="orders"),
    )
    recommendation = recommend(measured, today, Budgets(), lookup_costs(by_base_offset=True))
    assert (
        recommendation.verdict == TuningVerdict.KEEP
        and recommendation.current_cost.row["headers_p99"] > 900
    )
    assert [reason.code for reason in recommendation.reasons] == [
        "plateau",
        "over-budget",
        "coarser",
    ]
    on_disk = tuning_text.describe_reason(recommendation.reasons[-1])["on_disk"]
    assert on_disk.key == "tuning_reason.on-disk" and on_disk["entries"] == 199
    assert (
        on_disk["interval"],
        on_disk["entries_replayed"],
        on_disk["headers_p99_replayed"],
    ) == (4096, 399, 6)
    coarse = recommend(
        measured, replace(today, is_coarse=True), Budgets(), lookup_costs(by_base_offset=True)
    )
    assert [reason.code for reason in coarse.reasons][-2:] == ["on-disk", "coarse"]


@pytest.mark.parametrize(
    ("name", "topics"), [("kafka-3.9.0-follower", FOLLOWER), ("kafka-3.9.0-leader", LEADER)]
)
def test_directories_of_real_brokers(shared, name, topics):
    """p99 of the replay and of the index on disk. Whole appends get no proposed interval."""
    source = open_source(unpack_if_archive(shared / "data" / f"{name}.tar.gz"))
    for case in source.cases:
        if case.name in topics:
            recommendation = recommend(
                case.measurement, case.today, Budgets(), lookup_costs(by_base_offset=False)
            )
            again = compute_cost(
                case.measurement, lookup_costs(by_base_offset=False), case.today.interval_bytes
            )
            replayed_p99, real = (
                int(again.row["headers_p99"]),
                int(recommendation.current_cost.row["headers_p99"]),
            )
            assert (replayed_p99, real) == topics[case.name], case.name
            assert case.today.is_coarse == (replayed_p99 != real), case.name
            assert recommendation.verdict == TuningVerdict.KEEP or replayed_p99 == real
            assert case.disk_entries == (
                int(recommendation.current_cost.row["entries"]),
                recommendation.current_cost.time_entries,
            )
