"""Something to look things up in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.figures.lookup_made import Seen
from kafkaviz.search.served import ServedLog
from kafkaviz.ui.lookup.targets import TIMESTAMP

EXACT = 1 << 53  # a slider of the browser counts no further


@dataclass(frozen=True)
class Source:
    """Something to look things up in.

    key: changes when its content does. first, last: the offsets that can be asked for; first_ms,
    last_ms: the times, None without any. offset, timestamp_ms: a target to begin with. batches,
    records: as of figures.lookup_made.Made. times: the batches of a segment as far as they may be
    read for a picture of the whole partition, else None.
    """

    key: str
    title: str
    note: str
    log: ServedLog
    first: int
    last: int
    first_ms: int | None
    last_ms: int | None
    offset: int
    timestamp_ms: int
    batches: Callable[[int], np.ndarray]
    records: Callable[[int, int], Sequence[Seen]]
    times: Callable[[int], np.ndarray | None]
    is_made: bool = False
    is_alone: bool = False

    def default(self, by: str) -> int:
        """The target to begin with."""
        return self.timestamp_ms if by == TIMESTAMP else self.offset

    def span(self, by: str) -> tuple[int, int] | None:
        """The first and last target that a slider offers; None where there are none, or too large
        for one.
        """
        low, high = (self.first_ms, self.last_ms) if by == TIMESTAMP else (self.first, self.last)
        return (low, high) if low is not None and high is not None and low < high < EXACT else None
