"""Checks a large compressed segment in parallel: tasks decode splits, and one merges them.

Checksums and decompression take most of the time and need only one batch at a time. So tasks decode
splits of the .log into files (format.deep_scan.CHECKED_BATCH). Then one task runs the checks, the
sweep and the rows, which need all batches in order but take little time:

    bytes 0 to 268 437 120             decoded by one task      8 193 batches
    bytes 268 437 120 to 536 870 912   decoded by another       8 190 batches
    the segment                        a third one reads both   16 383 batches

The result equals that of a single pass. If a split does not end where the next one begins, or has
any fault, a single pass is made.
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
    """A split of a .log that one Spark task decodes.

    Attributes:
        number: the number of its segment in this run.
    """

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
        file: the name of the file with its batches, or None if the split has a fault.
        end: the end of its last batch, with the reason.
    """

    number: int
    start: int
    stop: int
    file: str | None = None
    end: WalkEnd | None = None


def decode(task: DecodeTask, staging: Path) -> DecodedSplit:
    """Verifies and decodes each batch of a split."""
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
    """Returns whether the splits of a segment, in order, are equal to a single pass."""
    return all(part.file is not None for part in ranges) and all(
        part.end == WalkEnd(part.stop, "end") for part in ranges[:-1]
    )


class DecodedWalk:
    """The batches of a decoded segment, as a log.resync_scan.BatchWalk."""

    def __init__(self, ranges: Sequence[DecodedSplit], staging: Path) -> None:
        """Prepares the walk without reading.

        Args:
            ranges: the splits, for which is_whole is true.
        """
        self._ranges = ranges
        self._folder = staging / FOLDER

    @property
    def end(self) -> WalkEnd:
        end = self._ranges[-1].end
        assert end is not None
        return end

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yields arrays of CHECKED_BATCH."""
        for part in self._ranges:
            with open(self._folder / str(part.file), "rb") as rows:
                while len(batches := np.fromfile(rows, CHECKED_BATCH, MAX_ROWS)):
                    yield batches
