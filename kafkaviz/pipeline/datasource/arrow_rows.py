"""Reads the data source in this process, as Arrow batches, and writes its rows to files.

    rows = kv.records("/var/lib/kafka", topics="orders", payload="text")
    rows.to_pandas()
    duckdb.sql("SELECT count(*) FROM rows")  # any reader of Arrow streams works

Options, planning and rows equal those of Spark's formats kafka_records, kafka_batches and
kafka_segments (source_request.py). Tasks are read one after the other, so the memory does not grow
with the logs. The writers of Parquet, Arrow IPC and JSON Lines keep at most about `ROW_GROUP_BYTES`
of rows in memory.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import RecordBatch

from kafkaviz import extras
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import absolute_path
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address
from kafkaviz.pipeline.catalog import arrow_columns
from kafkaviz.pipeline.catalog.arrow_columns import list_column, numbers
from kafkaviz.pipeline.catalog.schema import LONG, STRING
from kafkaviz.pipeline.datasource import source_request, source_schema
from kafkaviz.pipeline.datasource.records import HEADERS
from kafkaviz.pipeline.datasource.source_request import ReadRequest, ReadTask, SourceQuery
from kafkaviz.pipeline.read.inventory import Inventory

if TYPE_CHECKING:
    import pandas

NO_PAYLOAD = "false"
BYTES = "bytes"
TEXT = "text"
PAYLOADS = (NO_PAYLOAD, "true", BYTES, TEXT)
BASE64 = "base64:"  # prefix of a text that encodes bytes that are not UTF-8
TEXT_HEADERS = pa.list_(pa.struct([("name", pa.string()), ("value", pa.string())]))
TEXT_TYPES = {"key": pa.string(), "value": pa.string(), "headers": TEXT_HEADERS}

Source = Path | str | Partition | Broker
OptionValue = str | int | Sequence[str] | Sequence[int]


class ArrowRows:
    """The rows of one format, as an iterable of Arrow batches.

    The directories are listed once. Each iteration reads the files again. DuckDB, Polars, pandas
    and pyarrow can read this object as a stream (`__arrow_c_stream__`).
    """

    def __init__(self, name: str, paths: Sequence[str], values: Mapping[str, str]) -> None:
        payload = values.get("payload", NO_PAYLOAD).lower()
        source_schema.parse_choice("payload", payload, PAYLOADS)
        spark_payload = "false" if payload == NO_PAYLOAD else "true"
        self.options = source_schema.parse_options({**values, "payload": spark_payload})
        read_schema = source_schema.columns(name, self.options)
        self._is_text = payload == TEXT
        self.schema = text_schema(read_schema) if self._is_text else read_schema
        request = ReadRequest(
            name=name, options=self.options, directories=tuple(paths), schema=read_schema
        )
        self._query = SourceQuery(request)

    def __iter__(self) -> Iterator[RecordBatch]:
        return self.batches()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.reader().__arrow_c_stream__(requested_schema)

    def batches(self) -> Iterator[RecordBatch]:
        """Yields the rows, thousands at a time: by directory, and within a partition by offset.

        Raises CannotOpen if a directory cannot be opened, and Malformed for unreadable data, unless
        option `mode` tolerates it.
        """
        for task in self.tasks:
            yield from self.read(task)

    def reader(self) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self.schema, self.batches())

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_batches(self.batches(), self.schema)

    def to_pandas(self) -> "pandas.DataFrame":
        extras.require("arrow", "pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Returns a polars.DataFrame. Raises MissingPackages if Polars is not installed."""
        extras.require_package("polars")
        return import_module("polars").from_arrow(self.to_arrow())

    @cached_property
    def inventory(self) -> Inventory:
        return self._query.open()

    @cached_property
    def tasks(self) -> Sequence[ReadTask]:
        return self._query.plan(self.inventory)

    def read(self, task: ReadTask) -> Iterator[RecordBatch]:
        batches = self._query.read(task)
        return map(self._to_text, batches) if self._is_text else batches

    def _to_text(self, batch: RecordBatch) -> RecordBatch:
        arrays = [
            _text_column(field.name, column) if field.name in TEXT_TYPES else column
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        return RecordBatch.from_arrays(arrays, schema=self.schema)


def open_rows(
    name: str, source: Source | Iterable[Source], options: Mapping[str, OptionValue]
) -> ArrowRows:
    sources = [source] if isinstance(source, Source) else list(source)
    return ArrowRows(
        name,
        [path for path_source in sources for path in _paths(path_source)],
        {key: _option_text(value) for key, value in options.items()},
    )


def _paths(source: Source) -> list[str]:
    if isinstance(source, Broker):
        return [str(path) for path in source.sources]
    path = str(source.path if isinstance(source, Partition) else source)
    (path,) = source_request.directories({"path": path})
    return [path if address.parse(path) else str(absolute_path(path))]


def _option_text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | Path) else ",".join(map(str, value))


# ---- keys, values and headers as text


def text_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(TEXT_TYPES.get(field.name, field.type)) for field in schema])


def _text_column(name: str, column: pa.Array) -> pa.Array:
    if name != "headers":
        return decode_text(column)
    assert column.type == HEADERS
    lengths, is_absent = numbers(column.value_lengths())
    names, values = column.flatten().flatten()
    items = pa.StructArray.from_arrays([names, decode_text(values)], ["name", "value"])
    return list_column(items, np.where(is_absent, 0, lengths), is_absent)


def decode_text(column: pa.Array) -> pa.Array:
    """Decodes UTF-8 in such a way that the bytes can be restored from the text.

    Bytes that are not UTF-8 become "base64:" and their base64. Bytes that already begin with
    "base64:" are encoded in the same way.
    """
    try:
        texts = column.cast(pa.string())
    except pa.ArrowInvalid:
        return _decode_each(column)
    marked = pc.call_function("starts_with", [texts], pc.MatchSubstringOptions(BASE64))
    return _decode_each(column) if marked.true_count else texts


def _decode_each(column: pa.Array) -> pa.Array:
    return arrow_columns.column([_decode(data) for data in column.to_pylist()], STRING)


def _decode(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = BASE64
    return BASE64 + base64.b64encode(data).decode() if text.startswith(BASE64) else text


ROW_GROUP_BYTES = 16 << 20
ROW_GROUP_ROWS = 1 << 15
JSON_ROWS = 1024  # rows that are converted to Python objects at once
FIRST_US = -62_135_596_800_000_000  # 0001-01-01, because an ISO 8601 year has four digits
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
    """Counts the written rows, and the rows among them that report unreadable data."""

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
