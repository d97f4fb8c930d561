"""A segment whose first reader dies: workers import it by this name, since Spark's PYTHONPATH leads
to the checkout.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkaviz.log.segment import LogSegment


@dataclass(frozen=True)
class DiesOnce(LogSegment):
    """Reading it ends the process that reads, unless that has happened before."""

    marker: Path = Path("/nonexistent")

    def scan(self, *arguments: int, **more: bool) -> Iterator:
        """The batches, the second time."""
        if not self.marker.exists():
            self.marker.touch()
            os._exit(1)
        return super().scan(*arguments, **more)
