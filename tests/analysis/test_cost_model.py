import pytest

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cost_model import Range

BY_POSITION = cost_model.lookup_costs(by_base_offset=False)
BY_BASE_OFFSET = cost_model.lookup_costs(by_base_offset=True)  # from 4.1 on
MEASURED_DISK = cost_model.Storage("measured", Range(103, 103, 103))


def around(us: float) -> dict[str, float]:
    """Returns a calibrated time whose bounds are half and double of its median."""
    return {"min": us / 2, "median": us, "p90": 2 * us}


def calibration(**times: dict[str, float] | None) -> dict:
    hits = {"pread_17_us": around(1.0), "pread_61_us": around(1.0)}
    return {"measured_at": "2026-11-21"} | hits | times


def test_a_warm_lookup_is_the_fit():
    """2.2 + 1.8 µs per header: 9.6 µs for 4.12 headers, 951 µs for 527."""
    assert BY_POSITION.warm_us(4.12).typical == pytest.approx(9.6, abs=0.05)
    assert BY_POSITION.warm_us(527).typical == pytest.approx(951, abs=1)


def test_one_read_a_header_is_half_and_called_modelled():
    """From 4.1 on a scan takes half of the older time, as the classes of 4.3.1 and 4.4.0 confirm."""
    assert BY_BASE_OFFSET.header_us == Range(*(us / 2 for us in BY_POSITION.header_us))
    assert BY_BASE_OFFSET.first_us == BY_POSITION.first_us
    assert (BY_POSITION.reads_once, BY_BASE_OFFSET.reads_once) == (False, True)


def test_a_cold_lookup_is_the_fit_of_the_machine_it_was_measured_on():
    """110 µs + 87 µs per read, where one random read takes 103 µs, plus the headers."""
    costs = cost_model.LookupCosts(storage=MEASURED_DISK)
    assert costs.cold_us(2, 5).typical - costs.warm_us(2).typical == pytest.approx(110 + 5 * 87)
    in_memory = cost_model.lookup_costs(by_base_offset=False, storage="memory")
    assert in_memory.cold_us(10, 3) == BY_POSITION.warm_us(10)


def test_a_cold_index_is_read_too():
    """Three reads of the index are three of the disk; four more of its pages cost a fault each."""
    costs = cost_model.LookupCosts(storage=MEASURED_DISK, fault_us=Range(1, 1, 1))
    index_us = costs.cold_us(2, 5, 3, 7).typical - costs.cold_us(2, 5).typical
    assert index_us == pytest.approx(3 * 103 + 4)


def test_batches_of_magic_0_and_1_take_one_read():
    """Up to 4.0 they take half of the time of other batches; from 4.1 on all take one read."""
    half = BY_POSITION.with_one_read_share(0.5)
    full = BY_POSITION.with_one_read_share(1.0)
    assert full.each_us == BY_POSITION.header_us.times(0.5)
    assert full.warm_us(10).typical == pytest.approx(2.2 + 9.0)
    assert half.each_us.typical == pytest.approx(1.35)
    assert half.with_one_read_share(0.5) == half
    assert BY_BASE_OFFSET.with_one_read_share(1.0).each_us == BY_BASE_OFFSET.header_us


@pytest.mark.parametrize(("us", "seeks"), [(9000, True), (120, False)])
def test_a_calibrated_disk_that_seeks_is_one(us, seeks):
    """How long a seek takes matters, not the name of the machine."""
    measured = calibration(random_read_us=around(us))
    costs = cost_model.lookup_costs(by_base_offset=False, calibration=measured)
    assert costs.storage.seeks == seeks
    assert cost_model.STORAGES["hdd"].seeks and not cost_model.STORAGES["object-store"].seeks


def test_one_read_a_header_is_priced_by_the_read_that_was_measured():
    """From 4.1 on a header is 17 bytes, plus Java's share.

    A page fault is priced by the machine.
    """
    measured = calibration(
        pread_17_us=around(2.0), pread_61_us=around(50.0), minor_fault_us=around(7.0)
    )
    costs = cost_model.lookup_costs(by_base_offset=True, calibration=measured)
    assert costs.header_us.typical == pytest.approx(2 * 1.12) and costs.reads_once
    assert costs.fault_us == Range(3.5, 7.0, 14.0)


@pytest.mark.parametrize("storage", cost_model.STORAGES.values(), ids=lambda storage: storage.name)
def test_every_preset_is_a_range(storage):
    assert 0 < storage.read_us.low <= storage.read_us.typical <= storage.read_us.high


def test_cores_of_ten_thousand_fetches():
    """Batches of 1 KB: 0.1 core at 4 KiB, 0.65 at 64 KiB, 9.5 at 1 MiB."""
    cores = [BY_POSITION.cores(headers, 10_000).typical for headers in (4.12, 34.9, 527)]
    assert cores == pytest.approx([0.10, 0.65, 9.51], abs=0.005)


def test_a_calibration_replaces_the_machine_and_not_java():
    measured = calibration(random_read_us=around(1.0))
    costs = cost_model.lookup_costs(by_base_offset=False, calibration=measured)
    assert costs.header_us.typical == pytest.approx(2 * 1.12)
    assert costs.first_us == Range(0.8, pytest.approx(2.6), pytest.approx(11.2))
    assert (costs.calibrated, costs.storage.name) == ("2026-11-21", "calibrated")
    assert costs.storage.read_us == Range(0.5, 1.0, 2.0)
    named = cost_model.lookup_costs(by_base_offset=False, storage="hdd", calibration=measured)
    assert named.storage.name == "hdd"
    unread = calibration(random_read_us=None)
    costs = cost_model.lookup_costs(by_base_offset=False, calibration=unread)
    assert costs.storage.name == "nvme"


def test_the_default_prices_a_megabyte_at_a_microsecond():
    price = cost_model.implied_price_us(4096, 1000, 0.5**0.5, 1.8)
    assert price == pytest.approx(1.0, abs=0.03)


def test_what_ten_thousand_partitions_take():
    """195 GiB look preallocated; 32 700 loaded segments are the limit of the maps."""
    footprint = cost_model.footprint(10_000, 0, [10 << 20] * 10_000)
    assert footprint["preallocated_bytes"] >> 30 == 195
    assert (footprint["files"], footprint["maps"]) == (30_000, 20_000)
    assert footprint["resident_bytes"] == 10_000 * 6 * 4096
    assert cost_model.footprint(32_265, 0, [1])["maps_left"] == 0
    assert cost_model.footprint(33_000, 0, [1])["maps_left"] < 0


def test_rolls_leave_maps_behind_until_java_collects_them():
    """Up to four per rolled segment: 16 400 segments are the limit of the maps on such a release.

    Newer releases leave none.
    """
    old = cost_model.footprint(16_132, 0, [1], leaves_maps=True)
    new = cost_model.footprint(16_132, 0, [1], leaves_maps=False)
    assert (old["stale_maps"], old["maps_left"]) == (2 * 16_131, 4)
    assert new["stale_maps"] == 0 and new["maps_left"] > 32_000
    assert cost_model.footprint(3, 0, [1, 1, 1], leaves_maps=True)["stale_maps"] == 0


def test_ranges():
    lower, other = Range(1, 2, 4), Range(10, 20, 30)
    assert (lower.plus(other), lower.times(3)) == (Range(11, 22, 34), Range(3, 6, 12))
