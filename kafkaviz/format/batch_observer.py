"""One pass over a log, many observers: each array of batches is shown once to all of them.

The .log is read once, and each array goes to both observers:

    observe_scan(scan, log_check, sweeper)
"""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

import numpy as np

Result = TypeVar("Result", covariant=True)


class BatchObserver(Protocol[Result]):
    """Sums up the batches of a segment, or of a part of it, while a scan reads them."""

    def observe(self, batches: np.ndarray) -> None:
        """Takes the next batches, in the order of the log.

        Args:
            batches: rows of format.batch.BATCH, with the columns that the scan adds; not to be
                changed.
        """
        ...

    def result(self) -> Result:
        """The summary of all batches; called once, after the scan."""
        ...


def observe_scan(scan: Iterable[np.ndarray], *observers: BatchObserver[Any]) -> None:
    """Reads a scan to its end, and shows each array of batches to every observer, in their order.

    An exception of the scan ends the pass; the observers keep what they saw before.
    """
    for batches in scan:
        for observer in observers:
            observer.observe(batches)
