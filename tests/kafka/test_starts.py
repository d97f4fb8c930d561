"""Tests, without Java, of the comparison of starts."""

import random
from pathlib import Path

from tests.kafka.damages import DAMAGES
from tests.kafka.starts import RELEASES, Outcome, cases, compare, unpack


def test_an_outcome_that_differs_is_reported():
    """Each of the compared things."""
    expected = Outcome(starts=True, cut={("orders-0", 38): 10}, strays={"orders-1"})
    assert compare(expected, Outcome(starts=False))
    assert compare(expected, Outcome(starts=True, strays={"orders-1"}))
    assert compare(expected, Outcome(starts=True, cut=expected.cut))
    assert compare(expected, Outcome(starts=True, cut=expected.cut, strays={"orders-1"})) == []
    assert compare(None, Outcome(starts=True)) == ["nothing is predicted"]
    assert compare(Outcome(starts=False, may_start=True), Outcome(starts=True)) == []


def test_a_failure_is_known_by_the_words_of_the_broker():
    expected = Outcome(starts=False, words=("java.lang.IllegalStateException: no such thing",))
    said = Outcome(starts=False, words=("ERROR java.lang.IllegalStateException: no such thing",))
    assert compare(expected, said) == []
    assert compare(expected, Outcome(starts=False, words=("java.io.IOException: gone",)))


def test_there_are_enough_cases_for_each_release():
    """Sixty starts at least, whatever the seed."""
    for seed in (0, 1):
        releases = [case.release for case in cases(seed)]
        assert min(releases.count(release) for release in RELEASES) >= 60


def test_a_damage_depends_on_its_seed_alone(tmp_path):
    """The same bytes twice; and every damage can be done to a directory of each kind."""
    for case in cases(3):
        if case.damage in ("log_flipped", "snapshot_torn_anywhere"):
            folder = tmp_path / f"{case.archive.name} {case.damage}"
            disks = [disk for name in "ab" for disk in case.prepare(folder / name)]
            logs = [[path.read_bytes() for path in sorted(disk.rglob("*.log"))] for disk in disks]
            assert logs[: len(logs) // 2] == logs[len(logs) // 2 :]


def test_every_damage_can_be_done_to_several_log_directories(tmp_path):
    archive = Path(__file__).parents[1] / "data" / "starts" / "three-killed.tar.xz"
    for name in ("partition_removed", "marker_removed", "snapshot_empty", "log_cut"):
        disks = unpack(archive, tmp_path / name)
        assert [disk.name for disk in disks] == ["disk-0", "disk-1", "disk-2"]
        DAMAGES[name](disks, random.Random(name))
