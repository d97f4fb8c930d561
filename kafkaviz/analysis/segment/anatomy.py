"""One segment read completely, in one pass.

Its batches, both indexes, how they point at each other, and what follows the last batch.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kafkaviz.analysis.inference import ChunkedEvidence, IntervalBounds
from kafkaviz.analysis.segment import tail as tails
from kafkaviz.analysis.segment.batch_counts import BatchCounter, BatchCounts
from kafkaviz.analysis.segment.batch_table import KEPT_ROWS, BatchTableBuilder
from kafkaviz.analysis.segment.links import Aim, LinkBuilder, Links
from kafkaviz.analysis.segment.tail import Tail
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch_observer import observe_scan
from kafkaviz.format.walk import WalkEnd
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Index, LogSegment
from kafkaviz.search.log_view import BatchTable

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
    entries: np.ndarray, batches: int, indexed_batches: int, wrong_slots: np.ndarray = NO_SLOT
) -> Density:
    """How dense the entries of an .index lie in its log.

    Args:
        batches: how many there are.
        indexed_batches: those with an own entry.
        wrong_slots: the entries that lead astray, as links.Links has them. Gaps before and behind
            those are left out, and gaps that are not above 0: they are damage, and say nothing of
            how the index was written.
    """
    gap_bytes = gaps(entries)
    gap_bytes[wrong_slots] = 0
    gap_bytes[(wrong_slots + 1)[wrong_slots + 1 < len(gap_bytes)]] = 0
    sorted_gaps = np.sort(gap_bytes[gap_bytes > 0])
    quantiles = [_quantile(sorted_gaps, share) for share in (0, 0.5, 0.99)]
    return Density(*quantiles, batches=batches, never_indexed=batches - indexed_batches)


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
    batches: BatchTable
    counts: BatchCounts
    end: WalkEnd
    index: Index
    times: Index
    links: Links
    interval: IntervalBounds  # which index.interval.bytes fits
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
        links = self.links
        return density(
            self.index.entries, len(self.batches), len(links.indexed_rows), links.wrong_entries
        )

    def missed_offsets(self, slot: int) -> tuple[int, int] | None:
        """The first and last offset that a search from this slot of .index passes over.

        There are such where the entry points past the batch of its key.
        """
        links, entries = self.links, self.index.entries
        if links.entry_aim[slot] != Aim.PAST:
            return None
        last = int(self.batches.row(int(links.entry_batch[slot]))["base_offset"]) - 1
        if slot + 1 < len(entries):
            last = min(last, int(entries["offset"][slot + 1]) - 1)
        return int(entries["offset"][slot]), last


def read(segment: LogSegment, kept_rows: int = KEPT_ROWS) -> Anatomy:
    """The anatomy of a segment, whichever of its indexes exist.

    Args:
        kept_rows: so many batches are kept in memory; of more, windows are read again.

    Raises:
        CannotOpen: for a file that may not be read.
    """
    index, times, scan = segment.offset_slots, segment.time_slots, segment.full_scan()
    by_position = index.entries[np.argsort(index.entries["position"], kind="stable")]
    table, counter = BatchTableBuilder(segment, kept_rows), BatchCounter(segment.log.size_bytes)
    link_builder = LinkBuilder(index.entries, times.entries, segment.base_offset)
    evidence = ChunkedEvidence(by_position)
    observe_scan(scan, table, counter, link_builder, evidence)
    batches, counts = table.result(), counter.result()
    tail, log_after = _tail(segment.log, counts, scan.end), _info_after_read(segment.log)
    is_entry, is_time = (np.ones(len(written.entries), bool) for written in (index, times))
    if log_after and log_after.size_bytes > segment.log.size_bytes:
        # others came with batches that a broker wrote meanwhile
        is_entry = index.entries["position"] < scan.end.position
        is_time = times.entries["offset"] <= counts.last_offset
        index = index._replace(entries=index.entries[is_entry])
        times = times._replace(entries=times.entries[is_time])
    links = link_builder.links_of(is_entry, is_time)
    for array in (index.entries, times.entries, *vars(links).values()):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    return Anatomy(
        segment=segment,
        batches=batches,
        counts=counts,
        end=scan.end,
        index=index,
        times=times,
        links=links,
        interval=evidence.result().bounds(),
        tail=tail,
        log_after=log_after,
    )


def _tail(log: FileInfo, counts: BatchCounts, end: WalkEnd) -> Tail | None:
    last_offset = None if counts.last is None else int(counts.last["last_offset"])
    return tails.read(log, end.position, last_offset)


def _info_after_read(log: FileInfo) -> FileInfo | None:
    try:
        return file.info(log.path)
    except CannotOpen:
        return None
