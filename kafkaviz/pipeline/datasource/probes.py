"""Finds out two abilities of a Spark session, when the data sources are registered in it.

May Spark push filters down? A reader of a Python source holds the filters of one scan. Spark 4.1 to
4.3 keep this reader with the relation instead of the scan. So the next query of the same frame or
view, and the other side of a union or join, reuse the first reader and get too few rows
(SPARK-58551). Two small queries on a source of two rows show this.

Does the Python of Spark's workers have kafkaviz? On a cluster or a Spark Connect server,
PYSPARK_PYTHON may name a Python of another environment. A Python without kafkaviz cannot load a
class of this package. So the class that asks is defined inside a function, which makes Spark send
its code.
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
# by session: whether Spark keeps the filters of different scans separate
_CACHE: WeakKeyDictionary = WeakKeyDictionary()


def is_safe(spark: "SparkSession") -> bool:
    """Returns whether the session pushes filters down and keeps those of each scan separate.

    Two queries find this out, once per session.
    """
    if cast(str, spark.conf.get(ENABLED, "false")).lower() != "true":
        return False
    if spark not in _CACHE:
        _CACHE[spark] = isolates_filters(spark)
    return _CACHE[spark]


def isolates_filters(spark: "SparkSession") -> bool:
    """Returns whether each of two scans of the same DataFrame is read with its own filter.

    It tests two scans in one query, and then another query on the same DataFrame.
    """
    spark.dataSource.register(TwoRows)
    frame = spark.read.format(TwoRows.name()).load()
    first_frame, second_frame = (frame.where(f"number = {number}") for number in BOTH)
    return first_frame.union(second_frame).count() == 2 and frame.count() == 2


class TwoRows(DataSource):
    """A source with the numbers 0 and 1."""

    @classmethod
    def name(cls) -> str:
        return "kafkaviz_two_rows"

    def schema(self) -> str:
        return "number INT"

    def reader(self, schema: object) -> "TwoRowsReader":
        """Returns a reader that takes filters."""
        return TwoRowsReader()


class TwoRowsReader(DataSourceReader):
    """Reads both rows, or only the one that a pushed filter asks for; Spark filters them again."""

    def __init__(self) -> None:
        self._numbers = BOTH

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        """Keeps the number that a filter asks for, and returns all filters as not yet applied."""
        for predicate in filters:
            if isinstance(predicate, EqualTo):
                self._numbers = (predicate.value,)
        return filters

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        return ((number,) for number in self._numbers)


HAS_KAFKAVIZ = "has_kafkaviz"
MAX_REASON = 300  # most characters shown of Spark's error about a Python that does not run


def require_kafkaviz(spark: "SparkSession", *, is_connect: bool) -> None:
    """Checks that the Python with which Spark plans a session's queries has kafkaviz.

    Raises:
        KafkavizError: the Python does not have kafkaviz, or Spark cannot run it.
    """
    process = message("errors.process_of_server" if is_connect else "errors.process_of_driver")
    source = _probe()
    spark.dataSource.register(source)
    try:
        columns = spark.read.format(source.name()).load().columns
    except PySparkException as fault:
        first_line = escape_line(str(fault).strip().partition("\n")[0])
        raise KafkavizError(
            message(
                "errors.server_without_python",
                reason=verbatim(first_line[:MAX_REASON]),
                process=process,
            )
        ) from None
    if columns[0] != HAS_KAFKAVIZ:
        python, reason = columns
        raise KafkavizError(
            message(
                "errors.server_without_kafkaviz",
                python=python,
                reason=verbatim(reason),
                process=process,
            )
        )


def _probe() -> type[DataSource]:
    """Returns a source whose column names show whether its Python can import kafkaviz.

    The source itself needs only pyspark.
    """
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
