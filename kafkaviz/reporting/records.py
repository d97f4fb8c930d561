"""A few records of each topic, for a report whose reader asked for payloads: the last ones of its
largest partition.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from kafkaviz import units
from kafkaviz.analyse.existing import existing
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import is_control
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log import pieces
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment

TOPICS, RECORDS = 200, 3
STRETCH_BYTES = 1 << 20  # of a .log, whose headers are read at once
# of a key, a value or a header; of bytes that are no text; of a record
CHARACTERS, HEX_BYTES, HEADERS = 160, 32, 6


@dataclass(frozen=True)
class Sample:
    """Records of one topic-partition as text; fault: why there are none."""

    partition: str
    rows: tuple[tuple[str, str, str, str, str], ...] = ()  # offset, time, key, value, headers
    fault: str = ""


def samples(broker: Broker, watch: Callable[[str], None] = lambda what: None) -> Iterator[Sample]:
    """Of each topic but Kafka's own, by name; of one without a record nothing."""
    largest: dict[str, Partition] = {}
    for one in broker.partitions:
        if one.state == "current" and not one.topic.startswith("__"):
            largest[one.topic] = max(one, largest.get(one.topic, one), key=_log_bytes)
    for topic in sorted(largest)[:TOPICS]:
        watch(f"records of {largest[topic].directory}")
        found = _sample(largest[topic])
        if found.rows or found.fault:
            yield found


def _log_bytes(partition: Partition) -> int:
    return sum(one.log.size_bytes for one in partition.live if one.log)


def _sample(partition: Partition) -> Sample:
    try:
        for segment in reversed(partition.live):
            for position in _from_the_end(segment):
                if found := deque(segment.iterate(position), RECORDS):
                    return Sample(partition.directory, tuple(map(_row, found)))
    except KafkavizError as fault:
        return Sample(partition.directory, fault=getattr(fault, "what", str(fault)))
    return Sample(partition.directory)


def _from_the_end(segment: Segment) -> Iterator[int]:
    """Where each batch that holds data begins, the last one first; headers are read by stretches
    from an index entry on.
    """
    found = existing(segment.log)
    log, stop = pieces.Log(found), found.size_bytes
    while stop:
        start = log.before(max(0, stop - STRETCH_BYTES))
        found = [batches["position"][~is_control(batches)] for batches in segment.scan(start, stop)]
        for positions in reversed(found):
            yield from positions[::-1].tolist()
        stop = start


def _row(one: BatchRecord) -> tuple[str, str, str, str, str]:
    headers = [f"{_text(name)}: {_text(value)}" for name, value in one.headers[:HEADERS]]
    more = [f"and {len(one.headers) - HEADERS} more"] if len(one.headers) > HEADERS else []
    return (
        units.group(one.offset),
        units.moment(one.timestamp_ms),
        _text(one.key),
        _text(one.value),
        ", ".join(headers + more),
    )


def _text(data: bytes | str | None) -> str:
    """Bytes as text, the end cut off; those that are none in hexadecimal digits."""
    if data is None:
        return "null"
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        more = "…" if len(data) > HEX_BYTES else ""
        return f"{cast(bytes, data)[:HEX_BYTES].hex(' ')}{more} ({units.size(len(data))})"
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"
