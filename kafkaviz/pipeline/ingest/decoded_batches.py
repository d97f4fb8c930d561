"""A compressed segment whose checks are cut: its batches decoded in splits, judged as a whole.

What takes a compressed segment its time, sums and decompression, asks for one batch alone. What
the checks, the sweep and the rows make of the batches asks for all of them in order, and takes
little of a second. So tasks decode splits of the .log side by side and write what they know of
each batch (format.deep_scan.CHECKED_BATCH) into files aside; then one task goes over these:

    bytes 0 to 268 437 120             decoded by one task       8 193 batches
    bytes 268 437 120 to 536 870 912   by another                8 190 batches
    the segment                        by a third, which reads both files: 16 383 batches

What one pass over the .log would have seen comes out, or the pass is made: a split that does not
end where the next begins, or in which anything is wrong, is not believed.
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
        number: of its segment in this run.
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
    """What was decoded of a split.

    Attributes:
        file: the name of the file with its batches; None where something is wrong in it.
        end: where its last batch ends, and why there.
    """

    number: int
    start: int
    stop: int
    file: str | None = None
    end: WalkEnd | None = None


def decode(task: DecodeTask, staging: Path) -> DecodedSplit:
    """Sums and decodes each batch of a split."""
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
    """Whether the splits of a segment, in order, are what one pass would have seen."""
    return all(part.file is not None for part in ranges) and all(
        part.end == WalkEnd(part.stop, "end") for part in ranges[:-1]
    )


class DecodedWalk:
    """The batches of such a segment, as a log.resync_scan.BatchWalk."""

    def __init__(self, ranges: Sequence[DecodedSplit], staging: Path) -> None:
        """Nothing is read yet.

        Args:
            ranges: of which is_whole is true.
        """
        self._ranges, self._folder = ranges, staging / FOLDER

    @property
    def end(self) -> WalkEnd:
        """Where the last one ended."""
        end = self._ranges[-1].end
        assert end is not None
        return end

    def __iter__(self) -> Iterator[np.ndarray]:
        """Arrays of CHECKED_BATCH."""
        for part in self._ranges:
            with open(self._folder / str(part.file), "rb") as rows:
                while len(batches := np.fromfile(rows, CHECKED_BATCH, MAX_ROWS)):
                    yield batches
