"""Measurements of this machine: reads from the page cache, page faults, and disk reads.

Each result also has a 90th percentile, which shows whether the machine was busy. On a busy machine
the median changes by half between runs.
"""

import ctypes
import json
import mmap
import os
import platform
import random
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.messages import Message, message
from kafkaviz.search.binary_search import PAGE_BYTES
from kafkaviz.simulate.directory.folder import resolve_output

FILE_BYTES = 64 << 20
HIT_SAMPLES = 200
HITS_PER_SAMPLE = 500
# the stride is larger than the range that one page fault maps
FAULT_SAMPLES = 20
FAULT_STRIDE = 1 << 20
READ_SAMPLES = 300
IN_MEMORY_US = 8.0  # a faster read came from memory, whatever the disk is
BUSY_P90_FACTOR = 3.0  # if a 90th percentile exceeds this many medians, the machine is busy
NAME = "calibration.json"
CACHED_READ_NAMES = ("pread_17_us", "pread_61_us")
OPTIONAL_NAMES = ("random_read_us", "minor_fault_us")


def calibration_path() -> Path:
    return archive.cache_folder() / NAME


def load_calibration() -> dict | None:
    """Returns the last calibration that was saved, or None.

    Raises:
        CannotOpen: the file is not a calibration, or lacks numbers.
    """
    path = calibration_path()
    try:
        calibration = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        calibration = None
    if not _is_calibration(calibration):
        raise CannotOpen(path, message("errors.is_no_calibration"), message("errors.measure_again"))
    return calibration


def _is_calibration(calibration: object) -> bool:
    if not isinstance(calibration, dict) or not isinstance(calibration.get("measured_at"), str):
        return False
    optional = [name for name in OPTIONAL_NAMES if calibration.get(name) is not None]
    measures = [calibration.get(name) for name in (*CACHED_READ_NAMES, *optional)]
    return all(
        isinstance(measure, dict) and isinstance(measure.get(name), int | float)
        for measure in measures
        for name in ("min", "median", "p90")
    )


def save_calibration(calibration: Mapping) -> Path:
    """Writes a calibration to the file that `load_calibration` reads, and returns the path.

    Raises:
        CannotOpen: the cache folder cannot be written.
    """
    path = calibration_path()
    with file.translate_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        new_path = path.with_suffix(".new")
        new_path.write_text(json.dumps(calibration, indent=1, default=str) + "\n")
        new_path.replace(path)
    return path


def measure(folder: Path | None = None, file_bytes: int = FILE_BYTES) -> dict:
    """Measures this machine with a file in `folder`, which is on the disk to measure.

    Measurements are {min, median, p90, samples} in µs. `random_read_us` is None if the reads came
    from memory, as on a tmpfs, or if the system lacks posix_fadvise.

    Raises:
        CannotOpen: the folder does not exist, belongs to a Kafka directory, or cannot be written.
    """
    folder = resolve_output(folder or archive.cache_folder())
    if not folder.is_dir() and folder != archive.cache_folder():
        raise CannotOpen(folder, message("errors.is_no_folder"), kind="missing")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        file.translate_os_errors(folder),
        tempfile.TemporaryFile(dir=folder, prefix=".kafkaviz-calibrate-") as scratch_file,
    ):
        descriptor = scratch_file.fileno()
        _write_random_bytes(descriptor, file_bytes)
        hits = {
            size: _measure_cached_reads(descriptor, file_bytes, size)
            for size in (MAGIC_END, HEADER_BYTES)
        }
        fault = _measure_page_faults(descriptor, file_bytes)
        random_read, notes = _measure_device_reads(descriptor, file_bytes)
    highest = max(each["p90"] / each["median"] for each in (*hits.values(), fault))
    if highest > BUSY_P90_FACTOR:
        notes = [message("calibration.busy", times=highest), *notes]
    machine = {
        "processors": os.cpu_count(),
        "architecture": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
    }
    return {
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "folder": str(folder),
        "machine": machine,
        **{f"pread_{size}_us": measure for size, measure in hits.items()},
        "minor_fault_us": fault,
        "random_read_us": random_read,
        "file_bytes": file_bytes,
        "notes": notes,
    }


def _write_random_bytes(descriptor: int, size_bytes: int) -> None:
    """Fills a file with random bytes. A file system could compress other bytes."""
    chunk = random.Random(1).randbytes(1 << 20)
    for _ in range(-(-size_bytes // len(chunk))):
        os.write(descriptor, chunk)
    os.fsync(descriptor)


def _measure_cached_reads(descriptor: int, size_bytes: int, read_bytes: int) -> dict:
    """Measures reads from the page cache (pread) at random positions, in a compiled loop."""
    from kafkaviz.binary.lazy_njit import njit

    pread = ctypes.CDLL(None, use_errno=True).pread
    pread.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)
    pread.restype = ctypes.c_ssize_t

    def read_many(descriptor, address, positions, read_bytes):
        total = 0
        for position in positions:
            total += pread(descriptor, address, read_bytes, position)
        return total

    compiled_reads = njit()(read_many)
    buffer = np.zeros(read_bytes, np.uint8)
    positions_of_samples = np.random.default_rng(1).integers(
        0, size_bytes - read_bytes, (HIT_SAMPLES, HITS_PER_SAMPLE)
    )
    compiled_reads(descriptor, buffer.ctypes.data, positions_of_samples[0], read_bytes)
    timings_us = []
    for positions in positions_of_samples:
        start_ns = time.perf_counter_ns()
        compiled_reads(descriptor, buffer.ctypes.data, positions, read_bytes)
        timings_us.append((time.perf_counter_ns() - start_ns) / 1000 / HITS_PER_SAMPLE)
    return _summarize_timings(timings_us)


def _measure_page_faults(descriptor: int, size_bytes: int) -> dict:
    """Measures minor page faults: first accesses to mapped pages that are in the page cache."""
    timings_us = []
    for _ in range(FAULT_SAMPLES):
        with mmap.mmap(descriptor, size_bytes, mmap.MAP_SHARED, mmap.PROT_READ) as mapping:
            page_starts = np.frombuffer(mapping, np.uint8)[::FAULT_STRIDE]
            start_ns = time.perf_counter_ns()
            page_starts.sum()
            timings_us.append((time.perf_counter_ns() - start_ns) / 1000 / len(page_starts))
            del page_starts
    return _summarize_timings(timings_us)


def _measure_device_reads(descriptor: int, size_bytes: int) -> tuple[dict | None, list[Message]]:
    """Measures reads of 4 KiB that are not in the page cache.

    Returns the measurement and notes for the user. The measurement is None if the reads came from
    memory, or if the system lacks posix_fadvise.
    """
    if not hasattr(os, "posix_fadvise"):
        return None, [message("calibration.cannot_drop")]
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    pages = size_bytes // PAGE_BYTES
    page_numbers = random.Random(2).sample(range(pages), min(READ_SAMPLES, pages))
    timings_us = []
    for page in page_numbers:
        start_ns = time.perf_counter_ns()
        os.pread(descriptor, PAGE_BYTES, page * PAGE_BYTES)
        timings_us.append((time.perf_counter_ns() - start_ns) / 1000)
    measure = _summarize_timings(timings_us)
    if measure["median"] < IN_MEMORY_US:
        return None, [message("calibration.stayed_in_memory")]
    return measure, [message("calibration.cache_below")]


def _summarize_timings(timings_us: list[float]) -> dict:
    low, median, p90 = (round(us, 3) for us in np.percentile(timings_us, (0, 50, 90)).tolist())
    return {"min": low, "median": median, "p90": p90, "samples": len(timings_us)}
