"""python -m tests.kafka [PART ...]: kafkaviz's writer against Kafka's own classes, for
CONFIGURATIONS=200 from SEED=0 on; brokers that read what it wrote, start on damaged directories,
delete by retention, and take batches of producers with other settings; and loads and dumps of
damage. PART names those that run, if not all.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.kafka import (
    broker,
    checks,
    freed_starts,
    mutations,
    real_producers,
    record_loads,
    remote_deletions,
    retention_passes,
    spark_source,
    starts,
    uploads,
)
from tests.kafka.harness import RELEASES, Kafka, missing_tool, scratch
from tests.kafka.random_histories import history

# one configuration in four is of the older release, whose indexes are written per append
SHARE_OF_OLD = 4
COUNTED = ("appends", "rolls", "restarts", "truncations", "exceptions", "directories", "segments")
OPERATIONS = {
    "append": "appends",
    "truncateTo": "truncations",
    "restart": "restarts",
    "crash": "restarts",
}
SHOWN_DIFFERENCES = 10
ALL_QUERIES_FROM = 100  # configurations: with fewer a few of the queries are asked of Spark
FEW_LOADS = 5  # and one in five of the recorded loads is done again
PROCESSES = 3  # on two processors: the parts wait for brokers much of their time

Part = Callable[[], tuple[int, int]]


def main(names: Sequence[str]) -> int:
    missing = missing_tool()
    if missing:
        print(
            f"make test-kafka was skipped: it needs java, javac and mvn, and there is no {missing} "
            "here."
        )
        return 0
    count, seed = int(os.environ.get("CONFIGURATIONS") or 200), int(os.environ.get("SEED") or 0)
    every_part = parts(count, seed)
    with ProcessPoolExecutor(PROCESSES) as pool:
        futures = [pool.submit(every_part[name]) for name in names or every_part]
        results = [future.result() for future in futures]
    passed, failed = (sum(column) for column in zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def parts(count: int, seed: int) -> dict[str, Part]:
    """Returns the comparisons, which count the passed and the failed cases; the longest first."""
    is_quick = count < ALL_QUERIES_FROM
    some_loads = slice(seed % FEW_LOADS, None, FEW_LOADS) if is_quick else slice(None)
    old = count // SHARE_OF_OLD
    compared = {
        "starts": partial(starts.differences, count, seed),
        "producers": real_producers.differences,
        "remote-deletions": remote_deletions.differences,
        "freed-starts": freed_starts.differences,
        "uploads": uploads.differences,
        "broker": broker.differences,
        "loads": partial(record_loads.differences, some_loads),
        "retention": retention_passes.differences,
    }
    if not is_quick:
        compared["old-loads"] = record_loads.old_differences
    return {
        "spark": partial(_spark, is_quick=is_quick),
        **{name: partial(_compare, compare) for name, compare in compared.items()},
        "histories": partial(_histories, RELEASES[0], seed, count - old),
        "old-histories": partial(_histories, RELEASES[1], seed, old),
        "damaged": partial(_damaged, count, seed),
    }


def _histories(release: str, seed: int, count: int) -> tuple[int, int]:
    """Returns (configurations that agree, that do not), and prints their content."""
    started, counted, failed = time.monotonic(), Counter(), 0
    with Kafka(release) as kafka, scratch() as folder:
        for number in range(seed, seed + count):
            differences = _configuration(kafka, release, number, Path(folder) / "t-0", counted)
            failed += bool(differences)
            _print_differences(f"SEED={number} of {release}: ", differences)
    counts = ", ".join(f"{counted[name]} {name}" for name in COUNTED)
    _show([], f"Kafka {release}: {count} configurations ({counts}), {failed} differ", started)
    return count - failed, failed


def _configuration(
    kafka: Kafka, release: str, number: int, folder: Path, counted: Counter
) -> list[str]:
    """Returns every difference in one history, and in the directory it leaves."""
    question = history(number, release)
    line = checks.recorded(question, kafka.replay(question))
    for step in line["steps"]:
        counted[OPERATIONS.get(step["op"], "others")] += 1
        counted["rolls"] += "rolled" in step
        counted["exceptions"] += "error" in step
    differences, log = checks.check_replay(line)
    if log is None:
        return differences
    counted["directories"] += 1
    counted["segments"] += len(log.segments)
    differences += checks.check_recovery(kafka, log, line)
    differences += checks.loaded(kafka, log, line, folder)
    return differences + (checks.dumped(kafka, line, folder) if checks.is_per_batch(line) else [])


def _damaged(count: int, seed: int) -> tuple[int, int]:
    """Returns how many damaged directories Kafka treats as predicted, and how many not."""
    started, failed = time.monotonic(), 0
    for number, differences in mutations.differences_of(range(seed, seed + count)):
        failed += bool(differences)
        _print_differences(f"SEED={number} of the damaged directories: ", differences)
    _show([], f"{count} damaged directories, {failed} differ", started)
    return count - failed, failed


def _spark(*, is_quick: bool) -> tuple[int, int]:
    """Returns (queries that Spark's own source answers alike, that it does not)."""
    started = time.monotonic()
    differences, asked, summary = spark_source.differences(is_quick=is_quick)
    _show(differences, summary, started)
    return asked - len(differences), len(differences)


def _compare(compare: Callable[[], tuple[list[str], str]]) -> tuple[int, int]:
    started = time.monotonic()
    differences, summary = compare()
    _show(differences, summary, started)
    return int(not differences), int(bool(differences))


def _show(differences: list[str], summary: str, started: float) -> None:
    _print_differences("", differences)
    print(f"{summary}; {time.monotonic() - started:.0f} s", flush=True)


def _print_differences(case: str, differences: list[str]) -> None:
    for text in differences[:SHOWN_DIFFERENCES]:
        print(f"{case}{text[:1000]}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
