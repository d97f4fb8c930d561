"""Which partitions have records that come late: older, by more than a while, than the newest record
before them in the log.

    python examples/late_records.py /var/lib/kafka --late-s 600 --topics 'orders,sensors-*'

Windows that are closed by time miss such records. Transaction markers are left out: a coordinator
writes them by its own clock. Keys and values are not read out; the worker that sorts a partition is
given four columns of each of its records.
"""

import argparse

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kafkaviz.pipeline import register
from kafkaviz.pipeline.spark.session import session

COLUMNS = "topic,partition,offset,timestamp_ms,is_control"
# a consumer is given no transaction marker, and a record of an old batch has no time
RECORDS = "NOT is_control AND timestamp_ms >= 0"
PARTITION = ("topic", "partition")


def with_late_ms(records: DataFrame) -> DataFrame:
    """Adds late_ms: how much older a record is than the newest before it; null for the first."""
    before = (
        Window.partitionBy(*PARTITION).orderBy("offset").rowsBetween(Window.unboundedPreceding, -1)
    )
    return records.withColumn("late_ms", F.max("timestamp_ms").over(before) - F.col("timestamp_ms"))


def late_partitions(records: DataFrame, late_ms: int) -> DataFrame:
    """Returns one row per partition with late records: how many, how late at most, and the offset
    of the first.
    """
    late = with_late_ms(records).where(F.col("late_ms") > late_ms)
    summary = late.groupBy(*PARTITION).agg(
        F.count("*").alias("late_records"),
        F.round(F.max("late_ms") / 1000, 1).alias("latest_s"),
        F.min("offset").alias("first_offset"),
    )
    return summary.orderBy(F.desc("late_records"), *PARTITION)


def main(arguments: list[str] | None = None) -> None:
    """Prints the twenty partitions with most."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directories", metavar="DIR", nargs="+", help="a broker directory, or an archive of one"
    )
    parser.add_argument(
        "--late-s",
        type=float,
        default=60,
        help="what counts as late, in seconds (default: %(default)s)",
    )
    parser.add_argument(
        "--topics", default="*", help="topics or patterns, separated by commas (default: all)"
    )
    parser.add_argument(
        "--master", default="local[*]", help="the Spark master (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    spark = session(options.master)  # in a job of your own: your own session
    register(spark)
    records = (
        spark.read.format("kafka_records")
        .option("columns", COLUMNS)
        .option("topics", options.topics)
        .load(options.directories)
    )
    late_partitions(records.where(RECORDS), round(options.late_s * 1000)).show(20, truncate=False)


if __name__ == "__main__":
    main()
