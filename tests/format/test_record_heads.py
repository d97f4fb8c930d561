"""Offsets and times read without the compiler, beside the decoder of every field."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, record
from kafkaviz.format.batch import HEADER, HEADER_BYTES
from kafkaviz.format.record import Record


def batch_of(body: bytes, count: int, codec_name: str = "none") -> bytes:
    """A batch of magic 2 at offset 40 with the base time 1000; its checksum is not looked at."""
    content = codec.compress(codec_name, body) if codec_name != "none" else body
    header = np.zeros(1, HEADER)
    header["base_offset"], header["base_timestamp_ms"], header["magic"] = 40, 1000, 2
    header["record_count"], header["attributes"] = count, codec.CODECS.index(codec_name)
    header["batch_length_bytes"] = HEADER_BYTES - 12 + len(content)
    return header.tobytes() + content


BODY = record.build(
    [
        Record(offset_delta=0, timestamp_delta_ms=0, key=b"k", value=b"v" * 200),
        Record(
            offset_delta=1, timestamp_delta_ms=300, key=None, value=None, headers=(("h", b"x"),)
        ),
    ]
)


@pytest.mark.parametrize("codec_name", ["none", "gzip", "zstd"])
def test_heads_and_values_are_those_of_the_records(codec_name):
    """Of a batch that is in order."""
    data = batch_of(BODY, 2, codec_name)
    assert list(batch_records.heads(data)) == [(40, 1000), (41, 1300)]
    if codec_name == "none":
        assert list(batch_records.values(data)) == [b"v" * 200, None]


@given(st.integers(0, len(BODY) - 1), st.integers(1, 255), st.sampled_from(["none", "gzip"]))
def test_what_cannot_be_read_is_told_in_kafkas_words(place, flip, codec_name):
    """Whatever byte is damaged: these words, or records as far as the two deltas tell."""
    body = bytearray(BODY)
    body[place] ^= flip
    data = batch_of(bytes(body), 2, codec_name)
    try:
        list(batch_records.heads(data))
    except CorruptBytes as fault:
        expected = batch_records.find_fault(data)
        assert (fault.position, fault.what) == (expected.position, expected.what)


def test_a_batch_shorter_than_its_header_is_refused():
    """Its length says so too."""
    data = bytearray(batch_of(b"", 0)[:40])
    data[8:12] = (28).to_bytes(4, "big")
    with pytest.raises(CorruptBytes, match="smaller than the minimum allowed overhead 61"):
        list(batch_records.heads(bytes(data)))
