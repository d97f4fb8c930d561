"""`kafkaviz tune` on logs whose batches have times from one end of 64 bits to the other."""

import numpy as np
import pytest

from kafkaviz.__main__ import main
from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import record
from kafkaviz.format.batch import CRC_START, HEADER, HEADER_BYTES, LENGTH_END
from kafkaviz.format.record import Record
from kafkaviz.units import file_stem

LEAST_MS, MOST_MS = -(2**63), 2**63 - 1


def timed_batch(offset: int, timestamp_ms: int) -> bytes:
    body = record.build([Record(offset_delta=0, timestamp_delta_ms=0, key=b"k", value=b"v" * 900)])
    header = np.zeros(1, HEADER)
    header["base_offset"], header["magic"], header["record_count"] = offset, 2, 1
    header["base_timestamp_ms"], header["max_timestamp_ms"] = timestamp_ms, timestamp_ms
    header["producer_id"], header["producer_epoch"], header["base_sequence"] = -1, -1, -1
    header["batch_length_bytes"] = HEADER_BYTES - LENGTH_END + len(body)
    batch = bytearray(header.tobytes() + body)
    batch[CRC_START - 4 : CRC_START] = crc32c(bytes(batch[CRC_START:])).to_bytes(4)
    return bytes(batch)


@pytest.fixture
def write_log(tmp_path):
    def write(times_ms: list[int]):
        directory = tmp_path / "t-0"
        directory.mkdir()
        batches = [timed_batch(offset, times_ms[offset % len(times_ms)]) for offset in range(40)]
        (directory / f"{file_stem(0)}.log").write_bytes(b"".join(batches))
        return directory

    return write


@pytest.mark.parametrize(
    "times_ms",
    [
        [0, MOST_MS],
        [MOST_MS, MOST_MS - 1],
        [LEAST_MS, MOST_MS],
        [-5, -1],
    ],
    ids=str,
)
def test_times_of_64_bits_are_taken(write_log, capsys, times_ms):
    """No batch time ends the sweep."""
    assert main(["tune", str(write_log(times_ms)), "--kafka-version", "4.3.1"]) == 0
    assert "40 batches" in capsys.readouterr().out
