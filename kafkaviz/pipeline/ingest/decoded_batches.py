"""Decodes large compressed segments in several tasks at once.

A check spends most time on decompression and checksums. Several tasks each decode a split of the
.log into a file of batches (format.deep_scan.CHECKED_BATCH). Then one task reads these files in
order, runs the checks and writes the rows, which takes little time:

    bytes 0 to 268 437 120             decoded by one task      8 193 batches
    bytes 268 437 120 to 536 870 912   decoded by another task  8 190 batches
    the whole segment                  read by a third task     16 383 batches

If a split has a fault, or does not end where the next split begins, one task reads the whole
segment instead. The result is the same.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafkaviz.errors import KafkavizError
from kafkaviz.format.deep_scan import CHECKED_BATCH, DeepScan
from kafkaviz.format.walk import MAX_ROWS, WalkEnd
from kafkaviz.log import file

FOLDER = "decoded"


@dataclass(frozen=True)
class DecodeTask:
    """A task that decodes a split of a .log. `number` is the segment's number in this ingest."""

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
    """The result of decoding a split."""

    number: int
    start: int
    stop: int
    file: str | None = None  # name of the file with the batches; None: the split has a fault
    end: WalkEnd | None = None  # where the batches ended, and why; None: the split has a fault


def decode(task: DecodeTask, staging: Path) -> DecodedSplit:
    folder = staging / FOLDER
    folder.mkdir(exist_ok=True)
    name = uuid.uuid4().hex
    failed = DecodedSplit(task.number, task.start, task.stop)
    try:
        with file.reader(task.log) as read, open(folder / name, "wb") as out:
            scan = DeepScan(read, task.start, task.stop)
            for batches in scan:
                if batches["fault"].any() or not batches["crc_valid"].all():
                    return failed
                batches.tofile(out)
    except KafkavizError:
        return failed
    return DecodedSplit(task.number, task.start, task.stop, name, scan.end)


def is_whole(ranges: Sequence[DecodedSplit]) -> bool:
    """Returns whether these splits, in order, have the same batches as a scan of the segment."""
    return all(part.file is not None for part in ranges) and all(
        part.end == WalkEnd(part.stop, "end") for part in ranges[:-1]
    )


class DecodedWalk:
    """Yields the batches of a segment that other tasks decoded, as a log.scans.BatchWalk does."""

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
