"""The checksum, compared with its check value, a bit-by-bit version and a library."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from kafkaviz.binary import crc32c as module
from kafkaviz.binary.crc32c import checksum_range, checksum_ranges, crc32c

NOISE = np.random.default_rng(7).integers(0, 256, 20_000, np.uint8).tobytes()
LENGTHS = [*range(20), 255, 256, 257, 767, 768, 769, 1003, 1544, 6143, 6144, 6151, 6912, 19_000]
EVERYWHERE = """
import numpy as np
from kafkaviz.binary.crc32c import crc32c, checksum_ranges, _has_instruction
from numba import njit
data = np.random.default_rng(7).integers(0, 256, 9000, np.uint8).tobytes()
assert checksum_ranges(data, [0, 3, 11], [9000, 7000, 12]).tolist() == [crc32c(data), crc32c(data[3:7000]), crc32c(data[11:12])]
print(njit(lambda: _has_instruction())())
"""


def bit_by_bit(data: bytes) -> int:
    """CRC-32C by its definition: the reflected polynomial 0x82f63b78."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_the_check_value():
    """Every CRC-32C of the nine digits is this value."""
    assert crc32c(b"123456789") == 0xE3069283 == checksum_ranges(b"123456789", [0], [9])[0]


@given(st.binary(max_size=64))
def test_any_bytes_in_any_buffer(data):
    assert crc32c(data) == crc32c(memoryview(b"x" + data)[1:]) == bit_by_bit(data)


@settings(deadline=None)  # the first one compiles
@given(st.binary(max_size=3000), st.data())
def test_any_stretches_of_any_bytes(data, drawn):
    """Every stretch has the library's checksum, wherever it starts."""
    places = drawn.draw(
        st.lists(
            st.tuples(st.integers(0, len(data)), st.integers(0, len(data))).map(sorted), max_size=5
        )
    )
    starts, ends = [start for start, _ in places], [end for _, end in places]
    assert checksum_ranges(data, starts, ends).tolist() == [
        crc32c(data[start:end]) for start, end in places
    ]


@pytest.mark.parametrize("length", LENGTHS)
def test_each_length_of_blocks_words_and_bytes(length):
    """Sizes around the borders between blocks, words and bytes; also with tables."""
    for start in range(9):
        expected = crc32c(NOISE[start : start + length])
        assert checksum_ranges(NOISE, [start], [start + length])[0] == expected
        assert by_tables(NOISE, start, start + length) == expected


def by_tables(data: bytes, start: int, end: int) -> int:
    """Returns the checksum as a processor without the instruction computes it."""
    return (
        int(module._sum_by_tables(np.uint64(0xFFFFFFFF), np.frombuffer(data, np.uint8), start, end))
        ^ 0xFFFFFFFF
    )


@settings(max_examples=30, deadline=None)  # the first one compiles
@given(st.integers(0, 9000), st.integers(0, 9000))
def test_a_sum_continues_where_another_ended(cut, length):
    """stretch takes the sum of the bytes before, so a batch may be read in pieces."""
    data = np.frombuffer(NOISE, np.uint8)
    assert in_two(data, min(cut, length), length) == crc32c(NOISE[:length])


@njit
def in_two(data, cut, length):
    """Returns a sum computed in two steps from compiled code."""
    return checksum_range(data, cut, length, checksum_range(data, 0, cut, 0))


def test_arrays_that_may_be_written_are_left_as_they_are():
    """A reader may sum a buffer and fill it again."""
    buffer = np.zeros(100, np.uint8)
    before = checksum_ranges(buffer, [0], [100])[0]
    buffer[:] = 1
    assert (
        buffer.flags.writeable
        and checksum_ranges(buffer, [0], [100])[0] == crc32c(b"\1" * 100) != before
    )


@pytest.mark.parametrize(("start", "end"), [(-1, 4), (3, 2), (0, 11), (11, 11), (2**62, 2**62 + 1)])
def test_no_byte_outside_is_read(start, end):
    with pytest.raises(IndexError):
        checksum_ranges(b"0123456789", [0, start], [10, end])


def test_each_start_needs_an_end():
    with pytest.raises(ValueError, match="as many"):
        checksum_ranges(b"0123456789", [0, 1], [10])


@pytest.mark.slow
def test_compiled_files_move_between_processors(tmp_path):
    """One folder of compiled functions serves a processor with the instruction and one without."""
    own = str(njit(lambda: module._has_instruction())())
    for processor, answer in (({"NUMBA_CPU_NAME": "generic"}, "False"), ({}, own)):
        environment = os.environ | processor | {"NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", EVERYWHERE]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == answer
