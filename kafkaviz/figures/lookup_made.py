"""A lookup that was made, and what is drawn around it: the log that answers, its batches and its
records.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np

from kafkaviz.search.lookup import Lookup
from kafkaviz.search.served import ServedLog, ServedSegment
from kafkaviz.search.slots import PAGE_BYTES


class Seen(NamedTuple):
    """A record of the batch that was found: label is a word of what is in it, "" for none."""

    offset: int
    timestamp_ms: int
    label: str = ""


@dataclass(frozen=True)
class Made:
    """A lookup and what is drawn around it.

    batches: of the segment with this base offset, all, at least with lookup_log.COLUMNS; records:
    of the batch at that byte of it. page_bytes: of a lesson whose pages are small. is_alone: there
    is an index and no log.
    """

    found: Lookup
    log: ServedLog
    batches: Callable[[int], np.ndarray]
    records: Callable[[int, int], Sequence[Seen]]
    page_bytes: int = PAGE_BYTES
    is_alone: bool = False

    @property
    def by_time(self) -> bool:
        """Whether a timestamp was looked up."""
        return self.found.timestamp_ms is not None

    @property
    def special(self) -> int | None:
        """EARLIEST, LATEST or another of Kafka's values below 0, where one was asked for in place
        of a time.
        """
        asked_ms = self.found.timestamp_ms
        return asked_ms if asked_ms is not None and asked_ms < 0 else None

    @property
    def target(self) -> int:
        """The offset or the timestamp."""
        # one of both was asked for
        return cast(int, self.found.timestamp_ms if self.by_time else self.found.offset)

    def segment(self, base_offset: int) -> ServedSegment:
        """One of the partition's segments."""
        return next(one for one in self.log.segments if one.base_offset == base_offset)
