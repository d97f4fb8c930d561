"""What a soak of a few directories shows, and what it calls grown."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak import run
from tests.soak.run import MIB, Held

HELD = Held(10, 300 * MIB, 350 * MIB, 10, 60, 9.0)


@pytest.mark.matrix
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="asks Linux what a process holds"
)
def test_a_few_directories_in_turn(tmp_path):
    """Four pages of each, a catalog of each, and no page with an exception."""
    held = list(run.soak(tmp_path, 6, every=3))
    assert [one.directories for one in held] == [3, 6]
    assert all(one.own_bytes > 50 * MIB < one.java_bytes and one.threads > 2 for one in held)
    assert run.grown(held) == []


def test_growth_is_told():
    """Behind a quarter of the run; until then caches fill."""
    steady = [
        HELD,
        replace(HELD, own_bytes=330 * MIB),
        replace(HELD, own_bytes=340 * MIB),
        replace(HELD, own_bytes=350 * MIB),
    ]
    assert run.grown(steady) == []
    assert run.grown([*steady[:3], replace(HELD, own_bytes=380 * MIB)]) == [
        f"own_bytes grew from {300 * MIB} to {380 * MIB}"
    ]
    assert run.grown([*steady[:3], replace(HELD, threads=30)]) == ["threads grew from 10 to 30"]
