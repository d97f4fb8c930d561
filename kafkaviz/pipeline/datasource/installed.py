"""The formats as Spark finds them by itself: what the modules pyspark_kafka_* at the top hold.

Spark imports every module of that prefix in each session that names a data source of Python, its
own user's or another's; so these classes import nothing but Spark's until one of them is read.
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
    """A format that was not registered: without what register says of the session."""

    FORMAT = ""

    @classmethod
    def name(cls) -> str:
        """As spark.read.format takes it."""
        return cls.FORMAT

    def schema(self) -> "StructType | str":
        """The columns, in order."""
        return self._source.schema()

    def reader(self, schema: "StructType") -> "DataSourceReader":
        """A reader of all or some of the columns."""
        return self._source.reader(schema)

    def writer(self, schema: "StructType", overwrite: bool) -> "DataSourceWriter":  # noqa: FBT001 - as Spark calls it
        """Refused."""
        return self._source.writer(schema, overwrite)

    def streamWriter(self, schema: "StructType", overwrite: bool) -> "DataSourceStreamWriter":  # noqa: FBT001 - as Spark calls it
        """Refused."""
        return self._source.streamWriter(schema, overwrite)

    def streamReader(self, schema: "StructType") -> "DataSourceStreamReader":
        """A reader that refuses."""
        return self._source.streamReader(schema)

    @cached_property
    def _source(self) -> DataSource:
        from kafkaviz.pipeline.datasource.one_line import one_line

        with one_line():
            refuse_older_spark(pyspark.__version__)
        from kafkaviz.pipeline.datasource.source import SOURCES

        by_name = {source.name(): source for source in SOURCES}
        return by_name[self.FORMAT](self.options)
