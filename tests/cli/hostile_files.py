"""Hostile files of a few bytes, and commands run under limits of memory and processor time."""

import json
import os
import resource
import struct
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

import crc32c
import numpy as np
import pyarrow as pa

from kafkaviz.format import record
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END

# of address space: a third of it is what the libraries map
MEMORY_BYTES, CPU_S, WALL_S = 2_500_000_000, 120, 500
TINY = b"\x0c\x00\x00\x00\x01\x01\x00"  # a record of no key and no value
MILLIONS = (255 << 20) // len(TINY)  # the limit of decompression: 38 198 125
NAME = f"{0:020d}"
GOOD = record.build([record.Record(offset_delta=0, timestamp_delta_ms=0, key=b"k", value=b"v")])
TIME_MS = 1_790_000_000_000
PROPERTIES = (
    "version=1\nnode.id=1\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\ndirectory.id=BBBBBBBBBBBBBBBBBBBBBA\n"
)


@cache
def tiny_records(count: int = MILLIONS) -> bytes:
    return pa.compress(TINY * count, "zstd", asbytes=True)


def batch(
    body: bytes = GOOD,
    count: int = 1,
    base_offset: int = 0,
    attributes: int = 0,
    time_ms: int = TIME_MS,
    **fields: int,
) -> bytes:
    """Returns a batch of magic 2. `attributes`: the codec, 0x10 transactional, 0x20 control."""
    header = np.zeros(1, HEADER)
    values = {
        "magic": 2,
        "last_offset_delta": count - 1,
        "record_count": count,
        "base_offset": base_offset,
        "attributes": attributes,
    }
    values |= {
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "base_timestamp_ms": time_ms,
        "max_timestamp_ms": time_ms,
    }
    values |= {"batch_length_bytes": HEADER_BYTES + len(body) - LENGTH_END}
    for name, value in (values | fields).items():
        header[name] = value
    start = HEADER.fields["attributes"][1]
    header["crc"] = crc32c.crc32c(body, crc32c.crc32c(header.tobytes()[start:]))
    return header.tobytes() + body


def tiny_batch(count: int = MILLIONS, **fields: int) -> bytes:
    return batch(tiny_records(count), count, **({"attributes": 4} | fields))


def wrapper(count: int) -> bytes:
    def message(value: bytes, attributes: int) -> bytes:
        body = (
            struct.pack(">bbqi", 1, attributes, TIME_MS, -1) + struct.pack(">i", len(value)) + value
        )
        return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body

    packed = zlib.compressobj(1, zlib.DEFLATED, 31)
    return message(packed.compress(message(b"", 0) * count) + packed.flush(), 1)


def broker(root: Path, log: bytes = b"", **files: bytes) -> Path:
    """Returns a broker directory with t-0, whose files are given by suffix."""
    (root / "t-0").mkdir(parents=True)
    (root / "meta.properties").write_text(PROPERTIES)
    for suffix, data in ({"log": log or batch(), "index": b"", "timeindex": b""} | files).items():
        (root / "t-0" / f"{NAME}.{suffix}").write_bytes(data)
    return root


def sparse(path: Path, size_bytes: int, end: bytes = b"") -> None:
    """Creates a sparse file of that size, which takes a few KB on disk."""
    with path.open("wb") as file:
        file.truncate(size_bytes)
        file.seek(size_bytes - len(end))
        file.write(end)


def run(
    *arguments: str | Path, memory_bytes: int = MEMORY_BYTES, out: int = subprocess.PIPE
) -> subprocess.CompletedProcess:
    """Runs kafkaviz, and kills it beyond the limits of memory or processor time."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))

    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_DEFAULT_MEMORY_POOL"), "1"
    ) | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    return subprocess.run(
        [sys.executable, "-m", "kafkaviz", *map(str, arguments)],
        stdout=out,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        preexec_fn=limit,
        timeout=WALL_S,
        env=os.environ | threads,
        check=False,
    )


def findings(root: Path) -> dict[tuple[str, str | None], dict]:
    done = run("check", root, "--json")
    # a check of some seconds says how far it is
    errors = [line for line in done.stderr.splitlines() if not line.startswith(b"reading ")]
    assert (errors, done.returncode in (0, 1)) == ([], True)
    return {
        (finding["code"], finding["file"]): finding
        for finding in json.loads(done.stdout)["findings"]
    }
