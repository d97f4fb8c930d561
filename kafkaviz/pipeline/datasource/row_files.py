"""Writes Arrow batches as a file: Parquet, Arrow IPC or JSON Lines.

Each function keeps at most about `ROW_GROUP_BYTES` of rows in memory.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

import numpy as np
import pyarrow as pa

from kafkaviz.pipeline.catalog.arrow_columns import numbers
from kafkaviz.pipeline.catalog.schema import LONG

ROW_GROUP_BYTES = 16 << 20
ROW_GROUP_ROWS = 1 << 15
JSON_ROWS = 1024  # rows that are converted to Python objects at once
FIRST_US = -62_135_596_800_000_000  # 0001-01-01, as ISO 8601 has four digits for a year
LAST_US = 253_402_300_799_999_999  # 9999-12-31


def write_parquet(stream: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Writes a Parquet file. A row group has at most about `ROW_GROUP_BYTES` bytes."""
    import pyarrow.parquet as pq  # 14 MB that the other formats do not need

    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        for table in _row_groups(schema, batches):
            writer.write_table(table, row_group_size=ROW_GROUP_ROWS)


def write_arrow(stream: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    """Writes a file of Arrow's IPC format, which can be mapped into memory."""
    with pa.ipc.new_file(stream, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_json_lines(
    stream: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> None:
    """Writes one JSON object per row, in ASCII.

    Bytes are written as base64, and timestamps as ISO 8601 in UTC. A timestamp outside of the years
    1 to 9999 is null.
    """
    conversions = {
        field.name: conversion for field in schema if (conversion := _conversion(field.type))
    }
    for batch in batches:
        for start in range(0, batch.num_rows, JSON_ROWS):
            rows = _json_rows(batch.slice(start, JSON_ROWS), conversions)
            stream.write("".join(f"{json.dumps(row)}\n" for row in rows).encode())


WRITERS: dict[str, Callable[[IO[bytes], pa.Schema, Iterable[pa.RecordBatch]], None]] = {
    ".parquet": write_parquet,
    ".arrow": write_arrow,
    ".jsonl": write_json_lines,
}


class RowCount:
    """Counts the rows that were written, and those that report something unreadable."""

    def __init__(self) -> None:
        self.rows = 0
        self.problems = 0

    def add(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self.rows += batch.num_rows
            if "problem" in batch.schema.names:
                problems = batch.column("problem")
                self.problems += len(problems) - problems.null_count
            yield batch


def _row_groups(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    waiting: list[pa.RecordBatch] = []
    size_bytes = 0
    rows = 0
    for batch in batches:
        waiting.append(batch)
        size_bytes += batch.nbytes
        rows += batch.num_rows
        if size_bytes >= ROW_GROUP_BYTES or rows >= ROW_GROUP_ROWS:
            yield pa.Table.from_batches(waiting, schema)
            waiting = []
            size_bytes = 0
            rows = 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema)


def _json_rows(
    batch: pa.RecordBatch, conversions: dict[str, Callable[[pa.Array], list]]
) -> Iterator[dict[str, Any]]:
    names = batch.schema.names
    lists = [
        conversions[name](column) if name in conversions else column.to_pylist()
        for name, column in zip(names, batch.columns, strict=True)
    ]
    for values in zip(*lists, strict=True):
        yield dict(zip(names, values, strict=True))


def _conversion(kind: pa.DataType) -> Callable[[pa.Array], list] | None:
    """Returns a function that converts a column to JSON values. None: `to_pylist` is enough."""
    if pa.types.is_binary(kind):
        return _encode_binary
    if pa.types.is_timestamp(kind):
        return _encode_times
    if pa.types.is_list(kind):
        return _encode_headers
    return None


def _encode_binary(column: pa.Array) -> list[str | None]:
    return [_encode(data) for data in column.to_pylist()]


def _encode(data: bytes | str | None) -> str | None:
    return base64.b64encode(data).decode() if isinstance(data, bytes) else data


def _encode_times(column: pa.Array) -> list[str | None]:
    microseconds, is_absent = numbers(column.cast(LONG))
    has_text = (microseconds >= FIRST_US) & (microseconds <= LAST_US) & ~is_absent
    times = np.where(has_text, microseconds, 0).astype("datetime64[us]")
    texts = np.datetime_as_string(times, timezone="UTC").tolist()
    return [text if is_shown else None for text, is_shown in zip(texts, has_text, strict=True)]


def _encode_headers(column: pa.Array) -> list[list[list[str | None]] | None]:
    return [
        headers and [[header["name"], _encode(header["value"])] for header in headers]
        for headers in column.to_pylist()
    ]
