"""Logs of a few records to compare; the test chooses how the records are batched."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kafkaviz.format import record
from kafkaviz.format.names import PartitionName
from kafkaviz.format.record import Record
from kafkaviz.log.partition import Partition, open_partition
from kafkaviz.units import file_stem
from tests.pipeline import whole_logs

Values = Mapping[int, bytes]  # by the offset of the record


def batch_bytes(values: Values, *, first: int, last: int, epoch: int = 0) -> bytes:
    """Returns a batch that spans `first` to `last` and holds those of the records."""
    deltas = [offset - first for offset in sorted(values) if first <= offset <= last]
    body = record.build(
        Record(offset_delta=delta, timestamp_delta_ms=delta, key=b"k", value=values[first + delta])
        for delta in deltas
    )
    times_ms = range(1000 + first, 1001 + last)
    return whole_logs.framed(first, body, times_ms, leader_epoch=epoch, record_count=len(deltas))


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
