"""The formats that Spark finds without a call of `register`, by the modules pyspark_kafka_*.

Spark imports all modules whose names begin with pyspark_ in each session that uses any Python data
source. So these classes import only Spark's modules until one of the formats is read.
"""

from functools import cached_property
from typing import TYPE_CHECKING

import pyspark
from pyspark.sql.datasource import DataSource

from kafkaviz.pipeline import refuse_older_spark

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSourceReader,
        DataSourceStreamReader,
        DataSourceStreamWriter,
        DataSourceWriter,
    )
    from pyspark.sql.types import StructType


class InstalledSource(DataSource):
    """A format that was not registered, so that nothing is known about the session."""

    FORMAT = ""

    @classmethod
    def name(cls) -> str:
        return cls.FORMAT

    def schema(self) -> "StructType | str":
        return self._source.schema()

    def reader(self, schema: "StructType") -> "DataSourceReader":
        return self._source.reader(schema)

    def writer(self, schema: "StructType", overwrite: bool) -> "DataSourceWriter":  # noqa: FBT001 - as Spark calls it
        """Refuses to write."""
        return self._source.writer(schema, overwrite)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "DataSourceStreamWriter":  # noqa: FBT001 - as Spark calls it
        """Refuses to write."""
        return self._source.streamWriter(schema, overwrite)

    def streamReader(self, schema: "StructType") -> "DataSourceStreamReader":
        """Returns a reader that refuses to stream."""
        return self._source.streamReader(schema)

    @cached_property
    def _source(self) -> DataSource:
        from kafkaviz.pipeline.datasource import one_line

        with one_line():
            refuse_older_spark(pyspark.__version__)
        from kafkaviz.pipeline.datasource.source import SOURCES

        by_name = {source.name(): source for source in SOURCES}
        return by_name[self.FORMAT](self.options)
