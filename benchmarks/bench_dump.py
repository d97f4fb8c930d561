"""`kafkaviz dump` of 1 GiB of 1 KB batches in the page cache, including the start of Python.

It is compared with Kafka's own tool in the same run. Both print a line per batch, with its checksum
verified; the texts of a part of the log are compared first. bench_walk.py says what Kafka's tool
needs; without it, the rival is a loop of f-strings over the same batches.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import best, row
from benchmarks.bench_walk import BATCH_BYTES, LOG_BYTES, TOOL, can_dump, dumped, write
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format.batch import CRC_START
from kafkaviz.format.walk import Walk
from kafkaviz.log import file

PLAIN_BYTES = LOG_BYTES // 16  # the plain loop is slow: a part of the log tells its speed
SAME_BYTES = LOG_BYTES // 64  # of this much the two texts are compared


def run() -> list[str]:
    """Returns a row per rival: the time of the dump, and how many times as long the rival takes."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "00000000000000000000.log"
        write(log)
        printed(log)  # compiled once, kept on disk
        seconds, resident = best(lambda: printed(log)), resident_mib(log)
        plain = best(lambda: plainly(log), runs=1) * LOG_BYTES / PLAIN_BYTES
        tool = tool_seconds(log) if can_dump() else None
    what = "`kafkaviz dump`, 1 GiB of 1 KB batches, page cache, start included"
    measured = f"{seconds:.1f} s, {resident:.0f} MiB resident"
    rows = [
        row(
            what,
            measured,
            f"a loop of f-strings in a process that runs, {plain:.1f} s",
            f"{plain / seconds:.1f} ×",
        )
    ]
    rows += (
        [
            row(
                what,
                measured,
                f"`kafka-dump-log` 4.3.1, the same text, {tool:.1f} s",
                f"{tool / seconds:.1f} ×",
            )
        ]
        if tool
        else []
    )
    return rows


def command(log: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "kafkaviz", "dump", *options, "--files", str(log)]


def printed(log: Path) -> None:
    """Dumps the log to /dev/null."""
    subprocess.run(command(log), stdout=subprocess.DEVNULL, check=True)


def resident_mib(log: Path) -> float:
    """Returns the largest resident memory of one dump."""
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, "
        "check=True); "
    )
    script += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    result = subprocess.run(
        [sys.executable, "-c", script, *command(log)], capture_output=True, text=True, check=True
    )
    return int(result.stdout) / 1024


def tool_seconds(log: Path) -> float:
    """Returns the time of Kafka's tool for the same log, after comparing its text with ours."""
    part = ("--max-bytes", str(SAME_BYTES))
    ours = subprocess.run(command(log, *part), capture_output=True, check=True).stdout
    java = ["java", "-cp", os.environ["KAFKA_CLASSPATH"], TOOL, *part, "--files", str(log)]
    theirs = subprocess.run(java, capture_output=True, check=True).stdout
    assert ours == theirs
    assert ours.count(b"\n") == SAME_BYTES // BATCH_BYTES + 2
    return best(lambda: dumped(log), runs=3)


def plainly(log: Path) -> list[str]:
    """Returns what the obvious loop prints: a checksum and an f-string of some fields per batch."""
    lines = []
    with file.reader(log) as read, open(log, "rb") as source:
        for batches in Walk(read, 0, PLAIN_BYTES):
            for batch in batches:
                source.seek(batch["position"])
                valid = crc32c(source.read(batch["size_bytes"])[CRC_START:]) == batch["crc"]
                first, position = batch["base_offset"], batch["position"]
                lines.append(
                    f"baseOffset: {first} position: {position} size: {batch['size_bytes']} "
                    f"isvalid: {valid}\n"
                )
    return lines
