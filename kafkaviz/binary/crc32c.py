"""CRC-32C (Castagnoli), the checksum of a batch since magic 2.

Messages of magic 0 and 1 have the CRC-32 of zlib. The crc32c package is for one buffer from Python;
checksum_ranges and checksum_range are for many byte ranges of a buffer and for compiled loops,
where a call from Python for each batch of 1 KB would take longer than its checksum does.

Three streams: the processor's instruction takes 8 bytes at a time and must wait for its own result,
three cycles long. So 768 bytes go as three blocks of 256 side by side, and their three sums are
combined: the sum of a block followed by 256 more bytes is what the block's sum becomes behind 256
zeros (a table), xor the sum of those bytes.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from crc32c import crc32c

from kafkaviz.binary.lazy_njit import intrinsic, njit
from kafkaviz.binary.words import load_64

if TYPE_CHECKING:
    from llvmlite import ir

__all__ = ["checksum_range", "checksum_ranges", "crc32c"]

POLYNOMIAL = 0x82F63B78  # reflected: the lowest bit is the highest power
LONG_BYTES, SHORT_BYTES = 2048, 256  # one of three blocks side by side

_ALL_ONES = np.uint64(0xFFFFFFFF)
_LOW = np.uint64(0xFF)
# by the processor: (name, type of the sum and of the word) for 8 bytes and for one
_INSTRUCTIONS = {
    "x86_64": (("llvm.x86.sse42.crc32.64.64", 64, 64), ("llvm.x86.sse42.crc32.32.8", 32, 8)),
    "aarch64": (("llvm.aarch64.crc32cx", 32, 64), ("llvm.aarch64.crc32cb", 32, 32)),
}


def checksum_ranges(
    data: bytes | memoryview | np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """The CRC-32C of data[start:end] for each start and end.

    Returns:
        An array of uint32, shape (ranges,).

    Raises:
        IndexError: a range leaves the data.
    """
    buffer = np.frombuffer(data, np.uint8)
    buffer.flags.writeable = False  # one type of array, so that one compiled version is enough
    return _checksum_ranges(
        buffer, np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(ends, np.int64)
    )


@njit(cache=True)
def _checksum_ranges(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """The compiled loop of checksum_ranges."""
    if len(starts) != len(ends):
        raise ValueError("as many starts as ends")
    sums = np.empty(len(starts), np.uint32)
    for row in range(len(starts)):
        sums[row] = checksum_range(data, starts[row], ends[row], 0)
    return sums


@njit(cache=True)
def checksum_range(data: np.ndarray, start: int, end: int, previous_crc: int) -> int:
    """The CRC-32C of data[start:end], for other compiled functions.

    Args:
        data: an array of uint8.
        previous_crc: the CRC-32C of the bytes in front that belong to it, 0 if there are none.

    Raises:
        IndexError: the range leaves the data.
    """
    if not 0 <= start <= end <= len(data):
        raise IndexError("a stretch outside of the data")
    crc = np.uint64(previous_crc) ^ _ALL_ONES
    crc = (
        _sum_by_instruction(crc, data, start, end)
        if _has_instruction()
        else _sum_by_tables(crc, data, start, end)
    )
    # an int for Python
    return np.int64(crc ^ _ALL_ONES)  # ty: ignore[invalid-explicit-return]


# ---- with the processor's instruction


@njit(cache=True)
def _sum_by_instruction(crc: np.uint64, data: np.ndarray, start: int, end: int) -> np.uint64:
    """The sum after data[start:end]: long blocks, short blocks, words, bytes."""
    crc, start = _sum_blocks(crc, data, start, end, LONG_BYTES, _LONG_SHIFT)
    crc, start = _sum_blocks(crc, data, start, end, SHORT_BYTES, _SHORT_SHIFT)
    while end - start >= 8:
        crc = _step_word(crc, load_64(data, start))
        start += 8
    while start < end:
        crc = _step_byte(crc, data[start])
        start += 1
    return crc


@njit(cache=True)
def _sum_blocks(
    crc: np.uint64, data: np.ndarray, start: int, end: int, block_bytes: int, table: np.ndarray
) -> tuple[np.uint64, int]:
    """Sums as many groups of three blocks as there are.

    Returns:
        The sum, and the byte behind the blocks.
    """
    while end - start >= 3 * block_bytes:
        first, second, third = crc, np.uint64(0), np.uint64(0)
        for position in range(start, start + block_bytes, 8):
            first = _step_word(first, load_64(data, position))
            second = _step_word(second, load_64(data, position + block_bytes))
            third = _step_word(third, load_64(data, position + 2 * block_bytes))
        crc = _shift(_shift(first, table) ^ second, table) ^ third
        start += 3 * block_bytes
    return crc, start


@njit(cache=True)
def _shift(crc: np.uint64, table: np.ndarray) -> np.uint64:
    """What a sum becomes behind the number of zero bytes that the table is for."""
    return np.uint64(
        table[0, crc & _LOW]
        ^ table[1, crc >> np.uint64(8) & _LOW]
        ^ table[2, crc >> np.uint64(16) & _LOW]
        ^ table[3, crc >> np.uint64(24) & _LOW]
    )


def _instructions(context) -> tuple | None:
    """The checksum instructions of the processor that numba compiles for; None if it has none.

    The processor is the one that numba also writes beside a cached function: on a processor with
    another name or other features the function is compiled again, so no instruction reaches a
    processor that does not know it.
    """
    triple, cpu, features = context.codegen().magic_tuple()
    processor, cpu_flags = (
        triple.partition("-")[0].replace("arm64", "aarch64"),
        set(features.split(",")),
    )
    crc_flag = {"x86_64": "+crc32", "aarch64": "+crc"}.get(processor)
    return (
        _INSTRUCTIONS.get(processor)
        if crc_flag in cpu_flags or (processor == "aarch64" and cpu.startswith("apple-"))
        else None
    )


@intrinsic
def _has_instruction(typing_context):
    """Whether _step_word and _step_byte work; a constant once compiled."""
    from numba import types
    from numba.core import cgutils

    def code(context, builder, signature, arguments):
        return cgutils.true_bit if _instructions(context) else cgutils.false_bit

    return types.boolean(), code


def _step(builder: "ir.IRBuilder", context, place: int, crc: Any, word: Any) -> Any:
    """Emits one instruction; without one the sum as it is, which is never used."""
    from llvmlite import ir
    from numba.core import cgutils

    instructions = _instructions(context)
    if not instructions:
        return crc
    name, crc_bits, word_bits = instructions[place]
    crc_type, word_type = ir.IntType(crc_bits), ir.IntType(word_bits)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(crc_type, [crc_type, word_type]), name
    )
    crc = builder.trunc(crc, crc_type) if crc_bits < 64 else crc
    word = builder.zext(word, word_type) if word.type.width < word_bits else word
    result = builder.call(function, [crc, word])
    return builder.zext(result, ir.IntType(64)) if crc_bits < 64 else result


@intrinsic
def _step_word(typing_context, crc, word):
    """The sum after 8 more bytes."""
    from numba import types

    def code(context, builder, signature, arguments):
        return _step(builder, context, 0, *arguments)

    return types.uint64(types.uint64, types.uint64), code


@intrinsic
def _step_byte(typing_context, crc, byte):
    """The sum after one more byte."""
    from numba import types

    def code(context, builder, signature, arguments):
        return _step(builder, context, 1, *arguments)

    return types.uint64(types.uint64, types.uint8), code


# ---- without it


@njit(cache=True)
def _sum_by_tables(crc: np.uint64, data: np.ndarray, start: int, end: int) -> np.uint64:
    """The sum after data[start:end], eight bytes a step.

    The table of a position holds what a byte there adds to the sum.
    """
    while end - start >= 8:
        crc ^= load_64(data, start)
        mixed = np.uint32(0)
        for place in range(8):
            mixed ^= _TABLES[7 - place, crc >> np.uint64(8 * place) & _LOW]
        crc = np.uint64(mixed)
        start += 8
    while start < end:
        crc = crc >> np.uint64(8) ^ np.uint64(_TABLES[0, (crc ^ data[start]) & _LOW])
        start += 1
    return crc


# ---- the tables


def _byte_sums() -> np.ndarray:
    """The sum of each byte, from 0.

    Returns:
        An array of uint32, shape (256,).
    """
    sums = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        sums = sums >> 1 ^ np.where(sums & 1, np.uint32(POLYNOMIAL), np.uint32(0))
    return sums


def _position_tables(byte_sums: np.ndarray) -> np.ndarray:
    """The sum of each byte, from 0, when 0 to 7 zero bytes follow it.

    Returns:
        An array of uint32, shape (8, 256).
    """
    tables = [byte_sums]
    for _ in range(7):
        tables.append(tables[-1] >> 8 ^ byte_sums[tables[-1] & 0xFF])
    return np.stack(tables)


def _shift_table(zero_bytes: int, byte_sums: np.ndarray) -> np.ndarray:
    """What each byte of a sum becomes behind a power of two of zero bytes.

    Returns:
        An array of uint32, shape (4, 256).
    """
    sums = np.arange(256, dtype=np.uint32) << np.array([[0], [8], [16], [24]], np.uint32)
    table = sums >> 8 ^ byte_sums[sums & 0xFF]
    for _ in range(zero_bytes.bit_length() - 1):
        table = (
            table[0, table & 0xFF]
            ^ table[1, table >> 8 & 0xFF]
            ^ table[2, table >> 16 & 0xFF]
            ^ table[3, table >> 24]
        )
    return table


_BYTE_SUMS = _byte_sums()
_TABLES = _position_tables(_BYTE_SUMS)
_LONG_SHIFT, _SHORT_SHIFT = (
    _shift_table(LONG_BYTES, _BYTE_SUMS),
    _shift_table(SHORT_BYTES, _BYTE_SUMS),
)
