"""python killed_ingest.py BROKER CATALOG SCENARIO EVERY: kills ingests with SIGKILL, each at
another call that changes a folder or waits for the disk, and prints a line of JSON per ingest.

Each ingest is a forked process of its own. The catalog is copied first.
"""

import fcntl
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from kafkaviz.analysis import broker_health, sweep
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.ingest import job
from tests.support import ingest

CALLS = ("rename", "replace", "link", "symlink", "mkdir", "unlink", "rmdir", "fsync")  # of os
NEVER = 1 << 30


def run_killed(action: Callable[[], None], point: int) -> tuple[bool, int]:
    """Returns whether a process was killed by its n-th call, and how many it had.

    Args:
        point: n, counted from 1.
    """
    read_end, write_end = os.pipe()
    process = os.fork()
    if process == 0:
        steps = count(1)

        def stepping(original: Callable) -> Callable:
            def call(*arguments: object, **options: object) -> object:
                step = next(steps)
                os.write(write_end, b".")
                if step == point:
                    os.kill(os.getpid(), signal.SIGKILL)
                return original(*arguments, **options)

            return call

        for name in CALLS:
            setattr(os, name, stepping(getattr(os, name)))
        fcntl.flock = stepping(fcntl.flock)
        action()
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        steps_taken = len(pipe.read())
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True, steps_taken
    assert os.WEXITSTATUS(status) == 0
    return False, steps_taken


def run_ingest(broker: Path, catalog: Path) -> None:
    ingest.without_spark(pytest.MonkeyPatch())
    ingest.run_ingest(broker, catalog=catalog, findings=True)


def load_compiled(broker: Path) -> None:
    """Loads in advance what would cost each process a second."""
    opened = open_broker(broker)
    broker_health.check(opened)
    sweep.sweep(opened.partitions[0].active.batches())


def kill_before_the_commit(broker: Path, catalog: Path) -> None:
    """Kills a run after its tasks have ended; the next run takes over its lock and output."""

    def die(*_arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def action() -> None:
        job.write_tables = die
        run_ingest(broker, catalog)

    was_killed, _ = run_killed(action, NEVER)
    assert was_killed


def main() -> None:
    broker, catalog, scenario, every = *map(Path, sys.argv[1:3]), sys.argv[3], int(sys.argv[4])
    load_compiled(broker)
    if scenario == "behind a killed run":
        kill_before_the_commit(broker, catalog)
    for point in count(1, every):
        copy = catalog.with_name(f"killed-{point}")
        shutil.copytree(catalog, copy, symlinks=True)
        was_killed, steps = run_killed(lambda copy=copy: run_ingest(broker, copy), point)
        print(json.dumps({"catalog": str(copy), "killed": was_killed, "steps": steps}), flush=True)
        if not was_killed:
            break


if __name__ == "__main__":
    main()
