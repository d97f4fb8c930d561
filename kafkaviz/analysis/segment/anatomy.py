"""One segment read completely.

Its batches, both indexes, how they point at each other, and what follows the last batch.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kafkaviz.analysis.segment import links
from kafkaviz.analysis.segment import tail as tails
from kafkaviz.analysis.segment.links import Aim, Links
from kafkaviz.analysis.segment.tail import Tail
from kafkaviz.errors import CannotOpen
from kafkaviz.format.walk import WalkEnd
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Index, LogSegment

NO_SLOT = np.zeros(0, int)


@dataclass(frozen=True)
class Density:
    """The gaps of one .index, and the batches a search must step to.

    Each is a gap that exists, no mean of two; None without an entry.
    """

    gap_min_bytes: int | None
    gap_median_bytes: int | None
    gap_p99_bytes: int | None
    batches: int
    never_indexed: int


def gaps(entries: np.ndarray) -> np.ndarray:
    """The bytes of .log between each entry and the one before it.

    Negative where positions do not grow.
    """
    return np.diff(entries["position"], prepend=0)


def density(
    entries: np.ndarray, batch_slot: np.ndarray, wrong_slots: np.ndarray = NO_SLOT
) -> Density:
    """How dense the entries of an .index lie in its log.

    Args:
        batch_slot: each batch's own entry or -1, and wrong_slots: the entries that lead astray, as
            links.Links has them. Gaps before and behind those are left out, and gaps that are not
            above 0: they are damage, and say nothing of how the index was written.
    """
    gap_bytes = gaps(entries)
    gap_bytes[wrong_slots] = 0
    gap_bytes[(wrong_slots + 1)[wrong_slots + 1 < len(gap_bytes)]] = 0
    sorted_gaps = np.sort(gap_bytes[gap_bytes > 0])
    quantiles = [_quantile(sorted_gaps, share) for share in (0, 0.5, 0.99)]
    return Density(
        *quantiles, batches=len(batch_slot), never_indexed=int(np.count_nonzero(batch_slot < 0))
    )


def _quantile(sorted_gaps: np.ndarray, share: float) -> int | None:
    return (
        int(sorted_gaps[min(len(sorted_gaps) - 1, int(share * len(sorted_gaps)))])
        if len(sorted_gaps)
        else None
    )


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """A segment as it was read; arrays are read-only, since one anatomy serves every visitor."""

    segment: LogSegment
    batches: np.ndarray  # format.batch.BATCH
    end: WalkEnd
    index: Index
    times: Index
    links: Links
    tail: Tail | None
    # the .log after the reading; not as before it where a broker was writing
    log_after: FileInfo | None

    @property
    def grown_bytes(self) -> tuple[int, int] | None:
        """The size of the .log before and after the reading, where it changed meanwhile."""
        log, log_after = self.segment.log, self.log_after
        if log_after is None or (log.size_bytes, log.mtime_ns) == (
            log_after.size_bytes,
            log_after.mtime_ns,
        ):
            return None
        return log.size_bytes, log_after.size_bytes

    @cached_property
    def density(self) -> Density:
        """How dense the entries lie that lead where they should."""
        return density(self.index.entries, self.links.batch_slot, self.links.wrong_entries)

    @cached_property
    def has_epochs(self) -> bool:
        """Whether any batch names the epoch of its leader: none of magic 0 or 1 does."""
        return bool((self.batches["leader_epoch"] >= 0).any())

    def missed_offsets(self, slot: int) -> tuple[int, int] | None:
        """The first and last offset that a search from this slot of .index passes over.

        There are such where the entry points past the batch of its key.
        """
        links, entries = self.links, self.index.entries
        if links.entry_aim[slot] != Aim.PAST:
            return None
        last = int(self.batches["base_offset"][links.entry_batch[slot]]) - 1
        if slot + 1 < len(entries):
            last = min(last, int(entries["offset"][slot + 1]) - 1)
        return int(entries["offset"][slot]), last


def read(segment: LogSegment) -> Anatomy:
    """The anatomy of a segment, whichever of its indexes exist.

    Raises:
        CannotOpen: for a file that may not be read.
    """
    batches, end = segment.walk()
    index, times = segment.offset_slots, segment.time_slots
    tail, log_after = _tail(segment.log, batches, end), _info_after_read(segment.log)
    if log_after and log_after.size_bytes > segment.log.size_bytes:
        index, times = entries_of_batches(batches, end, index, times)
    linked = links.link(batches, index.entries, times.entries, segment.base_offset)
    for array in (batches, index.entries, times.entries, *vars(linked).values()):
        array.flags.writeable = False
    return Anatomy(
        segment=segment,
        batches=batches,
        end=end,
        index=index,
        times=times,
        links=linked,
        tail=tail,
        log_after=log_after,
    )


def entries_of_batches(
    batches: np.ndarray, end: WalkEnd, index: Index, times: Index
) -> tuple[Index, Index]:
    """The entries of batches that were read.

    Others came with batches that a broker wrote meanwhile.
    """
    last_offset = int(batches["last_offset"].max()) if len(batches) else -1
    of_offset, of_time = (
        index.entries["position"] < end.position,
        times.entries["offset"] <= last_offset,
    )
    return index._replace(entries=index.entries[of_offset]), times._replace(
        entries=times.entries[of_time]
    )


def _tail(log: FileInfo, batches: np.ndarray, end: WalkEnd) -> Tail | None:
    last_offset = int(batches["last_offset"][-1]) if len(batches) else None
    return tails.read(log, end.position, last_offset)


def _info_after_read(log: FileInfo) -> FileInfo | None:
    try:
        return file.info(log.path)
    except CannotOpen:
        return None
