"""Tests two abilities of a Spark session when the data sources are registered.

May Spark push filters down? In Spark 4.1 to 4.3 all scans of a frame share one reader, and the
reader holds the filters of the first scan. So the next query, or the other side of a union or join,
gets too few rows (SPARK-58551). To see whether a session has this fault, two queries read a small
source, which has two rows.

Does the Python of Spark's workers have kafkaviz? On a cluster or a Spark Connect server,
PYSPARK_PYTHON may name a Python of another environment. Python without kafkaviz cannot load a class
of this package. So this test defines a class inside a function, and Spark sends the class's code.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from pyspark.errors import PySparkException
from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, InputPartition

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message, verbatim
from kafkaviz.units import escape_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter
    from pyspark.sql.types import StructType

ENABLED = "spark.sql.python.filterPushdown.enabled"
BOTH = (0, 1)
_CACHE: WeakKeyDictionary = WeakKeyDictionary()  # the result of `isolates_filters`, by session


def can_push_filters(spark: "SparkSession") -> bool:
    """Returns whether Spark pushes filters down, and gives each scan only its own filters.

    The first call for a session runs two queries to find this out.
    """
    if cast(str, spark.conf.get(ENABLED, "false")).lower() != "true":
        return False
    if spark not in _CACHE:
        _CACHE[spark] = isolates_filters(spark)
    return _CACHE[spark]


def isolates_filters(spark: "SparkSession") -> bool:
    """Returns whether each of two scans of a DataFrame gets only its own filters."""
    spark.dataSource.register(TwoRows)
    frame = spark.read.format(TwoRows.name()).load()
    first_frame, second_frame = (frame.where(f"number = {number}") for number in BOTH)
    return first_frame.union(second_frame).count() == 2 and frame.count() == 2


class TwoRows(DataSource):
    @classmethod
    def name(cls) -> str:
        return "kafkaviz_two_rows"

    def schema(self) -> str:
        return "number INT"

    def reader(self, schema: object) -> "TwoRowsReader":
        return TwoRowsReader()


class TwoRowsReader(DataSourceReader):
    """Reads the rows 0 and 1, or only the row that a pushed filter asks for."""

    def __init__(self) -> None:
        self._numbers = BOTH

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        for predicate in filters:
            if isinstance(predicate, EqualTo):
                self._numbers = (predicate.value,)
        return filters

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        return ((number,) for number in self._numbers)


HAS_KAFKAVIZ = "has_kafkaviz"
MAX_REASON = 300  # most characters shown of Spark's error about a Python that does not run


def require_kafkaviz(spark: "SparkSession", *, is_connect: bool) -> None:
    """Raises KafkavizError unless Spark plans queries with a Python that has kafkaviz."""
    process = message("errors.process_of_server" if is_connect else "errors.process_of_driver")
    source = _probe()
    spark.dataSource.register(source)
    try:
        columns = spark.read.format(source.name()).load().columns
    except PySparkException as fault:
        first_line = escape_line(str(fault).strip().partition("\n")[0])
        reason = verbatim(first_line[:MAX_REASON])
        what = message("errors.server_without_python", reason=reason, process=process)
        raise KafkavizError(what) from None
    if columns[0] != HAS_KAFKAVIZ:
        python, text = columns
        key = "errors.server_without_kafkaviz"
        raise KafkavizError(message(key, python=python, reason=verbatim(text), process=process))


def _probe() -> type[DataSource]:
    answer = HAS_KAFKAVIZ

    class PythonProbe(DataSource):
        @classmethod
        def name(cls) -> str:
            return "kafkaviz_python_probe"

        def schema(self) -> "StructType":
            import sys

            from pyspark.sql.types import StringType, StructType

            try:
                import kafkaviz.pipeline.datasource.source  # noqa: F401
            except Exception as fault:
                text = f"{type(fault).__name__}: {fault}"
                return StructType().add(sys.executable, StringType()).add(text, StringType())
            return StructType().add(answer, StringType())

    return PythonProbe
