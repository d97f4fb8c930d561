"""Which segments a broker with tiered storage deletes remotely, by which rule.

A broker of 4.3.1 with Kafka's LocalTieredStorage copies the segments of some topics and stops.
kafkaviz then predicts what limits will delete. The broker starts again, the topics get these
limits, and the store has the answer.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.tiering.remote_retention import RemoteRetention, remote_retentions
from kafkaviz.format.remote_segment import LOCAL_ROOT
from kafkaviz.log.broker import open_broker, read_tiered_state
from kafkaviz.units import HOUR_MS
from tests.kafka.harness import run_twice, scratch

RELEASE = "4.3.1"
# half an hour away from the times of the records, so that no pass comes too early or too late
LIMITS: dict[str, dict[str, str]] = {
    "timed": {"retention.ms": str(80 * HOUR_MS + HOUR_MS // 2)},
    "sized": {"retention.bytes": "20000"},
    "both": {"retention.ms": str(120 * HOUR_MS + HOUR_MS // 2), "retention.bytes": "20000"},
    "behind": {"retention.ms": str(80 * HOUR_MS + HOUR_MS // 2)},
    "started": {"before": "70"},
    "kept": {"none": "0"},
}
EXPECTED = {
    "timed": {"time", "until"},
    "sized": {"size", "bytes"},
    "both": {"time", "size", "until"},
    "behind": {"until", "behind"},
    "started": {"log-start", "unlimited"},
    "kept": {"unlimited"},
}


def differences() -> tuple[list[str], str]:
    """Returns the differences and a summary."""
    with scratch() as folder:
        found, count = _compare(Path(folder))
    return found, f"{count} remote segments of a broker, {len(found)} topics differ"


def _compare(folder: Path) -> tuple[list[str], int]:
    logs, store = folder / "logs", folder / "store"
    arguments = [
        f"{topic}:{name}={value}"
        for topic, settings in LIMITS.items()
        for name, value in settings.items()
    ]
    predicted = run_twice(
        "RetentionBroker",
        folder,
        lambda: {topic: _predict(logs, store, topic) for topic in LIMITS},
        *arguments,
    )
    found = list(_differences(logs, store, predicted))
    return found, sum(len(retention.segments) for retention in predicted.values())


def _predict(logs: Path, store: Path, topic: str) -> RemoteRetention:
    overrides = {name: value for name, value in LIMITS[topic].items() if "." in name}
    plan = plan_check(open_broker(logs), RELEASE, int(time.time() * 1000))
    plan = replace(plan, settings=replace(plan.settings, overrides=overrides))
    state = read_tiered_state(store, logs)
    partition = next(item for item in state.partitions if item.directory == f"{topic}-0")
    log_start = int(LIMITS[topic].get("before", partition.log_start))
    partition = replace(partition, log_start=log_start)
    (retention,) = remote_retentions(plan, replace(state, partitions=(partition,)))
    return retention


def _differences(logs: Path, store: Path, predicted: dict[str, RemoteRetention]) -> Iterator[str]:
    after = {item.directory: item for item in read_tiered_state(store, logs).partitions}
    for topic, retention in predicted.items():
        states = {item.state for item in retention.segments}
        if states != EXPECTED[topic]:
            yield f"{topic}: {sorted(states)} instead of {sorted(EXPECTED[topic])} are predicted"
        left = {path.name[20 + 1 : -4] for path in store.glob(f"{LOCAL_ROOT}/{topic}-0-*/*.log")}
        segments = [(item.segment, item.is_due) for item in retention.segments]
        deleted = [one.start_offset for one, _ in segments if one.segment_id not in left]
        due = [one.start_offset for one, is_due in segments if is_due]
        if deleted != due:
            yield f"{topic}: {deleted} were deleted, {due} predicted"
        log_start = retention.next_log_start
        if log_start is not None and after[f"{topic}-0"].log_start != log_start:
            yield f"{topic}: the log starts at {after[f'{topic}-0'].log_start}, not {log_start}"
