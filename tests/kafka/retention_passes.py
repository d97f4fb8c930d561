"""Real brokers that delete by retention, and kafkaviz's prediction.

Brokers of 4.4.0 and 4.3.1 start on a copy of the clean sample. Each topic gets other limits while
they run, as the kafka-configs.sh line of the Disk page sets them. The segments that are left are
compared with those that the prediction keeps.
"""

import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, with_limits
from kafkaviz.format.names import parse_directory
from kafkaviz.units import DAY_MS
from tests.kafka.harness import scratch
from tests.kafka.starts import RELEASES, Starts, unpack

SAMPLE = Path(__file__).parents[2] / "sample_data" / "kafka-4.3.1-clean.tar.gz"
SETTINGS = {
    "log.retention.check.interval.ms": "500",
    "log.initial.task.delay.ms": "500",
    # what a pass deletes keeps another name for that long, so all logs had their pass when it ends
    "log.segment.delete.delay.ms": "1000",
    "log.cleaner.enable": "false",
}
# the coordinator of a broker that starts ends its open transaction, so the log grows meanwhile
LEFT_OUT = ("payments",)


def differences() -> tuple[list[str], str]:
    """Returns the differences between brokers and kafkaviz, and a line about what was deleted."""
    faults: list[str] = []
    deleted = 0
    kept = 0
    for release in RELEASES:
        with Starts(release) as starts, scratch() as folder:
            (disk,) = unpack(SAMPLE, Path(folder))
            now_ms = int(time.time() * 1000)
            health = check(disk, release, now_ms)
            logs = [log for log in health.retention if topic_of(log) not in LEFT_OUT]
            proposed = _other_limits([log for log in logs if log.limits.deletes])
            paths = {
                disk / log.partition / f"{segment.age.base_offset:020}.log": segment.is_due
                for log in proposed
                for segment in log.segments
            }
            configs = {}
            for log in proposed:
                limits = log.limits
                settings = {"retention.ms": str(limits.retention_ms)}
                settings["retention.bytes"] = str(limits.retention_bytes)
                configs[topic_of(log)] = settings
            waits = [str(path) for path, is_due in paths.items() if is_due]
            waits += [f"{path}.deleted" for path in waits]
            answer = starts.start([disk], SETTINGS, configs=configs, until_gone=waits)
            if not answer["started"]:
                faults.append(f"{release}: the broker did not start: {answer['error']}")
                continue
            faults += [
                f"{release}, {path.parent.name}/{path.name}: {_word(is_due)}, but it was not"
                for path, is_due in paths.items()
                if path.exists() == is_due
            ]
            deleted += sum(paths.values())
            kept += len(paths) - sum(paths.values())
    summary = f"brokers of {' and '.join(RELEASES)} with other retention limits"
    return faults, f"{summary} deleted {deleted} segments and kept {kept}"


def _other_limits(logs: list[LogRetention]) -> list[LogRetention]:
    """Returns the logs with limits by time, by size or both, which part of their segments exceed.

    The partitions of a topic have the same limits. They come from its largest log, and the kind of
    limit from the topic's name.
    """
    largest: dict[str, LogRetention] = {}
    for log in logs:
        known = largest.get(topic_of(log))
        if known is None or known.log_bytes < log.log_bytes:
            largest[topic_of(log)] = log
    return [with_limits(log, _limits_of(largest[topic_of(log)])) for log in logs]


def _limits_of(log: LogRetention) -> RetentionLimits:
    kind = sum(map(ord, topic_of(log))) % 3
    retention_ms = -1
    if kind != 1:
        # as far as possible from the time of any segment, because the broker's clock goes on
        times = sorted({segment.age.timestamp_ms or 0 for segment in log.segments})
        times = [times[0] - 2 * DAY_MS, *(time_ms for time_ms in times if time_ms < log.now_ms)]
        _, middle_ms = max((end - start, (start + end) // 2) for start, end in pairwise(times))
        retention_ms = log.now_ms - middle_ms
    retention_bytes = log.log_bytes // 2 if kind else -1
    return replace(log.limits, retention_ms=retention_ms, retention_bytes=retention_bytes)


def topic_of(log: LogRetention) -> str:
    return parse_directory(log.partition).topic


def _word(is_due: bool) -> str:
    return "predicted to be deleted" if is_due else "predicted to stay"
