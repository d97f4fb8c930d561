"""The segments that an ingest task reads, and the parallel decoding of large segments.

Checking a large compressed segment mostly means to decompress and to verify checksums, one batch at
a time. So several tasks each decode a split of the .log into a file of batches
(format.deep_scan.CHECKED_BATCH). Then one task reads these files, runs the checks and the sweep,
and writes the rows. This task needs all batches in order, but takes little time:

    bytes 0 to 268 437 120             decoded by one task      8 193 batches
    bytes 268 437 120 to 536 870 912   decoded by another       8 190 batches
    the segment                        a third one reads both   16 383 batches

If a split has a fault, or does not end where the next split begins, one task reads the whole
segment instead. The result is the same.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import CHECKED_BATCH, CheckLevel, DeepScan
from kafkaviz.format.walk import MAX_ROWS, WalkEnd
from kafkaviz.log import file
from kafkaviz.log.segment import Segment

FOLDER = "decoded"
# cost of opening the files of a segment, in bytes that can be read in the same time
SEGMENT_COST_BYTES = 256 << 10
Item = TypeVar("Item")


@dataclass(frozen=True)
class DecodeTask:
    """Decodes a split of a .log. `number` is the number of the segment in this run."""

    number: int
    log: Path
    start: int
    stop: int
    cost: int

    @property
    def log_bytes(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True)
class DecodedSplit:
    """The result of decoding a split.

    Attributes:
        file: the name of the file with the decoded batches. None: the split has a fault.
        end: the position where the batches ended, and why. None: the split has a fault.
    """

    number: int
    start: int
    stop: int
    file: str | None = None
    end: WalkEnd | None = None


@dataclass(frozen=True, kw_only=True)
class SegmentTask:
    """A segment to read.

    Attributes:
        number: the number of the segment in this run.
        facts: the facts for the segment's checks. None: no checks.
        skips_rows: whether no rows are written, because the catalog has them already.
        needs_sweep: whether the cost of each index.interval.bytes is computed.
    """

    number: int
    broker: str
    topic: str
    partition: int
    segment: Segment
    facts: PartitionFacts | None = None
    skips_rows: bool = False
    needs_sweep: bool = False

    @property
    def log_bytes(self) -> int:
        return self.segment.log.size_bytes if self.segment.log else 0

    @property
    def is_checked(self) -> bool:
        """Whether checks read the .log. If so, the segment is not split."""
        return self.facts is not None and self.segment.is_in_use and self.segment.log is not None

    @property
    def is_decoded(self) -> bool:
        return self.is_checked and self.facts is not None and self.facts.level == CheckLevel.RECORDS

    @property
    def is_divisible(self) -> bool:
        """Whether the .log may be read in splits."""
        return not (self.skips_rows or self.is_checked or self.needs_sweep)


@dataclass(frozen=True)
class SegmentSplit:
    """A byte range of a segment's .log.

    The split at byte 0 includes the indexes and the checks.

    Attributes:
        decoded: the decoded splits, if other tasks have decoded the batches.
    """

    segment_task: SegmentTask
    start: int
    stop: int
    decoded: tuple[DecodedSplit, ...] = ()

    @property
    def log_bytes(self) -> int:
        return 0 if self.decoded else self.stop - self.start

    @property
    def is_partial(self) -> bool:
        return (self.start, self.stop) != (0, self.segment_task.log_bytes)


@dataclass(frozen=True)
class IngestTask:
    """The splits that one Spark task reads, in order."""

    number: int
    splits: tuple[SegmentSplit, ...]
    cost: int = 0

    @property
    def log_bytes(self) -> int:
        return sum(split.log_bytes for split in self.splits)


def pack_by_cost(
    items: Iterable[tuple[Item, int]], target_cost: int
) -> Iterator[tuple[list[Item], int]]:
    """Groups consecutive items. A group costs at most `target_cost`, or holds a single item.

    Yields:
        A group, and the group's cost.
    """
    group: list[Item] = []
    group_cost = 0
    for item, cost in items:
        if group and group_cost + cost > target_cost:
            yield group, group_cost
            group = []
            group_cost = 0
        group.append(item)
        group_cost += cost
    if group:
        yield group, group_cost


def decode(task: DecodeTask, staging: Path) -> DecodedSplit:
    folder = staging / FOLDER
    folder.mkdir(exist_ok=True)
    name = uuid.uuid4().hex
    failed = DecodedSplit(task.number, task.start, task.stop)
    try:
        with file.reader(task.log) as read, open(folder / name, "wb") as out:
            scan = DeepScan(read, task.start, task.stop)
            for chunk in scan:
                if chunk.faults or not chunk.batches["crc_valid"].all():
                    return failed
                chunk.batches.tofile(out)
    except KafkavizError:
        return failed
    return DecodedSplit(task.number, task.start, task.stop, name, scan.end)


def is_whole(ranges: Sequence[DecodedSplit]) -> bool:
    """Returns whether these decoded splits, in order, equal the result of a single scan."""
    return all(part.file is not None for part in ranges) and all(
        part.end == WalkEnd(part.stop, "end") for part in ranges[:-1]
    )


class DecodedWalk:
    """Reads the batches of a decoded segment, as a log.scans.BatchWalk."""

    def __init__(self, ranges: Sequence[DecodedSplit], staging: Path) -> None:
        """Takes the decoded splits, for which `is_whole` must be true."""
        self._ranges = ranges
        self._folder = staging / FOLDER

    @property
    def end(self) -> WalkEnd:
        end = self._ranges[-1].end
        assert end is not None
        return end

    def __iter__(self) -> Iterator[np.ndarray]:
        for part in self._ranges:
            with open(self._folder / str(part.file), "rb") as rows:
                while len(batches := np.fromfile(rows, CHECKED_BATCH, MAX_ROWS)):
                    yield batches
