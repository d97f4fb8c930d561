"""One pass over a log, many observers: whoever counts or checks batches is shown each array of them
once.

    observe_scan(scan, log_check, sweeper)      the .log is read once, each array goes to both
"""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

import numpy as np

Result = TypeVar("Result", covariant=True)


class BatchObserver(Protocol[Result]):
    """Sums up the batches of one segment, or of a stretch of it, while a scan reads them."""

    def observe(self, batches: np.ndarray) -> None:
        """The next batches, in the order of the log: format.batch.BATCH and, of a scan that adds
        columns, those; not to be changed.
        """
        ...

    def result(self) -> Result:
        """What all of them tell, once the scan is over: asked for once, nothing comes after it."""
        ...


def observe_scan(scan: Iterable[np.ndarray], *observers: BatchObserver[Any]) -> None:
    """Reads a scan to its end, and shows each array of batches to every observer, in their order.

    What a scan raises ends the pass: the observers keep what they saw before.
    """
    for batches in scan:
        for observer in observers:
            observer.observe(batches)
