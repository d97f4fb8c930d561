"""The driver of an ingest of 100 000 segments against that of 1 000 in the same run.

The numbers are the peak memory of its Python process and of Spark's JVM, in a first run and after
one segment has changed. A segment has one batch, a topic-partition has 50 segments, and all topic-
partitions share their files.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import row
from tests.support.many_segments import SEGMENTS, change_segment, write_broker, write_template

COUNTS = 1_000, 100_000
MOST_GROWTH_BYTES = 50 << 20

INGEST = """
import json, os, sys
from contextlib import suppress
from pathlib import Path
from kafkaviz.pipeline.ingest.job import start_ingest

def peak_bytes(process):
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10

def children():
    for path in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError):  # the thread has ended
            yield from path.read_text().split()

run = start_ingest([sys.argv[1]], sys.argv[2], "local[2]")
info = run.wait()
java = [child for child in children() if "java" in os.readlink(f"/proc/{child}/exe")]
print(json.dumps({
    "segments": info.rows["segments"], "read": run.done.read_segments, "seconds": run.done.seconds,
    "driver": peak_bytes("self"), "java": sum(map(peak_bytes, java)),
}))
"""


def run() -> list[str]:
    """Returns a row per run: the first one, and the one that reads a segment."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        template = write_template(root / "template")
        peaks = [measure(root / str(count), template, count) for count in COUNTS]
    rows = []
    for place, name in enumerate(("first run", "one segment has changed")):
        few, many = (peak[place] for peak in peaks)
        growth = many["driver"] - few["driver"]
        rows.append(
            row(
                f"ingest with findings of {COUNTS[1]} segments in "
                f"{COUNTS[1] // SEGMENTS} topic-partitions, {name}: its driver",
                f"{mib(many['driver'])} resident, {java(many)}, {many['seconds']:.0f} s",
                f"{COUNTS[0]} segments, {mib(few['driver'])}, {java(few)}",
                f"{mib(growth)} more, {many['driver'] / few['driver']:.2f} ×",
            )
        )
        assert growth <= MOST_GROWTH_BYTES, rows[-1]
    return rows


def measure(root: Path, template: Path, count: int) -> list[dict]:
    """Returns what INGEST prints for a first run, and after a segment has changed."""
    broker = write_broker(root / "broker", template, count // SEGMENTS)
    peaks = []
    for read in (count, 1):
        command = [sys.executable, "-c", INGEST, str(broker), str(root / "catalog")]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        peaks.append(json.loads(done.stdout))
        assert (peaks[-1]["segments"], peaks[-1]["read"]) == (count, read)
        change_segment(broker / "orders-7")
    return peaks


def java(peak: dict) -> str:
    """Returns the JVM's memory in words. The JVM may have ended before it was measured."""
    return f"JVM {mib(peak['java'])}" if peak["java"] else "JVM not measured"


def mib(size_bytes: int) -> str:
    return f"{size_bytes / 2**20:.0f} MiB"
