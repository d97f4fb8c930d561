"""Kafka's exceptions for appends that Kafka refuses, or that fail halfway."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafkaviz import versions
from kafkaviz.format.java import CORRUPT_RECORD
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.recovery import (
    INVALID_OFFSET,
    BrokerException,
    index_full,
    offset_overflow,
    time_index_full,
)
from kafkaviz.simulate.writer import append_loop
from kafkaviz.simulate.writer.open_segment import OpenSegment
from kafkaviz.versions import Release

BATCH_TOO_LARGE = "org.apache.kafka.common.errors.RecordTooLargeException"
TOO_LARGE = "org.apache.kafka.common.errors.RecordBatchTooLargeException"
SHOWN_OFFSETS = 10


class AppendFailed(Exception):
    """The error for an append that Kafka refuses. `append` is the number of the append call."""

    def __init__(self, exception: BrokerException, append: int) -> None:
        super().__init__(str(exception))
        self.exception = exception
        self.append = append


@dataclass(frozen=True, kw_only=True)
class RefusedAppend:
    """A refused append, and the log that refused it."""

    segment: OpenSegment
    rows: np.ndarray  # the batches of the append, an array of INCOMING
    offsets: Callable[[], list[int]]  # returns the offsets of the append's records
    partition: str  # the partition's name
    log_start: int
    config: LogConfig
    release: Release
    valid: int  # the first row with a wrong checksum; len(rows) or more for none

    @property
    def is_java(self) -> bool:
        """Whether this release has its log classes in Java. Scala prints offsets differently."""
        return versions.STORAGE_IN_JAVA.applies_to(self.release)

    @property
    def counters(self) -> np.void:
        return self.segment.counters[0]


def broker_exception(outcome: int, refusal: RefusedAppend) -> BrokerException:
    """Returns the exception that Kafka throws for a refusing `outcome` of append_loop.take."""
    return EXCEPTIONS[outcome](refusal)


def _batch_too_large(refusal: RefusedAppend) -> BrokerException:
    size_bytes = int(refusal.rows["size_bytes"].max())
    # the Java message has a closing bracket without an opening one
    end = ")." if refusal.is_java else "."
    words = (
        f"The record batch size in the append to {refusal.partition} is {size_bytes} bytes which "
        f"exceeds the maximum configured value of {refusal.config.max_message_bytes}{end}"
    )
    return BrokerException(BATCH_TOO_LARGE, words)


def _corrupt(refusal: RefusedAppend) -> BrokerException:
    crc = refusal.rows["crc"][refusal.valid]
    words = f"Record is corrupt (stored crc = {crc}) in topic partition {refusal.partition}."
    return BrokerException(CORRUPT_RECORD, words)


def _out_of_order(refusal: RefusedAppend) -> BrokerException:
    package = "org.apache.kafka.storage.internals.log" if refusal.is_java else "kafka.common"
    words = (
        f"Out of order offsets found in append to {refusal.partition}: "
        f"{_join_offsets(refusal.offsets(), is_java=refusal.is_java, comma=',')}"
    )
    return BrokerException(f"{package}.OffsetsOutOfOrderException", words)


def _below_end(refusal: RefusedAppend) -> BrokerException:
    package = "org.apache.kafka.server.storage.log" if refusal.is_java else "kafka.common"
    offsets = refusal.offsets()[:SHOWN_OFFSETS]
    words = (
        f"Unexpected offset in append to {refusal.partition}. First offset "
        f"{refusal.rows['base_offset'][0]} is less than the next offset "
        f"{refusal.counters['log_end_offset']}. First 10 offsets in append: "
        f"{_join_offsets(offsets, is_java=refusal.is_java, comma=', ')}, "
        f"last offset in append: {refusal.rows['last_offset'][-1]}. "
        f"Log start offset = {refusal.log_start}"
    )
    return BrokerException(f"{package}.UnexpectedAppendOffsetException", words)


def _join_offsets(offsets: list[int], *, is_java: bool, comma: str) -> str:
    if is_java:
        return comma.join(map(str, offsets))
    return f"ArrayBuffer({', '.join(map(str, offsets))})"


def _too_large(refusal: RefusedAppend) -> BrokerException:
    size_bytes = int(refusal.rows["size_bytes"].sum())
    words = (
        f"Message batch size is {size_bytes} bytes in append to partition {refusal.partition}, "
        f"which exceeds the maximum configured segment size of {refusal.config.segment_bytes}."
    )
    return BrokerException(TOO_LARGE, words)


def _out_of_range(refusal: RefusedAppend) -> BrokerException:
    return offset_overflow(
        refusal.rows["last_offset"][-1],
        refusal.segment.base_offset,
        refusal.segment.log_bytes,
        refusal.rows["now_ms"][0],
        refusal.counters["max_timestamp_ms"],
    )


def _offset_backwards(refusal: RefusedAppend) -> BrokerException:
    return _backwards(refusal, refusal.rows["last_offset"][-1], refusal.counters["last_key"])


def _time_backwards(refusal: RefusedAppend) -> BrokerException:
    return _backwards(
        refusal, refusal.counters["max_timestamp_offset"], refusal.counters["last_time_offset"]
    )


def _backwards(refusal: RefusedAppend, key: int, last: int) -> BrokerException:
    words = (
        f"Attempt to append an offset {key} no larger than the last offset appended ({last}) to "
        f"segment {refusal.segment.base_offset}"
    )
    return BrokerException(INVALID_OFFSET, words)


# the words are from 3.9 for releases in Scala, and from 4.3.1 for releases in Java
EXCEPTIONS: dict[int, Callable[[RefusedAppend], BrokerException]] = {
    append_loop.BATCH_TOO_LARGE: _batch_too_large,
    append_loop.CORRUPT: _corrupt,
    append_loop.OUT_OF_ORDER: _out_of_order,
    append_loop.BELOW_END: _below_end,
    append_loop.TOO_LARGE: _too_large,
    append_loop.OUT_OF_RANGE: _out_of_range,
    append_loop.OFFSET_FULL: lambda refusal: index_full(refusal.counters["offset_entries"]),
    append_loop.OFFSET_BACKWARDS: _offset_backwards,
    append_loop.TIME_FULL: lambda refusal: time_index_full(refusal.counters["time_entries"]),
    append_loop.TIME_BACKWARDS: _time_backwards,
}
