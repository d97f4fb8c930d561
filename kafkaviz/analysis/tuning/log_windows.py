"""The parts of large logs that tuning reads: windows of whole batches, evenly spaced.

Without an index entry, a batch is only found by reading all batches before it. So a window begins
at an entry of the .index, at the start of a .log, or where the previous window ends. For example,
128 MiB of a topic of 10 GiB are 16 windows of 8 MiB, one every 640 MiB.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment

TunedSegments = tuple[Partition, Sequence[LogSegment]]  # a partition and its tuned segments
SAMPLE_BYTES = 128 << 20  # default size of the sample
# Longer than the longest interval that is compared, and short enough that the default sample has 16
# windows.
WINDOW_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class LogWindow:
    """The part of a .log from byte `start` to byte `stop`.

    - A batch begins at `start`.
    - A batch ends at `stop`, unless the window is a whole .log with a damaged end.
    """

    partition: Partition
    segment: LogSegment
    start: int
    stop: int

    @property
    def size_bytes(self) -> int:
        return self.stop - self.start

    @property
    def is_whole(self) -> bool:
        return self.size_bytes == self.segment.log.size_bytes

    def batches(self) -> Iterator[np.ndarray]:
        """Yields the batches before any damage as arrays of format.batch.BATCH."""
        yield from self.segment.scan(
            self.start, self.stop, fill_wrapper_fields=self.segment.fills_wrapper_fields
        )

    def offset_entries(self) -> np.ndarray:
        """Returns the .index entries (OFFSET_ENTRY) for the window's batches after the first.

        If the window is a whole .log, returns all entries of the .index.
        """
        if self.is_whole:
            return self.segment.offset_index
        entries = _read_entries(self.segment)
        first, last = self._slots(entries)
        return entries[first:last].copy()

    def time_entries(self) -> np.ndarray:
        """Returns the .timeindex entries (TIME_ENTRY) for the same batches as `offset_entries`."""
        if self.is_whole:
            return self.segment.time_index
        entries = replace(self.segment).time_index
        offsets = _read_entries(self.segment)
        first, last = self._slots(offsets)
        is_inside = np.ones(len(entries), bool)
        if first:
            is_inside &= entries["offset"] > offsets["offset"][first - 1]
        if last < len(offsets):
            is_inside &= entries["offset"] < offsets["offset"][last]
        return entries[is_inside]

    def _slots(self, entries: np.ndarray) -> tuple[int, int]:
        first = np.searchsorted(entries["position"], self.start, "right")
        return int(first), int(np.searchsorted(entries["position"], self.stop))


@dataclass(frozen=True)
class LogSample:
    """The parts of the logs that were measured."""

    windows: tuple[LogWindow, ...] = field(repr=False)
    log_bytes: int  # of all .log files, including the parts that were not measured

    @property
    def sampled_bytes(self) -> int:
        return sum(window.size_bytes for window in self.windows)

    @property
    def segments(self) -> int:
        """The number of segments that were measured at least in part."""
        return len({window.segment.log.path for window in self.windows})

    @property
    def is_whole(self) -> bool:
        return self.sampled_bytes == self.log_bytes

    def __add__(self, other: "LogSample") -> "LogSample":
        return LogSample(self.windows + other.windows, self.log_bytes + other.log_bytes)


def choose_windows(logs: Sequence[TunedSegments], most_bytes: int | None) -> list[LogWindow]:
    """Returns the parts of the logs (windows) to measure, by topic and in the order of the logs.

    A topic gets windows in proportion to its size, and at least one if it has a batch.
    If `most_bytes` is None, or all logs together have at most `most_bytes`, each segment is one
    window.
    """
    log_bytes = sum_bytes(logs)
    if most_bytes is None or log_bytes <= most_bytes:
        return [
            LogWindow(partition, segment, 0, segment.log.size_bytes)
            for partition, segments in logs
            for segment in segments
        ]
    by_topic: dict[str, list[TunedSegments]] = {}
    for log in logs:
        by_topic.setdefault(log[0].topic, []).append(log)
    windows = []
    for topic_logs in by_topic.values():
        topic_bytes = sum_bytes(topic_logs)
        windows += _topic_windows(topic_logs, topic_bytes, most_bytes * topic_bytes // log_bytes)
    return windows


def sum_bytes(logs: Sequence[TunedSegments]) -> int:
    return sum(segment.log.size_bytes for _, segments in logs for segment in segments)


def _topic_windows(
    logs: Sequence[TunedSegments], topic_bytes: int, most_bytes: int
) -> list[LogWindow]:
    count = max(1, most_bytes // WINDOW_BYTES)
    window_bytes = max(1, most_bytes // count)
    centers = (np.arange(count) + 0.5) * topic_bytes / count
    # byte positions, as if all logs of the topic followed one another
    starts = np.maximum(centers - window_bytes / 2, 0).astype(np.int64)
    stops = starts + window_bytes
    windows = []
    segment_start = 0
    for partition, segments in logs:
        for segment in segments:
            segment_stop = segment_start + segment.log.size_bytes
            is_inside = (starts < segment_stop) & (stops > segment_start)
            ranges = np.clip(np.stack([starts, stops], axis=1), segment_start, segment_stop)
            inside = (ranges[is_inside] - segment_start).tolist()
            windows += [
                LogWindow(partition, segment, start, stop)
                for start, stop in _move_to_batches(segment, inside)
            ]
            segment_start = segment_stop
    return windows


def _move_to_batches(segment: LogSegment, ranges: list[list[int]]) -> list[list[int]]:
    """Returns ascending (start, stop) ranges of bytes, moved to where batches begin or end.

    A start moves back to an index entry, but not before the stop of the previous range. The stop
    moves by the same distance, and then back to the end of a batch. Ranges that touch are joined.
    """
    if not ranges:
        return []
    moved: list[list[int]] = []
    try:
        entries = _read_entries(segment)
    except KafkavizError:  # the measurement reads the index again, and reports the fault
        entries = np.empty(0)
    for first, last in ranges:
        end = moved[-1][1] if moved else 0
        try:
            start = max(end, _batch_start(segment, entries, first))
            stop = _batch_stop(segment, start, start + last - first)
        except CannotOpen:  # the measurement opens the .log again, and reports the fault
            return ranges
        if moved and start == end:
            moved[-1][1] = stop
        elif stop > start:
            moved.append([start, stop])
    return moved


def _read_entries(segment: LogSegment) -> np.ndarray:
    return replace(segment).offset_index  # `segment` would keep the entries in memory


def _batch_start(segment: LogSegment, entries: np.ndarray, position: int) -> int:
    """Returns where the nearest indexed batch at or before `position` begins.

    Returns 0 without such an entry, or if the entry's batch is not there.
    """
    if not position or not len(entries):
        return 0
    slot = int(np.searchsorted(entries["position"], position, "right")) - 1
    if slot < 0:
        return 0
    start = int(entries["position"][slot])
    with file.reader(segment.log.path) as read:
        batch = batch_at(read, start, segment.log.size_bytes)
    if batch is None or not 0 <= batch["magic"] <= MAGIC_2:
        return 0
    offsets = entries["offset"]
    least = offsets[slot - 1] if slot else segment.base_offset - 1
    most = segment.base_offset + MAX_RELATIVE_OFFSET
    most = offsets[slot + 1] if slot + 1 < len(offsets) else most
    is_named = batch["base_offset"] <= offsets[slot]
    return start if is_named and least < batch["last_offset"] <= most else 0


def _batch_stop(segment: LogSegment, start: int, stop: int) -> int:
    """Returns the end of the last batch up to `stop`; if there is none, of the batch at `start`."""
    scan = segment.scan(start, min(stop, segment.log.size_bytes))
    for _ in scan:
        pass
    if scan.end.position > start:
        return scan.end.position
    with file.reader(segment.log.path) as read:
        batch = batch_at(read, start, segment.log.size_bytes)
    return start if batch is None else start + int(batch["size_bytes"])
