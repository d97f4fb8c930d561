"""The checksum, against its published check value and a bit-by-bit twin."""

from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary.crc32c import crc32c


def bit_by_bit(data: bytes) -> int:
    """CRC-32C by its definition: the reflected polynomial 0x82f63b78."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_the_check_value():
    """What every CRC-32C gives for the nine digits."""
    assert crc32c(b"123456789") == 0xE3069283


@given(st.binary(max_size=64))
def test_any_bytes_in_any_buffer(data):
    """Bytes and views of them."""
    assert crc32c(data) == crc32c(memoryview(b"x" + data)[1:]) == bit_by_bit(data)
