"""Loading one log at a start: leftovers put away, segments checked, recovered or thrown away, producer snapshots put in order.

As LogLoader of Kafka 4.3.1, in its order, with what differed before (config.Profile). The files stay as they are: each change is
a Step, and what the loader would find afterwards is kept beside them.
"""

from collections.abc import Callable, Iterator
from typing import NoReturn

import numpy as np

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import checkpoint, names, offset_index, time_index, txn_index
from kafkaviz.format.batch import LENGTH_END
from kafkaviz.format.walk import Walk
from kafkaviz.simulate import recovery
from kafkaviz.simulate.config import Profile
from kafkaviz.simulate.epochs import LeaderEpochs
from kafkaviz.simulate.producers import ProducerState, SnapshotFiles, remove_strays
from kafkaviz.simulate.recovery import Raised, Recovered, recover
from kafkaviz.simulate.small_files import LEADER_EPOCHS, PARTITION_METADATA, STORAGE, leader_epochs_fault, partition_metadata_fault
from kafkaviz.simulate.steps import CAUSES, Step
from kafkaviz.simulate.stored import StoredFile, StoredLog, in_memory
from kafkaviz.simulate.transactions import OpenTransactions, TransactionFault
from kafkaviz.simulate.wrappers import with_first_offsets

Watch = Callable[[str, int, Recovered], None]  # told of each recovered segment: directory, base offset
INDEXES = {"index": offset_index, "timeindex": time_index, "txnindex": txn_index}
KINDS = ("log", *INDEXES)
KAFKA = "org.apache.kafka.common.KafkaException"
CORRUPT_RECORD = "org.apache.kafka.common.errors.CorruptRecordException"
SMALL_BYTES = 16 << 20  # of a file that holds some lines
ROUNDS = 1000  # of splitting; each splits off a segment, so only a wrong reading of the bytes would need more


class Failed(Exception):
    """The load of this log ends here, and the broker's start with it; the step says how."""


class Overflow(Exception):
    """A segment has an offset too far from its base offset: it must be split."""

    def __init__(self, base: int) -> None:
        super().__init__(base)
        self.base = base


class Loading:
    """One load of one log; run() gives its steps."""

    def __init__(self, log: StoredLog, clean: bool, of: Profile, why: str | None = None, watch: Watch | None = None) -> None:
        """why: a cause that stands for "unflushed" in every step of the recovery."""
        self._log, self._clean, self._profile, self._watch = log, clean, of, watch
        self._unflushed = why or "unflushed"
        self._files = {file.name: file for file in log.files}
        self._bases: list[int] = []
        self._next_offsets: dict[int, int] = {}  # of the segments that were recovered
        self._slots: dict[tuple[int, str], int] = {}  # entries in use, where that is not what the file's size says
        self._steps: dict[tuple[str, str | None, int | None], Step] = {}
        self._snapshots = SnapshotFiles({})
        self._epochs = LeaderEpochs()

    def run(self) -> tuple[Step, ...]:
        """What the load does, in its order; the last step is "fail" where it does not end well."""
        try:
            self._read_small(LEADER_EPOCHS, leader_epochs_fault, "leader-epochs-bad", LEADER_EPOCHS_WAY_OUT)
            if LEADER_EPOCHS in self._files:
                self._epochs = LeaderEpochs(checkpoint.parse_leader_epochs(self._files[LEADER_EPOCHS].content()))
            known_epochs = list(self._epochs.entries)
            self._put_leftovers_away()
            self._put_swaps_in_place()
            self._snapshots = SnapshotFiles(
                {base: file.content for base, kind, file in self._named() if kind == "snapshot"}
            )
            self._splitting(self._load_segments)
            if not self._log.directory.endswith("-delete"):
                self._splitting(self._recover_unflushed)
                self._start_anew_if_needed()
                self._resize_last()
                self._settle_epochs(known_epochs)
                self._settle_producers()
            self._read_small(PARTITION_METADATA, partition_metadata_fault, "partition-metadata-bad", PARTITION_METADATA_WAY_OUT)
        except Failed:
            pass
        return (*self._steps.values(), *self._snapshot_steps())

    def files(self) -> dict[str, StoredFile]:
        """The directory as run() would leave it, without the producer snapshots; the last segment's indexes at their entries."""
        return {name: file for name, file in self._files.items() if not name.endswith(".snapshot")}

    def snapshots(self) -> list[int]:
        """The offsets of the producer snapshots that run() would leave."""
        return sorted(self._snapshots.known)

    def log_end_offset(self) -> int:
        """One past the last offset that run() would leave."""
        return self._log_end()

    def _read_small(self, name: str, fault: Callable[[bytes, str], Raised | None], cause: str, way_out: str) -> None:
        """Ends the load where one of the small files cannot be read."""
        path = f"{self._log.directory}/{name}"
        raised = fault(self._files[name].content(SMALL_BYTES), path) if name in self._files else None
        if raised:
            self._fail(None, cause, raised, name, way_out)

    # ---- 1 and 2: what compaction, splits and deletions left behind

    def _put_leftovers_away(self) -> None:
        cleaned = {name: base for name, base in self._suffixed("cleaned")}
        least = min(cleaned.values(), default=None)
        for name in [name for name in self._files if name.endswith(".deleted") and not name.endswith(".checkpoint.deleted")]:
            self._delete(name, "leftover-deleted", "it was to be deleted and the broker stopped before it did")
        for name, base in self._suffixed("swap"):
            if least is not None and base >= least:
                self._delete(name, "leftover-swap", f"an unfinished split left it: there are .cleaned files from offset {least} on")
        for name in cleaned:
            self._delete(name, "leftover-cleaned", "compaction or a split was not finished; the old segments are still there")

    def _put_swaps_in_place(self) -> None:
        swaps = {name: base for name, base in self._suffixed("swap")}
        logs = {name: base for name, base in swaps.items() if name.endswith(".log.swap")}
        if logs:
            low, high = min(logs.values()), max(self._end_of(self._files[name], base, ".swap") for name, base in logs.items())
            for name in [name for name in self._files if name not in swaps and _number(name) is not None]:
                if low <= _number(name) < high:
                    self._delete(name, "leftover-swap", f"the .swap segments that replace offsets {low} to {high - 1} are finished")
        for base in logs.values():
            self._blank_index(base)
        for name, base in self._suffixed("swap"):
            plain = name.removesuffix(".swap")
            file = self._files.pop(name)
            if not self._profile.swaps_indexes and not name.endswith(".log.swap"):
                self._say("delete", "leftover-swap", "the index of a swapped segment is built anew", base, name, size_bytes=file.size_bytes)
                continue
            self._files[plain] = file.part(plain, 0, file.size_bytes)
            self._say("rebuild", "leftover-swap", f"{name} takes its name", base, plain, size_bytes=file.size_bytes)

    def _blank_index(self, base: int) -> None:
        """A finished .swap segment without its index gets one of zeros, by the mere look for its end."""
        name, room_bytes = f"{_stem(base)}.index", self._log.config.offset_slots * offset_index.ENTRY.itemsize
        if self._profile.swaps_indexes and f"{name}.swap" not in self._files:
            self._files[f"{name}.swap"] = in_memory(f"{name}.swap", bytes(room_bytes))

    # ---- 3: every .log, and its indexes

    def _load_segments(self) -> None:
        self._bases = []
        logs = {base for base, kind, _ in self._named() if kind == "log"}
        for base, kind, file in sorted(self._named(), key=lambda one: one[2].name):
            if kind in INDEXES and base not in logs:
                self._delete(file.name, "orphan-index", "there is no .log of that base offset")
            elif kind == "log":
                self._check(base)
                self._bases.append(base)

    def _check(self, base: int) -> None:
        """Whether a segment's indexes may be used as they are (LogSegment.sanityCheck)."""
        if f"{_stem(base)}.index" not in self._files:
            self._recover(base, "index-missing", "its .index is missing", caught=False)
            return
        if f"{_stem(base)}.timeindex" not in self._files:
            why = "it is missing; an empty one is made, and nothing is put into it"
            self._put(base, "timeindex", b"", "timeindex-missing", why)
        fault = self._index_fault(base)
        if fault:
            self._recover(base, "index-corrupt", fault, caught=False)

    def _index_fault(self, base: int) -> str | None:
        """What CorruptIndexException would say of a segment's indexes, or None."""
        transactions = self._files.get(f"{_stem(base)}.txnindex")
        if transactions:
            entries = txn_index.parse(transactions.content())
            try:
                txn_index.readable(entries)
            except CorruptBytes as fault:
                words = fault.what.replace(",", f" in transaction index {self._log.directory}/{transactions.name},", 1)
                self._fail(base, "index-corrupt", Raised(KAFKA, words), transactions.name, TXN_INDEX_WAY_OUT)
            try:
                txn_index.check(entries, base)
            except CorruptBytes as fault:
                return f"{transactions.name}: {fault.what}"
        return self._old_index_fault(base) if self._profile.checks_indexes else None

    def _old_index_fault(self, base: int) -> str | None:
        """The checks of the offset and the time index up to Kafka 2.2 (KAFKA-7283)."""
        for kind in ("index", "timeindex"):
            file, layout = self._files[f"{_stem(base)}.{kind}"], INDEXES[kind]
            entries = layout.parse(file.content())
            if len(file.content()) % layout.ENTRY.itemsize:
                return f"{file.name}: its length is no multiple of {layout.ENTRY.itemsize}"
            least = 1 if kind == "index" and self._profile.release < (2, 0) else 0
            if len(entries) and entries["relative_offset"][-1] < least:
                return f"{file.name}: its last entry does not lie above the base offset"
            if kind == "timeindex" and len(entries) and entries["timestamp_ms"][-1] < entries["timestamp_ms"][0]:
                return f"{file.name}: its last timestamp lies below its first"
        return None

    # ---- 4: what was not flushed

    def _recover_unflushed(self) -> None:
        if self._clean:
            return
        first = max((base for base in self._bases if base <= self._log.recovery_point), default=self._log.recovery_point)
        unflushed = [base for base in self._bases if base >= first]
        for place, base in enumerate(unflushed):
            cut = self._recover(base, self._unflushed, self._why_unflushed(), caught=True)
            if cut:
                for later in unflushed[place + 1 :]:
                    self._remove_segment(later, "after-truncation", f"segment {base} lost {cut} bytes, and what follows is not trusted")
                return

    def _why_unflushed(self) -> str:
        if self._unflushed != "unflushed":
            return CAUSES[self._unflushed]
        return f"the broker was not stopped cleanly, and the segment reaches above recovery point {self._log.recovery_point}"

    def _recover(self, base: int, cause: str, why: str, caught: bool) -> int:
        """Recovers a segment, and says so; the bytes that were cut off. caught: offsets that run backwards empty it."""
        state = ProducerState(self._snapshots)
        log = self._files[f"{_stem(base)}.log"]
        state.rebuild(self._bases, self._log.log_start_offset, base, False, self._replay)
        with log.opened() as read:
            found = recover(
                read, log.size_bytes, base, self._log.config, self._profile, stem=f"{self._log.directory}/{_stem(base)}",
                modified_ms=log.modified_ms, leader_epochs=self._epochs.entries, open_transactions=dict(state.transactions.open()),
            )
        self._epochs = LeaderEpochs(found.leader_epochs)
        if self._watch:
            self._watch(self._log.directory, base, found)
        if found.raised:
            return self._raised(base, found, cause, why, caught)
        if found.producers_end_offset is not None:
            state.transactions = OpenTransactions(dict(found.open_transactions))
            state.end(found.producers_end_offset)
        self._cut(base, log, found.valid_bytes, f"{why}: {STOPPED[found.stopped]}" if found.truncated_bytes else why)
        changed = [self._put(base, kind, data, cause, why) for kind, data in _built(found)]
        if not found.truncated_bytes and not any(changed):
            self._say("keep", cause, f"{why}; recovery finds it as it should be", base, log.name)
        self._next_offsets[base] = found.next_offset
        return found.truncated_bytes

    def _raised(self, base: int, found: Recovered, cause: str, why: str, caught: bool) -> int:
        """What the loader does with an exception of a recovery; the bytes that it cuts off, if it goes on."""
        name = f"{_stem(base)}.log"
        if found.raised.class_name == recovery.OFFSET_OVERFLOW:
            raise Overflow(base)
        if caught and found.raised.class_name == recovery.INVALID_OFFSET:
            log = self._files[name]
            self._cut(base, log, 0, f"{why}, but its offsets run backwards, so Kafka empties it", "invalid-offset")
            for kind in ("index", "timeindex", *["txnindex"] * (f"{_stem(base)}.txnindex" in self._files)):
                self._put(base, kind, b"", "invalid-offset", "the segment was emptied")
            self._next_offsets[base] = base
            return log.size_bytes
        full = "full" in found.raised.message
        way_out = FULL_WAY_OUT if full else f"copy the directory, then move {self._log.directory}/{name} and what follows it away"
        self._fail(base, "index-full" if full else "exception", found.raised, name, way_out)

    def _replay(self, start: int, base: int, transactions: OpenTransactions) -> None:
        """The batches of a segment from an offset on, for the state of the producers."""
        log = self._files[f"{_stem(base)}.log"]
        with log.opened() as read:
            walk = Walk(read, 0, log.size_bytes)
            try:
                for batches in walk:
                    transactions.take(read, batches[batches["last_offset"] >= start], f"{self._log.directory}/{_stem(base)}")
            except TransactionFault as fault:
                raised = Raised(fault.class_name or CORRUPT_RECORD, fault.message)
                self._fail(base, "exception", raised, log.name, "start again with the producer snapshots put back, if there is a copy")
        self._refuse_corrupt(base, log, walk)

    # ---- 5 and 6: where the log starts and ends

    def _start_anew_if_needed(self) -> None:
        start = self._log.log_start_offset
        self._state = ProducerState(self._snapshots)
        if self._bases and self._log_end() < start:
            why = f"the log ends at {self._log_end()}, below its log start offset {start}"
            for base in list(self._bases):
                self._remove_segment(base, "log-start-beyond-end", why, with_snapshot=False)
            self._bases, self._epochs = [], LeaderEpochs()
            self._state.start_at(start)
        if not self._bases:
            self._bases, self._next_offsets[start] = [start], start
            self._files |= {f"{_stem(start)}.{kind}": in_memory(f"{_stem(start)}.{kind}", b"") for kind in ("log", "index", "timeindex")}
            for kind in ("log", "index", "timeindex"):
                name = f"{_stem(start)}.{kind}"
                self._say("rebuild", "no-segment", f"the log has no segment: an empty one starts at {start}", start, name, size_bytes=0)

    def _resize_last(self) -> None:
        """Makes room in the indexes of the segment that will be written to (resizeIndexes)."""
        base = self._bases[-1]
        for kind, room in (("index", self._log.config.offset_slots), ("timeindex", self._log.config.time_slots)):
            entry_bytes = INDEXES[kind].ENTRY.itemsize
            file = self._files[f"{_stem(base)}.{kind}"]
            used, limit = file.size_bytes // entry_bytes * entry_bytes, room * entry_bytes
            if used > limit:
                raised = Raised(recovery.ILLEGAL_ARGUMENT, f"newPosition > limit: ({used} > {limit})")
                self._fail(base, "index-too-large", raised, file.name, SHRUNK_WAY_OUT.format(file=file.name, limit=limit))

    def _log_end(self) -> int:
        """One past the last offset (LogSegment.readNextOffset)."""
        base = self._bases[-1]
        if base not in self._next_offsets:
            self._next_offsets[base] = self._end_of(self._files[f"{_stem(base)}.log"], base)
        return self._next_offsets[base]

    def _end_of(self, log: StoredFile, base: int, suffix: str = "") -> int:
        """The same of any .log: from its last index entry on, in what is there of the .log.

        An entry whose batch is not there any more leads to the base offset, however many batches are left before it.
        """
        key, position = self._last_slot(f"{_stem(base)}.index{suffix}")
        end = None
        with log.opened() as read:
            walk = Walk(read, max(position, 0), log.size_bytes)
            for batches in walk:
                if end is not None or (batches["last_offset"] >= base + key).any():
                    end = int(batches["last_offset"][-1]) + 1
        self._refuse_corrupt(base, log, walk)
        return base if end is None else end

    def _last_slot(self, name: str) -> tuple[int, int]:
        """The relative offset and the position in the last slot of an offset index; zeros where there is none."""
        file, entry_bytes = self._files.get(name), offset_index.ENTRY.itemsize
        stop = file.size_bytes // entry_bytes * entry_bytes if file else 0
        last = offset_index.parse(file.part(name, stop - entry_bytes, stop).content()) if stop else ()
        return last[0].item() if len(last) else (0, 0)

    def _refuse_corrupt(self, base: int, log: StoredFile, walk: Walk) -> None:
        """Reading a .log outside of a recovery ends the start where a batch length cannot be one."""
        if walk.end and walk.end.reason == "bad-length":
            with log.opened() as read:
                length = np.empty(4, np.uint8)
                read(walk.end.position + LENGTH_END - 4, length)
            size = int.from_bytes(length.tobytes(), "big", signed=True)
            words = f"Found record size {size} smaller than minimum record overhead (14) in file {self._log.directory}/{log.name}."
            self._fail(base, "log-corrupt", Raised(CORRUPT_RECORD, words), log.name, CORRUPT_WAY_OUT)

    # ---- 7: offsets that are too far apart

    def _splitting(self, phase: Callable[[], None]) -> None:
        for _ in range(ROUNDS):
            try:
                phase()
                return
            except Overflow as found:
                self._split(found.base)

    def _split(self, base: int) -> None:
        """Puts segments in the place of one whose offsets do not fit it (splitOverflowedSegment, KAFKA-6264)."""
        log = self._files[f"{_stem(base)}.log"]
        if self._end_of(log, base) - 1 - base <= recovery.MOST_RELATIVE:  # Kafka looks at the last batch alone
            words = "Split operation is only permitted for segments with overflow, and the problem path is "
            raised = Raised(recovery.ILLEGAL_ARGUMENT, f"{words}{self._log.directory}/{log.name}")
            self._fail(base, "offset-overflow", raised, log.name, BAD_OFFSET_WAY_OUT)
        cuts = self._cuts(log, base)
        self._remove_segment(base, "offset-overflow", "its offsets do not fit it: it is split")
        for (new_base, start), (_, stop) in zip(cuts, [*cuts[1:], (0, log.size_bytes)], strict=True):
            self._add_part(log.part(f"{_stem(new_base)}.log", start, stop), new_base, base)
        self._bases = sorted({*self._bases, *dict(cuts)})

    def _add_part(self, part: StoredFile, new_base: int, base: int) -> None:
        """A segment that a split made; it is closed like one that was written, so its indexes are those of a recovery."""
        with part.opened() as read:
            found = recover(read, part.size_bytes, new_base, self._log.config, self._profile)
        why = f"a part of segment {base}, whose offsets do not fit it"
        self._files[part.name] = part
        self._say("rebuild", "offset-overflow", why, new_base, part.name, size_bytes=part.size_bytes)
        self._put(new_base, "index", found.closed_index(), "offset-overflow", why)
        self._put(new_base, "timeindex", found.closed_timeindex(), "offset-overflow", why)

    def _cuts(self, log: StoredFile, base: int) -> list[tuple[int, int]]:
        """(base offset, position) of the segments that a split makes."""
        cuts: list[tuple[int, int]] = []
        with log.opened() as read:
            walk = Walk(read, 0, log.size_bytes)
            for batches in walk:
                for position, first, last in with_first_offsets(read, batches)[["position", "base_offset", "last_offset"]].tolist():
                    if not cuts or not 0 <= last - cuts[-1][0] <= recovery.MOST_RELATIVE:
                        cuts.append((first, position))
        self._refuse_corrupt(base, log, walk)
        if walk.end.reason != "end":
            raised = Raised("java.util.NoSuchElementException", "the last batch of the segment to be split is not whole")
            self._fail(base, "offset-overflow", raised, log.name, CORRUPT_WAY_OUT)
        return cuts

    # ---- 8: the leader epochs and the producers

    def _settle_epochs(self, before: list[tuple[int, int]]) -> None:
        self._epochs.cut_to(self._log.log_start_offset, self._log_end())
        text = self._epochs.text()
        if self._epochs.entries != before:
            self._files[LEADER_EPOCHS] = in_memory(LEADER_EPOCHS, text)
            why = "the epochs are those of the batches that are left"
            self._say("rebuild", "leader-epochs", why, None, LEADER_EPOCHS, size_bytes=len(text))

    def _settle_producers(self) -> None:
        end = self._log_end()
        log_start = max(self._log.log_start_offset, self._bases[0])
        remove_strays(self._snapshots, self._bases)
        self._state.rebuild(self._bases, log_start, end, self._clean, self._replay)

    def _snapshot_steps(self) -> Iterator[Step]:
        before = {base for base, kind, _ in self._named() if kind == "snapshot"}
        for offset in sorted(self._snapshots.deleted.keys() | self._snapshots.written):
            name, written = f"{_stem(offset)}.snapshot", offset in self._snapshots.written
            if written:
                why = f"the producers' state below offset {offset} is written" + (" anew" if offset in before else "")
                yield self._step("rebuild", "producer-state", why, None, name)
            elif offset in before:  # else it was written and deleted on the way
                why = f"producer state: {self._snapshots.deleted[offset]}"
                yield self._step("delete", "producer-state", why, None, name, size_bytes=self._files[name].size_bytes)

    # ---- the files, as the load leaves them

    def _named(self) -> list[tuple[int, str, StoredFile]]:
        """(number, kind, file) of the files in use whose name begins with an offset."""
        parsed = ((names.parse_file(name), file) for name, file in self._files.items())
        return [(name.base_offset, name.kind, file) for name, file in parsed if name and not name.suffix]

    def _suffixed(self, suffix: str) -> list[tuple[str, int]]:
        """(name, number) of the files with that suffix."""
        return [(name, _number(name) or 0) for name in self._files if name.endswith(f".{suffix}")]

    def _delete(self, name: str, cause: str, why: str, quietly: bool = False) -> None:
        file = self._files.pop(name)
        if name.endswith(".snapshot"):
            self._snapshots.known.pop(_number(name), None)
        if not quietly:
            self._say("delete", cause, why, _number(name), name, size_bytes=file.size_bytes)

    def _remove_segment(self, base: int, cause: str, why: str, with_snapshot: bool = True) -> None:
        self._bases = [known for known in self._bases if known != base]
        for kind in KINDS:
            if f"{_stem(base)}.{kind}" in self._files:
                self._delete(f"{_stem(base)}.{kind}", cause, why)
        if with_snapshot:
            self._snapshots.delete(base, "its segment is deleted")

    def _cut(self, base: int, log: StoredFile, valid_bytes: int, why: str, cause: str = "tail") -> None:
        if valid_bytes < log.size_bytes:
            cut = log.size_bytes - valid_bytes
            self._files[log.name] = log.part(log.name, 0, valid_bytes)
            self._say("truncate", cause, why, base, log.name, from_position=valid_bytes, size_bytes=cut)

    def _put(self, base: int, kind: str, data: bytes, cause: str, why: str) -> bool:
        """Writes an index; whether that changes anything."""
        name = f"{_stem(base)}.{kind}"
        file = self._files.get(name)
        if (file is None and kind == "txnindex" and not data) or (file and file.size_bytes == len(data) and file.content() == data):
            return False
        self._files[name] = in_memory(name, data)
        self._say("rebuild", cause, why, base, name, size_bytes=len(data))
        return True

    def _fail(self, base: int | None, cause: str, raised: Raised, name: str, way_out: str) -> NoReturn:
        end = "takes its log directory offline; a broker that has no other one halts" if raised.class_name == STORAGE else "ends the start"
        why = f"loading {self._log.directory} ends with an exception, which {end}"
        self._say("fail", cause, why, base, name, error=str(raised), way_out=way_out)
        raise Failed

    def _say(self, action: str, cause: str, why: str, base: int | None, name: str | None, **more) -> None:
        self._steps[action, name, base] = self._step(action, cause, why, base, name, **more)

    def _step(self, action: str, cause: str, why: str, base: int | None, name: str | None, **more) -> Step:
        return Step(self._log.directory, base, action, cause, why, f"{self._log.directory}/{name}" if name else None, **more)


STOPPED = {
    "crc": "the checksum of a batch is wrong",
    "torn": "its last batch is not whole",
    "short": "what follows its last batch is too short for one",
    "bad-length": "what follows its last batch has no length that a batch can have",
    "too-small": "what follows is shorter than the header of a batch",
    "marker": "a transaction marker cannot be read",
}
FULL_WAY_OUT = (
    "give the topic a larger segment.index.bytes (of the broker: log.index.size.max.bytes), or a larger index.interval.bytes, "
    "and start again; the indexes are built anew then"
)
SHRUNK_WAY_OUT = (
    "give the topic a segment.index.bytes that has room for its entries again, and start; this start has cut {file} to {limit} bytes "
    "and took away the mark of the clean stop, so the next one recovers the segment"
)
LEADER_EPOCHS_WAY_OUT = "restore the file from another replica, or move it away: the epochs of what is recovered are found again"
PARTITION_METADATA_WAY_OUT = "write the file anew, the lines version: 0 and topic_id: ID with the id that the cluster knows the topic by"
BAD_OFFSET_WAY_OUT = (
    "copy the directory; a batch in the middle of this .log has a base offset that cannot be right, and no start gets past it: "
    "restore the segment from another replica, or move it and what follows away"
)
TXN_INDEX_WAY_OUT = "move this file and the .index of its segment out of the directory: without the .index, recovery builds both anew"
CORRUPT_WAY_OUT = (
    "copy the directory, take away .kafka_cleanshutdown if it is there, and start again: recovery cuts the .log at its last valid batch"
)


def _built(found: Recovered) -> list[tuple[str, bytes]]:
    return [("index", found.index()), ("timeindex", found.timeindex()), ("txnindex", found.txnindex())]


def _stem(base: int) -> str:
    return f"{base:020d}"


def _number(name: str) -> int | None:
    """The number that a file's name begins with, up to its first dot."""
    digits = name.partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 + 1 else None
