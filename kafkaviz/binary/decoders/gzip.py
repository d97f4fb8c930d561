"""gzip, compiled: one member with the short header that Java and librdkafka write.

A member is a header of 10 bytes, blocks of deflate (RFC 1951), and a checksum and size of the data.
A block is stored, or written in two Huffman codes: one of literals, lengths and the end of the
block, one of distances. The codes are the fixed ones, or stand in front of the block as the length
of each symbol's code.

A code is read by a table: the next bits are a place in it, and the entry there says how many of
them the code has. Codes longer than the table's bits go on in a second table behind the first. An
entry, from its lowest bit:

    6 bits   how many bits to drop: the code, and the extra bits of a length or distance behind it
    4 bits   how many of these are the code
    3 bits   what it is: _LITERAL, _BASE, _END, _SUBTABLE; 0 where no code begins so
    the rest the byte, what the extra bits are added to, or where the second table begins
"""

import numpy as np
from numba import njit

from kafkaviz.binary.crc32 import checksum_range
from kafkaviz.binary.decoders.output import FULL, REFUSED, SLACK_BYTES, copy_input, copy_match
from kafkaviz.binary.words import load_32, load_64, to_int

_HEADER_BYTES, _TRAILER_BYTES = 10, 8
_AHEAD_BYTES = 8  # as far as bits are taken behind the end of valid data
_START = 0x00088B1F  # magic, deflate, no flags
_STORED, _FIXED, _DYNAMIC = 0, 1, 2
_MAX_CODE_BITS = 15
_SYMBOL_BITS, _DISTANCE_BITS, _LENGTH_CODE_BITS = 10, 8, 7  # of the first tables
_END_SYMBOL, _LENGTH_SYMBOLS, _DISTANCE_SYMBOLS = 256, 286, 30
_DROP, _CODE_SHIFT, _CODE = 63, 6, 15
_LITERAL, _BASE, _END, _SUBTABLE = 1 << 10, 1 << 11, 1 << 12, 3 << 10
_KIND = _LITERAL | _BASE | _END
_VALUE_SHIFT = 13
# the order in which a block says the lengths of the codes of code lengths
_LENGTH_CODE_ORDER = np.array(
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15], np.int64
)
_REPEAT, _ZEROS, _MORE_ZEROS = 16, 17, 18


def _length_entries() -> np.ndarray:
    """The entry of each symbol of literals and lengths, without its code; 0 for what is none."""
    extra_bits = [max(0, (symbol - 4) // 4) for symbol in range(28)] + [0]
    bases = (3 + np.cumsum([0] + [1 << bits for bits in extra_bits[:-1]])).tolist()
    bases[28] = 258  # not 259, which would follow
    return np.array(
        [_LITERAL | byte << _VALUE_SHIFT for byte in range(256)]
        + [_END]
        + [
            _BASE | base << _VALUE_SHIFT | bits
            for base, bits in zip(bases, extra_bits, strict=True)
        ]
        + [0, 0]
    )


def _distance_entries() -> np.ndarray:
    """The entry of each symbol of distances, without its code."""
    extra_bits = [max(0, (symbol - 2) // 2) for symbol in range(_DISTANCE_SYMBOLS)]
    bases = (1 + np.cumsum([0] + [1 << bits for bits in extra_bits[:-1]])).tolist()
    return np.array(
        [_BASE | base << _VALUE_SHIFT | bits for base, bits in zip(bases, extra_bits, strict=True)]
        + [0, 0]
    )


_LENGTH_ENTRIES, _DISTANCE_ENTRIES = _length_entries(), _distance_entries()
_LENGTH_CODE_ENTRIES = np.array([_LITERAL | length << _VALUE_SHIFT for length in range(19)])
_FIXED_LENGTHS = np.array([8] * 144 + [9] * 112 + [7] * 24 + [8] * 8)
_FIXED_DISTANCES = np.array([5] * 32)
# with room for the second tables: each begins with a code of its own, and two symbols share one
_SYMBOL_ENTRIES = (1 << _SYMBOL_BITS) + 144 * (1 << _MAX_CODE_BITS - _SYMBOL_BITS)
_ALL_DISTANCE_ENTRIES = (1 << _DISTANCE_BITS) + 16 * (1 << _MAX_CODE_BITS - _DISTANCE_BITS)


@njit(cache=True)
def read(
    data: np.ndarray, start: int, end: int, out: np.ndarray, out_start: int, out_end: int
) -> int:
    """See output.py. The checksum and the size behind the data are looked at."""
    position = start + _HEADER_BYTES
    if (
        end - position < _TRAILER_BYTES
        or end + SLACK_BYTES > len(data)
        or load_32(data, start) != _START
    ):
        return REFUSED
    position, place = _inflate(data, position, end, out, out_start, out_end)
    if place < 0:
        return place
    if position + _TRAILER_BYTES != end:  # cut, or more members
        return REFUSED
    crc = checksum_range(out, out_start, place)
    if load_32(data, position) != crc:
        return REFUSED
    return place if load_32(data, position + 4) == place - out_start else REFUSED


@njit(cache=True)
def _inflate(
    data: np.ndarray, position: int, end: int, out: np.ndarray, out_start: int, out_end: int
) -> tuple[int, int]:
    """Decompresses blocks up to the last.

    Returns:
        The bytes behind what was read and written; the second may be REFUSED or FULL.
    """
    symbols = np.empty(_SYMBOL_ENTRIES, np.uint32)
    distances = np.empty(_ALL_DISTANCE_ENTRIES, np.uint32)
    lengths = np.empty(_LENGTH_SYMBOLS + _DISTANCE_SYMBOLS + 138, np.int64)
    place, is_last, bits, count = out_start, False, np.uint64(0), to_int(0)
    while not is_last:
        if position - (count >> 3) > end:
            return position, REFUSED
        bits, count, position = _refill(data, position, bits, count)
        is_last, kind = bits & np.uint64(1) != 0, to_int(bits >> np.uint64(1)) & 3
        bits, count = bits >> np.uint64(3), count - 3
        if kind == _STORED:
            position -= count >> 3  # whole bytes go back; what is left of one is dropped
            if position + 4 > end:
                return position, REFUSED
            sizes = load_32(data, position)
            size_bytes, position, bits, count = (
                sizes & 0xFFFF,
                position + 4,
                np.uint64(0),
                to_int(0),
            )
            if size_bytes != ~sizes >> 16 & 0xFFFF or size_bytes > end - position:
                return position, REFUSED
            if size_bytes > out_end - place:
                return position, FULL
            copy_input(data, position, size_bytes, out, place)
            position, place = position + size_bytes, place + size_bytes
            continue
        if kind == _FIXED:
            symbol_count, distance_count = len(_FIXED_LENGTHS), len(_FIXED_DISTANCES)
            lengths[:symbol_count] = _FIXED_LENGTHS
            lengths[symbol_count : symbol_count + distance_count] = _FIXED_DISTANCES
        elif kind == _DYNAMIC:
            symbol_count, distance_count = to_int(bits) & 31, to_int(bits) >> 5 & 31
            symbol_count, distance_count = symbol_count + 257, distance_count + 1
            if symbol_count > _LENGTH_SYMBOLS or distance_count > _DISTANCE_SYMBOLS:
                return position, REFUSED
            is_right, bits, count, position = _read_lengths(
                data, position, end, bits, count, lengths, symbol_count + distance_count, symbols
            )
            if not is_right or lengths[_END_SYMBOL] == 0:
                return position, REFUSED
        else:
            return position, REFUSED
        if not (
            _fill_table(symbols, to_int(_SYMBOL_BITS), lengths[:symbol_count], _LENGTH_ENTRIES)
            and _fill_table(
                distances,
                to_int(_DISTANCE_BITS),
                lengths[symbol_count : symbol_count + distance_count],
                _DISTANCE_ENTRIES,
            )
        ):
            return position, REFUSED
        bits, count, position, place = _read_block(
            data, position, end, bits, count, symbols, distances, out, out_start, place, out_end
        )
        if place < 0:
            return position, place
    return position - (count >> 3), place


@njit(cache=True)
def _refill(
    data: np.ndarray, position: int, bits: np.uint64, count: int
) -> tuple[np.uint64, int, int]:
    """Takes more bits, to 56 or more.

    Returns:
        The bits, their number, and the position behind the bytes that they are of.
    """
    bits |= load_64(data, position) << np.uint64(count)
    return bits, count | 56, position + (63 - count >> 3)


@njit(cache=True)
def _read_lengths(
    data: np.ndarray,
    position: int,
    end: int,
    bits: np.uint64,
    count: int,
    lengths: np.ndarray,
    length_count: int,
    table: np.ndarray,
) -> tuple[bool, np.uint64, int, int]:
    """Reads the lengths of a block's codes.

    Args:
        bits: from the block's numbers of codes on.
        table: to be used for the code of the lengths.

    Returns:
        Whether they are right; the bits, their number, the position.
    """
    code_count = (to_int(bits >> np.uint64(10)) & 15) + 4
    bits, count = bits >> np.uint64(14), count - 14
    code_lengths = np.zeros(19, np.int64)
    for place in range(code_count):
        if count < 3:
            bits, count, position = _refill(data, position, bits, count)
        code_lengths[_LENGTH_CODE_ORDER[place]] = to_int(bits) & 7
        bits, count = bits >> np.uint64(3), count - 3
    if not _fill_table(table, to_int(_LENGTH_CODE_BITS), code_lengths, _LENGTH_CODE_ENTRIES):
        return False, bits, count, position
    place = 0
    while place < length_count:
        if count < 14:
            if position > end + _AHEAD_BYTES:
                return False, bits, count, position
            bits, count, position = _refill(data, position, bits, count)
        entry = to_int(table[to_int(bits) & (1 << _LENGTH_CODE_BITS) - 1])
        bits, count = bits >> np.uint64(entry & _DROP), count - (entry & _DROP)
        length = entry >> _VALUE_SHIFT
        if length < _REPEAT:
            lengths[place] = length
            place += 1
            continue
        if length == _REPEAT:
            if place == 0:
                return False, bits, count, position
            extra_bits, least, length = 2, 3, lengths[place - 1]
        elif length == _ZEROS:
            extra_bits, least, length = 3, 3, 0
        else:
            extra_bits, least, length = 7, 11, 0
        repeat_end = place + least + (to_int(bits) & (1 << extra_bits) - 1)
        bits, count = bits >> np.uint64(extra_bits), count - extra_bits
        while place < repeat_end:
            lengths[place] = length
            place += 1
    return place == length_count, bits, count, position


@njit(cache=True)
def _fill_table(
    table: np.ndarray, table_bits: int, lengths: np.ndarray, entries: np.ndarray
) -> bool:
    """Fills the table of a code, and the second tables behind it.

    Args:
        lengths: of the code of each symbol; 0 for one that does not occur.
        entries: of the symbols, without their codes.

    Returns:
        Whether the code is complete: no bits are without a symbol, none have two.
    """
    counts = np.zeros(_MAX_CODE_BITS + 1, np.int64)
    for symbol in range(len(lengths)):
        counts[lengths[symbol]] += 1
    counts[0], longest, free = 0, 0, 1
    starts = np.zeros(_MAX_CODE_BITS + 2, np.int64)
    for length in range(1, _MAX_CODE_BITS + 1):
        free = 2 * free - counts[length]
        if free < 0:
            return False
        if counts[length] > 0:
            longest = length
        starts[length + 1] = starts[length] + counts[length]
    if free > 0:
        return False
    symbol_count = starts[_MAX_CODE_BITS + 1]
    by_length = np.empty(symbol_count, np.int64)
    for symbol in range(len(lengths)):
        length = lengths[symbol]
        if length > 0:
            by_length[starts[length]] = symbol
            starts[length] += 1
    # a code comes highest bit first: code holds it reversed, as the bits lie in the data
    code, second_bits, second_start, prefix = 0, longest - table_bits, 1 << table_bits, -1
    for index in range(symbol_count):
        symbol = by_length[index]
        length = lengths[symbol]
        if length <= table_bits:
            entry = np.uint32(entries[symbol] + length | length << _CODE_SHIFT)
            place, step = code, 1 << length
            while place < 1 << table_bits:
                table[place] = entry
                place += step
        else:
            if code & (1 << table_bits) - 1 != prefix:
                prefix = code & (1 << table_bits) - 1
                table[prefix] = np.uint32(
                    _SUBTABLE | second_start << _VALUE_SHIFT | second_bits << _CODE_SHIFT
                )
                second_start += 1 << second_bits
            entry = np.uint32(entries[symbol] + length | length << _CODE_SHIFT)
            place, step = (
                second_start - (1 << second_bits) + (code >> table_bits),
                1 << length - table_bits,
            )
            while place < second_start:
                table[place] = entry
                place += step
        bit = 1 << length - 1
        while code & bit:
            code ^= bit
            bit >>= 1
        code |= bit
    return True


@njit(cache=True)
def _read_block(
    data: np.ndarray,
    position: int,
    end: int,
    bits: np.uint64,
    count: int,
    symbols: np.ndarray,
    distances: np.ndarray,
    out: np.ndarray,
    out_start: int,
    place: int,
    out_end: int,
) -> tuple[np.uint64, int, int, int]:
    """Reads literals and matches up to the end of the block.

    Returns:
        The bits, their number, the position, and the byte behind what was written; that may be
        REFUSED or FULL.
    """
    low_symbol, low_distance = (
        np.uint64((1 << _SYMBOL_BITS) - 1),
        np.uint64((1 << _DISTANCE_BITS) - 1),
    )
    while position <= end + _AHEAD_BYTES:
        bits, count, position = _refill(data, position, bits, count)
        entry = to_int(symbols[bits & low_symbol])
        # two literals of the first table take 20 bits at most
        for _ in range(2):
            if entry & _KIND != _LITERAL:
                break
            if place >= out_end:
                return bits, count, position, FULL
            out[np.uint64(place)] = entry >> _VALUE_SHIFT
            place += 1
            bits, count = bits >> np.uint64(entry & _DROP), count - (entry & _DROP)
            entry = to_int(symbols[bits & low_symbol])
        if entry & _KIND == _SUBTABLE:
            second = bits >> np.uint64(_SYMBOL_BITS) & np.uint64(
                (1 << (entry >> _CODE_SHIFT & _CODE)) - 1
            )
            entry = to_int(symbols[np.uint64(entry >> _VALUE_SHIFT) + second])
        kind = entry & _KIND
        if kind == _LITERAL:
            if place >= out_end:
                return bits, count, position, FULL
            out[np.uint64(place)] = entry >> _VALUE_SHIFT
            place += 1
            bits, count = bits >> np.uint64(entry & _DROP), count - (entry & _DROP)
            continue
        if kind != _BASE:
            if kind != _END:
                return bits, count, position, REFUSED
            return bits >> np.uint64(entry & _DROP), count - (entry & _DROP), position, place
        size, bits, count = _number(entry, bits, count)
        if count < 28:
            bits, count, position = _refill(data, position, bits, count)
        entry = to_int(distances[bits & low_distance])
        if entry & _KIND == _SUBTABLE:
            second = bits >> np.uint64(_DISTANCE_BITS) & np.uint64(
                (1 << (entry >> _CODE_SHIFT & _CODE)) - 1
            )
            entry = to_int(distances[np.uint64(entry >> _VALUE_SHIFT) + second])
        if entry & _KIND != _BASE:
            return bits, count, position, REFUSED
        distance, bits, count = _number(entry, bits, count)
        if distance > place - out_start:
            return bits, count, position, REFUSED
        if size > out_end - place:
            return bits, count, position, FULL
        copy_match(out, place, distance, size)
        place += size
    return bits, count, position, REFUSED


@njit(cache=True)
def _number(entry: int, bits: np.uint64, count: int) -> tuple[int, np.uint64, int]:
    """What an entry of _BASE stands for, with the extra bits behind its code.

    Returns:
        The number, the bits behind it, and how many these are.
    """
    code_bits, all_bits = np.uint64(entry >> _CODE_SHIFT & _CODE), np.uint64(entry & _DROP)
    extra = (bits & (np.uint64(1) << all_bits) - np.uint64(1)) >> code_bits
    return (
        (entry >> _VALUE_SHIFT) + to_int(extra),
        bits >> all_bits,
        count - to_int(all_bits),
    )


@njit(cache=True, nogil=True)
def read_run(
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    out: np.ndarray,
    limit_bytes: int,
    out_ends: np.ndarray,
) -> int:
    """See output.py."""
    place = to_int(0)  # a literal 0 would be a type of its own, for which all is compiled again
    for index in range(len(starts)):
        room = min(len(out) - SLACK_BYTES, place + limit_bytes)
        place = read(data, starts[index], ends[index], out, place, room)
        if place < 0:
            return index
        out_ends[index] = place
    return len(starts)
