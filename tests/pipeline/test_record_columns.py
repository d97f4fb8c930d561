"""Columns of a record from its batch's header, real timestamps, non-null columns, and the reason
for reading a replica.
"""

import datetime

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.pipeline.datasource import records
from kafkaviz.pipeline.datasource.source_schema import (
    FORMATS,
    NOT_NULL,
    OLDER_COLUMNS,
    PROBLEM_ROW_COLUMNS,
    columns,
    parse_options,
)
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import read

START_MS = whole_logs.START_MS
ORIGIN = ("leader_epoch", "producer_id", "producer_epoch", "is_transactional")
UTC = datetime.UTC


def test_a_record_has_the_columns_of_its_batch(clean):
    """Transactions, idempotent producers and plain ones: row by row as in kafka_batches."""
    keys = ("topic", "partition", "segment_base_offset")
    topics = {"topics": "payments,clicks-gzip,append-time,accounts"}
    batches = {
        (*(row[key] for key in keys), row["position"]): {name: row[name] for name in ORIGIN}
        for row in read("kafka_batches", clean, **topics).to_pylist()
    }
    rows = read("kafka_records", clean, **topics, isolation="read_uncommitted").to_pylist()
    assert len({row["producer_id"] for row in rows}) > 3
    assert {row["is_transactional"] for row in rows} == {True, False}
    assert all(
        {name: row[name] for name in ORIGIN}
        == batches[(*(row[key] for key in keys), row["batch_position"])]
        for row in rows
    )


def test_magic_0_and_1_have_no_producer_and_no_leader_epoch(shared):
    """A 2.8.2 broker's logs of all three magics, also compressed wrappers."""
    directory = unpack_if_archive(shared / "data" / "kafka-2.8.2-legacy.tar.gz")
    topics = "mixed.*,v0.gzip,v1.snappy"
    names = ("topic", "segment_base_offset", "position", "magic")
    table = read("kafka_batches", directory, topics=topics, columns=",".join(names))
    batches = {tuple(row.values())[:3]: row["magic"] for row in table.to_pylist()}
    absent = {0: set(), 1: set(), 2: set()}
    names = ("topic", "segment_base_offset", "batch_position", *ORIGIN)
    for row in read("kafka_records", directory, topics=topics, columns=",".join(names)).to_pylist():
        magic = batches[row["topic"], row["segment_base_offset"], row["batch_position"]]
        absent[magic].add(tuple(row[name] is None for name in ORIGIN))
    assert absent == {
        0: {(True, True, True, False)},
        1: {(True, True, True, False)},
        2: {(False, False, False, False)},
    }


def test_timestamps_are_those_in_milliseconds(clean):
    zero = datetime.datetime(1970, 1, 1, tzinfo=UTC)
    table = read("kafka_records", clean, topics="epoch-zero,clicks-gzip,sensors-late")
    assert table.schema.field("timestamp").type == pa.timestamp("us", tz="UTC")
    rows = table.to_pylist()
    assert min(row["timestamp_ms"] for row in rows) == 0
    for row in rows:
        assert row["timestamp"] == zero + datetime.timedelta(milliseconds=row["timestamp_ms"])
    batch = read("kafka_batches", clean, topics="clicks-gzip").to_pylist()[0]
    for name in ("base_timestamp", "max_timestamp"):
        since = datetime.timedelta(milliseconds=batch[f"{name}_ms"])
        assert batch[name] == zero + since


def test_what_is_no_time_is_null():
    """-1, and values beyond microseconds of 64 bits; null stays null."""
    most = (2**63 - 1) // 1000
    times = pa.array([-1, -2, 0, most, most + 1, -(2**63), None])
    values = records.timestamps(times).cast(pa.int64()).to_pylist()
    assert values == [None, -2000, 0, most * 1000, None, None, None]
    kept = records.timestamps(np.array([-1]), none=None).cast(pa.int64()).to_pylist()
    assert kept == [-1000]


def test_a_record_without_a_time_has_a_null(tmp_path):
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "t-0", [whole_logs.batch(0, [-1]), whole_logs.batch(1, [5])])
    rows = read("kafka_records", directory).to_pylist()
    times = [(row["timestamp_ms"], row["timestamp"] is None) for row in rows]
    assert times == [(-1, True), (5, False)]


@pytest.mark.parametrize("name", FORMATS)
def test_newer_columns_follow_those_that_were_there(name):
    options = {"payload": "true", "isolation": "read_uncommitted", "mode": "PERMISSIVE"}
    older = [*OLDER_COLUMNS[name].names]
    older += ["key", "value", "headers", "aborted"] if name == "kafka_records" else []
    names = columns(name, parse_options(options)).names
    assert names[: len(older) + 1] == [*older, "problem"]


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_never_null_says_so(name, clean, damaged):
    """Also to Spark; with two brokers no such column has a null, and every other one may."""
    schema = columns(name, parse_options({"payload": "true"}))
    not_null = {field.name for field in schema if not field.nullable}
    assert not_null == NOT_NULL[name] & set(schema.names)
    spark_schema = from_arrow_schema(schema)
    assert {field.name for field in spark_schema if not field.nullable} == not_null
    assert to_arrow_schema(spark_schema, timezone="UTC").equals(schema)
    for directory in (clean, damaged):
        table = read(name, directory, payload="true", mode="DROPMALFORMED")
        assert all(table[column].null_count == 0 for column in not_null)
        assert table.num_rows > 20


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_of_a_problem_has_nulls(name):
    """Only the broker, the topic and the partition are known."""
    schema = columns(name, parse_options({"mode": "PERMISSIVE"}))
    assert {field.name for field in schema if not field.nullable} == set(PROBLEM_ROW_COLUMNS)
