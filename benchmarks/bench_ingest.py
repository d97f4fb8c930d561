"""Spark's ingest on local[2] of 10 GiB of 16 KB batches in the page cache, against the plain
reader.

The reader runs in one process in the same run. The memory is the sum over all processes of the
ingest, JVM and Python workers, of their proportional shares (PSS in /proc), which count shared
pages once.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import row
from kafkaviz import units
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import offset_index, producer_snapshot, record, time_index
from kafkaviz.format.batch import CRC_START, HEADER, LENGTH_END
from kafkaviz.log.broker import open_broker

SEGMENTS, LOG_BYTES, BATCH_BYTES = 10, 1 << 30, 16 << 10
BATCHES = LOG_BYTES // BATCH_BYTES
RECORDS = 16
START_MS = 1_790_000_000_000
LOOK_EVERY_S = 0.5  # to look takes some milliseconds a process


INGEST = """
import json, sys, time
from pathlib import Path
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.ingest.job import start_ingest

seconds, rows, severities = [], [], []
for catalog in sys.argv[2:]:
    start = time.monotonic()
    info = start_ingest([sys.argv[1]], catalog, "local[2]", findings="findings" in catalog).wait()
    seconds.append(time.monotonic() - start)
    rows.append(info.rows["batches"])
    severities.append(Catalog(Path(catalog), info).severities())
print(json.dumps({"batches": rows, "seconds": seconds, "findings": severities}))
"""


def run() -> list[str]:
    """Returns the rows: a first ingest with the start of Spark, one in a process where Spark
    already runs, as in the app, and the same with findings.
    """
    with tempfile.TemporaryDirectory() as folder:
        directory = write(Path(folder) / "broker")
        plain_s = plainly(directory)
        result, most_bytes = ingest(
            directory, *(Path(folder) / name for name in ("first", "second", "findings"))
        )
    assert result["batches"] == [SEGMENTS * BATCHES] * 3
    assert result["findings"][2]["error"] == 0 < sum(result["findings"][2].values())
    what, total_bytes = (
        f"ingest on `local[2]`, {SEGMENTS} GiB of 16 KB batches, page cache",
        SEGMENTS * LOG_BYTES,
    )
    plain = f"plain reader in one process, {units.rate(total_bytes / plain_s)}"
    texts = [
        (
            f"{units.rate(total_bytes / elapsed_s)}, {elapsed_s:.1f} s, at most "
            f"{units.format_bytes(most_bytes)} resident in all"
        )
        for elapsed_s in result["seconds"]
    ]
    starts = ("Spark's start included", "Spark running", "Spark running, with findings and sweep")
    return [
        row(f"{what}, {start}", words, plain, f"{plain_s / elapsed_s:.2f} ×")
        for start, words, elapsed_s in zip(starts, texts, result["seconds"], strict=True)
    ]


def write(directory: Path) -> Path:
    """Writes a broker directory of one topic-partition that was stopped cleanly.

    Its segments are full, with an entry for each batch except a segment's first. Each begins with a
    producer snapshot, which Kafka takes at a roll.
    """
    partition = directory / "bench-0"
    partition.mkdir(parents=True)
    (directory / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=benchmarks\n")
    (directory / ".kafka_cleanshutdown").touch()
    for number in range(SEGMENTS):
        write_segment(partition, number * BATCHES * RECORDS)
        snapshot = partition / f"{units.file_stem(number * BATCHES * RECORDS)}.snapshot"
        snapshot.write_bytes(producer_snapshot.build(np.empty(0, producer_snapshot.PRODUCER)))
    os.sync()  # the kernel writes back now, not while something is measured
    return directory


def write_segment(partition: Path, base_offset: int) -> None:
    number = np.arange(BATCHES)
    times_ms = START_MS + base_offset + number * RECORDS
    stem = partition / units.file_stem(base_offset)
    write_log(stem.with_suffix(".log"), base_offset, times_ms)
    entries = {
        "relative_offset": number * RECORDS + RECORDS - 1,
        "position": number * BATCH_BYTES,
        "timestamp_ms": times_ms,
    }
    for layout, suffix in ((offset_index, ".index"), (time_index, ".timeindex")):
        slots = np.zeros(BATCHES, layout.ENTRY)
        for name in layout.ENTRY.names or ():
            slots[name] = entries[name]
        stem.with_suffix(suffix).write_bytes(layout.build(slots[1:]))


def write_log(path: Path, base_offset: int, times_ms: np.ndarray) -> None:
    """Writes valid batches with the same records of random bytes."""
    body = records()
    header = np.zeros(1, HEADER)
    header["last_offset_delta"], header["record_count"] = RECORDS - 1, RECORDS
    header["batch_length_bytes"], header["magic"] = BATCH_BYTES - LENGTH_END, 2
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    with open(path, "wb", buffering=64 * BATCH_BYTES) as out:
        for number, time_ms in enumerate(times_ms):
            header["base_offset"] = base_offset + number * RECORDS
            header["base_timestamp_ms"] = header["max_timestamp_ms"] = time_ms
            header["crc"] = crc32c(body, crc32c(header.tobytes()[CRC_START:]))
            out.write(header.tobytes() + body)


def records() -> bytes:
    """Returns the records that fill a batch."""
    left, built = BATCH_BYTES - HEADER.itemsize, b""
    random = np.random.default_rng(1).bytes(left)
    for delta in range(RECORDS):
        size = left // (RECORDS - delta)
        fitting = (
            record.build(
                [
                    record.Record(
                        offset_delta=delta, timestamp_delta_ms=0, key=None, value=random[:value]
                    )
                ]
            )
            for value in range(size, 0, -1)
        )
        built += next(piece for piece in fitting if len(piece) <= size)
        left = BATCH_BYTES - HEADER.itemsize - len(built)
    assert not left
    return built


def plainly(directory: Path) -> float:
    """Returns the seconds that the package's reader takes for all batch headers."""
    # compiles, and makes sure that the pages are there
    open_broker(directory).partitions[0].segments[0].batches()
    start = time.perf_counter()
    counts = [len(segment.batches()) for segment in open_broker(directory).partitions[0].segments]
    assert sum(counts) == SEGMENTS * BATCHES
    return time.perf_counter() - start


def ingest(directory: Path, *catalogs: Path) -> tuple[dict, int]:
    """Returns what INGEST prints for an ingest into each catalog in turn, and the peak memory of it
    and its descendants.
    """
    command = [sys.executable, "-c", INGEST, str(directory), *map(str, catalogs)]
    most_bytes = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.poll() is None:
            most_bytes = max(most_bytes, sum(map(share_bytes, family(process.pid))))
            time.sleep(LOOK_EVERY_S)
        return json.loads(process.stdout.read()), most_bytes


def family(root: int) -> Iterator[int]:
    """Returns a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(status.parent.name))
    waiting = [root]
    while waiting:
        yield (process := waiting.pop())
        waiting += children.get(process, [])


def share_bytes(process: int) -> int:
    """Returns the PSS of a process, or 0 after it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:")), 0)
