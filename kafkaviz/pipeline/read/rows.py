"""Builds the columns of batches, index entries and segments that catalog and data source have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa

from kafkaviz.analysis.inferred_settings import FirstBatch
from kafkaviz.analysis.segment.links import NONE, row_at_position
from kafkaviz.binary.codec import CODECS
from kafkaviz.binary.layouts import field_names
from kafkaviz.format import batch
from kafkaviz.format.legacy_messages import APPEND_TIME, CREATE_TIME, NO_TIMESTAMP, TIMESTAMP_TYPES
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog.arrow_columns import numpy_column, repeated_texts
from kafkaviz.pipeline.catalog.schema import BATCHES, FILE_FACTS, FILE_KINDS, SEGMENTS
from kafkaviz.pipeline.read.segment_scan import ScanSummary, no_timestamp
from kafkaviz.pipeline.read.tasks import SegmentTask
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


def file_columns(segment: Segment) -> dict[str, int]:
    files: dict[str, FileInfo | None] = {kind: getattr(segment, kind) for kind in FILE_KINDS}
    return {
        f"{kind}_{fact}": getattr(file, attribute)
        for kind, file in files.items()
        if file is not None
        for fact, attribute in FILE_FACTS.items()
    }
