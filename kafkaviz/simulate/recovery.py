"""Recovers a segment: rebuilds its indexes from the .log, and cuts off the invalid tail.

Follows LogSegment.recover of Kafka 1.1 to 4.4.0. For example, batches of 3000 bytes have the last
offsets 9, 19, 29 ..., and the interval is 4096 bytes. The third batch starts more than 4096 bytes
after the first, and gets an entry: offset 29, position 6000. The fifth batch starts more than 4096
bytes after the third, and gets an entry: offset 49, position 12000.

The .log is cut before the first batch that has a wrong checksum, or that has magic 2 and is shorter
than its header (ensureValid of DefaultRecordBatch and LegacyRecord, 4.3.1). Codecs and records are
not checked, except the records of transaction markers.

LeaderEpochs follows LeaderEpochFileCache of Kafka 4.3.1. For example, a log has three entries of
(epoch, start offset): (0, 0), (3, 500), (5, 900). After a truncation to 800, (0, 0) and (3, 500)
remain. If the log start offset then rises to 600, only (3, 600) remains.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from kafkaviz import versions
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format import batch, offset_index, time_index, txn_index
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.format.open_transactions import OpenTransactions, TransactionFault
from kafkaviz.format.walk import CHUNK_BYTES
from kafkaviz.simulate.config import IndexConfig, ReleaseBehaviour, release_behaviour
from kafkaviz.simulate.segment_check import resolve_first_offsets

Epoch = tuple[int, int]  # (epoch, start offset)


class LeaderEpochs:
    """The leader epochs of one log. Epochs and start offsets increase."""

    def __init__(self, entries: Iterable[Epoch] = ()) -> None:
        self.entries: list[Epoch] = []
        for epoch, start in entries:
            self.assign(epoch, start)

    @property
    def latest(self) -> int:
        """The newest epoch; -1 if none is known."""
        return self.entries[-1][0] if self.entries else -1

    def assign(self, epoch: int, start: int) -> None:
        """Adds an epoch and its start. Removes entries with an equal or larger epoch or start.

        Does nothing if `epoch` is the latest and begins at or before `start`.
        """
        if self.entries and epoch == self.entries[-1][0] and start >= self.entries[-1][1]:
            return
        while self.entries and (self.entries[-1][0] >= epoch or self.entries[-1][1] >= start):
            self.entries.pop()
        self.entries.append((epoch, start))

    def take(self, batches: np.ndarray) -> None:
        """Adds each epoch in the batches (rows of BATCH) that is newer than all earlier epochs."""
        epochs = np.where(batches["magic"] >= MAGIC_2, batches["leader_epoch"], -1)
        newest = np.maximum.accumulate(np.concatenate([[self.latest], epochs]))
        for row in np.flatnonzero(newest[1:] > newest[:-1]).tolist():
            self.assign(int(epochs[row]), int(batches["base_offset"][row]))

    def cut_to(self, log_start: int, log_end: int) -> bool:
        """Removes the epochs outside the offsets `log_start` to `log_end`.

        The epoch that contains `log_start` stays, with `log_start` as its start. Returns whether
        Kafka rewrites leader-epoch-checkpoint.
        """
        count_before = len(self.entries)
        self.entries = [(epoch, start) for epoch, start in self.entries if start < log_end]
        epochs_before = [epoch for epoch, start in self.entries if start <= log_start]
        if epochs_before:
            self.entries = [
                (epochs_before[-1], log_start),
                *((epoch, start) for epoch, start in self.entries if start > log_start),
            ]
        return bool(epochs_before) or len(self.entries) < count_before

    def text(self) -> bytes:
        """Returns the leader-epoch-checkpoint that Kafka writes for these epochs."""
        lines = ["0", str(len(self.entries))]
        lines += [f"{epoch} {start}" for epoch, start in self.entries]
        return "".join(f"{line}\n" for line in lines).encode()


NEWEST = release_behaviour(versions.NEWEST_RELEASE)
UNKNOWN = -1  # no timestamp yet, and no offset for it

INVALID_OFFSET = "org.apache.kafka.common.errors.InvalidOffsetException"
OFFSET_OVERFLOW = "org.apache.kafka.storage.internals.log.LogSegmentOffsetOverflowException"


@dataclass(frozen=True)
class BrokerException:
    """An exception of Kafka: its Java class and its message."""

    class_name: str
    message: str

    def __str__(self) -> str:
        return f"{self.class_name}: {self.message}" if self.message else self.class_name


def index_full(entries: int) -> BrokerException:
    words = f"Attempt to append to a full index (size = {entries})."
    return BrokerException(ILLEGAL_ARGUMENT, words)


def time_index_full(entries: int) -> BrokerException:
    words = f"Attempt to append to a full time index (size = {entries})."
    return BrokerException(ILLEGAL_ARGUMENT, words)


def offset_overflow(
    last_offset: int | None, base_offset: int, size_bytes: int, modified_ms: int, max_ms: int
) -> BrokerException:
    words = (
        f"Detected offset overflow at offset {last_offset} in segment "
        f"LogSegment(baseOffset={base_offset}, size={size_bytes}, "
        f"lastModifiedTime={modified_ms}, largestRecordTimestamp={max_ms})"
    )
    return BrokerException(OFFSET_OVERFLOW, words)


@dataclass(frozen=True, kw_only=True)
class RecoveredSegment:
    """The result of a segment's recovery."""

    base_offset: int
    config: IndexConfig
    size_bytes: int  # of the .log before the recovery
    valid_bytes: int  # the position after the last valid batch, where the .log is cut
    # "end": all was valid; "short", "torn", "bad-length": as in format.walk; "too-small": a batch
    # is shorter than its header; "crc": a wrong checksum; "marker": an unreadable marker;
    # "": an exception came first
    stop_reason: str
    offset_entries: np.ndarray  # an array of offset_index.ENTRY
    time_entries: np.ndarray  # an array of time_index.ENTRY
    aborted: np.ndarray  # the transaction index, an array of txn_index.ENTRY
    max_timestamp_ms: int = UNKNOWN
    max_timestamp_offset: int = UNKNOWN  # the last offset of the first batch with that timestamp
    next_offset: int = 0  # the offset after the last valid batch
    producers_end_offset: int | None = None  # after the last valid batch of magic 2
    # (epoch, start offset) of each epoch that was given or is in the batches
    leader_epochs: tuple[tuple[int, int], ...] = ()
    # the first offset of each, by producer id
    open_transactions: MappingProxyType[int, int] = field(
        default_factory=lambda: MappingProxyType({})
    )
    exception: BrokerException | None = None  # ended the recovery; nothing is cut or trimmed then
    close_trims: bool = True  # see config.ReleaseBehaviour

    @property
    def truncated_bytes(self) -> int:
        """The number of bytes cut from the .log; 0 after an exception."""
        return 0 if self.exception else self.size_bytes - self.valid_bytes

    def index(self) -> bytes:
        """Returns the .index after the recovery: preallocated if recovery failed, else trimmed."""
        room_bytes = self.config.offset_slots * offset_index.ENTRY.itemsize
        return self._with_room(offset_index.build(self.offset_entries), room_bytes)

    def timeindex(self) -> bytes:
        """Returns the .timeindex after the recovery; see `index`."""
        room_bytes = self.config.time_slots * time_index.ENTRY.itemsize
        return self._with_room(time_index.build(self.time_entries), room_bytes)

    def txnindex(self) -> bytes:
        """Returns the .txnindex; empty if no transaction was aborted."""
        return txn_index.build(self.aborted)

    def closed_index(self) -> bytes:
        """Returns the .index after close. Since 4.4, a failed recovery's .index stays untrimmed."""
        if self.exception and not self.close_trims:
            return self.index()
        return offset_index.build(self.offset_entries)

    def closed_timeindex(self) -> bytes:
        """Returns the .timeindex after close. Up to 4.3, close adds an entry if recovery failed."""
        if self.exception and not self.close_trims:
            return self.timeindex()
        entries = self.time_entries
        relative_offset = self.max_timestamp_offset - self.base_offset
        last_ms, last_offset = entries[-1].item() if len(entries) else (UNKNOWN, 0)
        if self.exception and self.max_timestamp_ms > last_ms and relative_offset >= last_offset:
            entries = np.append(entries, _time_entry(self.max_timestamp_ms, relative_offset))
        return time_index.build(entries)

    def _with_room(self, content: bytes, room_bytes: int) -> bytes:
        return content + bytes(room_bytes - len(content)) if self.exception else content


def recover(
    read: ReadInto,
    size_bytes: int,
    base_offset: int,
    config: IndexConfig,
    behaviour: ReleaseBehaviour = NEWEST,
    *,
    stem: str = "",
    modified_ms: int = 0,
    leader_epochs: Iterable[tuple[int, int]] = (),
    open_transactions: dict[int, int] | None = None,
) -> RecoveredSegment:
    """Recovers a .log as LogSegment.recover does.

    Args:
        read: a function; read(position, buffer) reads the bytes of the .log, as for
            format.walk.Walk.
        stem: the path of the segment without its ending, for Kafka's messages.
        modified_ms: the modification time of the .log, for Kafka's messages.
        leader_epochs: the content of leader-epoch-checkpoint.
        open_transactions: the first offset of each transaction that is open at the base offset, by
            producer id.
    """
    run = _Run(
        read=read,
        size_bytes=size_bytes,
        base_offset=base_offset,
        config=config,
        behaviour=behaviour,
        stem=stem,
        modified_ms=modified_ms,
        epochs=LeaderEpochs(leader_epochs),
        transactions=OpenTransactions(open_transactions),
    )
    return run.result()


@dataclass(kw_only=True)
class _Run:
    read: ReadInto
    size_bytes: int
    base_offset: int
    config: IndexConfig
    behaviour: ReleaseBehaviour
    stem: str
    modified_ms: int
    epochs: LeaderEpochs
    transactions: OpenTransactions

    def __post_init__(self) -> None:
        self._state = np.zeros(1, STATE)
        self._state["max_timestamp_ms"] = self._state["max_timestamp_offset"] = UNKNOWN
        self._offset_parts = [np.empty(0, offset_index.ENTRY)]
        self._time_parts = [np.empty(0, time_index.ENTRY)]
        self._valid_bytes = 0
        self._next_offset = self.base_offset
        self._producers_end: int | None = None
        self._broker_exception: BrokerException | None = None
        self._stop_reason = ""

    def result(self) -> RecoveredSegment:
        scan = DeepScan(self.read, 0, self.size_bytes, limit_bytes=CHUNK_BYTES, reads_records=False)
        for batches in scan:
            valid_count = int(np.argmin(np.append(batches["crc_valid"], False)))
            self._take(batches[:valid_count])
            if valid_count < len(batches):
                self._stop_reason = self._stop_reason or _fault(batches[valid_count])
            if self._stop_reason or self._broker_exception:
                break
        self._stop_reason = self._stop_reason or ("" if self._broker_exception else scan.end.reason)
        if not self._broker_exception:
            self._finish()
        state = self._state[0]
        return RecoveredSegment(
            base_offset=self.base_offset,
            config=self.config,
            size_bytes=self.size_bytes,
            valid_bytes=self._valid_bytes,
            stop_reason=self._stop_reason,
            offset_entries=np.concatenate(self._offset_parts),
            time_entries=np.concatenate(self._time_parts),
            aborted=self.transactions.aborted(),
            max_timestamp_ms=int(state["max_timestamp_ms"]),
            max_timestamp_offset=int(state["max_timestamp_offset"]),
            next_offset=self._next_offset,
            producers_end_offset=self._producers_end,
            leader_epochs=tuple(self.epochs.entries),
            open_transactions=self.transactions.open(),
            exception=self._broker_exception,
            close_trims=self.behaviour.close_trims,
        )

    def _take(self, batches: np.ndarray) -> None:
        state_before = self._state.copy()
        indexed_count, offset_entries, time_entries, fault = self._index_batches(batches)
        try:
            self.transactions.take(self.read, batches[:indexed_count], self.stem)
        # Kafka reaches this batch before any fault of the indexes: index only the batches up to it
        except TransactionFault as transaction_fault:
            self._state = state_before
            batches_to_fault = batches[: transaction_fault.batch + 1]
            indexed_count, offset_entries, time_entries, fault = self._index_batches(
                batches_to_fault
            )
            class_name = transaction_fault.class_name
            if class_name:
                self._broker_exception = BrokerException(class_name, transaction_fault.message)
            else:
                self._stop_reason = "marker"
        self._offset_parts.append(offset_entries)
        self._time_parts.append(time_entries)
        if fault and not self._broker_exception:
            self._broker_exception = self._exception(fault, batches[indexed_count]["last_offset"])
        if indexed_count:
            last = batches[indexed_count - 1]
            self._valid_bytes = int(last["position"] + last["size_bytes"])
            self._next_offset = int(last["last_offset"]) + 1
            indexed = batches[:indexed_count]
            modern = indexed["last_offset"][indexed["magic"] >= batch.MAGIC_2]
            self._producers_end = int(modern[-1]) + 1 if len(modern) else self._producers_end
            self.epochs.take(indexed)

    def _index_batches(self, batches: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, int]:
        """Finds the index entries that the next batches get.

        Returns the number of batches before a fault, their offset entries and time entries, and the
        fault code (0: no fault).
        """
        key = batches["last_offset"]
        if self.behaviour.first_offset_keys:
            key = resolve_first_offsets(self.read, batches)["base_offset"]
        keys, positions, times, offsets = (np.empty(len(batches), np.int64) for _ in range(4))
        columns = [
            np.ascontiguousarray(column) for column in (key, *(batches[name] for name in COLUMNS))
        ]
        limits = (
            self.base_offset,
            self.config.index_interval_bytes,
            self.config.offset_slots,
            self.config.usable_time_slots,
        )
        checks_range = versions.OFFSET_RANGE_CHECKED.applies_to(self.behaviour.release)
        indexed_count, new_offsets, new_times, fault = _index(
            *columns, *limits, checks_range, self._state, keys, positions, times, offsets
        )
        offset_entries = np.empty(new_offsets, offset_index.ENTRY)
        time_entries = np.empty(new_times, time_index.ENTRY)
        offset_entries["relative_offset"] = keys[:new_offsets]
        offset_entries["position"] = positions[:new_offsets]
        time_entries["timestamp_ms"] = times[:new_times]
        time_entries["relative_offset"] = offsets[:new_times]
        return indexed_count, offset_entries, time_entries, fault

    def _finish(self) -> None:
        state = self._state[0]
        last_ms = state["last_time_ms"] if state["time_entries"] else UNKNOWN
        if state["time_entries"] and state["max_timestamp_offset"] < state["last_time_offset"]:
            self._broker_exception = self._exception(TIME_BACKWARDS, None)
        elif state["max_timestamp_ms"] > last_ms:
            relative_offset = state["max_timestamp_offset"] - self.base_offset
            self._time_parts.append(_time_entry(state["max_timestamp_ms"], relative_offset))

    def _exception(self, fault: int, last_offset: int | None) -> BrokerException:
        state = self._state[0]
        if fault == OFFSET_FULL:
            return index_full(state["offset_entries"])
        if fault == TIME_FULL:
            return time_index_full(state["time_entries"])
        if fault == OVERFLOW:
            last_ms = state["max_timestamp_ms"]
            return offset_overflow(
                last_offset, self.base_offset, self.size_bytes, self.modified_ms, last_ms
            )
        words = "Attempt to append an offset {} to {} {} no larger than the last offset appended "
        words += "({}) to {}"
        if fault == OFFSET_BACKWARDS:
            file = f"{self.stem}.index"
            values = (last_offset, "position", state["offset_entries"], state["last_key"], file)
        else:
            offset = f"({state['max_timestamp_offset']})"
            file = f"{self.stem}.timeindex"
            values = (offset, "slot", state["time_entries"], state["last_time_offset"], file)
        return BrokerException(INVALID_OFFSET, words.format(*values))


def _fault(invalid_batch: np.void) -> str:
    is_small = invalid_batch["size_bytes"] < HEADER_BYTES
    return "too-small" if is_small and invalid_batch["magic"] >= MAGIC_2 else "crc"


def _time_entry(timestamp_ms: int, relative_offset: int) -> np.ndarray:
    """Returns a time index entry with the low 32 bits of the offset, like Kafka before 2.0."""
    return np.array(
        [(timestamp_ms, (int(relative_offset) + 2**31) % 2**32 - 2**31)], time_index.ENTRY
    )


# ---- the pass over the batches

STATE: np.dtype = np.dtype(
    [
        ("indexed_position", "i8"),  # of the last batch with an entry; 0 before the first
        ("max_timestamp_ms", "i8"),
        ("max_timestamp_offset", "i8"),
        ("offset_entries", "i8"),
        ("last_key", "i8"),  # the absolute offset of the offset index's last entry
        ("time_entries", "i8"),
        ("last_time_ms", "i8"),
        ("last_time_offset", "i8"),  # an absolute offset
    ]
)
COLUMNS = ("last_offset", "max_timestamp_ms", "position")
OVERFLOW, OFFSET_FULL, OFFSET_BACKWARDS, TIME_FULL, TIME_BACKWARDS = range(1, 6)


@njit(cache=True, boundscheck=True)
def _index(
    key: np.ndarray,
    last_offset: np.ndarray,
    max_timestamp_ms: np.ndarray,
    position: np.ndarray,
    base_offset: int,
    interval_bytes: int,
    offset_slots: int,
    time_slots: int,
    checks_range: bool,
    states: np.ndarray,
    keys: np.ndarray,
    positions: np.ndarray,
    times: np.ndarray,
    offsets: np.ndarray,
) -> tuple[int, int, int, int]:
    """Adds index entries for the batches.

    Returns (number of batches before a fault, number of offset entries, number of time entries,
    fault code). The fault code is 0 without a fault.
    """
    state = states[0]
    new_offsets = 0
    new_times = 0
    for row in range(len(key)):
        relative = last_offset[row] - base_offset
        if checks_range and not 0 <= relative <= MAX_RELATIVE_OFFSET:
            return row, new_offsets, new_times, OVERFLOW
        if max_timestamp_ms[row] > state.max_timestamp_ms:
            state.max_timestamp_ms = max_timestamp_ms[row]
            state.max_timestamp_offset = last_offset[row]
        if position[row] - state.indexed_position <= interval_bytes:
            continue
        if state.offset_entries >= offset_slots:
            return row, new_offsets, new_times, OFFSET_FULL
        if state.offset_entries > 0 and key[row] <= state.last_key:
            return row, new_offsets, new_times, OFFSET_BACKWARDS
        keys[new_offsets] = key[row] - base_offset
        positions[new_offsets] = position[row]
        new_offsets += 1
        state.offset_entries += 1
        state.last_key = key[row]
        if state.time_entries >= time_slots:
            return row, new_offsets, new_times, TIME_FULL
        if state.time_entries > 0 and state.max_timestamp_offset < state.last_time_offset:
            return row, new_offsets, new_times, TIME_BACKWARDS
        if state.max_timestamp_ms > (state.last_time_ms if state.time_entries > 0 else UNKNOWN):
            times[new_times] = state.max_timestamp_ms
            offsets[new_times] = state.max_timestamp_offset - base_offset
            new_times += 1
            state.time_entries += 1
            state.last_time_ms = state.max_timestamp_ms
            state.last_time_offset = state.max_timestamp_offset
        state.indexed_position = position[row]
    return len(key), new_offsets, new_times, 0
