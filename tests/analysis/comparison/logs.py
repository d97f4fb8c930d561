"""Logs of a few records to compare; the test chooses how the records are batched."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from crc32c import crc32c

from kafkaviz.format import record
from kafkaviz.format.batch import CRC_START, HEADER
from kafkaviz.format.names import PartitionName
from kafkaviz.format.record import Record
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.units import file_stem

Values = Mapping[int, bytes]  # by the offset of the record


def batch_bytes(values: Values, *, first: int, last: int, epoch: int = 0) -> bytes:
    """Returns a batch that spans `first` to `last` and holds those of the records."""
    offsets = [offset for offset in sorted(values) if first <= offset <= last]
    records = record.build(
        [
            Record(
                offset_delta=offset - first,
                timestamp_delta_ms=offset - first,
                key=b"k",
                value=values[offset],
            )
            for offset in offsets
        ]
    )
    header = np.zeros(1, HEADER)
    for name, value in {
        "base_offset": first,
        "batch_length_bytes": HEADER.itemsize - 12 + len(records),
        "leader_epoch": epoch,
        "magic": 2,
        "last_offset_delta": last - first,
        "base_timestamp_ms": 1000 + first,
        "max_timestamp_ms": 1000 + last,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "record_count": len(offsets),
    }.items():
        header[name] = value
    data = bytearray(header.tobytes() + records)
    header["crc"] = crc32c(bytes(data[CRC_START:]))
    data[: HEADER.itemsize] = header.tobytes()
    return bytes(data)


def write_partition(
    path: Path, segments: Mapping[int, Sequence[bytes]], epochs: str | None = None
) -> Partition:
    """Writes a partition directory of these batches, given by the base offsets of their segments."""
    path.mkdir(parents=True)
    for base_offset, batches in segments.items():
        (path / f"{file_stem(base_offset)}.log").write_bytes(b"".join(batches))
    if epochs is not None:
        (path / "leader-epoch-checkpoint").write_text(epochs)
    topic, _, number = path.name.rpartition("-")
    return open_partition(path, PartitionName(topic, int(number)))
