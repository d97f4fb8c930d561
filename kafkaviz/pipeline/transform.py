"""The tables segments and partitions, from what lies in the directories and what reading the
segments told.

Plain Arrow, not Spark: they have one row a segment, all of which the driver has in hand, since it
commits by them. A frame would cost a Spark job for each, also in a run that has nothing to read and
starts no Spark at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import pyarrow as pa

from kafkaviz.analyse.infer import SegmentFacts, inferred_limits, roll_reasons
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Origin, Settings
from kafkaviz.pipeline.catalog_info import FirstBatch, StoredSegment
from kafkaviz.pipeline.inventory import Found
from kafkaviz.pipeline.plan import Wanted
from kafkaviz.pipeline.schema import FILE_KINDS, PARTITIONS, SEGMENTS
from kafkaviz.pipeline.summary import SegmentRead
from kafkaviz.units import encodable

SEGMENT_BYTES = "segment.bytes"


@dataclass(frozen=True)
class Facts:
    """What the files of a segment told when they were read; None where they do not tell, or could
    not be read.
    """

    batches: int | None = None
    records: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    min_timestamp_ms: int | None = None
    max_timestamp_ms: int | None = None
    offset_entries: int | None = None
    time_entries: int | None = None
    unwritten_offset_slots: int | None = None
    unwritten_time_slots: int | None = None
    valid_bytes: int | None = None
    torn_bytes: int | None = None
    interval_low_bytes: int | None = None
    interval_high_bytes: int | None = None
    first_batch: FirstBatch | None = None


FACT_COLUMNS = [one.name for one in fields(Facts) if one.name in SEGMENTS.names]


def facts_of_read(found: Found | Wanted, read: SegmentRead) -> Facts:
    """What has just been read."""
    interval = read.evidence.bounds()
    told: dict[str, Any] = {
        "interval_low_bytes": interval.low_bytes,
        "interval_high_bytes": interval.high_bytes,
        **vars(read.slots),
    }
    if read.end_position is not None:
        told |= {
            name: getattr(read.content, name)
            for name in FACT_COLUMNS
            if hasattr(read.content, name)
        }
        told |= {
            "valid_bytes": read.end_position,
            "torn_bytes": found.segment.log.size_bytes - read.end_position,
        }
        told |= {"first_batch": first_batch(read)}
    return Facts(**told)


def first_batch(read: SegmentRead) -> FirstBatch | None:
    """The first batch of a segment; None without one."""
    content = read.content
    if not content.batches:
        return None
    return FirstBatch(
        cast(int, content.first_batch_bytes),
        cast(int, content.first_batch_max_timestamp_ms),
        cast(int, content.first_batch_last_offset),
    )


def facts_of_rows(rows: pa.Table, stored: Sequence[StoredSegment]) -> list[Facts]:
    """What an earlier run had read: rows of the old table segments, and the same segments in the
    old description.
    """
    told = rows.select(FACT_COLUMNS).to_pylist()
    return [
        Facts(**row, first_batch=segment.first_batch)
        for row, segment in zip(told, stored, strict=True)
    ]


def segments_table(
    found: Sequence[Found], facts: Sequence[Facts], settings: Mapping[str, Settings]
) -> pa.Table:
    """A row a segment, in the order given; facts[n] is what found[n] told. settings: of each
    broker, by its name.
    """
    reasons, limits = _rolls(found, facts)
    rows = [
        {
            "broker": one.broker,
            "topic": encodable(one.partition.topic),
            "partition": one.partition.partition,
            "base_offset": one.segment.base_offset,
            "state": one.segment.state,
            **file_columns(one.segment),
            **{name: getattr(told, name) for name in FACT_COLUMNS},
            "roll_reason": reasons.get(one.stored.key),
            **_segment_bytes(one, settings[one.broker], limits),
        }
        for one, told in zip(found, facts, strict=True)
    ]
    return pa.Table.from_pylist(rows, SEGMENTS)


def partitions_table(
    partitions: Iterable[tuple[str, Partition]], found: Sequence[Found], facts: Sequence[Facts]
) -> pa.Table:
    """A row a partition directory; each comes with its broker's name."""
    live = _live(found, facts)
    rows = [
        {
            "broker": broker,
            "topic": encodable(partition.topic),
            "partition": partition.partition,
            "directory": encodable(partition.directory),
            "state": partition.state,
            "topic_id": partition.topic_id,
            "segments": len(partition.live),
            "log_start_offset": partition.log_start_offset,
            "high_watermark": partition.high_watermark,
            "recovery_point": partition.recovery_point,
            "log_end_offset": _log_end_offset(live.get((broker, partition.directory))),
        }
        for broker, partition in partitions
    ]
    return pa.Table.from_pylist(rows, PARTITIONS)


Live = list[tuple[Found, Facts]]


def _live(found: Sequence[Found], facts: Sequence[Facts]) -> Mapping[tuple[str, str], Live]:
    """Of each partition directory the segments that a broker serves, in order."""
    live: dict[tuple[str, str], Live] = defaultdict(list)
    for one, told in zip(found, facts, strict=True):
        if one.segment.log and one.segment.in_use:
            live[one.broker, one.partition.directory].append((one, told))
    return live


def _rolls(
    found: Sequence[Found], facts: Sequence[Facts]
) -> tuple[dict[tuple, str | None], dict[tuple, int]]:
    """Why each closed segment was rolled, by StoredSegment.key; and the segment.bytes that rolls
    tell: of each topic-partition, and of each topic, by broker, topic and partition (None: of the
    topic), as its first topic-partition that tells does.
    """
    reasons: dict[tuple, str | None] = {}
    limits: dict[tuple, int] = {}
    for live in _live(found, facts).values():
        rolled = [_segment_facts(one, facts) for one, facts in live]
        told = roll_reasons(rolled)
        reasons |= {one.stored.key: reason for (one, _), reason in zip(live, told, strict=True)}
        first, limit = live[0][0], inferred_limits(rolled, told).get(SEGMENT_BYTES)
        if limit:
            for partition in (first.partition.partition, None):
                limits.setdefault((first.broker, first.partition.topic, partition), limit.value)
    return reasons, limits


def _segment_bytes(
    one: Found, settings: Settings, limits: Mapping[tuple, int]
) -> dict[str, int | str]:
    """The limit that a segment ended at or could have: as it was set, else as rolls tell, else the
    default of the release.
    """
    topic = one.partition.topic
    found = settings.find(topic, SEGMENT_BYTES)
    told = limits.get((one.broker, topic, one.partition.partition)) or limits.get(
        (one.broker, topic, None)
    )
    if found.origin != Origin.DEFAULT or told is None:
        return {"segment_bytes": int(cast(int, found.value)), "segment_bytes_source": found.source}
    return {"segment_bytes": told, "segment_bytes_source": "inferred from rolls"}


def _segment_facts(one: Found, told: Facts) -> SegmentFacts:
    first = told.first_batch or FirstBatch(0, -1, -1)
    return SegmentFacts(
        one.segment.base_offset,
        one.segment.log.size_bytes,
        *first,
        -1 if told.max_timestamp_ms is None else told.max_timestamp_ms,
        told.offset_entries or 0,
        told.time_entries or 0,
    )


def _log_end_offset(live: Live | None) -> int | None:
    """One past the last batch of the newest segment; its base offset when it is empty."""
    if not live or live[-1][1].batches is None:
        return None
    newest, told = live[-1]
    return newest.segment.base_offset if told.last_offset is None else told.last_offset + 1


def file_columns(segment: Segment) -> dict[str, int]:
    """Size, room and time of each file of a segment, as the columns of table segments name them."""
    columns: dict[str, int] = {}
    for kind in FILE_KINDS:
        file: FileInfo | None = getattr(segment, kind)
        if file is not None:
            facts = {
                "bytes": file.size_bytes,
                "allocated_bytes": file.allocated_bytes,
                "mtime_ns": file.mtime_ns,
            }
            columns |= {f"{kind}_{fact}": value for fact, value in facts.items()}
    return columns
