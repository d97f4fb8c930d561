"""The words with which Kafka refuses an append, or ends in the middle of one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafkaviz import versions
from kafkaviz.config_def import Release
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.recovering.recovery import (
    ILLEGAL_ARGUMENT,
    INVALID_OFFSET,
    OFFSET_OVERFLOW,
    Raised,
)
from kafkaviz.simulate.starting.log_end import CORRUPT_RECORD
from kafkaviz.simulate.writing import appending
from kafkaviz.simulate.writing.open_segment import OpenSegment

INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"
BATCH_TOO_LARGE = "org.apache.kafka.common.errors.RecordTooLargeException"
TOO_LARGE = "org.apache.kafka.common.errors.RecordBatchTooLargeException"
SHOWN_OFFSETS = 10


class AppendFailed(Exception):
    """An append that Kafka does not take. raised: its exception; append: the number of the call."""

    def __init__(self, raised: Raised, append: int) -> None:
        super().__init__(str(raised))
        self.raised, self.append = raised, append


@dataclass(frozen=True)
class Refused:
    """An append that was not taken, and the log it came to.

    rows: INCOMING, of the append; offsets: gives those of its records; partition: its name. valid:
    how many of the first rows have a right checksum, and more where all have.
    """

    segment: OpenSegment
    rows: np.ndarray
    offsets: Callable[[], list[int]]
    partition: str
    log_start: int
    config: LogConfig
    release: Release
    valid: int

    @property
    def is_java(self) -> bool:
        """Whether the log's classes are Java's; before they were Scala's, and so is the list of
        offsets.
        """
        return versions.STORAGE_IN_JAVA.of(self.release)

    @property
    def counters(self) -> np.void:
        """Of the segment, appending.STATE."""
        return self.segment.counters[0]


def raised(outcome: int, refused: Refused) -> Raised:
    """The exception of Kafka 3.9 and 4.3.1. outcome: of appending.take, one of those that are no
    success.
    """
    return RAISED[outcome](refused)


def _batch_too_large(one: Refused) -> Raised:
    found, most = (
        int(one.rows["size_bytes"].max()),
        f"exceeds the maximum configured value of {one.config.max_message_bytes}",
    )
    most += ")." if one.is_java else "."  # in Java with a bracket that was never opened
    return Raised(
        BATCH_TOO_LARGE,
        f"The record batch size in the append to {one.partition} is {found} bytes which {most}",
    )


def _corrupt(one: Refused) -> Raised:
    stored = one.rows["crc"][one.valid]
    return Raised(
        CORRUPT_RECORD,
        f"Record is corrupt (stored crc = {stored}) in topic partition {one.partition}.",
    )


def _out_of_order(one: Refused) -> Raised:
    package = "org.apache.kafka.storage.internals.log" if one.is_java else "kafka.common"
    words = (
        f"Out of order offsets found in append to {one.partition}: "
        f"{_listed(one.offsets(), one.is_java, ',')}"
    )
    return Raised(f"{package}.OffsetsOutOfOrderException", words)


def _below_end(one: Refused) -> Raised:
    package = "org.apache.kafka.server.storage.log" if one.is_java else "kafka.common"
    words = (
        f"Unexpected offset in append to {one.partition}. First offset "
        f"{one.rows['base_offset'][0]} is less than the next offset "
        f"{one.counters['log_end_offset']}. First 10 offsets in append: "
        f"{_listed(one.offsets()[:SHOWN_OFFSETS], one.is_java, ', ')}, last offset in append: "
        f"{one.rows['last_offset'][-1]}. Log start offset = {one.log_start}"
    )
    return Raised(f"{package}.UnexpectedAppendOffsetException", words)


def _listed(offsets: list[int], is_java: bool, comma: str) -> str:
    return (
        comma.join(map(str, offsets)) if is_java else f"ArrayBuffer({', '.join(map(str, offsets))})"
    )


def _too_large(one: Refused) -> Raised:
    found, least = (
        int(one.rows["size_bytes"].sum()),
        f"which exceeds the maximum configured segment size of {one.config.segment_bytes}.",
    )
    return Raised(
        TOO_LARGE,
        f"Message batch size is {found} bytes in append to partition {one.partition}, {least}",
    )


def _out_of_range(one: Refused) -> Raised:
    found = (
        f"LogSegment(baseOffset={one.segment.base_offset}, size={one.segment.log_bytes}, "
        f"lastModifiedTime={one.rows['now_ms'][0]}, largestRecordTimestamp="
        f"{one.counters['max_timestamp_ms']})"
    )
    return Raised(
        OFFSET_OVERFLOW,
        f"Detected offset overflow at offset {one.rows['last_offset'][-1]} in segment {found}",
    )


def _offset_full(one: Refused) -> Raised:
    return Raised(
        ILLEGAL_ARGUMENT,
        f"Attempt to append to a full index (size = {one.counters['offset_entries']}).",
    )


def _time_full(one: Refused) -> Raised:
    return Raised(
        ILLEGAL_ARGUMENT,
        f"Attempt to append to a full time index (size = {one.counters['time_entries']}).",
    )


def _offset_backwards(one: Refused) -> Raised:
    return _backwards(one, one.rows["last_offset"][-1], one.counters["last_key"])


def _time_backwards(one: Refused) -> Raised:
    return _backwards(one, one.counters["max_timestamp_offset"], one.counters["last_time_offset"])


def _backwards(one: Refused, key: int, last: int) -> Raised:
    words = (
        f"Attempt to append an offset {key} no larger than the last offset appended ({last}) to "
        f"segment {one.segment.base_offset}"
    )
    return Raised(INVALID_OFFSET, words)


RAISED: dict[int, Callable[[Refused], Raised]] = {
    appending.BATCH_TOO_LARGE: _batch_too_large,
    appending.CORRUPT: _corrupt,
    appending.OUT_OF_ORDER: _out_of_order,
    appending.BELOW_END: _below_end,
    appending.TOO_LARGE: _too_large,
    appending.OUT_OF_RANGE: _out_of_range,
    appending.OFFSET_FULL: _offset_full,
    appending.OFFSET_BACKWARDS: _offset_backwards,
    appending.TIME_FULL: _time_full,
    appending.TIME_BACKWARDS: _time_backwards,
}
