"""Every fault, put into a healthy directory: the check names it and no other error."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.checks import plan as check_plan
from kafkaviz.analysis.checks import settings
from kafkaviz.analysis.findings import CODES, UNCHECKED_CODES
from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.varint import read_varint, read_varlong
from kafkaviz.format import record, txn_index
from kafkaviz.format.batch import CRC_START, HEADER_BYTES, is_control
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.metadata import TOPIC_RESOURCE
from kafkaviz.format.names import CLEAN_SHUTDOWN
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import message
from kafkaviz.units import file_stem
from tests.analysis.contradictions import contradictions
from tests.analysis.lab import CRC_AT, PARTITIONS, Lab
from tests.support.legacy_messages import build_message

YEAR_2000_MS = 946_684_800_000
NO_START = re.compile("not start|refuses to start|offline|cannot be loaded|broker stops before")
DAY_MS = 86_400_000
FORETOLD = (
    "recovery-will-truncate",
    "recovery-will-rebuild",
    "recovery-will-delete",
    "recovery-will-fail",
)
APPENDED = "append-time-0"
PLAIN, LZ4, TXN, LATE, METADATA = (
    "clicks-none-0",
    "orders-0",
    "payments-0",
    "sensors-late-0",
    "__cluster_metadata-0",
)


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


def rows(path) -> np.ndarray:
    return walk(path.read_bytes())[0]


# ---- the .log


def flip(lab: Lab, at: int, number: int = 5, partition: str = PLAIN, segment: int = 0) -> None:
    path = log(lab, partition, segment)
    place = int(rows(path)["position"][number]) + at
    lab.change(path, lambda data: data.__setitem__(place, data[place] ^ 0x10))


def length(lab: Lab, number: int, value: int | Callable[[np.ndarray], int]) -> None:
    path = log(lab)
    value = value if isinstance(value, int) else value(rows(path))
    lab.batch(path, number, crc=False, batch_length_bytes=value)


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


def producer(lab: Lab, number: int, epoch: int, sequence: int) -> None:
    lab.batch(log(lab), number, producer_id=7, producer_epoch=epoch, base_sequence=sequence)


def garbled(lab: Lab) -> None:
    """Garbles the first bytes of an lz4 frame."""

    def change(data: bytearray) -> None:
        data[HEADER_BYTES : HEADER_BYTES + 4] = b"none"

    change_summed(lab, log(lab, LZ4), change)


def rebased(lab: Lab, number: int, change: Callable[[np.ndarray], int], segment: int = 0) -> None:
    path = log(lab, PLAIN, segment)
    lab.batch(path, number, crc=False, base_offset=change(rows(path)))


def hole(lab: Lab) -> None:
    """Replaces a batch by zeros, with batches after it."""
    row = rows(log(lab))[7]
    start, end = int(row["position"]), int(row["position"] + row["size_bytes"])
    lab.change(log(lab), lambda data: data.__setitem__(slice(start, end), bytes(end - start)))


def overlap(lab: Lab) -> None:
    """Appends the first batch of the next segment to this one."""
    first, second = lab.files(PLAIN, ".log")
    copied = bytearray(second.read_bytes()[: int(rows(second)["size_bytes"][0])])
    lab.set(
        copied,
        0,
        len(copied),
        True,
        **moved(rows(second)[0], int(rows(first)["max_timestamp_ms"][0])),
    )
    lab.write(first, first.read_bytes() + copied)


def compacted(lab: Lab) -> None:
    """Removes a batch from a log that the cleaner's checkpoint names; the indexes match the rest."""
    path = log(lab)
    row = rows(path)[7]
    start, end = int(row["position"]), int(row["position"] + row["size_bytes"])
    lab.write(path, path.read_bytes()[:start] + path.read_bytes()[end:])
    lab.reindex(path)
    lab.checkpoint(
        "cleaner-offset-checkpoint",
        "clicks-none",
        0,
        int(rows(log(lab, PLAIN, 1))["base_offset"][0]),
    )


def removed(lab: Lab, partition: str, segment: int) -> None:
    stem = log(lab, partition, segment).stem
    for path in (lab.path / partition).glob(f"{stem}.*"):
        path.unlink()


def tail(lab: Lab, data: bytes) -> None:
    path = log(lab, PLAIN, 1)
    lab.write(path, path.read_bytes() + data)


def torn(lab: Lab, cut: int = 10) -> None:
    path = log(lab, PLAIN, 1)
    lab.write(path, path.read_bytes()[:-cut])


# ---- indexes


def swapped(table: np.ndarray) -> np.ndarray:
    return table[[0, 1, 3, 2, *range(4, len(table))]]


def slot(number: int, **changes: Callable[[np.ndarray], int]) -> Callable[[np.ndarray], None]:
    def change(table: np.ndarray) -> None:
        for field, value in changes.items():
            table[field][number] = value(table)

    return change


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
                    table["timestamp_ms"][number], table["relative_offset"][number] = (
                        batch["max_timestamp_ms"],
                        batch["last_offset"],
                    )
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


def aborted(lab: Lab, change: Callable[[np.ndarray], np.ndarray | None]) -> None:
    path = lab.files(TXN, ".txnindex")[0]
    table = txn_index.parse(path.read_bytes()).copy()
    changed = change(table)
    lab.write(path, txn_index.build(table if changed is None else changed))


def snapshot(lab: Lab):
    return lab.files(TXN, ".snapshot")[-1]


def flipped_end(data: bytearray) -> None:
    data[-9] ^= 4


def epochs(lab: Lab, text: str) -> None:
    lab.write(lab.path / PLAIN / "leader-epoch-checkpoint", text.encode())


def quorum(lab: Lab, data: bytes) -> None:
    lab.write(lab.path / METADATA / "quorum-state", data)


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
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        lab.checkpoint(name, "payments", 0, end)


# ---- time and settings


def moved(row: np.void, newest_ms: int) -> dict[str, int]:
    """Moves the times of a batch so that its newest record has another time."""
    span_ms = int(row["max_timestamp_ms"]) - int(row["base_timestamp_ms"])
    return {"max_timestamp_ms": newest_ms, "base_timestamp_ms": newest_ms - span_ms}


def timed(lab: Lab, change: Callable[[np.void], int], segment: int = 0) -> None:
    """Moves every batch of a segment to another time, and both indexes with it."""
    path = log(lab, PLAIN, segment)

    lab.batches(path, lambda row: moved(row, change(row)))
    lab.reindex(path)


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
        part = (
            batches[piece * each : (piece + 1) * each]
            if piece < pieces
            else batches[piece * each : piece * each + 3]
        )
        start, end = int(part["position"][0]), int(part["position"][-1] + part["size_bytes"][-1])
        part_path = path.with_name(f"{file_stem(int(part['base_offset'][0]))}.log")
        lab.write(part_path, data[start:end])
        if not grow:
            lab.batches(part_path, lambda row: moved(row, 1_790_000_000_000))
        lab.reindex(part_path, interval_bytes)
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        lab.checkpoint(name, "clicks-none", 0, int(part["last_offset"][-1]) + 1)


def waste(lab: Lab) -> None:
    lab.unclean()
    path = index(lab, PLAIN, 1)
    lab.write(path, path.read_bytes() + bytes(2 << 20))
    with path.open("r+b") as file:  # zeros that are written, not a hole
        file.seek(len(path.read_bytes()) - 2)
        file.write(b"\0")


FAULTS = [
    Fault(
        "batch-crc-mismatch", "clicks-none-0/00000000000000000000.log", lambda lab: flip(lab, 100)
    ),
    # in the largest timestamp
    Fault(
        "batch-crc-mismatch", "clicks-none-0/00000000000000000000.log", lambda lab: flip(lab, 36)
    ),
    # in the last offset delta
    Fault(
        "batch-crc-mismatch", "clicks-none-0/00000000000000000000.log", lambda lab: flip(lab, 25)
    ),
    # in the checksum
    Fault(
        "batch-crc-mismatch", "clicks-none-0/00000000000000000000.log", lambda lab: flip(lab, 18)
    ),
    Fault(
        "batch-crc-mismatch",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: flip(lab, 100, 0),
    ),
    Fault("batch-crc-mismatch", "clicks-none-0/", lambda lab: flip(lab, 100, -1, segment=1)),
    Fault(
        "batch-bad-length",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: length(lab, 5, 2_000_000_000),
    ),
    Fault(
        "batch-bad-length", "clicks-none-0/00000000000000000000.log", lambda lab: length(lab, 5, 3)
    ),
    Fault(
        "batch-bad-length", "clicks-none-0/00000000000000000000.log", lambda lab: length(lab, 5, -1)
    ),
    Fault(
        "batch-bad-length",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: length(lab, 5, 200),
    ),
    Fault(
        "batch-bad-length", "clicks-none-0/00000000000000000000.log", lambda lab: length(lab, 0, 0)
    ),
    Fault(
        "batch-bad-length",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: length(lab, -1, 100),
    ),
    Fault(
        "batch-bad-length",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: length(lab, -1, 100_000),
    ),
    Fault(
        "batch-bad-length",
        "clicks-none-0/00000000000000000000.log",
        # over the next one
        lambda lab: length(lab, 5, lambda batches: int(batches["size_bytes"][5:7].sum()) - 12),
    ),
    Fault("batch-bad-length", "clicks-none-0/00000000000000000000.log", hole),
    Fault(
        "batch-bad-magic",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(log(lab), 5, crc=False, magic=3),
    ),
    Fault(
        "batch-bad-magic",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(log(lab), 5, crc=False, magic=-1),
    ),
    Fault(
        "batch-bad-magic",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(log(lab), 5, crc=False, magic=1),
    ),
    Fault(
        "batch-record-count",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(log(lab), 5, record_count=1),
    ),
    Fault(
        "batch-record-count",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(log(lab), 5, record_count=1000),
    ),
    Fault(
        "batch-record-count",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(log(lab), 5, record_count=-1),
    ),
    Fault("message-crc-mismatch", "clicks-none-0/00000000000000000000.log", wrapped),
    # all records are earlier than the header says
    Fault(
        "batch-timestamp-mismatch",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(
            log(lab), 5, base_timestamp_ms=int(rows(log(lab))["base_timestamp_ms"][5]) - 1
        ),
    ),
    # or one is later
    Fault(
        "batch-timestamp-mismatch",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.batch(
            log(lab), 5, base_timestamp_ms=int(rows(log(lab))["base_timestamp_ms"][5]) + 1
        ),
    ),
    Fault(
        "record-offsets-not-increasing",
        "clicks-none-0/00000000000000000000.log",
        repeated_offset,
    ),
    Fault(
        "producer-out-of-order",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: (producer(lab, 5, 1, 500), producer(lab, 7, 1, 490)),
    ),
    Fault(
        "producer-out-of-order",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: (producer(lab, 5, 1, 0), producer(lab, 7, 0, 0)),
    ),
    Fault("record-malformed", "clicks-none-0/00000000000000000000.log", malformed),
    Fault("decompress-failed", "orders-0/00000000000000000000.log", garbled),
    Fault(
        "offsets-not-increasing",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: rebased(lab, 9, lambda batches: int(batches["base_offset"][3])),
    ),
    Fault(
        "offsets-not-increasing",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: rebased(lab, 9, lambda batches: int(batches["base_offset"][9]) + 100_000),
    ),
    Fault(
        "offsets-not-increasing",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: rebased(lab, 9, lambda batches: int(batches["base_offset"][9]) - 1),
    ),
    Fault("offset-below-base", "clicks-none-0/", lambda lab: rebased(lab, 9, lambda batches: 5, 1)),
    Fault("offset-below-base", "clicks-none-0/", lambda lab: rebased(lab, 0, lambda batches: 5, 1)),
    Fault(
        "offset-overflow",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: rebased(lab, 9, lambda batches: 2**31 + 500),
    ),
    Fault("log-torn-tail", "clicks-none-0/", torn, ("recovery-point-beyond-end",)),
    Fault("log-zero-tail", "clicks-none-0/", lambda lab: tail(lab, bytes(300))),
    Fault(
        "log-garbage-tail",
        "clicks-none-0/",
        lambda lab: tail(lab, b"something else, and more of it"),
    ),
    Fault("segment-overlap", "clicks-none-0/00000000000000000000.log", overlap),
    Fault("segment-gap", "orders-0/", lambda lab: removed(lab, LZ4, 1)),
    Fault("offset-gap-explained", "clicks-none-0", compacted),
    Fault(
        "offset-gap-explained",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.checkpoint("log-start-offset-checkpoint", "clicks-none", 0, 50),
    ),
    Fault(
        "index-missing", "clicks-none-0/00000000000000000000.index", lambda lab: index(lab).unlink()
    ),
    Fault(
        "index-size-not-multiple",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.write(index(lab), index(lab).read_bytes()[:-3]),
    ),
    Fault(
        "index-zero-tail",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.write(index(lab), index(lab).read_bytes() + bytes(80)),
    ),
    Fault(
        "index-not-monotonic",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), swapped),
    ),
    Fault(
        "index-position-beyond-log",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), slot(3, position=lambda table: 2**30)),
    ),
    Fault(
        "index-position-beyond-log",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), slot(3, position=lambda table: -4)),
    ),
    Fault(
        "index-position-not-batch-start",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(
            index(lab), slot(3, position=lambda table: table["position"][3] + 1)
        ),
    ),
    Fault(
        "index-offset-mismatch",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), slot(3, position=lambda table: table["position"][6])),
    ),
    Fault(
        "index-differs-from-rebuild",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), slot(6, position=lambda table: table["position"][3])),
    ),
    Fault(
        "index-differs-from-rebuild",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(
            index(lab), slot(6, relative_offset=lambda table: table["relative_offset"][6] - 1)
        ),
    ),
    Fault(
        "index-offset-mismatch",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), slot(6, relative_offset=lambda table: 0)),
    ),
    Fault("index-coarse", "clicks-none-0/00000000000000000000.index", coarse),
    Fault("index-first-offset-keys", "clicks-none-0/00000000000000000000.index", first_keys),
    Fault(
        "index-differs-from-rebuild",
        "clicks-none-0/00000000000000000000.index",
        lambda lab: lab.entries(index(lab), lambda table: np.delete(table, range(10, 16))),
    ),
    Fault("index-unwritten-slots", "clicks-none-0/", unwritten, ("unclean-shutdown",)),
    Fault(
        "timeindex-missing",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: times(lab).unlink(),
        ("retention-by-mtime",),
    ),
    Fault(
        "timeindex-size-not-multiple",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.write(times(lab), times(lab).read_bytes()[:-5]),
    ),
    Fault(
        "timeindex-zero-tail",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.write(times(lab), times(lab).read_bytes() + bytes(120)),
    ),
    Fault(
        "timeindex-not-monotonic",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(times(lab), swapped),
    ),
    Fault(
        "timeindex-offset-mismatch",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(
            times(lab), slot(3, relative_offset=lambda table: table["relative_offset"][5])
        ),
    ),
    Fault(
        "timeindex-offset-mismatch",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(times(lab), slot(-1, relative_offset=lambda table: 2**30)),
    ),
    Fault(
        "timeindex-offset-mismatch", "clicks-none-0/00000000000000000000.timeindex", inside_batch
    ),
    Fault(
        "timeindex-offset-mismatch",
        "append-time-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(
            times(lab, APPENDED),
            slot(3, relative_offset=lambda table: table["relative_offset"][3] - 1),
        ),
    ),
    Fault(
        "timeindex-timestamp-mismatch",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(
            times(lab), slot(3, timestamp_ms=lambda table: table["timestamp_ms"][3] + DAY_MS)
        ),
    ),
    Fault(
        "timeindex-timestamp-mismatch",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(
            times(lab), slot(-1, timestamp_ms=lambda table: table["timestamp_ms"][-1] + 1)
        ),
    ),
    Fault("timeindex-deep-offset", "sensors-late-0/00000000000000000000.timeindex", deep),
    Fault(
        "timeindex-max-missed",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.entries(times(lab), lambda table: table[:-1]),
    ),
    Fault(
        "timeindex-max-missed", "sensors-late-0/00000000000000000000.timeindex", after_a_newer_one
    ),
    Fault(
        "timeindex-empty",
        "clicks-none-0/00000000000000000000.timeindex",
        lambda lab: lab.write(times(lab), b""),
        ("retention-by-mtime",),
    ),
    Fault(
        "txnindex-mismatch",
        "payments-0/00000000000000000000.txnindex",
        lambda lab: aborted(lab, lambda table: np.delete(table, 3)),
    ),
    Fault(
        "txnindex-mismatch",
        "payments-0/00000000000000000000.txnindex",
        lambda lab: aborted(lab, slot(3, producer_id=lambda table: 77)),
    ),
    Fault(
        "txnindex-mismatch",
        "payments-0/00000000000000000000.txnindex",
        lambda lab: aborted(lab, slot(3, first_offset=lambda table: table["first_offset"][3] - 1)),
    ),
    Fault(
        "txnindex-mismatch",
        "payments-0/00000000000000000000.txnindex",
        lambda lab: lab.files(TXN, ".txnindex")[0].unlink(),
    ),
    Fault(
        "txnindex-torn",
        "payments-0/00000000000000000000.txnindex",
        lambda lab: lab.write(
            lab.files(TXN, ".txnindex")[0], lab.files(TXN, ".txnindex")[0].read_bytes()[:-4]
        ),
    ),
    Fault(
        "snapshot-bad-crc",
        "payments-0/",
        lambda lab: lab.change(snapshot(lab), lambda data: data.__setitem__(20, data[20] ^ 1)),
    ),
    Fault("snapshot-bad-crc", "payments-0/", lambda lab: lab.write(snapshot(lab), b"\0\1\0")),
    Fault(
        "snapshot-stray",
        "payments-0/00000000000000000077.snapshot",
        lambda lab: lab.write(
            snapshot(lab).with_name(f"{file_stem(77)}.snapshot"), snapshot(lab).read_bytes()
        ),
    ),
    Fault(
        "snapshot-missing",
        "payments-0",
        lambda lab: [file.unlink() for file in lab.files(TXN, ".snapshot")],
    ),
    Fault(
        "leader-epoch-bad",
        "clicks-none-0/leader-epoch-checkpoint",
        lambda lab: epochs(lab, "nothing"),
    ),
    Fault(
        "leader-epoch-bad",
        "clicks-none-0/leader-epoch-checkpoint",
        lambda lab: epochs(lab, "0\n2\n0 0\n0 50\n"),
    ),
    Fault(
        "leader-epoch-bad",
        "clicks-none-0/leader-epoch-checkpoint",
        lambda lab: epochs(lab, "0\n2\n0 0\n1 99999999\n"),
    ),
    Fault(
        "leader-epoch-bad",
        "clicks-none-0/leader-epoch-checkpoint",
        lambda lab: epochs(lab, "0\n1\n7 0\n"),
    ),
    Fault(
        "partition-metadata-bad",
        "clicks-none-0/partition.metadata",
        lambda lab: lab.write(
            lab.path / PLAIN / "partition.metadata", b"version: 0\ntopic_id: short"
        ),
    ),
    Fault(
        "becomes-stray",
        "clicks-none-0",
        lambda lab: lab.write(
            lab.path / PLAIN / "partition.metadata", b"version: 0\ntopic_id: AkXzOiiERbadGF_c6qNvhw"
        ),
        beside=METADATA,
    ),
    Fault(
        "checkpoint-unreadable",
        "replication-offset-checkpoint",
        lambda lab: lab.write(
            lab.path / "replication-offset-checkpoint", b"0\n7\nclicks-none 0 1\n"
        ),
    ),
    Fault(
        "checkpoint-unreadable",
        "bootstrap.checkpoint",
        lambda lab: lab.change(lab.path / "bootstrap.checkpoint", flipped_end),
    ),
    Fault(
        "checkpoint-unreadable",
        "__cluster_metadata-0/",
        lambda lab: lab.change(lab.files(METADATA, ".checkpoint")[-1], flipped_end),
    ),
    Fault(
        "checkpoint-empty",
        "recovery-point-offset-checkpoint",
        lambda lab: lab.write(lab.path / "recovery-point-offset-checkpoint", b""),
    ),
    Fault(
        "checkpoint-empty",
        "replication-offset-checkpoint",
        lambda lab: lab.write(lab.path / "replication-offset-checkpoint", b"0\n0\n"),
    ),
    Fault(
        "meta-properties-bad",
        "meta.properties",
        lambda lab: lab.write(lab.path / "meta.properties", b"version=1\nnode.id=1\n"),
    ),
    Fault(
        "meta-properties-bad",
        "meta.properties",
        lambda lab: lab.write(lab.path / "meta.properties", b"junk\n"),
    ),
    Fault(
        "meta-properties-bad",
        "meta.properties",
        lambda lab: lab.write(lab.path / "meta.properties", b"\\u00x"),
    ),
    Fault(
        "meta-properties-bad",
        "meta.properties",
        lambda lab: (lab.path / "meta.properties").unlink(),
    ),
    Fault(
        "checkpoint-unreadable",
        "bootstrap.checkpoint",
        lambda lab: lab.write(lab.path / "bootstrap.checkpoint", b"x"),
    ),
    Fault(
        "checkpoint-unreadable",
        "bootstrap.checkpoint",
        lambda lab: lab.write(lab.path / "bootstrap.checkpoint", b""),
    ),
    Fault(
        "checkpoint-unreadable", "__cluster_metadata-0/quorum-state", lambda lab: quorum(lab, b"")
    ),
    Fault(
        "checkpoint-unreadable", "__cluster_metadata-0/quorum-state", lambda lab: quorum(lab, b"{}")
    ),
    Fault(
        "checkpoint-unreadable",
        "__cluster_metadata-0/quorum-state",
        lambda lab: quorum(lab, b'{"data_version":9}'),
    ),
    Fault(
        "orphan-index",
        "clicks-none-0/00000000000000999999.index",
        lambda lab: lab.write(lab.path / PLAIN / f"{file_stem(999999)}.index", bytes(24)),
    ),
    Fault(
        "leftover-deleted",
        "clicks-none-0/00000000000000000000.log.deleted",
        lambda lab: renamed(lab, ".deleted"),
    ),
    Fault(
        "leftover-cleaned",
        "clicks-none-0/00000000000000000000.log.cleaned",
        lambda lab: renamed(lab, ".cleaned"),
    ),
    Fault(
        "leftover-swap",
        "clicks-none-0/00000000000000000000.log.swap",
        lambda lab: renamed(lab, ".swap"),
    ),
    Fault("directory-name-bad", "backup", lambda lab: (lab.path / "backup").mkdir()),
    Fault(
        "unknown-file",
        "clicks-none-0/notes.txt",
        lambda lab: lab.write(lab.path / PLAIN / "notes.txt", b"do not delete"),
    ),
    Fault(
        "unknown-file", "notes.txt", lambda lab: lab.write(lab.path / "notes.txt", b"do not delete")
    ),
    Fault("unclean-shutdown", ".kafka_cleanshutdown", Lab.unclean),
    Fault(
        "recovery-will-truncate",
        "clicks-none-0/",
        lambda lab: (lab.unclean(), torn(lab)),
        ("log-torn-tail", "unclean-shutdown", "recovery-point-beyond-end"),
    ),
    Fault(
        "recovery-will-rebuild",
        "clicks-none-0/",
        lambda lab: index(lab).unlink(),
        ("index-missing",),
    ),
    Fault(
        "recovery-will-delete",
        "clicks-none-0/",
        lambda lab: (
            lab.unclean(),
            flip(lab, 100),
            lab.checkpoint("recovery-point-offset-checkpoint", "clicks-none", 0, 0),
        ),
        ("batch-crc-mismatch", "unclean-shutdown"),
    ),
    Fault(
        "recovery-will-fail",
        "backup",
        lambda lab: (lab.path / "backup").mkdir(),
        ("directory-name-bad",),
    ),
    Fault(
        "log-start-beyond-end",
        "clicks-none-0",
        lambda lab: lab.checkpoint("log-start-offset-checkpoint", "clicks-none", 0, 99_999_999),
    ),
    Fault(
        "recovery-point-beyond-end",
        "clicks-none-0",
        lambda lab: lab.checkpoint(
            "recovery-point-offset-checkpoint", "clicks-none", 0, 99_999_999
        ),
    ),
    Fault(
        "high-watermark-beyond-end",
        "clicks-none-0",
        lambda lab: lab.checkpoint("replication-offset-checkpoint", "clicks-none", 0, 99_999_999),
    ),
    Fault(
        "partition-missing",
        "gone-0",
        lambda lab: lab.checkpoint("replication-offset-checkpoint", "gone", 0, 7),
    ),
    Fault(
        "hanging-transaction",
        "payments-0/",
        unfinished,
        ("timestamp-in-future",),
        now_ms=1_797_000_000_000,
    ),
    Fault("open-transaction", "payments-0/", unfinished),
    Fault(
        "timestamp-in-future",
        "clicks-none-0/",
        lambda lab: timed(lab, lambda row: int(row["max_timestamp_ms"]) + 400 * DAY_MS, 1),
    ),
    Fault(
        "timestamp-unit-suspect",
        "clicks-none-0/",
        lambda lab: timed(lab, lambda row: int(row["max_timestamp_ms"]) // 1000),
        ("timestamps-out-of-order",),
    ),
    Fault(
        "timestamp-unit-suspect",
        "clicks-none-0/",
        lambda lab: timed(lab, lambda row: int(row["max_timestamp_ms"]) * 1000),
        ("retention-blocked",),
    ),
    Fault(
        "timestamp-unit-suspect",
        "clicks-none-0/",
        lambda lab: timed(lab, lambda row: int(row["max_timestamp_ms"]) * 1_000_000),
        ("retention-blocked",),
    ),
    Fault(
        "timestamps-out-of-order",
        "clicks-none-0/",
        lambda lab: timed(
            lab,
            lambda row: int(row["max_timestamp_ms"]) - (row["position"] > 100_000) * 30 * DAY_MS,
        ),
    ),
    Fault(
        "timestamps-missing",
        "clicks-none-0/",
        lambda lab: timed(lab, lambda row: -1),
        ("retention-by-mtime",),
    ),
    Fault(
        "retention-blocked",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: timed(lab, lambda row: int(row["max_timestamp_ms"]) + 40 * DAY_MS),
        ("timestamps-out-of-order",),
    ),
    Fault(
        "retention-by-mtime",
        "clicks-none-0/00000000000000000000.log",
        lambda lab: lab.write(times(lab), b""),
        ("timeindex-empty",),
    ),
    Fault(
        "interval-without-effect",
        "clicks-none-0",
        lambda lab: [lab.reindex(file, 0) for file in lab.files(PLAIN, ".log")],
    ),
    Fault(
        "index-limit-rolls",
        "clicks-none-0/",
        lambda lab: split(lab, 6, 0, grow=False),
        ("interval-without-effect",),
    ),
    Fault(
        "time-index-limit-binds",
        "clicks-none-0/",
        lambda lab: split(lab, 6, 0, grow=True),
        ("interval-without-effect",),
    ),
    Fault(
        "preallocation-waste",
        "clicks-none-0/",
        waste,
        ("unclean-shutdown", "index-unwritten-slots"),
    ),
    Fault(
        "maps-near-limit",
        "",
        lambda lab: None,
        most_maps=settings.MAPS_OF_JVM + settings.MAPS_PER_SEGMENT * 2,
    ),
    Fault("segments-tiny", "clicks-none-0", lambda lab: split(lab, 24, 4096, grow=True)),
    Fault(
        "topic-diskless",
        "__cluster_metadata-0/00000000000000000000.log",
        lambda lab: set_topic(lab, "clicks-none", settings.DISKLESS, "true"),
        beside=PLAIN,
    ),
]


@pytest.fixture(scope="module")
def baseline(clean, tmp_path_factory) -> set[tuple]:
    health = check(open_broker(Lab(clean, tmp_path_factory.mktemp("healthy") / "kafka").path))
    assert health.counts["error"] == 0
    return identities(health)


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


def identities(health: Health) -> set[tuple]:
    return {(finding.code, finding.file, finding.message) for finding in health.findings}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.code)
def test_a_fault_is_reported_and_no_other(fault, clean, tmp_path, baseline, monkeypatch):
    """Every other new finding follows from the damage."""
    lab = damaged_lab(fault, clean, tmp_path / "kafka", monkeypatch)
    health = check(open_broker(lab.path), now_ms=fault.now_ms)
    assert contradictions(health) == []
    new = [
        finding
        for finding in health.findings
        if (finding.code, finding.file, finding.message) not in baseline
    ]
    fault_findings = [finding for finding in new if finding.code == fault.code]
    assert fault_findings, [(finding.code, finding.file, finding.message) for finding in new]
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
    others = [
        finding
        for finding in new
        if finding.code not in (fault.code, *fault.also, *FORETOLD) and finding.severity != "info"
    ]
    assert [(finding.code, finding.file, finding.message) for finding in others] == []


def test_a_topic_that_is_not_diskless_has_no_finding(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka")
    set_topic(lab, "clicks-none", settings.DISKLESS, "false")
    assert "topic-diskless" not in {one.code for one in check(open_broker(lab.path)).findings}


@pytest.mark.parametrize(
    ("version", "is_named"),
    [("3.9", True), ("4.0", True), ("4.0.1", False), ("4.3.1", False)],
)
def test_offsets_that_an_old_release_gives_twice(clean, tmp_path, version, is_named):
    """KAFKA-19407: the finding names the fault for the releases that have it."""
    code = "offsets-not-increasing"
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    rebased(lab, 9, lambda batches: int(batches["base_offset"][8]))
    findings = check(open_broker(lab.path), version=version).findings
    (problem,) = [one.message["problem"] for one in findings if one.code == code]
    assert (problem.key == "finding.with_cause") == is_named
    assert not is_named or problem["cause"] == CODES[code].cause


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.code)
def test_no_finding_contradicts_the_start_after_a_kill(fault, clean, tmp_path, monkeypatch):
    lab = damaged_lab(fault, clean, tmp_path / "kafka", monkeypatch)
    (lab.path / CLEAN_SHUTDOWN).unlink(missing_ok=True)
    assert contradictions(check(open_broker(lab.path), now_ms=fault.now_ms)) == []


@pytest.mark.parametrize("level", ["headers", "crc"])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            fault,
            id=fault.code,
            marks=[] if CODES[fault.code].family == "log" else pytest.mark.slow,
        )
        for fault in FAULTS
    ],
)
def test_a_level_finds_what_it_says(fault, level, clean, tmp_path, monkeypatch):
    """No code outside the level is reported and every code inside it is; two are found in part."""
    lab = damaged_lab(fault, clean, tmp_path / "kafka", monkeypatch)
    health = check(open_broker(lab.path), now_ms=fault.now_ms, level=CheckLevel(level))
    codes = {finding.code for finding in health.findings if fault.file in (finding.file or "")}
    is_unchecked = fault.code in UNCHECKED_CODES[CheckLevel(level)]
    assert (fault.code in codes) != is_unchecked or (
        is_unchecked and fault.code in ("batch-crc-mismatch", "batch-record-count")
    )
    (partial,) = (finding for finding in health.findings if finding.code == "checks-partial")
    assert partial.message["codes"] == UNCHECKED_CODES[CheckLevel(level)]


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
        lab.checkpoint("recovery-point-offset-checkpoint", "clicks-none", 0, recovery_point)
    if not is_clean:
        lab.unclean()
    health = check(open_broker(lab.path))
    (torn_tail,) = (finding for finding in health.findings if finding.code == "log-torn-tail")
    assert torn_tail.consequence["outcome"].key == f"consequence.{outcome}"
    assert torn_tail.next_step.key == f"next_step.{next_step}"
    assert torn_tail.needs_replica
    cuts = [step.segment for step in health.restart.steps if step.action == "truncate"]
    assert cuts == ([0] if outcome == "damage_cut" else [])
    (gap,) = (finding for finding in health.findings if finding.code == "segment-gap")
    assert (gap.message["first"], gap.message["last"]) == (
        int(batches["base_offset"][-1]),
        int(batches["last_offset"][-1]),
    )


def test_a_closed_segment_without_its_index_is_cut_at_every_start(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    lab.write(log(lab), log(lab).read_bytes()[:-10])
    index(lab).unlink()
    health = check(open_broker(lab.path))
    (torn_tail,) = (finding for finding in health.findings if finding.code == "log-torn-tail")
    assert torn_tail.consequence == message("consequence.recovery_cuts_tail")
    assert [step.segment for step in health.restart.steps if step.action == "truncate"] == [0]


def test_an_emptied_checkpoint_is_not_the_time_of_the_last_write(clean, tmp_path):
    """The time of emptying must not make transactions look open or a broker look running."""
    lab = Lab(clean, tmp_path / "kafka", [PLAIN, TXN])
    lab.unclean()
    (lab.path / ".lock").touch()
    newest_ms = check_plan.newest_ms(open_broker(lab.path))
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        path = lab.path / name
        path.unlink()
        path.touch()
    broker = open_broker(lab.path)
    assert check_plan.newest_ms(broker) <= newest_ms
    texts = {finding.code: finding.message.key for finding in check(broker).findings}
    assert texts["unclean-shutdown"] == "finding.no_file"


def test_no_time_is_no_newest_record(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", [PLAIN])
    timed(lab, lambda row: -1)
    times(lab).unlink()
    (missing,) = (
        finding
        for finding in check(open_broker(lab.path)).findings
        if finding.code == "timeindex-missing"
    )
    assert (missing.message.key, missing.message["file"]) == (
        "finding.no_timeindex_no_times",
        "00000000000000000000.log",
    )
    assert missing.message["written"] > YEAR_2000_MS


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
    consequences = {
        finding.consequence
        for finding in check(open_broker(lab.path)).findings
        if finding.code in ("leader-epoch-bad", "partition-metadata-bad")
    }
    assert consequences == {message(consequence)}


@pytest.mark.parametrize("seed", range(40))
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
    findings = check(open_broker(lab.path)).findings
    new = [
        finding
        for finding in findings
        if (finding.code, finding.file, finding.message) not in baseline
        and finding.severity != "info"
    ]
    assert [finding.file for finding in new] == [f"{partition}/{path.name}"], [
        (finding.code, finding.file, finding.message) for finding in new
    ]
    assert new[0].position <= place < new[0].position + new[0].length


def test_the_list_is_complete():
    """Every code has its fault, here or in test_unreadable, test_tiered_storage,
    test_log_directory_checks or the test of levels above.
    """
    elsewhere = ("tiered-storage", "log-directories")
    of_a_store = {code.name for code in CODES.values() if code.family in elsewhere}
    assert (
        set(CODES) - {fault.code for fault in FAULTS}
        == {
            "unreadable-file",
            "checks-partial",
        }
        | of_a_store
    )
