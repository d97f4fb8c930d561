"""The report of a soak over a few directories, and the growth that it flags."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak import run
from tests.soak.run import MIB, ResourceUsage

USAGE = ResourceUsage(10, 300 * MIB, 350 * MIB, 10, 60, 9.0)


@pytest.mark.nightly
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="asks Linux what a process holds"
)
def test_a_few_directories_in_turn(tmp_path):
    """Four pages of each, a catalog of each, and no page with an exception."""
    usages = list(run.soak(tmp_path, 6, every=3))
    assert [usage.directories for usage in usages] == [3, 6]
    assert all(min(usage.own_bytes, usage.java_bytes) > 50 * MIB for usage in usages)
    assert all(usage.threads > 2 for usage in usages)
    assert run.grown(usages) == []


def test_growth_is_reported():
    """After a quarter of the run; until then caches fill."""
    steady = [USAGE, *(replace(USAGE, own_bytes=size * MIB) for size in (330, 340, 350))]
    assert run.grown(steady) == []
    assert run.grown([*steady[:3], replace(USAGE, own_bytes=380 * MIB)]) == [
        f"own_bytes grew from {300 * MIB} to {380 * MIB}"
    ]
    assert run.grown([*steady[:3], replace(USAGE, threads=30)]) == ["threads grew from 10 to 30"]
