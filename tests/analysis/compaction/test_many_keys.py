"""The memory of a cleaning with far more keys than the offset map takes."""

import json
import resource
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from crc32c import crc32c

from kafkaviz.format import record
from kafkaviz.format.record import Record
from tests.pipeline import whole_logs

KEYS = 50_000_000
BATCH_RECORDS = 2000
KEY_BYTES = 16
VALUE_BYTES = 192
CRC_POSITION = 17
CHECKED_FROM = 21  # a batch's checksum covers the bytes from here on
SEGMENT_BYTES = 1 << 30
NOW_MS = 1_764_000_000_000
MOST_BYTES = 1_500_000_000
# log.cleaner.dedupe.buffer.size of 128 MiB, 24 bytes per key, load factor 0.9
MAP_KEYS = 5_033_164
DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


@pytest.mark.nightly
def test_fifty_million_keys_in_ten_gibibytes(tmp_path):
    partition = tmp_path / "profiles-0"
    try:
        log_bytes = write_log(partition)
        assert log_bytes > 10 << 30
        command = [sys.executable, "-m", "kafkaviz", "compaction", str(partition), "--json"]
        arguments = ["--set", "cleanup.policy=compact", "--now", str(NOW_MS)]
        result = subprocess.run([*command, *arguments], capture_output=True, check=True)
    finally:
        shutil.rmtree(partition, ignore_errors=True)
    (log,) = json.loads(result.stdout)["partitions"]
    assert log["cleaned"]["map_keys"] == MAP_KEYS
    assert log["cleaned"]["passes"] == -(-KEYS // MAP_KEYS)
    assert log["cleaned"]["removed_records"] == 0
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MOST_BYTES


def write_log(folder: Path) -> int:
    """Writes a log of KEYS records with different keys, and returns its size in bytes."""
    folder.mkdir()
    batch, places = batch_template()
    data = np.frombuffer(batch, np.uint8)
    nibbles = np.arange(60, -1, -4, dtype=np.uint64)
    segment_batches = SEGMENT_BYTES // len(batch)
    for first_offset in range(0, KEYS, segment_batches * BATCH_RECORDS):
        stop_offset = min(first_offset + segment_batches * BATCH_RECORDS, KEYS)
        with (folder / f"{first_offset:020}.log").open("wb") as log:
            for base_offset in range(first_offset, stop_offset, BATCH_RECORDS):
                # the multiplier is odd, so all products are different
                numbers = np.arange(base_offset, base_offset + BATCH_RECORDS, dtype=np.uint64)
                keys = numbers * np.uint64(0x9E3779B97F4A7C15)
                data[places] = DIGITS[(keys[:, None] >> nibbles & np.uint64(15)).astype(np.int64)]
                struct.pack_into(">q", batch, 0, base_offset)
                checksum = crc32c(memoryview(batch)[CHECKED_FROM:])
                struct.pack_into(">I", batch, CRC_POSITION, checksum)
                log.write(batch)
    (folder / f"{KEYS:020}.log").touch()  # the active segment
    return sum(log.stat().st_size for log in folder.iterdir())


def batch_template() -> tuple[bytearray, np.ndarray]:
    """Returns a batch, and the places of the bytes of its keys, shape (records, KEY_BYTES)."""
    keys = [b"%016d" % delta for delta in range(BATCH_RECORDS)]
    body = record.build(
        Record(offset_delta=delta, timestamp_delta_ms=0, key=key, value=bytes(VALUE_BYTES))
        for delta, key in enumerate(keys)
    )
    batch = bytearray(whole_logs.framed(0, body, [NOW_MS] * BATCH_RECORDS))
    return batch, np.add.outer([batch.index(key) for key in keys], np.arange(KEY_BYTES))
