"""Tables of CREATE TABLE ... USING, and what Spark passes to their source."""

import json

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.pipeline import register
from kafkaviz.pipeline.datasource.source import FilesSource, RecordsSource
from kafkaviz.pipeline.datasource.source_schema import (
    METADATA_KEY,
    BadOption,
    attach_options,
    attached_options,
    without_table_properties,
)
from tests.pipeline.source_reading import read

# what Spark 4.3.0 gave a source in Python for CREATE TABLE ... OPTIONS (topics 'nulls') LOCATION ...
# COMMENT ... TBLPROPERTIES ('team' = 'data')
PROPERTIES = {
    "location": "file:/brokers/1",
    "path": "file:/brokers/1",
    "topics": "nulls",
    "option.topics": "nulls",
    "provider": "kafka_records",
    "comment": "a test",
    "owner": "root",
    "external": "true",
    "collation": "UTF8_LCASE",
    "is_managed_location": "false",
    "team": "data",
    "serialization.format": "1",
    "transient_lastDdlTime": "1790000000",
}


def test_properties_of_a_table_are_no_options():
    values = without_table_properties(PROPERTIES, RecordsSource.has_option)
    assert values == {"path": "file:/brokers/1", "topics": "nulls"}
    RecordsSource(PROPERTIES).schema()


def test_a_table_without_a_directory_is_refused_when_it_is_made():
    properties = {name: value for name, value in PROPERTIES.items() if name != "path"}
    with pytest.raises(CannotOpen, match="names no directory"):
        RecordsSource(properties).schema()


@pytest.mark.parametrize("name", ["topcs", "owner"])
def test_a_mistyped_option_of_a_table_is_refused(name):
    with pytest.raises(BadOption, match=f"unknown option {name}"):
        RecordsSource({**PROPERTIES, name: "x", f"option.{name}": "x"}).schema()
    with pytest.raises(BadOption, match=f"unknown option {name}"):
        RecordsSource({"path": "/brokers/1", name: "x"}).schema()


def test_a_query_of_a_table_has_its_options_from_the_columns(clean):
    """Spark passes a SELECT only the columns and the options in WITH."""
    properties = {**PROPERTIES, "path": str(clean)}
    schema = RecordsSource(properties).schema()
    assert json.loads(schema.fields[0].metadata[METADATA_KEY]) == {
        "path": str(clean),
        "topics": "nulls",
    }
    counts = []
    for options in ({}, {"topics": "orders", "partitions": "0", "offsets": "0-9"}):
        reader = RecordsSource(options).reader(schema)
        counts.append(
            sum(batch.num_rows for task in reader.partitions() for batch in reader.read(task))
        )
    assert counts[0] > 10 and counts[1] == 10
    with pytest.raises(CannotOpen, match="so list no columns"):
        RecordsSource({}).reader(RecordsSource({"path": "/brokers/1"}).schema())


def test_a_load_does_not_take_the_options_of_a_table(clean):
    """A schema from a table says nothing about another directory."""
    schema = RecordsSource(PROPERTIES).schema()
    reader = RecordsSource({"path": str(clean), "topics": "orders"}).reader(schema)
    assert reader.query.request.options.topics == ("orders",)


def test_columns_carry_no_password():
    values = {"subscribe": "t", "kafka.ssl.key.password": "p", "kafka.isolation.level": "x"}
    schema = FilesSource({"path": "/brokers/1", "subscribe": "t"}).schema()
    attach_options(schema, values)
    assert attached_options(schema) == {"subscribe": "t", "kafka.isolation.level": "x"}


@pytest.mark.slow
def test_a_table_of_sparks_catalog(spark, clean, tmp_path):
    """Created and queried in SQL: the rows of a load, and a mistyped option in one line."""
    register(spark)
    spark.sql(f"CREATE DATABASE kafkaviz_tables LOCATION '{tmp_path}'")
    try:
        for name, options in (
            ("kafka_records", {"topics": "nulls"}),
            ("kafka_files", {"subscribe": "nulls"}),
        ):
            pairs = ", ".join(f"{key} '{value}'" for key, value in options.items())
            spark.sql(
                f"CREATE TABLE kafkaviz_tables.{name} USING {name} OPTIONS ({pairs}) "
                f"LOCATION '{clean}' COMMENT 'nulls' TBLPROPERTIES ('team' = 'data')"
            )
            expected = read(name, clean, **options)
            table = spark.table(f"kafkaviz_tables.{name}")
            assert table.columns == expected.column_names
            assert table.count() == expected.num_rows > 0
        with pytest.raises(Exception) as refusal:
            spark.sql(
                f"CREATE TABLE kafkaviz_tables.wrong USING kafka_records OPTIONS (topcs 'nulls') "
                f"LOCATION '{clean}'"
            )
        assert_one_line(str(refusal.value), "unknown option topcs; the options are columns, topics")
        with pytest.raises(Exception) as refusal:
            spark.read.format("kafka_records").load("/nowhere/at-all").count()
        assert_one_line(str(refusal.value), "/nowhere/at-all: is not there")
    finally:
        spark.sql("DROP DATABASE kafkaviz_tables CASCADE")


def assert_one_line(text: str, words: str) -> None:
    """Asserts that Spark's first line has the sentence, and that no traceback follows."""
    first, *rest = text.splitlines()
    assert words in first, text
    assert not [line for line in rest if "Traceback" in line or line.startswith("  File ")], text
