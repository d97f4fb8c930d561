"""Whether Spark may be given filters: asked of the Spark at hand, by what it does.

A reader of a source in Python keeps the filters of one scan. Spark 4.1 to 4.3 keep such a reader
with the relation, not with the scan: the next query of the same frame or view, and the other side
of a union or a join, gets the reader of the first one, and with it too few rows (SPARK-58551). A
source of two rows shows it in two small queries.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from pyspark.sql.datasource import DataSource, DataSourceReader, EqualTo, InputPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter

ENABLED = "spark.sql.python.filterPushdown.enabled"
BOTH = (0, 1)
# of each session whether it keeps the filters of its scans apart
_CACHE: WeakKeyDictionary = WeakKeyDictionary()


def is_safe(spark: "SparkSession") -> bool:
    """Whether the session hands filters over, and keeps those of one scan from the next.

    Asked by two queries, once a session.
    """
    if cast(str, spark.conf.get(ENABLED, "false")).lower() != "true":
        return False
    if spark not in _CACHE:
        _CACHE[spark] = isolates_filters(spark)
    return _CACHE[spark]


def isolates_filters(spark: "SparkSession") -> bool:
    """Whether two scans of one frame get their own filters each.

    In one query, and in one query after the other.
    """
    spark.dataSource.register(TwoRows)
    frame = spark.read.format(TwoRows.name()).load()
    first_frame, second_frame = (frame.where(f"number = {number}") for number in BOTH)
    return first_frame.union(second_frame).count() == 2 and frame.count() == 2


class TwoRows(DataSource):
    """The numbers 0 and 1."""

    @classmethod
    def name(cls) -> str:
        """As spark.read.format takes it."""
        return "kafkaviz_two_rows"

    def schema(self) -> str:
        """One column."""
        return "number INT"

    def reader(self, schema: object) -> "TwoRowsReader":
        """A reader that takes filters."""
        return TwoRowsReader()


class TwoRowsReader(DataSourceReader):
    """Gives the number that a filter asks for, without one both; Spark looks at them again."""

    def __init__(self) -> None:
        self._numbers = BOTH

    def pushFilters(self, filters: list["Filter"]) -> Iterable["Filter"]:
        """Keeps the number that is asked for."""
        for predicate in filters:
            if isinstance(predicate, EqualTo):
                self._numbers = (predicate.value,)
        return filters

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        """The rows."""
        return ((number,) for number in self._numbers)
