"""Numbers of variable length, as Kafka stores them in records and headers.

Each byte holds seven bits, the lowest first. All bytes but the last have the top bit set.

Signed numbers are zigzag-encoded first: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4. So -1 is the byte 01
and 300 is d8 04. A varint holds 32 bits in at most 5 bytes, a varlong 64 bits in at most 10.

As in Kafka 4.3's ByteUtils, a number may use more bytes than it needs, and bits above the 32nd (or
64th) are lost.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.errors import CorruptBytes, FaultKind
from kafkaviz.messages import message, verbatim

# the most bytes of a varint and of a varlong
VARINT_BYTES = 5
VARLONG_BYTES = 10
# returned by scan in place of the next position
CUT = -1
TOO_LONG = -2


@njit(cache=True, boundscheck=True)
def scan(data: np.ndarray, position: int, end: int, longest_bytes: int) -> tuple[np.uint64, int]:
    """Reads a varint without decoding zigzag, for compiled functions.

    Returns (number, position after it). Instead of the position: CUT if the data ends within the
    number, TOO_LONG if the last allowed byte has its top bit set.
    """
    # most numbers have one byte; this test makes the scan a third faster
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
    """Returns the signed number that the low 32 bits of a zigzag number encode."""
    low = np.int64(number & np.uint64(0xFFFFFFFF))
    # numba returns this to Python as an int
    return (low >> 1) ^ -(low & 1)  # ty: ignore[invalid-explicit-return]


@njit(cache=True)
def unfold64(number: np.uint64) -> int:
    # numba returns this to Python as an int
    return np.int64(number >> np.uint64(1)) ^ -np.int64(  # ty: ignore[invalid-explicit-return]
        number & np.uint64(1)
    )


def read_varint(data: bytes | memoryview, position: int = 0) -> tuple[int, int]:
    """Reads a signed 32-bit number. Returns (number, position after it).

    Raises:
        CorruptBytes: the number is truncated or too long.
    """
    # most numbers have one byte, which needs no slice
    if 0 <= position < len(data) and (byte := data[position]) < 128:
        return (byte >> 1) ^ -(byte & 1), position + 1
    number, position = _read(data, position, VARINT_BYTES)
    number &= 0xFFFFFFFF
    return (number >> 1) ^ -(number & 1), position


def read_varlong(data: bytes | memoryview, position: int = 0) -> tuple[int, int]:
    """Reads a signed 64-bit number. The result and the errors are as in read_varint."""
    number, position = _read(data, position, VARLONG_BYTES)
    number &= 2**64 - 1
    return (number >> 1) ^ -(number & 1), position


def read_unsigned(data: bytes | memoryview, position: int = 0) -> tuple[int, int]:
    """Reads an unsigned 32-bit number. The result and the errors are as in read_varint."""
    number, position = _read(data, position, VARINT_BYTES)
    return number & 0xFFFFFFFF, position


def write_varint(number: int) -> bytes:
    """Returns the shortest encoding of a signed number. Raises OverflowError above 32 bits."""
    return write_unsigned(_fold(number, 32))


def write_varlong(number: int) -> bytes:
    """Returns the shortest encoding of a signed number. Raises OverflowError above 64 bits."""
    return _write(_fold(number, 64))


def write_unsigned(number: int) -> bytes:
    """Returns the shortest encoding of an unsigned number. Raises OverflowError above 32 bits."""
    if not 0 <= number < 2**32:
        raise OverflowError(f"{number} is no unsigned 32-bit number")
    return _write(number)


def too_long_text(number: int, longest_bytes: int) -> str:
    """Returns Kafka's error for a number of too many bytes. `number`: the value read so far."""
    kind, bits, ordinal = (
        ("Varint", 32, "5th") if longest_bytes == VARINT_BYTES else ("Varlong", 64, "10th")
    )
    return (
        f"{kind} is too long, the most significant bit in the {ordinal} byte is set, converted "
        f"value: {number & 2**bits - 1:x}"
    )


def _read(data: bytes | memoryview, position: int, longest_bytes: int) -> tuple[int, int]:
    """Reads a number without decoding zigzag. The number may have more bits than its type."""
    number = 0
    for place, byte in enumerate(data[position : position + longest_bytes]):
        number |= (byte & 127) << 7 * place
        if byte < 128:
            return number, position + place + 1
    if position + longest_bytes > len(data):
        raise CorruptBytes(position, message("corrupt.varint_cut"))
    words = verbatim(too_long_text(number, longest_bytes))
    raise CorruptBytes(position, words, FaultKind.ARGUMENT)


def _write(number: int) -> bytes:
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def _fold(number: int, bits: int) -> int:
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise OverflowError(f"{number} is no signed {bits}-bit number")
    return number << 1 if number >= 0 else ~(number << 1)
