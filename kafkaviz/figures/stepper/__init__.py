"""A lookup step by step: what the stepper draws at each, all worked out here and sent once.

stepper.py        what each step says, how every value then stands, and all of it for the browser
index_search.py   the figure of an index
log_scan.py       the figure of a .log
records.py        the figure of the records

Each takes a LookupContext: a lookup that was made, and what is drawn around it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from kafkaviz.search.log_view import BatchTable, LogView, SegmentView
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.slots import PAGE_BYTES


class LookupRecord(NamedTuple):
    """A record of the batch that was found: label is a word of what is in it, "" for none."""

    offset: int
    timestamp_ms: int
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class LookupContext:
    """A lookup and what is drawn around it.

    Attributes:
        batches: of the segment with this base offset, at least with log_scan.COLUMNS.
        records: of the batch at that byte of it.
        page_bytes: of a lesson whose pages are small.
        is_index_alone: there is an index and no log.
    """

    result: Lookup
    log: LogView
    batches: Callable[[int], BatchTable]
    records: Callable[[int, int], Sequence[LookupRecord]]
    page_bytes: int = PAGE_BYTES
    is_index_alone: bool = False

    @property
    def is_by_time(self) -> bool:
        """Whether a timestamp was looked up."""
        return self.result.timestamp_ms is not None

    @property
    def special_timestamp(self) -> int | None:
        """EARLIEST, LATEST or another of Kafka's values below 0, in place of a time."""
        timestamp_ms = self.result.timestamp_ms
        return timestamp_ms if timestamp_ms is not None and timestamp_ms < 0 else None

    @property
    def target(self) -> int:
        """The offset or the timestamp."""
        # one of both was asked for
        return cast(int, self.result.timestamp_ms if self.is_by_time else self.result.offset)

    @property
    def searched_segment(self) -> SegmentView | None:
        """The first segment that was searched."""
        searches = self.result.searches
        return self.find_segment(searches[0].segment) if searches else None

    def find_segment(self, base_offset: int) -> SegmentView:
        """One of the partition's segments."""
        return next(segment for segment in self.log.segments if segment.base_offset == base_offset)
