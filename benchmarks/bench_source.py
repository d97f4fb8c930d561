"""The data source over 10 GiB: how much of it a range of offsets or times reads, and Spark's time
on local[2].

The range is given by the options offsets or timestamps; no filter is pushed. The bytes are those
that the system counts for this process (rchar in /proc/self/io) while it does the work of Spark's
workers. The rival is the same range as a filter, which reads everything.
"""

import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame

from benchmarks import row
from benchmarks.bench_ingest import BATCHES, LOG_BYTES, RECORDS, SEGMENTS, START_MS, write
from kafkaviz import units
from kafkaviz.pipeline import register
from kafkaviz.pipeline.datasource.source import SOURCES
from kafkaviz.pipeline.spark.session import session

TOTAL_BYTES = SEGMENTS * LOG_BYTES
MIDDLE = SEGMENTS * BATCHES * RECORDS // 2
RANGE = 10_000  # offsets, and milliseconds: there is a record each
TIMES = 3


def run(directory: Path | None = None) -> list[str]:
    """Returns rows for ranges of offsets and times, in records and batches, and for a query that
    needs every batch.
    """
    with tempfile.TemporaryDirectory() as folder:
        return measured(directory or write(Path(folder) / "broker"))


def measured(directory: Path) -> list[str]:
    """Returns the rows for a directory that bench_ingest.write made."""
    spark = session("local[2]")
    register(spark)
    late, offsets, times = (
        {"late_ms": "60000"},
        f"{MIDDLE}-{MIDDLE + RANGE - 1}",
        f"{START_MS + MIDDLE}-{START_MS + MIDDLE + RANGE - 1}",
    )
    ranges = [
        ("kafka_records", "offset", {"offsets": offsets}),
        ("kafka_records", "timestamp_ms", {"timestamps": times, **late}),
    ]
    ranges += [
        ("kafka_batches", "base_offset", {"offsets": offsets}),
        ("kafka_batches", "max_timestamp_ms", {"timestamps": times}),
    ]
    lines = []
    for name, column, options in ranges:
        least = MIDDLE if "offsets" in options else START_MS + MIDDLE
        by_option_s, row_count = quickest(
            spark.read.format(name).options(**options).load(str(directory))
        )
        filtered = (
            spark.read.format(name)
            .load(str(directory))
            .where(f"{column} >= {least} and {column} < {least + RANGE}")
        )
        all_s, expected = quickest(filtered, times=1)
        assert row_count == expected > 0
        read = bytes_read(name, directory, options)
        assert read < 0.02 * TOTAL_BYTES
        options_text = ", ".join(f"`{option}`" for option in options)
        what = f"{name}, option {options_text}, {row_count} rows in {SEGMENTS} GiB of 16 KB batches"
        percent = f"{100 * read / TOTAL_BYTES:.2f} %"
        share = f"{units.format_bytes(read)} read, {percent}; {by_option_s:.2f} s"
        lines.append(
            row(
                what,
                share,
                f"a filter, everything read, {all_s:.1f} s",
                f"{all_s / by_option_s:.0f} ×",
            )
        )
    all_s, batches = quickest(spark.read.format("kafka_batches").load(str(directory)))
    assert batches == SEGMENTS * BATCHES
    what = f"kafka_batches, all {batches} rows of {SEGMENTS} GiB counted, Spark running"
    return [*lines, row(what, f"{units.rate(TOTAL_BYTES / all_s)}, {all_s:.1f} s", "–", "–")]


def quickest(frame: DataFrame, times: int = TIMES) -> tuple[float, int]:
    """Returns the shortest time to count the rows, and their number."""
    seconds, count = [], 0
    for _ in range(times):
        start = time.perf_counter()
        count = frame.count()
        seconds.append(time.perf_counter() - start)
    return min(seconds), count


def bytes_read(name: str, directory: Path, options: dict[str, str]) -> int:
    """Returns the bytes that planning and reading the range takes, in this process."""
    (source,) = (source for source in SOURCES if source.name() == name)
    load = source({"path": str(directory), **options})
    reader = load.reader(load.schema())
    before = counted_bytes()
    rows = sum(batch.num_rows for task in reader.partitions() for batch in reader.read(task))
    assert rows > 0
    return counted_bytes() - before


def counted_bytes() -> int:
    """Returns the bytes that this process has read so far."""
    return int(
        next(
            line.split()[1]
            for line in Path("/proc/self/io").read_text().splitlines()
            if line.startswith("rchar")
        )
    )
