"""Reads the splits of a task and yields Arrow batches.

A split begins at its first batch to which a verified index entry points, and ends where the next
split begins. So the rows are the same for any number of splits. Within a split, the indexes show
where the requested offsets or times begin and end. Entries are first verified against the .log
(log/batch_starts.py). If they are wrong, the entire split is read.

Depending on option `mode`, unreadable data ends the query, becomes a row, or is logged. Reading
continues after damage (log/scans.py).
"""

import logging
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from kafkaviz.analysis.inferred_settings import entries_between
from kafkaviz.binary.layouts import field_names
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import batch
from kafkaviz.format.open_transactions import TransactionFault
from kafkaviz.format.walk import CHUNK_BYTES
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.batch_starts import BatchStarts, chunk_bytes, open_batch_starts
from kafkaviz.log.broker import Problem
from kafkaviz.log.remote import address
from kafkaviz.log.scans import HeaderScan, Hole
from kafkaviz.log.segment import OFFSET_ENTRY, LogSegment, fill_wrapper_fields
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.catalog import arrow_columns
from kafkaviz.pipeline.catalog.arrow_columns import numpy_column
from kafkaviz.pipeline.catalog.schema import BOOL
from kafkaviz.pipeline.datasource import records, source_schema
from kafkaviz.pipeline.datasource.consumer_options import DataLoss
from kafkaviz.pipeline.datasource.offset_ranges import check_stable
from kafkaviz.pipeline.datasource.pushdown import ALL, NumberRange, PushedFilters
from kafkaviz.pipeline.datasource.records import UnreadableBatch
from kafkaviz.pipeline.datasource.source_plan import SourceSplit, row_bounds
from kafkaviz.pipeline.datasource.source_schema import SourceOptions
from kafkaviz.pipeline.datasource.transaction_tail import MARKER
from kafkaviz.pipeline.datasource.transactions import ObservedTransactions, UncommittedTransactions
from kafkaviz.pipeline.read.rows import (
    STATISTICS_COLUMNS,
    Columns,
    batch_columns,
    entry_columns,
    entry_slots,
    file_columns,
    statistics_of_read,
    table,
)
from kafkaviz.pipeline.read.segment_scan import scan_segment
from kafkaviz.pipeline.read.tasks import SegmentTask
from kafkaviz.search.fetch import READ_COMMITTED

LOG = logging.getLogger("kafkaviz")
Rows = Iterator[pa.RecordBatch]
HEADER_COLUMNS = tuple(name for name in source_schema.RECORD_ORIGIN.names if name != "timestamp")


class Malformed(KafkavizError):
    """The error that ends a query: a file cannot be read, or its bytes are malformed."""


class SourceReader:
    def __init__(
        self, name: str, schema: pa.Schema, filters: PushedFilters, options: SourceOptions
    ) -> None:
        """Creates a reader of the columns in `schema`. It may yield rows that `filters` exclude."""
        self._name = name
        self._schema = schema
        self._filters = filters
        self._options = options
        self._bounds = row_bounds(name, filters)

    def read(self, splits: Sequence[SourceSplit]) -> Rows:
        """Yields the rows of the splits. Raises Malformed for bad data, unless `mode` allows it."""
        readers = {
            "kafka_segments": self._segment,
            "kafka_batches": self._batches,
            "kafka_records": self._records,
            "kafka_files": self._records,
        }
        for split in splits:
            # a copy of the segment, so that cached index contents are freed with the copy
            segment = replace(split.segment_task.segment)
            split = replace(split, segment_task=replace(split.segment_task, segment=segment))
            try:
                split = yield from self._follow_tail(split)
                is_committed = self._options.isolation == READ_COMMITTED
                if is_committed and split.transactions.stable_offset <= segment.base_offset:
                    continue
                yield from self._report_truncation(split)
                yield from readers.get(self._name, self._entries)(split)
            except (Malformed, DataLoss):
                raise
            except KafkavizError as fault:
                is_unread = isinstance(fault, CannotOpen)
                yield from self._problem(split.segment_task, str(fault), is_unread=is_unread)

    def _follow_tail(self, split: SourceSplit) -> Generator[pa.RecordBatch, None, SourceSplit]:
        """Reads the markers in `split.transactions.tail`, the last part of the log.

        Returns the split with the transactions that these markers show. Yields a row for each
        unreadable range in the tail.
        """
        if split.transactions.tail is None:
            return split
        segment_task = split.segment_task
        limits = self._bounds.offsets & split.offsets
        end_offset = split.following.base_offset if split.following else inf
        transactions, problems = split.transactions.follow_tail(
            min(limits.most, end_offset - 1), segment_task.segment.base_offset
        )
        if split.reports_tail:
            key = segment_task.topic, segment_task.partition
            check_stable(self._options, key, transactions)
        own_path = segment_task.segment.with_log().log.path
        for problem in problems:
            if problem.path == own_path and problem.kind != MARKER:
                continue  # reading the split itself will report the problem
            what = problem_text(problem)
            is_row = becomes_row(what, is_unread=problem.is_unread, mode=self._options.mode)
            if is_row and split.reports_tail:
                row = {**_partition_columns(segment_task), "problem": what}
                yield problem_row(row, self._schema)
        return replace(split, transactions=transactions)

    def _report_truncation(self, split: SourceSplit) -> Rows:
        log = split.segment_task.segment.log
        if log is None or not reads_log(self._name, self._schema):
            return
        size_bytes = file.info(log.path).size_bytes
        if size_bytes < log.size_bytes:
            cut = message("errors.log_cut", size=size_bytes, expected=log.size_bytes)
            what = message("errors.of_path", path=log.path, problem=cut)
            yield from self._problem(split.segment_task, str(what), is_unread=True)

    # ---- the rows of each format

    def _segment(self, split: SourceSplit) -> Rows:
        segment_task = split.segment_task
        segment = segment_task.segment
        summary = None
        if reads_log(self._name, self._schema):
            summary = scan_segment(segment)
        row = {
            **_partition_columns(segment_task),
            "base_offset": segment.base_offset,
            "state": segment.state,
            **file_columns(segment),
            "replica_reason": split.replica_reason,
        }
        if summary:
            statistics = statistics_of_read(segment, summary)
            problems = "; ".join(map(problem_text, summary.problems))
            row |= {name: getattr(statistics, name) for name in STATISTICS_COLUMNS}
            row["problem"] = problems or None
            if summary.problems and self._options.mode != source_schema.PERMISSIVE:
                is_unread = any(problem.is_unread for problem in summary.problems)
                yield from self._problem(segment_task, problems, is_unread=is_unread)
                return
        yield problem_row(row, self._schema)

    def _entries(self, split: SourceSplit) -> Rows:
        segment = split.segment_task.segment
        is_offset_index = self._name == "kafka_offset_index"
        entries = (segment.offset_slots if is_offset_index else segment.time_slots).entries
        yield from self._table(split, entry_columns(entries[self._row_mask(entries)]))

    def _batches(self, split: SourceSplit) -> Rows:
        with open_batch_starts(split.segment_task.segment.with_log()) as batch_starts:
            entries = None
            for batches in self._walk(split, batch_starts):
                if isinstance(batches, Hole):
                    yield from self._hole(split, batches)
                    continue
                batches = batches[self._row_mask(batches)]
                if not len(batches):
                    continue
                if entries is None:
                    entries = yield from self._sorted_entries(split)
                slots = entry_slots(batches, entries_between(entries, batches))
                columns = batch_columns(batches, slots)
                if "crc_valid" in self._schema.names:
                    columns = {
                        **columns,
                        "crc_valid": records.crcs_valid(batch_starts.read, batches),
                    }
                for name in source_schema.BATCH_TIMES.names:
                    if name in self._schema.names:
                        columns = {**columns, name: records.timestamps(columns[f"{name}_ms"])}
                yield from self._table(split, columns)

    def _records(self, split: SourceSplit) -> Rows:
        payload = not set(source_schema.PAYLOAD.names).isdisjoint(self._schema.names)
        is_read_committed = self._options.isolation == READ_COMMITTED
        offsets = self._bounds.offsets & split.offsets
        if is_read_committed:
            offsets &= NumberRange(most=split.transactions.stable_offset - 1)
        header_columns = tuple(name for name in HEADER_COLUMNS if name in self._schema.names)
        if "timestampType" in self._schema.names:
            header_columns += ("timestamp_type",)
        selection = records.RecordSelection(offsets, self._bounds.times_ms, payload, header_columns)
        is_index_needed = split.count > 1 or self._bounds.times_ms.is_limited
        known_offsets = ALL if is_index_needed else offsets
        log_segment = split.segment_task.segment.with_log()
        with open_batch_starts(
            log_segment,
            is_index_needed=is_index_needed,
            first_offset=known_offsets.least,
            last_offset=known_offsets.most,
        ) as batch_starts:
            parts = self._walk(split, batch_starts)
            if is_read_committed or "aborted" in self._schema.names:
                decided = self._decide(split, batch_starts, parts)
            else:
                decided = zip(parts, repeat(split.transactions))
            for batches, transactions in decided:
                if isinstance(batches, Message):
                    yield from self._problem(split.segment_task, str(batches))
                    continue
                if isinstance(batches, Hole):
                    yield from self._hole(split, batches)
                    continue
                batches = batches[self._may_hold(batches, offsets)]
                if is_read_committed:
                    batches = batches[~transactions.are_aborted(batches)]
                for item in records.records(batch_starts.read, batches, selection):
                    if isinstance(item, UnreadableBatch):
                        what = f"{archive.display_text(log_segment.log.path)}, {item.what}"
                        yield from self._problem(split.segment_task, what, item)
                    else:
                        columns = self._record_columns(item, batches, transactions)
                        yield from self._table(split, columns)

    def _decide(
        self, split: SourceSplit, batch_starts: BatchStarts, parts: Iterator[np.ndarray | Hole]
    ) -> Iterator[tuple[np.ndarray | Hole | Message, UncommittedTransactions]]:
        """Yields each part of a split (batches, or a hole) with the transactions for this part.

        Before the first part with a transactional batch is yielded, all headers of the split are
        read, and then those after the split up to the marker that ends the last open transaction.
        The markers verify `split.transactions`.

        If a .txnindex is wrong, a message about the .txnindex is yielded. Later parts have the
        transactions that the markers show.
        """
        claimed = split.transactions
        collected = []
        for part in parts:
            if isinstance(part, Hole) or not batch.is_transactional(part).any():
                yield part, claimed
                continue
            collected = [part, *parts]
        batches = [part for part in collected if not isinstance(part, Hole)]
        if not batches:
            return
        transactions, wrong = self._correct(split, batch_starts, collected, np.concatenate(batches))
        if wrong:
            path = wrong.log.path.with_suffix(".txnindex")
            yield message("errors.txnindex_against_log", path=path), transactions
        for part in collected:
            yield part, transactions

    def _correct(
        self,
        split: SourceSplit,
        batch_starts: BatchStarts,
        parts: Sequence[np.ndarray | Hole],
        batches: np.ndarray,
    ) -> tuple[UncommittedTransactions, LogSegment | None]:
        """Checks `split.transactions` against the markers in the .log.

        If a hole (unreadable bytes) may hide markers, or a marker is unreadable, nothing is
        verified. Batches outside of the query's offsets are not verified. If the .log is in an
        object store, bytes after the split are not read.

        Returns (correct transactions, segment whose .txnindex is wrong or None).
        """
        claimed = split.transactions
        observed = ObservedTransactions()
        segment = split.segment_task.segment.with_log()
        last = batches[-1]
        if any(isinstance(part, Hole) and part.start < last["position"] for part in parts):
            return claimed, None
        is_remote = address.mirrored_file(segment.log.path) is not None
        is_open = False
        query_batches = batches[self._may_hold(batches, self._bounds.offsets & split.offsets)]
        try:
            observed.take(batch_starts.read, batches)
            start = int(last["position"]) + int(last["size_bytes"])
            if not is_remote:
                is_open = _follow(
                    observed, batch_starts, start, split.segment_task.log_bytes, claimed
                )
            transactions = observed.correct(claimed, query_batches)
            if is_open and split.following:
                with open_batch_starts(split.following, is_index_needed=False) as next_batch_starts:
                    _follow(observed, next_batch_starts, 0, split.following.log.size_bytes, claimed)
        except TransactionFault:
            return claimed, None
        if transactions is claimed and split.following:
            segment = split.following
        transactions = observed.correct(claimed, query_batches)
        return transactions, None if transactions is claimed else segment

    def _record_columns(
        self, columns: Columns, batches: np.ndarray, transactions: UncommittedTransactions
    ) -> Columns:
        if self._name == "kafka_files":
            return records.consumer_columns(columns)
        if "timestamp" in self._schema.names:
            columns = {**columns, "timestamp": records.timestamps(columns["timestamp_ms"])}
        if "aborted" not in self._schema.names:
            return columns
        owners = np.searchsorted(batches["position"], columns["batch_position"])
        is_aborted = transactions.are_aborted(batches)[owners]
        is_open = transactions.are_open(batches)[owners]
        return {**columns, "aborted": numpy_column(is_aborted, BOOL, is_open)}

    # ---- finding the batches in a .log

    def _walk(self, split: SourceSplit, batch_starts: BatchStarts) -> Iterator[np.ndarray | Hole]:
        """Yields all batches of a split that may match the query, then all holes."""
        if split.count > 1 and (index := split.segment_task.segment.index):
            with file.reader(index.path):  # must be readable, so that the splits fit together
                pass
        start, stop = split_bounds(split, batch_starts)
        if start is None:
            return
        start, stop = self._narrow(batch_starts, start, stop, self._bounds.offsets & split.offsets)
        reads_all = self._name == "kafka_batches" and not self._bounds.times_ms.is_limited
        chunk = CHUNK_BYTES if reads_all else chunk_bytes(batch_starts, start)
        scan = HeaderScan(batch_starts, start, stop, chunk)
        holes = []
        for part in scan:
            if isinstance(part, Hole):
                holes.append(part)
            else:
                fill_wrapper_fields(part, batch_starts.read)
                yield part
        yield from holes
        if scan.end.position < stop:
            yield Hole(scan.end.position, stop, scan.end.reason)

    def _narrow(
        self, batch_starts: BatchStarts, start: int, stop: int, offsets: NumberRange
    ) -> tuple[int, int]:
        times_ms = self._bounds.times_ms
        late_ms = self._options.late_ms
        if offsets.least > -inf:
            start = max(start, batch_starts.position_before_offset(offsets.least))
        if offsets.most < inf and start < stop:
            batch_starts.header(start)  # a store then sends the following bytes in the same request
            stop = min(stop, batch_starts.position_after_offset(offsets.most))
        if times_ms.least >= 0 and late_ms != source_schema.ANY and start < stop:
            start = max(start, batch_starts.position_before_time(times_ms.least))
        if times_ms.most < inf and isinstance(late_ms, int) and start < stop:
            stop = min(stop, batch_starts.position_after_time(times_ms.most + late_ms))
            if _begins_after(batch_starts.header(start), times_ms.most + late_ms):
                stop = start
        return start, stop

    def _may_hold(self, batches: np.ndarray, offsets: NumberRange) -> np.ndarray:
        times_ms = self._bounds.times_ms
        mask = (batches["last_offset"] >= offsets.least) & (batches["base_offset"] <= offsets.most)
        if not times_ms.is_limited:
            return mask
        newest = batches["max_timestamp_ms"]
        late_ms = self._options.late_ms
        lateness_ms = late_ms if isinstance(late_ms, int) else inf
        appended = batch.is_log_append_time(batches) & (batches["magic"] >= 1)
        wrapped = (batches["magic"] < 2) & (batch.codec(batches) != 0)
        hidden = batch.has_delete_horizon(batches) | wrapped
        oldest = np.where(hidden, -inf, batches["base_timestamp_ms"] - lateness_ms)
        oldest = np.where(appended, newest, oldest)
        return mask & (newest >= times_ms.least) & (oldest <= times_ms.most)

    def _sorted_entries(self, split: SourceSplit) -> Generator[pa.RecordBatch, None, np.ndarray]:
        """Returns the entries of the .index, sorted by position.

        Returns no entries if the query has no column entry_slot. Yields a row about an unreadable
        .index.
        """
        entries = np.empty(0, OFFSET_ENTRY)
        if "entry_slot" in self._schema.names:
            try:
                entries = split.segment_task.segment.offset_index
            except KafkavizError as fault:
                yield from self._problem(split.segment_task, str(fault), is_unread=True)
        return entries[np.argsort(entries["position"], kind="stable")]

    # ---- rows

    def _row_mask(self, rows: np.ndarray) -> np.ndarray:
        mask = np.ones(len(rows), bool)
        names = field_names(rows.dtype)
        for column, limits in self._filters.numbers.items():
            if column in names:
                mask &= limits.rows(rows[column])
        return mask

    def _table(self, split: SourceSplit, columns: Columns) -> Rows:
        count = len(next(iter(columns.values())))
        if not count:
            return
        if "problem" in self._schema.names:
            columns = {**columns, "problem": pa.nulls(count, pa.string())}
        if "replica_reason" in self._schema.names:
            reason = arrow_columns.repeated_texts([split.replica_reason], [count])
            columns = {**columns, "replica_reason": reason}
        yield from table(columns, [split.segment_task], [count], self._schema).to_batches()

    def _hole(self, split: SourceSplit, hole: Hole) -> Rows:
        segment = split.segment_task.segment.with_log()
        is_at_end = segment.state == "active" and hole.stop == segment.log.size_bytes
        if is_at_end and _is_preallocated(segment, hole):
            return
        what = message(
            "corrupt.no_whole_batch",
            path=segment.log.path,
            byte=hole.start,
            size=hole.stop - hole.start,
            reason=hole.reason,
        )
        unreadable = UnreadableBatch(hole.start, batch.UNKNOWN, str(what))
        yield from self._problem(split.segment_task, str(what), unreadable)

    def _problem(
        self,
        segment_task: SegmentTask,
        what: str,
        unreadable: UnreadableBatch | None = None,
        *,
        is_unread: bool = False,
    ) -> Rows:
        if not becomes_row(what, is_unread=is_unread, mode=self._options.mode):
            return
        row: dict[str, Any] = {**_partition_columns(segment_task), "problem": what}
        base_column = "base_offset" if self._name == "kafka_segments" else "segment_base_offset"
        row[base_column] = segment_task.segment.base_offset
        if unreadable:
            row |= dict.fromkeys(("position", "batch_position"), unreadable.position)
        yield problem_row(row, self._schema)


def _partition_columns(task: SegmentTask) -> dict[str, Any]:
    return {"broker": task.broker, "topic": task.topic, "partition": task.partition}


def _follow(
    observed: ObservedTransactions,
    batch_starts: BatchStarts,
    start: int,
    stop: int,
    claimed: UncommittedTransactions,
) -> bool:
    """Adds batches to `observed` until all transactions have ended, or up to unreadable bytes.

    Transactions of the producers in `claimed.open` are ignored. Returns whether all batches up to
    `stop` were read and a transaction is still open.
    """
    if observed.have_ended(claimed.open):
        return False
    for part in HeaderScan(batch_starts, start, stop, chunk_bytes(batch_starts, start)):
        if isinstance(part, Hole):
            return False
        observed.take(batch_starts.read, part)
        if observed.have_ended(claimed.open):
            return False
    return True


def becomes_row(what: str, *, is_unread: bool, mode: str) -> bool:
    """Returns whether the caller must return a row about the problem `what`.

    - PERMISSIVE: returns True.
    - DROPMALFORMED: logs the problem and returns False. If a file cannot be opened (`is_unread`),
      its content is unknown, so this raises Malformed.
    - FAILFAST: raises Malformed.
    """
    if mode == source_schema.FAILFAST or (is_unread and mode == source_schema.DROPMALFORMED):
        advice = message("option.permissive" if is_unread else "option.permissive_or_drop")
        raise Malformed(message("errors.with_advice", problem=verbatim(what), advice=advice))
    if mode == source_schema.DROPMALFORMED:
        LOG.warning("%s", what)
    return mode == source_schema.PERMISSIVE


def problem_text(problem: Problem) -> str:
    return str(message("errors.of_path", path=problem.path, problem=problem.what))


def problem_row(row: Mapping[str, object], schema: pa.Schema) -> pa.RecordBatch:
    """Returns a batch with one row about a problem. Columns that `row` lacks are null."""
    (rows,) = arrow_columns.table([row], schema).to_batches()
    return rows


def reads_log(name: str, schema: pa.Schema) -> bool:
    """Returns whether a query of format `name` for the columns in `schema` reads the .log."""
    return name in ("kafka_batches", *source_schema.RECORD_FORMATS) or (
        name == "kafka_segments" and not set(STATISTICS_COLUMNS).isdisjoint(schema.names)
    )


def split_bounds(split: SourceSplit, batch_starts: BatchStarts) -> tuple[int | None, int]:
    """Returns the positions where this split and the next split begin.

    The first split begins at 0, any other at a batch to which a verified index entry points. So
    all tasks that read the segment find the same positions. A split without such a batch is
    skipped: its first position is None.
    """
    size_bytes = split.segment_task.log_bytes

    def first_batch(number: int) -> int | None:
        return batch_starts.find_first(split.edge(number), split.edge(number + 1))

    start = first_batch(split.number) if split.number else 0
    if start is None:
        return None, 0
    starts = map(first_batch, range(split.number + 1, split.count))
    return start, next((position for position in starts if position is not None), size_bytes)


def _is_preallocated(segment: LogSegment, hole: Hole) -> bool:
    """Returns whether a hole is all zeros, as log.preallocate leaves after the last batch."""
    buffer = np.empty(CHUNK_BYTES, np.uint8)
    with file.reader(segment.log.path) as read:
        for position in range(hole.start, hole.stop, CHUNK_BYTES):
            if buffer[: read(position, buffer[: hole.stop - position])].any():
                return False
    return True


def _begins_after(header: np.void | None, timestamp_ms: float) -> bool:
    if header is None or header["magic"] < 2 or batch.has_delete_horizon(header):
        return False
    name = "max_timestamp_ms" if batch.is_log_append_time(header) else "base_timestamp_ms"
    return bool(header[name] > timestamp_ms)
