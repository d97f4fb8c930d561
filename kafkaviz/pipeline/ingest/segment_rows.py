"""Builds the rows of tables `segments` and `partitions`, which the driver writes.

It builds them one directory at a time and without a DataFrame, which would start Spark even in an
ingest that reads nothing. Column segment_bytes is filled in last, because the value may become
known only from a later partition of the same topic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from kafkaviz.analysis.inferred_settings import (
    NO_BATCH,
    FirstBatch,
    SegmentFacts,
    inferred_limits,
    roll_reasons,
)
from kafkaviz.log.archives import archive
from kafkaviz.log.settings import Settings
from kafkaviz.pipeline.read.inventory import InventoryEntry, PartitionEntries
from kafkaviz.pipeline.read.rows import STATISTICS_COLUMNS, SegmentStatistics, file_columns
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import replace_surrogates

SEGMENT_BYTES = "segment.bytes"
ROLL_COLUMNS = [
    "base_offset", "state", "log_bytes", "max_timestamp_ms", "offset_entries", "time_entries",
    "roll_reason",
]  # fmt: skip
Live = list[tuple[InventoryEntry, SegmentStatistics]]


@dataclass
class SegmentBytes:
    """Finds the segment.bytes that applied to a partition's segments.

    The configured value has precedence, then the value inferred from rolls, then the release's
    default.
    """

    settings: Mapping[str, Settings]  # the settings of each broker, by the broker's name
    # inferred from rolls, by (broker, topic, partition); with partition None: the first value that
    # was inferred for the topic
    inferred_bytes: dict[tuple[str, str, int | None], int] = field(default_factory=dict)

    def note(
        self,
        owner: tuple[str, str, int],
        facts: Sequence[SegmentFacts],
        reasons: Sequence[RollCause | None],
    ) -> None:
        """Infers segment.bytes from a partition's rolls, and keeps the value if there is one.

        `owner` is broker, topic and partition. `facts` are about the segments that a broker
        would use, and `reasons` say why Kafka rolled each of these segments.
        """
        broker, topic, partition = owner
        limit = inferred_limits(facts, reasons).get(SEGMENT_BYTES)
        if limit:
            for number in (partition, None):
                self.inferred_bytes.setdefault((broker, topic, number), limit.value)

    def find(self, broker: str, topic: str, partition: int) -> tuple[int | None, str]:
        """Returns segment.bytes (None if unknown), and the source of this value."""
        setting = self.settings[broker].find(topic, SEGMENT_BYTES)
        values = self.inferred_bytes
        inferred_bytes = values.get((broker, topic, partition)) or values.get((broker, topic, None))
        if setting.is_given or inferred_bytes is None:
            return cast("int | None", setting.value), str(setting.source)
        return inferred_bytes, "inferred from rolls"


def segment_rows(
    entries: PartitionEntries, statistics: Sequence[SegmentStatistics], limits: SegmentBytes
) -> list[dict[str, Any]]:
    """Returns a directory's rows of table `segments`, without column segment_bytes.

    Also infers segment.bytes from the rolls in the directory, and stores the value in `limits`.
    """
    live = _live(entries, statistics)
    facts = [
        _segment_facts(
            entry.segment.base_offset,
            entry.segment.with_log().log.size_bytes,
            values.first_batch,
            vars(values),
        )
        for entry, values in live
    ]
    reasons = roll_reasons(facts)
    live_reasons = zip(live, reasons, strict=True)
    reason_by_number = {entry.number: reason for (entry, _), reason in live_reasons}
    partition = entries.partition
    topic = replace_surrogates(partition.topic)
    limits.note((entries.broker, topic, partition.partition), facts, reasons)
    return [
        {
            "broker": entry.broker,
            "topic": topic,
            "partition": partition.partition,
            "base_offset": entry.segment.base_offset,
            "state": entry.segment.state,
            **file_columns(entry.segment),
            **{name: getattr(values, name) for name in STATISTICS_COLUMNS},
            "roll_reason": reason_by_number.get(entry.number),
        }
        for entry, values in zip(entries.segments, statistics, strict=True)
    ]


def partition_row(
    entries: PartitionEntries, statistics: Sequence[SegmentStatistics]
) -> dict[str, Any]:
    log_end_offset = _log_end_offset(_live(entries, statistics))
    return partition_columns(entries) | {"log_end_offset": log_end_offset}


def partition_columns(entries: PartitionEntries) -> dict[str, Any]:
    """Returns the columns of table `partitions` that are known without reading segments."""
    partition = entries.partition
    return {
        "broker": entries.broker,
        "topic": replace_surrogates(partition.topic),
        "partition": partition.partition,
        "directory": replace_surrogates(partition.directory),
        "state": partition.state,
        "topic_id": partition.topic_id,
        "segments": len(partition.live),
        "log_start_offset": partition.log_start_offset,
        "high_watermark": partition.high_watermark,
        "recovery_point": partition.recovery_point,
        "log_directory": log_directory_text(partition.path.parent),
    }


@cache
def log_directory_text(path: Path) -> str:
    return replace_surrogates(str(archive.display_path(path)))


def _live(entries: PartitionEntries, statistics: Sequence[SegmentStatistics]) -> Live:
    return [
        (entry, values)
        for entry, values in zip(entries.segments, statistics, strict=True)
        if entry.segment.log and entry.segment.is_in_use
    ]


def _segment_facts(
    base_offset: int, log_bytes: int, first_batch: FirstBatch | None, statistics: Mapping[str, Any]
) -> SegmentFacts:
    latest_ms = statistics["max_timestamp_ms"]
    return SegmentFacts(
        base_offset=base_offset,
        log_bytes=log_bytes,
        first_batch=first_batch or NO_BATCH,
        max_timestamp_ms=-1 if latest_ms is None else latest_ms,
        offset_entries=statistics["offset_entries"] or 0,
        time_entries=statistics["time_entries"] or 0,
    )


def _log_end_offset(live: Live) -> int | None:
    if not live or live[-1][1].batches is None:
        return None
    newest, statistics = live[-1]
    if statistics.last_offset is None:
        return newest.segment.base_offset
    return statistics.last_offset + 1


def note_stored_rolls(
    rows: pa.Table, first_batches: Sequence[FirstBatch | None], limits: SegmentBytes
) -> None:
    """Infers segment.bytes from the rolls in `rows`, which are copied rows of table `segments`."""
    if RollCause.SIZE not in rows["roll_reason"].to_pylist():
        return
    facts = []
    reasons = []
    for row, first_batch in zip(rows.select(ROLL_COLUMNS).to_pylist(), first_batches, strict=True):
        if row["state"] in ("active", "closed") and row["log_bytes"] is not None:
            facts.append(_segment_facts(row["base_offset"], row["log_bytes"], first_batch, row))
            reasons.append(row["roll_reason"])
    broker, topic, partition = (rows[name][0].as_py() for name in ("broker", "topic", "partition"))
    limits.note((broker, topic, partition), facts, reasons)
