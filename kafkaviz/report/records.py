"""A few records of each topic, for reports that show payloads.

They are the last records of the topic's largest partition.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import cast

from kafkaviz import units
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch import is_control
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.log import byte_ranges
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message, say

TOPICS = 200
RECORDS = 3
STRETCH_BYTES = 1 << 20  # bytes of a .log whose headers are read at once
# at most: characters per key, value or header; bytes in hexadecimal digits; headers per record
CHARACTERS = 160
HEX_BYTES = 32
HEADERS = 6


@dataclass(frozen=True)
class Sample:
    """The last records of one topic-partition, as text.

    Attributes:
        fault: why they could not be read, or "".
    """

    partition: str
    rows: tuple[tuple[str, str, str, str, str], ...] = ()  # offset, time, key, value, headers
    fault: str | Message = ""


def samples(
    broker: Broker, on_progress: Callable[[Message], None] = lambda _what: None
) -> Iterator[Sample]:
    """Yields one sample per topic, sorted by topic.

    Internal topics (`__` prefix), topics without a record, and topics beyond the first TOPICS are
    left out.
    """
    largest: dict[str, Partition] = {}
    for partition in broker.partitions:
        if partition.state == "current" and not partition.topic.startswith("__"):
            largest[partition.topic] = max(
                partition, largest.get(partition.topic, partition), key=attrgetter("live_log_bytes")
            )
    for topic in sorted(largest)[:TOPICS]:
        on_progress(message("report_progress.records", name=largest[topic].directory))
        sample = _sample(largest[topic])
        if sample.rows or sample.fault:
            yield sample


def _sample(partition: Partition) -> Sample:
    try:
        for segment in reversed(partition.live):
            for position in _from_the_end(segment):
                if last_records := deque(segment.iterate(position), RECORDS):
                    return Sample(partition.directory, tuple(map(_row, last_records)))
    except KafkavizError as fault:
        return Sample(partition.directory, fault=getattr(fault, "what", fault.message))
    return Sample(partition.directory)


def _from_the_end(segment: LogSegment) -> Iterator[int]:
    """Yields the position of each batch that is not a control batch, the last batch first.

    Headers are read in chunks of about STRETCH_BYTES that start at a batch.
    """
    log = byte_ranges.LogFile(segment.log)
    stop = segment.log.size_bytes
    while stop:
        start = log.batch_start_before(max(0, stop - STRETCH_BYTES))
        positions_by_chunk = [
            batches["position"][~is_control(batches)] for batches in segment.scan(start, stop)
        ]
        for positions in reversed(positions_by_chunk):
            yield from positions[::-1].tolist()
        stop = start


def _row(record: BatchRecord) -> tuple[str, str, str, str, str]:
    headers = [f"{_text(name)}: {_text(value)}" for name, value in record.headers[:HEADERS]]
    more = (
        [say("common.n_more", n=len(record.headers) - HEADERS)]
        if len(record.headers) > HEADERS
        else []
    )
    return (
        units.format_count(record.offset),
        units.moment(record.timestamp_ms),
        _text(record.key),
        _text(record.value),
        ", ".join(headers + more),
    )


def _text(data: bytes | str | None) -> str:
    """Returns the text, cut off after CHARACTERS.

    Bytes that are not UTF-8 are shown in hexadecimal digits.
    """
    if data is None:
        return "null"
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError:
        more = "…" if len(data) > HEX_BYTES else ""
        return f"{cast(bytes, data)[:HEX_BYTES].hex(' ')}{more} ({units.format_bytes(len(data))})"
    return text if len(text) <= CHARACTERS else f"{text[:CHARACTERS]}…"
