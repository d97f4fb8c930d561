"""An ingest by codec and batch size: processor seconds per GB of stored .log.

It is a whole ingest in one process, without Spark, of one segment: 512 MiB of records in batches of
16 KB, or 128 MiB in batches of 1 KB. It is measured without findings, and with findings at each
level of checks. The rival is the deep scan of the same log, which makes neither rows nor findings.
"""

import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from benchmarks import best, row
from benchmarks.bench_deep_scan import BATCHES, batch, scanned, write
from kafkaviz.__main__ import main
from kafkaviz.binary import codec
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.pipeline.ingest import job
from tests.support.ingest import without_spark

RECORDS_BYTES = {16 << 10: 512 << 20, 1 << 10: 128 << 20}
RUNS = 2


def run() -> list[str]:
    """Returns a row per codec and batch size."""
    with pytest.MonkeyPatch.context() as patched:
        without_spark(patched)
        return [
            measure(name, batch_bytes) for batch_bytes in RECORDS_BYTES for name in codec.CODECS
        ]


def measure(name: str, batch_bytes: int) -> str:
    records_bytes = RECORDS_BYTES[batch_bytes]
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "broker"
        log = write_broker(directory, name, batch_bytes, records_bytes)
        log_gb = log.stat().st_size / 1e9
        rows_s, headers_s, crc_s, records_s = (
            ingest_s(directory, Path(folder), level) / log_gb for level in (None, *CheckLevel)
        )
        scan_s = best(lambda: scanned(log), RUNS, time.process_time) / log_gb
    share = f"{1e11 * log_gb / records_bytes:.0f} %"
    return row(
        f"ingest in one process, {name}, batches of {batch_bytes >> 10} KB, `.log` {share} of the "
        "records",
        f"rows {rows_s:.2f}, headers {headers_s:.2f}, crc {crc_s:.2f}, "
        f"records {records_s:.2f} s/GB",
        f"the deep scan alone, {scan_s:.2f} s/GB",
        f"{scan_s / records_s:.2f} ×",
    )


def write_broker(directory: Path, name: str, batch_bytes: int, records_bytes: int) -> Path:
    """Writes a broker directory with one segment and recovered indexes; returns its .log."""
    partition, rebuilt = directory / "bench-0", directory.parent / "rebuilt"
    partition.mkdir(parents=True)
    (directory / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=benchmarks\n")
    (directory / ".kafka_cleanshutdown").touch()
    log = partition / f"{0:020}.log"
    batches = [batch(number, name, batch_bytes) for number in range(BATCHES)]
    write(log, batches, records_bytes // batch_bytes)
    with redirect_stdout(StringIO()):
        assert main(["rebuild", str(log), "--out", str(rebuilt)]) == 0
    for file in rebuilt.rglob("*index"):
        file.rename(partition / file.name)
    return log


def ingest_s(directory: Path, folder: Path, level: CheckLevel | None) -> float:
    """Returns the processor seconds of a first ingest.

    Args:
        level: None for no findings.
    """

    def ingest() -> None:
        with tempfile.TemporaryDirectory(dir=folder) as catalog:
            job.start_ingest(
                [directory],
                catalog,
                findings=level is not None,
                level=level or CheckLevel.RECORDS,
            ).wait()

    return best(ingest, RUNS, time.process_time)
