"""One pass over a log for several observers: each array of batches goes to all of them."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

import numpy as np

Result = TypeVar("Result", covariant=True)


class BatchObserver(Protocol[Result]):
    """Summarizes the batches of a segment, or of a part of it, while a scan reads them."""

    def observe(self, batches: np.ndarray) -> None:
        """Takes the next batches, in the order of the log.

        Args:
            batches: rows of format.batch.BATCH, with the columns that the scan adds; must not be
                changed.
        """
        ...

    def result(self) -> Result:
        """Returns the summary of all batches; called once, after the scan."""
        ...


def observe_scan(scan: Iterable[np.ndarray], *observers: BatchObserver[Any]) -> None:
    """Reads a scan to its end and passes each array of batches to every observer, in order.

    If the scan raises, each observer keeps the batches from before.
    """
    for batches in scan:
        for observer in observers:
            observer.observe(batches)
