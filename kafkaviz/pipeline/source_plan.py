"""What a read of the data source consists of: pieces of segments, packed into tasks by names and sizes alone.

Segments that cannot hold what is asked for are left out by the names of their directories and files: one of base offset 1000 before one of
base offset 2000 holds no offset 2500. A big segment is cut into equal pieces; whoever reads piece 3 of 8 finds the batch where it begins
by the index (source_read.py), so nothing is opened here, however large the directory.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, inf

from kafkaviz.format.offset_index import MOST_RELATIVE
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.inventory import Found, Inventory
from kafkaviz.pipeline.plan import SEGMENT_COST_BYTES, Wanted
from kafkaviz.pipeline.pushed import ALL, Asked, Limits
from kafkaviz.pipeline.source_schema import Options

CUT = ("kafka_batches", "kafka_records")
INDEXES = ("kafka_offset_index", "kafka_time_index")
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


def chosen(name: str, options: Options) -> Asked:
    """What the options ask of a format. A batch is within a range of offsets if it has one of them, a segment if by its name it may."""
    offsets, times_ms = options.offsets, options.timestamps
    numbers = {"offset": offsets, "timestamp_ms": times_ms}
    if name == "kafka_batches":
        numbers = {"last_offset": Limits(least=offsets.least), "base_offset": Limits(most=offsets.most), "max_timestamp_ms": times_ms}
    return Asked(options.topics, options.partitions, numbers={column: limits for column, limits in numbers.items() if limits.are_set})


def reach(name: str, asked: Asked) -> Reach:
    """What a query asks of a format, as offsets and times of records.

    A batch whose base offset or last offset lies behind a limit is behind it with all its offsets; the same goes for what lies before.
    """
    if name == "kafka_records":
        return Reach(asked.limits("offset"), asked.limits("timestamp_ms"))
    if name == "kafka_batches":
        return Reach(asked.limits("base_offset") & asked.limits("last_offset"), asked.limits("max_timestamp_ms"))
    return Reach()


def tasks(name: str, found: Inventory, asked: Asked, reads_log: bool, options: Options) -> list[list[Piece]]:
    """The pieces of each task, in the order of the directories; reads_log: whether the .log files are read at all."""
    packed: list[list[Piece]] = []
    left, task_bytes = 0, options.task_bytes
    for piece in _pieces(name, found, asked, options):
        cost = piece.log_bytes + SEGMENT_COST_BYTES if reads_log else FILE_COST_BYTES
        if not packed or cost > left:
            packed.append([])
            left = task_bytes
        packed[-1].append(piece)
        left -= cost
    return packed


def _pieces(name: str, found: Inventory, asked: Asked, options: Options) -> Iterator[Piece]:
    for number, one in enumerate(_wanted(name, found, asked, options.renamed)):
        wanted = Wanted(number, one.broker, one.partition.topic, one.partition.partition, one.segment)
        of = max(1, ceil(wanted.log_bytes / options.task_bytes)) if name in CUT else 1
        yield from (Piece(wanted, number, of) for number in range(of))


def _wanted(name: str, found: Inventory, asked: Asked, renamed: bool) -> Iterator[Found]:
    """The segments that may have rows."""
    by_name = "base_offset" if name == "kafka_segments" else "segment_base_offset"
    within = asked.limits("offset") if name in (*INDEXES, "kafka_segments") else reach(name, asked).offsets
    alone = {id(partition) for _, broker in found.brokers if broker.is_lone for partition in broker.partitions}
    bases: dict[int, list[int]] = {}
    for one in found.segments:
        segment, partition = one.segment, one.partition
        if name != "kafka_segments" and not _has_rows(name, segment):
            continue
        if not (renamed or partition.state == "current" or id(partition) in alone):
            continue
        if not asked.has_topic(partition.topic) or not asked.has_partition(partition.partition):
            continue
        if not asked.limits(by_name).has(segment.base_offset):
            continue
        if within.are_set:
            if id(partition) not in bases:
                bases[id(partition)] = _bases(partition)
            if not within.has_any(*_offsets(name, segment, bases[id(partition)])):
                continue
        yield one


def _offsets(name: str, segment: Segment, bases: list[int]) -> tuple[float, float]:
    """The first and the last offset that rows of a segment may have, up to the base offset of the next one (bases: of those in use).

    An index may say whatever fits into its four bytes.
    """
    base_offset = segment.base_offset
    if name in INDEXES:
        return base_offset - MOST_RELATIVE - 1, base_offset + MOST_RELATIVE
    following = bisect_right(bases, base_offset)
    return base_offset, bases[following] - 1 if following < len(bases) else inf


def _has_rows(name: str, segment: Segment) -> bool:
    """Whether the file that the rows are from is there, and in use: a .deleted, .cleaned or .swap repeats rows of another."""
    file = {"kafka_offset_index": segment.index, "kafka_time_index": segment.timeindex}.get(name, segment.log)
    return segment.in_use and file is not None


def _bases(partition: Partition) -> list[int]:
    """The base offsets of the segments in use, in their order."""
    return [segment.base_offset for segment in partition.live]
