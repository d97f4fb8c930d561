"""The memory of `kafkaviz tune` per batch, and its time for a sample and for the whole log.

One segment of small batches is measured, and one of four times as many.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import row
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END

BATCH_BYTES = 101
COUNTS = (2_000_000, 8_000_000)
AT_ONCE = 100_000
SCRIPT = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, "
    "check=True); "
)
SCRIPT += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def run() -> list[str]:
    """Returns two rows: the memory at both sizes, and a sample against the whole log."""
    with tempfile.TemporaryDirectory() as folder:
        logs = [
            write(Path(folder) / f"orders-{number}", count) for number, count in enumerate(COUNTS)
        ]
        resident_bytes(logs[0])  # compiled once, kept on disk
        few, many = map(resident_bytes, logs)
        whole_s, whole_entries = tune(logs[1], "all")
        sample_s, entries = tune(logs[1], "128MiB")
    difference = 100 * abs(entries / whole_entries - 1)
    each = (many - few) / (COUNTS[1] - COUNTS[0])
    what = f"`kafkaviz tune`, a segment of {COUNTS[1] / 1e6:.0f} M batches of {BATCH_BYTES} B"
    return [
        row(
            f"{what}, `--sample all`, start included",
            f"{many / 2**20:.0f} MiB resident, {each:.0f} B for each further batch",
            f"one of {COUNTS[0] / 1e6:.0f} M batches, {few / 2**20:.0f} MiB",
            f"{many / few:.1f} ×",
        ),
        row(
            f"{what}, a sample of 128 MiB, start included",
            f"{sample_s:.1f} s of processor, entries {difference:.2g} % apart",
            f"`--sample all`, {whole_s:.1f} s of processor",
            f"{whole_s / sample_s:.1f} ×",
        ),
    ]


def tune(partition: Path, sample: str) -> tuple[float, int]:
    """Returns the processor time of `kafkaviz tune`, and the offset entries of a replay."""
    command = [sys.executable, "-m", "kafkaviz", "tune", str(partition), "--sample", sample]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run([*command, "--json"], capture_output=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(output)["current"]["replayed"]["offset_entries"]


def write(directory: Path, count: int) -> Path:
    """Writes a segment without indexes, whose batches have valid headers only; returns its
    directory.
    """
    directory.mkdir()
    data = np.zeros((AT_ONCE, BATCH_BYTES), np.uint8)
    with open(directory / "00000000000000000000.log", "wb") as log:
        for first in range(0, count, AT_ONCE):
            header = np.zeros(AT_ONCE, HEADER)
            header["base_offset"] = np.arange(first, first + AT_ONCE)
            header["batch_length_bytes"], header["magic"] = BATCH_BYTES - LENGTH_END, 2
            header["base_timestamp_ms"] = header["max_timestamp_ms"] = (
                1_790_000_000_000 + header["base_offset"]
            )
            header["record_count"], header["producer_id"] = 1, -1
            data[:, :HEADER_BYTES] = header.view(np.uint8).reshape(AT_ONCE, HEADER_BYTES)
            log.write(data.tobytes())
    return directory


def resident_bytes(partition: Path) -> int:
    """Returns the peak memory of a process of `kafkaviz tune`."""
    command = [
        sys.executable,
        "-c",
        SCRIPT,
        sys.executable,
        "-m",
        "kafkaviz",
        "tune",
        str(partition),
        "--sample",
        "all",
    ]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) * 1024
