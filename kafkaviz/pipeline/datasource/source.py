"""Broker directories as a data source of Spark.

Call kafkaviz.pipeline.register(spark), then spark.read.format("kafka_batches").load(DIR). DIR is a
broker directory, a partition directory, or an archive; load([DIR, DIR]) reads several.

    kafka_segments      one row per segment: its files and their contents
    kafka_batches       one row per batch, from its header
    kafka_records       one row per record; with keys, values and headers if payload=true
    kafka_files         one row per record, with the columns and options of Spark's kafka source
    kafka_offset_index  one row per written slot of an .index
    kafka_time_index    one row per written slot of a .timeindex

Columns and options are in source_schema.py, for kafka_files in consumer_options.py. The options
topics, partitions, offsets and timestamps skip files and byte ranges. Conditions in WHERE also do
this, if Spark pushes filters down and does not mix up the filters of two scans (probes.py).
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, NoReturn, cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kafkaviz.messages import message
from kafkaviz.pipeline.datasource import consumer_options, one_line_errors, probes, source_schema
from kafkaviz.pipeline.datasource.consumer_options import ConsumerOptions
from kafkaviz.pipeline.datasource.pushdown import add_filters, is_exact
from kafkaviz.pipeline.datasource.source_plan import option_filters
from kafkaviz.pipeline.datasource.source_request import ReadRequest, SourceQuery, directories
from kafkaviz.pipeline.datasource.source_schema import BadOption, SourceOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

EXACT_COLUMNS = {  # columns whose limits apply to every row; other formats: topic, partition
    "kafka_records": ("topic", "partition", "offset", "timestamp_ms"),
    "kafka_files": ("topic", "partition", "offset"),
}
S3A_VARIABLES = {  # names of Hadoop's settings after the prefix spark.hadoop.fs.s3a
    "access.key": "AWS_ACCESS_KEY_ID",
    "secret.key": "AWS_SECRET_ACCESS_KEY",
    "session.token": "AWS_SESSION_TOKEN",
    "endpoint": "AWS_ENDPOINT_URL",
    "endpoint.region": "AWS_REGION",
}


def register(spark: "SparkSession") -> None:
    """Registers the six formats in a session, which may be a Spark Connect session.

    The session's settings are not changed. A local session without a configured Python runs its
    workers with the Python of this process, because Spark's default is the first python3 on PATH.
    If the workers may have another Python, a query tests whether that Python has kafkaviz.

    Raises KafkavizError if the Python of the workers does not have kafkaviz.
    """
    master = cast(str, spark.conf.get("spark.master", ""))
    context = getattr(spark, "sparkContext", None)  # a session of Spark Connect has none
    has_python = (
        context is None
        or "PYSPARK_PYTHON" in os.environ
        or context.getConf().contains("spark.pyspark.python")
    )
    is_local = master.startswith("local")
    if is_local and not has_python:
        context.pythonExec = sys.executable
    if context is None or context.pythonExec != sys.executable or not is_local:
        probes.require_kafkaviz(spark, is_connect=context is None)
    pushes_filters = probes.can_push_filters(spark)
    credentials = session_credentials(spark)
    for source in SOURCES:
        registered_source = session_source(
            source, pushes_filters=pushes_filters, is_local=is_local, credentials=credentials
        )
        spark.dataSource.register(registered_source)


def session_credentials(spark: "SparkSession") -> tuple[tuple[str, str], ...]:
    """Returns the session's settings for Hadoop's s3a as (environment variable, value) pairs.

    The pairs reach the workers as a class attribute of the data source, never in options or plans.
    """
    values = {
        variable: cast(str, spark.conf.get(f"spark.hadoop.fs.s3a.{name}", ""))
        for name, variable in S3A_VARIABLES.items()
    }
    endpoint = values.pop("AWS_ENDPOINT_URL")
    if endpoint and "://" not in endpoint:
        has_tls = spark.conf.get("spark.hadoop.fs.s3a.connection.ssl.enabled", "true") == "true"
        endpoint = f"http{'s' if has_tls else ''}://{endpoint}"
    values["AWS_ENDPOINT_URL"] = endpoint
    return tuple((name, value) for name, value in values.items() if value)


def session_source(
    source: type["KafkaSource"],
    *,
    pushes_filters: bool,
    is_local: bool,
    credentials: tuple[tuple[str, str], ...] = (),
) -> type["KafkaSource"]:
    """Returns `source`, or a subclass with the other arguments as class attributes.

    Spark sends the class to the workers with all its attributes.
    """
    flags = {"PUSHES_FILTERS": pushes_filters, "IS_LOCAL": is_local, "CREDENTIALS": credentials}
    if flags == {name: getattr(source, name) for name in flags}:
        return source
    return type(source.__name__, (source,), flags)


class KafkaSource(DataSource):
    """Base class of the six formats. `FORMAT` is the argument of spark.read.format()."""

    FORMAT = ""
    # Whether the reader takes filters. Spark refuses such a reader if filters are disabled, and may
    # mix up the filters of two scans (probes.py).
    PUSHES_FILTERS = False
    IS_LOCAL = True  # whether workers run on the machine that plans a query
    CREDENTIALS: tuple[tuple[str, str], ...] = ()  # the session's credentials for object stores

    @classmethod
    def name(cls) -> str:
        return cls.FORMAT

    @one_line_errors()
    def schema(self) -> "StructType":
        """Returns the columns, in order.

        For a table in Spark's catalog, the first column holds the options as metadata
        (source_schema.py).

        Raises BadOption if a column does not exist, and CannotOpen if a table is created without
        a directory, which a query could not add later.
        """
        values = self._given_options()
        schema = from_arrow_schema(self.columns(self.parse_options(values)))
        if source_schema.is_table(self.options):
            directories(values)
            source_schema.attach_options(schema, values)
        return schema

    @staticmethod
    def has_option(name: str) -> bool:
        """Returns whether the format has this option. `name` is in lower case."""
        return name in (*source_schema.NAMES, *source_schema.SPARK_OPTIONS)

    @staticmethod
    def parse_options(values: Mapping[str, str]) -> SourceOptions:
        """Parses the options of the format. Raises BadOption for an unknown or invalid option."""
        return source_schema.parse_options(values)

    def columns(self, options: SourceOptions) -> pa.Schema:
        return source_schema.columns(self.FORMAT, options)

    def available_columns(self, options: SourceOptions) -> pa.Schema:
        """Returns all columns that a user-defined schema may have."""
        return self.columns(replace(options, columns=()))

    def streamReader(self, schema: "StructType") -> "StreamRefusal":
        return StreamRefusal(self.FORMAT)

    @one_line_errors()
    def writer(self, schema: "StructType", overwrite: bool) -> NoReturn:  # noqa: FBT001 - as Spark calls it
        """Raises BadOption, because a broker's files are only read."""
        raise BadOption(message("option.no_writer", format=self.FORMAT))

    streamWriter = writer

    @one_line_errors()
    def reader(self, schema: "StructType") -> "KafkaReader":
        """Returns a reader of these columns. Raises BadOption for a wrong name or type."""
        values = self._given_options(schema)
        options = self.parse_options(values)
        available = self.available_columns(options)
        caller_schema = arrow_schema(schema)
        known_names = source_schema.match_case(caller_schema.names, available.names)
        for column, name in zip(caller_schema, known_names, strict=True):
            if name not in available.names or available.field(name).type != column.type:
                what = message(
                    "option.no_typed_column",
                    format=self.FORMAT,
                    name=column.name,
                    type=str(column.type),
                    columns=tuple(f"{known.name} {known.type}" for known in available),
                )
                raise BadOption(what)
        request = ReadRequest(
            name=self.FORMAT,
            options=options,
            directories=tuple(directories(values)),
            schema=pa.schema(map(pa.Field.with_name, caller_schema, known_names)),
            is_local=self.IS_LOCAL,
            credentials=self.CREDENTIALS,
        )
        reader = PushingReader if self.PUSHES_FILTERS else KafkaReader
        return reader(request, caller_schema.names)

    def _given_options(self, schema: "StructType | None" = None) -> dict[str, str]:
        """Returns the options that the user gave.

        With load(), these are the options of load(). For a table, the options of CREATE TABLE are
        stored in `schema`.
        """
        values = source_schema.without_table_properties(self.options, self.has_option)
        if schema is not None and values.keys().isdisjoint(source_schema.SPARK_OPTIONS):
            return source_schema.attached_options(schema) | values
        return values


class SegmentsSource(KafkaSource):
    FORMAT = "kafka_segments"


class BatchesSource(KafkaSource):
    FORMAT = "kafka_batches"


class RecordsSource(KafkaSource):
    FORMAT = "kafka_records"


class FilesSource(KafkaSource):
    FORMAT = consumer_options.FORMAT

    @staticmethod
    def has_option(name: str) -> bool:
        return consumer_options.has_option(name)

    @staticmethod
    def parse_options(values: Mapping[str, str]) -> SourceOptions:
        return consumer_options.parse_consumer_options(values)

    def columns(self, options: SourceOptions) -> pa.Schema:
        return consumer_options.consumer_columns(cast(ConsumerOptions, options))

    def available_columns(self, options: SourceOptions) -> pa.Schema:
        consumed = cast(ConsumerOptions, options)
        return self.columns(replace(consumed, columns=(), include_replica=True))


class OffsetIndexSource(KafkaSource):
    FORMAT = "kafka_offset_index"


class TimeIndexSource(KafkaSource):
    FORMAT = "kafka_time_index"


SOURCES = (
    SegmentsSource, BatchesSource, RecordsSource, FilesSource, OffsetIndexSource, TimeIndexSource,
)  # fmt: skip
assert {source.FORMAT for source in SOURCES} == {*source_schema.FORMATS, consumer_options.FORMAT}


class KafkaReader(DataSourceReader):
    """Plans a query in one Python process, and reads the rows in the workers.

    Spark pickles this object for the workers.
    """

    def __init__(self, request: ReadRequest, caller_names: list[str]) -> None:
        """Creates a reader. `caller_names` are the column names in the caller's spelling."""
        self.query = SourceQuery(request)
        self._caller_names = caller_names

    @one_line_errors()
    def partitions(self) -> list[InputPartition]:
        return [InputPartition(task) for task in self.query.plan(self.query.open())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with one_line_errors():
            for rows in self.query.read(partition.value):
                is_renamed = rows.schema.names != self._caller_names
                yield rows.rename_columns(self._caller_names) if is_renamed else rows


class StreamRefusal(DataSourceStreamReader):
    """Refuses to stream. `initialOffset` raises the error, because Spark shows it best there."""

    def __init__(self, name: str) -> None:
        self._name = name

    @one_line_errors()
    def initialOffset(self) -> dict:
        raise BadOption(message("option.no_stream", format=self._name))

    def partitions(self, start: dict, end: dict) -> list[InputPartition]:
        return []

    def read(self, partition: InputPartition) -> Iterator[tuple]:
        return iter(())


class PushingReader(KafkaReader):
    """A `KafkaReader` that skips data outside of the conditions in WHERE."""

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        """Adds the limits of the filters to the query.

        Returns the filters that Spark must apply again to every row. In mode PERMISSIVE these are
        all filters, because rows about unreadable data lack most columns.
        """
        request = self.query.request
        self.query.filters = add_filters(filters, option_filters(request.name, request.options))
        if request.options.mode == source_schema.PERMISSIVE:
            return filters
        exact = EXACT_COLUMNS.get(request.name, ("topic", "partition"))
        return [predicate for predicate in filters if not is_exact(predicate, exact)]


def arrow_schema(schema: "StructType") -> pa.Schema:
    """Returns the columns in Arrow's types, with times in UTC.

    to_arrow_schema of Spark 4.1 has no time zone argument and always uses UTC.
    """
    has_timezone = "timezone" in signature(to_arrow_schema).parameters
    return to_arrow_schema(schema, timezone="UTC") if has_timezone else to_arrow_schema(schema)
