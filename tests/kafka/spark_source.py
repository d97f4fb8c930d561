"""Spark's own kafka source on a live broker, and kafka_files on its directory: the same rows.

Each query has the options of Spark's source. Both must refuse the same queries, in whatever words.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import kafkaviz.pipeline
from kafkaviz.log.cache_folder import cache_folder
from kafkaviz.pipeline.spark.session import prepare, settings
from tests.kafka.harness import FOLDER, JAVA, class_path, fetch_class_path, piped, scratch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RELEASE = "4.3.1"
# the newest that Maven Central has; it runs on Spark 4.3.0 too
CONNECTOR = "4.2.0"
START_MS = 1_790_000_000_000  # of the first record, as LiveBroker.java has it
DELETED_START = json.dumps({"cut": {"0": 5, "1": -2}})
COMMITTED = {"kafka.isolation.level": "read_committed"}
LATEST = {"startingOffsetsByTimestampStrategy": "latest"}
SHARE_OF_QUICK = 6  # of a quick run: every sixth query


def queries() -> list[dict[str, str]]:
    subscribed = {"subscribe": "orders"}
    listed = [
        {"subscribe": "orders,stamped,cut,empty", "includeHeaders": "true"},
        {"subscribe": "payments"},
        {"subscribe": "payments", **COMMITTED},
        {"subscribePattern": "o.*s|cu", "includeHeaders": "true"},
        {"subscribePattern": ".*"},
        {"subscribePattern": "nothing-of-that-name"},
        {"subscribe": "empty"},
        {"subscribe": "empty", **COMMITTED},
        {"assign": json.dumps({"orders": [1], "cut": [0]})},
        {"assign": json.dumps({"orders": [0, 2]}), "minPartitions": "7"},
        {**subscribed, "maxRecordsPerPartition": "33"},
        {"subscribe": "cut", "startingOffsets": json.dumps({"cut": {"0": 40, "1": -2}})},
        {"subscribe": "cut", "startingOffsets": DELETED_START},
        {"subscribe": "cut", "startingOffsets": DELETED_START, "failOnDataLoss": "false"},
        {"subscribe": "cut", "endingOffsets": json.dumps({"cut": {"0": 60, "1": -1}})},
        {"subscribe": "cut", "endingOffsets": json.dumps({"cut": {"0": 60, "1": 0}})},
        {"subscribe": "cut", "startingOffsets": json.dumps({"cut": {"0": 40}})},
        {"subscribe": "cut", "startingOffsets": "latest"},
        {"subscribe": "cut", "endingOffsets": "earliest"},
        {"subscribe": "cut", "startingOffsets": "soon"},
        {"subscribe": "cut", "kafka.auto.offset.reset": "latest"},
        {"subscribe": "stamped", "startingTimestamp": "0", "includeHeaders": "true"},
        {**subscribed, "startingTimestamp": "soon"},
        {**subscribed, "startingOffsetsByTimestamp": '{"orders":{"0":1}}'},
    ]
    for timestamp_ms in (-2, -1, -3, -4, -5, -7, 0, START_MS + 77_777, START_MS + 10**9):
        text = str(timestamp_ms)
        listed += [
            {**subscribed, "startingTimestamp": text},
            {**subscribed, "startingTimestamp": text, **LATEST},
            {**subscribed, "endingTimestamp": text},
        ]
        partition = json.dumps({"payments": {"0": timestamp_ms}})
        payments = {"subscribe": "payments"}
        listed += [
            {**payments, "startingOffsetsByTimestamp": partition, **LATEST, **COMMITTED},
            {**payments, "endingOffsetsByTimestamp": partition},
        ]
    return listed


def differences(*, is_quick: bool) -> tuple[list[str], int, str]:
    """Returns the differences, the number of queries, and a line about the rows."""
    chosen = queries()[:: SHARE_OF_QUICK if is_quick else 1]
    faults, rows, refusals = [], 0, 0
    with scratch() as folder, live_broker(Path(folder)) as broker, session() as spark:
        kafkaviz.pipeline.register(spark)
        servers = {"kafka.bootstrap.servers": read_address(broker)}
        for options in chosen:
            expected = _answer(spark, "kafka", {**options, **servers}, None)
            answer = _answer(spark, "kafka_files", options, f"{folder}/logs")
            rows += len(expected or ())
            refusals += expected is None
            if answer != expected:
                faults.append(f"kafka_files {options}: {_difference(answer, expected)}")
    summary = (
        f"Spark's own kafka source answered {len(chosen)} queries of a broker of {RELEASE}, "
        f"{rows} rows and {refusals} refusals"
    )
    return faults, len(chosen), summary


def _answer(
    spark: "SparkSession", name: str, options: dict[str, str], directory: str | None
) -> list[tuple] | None:
    try:
        frame = spark.read.format(name).options(**options).load(directory)
        columns = frame.columns
        rows = [tuple(row) for row in frame.collect()]
    except Exception as fault:
        if os.environ.get("EXPLAIN"):
            print(name, options, str(fault).splitlines()[0][:300])
        return None
    return [tuple(columns), *sorted(rows, key=lambda row: row[2:5])]


def _difference(answer: list[tuple] | None, expected: list[tuple] | None) -> str:
    if answer is None or expected is None:
        refusing = "kafka_files" if answer is None else "Spark's own source"
        return f"{refusing} alone refuses it"
    if len(answer) != len(expected):
        return f"{len(answer) - 1} rows, Spark's own source has {len(expected) - 1}"
    return next(
        f"{ours}, Spark's own source has {theirs}"
        for ours, theirs in zip(answer, expected, strict=True)
        if ours != theirs
    )


@contextmanager
def live_broker(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Runs a broker that fills its topics while Spark starts."""
    command = [*JAVA, f"-Djava.io.tmpdir={folder}", "-cp", class_path(RELEASE), "LiveBroker"]
    with piped([*command, str(folder)], stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def read_address(broker: subprocess.Popen[str]) -> str:
    address = broker.stdout.readline().strip() if broker.stdout else ""
    if not address:
        raise RuntimeError(f"the broker ended with status {broker.wait()}")
    return address


@contextmanager
def session() -> Iterator["SparkSession"]:
    """Returns a session of Spark that finds its own kafka source."""
    from pyspark.sql import SparkSession

    jars = fetch_class_path(f"spark-{CONNECTOR}", CONNECTOR, FOLDER / "spark.pom.xml", ())
    prepare("local[2]", cache_folder())
    own_settings = {
        **settings("local[2]"),
        "spark.driver.extraClassPath": jars,
        "spark.sql.session.timeZone": "UTC",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("kafkaviz")
    spark = builder.config(map=own_settings).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
