"""The words with which Kafka refuses an append, or ends in the middle of one."""

import numpy as np

from kafkaviz.config_def import Release
from kafkaviz.simulate import appending
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.open_segment import OpenSegment
from kafkaviz.simulate.recovery import ILLEGAL_ARGUMENT, INVALID_OFFSET, OFFSET_OVERFLOW, Raised

BATCH_TOO_LARGE = "org.apache.kafka.common.errors.RecordTooLargeException"
TOO_LARGE = "org.apache.kafka.common.errors.RecordBatchTooLargeException"
SHOWN_OFFSETS = 10
FIRST_IN_JAVA = (4, 0)  # before, both classes were Scala's, and so is the list of offsets


class AppendFailed(Exception):
    """An append that Kafka does not take. raised: its exception; append: the number of the call."""

    def __init__(self, raised: Raised, append: int) -> None:
        super().__init__(str(raised))
        self.raised, self.append = raised, append


def raised(
    outcome: int,
    segment: OpenSegment,
    rows: np.ndarray,
    offsets: list[int],
    partition: str,
    log_start: int,
    config: LogConfig,
    release: Release,
) -> Raised:
    """The exception of Kafka 3.9 and 4.3.1. rows: of the append; offsets: of its records; partition: its name."""
    if outcome == appending.BATCH_TOO_LARGE:
        found, most = int(rows["size_bytes"].max()), f"exceeds the maximum configured value of {config.max_message_bytes}"
        most += ")." if release >= FIRST_IN_JAVA else "."  # in Java with a bracket that was never opened
        return Raised(BATCH_TOO_LARGE, f"The record batch size in the append to {partition} is {found} bytes which {most}")
    is_java, counters = release >= FIRST_IN_JAVA, segment.counters[0]
    if outcome == appending.OUT_OF_ORDER:
        name = "org.apache.kafka.storage.internals.log" if is_java else "kafka.common"
        listed = ",".join(map(str, offsets)) if is_java else f"ArrayBuffer({', '.join(map(str, offsets))})"
        return Raised(f"{name}.OffsetsOutOfOrderException", f"Out of order offsets found in append to {partition}: {listed}")
    if outcome == appending.BELOW_END:
        name = "org.apache.kafka.server.storage.log" if is_java else "kafka.common"
        shown = ", ".join(map(str, offsets[:SHOWN_OFFSETS]))
        shown = shown if is_java else f"ArrayBuffer({shown})"
        words = (
            f"Unexpected offset in append to {partition}. First offset {rows['base_offset'][0]} is less than the next offset "
            f"{counters['log_end_offset']}. First 10 offsets in append: {shown}, last offset in append: "
            f"{rows['last_offset'][-1]}. Log start offset = {log_start}"
        )
        return Raised(f"{name}.UnexpectedAppendOffsetException", words)
    if outcome == appending.TOO_LARGE:
        found, least = int(rows["size_bytes"].sum()), f"which exceeds the maximum configured segment size of {config.segment_bytes}."
        return Raised(TOO_LARGE, f"Message batch size is {found} bytes in append to partition {partition}, {least}")
    if outcome == appending.OUT_OF_RANGE:
        found = (
            f"LogSegment(baseOffset={segment.base_offset}, size={segment.log_bytes}, lastModifiedTime={rows['now_ms'][0]}, "
            f"largestRecordTimestamp={counters['max_timestamp_ms']})"
        )
        return Raised(OFFSET_OVERFLOW, f"Detected offset overflow at offset {rows['last_offset'][-1]} in segment {found}")
    if outcome == appending.OFFSET_FULL:
        return Raised(ILLEGAL_ARGUMENT, f"Attempt to append to a full index (size = {counters['offset_entries']}).")
    if outcome == appending.TIME_FULL:
        return Raised(ILLEGAL_ARGUMENT, f"Attempt to append to a full time index (size = {counters['time_entries']}).")
    key = rows["last_offset"][-1] if outcome == appending.OFFSET_BACKWARDS else counters["max_timestamp_offset"]
    last = counters["last_key"] if outcome == appending.OFFSET_BACKWARDS else counters["last_time_offset"]
    words = f"Attempt to append an offset {key} no larger than the last offset appended ({last}) to segment {segment.base_offset}"
    return Raised(INVALID_OFFSET, words)
