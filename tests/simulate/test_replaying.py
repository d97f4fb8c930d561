"""Partitions of real brokers, written again: the same files, byte for byte."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaviz import config_def, versions
from kafkaviz.analysis.restart.next_start import RestartLog as Partition
from kafkaviz.analysis.restart.next_start import stored_log
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.simulate.appends import MemoryLogs
from kafkaviz.simulate.config import IndexConfig, log_config, release_behaviour
from kafkaviz.simulate.directory import replay_stream
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.simulate.writer.writer import UnifiedLog

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
    "kafka-2.8.2-legacy": {
        "v0.compacted-0": "cleaned",
        "v1.compacted-0": "cleaned",
        "v2.compacted-0": "cleaned",
    },
}


def written_again(
    log: StoredLog, settings: dict, release: tuple[int, ...], ends: list[int] | None
) -> dict[str, bytes]:
    behaviour = release_behaviour(release)
    chunks = list(replay_stream.chunks(log, behaviour, append_ends=ends))
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
    differences = {}
    for partition in open_broker(root).partitions:
        values = {
            name: topic_setting.value
            for name, topic_setting in settings.topic_settings(partition.topic).items()
        }
        for name, text in topics.get(partition.topic, {}).items():
            values[name] = config_def.TOPIC_SETTINGS[name].parse(
                text, settings.release, within_limits=False
            )
        again = written_again(
            stored_log(Partition(partition=partition, config=IndexConfig())),
            values,
            settings.release,
            ends.get(partition.directory),
        )
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
    settings = replace(
        open_settings(open_broker(clean), versions.NEWEST_RELEASE, {}), properties=SERVER_PROPERTIES
    )
    differences = explained(differing(clean, settings, {}, {}), "kafka-4.3.1-clean")
    assert differences.items() <= EXPLAINED["kafka-4.3.1-clean"].items()
    assert (
        sum(
            1
            for partition in open_broker(clean).partitions
            if partition.directory not in differences
        )
        >= 10
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPLAINED)
def test_every_leaders_partition_comes_out(shared, name):
    """4.3.1, 3.9.0 and 2.8.2, with the ends of their appends: the indexes of all magics, roll
    points, snapshots, aborted transactions.
    """
    root, expected = (
        unpack_if_archive(shared / "data" / f"{name}{part}.tar.gz") for part in ("", ".expected")
    )
    broker = json.loads((expected / "broker.json").read_text())
    release = versions.parse(name.split("-")[1])
    settings = replace(
        open_settings(open_broker(root), release, {}), properties=broker.get("serverProperties", {})
    )
    recorded = expected / "appends.jsonl"
    lines = (
        [json.loads(line) for line in recorded.read_text().splitlines()]
        if recorded.exists()
        else []
    )
    ends = {f"{line['topic']}-{line['partition']}": line["lastOffsets"] for line in lines}
    assert explained(differing(root, settings, ends, configs(expected)), name) == EXPLAINED[name]


def configs(expected: Path) -> dict[str, dict[str, str]]:
    topics = json.loads((expected / "topics.json").read_text())
    resources = (
        topics.items()
        if isinstance(topics, dict)
        else ((topic.get("topic") or topic.get("name"), topic) for topic in topics)
    )
    configs = {
        topic: resource.get("configs") or resource.get("config") or {}
        for topic, resource in resources
    }
    known = config_def.TOPIC_SETTINGS
    return {
        topic: {name: str(value) for name, value in config.items() if name in known}
        for topic, config in configs.items()
    }
