"""The checks of producer snapshots: can they be read, does each belong to the log, is one there
where producers wrote?
"""

from collections.abc import Iterator, Sequence

import numpy as np

from kafkaviz.analyse.checks.facts import MOST_RUNS, Facts
from kafkaviz.analyse.checks.other_files import unreadable
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import producer_snapshot
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import OFFSET_ENTRY
from kafkaviz.units import group

CRC_AT = field_start(producer_snapshot.HEADER, "crc")
CRC_BYTES = producer_snapshot.CRC_START - CRC_AT
SNAPSHOT_BYTES = 64 << 20  # a larger one is not read


def of_partition(
    partition: Partition, summaries: Sequence[Summary], facts: Facts
) -> Iterator[Finding]:
    """Snapshots that cannot be read, that belong nowhere, and none where one is needed.

    A start keeps those of segments' base offsets and the newest one above (removeStraySnapshots,
    4.3.1). Each stop leaves one at the log's end, which the next but one removes: that is how a
    healthy log looks, so a snapshot where a batch begins is none of these.
    """
    bases = [told.segment.base_offset for told in summaries]
    found = partition.snapshots
    stray = [offset for offset in found if offset not in bases]
    kept = max(stray, default=-1) if max(stray, default=-1) > max(bases, default=-1) else None
    for one in found.values():
        yield from of_file(one, facts)
    removed = [
        found[offset] for offset in stray if offset != kept and not _begins_batch(summaries, offset)
    ]
    if removed:
        more = f"; so are {len(removed) - 1} more" if len(removed) > 1 else ""
        message = f"no segment and no batch begins at the offset of {removed[0].name}{more}"
        evidence = Evidence(
            ", ".join(one.name for one in removed[:MOST_RUNS]),
            "base offsets of segments, and the log's end of a stop",
        )
        yield facts.found(
            "snapshot-stray", removed[0].name, message, evidence, 0, removed[0].size_bytes
        )
    wrote = sum(told.producer_batches for told in summaries)
    if wrote and not found and facts.clean:
        message = f"{group(wrote)} batches have a producer id, and there is no .snapshot"
        yield facts.found(
            "snapshot-missing", None, message, Evidence("no .snapshot", "one at the log's end")
        )


def _begins_batch(summaries: Sequence[Summary], offset: int) -> bool:
    """Whether a batch begins at an offset, or may have before compaction; the log's end counts
    too.
    """
    told = next((one for one in reversed(summaries) if one.segment.base_offset <= offset), None)
    if told is None or told.unsound or told.last_offset is None:
        return told is not None
    entries = told.segment.offset_index if "index" not in told.hidden else np.empty(0, OFFSET_ENTRY)
    slot = int(np.searchsorted(entries["offset"], offset)) - 1
    # a damaged entry may point before the file
    start = max(int(entries["position"][slot]), 0) if slot >= 0 else 0
    begins = told.last_offset + 1
    for batches in told.segment.scan(start):
        behind = batches["base_offset"][batches["base_offset"] >= offset]
        if len(behind):
            begins = int(behind[0])
            break
    return begins == offset or bool(told.gap_count or told.dropped_offsets)


def of_file(one: FileInfo, facts: Facts) -> Iterator[Finding]:
    """One that Kafka does not read, whatever lies beside it."""
    try:
        data = file.read_whole(one.path, SNAPSHOT_BYTES)
        producer_snapshot.parse(data)
    except CorruptBytes as fault:
        position, evidence = fault.position, Evidence(fault.what, "a snapshot that Kafka reads")
        stored, computed = (
            data[CRC_AT : producer_snapshot.CRC_START],
            crc32c(data[producer_snapshot.CRC_START :]),
        )
        # whatever else is wrong follows from this
        if len(stored) == CRC_BYTES and int.from_bytes(stored, "big") != computed:
            number = int.from_bytes(stored, "big")
            evidence = Evidence(
                f"stored checksum {number}",
                f"{computed}, computed from its bytes",
                stored.hex(),
                f"{computed:08x}",
            )
            position = CRC_AT
        message = f"{one.name} is not what was written: {fault.what}"
        yield facts.found(
            "snapshot-bad-crc",
            one.name,
            message,
            evidence,
            position,
            min(CRC_BYTES, max(len(data) - position, 0)),
        )
    except KafkavizError as fault:
        yield unreadable.of_file(one.name, fault, facts)
