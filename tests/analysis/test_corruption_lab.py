"""Every fault, put into a healthy directory: the check names it and no other error."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.checks import plan as check_plan
from kafkaviz.analysis.checks import settings
from kafkaviz.analysis.findings import CODES, UNCHECKED_CODES, Finding
from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.varint import read_varint, read_varlong
from kafkaviz.format import record
from kafkaviz.format.batch import CRC_START, HEADER_BYTES, is_control
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.metadata import TOPIC_RESOURCE
from kafkaviz.format.names import (
    CLEAN_SHUTDOWN,
    CLEANER_CHECKPOINT,
    HIGH_WATERMARK_CHECKPOINT,
    LOG_START_CHECKPOINT,
    RECOVERY_POINT_CHECKPOINT,
)
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import message
from kafkaviz.units import DAY_MS, file_stem
from tests.analysis.contradictions import contradictions
from tests.analysis.lab import CRC_AT, PARTITIONS, Lab
from tests.support.findings import codes, only
from tests.support.legacy_messages import build_message

YEAR_2000_MS = 946_684_800_000
NO_START = re.compile("not start|refuses to start|offline|cannot be loaded|broker stops before")
PREDICTED = tuple(f"recovery-will-{end}" for end in ("truncate", "rebuild", "delete", "fail"))
METADATA, APPENDED, PLAIN, LZ4, TXN, LATE = PARTITIONS
NIGHTLY = pytest.mark.nightly


@dataclass(frozen=True)
class Fault:
    """A way to damage a directory, and the code and file that must be found.

    `also`: codes that follow from it, in any file. `beside`: another partition that it needs.
    """

    code: str
    file: str  # how its path ends
    damage: Callable[[Lab], object]
    also: tuple[str, ...] = ()
    now_ms: int | None = None
    beside: str = ""
    most_maps: int | None = None  # what the system allows, if that is the fault


def log(lab: Lab, partition: str = PLAIN, segment: int = 0):
    return lab.files(partition, ".log")[segment]


def index(lab: Lab, partition: str = PLAIN, segment: int = 0):
    return lab.files(partition, ".index")[segment]


def times(lab: Lab, partition: str = PLAIN, segment: int = 0):
    return lab.files(partition, ".timeindex")[segment]


def txnindex(lab: Lab):
    return lab.files(TXN, ".txnindex")[0]


def rows(path) -> np.ndarray:
    return walk(path.read_bytes())[0]


def written(name: str, data: bytes) -> Callable[[Lab], None]:
    return lambda lab: lab.write(lab.path / name, data)


def resized(find: Callable[[Lab], Path], change: Callable[[bytes], bytes]) -> Callable[[Lab], None]:
    return lambda lab: lab.write(find(lab), change(find(lab).read_bytes()))


def checkpointed(name: str, offset: int, topic: str = "clicks-none") -> Callable[[Lab], None]:
    return lambda lab: lab.checkpoint(name, topic, 0, offset)


# ---- the .log


def flip(lab: Lab, at: int, number: int = 5, partition: str = PLAIN, segment: int = 0) -> None:
    path = log(lab, partition, segment)
    place = int(rows(path)["position"][number]) + at
    lab.change(path, lambda data: data.__setitem__(place, data[place] ^ 0x10))


def length(lab: Lab, number: int, value: int) -> None:
    lab.batch(log(lab), number, crc=False, batch_length_bytes=value)


def move_base_timestamp(lab: Lab, by_ms: int) -> None:
    base_ms = int(rows(log(lab))["base_timestamp_ms"][5])
    lab.batch(log(lab), 5, base_timestamp_ms=base_ms + by_ms)


def change_summed(lab: Lab, path: Path, change: Callable[[bytearray], None]) -> None:
    """Changes the sixth batch of a log, and gives it a right checksum."""
    row = rows(path)[5]
    batch = slice(int(row["position"]), int(row["position"] + row["size_bytes"]))

    def change_log(data: bytearray) -> None:
        changed = data[batch]
        change(changed)
        changed[CRC_AT:CRC_START] = crc32c(bytes(changed[CRC_START:])).to_bytes(4, "big")
        data[batch] = changed

    lab.change(path, change_log)


def malformed(lab: Lab) -> None:
    """Makes the first record's length one too large."""

    def change(data: bytearray) -> None:
        data[HEADER_BYTES] += 2

    change_summed(lab, log(lab), change)


def wrapped(lab: Lab) -> None:
    """Replaces a batch by a wrapper of magic 1 whose second message fails its checksum."""
    path = log(lab)
    row = rows(path)[5]
    first, last = int(row["base_offset"]), int(row["last_offset"])
    times_ms = {"timestamp_ms": int(row["max_timestamp_ms"])}
    messages = [
        build_message(1, place, b"k", b"v", **times_ms) for place in range(last - first + 1)
    ]
    broken = bytearray(messages[1])
    broken[-1] ^= 1
    messages[1] = bytes(broken)
    content = codec.compress("gzip", b"".join(messages))
    empty = build_message(1, last, None, b"", attributes=1, **times_ms)
    # bytes after the gzip member are not read
    content += bytes(int(row["size_bytes"]) - len(empty) - len(content))
    wrapper = build_message(1, last, None, content, attributes=1, **times_ms)
    start = int(row["position"])
    lab.change(path, lambda data: data.__setitem__(slice(start, start + len(wrapper)), wrapper))


def repeated_offset(lab: Lab) -> None:
    """Gives the second record of a batch the offset of the first."""

    def change(data: bytearray) -> None:
        record_bytes, record_start = read_varint(data, HEADER_BYTES)
        _, second = read_varint(data, record_start + record_bytes)
        _, offset_at = read_varlong(data, second + 1)
        assert data[offset_at] == 2  # the varint of 1
        data[offset_at] = 0

    change_summed(lab, log(lab), change)


def set_topic(lab: Lab, topic: str, name: str, value: str) -> None:
    """Replaces the last record of the metadata log, a batch of its own, by a ConfigRecord."""

    def change(data: bytearray) -> None:
        row = walk(bytes(data))[0][-1]
        position = int(row["position"])
        parts = b"".join(bytes([len(part) + 1]) + part.encode() for part in (topic, name, value))
        config = bytes([1, 4, 0, TOPIC_RESOURCE]) + parts + b"\0"
        data[position + HEADER_BYTES :] = record.build(
            [record.Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=config)]
        )
        size_bytes = len(data) - position
        lab.set(data, position, size_bytes, True, batch_length_bytes=size_bytes - 12)

    lab.change(log(lab, METADATA), change)


def sequences(first: tuple[int, int], second: tuple[int, int]) -> Callable[[Lab], None]:
    """Gives two batches to one producer, each with an epoch and a sequence."""

    def damage(lab: Lab) -> None:
        for number, (epoch, sequence) in ((5, first), (7, second)):
            fields = {"producer_id": 7, "producer_epoch": epoch, "base_sequence": sequence}
            lab.batch(log(lab), number, **fields)

    return damage


def garbled(lab: Lab) -> None:
    """Garbles the first bytes of an lz4 frame."""

    def change(data: bytearray) -> None:
        data[HEADER_BYTES : HEADER_BYTES + 4] = b"none"

    change_summed(lab, log(lab, LZ4), change)


def rebased(
    number: int, change: Callable[[np.ndarray], int], segment: int = 0
) -> Callable[[Lab], None]:
    """Changes the base offset of a batch; `change` is given those of all batches."""

    def damage(lab: Lab) -> None:
        path = log(lab, PLAIN, segment)
        lab.batch(path, number, crc=False, base_offset=int(change(rows(path)["base_offset"])))

    return damage


def hole(lab: Lab) -> None:
    """Replaces a batch by zeros, with batches after it."""
    row = rows(log(lab))[7]
    start, end = int(row["position"]), int(row["position"] + row["size_bytes"])
    lab.change(log(lab), lambda data: data.__setitem__(slice(start, end), bytes(end - start)))


def overlap(lab: Lab) -> None:
    """Appends the first batch of the next segment to this one."""
    first, second = lab.files(PLAIN, ".log")
    copied = bytearray(second.read_bytes()[: int(rows(second)["size_bytes"][0])])
    times_ms = moved(rows(second)[0], int(rows(first)["max_timestamp_ms"][0]))
    lab.set(copied, 0, len(copied), True, **times_ms)
    lab.write(first, first.read_bytes() + copied)


def compacted(lab: Lab) -> None:
    """Removes a batch from a log that the cleaner's checkpoint names; the indexes match the rest."""
    path = log(lab)
    row = rows(path)[7]
    start, end = int(row["position"]), int(row["position"] + row["size_bytes"])
    lab.write(path, path.read_bytes()[:start] + path.read_bytes()[end:])
    lab.reindex(path)
    cleaned_to = int(rows(log(lab, PLAIN, 1))["base_offset"][0])
    lab.checkpoint(CLEANER_CHECKPOINT, "clicks-none", 0, cleaned_to)


def removed(lab: Lab, partition: str, segment: int) -> None:
    stem = log(lab, partition, segment).stem
    for path in (lab.path / partition).glob(f"{stem}.*"):
        path.unlink()


def tail(lab: Lab, data: bytes) -> None:
    path = log(lab, PLAIN, 1)
    lab.write(path, path.read_bytes() + data)


def torn(lab: Lab) -> None:
    path = log(lab, PLAIN, 1)
    lab.write(path, path.read_bytes()[:-10])


# ---- indexes


def swapped(table: np.ndarray) -> np.ndarray:
    return table[[0, 1, 3, 2, *range(4, len(table))]]


def edited(
    find: Callable[[Lab], Path], change: Callable[[np.ndarray], np.ndarray | None]
) -> Callable[[Lab], None]:
    return lambda lab: lab.entries(find(lab), change)


def slot(
    find: Callable[[Lab], Path], number: int, **changes: Callable[[np.ndarray], int]
) -> Callable[[Lab], None]:
    """Changes fields of one entry; each change is given the column."""

    def change(table: np.ndarray) -> None:
        for field, value in changes.items():
            table[field][number] = value(table[field])

    return edited(find, change)


def coarse(lab: Lab) -> None:
    (lab.path / "bootstrap.checkpoint").unlink()
    batches = rows(log(lab))

    def change(table: np.ndarray) -> None:
        at = int(np.searchsorted(batches["position"], table["position"][4]))
        table["relative_offset"][4] = batches["last_offset"][at + 1]

    lab.entries(index(lab), change)


def first_keys(lab: Lab) -> None:
    (lab.path / "bootstrap.checkpoint").unlink()
    batches = rows(log(lab))

    def change(table: np.ndarray) -> None:
        table["relative_offset"] = batches["base_offset"][
            np.searchsorted(batches["position"], table["position"])
        ]

    lab.entries(index(lab), change)


def deep(lab: Lab) -> None:
    """Writes an entry for the record that has the time, as releases before 3.7 did."""
    (lab.path / "bootstrap.checkpoint").unlink()
    path = log(lab, LATE)
    segment = open_broker(lab.path).partition(LATE).segments[0]
    batches = rows(path)

    def change(table: np.ndarray) -> None:
        for number, entry in enumerate(table):
            batch = batches[np.searchsorted(batches["last_offset"], entry["relative_offset"])]
            newest = next(
                record
                for record in segment.records(int(batch["position"]))
                if record.timestamp_ms == batch["max_timestamp_ms"]
            )
            if newest.offset < batch["last_offset"]:
                table["relative_offset"][number] = newest.offset
                return
        raise AssertionError("no batch whose newest record is not its last")

    lab.entries(times(lab, LATE), change)


def after_a_newer_one(lab: Lab) -> None:
    """Writes an entry for a batch that is older than one before it."""
    batches = rows(log(lab, LATE))
    running = np.maximum.accumulate(batches["max_timestamp_ms"])

    def change(table: np.ndarray) -> None:
        for number in range(1, len(table) - 1):
            low, high = np.searchsorted(
                batches["last_offset"], table["relative_offset"][[number - 1, number + 1]]
            )
            for batch, newest in zip(batches[low:high], running[low:high], strict=True):
                if table["timestamp_ms"][number - 1] < batch["max_timestamp_ms"] < newest:
                    table["timestamp_ms"][number] = batch["max_timestamp_ms"]
                    table["relative_offset"][number] = batch["last_offset"]
                    return
        raise AssertionError("no batch that is older than one before it")

    lab.entries(times(lab, LATE), change)


def inside_batch(lab: Lab) -> None:
    """Writes an entry for a record of the right batch that does not have the time."""
    batches = rows(log(lab))

    def change(table: np.ndarray) -> None:
        batch = batches[np.searchsorted(batches["last_offset"], table["relative_offset"][3])]
        table["relative_offset"][3] = batch["base_offset"]

    lab.entries(times(lab), change)


def unwritten(lab: Lab) -> None:
    lab.unclean()
    lab.write(index(lab, PLAIN, 1), index(lab, PLAIN, 1).read_bytes() + bytes(800))


# ---- other files


def snapshot(lab: Lab):
    return lab.files(TXN, ".snapshot")[-1]


def flipped_end(data: bytearray) -> None:
    data[-9] ^= 4


def renamed(lab: Lab, suffix: str) -> None:
    for path in (log(lab), index(lab), times(lab)):
        lab.write(path.with_name(path.name + suffix), path.read_bytes())


def unfinished(lab: Lab) -> None:
    """Begins a transaction that never ends: its marker is cut off with everything after it."""
    path = log(lab, TXN, 2)
    batches = rows(path)
    marker = int(batches["position"][np.flatnonzero(is_control(batches))[-1]])
    lab.write(path, path.read_bytes()[:marker])
    lab.reindex(path)
    end = int(batches["last_offset"][np.searchsorted(batches["position"], marker) - 1]) + 1
    snapshot(lab).unlink()
    for name in (RECOVERY_POINT_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT):
        lab.checkpoint(name, "payments", 0, end)


# ---- time and settings


def moved(row: np.void, newest_ms: int) -> dict[str, int]:
    """Moves the times of a batch so that its newest record has another time."""
    span_ms = int(row["max_timestamp_ms"]) - int(row["base_timestamp_ms"])
    return {"max_timestamp_ms": newest_ms, "base_timestamp_ms": newest_ms - span_ms}


def timed(
    change: Callable[[int], int], segment: int = 0, from_position: int = 0
) -> Callable[[Lab], None]:
    """Moves the batches of a segment to another time, and both indexes with it."""

    def moved_row(row: np.void) -> dict[str, int]:
        if row["position"] < from_position:
            return {}
        return moved(row, change(int(row["max_timestamp_ms"])))

    def damage(lab: Lab) -> None:
        path = log(lab, PLAIN, segment)
        lab.batches(path, moved_row)
        lab.reindex(path)

    return damage


def split(lab: Lab, pieces: int, interval_bytes: int, grow: bool) -> None:
    """Splits a log into many segments, as if an index had been full each time."""
    path = log(lab)
    data, batches = path.read_bytes(), rows(path)
    removed(lab, PLAIN, 1)
    removed(lab, PLAIN, 0)
    for file in lab.files(PLAIN, ".snapshot"):
        file.unlink()
    each = len(batches) // (pieces + 1)
    for piece in range(pieces + 1):
        count = each if piece < pieces else 3
        part = batches[piece * each : piece * each + count]
        start, end = int(part["position"][0]), int(part["position"][-1] + part["size_bytes"][-1])
        part_path = path.with_name(f"{file_stem(int(part['base_offset'][0]))}.log")
        lab.write(part_path, data[start:end])
        if not grow:
            lab.batches(part_path, lambda row: moved(row, 1_790_000_000_000))
        lab.reindex(part_path, interval_bytes)
    for name in (RECOVERY_POINT_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT):
        lab.checkpoint(name, "clicks-none", 0, int(part["last_offset"][-1]) + 1)


def waste(lab: Lab) -> None:
    lab.unclean()
    path = index(lab, PLAIN, 1)
    lab.write(path, path.read_bytes() + bytes(2 << 20))
    with path.open("r+b") as file:  # zeros that are written, not a hole
        file.seek(len(path.read_bytes()) - 2)
        file.write(b"\0")


LOG = f"{PLAIN}/{file_stem(0)}.log"
INDEX = f"{PLAIN}/{file_stem(0)}.index"
TIMES = f"{PLAIN}/{file_stem(0)}.timeindex"
TXNINDEX = f"{TXN}/{file_stem(0)}.txnindex"
LATE_TIMES = f"{LATE}/{file_stem(0)}.timeindex"
IN_PLAIN = f"{PLAIN}/"
EPOCHS = f"{PLAIN}/leader-epoch-checkpoint"
TOPIC_ID = f"{PLAIN}/partition.metadata"
QUORUM = f"{METADATA}/quorum-state"
BOOTSTRAP = "bootstrap.checkpoint"
PROPERTIES = "meta.properties"
NO_EFFECT = ("interval-without-effect",)
BLOCKED = ("retention-blocked",)
BY_MTIME = ("retention-by-mtime",)
OUT_OF_ORDER = ("timestamps-out-of-order",)

FAULTS = [
    Fault("batch-crc-mismatch", LOG, lambda lab: flip(lab, 100)),
    Fault("batch-crc-mismatch", LOG, lambda lab: flip(lab, 36)),  # in the largest timestamp
    Fault("batch-crc-mismatch", LOG, lambda lab: flip(lab, 25)),  # in the last offset delta
    Fault("batch-crc-mismatch", LOG, lambda lab: flip(lab, 18)),  # in the checksum
    Fault("batch-crc-mismatch", LOG, lambda lab: flip(lab, 100, 0)),
    Fault("batch-crc-mismatch", IN_PLAIN, lambda lab: flip(lab, 100, -1, segment=1)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, 5, 2_000_000_000)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, 5, 3)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, 5, -1)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, 5, 200)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, 0, 0)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, -1, 100)),
    Fault("batch-bad-length", LOG, lambda lab: length(lab, -1, 100_000)),
    # over the next one
    Fault(
        "batch-bad-length",
        LOG,
        lambda lab: length(lab, 5, int(rows(log(lab))["size_bytes"][5:7].sum()) - 12),
    ),
    Fault("batch-bad-length", LOG, hole),
    Fault("batch-bad-magic", LOG, lambda lab: lab.batch(log(lab), 5, crc=False, magic=3)),
    Fault("batch-bad-magic", LOG, lambda lab: lab.batch(log(lab), 5, crc=False, magic=-1)),
    Fault("batch-bad-magic", LOG, lambda lab: lab.batch(log(lab), 5, crc=False, magic=1)),
    Fault("batch-record-count", LOG, lambda lab: lab.batch(log(lab), 5, record_count=1)),
    Fault("batch-record-count", LOG, lambda lab: lab.batch(log(lab), 5, record_count=1000)),
    Fault("batch-record-count", LOG, lambda lab: lab.batch(log(lab), 5, record_count=-1)),
    Fault("message-crc-mismatch", LOG, wrapped),
    Fault(
        "batch-timestamp-mismatch", LOG, lambda lab: move_base_timestamp(lab, -1)
    ),  # all records are earlier than the header says
    Fault(
        "batch-timestamp-mismatch", LOG, lambda lab: move_base_timestamp(lab, 1)
    ),  # or one is later
    Fault("record-offsets-not-increasing", LOG, repeated_offset),
    Fault("producer-out-of-order", LOG, sequences((1, 500), (1, 490))),
    Fault("producer-out-of-order", LOG, sequences((1, 0), (0, 0))),
    Fault("record-malformed", LOG, malformed),
    Fault("decompress-failed", f"{LZ4}/{file_stem(0)}.log", garbled),
    Fault("offsets-not-increasing", LOG, rebased(9, lambda offsets: offsets[3])),
    Fault("offsets-not-increasing", LOG, rebased(9, lambda offsets: offsets[9] + 100_000)),
    Fault("offsets-not-increasing", LOG, rebased(9, lambda offsets: offsets[9] - 1)),
    Fault("offset-below-base", IN_PLAIN, rebased(9, lambda offsets: 5, 1)),
    Fault("offset-below-base", IN_PLAIN, rebased(0, lambda offsets: 5, 1)),
    Fault("offset-overflow", LOG, rebased(9, lambda offsets: 2**31 + 500)),
    Fault("log-torn-tail", IN_PLAIN, torn, ("recovery-point-beyond-end",)),
    Fault("log-zero-tail", IN_PLAIN, lambda lab: tail(lab, bytes(300))),
    Fault("log-garbage-tail", IN_PLAIN, lambda lab: tail(lab, b"something else, and more of it")),
    Fault("segment-overlap", LOG, overlap),
    Fault("segment-gap", f"{LZ4}/", lambda lab: removed(lab, LZ4, 1)),
    Fault("offset-gap-explained", PLAIN, compacted),
    Fault("offset-gap-explained", LOG, checkpointed(LOG_START_CHECKPOINT, 50)),
    Fault("index-missing", INDEX, lambda lab: index(lab).unlink()),
    Fault("index-size-not-multiple", INDEX, resized(index, lambda data: data[:-3])),
    Fault("index-zero-tail", INDEX, resized(index, lambda data: data + bytes(80))),
    Fault("index-not-monotonic", INDEX, edited(index, swapped)),
    Fault("index-position-beyond-log", INDEX, slot(index, 3, position=lambda column: 2**30)),
    Fault("index-position-beyond-log", INDEX, slot(index, 3, position=lambda column: -4)),
    Fault(
        "index-position-not-batch-start",
        INDEX,
        slot(index, 3, position=lambda column: column[3] + 1),
    ),
    Fault("index-offset-mismatch", INDEX, slot(index, 3, position=lambda column: column[6])),
    Fault("index-differs-from-rebuild", INDEX, slot(index, 6, position=lambda column: column[3])),
    Fault(
        "index-differs-from-rebuild",
        INDEX,
        slot(index, 6, relative_offset=lambda column: column[6] - 1),
    ),
    Fault("index-offset-mismatch", INDEX, slot(index, 6, relative_offset=lambda column: 0)),
    Fault("index-coarse", INDEX, coarse),
    Fault("index-first-offset-keys", INDEX, first_keys),
    Fault(
        "index-differs-from-rebuild",
        INDEX,
        edited(index, lambda table: np.delete(table, range(10, 16))),
    ),
    Fault("index-unwritten-slots", IN_PLAIN, unwritten, ("unclean-shutdown",)),
    Fault("timeindex-missing", TIMES, lambda lab: times(lab).unlink(), BY_MTIME),
    Fault("timeindex-size-not-multiple", TIMES, resized(times, lambda data: data[:-5])),
    Fault("timeindex-zero-tail", TIMES, resized(times, lambda data: data + bytes(120))),
    Fault("timeindex-not-monotonic", TIMES, edited(times, swapped)),
    Fault(
        "timeindex-offset-mismatch", TIMES, slot(times, 3, relative_offset=lambda column: column[5])
    ),
    Fault(
        "timeindex-offset-mismatch", TIMES, slot(times, -1, relative_offset=lambda column: 2**30)
    ),
    Fault("timeindex-offset-mismatch", TIMES, inside_batch),
    Fault(
        "timeindex-offset-mismatch",
        f"{APPENDED}/{file_stem(0)}.timeindex",
        slot(lambda lab: times(lab, APPENDED), 3, relative_offset=lambda column: column[3] - 1),
    ),
    Fault(
        "timeindex-timestamp-mismatch",
        TIMES,
        slot(times, 3, timestamp_ms=lambda column: column[3] + DAY_MS),
    ),
    Fault(
        "timeindex-timestamp-mismatch",
        TIMES,
        slot(times, -1, timestamp_ms=lambda column: column[-1] + 1),
    ),
    Fault("timeindex-deep-offset", LATE_TIMES, deep),
    Fault("timeindex-max-missed", TIMES, edited(times, lambda table: table[:-1])),
    Fault("timeindex-max-missed", LATE_TIMES, after_a_newer_one),
    Fault("timeindex-empty", TIMES, resized(times, lambda data: b""), BY_MTIME),
    Fault("txnindex-mismatch", TXNINDEX, edited(txnindex, lambda table: np.delete(table, 3))),
    Fault("txnindex-mismatch", TXNINDEX, slot(txnindex, 3, producer_id=lambda column: 77)),
    Fault(
        "txnindex-mismatch", TXNINDEX, slot(txnindex, 3, first_offset=lambda column: column[3] - 1)
    ),
    Fault("txnindex-mismatch", TXNINDEX, lambda lab: txnindex(lab).unlink()),
    Fault("txnindex-torn", TXNINDEX, resized(txnindex, lambda data: data[:-4])),
    Fault(
        "snapshot-bad-crc",
        f"{TXN}/",
        lambda lab: lab.change(snapshot(lab), lambda data: data.__setitem__(20, data[20] ^ 1)),
    ),
    Fault("snapshot-bad-crc", f"{TXN}/", resized(snapshot, lambda data: b"\0\1\0")),
    Fault(
        "snapshot-stray",
        f"{TXN}/{file_stem(77)}.snapshot",
        lambda lab: lab.write(
            snapshot(lab).with_name(f"{file_stem(77)}.snapshot"), snapshot(lab).read_bytes()
        ),
    ),
    Fault(
        "snapshot-missing", TXN, lambda lab: [file.unlink() for file in lab.files(TXN, ".snapshot")]
    ),
    Fault("leader-epoch-bad", EPOCHS, written(EPOCHS, b"nothing")),
    Fault("leader-epoch-bad", EPOCHS, written(EPOCHS, b"0\n2\n0 0\n0 50\n")),
    Fault("leader-epoch-bad", EPOCHS, written(EPOCHS, b"0\n2\n0 0\n1 99999999\n")),
    Fault("leader-epoch-bad", EPOCHS, written(EPOCHS, b"0\n1\n7 0\n")),
    Fault("partition-metadata-bad", TOPIC_ID, written(TOPIC_ID, b"version: 0\ntopic_id: short")),
    Fault(
        "becomes-stray",
        PLAIN,
        written(TOPIC_ID, b"version: 0\ntopic_id: AkXzOiiERbadGF_c6qNvhw"),
        beside=METADATA,
    ),
    Fault(
        "checkpoint-unreadable",
        HIGH_WATERMARK_CHECKPOINT,
        written(HIGH_WATERMARK_CHECKPOINT, b"0\n7\nclicks-none 0 1\n"),
    ),
    Fault(
        "checkpoint-unreadable",
        BOOTSTRAP,
        lambda lab: lab.change(lab.path / BOOTSTRAP, flipped_end),
    ),
    Fault(
        "checkpoint-unreadable",
        f"{METADATA}/",
        lambda lab: lab.change(lab.files(METADATA, ".checkpoint")[-1], flipped_end),
    ),
    Fault("checkpoint-empty", RECOVERY_POINT_CHECKPOINT, written(RECOVERY_POINT_CHECKPOINT, b"")),
    Fault(
        "checkpoint-empty", HIGH_WATERMARK_CHECKPOINT, written(HIGH_WATERMARK_CHECKPOINT, b"0\n0\n")
    ),
    Fault("meta-properties-bad", PROPERTIES, written(PROPERTIES, b"version=1\nnode.id=1\n")),
    Fault("meta-properties-bad", PROPERTIES, written(PROPERTIES, b"junk\n")),
    Fault("meta-properties-bad", PROPERTIES, written(PROPERTIES, b"\\u00x")),
    Fault("meta-properties-bad", PROPERTIES, lambda lab: (lab.path / PROPERTIES).unlink()),
    Fault("checkpoint-unreadable", BOOTSTRAP, written(BOOTSTRAP, b"x")),
    Fault("checkpoint-unreadable", BOOTSTRAP, written(BOOTSTRAP, b"")),
    Fault("checkpoint-unreadable", QUORUM, written(QUORUM, b"")),
    Fault("checkpoint-unreadable", QUORUM, written(QUORUM, b"{}")),
    Fault("checkpoint-unreadable", QUORUM, written(QUORUM, b'{"data_version":9}')),
    Fault(
        "orphan-index",
        f"{PLAIN}/{file_stem(999_999)}.index",
        written(f"{PLAIN}/{file_stem(999_999)}.index", bytes(24)),
    ),
    Fault("leftover-deleted", f"{LOG}.deleted", lambda lab: renamed(lab, ".deleted")),
    Fault("leftover-cleaned", f"{LOG}.cleaned", lambda lab: renamed(lab, ".cleaned")),
    Fault("leftover-swap", f"{LOG}.swap", lambda lab: renamed(lab, ".swap")),
    Fault("directory-name-bad", "backup", lambda lab: (lab.path / "backup").mkdir()),
    Fault("unknown-file", f"{PLAIN}/notes.txt", written(f"{PLAIN}/notes.txt", b"do not delete")),
    Fault("unknown-file", "notes.txt", written("notes.txt", b"do not delete")),
    Fault("unclean-shutdown", CLEAN_SHUTDOWN, Lab.unclean),
    Fault(
        "recovery-will-truncate",
        IN_PLAIN,
        lambda lab: (lab.unclean(), torn(lab)),
        ("log-torn-tail", "unclean-shutdown", "recovery-point-beyond-end"),
    ),
    Fault("recovery-will-rebuild", IN_PLAIN, lambda lab: index(lab).unlink(), ("index-missing",)),
    Fault(
        "recovery-will-delete",
        IN_PLAIN,
        lambda lab: (
            lab.unclean(),
            flip(lab, 100),
            lab.checkpoint(RECOVERY_POINT_CHECKPOINT, "clicks-none", 0, 0),
        ),
        ("batch-crc-mismatch", "unclean-shutdown"),
    ),
    Fault(
        "recovery-will-fail",
        "backup",
        lambda lab: (lab.path / "backup").mkdir(),
        ("directory-name-bad",),
    ),
    Fault("log-start-beyond-end", PLAIN, checkpointed(LOG_START_CHECKPOINT, 99_999_999)),
    Fault("recovery-point-beyond-end", PLAIN, checkpointed(RECOVERY_POINT_CHECKPOINT, 99_999_999)),
    Fault("high-watermark-beyond-end", PLAIN, checkpointed(HIGH_WATERMARK_CHECKPOINT, 99_999_999)),
    Fault("partition-missing", "gone-0", checkpointed(HIGH_WATERMARK_CHECKPOINT, 7, "gone")),
    Fault(
        "hanging-transaction",
        f"{TXN}/",
        unfinished,
        ("timestamp-in-future",),
        now_ms=1_797_000_000_000,
    ),
    Fault("open-transaction", f"{TXN}/", unfinished),
    Fault("timestamp-in-future", IN_PLAIN, timed(lambda ms: ms + 400 * DAY_MS, 1)),
    Fault("timestamp-unit-suspect", IN_PLAIN, timed(lambda ms: ms // 1000), OUT_OF_ORDER),
    Fault("timestamp-unit-suspect", IN_PLAIN, timed(lambda ms: ms * 1000), BLOCKED),
    Fault("timestamp-unit-suspect", IN_PLAIN, timed(lambda ms: ms * 1_000_000), BLOCKED),
    Fault(
        "timestamps-out-of-order",
        IN_PLAIN,
        timed(lambda ms: ms - 30 * DAY_MS, from_position=100_001),
    ),
    Fault("timestamps-missing", IN_PLAIN, timed(lambda ms: -1), BY_MTIME),
    Fault("retention-blocked", LOG, timed(lambda ms: ms + 40 * DAY_MS), OUT_OF_ORDER),
    Fault("retention-by-mtime", LOG, resized(times, lambda data: b""), ("timeindex-empty",)),
    Fault(
        "interval-without-effect",
        PLAIN,
        lambda lab: [lab.reindex(file, 0) for file in lab.files(PLAIN, ".log")],
    ),
    Fault("index-limit-rolls", IN_PLAIN, lambda lab: split(lab, 6, 0, grow=False), NO_EFFECT),
    Fault("time-index-limit-binds", IN_PLAIN, lambda lab: split(lab, 6, 0, grow=True), NO_EFFECT),
    Fault("preallocation-waste", IN_PLAIN, waste, ("unclean-shutdown", "index-unwritten-slots")),
    Fault(
        "maps-near-limit",
        "",
        lambda lab: None,
        most_maps=settings.MAPS_OF_JVM + settings.MAPS_PER_SEGMENT * 2,
    ),
    Fault("segments-tiny", PLAIN, lambda lab: split(lab, 24, 4096, grow=True)),
    Fault(
        "topic-diskless",
        f"{METADATA}/{file_stem(0)}.log",
        lambda lab: set_topic(lab, "clicks-none", settings.DISKLESS, "true"),
        beside=PLAIN,
    ),
]
# the faults whose code an earlier one has
REPEATS = [
    fault
    for number, fault in enumerate(FAULTS)
    if fault.code in {earlier.code for earlier in FAULTS[:number]}
]


@pytest.fixture(scope="module")
def baseline(clean, tmp_path_factory) -> set[tuple]:
    health = check(open_broker(Lab(clean, tmp_path_factory.mktemp("healthy") / "kafka").path))
    assert health.counts["error"] == 0
    return {identity(finding) for finding in health.findings}


def damaged_lab(fault, clean, folder, monkeypatch) -> Lab:
    """Returns a broker of the partition with that fault."""
    partition_name = fault.file.partition("/")[0]
    partitions = [partition_name if partition_name in PARTITIONS else PLAIN, fault.beside]
    if fault.code.startswith("retention"):
        partitions.append("__cluster_metadata-0")  # which tells that they are kept by the default
    lab = Lab(clean, folder, partitions)
    fault.damage(lab)
    monkeypatch.setattr(settings, "MAX_MAP_COUNT", fault.most_maps or settings.MAX_MAP_COUNT)
    return lab


def identity(finding: Finding) -> tuple:
    return finding.code, finding.file, finding.message


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.code)
def test_a_fault_is_reported_and_no_other(fault, clean, tmp_path, baseline, monkeypatch):
    """Every other new finding follows from the damage."""
    lab = damaged_lab(fault, clean, tmp_path / "kafka", monkeypatch)
    health = check(lab.path, now_ms=fault.now_ms)
    assert contradictions(health) == []
    new = [finding for finding in health.findings if identity(finding) not in baseline]
    fault_findings = [finding for finding in new if finding.code == fault.code]
    assert fault_findings, [identity(finding) for finding in new]
    assert all(fault.file in (finding.file or "") for finding in fault_findings)
    assert all(finding.severity == CODES[fault.code].severity for finding in fault_findings)
    assert all(
        finding.evidence.found and finding.consequence and finding.next_step
        for finding in fault_findings
    )
    if health.restart and health.restart.starts:
        assert [
            finding.consequence
            for finding in health.findings
            if NO_START.search(str(finding.consequence))
        ] == []
    expected_codes = (fault.code, *fault.also, *PREDICTED)
    assert [
        identity(finding)
        for finding in new
        if finding.code not in expected_codes and finding.severity != "info"
    ] == []


def test_a_topic_that_is_not_diskless_has_no_finding(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka")
    set_topic(lab, "clicks-none", settings.DISKLESS, "false")
    assert "topic-diskless" not in codes(check(lab.path))


@pytest.mark.parametrize(
    ("version", "is_named"), [("3.9", True), ("4.0", True), ("4.0.1", False), ("4.3.1", False)]
)
def test_offsets_that_an_old_release_gives_twice(clean, tmp_path, version, is_named):
    """KAFKA-19407: the finding names the fault for the releases that have it."""
    code = "offsets-not-increasing"
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    rebased(9, lambda offsets: offsets[8])(lab)
    problem = only(check(lab.path, version), code).message["problem"]
    assert (problem.key == "finding.with_cause") == is_named
    assert not is_named or problem["cause"] == CODES[code].cause


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.code, marks=[NIGHTLY] if fault in REPEATS else [])
        for fault in FAULTS
    ],
)
def test_no_finding_contradicts_the_start_after_a_kill(fault, clean, tmp_path, monkeypatch):
    lab = damaged_lab(fault, clean, tmp_path / "kafka", monkeypatch)
    (lab.path / CLEAN_SHUTDOWN).unlink(missing_ok=True)
    assert contradictions(check(lab.path, now_ms=fault.now_ms)) == []


def marks_of_levels(fault: Fault) -> list[pytest.MarkDecorator]:
    if fault in REPEATS:
        return [NIGHTLY]
    return [] if CODES[fault.code].family == "log" else [pytest.mark.slow]


@pytest.mark.parametrize("level", ["headers", "crc"])
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, id=fault.code, marks=marks_of_levels(fault)) for fault in FAULTS]
)
def test_a_level_finds_what_it_says(fault, level, clean, tmp_path, monkeypatch):
    """No code outside the level is reported and every code inside it is; two are found in part."""
    lab = damaged_lab(fault, clean, tmp_path / "kafka", monkeypatch)
    health = check(lab.path, now_ms=fault.now_ms, level=CheckLevel(level))
    is_found = fault.code in {
        finding.code for finding in health.findings if fault.file in (finding.file or "")
    }
    is_unchecked = fault.code in UNCHECKED_CODES[CheckLevel(level)]
    is_found_in_part = fault.code in ("batch-crc-mismatch", "batch-record-count")
    assert is_found != is_unchecked or (is_unchecked and is_found_in_part)
    assert only(health, "checks-partial").message["codes"] == UNCHECKED_CODES[CheckLevel(level)]


@pytest.mark.parametrize(
    ("is_clean", "recovery_point", "outcome", "next_step"),
    [
        (True, None, "damage_stays", "restore_closed_segment"),
        (False, None, "damage_stays", "restore_closed_segment"),
        (True, 0, "damage_unnoticed", "restore_closed_segment"),
        (False, 0, "damage_cut", "restore_before_cut"),
    ],
)
def test_a_torn_closed_segment_is_cut_only_by_a_recovery_that_reaches_it(
    is_clean, recovery_point, outcome, next_step, clean, tmp_path
):
    """LogLoader recovers the segments from the recovery point on, and only then cuts the tail."""
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    batches = rows(log(lab))
    lab.write(log(lab), log(lab).read_bytes()[:-10])
    if recovery_point is not None:
        lab.checkpoint(RECOVERY_POINT_CHECKPOINT, "clicks-none", 0, recovery_point)
    if not is_clean:
        lab.unclean()
    health = check(lab.path)
    torn_tail = only(health, "log-torn-tail")
    assert torn_tail.consequence["outcome"].key == f"consequence.{outcome}"
    assert torn_tail.next_step.key == f"next_step.{next_step}"
    assert torn_tail.needs_replica
    cuts = [step.segment for step in health.restart.steps if step.action == "truncate"]
    assert cuts == ([0] if outcome == "damage_cut" else [])
    gap = only(health, "segment-gap").message
    lost = batches[-1]
    assert (gap["first"], gap["last"]) == (lost["base_offset"], lost["last_offset"])


def test_a_closed_segment_without_its_index_is_cut_at_every_start(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    lab.write(log(lab), log(lab).read_bytes()[:-10])
    index(lab).unlink()
    health = check(lab.path)
    torn_tail = only(health, "log-torn-tail")
    assert torn_tail.consequence == message("consequence.recovery_cuts_tail")
    assert [step.segment for step in health.restart.steps if step.action == "truncate"] == [0]


def test_an_emptied_checkpoint_is_not_the_time_of_the_last_write(clean, tmp_path):
    """The time of emptying must not make transactions look open or a broker look running."""
    lab = Lab(clean, tmp_path / "kafka", [PLAIN, TXN])
    lab.unclean()
    (lab.path / ".lock").touch()
    newest_ms = check_plan.newest_ms(open_broker(lab.path))
    for name in (RECOVERY_POINT_CHECKPOINT, HIGH_WATERMARK_CHECKPOINT):
        path = lab.path / name
        path.unlink()
        path.touch()
    broker = open_broker(lab.path)
    assert check_plan.newest_ms(broker) <= newest_ms
    assert only(check(broker), "unclean-shutdown").message.key == "finding.no_file"


def test_no_time_is_no_newest_record(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    timed(lambda ms: -1)(lab)
    times(lab).unlink()
    missing = only(check(lab.path), "timeindex-missing").message
    assert missing.key == "finding.no_timeindex_no_times"
    assert missing["file"] == "00000000000000000000.log"
    assert missing["written"] > YEAR_2000_MS


@pytest.mark.parametrize(
    ("name", "data", "consequence"),
    [
        ("leader-epoch-checkpoint", b"nothing", "consequence.directory_offline"),
        ("leader-epoch-checkpoint", b"0\n1\nx 0\n", "consequence.ends_start"),
        ("partition.metadata", b"nothing", "consequence.directory_offline"),
        ("partition.metadata", b"version: 0\n", "consequence.ends_start"),
    ],
)
def test_what_kafka_does_with_a_small_file(name, data, consequence, clean, tmp_path):
    """Some faults take the log directory offline, others end the start."""
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    lab.write(lab.path / PLAIN / name, data)
    code = "partition-metadata-bad" if name == "partition.metadata" else "leader-epoch-bad"
    assert only(check(lab.path), code).consequence == message(consequence)


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(seed, marks=NIGHTLY) for seed in range(20, 40))]
)
def test_one_flipped_bit_is_one_finding(seed, clean, tmp_path, baseline):
    """A flipped bit anywhere in a .log or an index gives one finding, in that file."""
    random = Random(seed)
    partition = random.choice(PARTITIONS[1:])
    lab = Lab(clean, tmp_path / "kafka", [partition])
    kinds = (".log", ".index", ".timeindex", ".txnindex")
    path = random.choice(
        [file for kind in kinds for file in lab.files(partition, kind) if file.stat().st_size]
    )
    place = random.randrange(path.stat().st_size)
    lab.change(path, lambda data: data.__setitem__(place, data[place] ^ (1 << random.randrange(8))))
    new = [
        finding
        for finding in check(lab.path).findings
        if identity(finding) not in baseline and finding.severity != "info"
    ]
    assert [finding.file for finding in new] == [f"{partition}/{path.name}"], [
        identity(finding) for finding in new
    ]
    assert new[0].position <= place < new[0].position + new[0].length


def test_the_list_is_complete():
    """Every code has its fault, here or in test_unreadable, test_tiered_storage,
    test_log_directory_checks or the test of levels above.
    """
    elsewhere = {
        code.name for code in CODES.values() if code.family in ("tiered-storage", "log-directories")
    }
    missing = set(CODES) - {fault.code for fault in FAULTS}
    assert missing == {"unreadable-file", "checks-partial"} | elsewhere
