"""A slow version of the pipeline: a broker directory's tables row by row, in plain Python, from the
in-process reader.
"""

import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.inferred_settings import (
    FirstBatch,
    SegmentFacts,
    inferred_limits,
    interval_bounds,
    roll_reasons,
)
from kafkaviz.log.archives.archive import cache_folder, display_path
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import open_settings

CODECS = {0: "none", 1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd"}


def tables(broker: Broker, name: str) -> dict[str, list[dict]]:
    """Returns each table's rows for a catalog that calls the broker `name`."""
    live = list(_with_rows(name, broker))
    return {
        "partitions": [_partition(name, partition) for partition in broker.partitions],
        "segments": [
            row
            for partition in broker.partitions
            for row in _segments(name, partition, _segment_bytes(broker, partition))
        ],
        "batches": [row for owner, segment in live for row in _batches(owner, segment)],
        "offset_entries": [
            row for owner, segment in live for row in _entries(owner, segment.offset_index)
        ],
        "time_entries": [
            row for owner, segment in live for row in _entries(owner, segment.time_index)
        ],
    }


def tables_of(directory: Path) -> dict[str, list[dict]]:
    """Returns the tables of a directory by its own name; those of a sample are cached."""
    if directory.is_relative_to(cache_folder()):
        return pickle.loads(_of_sample(directory))
    return tables(open_broker(directory), directory.name)


@cache
def _of_sample(directory: Path) -> bytes:
    return pickle.dumps(tables(open_broker(directory), directory.name))


def _with_rows(name: str, broker: Broker) -> Iterator[tuple[dict, Segment]]:
    for partition in broker.partitions:
        for segment in partition.segments:
            if segment.state in ("active", "closed"):
                owner = _owner(name, partition) | {"segment_base_offset": segment.base_offset}
                yield owner, segment


def _owner(name: str, partition: Partition) -> dict:
    return {"broker": name, "topic": partition.topic, "partition": partition.partition}


def _partition(name: str, partition: Partition) -> dict:
    log_end_offset = None
    if partition.live:
        newest = partition.live[-1]
        batches = newest.batches()
        log_end_offset = int(batches[-1]["last_offset"]) + 1 if len(batches) else newest.base_offset
    return {
        **_owner(name, partition),
        "directory": partition.directory,
        "state": partition.state,
        "topic_id": partition.topic_id,
        "segments": len(partition.live),
        "log_start_offset": partition.log_start_offset,
        "high_watermark": partition.high_watermark,
        "recovery_point": partition.recovery_point,
        "log_end_offset": log_end_offset,
        "log_directory": str(display_path(partition.path.parent)),
    }


def _segment_bytes(broker: Broker, partition: Partition) -> dict:
    """Returns segment.bytes: its setting, else by the rolls of its topic, else the default."""
    set_to = open_settings(broker, assume_release(broker).release).find(
        partition.topic, "segment.bytes"
    )
    of_topic = [log for log in broker.partitions if log.topic == partition.topic and log.live]
    near = [log for log in of_topic if log.partition == partition.partition] + of_topic
    inferred = []
    for log in near:
        facts = [_facts(segment) for segment in log.live]
        limits = inferred_limits(facts, roll_reasons(facts))
        if "segment.bytes" in limits:
            inferred.append(limits["segment.bytes"].value)
    if not set_to.is_given and inferred:
        return {"segment_bytes": inferred[0], "segment_bytes_source": "inferred from rolls"}
    return {"segment_bytes": set_to.value, "segment_bytes_source": str(set_to.source)}


def _segments(name: str, partition: Partition, limit: dict) -> Iterator[dict]:
    bases = [segment.base_offset for segment in partition.live]
    facts = [_facts(segment) for segment in partition.live]
    reasons = dict(zip(bases, roll_reasons(facts), strict=True))
    for segment in partition.segments:
        live = segment.state in ("active", "closed")
        row = _owner(name, partition)
        row |= {"base_offset": segment.base_offset, "state": segment.state}
        row["roll_reason"] = reasons.get(segment.base_offset) if live else None
        yield row | limit | _files(segment) | _log(segment) | _slots(segment)


def _files(segment: Segment) -> dict:
    row = {}
    for kind in ("log", "index", "timeindex", "txnindex"):
        file = getattr(segment, kind)
        row[f"{kind}_bytes"] = file.size_bytes if file else None
        row[f"{kind}_allocated_bytes"] = file.allocated_bytes if file else None
        row[f"{kind}_mtime_ns"] = file.mtime_ns if file else None
    return row


def _log(segment: Segment) -> dict:
    names = (
        "batches",
        "records",
        "first_offset",
        "last_offset",
        "min_timestamp_ms",
        "max_timestamp_ms",
        "valid_bytes",
        "torn_bytes",
    )
    row = dict.fromkeys((*names, "interval_low_bytes", "interval_high_bytes"))
    if segment.log is None:
        return row
    batches, end = segment.walk()
    rows = [_batch(batch, None) for batch in batches]
    bounds = interval_bounds(batches, segment.offset_index)
    counts = [row["record_count"] for row in rows]
    least = [value for row in rows if (value := _earliest(row)) is not None]
    most = [row["max_timestamp_ms"] for row in rows if row["max_timestamp_ms"] is not None]
    return {
        "batches": len(rows),
        "records": None if None in counts else sum(counts),
        "first_offset": rows[0]["base_offset"] if rows else None,
        "last_offset": rows[-1]["last_offset"] if rows else None,
        "min_timestamp_ms": min([value for value in least if value >= 0] or least, default=None),
        "max_timestamp_ms": max(most, default=None),
        "valid_bytes": end.position,
        "torn_bytes": segment.log.size_bytes - end.position,
        "interval_low_bytes": bounds.low_bytes,
        "interval_high_bytes": bounds.high_bytes,
    }


def _earliest(batch: dict) -> int | None:
    """Returns the first record's time if the header has it, else the largest."""
    plain = (
        batch["timestamp_type"] == "CreateTime"
        and batch["delete_horizon_ms"] is None
        and batch["record_count"] is not None
    )
    return batch["base_timestamp_ms"] if plain else batch["max_timestamp_ms"]


def _slots(segment: Segment) -> dict:
    row = dict.fromkeys(
        ("offset_entries", "time_entries", "unwritten_offset_slots", "unwritten_time_slots")
    )
    if segment.index:
        row |= {
            "offset_entries": len(segment.offset_index),
            "unwritten_offset_slots": segment.offset_slots.unwritten_slots,
        }
    if segment.timeindex:
        row |= {
            "time_entries": len(segment.time_index),
            "unwritten_time_slots": segment.time_slots.unwritten_slots,
        }
    return row


def _facts(segment: Segment) -> SegmentFacts:
    batches = segment.batches()
    first = FirstBatch(0, -1, -1)
    if len(batches):
        names = ("size_bytes", "max_timestamp_ms", "last_offset")
        first = FirstBatch(*(int(batches[name][0]) for name in names))
    return SegmentFacts(
        base_offset=segment.base_offset,
        log_bytes=segment.log.size_bytes,
        first_batch=first,
        max_timestamp_ms=int(batches["max_timestamp_ms"].max()) if len(batches) else -1,
        offset_entries=len(segment.offset_index),
        time_entries=len(segment.time_index),
    )


def _batches(owner: dict, segment: Segment) -> Iterator[dict]:
    slots: dict[int, list] = {}
    for entry in segment.offset_index.tolist():
        slots.setdefault(entry[3], []).append(entry)
    if segment.log:
        for batch in segment.batches():
            yield owner | _batch(batch, _slot(batch, slots.get(int(batch["position"]), [])))


def _slot(batch, entries: list[tuple]) -> int | None:
    """Returns the slot that points at a batch and has its offset, else the last that points at it."""
    slots = [
        slot
        for slot, _, offset, _ in entries
        if batch["base_offset"] <= offset <= batch["last_offset"]
    ]
    return (slots or [entry[0] for entry in entries] or [None])[-1]


def _batch(batch, slot: int | None) -> dict:
    """Returns a batch, with None for fields that magic 0 and 1 or an unreadable wrapper lack."""
    magic, bits = int(batch["magic"]), int(batch["attributes"])
    new = magic >= 2
    has_count = new or int(batch["record_count"]) != -1
    timed = magic >= 1
    horizon = int(batch["base_timestamp_ms"]) if new and bits & 0x40 else None
    return {
        "position": int(batch["position"]),
        "size_bytes": int(batch["size_bytes"]),
        "base_offset": int(batch["base_offset"]) if has_count else None,
        "last_offset": int(batch["last_offset"]),
        "leader_epoch": int(batch["leader_epoch"]) if new else None,
        "magic": magic,
        "codec": CODECS[bits & 7],
        "timestamp_type": ("LogAppendTime" if bits & 8 else "CreateTime") if timed else None,
        "is_transactional": bool(new and bits & 0x10),
        "is_control": bool(new and bits & 0x20),
        "delete_horizon_ms": horizon,
        "record_count": int(batch["record_count"]) if has_count else None,
        "base_timestamp_ms": int(batch["base_timestamp_ms"]) if timed and has_count else None,
        "max_timestamp_ms": int(batch["max_timestamp_ms"]) if timed else None,
        "producer_id": int(batch["producer_id"]) if new else None,
        "producer_epoch": int(batch["producer_epoch"]) if new else None,
        "base_sequence": int(batch["base_sequence"]) if new else None,
        "crc": int(batch["crc"]),
        "entry_slot": slot,
        "uncompressed_bytes": None,  # no record is read here
    }


def _entries(owner: dict, entries: np.ndarray) -> Iterator[dict]:
    for values in entries.tolist():
        yield owner | dict(zip(entries.dtype.names, values, strict=True))
