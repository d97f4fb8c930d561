"""Floor 7: all of a broker directory, read on Spark.

Into a catalog of Parquet tables, or as a data source of any Spark session.
"""

from typing import TYPE_CHECKING

from kafkaviz import extras

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession") -> None:
    """Makes the data sources known to a session.

    They are kafka_segments, kafka_batches, kafka_records, kafka_files, kafka_offset_index and
    kafka_time_index; see datasource/source.py.
    """
    extras.require("spark")
    from kafkaviz.pipeline.datasource import source

    source.register(spark)
