"""Partitions of real brokers, written again: the same files, byte for byte."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import config_def, versions
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.simulate.appends import MemoryLogs
from kafkaviz.simulate.config import IndexConfig, log_config, release_behaviour
from kafkaviz.simulate.directory import replay_stream
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.simulate.writer.writer import UnifiedLog
from tests.support.vectors import json_lines

KINDS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
ANY_SIZE = 2**31 - 1  # a snapshot of the metadata log may be larger than max.message.bytes
SERVER_PROPERTIES = {"log.segment.bytes": "1048576"}  # of the broker that wrote the clean sample
EXPLAINED = {  # what a partition alone does not tell, and the files that differ for it
    "kafka-4.3.1-clean": {
        "accounts-0": "cleaned",
        "accounts-1": "cleaned",
        # deleted topics are not closed
        "obsolete-2019-0.d9e2420e43c24fe7bcf8a819bf93d888-delete": [
            "00000000000000000000.index",
            "00000000000000000000.timeindex",
            "00000000000000001500.snapshot",
        ],
    },
    "kafka-3.9.0-leader": {"user-profiles-0": "cleaned"},
    "kafka-2.8.2-legacy": {f"v{magic}.compacted-0": "cleaned" for magic in range(3)},
}


def written_again(
    log: StoredLog, settings: dict, release: tuple[int, ...], ends: list[int] | None
) -> dict[str, bytes]:
    behaviour = release_behaviour(release)
    chunks = list(replay_stream.chunks(log, behaviour))
    for chunk in chunks if ends is not None else ():
        chunk.rows["append"] = np.searchsorted(ends, chunk.rows["last_offset"])
    start_ms = int(chunks[0].rows["now_ms"][0]) if chunks else 0
    config = replace(log_config(settings, release), max_message_bytes=ANY_SIZE)
    again = UnifiedLog(
        config,
        behaviour,
        now_ms=start_ms,
        start_offset=replay_stream.start_offset(log),
        partition=log.directory,
        logs=MemoryLogs(),
    )
    for chunk in chunks:
        again.append(chunk.rows, chunk.data)
    again.close(start_ms)
    return {
        file.name: file.content() for file in again.stored_log().files if file.name.endswith(KINDS)
    }


def differing(
    root: Path, settings: Settings, ends: dict[str, list[int]], topics: dict[str, dict[str, str]]
) -> dict[str, list[str]]:
    release = settings.release
    differences = {}
    for partition in open_broker(root).partitions:
        found = settings.topic_settings(partition.topic)
        values = {name: setting.value for name, setting in found.items()}
        for name, text in topics.get(partition.topic, {}).items():
            setting = config_def.TOPIC_SETTINGS[name]
            values[name] = setting.parse(text, release, within_limits=False)
        log = stored_log(RestartLog(partition=partition, config=IndexConfig()))
        again = written_again(log, values, release, ends.get(partition.directory))
        real = {
            file.name: file.read_bytes()
            for file in partition.path.iterdir()
            if file.name.endswith(KINDS)
        }
        names = sorted(name for name in again.keys() | real if again.get(name) != real.get(name))
        if names:
            differences[partition.directory] = names
    return differences


def explained(differences: dict[str, list[str]], name: str) -> dict[str, list[str] | str]:
    """Returns the differences, with the expected ones marked."""
    return {
        directory: "cleaned" if EXPLAINED[name].get(directory) == "cleaned" else names
        for directory, names in differences.items()
    }


def test_the_partitions_of_the_sample_come_out(clean):
    """4.3.1, one batch per append: every file of every partition, also internal ones."""
    broker = open_broker(clean)
    settings = open_settings(broker, versions.NEWEST_RELEASE, {})
    settings = replace(settings, properties=SERVER_PROPERTIES)
    differences = explained(differing(clean, settings, {}, {}), "kafka-4.3.1-clean")
    assert differences.items() <= EXPLAINED["kafka-4.3.1-clean"].items()
    assert len({partition.directory for partition in broker.partitions} - differences.keys()) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLAINED)
def test_every_leaders_partition_comes_out(shared, name):
    """With the ends of their appends: indexes of all magics, roll points, snapshots, aborts."""
    root, expected = (
        unpack_if_archive(shared / "data" / f"{name}{part}.tar.gz") for part in ("", ".expected")
    )
    broker = json.loads((expected / "broker.json").read_text())
    settings = open_settings(open_broker(root), versions.parse(name.split("-")[1]), {})
    settings = replace(settings, properties=broker.get("serverProperties", {}))
    recorded = expected / "appends.jsonl"
    lines = json_lines(recorded) if recorded.exists() else []
    ends = {f"{line['topic']}-{line['partition']}": line["lastOffsets"] for line in lines}
    assert explained(differing(root, settings, ends, configs(expected)), name) == EXPLAINED[name]


def configs(expected: Path) -> dict[str, dict[str, str]]:
    topics = json.loads((expected / "topics.json").read_text())
    if not isinstance(topics, dict):
        topics = {topic.get("topic") or topic.get("name"): topic for topic in topics}
    result = {}
    for topic, resource in topics.items():
        config = resource.get("configs") or resource.get("config") or {}
        known = config.keys() & config_def.TOPIC_SETTINGS.keys()
        result[topic] = {name: str(config[name]) for name in known}
    return result
