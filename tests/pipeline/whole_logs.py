"""Segments of batches with right checksums, with the indexes of an interval."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import offset_index, record, time_index
from kafkaviz.format.batch import CRC_START, HEADER, LENGTH_END
from kafkaviz.units import file_stem

START_MS = 1_790_000_000_000


def batch(
    base_offset: int,
    times_ms: Sequence[int],
    value_bytes: int = 100,
    codec_name: str = "none",
    attributes: int = 0,
    **fields: int,
) -> bytes:
    """Returns a batch of magic 2 with a record at each of these times, the first key null, and a
    header in each third record.
    """
    random = np.random.default_rng(base_offset)
    parts = [
        record.Record(
            offset_delta=delta,
            timestamp_delta_ms=time_ms - times_ms[0],
            key=None if delta == 0 else f"key-{base_offset + delta}".encode(),
            value=random.bytes(value_bytes),
            headers=(("trace", random.bytes(4)), ("none", None)) if delta % 3 == 2 else (),
        )
        for delta, time_ms in enumerate(times_ms)
    ]
    body = record.build(parts)
    body = body if codec_name == "none" else codec.compress(codec_name, body)
    attributes |= codec.CODECS.index(codec_name)
    return framed(base_offset, body, times_ms, attributes, **fields)


def framed(
    base_offset: int, body: bytes, times_ms: Sequence[int], attributes: int = 0, **fields: int
) -> bytes:
    """Returns a batch of magic 2 around the bytes of its records, with more fields of its header."""
    header = np.zeros(1, HEADER)
    header["base_offset"], header["magic"], header["attributes"] = base_offset, 2, attributes
    header["batch_length_bytes"] = HEADER.itemsize + len(body) - LENGTH_END
    header["last_offset_delta"], header["record_count"] = len(times_ms) - 1, len(times_ms)
    header["base_timestamp_ms"], header["max_timestamp_ms"] = times_ms[0], max(times_ms)
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    for name, value in fields.items():
        header[name] = value
    return summed(header.tobytes() + body)


def summed(data: bytes) -> bytes:
    at = HEADER.fields["crc"][1]
    return data[:at] + crc32c(data[CRC_START:]).to_bytes(4, "big") + data[at + 4 :]


def write(
    partition: Path, batches: Iterable[bytes], base_offset: int = 0, interval_bytes: int = 4096
) -> Path:
    """Writes a segment of these batches, and returns the stem of its files."""
    partition.mkdir(parents=True, exist_ok=True)
    stem, batches = partition / file_stem(base_offset), list(batches)
    stem.with_suffix(".log").write_bytes(b"".join(batches))
    offsets, times = indexed(batches, base_offset, interval_bytes)
    stem.with_suffix(".index").write_bytes(offset_index.build(offsets))
    stem.with_suffix(".timeindex").write_bytes(time_index.build(times))
    return stem


def indexed(
    batches: Sequence[bytes], base_offset: int, interval_bytes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the entries of both indexes as LogSegment.append of 4.3.1 writes them, and a last
    time entry for the end of the segment.
    """
    offsets, times, position, since = [], [], 0, 0
    newest, newest_offset = -1, base_offset
    for data in batches:
        header = np.frombuffer(data, HEADER, 1)[0]
        last_offset = int(header["base_offset"]) + int(header["last_offset_delta"])
        if header["max_timestamp_ms"] > newest:
            newest, newest_offset = int(header["max_timestamp_ms"]), last_offset
        if since > interval_bytes:
            offsets.append((last_offset - base_offset, position))
            times.append((newest, newest_offset - base_offset))
            since = 0
        position, since = position + len(data), since + len(data)
    times.append((newest, newest_offset - base_offset))
    times = [
        time_entry
        for place, time_entry in enumerate(times)
        if place == 0 or time_entry[0] > times[place - 1][0]
    ]
    return np.array(offsets, offset_index.ENTRY), np.array(times, time_index.ENTRY)


def broker(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "meta.properties").write_text("version=1\nnode.id=7\ncluster.id=made\n")
    return directory
