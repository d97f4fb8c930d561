"""The header walk over 1 GiB of 1 KB batches in the page cache, against two rivals in the same run.

They are kafka-dump-log and a plain loop. kafka-dump-log is measured if KAFKA_CLASSPATH has the
class path of Kafka's tools (org.apache.kafka:kafka-tools 4.3.1 and its dependencies) and a Java is
on PATH.
"""

import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import best, row
from kafkaviz.format.batch import HEADER
from kafkaviz.format.walk import Walk
from kafkaviz.log import file

LOG_BYTES, BATCH_BYTES = 1 << 30, 1024
PLAIN_BYTES = LOG_BYTES // 16  # the plain loop is slow: a part of the log tells its speed
STEP = struct.Struct(">qiibIhiqqqhii")
TOOL = "org.apache.kafka.tools.DumpLogSegments"


def run() -> list[str]:
    """Returns a row per rival: the bytes that the walk reads per second, and how many times as fast
    it is.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "00000000000000000000.log"
        write(log)
        walk = best(lambda: walked(log))
        plain = best(lambda: plainly(log), runs=1) * LOG_BYTES / PLAIN_BYTES
        tool = best(lambda: dumped(log), runs=1) if can_dump() else None
    what, speed = (
        "header walk, 1 GiB of 1 KB batches, page cache",
        f"{LOG_BYTES / walk / 1e9:.1f} GB/s a core",
    )
    rows = [row(what, speed, "a seek and a struct for each batch", f"{plain / walk:.0f} ×")]
    rows += (
        [row(what, speed, f"`kafka-dump-log` 4.3.1, {tool:.1f} s", f"{tool / walk:.0f} ×")]
        if tool
        else []
    )
    return rows


def write(log: Path) -> None:
    """Writes batches of one record each, which are valid except for their checksums; a header walk
    ignores those.
    """
    count = LOG_BYTES // BATCH_BYTES // 16
    batches = np.zeros((count, BATCH_BYTES), np.uint8)
    batches[:, HEADER.itemsize :] = np.random.default_rng(1).integers(
        0, 256, BATCH_BYTES - HEADER.itemsize, np.uint8
    )
    header = np.zeros(count, HEADER)
    header["batch_length_bytes"], header["magic"], header["record_count"] = BATCH_BYTES - 12, 2, 1
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    with open(log, "wb") as out:
        for part in range(16):
            header["base_offset"] = np.arange(part * count, (part + 1) * count)
            header["base_timestamp_ms"] = header["max_timestamp_ms"] = (
                1_790_000_000_000 + header["base_offset"]
            )
            batches[:, : HEADER.itemsize] = header.view(np.uint8).reshape(count, -1)
            out.write(batches.data)


def walked(log: Path) -> int:
    """Reads every header field of every batch with the package's walk."""
    with file.reader(log) as read:
        batches = sum(len(part) for part in Walk(read, 0, LOG_BYTES))
    assert batches == LOG_BYTES // BATCH_BYTES
    return batches


def plainly(log: Path) -> list[tuple]:
    """Returns the headers that the obvious loop reads: a seek and a struct per batch."""
    at, batches = 0, []
    with open(log, "rb") as source:
        while at < PLAIN_BYTES:
            source.seek(at)
            batches.append(STEP.unpack(source.read(STEP.size)))
            at += 12 + batches[-1][1]
    return batches


def can_dump() -> bool:
    """Returns whether Kafka's own tool can be measured."""
    return bool(os.environ.get("KAFKA_CLASSPATH") and shutil.which("java"))


def dumped(log: Path, *options: str) -> None:
    """Runs Kafka's tool, output to /dev/null; without options it prints a line per batch."""
    command = [
        "java",
        "-Xmx1g",
        "-cp",
        os.environ["KAFKA_CLASSPATH"],
        TOOL,
        *options,
        "--files",
        str(log),
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
