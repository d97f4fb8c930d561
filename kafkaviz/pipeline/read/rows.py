"""Converts arrays of batches and index entries to Arrow rows of the catalog's tables."""

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
from kafkaviz.format.legacy_messages import (
    APPEND_TIME,
    CREATE_TIME,
    NO_TIMESTAMP,
    TIMESTAMP_TYPES,
)
from kafkaviz.pipeline.catalog.arrow_columns import numpy_column, repeated_texts
from kafkaviz.pipeline.catalog.schema import BATCHES
from kafkaviz.pipeline.read.tasks import SegmentTask
from kafkaviz.units import replace_surrogates

CODEC_NAMES = (*CODECS, "5", "6", "7")  # Kafka stores batches with an unknown codec id
TIMESTAMP_TYPE_NAMES = (None, *TIMESTAMP_TYPES[NO_TIMESTAMP + 1 :])  # null for a batch of magic 0
Columns = Mapping[str, pa.Array | np.ndarray]


def table(
    columns: Columns, owners: Sequence[SegmentTask], counts: Sequence[int], schema: pa.Schema
) -> pa.Table:
    """Returns a table with the rows of several segments, one segment after the other.

    Args:
        columns: all columns except broker, topic, partition and segment_base_offset.
        owners: the segments.
        counts: the number of rows of each segment.
    """
    columns = {**_owner_columns(owners, counts), **columns}
    return pa.table([_convert(columns[field.name], field.type) for field in schema], schema=schema)


def entry_columns(entries: np.ndarray) -> Columns:
    """Returns the columns of index slots. `entries` is an array of OFFSET_ENTRY or TIME_ENTRY."""
    return {name: entries[name] for name in field_names(entries.dtype)}


def batch_columns(
    batches: np.ndarray, slots: np.ndarray, uncompressed_bytes: np.ndarray | None = None
) -> Columns:
    """Returns the columns of batches.

    A value is null if the batch's format lacks the field, or an unreadable wrapper hides the value.

    Args:
        slots: the slot of the index entry that points to each batch, or `NONE`.
        uncompressed_bytes: the uncompressed size of each batch's records, or `NONE`. None: unknown
            for all batches.
    """
    if uncompressed_bytes is None:
        uncompressed_bytes = np.full(len(batches), NONE)
    legacy = batches["magic"] < 2
    untimed = no_timestamp(batches)
    wrapped = legacy & (batches["record_count"] == UNKNOWN)
    names = field_names(batches.dtype)
    columns = {name: batches[name] for name in BATCHES.names if name in names}
    columns |= {
        "codec": _texts(codec(batches), CODEC_NAMES),
        "timestamp_type": _texts(
            np.select(
                [untimed, is_log_append_time(batches)], [NO_TIMESTAMP, APPEND_TIME], CREATE_TIME
            ),
            TIMESTAMP_TYPE_NAMES,
        ),
        "is_transactional": is_transactional(batches),
        "is_control": is_control(batches),
        "delete_horizon_ms": batches["base_timestamp_ms"],
        "entry_slot": slots,
        "uncompressed_bytes": uncompressed_bytes,
    }
    is_absent = {
        **dict.fromkeys(("leader_epoch", "producer_id", "producer_epoch", "base_sequence"), legacy),
        **dict.fromkeys(("base_offset", "record_count"), wrapped),
        "delete_horizon_ms": ~has_delete_horizon(batches),
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
    holds = (batches["base_offset"][rows] <= entries["offset"]) & (
        entries["offset"] <= batches["last_offset"][rows]
    )
    for mask in (~holds, holds):
        slots[rows[mask]] = entries["slot"][mask]
    return slots


def codec_names(mask: int) -> tuple[str, ...]:
    return tuple(name for codec_id, name in enumerate(CODEC_NAMES) if mask >> codec_id & 1)


def no_timestamp(batches: np.ndarray) -> np.ndarray:
    return batches["magic"] < 1


def _owner_columns(owners: Sequence[SegmentTask], counts: Sequence[int]) -> Columns:
    return {
        "broker": repeated_texts([owner.broker for owner in owners], counts),
        "topic": repeated_texts([replace_surrogates(owner.topic) for owner in owners], counts),
        "partition": np.repeat(np.array([owner.partition for owner in owners], "i4"), counts),
        "segment_base_offset": np.repeat(
            np.array([owner.segment.base_offset for owner in owners], "i8"), counts
        ),
    }


def _texts(codes: np.ndarray, texts: Sequence[str | None]) -> pa.Array:
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    counts = np.diff(starts, append=len(codes))
    return repeated_texts([texts[code] for code in codes[starts]], counts.tolist())


def _convert(column: pa.Array | np.ndarray, kind: pa.DataType) -> pa.Array:
    if isinstance(column, np.ndarray):
        return numpy_column(column, kind)
    return column if column.type == kind else column.cast(kind)
