"""Loads one log at broker start-up: leftovers, segments, indexes and producer snapshots.

Follows LogLoader of Kafka 4.3.1, in its order; config.ReleaseBehaviour holds the differences of
earlier releases. No file is changed: each change is a StartupStep, and LoadedDirectory holds the
files after the change.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NoReturn, cast

from kafkaviz.binary.file_view import FileView, in_memory
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint, names
from kafkaviz.format.java import ILLEGAL_ARGUMENT, KAFKA
from kafkaviz.format.open_transactions import OpenTransactions, TransactionFault
from kafkaviz.format.walk import Walk
from kafkaviz.messages import Message, message
from kafkaviz.simulate import recovery, steps
from kafkaviz.simulate.config import ReleaseBehaviour
from kafkaviz.simulate.recovery import BrokerException, Epoch, LeaderEpochs, RecoveredSegment
from kafkaviz.simulate.segment_check import find_recovery_reason, find_unflushed
from kafkaviz.simulate.startup import producers, small_files
from kafkaviz.simulate.startup.partition_directory import (
    INDEXES,
    KINDS,
    LoadedDirectory,
    LoadFailed,
    find_end_offset,
    find_size_exception,
    refuse_corrupt,
    refuse_unreadable,
    refuse_unreadable_at_last_entry,
)
from kafkaviz.simulate.startup.replaced_segments import delete_unfinished, split, swap_in_segments
from kafkaviz.simulate.startup.small_files import STORAGE, UNREADABLE
from kafkaviz.simulate.steps import CAUSES, StartupStep, StoredLog
from kafkaviz.units import file_stem

# called for each recovered segment, with the directory's name and the base offset
RecoveryCallback = Callable[[str, int, RecoveredSegment], None]
SMALL_BYTES = 16 << 20  # limit for a file of a few lines
# the most splits of segments per log; more would only come from misread bytes
ROUNDS = 1000


class Overflow(Exception):
    """Raised if a segment has offsets too far from the base offset. Start-up must then split it."""

    def __init__(self, base: int) -> None:
        super().__init__(base)
        self.base = base


class LogLoader:
    """Loads one log at broker start-up; `run` returns the steps.

    `why` is the cause of each step that recovers an unflushed segment: a key of steps.CAUSES.
    """

    def __init__(
        self,
        log: StoredLog,
        *,
        clean: bool,
        behaviour: ReleaseBehaviour,
        why: str | None = None,
        on_recovered: RecoveryCallback | None = None,
    ) -> None:
        self._log = log
        self._clean = clean
        self._behaviour = behaviour
        self._on_recovered = on_recovered
        self._recovery_cause = why or "unflushed"
        self._directory = LoadedDirectory(log, behaviour)
        self._bases: list[int] = []
        self._next_offsets: dict[int, int] = {}  # by base offset, for segments whose end is known
        self._snapshots = producers.SnapshotFiles({})
        self._epochs = LeaderEpochs()
        # set by run: whether the written snapshots are empty because no batch was read
        self.are_producers_unread = False
        self.has_unstable_offset = False  # see producers.ProducerState.has_unstable_offset

    def run(self) -> tuple[StartupStep, ...]:
        """Returns the steps in order. If loading fails, one step is a "fail"."""
        try:
            known_epochs = self._read_epochs()
            # ProducerStateManager lists the snapshots first
            self._directory.files_with_suffix("snapshot")
            delete_unfinished(self._directory)
            swap_in_segments(self._directory)
            self._snapshots = producers.SnapshotFiles(
                {offset: file.content for offset, file in self._directory.snapshot_files().items()},
                folders=frozenset(
                    parsed.base_offset
                    for parsed in map(names.parse_file, self._directory.folders)
                    if parsed and parsed.kind == "snapshot"
                ),
            )
            self._run_splitting(self._load_segments)
            if not self._log.directory.endswith("-delete"):
                self._run_splitting(self._recover_unflushed)
                try:
                    self._settle(known_epochs)
                except producers.UnwritableSnapshot as fault:
                    self._directory.fail_at_folder(f"{file_stem(fault.offset)}.snapshot")
            self._read_partition_metadata()
        except LoadFailed:
            pass
        return (*self._directory.steps, *self._snapshot_steps())

    def files(self) -> dict[str, FileView]:
        """Returns the files after `run` (no producer snapshots). Active indexes are not resized."""
        return {
            name: file
            for name, file in self._directory.files.items()
            if not name.endswith(".snapshot")
        }

    def snapshots(self) -> list[int]:
        return sorted(self._snapshots.contents)

    def written_snapshots(self) -> set[int]:
        return set(self._snapshots.written_offsets)

    def leader_epochs(self) -> list[Epoch]:
        return list(self._epochs.entries)

    def log_start_offset(self) -> int | None:
        """Returns the log start offset after `run`; None if loading fails."""
        if any(step.action == "fail" for step in self._directory.steps):
            return None
        return max(self._log.log_start_offset, self._bases[0])

    def log_end_offset(self) -> int:
        base = self._bases[-1]
        if base not in self._next_offsets:
            self._directory.open_files(base, "index")
            log = self._directory.require_file(base, "log")
            index = self._directory.get(base, "index")
            self._next_offsets[base] = find_end_offset(self._directory, log, index, base)
        return self._next_offsets[base]

    def _read_log_end(self) -> int:
        """Returns the log end offset. Raises LoadFailed if Kafka cannot read the .log's end."""
        base = self._bases[-1]
        if base in self._next_offsets:  # known from a recovery, but Kafka reads the .log again
            log = self._directory.require_file(base, "log")
            index = self._directory.get(base, "index")
            refuse_unreadable_at_last_entry(self._directory, log, index, base)
        return self.log_end_offset()

    # ---- the small files

    def _read_epochs(self) -> list[Epoch]:
        find_fault = small_files.leader_epochs_fault
        way_out = message("way_out.restore_leader_epochs")
        data = self._read_small(names.LEADER_EPOCHS, find_fault, "leader-epochs-bad", way_out)
        self._epochs = LeaderEpochs(checkpoint.parse_leader_epochs(data))
        return list(self._epochs.entries)

    def _read_partition_metadata(self) -> None:
        find_fault = small_files.partition_metadata_fault
        way_out = message("way_out.write_partition_metadata")
        self._read_small(names.PARTITION_METADATA, find_fault, "partition-metadata-bad", way_out)

    def _read_small(
        self,
        name: str,
        find_fault: Callable[[bytes, str], BrokerException | None],
        cause: str,
        way_out: Message,
    ) -> bytes:
        """Returns a small file's bytes; b"" if missing. Raises LoadFailed if Kafka refuses it."""
        path = f"{self._log.directory}/{name}"
        if name in self._directory.folders:
            exception = BrokerException(STORAGE, UNREADABLE[name].format(path))
            way_out = message("way_out.move_folder_out", file=path)
            self._directory.fail(None, "folder", exception, name, way_out)
        file = self._directory.files.get(name)
        if file is None:
            return b""
        data = file.content(limit_bytes=SMALL_BYTES)
        if exception := find_fault(data, path):
            self._directory.fail(None, cause, exception, name, way_out)
        return data

    # ---- every .log, and its indexes

    def _load_segments(self) -> None:
        self._bases = []
        for name in sorted(self._directory.files):
            kind = name.rpartition(".")[2]
            if "." not in name or kind not in KINDS:
                continue
            base = self._directory.parse_offset(name)
            if kind == "log":
                self._open_log(base, name)
                self._check(base)
                self._bases = sorted({*self._bases, base})
            elif not self._directory.get_existing(base, "log"):
                self._directory.delete(name, "orphan-index", message("start.no_log_of_offset"))

    def _open_log(self, base: int, name: str) -> None:
        self._directory.open_files(base, "log", "txnindex")
        if self._directory.get(base, "log") is None:
            empty = in_memory(f"{file_stem(base)}.log", b"")
            why = message("start.segment_by_name", name=name, offset=base)
            self._directory.write_file(empty, "segment-by-name", why, base)

    def _check(self, base: int) -> None:
        """Recovers a segment if its indexes are damaged (LogSegment.sanityCheck)."""
        get = partial(self._directory.get_existing, base)
        self._refuse_too_long(base, self._directory.require_file(base, "log"))
        if get("index") and not get("timeindex"):
            why = message("start.timeindex_missing")
            self._directory.write_index(base, "timeindex", b"", "timeindex-missing", why)
        try:
            reason = find_recovery_reason(get, base, self._behaviour)
        except CorruptBytes as fault:
            name = self._directory.require_file(base, "txnindex").name
            file = f" in transaction index {self._directory.name}/{name},"
            exception = BrokerException(KAFKA, str(fault.what).replace(",", file, 1))
            way_out = message("way_out.move_txnindex_and_index_away")
            self._directory.fail(base, "index-corrupt", exception, name, way_out)
        if reason:
            self._recover(base, reason.cause, reason.why, is_caught=False)

    def _refuse_too_long(self, base: int, log: FileView) -> None:
        if exception := find_size_exception(f"{self._directory.name}/{log.name}", log.size_bytes):
            way_out = message("way_out.log_too_large")
            self._directory.fail(base, "log-too-large", exception, log.name, way_out)

    def _run_splitting(self, phase: Callable[[], None]) -> None:
        for _ in range(ROUNDS):
            try:
                phase()
                return
            except Overflow as overflow:
                self._forget(overflow.base)
                self._bases = sorted({*self._bases, *split(self._directory, overflow.base)})

    # ---- unflushed segments

    def _recover_unflushed(self) -> None:
        if self._clean:
            return
        why = CAUSES[self._recovery_cause]
        if self._recovery_cause == "unflushed":
            why = message("start.not_stopped_cleanly", offset=self._log.recovery_point)
        unflushed_bases = find_unflushed(self._bases, self._log.recovery_point)
        for place, base in enumerate(unflushed_bases):
            cut_bytes = self._recover(base, self._recovery_cause, why, is_caught=True)
            if cut_bytes:
                lost_bytes = message("start.segment_lost_bytes", segment=base, count=cut_bytes)
                for later in unflushed_bases[place + 1 :]:
                    self._forget(later)
                    self._directory.delete_segment(later, "after-truncation", lost_bytes)
                return

    def _recover(self, base: int, cause: str, why: Message, *, is_caught: bool) -> int:
        """Recovers a segment, and returns the number of bytes cut off.

        If `is_caught`, Kafka catches the exceptions for decreasing offsets and for a snapshot that
        cannot be written, and then empties the segment.
        """
        try:
            return self._recover_with_producers(base, cause, why, is_caught=is_caught)
        except producers.UnwritableSnapshot as fault:
            name = f"{file_stem(fault.offset)}.snapshot"
            if not is_caught:
                self._directory.fail_at_folder(name)
            return self._empty_segment(base, message("start.emptied_at_folder", why=why, file=name))

    def _recover_with_producers(
        self, base: int, cause: str, why: Message, *, is_caught: bool
    ) -> int:
        state = producers.ProducerState(self._snapshots)
        state.rebuild(
            self._bases, self._log.log_start_offset, base, clean=False, replay=self._replay
        )
        self._directory.open_files(base, "index", "timeindex")
        recovered_segment = self._recover_segment(base, state)
        self._epochs = LeaderEpochs(recovered_segment.leader_epochs)
        if recovered_segment.exception:
            return self._handle_exception(recovered_segment, why, is_caught=is_caught)
        if recovered_segment.producers_end_offset is not None:
            state.transactions = OpenTransactions(dict(recovered_segment.open_transactions))
            state.end(recovered_segment.producers_end_offset)
        tail = steps.STOP_REASONS.get(recovered_segment.stop_reason, "")
        tail_cut = message("start.tail_cut", why=why, tail=tail)
        self._directory.cut(base, recovered_segment.valid_bytes, tail_cut)
        index_contents = (
            ("index", recovered_segment.index()),
            ("timeindex", recovered_segment.timeindex()),
            ("txnindex", recovered_segment.txnindex()),
        )
        has_changed = [
            self._directory.write_index(base, kind, data, cause, why)
            for kind, data in index_contents
        ]
        if not recovered_segment.truncated_bytes and not any(has_changed):
            expected = message("start.found_as_expected", why=why)
            self._directory.add_step("keep", cause, expected, base, f"{file_stem(base)}.log")
        self._next_offsets[base] = recovered_segment.next_offset
        return recovered_segment.truncated_bytes

    def _recover_segment(self, base: int, state: producers.ProducerState) -> RecoveredSegment:
        log = self._directory.require_file(base, "log")
        with log.open_reader() as read:
            recovered_segment = recovery.recover(
                read,
                log.size_bytes,
                base,
                self._log.config,
                self._behaviour,
                stem=self._directory.path(base),
                modified_ms=log.modified_ms,
                leader_epochs=self._epochs.entries,
                open_transactions=dict(state.transactions.open()),
            )
        if self._on_recovered:
            self._on_recovered(self._log.directory, base, recovered_segment)
        return recovered_segment

    def _handle_exception(
        self, recovered_segment: RecoveredSegment, why: Message, *, is_caught: bool
    ) -> int:
        """Raises LoadFailed or Overflow, or empties the segment and returns its old size."""
        exception = cast(BrokerException, recovered_segment.exception)
        base = recovered_segment.base_offset
        if exception.class_name == recovery.OFFSET_OVERFLOW:
            raise Overflow(base)
        if not is_caught or exception.class_name != recovery.INVALID_OFFSET:
            if "full" in exception.message:
                self._fail_full_index(recovered_segment, exception)
            name = f"{file_stem(base)}.log"
            way_out = message("way_out.move_log_away", file=f"{self._log.directory}/{name}")
            self._directory.fail(base, "exception", exception, name, way_out)
        return self._empty_segment(base, message("start.emptied", why=why))

    def _empty_segment(self, base: int, why: Message) -> int:
        self._directory.open_files(base, "index", "timeindex")
        size_bytes = self._directory.require_file(base, "log").size_bytes
        self._directory.cut(base, 0, why, "invalid-offset")
        emptied = message("start.segment_emptied")
        for kind in INDEXES:
            self._directory.write_index(base, kind, b"", "invalid-offset", emptied)
        self._next_offsets[base] = base
        return size_bytes

    def _fail_full_index(
        self, recovered_segment: RecoveredSegment, exception: BrokerException
    ) -> NoReturn:
        base = recovered_segment.base_offset
        kind = "index"
        entries = recovered_segment.offset_entries
        if "time index" in exception.message:
            kind = "timeindex"
            entries = recovered_segment.time_entries
        because = message(
            "start.index_has_no_room",
            bytes=self._log.config.segment_index_bytes,
            entries=len(entries),
            suffix=f".{kind}",
            segment=base,
            byte=recovered_segment.valid_bytes,
            size=recovered_segment.size_bytes,
            offset=recovered_segment.next_offset,
        )
        way_out = message("way_out.larger_index_bytes", topic=self._log.topic)
        self._directory.fail(
            base,
            "index-full",
            exception,
            f"{file_stem(base)}.{kind}",
            way_out,
            because=because,
            from_position=entries.nbytes,
            size_bytes=entries.itemsize,
        )

    def _replay(
        self, start: int, base: int, transactions: OpenTransactions, end: int | None
    ) -> None:
        log = self._directory.require_file(base, "log")
        index = self._directory.get(base, "index")
        for target in (end, start):  # Kafka looks up both offsets
            if target is not None:
                refuse_unreadable(self._directory, log, index, base, target)
        path = self._directory.path(base)
        with log.open_reader() as read:
            walk = Walk(read, 0, log.size_bytes)
            try:
                for batches in walk:
                    transactions.take(read, batches[batches["last_offset"] >= start], path)
            except TransactionFault as fault:
                way_out = message("way_out.put_snapshots_back")
                self._directory.fail(base, "exception", producers.refusal(fault), log.name, way_out)
        refuse_corrupt(self._directory, base, log, walk.end)

    # ---- start and end of the log

    def _settle(self, known_epochs: list[Epoch]) -> None:
        state = producers.ProducerState(self._snapshots)
        self._start_anew_if_needed(state)
        self._resize_last()
        self._settle_epochs(known_epochs)
        end = self.log_end_offset()
        log_start = max(self._log.log_start_offset, self._bases[0])
        producers.remove_strays(self._snapshots, self._bases)
        state.rebuild(self._bases, log_start, end, clean=self._clean, replay=self._replay)
        self.are_producers_unread = state.is_unread
        self.has_unstable_offset = state.has_unstable_offset

    def _start_anew_if_needed(self, state: producers.ProducerState) -> None:
        start = self._log.log_start_offset
        if self._bases and self._read_log_end() < start:
            why = message("start.log_ends_below_start", end=self.log_end_offset(), start=start)
            for base in self._bases:
                self._directory.delete_segment(base, "log-start-beyond-end", why)
            self._bases = []
            self._epochs = LeaderEpochs()
            state.start_at(start)
        if not self._bases:
            self._bases = [start]
            self._next_offsets[start] = start
            self._directory.open_files(start, "log", "txnindex", "index", "timeindex")
            why = message("start.empty_segment", offset=start)
            for kind in ("log", "index", "timeindex"):
                empty = in_memory(f"{file_stem(start)}.{kind}", b"")
                self._directory.write_file(empty, "no-segment", why, start)

    def _resize_last(self) -> None:
        """Raises LoadFailed if an index of the active segment exceeds segment.index.bytes."""
        base = self._bases[-1]
        self._directory.open_files(base, "index", "timeindex")
        for kind, room in (
            ("index", self._log.config.offset_slots),
            ("timeindex", self._log.config.time_slots),
        ):
            file = self._directory.require_file(base, kind)
            entry_bytes = INDEXES[kind].ENTRY.itemsize
            used_bytes = file.size_bytes // entry_bytes * entry_bytes
            limit = room * entry_bytes
            if used_bytes > limit:
                words = f"newPosition > limit: ({used_bytes} > {limit})"
                exception = BrokerException(ILLEGAL_ARGUMENT, words)
                way_out = message(
                    "way_out.room_for_entries", topic=self._log.topic, file=file.name, limit=limit
                )
                self._directory.fail(base, "index-too-large", exception, file.name, way_out)

    def _settle_epochs(self, epochs_before: list[Epoch]) -> None:
        is_written = (
            self._epochs.cut_to(self._log.log_start_offset, self.log_end_offset())
            or self._epochs.entries != epochs_before
        )
        if is_written:  # Kafka writes a .tmp file and renames it
            self._directory.files.pop(f"{names.LEADER_EPOCHS}.tmp", None)
        file = in_memory(names.LEADER_EPOCHS, self._epochs.text())
        old_file = self._directory.files.get(names.LEADER_EPOCHS)
        if is_written and (old_file is None or old_file.content() != file.content()):
            why = message("start.epochs_of_batches")
            self._directory.write_file(file, "leader-epochs", why, None)

    def _forget(self, base: int) -> None:
        self._bases = [known_base for known_base in self._bases if known_base != base]
        self._snapshots.delete(base, message("start.its_segment_deleted"))

    def _snapshot_steps(self) -> Iterator[StartupStep]:
        files_before = self._directory.snapshot_files()
        step = partial(StartupStep, partition=self._log.directory, cause="producer-state")
        reasons = self._snapshots.deletion_reasons
        for offset in sorted(reasons.keys() | self._snapshots.written_offsets):
            is_replaced = offset in files_before
            if offset in self._snapshots.written_offsets:
                key = "start.producers_written_anew" if is_replaced else "start.producers_written"
                path = f"{self._directory.path(offset)}.snapshot"
                yield step(action="rebuild", why=message(key, offset=offset), file=path)
            elif is_replaced:  # else `run` wrote and then deleted it
                file = files_before[offset]
                path = f"{self._log.directory}/{file.name}"
                why = message("start.producers_deleted", why=reasons[offset])
                yield step(action="delete", why=why, file=path, size_bytes=file.size_bytes)
