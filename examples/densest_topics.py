"""Which topics have the densest index: the bytes of .log that an entry of an .index stands for,
and what the indexes take in all.

    python examples/densest_topics.py /var/lib/kafka
    python examples/densest_topics.py /mnt/brokers/1 /mnt/brokers/2 --master spark://there:7077

Where an entry stands for one batch or two, a larger index.interval.bytes would make smaller
indexes, and a lookup would read a header or two more. A segment without its .index is left out: its
bytes have no entry. A row per topic is all that moves between workers.
"""

import argparse

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafkaviz.pipeline import register
from kafkaviz.pipeline.spark.session import session

COLUMNS = "topic,partition,log_bytes,batches,offset_entries,time_entries"
# what is written of an index; a broker that runs has made the file as long as it may grow
ENTRY_BYTES, TIME_ENTRY_BYTES = 8, 12


def densest_topics(segments: DataFrame) -> DataFrame:
    """A row per topic that has an entry, the densest first; segments: of format kafka_segments."""
    time_entries = F.coalesce("time_entries", F.lit(0))  # null without a .timeindex
    by_topic = (
        segments.where("offset_entries IS NOT NULL")
        .groupBy("topic")
        .agg(
            F.countDistinct("partition").alias("partitions"),
            F.sum("log_bytes").alias("log_bytes"),
            F.sum(ENTRY_BYTES * F.col("offset_entries") + TIME_ENTRY_BYTES * time_entries).alias(
                "index_bytes"
            ),
            F.sum("batches").alias("batches"),
            F.sum("offset_entries").alias("entries"),
        )
    )
    with_ratios = by_topic.where("entries > 0").withColumns(
        {
            "bytes_an_entry": F.round(F.col("log_bytes") / F.col("entries")).cast("long"),
            "batches_an_entry": F.round(F.col("batches") / F.col("entries"), 1),
        }
    )
    return with_ratios.orderBy("bytes_an_entry", "topic")


def main(arguments: list[str] | None = None) -> None:
    """Prints the twenty densest."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directories", metavar="DIR", nargs="+", help="a broker directory, or an archive of one"
    )
    parser.add_argument(
        "--master", default="local[*]", help="the Spark master (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    spark = session(options.master)  # in a job of your own: your own session
    register(spark)
    segments = (
        spark.read.format("kafka_segments").option("columns", COLUMNS).load(options.directories)
    )
    densest_topics(segments).show(20, truncate=False)


if __name__ == "__main__":
    main()
