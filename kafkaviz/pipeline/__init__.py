"""Reads many or large broker directories on Spark.

The results are a catalog of Parquet tables, or a data source for any Spark session.
"""

import re
from typing import TYPE_CHECKING

from kafkaviz import extras
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OLDEST_SPARK = (4, 1)  # the first that passes filters to Python data sources


def register(spark: "SparkSession") -> None:
    """Registers the data sources in a session of Spark 4.1 to 4.3.

    They are kafka_segments, kafka_batches, kafka_records, kafka_files, kafka_offset_index and
    kafka_time_index; see datasource/source.py.

    Raises:
        KafkavizError: the session's Spark is too old, or its workers' Python cannot read the data
            sources.
    """
    extras.require("spark")
    refuse_older_spark(spark.version)
    from kafkaviz.pipeline.datasource import source

    source.register(spark)


def refuse_older_spark(version: str) -> None:
    """Refuses a Spark on which the data source cannot run.

    Raises:
        KafkavizError: the Spark is older than OLDEST_SPARK.
    """
    spark = tuple(int(part) for part in re.findall("[0-9]+", version)[:2])
    if spark < OLDEST_SPARK:
        oldest = ".".join(map(str, OLDEST_SPARK))
        raise KafkavizError(message("errors.spark_too_old", version=version, oldest=oldest))
