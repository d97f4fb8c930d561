"""A broker directory as a data source of Spark.

spark.read.format("kafka_batches").load(DIR), after kafkaviz.pipeline.register(spark).

    kafka_segments      a row a segment: its files, and what reading them says
    kafka_batches       a row a batch, from its header
    kafka_records       a row a record, of any magic and codec; keys, values and headers with option
    payload=true
    kafka_offset_index  a row a written slot of an .index
    kafka_time_index    a row a written slot of a .timeindex

Columns and options: source_schema.py. The options topics, partitions, offsets and timestamps skip
files and byte ranges, and no row outside of them is given; what stands in WHERE skips too where
Spark keeps pushed filters apart (pushdown_probe.py). DIR is a broker directory, one partition
directory, or an archive; load([DIR, DIR]) reads several.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, join_tiered, open_broker
from kafkaviz.log.file import absolute_path
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address, file_system
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import message
from kafkaviz.pipeline.datasource import pushdown_probe
from kafkaviz.pipeline.datasource.pushdown import add_filters
from kafkaviz.pipeline.datasource.source_plan import SegmentSplit, option_filters, tasks
from kafkaviz.pipeline.datasource.source_reader import (
    SourceReader,
    becomes_row,
    problem_row,
    reads_log,
)
from kafkaviz.pipeline.datasource.source_schema import (
    ABORTED,
    FORMATS,
    BadOption,
    columns,
    parse_options,
)
from kafkaviz.pipeline.ingest.inventory import inventory
from kafkaviz.pipeline.ingest.transactions import PartitionTransactions, read_transactions
from kafkaviz.search.fetch import READ_COMMITTED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

    from kafkaviz.format.names import PartitionName

LOG = logging.getLogger("kafkaviz")
S3A_VARIABLES = {  # settings of Hadoop's, below spark.hadoop.fs.s3a
    "access.key": "AWS_ACCESS_KEY_ID",
    "secret.key": "AWS_SECRET_ACCESS_KEY",
    "session.token": "AWS_SESSION_TOKEN",
    "endpoint": "AWS_ENDPOINT_URL",
    "endpoint.region": "AWS_REGION",
}


def register(spark: "SparkSession") -> None:
    """Makes the five formats known to a session, one of Spark Connect too.

    No setting of it is changed.

    Workers of a local session that was given no Python run this one: Spark's default is the first
    python3 on PATH, which need not have kafkaviz. On a cluster, and on the server of Spark Connect,
    PYSPARK_PYTHON names theirs.
    """
    # Spark Connect has no context
    master = cast(str, spark.conf.get("spark.master", ""))
    context = getattr(spark, "sparkContext", None)
    has_python = (
        context is None
        or "PYSPARK_PYTHON" in os.environ
        or context.getConf().contains("spark.pyspark.python")
    )
    if master.startswith("local") and not has_python:
        context.pythonExec = sys.executable
    pushes_filters = pushdown_probe.is_safe(spark)
    credentials = session_credentials(spark)
    for source in SOURCES:
        spark.dataSource.register(
            session_source(
                source,
                pushes_filters=pushes_filters,
                is_local=master.startswith("local"),
                credentials=credentials,
            )
        )


def session_credentials(spark: "SparkSession") -> tuple[tuple[str, str], ...]:
    """What the session's settings of Hadoop's s3a say, as variables of the environment.

    Neither an option nor a plan has them: they go along within the class of the format.
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
    """The format as this session may use it.

    Spark sends a class that was made here along, with what is said in it.
    """
    flags = {
        "PUSHES_FILTERS": pushes_filters,
        "IS_LOCAL": is_local,
        "CREDENTIALS": credentials,
    }
    return (
        source
        if flags == {name: getattr(source, name) for name in flags}
        else type(source.__name__, (source,), flags)
    )


class KafkaSource(DataSource):
    """What the five have in common; FORMAT is the name that format() takes."""

    FORMAT = ""
    # Spark refuses a source that takes filters where they are off, and may mix them up
    # (pushdown_probe.py)
    PUSHES_FILTERS = False
    IS_LOCAL = True  # the workers are on the machine that plans a query
    CREDENTIALS: tuple[tuple[str, str], ...] = ()  # of the session, for object stores

    @classmethod
    def name(cls) -> str:
        """As spark.read.format takes it."""
        return cls.FORMAT

    def schema(self) -> "StructType":
        """The columns, in order.

        Raises:
            BadOption: for one that is not there.
        """
        return from_arrow_schema(columns(self.FORMAT, parse_options(self.options)))

    def reader(self, schema: "StructType") -> "KafkaReader":
        """A reader of all or some of the columns.

        Raises:
            BadOption: for a schema of the caller's own that has others.
        """
        arrow_schema, available_schema = (
            to_arrow_schema(schema, timezone="UTC"),
            columns(self.FORMAT, replace(parse_options(self.options), columns=())),
        )
        for field in arrow_schema:
            if (
                field.name not in available_schema.names
                or available_schema.field(field.name).type != field.type
            ):
                raise BadOption(
                    message(
                        "option.no_typed_column",
                        format=self.FORMAT,
                        name=field.name,
                        type=str(field.type),
                        columns=tuple(map(_describe_field, available_schema)),
                    )
                )
        return (PushingReader if self.PUSHES_FILTERS else KafkaReader)(
            self.FORMAT,
            dict(self.options),
            schema,
            is_local=self.IS_LOCAL,
            credentials=self.CREDENTIALS,
        )


class SegmentsSource(KafkaSource):
    """A row a segment."""

    FORMAT = "kafka_segments"


class BatchesSource(KafkaSource):
    """A row a batch."""

    FORMAT = "kafka_batches"


class RecordsSource(KafkaSource):
    """A row a record."""

    FORMAT = "kafka_records"


class OffsetIndexSource(KafkaSource):
    """A row a slot of an .index."""

    FORMAT = "kafka_offset_index"


class TimeIndexSource(KafkaSource):
    """A row a slot of a .timeindex."""

    FORMAT = "kafka_time_index"


SOURCES = (SegmentsSource, BatchesSource, RecordsSource, OffsetIndexSource, TimeIndexSource)
assert {source.FORMAT for source in SOURCES} == set(FORMATS)


class ReadTask(InputPartition):
    """What one Spark task reads, behind rows that are known already: of problems."""

    def __init__(self, splits: list[SegmentSplit], rows: Sequence[dict] = ()) -> None:
        self.pieces, self.rows = splits, rows


class KafkaReader(DataSourceReader):
    """Plans in one process of Python, reads in the workers.

    It is pickled on the way, with what was asked for.
    """

    def __init__(
        self,
        name: str,
        option_values: dict[str, str],
        schema: "StructType",
        *,
        is_local: bool = True,
        credentials: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Plans a read.

        Args:
            option_values: the options, with the directory as path, or several as paths.
            is_local: the workers are on this machine.
            credentials: variables of the environment, where a process that plans or reads lacks
                them.
        """
        self._credentials = credentials
        self.options = parse_options(option_values)
        self._name, self._directories = name, directories(option_values)
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._filters, self._is_local = option_filters(name, self.options), is_local

    def partitions(self) -> list[ReadTask]:
        """The tasks.

        Raises:
            Malformed: a topic-partition that is asked for cannot be read, unless the mode makes it
                a row.
        """
        file_system.use_credentials(dict(self._credentials))
        disk_inventory = inventory(map(self._open, self._directories))
        rows = [
            row
            for name, broker in disk_inventory.brokers
            for problem in broker.problems
            for row in self._unread_rows(name, broker, problem)
        ]
        reads = reads_log(self._name, self._schema)

        last_offset = self._filters.limits("offset").most

        def decide(broker: str, partition: Partition) -> PartitionTransactions:
            decisions, problems = read_transactions(partition, last_offset)
            rows.extend(
                row for problem in problems for row in self._rows(broker, partition.name, problem)
            )
            return decisions

        needs_transactions = self._name == "kafka_records" and (
            self.options.isolation == READ_COMMITTED or ABORTED.name in self._schema.names
        )
        read_tasks = tasks(
            self._name,
            disk_inventory,
            self._filters,
            reads_log=reads,
            options=self.options,
            transactions_of=decide if needs_transactions else None,
        )
        return [ReadTask(splits) for splits in read_tasks] + (
            [ReadTask([], rows)] if rows or not read_tasks else []
        )

    # ty: ignore[incompatible-method-override] - Spark hands over what partitions() made
    def read(self, partition: ReadTask) -> Iterator["pa.RecordBatch"]:
        """The rows of a task."""
        file_system.use_credentials(dict(self._credentials))
        yield from (problem_row(row, self._schema) for row in partition.rows)
        yield from SourceReader(self._name, self._schema, self._filters, self.options).read(
            partition.pieces
        )

    def _open(self, directory: str) -> Broker:
        """The broker of a directory.

        Raises:
            CannotOpen: for an archive that the workers of a cluster would not see unpacked.
        """
        path = absolute_path(directory) if address.parse(directory) else Path(directory)
        if not self._is_local and (
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
            store = self.options.tiered
            broker = open_broker(path if store is None else join_tiered(path, store))
            if not self._is_local and tiered_view.sources(broker.path):
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
        """A problem that hides rows, of which a topic-partition's directory is one.

        Without a checkpoint no row is lost.
        """
        name = names.parse_directory(problem.path.name)
        if name is None or not problem.is_unread:
            LOG.warning("%s: %s", address.display(problem.path), problem.what)
            return []
        is_read = self.options.renamed or name.state == "current" or broker.is_lone
        is_selected = (
            is_read
            and self._filters.has_topic(name.topic)
            and self._filters.has_partition(name.partition)
        )
        return self._rows(broker_name, name, problem) if is_selected else []

    def _rows(self, broker: str, name: "PartitionName", problem: Problem) -> list[dict]:
        """The row of a problem, where the mode makes it one."""
        what = str(message("errors.of_path", path=problem.path, what=problem.what))
        row = {"broker": broker, "topic": name.topic, "partition": name.partition, "problem": what}
        return (
            [row] if becomes_row(what, is_unread=problem.is_unread, mode=self.options.mode) else []
        )


class PushingReader(KafkaReader):
    """The same, which also skips by what stands in WHERE."""

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        """Keeps what can be skipped by; Spark goes on looking at every row."""
        self._filters = add_filters(filters, option_filters(self._name, self.options))
        return filters


def directories(option_values: dict[str, str]) -> list[str]:
    """The directories that load() was given.

    Raises:
        CannotOpen: without any.
    """
    paths = (
        json.loads(option_values["paths"])
        if option_values.get("paths")
        else [option_values["path"]]
        if option_values.get("path")
        else []
    )
    if not paths:
        raise CannotOpen(
            "load()",
            message("errors.names_no_directory"),
            message("errors.give_a_load"),
            kind="missing",
        )
    return [_local_path(directory) for directory in paths]


def _local_path(directory: str) -> str:
    """The path of a directory that may be named by a file: URI, or the address of a remote one.

    Raises:
        CannotOpen: for an address of no store that is read.
    """
    scheme, _, rest = directory.partition(":")
    if not rest or not scheme.isalnum() or len(scheme) < 2 or not rest.startswith("/"):
        return directory
    if address.parse(directory):
        return directory
    return unquote(urlsplit(directory).path)


def _describe_field(field: "pa.Field") -> str:
    return f"{field.name} {field.type}"
