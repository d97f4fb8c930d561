"""What a read of the data source consists of: pieces of segments, packed into tasks by names and sizes alone.

Segments that cannot hold what is asked for are left out by the names of their directories and files: one of base offset 1000 before one of
base offset 2000 holds no offset 2500. A big segment is cut into equal pieces; whoever reads piece 3 of 8 finds the batch where it begins
by the index (source_read.py), so nothing is opened here, however large the directory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf

from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.inventory import Found, Inventory
from kafkaviz.pipeline.plan import SEGMENT_COST_BYTES, Wanted
from kafkaviz.pipeline.pushed import ALL, Asked, Limits

CUT = ("kafka_batches", "kafka_records")
FILE_COST_BYTES = 4096  # of a segment whose .log is not read


@dataclass(frozen=True)
class Piece:
    """The n-th of so many equal parts of a segment's .log; its indexes go with the first."""

    wanted: Wanted
    number: int = 0
    of: int = 1

    def edge(self, number: int) -> int:
        """The byte from which piece `number` looks for its first batch."""
        return self.wanted.log_bytes * number // self.of

    @property
    def log_bytes(self) -> int:
        """About how much of the .log it takes."""
        return self.edge(self.number + 1) - self.edge(self.number)


@dataclass(frozen=True)
class Reach:
    """The offsets and the times that rows may lie at."""

    offsets: Limits = ALL
    times_ms: Limits = ALL


def reach(name: str, asked: Asked) -> Reach:
    """What a query asks of a format, as offsets and times of records.

    A batch whose base offset or last offset lies behind a limit is behind it with all its offsets; the same goes for what lies before.
    """
    if name == "kafka_records":
        return Reach(asked.limits("offset"), asked.limits("timestamp_ms"))
    if name == "kafka_batches":
        return Reach(asked.limits("base_offset") & asked.limits("last_offset"), asked.limits("max_timestamp_ms"))
    return Reach()


def tasks(name: str, found: Inventory, asked: Asked, reads_log: bool, task_bytes: int) -> list[list[Piece]]:
    """The pieces of each task, in the order of the directories; reads_log: whether the .log files are read at all."""
    packed: list[list[Piece]] = []
    left = 0
    for piece in _pieces(name, found, asked, task_bytes):
        cost = piece.log_bytes + SEGMENT_COST_BYTES if reads_log else FILE_COST_BYTES
        if not packed or cost > left:
            packed.append([])
            left = task_bytes
        packed[-1].append(piece)
        left -= cost
    return packed


def _pieces(name: str, found: Inventory, asked: Asked, task_bytes: int) -> Iterator[Piece]:
    for number, one in enumerate(_wanted(name, found, asked)):
        wanted = Wanted(number, one.broker, one.partition.topic, one.partition.partition, one.segment)
        of = max(1, ceil(wanted.log_bytes / task_bytes)) if name in CUT else 1
        yield from (Piece(wanted, number, of) for number in range(of))


def _wanted(name: str, found: Inventory, asked: Asked) -> Iterator[Found]:
    """The segments that may have rows."""
    by_name = "base_offset" if name == "kafka_segments" else "segment_base_offset"
    within = reach(name, asked).offsets
    ends: dict[int, dict[int, float]] = {}
    for one in found.segments:
        segment, partition = one.segment, one.partition
        if name != "kafka_segments" and not _has_rows(name, segment):
            continue
        if not asked.has_topic(partition.topic) or not asked.limits("partition").has(partition.partition):
            continue
        if not asked.limits(by_name).has(segment.base_offset):
            continue
        if within.are_set:
            end = ends.setdefault(id(partition), _ends(partition))[segment.base_offset]
            if not within.has_any(segment.base_offset, end - 1):
                continue
        yield one


def _has_rows(name: str, segment: Segment) -> bool:
    """Whether the file that the rows are from is there, and in use: a .deleted, .cleaned or .swap repeats rows of another."""
    file = {"kafka_offset_index": segment.index, "kafka_time_index": segment.timeindex}.get(name, segment.log)
    return segment.in_use and file is not None


def _ends(partition: Partition) -> dict[int, float]:
    """The offset at which each segment ends at the latest: the next one's base offset."""
    bases = [segment.base_offset for segment in partition.live]
    return dict(zip(bases, [*bases[1:], inf], strict=True))
