"""The deep scan: every checksum and every record of batches in the page cache, by codec.

Uncompressed, 1 GiB of 1 KB batches is compared with kafka-dump-log --deep-iteration and with a loop
of one call per batch. For each codec, 64 MiB of uncompressed data in batches of 16 KB and 1 KB is
compared with Kafka's tool and with a loop that only calls the codec's library. A process switches
to the compiled decompressors after some thousand batches, so the first scans are not measured.
bench_walk.py says what Kafka's tool needs. The Rust crate kafka-protocol is measured if
KAFKA_PROTOCOL is the path of the program of rust/.
"""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from random import Random

import numpy as np

from benchmarks import best, row
from benchmarks.bench_walk import can_dump, dumped
from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.decoders import runs
from kafkaviz.format import record
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.format.deep_scan import DeepScan
from kafkaviz.log import file

LOG_BYTES, PACKED_BYTES = 1 << 30, 1 << 26
RECORD_BYTES = 110
BATCHES = 2048  # different ones; the log repeats them at other offsets, which no checksum covers
WORDS = (
    "order",
    "payment",
    "invoice",
    "customer",
    "shipped",
    "cancelled",
    "pending",
    "EUR",
    "USD",
    "berlin",
    "madrid",
    "oslo",
)


def run() -> list[str]:
    """Returns a row per rival and codec: the uncompressed bytes read per second."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "00000000000000000000.log"
        rows += measured(log, "none", 1024, LOG_BYTES)
        rows += measured(log, "none", 16384, LOG_BYTES)
        for batch_bytes in (16384, 1024):
            for name in codec.CODECS[1:]:
                rows += measured(log, name, batch_bytes, PACKED_BYTES)
    return rows


def measured(log: Path, name: str, batch_bytes: int, log_bytes: int) -> list[str]:
    """Returns the rows of one codec and one batch size."""
    batches = [batch(number, name, batch_bytes) for number in range(BATCHES)]
    count = log_bytes // batch_bytes
    write(log, batches, count)
    counts = scanned(log)
    assert counts[0] == count
    for _ in range(runs.LIBRARY_RANGES // count + 1):
        scanned(log)
    scan, busy = best(lambda: scanned(log)), best(lambda: scanned(log), clock=time.process_time)
    size = f"{log_bytes >> 20} MiB of {batch_bytes >> 10} KB batches, {RECORD_BYTES} B records"
    what, speed = f"deep scan, {name}, {size}", f"{log_bytes / scan / 1e9:.2f} GB/s a core"
    processor = f"{log_bytes / busy / 1e9:.2f} GB/s a core, processor time"
    if name == "none":
        rival = best(lambda: one_by_one(log, count), runs=1)
        rows = [
            row(
                what,
                speed,
                "a call for each checksum and for the records of each batch",
                f"{rival / scan:.0f} ×",
            )
        ]
    else:
        alone = best(lambda: decompressed(batches, name, count), clock=time.process_time)
        rows = [
            row(what, processor, "a call of its library for each batch", f"{alone / busy:.2f} ×")
        ]
    if "KAFKA_PROTOCOL" in os.environ:
        rust = decoded(log, counts)
        rows.append(
            row(
                what,
                processor,
                f"the Rust crate `kafka-protocol` 0.18.0, {rust:.2f} s",
                f"{rust / busy:.2f} ×",
            )
        )
    if can_dump():
        tool = best(lambda: dumped(log, "--deep-iteration"), runs=1)
        rows.append(
            row(
                what,
                speed,
                f"`kafka-dump-log --deep-iteration` 4.3.1, {tool:.1f} s",
                f"{tool / scan:.0f} ×",
            )
        )
    return rows


def batch(number: int, name: str, batch_bytes: int) -> bytes:
    """Returns a valid batch of records of 110 bytes that look like JSON, of a given size before
    compression.
    """
    random = Random(number)
    count = (batch_bytes - HEADER_BYTES) // RECORD_BYTES
    last = batch_bytes - HEADER_BYTES - (count - 1) * RECORD_BYTES
    plain = b"".join(
        encode_record(random, delta, RECORD_BYTES if delta < count - 1 else last)
        for delta in range(count)
    )
    body = plain if name == "none" else codec.compress(name, plain)
    header = np.zeros(1, HEADER)
    header["batch_length_bytes"], header["magic"], header["attributes"] = (
        HEADER_BYTES + len(body) - LENGTH_END,
        2,
        codec.CODECS.index(name),
    )
    header["record_count"], header["last_offset_delta"] = count, count - 1
    header["base_timestamp_ms"] = header["max_timestamp_ms"] = 1_790_000_000_000 + number
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    header["crc"] = crc32c(header.tobytes()[CRC_START:] + body)
    return header.tobytes() + body


def encode_record(random: Random, delta: int, size_bytes: int) -> bytes:
    """Returns a record of a given size, with a key of 16 bytes."""
    value = json.dumps(
        {
            "id": random.randrange(1 << 30),
            "kind": random.choice(WORDS),
            "sum": random.randrange(10_000),
        }
    )
    while len(value) < size_bytes:
        value += random.choice(WORDS)
    key = f"{random.randrange(1 << 60):016x}".encode()
    sizes = (size_bytes - overhead for overhead in range(len(key) + record.MIN_BYTES, size_bytes))
    fitting = (
        record.build(
            [
                record.Record(
                    offset_delta=delta, timestamp_delta_ms=0, key=key, value=value[:size].encode()
                )
            ]
        )
        for size in sizes
    )
    return next(built for built in fitting if len(built) <= size_bytes)


def write(log: Path, batches: list[bytes], count: int) -> None:
    """Writes the batches repeatedly, each at its own offset."""
    joined = np.frombuffer(b"".join(batches), np.uint8).copy()
    starts = np.cumsum([0] + [len(batch) for batch in batches[:-1]])
    records = np.array(
        [int.from_bytes(batch[HEADER_BYTES - 4 : HEADER_BYTES], "big") for batch in batches]
    )
    offsets = np.cumsum(records) - records
    with open(log, "wb") as out:
        for part in range(count // len(batches)):
            moved = (offsets + part * records.sum()).astype(">i8").view(np.uint8).reshape(-1, 8)
            joined[starts[:, None] + np.arange(8)] = moved
            out.write(joined.data)


def scanned(log: Path) -> tuple[int, int, int]:
    """Returns the counts of batches, records and bytes of values that the package's scan finds."""
    size, counts = log.stat().st_size, np.zeros(3, np.int64)
    with file.reader(log) as read:
        for batches in DeepScan(read, 0, size):
            counts += (
                len(batches),
                batches["records_read"].sum(),
                batches["value_bytes"].sum(),
            )
            assert batches["crc_valid"].all() and not batches["fault"].any()
    return tuple(counts.tolist())


def decoded(log: Path, counts: tuple[int, int, int]) -> float:
    """Returns the processor's seconds of the Rust crate, which finds the same.

    The file is in its memory before its clock starts.
    """
    command = [os.environ["KAFKA_PROTOCOL"], str(log), "5"]
    *printed_counts, seconds = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.split()
    assert tuple(map(int, printed_counts)) == counts
    return float(seconds)


def one_by_one(log: Path, count: int) -> None:
    """Calls the library's checksum and the package's records from Python, batch by batch."""
    with open(log, "rb") as source:
        for _ in range(count):
            header = source.read(HEADER_BYTES)
            fields = np.frombuffer(header, HEADER)[0]
            body = source.read(int(fields["batch_length_bytes"]) + LENGTH_END - HEADER_BYTES)
            assert crc32c(body, crc32c(header[CRC_START:])) == fields["crc"]
            record.rows(body, int(fields["record_count"]))


def decompressed(batches: list[bytes], name: str, count: int) -> None:
    """Does only what every reader of these batches must do."""
    for _ in range(count // len(batches)):
        for batch in batches:
            codec.decompress(name, memoryview(batch)[HEADER_BYTES:])
