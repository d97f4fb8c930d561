"""One segment read whole: its batches, both indexes, how they point at each other, and what follows the last batch."""

from dataclasses import dataclass

import numpy as np

from kafkaviz.analyse import links
from kafkaviz.analyse.links import Links
from kafkaviz.errors import CannotOpen
from kafkaviz.format.walk import End
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Index, Segment

LOOKED_AT_BYTES = 1 << 16  # of a tail, to tell zeros from other bytes


@dataclass(frozen=True)
class Tail:
    """Bytes behind the last whole batch: "torn" begins like a batch and is cut, "zeros" was set ahead, "garbage" is neither."""

    kind: str
    position: int
    size_bytes: int


@dataclass(frozen=True)
class Anatomy:
    """A segment as it was read; arrays are read-only, since one anatomy serves every visitor."""

    segment: Segment
    batches: np.ndarray  # format.batch.BATCH
    end: End
    index: Index
    times: Index
    links: Links
    tail: Tail | None
    log_after: FileInfo | None  # the .log after the reading; not as before it where a broker was writing

    @property
    def grown_bytes(self) -> tuple[int, int] | None:
        """The size of the .log before and after the reading, where it changed meanwhile."""
        before, after = self.segment.log, self.log_after
        changed = before and after and (before.size_bytes, before.mtime_ns) != (after.size_bytes, after.mtime_ns)
        return (before.size_bytes, after.size_bytes) if changed else None


def read(segment: Segment) -> Anatomy:
    """The anatomy of a segment, whichever of its files exist. Raises CannotOpen for a file that may not be read."""
    batches, end = segment.walk()
    index, times = segment.offset_slots, segment.time_slots
    found = links.link(batches, index.entries, times.entries, segment.base_offset)
    for array in (batches, index.entries, times.entries, *vars(found).values()):
        array.flags.writeable = False
    return Anatomy(segment, batches, end, index, times, found, _tail(segment.log, end), _after(segment.log))


def _tail(log: FileInfo | None, end: End) -> Tail | None:
    if log is None or end.position >= log.size_bytes:
        return None
    looked_at = file.read(log.path, end.position, LOOKED_AT_BYTES)
    kind = "zeros" if not any(looked_at) else "garbage" if end.reason == "bad-length" else "torn"
    return Tail(kind, end.position, log.size_bytes - end.position)


def _after(log: FileInfo | None) -> FileInfo | None:
    try:
        return file.info(log.path) if log else None
    except CannotOpen:
        return None
