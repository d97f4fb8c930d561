"""The checks of all that lies beside .log, .index and .timeindex: aborted transactions, snapshots, checkpoints, leftovers.

    transfers-0/00000000000000000320.txnindex, slot 0: the marker at offset 1 lies below the base offset 320
                                                       the .log has the abort marker at 222: txnindex-mismatch
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path

import numpy as np

from kafkaviz.analyse.checks import unreadable
from kafkaviz.analyse.checks.facts import MOST_RUNS, Facts, and_more, listed
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.checks.transactions import Begun, Marker
from kafkaviz.analyse.finding import Evidence, Finding, Version, finding
from kafkaviz.analyse.restart import NEWEST, Step, before
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.errors import CannotOpen, CorruptBytes, KafkavizError
from kafkaviz.format import checkpoint, names, producer_snapshot, txn_index
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.format.names import (
    BOOTSTRAP,
    CLEAN_SHUTDOWN,
    CLEANER_CHECKPOINT,
    LEADER_EPOCHS,
    META_PROPERTIES,
    PARTITION_METADATA,
    QUORUM_STATE,
)
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, OWN_FILES, Broker, Problem
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import OFFSET_ENTRY, Segment
from kafkaviz.simulate import cluster_snapshot, own_files, small_files
from kafkaviz.units import group, legible

ENTRY_BYTES = txn_index.ENTRY.itemsize
PARTITION_FILES = (LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE)
LEFTOVERS = {"deleted": "leftover-deleted", "cleaned": "leftover-cleaned", "swap": "leftover-swap"}
CRC_AT = producer_snapshot.HEADER.fields["crc"][1]
CRC_BYTES = producer_snapshot.CRC_START - CRC_AT
SNAPSHOT_BYTES = 64 << 20  # a larger one is not read
NOT_READ = "Nothing reads it while a newer one is there"
SNAPSHOT_STEP = "Take it from another controller; if the log still begins at offset 0, move it away"
BOOTSTRAP_STEP = "Move it away: a node that has started once needs nothing of it"


# ---- one segment


def leftovers(segment: Segment, facts: Facts) -> Iterator[Finding]:
    """The files of a segment that is not in use."""
    names_ = [found.name for found in segment.files]
    length = sum(found.size_bytes for found in segment.files)
    message = f"{', '.join(names_)}: {group(length)} bytes"
    code = LEFTOVERS[segment.state]
    yield facts.found(code, names_[0], message, Evidence(f"the suffix .{segment.state}", "no such file"), 0, segment.files[0].size_bytes)


def orphans(segment: Segment, facts: Facts) -> Iterator[Finding]:
    """Indexes without a .log."""
    for found in segment.files:
        evidence = Evidence("no file", f"{segment.name}.log")
        yield facts.found("orphan-index", found.name, f"{found.name} has no .log beside it", evidence, 0, found.size_bytes)


# ---- one partition


def of_partition(partition: Partition, summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """The files beside the segments; summaries: of the live segments, in order."""
    yield from _aborted(summaries, facts)
    yield from _snapshots(partition, summaries, facts)
    yield from _epochs(partition, summaries, facts)
    yield from _metadata(partition, facts)
    yield from _others(partition, facts)


@dataclass(frozen=True)
class _Aborted:
    """An abort that the log tells: its marker, the first offset if it is known, and that of the first transaction still open."""

    marker: Marker
    first_offset: int | None
    stable_offset: int | None


def _aborted(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Each .txnindex beside what the markers of its .log say."""
    open_: dict[int, Begun] = {}
    for told in takewhile(lambda one: not one.unreadable, summaries):  # what began or ended behind a hole is not known
        expected = list(_aborts(told, open_))
        segment = told.segment
        if segment.txnindex is None:
            known = [one for one in expected if one.first_offset is not None]
            if known and not facts.compacted and not told.unsound:
                yield _no_index(known, segment, facts)
            continue
        try:
            entries = segment.txn_index
        except KafkavizError as fault:
            yield unreadable.of_file(segment.txnindex.name, fault, facts)
            continue
        torn = segment.txnindex.size_bytes % ENTRY_BYTES
        if torn:
            yield _torn(segment, entries, torn, facts)
        if not told.unsound:
            yield from _compared(entries, expected, segment, facts, _Begins(summaries), bool(torn))


class _Begins:
    """Where transactions begin: the last stable offset of an entry is one of these, if it is not the one behind the marker."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        """summaries: of all segments; what was open before the first of them is not known unless that is the log's very first."""
        self._known = summaries[0].segment.base_offset == 0 and not any(told.unsound for told in summaries)
        self._offsets = {offset for told in summaries for offset in told.stable_begins}
        self._offsets |= {step.offset for told in summaries for kind, _, step in told.steps if kind == "begin"}

    def allow(self, stable_offset: int, told: _Aborted) -> bool:
        """Whether the entry of an abort can hold this last stable offset.

        A follower works it out once all it fetched was taken in, so its value may be greater than the leader's, and never less.
        """
        behind = told.marker.offset + 1
        least = behind if told.stable_offset is None else told.stable_offset
        return not self._known or (stable_offset >= least and (stable_offset == behind or stable_offset in self._offsets))


def _aborts(told: Summary, open_: dict[int, Begun]) -> Iterator[_Aborted]:
    """The aborts of a segment; open_ is carried from segment to segment."""
    for kind, producer, step in told.steps:
        if kind == "begin":
            open_.setdefault(producer, step)
            continue
        begun = open_.pop(producer, None)
        if step.is_abort:
            before = [one.offset for one in open_.values() if one.offset < told.segment.base_offset]
            others = [*before, *([] if step.stable_offset is None else [step.stable_offset])]
            yield _Aborted(step, begun.offset if begun else None, min(others, default=None))


def _no_index(known: list[_Aborted], segment: Segment, facts: Facts) -> Finding:
    name = f"{segment.name}.txnindex"
    first = f"the first ended at offset {group(known[0].marker.offset)}"
    message = f"the .log has {group(len(known))} aborted transactions, {first}, and there is no .txnindex"
    return facts.found("txnindex-mismatch", name, message, Evidence("no file", f"{group(len(known))} entries"))


def _torn(segment: Segment, entries: np.ndarray, torn: int, facts: Facts) -> Finding:
    at = len(entries) * ENTRY_BYTES
    message = f"the file is {group(at + torn)} bytes long, no multiple of {ENTRY_BYTES}"
    evidence = Evidence(f"{torn} bytes behind the last whole entry", f"a length that is a multiple of {ENTRY_BYTES}")
    return facts.found("txnindex-torn", segment.txnindex.name, message, evidence, at, torn)


def _compared(
    entries: np.ndarray, expected: list[_Aborted], segment: Segment, facts: Facts, begins: _Begins, torn: bool
) -> Iterator[Finding]:
    """The entries that differ from what the log says, and the aborts without an entry."""
    by_marker = {one.marker.offset: one for one in expected}
    wrong = [slot for slot, entry in enumerate(entries) if not _agrees(entry, by_marker.get(int(entry["last_offset"])), facts, begins)]
    kept = {int(entry["last_offset"]) for entry in entries}
    lacking = [one for one in expected if one.first_offset is not None and one.marker.offset not in kept]
    yield from listed(wrong, lambda *run: _entry(entries, lacking, segment, facts, *run))
    if lacking and not wrong and not torn and not facts.compacted:
        one = lacking[0]
        message = f"no entry for the transaction of producer {one.marker.producer_id} that was aborted at offset {group(one.marker.offset)}"
        at = len(entries) * ENTRY_BYTES
        expected_words = f"an entry for offsets {group(one.first_offset)} to {group(one.marker.offset)}"
        evidence = Evidence(f"{group(len(entries))} entries without it", expected_words)
        yield facts.found("txnindex-mismatch", segment.txnindex.name, message + and_more(len(lacking) - 1), evidence, at, 0)


def _agrees(entry: np.void, told: _Aborted | None, facts: Facts, begins: _Begins) -> bool:
    """Whether an entry tells an abort of the log."""
    if told is None or told.marker.producer_id != entry["producer_id"] or entry["version"] != txn_index.VERSION:
        return False
    if told.first_offset is not None and told.first_offset != entry["first_offset"]:
        return facts.compacted
    return facts.compacted or begins.allow(int(entry["last_stable_offset"]), told)


def _entry(entries: np.ndarray, lacking: list[_Aborted], segment: Segment, facts: Facts, first: int, last: int, more: int) -> Finding:
    entry = entries[first]
    below = int(entry["last_offset"]) < segment.base_offset
    message = f"slot {first}: {txn_index.entry_text(entry)}"
    message += f" ends below the segment's base offset {group(segment.base_offset)}" if below else " is not what the .log says"
    expected = ""
    if lacking:
        one = lacking[0]
        expected = f"producer {one.marker.producer_id}, offsets {group(one.first_offset)} to {group(one.marker.offset)}, which has no entry"
    consequence = "The next start notices, recovers the segment and rebuilds its indexes" if below else ""
    evidence = Evidence(txn_index.entry_text(entry), expected, entries[first : first + 1].tobytes().hex())
    place = first * ENTRY_BYTES, (last - first + 1) * ENTRY_BYTES
    return facts.found("txnindex-mismatch", segment.txnindex.name, message + and_more(more), evidence, *place, consequence=consequence)


def _snapshots(partition: Partition, summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Snapshots that cannot be read, that belong nowhere, and none where one is needed.

    A start keeps those of segments' base offsets and the newest one above (removeStraySnapshots, 4.3.1). Each stop leaves one at the
    log's end, which the next but one removes: that is how a healthy log looks, so a snapshot where a batch begins is none of these.
    """
    bases = [told.segment.base_offset for told in summaries]
    found = partition.snapshots
    stray = [offset for offset in found if offset not in bases]
    kept = max(stray, default=-1) if max(stray, default=-1) > max(bases, default=-1) else None
    for one in found.values():
        yield from _broken_snapshot(one, facts)
    removed = [found[offset] for offset in stray if offset != kept and not _begins_batch(summaries, offset)]
    if removed:
        more = f"; so are {len(removed) - 1} more" if len(removed) > 1 else ""
        message = f"no segment and no batch begins at the offset of {removed[0].name}{more}"
        evidence = Evidence(", ".join(one.name for one in removed[:MOST_RUNS]), "base offsets of segments, and the log's end of a stop")
        yield facts.found("snapshot-stray", removed[0].name, message, evidence, 0, removed[0].size_bytes)
    wrote = sum(told.producer_batches for told in summaries)
    if wrote and not found and facts.clean:
        message = f"{group(wrote)} batches have a producer id, and there is no .snapshot"
        yield facts.found("snapshot-missing", None, message, Evidence("no .snapshot", "one at the log's end"))


def _begins_batch(summaries: Sequence[Summary], offset: int) -> bool:
    """Whether a batch begins at an offset, or may have before compaction; the log's end counts too."""
    told = next((one for one in reversed(summaries) if one.segment.base_offset <= offset), None)
    if told is None or told.unsound or told.last_offset is None:
        return told is not None
    entries = told.segment.offset_index if "index" not in told.hidden else np.empty(0, OFFSET_ENTRY)
    slot = int(np.searchsorted(entries["offset"], offset)) - 1
    start = max(int(entries["position"][slot]), 0) if slot >= 0 else 0  # a damaged entry may point before the file
    begins = told.last_offset + 1
    for batches in told.segment.scan(start):
        behind = batches["base_offset"][batches["base_offset"] >= offset]
        if len(behind):
            begins = int(behind[0])
            break
    return begins == offset or bool(told.gap_count or told.dropped_offsets)


def _broken_snapshot(one: FileInfo, facts: Facts) -> Iterator[Finding]:
    try:
        data = file.read(one.path, 0, SNAPSHOT_BYTES)
        producer_snapshot.parse(data)
    except CorruptBytes as fault:
        position, evidence = fault.position, Evidence(fault.what, "a snapshot that Kafka reads")
        stored, computed = data[CRC_AT : producer_snapshot.CRC_START], crc32c(data[producer_snapshot.CRC_START :])
        if len(stored) == CRC_BYTES and int.from_bytes(stored, "big") != computed:  # whatever else is wrong follows from this
            number = int.from_bytes(stored, "big")
            evidence = Evidence(f"stored checksum {number}", f"{computed}, computed from its bytes", stored.hex(), f"{computed:08x}")
            position = CRC_AT
        message = f"{one.name} is not what was written: {fault.what}"
        yield facts.found("snapshot-bad-crc", one.name, message, evidence, position, min(CRC_BYTES, max(len(data) - position, 0)))
    except KafkavizError as fault:
        yield unreadable.of_file(one.name, fault, facts)


def _epochs(partition: Partition, summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """leader-epoch-checkpoint by itself, and beside the epochs of the batches."""
    if not any(found.name == LEADER_EPOCHS for found in partition.others):
        return
    try:
        epochs = checkpoint.parse_leader_epochs(file.read_text(partition.path / LEADER_EPOCHS))
    except CorruptBytes as fault:
        yield facts.found("leader-epoch-bad", LEADER_EPOCHS, f"byte {fault.position}: {fault.what}", Evidence(fault.what), fault.position)
        return
    except KafkavizError as fault:
        yield unreadable.of_file(LEADER_EPOCHS, fault, facts)
        return
    for (epoch, start), (later, start_later) in pairwise(epochs):
        if later <= epoch or start_later <= start:
            message = f"epoch {later} from offset {group(start_later)} follows epoch {epoch} from offset {group(start)}"
            yield _wrong_epochs(message, Evidence(message, "epochs and offsets that grow"), facts)
            return
    yield from _epochs_beside_log(epochs, summaries, facts)


def _epochs_beside_log(epochs: list[tuple[int, int]], summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """Batches whose epoch began, by the checkpoint, behind them, or is not in it; after a kill the next start settles that."""
    if any(told.unsound for told in summaries) or not epochs or facts.clean is False:
        return
    starts = dict(epochs)
    end = max((told.last_offset + 1 for told in summaries if told.last_offset is not None), default=0)
    for told in summaries:
        for epoch, offset, position in told.epochs:
            known = epoch < 0 or offset < epochs[0][1] or (epoch in starts and starts[epoch] <= offset)
            if not known:
                said = f"says that epoch {epoch} begins at offset {group(starts[epoch])}" if epoch in starts else f"has no epoch {epoch}"
                place = f"byte {group(position)} of {told.segment.name}.log"
                message = f"{LEADER_EPOCHS} {said}; the batch of offset {group(offset)} is of it ({place})"
                evidence = Evidence(said, f"epoch {epoch} from offset {group(offset)} or before")
                yield _wrong_epochs(message, evidence, facts)
                return
    if epochs[-1][1] > end:
        message = f"epoch {epochs[-1][0]} begins at offset {group(epochs[-1][1])}, behind the log's end {group(end)}"
        yield _wrong_epochs(message, Evidence(message, f"an offset up to {group(end)}"), facts)


def _wrong_epochs(message: str, evidence: Evidence, facts: Facts) -> Finding:
    """Of a file that Kafka reads, and should not believe."""
    consequence = "A start takes them as they are; wrong epochs make followers truncate at wrong offsets"
    return facts.found("leader-epoch-bad", LEADER_EPOCHS, message, evidence, consequence=consequence)


def _metadata(partition: Partition, facts: Facts) -> Iterator[Finding]:
    if not any(found.name == PARTITION_METADATA for found in partition.others):
        return
    try:
        checkpoint.parse_partition_metadata(file.read_text(partition.path / PARTITION_METADATA))
    except CorruptBytes as fault:
        message = f"byte {fault.position}: {fault.what}"
        evidence = Evidence(fault.what, "version: 0, topic_id: 22 characters")
        refused = small_files.partition_metadata_fault(file.read(partition.path / PARTITION_METADATA), PARTITION_METADATA)
        consequence = "" if refused else "Kafka looks at the values alone, and reads them all the same"
        yield facts.found("partition-metadata-bad", PARTITION_METADATA, message, evidence, fault.position, consequence=consequence)
    except KafkavizError as fault:
        yield unreadable.of_file(PARTITION_METADATA, fault, facts)


def _others(partition: Partition, facts: Facts) -> Iterator[Finding]:
    """Files that are none of Kafka's, and snapshots that wait to be unlinked or were never finished."""
    for found in partition.others:
        name = names.parse_file(found.name)
        if name and name.kind == "checkpoint" and not name.suffix:
            is_newest = found.name == cluster_snapshot.newest(one.name for one in partition.others)
            consequence = "The node does not start: it reads its newest snapshot first" if is_newest else NOT_READ
            try:
                yield from _cluster_snapshot(found.path, facts.partition, facts.version, consequence, SNAPSHOT_STEP)
            except CannotOpen as fault:
                yield unreadable.of_file(found.name, fault, facts, unreadable.SNAPSHOT if is_newest else NOT_READ)
        elif name and name.suffix in LEFTOVERS:
            evidence = Evidence(f"the suffix .{name.suffix}", "no such file")
            message = f"{found.name}: {group(found.size_bytes)} bytes"
            yield facts.found(LEFTOVERS[name.suffix], found.name, message, evidence, 0, found.size_bytes)
        elif not name and found.name.removesuffix(".tmp") not in PARTITION_FILES:
            yield _unknown(facts.partition, found.name, found.size_bytes, facts.version)


# ---- the broker directory


def of_broker(broker: Broker, version: Version, strange_names: Sequence[str] = ()) -> Iterator[Finding]:
    """The files and directories of the broker directory itself; strange_names: directories that no start accepts."""
    for name in (*CHECKPOINTS.values(), CLEANER_CHECKPOINT):
        yield from _checkpoint(broker.path / name, version)
    ends = _ends(broker, version)
    yield from _properties(broker, "meta-properties" in ends, version)
    yield from _bootstrap(broker.path / BOOTSTRAP, ends.get("bootstrap"), version)
    yield from (_strange(legible(name), version) for name in strange_names)
    for problem in broker.problems:
        name = problem.path.name
        if problem.is_unread and name not in (*CHECKPOINTS.values(), META_PROPERTIES):  # these are read once more
            consequence, partition = (unreadable.ONLY_THERE, None) if name == CLEAN_SHUTDOWN else (unreadable.OFFLINE, name)
            yield unreadable.of_path(name, partition, problem, version, consequence)
    with file.failing_kindly(broker.path), os.scandir(broker.path) as entries:
        found = sorted(entry.name for entry in entries if not entry.is_dir())
    yield from (_unknown(None, name, None, version) for name in found if name.removesuffix(".tmp") not in OWN_FILES)


def _ends(broker: Broker, version: Version) -> dict[str, Step]:
    """Where the directory's own files end a start, by cause; nothing where they may not be read."""
    try:
        return {step.cause: step for step in before(broker, version or NEWEST)}
    except CannotOpen:
        return {}


def _strange(shown: str, version: Version) -> Finding:
    return finding("directory-name-bad", f"{shown} is no topic-partition", Evidence(shown, "TOPIC-NUMBER"), file=shown, version=version)


def _unknown(partition: str | None, name: str, size_bytes: int | None, version: Version) -> Finding:
    shown = legible(name)
    path = f"{partition}/{shown}" if partition else shown
    place = {"position": 0, "length": size_bytes} if size_bytes is not None else {}
    message = f"{shown} is no file of Kafka's"
    return finding("unknown-file", message, Evidence(shown), partition=partition, file=path, version=version, **place)


def _checkpoint(path: Path, version: Version) -> Iterator[Finding]:
    if not path.exists():
        return
    try:
        checkpoint.parse_offsets(file.read_text(path))
    except CorruptBytes as fault:
        message = f"{path.name}: {fault.what}"
        yield finding("checkpoint-unreadable", message, Evidence(fault.what), file=path.name, position=fault.position, version=version)
    except CannotOpen as fault:
        yield unreadable.of_path(path.name, None, Problem.of(path, fault), version, unreadable.COUNTS_AS_EMPTY)


def _bootstrap(path: Path, end: Step | None, version: Version) -> Iterator[Finding]:
    """The metadata that the directory was formatted with: a start reads its records, and no checksum."""
    if not path.exists():
        return
    consequence = f"The node does not start: {end.error}" if end else "A start looks at no checksum here, and believes what it reads"
    try:
        found = list(_cluster_snapshot(path, None, version, consequence, BOOTSTRAP_STEP))
    except CannotOpen as fault:
        yield unreadable.of_path(path.name, None, Problem.of(path, fault), version, unreadable.NO_START)
        return
    if end and not found:
        evidence, place = Evidence(end.error, "a record that sets metadata.version"), (0, file.info(path).size_bytes)
        found = [finding("checkpoint-unreadable", f"{path.name}: {end.error}", evidence, file=path.name, position=place[0],
                         length=place[1], version=version, consequence=consequence, next_step=BOOTSTRAP_STEP)]  # fmt: skip
    yield from found


def _cluster_snapshot(path: Path, partition: str | None, version: Version, consequence: str, next_step: str) -> Iterator[Finding]:
    """A snapshot of the cluster's metadata: batch after batch, each with a checksum, the first and the last of control records."""
    name = f"{partition}/{path.name}" if partition else path.name

    def told(message: str, evidence: Evidence, position: int, length: int) -> Finding:
        return finding(
            "checkpoint-unreadable", message, evidence, partition=partition, file=name, position=position, length=length, version=version,
            consequence=consequence, next_step=next_step,
        )  # fmt: skip

    size_bytes = file.info(path).size_bytes
    with file.reader(path) as read:
        scan = DeepScan(read, 0, size_bytes)
        wrong = [row for part in scan for row in part.batches[~part.batches["crc_valid"] | (part.batches["fault"] != 0)]]
    for row in wrong[:1]:
        fault = "holds records that cannot be read" if row["crc_valid"] else "does not match its checksum"
        evidence = Evidence(f"the batch at byte {group(int(row['position']))} {fault}")
        yield told(f"{path.name}: {evidence.found}{and_more(len(wrong) - 1)}", evidence, int(row["position"]), int(row["size_bytes"]))
    if not wrong and scan.end.position < size_bytes:
        left = size_bytes - scan.end.position
        message = f"{path.name}: {group(left)} bytes behind byte {group(scan.end.position)} are no batch"
        yield told(message, Evidence(f"{group(left)} bytes that are no batch", "whole batches up to the end"), scan.end.position, left)


def _properties(broker: Broker, ends_start: bool, version: Version) -> Iterator[Finding]:
    """meta.properties, as a start takes it; without broker.id a broker of ZooKeeper's times goes by its settings."""
    path = broker.path / META_PROPERTIES
    problem = next((one for one in broker.problems if one.path == path), None)
    if problem and problem.is_unread:
        yield unreadable.of_path(META_PROPERTIES, None, problem, version, unreadable.NO_START)
        return
    kind, lacking = broker.properties.get("version", "0"), [one for one in ("broker.id", "cluster.id") if one not in broker.properties]
    fault = problem.what if problem else own_files.properties_fault(file.read(path)) if path.exists() else "there is no meta.properties"
    if not fault and kind == "0" and lacking:
        fault = f"it does not tell {' and '.join(lacking)}"
    if fault:
        consequence = "" if ends_start else "A broker of ZooKeeper's times takes what is missing from its settings, and writes it down"
        keys = "version=0, broker.id" if kind == "0" and not ends_start else "version=1, cluster.id, node.id"
        found = "no file" if not path.exists() else fault
        yield finding("meta-properties-bad", fault, Evidence(found, keys), file=META_PROPERTIES, version=version, consequence=consequence)
