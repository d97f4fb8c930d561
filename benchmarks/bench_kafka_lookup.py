"""The times that `tune` predicts for a lookup, against Kafka's own LogSegment in the same run.

The logs have one record per batch, and everything is in the page cache. The model predicts
translateOffset, once with its presets and once with this machine's reads, measured in the same run.
No page predicts findOffsetByTimestamp; its time is shown for comparison. The class paths that `make
bench-kafka` writes are needed: KAFKA_STORAGE, and one per release of KAFKA_RELEASES.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import row
from kafkaviz import versions
from kafkaviz.analysis.cost import calibration as calibrations
from kafkaviz.analysis.cost.cost_model import LookupCosts, lookup_costs
from kafkaviz.format import offset_index, record, time_index
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.format.record import Record

LOG_BYTES = 256 << 20
BATCH_BYTES = (97, 1024, 16_384)
INTERVALS_BYTES = (1024, 4096, 65_536)
TARGETS, AT_ONCE = 500, 8192
FIRST_MS = 1_790_000_000_000
PROGRAM = Path(__file__).parent / "kafka" / "LookupTimes.java"


def run() -> list[str]:
    """Returns a row per release, batch size and interval; none without Kafka's classes."""
    if not shutil.which("java") or not os.environ.get("KAFKA_STORAGE"):
        return []
    rows, calibration = [], calibrations.measure()
    with tempfile.TemporaryDirectory() as folder:
        for batch_bytes in BATCH_BYTES:
            log = Path(folder) / f"orders-{batch_bytes}"
            count = write_log(log, batch_bytes)
            targets = np.random.default_rng(1).integers(0, count, TARGETS)
            for interval_bytes in INTERVALS_BYTES:
                step = write_indexes(log, batch_bytes, interval_bytes, count)
                headers = targets % step + 1
                rows += [
                    measure(
                        f"Kafka {release}, batches of {batch_bytes} B, `index.interval.bytes` "
                        f"{interval_bytes}, {np.median(headers):.0f} headers",
                        headers,
                        both_costs(release, calibration),
                        time_lookups(log, release, "offset", targets),
                        time_lookups(log, release, "timestamp", FIRST_MS + targets),
                    )
                    for release in os.environ["KAFKA_RELEASES"].split()
                ]
    return rows


def measure(
    log: str,
    headers: np.ndarray,
    costs: Sequence[LookupCosts],
    offset_us: Sequence[float],
    timestamp_us: Sequence[float],
) -> str:
    """Returns the row of a release and a log: the medians of the same targets.

    Args:
        headers: how many headers the lookup of each offset reads.
        costs: the preset costs and the calibrated ones.
    """
    preset_us, calibrated_us = (
        float(np.median([each.warm_us(int(count)).typical for count in headers])) for each in costs
    )
    kafka_us = float(np.median(offset_us))
    return row(
        f"a lookup's price, {log}",
        f"{calibrated_us:.1f} µs calibrated, {preset_us:.1f} µs preset",
        f"`LogSegment.translateOffset`, {kafka_us:.1f} µs; `findOffsetByTimestamp`, "
        f"{np.median(timestamp_us):.1f} µs",
        f"{calibrated_us / kafka_us:.2f} ×",
    )


def both_costs(release: str, calibration: Mapping) -> tuple[LookupCosts, LookupCosts]:
    """Returns the preset costs of a release, and those with this machine's own reads."""
    by_base_offset = versions.search_profile(release).by_base_offset
    return (
        lookup_costs(by_base_offset=by_base_offset),
        lookup_costs(by_base_offset=by_base_offset, calibration=calibration),
    )


def time_lookups(log: Path, release: str, kind: str, targets: np.ndarray) -> list[float]:
    """Returns the µs of each lookup."""
    class_path = Path(f"{os.environ['KAFKA_STORAGE']}-{release}").read_text(encoding="utf-8")
    command = ["java", "-Xmx1g", "-cp", class_path.strip(), str(PROGRAM), str(log), "0", kind]
    lines = "".join(f"{target}\n" for target in targets)
    result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [int(line) / 1000 for line in result.stdout.split()]


def write_log(directory: Path, batch_bytes: int) -> int:
    """Writes a .log of batches of one record, without checksums; returns their number."""
    directory.mkdir()
    count, payload = LOG_BYTES // batch_bytes, record_of(batch_bytes - HEADER_BYTES)
    with open(directory / f"{0:020d}.log", "wb") as log:
        for first in range(0, count, AT_ONCE):
            header = np.zeros(min(AT_ONCE, count - first), HEADER)
            header["base_offset"] = np.arange(first, first + len(header))
            header["batch_length_bytes"], header["magic"] = batch_bytes - LENGTH_END, 2
            header["base_timestamp_ms"] = header["max_timestamp_ms"] = (
                FIRST_MS + header["base_offset"]
            )
            header["record_count"], header["producer_id"] = 1, -1
            data = np.empty((len(header), batch_bytes), np.uint8)
            data[:, :HEADER_BYTES] = header.view(np.uint8).reshape(-1, HEADER_BYTES)
            data[:, HEADER_BYTES:] = np.frombuffer(payload, np.uint8)
            log.write(data.tobytes())
    return count


def record_of(size_bytes: int) -> bytes:
    """Returns the first record of a batch, whose value has the length that fills it."""
    empty = Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=b"")
    records = (record.build([replace(empty, value=bytes(count))]) for count in range(size_bytes))
    return next(data for data in records if len(data) == size_bytes)


def write_indexes(directory: Path, batch_bytes: int, interval_bytes: int, count: int) -> int:
    """Writes both indexes as a leader that appends batch by batch; returns the batches per entry.

    An entry comes before a batch if more than the interval was written since the last entry.
    """
    step = interval_bytes // batch_bytes + 1
    batches = np.arange(step, count, step)
    offset_entries = np.zeros(len(batches), offset_index.ENTRY)
    offset_entries["relative_offset"], offset_entries["position"] = batches, batches * batch_bytes
    time_entries = np.zeros(len(batches), time_index.ENTRY)
    time_entries["timestamp_ms"], time_entries["relative_offset"] = FIRST_MS + batches, batches
    offset_entries.tofile(directory / f"{0:020d}.index")
    time_entries.tofile(directory / f"{0:020d}.timeindex")
    return step
