"""CRC-32C (Castagnoli), the checksum of batches since magic 2.

Messages of magic 0 and 1 use zlib's CRC-32. Use the crc32c package for a single buffer,
checksum_ranges for many byte ranges, and checksum_range in compiled loops: for a batch of 1 KB, a
Python call takes longer than the checksum.

The processor's CRC instruction takes 8 bytes, and must wait three cycles for the previous result.
So the compiled loop computes the CRCs of three blocks of 256 (or 2048) bytes in parallel, and then
combines them: for a block A and the next block B, crc(A + B) = shift(crc(A), len(B)) xor crc(B).
shift(crc(A), len(B)) is the CRC of A and len(B) zero bytes. `_shift` computes it with a table.
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
# size of each of three blocks that are summed in parallel
LONG_BYTES = 2048
SHORT_BYTES = 256

_ALL_ONES = np.uint64(0xFFFFFFFF)
_LOW = np.uint64(0xFF)
# per processor: (name, bits of the sum, bits of the word) for 8 bytes and for one byte
_INSTRUCTIONS = {
    "x86_64": (("llvm.x86.sse42.crc32.64.64", 64, 64), ("llvm.x86.sse42.crc32.32.8", 32, 8)),
    "aarch64": (("llvm.aarch64.crc32cx", 32, 64), ("llvm.aarch64.crc32cb", 32, 32)),
}


def checksum_ranges(
    data: bytes | memoryview | np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """Returns the CRC-32C of each data[start:end] as uint32. Raises IndexError outside `data`."""
    buffer = np.frombuffer(data, np.uint8)
    buffer.flags.writeable = False  # always the same array type, so that numba compiles one version
    return _checksum_ranges(
        buffer, np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(ends, np.int64)
    )


@njit(cache=True)
def _checksum_ranges(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    if len(starts) != len(ends):
        raise ValueError("as many starts as ends")
    sums = np.empty(len(starts), np.uint32)
    for row in range(len(starts)):
        sums[row] = checksum_range(data, starts[row], ends[row], 0)
    return sums


@njit(cache=True)
def checksum_range(data: np.ndarray, start: int, end: int, previous_crc: int) -> int:
    """Returns the CRC-32C of data[start:end] (uint8). Raises IndexError outside of `data`.

    `previous_crc`: the CRC-32C of the preceding bytes if the checksum covers them too, else 0.
    """
    if not 0 <= start <= end <= len(data):
        raise IndexError("a stretch outside of the data")
    crc = np.uint64(previous_crc) ^ _ALL_ONES
    crc = (
        _sum_by_instruction(crc, data, start, end)
        if _has_instruction()
        else _sum_by_tables(crc, data, start, end)
    )
    # numba returns this to Python as an int
    return np.int64(crc ^ _ALL_ONES)  # ty: ignore[invalid-explicit-return]


# ---- with the processor's instruction


@njit(cache=True)
def _sum_by_instruction(crc: np.uint64, data: np.ndarray, start: int, end: int) -> np.uint64:
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
    """Continues `crc` with groups of three blocks. Returns (CRC, position after the last group)."""
    while end - start >= 3 * block_bytes:
        first = crc
        second = np.uint64(0)
        third = np.uint64(0)
        for position in range(start, start + block_bytes, 8):
            first = _step_word(first, load_64(data, position))
            second = _step_word(second, load_64(data, position + block_bytes))
            third = _step_word(third, load_64(data, position + 2 * block_bytes))
        crc = _shift(_shift(first, table) ^ second, table) ^ third
        start += 3 * block_bytes
    return crc, start


@njit(cache=True)
def _shift(crc: np.uint64, table: np.ndarray) -> np.uint64:
    """Returns the CRC after more zero bytes. `table` (see `_shift_table`) determines how many."""
    return np.uint64(
        table[0, crc & _LOW]
        ^ table[1, crc >> np.uint64(8) & _LOW]
        ^ table[2, crc >> np.uint64(16) & _LOW]
        ^ table[3, crc >> np.uint64(24) & _LOW]
    )


def _instructions(context) -> tuple | None:
    """Returns the CRC instructions of the processor that numba compiles for, or None.

    numba compiles again on a different processor, so each processor gets only its own instructions.
    """
    triple, cpu, features = context.codegen().magic_tuple()
    processor = triple.partition("-")[0].replace("arm64", "aarch64")
    cpu_flags = set(features.split(","))
    crc_flag = {"x86_64": "+crc32", "aarch64": "+crc"}.get(processor)
    if crc_flag in cpu_flags or (processor == "aarch64" and cpu.startswith("apple-")):
        return _INSTRUCTIONS.get(processor)
    return None


@intrinsic
def _has_instruction(typing_context):
    """Returns, as a compile-time constant, whether the processor has CRC instructions."""
    from numba import types
    from numba.core import cgutils

    def code(context, builder, signature, arguments):
        return cgutils.true_bit if _instructions(context) else cgutils.false_bit

    return types.boolean(), code


def _step(builder: "ir.IRBuilder", context, place: int, crc: Any, word: Any) -> Any:
    """Emits a CRC instruction and returns its result. Returns `crc` if the processor has none."""
    from llvmlite import ir
    from numba.core import cgutils

    instructions = _instructions(context)
    if not instructions:
        return crc
    name, crc_bits, word_bits = instructions[place]
    crc_type = ir.IntType(crc_bits)
    word_type = ir.IntType(word_bits)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(crc_type, [crc_type, word_type]), name
    )
    crc = builder.trunc(crc, crc_type) if crc_bits < 64 else crc
    word = builder.zext(word, word_type) if word.type.width < word_bits else word
    result = builder.call(function, [crc, word])
    return builder.zext(result, ir.IntType(64)) if crc_bits < 64 else result


@intrinsic
def _step_word(typing_context, crc, word):
    from numba import types

    def code(context, builder, signature, arguments):
        return _step(builder, context, 0, *arguments)

    return types.uint64(types.uint64, types.uint64), code


@intrinsic
def _step_byte(typing_context, crc, byte):
    from numba import types

    def code(context, builder, signature, arguments):
        return _step(builder, context, 1, *arguments)

    return types.uint64(types.uint64, types.uint8), code


# ---- without the instruction


@njit(cache=True)
def _sum_by_tables(crc: np.uint64, data: np.ndarray, start: int, end: int) -> np.uint64:
    """Continues `crc` with data[start:end], eight bytes per step. Returns the new CRC."""
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
    sums = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        sums = sums >> 1 ^ np.where(sums & 1, np.uint32(POLYNOMIAL), np.uint32(0))
    return sums


def _position_tables(byte_sums: np.ndarray) -> np.ndarray:
    """Returns the CRC of each possible byte followed by 0 to 7 zero bytes.

    The array is uint32, shape (8, 256). Its axes are the number of zero bytes and the byte.
    """
    tables = [byte_sums]
    for _ in range(7):
        tables.append(tables[-1] >> 8 ^ byte_sums[tables[-1] & 0xFF])
    return np.stack(tables)


def _shift_table(zero_bytes: int, byte_sums: np.ndarray) -> np.ndarray:
    """Returns the table for `_shift` by `zero_bytes` zero bytes. `zero_bytes` is a power of 2.

    The array is uint32, shape (4, 256). Its axes are a byte's place in the CRC (0: the lowest
    byte) and the byte's value.
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
_LONG_SHIFT = _shift_table(LONG_BYTES, _BYTE_SUMS)
_SHORT_SHIFT = _shift_table(SHORT_BYTES, _BYTE_SUMS)
