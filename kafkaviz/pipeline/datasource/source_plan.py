"""What a read of the data source consists of.

Splits of segments, packed into tasks by names and sizes alone.

Segments that cannot hold what is asked for are left out by the names of their directories and
files: one of base offset 1000 before one of base offset 2000 holds no offset 2500. A big segment is
cut into equal splits; whoever reads split 3 of 8 finds the batch where it begins by the index
(source_reader.py). Files are opened here for records alone: the .txnindex files and a producer
snapshot, which tell what became of most transactions (transactions.py), and to choose among several
replicas (replica_choice.py). The tasks read the batches that tell the rest (transaction_tail.py).
"""

from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil, inf

from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.log.partition import Partition, RemoteGap
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.pipeline.datasource.pushdown import ALL, NumberRange, PushedFilters, describe_range
from kafkaviz.pipeline.datasource.replica_choice import select_replicas
from kafkaviz.pipeline.datasource.source_schema import RECORD_FORMATS, SourceOptions
from kafkaviz.pipeline.ingest.inventory import Inventory, InventoryEntry
from kafkaviz.pipeline.ingest.plan import SEGMENT_COST_BYTES, SegmentTask, pack_by_cost
from kafkaviz.pipeline.ingest.transactions import NO_TRANSACTIONS, PartitionTransactions
from kafkaviz.search.fetch import READ_COMMITTED

CUT = ("kafka_batches", *RECORD_FORMATS)
INDEXES = ("kafka_offset_index", "kafka_time_index")
TransactionLookup = Callable[[str, Partition], PartitionTransactions]
FILE_COST_BYTES = 4096  # of a segment whose .log is not read


@dataclass(frozen=True, kw_only=True)
class SourceSplit:
    """The n-th of so many equal parts of a segment's .log; its indexes go with the first.

    Attributes:
        following: the next segment, which may hold the markers of transactions that are open at the
            end of this one; where they count.
        is_last: of its partition, where the end of the log decides about several splits; what
            concerns all of them is said once.
    """

    segment_task: SegmentTask
    number: int = 0
    count: int = 1
    transactions: PartitionTransactions = NO_TRANSACTIONS
    following: LogSegment | None = None
    replica_reason: str | None = None  # of ReplicaReason, where one of several is read
    offsets: NumberRange = ALL  # of which its rows are, where each partition has its own
    is_last: bool = False

    def edge(self, number: int) -> int:
        """The byte from which split `number` looks for its first batch."""
        return self.segment_task.log_bytes * number // self.count

    @property
    def log_bytes(self) -> int:
        """About how much of the .log it takes."""
        return self.edge(self.number + 1) - self.edge(self.number)


def describe_splits(splits: Sequence[SourceSplit]) -> str:
    """Which splits of which segments, for the log."""
    return ", ".join(
        f"{task.topic}-{task.partition}/{task.segment.base_offset}"
        + (f" part {split.number + 1} of {split.count}" if split.count > 1 else "")
        + (f" offsets {describe_range(split.offsets)}" if split.offsets.is_limited else "")
        for split in splits
        for task in [split.segment_task]
    )


@dataclass(frozen=True)
class RowBounds:
    """The offsets and the times that rows may lie at."""

    offsets: NumberRange = ALL
    times_ms: NumberRange = ALL


def option_filters(name: str, options: SourceOptions) -> PushedFilters:
    """What the options ask of a format.

    A batch is within a range of offsets if it has one of them, a segment if by its name it may.
    """
    offsets, times_ms = options.offsets, options.timestamps
    numbers = {"offset": offsets, "timestamp_ms": times_ms}
    if name == "kafka_batches":
        numbers = {
            "last_offset": NumberRange(least=offsets.least),
            "base_offset": NumberRange(most=offsets.most),
            "max_timestamp_ms": times_ms,
        }
    return PushedFilters(
        options.topics,
        options.partitions,
        numbers={column: limits for column, limits in numbers.items() if limits.is_limited},
    )


def row_bounds(name: str, filters: PushedFilters) -> RowBounds:
    """What a query asks of a format, as offsets and times of records.

    A batch whose base offset or last offset lies behind a limit is behind it with all its offsets;
    the same goes for what lies before.
    """
    if name in RECORD_FORMATS:
        return RowBounds(filters.limits("offset"), filters.limits("timestamp_ms"))
    if name == "kafka_batches":
        return RowBounds(
            filters.limits("base_offset") & filters.limits("last_offset"),
            filters.limits("max_timestamp_ms"),
        )
    return RowBounds()


def tasks(
    name: str,
    inventory: Inventory,
    filters: PushedFilters,
    *,
    reads_log: bool,
    options: SourceOptions,
    transactions_of: TransactionLookup | None = None,
    offset_ranges: Mapping[int, Sequence[NumberRange]] | None = None,
    is_split: bool = False,
) -> list[list[SourceSplit]]:
    """The splits of each task, in the order of the directories.

    Args:
        reads_log: whether the .log files are read at all.
        transactions_of: gives the transactions of a broker's topic-partition, where they count.
        offset_ranges: of each partition by id, in ascending order; no others are read.
        is_split: whether each of these ranges is for tasks of its own.
    """
    splits = list(
        _splits(
            name,
            inventory,
            filters,
            options,
            transactions_of=transactions_of,
            offset_ranges=offset_ranges,
            is_split=is_split,
        )
    )
    last_places = {split.transactions.tail: place for place, split in enumerate(splits)}
    for tail, place in last_places.items():
        if tail is not None:
            splits[place] = replace(splits[place], is_last=True)
    costs = (
        (split, split.log_bytes + SEGMENT_COST_BYTES if reads_log else FILE_COST_BYTES)
        for split in splits
    )
    runs = groupby(costs, key=lambda item: _range_key(item[0]) if is_split else None)
    return [group for _, run in runs for group, _ in pack_by_cost(run, options.task_bytes)]


def remote_gaps(
    name: str,
    inventory: Inventory,
    filters: PushedFilters,
    options: SourceOptions,
    offset_ranges: Mapping[int, Sequence[NumberRange]] | None = None,
) -> Iterator[tuple[str, Partition, RemoteGap]]:
    """What a query asks for that tiered storage should have and does not, with the broker's name.

    Args:
        offset_ranges: as for tasks.
    """
    if not any(partition.remote_gaps for _, partition in inventory.partitions):
        return
    replica_ids = select_replicas(name, inventory, filters, options)
    offset_range = _asked_offsets(name, filters)
    for broker_name, partition in inventory.partitions:
        key = id(partition)
        if key not in replica_ids:
            continue
        ranges = (ALL,) if offset_ranges is None else offset_ranges.get(key, ())
        for gap in partition.remote_gaps:
            last = inf if gap.last_offset is None else gap.last_offset
            if any((limits & offset_range).has_any(gap.first_offset, last) for limits in ranges):
                yield broker_name, partition, gap


def _asked_offsets(name: str, filters: PushedFilters) -> NumberRange:
    """The offsets that rows of a format may be of."""
    if name in (*INDEXES, "kafka_segments"):
        return filters.limits("offset")
    return row_bounds(name, filters).offsets


def _splits(
    name: str,
    inventory: Inventory,
    filters: PushedFilters,
    options: SourceOptions,
    *,
    transactions_of: TransactionLookup | None,
    offset_ranges: Mapping[int, Sequence[NumberRange]] | None,
    is_split: bool,
) -> Iterator[SourceSplit]:
    by_partition: dict[int, PartitionTransactions] = {}
    replica_reasons = select_replicas(name, inventory, filters, options)
    entries = _select_entries(name, inventory, filters, replica_reasons)
    for number, (entry, bases) in enumerate(entries):
        key = id(entry.partition)
        ranges = (ALL,) if offset_ranges is None else offset_ranges.get(key, ())
        first, last = _offsets(name, entry.segment, bases)
        ranges = [offsets for offsets in ranges if offsets.has_any(first, last)]
        if not ranges:
            continue
        segment_task = SegmentTask(
            number=number,
            broker=entry.broker,
            topic=entry.partition.topic,
            partition=entry.partition.partition,
            segment=entry.segment,
        )
        if transactions_of and key not in by_partition:
            by_partition[key] = transactions_of(entry.broker, entry.partition)
        transactions = by_partition.get(key, NO_TRANSACTIONS)
        if (
            options.isolation == READ_COMMITTED
            and transactions.stable_offset <= entry.segment.base_offset
        ):
            continue
        following = bisect_right(bases, entry.segment.base_offset)
        for offsets in ranges:
            # a range of its own may be a small part of the segment, which its index finds
            is_whole = not is_split or (offsets.least <= first and last <= offsets.most)
            is_cut = name in CUT and is_whole
            offset_range = offsets & row_bounds(name, filters).offsets
            range_transactions = transactions.in_range(first, last, min(last, offset_range.most))
            log_bytes = segment_task.log_bytes
            # else each split would look for the same offsets
            is_cut &= _expected_bytes(entry, log_bytes, last, offset_range) > options.task_bytes
            count = max(1, ceil(log_bytes / options.task_bytes)) if is_cut else 1
            yield from (
                SourceSplit(
                    segment_task=segment_task,
                    number=part,
                    count=count,
                    transactions=range_transactions,
                    following=entry.partition.live[following]
                    if transactions_of and following < len(bases)
                    else None,
                    replica_reason=replica_reasons[key],
                    offsets=offsets,
                )
                for part in range(count)
            )


def _expected_bytes(
    entry: InventoryEntry, log_bytes: int, last: float, offset_range: NumberRange
) -> float:
    """About how much of a .log holds the offsets that are asked for.

    Nobody knows the end of the last segment: its records are taken to be as long as those of the
    segment before, else as long as they can be.

    Args:
        last: offset of the segment.
    """
    base_offset = entry.segment.base_offset
    first, end = max(base_offset, offset_range.least), min(last, offset_range.most) + 1
    if end == inf:
        return log_bytes
    before = entry.partition.live[-2:-1] if last == inf else ()
    if before and before[0].log and before[0].base_offset < base_offset:
        offset_bytes = before[0].log.size_bytes / (base_offset - before[0].base_offset)
    else:
        offset_bytes = log_bytes / max(1, (end if last == inf else last + 1) - base_offset)
    return min(log_bytes, offset_bytes * (end - first))


def _range_key(split: SourceSplit) -> tuple[str, str, int, NumberRange]:
    """The partition, and the range of its offsets, that a split is of."""
    task = split.segment_task
    return task.broker, task.topic, task.partition, split.offsets


def _select_entries(
    name: str, inventory: Inventory, filters: PushedFilters, replica_ids: Container[int]
) -> Iterator[tuple[InventoryEntry, list[int]]]:
    """The segments that may have rows, each with the base offsets of those in use beside it."""
    offset_column = "base_offset" if name == "kafka_segments" else "segment_base_offset"
    offset_range = _asked_offsets(name, filters)
    bases: dict[int, list[int]] = {}
    for entry in inventory.segments:
        segment, partition = entry.segment, entry.partition
        if name != "kafka_segments" and not _has_rows(name, segment):
            continue
        if id(partition) not in replica_ids:
            continue
        if not filters.limits(offset_column).has(segment.base_offset):
            continue
        if id(partition) not in bases:
            bases[id(partition)] = _bases(partition)
        if offset_range.has_any(*_offsets(name, segment, bases[id(partition)])):
            yield entry, bases[id(partition)]


def _offsets(name: str, segment: Segment, bases: list[int]) -> tuple[float, float]:
    """The first and the last offset that rows of a segment may have.

    Up to the base offset of the next one.

    An index may say whatever fits into its four bytes.

    Args:
        bases: of the segments in use.
    """
    base_offset = segment.base_offset
    if name in INDEXES:
        return base_offset - MAX_RELATIVE_OFFSET - 1, base_offset + MAX_RELATIVE_OFFSET
    following = bisect_right(bases, base_offset)
    return base_offset, bases[following] - 1 if following < len(bases) else inf


def _has_rows(name: str, segment: Segment) -> bool:
    """Whether the file that the rows are from is there, and in use.

    A .deleted, .cleaned or .swap repeats rows of another.
    """
    file = {"kafka_offset_index": segment.index, "kafka_time_index": segment.timeindex}.get(
        name, segment.log
    )
    return segment.is_in_use and file is not None


def _bases(partition: Partition) -> list[int]:
    """The base offsets of the segments in use, in their order."""
    return [segment.base_offset for segment in partition.live]
