"""A lookup in 1 GiB of 8 KB batches, with every step kept, against reading the headers from byte 0.

The start of the command line is measured too.
"""

import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import best, row
from kafkaviz import versions
from kafkaviz.analysis.lookup.json_object import lookup_object
from kafkaviz.analysis.lookup.served_log import open_log
from kafkaviz.analysis.opened_path import open_path
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.format.walk import Walk
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.lookup import lookup_in_view

LOG_BYTES, BATCH_BYTES, RECORDS = 1 << 30, 8192, 127
BATCHES = LOG_BYTES // BATCH_BYTES
FIRST_MS = 1_790_000_000_000
RUNS = 30


def run() -> list[str]:
    """Returns a row per kind of lookup, and one for a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "orders-0"
        write(directory)
        offset, segment = (
            BATCHES * RECORDS * 7 // 10,
            open_log(open_path(directory, "4.3.1")).segments[0],
        )
        read_headers(segment, offset)  # compiles
        linear = best(lambda: read_headers(segment, offset), 3)
        what = (
            f"lookup of {{}}, 1 GiB of {BATCH_BYTES // 1024} KB batches, every step kept and made "
            "into JSON"
        )
        rows = []
        for name, find in (
            ("an offset", partial(lookup_in_view, offset=offset)),
            ("a timestamp", partial(lookup_in_view, timestamp_ms=FIRST_MS + offset)),
        ):
            lookup_s = best(
                lambda find=find: lookup_object(
                    find(open_log(open_path(directory, "4.3.1")), versions.search_profile())
                ),
                RUNS,
            )
            rows.append(
                row(
                    what.format(name),
                    f"{1e3 * lookup_s:.1f} ms",
                    "all headers before it, compiled",
                    f"{linear / lookup_s:.0f} ×",
                )
            )
        command = [
            sys.executable,
            "-m",
            "kafkaviz",
            "lookup",
            str(directory),
            "--offset",
            str(offset),
            "--json",
        ]
        command_s, numpy = (
            best(lambda: started(command), 5),
            best(lambda: started([sys.executable, "-c", "import numpy"]), 5),
        )
    return [
        *rows,
        row(
            "`kafkaviz lookup`, the whole process",
            f"{command_s:.2f} s",
            "a process that imports numpy",
            f"{numpy / command_s:.2f} ×",
        ),
    ]


def read_headers(segment: SegmentView, offset: int) -> None:
    """Reads all headers from byte 0 to the batch that ends at an offset or after it."""
    with segment.log.open_reader() as read:
        for batches in Walk(read, 0, segment.size_bytes):
            if (batches["last_offset"] >= offset).any():
                return


def write(directory: Path) -> None:
    """Writes a segment with an index entry per batch.

    The first record of a batch is padding; the others have one byte.
    """
    directory.mkdir()
    number = np.arange(BATCHES)
    header = np.zeros(BATCHES, HEADER)
    header["base_offset"], header["last_offset_delta"], header["record_count"] = (
        number * RECORDS,
        RECORDS - 1,
        RECORDS,
    )
    header["batch_length_bytes"], header["magic"], header["producer_id"] = (
        BATCH_BYTES - LENGTH_END,
        2,
        -1,
    )
    header["base_timestamp_ms"] = FIRST_MS + header["base_offset"]
    header["max_timestamp_ms"] = header["base_timestamp_ms"] + RECORDS - 1
    body = np.frombuffer(records(BATCH_BYTES - HEADER_BYTES), np.uint8)
    with open(directory / f"{0:020}.log", "wb") as log:
        for start in range(0, BATCHES, 1024):
            part = np.empty((len(header[start : start + 1024]), BATCH_BYTES), np.uint8)
            part[:, :HEADER_BYTES] = (
                header[start : start + 1024].view(np.uint8).reshape(len(part), -1)
            )
            part[:, HEADER_BYTES:] = body
            log.write(part.data)
    offsets, times = (
        np.empty(BATCHES - 1, offset_index.ENTRY),
        np.empty(BATCHES - 1, time_index.ENTRY),
    )
    offsets["relative_offset"], offsets["position"] = (
        number[1:] * RECORDS + RECORDS - 1,
        number[1:] * BATCH_BYTES,
    )
    times["timestamp_ms"], times["relative_offset"] = (
        header["max_timestamp_ms"][1:],
        offsets["relative_offset"],
    )
    (directory / f"{0:020}.index").write_bytes(offset_index.build(offsets))
    (directory / f"{0:020}.timeindex").write_bytes(time_index.build(times))


def records(size_bytes: int) -> bytes:
    """Returns records with consecutive offsets and times, and values that fill the room."""
    body = b""
    for delta in range(RECORDS):
        room = (size_bytes - len(body)) // (RECORDS - delta)
        value_bytes = next(left for left in range(room, -1, -1) if len(record(delta, left)) <= room)
        body += record(delta, value_bytes)
    return body + bytes(size_bytes - len(body))


def record(delta: int, value_bytes: int) -> bytes:
    """Returns a record with its length, without key and headers, and with a value of zeros."""
    inside = (
        b"\0" + varint(delta) * 2 + varint(-1) + varint(value_bytes) + bytes(value_bytes) + b"\0"
    )
    return varint(len(inside)) + inside


def varint(number: int) -> bytes:
    """Returns a zigzag varint."""
    folded, encoded = (number << 1) ^ (number >> 63), b""
    while folded >= 0x80:
        folded, encoded = folded >> 7, encoded + bytes([folded & 0x7F | 0x80])
    return encoded + bytes([folded])


def started(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
