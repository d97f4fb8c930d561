"""One segment, read completely in one pass.

The result has its batches, both indexes, the links between them, and the bytes after the last
batch.
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
    """The gaps between the entries of an .index, and the number of batches without an entry.

    Each gap exists, so the median is not a mean of two. It is None without a gap.
    """

    gap_min_bytes: int | None
    gap_median_bytes: int | None
    gap_p99_bytes: int | None
    batches: int
    never_indexed: int


def gaps(entries: np.ndarray) -> np.ndarray:
    """Returns the .log bytes between each entry and the previous one.

    A gap is negative if positions do not grow.
    """
    return np.diff(entries["position"], prepend=0)


def density(
    entries: np.ndarray, batches: int, indexed_batches: int, wrong_slots: np.ndarray = NO_SLOT
) -> Density:
    """Returns how close the entries of an .index are in the .log.

    Args:
        batches: number of batches.
        indexed_batches: number of batches with their own entry.
        wrong_slots: slots of wrong entries, as in links.Links. The gaps next to them are left out,
            as are gaps of 0 or less: they are damage, and do not show how the index was written.
    """
    gap_bytes = gaps(entries)
    gap_bytes[wrong_slots] = 0
    gap_bytes[(wrong_slots + 1)[wrong_slots + 1 < len(gap_bytes)]] = 0
    sorted_gaps = np.sort(gap_bytes[gap_bytes > 0])
    quantiles = [_quantile(sorted_gaps, share) for share in (0, 0.5, 0.99)]
    return Density(*quantiles, batches=batches, never_indexed=batches - indexed_batches)


def _quantile(sorted_gaps: np.ndarray, share: float) -> int | None:
    if len(sorted_gaps):
        return int(sorted_gaps[min(len(sorted_gaps) - 1, int(share * len(sorted_gaps)))])
    return None


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """The content of a segment.

    Its arrays are read-only, because all visitors share one anatomy.
    """

    segment: LogSegment
    batches: BatchTable
    counts: BatchCounts
    end: WalkEnd
    index: Index
    times: Index
    links: Links
    interval: IntervalBounds  # the values of index.interval.bytes that fit
    tail: Tail | None
    # the .log after the pass; it differs from segment.log if a broker was writing
    log_after: FileInfo | None

    @property
    def grown_bytes(self) -> tuple[int, int] | None:
        """The size of the .log before and after the pass, if it changed meanwhile."""
        log = self.segment.log
        log_after = self.log_after
        if log_after is None or (log.size_bytes, log.mtime_ns) == (
            log_after.size_bytes,
            log_after.mtime_ns,
        ):
            return None
        return log.size_bytes, log_after.size_bytes

    @cached_property
    def density(self) -> Density:
        links = self.links
        return density(
            self.index.entries, len(self.batches), len(links.indexed_rows), links.wrong_entries
        )

    def missed_offsets(self, slot: int) -> tuple[int, int] | None:
        """Returns the first and last offset that a search from this slot of .index passes over.

        None unless the entry points past the batch of its key.
        """
        links = self.links
        entries = self.index.entries
        if links.entry_aim[slot] != Aim.PAST:
            return None
        last = int(self.batches.row(int(links.entry_batch[slot]))["base_offset"]) - 1
        if slot + 1 < len(entries):
            last = min(last, int(entries["offset"][slot + 1]) - 1)
        return int(entries["offset"][slot]), last


def read(segment: LogSegment, kept_rows: int = KEPT_ROWS) -> Anatomy:
    """Reads a segment, whichever of its indexes exist.

    Args:
        kept_rows: the greatest number of batches kept in memory; a larger log is read again in
            windows.

    Raises:
        CannotOpen: a file cannot be read.
    """
    index = segment.offset_slots
    times = segment.time_slots
    scan = segment.full_scan()
    by_position = index.entries[np.argsort(index.entries["position"], kind="stable")]
    table = BatchTableBuilder(segment, kept_rows)
    counter = BatchCounter(segment.log.size_bytes)
    link_builder = LinkBuilder(index.entries, times.entries, segment.base_offset)
    evidence = ChunkedEvidence(by_position)
    observe_scan(scan, table, counter, link_builder, evidence)
    batches = table.result()
    counts = counter.result()
    tail = _tail(segment.log, counts, scan.end)
    log_after = _info_after_read(segment.log)
    is_entry, is_time = (np.ones(len(written.entries), bool) for written in (index, times))
    if log_after and log_after.size_bytes > segment.log.size_bytes:
        # leaves out entries of batches that a broker wrote during the pass
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
