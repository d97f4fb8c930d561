"""A backfill from a broker's files beside the same job on the cluster: orders an hour, once more.

    python examples/backfill.py /var/lib/kafka --subscribe orders --since 1790000000000
    python examples/backfill.py --servers kafka:9092 --subscribe orders --since 1790000000000

Both read the same columns with the same options; the format is the one word that differs, and that
files are named in the place of servers. The second needs Spark's package spark-sql-kafka-0-10, a
running cluster, and that its retention has left the records there.
"""

import argparse
from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafkaviz.pipeline import register
from kafkaviz.pipeline.spark.session import session


def from_files(
    spark: SparkSession, directories: Sequence[str], options: dict[str, str]
) -> DataFrame:
    """The records of the topics, out of directories."""
    return spark.read.format("kafka_files").options(**options).load(list(directories))


def from_cluster(spark: SparkSession, servers: str, options: dict[str, str]) -> DataFrame:
    """The records of the topics, out of a cluster."""
    servers_option = {"kafka.bootstrap.servers": servers}
    return spark.read.format("kafka").options(**options, **servers_option).load()


def hours(records: DataFrame) -> DataFrame:
    """Returns one row per hour and topic: the number of records, and the bytes of their values."""
    return (
        records.groupBy("topic", F.date_trunc("hour", "timestamp").alias("hour"))
        .agg(
            F.count("*").alias("records"),
            F.sum(F.octet_length("value")).alias("value_bytes"),
            F.countDistinct("key").alias("keys"),
        )
        .orderBy("topic", "hour")
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("directories", nargs="*", help="of brokers, or archives of them")
    parser.add_argument("--servers", help="read the cluster instead")
    parser.add_argument("--subscribe", required=True, help="topics, separated by commas")
    parser.add_argument("--since", default="0", help="ms since 1970")
    parser.add_argument("--master", default="local[*]")
    given = parser.parse_args(arguments)
    if bool(given.servers) == bool(given.directories):
        parser.error("give directories or --servers")
    spark = session(given.master)
    register(spark)
    options = {
        "subscribe": given.subscribe,
        "startingTimestamp": given.since,
        "startingOffsetsByTimestampStrategy": "latest",
    }
    records = (
        from_cluster(spark, given.servers, options)
        if given.servers
        else from_files(spark, given.directories, options)
    )
    hours(records).show(100, truncate=False)


if __name__ == "__main__":
    main()
