"""What a pass over segments finds, as rows of the catalog's tables: arrays in, Arrow out."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from kafkaviz.analysis.segment.links import NONE, row_at_position
from kafkaviz.binary.codec import CODECS
from kafkaviz.binary.layouts import field_names
from kafkaviz.format.batch import (
    UNKNOWN,
    codec,
    has_delete_horizon,
    is_control,
    is_log_append_time,
    is_transactional,
)
from kafkaviz.format.legacy_messages import APPEND_TIME, CREATE_TIME, TIMESTAMP_TYPES
from kafkaviz.pipeline.catalog.schema import BATCHES
from kafkaviz.pipeline.ingest.plan import SegmentTask
from kafkaviz.units import replace_surrogates

CODEC_NAMES = pa.array([*CODECS, "5", "6", "7"])  # Kafka keeps a batch whose id no codec has
TIMESTAMP_TYPE_NAMES = pa.array(TIMESTAMP_TYPES)
Columns = Mapping[str, pa.Array | np.ndarray]


def table(
    columns: Columns, owners: Sequence[SegmentTask], counts: Sequence[int], schema: pa.Schema
) -> pa.Table:
    """Rows of several segments, one behind the other.

    Of the n-th, owners[n], there are counts[n].
    """
    columns = {**_owner_columns(owners, counts), **columns}
    return pa.table([_cast(columns[field.name], field.type) for field in schema], schema=schema)


def entry_columns(entries: np.ndarray) -> Columns:
    """The columns of a slot's own: of the dtypes OFFSET_ENTRY and TIME_ENTRY of log.segment."""
    return {name: entries[name] for name in field_names(entries.dtype)}


def batch_columns(batches: np.ndarray, slots: np.ndarray) -> Columns:
    """The columns of a batch's own.

    Null where its format has no such field, or hides it in a wrapper that cannot be read.

    Args:
        slots: the entry that points at each batch, as entry_slots finds them.
    """
    legacy, untimed = batches["magic"] < 2, no_timestamp(batches)
    wrapped = legacy & (batches["record_count"] == UNKNOWN)
    names = field_names(batches.dtype)
    columns = {name: batches[name] for name in BATCHES.names if name in names}
    columns |= {
        name: _mask_where(legacy, batches[name])
        for name in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence")
    }
    columns |= {
        name: _mask_where(wrapped, batches[name]) for name in ("base_offset", "record_count")
    }
    return columns | {
        "codec": CODEC_NAMES.take(pa.array(codec(batches))),
        "timestamp_type": TIMESTAMP_TYPE_NAMES.take(
            _mask_where(untimed, np.where(is_log_append_time(batches), APPEND_TIME, CREATE_TIME))
        ),
        "is_transactional": is_transactional(batches),
        "is_control": is_control(batches),
        "delete_horizon_ms": _mask_where(
            ~has_delete_horizon(batches), batches["base_timestamp_ms"]
        ),
        "base_timestamp_ms": _mask_where(untimed | wrapped, batches["base_timestamp_ms"]),
        "max_timestamp_ms": _mask_where(untimed, batches["max_timestamp_ms"]),
        "entry_slot": _mask_where(slots == NONE, slots),
    }


def entry_slots(batches: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """For each batch the slot of the index entry that points at it, or NONE.

    Of several the one whose offset the batch holds: a wrong entry may point at another's batch.
    """
    slots = np.full(len(batches), NONE)
    rows = row_at_position(batches, entries["position"])
    entries, rows = entries[rows != NONE], rows[rows != NONE]
    holds = (batches["base_offset"][rows] <= entries["offset"]) & (
        entries["offset"] <= batches["last_offset"][rows]
    )
    for mask in (~holds, holds):
        slots[rows[mask]] = entries["slot"][mask]
    return slots


def codec_names(mask: int) -> tuple[str, ...]:
    """The codecs of BatchStatistics.codecs, as table batches names them."""
    return tuple(
        name for codec_id, name in enumerate(CODEC_NAMES.to_pylist()) if mask >> codec_id & 1
    )


def no_timestamp(batches: np.ndarray) -> np.ndarray:
    """Whether each batch is of the format without timestamps: magic 0."""
    return batches["magic"] < 1


def _owner_columns(owners: Sequence[SegmentTask], counts: Sequence[int]) -> Columns:
    owner_rows = pa.array(np.repeat(np.arange(len(owners)), counts))
    return {
        "broker": pa.array([owner.broker for owner in owners], pa.string()).take(owner_rows),
        "topic": pa.array([replace_surrogates(owner.topic) for owner in owners], pa.string()).take(
            owner_rows
        ),
        "partition": pa.array([owner.partition for owner in owners], pa.int32()).take(owner_rows),
        "segment_base_offset": pa.array(
            [owner.segment.base_offset for owner in owners], pa.int64()
        ).take(owner_rows),
    }


def _mask_where(absent: np.ndarray, values: np.ndarray) -> pa.Array:
    return pa.array(np.ascontiguousarray(values), mask=absent)


def _cast(column: pa.Array | np.ndarray, kind: pa.DataType) -> pa.Array:
    return (
        column if isinstance(column, pa.Array) else pa.array(np.ascontiguousarray(column))
    ).cast(kind)
