"""How a change of a listing is noticed, also of a file overwritten in place."""

import os
from pathlib import Path

import pytest

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.run_queue import RunQueue

NAMES = [f"orders-0/{0:020d}.{kind}" for kind in ("log", "index", "timeindex")]


def overwrite(path: Path) -> None:
    """Overwrites the file in place with as many other bytes, as `cp` does."""
    number = path.stat().st_ino
    with open(path, "r+b") as file:
        file.write(b"\1" * 4)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    assert path.stat().st_ino == number


@pytest.fixture
def many(monkeypatch) -> list[float]:
    """Makes every directory count as very large, with a clock that the test sets."""
    monkeypatch.setattr(broker_cache, "MAX_QUICK_FILES", 0)
    monkeypatch.setattr(broker_cache, "PAUSE_S", 100.0)
    clock = [0.0]
    monkeypatch.setattr(broker_cache.time, "monotonic", lambda: clock[0])
    return clock


@pytest.mark.parametrize(
    "name",
    [
        *NAMES,
        "orders-0/leader-epoch-checkpoint",
        "meta.properties",
        "recovery-point-offset-checkpoint",
    ],
)
def test_a_file_overwritten_in_place_makes_a_new_listing(directory, name):
    """Neither a folder's time nor a length has changed."""
    (directory / name).touch()
    (directory / "recovery-point-offset-checkpoint").touch()
    before = broker_cache.open_snapshot(directory)
    assert broker_cache.open_snapshot(directory) is before
    overwrite(directory / name) if (directory / name).stat().st_size else os.utime(
        directory / name, ns=(0, 1)
    )
    after = broker_cache.open_snapshot(directory)
    assert after.key != before.key and broker_cache.open_snapshot(directory) is after


def test_of_very_many_files_each_is_looked_at_now_and_then(directory, many):
    """Between two complete looks only the folders and the growing logs are checked."""
    before = broker_cache.open_snapshot(directory)
    overwrite(directory / NAMES[1])
    many[0] = 100.0
    assert broker_cache.open_snapshot(directory) is before
    many[0] = 1000.0
    after = broker_cache.open_snapshot(directory)
    assert after.key != before.key
    with open(directory / NAMES[0], "ab") as log:
        log.write(b"more")
    assert broker_cache.open_snapshot(directory).key != after.key


def test_a_look_that_found_nothing_puts_off_the_next(directory, many):
    before = broker_cache.open_snapshot(directory)
    many[0] = 1000.0
    assert broker_cache.open_snapshot(directory) is before
    overwrite(directory / NAMES[1])
    many[0] = 1100.0
    assert broker_cache.open_snapshot(directory) is before


def test_runs_that_wait_for_one_another_share_a_look(directory):
    """A run accepts observations made after its request, none older."""
    queue = RunQueue()
    with queue.turn():
        before = broker_cache.open_snapshot(directory)
        assert before.fingerprint.is_current(before.broker)  # looks
        overwrite(directory / NAMES[0])
        assert before.fingerprint.is_current(before.broker)  # has seen it since it was asked for
    assert not before.fingerprint.is_current(
        before.broker
    )  # a fragment's run, which asks by itself
    with queue.turn():
        assert not before.fingerprint.is_current(before.broker)
