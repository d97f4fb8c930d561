"""A broker directory as a data source of Spark: spark.read.format("kafka_batches").load(DIR), after kafkaviz.pipeline.register(spark).

    kafka_segments      a row a segment: its files, and what reading them tells
    kafka_batches       a row a batch, from its header
    kafka_records       a row a record, of any magic and codec; keys, values and headers with option payload=true
    kafka_offset_index  a row a written slot of an .index
    kafka_time_index    a row a written slot of a .timeindex

Columns and options: source_schema.py. The options topics, partitions, offsets and timestamps skip files and byte ranges, and no row outside
of them is given; what stands in WHERE skips too where Spark keeps pushed filters apart (pushdown.py). DIR is a broker directory, one
partition directory, or an archive; load([DIR, DIR]) reads several.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline import pushdown
from kafkaviz.pipeline.inventory import inventory
from kafkaviz.pipeline.pushed import asked
from kafkaviz.pipeline.source_plan import Piece, chosen, tasks
from kafkaviz.pipeline.source_read import Reading, reads_log
from kafkaviz.pipeline.source_schema import FORMATS, BadOption, columns, options

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

LOG = logging.getLogger("kafkaviz")


def register(spark: "SparkSession") -> None:
    """Makes the five formats known to a session, one of Spark Connect too; no setting of it is changed.

    Workers of a local session that was told of no Python run this one: Spark's default is the first python3 on PATH, which need not
    have kafkaviz. On a cluster, and on the server of Spark Connect, PYSPARK_PYTHON names theirs.
    """
    master, context = spark.conf.get("spark.master", ""), getattr(spark, "sparkContext", None)  # Spark Connect has no context
    known = context is None or "PYSPARK_PYTHON" in os.environ or context.getConf().contains("spark.pyspark.python")
    if master.startswith("local") and not known:
        context.pythonExec = sys.executable
    pushes_filters = pushdown.is_safe(spark)
    for source in SOURCES:
        spark.dataSource.register(of_session(source, pushes_filters))


def of_session(source: type["KafkaSource"], pushes_filters: bool) -> type["KafkaSource"]:
    """The format as this session may use it; Spark sends a class that was made here along, with what is said in it."""
    return type(source.__name__, (source,), {"PUSHES_FILTERS": True}) if pushes_filters else source


class KafkaSource(DataSource):
    """What the five have in common; FORMAT is the name that format() takes."""

    FORMAT = ""
    PUSHES_FILTERS = False  # Spark refuses a source that takes filters where they are off, and mixes up those of several scans (pushdown.py)

    @classmethod
    def name(cls) -> str:
        """As spark.read.format takes it."""
        return cls.FORMAT

    def schema(self) -> "StructType":
        """The columns, in order; BadOption for one that is not there."""
        return from_arrow_schema(columns(self.FORMAT, options(self.options)))

    def reader(self, schema: "StructType") -> "KafkaReader":
        """A reader of all or some of the columns; BadOption for a schema of the caller's own that has others."""
        wanted, known = to_arrow_schema(schema, timezone="UTC"), columns(self.FORMAT, replace(options(self.options), columns=()))
        for field in wanted:
            if field.name not in known.names or known.field(field.name).type != field.type:
                raise BadOption(f"{self.FORMAT} has no column {field.name} of type {field.type}; it has {', '.join(map(_typed, known))}")
        return (PushingReader if self.PUSHES_FILTERS else KafkaReader)(self.FORMAT, dict(self.options), schema)


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


class Task(InputPartition):
    """What one Spark task reads."""

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces


class KafkaReader(DataSourceReader):
    """Plans in one process of Python, reads in the workers; it is pickled on the way, with what was asked for."""

    def __init__(self, name: str, given: dict[str, str], schema: "StructType") -> None:
        """given: the options, with the directory as path, or several as paths."""
        self.options = options(given)
        self._name, self._directories = name, directories(given)
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._asked = chosen(name, self.options)

    def partitions(self) -> list[Task]:
        """The tasks; names and sizes of files are looked at, and nothing is opened."""
        found = inventory(map(open_broker, self._directories))
        for problem in found.problems:
            LOG.warning("%s: %s", problem.path, problem.what)
        reads = reads_log(self._name, self._schema)
        return [Task(pieces) for pieces in tasks(self._name, found, self._asked, reads, self.options)] or [Task([])]

    def read(self, partition: Task) -> Iterator["pa.RecordBatch"]:
        """The rows of a task."""
        return Reading(self._name, self._schema, self._asked, self.options).read(partition.pieces)


class PushingReader(KafkaReader):
    """The same, which also skips by what stands in WHERE."""

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        """Keeps what can be skipped by; Spark goes on looking at every row."""
        self._asked = asked(filters, chosen(self._name, self.options))
        return filters


def directories(given: dict[str, str]) -> list[str]:
    """The directories that load() was given; CannotOpen without any."""
    found = json.loads(given["paths"]) if given.get("paths") else [given["path"]] if given.get("path") else []
    if not found:
        raise CannotOpen("load()", "names no directory", 'give one: .load("/var/lib/kafka"); in SQL a TEMPORARY VIEW can', kind="missing")
    return [_local(one) for one in found]


def _local(directory: str) -> str:
    """The path of a directory that may be named by a URI; CannotOpen for one that is no path of this machine."""
    scheme, _, rest = directory.partition(":")
    if not rest or not scheme.isalnum() or len(scheme) < 2 or not rest.startswith("/"):
        return directory
    if scheme != "file":
        raise CannotOpen(directory, "is not on a file system of this machine", "mount it, and give its path", kind="missing")
    return unquote(urlsplit(directory).path)


def _typed(field: "pa.Field") -> str:
    return f"{field.name} {field.type}"
