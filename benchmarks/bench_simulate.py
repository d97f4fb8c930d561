"""1 GiB simulated on disk with real payload: seeded keys, values and headers, checksums, log and
indexes.

The rival makes the same batches record by record in Python, with format/ and a call per checksum.
The rows without payload are compared with the rows and payload.
"""

import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from crc32c import crc32c

from benchmarks import best, row
from kafkaviz.format import record
from kafkaviz.format.batch import BATCH, CRC_START, HEADER, HEADER_BYTES
from kafkaviz.simulate.appends import AppendChunk, DiscardedLogs
from kafkaviz.simulate.config import LogConfig, release_behaviour
from kafkaviz.simulate.producers.streams import chunks
from kafkaviz.simulate.producers.workload import Workload, load
from kafkaviz.simulate.writer.writer import UnifiedLog

LOG_BYTES, PLAIN_BYTES, ONE_RECORD_BATCHES = 1 << 30, 1 << 23, 10_000_000
KAFKA_4_3_1 = release_behaviour((4, 3, 1))
BATCHES_OF_1_KB = """
[[phase]]
bytes = {size_bytes}
bytes_per_s = 50000000
batch_bytes = 1050
value_bytes = 80
keys = {{ count = 100000, zipf = 1.0, prefix = "customer-" }}
idempotent = false
"""
ONE_RECORD = """
[[phase]]
batches = {batches}
batches_per_s = 1000000
idempotent = false
"""


class Files(DiscardedLogs):
    """The .log files in a folder, written sequentially."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._files, self._open = folder, {}, ExitStack()

    def append(self, base_offset: int, data: bytes | memoryview | None) -> None:
        """Appends like LogBytes."""
        if base_offset not in self._files:
            self._files[base_offset] = self._open.enter_context(
                (self._folder / f"{base_offset:020d}.log").open("wb")
            )
        self._files[base_offset].write(data)

    def close(self) -> None:
        self._open.close()


def run() -> list[str]:
    """Returns a row for the log on disk, one for the bytes alone, and one for the rows alone."""
    workload = load(BATCHES_OF_1_KB.format(size_bytes=LOG_BYTES))
    written(load(BATCHES_OF_1_KB.format(size_bytes=1 << 20)))  # compiles
    payload = best(lambda: streamed(workload), runs=3)
    disk = best(lambda: written(workload), runs=3)
    sample = list(
        chunks(load(BATCHES_OF_1_KB.format(size_bytes=PLAIN_BYTES)), LogConfig(), KAFKA_4_3_1)
    )
    rival = plainly(sample) * LOG_BYTES / PLAIN_BYTES
    bare = best(lambda: streamed(workload, payload=False), runs=3)
    single_load = load(ONE_RECORD.format(batches=ONE_RECORD_BATCHES))
    few = load(ONE_RECORD.format(batches=ONE_RECORD_BATCHES // 10))
    one_s, few_s = (
        best(lambda: streamed(single_load, payload=False), runs=3),
        best(lambda: streamed(few), runs=3),
    )
    name, plain = (
        "1 GiB of 1 KB batches, real payload",
        "the same records and batches by format/ and a call for each checksum",
    )
    return [
        row(f"{name}, with indexes, on disk", f"{disk:.1f} s", plain, f"{rival / disk:.0f} ×"),
        row(
            name,
            f"{payload:.1f} s, {LOG_BYTES / payload / 1e6:.0f} MB/s a core",
            plain,
            f"{rival / payload:.0f} ×",
        ),
        row(
            "rows of 1 GiB of 1 KB batches, no payload",
            f"{bare:.2f} s",
            "with payload",
            f"{payload / bare:.0f} ×",
        ),
        row(
            "rows of batches of one record, no payload",
            f"{ONE_RECORD_BATCHES / one_s / 1e6:.1f} M batches/s",
            "with payload",
            f"{10 * few_s / one_s:.1f} ×",
        ),
    ]


def streamed(workload: Workload, *, payload: bool = True) -> None:
    """Makes and drops every chunk."""
    for _ in chunks(workload, LogConfig(), KAFKA_4_3_1, payload=payload):
        pass


def written(workload: Workload) -> None:
    """Writes the same as a log, whose .log files go to disk; its indexes are small."""
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder))
        log = UnifiedLog(LogConfig(), KAFKA_4_3_1, now_ms=workload.start_ms, logs=files)
        for chunk in chunks(workload, LogConfig(), KAFKA_4_3_1):
            log.append(chunk.rows, chunk.data)
        files.close()


def plainly(sample: list[AppendChunk]) -> float:
    """Returns how long plain Python takes to rebuild some chunks from their rows and records."""
    elapsed_s = 0.0
    for chunk in sample:
        assert chunk.data is not None
        ends = np.cumsum(chunk.rows["size_bytes"]).tolist()
        for batch, end in zip(chunk.rows, ends, strict=True):
            body = chunk.data[end - int(batch["size_bytes"]) + HEADER_BYTES : end]
            rows = record.rows(body, int(batch["record_count"]))
            records = record.records_from_rows(body, rows)
            started = time.perf_counter()
            built(batch, record.build(records))
            elapsed_s += time.perf_counter() - started
    return elapsed_s


def built(batch: np.void, body: bytes) -> bytes:
    header = np.zeros(1, HEADER)
    for name in HEADER.names or ():
        if name in (BATCH.names or ()):
            header[name] = batch[name]
    header["batch_length_bytes"], header["last_offset_delta"] = (
        batch["size_bytes"] - 12,
        batch["last_offset"] - batch["base_offset"],
    )
    header["crc"] = crc32c(header.tobytes()[CRC_START:] + body)
    return header.tobytes() + body
