"""A real 4.3.1 broker that starts on simulated partitions, and a consumer that reads them."""

import json
import subprocess
from pathlib import Path

from kafkaviz import versions
from kafkaviz.simulate.appends import MemoryLogs
from kafkaviz.simulate.config import log_config, release_behaviour
from kafkaviz.simulate.producers.streams import chunks
from kafkaviz.simulate.producers.workload import Workload, preset
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.kafka import checks
from tests.kafka.harness import JAVA, class_path, content, scratch

RELEASE = "4.3.1"
TIME_LIMIT_S = 150
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
        answer = _ask({"dir": folder, "topics": topics}, Path(folder))
        differences = [
            fault
            for topic in topics
            for fault in _compared(topic, logs[topic["name"]], answer[topic["name"]])
        ]
    records = sum(answer[name]["records"] for name in LOGS)
    segments = sum(len(log.segments) for log in logs.values())
    times = sum(len(topic["times"]) for topic in topics)
    summary = f"a broker of {RELEASE} started on {len(LOGS)} partitions of {segments} segments"
    return (
        differences,
        f"{summary}; a consumer read {records} records and looked up {times} timestamps",
    )


def _log(flow: Workload, settings: dict) -> UnifiedLog:
    """Writes the first batches of a workload into a log that is closed; half of its first segment's
    records are deleted.
    """
    release = versions.parse(RELEASE)
    config = log_config(settings, release)
    chunk = next(chunks(flow, config, release_behaviour(release), batches_per_chunk=MAX_BATCHES))
    log = UnifiedLog(
        config,
        release_behaviour(release),
        now_ms=flow.start_ms,
        is_leader=flow.is_leader,
        logs=MemoryLogs(),
    )
    log.append(chunk.rows, chunk.data)
    now_ms = int(chunk.rows["now_ms"][-1])
    log.delete_records(log.log_end_offset // 10, now_ms)
    log.close(now_ms)
    return log


def _topic(name: str, settings: dict, log: UnifiedLog, folder: Path) -> dict:
    checks.written(log, folder)
    ends = {"log_start": log.log_start_offset, "log_end": log.log_end_offset}
    all_settings = SETTINGS | {key: str(value) for key, value in settings.items()}
    return {
        "name": name,
        "dir": str(folder),
        "settings": all_settings,
        "times": [time for time, _ in _by_time(log)],
    } | ends


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


def _ask(question: dict, folder: Path) -> dict:
    """Returns the broker's answer; the broker ends if this process stops waiting."""
    command = [*JAVA, f"-Djava.io.tmpdir={folder}", "-cp", class_path(RELEASE), "Broker"]
    done = subprocess.run(
        command,
        input=json.dumps(question),
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    if done.returncode or not done.stdout:
        raise RuntimeError(f"the broker ended with status {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


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
        differences += (
            []
            if at == wanted_at
            else [f"broker {topic['name']} at {time}: {at}, kafkaviz {wanted_at}"]
        )
    stopped = answer["stopped"]["segments"]
    differences += (
        []
        if len(stopped) == len(log.segments)
        else [f"broker {topic['name']}: {len(stopped)} segments, kafkaviz {len(log.segments)}"]
    )
    for stopped_segment, segment in zip(stopped, log.segments, strict=False):
        for kind, file in (("index", segment.index), ("timeindex", segment.timeindex)):
            if content(stopped_segment[kind]) != file.content():
                differences.append(
                    f"broker {topic['name']} {stopped_segment['base']}.{kind} was changed"
                )
    return differences
