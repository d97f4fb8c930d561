"""Something to look things up in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.app.pages.lookup.targets import TIMESTAMP
from kafkaviz.figures.stepper.context import LookupRecord
from kafkaviz.search.log_view import LogView

SLIDER_LIMIT = 1 << 53  # a slider of the browser counts no further


@dataclass(frozen=True)
class LookupSource:
    """Something to look things up in.

    key: changes when its content does. first_offset, last_offset: the offsets that can be asked
    for; first_ms, last_ms: the times, None without any. offset, timestamp_ms: a target to begin
    with. batches, records: as of figures.stepper.context.LookupContext. times: the batches of a
    segment as far as they may be read for a picture of the whole partition, else None.
    """

    key: str
    title: str
    note: str
    log: LogView
    first_offset: int
    last_offset: int
    first_ms: int | None
    last_ms: int | None
    offset: int
    timestamp_ms: int
    batches: Callable[[int], np.ndarray]
    records: Callable[[int, int], Sequence[LookupRecord]]
    times: Callable[[int], np.ndarray | None]
    is_synthetic: bool = False
    is_index_only: bool = False

    def default(self, target_kind: str) -> int:
        """The target to begin with."""
        return self.timestamp_ms if target_kind == TIMESTAMP else self.offset

    def span(self, target_kind: str) -> tuple[int, int] | None:
        """The first and last target that a slider offers; None where there are none, or too large
        for one.
        """
        low, high = (
            (self.first_ms, self.last_ms)
            if target_kind == TIMESTAMP
            else (self.first_offset, self.last_offset)
        )
        return (
            (low, high)
            if low is not None and high is not None and low < high < SLIDER_LIMIT
            else None
        )
