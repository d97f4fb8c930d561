"""A producer snapshot (.snapshot): each producer's state below the offset in the file's name.

A header of 10 bytes, then 46 bytes a producer, in the order of a hash map. A producer (1001, 4, 6,
900, 2, ...) last wrote the sequences 4 to 6 to offsets 898 to 900: a batch that repeats them is a
duplicate. ProducerStateManager, Kafka 4.3.1.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from crc32c import crc32c  # binary.crc32c would load the compiler for its loops

from kafkaviz.binary.layouts import field_names, field_start
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.messages import verbatim

HEADER: np.dtype = np.dtype(
    [
        ("version", ">i2"),
        ("crc", ">u4"),  # CRC-32C of all that follows it
        ("producer_count", ">i4"),
    ]
)
PRODUCER: np.dtype = np.dtype(
    [
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("last_sequence", ">i4"),
        ("last_offset", ">i8"),  # below 0: no batch of this producer is known
        ("offset_delta", ">i4"),  # the last batch has this many offsets before its last
        ("timestamp_ms", ">i8"),
        ("coordinator_epoch", ">i4"),  # -1: none, no transaction marker was seen
        ("current_txn_first_offset", ">i8"),  # -1: no transaction is open
    ]
)
VERSION = 1
CRC_START = field_start(HEADER, "producer_count")  # 6: the checksum covers the bytes from it on
_INVALID = "Snapshot failed schema validation"


@dataclass(frozen=True)
class ProducerSnapshot:
    """The content of a producer snapshot.

    Attributes:
        producers: an array of PRODUCER, in the order of the file.
    """

    version: int
    crc: int
    producers: np.ndarray

    @property
    def open_transactions(self) -> dict[int, int]:
        """The first offset of each producer with an open transaction."""
        open_rows = self.producers[self.producers["current_txn_first_offset"] >= 0]
        return dict(
            zip(
                open_rows["producer_id"].tolist(),
                open_rows["current_txn_first_offset"].tolist(),
                strict=True,
            )
        )


def parse(data: bytes | memoryview) -> ProducerSnapshot:
    """The producers of a snapshot.

    As Kafka, it ignores bytes behind the last producer where the checksum covers them.

    Raises:
        CorruptBytes: Kafka 4.3.1 ignores the file and deletes it; in its words.
    """
    version = (
        int(np.frombuffer(data, HEADER["version"], 1)[0])
        if len(data) >= HEADER["version"].itemsize
        else VERSION
    )
    if version != VERSION:
        raise CorruptBytes(
            0, verbatim(f"{_INVALID}: Snapshot contained an unknown file version {version}")
        )
    if len(data) < HEADER.itemsize:
        raise CorruptBytes(len(data), verbatim(f"{_INVALID}: null"))
    header = np.frombuffer(data, HEADER, 1)[0]
    count, crc = (
        _check_count(int(header["producer_count"]), len(data) - HEADER.itemsize),
        int(header["crc"]),
    )
    computed_crc = crc32c(data[CRC_START:])
    if crc != computed_crc:
        raise CorruptBytes(
            CRC_START,
            verbatim(
                f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {crc}. Computed crc: "
                f"{computed_crc}"
            ),
        )
    return ProducerSnapshot(version, crc, np.frombuffer(data, PRODUCER, count, HEADER.itemsize))


def find_newest(
    offsets: Iterable[int],
    end_offset: int,
    read: Callable[[int], ProducerSnapshot],
    *,
    passed_over: type[KafkavizError],
) -> tuple[int, dict[int, int]] | None:
    """The newest snapshot up to an offset that can be read (ProducerStateManager.loadFromSnapshot).

    Args:
        passed_over: what read raises where Kafka takes the one before it, too.

    Returns:
        Its offset and its open transactions; None where none can be read.
    """
    for offset in sorted((offset for offset in offsets if offset <= end_offset), reverse=True):
        with suppress(passed_over):
            return offset, read(offset).open_transactions
    return None


def build(producers: np.ndarray) -> bytes:
    """The bytes Kafka would have written for these producers, in this order.

    Args:
        producers: any array with the fields of PRODUCER.
    """
    rows = np.empty(len(producers), PRODUCER)
    for field in field_names(PRODUCER):
        rows[field] = producers[field]
    body = np.array(len(rows), HEADER["producer_count"]).tobytes() + rows.tobytes()
    return np.array((VERSION, crc32c(body), len(rows)), HEADER).tobytes()[:CRC_START] + body


def first_sequence(producers: np.ndarray) -> np.ndarray:
    """The first sequence of each producer's last batch; 0 follows 2 147 483 647."""
    first = producers["last_sequence"].astype("i8") - producers["offset_delta"]
    return np.where(first < 0, first + 2**31, first)


def _check_count(count: int, left_bytes: int) -> int:
    """The number of producers, once that many fit into the bytes that are there."""
    position = field_start(HEADER, "producer_count")
    if count < 0:
        raise CorruptBytes(
            position,
            verbatim(f"{_INVALID}: non-nullable field producerEntries was serialized as null"),
        )
    if count > left_bytes:
        problem = (
            f"Tried to allocate a collection of size {count}, but there are only {left_bytes} "
            "bytes remaining."
        )
        raise CorruptBytes(position, verbatim(f"{_INVALID}: {problem}"))
    if count * PRODUCER.itemsize > left_bytes:
        raise CorruptBytes(HEADER.itemsize + left_bytes, verbatim(f"{_INVALID}: null"))
    return count
