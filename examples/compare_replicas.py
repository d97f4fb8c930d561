"""Which topic-partitions of two brokers hold the same batches, and from which offset on they do
not: by the checksums in two catalogs, without reading a .log.

    kafkaviz ingest /mnt/brokers/1 --catalog /mnt/catalogs/1
    kafkaviz ingest /mnt/brokers/2 --catalog /mnt/catalogs/2
    python examples/compare_replicas.py /mnt/catalogs/1 /mnt/catalogs/2 --master spark://there:7077

The SQL is in kafkaviz.pipeline.sql.catalog_comparison, to be changed at will: BATCHES_SQL and
BLOCKS_SQL are the views of COMPARISON_SQL. `kafkaviz compare CATALOG_1 CATALOG_2` says the same
without Spark; what differs is then read by `kafkaviz compare DIR_1 DIR_2`.
"""

import argparse

from pyspark.sql import DataFrame

from kafkaviz.pipeline.spark.session import session
from kafkaviz.pipeline.sql.catalog_comparison import compare_on_spark, open_pair


def differing_partitions(partitions: DataFrame) -> DataFrame:
    """Returns the partitions that differ between the sides, damaged ones included, by the first
    differing offset.
    """
    is_different = "different_batches > 0 OR relation = 'damaged'"
    return partitions.where(is_different).orderBy("first_different_offset", "topic", "partition")


def main(arguments: list[str] | None = None) -> None:
    """Prints how many partitions relate how, and where they differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("a", metavar="CATALOG_A", help="a catalog of kafkaviz ingest")
    parser.add_argument("b", metavar="CATALOG_B", help="one of another replica")
    parser.add_argument(
        "--master", default="local[*]", help="the Spark master (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    spark = session(options.master)  # in a job of your own: your own session
    pair = open_pair(options.a, options.b)
    for side in pair.unverified_sides:
        print(f"checksums in {side} are believed: its ingest did not check them")
    partitions = compare_on_spark(spark, pair).cache()
    partitions.groupBy("relation").count().orderBy("relation").show(truncate=False)
    differing_partitions(partitions).show(20, truncate=False)


if __name__ == "__main__":
    main()
