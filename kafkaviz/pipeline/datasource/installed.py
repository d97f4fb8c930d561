"""The formats that Spark finds through the modules pyspark_kafka_*, without `register`.

In each session that uses any Python data source, Spark imports all modules named pyspark_*. So
the classes here import only Spark's modules until one of the formats is read.
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
    """Base class of the formats that Spark finds without `register`."""

    FORMAT = ""

    @classmethod
    def name(cls) -> str:
        return cls.FORMAT

    def schema(self) -> "StructType | str":
        return self._source.schema()

    def reader(self, schema: "StructType") -> "DataSourceReader":
        return self._source.reader(schema)

    def writer(self, schema: "StructType", overwrite: bool) -> "DataSourceWriter":  # noqa: FBT001 - as Spark calls it
        return self._source.writer(schema, overwrite)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "DataSourceStreamWriter":  # noqa: FBT001 - as Spark calls it
        return self._source.streamWriter(schema, overwrite)

    def streamReader(self, schema: "StructType") -> "DataSourceStreamReader":
        return self._source.streamReader(schema)

    @cached_property
    def _source(self) -> DataSource:
        from kafkaviz.pipeline.datasource import one_line_errors

        with one_line_errors():
            refuse_older_spark(pyspark.__version__)
        from kafkaviz.pipeline.datasource.source import SOURCES

        by_name = {source.name(): source for source in SOURCES}
        return by_name[self.FORMAT](self.options)
