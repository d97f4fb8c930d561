"""Numbers of variable length, compared with values of Kafka's ByteUtils and a plain version."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes
from kafkaviz.messages import message

INT32, INT64 = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (-65, "8101"),
        (300, "d804"),
        (2147483647, "feffffff0f"),
        (-2147483648, "ffffffff0f"),
    ],
)
def test_varints_of_kafka(number, written):
    """As ByteUtils.writeVarint of Kafka 4.3.1."""
    assert varint.write_varint(number).hex() == written
    assert varint.read_varint(bytes.fromhex(written)) == (number, len(written) // 2)


def test_a_varlong_of_kafka():
    """As ByteUtils.writeVarlong of Kafka 4.3.1."""
    assert varint.write_varlong(1700000000000).hex() == "80a0abfef962"


def folded(number: int) -> int:
    """Zigzag by its definition: evens are numbers from 0 up, odds those from -1 down."""
    return 2 * number if number >= 0 else -2 * number - 1


def digits(number: int) -> bytes:
    """Base 128, the lowest digit first, the top bit set in all but the last."""
    written = []
    while number > 127:
        written.append(number % 128 + 128)
        number //= 128
    return bytes([*written, number])


@given(INT32, INT64, st.integers(0, 2**32 - 1), st.binary(max_size=3), st.binary(max_size=3))
def test_numbers_come_back_from_anywhere(small, large, unsigned, before, after):
    for number, written, write, read in (
        (small, digits(folded(small)), varint.write_varint, varint.read_varint),
        (large, digits(folded(large)), varint.write_varlong, varint.read_varlong),
        (unsigned, digits(unsigned), varint.write_unsigned, varint.read_unsigned),
    ):
        assert write(number) == written
        data = memoryview(before + written + after)
        assert read(data, len(before)) == (number, len(before) + len(written))


@pytest.mark.parametrize(
    ("read", "data", "answer"),
    [
        (varint.read_varint, "808000", (0, 3)),  # longer than it needs to be
        (varint.read_varint, "ffffffff7f", (-2147483648, 5)),  # bits above the 32nd are lost
        (varint.read_unsigned, "ffffffff7f", (4294967295, 5)),
        (varint.read_varlong, "ffffffffffffffffff7f", (-(2**63), 10)),
    ],
)
def test_loose_numbers_read_as_kafka_reads_them(read, data, answer):
    """ByteUtils accepts padding, and drops what does not fit."""
    assert read(bytes.fromhex(data)) == answer


@pytest.mark.parametrize(
    ("read", "longest", "kind", "place"),
    [
        (varint.read_varint, 5, "Varint", "5th"),
        (varint.read_unsigned, 5, "Varint", "5th"),
        (varint.read_varlong, 10, "Varlong", "10th"),
    ],
)
def test_a_number_that_is_cut_or_continues_says_where(read, longest, kind, place):
    """Kafka's words are used for a number that does not end."""
    cut = "byte 1: the bytes end within a variable-length number"
    for size in range(longest):
        with pytest.raises(CorruptBytes, match=cut):
            read(b"\x00" + b"\xff" * size, 1)
    too_long = f"byte 1: {kind} is too long, the most significant bit in the {place} byte is set"
    value = "ff" * (4 if longest == 5 else 8)
    with pytest.raises(CorruptBytes, match=f"{too_long}, converted value: {value}$"):
        read(b"\x00" + b"\xff" * 11, 1)


@pytest.mark.parametrize(
    ("write", "number"),
    [
        (varint.write_varint, 2**31),
        (varint.write_varint, -(2**31) - 1),
        (varint.write_varlong, 2**63),
        (varint.write_varlong, -(2**63) - 1),
        (varint.write_unsigned, 2**32),
        (varint.write_unsigned, -1),
    ],
)
def test_a_number_too_large_is_not_written(write, number):
    with pytest.raises(OverflowError):
        write(number)


def plain(read, data: bytes, position: int) -> tuple[int, int] | int:
    try:
        return read(data, position)
    except CorruptBytes as fault:
        return varint.CUT if fault.what == message("corrupt.varint_cut") else varint.TOO_LONG


@given(
    st.one_of(
        st.binary(max_size=12),
        st.lists(st.sampled_from([0, 1, 127, 128, 255]), max_size=12).map(bytes),
    ),
    st.integers(0, 12),
)
def test_the_compiled_reader_agrees_with_the_plain_one(data, position):
    buffer = np.frombuffer(data, np.uint8)
    for read, longest, unfold in (
        (varint.read_varint, varint.VARINT_BYTES, varint.unfold32),
        (varint.read_varlong, varint.VARLONG_BYTES, varint.unfold64),
    ):
        number, behind = varint.scan(buffer, position, len(buffer), longest)
        found = (int(unfold(number)), behind) if behind >= 0 else behind
        assert found == plain(read, data, position)
