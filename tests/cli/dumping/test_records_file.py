"""Checksums of a .log for any size of batches and of reads."""

import zlib

import numpy as np
import pytest

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.cli.dumping import records_file
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.format.batch import CRC_START, HEADER, LENGTH_END
from tests.support.legacy_messages import build_message

SIZES = (61, 70, 61 + 3000, 62, 9000, 61, 2000)


def batch(number: int, size_bytes: int, crc: int | None = None) -> bytes:
    """Returns a batch with a right checksum, or with the given one."""
    header = np.zeros(1, HEADER)
    header["base_offset"], header["batch_length_bytes"], header["magic"] = (
        number,
        size_bytes - LENGTH_END,
        2,
    )
    body = bytes(range(256)) * 40
    data = bytearray(header.tobytes() + body[: size_bytes - HEADER.itemsize])
    data[17:21] = (crc32c(data[CRC_START:]) if crc is None else crc).to_bytes(4, "big")
    return bytes(data)


@pytest.mark.parametrize("stretch_bytes", [64, 3061, 8999, 9000, 1 << 20])
def test_a_checksum_is_the_same_however_it_is_read(tmp_path, monkeypatch, stretch_bytes):
    """Batches that fit into the buffer, and larger ones; two of the checksums are wrong."""
    monkeypatch.setattr(records_file, "STRETCH_BYTES", stretch_bytes)
    message = build_message(1, 9, b"k", b"v" * 5000, timestamp_ms=5)
    data = (
        b"".join(
            batch(number, size, 1 if number in (2, 3) else None)
            for number, size in enumerate(SIZES)
        )
        + message
    )
    (tmp_path / "0.log").write_bytes(data)
    with records_file.open_log(str(tmp_path / "0.log")) as log:
        [batches] = list(log.batches(0, len(data)))
        assert records_file.are_valid(log, batches).tolist() == [
            True,
            True,
            False,
            False,
            True,
            True,
            True,
            True,
        ]
    assert zlib.crc32(message[16:]) == batches["crc"][-1]


def test_no_batch_has_no_checksum(tmp_path):
    (tmp_path / "0.log").write_bytes(batch(0, 61))
    with records_file.open_log(str(tmp_path / "0.log")) as log:
        [batches] = list(log.batches(0, 61))
        assert len(records_file.are_valid(log, batches[:0])) == 0


def test_a_slice_that_cannot_be_is_a_death(tmp_path):
    (tmp_path / "0.log").write_bytes(batch(0, 61))
    with records_file.open_log(str(tmp_path / "0.log")) as log:
        assert log.slice_stop(61, 5) == 61
        for position, length_bytes, words in (
            (-1, 5, "Invalid position: -1"),
            (62, 5, "Slice from position 62"),
            (0, -1, "Invalid size: -1"),
        ):
            with pytest.raises(JavaException, match=words):
                log.slice_stop(position, length_bytes)
