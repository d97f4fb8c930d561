"""A segment whose first reader dies. Workers import it by this name, because Spark's PYTHONPATH
leads to the checkout.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkaviz.log.segment import LogSegment


@dataclass(frozen=True)
class DiesOnce(LogSegment):
    """Ends the process that reads it first."""

    marker: Path = Path("/nonexistent")

    def scan(self, *arguments: int, **more: bool) -> Iterator:
        if not self.marker.exists():
            self.marker.touch()
            os._exit(1)
        return super().scan(*arguments, **more)
