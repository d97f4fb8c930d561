"""A producer snapshot (.snapshot): the state of each producer below the offset in the file's name.

ProducerStateManager of Kafka 4.3.1 writes a 10-byte header and 46 bytes per producer. The row
(1001, 4, 6, 900, 2, ...) means: producer 1001 in epoch 4 last wrote sequences 4 to 6 to offsets 898
to 900. A batch that repeats these sequences is a duplicate.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from crc32c import crc32c  # binary.crc32c would load the compiler for its loops

from kafkaviz.binary.layouts import build_rows, field_start
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.messages import verbatim

HEADER: np.dtype = np.dtype(
    [
        ("version", ">i2"),
        ("crc", ">u4"),  # CRC-32C of all bytes after it
        ("producer_count", ">i4"),
    ]
)
PRODUCER: np.dtype = np.dtype(
    [
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("last_sequence", ">i4"),
        ("last_offset", ">i8"),  # negative: no batch of this producer is known
        ("offset_delta", ">i4"),  # last offset of the last batch minus its first
        ("timestamp_ms", ">i8"),
        ("coordinator_epoch", ">i4"),  # -1: no transaction marker was seen
        ("current_txn_first_offset", ">i8"),  # -1: no transaction is open
    ]
)
VERSION = 1
# 6: the checksum covers the bytes from here to the end
CRC_START = field_start(HEADER, "producer_count")
_INVALID = "Snapshot failed schema validation"


@dataclass(frozen=True)
class ProducerSnapshot:
    """The content of a producer snapshot. `producers` is an array of PRODUCER."""

    version: int
    crc: int
    producers: np.ndarray

    @property
    def open_transactions(self) -> dict[int, int]:
        """The first offset of each open transaction, by producer id."""
        open_rows = self.producers[self.producers["current_txn_first_offset"] >= 0]
        return dict(open_rows[["producer_id", "current_txn_first_offset"]].tolist())


def parse(data: bytes | memoryview) -> ProducerSnapshot:
    """Parses a producer snapshot.

    Like Kafka, ignores bytes after the last producer if the checksum covers them.

    Raises:
        CorruptBytes: Kafka 4.3.1 would ignore and delete the file. The error has Kafka's message.
    """
    if len(data) >= HEADER["version"].itemsize:
        version = int(np.frombuffer(data, HEADER["version"], 1)[0])
        if version != VERSION:
            words = f"{_INVALID}: Snapshot contained an unknown file version {version}"
            raise CorruptBytes(0, verbatim(words))
    if len(data) < HEADER.itemsize:
        raise CorruptBytes(len(data), verbatim(f"{_INVALID}: null"))
    header = np.frombuffer(data, HEADER, 1)[0]
    count = _check_count(int(header["producer_count"]), len(data) - HEADER.itemsize)
    crc = int(header["crc"])
    computed_crc = crc32c(data[CRC_START:])
    if crc != computed_crc:
        words = (
            f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {crc}. Computed crc: "
            f"{computed_crc}"
        )
        raise CorruptBytes(CRC_START, verbatim(words))
    return ProducerSnapshot(VERSION, crc, np.frombuffer(data, PRODUCER, count, HEADER.itemsize))


def find_newest(
    offsets: Iterable[int],
    end_offset: int,
    read: Callable[[int], ProducerSnapshot],
    *,
    unreadable_error: type[KafkavizError],
) -> tuple[int, dict[int, int]] | None:
    """Finds the newest readable snapshot at or below an offset (loadFromSnapshot).

    Returns its offset and open transactions, or None without such a snapshot. `read` raises
    `unreadable_error` for an unreadable snapshot.
    """
    for offset in sorted((offset for offset in offsets if offset <= end_offset), reverse=True):
        with suppress(unreadable_error):
            return offset, read(offset).open_transactions
    return None


def build(producers: np.ndarray) -> bytes:
    """Returns the bytes that Kafka would write for these producers, in this order."""
    count = len(producers)
    body = np.array(count, HEADER["producer_count"]).tobytes() + build_rows(PRODUCER, producers)
    return np.array((VERSION, crc32c(body), count), HEADER).tobytes()[:CRC_START] + body


def first_sequence(producers: np.ndarray) -> np.ndarray:
    """Returns the first sequence of each producer's last batch. Sequence 0 follows 2147483647."""
    first = producers["last_sequence"].astype("i8") - producers["offset_delta"]
    return np.where(first < 0, first + 2**31, first)


def _check_count(count: int, left_bytes: int) -> int:
    """Returns the number of producers. Raises CorruptBytes if the bytes cannot hold that many."""
    position = field_start(HEADER, "producer_count")
    if count < 0:
        words = f"{_INVALID}: non-nullable field producerEntries was serialized as null"
        raise CorruptBytes(position, verbatim(words))
    if count > left_bytes:
        problem = (
            f"Tried to allocate a collection of size {count}, but there are only {left_bytes} "
            "bytes remaining."
        )
        raise CorruptBytes(position, verbatim(f"{_INVALID}: {problem}"))
    if count * PRODUCER.itemsize > left_bytes:
        raise CorruptBytes(HEADER.itemsize + left_bytes, verbatim(f"{_INVALID}: null"))
    return count
