"""Reads many or large broker directories on Spark.

An ingest writes a catalog of Parquet tables. A data source lets any Spark session read the
directories. `records`, `batches` and `segments` return rows in this process, without Spark.
"""

import re
from typing import TYPE_CHECKING

from kafkaviz import extras
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

    from kafkaviz.pipeline.datasource.arrow_rows import ArrowRows, OptionValue, Source


OLDEST_SPARK = (4, 1)  # the first release that passes filters to Python data sources


def register(spark: "SparkSession") -> None:
    """Registers the six data sources (datasource/source.py) in a session of Spark 4.1 to 4.3.

    Raises KafkavizError if the session's Spark is too old, or the workers' Python lacks kafkaviz.
    """
    extras.require("spark")
    refuse_older_spark(spark.version)
    from kafkaviz.pipeline.datasource import source

    source.register(spark)


def records(source: "Source | Iterable[Source]", **options: "OptionValue") -> "ArrowRows":
    """Returns one row per record of the directories, like the Spark format kafka_records.

    Files are read when the first row is requested.

    Args:
        source: a path or URL, a pattern, an opened Partition or Broker, or a sequence of these. A
            path names a broker directory, a partition directory or an archive.
        options: the options of kafka_records (docs/data-source.md), such as topics, offsets and
            mode. payload="text" returns keys, values and headers as text.

    Raises:
        BadOption: an option or a column does not exist, or a value is invalid.
        MissingPackages: pyarrow is not installed.
    """
    return _rows("kafka_records", source, options)


def batches(source: "Source | Iterable[Source]", **options: "OptionValue") -> "ArrowRows":
    """Returns one row per batch, like the Spark format kafka_batches; see `records`."""
    return _rows("kafka_batches", source, options)


def segments(source: "Source | Iterable[Source]", **options: "OptionValue") -> "ArrowRows":
    """Returns one row per segment, like the Spark format kafka_segments; see `records`."""
    return _rows("kafka_segments", source, options)


def _rows(
    name: str, source: "Source | Iterable[Source]", options: "dict[str, OptionValue]"
) -> "ArrowRows":
    extras.require("arrow", "pyarrow")
    from kafkaviz.pipeline.datasource import arrow_rows

    return arrow_rows.open_rows(name, source, options)


def refuse_older_spark(version: str) -> None:
    """Raises KafkavizError if the Spark release is older than `OLDEST_SPARK`."""
    spark = tuple(int(part) for part in re.findall("[0-9]+", version)[:2])
    if spark < OLDEST_SPARK:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise KafkavizError(message("errors.spark_too_old", version=version, oldest=oldest))
