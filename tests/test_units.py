import pytest

from kafkaviz import units


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1023.4, "1023 B"),
        (1023.7, "1 KiB"),
        (1024, "1 KiB"),
        (1_047_900, "1023 KiB"),
        (1_048_300, "1 MiB"),
        (1_073_300_000, "1 GiB"),
        (3_880_000, "3.70 MiB"),
        (1 << 61, "2048 PiB"),
    ],
)
def test_a_size_is_below_1024_of_its_unit(count, text):
    """Except in the largest unit."""
    assert units.format_bytes(count) == text


@pytest.mark.parametrize(
    ("bytes_per_s", "text"),
    [(999.4, "999 B/s"), (999.7, "1 kB/s"), (999_600, "1 MB/s"), (1.3e9, "1.30 GB/s")],
)
def test_a_rate_is_below_1000_of_its_unit(bytes_per_s, text):
    assert units.rate(bytes_per_s) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (999.4, "999 ms"),
        (999.6, "1 s"),
        (59_940, "59.9 s"),
        (59_999, "1 min"),
        (3_599_999, "1 h"),
        (86_399_999, "1 d"),
        (604_800_000, "7 d"),
        (276_000, "4.6 min"),
        (-59_999, "-1 min"),
    ],
)
def test_no_duration_is_as_long_as_a_unit_above(ms, text):
    assert units.duration(ms) == text
