"""Broker directories as a data source of Spark.

Call kafkaviz.pipeline.register(spark), then spark.read.format("kafka_batches").load(DIR). DIR is a
broker directory, a partition directory, or an archive; load([DIR, DIR]) reads several.

    kafka_segments      one row per segment: its files and their contents
    kafka_batches       one row per batch, from its header
    kafka_records       one row per record; with keys, values and headers if payload=true
    kafka_files         one row per record, with the columns and options of Spark's kafka source
    kafka_offset_index  one row per written slot of an .index
    kafka_time_index    one row per written slot of a .timeindex

Columns and options are in source_schema.py, and in consumer_options.py for kafka_files. The options
topics, partitions, offsets and timestamps skip files and byte ranges. So do conditions in WHERE if
Spark keeps pushed filters separate (probes.py).
"""

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, join_tiered, open_broker
from kafkaviz.log.file import absolute_path
from kafkaviz.log.partition import Partition, RemoteGap
from kafkaviz.log.remote import address, file_system
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import message
from kafkaviz.pipeline.datasource import consumer_options, one_line, probes
from kafkaviz.pipeline.datasource.consumer_options import ConsumerOptions
from kafkaviz.pipeline.datasource.load_paths import directories, expand
from kafkaviz.pipeline.datasource.offset_ranges import (
    OffsetRanges,
    check_stable,
    is_split,
    offset_ranges,
)
from kafkaviz.pipeline.datasource.pushdown import (
    NumberRange,
    PushedFilters,
    add_filters,
    describe_filters,
    is_exact,
)
from kafkaviz.pipeline.datasource.replica_choice import select_replicas
from kafkaviz.pipeline.datasource.source_plan import (
    SourceSplit,
    describe_splits,
    option_filters,
    remote_gaps,
    tasks,
)
from kafkaviz.pipeline.datasource.source_reader import (
    SourceReader,
    becomes_row,
    problem_row,
    reads_log,
)
from kafkaviz.pipeline.datasource.source_schema import (
    ABORTED,
    FORMATS,
    NAMES,
    PERMISSIVE,
    RECORD_FORMATS,
    SPARK_OPTIONS,
    BadOption,
    SourceOptions,
    attach_options,
    attached_options,
    columns,
    is_table,
    match_case,
    parse_options,
    without_table_properties,
)
from kafkaviz.pipeline.datasource.transactions import PartitionTransactions, plan_transactions
from kafkaviz.pipeline.read.inventory import Inventory, inventory
from kafkaviz.search.fetch import READ_COMMITTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

    from kafkaviz.format.names import PartitionName

LOG = logging.getLogger("kafkaviz")
EXACT_COLUMNS = {  # columns that filter single rows exactly; else topic and partition
    "kafka_records": ("topic", "partition", "offset", "timestamp_ms"),
    "kafka_files": ("topic", "partition", "offset"),
}
S3A_VARIABLES = {  # Hadoop's settings below spark.hadoop.fs.s3a
    "access.key": "AWS_ACCESS_KEY_ID",
    "secret.key": "AWS_SECRET_ACCESS_KEY",
    "session.token": "AWS_SESSION_TOKEN",
    "endpoint": "AWS_ENDPOINT_URL",
    "endpoint.region": "AWS_REGION",
}


def register(spark: "SparkSession") -> None:
    """Registers the six formats in a session, which may be one of Spark Connect.

    No setting of the session is changed. If a local session has no configured Python, its workers
    run this Python, because Spark's default is the first python3 on PATH, which may lack kafkaviz.
    On a cluster or a Spark Connect server, PYSPARK_PYTHON selects theirs. Any other Python is asked
    whether it has kafkaviz.

    Raises:
        KafkavizError: the Python of the workers does not have kafkaviz.
    """
    # a session of Spark Connect has no context
    master = cast(str, spark.conf.get("spark.master", ""))
    context = getattr(spark, "sparkContext", None)
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
    pushes_filters = probes.is_safe(spark)
    credentials = session_credentials(spark)
    for source in SOURCES:
        spark.dataSource.register(
            session_source(
                source,
                pushes_filters=pushes_filters,
                is_local=is_local,
                credentials=credentials,
            )
        )


def session_credentials(spark: "SparkSession") -> tuple[tuple[str, str], ...]:
    """Returns the session's settings of Hadoop's s3a as environment variables.

    They are sent within the class of the format, never in options or plans.
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
    """Returns the format for this session.

    Spark sends a class that is created here with its attributes.
    """
    flags = {
        "PUSHES_FILTERS": pushes_filters,
        "IS_LOCAL": is_local,
        "CREDENTIALS": credentials,
    }
    if flags == {name: getattr(source, name) for name in flags}:
        return source
    return type(source.__name__, (source,), flags)


class KafkaSource(DataSource):
    """Base class of the six formats; FORMAT is the name for format()."""

    FORMAT = ""
    # Spark refuses a source that takes filters if they are disabled, and may mix them up
    # (probes.py).
    PUSHES_FILTERS = False
    IS_LOCAL = True  # whether the workers are on the machine that plans a query
    CREDENTIALS: tuple[tuple[str, str], ...] = ()  # the session's credentials for object stores

    @classmethod
    def name(cls) -> str:
        return cls.FORMAT

    @one_line()
    def schema(self) -> "StructType":
        """Returns the columns, in order.

        For a table in Spark's catalog, the first column carries the options (source_schema.py).

        Raises:
            BadOption: a column does not exist.
            CannotOpen: a table has no directory, which a query could not add.
        """
        values = self._given_options()
        schema = from_arrow_schema(self.columns(self.parse_options(values)))
        if is_table(self.options):
            directories(values)
            attach_options(schema, values)
        return schema

    @staticmethod
    def has_option(name: str) -> bool:
        """Returns whether the format has an option with this lower-case name."""
        return name in (*NAMES, *SPARK_OPTIONS)

    @staticmethod
    def parse_options(values: Mapping[str, str]) -> SourceOptions:
        """Parses the options of the format.

        Raises:
            BadOption: the format does not have an option.
        """
        return parse_options(values)

    def columns(self, options: SourceOptions) -> pa.Schema:
        return columns(self.FORMAT, options)

    def available_columns(self, options: SourceOptions) -> pa.Schema:
        """Returns all columns that a user-defined schema may have."""
        return self.columns(replace(options, columns=()))

    def streamReader(self, schema: "StructType") -> "StreamRefusal":
        """Returns a reader that refuses, because a directory is read only in its present state."""
        return StreamRefusal(self.FORMAT)

    @one_line()
    def writer(self, schema: "StructType", overwrite: bool) -> NoReturn:  # noqa: FBT001 - as Spark calls it
        """Refuses to write.

        Raises:
            BadOption: always, because a broker's files are only read.
        """
        raise BadOption(message("option.no_writer", format=self.FORMAT))

    streamWriter = writer

    @one_line()
    def reader(self, schema: "StructType") -> "KafkaReader":
        """Returns a reader of all or some of the columns.

        Raises:
            BadOption: a user-defined schema has other columns.
        """
        values = self._given_options(schema)
        options = self.parse_options(values)
        available = self.available_columns(options)
        caller_schema = arrow_schema(schema)
        known_names = match_case(caller_schema.names, available.names)
        for column, name in zip(caller_schema, known_names, strict=True):
            if name not in available.names or available.field(name).type != column.type:
                raise BadOption(
                    message(
                        "option.no_typed_column",
                        format=self.FORMAT,
                        name=column.name,
                        type=str(column.type),
                        columns=tuple(f"{known.name} {known.type}" for known in available),
                    )
                )
        request = ReadRequest(
            name=self.FORMAT,
            options=options,
            directories=tuple(directories(values)),
            schema=pa.schema(
                [
                    column.with_name(name)
                    for column, name in zip(caller_schema, known_names, strict=True)
                ]
            ),
            caller_names=caller_schema.names,
            is_local=self.IS_LOCAL,
            credentials=self.CREDENTIALS,
        )
        return PushingReader(request) if self.PUSHES_FILTERS else KafkaReader(request)

    def _given_options(self, schema: "StructType | None" = None) -> dict[str, str]:
        """Returns the options of load(), or those of a table, which its columns carry."""
        values = without_table_properties(self.options, self.has_option)
        if schema is not None and values.keys().isdisjoint(SPARK_OPTIONS):
            return attached_options(schema) | values
        return values


class SegmentsSource(KafkaSource):
    FORMAT = "kafka_segments"


class BatchesSource(KafkaSource):
    FORMAT = "kafka_batches"


class RecordsSource(KafkaSource):
    FORMAT = "kafka_records"


class FilesSource(KafkaSource):
    """One row per record, in the form of Spark's own kafka source."""

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
        return self.columns(
            replace(cast(ConsumerOptions, options), columns=(), include_replica=True)
        )


class OffsetIndexSource(KafkaSource):
    FORMAT = "kafka_offset_index"


class TimeIndexSource(KafkaSource):
    FORMAT = "kafka_time_index"


SOURCES = (
    SegmentsSource,
    BatchesSource,
    RecordsSource,
    FilesSource,
    OffsetIndexSource,
    TimeIndexSource,
)
assert {source.FORMAT for source in SOURCES} == {*FORMATS, consumer_options.FORMAT}


class ReadTask(InputPartition):
    """The splits that one Spark task reads, after rows of problems that are already known."""

    def __init__(self, splits: list[SourceSplit], rows: Sequence[dict] = ()) -> None:
        self.splits = splits
        self.rows = rows


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """The request of one query, made when Spark asks for a reader.

    Attributes:
        name: the format.
        directories: the directories and patterns that were given to load().
        schema: the requested columns, in the format's spelling.
        caller_names: the names of these columns in the caller's spelling.
        is_local: whether the workers are on this machine.
        credentials: environment variables that the planning or reading process may lack.
    """

    name: str
    options: SourceOptions
    directories: tuple[str, ...]
    schema: pa.Schema
    caller_names: list[str]
    is_local: bool = True
    credentials: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class KafkaReader(DataSourceReader):
    """Plans a read in one Python process and reads in the workers.

    It is pickled for the workers, with the request and the limits of the rows.
    """

    def __init__(self, request: ReadRequest) -> None:
        self.request = request
        self._filters = option_filters(request.name, request.options)

    @one_line()
    def partitions(self) -> list[ReadTask]:
        """Plans the tasks.

        Raises:
            Malformed: a requested topic-partition cannot be read, and the mode does not make it a
                row.
            DataLoss: records that options of kafka_files name do not exist.
        """
        request = self.request
        options = request.options
        file_system.use_credentials(dict(request.credentials))
        paths = [path for directory in request.directories for path in expand(directory)]
        disk_inventory = inventory(map(self._open, paths))
        if isinstance(options, ConsumerOptions):
            topics = _subscribed_topics(disk_inventory, options)
            self._filters = replace(self._filters, topics=(*self._filters.topics, topics))
        rows = [
            row
            for name, broker in disk_inventory.brokers
            for problem in broker.problems
            for row in self._unread_rows(name, broker, problem)
        ]
        ranges = None
        if isinstance(options, ConsumerOptions):
            ranges = _subscribed_ranges(disk_inventory, self._filters, options)
        gaps = remote_gaps(request.name, disk_inventory, self._filters, options, ranges)
        rows += [row for gap in gaps for row in self._gap_rows(*gap)]

        def decide(broker: str, partition: Partition) -> PartitionTransactions:
            offsets = self._filters.limits("offset")
            if ranges is not None:
                first = ranges[id(partition)][0]
                last = ranges[id(partition)][-1]
                offsets &= NumberRange(least=first.least, most=last.most)
            decisions, problems = plan_transactions(partition, offsets.most, offsets.least)
            if decisions.tail is None:
                check_stable(options, (partition.topic, partition.partition), decisions)
            rows.extend(
                row for problem in problems for row in self._rows(broker, partition.name, problem)
            )
            return decisions

        needs_transactions = request.name in RECORD_FORMATS and (
            options.isolation == READ_COMMITTED or ABORTED.name in request.schema.names
        )
        read_tasks = tasks(
            request.name,
            disk_inventory,
            self._filters,
            reads_log=reads_log(request.name, request.schema),
            options=options,
            transactions_of=decide if needs_transactions else None,
            offset_ranges=ranges,
            is_split=is_split(options),
        )
        if options.explain:
            LOG.warning("%s", self._describe_plan(disk_inventory, read_tasks))
        return [ReadTask(splits) for splits in read_tasks] + (
            [ReadTask([], rows)] if rows or not read_tasks else []
        )

    # ty: ignore[incompatible-method-override] - Spark hands over what partitions() made
    def read(self, partition: ReadTask) -> Iterator[pa.RecordBatch]:
        with one_line():
            for rows in self._read(partition):
                is_renamed = rows.schema.names != self.request.caller_names
                yield rows.rename_columns(self.request.caller_names) if is_renamed else rows

    def _read(self, partition: ReadTask) -> Iterator[pa.RecordBatch]:
        request = self.request
        file_system.use_credentials(dict(request.credentials))
        if request.options.explain:
            LOG.warning("%s: task of %s", request.name, describe_splits(partition.splits))
        yield from (problem_row(row, request.schema) for row in partition.rows)
        source_reader = SourceReader(request.name, request.schema, self._filters, request.options)
        yield from source_reader.read(partition.splits)

    def _describe_plan(self, disk_inventory: Inventory, read_tasks: list[list[SourceSplit]]) -> str:
        """Describes the read and skipped data for the log, as Spark's plans do not show options."""
        splits = [split for task in read_tasks for split in task]
        segments = {id(split.segment_task.segment) for split in splits}
        log_bytes = sum(split.log_bytes for split in splits)
        count = len(segments)
        all_segments = disk_inventory.segment_count
        return (
            f"{self.request.name}: {count} of {all_segments} segments, {log_bytes} bytes of .log, "
            f"{len(read_tasks)} tasks; {describe_filters(self._filters)}"
        )

    def _open(self, directory: str) -> Broker:
        """Opens the broker of a directory.

        Raises:
            CannotOpen: it is an archive, which workers of a cluster would not see unpacked.
        """
        path = absolute_path(directory) if address.parse(directory) else Path(directory)
        if not self.request.is_local and (
            archive.enclosing_archive(path) or (archive.is_archive(path) and not path.is_dir())
        ):
            what = message("errors.archive_on_cluster")
            raise CannotOpen(
                directory,
                what,
                message("errors.unpack_for_workers"),
                kind="archive",
            )
        try:
            store = self.request.options.tiered
            broker = open_broker(path if store is None else join_tiered(path, store))
            if not self.request.is_local and tiered_view.sources(broker.path):
                what = message("tiered.on_cluster")
                raise CannotOpen(directory, what, message("tiered.read_here"), kind="archive")
            return broker
        except CannotOpen as fault:
            if fault.kind != "missing" or path.expanduser().is_absolute():
                raise
            what = message("errors.not_there_from_spark", path=Path.cwd())
            raise CannotOpen(
                directory, what, message("errors.give_whole_path"), kind="missing"
            ) from None

    def _unread_rows(self, broker_name: str, broker: Broker, problem: Problem) -> list[dict]:
        """Returns the rows for a problem that hides rows: an unreadable partition directory.

        A missing checkpoint hides no rows.
        """
        name = names.parse_directory(problem.path.name)
        if name is None or not problem.is_unread:
            LOG.warning("%s: %s", address.display(problem.path), problem.what)
            return []
        is_read = self.request.options.renamed or name.state == "current" or broker.is_lone
        is_selected = (
            is_read
            and self._filters.has_topic(name.topic)
            and self._filters.has_partition(name.partition)
        )
        return self._rows(broker_name, name, problem) if is_selected else []

    def _gap_rows(self, broker_name: str, partition: Partition, gap: RemoteGap) -> list[dict]:
        if gap.last_offset is None:
            offsets = message("tiered.offsets_from", first=gap.first_offset)
        else:
            offsets = message("tiered.offsets", first=gap.first_offset, last=gap.last_offset)
        what = message("tiered.gap", offsets=offsets, problem=gap.what)
        problem = Problem(gap.path, what, gap.kind)
        first = dict.fromkeys(("base_offset", "segment_base_offset"), gap.first_offset)
        return [first | row for row in self._rows(broker_name, partition.name, problem)]

    def _rows(self, broker: str, name: "PartitionName", problem: Problem) -> list[dict]:
        what = str(message("errors.of_path", path=problem.path, problem=problem.what))
        row = {"broker": broker, "topic": name.topic, "partition": name.partition, "problem": what}
        if becomes_row(what, is_unread=problem.is_unread, mode=self.request.options.mode):
            return [row]
        return []


class StreamRefusal(DataSourceStreamReader):
    """Refuses every stream, in initialOffset, where Spark shows the error best."""

    def __init__(self, name: str) -> None:
        self._name = name

    @one_line()
    def initialOffset(self) -> dict:
        """Refuses to stream.

        Raises:
            BadOption: always.
        """
        raise BadOption(message("option.no_stream", format=self._name))

    def partitions(self, start: dict, end: dict) -> list[InputPartition]:
        return []

    def read(self, partition: InputPartition) -> Iterator[tuple]:
        return iter(())


class PushingReader(KafkaReader):
    """A KafkaReader that also skips data by the filters in WHERE."""

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        """Keeps the limits of the filters.

        Returns:
            The filters that Spark must apply again to every row; it shows the others as
            PushedFilters. If problems are rows, these are all filters, because such rows lack the
            columns.
        """
        self._filters = add_filters(
            filters, option_filters(self.request.name, self.request.options)
        )
        if self.request.options.mode == PERMISSIVE:
            return filters
        exact = EXACT_COLUMNS.get(self.request.name, ("topic", "partition"))
        return [predicate for predicate in filters if not is_exact(predicate, exact)]


def _subscribed_topics(disk_inventory: Inventory, options: ConsumerOptions) -> frozenset[str]:
    """Returns the topics that kafka_files reads, also those that cannot be read."""
    available = {partition.topic for _, partition in disk_inventory.partitions}
    unread_names = (names.parse_directory(problem.path.name) for problem in disk_inventory.problems)
    available |= {name.topic for name in unread_names if name}
    return options.subscription.topics_of(available)


def _subscribed_ranges(
    disk_inventory: Inventory, filters: PushedFilters, options: ConsumerOptions
) -> OffsetRanges:
    """Returns the offset ranges that kafka_files reads of each partition, by id.

    Args:
        filters: the last of their topics are the subscribed ones.
    """
    # partitions that WHERE excludes must exist all the same
    subscribed = PushedFilters(topics=filters.topics[-1:])
    replica_ids = select_replicas(consumer_options.FORMAT, disk_inventory, subscribed, options)
    partitions = [
        partition for _, partition in disk_inventory.partitions if id(partition) in replica_ids
    ]
    return offset_ranges(partitions, options)


def arrow_schema(schema: "StructType") -> pa.Schema:
    """Returns the columns in Arrow's types, with times in UTC.

    to_arrow_schema of Spark 4.1 has no time zone argument and always uses UTC.
    """
    has_timezone = "timezone" in signature(to_arrow_schema).parameters
    return to_arrow_schema(schema, timezone="UTC") if has_timezone else to_arrow_schema(schema)
