"""What a pass over segments finds, as rows of the catalog's tables: arrays in, Arrow out."""

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pyarrow as pa

from kafkaviz.analyse.links import NONE, starting_at
from kafkaviz.format.batch import (
    CODECS,
    UNKNOWN,
    codec,
    has_delete_horizon,
    is_control,
    is_log_append_time,
    is_transactional,
)
from kafkaviz.pipeline.plan import Wanted
from kafkaviz.pipeline.schema import BATCHES
from kafkaviz.units import encodable

CODEC_NAMES = pa.array([*CODECS, "5", "6", "7"])  # Kafka keeps a batch whose id no codec has
TIMESTAMP_TYPES = pa.array(["CreateTime", "LogAppendTime"])
Columns = Mapping[str, pa.Array | np.ndarray]


def table(
    columns: Columns, owners: Sequence[Wanted], counts: Sequence[int], schema: pa.Schema
) -> pa.Table:
    """Rows of several segments, one behind the other: of the n-th, owners[n], there are
    counts[n].
    """
    columns = {**_owner_columns(owners, counts), **columns}
    return pa.table([_as(columns[field.name], field.type) for field in schema], schema=schema)


def entry_columns(entries: np.ndarray) -> Columns:
    """The columns of a slot's own: of the dtypes OFFSET_ENTRY and TIME_ENTRY of log.segment."""
    return {name: entries[name] for name in cast(tuple[str, ...], entries.dtype.names)}


def batch_columns(batches: np.ndarray, slots: np.ndarray) -> Columns:
    """The columns of a batch's own; null where its format has no such field, or hides it in a
    wrapper that cannot be read.

    slots: the entry that points at each batch, as entry_slots finds them.
    """
    legacy, untimed = batches["magic"] < 2, no_timestamp(batches)
    wrapped = legacy & (batches["record_count"] == UNKNOWN)
    known = cast(tuple[str, ...], batches.dtype.names)
    columns = {name: batches[name] for name in BATCHES.names if name in known}
    columns |= {
        name: _where_not(legacy, batches[name])
        for name in ("leader_epoch", "producer_id", "producer_epoch", "base_sequence")
    }
    columns |= {
        name: _where_not(wrapped, batches[name]) for name in ("base_offset", "record_count")
    }
    return columns | {
        "codec": CODEC_NAMES.take(pa.array(codec(batches))),
        "timestamp_type": TIMESTAMP_TYPES.take(
            _where_not(untimed, is_log_append_time(batches).astype(np.int8))
        ),
        "is_transactional": is_transactional(batches),
        "is_control": is_control(batches),
        "delete_horizon_ms": _where_not(~has_delete_horizon(batches), batches["base_timestamp_ms"]),
        "base_timestamp_ms": _where_not(untimed | wrapped, batches["base_timestamp_ms"]),
        "max_timestamp_ms": _where_not(untimed, batches["max_timestamp_ms"]),
        "entry_slot": _where_not(slots == NONE, slots),
    }


def entry_slots(batches: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """For each batch the slot of the index entry that points at it, or NONE.

    Of several the one whose offset the batch holds: a wrong entry may point at another's batch.
    """
    slots = np.full(len(batches), NONE)
    rows = starting_at(batches, entries["position"])
    entries, rows = entries[rows != NONE], rows[rows != NONE]
    holds = (batches["base_offset"][rows] <= entries["offset"]) & (
        entries["offset"] <= batches["last_offset"][rows]
    )
    for chosen in (~holds, holds):
        slots[rows[chosen]] = entries["slot"][chosen]
    return slots


def codec_names(mask: int) -> tuple[str, ...]:
    """The codecs of Content.codecs, as table batches names them."""
    return tuple(
        name for codec_id, name in enumerate(CODEC_NAMES.to_pylist()) if mask >> codec_id & 1
    )


def no_timestamp(batches: np.ndarray) -> np.ndarray:
    """Whether each batch is of the format without timestamps: magic 0."""
    return batches["magic"] < 1


def _owner_columns(owners: Sequence[Wanted], counts: Sequence[int]) -> Columns:
    whose = pa.array(np.repeat(np.arange(len(owners)), counts))
    return {
        "broker": pa.array([owner.broker for owner in owners], pa.string()).take(whose),
        "topic": pa.array([encodable(owner.topic) for owner in owners], pa.string()).take(whose),
        "partition": pa.array([owner.partition for owner in owners], pa.int32()).take(whose),
        "segment_base_offset": pa.array(
            [owner.segment.base_offset for owner in owners], pa.int64()
        ).take(whose),
    }


def _where_not(absent: np.ndarray, values: np.ndarray) -> pa.Array:
    return pa.array(np.ascontiguousarray(values), mask=absent)


def _as(column: pa.Array | np.ndarray, kind: pa.DataType) -> pa.Array:
    return (
        column if isinstance(column, pa.Array) else pa.array(np.ascontiguousarray(column))
    ).cast(kind)
