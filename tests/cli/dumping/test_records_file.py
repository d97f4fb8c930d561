"""Checksums of a .log for any size of batches and of reads."""

import zlib

import pytest

from kafkaviz.cli.dumping import records_file
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.format.batch import HEADER_BYTES
from tests.cli.hostile_files import batch
from tests.support.legacy_messages import build_message

SIZES = (61, 70, 61 + 3000, 62, 9000, 61, 2000)


def batch_of(size_bytes: int) -> bytes:
    return batch((bytes(range(256)) * 40)[: size_bytes - HEADER_BYTES])


@pytest.mark.parametrize("stretch_bytes", [64, 3061, 8999, 9000, 1 << 20])
def test_a_checksum_is_the_same_however_it_is_read(tmp_path, monkeypatch, stretch_bytes):
    """Batches that fit into the buffer, and larger ones; two of the checksums are wrong."""
    monkeypatch.setattr(records_file, "STRETCH_BYTES", stretch_bytes)
    message = build_message(1, 9, b"k", b"v" * 5000, timestamp_ms=5)
    batches = [batch_of(size_bytes) for size_bytes in SIZES]
    for wrong in (2, 3):
        batches[wrong] = batches[wrong][:17] + b"\0\0\0\1" + batches[wrong][21:]
    data = b"".join(batches) + message
    (tmp_path / "0.log").write_bytes(data)
    with records_file.open_log(str(tmp_path / "0.log")) as log:
        [batches] = list(log.batches(0, len(data)))
        valid = records_file.are_valid(log, batches).tolist()
    assert valid == [True, True, False, False, True, True, True, True]
    assert zlib.crc32(message[16:]) == batches["crc"][-1]


def test_no_batch_has_no_checksum(tmp_path):
    (tmp_path / "0.log").write_bytes(batch_of(61))
    with records_file.open_log(str(tmp_path / "0.log")) as log:
        [batches] = list(log.batches(0, 61))
        assert len(records_file.are_valid(log, batches[:0])) == 0


def test_a_slice_that_cannot_be_is_a_death(tmp_path):
    (tmp_path / "0.log").write_bytes(batch_of(61))
    with records_file.open_log(str(tmp_path / "0.log")) as log:
        assert log.slice_stop(61, 5) == 61
        for position, length_bytes, words in (
            (-1, 5, "Invalid position: -1"),
            (62, 5, "Slice from position 62"),
            (0, -1, "Invalid size: -1"),
        ):
            with pytest.raises(JavaException, match=words):
                log.slice_stop(position, length_bytes)
