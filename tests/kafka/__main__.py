"""python -m tests.kafka: kafkaviz's writer against Kafka's own classes, for CONFIGURATIONS=200 from
SEED=0 on; brokers that read what it wrote, start on damaged directories, delete by retention, and
take batches of producers with other settings; and loads and dumps of damage.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.kafka import (
    broker,
    checks,
    freed_starts,
    mutations,
    old_loads,
    real_producers,
    record_loads,
    remote_deletions,
    retention_passes,
    spark_source,
    starts,
    uploads,
)
from tests.kafka.harness import RELEASES, Kafka, class_path, missing_tool, scratch
from tests.kafka.random_histories import history

# one configuration in four is of the older release, whose indexes are written per append
SHARE_OF_OLD = 4
COUNTED = ("appends", "rolls", "restarts", "truncations", "exceptions", "directories", "segments")
SHOWN_DIFFERENCES = 10
ALL_QUERIES_FROM = 100  # configurations: with fewer a few of the queries are asked of Spark
FEW_LOADS = 5  # and one in five of the recorded loads is done again


def main() -> int:
    missing = missing_tool()
    if missing:
        print(
            f"make test-kafka was skipped: it needs java, javac and mvn, and there is no {missing} "
            "here."
        )
        return 0
    count, seed = int(os.environ.get("CONFIGURATIONS") or 200), int(os.environ.get("SEED") or 0)
    for release in RELEASES:
        class_path(release)
    old = count // SHARE_OF_OLD
    with ThreadPoolExecutor(3) as pool:
        futures = [
            pool.submit(_histories, release, seed, many)
            for release, many in zip(RELEASES, (count - old, old), strict=True)
        ]
        results = [
            future.result() for future in [*futures, pool.submit(_compare, broker.differences)]
        ]
    results += [
        _compare(partial(starts.differences, count, seed)),
        _compare(retention_passes.differences),
        _compare(freed_starts.differences),
        _compare(uploads.differences),
        _compare(remote_deletions.differences),
        _compare(real_producers.differences),
        _damaged(count, seed),
        _loads(count, seed),
        _spark(count),
    ]
    passed, failed = sum(result[0] for result in results), sum(result[1] for result in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _histories(release: str, seed: int, count: int) -> tuple[int, int]:
    """Returns (configurations that agree, that do not), and prints their content."""
    started, counted, failed = time.monotonic(), Counter(), 0
    with Kafka(release) as kafka, scratch() as folder:
        for number in range(seed, seed + count):
            differences = _configuration(kafka, release, number, Path(folder) / "t-0", counted)
            failed += bool(differences)
            for text in differences[:SHOWN_DIFFERENCES]:
                print(f"SEED={number} of {release}: {text[:1000]}", flush=True)
    counts = ", ".join(f"{counted[name]} {name}" for name in COUNTED)
    print(
        (
            f"Kafka {release}: {count} configurations ({counts}), {failed} differ; "
            f"{time.monotonic() - started:.0f} s"
        ),
        flush=True,
    )
    return count - failed, failed


def _configuration(
    kafka: Kafka, release: str, number: int, folder: Path, counted: Counter
) -> list[str]:
    """Returns every difference in one history, and in the directory it leaves."""
    question = history(number, release)
    line = checks.recorded(question, kafka.replay(question))
    _count(line, counted)
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
        for text in differences[:SHOWN_DIFFERENCES]:
            print(f"SEED={number} of the damaged directories: {text[:1000]}", flush=True)
    seconds = time.monotonic() - started
    print(f"{count} damaged directories, {failed} differ; {seconds:.0f} s", flush=True)
    return count - failed, failed


def _count(line: dict, counted: Counter) -> None:
    for step in line["steps"]:
        names = {
            "append": "appends",
            "truncateTo": "truncations",
            "restart": "restarts",
            "crash": "restarts",
        }
        counted[names.get(step["op"], "others")] += 1
        counted["rolls"] += "rolled" in step
        counted["exceptions"] += "error" in step


def _spark(count: int) -> tuple[int, int]:
    """Returns (queries that Spark's own source answers alike, that it does not)."""
    started = time.monotonic()
    differences, asked, summary = spark_source.differences(is_quick=count < ALL_QUERIES_FROM)
    _show(differences, summary, started)
    return asked - len(differences), len(differences)


def _loads(count: int, seed: int) -> tuple[int, int]:
    """With few configurations a part of the recorded loads, which the seed chooses."""
    if count < ALL_QUERIES_FROM:
        part = slice(seed % FEW_LOADS, None, FEW_LOADS)
        return _compare(partial(record_loads.differences, part))
    results = [_compare(each) for each in (record_loads.differences, old_loads.differences)]
    return sum(result[0] for result in results), sum(result[1] for result in results)


def _compare(compare: Callable[[], tuple[list[str], str]]) -> tuple[int, int]:
    started = time.monotonic()
    differences, summary = compare()
    _show(differences, summary, started)
    return int(not differences), int(bool(differences))


def _show(differences: list[str], summary: str, started: float) -> None:
    for text in differences[:SHOWN_DIFFERENCES]:
        print(text[:1000], flush=True)
    print(f"{summary}; {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
