"""The tables segments and partitions.

From what lies in the directories and what reading the segments found.

Plain Arrow, not Spark: they have one row a segment, all of which the driver has in hand, since it
commits by them. A frame would cost a Spark job for each, also in a run that has nothing to read and
starts no Spark at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import pyarrow as pa

from kafkaviz.analysis.inference import SegmentFacts, inferred_limits, roll_reasons
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Origin, Settings
from kafkaviz.pipeline.catalog.catalog_info import FirstBatch, StoredSegment
from kafkaviz.pipeline.catalog.schema import FILE_KINDS, PARTITIONS, SEGMENTS
from kafkaviz.pipeline.ingest.inventory import InventoryEntry
from kafkaviz.pipeline.ingest.plan import SegmentTask
from kafkaviz.pipeline.ingest.summary import SegmentSummary
from kafkaviz.units import replace_surrogates

SEGMENT_BYTES = "segment.bytes"


@dataclass(frozen=True, kw_only=True)
class SegmentStatistics:
    """What the files of a segment said when they were read.

    None where they do not say, or could not be read.
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


STATISTICS_COLUMNS = [
    field.name for field in fields(SegmentStatistics) if field.name in SEGMENTS.names
]


def statistics_of_read(
    entry: InventoryEntry | SegmentTask, summary: SegmentSummary
) -> SegmentStatistics:
    """What has just been read."""
    interval = summary.evidence.bounds()
    values: dict[str, Any] = {
        "interval_low_bytes": interval.low_bytes,
        "interval_high_bytes": interval.high_bytes,
        **vars(summary.slots),
    }
    if summary.end_position is not None:
        values |= {
            name: getattr(summary.content, name)
            for name in STATISTICS_COLUMNS
            if hasattr(summary.content, name)
        }
        values |= {
            "valid_bytes": summary.end_position,
            "torn_bytes": entry.segment.with_log().log.size_bytes - summary.end_position,
        }
        values |= {"first_batch": first_batch(summary)}
    return SegmentStatistics(**values)


def first_batch(summary: SegmentSummary) -> FirstBatch | None:
    """The first batch of a segment.

    Returns:
        None without one.
    """
    content = summary.content
    if not content.batches:
        return None
    return FirstBatch(
        cast(int, content.first_batch_bytes),
        cast(int, content.first_batch_max_timestamp_ms),
        cast(int, content.first_batch_last_offset),
    )


def statistics_of_rows(rows: pa.Table, stored: Sequence[StoredSegment]) -> list[SegmentStatistics]:
    """What an earlier run had read.

    Rows of the old table segments, and the same segments in the old description.
    """
    values = rows.select(STATISTICS_COLUMNS).to_pylist()
    return [
        SegmentStatistics(**row, first_batch=segment.first_batch)
        for row, segment in zip(values, stored, strict=True)
    ]


def segments_table(
    entries: Sequence[InventoryEntry],
    statistics: Sequence[SegmentStatistics],
    settings: Mapping[str, Settings],
) -> pa.Table:
    """A row a segment, in the order given; statistics[n] is what reading the n-th gave.

    Args:
        settings: of each broker, by its name.
    """
    reasons, limits = _rolls(entries, statistics)
    rows = [
        {
            "broker": entry.broker,
            "topic": replace_surrogates(entry.partition.topic),
            "partition": entry.partition.partition,
            "base_offset": entry.segment.base_offset,
            "state": entry.segment.state,
            **file_columns(entry.segment),
            **{name: getattr(values, name) for name in STATISTICS_COLUMNS},
            "roll_reason": reasons.get(entry.stored.key),
            **_segment_bytes(entry, settings[entry.broker], limits),
        }
        for entry, values in zip(entries, statistics, strict=True)
    ]
    return pa.Table.from_pylist(rows, SEGMENTS)


def partitions_table(
    partitions: Iterable[tuple[str, Partition]],
    entries: Sequence[InventoryEntry],
    statistics: Sequence[SegmentStatistics],
) -> pa.Table:
    """A row a partition directory; each comes with its broker's name."""
    live = _live(entries, statistics)
    rows = [
        {
            "broker": broker,
            "topic": replace_surrogates(partition.topic),
            "partition": partition.partition,
            "directory": replace_surrogates(partition.directory),
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


Live = list[tuple[InventoryEntry, SegmentStatistics]]


def _live(
    entries: Sequence[InventoryEntry], statistics: Sequence[SegmentStatistics]
) -> Mapping[tuple[str, str], Live]:
    """Of each partition directory the segments that a broker serves, in order."""
    live: dict[tuple[str, str], Live] = defaultdict(list)
    for entry, values in zip(entries, statistics, strict=True):
        if entry.segment.log and entry.segment.is_in_use:
            live[entry.broker, entry.partition.directory].append((entry, values))
    return live


def _rolls(
    entries: Sequence[InventoryEntry], statistics: Sequence[SegmentStatistics]
) -> tuple[dict[tuple, str | None], dict[tuple, int]]:
    """Why each closed segment was rolled, by StoredSegment.key.

    And the segment.bytes that rolls show: of each topic-partition, and of each topic, by broker,
    topic and partition (None: of the topic), as its first topic-partition that shows one does.
    """
    reasons: dict[tuple, str | None] = {}
    limits: dict[tuple, int] = {}
    for live in _live(entries, statistics).values():
        segments = [_segment_facts(entry, values) for entry, values in live]
        live_reasons = roll_reasons(segments)
        reasons |= {
            entry.stored.key: reason for (entry, _), reason in zip(live, live_reasons, strict=True)
        }
        first, limit = live[0][0], inferred_limits(segments, live_reasons).get(SEGMENT_BYTES)
        if limit:
            for partition in (first.partition.partition, None):
                limits.setdefault((first.broker, first.partition.topic, partition), limit.value)
    return reasons, limits


def _segment_bytes(
    entry: InventoryEntry, settings: Settings, limits: Mapping[tuple, int]
) -> dict[str, int | str]:
    """The limit that a segment ended at or could have ended at.

    It is the one that was set, else the one that rolls show, else the default of the release.
    """
    topic = entry.partition.topic
    setting = settings.find(topic, SEGMENT_BYTES)
    inferred_bytes = limits.get((entry.broker, topic, entry.partition.partition)) or limits.get(
        (entry.broker, topic, None)
    )
    if setting.origin != Origin.DEFAULT or inferred_bytes is None:
        return {
            "segment_bytes": int(cast(int, setting.value)),
            "segment_bytes_source": str(setting.source),
        }
    return {"segment_bytes": inferred_bytes, "segment_bytes_source": "inferred from rolls"}


def _segment_facts(entry: InventoryEntry, statistics: SegmentStatistics) -> SegmentFacts:
    first = statistics.first_batch or FirstBatch(0, -1, -1)
    return SegmentFacts(
        base_offset=entry.segment.base_offset,
        log_bytes=entry.segment.with_log().log.size_bytes,
        first_batch_bytes=first.size_bytes,
        first_batch_max_timestamp_ms=first.max_timestamp_ms,
        first_batch_last_offset=first.last_offset,
        max_timestamp_ms=-1 if statistics.max_timestamp_ms is None else statistics.max_timestamp_ms,
        offset_entries=statistics.offset_entries or 0,
        time_entries=statistics.time_entries or 0,
    )


def _log_end_offset(live: Live | None) -> int | None:
    """One past the last batch of the newest segment; its base offset when it is empty."""
    if not live or live[-1][1].batches is None:
        return None
    newest, statistics = live[-1]
    return (
        newest.segment.base_offset if statistics.last_offset is None else statistics.last_offset + 1
    )


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
