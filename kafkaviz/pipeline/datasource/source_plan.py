"""Plans a query of the data source: splits segments, and packs the splits into tasks.

Segments are skipped by name: if segment 1000 is followed by segment 2000, it cannot contain offset
2500. A large segment is cut into equal splits. Each task finds the first batch of its split by the
index (source_reader.py).

Most plans open no files. replica_choice.py opens files to choose among replicas. transactions.py
opens .txnindex files and a producer snapshot, which show how most transactions ended. For the other
transactions, the tasks read batches (transaction_tail.py).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import ceil, inf

from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.log.partition import Partition, RemoteGap
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.pipeline.datasource.offset_ranges import OffsetRanges, splits_partitions
from kafkaviz.pipeline.datasource.pushdown import ALL, NumberRange, PushedFilters, describe_range
from kafkaviz.pipeline.datasource.replica_choice import select_replicas
from kafkaviz.pipeline.datasource.source_schema import RECORD_FORMATS, SourceOptions
from kafkaviz.pipeline.datasource.transactions import NO_TRANSACTIONS, UncommittedTransactions
from kafkaviz.pipeline.read.inventory import Inventory, InventoryEntry
from kafkaviz.pipeline.read.tasks import SEGMENT_COST_BYTES, SegmentTask, pack_by_cost
from kafkaviz.search.fetch import READ_COMMITTED

SPLIT_FORMATS = ("kafka_batches", *RECORD_FORMATS)
INDEX_FORMATS = ("kafka_offset_index", "kafka_time_index")
TransactionLookup = Callable[[str, Partition], UncommittedTransactions]
FILE_COST_BYTES = 4096  # the cost, in bytes, of a segment whose .log is not read


@dataclass(frozen=True, kw_only=True)
class SourceSplit:
    """One of `count` equal parts of a segment's .log. The first part includes the indexes."""

    segment_task: SegmentTask
    number: int = 0
    count: int = 1
    transactions: UncommittedTransactions = NO_TRANSACTIONS
    # the next segment, if it may hold markers that end transactions of this segment
    following: LogSegment | None = None
    replica_reason: str | None = None  # a `ReplicaReason`, or None if all replicas are read
    offsets: NumberRange = ALL  # offsets of the rows, if each partition has its own range
    # several splits may read the markers at the end of the log (`transactions.tail`); only the last
    # of these splits reports the unreadable bytes there
    reports_tail: bool = False

    def edge(self, number: int) -> int:
        """Returns the byte from which split `number` searches for its first batch."""
        return self.segment_task.log_bytes * number // self.count

    @property
    def log_bytes(self) -> int:
        return self.edge(self.number + 1) - self.edge(self.number)


def describe_splits(splits: Sequence[SourceSplit]) -> str:
    return ", ".join(map(_describe_split, splits))


def _describe_split(split: SourceSplit) -> str:
    task = split.segment_task
    text = f"{task.topic}-{task.partition}/{task.segment.base_offset}"
    if split.count > 1:
        text += f" part {split.number + 1} of {split.count}"
    if split.offsets.is_limited:
        text += f" offsets {describe_range(split.offsets)}"
    return text


@dataclass(frozen=True)
class RowBounds:
    offsets: NumberRange = ALL
    times_ms: NumberRange = ALL


def option_filters(name: str, options: SourceOptions) -> PushedFilters:
    """Returns the limits that the options set on the columns of a format.

    A row of kafka_batches matches a range of offsets if any of the batch's offsets is in the range.
    """
    offsets = options.offsets
    times_ms = options.timestamps
    numbers = {"offset": offsets, "timestamp_ms": times_ms}
    if name == "kafka_batches":
        numbers = {
            "last_offset": NumberRange(least=offsets.least),
            "base_offset": NumberRange(most=offsets.most),
            "max_timestamp_ms": times_ms,
        }
    numbers = {column: limits for column, limits in numbers.items() if limits.is_limited}
    return PushedFilters(options.topics, options.partitions, numbers=numbers)


def row_bounds(name: str, filters: PushedFilters) -> RowBounds:
    """Returns the ranges of offsets and times that contain all requested rows.

    For kafka_batches, the limits on base_offset and last_offset together give the offset range.
    """
    if name in RECORD_FORMATS:
        return RowBounds(filters.limits("offset"), filters.limits("timestamp_ms"))
    if name == "kafka_batches":
        offsets = filters.limits("base_offset") & filters.limits("last_offset")
        return RowBounds(offsets, filters.limits("max_timestamp_ms"))
    return RowBounds()


@dataclass(frozen=True)
class SourcePlan:
    """Plans the tasks of one query of a format."""

    name: str  # the name of the format
    inventory: Inventory
    filters: PushedFilters
    options: SourceOptions
    # the ranges to read, ascending, by `id()` of the partition; other partitions are not read
    # (None: all partitions are read)
    offset_ranges: OffsetRanges | None = None

    def tasks(
        self, *, reads_log: bool, transactions_of: TransactionLookup | None = None
    ) -> list[list[SourceSplit]]:
        """Returns the splits of each task, in the order of the directories.

        `reads_log` is whether the query reads .log files. `transactions_of` returns the
        transactions of a broker's topic-partition. If it is None, transactions do not matter.
        """
        splits = list(self._splits(transactions_of))
        last_places = {split.transactions.tail: place for place, split in enumerate(splits)}
        for tail, place in last_places.items():
            if tail is not None:
                splits[place] = replace(splits[place], reports_tail=True)
        costs = (
            (split, split.log_bytes + SEGMENT_COST_BYTES if reads_log else FILE_COST_BYTES)
            for split in splits
        )
        has_own_tasks = splits_partitions(self.options)
        runs = groupby(costs, key=lambda item: _range_key(item[0]) if has_own_tasks else None)
        return [group for _, run in runs for group, _ in pack_by_cost(run, self.options.task_bytes)]

    def remote_gaps(self) -> Iterator[tuple[str, Partition, RemoteGap]]:
        """Yields (broker name, partition, gap) for each gap that may hide requested offsets.

        A gap is an unreadable segment in tiered storage.
        """
        if not any(partition.remote_gaps for _, partition in self.inventory.partitions):
            return
        for broker_name, partition in self.inventory.partitions:
            if id(partition) not in self._replica_reasons:
                continue
            ranges = [limits & self._asked_offsets for limits in self._ranges(partition)]
            for gap in partition.remote_gaps:
                last = inf if gap.last_offset is None else gap.last_offset
                if any(limits.has_any(gap.first_offset, last) for limits in ranges):
                    yield broker_name, partition, gap

    @cached_property
    def _replica_reasons(self) -> dict[int, str | None]:
        return select_replicas(self.name, self.inventory, self.filters, self.options)

    @cached_property
    def _asked_offsets(self) -> NumberRange:
        if self.name in (*INDEX_FORMATS, "kafka_segments"):
            return self.filters.limits("offset")
        return row_bounds(self.name, self.filters).offsets

    def _ranges(self, partition: Partition) -> Sequence[NumberRange]:
        return (ALL,) if self.offset_ranges is None else self.offset_ranges.get(id(partition), ())

    def _splits(self, transactions_of: TransactionLookup | None) -> Iterator[SourceSplit]:
        by_partition: dict[int, UncommittedTransactions] = {}
        task_bytes = self.options.task_bytes
        for number, (entry, bases) in enumerate(self._entries()):
            key = id(entry.partition)
            base_offset = entry.segment.base_offset
            first, last = _offsets(self.name, entry.segment, bases)
            all_ranges = self._ranges(entry.partition)
            ranges = [limits for limits in all_ranges if limits.has_any(first, last)]
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
            is_committed = self.options.isolation == READ_COMMITTED
            if is_committed and transactions.stable_offset <= base_offset:
                continue
            place = bisect_right(bases, base_offset)
            following = None
            if transactions_of and place < len(bases):
                following = entry.partition.live[place]
            for offsets in ranges:
                # the range may be a small part of the segment; the index finds it
                is_whole = not splits_partitions(self.options) or (
                    offsets.least <= first and last <= offsets.most
                )
                offset_range = offsets & row_bounds(self.name, self.filters).offsets
                log_bytes = segment_task.log_bytes
                # if few bytes are requested, all splits would search for the same offsets
                is_long = _expected_bytes(entry, log_bytes, last, offset_range) > task_bytes
                is_cut = self.name in SPLIT_FORMATS and is_whole and is_long
                count = max(1, ceil(log_bytes / task_bytes)) if is_cut else 1
                split = SourceSplit(
                    segment_task=segment_task,
                    count=count,
                    transactions=transactions.in_range(first, last, min(last, offset_range.most)),
                    following=following,
                    replica_reason=self._replica_reasons[key],
                    offsets=offsets,
                )
                yield from (replace(split, number=part) for part in range(count))

    def _entries(self) -> Iterator[tuple[InventoryEntry, list[int]]]:
        """Yields each segment that may have rows, with the base offsets of its log."""
        offset_column = "base_offset" if self.name == "kafka_segments" else "segment_base_offset"
        bases: dict[int, list[int]] = {}
        for entry in self.inventory.segments:
            segment = entry.segment
            partition = entry.partition
            if self.name != "kafka_segments" and not _has_rows(self.name, segment):
                continue
            if id(partition) not in self._replica_reasons:
                continue
            if not self.filters.limits(offset_column).has(segment.base_offset):
                continue
            if id(partition) not in bases:
                bases[id(partition)] = _live_bases(partition)
            if self._asked_offsets.has_any(*_offsets(self.name, segment, bases[id(partition)])):
                yield entry, bases[id(partition)]


def _expected_bytes(
    entry: InventoryEntry, log_bytes: int, last: float, offset_range: NumberRange
) -> float:
    """Estimates how many bytes of a .log hold the requested offsets.

    `last` is the last offset of the segment. For the newest segment, it is infinity, which means
    unknown. The newest segment is assumed to have as many bytes per offset as the one before.
    """
    base_offset = entry.segment.base_offset
    first = max(base_offset, offset_range.least)
    end = min(last, offset_range.most) + 1
    if end == inf:
        return log_bytes
    before = entry.partition.live[-2:-1] if last == inf else ()
    if before and before[0].log and before[0].base_offset < base_offset:
        offset_bytes = before[0].log.size_bytes / (base_offset - before[0].base_offset)
    else:
        offset_bytes = log_bytes / max(1, (end if last == inf else last + 1) - base_offset)
    return min(log_bytes, offset_bytes * (end - first))


def _range_key(split: SourceSplit) -> tuple[str, str, int, NumberRange]:
    task = split.segment_task
    return task.broker, task.topic, task.partition, split.offsets


def _offsets(name: str, segment: Segment, bases: list[int]) -> tuple[float, float]:
    """Returns the lowest and highest offset that rows of a segment may have.

    Index entries may have any offset within 2^31 of the base offset. Batches and records end before
    the next base offset in `bases`, the base offsets of the log.
    """
    base_offset = segment.base_offset
    if name in INDEX_FORMATS:
        return base_offset - MAX_RELATIVE_OFFSET - 1, base_offset + MAX_RELATIVE_OFFSET
    following = bisect_right(bases, base_offset)
    return base_offset, bases[following] - 1 if following < len(bases) else inf


def _has_rows(name: str, segment: Segment) -> bool:
    indexes = {"kafka_offset_index": segment.index, "kafka_time_index": segment.timeindex}
    return segment.is_in_use and indexes.get(name, segment.log) is not None


def _live_bases(partition: Partition) -> list[int]:
    return [segment.base_offset for segment in partition.live]
