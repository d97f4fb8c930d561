"""Floor 7: whole broker directories, read on Spark into a catalog of Parquet tables, or as a data
source of any Spark session.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession") -> None:
    """Makes kafka_segments, kafka_batches, kafka_records, kafka_offset_index and kafka_time_index
    known to a session; see source.py.
    """
    from kafkaviz.pipeline.datasource import source

    source.register(spark)
