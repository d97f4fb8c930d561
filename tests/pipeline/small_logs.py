from pathlib import Path

import numpy as np
from crc32c import crc32c

from kafkaviz.binary.layouts import field_start
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import HEADER, HEADER_BYTES

START_MS = 1_790_000_000_000


def log_bytes(sizes: list[int], base_offset: int = 0, records: int = 2) -> bytes:
    """Returns batches of magic 2 with these sizes; only their records are invalid."""
    headers = np.zeros(len(sizes), HEADER)
    headers["base_offset"] = base_offset + records * np.arange(len(sizes))
    headers["batch_length_bytes"], headers["magic"] = np.array(sizes) - 12, 2
    headers["last_offset_delta"], headers["record_count"] = records - 1, records
    headers["producer_id"] = headers["producer_epoch"] = headers["base_sequence"] = -1
    headers["base_timestamp_ms"] = START_MS + 10 * np.arange(len(sizes))
    headers["max_timestamp_ms"] = headers["base_timestamp_ms"] + 5
    for header, size in zip(headers, sizes, strict=True):
        header["crc"] = crc32c(
            header.tobytes()[field_start(HEADER, "attributes") :] + b"x" * (size - HEADER_BYTES)
        )
    return b"".join(
        header.tobytes() + b"x" * (size - HEADER_BYTES)
        for header, size in zip(headers, sizes, strict=True)
    )


def write_segment(
    partition: Path,
    sizes: list[int],
    base_offset: int = 0,
    records: int = 2,
    indexed: list[int] | None = None,
) -> Path:
    """Writes a .log of batches of these sizes and its indexes, with entries for the named batches,
    by default all but the first.
    """
    partition.mkdir(parents=True, exist_ok=True)
    stem = partition / f"{base_offset:020d}"
    stem.with_suffix(".log").write_bytes(log_bytes(sizes, base_offset, records))
    chosen = np.array(range(1, len(sizes)) if indexed is None else indexed, int)
    entries = np.zeros(
        len(chosen), [("relative_offset", "i8"), ("position", "i8"), ("timestamp_ms", "i8")]
    )
    entries["relative_offset"] = records * chosen + records - 1
    entries["position"] = np.concatenate(([0], np.cumsum(sizes)))[chosen]
    entries["timestamp_ms"] = START_MS + 10 * chosen + 5
    stem.with_suffix(".index").write_bytes(offset_index.build(entries))
    stem.with_suffix(".timeindex").write_bytes(time_index.build(entries))
    return stem


def write_broker(directory: Path, partitions: dict[str, list[list[int]]], records: int = 2) -> Path:
    """Writes a broker directory: its segments, each given by the sizes of its batches."""
    directory.mkdir(parents=True)
    (directory / "meta.properties").write_text("version=1\nnode.id=7\ncluster.id=made\n")
    for name, segments in partitions.items():
        base_offset = 0
        for sizes in segments:
            write_segment(directory / name, sizes, base_offset, records)
            base_offset += records * len(sizes)
    return directory
