"""Builds the Arrow rows of the catalog's tables.

Tasks write the rows of batches and index entries. The driver writes tables `segments` and
`partitions`, one directory at a time. It uses no DataFrame, which would start Spark even in an
ingest that reads nothing. Column segment_bytes is filled in last, because the value may become
known only from a later partition of the same topic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from kafkaviz.analysis.inferred_settings import SegmentFacts, inferred_limits, roll_reasons
from kafkaviz.analysis.segment.links import NONE, row_at_position
from kafkaviz.binary.codec import CODECS
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import batch
from kafkaviz.format.legacy_messages import APPEND_TIME, CREATE_TIME, NO_TIMESTAMP, TIMESTAMP_TYPES
from kafkaviz.log.archives import archive
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Settings
from kafkaviz.pipeline.catalog.arrow_columns import numpy_column, repeated_texts
from kafkaviz.pipeline.catalog.catalog_info import FirstBatch
from kafkaviz.pipeline.catalog.schema import BATCHES, FILE_FACTS, FILE_KINDS, SEGMENTS
from kafkaviz.pipeline.read.batch_statistics import no_timestamp
from kafkaviz.pipeline.read.inventory import InventoryEntry, PartitionEntries
from kafkaviz.pipeline.read.segment_scan import ScanSummary
from kafkaviz.pipeline.read.tasks import SegmentTask
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import replace_surrogates

CODEC_NAMES = (*CODECS, "5", "6", "7")  # Kafka stores batches with an unknown codec id
TIMESTAMP_TYPE_NAMES = (None, *TIMESTAMP_TYPES[NO_TIMESTAMP + 1 :])  # null for a batch of magic 0
Columns = Mapping[str, pa.Array | np.ndarray]


def table(
    columns: Columns, owners: Sequence[SegmentTask], counts: Sequence[int], schema: pa.Schema
) -> pa.Table:
    """Returns a table with the rows of several segments, one segment after the other.

    `columns` are all columns except broker, topic, partition and segment_base_offset. `owners` are
    the segments, and `counts` their numbers of rows.
    """
    base_offsets = np.array([owner.segment.base_offset for owner in owners], "i8")
    columns = {
        "broker": repeated_texts([owner.broker for owner in owners], counts),
        "topic": repeated_texts([replace_surrogates(owner.topic) for owner in owners], counts),
        "partition": np.repeat(np.array([owner.partition for owner in owners], "i4"), counts),
        "segment_base_offset": np.repeat(base_offsets, counts),
        **columns,
    }
    return pa.table([_convert(columns[field.name], field.type) for field in schema], schema=schema)


def entry_columns(entries: np.ndarray) -> Columns:
    """Returns index entries as table columns. `entries` is an OFFSET_ENTRY or TIME_ENTRY array."""
    return {name: entries[name] for name in field_names(entries.dtype)}


def batch_columns(
    batches: np.ndarray, slots: np.ndarray, uncompressed_bytes: np.ndarray | None = None
) -> Columns:
    """Returns the columns of table `batches`.

    A value is null if the batch's format lacks the field. It is also null if it is inside an
    unreadable wrapper (a compressed batch of magic 0 or 1). -1 (`NONE`) in `slots` or
    `uncompressed_bytes` becomes null.

    Args:
        slots: the slot of the index entry that points to each batch.
        uncompressed_bytes: the uncompressed size of each batch's records.
    """
    if uncompressed_bytes is None:
        uncompressed_bytes = np.full(len(batches), NONE)
    legacy = batches["magic"] < 2
    untimed = no_timestamp(batches)
    appended = batch.is_log_append_time(batches)
    wrapped = legacy & (batches["record_count"] == batch.UNKNOWN)
    names = field_names(batches.dtype)
    columns = {name: batches[name] for name in BATCHES.names if name in names}
    columns |= {
        "codec": _texts(batch.codec(batches), CODEC_NAMES),
        "timestamp_type": _texts(
            np.select([untimed, appended], [NO_TIMESTAMP, APPEND_TIME], CREATE_TIME),
            TIMESTAMP_TYPE_NAMES,
        ),
        "is_transactional": batch.is_transactional(batches),
        "is_control": batch.is_control(batches),
        "delete_horizon_ms": batches["base_timestamp_ms"],
        "entry_slot": slots,
        "uncompressed_bytes": uncompressed_bytes,
    }
    is_absent = {
        **dict.fromkeys(("leader_epoch", "producer_id", "producer_epoch", "base_sequence"), legacy),
        **dict.fromkeys(("base_offset", "record_count"), wrapped),
        "delete_horizon_ms": ~batch.has_delete_horizon(batches),
        "base_timestamp_ms": untimed | wrapped,
        "max_timestamp_ms": untimed,
        "entry_slot": slots == NONE,
        "uncompressed_bytes": uncompressed_bytes == NONE,
    }
    return columns | {
        name: numpy_column(columns[name], BATCHES.field(name).type, absent)
        for name, absent in is_absent.items()
    }


def entry_slots(batches: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """Returns the slot of the index entry that points to each batch, or `NONE`.

    If several entries point to a batch, an entry whose offset is in the batch is preferred.
    """
    slots = np.full(len(batches), NONE)
    rows = row_at_position(batches, entries["position"])
    entries = entries[rows != NONE]
    rows = rows[rows != NONE]
    offsets = entries["offset"]
    holds = (batches["base_offset"][rows] <= offsets) & (offsets <= batches["last_offset"][rows])
    for mask in (~holds, holds):
        slots[rows[mask]] = entries["slot"][mask]
    return slots


def codec_names(mask: int) -> tuple[str, ...]:
    return tuple(name for codec_id, name in enumerate(CODEC_NAMES) if mask >> codec_id & 1)


def _texts(codes: np.ndarray, texts: Sequence[str | None]) -> pa.Array:
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    counts = np.diff(starts, append=len(codes))
    return repeated_texts([texts[code] for code in codes[starts]], counts.tolist())


def _convert(column: pa.Array | np.ndarray, kind: pa.DataType) -> pa.Array:
    if isinstance(column, np.ndarray):
        return numpy_column(column, kind)
    return column if column.type == kind else column.cast(kind)


SEGMENT_BYTES = "segment.bytes"
ROLL_COLUMNS = [
    "base_offset", "state", "log_bytes", "max_timestamp_ms", "offset_entries", "time_entries",
    "roll_reason",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SegmentStatistics:
    """The results of reading all files of a segment. A value is None if unknown or unreadable."""

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


def statistics_of_read(segment: Segment, summary: ScanSummary) -> SegmentStatistics:
    interval = summary.evidence.bounds()
    values: dict[str, Any] = {
        "interval_low_bytes": interval.low_bytes,
        "interval_high_bytes": interval.high_bytes,
        **vars(summary.slots),
    }
    if summary.end_position is not None:
        content = vars(summary.content)
        values |= {
            **{name: content[name] for name in STATISTICS_COLUMNS if name in content},
            "valid_bytes": summary.end_position,
            "torn_bytes": segment.with_log().log.size_bytes - summary.end_position,
            "first_batch": summary.content.first_batch,
        }
    return SegmentStatistics(**values)


Live = list[tuple[InventoryEntry, SegmentStatistics]]


@dataclass
class SegmentBytes:
    """Finds the segment.bytes that applied to a partition's segments.

    This is the configured value, or else the value inferred from rolls, or else the release's
    default.
    """

    settings: Mapping[str, Settings]  # the settings of each broker, by the broker's name
    # inferred from rolls, by (broker, topic, partition); with partition None: the topic's first one
    inferred_bytes: dict[tuple[str, str, int | None], int] = field(default_factory=dict)

    def note(
        self,
        owner: tuple[str, str, int],
        facts: Sequence[SegmentFacts],
        reasons: Sequence[RollCause | None],
    ) -> None:
        """Infers segment.bytes from a partition's rolls, and keeps the value if there is one.

        `owner` is broker, topic and partition. `facts` are about the segments in use, and `reasons`
        say why Kafka rolled each of them.
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
    first = first_batch or FirstBatch(0, -1, -1)
    latest_ms = statistics["max_timestamp_ms"]
    return SegmentFacts(
        base_offset=base_offset,
        log_bytes=log_bytes,
        first_batch_bytes=first.size_bytes,
        first_batch_max_timestamp_ms=first.max_timestamp_ms,
        first_batch_last_offset=first.last_offset,
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


def file_columns(segment: Segment) -> dict[str, int]:
    files: dict[str, FileInfo | None] = {kind: getattr(segment, kind) for kind in FILE_KINDS}
    return {
        f"{kind}_{fact}": getattr(file, attribute)
        for kind, file in files.items()
        if file is not None
        for fact, attribute in FILE_FACTS.items()
    }
