"""Microseconds as ranges, and the prices that intervals imply."""

import pytest

from kafkaviz.analyse import cost_model
from kafkaviz.analyse.cost_model import Range


def test_a_warm_lookup_is_the_fit():
    """2.2 + 1.8 µs a header, as the exact examples have it: of 4.12 headers 9.6 µs, of 527 951 µs."""
    costs = cost_model.costs(by_base_offset=False)
    assert costs.warm_us(4.12).typical == pytest.approx(9.6, abs=0.05)
    assert costs.warm_us(527).typical == pytest.approx(951, abs=1)


def test_one_read_a_header_is_half_and_called_modelled():
    """From 4.1 on: nobody measured it, so half of the older scan is a model."""
    old, new = (cost_model.costs(by_base_offset) for by_base_offset in (False, True))
    assert new.header_us == Range(*(us / 2 for us in old.header_us)) and new.first_us == old.first_us
    assert (old.is_modelled, new.is_modelled) == (False, True)


def test_a_cold_lookup_is_the_fit_of_the_machine_it_was_measured_on():
    """110 µs + 87 µs a read, where one random read takes 103 µs; the headers on top."""
    costs = cost_model.Costs(storage=cost_model.Storage("measured", Range(103, 103, 103), ""))
    assert costs.cold_us(2, 5).typical - costs.warm_us(2).typical == pytest.approx(110 + 5 * 87)
    assert cost_model.costs(False, "memory").cold_us(10, 3) == cost_model.costs(False).warm_us(10)


def test_every_preset_is_a_range():
    """Least, likely, most."""
    for one in cost_model.STORAGES.values():
        assert 0 < one.read_us.low <= one.read_us.typical <= one.read_us.high, one.name
    assert set(cost_model.STORAGES) == {"memory", "nvme", "ssd", "hdd", "cloud-volume", "object-store"}


def test_cores_of_ten_thousand_fetches():
    """Batches of 1 KB: 0.1 core at 4 KiB, 0.65 at 64 KiB, 9.5 at 1 MiB."""
    costs = cost_model.costs(False)
    assert [round(costs.cores(headers, 10_000).typical, 2) for headers in (4.12, 34.9, 527)] == [0.10, 0.65, 9.51]


def test_a_calibration_replaces_the_machine_and_not_java():
    """The reads of a header are measured, what Java adds to them is what is left of 1.8 µs."""
    measure = {"min": 0.5, "median": 1.0, "p90": 2.0}
    measured = {"measured_at": "2026-11-21", "pread_17_us": measure, "pread_61_us": measure, "random_read_us": measure}
    costs = cost_model.costs(False, measured=measured)
    assert costs.header_us.typical == pytest.approx(2.0 + 1.8 - 0.61 - 0.68)
    assert (costs.calibrated, costs.storage.name, costs.storage.read_us) == ("2026-11-21", "calibrated", Range(0.5, 1.0, 2.0))
    assert cost_model.costs(False, "hdd", measured=measured).storage.name == "hdd"
    assert cost_model.costs(False, measured=measured | {"random_read_us": None}).storage.name == "nvme"


def test_the_default_prices_a_megabyte_at_a_microsecond():
    """Batches of 1 KB, (sd / mean)² 0.5: 4096 says that 1 MB of index a GiB is worth about 1 µs; the law gives the interval back."""
    price = cost_model.implied_price_us(4096, 1000, 0.5**0.5, 1.8)
    assert price == pytest.approx(1.0, abs=0.03)
    assert cost_model.priced_interval_bytes(price, 1000, 0.5**0.5, 1.8) == pytest.approx(4096)


def test_what_ten_thousand_partitions_take():
    """195 GiB look preallocated; 32 700 loaded segments are what the maps allow."""
    found = cost_model.footprint(10_000, 0, [10 << 20] * 10_000)
    assert found.preallocated_bytes >> 30 == 195
    assert (found.files, found.maps, found.resident_bytes) == (30_000, 20_000, 10_000 * 6 * 4096)
    assert cost_model.footprint(32_265, 0, [1]).maps_left() == 0
    assert cost_model.footprint(33_000, 0, [1]).maps_left() < 0


def test_rolls_leave_maps_behind_until_java_collects_them():
    """Up to four a rolled segment: 16 400 segments are what the maps of such a release allow. A newer one leaves none."""
    old, new = (cost_model.footprint(16_132, 0, [1], leaves_maps=one) for one in (True, False))
    assert (old.stale_maps, new.stale_maps) == (2 * 16_131, 0) and old.maps_left() == 4 and new.maps_left() > 32_000
    assert cost_model.footprint(3, 0, [1, 1, 1], leaves_maps=True).stale_maps == 0


def test_ranges():
    """Sums take the low ends together, and the high ones."""
    one, other = Range(1, 2, 4), Range(10, 20, 30)
    assert (one.plus(other), other.less(one), one.times(3)) == (Range(11, 22, 34), Range(9, 18, 26), Range(3, 6, 12))
