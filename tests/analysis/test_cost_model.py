import pytest

from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cost_model import Range


def test_a_warm_lookup_is_the_fit():
    """2.2 + 1.8 µs per header: 9.6 µs for 4.12 headers, 951 µs for 527."""
    costs = cost_model.lookup_costs(by_base_offset=False)
    assert costs.warm_us(4.12).typical == pytest.approx(9.6, abs=0.05)
    assert costs.warm_us(527).typical == pytest.approx(951, abs=1)


def test_one_read_a_header_is_half_and_called_modelled():
    """From 4.1 on a scan takes half of the older time, as the classes of 4.3.1 and 4.4.0 confirm."""
    old, new = (
        cost_model.lookup_costs(by_base_offset=by_base_offset) for by_base_offset in (False, True)
    )
    assert (
        new.header_us == Range(*(us / 2 for us in old.header_us)) and new.first_us == old.first_us
    )
    assert (old.reads_once, new.reads_once) == (False, True)


def test_a_cold_lookup_is_the_fit_of_the_machine_it_was_measured_on():
    """110 µs + 87 µs per read, where one random read takes 103 µs, plus the headers."""
    costs = cost_model.LookupCosts(storage=cost_model.Storage("measured", Range(103, 103, 103)))
    assert costs.cold_us(2, 5).typical - costs.warm_us(2).typical == pytest.approx(110 + 5 * 87)
    assert cost_model.lookup_costs(by_base_offset=False, storage="memory").cold_us(
        10, 3
    ) == cost_model.lookup_costs(by_base_offset=False).warm_us(10)


def test_a_cold_index_is_read_too():
    """Three reads of the index are three of the disk; four more of its pages cost a fault each."""
    costs = cost_model.LookupCosts(
        storage=cost_model.Storage("measured", Range(103, 103, 103)), fault_us=Range(1, 1, 1)
    )
    assert costs.cold_us(2, 5, 3, 7).typical - costs.cold_us(2, 5).typical == pytest.approx(
        3 * 103 + 4
    )


def test_batches_of_magic_0_and_1_take_one_read():
    """Up to 4.0 they take half of the time of other batches; from 4.1 on all take one read."""
    old, new = (
        cost_model.lookup_costs(by_base_offset=by_base_offset) for by_base_offset in (False, True)
    )
    assert old.with_one_read_share(1.0).each_us == old.header_us.times(
        0.5
    ) and old.with_one_read_share(0.5).each_us.typical == pytest.approx(1.35)
    assert (
        old.with_one_read_share(0.5).with_one_read_share(0.5) == old.with_one_read_share(0.5)
        and new.with_one_read_share(1.0).each_us == new.header_us
    )
    assert old.with_one_read_share(1.0).warm_us(10).typical == pytest.approx(2.2 + 9.0)


def test_a_calibrated_disk_that_seeks_is_one():
    """How long a seek takes matters, not the name of the machine."""
    hit = {"min": 0.5, "median": 1.0, "p90": 2.0}
    for us, seeks in ((9000, True), (120, False)):
        slow = {"min": us / 2, "median": us, "p90": 2 * us}
        measured = {
            "measured_at": "2026-11-21",
            "pread_17_us": hit,
            "pread_61_us": hit,
            "random_read_us": slow,
        }
        assert (
            cost_model.lookup_costs(by_base_offset=False, calibration=measured).storage.seeks
            == seeks
        )
    assert cost_model.STORAGES["hdd"].seeks and not cost_model.STORAGES["object-store"].seeks


def test_one_read_a_header_is_priced_by_the_read_that_was_measured():
    """From 4.1 on a header is 17 bytes, plus Java's share.

    A page fault is priced by the machine.
    """
    cached, other, fault = ({"min": us / 2, "median": us, "p90": 2 * us} for us in (2.0, 50.0, 7.0))
    measured = {
        "measured_at": "2026-11-21",
        "pread_17_us": cached,
        "pread_61_us": other,
        "minor_fault_us": fault,
    }
    costs = cost_model.lookup_costs(by_base_offset=True, calibration=measured)
    assert costs.header_us.typical == pytest.approx(2 * 1.12) and costs.reads_once
    assert costs.fault_us == Range(3.5, 7.0, 14.0)


def test_every_preset_is_a_range():
    for storage in cost_model.STORAGES.values():
        assert 0 < storage.read_us.low <= storage.read_us.typical <= storage.read_us.high, (
            storage.name
        )
    assert set(cost_model.STORAGES) == {
        "memory",
        "nvme",
        "ssd",
        "hdd",
        "cloud-volume",
        "object-store",
    }


def test_cores_of_ten_thousand_fetches():
    """Batches of 1 KB: 0.1 core at 4 KiB, 0.65 at 64 KiB, 9.5 at 1 MiB."""
    costs = cost_model.lookup_costs(by_base_offset=False)
    assert [round(costs.cores(headers, 10_000).typical, 2) for headers in (4.12, 34.9, 527)] == [
        0.10,
        0.65,
        9.51,
    ]


def test_a_calibration_replaces_the_machine_and_not_java():
    measure = {"min": 0.5, "median": 1.0, "p90": 2.0}
    measured = {
        "measured_at": "2026-11-21",
        "pread_17_us": measure,
        "pread_61_us": measure,
        "random_read_us": measure,
    }
    costs = cost_model.lookup_costs(by_base_offset=False, calibration=measured)
    assert costs.header_us.typical == pytest.approx(2 * 1.12)
    assert costs.first_us == Range(0.8, pytest.approx(2.6), pytest.approx(11.2))
    assert (costs.calibrated, costs.storage.name, costs.storage.read_us) == (
        "2026-11-21",
        "calibrated",
        Range(0.5, 1.0, 2.0),
    )
    assert (
        cost_model.lookup_costs(
            by_base_offset=False, storage="hdd", calibration=measured
        ).storage.name
        == "hdd"
    )
    assert (
        cost_model.lookup_costs(
            by_base_offset=False, calibration=measured | {"random_read_us": None}
        ).storage.name
        == "nvme"
    )


def test_the_default_prices_a_megabyte_at_a_microsecond():
    price = cost_model.implied_price_us(4096, 1000, 0.5**0.5, 1.8)
    assert price == pytest.approx(1.0, abs=0.03)


def test_what_ten_thousand_partitions_take():
    """195 GiB look preallocated; 32 700 loaded segments are the limit of the maps."""
    footprint = cost_model.footprint(10_000, 0, [10 << 20] * 10_000)
    assert footprint["preallocated_bytes"] >> 30 == 195
    assert (footprint["files"], footprint["maps"], footprint["resident_bytes"]) == (
        30_000,
        20_000,
        10_000 * 6 * 4096,
    )
    assert cost_model.footprint(32_265, 0, [1])["maps_left"] == 0
    assert cost_model.footprint(33_000, 0, [1])["maps_left"] < 0


def test_rolls_leave_maps_behind_until_java_collects_them():
    """Up to four per rolled segment: 16 400 segments are the limit of the maps on such a release.

    Newer releases leave none.
    """
    old, new = (
        cost_model.footprint(16_132, 0, [1], leaves_maps=leaves_maps)
        for leaves_maps in (True, False)
    )
    assert (
        (old["stale_maps"], new["stale_maps"]) == (2 * 16_131, 0)
        and old["maps_left"] == 4
        and new["maps_left"] > 32_000
    )
    assert cost_model.footprint(3, 0, [1, 1, 1], leaves_maps=True)["stale_maps"] == 0


def test_ranges():
    lower, other = Range(1, 2, 4), Range(10, 20, 30)
    assert (lower.plus(other), lower.times(3)) == (Range(11, 22, 34), Range(3, 6, 12))
