"""The files of a simulated broker directory outside its single topic-partition.

Follows LogManager, MetaProperties, BootstrapDirectory and Snapshots of Kafka 0.10 to 4.4.0. The
metadata log is left out. For example, a clean shutdown of 4.3.1 at offset 40000 leaves:

- bootstrap.checkpoint
- .kafka_cleanshutdown with {"version":0,"brokerEpoch":1}
- meta.properties of version 1
- recovery-point-offset-checkpoint with "heartbeat 0 40000"
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from crc32c import crc32c

from kafkaviz import config_def, versions
from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.config_def import Value
from kafkaviz.format import checkpoint, metadata, names, record
from kafkaviz.format.batch import CONTROL, CRC_START, HEADER, HEADER_BYTES, LENGTH_END, MAGIC_2
from kafkaviz.format.control import ControlType
from kafkaviz.format.record import Record
from kafkaviz.units import DAY_MS
from kafkaviz.versions import Release

NODE_ID = 1
BROKER_EPOCH = 1
UUID_BYTES = 16
CALENDAR_MS = 146_097 * DAY_MS  # 400 years, after which the calendar repeats


@dataclass(frozen=True, kw_only=True)
class BrokerState:
    """The broker's knowledge of its only log at the shutdown or crash."""

    release: Release
    topic: str
    partition: int
    clean: bool  # False after a crash
    high_watermark: int
    recovery_point: int
    log_start_offset: int | None  # None if it is the first segment's base offset
    started_ms: int
    ended_ms: int  # when the files were written
    seed: int = 0
    settings: Mapping[str, Value] = field(default_factory=dict)  # topic settings


class Ids:
    """The random ids of a cluster, its directory and its topic, made from a seed."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng([seed & 0xFFFFFFFFFFFFFFFF, NODE_ID])
        self.cluster, self.directory, self.topic = (_uuid(random) for _ in range(3))


def own_files(state: BrokerState) -> Iterator[FileView]:
    release = state.release
    ids = Ids(state.seed)
    yield in_memory(names.META_PROPERTIES, _meta_properties(state, ids), state.started_ms)
    has_snapshot = versions.BOOTSTRAP_SNAPSHOT.applies_to(release)
    if versions.BOOTSTRAP_CHECKPOINT.applies_to(release) and not has_snapshot:
        yield in_memory(names.BOOTSTRAP, bootstrap(release, state.started_ms), state.started_ms)
    for name, offset in _checkpoints(state):
        entries = {} if offset is None else {(state.topic, state.partition): offset}
        yield in_memory(name, checkpoint.build_offsets(entries), state.ended_ms)
    if state.clean:
        body = ""
        if versions.CLEAN_SHUTDOWN_EPOCH.applies_to(release):
            body = f'{{"version":0,"brokerEpoch":{BROKER_EPOCH}}}'
        yield in_memory(names.CLEAN_SHUTDOWN, body.encode(), state.ended_ms)
    if not state.clean or not versions.LOCK_REMOVED.applies_to(release):
        yield in_memory(names.LOCK, b"", state.started_ms)
    settings = server_properties(state.settings, release)
    yield in_memory(names.SERVER_PROPERTIES, settings, state.started_ms)


def partition_metadata(release: Release, seed: int, created_ms: int) -> Iterator[FileView]:
    if versions.TOPIC_IDS.applies_to(release):
        data = checkpoint.build_partition_metadata(Ids(seed).topic)
        yield in_memory(names.PARTITION_METADATA, data, created_ms)


def server_properties(settings: Mapping[str, Value], release: Release) -> bytes:
    """Returns server.properties; its settings have broker-level names, such as log.roll.ms."""
    id_name = "node.id" if versions.KRAFT_READY.applies_to(release) else "broker.id"
    properties = {id_name: str(NODE_ID)}
    for name, value in settings.items():
        topic_name = "segment.bytes" if name == "internal.segment.bytes" else name
        broker_names = config_def.TOPIC_SETTINGS[topic_name].broker_names
        if broker_names and value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            properties[broker_names[0][0]] = text
    return checkpoint.build_properties(
        properties, [names.SIMULATED_COMMENT, " What the log was written with"]
    )


def bootstrap(release: Release, now_ms: int) -> bytes:
    """Returns bootstrap.checkpoint as `kafka-storage format` writes it.

    The file is a snapshot whose only record sets metadata.version.
    """
    feature = metadata.build_feature_level(
        metadata.FeatureLevel("metadata.version", versions.formatting_level(release))
    )
    parts = (
        (_control(ControlType.SNAPSHOT_HEADER, bytes(11)), CONTROL),
        (Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=feature), 0),
        (_control(ControlType.SNAPSHOT_FOOTER, bytes(3)), CONTROL),
    )
    return b"".join(
        _batch(offset, entry, attributes, now_ms)
        for offset, (entry, attributes) in enumerate(parts)
    )


def _meta_properties(state: BrokerState, ids: Ids) -> bytes:
    properties = {"broker.id": str(NODE_ID), "version": "0"}
    if versions.KRAFT_READY.applies_to(state.release):
        properties = {"node.id": str(NODE_ID), "version": "1"}
    if versions.DIRECTORY_IDS.applies_to(state.release):
        properties["directory.id"] = ids.directory
    return checkpoint.build_properties(
        properties | {"cluster.id": ids.cluster}, ["", _java_date(state.started_ms)]
    )


def _checkpoints(state: BrokerState) -> Iterator[tuple[str, int | None]]:
    yield names.RECOVERY_POINT_CHECKPOINT, state.recovery_point
    yield names.HIGH_WATERMARK_CHECKPOINT, state.high_watermark
    if versions.LOG_START_CHECKPOINT.applies_to(state.release):
        yield names.LOG_START_CHECKPOINT, state.log_start_offset


def _java_date(ms: int) -> str:
    """Formats a time as java.util.Date does, in UTC.

    Computes within a cycle of 400 years, because Python's years end at 9999.
    """
    cycles, within_ms = divmod(ms, CALENDAR_MS)
    moment = datetime.fromtimestamp(within_ms // 1000, UTC)
    return f"{moment:%a %b %d %H:%M:%S} UTC {moment.year + 400 * cycles}"


def _uuid(random: np.random.Generator) -> str:
    while True:
        text = base64.urlsafe_b64encode(random.bytes(UUID_BYTES)).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def _control(kind: ControlType, value: bytes) -> Record:
    key = bytes(2) + int(kind).to_bytes(2, "big")
    return Record(offset_delta=0, timestamp_delta_ms=0, key=key, value=value)


def _batch(base_offset: int, entry: Record, attributes: int, now_ms: int) -> bytes:
    body = record.build([entry])
    header = np.zeros(1, HEADER)
    header["base_offset"] = base_offset
    header["batch_length_bytes"] = HEADER_BYTES - LENGTH_END + len(body)
    header["magic"] = MAGIC_2
    header["attributes"] = attributes
    header["base_timestamp_ms"] = header["max_timestamp_ms"] = now_ms
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    header["record_count"] = 1
    header["crc"] = crc32c(header.tobytes()[CRC_START:] + body)
    return header.tobytes() + body
