"""`kafkaviz records` with keys and values as Parquet, including the start of Python, over 1 of
10 GiB of 16 KB batches in the page cache; and its memory over all 10 GiB.

The rivals write or print the same records in the same run: Spark's format kafka_records on local[2]
as Parquet, with Spark running, and `kafka-dump-log --print-data-log`, of which the same part of the
log is read. bench_walk.py says what Kafka's tool needs.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import best, row
from benchmarks.bench_ingest import BATCHES, LOG_BYTES, RECORDS, SEGMENTS, write
from benchmarks.bench_walk import can_dump, dumped
from kafkaviz import units
from kafkaviz.pipeline import register
from kafkaviz.pipeline.spark.session import session

ONE_SEGMENT = f"0-{BATCHES * RECORDS - 1}"
COMMAND = """
import json, sys
from pathlib import Path
from kafkaviz.__main__ import main

assert main(sys.argv[1:]) == 0
status = Path("/proc/self/status").read_text()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) << 10))
"""
RUNS = 2


def run() -> list[str]:
    """Returns a row per rival, and a row for the memory."""
    with tempfile.TemporaryDirectory() as folder:
        return measured(write(Path(folder) / "broker"), Path(folder))


def measured(directory: Path, folder: Path) -> list[str]:
    """Returns the rows for a directory that bench_ingest.write made."""
    out = folder / "rows.parquet"
    records(directory, out, "--offsets", ONE_SEGMENT)  # compiled once, kept on disk
    seconds = best(lambda: records(directory, out, "--offsets", ONE_SEGMENT), runs=RUNS)
    what = "`kafkaviz records --payload bytes`, 1 GiB of 16 KB batches as Parquet, start included"
    speed = f"{units.rate(LOG_BYTES / seconds)}, {seconds:.1f} s"
    spark_s = best(lambda: by_spark(directory, folder / "spark.parquet"), runs=RUNS)
    rivals = [("format `kafka_records` on `local[2]`, Spark running", spark_s)]
    if can_dump():
        log = next((directory / "bench-0").glob("*.log"))
        tool_s = best(lambda: dumped(log, "--print-data-log"), runs=1)
        rivals.append(("`kafka-dump-log --print-data-log` 4.3.1 to /dev/null", tool_s))
    rows = [
        row(what, speed, f"{name}, {rival_s:.1f} s", f"{rival_s / seconds:.1f} ×")
        for name, rival_s in rivals
    ]
    one_bytes = records(directory, out, "--offsets", ONE_SEGMENT)
    all_bytes = records(directory, out)
    start_bytes = records(directory, out, "--offsets", "0")
    what = f"`kafkaviz records --payload bytes`, {SEGMENTS} GiB of 16 KB batches: its memory"
    peak = (
        f"{units.format_bytes(all_bytes)} resident, {units.format_bytes(all_bytes - start_bytes)} "
        "more than for one record"
    )
    against = f"1 GiB, {units.format_bytes(one_bytes)}"
    return [*rows, row(what, peak, against, f"{all_bytes / one_bytes:.2f} ×")]


def records(directory: Path, out: Path, *options: str) -> int:
    """Writes records into a file, in a process of its own, and returns its peak memory in bytes."""
    command = [sys.executable, "-c", COMMAND, "records", str(directory), "--payload", "bytes"]
    command += [*options, "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    return json.loads(done.stdout.splitlines()[-1])


def by_spark(directory: Path, out: Path) -> None:
    spark = session("local[2]")
    register(spark)
    load = spark.read.format("kafka_records").option("payload", "true")
    rows = load.option("offsets", ONE_SEGMENT).load(str(directory))
    rows.write.mode("overwrite").option("compression", "zstd").parquet(str(out))
