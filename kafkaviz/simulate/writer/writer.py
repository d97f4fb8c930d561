"""A partition's log while Kafka writes it: appends, rolls, truncation, deletion and restarts.

Follows UnifiedLog, LocalLog and LogLoader of Kafka 1.1 to 4.4.0. Settings, clock and random seed
are arguments. No file is opened: an appends.LogBytes stores the .log files, and indexes are kept in
memory.

    log = UnifiedLog(LogConfig(segment_bytes=10_000), now_ms=0, logs=MemoryLogs())
    log.append(chunk.rows, chunk.data)
    log.close(now_ms=60_000)
    [segment.roll_reason for segment in log.segments]    # None for the active one
"""

from collections.abc import Container
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn, cast

import numpy as np

from kafkaviz import versions
from kafkaviz.binary.file_view import in_memory, reader
from kafkaviz.format import batch, batch_records, names
from kafkaviz.format.java import ILLEGAL_ARGUMENT, INVALID_RECORD
from kafkaviz.format.open_transactions import TransactionFault
from kafkaviz.format.walk import Walk
from kafkaviz.simulate.appends import DiscardedLogs, LogBytes
from kafkaviz.simulate.config import LogConfig, ReleaseBehaviour, release_behaviour
from kafkaviz.simulate.recovery import BrokerException, LeaderEpochs, RecoveredSegment
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StartupStep, StoredLog
from kafkaviz.simulate.writer import append_loop, refusals
from kafkaviz.simulate.writer.open_segment import OpenSegment, append_rows
from kafkaviz.simulate.writer.producer_table import ProducerTable
from kafkaviz.simulate.writer.refusals import AppendFailed, RefusedAppend
from kafkaviz.simulate.writer.roll_reason import RollReason
from kafkaviz.units import file_stem

NEWEST = release_behaviour(versions.NEWEST_RELEASE)
JAVA_INT = 1 << 31
NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class Event:
    """An event of a log other than a successful append."""

    kind: str  # "roll", "truncate", "delete", "close", "restart", "fail"
    segment: int  # base offset of the segment; for a roll, of the old segment
    now_ms: int
    # the new base offset of a roll, the target of a truncation, or the log start after a delete
    offset: int | None = None
    reason: RollReason | None = None
    words: str = ""


class CannotLoad(Exception):
    """The error for a log that Kafka cannot open, with Kafka's exception as "class: message"."""

    def __init__(self, exception: str, steps: tuple[StartupStep, ...] = ()) -> None:
        super().__init__(exception)
        self.exception = exception
        self.steps = steps


class UnifiedLog:
    """The log of one topic-partition, open for writing."""

    def __init__(
        self,
        config: LogConfig,
        behaviour: ReleaseBehaviour = NEWEST,
        *,
        now_ms: int,
        start_offset: int = 0,
        seed: int = 0,
        is_leader: bool = True,
        partition: str = "t-0",
        logs: LogBytes | None = None,
        keeps_state: bool = True,
    ) -> None:
        """Opens a new log. Raises CannotLoad if segment.index.bytes leaves no space for an entry.

        Args:
            partition: the partition's name, for Kafka's messages.
            logs: the store for the .log files; None: bytes are only counted.
            keeps_state: whether the log tracks producers, transactions and leader epochs. If False,
                the log has no snapshots and no transaction indexes.
        """
        self.config = config
        self.behaviour = behaviour
        self.partition = partition
        self.is_leader = is_leader
        self.logs: LogBytes = DiscardedLogs() if logs is None else logs
        self._keeps_state = keeps_state
        self.log_start_offset = self.log_end_offset = start_offset
        self.epochs = LeaderEpochs()
        self.producers = ProducerTable()
        self.events: list[Event] = []
        self.segments: list[OpenSegment] = []  # by base offset, the active one last
        # the .snapshot files by offset; a log that starts above 0 has one from the start
        self.snapshots: dict[int, bytes] = {}
        if start_offset and keeps_state:
            self.snapshots[start_offset] = self.producers.snapshot()
        self._snapshot_offset = start_offset  # offset of the newest file
        self._random = np.random.default_rng(seed)
        if config.offset_slots < 1 or config.time_slots < 1:
            words = f"Invalid max index size: {config.segment_index_bytes}"
            raise CannotLoad(str(BrokerException(ILLEGAL_ARGUMENT, words)))
        self._begin(start_offset, now_ms).make_room(config)

    @property
    def active(self) -> OpenSegment:
        return self.segments[-1]

    # ---- appends and rolls

    def append(
        self, rows: np.ndarray, data: bytes | memoryview | None = None, valid: int | None = None
    ) -> None:
        """Appends rows in order.

        Raises AppendFailed if Kafka refuses an append. The appends before it are in the log.

        Args:
            rows: appends.INCOMING; the positions are filled in.
            data: the bytes of the rows one after another.
            valid: number of batches before the first wrong checksum; None: no checksum is wrong.
                Checksums are not computed here.
        """
        valid = len(rows) if valid is None else valid
        time_offsets = self._time_offsets(rows)
        limits = self._limits(valid)
        new = np.empty((len(rows), 4), np.int64)
        ends = None if data is None else np.concatenate([[0], np.cumsum(rows["size_bytes"])])
        start = 0
        is_rolled = False
        while start < len(rows):
            active = self.active
            row, outcome, reason = active.take(
                rows, time_offsets, start, is_rolled=is_rolled, limits=limits, new=new
            )
            stored_rows = row
            if outcome >= append_loop.OFFSET_FULL:
                stored_rows += len(append_rows(rows, row))
            if stored_rows > start:
                self.logs.append(active.base_offset, _row_bytes(data, ends, start, stored_rows))
            self._note_appends(rows[start:row], _row_bytes(data, ends, start, row))
            if outcome not in (append_loop.ACCEPTED, append_loop.ROLLS):
                rest = _row_bytes(data, ends, row, len(rows))
                self._fail(outcome, rows, row, data=rest, valid=valid - row)
            start = row
            is_rolled = outcome == append_loop.ROLLS
            if is_rolled:
                self._roll(append_rows(rows, row), reason)

    def _roll(self, append: np.ndarray, reason: RollReason | None) -> None:
        """Starts a segment at the append's first offset, or at the log end offset if larger."""
        first_offset = int(append["base_offset"][0])
        if not self.is_leader and append["magic"][0] < batch.MAGIC_2:
            # KAFKA-4451: for legacy messages a follower uses a lower bound of the first offset
            first_offset = int(append["last_offset"][-1]) - (JAVA_INT - 1)
        base_offset = max(first_offset, self.log_end_offset)
        now_ms = int(append["now_ms"][0])
        active = self.active
        # KAFKA-6388: an index without space for an entry is always full, so an empty segment rolls
        if base_offset == active.base_offset:
            self.logs.delete(base_offset)
            self.segments.pop()
        else:
            active.roll_reason = reason
            active.end()
        self._add_event("roll", now_ms, segment=active, offset=base_offset, reason=reason)
        self._begin(base_offset, now_ms)
        self._take_snapshot(base_offset)

    def _add_event(
        self, kind: str, now_ms: int, segment: OpenSegment | None = None, **more: Any
    ) -> None:
        """Adds an event, by default about the active segment."""
        base_offset = (segment or self.active).base_offset
        self.events.append(Event(kind=kind, segment=base_offset, now_ms=now_ms, **more))

    def _take_snapshot(self, offset: int) -> None:
        """Writes the producers' state at `offset` to a new snapshot (takeSnapshot)."""
        if self._keeps_state and offset > self._snapshot_offset:
            self.snapshots[offset] = self.producers.snapshot()
            self._snapshot_offset = offset

    def _begin(self, base_offset: int, now_ms: int) -> OpenSegment:
        segment = OpenSegment(base_offset, self.config, now_ms, jitter_ms=self._jitter_ms())
        segment.counters["log_end_offset"] = self.log_end_offset
        self.segments.append(segment)
        return segment

    def _jitter_ms(self) -> int:
        return self.config.jitter_ms(int(self._random.integers(-JAVA_INT, JAVA_INT)))

    def _limits(self, valid: int) -> np.ndarray:
        """Returns a row of LIMITS. `valid`: the number of rows before the first wrong checksum."""
        limits = np.zeros(1, append_loop.LIMITS)
        limits["segment_bytes"] = self.config.segment_bytes
        limits["most_segment_ms"] = self.config.most_segment_ms
        limits["max_message_bytes"] = self.config.max_message_bytes if self.is_leader else NO_LIMIT
        limits["index_interval_bytes"] = self.config.index_interval_bytes
        limits["per_append"] = self.behaviour.per_append
        limits["first_offset_keys"] = self.behaviour.first_offset_keys
        limits["valid_rows"] = valid
        return limits

    def _time_offsets(self, rows: np.ndarray) -> np.ndarray:
        """Returns, per batch, the offset that a time entry for its largest timestamp has."""
        offsets = rows["last_offset"].copy()
        if self.is_leader and self.behaviour.per_append:
            is_plain = batch.codec(rows) == 0
            is_broker_time = batch.is_log_append_time(rows)
            is_modern = rows["magic"] >= batch.MAGIC_2
            first = is_plain & is_broker_time & ~is_modern
            offsets[first] = rows["base_offset"][first]
            if self.behaviour.deep_time_offsets:
                deep = is_plain & ~is_broker_time & is_modern
                offsets[deep] = rows["deep_offset"][deep]
        return offsets

    def _note_appends(self, rows: np.ndarray, data: memoryview | None) -> None:
        if not len(rows):
            return
        self.log_end_offset = int(rows["last_offset"][-1]) + 1
        if not self._keeps_state:
            return
        self.epochs.take(rows)
        if (rows["producer_id"] >= 0).any():
            try:
                if data is None:
                    self.producers.take(rows, None)
                else:
                    positioned_rows = rows.copy()
                    positioned_rows["position"] -= positioned_rows["position"][0]
                    self.producers.take(positioned_rows, reader(data))
            except TransactionFault as fault:
                exception = BrokerException(
                    fault.class_name or INVALID_RECORD,
                    fault.message or "a control batch that holds no marker",
                )
                raise AppendFailed(exception, int(rows["append"][fault.batch])) from None
            self.active.add_aborted(self.producers.transactions.take_aborted())

    def _fail(
        self, outcome: int, rows: np.ndarray, row: int, *, data: memoryview | None, valid: int
    ) -> NoReturn:
        append = append_rows(rows, row)
        refusal = RefusedAppend(
            segment=self.active,
            rows=append,
            offsets=lambda: _record_offsets(append, data),
            partition=self.partition,
            log_start=self.log_start_offset,
            config=self.config,
            release=self.behaviour.release,
            valid=valid,
        )
        exception = refusals.broker_exception(outcome, refusal)
        self._add_event("fail", int(append["now_ms"][0]), words=str(exception))
        raise AppendFailed(exception, int(append["append"][0]))

    # ---- truncation, and the start of the log

    def truncate_to(self, offset: int, now_ms: int) -> bool:
        """Truncates the log, and sets the log end offset to `offset`.

        A batch that contains `offset` is removed completely. Returns False, and changes nothing, if
        the log already ends at or below `offset`.
        """
        if offset >= self.log_end_offset:
            return False
        self._add_event("truncate", now_ms, offset=offset)
        if self.segments[0].base_offset > offset:
            self._restart_log(offset, now_ms)
            return True
        while self.active.base_offset > offset:
            self.logs.delete(self.segments.pop().base_offset)
        active = self.active
        active.roll_reason = None
        position = active.truncate(offset, self.logs.stored(active.base_offset), now_ms)
        if position is not None:
            self.logs.cut(active.base_offset, position)
        self.log_end_offset = offset
        active.counters["log_end_offset"] = offset
        self.epochs.entries = [epoch for epoch in self.epochs.entries if epoch[1] < offset]
        self.log_start_offset = min(self.log_start_offset, offset)
        self._rebuild_producers(offset)
        return True

    def _restart_log(self, offset: int, now_ms: int) -> None:
        """Deletes all segments and starts a new one (truncateFullyAndStartAt)."""
        for segment in self.segments:
            self.logs.delete(segment.base_offset)
        self.segments.clear()
        self.log_start_offset = self.log_end_offset = self._snapshot_offset = offset
        self.producers = ProducerTable()
        self.epochs = LeaderEpochs()
        self.snapshots.clear()
        self._begin(offset, now_ms)

    def delete_records(self, offset: int, now_ms: int) -> int:
        """Raises the log start offset, deletes the segments below it, and returns their number."""
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self._snapshot_offset = max(self.snapshots, default=offset)
        count = 0
        while len(self.segments) > 1 and self.segments[1].base_offset <= self.log_start_offset:
            oldest = self.segments.pop(0)
            self.logs.delete(oldest.base_offset)
            self.snapshots.pop(oldest.base_offset, None)
            self._add_event("delete", now_ms, segment=oldest, offset=self.log_start_offset)
            count += 1
        return count

    # ---- the end of a broker's run, and the next one

    def close(self, now_ms: int, *, flushed: bool = True) -> None:
        """Closes the log: writes the last time entry, and trims every file to its content.

        Args:
            flushed: whether the log is flushed first, as a broker does. The flush creates the
                .timeindex of a segment without a batch (KAFKA-13603). Since 4.4.0 every close
                creates this .timeindex.
        """
        if flushed or not self.behaviour.close_trims or self.active.timeindex.exists:
            self.active.end()
        else:
            self.active.index.trim()
        self._take_snapshot(self.log_end_offset)
        self._add_event("close", now_ms)

    def restart(
        self, now_ms: int, *, recovery_point: int | None = None, config: LogConfig | None = None
    ) -> None:
        """Loads the log again, as LogLoader does, perhaps with a new `config`.

        Give the `recovery_point` after an unclean shutdown, and None after `close`. Raises
        CannotLoad if loading ends in an exception; then only `config` has changed.
        """
        self.config = config or self.config
        is_clean = recovery_point is None
        recovery_point = self.log_end_offset if recovery_point is None else recovery_point
        recovered_segments: dict[int, RecoveredSegment] = {}

        def keep(_directory: str, base: int, recovered_segment: RecoveredSegment) -> None:
            recovered_segments[base] = recovered_segment

        loading = LogLoader(
            self.stored_log(recovery_point),
            clean=is_clean,
            behaviour=self.behaviour,
            on_recovered=keep,
        )
        steps = loading.run()
        failure = next((step for step in steps if step.action == "fail"), None)
        if failure:
            raise CannotLoad(cast(str, failure.error), steps)
        self._load(loading, now_ms)
        for segment in self.segments:
            if segment.base_offset in recovered_segments:
                segment.store_max_timestamp(recovered_segments[segment.base_offset])
        self._load_producers(loading, recovered_segments)
        self._add_event("restart", now_ms)

    def _load(self, loading: LogLoader, now_ms: int) -> None:
        files = loading.files()
        logs = {
            cast(names.SegmentName, names.parse_file(name)).base_offset: file
            for name, file in files.items()
            if name.endswith(".log")
        }
        for segment in self.segments:
            file = logs.get(segment.base_offset)
            if file is None:
                self.logs.delete(segment.base_offset)
            else:
                self.logs.cut(segment.base_offset, file.size_bytes)
        self.log_end_offset = loading.log_end_offset()
        self.segments = []
        for base_offset in sorted(logs):
            contents = {
                kind: file.content()
                for kind in ("index", "timeindex", "txnindex")
                if (file := files.get(f"{file_stem(base_offset)}.{kind}"))
            }
            segment = OpenSegment(
                base_offset,
                self.config,
                now_ms,
                jitter_ms=self._jitter_ms(),
                index=contents.get("index"),
                timeindex=contents.get("timeindex"),
            )
            segment.read_log(self.logs.stored(base_offset))
            segment.txnindex = contents.get("txnindex")
            self.segments.append(segment)
        self.active.counters["log_end_offset"] = self.log_end_offset
        self.active.make_room(self.config)
        self.log_start_offset = max(self.log_start_offset, self.segments[0].base_offset)

    def _load_producers(self, loading: LogLoader, recovered_bases: Container[int]) -> None:
        snapshots_before = self.snapshots
        self.snapshots = {}
        written_offsets = loading.written_snapshots()
        for offset in loading.snapshots():
            if offset not in written_offsets:
                self.snapshots[offset] = snapshots_before[offset]
            elif loading.are_producers_unread:
                self.snapshots[offset] = ProducerTable().snapshot()
            else:
                table = self._producers_at(offset, recovered_bases)
                self.snapshots[offset] = table.snapshot()
        self._snapshot_offset = max(self.snapshots, default=self.log_start_offset)
        self.producers = self._producers_at(self.log_end_offset)
        self.epochs = LeaderEpochs(loading.leader_epochs())

    def _rebuild_producers(self, end: int) -> None:
        self.snapshots = {
            offset: data
            for offset, data in self.snapshots.items()
            if self.log_start_offset < offset <= end
        }
        self._snapshot_offset = max(self.snapshots, default=self.log_start_offset)
        self.producers = self._producers_at(end)
        self._take_snapshot(end)

    def _producers_at(self, offset: int, recovered_bases: Container[int] = ()) -> ProducerTable:
        """Returns the producers' state after all batches below an offset.

        If the last segment below the offset is in `recovered_bases`, replays it completely, even
        below the log start offset.
        """
        bases = [segment.base_offset for segment in self.segments if segment.base_offset < offset]
        if bases and bases[-1] in recovered_bases:
            start = bases[-1]
            table = self._producers_at(start)
        else:
            earlier_snapshots = [earlier for earlier in self.snapshots if earlier <= offset]
            start = max(earlier_snapshots, default=self.log_start_offset)
            table = ProducerTable(self.snapshots.get(start))
        for base, next_base in pairwise([*bases, offset]):
            if next_base <= start:
                continue
            log = self.logs.stored(base)
            with log.open_reader() as read:
                for batches in Walk(read, 0, log.size_bytes):
                    is_new = batches["base_offset"] >= start
                    table.take(batches[is_new & (batches["last_offset"] < offset)], read)
        table.transactions.take_aborted()  # the aborted transactions are in the indexes already
        return table

    def stored_log(self, recovery_point: int = 0) -> StoredLog:
        files = []
        for segment in self.segments:
            stem = file_stem(segment.base_offset)
            files.append(self.logs.stored(segment.base_offset))
            for kind, file in (("index", segment.index), ("timeindex", segment.timeindex)):
                if file.exists:
                    files.append(in_memory(f"{stem}.{kind}", file.content()))
            if segment.txnindex is not None:
                files.append(in_memory(f"{stem}.txnindex", segment.txnindex))
        for offset, data in self.snapshots.items():
            files.append(in_memory(f"{file_stem(offset)}.snapshot", data))
        if self.epochs.entries:
            files.append(in_memory(names.LEADER_EPOCHS, self.epochs.text()))
        return StoredLog(
            directory=self.partition,
            files=tuple(files),
            config=self.config,
            recovery_point=recovery_point,
            log_start_offset=self.log_start_offset,
        )


def _row_bytes(
    data: bytes | memoryview | None, ends: np.ndarray | None, start: int, end: int
) -> memoryview | None:
    """Returns the bytes of rows `start` to `end` - 1. Row i is data[ends[i] : ends[i + 1]]."""
    return None if data is None or ends is None else memoryview(data)[ends[start] : ends[end]]


def _record_offsets(append: np.ndarray, data: memoryview | None) -> list[int]:
    offsets = []
    if data is None:
        for first, last in append[["base_offset", "last_offset"]].tolist():
            offsets += range(first, last + 1)
        return offsets
    position = 0
    for size_bytes in append["size_bytes"].tolist():
        batch_bytes = bytes(data[position : position + size_bytes])
        offsets += [record.offset for record in batch_records.iterate(batch_bytes)]
        position += size_bytes
    return offsets
