"""A real 4.3.1 broker that starts on simulated partitions, and a consumer that reads them."""

import json
from pathlib import Path

from kafkaviz import versions
from kafkaviz.simulate.appends import MemoryLogs
from kafkaviz.simulate.config import log_config, release_behaviour
from kafkaviz.simulate.producers.streams import chunks
from kafkaviz.simulate.producers.workload import Workload, preset
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.kafka import checks
from tests.kafka.harness import ask_once, content, scratch

RELEASE = "4.3.1"
MAX_BATCHES = 2000
TIMES = 20
MIN_SEGMENT_BYTES = 1_048_576  # what a topic of 4.1 and later may be given
SETTINGS = {
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.after.max.ms": str(2**63 - 1),
}
LOGS = {  # a workload, and settings that make it roll by an index, by time and by size
    "orders": {"segment.index.bytes": 120, "index.interval.bytes": 500},
    "clickstream": {"segment.ms": 2000},
    "iot": {"segment.index.bytes": 1200, "index.interval.bytes": 0},
    "bad-clock": {"message.timestamp.type": "LogAppendTime"},
    "follower": {"segment.bytes": MIN_SEGMENT_BYTES},
}


def differences() -> tuple[list[str], str]:
    """Returns the differences between the broker and kafkaviz, and a summary."""
    with scratch() as folder:
        logs = {name: _log(preset(name), settings) for name, settings in LOGS.items()}
        topics = [
            _topic(name, settings, logs[name], Path(folder) / name)
            for name, settings in LOGS.items()
        ]
        answer = json.loads(ask_once("Broker", {"dir": folder, "topics": topics}, folder))
        differences = [
            fault
            for topic in topics
            for fault in _compared(topic, logs[topic["name"]], answer[topic["name"]])
        ]
    records = sum(answer[name]["records"] for name in LOGS)
    segments = sum(len(log.segments) for log in logs.values())
    times = sum(len(topic["times"]) for topic in topics)
    summary = f"a broker of {RELEASE} started on {len(LOGS)} partitions of {segments} segments"
    consumed = f"a consumer read {records} records and looked up {times} timestamps"
    return differences, f"{summary}; {consumed}"


def _log(flow: Workload, settings: dict) -> UnifiedLog:
    """Returns a closed log of the first batches of a workload, a tenth of its records deleted."""
    release = versions.parse(RELEASE)
    behaviour = release_behaviour(release)
    config = log_config(settings, release)
    chunk = next(chunks(flow, config, behaviour, batches_per_chunk=MAX_BATCHES))
    log = UnifiedLog(
        config, behaviour, now_ms=flow.start_ms, is_leader=flow.is_leader, logs=MemoryLogs()
    )
    log.append(chunk.rows, chunk.data)
    now_ms = int(chunk.rows["now_ms"][-1])
    log.delete_records(log.log_end_offset // 10, now_ms)
    log.close(now_ms)
    return log


def _topic(name: str, settings: dict, log: UnifiedLog, folder: Path) -> dict:
    checks.written(log, folder)
    return {
        "name": name,
        "dir": str(folder),
        "settings": SETTINGS | {key: str(value) for key, value in settings.items()},
        "times": [time for time, _ in _by_time(log)],
        "log_start": log.log_start_offset,
        "log_end": log.log_end_offset,
    }


def _by_time(log: UnifiedLog) -> list[tuple[int, list[int] | None]]:
    """Returns timestamps, and the first record from each on as [offset, timestamp]: every n-th
    record's, and one after all.
    """
    records = [[record.offset, record.timestamp_ms] for record in checks.records(log)]
    latest = max(time for _, time in records)
    timestamps = [time for _, time in records[:: len(records) // TIMES]] + [latest, latest + 1]
    return [
        (time, next((record for record in records if record[1] >= time), None))
        for time in timestamps
    ]


def _compared(topic: dict, log: UnifiedLog, answer: dict) -> list[str]:
    """Compares the ends of the log, every record, and the files after the broker has stopped."""
    expected = checks.digest(log, is_consumer=True) | {
        "log_start": log.log_start_offset,
        "log_end": log.log_end_offset,
    }
    differences = [
        f"broker {topic['name']} {name}: {answer[name]}, kafkaviz {value}"
        for name, value in expected.items()
        if answer[name] != value
    ]
    for (time, wanted_at), at in zip(_by_time(log), answer["by_time"], strict=True):
        if at != wanted_at:
            differences.append(f"broker {topic['name']} at {time}: {at}, kafkaviz {wanted_at}")
    stopped = answer["stopped"]["segments"]
    if len(stopped) != len(log.segments):
        counts = f"{len(stopped)} segments, kafkaviz {len(log.segments)}"
        differences.append(f"broker {topic['name']}: {counts}")
    for stopped_segment, segment in zip(stopped, log.segments, strict=False):
        for kind, file in (("index", segment.index), ("timeindex", segment.timeindex)):
            if content(stopped_segment[kind]) != file.content():
                differences.append(
                    f"broker {topic['name']} {stopped_segment['base']}.{kind} was changed"
                )
    return differences
