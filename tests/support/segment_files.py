"""Segments on disk of which only sizes and indexes are read, and a catalog's table of them."""

from pathlib import Path

import numpy as np

from kafkaviz.analysis import overview
from kafkaviz.format import offset_index, time_index


def make_segment(
    folder: Path, base: int, log_bytes: int, positions: list[int], times: int = 0, suffix: str = ""
) -> None:
    """Writes a segment with this many bytes of zeros as its log, and these index entries."""
    folder.mkdir(exist_ok=True, parents=True)
    stem = folder / f"{base:020d}"
    Path(f"{stem}.log{suffix}").write_bytes(bytes(log_bytes))
    entries = np.array(
        [(number + 1, position) for number, position in enumerate(positions)], offset_index.ENTRY
    )
    Path(f"{stem}.index{suffix}").write_bytes(offset_index.build(entries))
    stamps = np.array([(1000 + number, number + 1) for number in range(times)], time_index.ENTRY)
    Path(f"{stem}.timeindex{suffix}").write_bytes(time_index.build(stamps))


def columns(broker, **counted) -> dict[str, list]:
    """Returns a catalog's table of these segments; `counted` gives columns, all others are 0."""
    segments = [
        (partition, segment) for partition in broker.partitions for segment in partition.segments
    ]
    table = {
        "directory": [partition.directory for partition, _ in segments],
        "base_offset": [segment.base_offset for _, segment in segments],
        "suffix": [
            "" if segment.state in ("active", "closed") else segment.state
            for _, segment in segments
        ],
        "log_bytes": [segment.log and segment.log.size_bytes for _, segment in segments],
        "log_mtime_ns": [segment.log and segment.log.mtime_ns for _, segment in segments],
    }
    table |= {name: counted.get(name, [()] * len(segments)) for name in ("codecs", "problems")}
    return table | {name: counted.get(name, [0] * len(segments)) for name in overview.COUNT_COLUMNS}
