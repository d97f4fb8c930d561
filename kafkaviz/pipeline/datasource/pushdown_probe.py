"""Finds out whether Spark may push filters down to a source, by trying it.

A reader of a Python source keeps the filters of one scan. Spark 4.1 to 4.3 keep this reader with
the relation instead of the scan. So the next query of the same frame or view, and the other side of
a union or join, reuse the first reader and get too few rows (SPARK-58551). Two small queries on a
source of two rows show this.
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
# by session, whether it keeps the filters of its scans separate
_CACHE: WeakKeyDictionary = WeakKeyDictionary()


def is_safe(spark: "SparkSession") -> bool:
    """Returns whether the session pushes filters and keeps those of each scan separate.

    Two queries find this out, once per session.
    """
    if cast(str, spark.conf.get(ENABLED, "false")).lower() != "true":
        return False
    if spark not in _CACHE:
        _CACHE[spark] = isolates_filters(spark)
    return _CACHE[spark]


def isolates_filters(spark: "SparkSession") -> bool:
    """Returns whether two scans of one frame get their own filters.

    It tries two scans in one query, and two queries in sequence.
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
        """Keeps the requested number."""
        for predicate in filters:
            if isinstance(predicate, EqualTo):
                self._numbers = (predicate.value,)
        return filters

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        return ((number,) for number in self._numbers)
