"""The segment that a task reads, and how segments are packed into tasks by cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log.segment import Segment

# cost of opening the files of a segment, in bytes that can be read in the same time
SEGMENT_COST_BYTES = 256 << 10
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class SegmentTask:
    """A segment that an ingest reads, and the work to do with its data."""

    number: int  # the number of the segment in this ingest
    broker: str
    topic: str
    partition: int
    segment: Segment
    facts: PartitionFacts | None = None  # what the checks depend on; None: no checks
    skips_rows: bool = False  # no rows are written, because the catalog has them already
    # the cost of lookups is estimated for many values of index.interval.bytes
    needs_sweep: bool = False

    @property
    def log_bytes(self) -> int:
        return self.segment.log.size_bytes if self.segment.log else 0

    @property
    def is_checked(self) -> bool:
        """Whether checks read the .log. If so, the segment is not split."""
        return self.facts is not None and self.segment.is_in_use and self.segment.log is not None

    @property
    def is_decoded(self) -> bool:
        return self.is_checked and self.facts is not None and self.facts.level == CheckLevel.RECORDS

    @property
    def is_divisible(self) -> bool:
        """Whether the .log may be read in several splits."""
        return not (self.skips_rows or self.is_checked or self.needs_sweep)


def pack_by_cost(
    items: Iterable[tuple[Item, int]], target_cost: int
) -> Iterator[tuple[list[Item], int]]:
    """Yields (consecutive items, their cost). Only a single item may cost more than the target."""
    group: list[Item] = []
    group_cost = 0
    for item, cost in items:
        if group and group_cost + cost > target_cost:
            yield group, group_cost
            group = []
            group_cost = 0
        group.append(item)
        group_cost += cost
    if group:
        yield group, group_cost
