"""Numbers of variable length: seven bits a byte, the lowest first, the top bit set in every byte
but the last.

Signed numbers are folded first (zigzag): 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4. So -1 is the one
byte 01 and 300 is d8 04. A varint holds 32 bits in at most 5 bytes, a varlong 64 bits in at most
10; as ByteUtils in Kafka 4.3, whose varints may be longer than they need to be, and lose the bits
above 32 (or 64) of their last byte.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes
from kafkaviz.messages import message, verbatim

VARINT_BYTES, VARLONG_BYTES = 5, 10  # the longest of each
CUT, TOO_LONG = -1, -2  # what scan answers in place of the next position


@njit(cache=True, boundscheck=True)
def scan(data: np.ndarray, position: int, end: int, longest_bytes: int) -> tuple[np.uint64, int]:
    """(the unfolded number, the position behind it) in data (uint8) before end, for other compiled
    functions.

    The position is CUT if data ends within the number, TOO_LONG if a byte longest_bytes in still
    has its top bit set.
    """
    # one byte, as most are: a third faster than by the loop
    if position < end and data[position] < 128:
        return np.uint64(data[position]), position + 1
    number = np.uint64(0)
    for place in range(longest_bytes):
        if position + place >= end:
            return number, CUT
        byte = np.uint64(data[position + place])
        number |= (byte & np.uint64(127)) << np.uint64(7 * place)
        if byte < np.uint64(128):
            return number, position + place + 1
    return number, TOO_LONG


@njit(cache=True)
def unfold32(number: np.uint64) -> int:
    """The signed number behind the low 32 bits of a zigzag number."""
    low = np.int64(number & np.uint64(0xFFFFFFFF))
    # an int for Python
    return (low >> 1) ^ -(low & 1)  # ty: ignore[invalid-explicit-return]


@njit(cache=True)
def unfold64(number: np.uint64) -> int:
    """The signed number behind a zigzag number of 64 bits."""
    # an int for Python
    return np.int64(number >> np.uint64(1)) ^ -np.int64(  # ty: ignore[invalid-explicit-return]
        number & np.uint64(1)
    )


def read_varint(data: bytes | memoryview, position: int = 0) -> tuple[int, int]:
    """(number, position behind it) of a signed 32-bit number; CorruptBytes if it is cut or too
    long.
    """
    # one byte, as most are: no slice is cut for it
    if 0 <= position < len(data) and (byte := data[position]) < 128:
        return (byte >> 1) ^ -(byte & 1), position + 1
    number, position = _read(data, position, VARINT_BYTES)
    number &= 0xFFFFFFFF
    return (number >> 1) ^ -(number & 1), position


def read_varlong(data: bytes | memoryview, position: int = 0) -> tuple[int, int]:
    """(number, position behind it) of a signed 64-bit number; CorruptBytes if it is cut or too
    long.
    """
    number, position = _read(data, position, VARLONG_BYTES)
    number &= 2**64 - 1
    return (number >> 1) ^ -(number & 1), position


def read_unsigned(data: bytes | memoryview, position: int = 0) -> tuple[int, int]:
    """(number, position behind it) of an unsigned 32-bit varint; CorruptBytes if it is cut or too
    long.
    """
    number, position = _read(data, position, VARINT_BYTES)
    return number & 0xFFFFFFFF, position


def write_varint(number: int) -> bytes:
    """The shortest bytes of a signed 32-bit number; OverflowError beyond."""
    return write_unsigned(_fold(number, 32))


def write_varlong(number: int) -> bytes:
    """The shortest bytes of a signed 64-bit number; OverflowError beyond."""
    return _write(_fold(number, 64))


def write_unsigned(number: int) -> bytes:
    """The shortest bytes of a number from 0 to 2^32 - 1; OverflowError beyond."""
    if not 0 <= number < 2**32:
        raise OverflowError(f"{number} is no unsigned 32-bit number")
    return _write(number)


def too_long_text(number: int, longest_bytes: int) -> str:
    """What Kafka says of a number whose last allowed byte goes on; it shows the bits read so
    far.
    """
    kind, bits, ordinal = (
        ("Varint", 32, "5th") if longest_bytes == VARINT_BYTES else ("Varlong", 64, "10th")
    )
    return (
        f"{kind} is too long, the most significant bit in the {ordinal} byte is set, converted "
        f"value: {number & 2**bits - 1:x}"
    )


def _read(data: bytes | memoryview, position: int, longest_bytes: int) -> tuple[int, int]:
    """(the unfolded number, the position behind it); its last byte may have put bits above those
    the number has.
    """
    number = 0
    for place, byte in enumerate(data[position : position + longest_bytes]):
        number |= (byte & 127) << 7 * place
        if byte < 128:
            return number, position + place + 1
    if position + longest_bytes > len(data):
        raise CorruptBytes(position, message("corrupt.varint_cut"))
    raise CorruptBytes(position, verbatim(too_long_text(number, longest_bytes)))


def _write(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def _fold(number: int, bits: int) -> int:
    """The zigzag number of a signed one."""
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise OverflowError(f"{number} is no signed {bits}-bit number")
    return number << 1 if number >= 0 else ~(number << 1)
