"""What a read of the data source consists of: pieces of segments, packed into tasks by names and
sizes alone.

Segments that cannot hold what is asked for are left out by the names of their directories and
files: one of base offset 1000 before one of base offset 2000 holds no offset 2500. A big segment is
cut into equal pieces; whoever reads piece 3 of 8 finds the batch where it begins by the index
(source_read.py). Files are opened here for records alone: for which transactions are decided
(transactions.py), once for all tasks, and for the ends of logs where several brokers have one.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, inf

from kafkaviz.format.offset_index import MOST_RELATIVE
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.inventory import Found, Inventory
from kafkaviz.pipeline.plan import SEGMENT_COST_BYTES, Wanted
from kafkaviz.pipeline.pushed import ALL, Asked, Limits
from kafkaviz.pipeline.source_schema import ONE, Options
from kafkaviz.pipeline.transactions import UNDISTURBED, Transactions, end_offset
from kafkaviz.search.bounds import READ_COMMITTED

CUT = ("kafka_batches", "kafka_records")
INDEXES = ("kafka_offset_index", "kafka_time_index")
Decided = Callable[[str, Partition], Transactions]
FILE_COST_BYTES = 4096  # of a segment whose .log is not read


@dataclass(frozen=True)
class Piece:
    """The n-th of so many equal parts of a segment's .log; its indexes go with the first."""

    wanted: Wanted
    number: int = 0
    of: int = 1
    transactions: Transactions = UNDISTURBED

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
    """What the options ask of a format.

    A batch is within a range of offsets if it has one of them, a segment if by its name it may.
    """
    offsets, times_ms = options.offsets, options.timestamps
    numbers = {"offset": offsets, "timestamp_ms": times_ms}
    if name == "kafka_batches":
        numbers = {
            "last_offset": Limits(least=offsets.least),
            "base_offset": Limits(most=offsets.most),
            "max_timestamp_ms": times_ms,
        }
    return Asked(
        options.topics,
        options.partitions,
        numbers={column: limits for column, limits in numbers.items() if limits.are_set},
    )


def reach(name: str, asked: Asked) -> Reach:
    """What a query asks of a format, as offsets and times of records.

    A batch whose base offset or last offset lies behind a limit is behind it with all its offsets;
    the same goes for what lies before.
    """
    if name == "kafka_records":
        return Reach(asked.limits("offset"), asked.limits("timestamp_ms"))
    if name == "kafka_batches":
        return Reach(
            asked.limits("base_offset") & asked.limits("last_offset"),
            asked.limits("max_timestamp_ms"),
        )
    return Reach()


def tasks(
    name: str,
    found: Inventory,
    asked: Asked,
    reads_log: bool,
    options: Options,
    decided: Decided | None = None,
) -> list[list[Piece]]:
    """The pieces of each task, in the order of the directories.

    reads_log: whether the .log files are read at all. decided: gives the transactions of a broker's
    topic-partition, where they count.
    """
    packed: list[list[Piece]] = []
    left, task_bytes = 0, options.task_bytes
    for piece in _pieces(name, found, asked, options, decided):
        cost = piece.log_bytes + SEGMENT_COST_BYTES if reads_log else FILE_COST_BYTES
        if not packed or cost > left:
            packed.append([])
            left = task_bytes
        packed[-1].append(piece)
        left -= cost
    return packed


def _pieces(
    name: str, found: Inventory, asked: Asked, options: Options, decided: Decided | None
) -> Iterator[Piece]:
    known: dict[int, Transactions] = {}
    for number, (one, bases) in enumerate(_wanted(name, found, asked, options)):
        wanted = Wanted(
            number, one.broker, one.partition.topic, one.partition.partition, one.segment
        )
        of = max(1, ceil(wanted.log_bytes / options.task_bytes)) if name in CUT else 1
        if decided and id(one.partition) not in known:
            known[id(one.partition)] = decided(one.broker, one.partition)
        transactions = known.get(id(one.partition), UNDISTURBED)
        if (
            options.isolation == READ_COMMITTED
            and transactions.stable_offset <= one.segment.base_offset
        ):
            continue
        within = transactions.within(*_offsets(name, one.segment, bases))
        yield from (Piece(wanted, number, of, within) for number in range(of))


def _wanted(
    name: str, found: Inventory, asked: Asked, options: Options
) -> Iterator[tuple[Found, list[int]]]:
    """The segments that may have rows, each with the base offsets of those in use beside it."""
    repeated = (
        _repeated(found, asked)
        if (options.replicas or (ONE if name == "kafka_records" else None)) == ONE
        else set()
    )
    by_name = "base_offset" if name == "kafka_segments" else "segment_base_offset"
    within = (
        asked.limits("offset")
        if name in (*INDEXES, "kafka_segments")
        else reach(name, asked).offsets
    )
    alone = {
        id(partition)
        for _, broker in found.brokers
        if broker.is_lone
        for partition in broker.partitions
    }
    bases: dict[int, list[int]] = {}
    for one in found.segments:
        segment, partition = one.segment, one.partition
        if name != "kafka_segments" and not _has_rows(name, segment):
            continue
        if (
            not (options.renamed or partition.state == "current" or id(partition) in alone)
            or id(partition) in repeated
        ):
            continue
        if not asked.has_topic(partition.topic) or not asked.has_partition(partition.partition):
            continue
        if not asked.limits(by_name).has(segment.base_offset):
            continue
        if id(partition) not in bases:
            bases[id(partition)] = _bases(partition)
        if within.has_any(*_offsets(name, segment, bases[id(partition)])):
            yield one, bases[id(partition)]


def _repeated(found: Inventory, asked: Asked) -> set[int]:
    """The replicas that are left out, by id: of those of one cluster's topic-partition all but the
    one whose log ends last.

    Of several that end at the same offset the one whose broker's name comes first is read. Two
    directories of one broker count as replicas too; logs without a known cluster, or of another
    topic of the same name, never do.
    """
    clusters = {name: broker.cluster_id for name, broker in found.brokers}
    replicas: dict[tuple, list[tuple[str, Partition]]] = {}
    for broker, partition in found.partitions:
        is_asked = (
            partition.state == "current"
            and asked.has_topic(partition.topic)
            and asked.has_partition(partition.partition)
        )
        if clusters[broker] and is_asked:
            key = clusters[broker], partition.topic_id, partition.label
            replicas.setdefault(key, []).append((broker, partition))
    left_out = set()
    for several in replicas.values():
        if len(several) > 1:
            _, *others = sorted(several, key=lambda replica: (-end_offset(replica[1]), replica[0]))
            left_out |= {id(partition) for _, partition in others}
    return left_out


def _offsets(name: str, segment: Segment, bases: list[int]) -> tuple[float, float]:
    """The first and the last offset that rows of a segment may have, up to the base offset of the
    next one (bases: of those in use).

    An index may say whatever fits into its four bytes.
    """
    base_offset = segment.base_offset
    if name in INDEXES:
        return base_offset - MOST_RELATIVE - 1, base_offset + MOST_RELATIVE
    following = bisect_right(bases, base_offset)
    return base_offset, bases[following] - 1 if following < len(bases) else inf


def _has_rows(name: str, segment: Segment) -> bool:
    """Whether the file that the rows are from is there, and in use: a .deleted, .cleaned or .swap
    repeats rows of another.
    """
    file = {"kafka_offset_index": segment.index, "kafka_time_index": segment.timeindex}.get(
        name, segment.log
    )
    return segment.in_use and file is not None


def _bases(partition: Partition) -> list[int]:
    """The base offsets of the segments in use, in their order."""
    return [segment.base_offset for segment in partition.live]
