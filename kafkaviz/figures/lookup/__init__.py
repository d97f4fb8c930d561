"""Figures of lookups: each step, why a timestamp gives an offset, which pages are read.

stepper.py sends all steps of a lookup to the browser at once, with a figure of each index
(index_search.py) and of the .log (log_scan.py).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import cast

from kafkaviz.analysis.lookup.lookup_targets import LookupRecord
from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.search.binary_search import PAGE_BYTES
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.lookup import Lookup


@dataclass(frozen=True, kw_only=True)
class LookupContext:
    """A finished lookup, and the data that its figures show."""

    result: Lookup
    log: LogView
    # called with a base offset; returns the segment's batches with the columns of log_scan
    batches: Callable[[int], BatchTable]
    # called with a base offset and the position of a batch; returns the batch's records
    records: Callable[[int, int], Iterable[LookupRecord]]
    page_bytes: int = PAGE_BYTES  # smaller if the warm section is small
    is_index_only: bool = False  # whether the lookup has an index but no .log
    lagging_target: int | None = None  # what a lagging reader looks up, to compare costs

    @property
    def is_by_time(self) -> bool:
        return self.result.timestamp_ms is not None

    @property
    def special_timestamp(self) -> int | None:
        """The looked-up timestamp if it is a special value such as EARLIEST (-2), else None."""
        timestamp_ms = self.result.timestamp_ms
        return timestamp_ms if timestamp_ms is not None and timestamp_ms < 0 else None

    @property
    def target(self) -> int:
        # a lookup has either a timestamp or an offset
        return cast(int, self.result.timestamp_ms if self.is_by_time else self.result.offset)

    @property
    def searched_segment(self) -> SegmentView | None:
        searches = self.result.searches
        return self.find_segment(searches[0].base_offset) if searches else None

    def find_segment(self, base_offset: int) -> SegmentView:
        return next(segment for segment in self.log.segments if segment.base_offset == base_offset)
