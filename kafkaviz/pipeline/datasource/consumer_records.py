"""Records in the form of Spark's own kafka source: KafkaRecordToRowConverter of Spark 4.3."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from kafkaviz.pipeline.datasource import records


def columns(record_columns: Mapping[str, pa.Array | np.ndarray]) -> records.Columns:
    """Returns the columns of kafka_files, without control records, which consumers do not get.

    Like in Spark, a record without a timestamp (Kafka's -1) gets the millisecond before 1970, and a
    record without headers has null headers.

    Args:
        record_columns: the columns from records.records.
    """
    is_visible = ~np.asarray(record_columns["is_control"])
    visible = {
        name: column if is_visible.all() else _filter(column, is_visible)
        for name, column in record_columns.items()
    }
    visible["timestamp"] = records.timestamps(visible["timestamp_ms"], none=None)
    if "timestamp_type" in visible:
        visible["timestampType"] = visible["timestamp_type"]
    if "headers" in visible:
        visible["headers"] = _headers(visible["headers"])
    return visible


def _filter(column: pa.Array | np.ndarray, mask: np.ndarray) -> pa.Array | np.ndarray:
    return column.filter(pa.array(mask)) if isinstance(column, pa.Array) else column[mask]


def _headers(headers: pa.ListArray) -> pa.ListArray:
    """Returns lists of structs with key and value."""
    lengths = headers.value_lengths().to_numpy(zero_copy_only=False)
    names, values = headers.flatten().flatten()
    return pa.ListArray.from_arrays(
        pa.array(np.append(0, np.cumsum(lengths)), pa.int32()),
        pa.StructArray.from_arrays([names, values], names=["key", "value"]),
        mask=pa.array(lengths == 0),
    )
