"""The answers of several scans of one frame or view, also on Spark Connect."""

import json
import os
import sys
from pathlib import Path

from kafkaviz.pipeline import register
from kafkaviz.pipeline.datasource.probes import ENABLED
from kafkaviz.pipeline.spark.session import prepare, settings

KEYS = {
    "kafka_segments": ("topic", "partition", "base_offset"),
    "kafka_batches": ("topic", "partition", "segment_base_offset", "position"),
    "kafka_records": ("topic", "partition", "offset"),
    "kafka_files": ("topic", "partition", "offset"),
    "kafka_offset_index": ("topic", "partition", "segment_base_offset", "slot"),
    "kafka_time_index": ("topic", "partition", "segment_base_offset", "slot"),
}
TOPICS = "refunds,accounts,nulls"
SELECTIONS = {"kafka_files": "subscribe"}  # the option that names topics, where it is not topics
SHUFFLES = "spark.sql.shuffle.partitions"
REFUNDS, ACCOUNTS = "topic = 'refunds'", "topic = 'accounts'"


def answers(spark: object, directory: Path, name: str) -> dict[str, object]:
    """Counts rows of two filters, a union, a self-join, and a view used twice."""
    keys = KEYS[name]
    frame = (
        spark.read.format(name)
        .option("columns", ",".join(keys))
        .option(SELECTIONS.get(name, "topics"), TOPICS)
        .load(str(directory))
    )
    frame.createOrReplaceTempView("rows")
    refunds, accounts = frame.where(REFUNDS), frame.where(ACCOUNTS)
    by_topic = {
        row["topic"]: row["count"]
        for row in refunds.union(accounts).groupBy("topic").count().collect()
    }
    view = f"SELECT (SELECT count(*) FROM rows WHERE {REFUNDS}), count(*) FROM rows"
    return {
        "one": refunds.count(),
        "whole": frame.count(),
        "union": by_topic,
        "joined": refunds.join(frame, list(keys)).count(),
        "view": list(spark.sql(view).collect()[0]),
    }


def main(directory: Path) -> None:
    """Prints the answers of a Spark Connect session in which filter pushdown was on before and
    which finds the formats by itself.
    """
    prepare("local", Path(os.environ["KAFKAVIZ_CACHE"]))
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]")
    for setting, value in {**settings(), SHUFFLES: "1", ENABLED: "true"}.items():
        builder = builder.config(setting, value)
    spark = builder.getOrCreate()
    found = {}
    for name in KEYS:
        source = spark.read.format(name).option(SELECTIONS.get(name, "topics"), TOPICS)
        found[name] = source.load(str(directory)).limit(1).count()
    register(spark)
    report = {
        "kind": type(spark).__module__,
        "found": found,
        "answers": {name: answers(spark, directory, name) for name in KEYS},
    }
    print(json.dumps(report))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
