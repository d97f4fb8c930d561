"""zstd, compiled: one frame without a dictionary (RFC 8878).

A frame is a header, blocks, and perhaps a checksum of the data. A compressed block is literals and
sequences: a sequence says how many literals to copy, how far back a match lies, and how long it is.
Literals are in a Huffman code, mostly in four streams of their own, which are read side by side;
the three numbers of a sequence in three FSE codes, in one stream. A stream is read from its end to
its beginning.

FSE is a table that walks: a state is a place in it, and the entry there says what the state stands
for, how many bits come next, and what to add to them for the next state. An entry here, from its
lowest bit:

    16 bits  what to add
     8 bits  how many bits of the next state
     8 bits  how many extra bits
    32 bits  what to add to these, for the number that the state stands for
"""

from typing import Any

import numpy as np
from numba import njit

from kafkaviz.binary.decoders.output import FULL, REFUSED, SLACK_BYTES, copy_input, copy_match
from kafkaviz.binary.words import highest_bit, load_8, load_16, load_32, load_64, to_int
from kafkaviz.binary.xxh64 import hash_range

_MAGIC = 0xFD2FB528
_MAX_BLOCK_BYTES = 128 * 1024
_MAX_WINDOW_BITS = 26  # what is above is left to the library, which has a limit
_BEFORE_BYTES = 32  # what may be read in front of the data
_RAW, _RLE, _COMPRESSED, _TREELESS = 0, 1, 2, 3  # literals; the first three are blocks too
_PREDEFINED, _SINGLE, _FSE, _REPEAT = 0, 1, 2, 3  # the tables of sequences
_LENGTHS, _DISTANCES, _MATCHES = 0, 1, 2  # of literals, of matches: in the order of the tables
_MAX_TABLE_BITS = np.array([9, 8, 9])
_MAX_HUFFMAN_BITS, _MAX_WEIGHT_BITS, _MAX_WEIGHT, _MAX_SYMBOLS = 11, 6, 12, 256
_HUFFMAN, _FIRST_TABLE, _REPEATED = 0, 1, 4  # places in the state of a frame
_BASE_SHIFT, _EXTRA_SHIFT, _BITS_SHIFT = 32, 24, 16


def _bases(extra_bits: list[int], first: int) -> list[int]:
    """The least number of each symbol, whose numbers follow those of the symbol before."""
    return (first + np.cumsum([0] + [1 << bits for bits in extra_bits[:-1]])).tolist()


def _symbol_entries() -> np.ndarray:
    """What an entry says of the symbol it stands for: base and extra bits.

    Returns:
        An array of uint64, shape (3, 53): 0 where a code has no such symbol.
    """
    length_bits = [0] * 16 + [1] * 4 + [2, 2, 3, 3, 4, *range(6, 17)]
    match_bits = [0] * 32 + [1] * 4 + [2, 2, 3, 3, 4, 4, 5, *range(7, 17)]
    entries = np.zeros((3, 53), np.uint64)
    for place, bits, bases in (
        (_LENGTHS, length_bits, _bases(length_bits, 0)),
        (_DISTANCES, range(32), [1 << code for code in range(32)]),
        (_MATCHES, match_bits, _bases(match_bits, 3)),
    ):
        entries[place, : len(bases)] = [
            base << _BASE_SHIFT | extra << _EXTRA_SHIFT
            for base, extra in zip(bases, bits, strict=True)
        ]
    return entries


_SYMBOL_ENTRIES = _symbol_entries()
_SYMBOL_COUNTS = np.array([36, 32, 53])
_PREDEFINED_BITS = np.array([6, 5, 6])
# of each symbol: in how many of the states it stands; -1 for one whose state always needs all bits
_PREDEFINED_COUNTS = np.zeros((3, 53), np.int64)
_PREDEFINED_COUNTS[_LENGTHS, :36] = (
    [4, 3] + [2] * 11 + [1] * 3 + [2] * 9 + [3, 2] + [1] * 5 + [-1] * 4
)  # fmt: skip
_PREDEFINED_COUNTS[_DISTANCES, :29] = [1] * 6 + [2, 2, 2] + [1] * 15 + [-1] * 5
_PREDEFINED_COUNTS[_MATCHES] = (
    [1, 4, 3, 2, 2, 2, 2, 2, 2] + [1] * 37 + [-1] * 7
)  # fmt: skip


@njit(cache=True)
def read(
    data: np.ndarray, start: int, end: int, out: np.ndarray, out_start: int, out_end: int
) -> int:
    """See output.py. A checksum, if there is one, is looked at."""
    if (
        start < _BEFORE_BYTES
        or end - start < 9
        or end + SLACK_BYTES > len(data)
        or load_32(data, start) != _MAGIC
    ):
        return REFUSED
    flags, position = load_8(data, start + 4), start + 5
    if flags & 0b1011:  # a reserved bit, a dictionary
        return REFUSED
    is_single, size_kind = flags & 0b100000 != 0, flags >> 6
    window_bytes = to_int(0)
    if not is_single:
        field, position = load_8(data, position), position + 1
        window_bits = 10 + (field >> 3)
        if window_bits > _MAX_WINDOW_BITS:
            return REFUSED
        window_bytes = (1 << window_bits) + (field & 7) * (1 << window_bits - 3)
    size_bytes = -1
    if size_kind == 1:
        size_bytes, position = 256 + load_16(data, position), position + 2
    elif size_kind == 2:
        size_bytes, position = load_32(data, position), position + 4
    elif size_kind == 3:
        size_bytes, position = to_int(load_64(data, position)), position + 8
        if size_bytes < 0:
            return REFUSED
    elif is_single:
        size_bytes, position = load_8(data, position), position + 1
    if size_bytes > out_end - out_start:
        return FULL
    if is_single:
        window_bytes = size_bytes
    position, place = _blocks(data, position, end, out, out_start, out_end, window_bytes)
    if place < 0:
        return place
    if flags & 0b100:
        if position + 4 > end:
            return REFUSED
        hash_32 = to_int(hash_range(out, out_start, place) & np.uint64(0xFFFFFFFF))
        if load_32(data, position) != hash_32:
            return REFUSED
        position += 4
    if position != end or (size_bytes >= 0 and place - out_start != size_bytes):
        return REFUSED
    return place


@njit(cache=True)
def _blocks(
    data: np.ndarray,
    position: int,
    end: int,
    out: np.ndarray,
    out_start: int,
    out_end: int,
    window_bytes: int,
) -> tuple[int, int]:
    """Decompresses blocks up to the last.

    Returns:
        The bytes behind what was read and written; the second may be REFUSED or FULL.
    """
    huffman, tables = np.empty(1 << _MAX_HUFFMAN_BITS, np.uint16), np.empty((3, 512), np.uint64)
    # bits of the Huffman table and of the three others, -1 before there is one; the last distances
    state = np.array([-1, -1, -1, -1, 1, 4, 8])
    block_bytes, place, is_last = min(window_bytes, _MAX_BLOCK_BYTES), out_start, False
    while not is_last:
        if position + 3 > end:
            return position, REFUSED
        header, position = load_32(data, position) & 0xFFFFFF, position + 3
        is_last, kind, size_bytes = header & 1 != 0, header >> 1 & 3, header >> 3
        if size_bytes > block_bytes:
            return position, REFUSED
        if kind == _RLE:
            if position + 1 > end:
                return position, REFUSED
            if size_bytes > out_end - place:
                return position, FULL
            out[place : place + size_bytes] = data[position]
            position, place = position + 1, place + size_bytes
            continue
        if size_bytes > end - position:
            return position, REFUSED
        if kind == _RAW:
            if size_bytes > out_end - place:
                return position, FULL
            copy_input(data, position, size_bytes, out, place)
            place += size_bytes
        elif kind == _COMPRESSED:
            place = _compressed_block(
                data,
                position,
                position + size_bytes,
                out,
                out_start,
                place,
                out_end,
                block_bytes,
                window_bytes,
                huffman,
                tables,
                state,
            )
            if place < 0:
                return position, place
        else:
            return position, REFUSED
        position += size_bytes
    return position, place


@njit(cache=True)
def _compressed_block(
    data: np.ndarray,
    position: int,
    end: int,
    out: np.ndarray,
    out_start: int,
    place: int,
    out_end: int,
    block_bytes: int,
    window_bytes: int,
    huffman: np.ndarray,
    tables: np.ndarray,
    state: np.ndarray,
) -> int:
    """Decompresses a block of literals and sequences.

    Returns:
        The byte behind what was written, REFUSED or FULL.
    """
    if end - position < 2:
        return REFUSED
    kind, size_format = (
        load_8(data, position) & 3,
        load_8(data, position) >> 2 & 3,
    )
    field = to_int(load_64(data, position) & np.uint64((1 << 40) - 1))
    stream_bytes, is_single_stream = 0, True
    if kind in (_RAW, _RLE):
        header_bytes = (1, 2, 1, 3)[size_format]
        literal_count = (
            field >> 3 & 0x1F if header_bytes == 1 else field >> 4 & (1 << 8 * header_bytes - 4) - 1
        )
        stream_bytes = literal_count if kind == _RAW else 1
    else:
        header_bytes, size_bits = (3, 3, 4, 5)[size_format], (10, 10, 14, 18)[size_format]
        literal_count = field >> 4 & (1 << size_bits) - 1
        stream_bytes = field >> 4 + size_bits & (1 << size_bits) - 1
        is_single_stream = size_format == 0
    position += header_bytes
    if literal_count > block_bytes or stream_bytes > end - position:
        return REFUSED
    literals = np.empty(literal_count + SLACK_BYTES, np.uint8)
    if kind == _RAW:
        copy_input(data, position, literal_count, literals, to_int(0))
    elif kind == _RLE:
        literals[:literal_count] = data[position]
    else:
        streams = position
        if kind == _COMPRESSED:
            streams = _read_huffman_table(data, position, position + stream_bytes, huffman, state)
        if (
            streams < 0
            or state[_HUFFMAN] < 0
            or not _read_literals(
                data,
                streams,
                position + stream_bytes,
                huffman,
                state[_HUFFMAN],
                literals,
                literal_count,
                is_single_stream,
            )
        ):
            return REFUSED
    return _read_sequences(
        data,
        position + stream_bytes,
        end,
        literals,
        literal_count,
        out,
        out_start,
        place,
        out_end,
        block_bytes,
        window_bytes,
        tables,
        state,
    )


# ---- streams that are read from their end; left is the number of bits that are


@njit(cache=True)
def _stream_bits(data: np.ndarray, start: int, end: int) -> int:
    """How many bits a stream has, below the highest bit set in its last byte.

    Returns:
        -1 where none is.
    """
    last = load_8(data, end - 1) if end > start else 0
    return 8 * (end - start - 1) + _highest_bit(to_int(last)) if last else -1


@njit(cache=True)
def _highest_bit(number: int) -> int:
    """The place of the highest bit set in a number above 0."""
    return highest_bit(number)


@njit(cache=True)
def _word(data: np.ndarray, start: int, left: int) -> np.uint64:
    """The next bits of a stream, the next one highest: 57 or more."""
    return load_64(data, start + (left + 7 >> 3) - 8) << np.uint64(-left & 7)


@njit(cache=True)
def _top(word: np.uint64, count: int) -> int:
    """The highest bits of a word as a number; count is less than 64."""
    return to_int(word >> np.uint64(1) >> np.uint64(63 - count))


# ---- literals


@njit(cache=True)
def _read_huffman_table(
    data: np.ndarray, position: int, end: int, table: np.ndarray, state: np.ndarray
) -> int:
    """Reads the weights of a Huffman code, and fills its table: bits of the code, and the symbol.

    Returns:
        The byte behind the weights, or REFUSED.
    """
    weights = np.empty(_MAX_SYMBOLS, np.int64)
    if position >= end:
        return REFUSED
    header, position = load_8(data, position), position + 1
    if header >= 128:
        count = header - 127
        behind = position + (count + 1 >> 1)
        if behind > end:
            return REFUSED
        for place in range(count):
            byte = load_8(data, position + (place >> 1))
            weights[place] = byte & 15 if place & 1 else byte >> 4
    else:
        behind = position + header
        if behind > end:
            return REFUSED
        count = _read_weights(data, position, behind, weights)
        if count < 0:
            return REFUSED
    ranks, total = np.zeros(_MAX_HUFFMAN_BITS + 2, np.int64), 0
    for place in range(count):
        weight = weights[place]
        if weight > _MAX_HUFFMAN_BITS:
            return REFUSED
        ranks[weight] += 1
        total += 1 << weight >> 1
    if total == 0:
        return REFUSED
    # the last symbol's weight is what is missing to a power of two
    bits = _highest_bit(total) + 1
    missing = (1 << bits) - total
    if bits > _MAX_HUFFMAN_BITS or missing & missing - 1:
        return REFUSED
    weights[count] = _highest_bit(missing) + 1
    ranks[weights[count]] += 1
    if ranks[1] < 2 or ranks[1] & 1:
        return REFUSED
    start = 0
    for weight in range(1, bits + 1):
        ranks[weight], start = start, start + (ranks[weight] << weight - 1)
    for symbol in range(count + 1):
        weight = weights[symbol]
        if weight:
            first, entry = ranks[weight], np.uint16(symbol | bits + 1 - weight << 8)
            last = first + (1 << weight - 1)
            ranks[weight] = last
            for place in range(first, last):
                table[place] = entry
    state[_HUFFMAN] = bits
    return behind


@njit(cache=True)
def _read_weights(data: np.ndarray, position: int, end: int, weights: np.ndarray) -> int:
    """Reads weights that are in an FSE code, two states in turn.

    Returns:
        Their number, or REFUSED.
    """
    counts = np.zeros(_MAX_WEIGHT + 1, np.int64)
    position, bits = _read_counts(
        data, position, end, to_int(_MAX_WEIGHT_BITS), to_int(_MAX_WEIGHT), counts
    )
    if position < 0:
        return REFUSED
    table = np.empty(1 << _MAX_WEIGHT_BITS, np.uint64)
    _fill_table(table, bits, counts, _WEIGHT_ENTRIES)
    left = _stream_bits(data, position, end)
    if left < 2 * bits:
        return REFUSED
    word = _word(data, position, left)
    first, second = _top(word, bits), _top(word << np.uint64(bits), bits)
    left, count = left - 2 * bits, 0
    while count < _MAX_SYMBOLS - 2:
        entry = to_int(table[first])
        weights[count] = entry >> _BASE_SHIFT
        count += 1
        needed = entry >> _BITS_SHIFT & 0xFF
        if needed > left:
            weights[count] = to_int(table[second]) >> _BASE_SHIFT
            return count + 1
        first = (entry & 0xFFFF) + _top(_word(data, position, left), needed)
        left -= needed
        first, second = second, first
    return REFUSED


_WEIGHT_ENTRIES = np.arange(_MAX_WEIGHT + 1).astype(np.uint64) << np.uint64(_BASE_SHIFT)


@njit(cache=True)
def _read_literals(
    data: np.ndarray,
    position: int,
    end: int,
    table: np.ndarray,
    bits: int,
    literals: np.ndarray,
    count: int,
    is_single_stream: bool,
) -> bool:
    """Reads literals in one stream or four; whether these end where they should."""
    if is_single_stream:
        left = _stream_bits(data, position, end)
        return left >= 0 and _read_stream(
            data, position, left, table, bits, literals, to_int(0), count
        )
    if end - position < 10 or count < 6:
        return False
    first = position + 6
    second = first + load_16(data, position)
    third = second + load_16(data, position + 2)
    fourth = third + load_16(data, position + 4)
    if fourth >= end:
        return False
    lefts = (
        _stream_bits(data, first, second),
        _stream_bits(data, second, third),
        _stream_bits(data, third, fourth),
        _stream_bits(data, fourth, end),
    )
    if min(lefts) < 0:
        return False
    part = count + 3 >> 2
    last_part = count - 3 * part
    if last_part < 0:
        return False
    left_1, left_2, left_3, left_4 = lefts
    place, shift = 0, np.uint64(64 - bits)
    while place + 5 <= last_part and left_1 | left_2 | left_3 | left_4 >= 0:
        word_1, word_2 = _word(data, first, left_1), _word(data, second, left_2)
        word_3, word_4 = _word(data, third, left_3), _word(data, fourth, left_4)
        for step in range(place, place + 5):
            entry_1, entry_2 = table[word_1 >> shift], table[word_2 >> shift]
            entry_3, entry_4 = table[word_3 >> shift], table[word_4 >> shift]
            literals[np.uint64(step)] = entry_1 & 0xFF
            literals[np.uint64(step + part)] = entry_2 & 0xFF
            literals[np.uint64(step + 2 * part)] = entry_3 & 0xFF
            literals[np.uint64(step + 3 * part)] = entry_4 & 0xFF
            code_1, code_2 = np.uint64(entry_1 >> 8), np.uint64(entry_2 >> 8)
            code_3, code_4 = np.uint64(entry_3 >> 8), np.uint64(entry_4 >> 8)
            word_1, word_2 = word_1 << code_1, word_2 << code_2
            word_3, word_4 = word_3 << code_3, word_4 << code_4
            left_1, left_2 = left_1 - to_int(code_1), left_2 - to_int(code_2)
            left_3, left_4 = left_3 - to_int(code_3), left_4 - to_int(code_4)
        place += 5
    return (
        _read_stream(data, first, left_1, table, bits, literals, place, part)
        and _read_stream(data, second, left_2, table, bits, literals, part + place, 2 * part)
        and _read_stream(data, third, left_3, table, bits, literals, 2 * part + place, 3 * part)
        and _read_stream(data, fourth, left_4, table, bits, literals, 3 * part + place, count)
    )


@njit(cache=True)
def _read_stream(
    data: np.ndarray,
    start: int,
    left: int,
    table: np.ndarray,
    bits: int,
    literals: np.ndarray,
    place: int,
    end: int,
) -> bool:
    """Reads the literals from one place to another; whether that takes all bits."""
    shift = np.uint64(64 - bits)
    while place + 5 <= end and left >= 0:
        word = _word(data, start, left)
        for step in range(place, place + 5):
            entry = table[word >> shift]
            literals[np.uint64(step)] = entry & 0xFF
            code = np.uint64(entry >> 8)
            word, left = word << code, left - to_int(code)
        place += 5
    while place < end and left >= 0:
        entry = table[_word(data, start, left) >> shift]
        literals[np.uint64(place)] = entry & 0xFF
        left -= to_int(entry >> 8)
        place += 1
    return place == end and left == 0


# ---- FSE


@njit(cache=True)
def _read_counts(
    data: np.ndarray, position: int, end: int, max_bits: int, max_symbol: int, counts: np.ndarray
) -> tuple[int, int]:
    """Reads in how many states of an FSE code each symbol stands.

    Args:
        counts: to be filled up to the last symbol; 0 in the beginning.

    Returns:
        The byte behind what was read, or REFUSED; and the bits of the code.
    """
    if position >= end:
        return REFUSED, 0
    bits = (load_8(data, position) & 15) + 5
    if bits > max_bits:
        return REFUSED, 0
    remaining, symbol, place = 1 << bits, 0, 4  # place: of the next bit
    while remaining > 0:
        if symbol > max_symbol or position + (place >> 3) >= end:
            return REFUSED, 0
        word = load_32(data, position + (place >> 3)) >> (place & 7)
        # a number up to remaining + 1, of which the lowest take a bit less
        size = _highest_bit(remaining + 1) + 1
        low, spare = (1 << size - 1) - 1, (1 << size) - 2 - remaining
        number = word & (1 << size) - 1
        if number & low < spare:
            number, place = number & low, place + size - 1
        else:
            number, place = number - (spare if number > low else 0), place + size
        counts[symbol] = number - 1
        symbol += 1
        remaining -= abs(number - 1)
        if number == 1:
            repeat = 3
            while repeat == 3:
                if position + (place >> 3) >= end:
                    return REFUSED, 0
                word = load_16(data, position + (place >> 3))
                repeat = word >> (place & 7) & 3
                place += 2
                symbol += repeat
                if symbol > max_symbol + 1:
                    return REFUSED, 0
    position += place + 7 >> 3
    if remaining < 0 or position > end:
        return REFUSED, 0
    return position, bits


@njit(cache=True)
def _fill_table(
    table: np.ndarray, bits: int, counts: np.ndarray, symbol_entries: np.ndarray
) -> None:
    """Fills the table of an FSE code.

    Args:
        counts: of each symbol, which add up to the number of states.
    """
    size = 1 << bits
    symbols, following = np.empty(size, np.int64), np.empty(len(counts), np.int64)
    last = size - 1
    for symbol in range(len(counts)):
        following[symbol] = counts[symbol]
        if counts[symbol] == -1:
            following[symbol] = 1
            symbols[last] = symbol
            last -= 1
    place, step = 0, (size >> 1) + (size >> 3) + 3
    for symbol in range(len(counts)):
        for _ in range(counts[symbol]):
            symbols[place] = symbol
            place = place + step & size - 1
            while place > last:
                place = place + step & size - 1
    for place in range(size):
        symbol = symbols[place]
        number = following[symbol]
        following[symbol] += 1
        needed = bits - _highest_bit(number)
        table[place] = symbol_entries[symbol] | np.uint64(
            needed << _BITS_SHIFT | (number << needed) - size
        )


@njit(cache=True)
def _read_table(
    data: np.ndarray,
    position: int,
    end: int,
    mode: int,
    which: int,
    tables: np.ndarray,
    state: np.ndarray,
) -> int:
    """Makes the table of one of the three codes of sequences.

    Returns:
        The byte behind what was read for it, or REFUSED.
    """
    if mode == _REPEAT:
        return position if state[_FIRST_TABLE + which] >= 0 else REFUSED
    table, bits, entries = tables[which], 0, _SYMBOL_ENTRIES[which]
    if mode == _PREDEFINED:
        bits = _PREDEFINED_BITS[which]
        for place in range(1 << bits):
            table[place] = _PREDEFINED_TABLES[which, place]
    elif mode == _SINGLE:
        symbol = load_8(data, position)
        if position >= end or symbol >= _SYMBOL_COUNTS[which]:
            return REFUSED
        table[0], position = entries[symbol], position + 1
    else:
        counts = np.zeros(53, np.int64)
        position, bits = _read_counts(
            data, position, end, _MAX_TABLE_BITS[which], _SYMBOL_COUNTS[which] - 1, counts
        )
        if position < 0:
            return REFUSED
        _fill_table(table, bits, counts, entries)
    state[_FIRST_TABLE + which] = bits
    return position


def _predefined_tables() -> np.ndarray:
    """The tables of sequences that a block need not bring, shape (3, 64)."""
    tables = np.zeros((3, 64), np.uint64)
    fill: Any = _fill_table.py_func
    for which in (_LENGTHS, _DISTANCES, _MATCHES):
        bits, counts = int(_PREDEFINED_BITS[which]), _PREDEFINED_COUNTS[which]
        fill(tables[which], bits, counts, _SYMBOL_ENTRIES[which])
    return tables


_PREDEFINED_TABLES = _predefined_tables()


# ---- sequences


@njit(cache=True)
def _read_sequences(
    data: np.ndarray,
    position: int,
    end: int,
    literals: np.ndarray,
    literal_count: int,
    out: np.ndarray,
    out_start: int,
    place: int,
    out_end: int,
    block_bytes: int,
    window_bytes: int,
    tables: np.ndarray,
    state: np.ndarray,
) -> int:
    """Puts literals and matches together.

    Returns:
        The byte behind what was written, REFUSED or FULL.
    """
    if position >= end:
        return REFUSED
    sequence_count, position = load_8(data, position), position + 1
    if sequence_count == 255:
        sequence_count, position = 0x7F00 + load_16(data, position), position + 2
    elif sequence_count >= 128:
        sequence_count = (sequence_count - 128 << 8) + load_8(data, position)
        position += 1
    # behind this byte the room does not do, or the block is too large
    bound = min(out_end, place + block_bytes)
    short = FULL if out_end < place + block_bytes else REFUSED
    next_literal = to_int(0)
    if sequence_count:
        modes, position = load_8(data, position), position + 1
        if modes & 3:
            return REFUSED
        for which in range(3):
            if position > end:
                return REFUSED
            position = _read_table(
                data, position, end, modes >> 6 - 2 * which & 3, which, tables, state
            )
            if position < 0:
                return REFUSED
        left = _stream_bits(data, position, end)
        length_table, distance_table, match_table = tables[0], tables[1], tables[2]
        length_bits, distance_bits, match_bits = state[1], state[2], state[3]
        left_behind = left - length_bits - distance_bits - match_bits
        if left_behind < 0:
            return REFUSED
        word = _word(data, position, left)
        length_state = np.uint64(_top(word, length_bits))
        distance_state = np.uint64(_top(word << np.uint64(length_bits), distance_bits))
        match_state = np.uint64(_top(word << np.uint64(length_bits + distance_bits), match_bits))
        left = left_behind
        first, second, third = state[_REPEATED], state[_REPEATED + 1], state[_REPEATED + 2]
        for number in range(sequence_count):
            length_entry, distance_entry, match_entry = (
                length_table[length_state],
                distance_table[distance_state],
                match_table[match_state],
            )
            word = _word(data, position, left)
            extra = to_int(distance_entry >> np.uint64(_EXTRA_SHIFT)) & 0xFF
            distance = to_int(distance_entry >> np.uint64(_BASE_SHIFT)) + _top(word, extra)
            left -= extra
            word = _word(data, position, left)
            extra = to_int(match_entry >> np.uint64(_EXTRA_SHIFT)) & 0xFF
            match_bytes = to_int(match_entry >> np.uint64(_BASE_SHIFT)) + _top(word, extra)
            word, left = word << np.uint64(extra), left - extra
            extra = to_int(length_entry >> np.uint64(_EXTRA_SHIFT)) & 0xFF
            length = to_int(length_entry >> np.uint64(_BASE_SHIFT)) + _top(word, extra)
            left -= extra
            if number + 1 < sequence_count:
                word = _word(data, position, left)
                needed = length_entry >> np.uint64(_BITS_SHIFT) & np.uint64(0xFF)
                length_state = (length_entry & np.uint64(0xFFFF)) + np.uint64(
                    _top(word, to_int(needed))
                )
                word, left = word << needed, left - to_int(needed)
                needed = match_entry >> np.uint64(_BITS_SHIFT) & np.uint64(0xFF)
                match_state = (match_entry & np.uint64(0xFFFF)) + np.uint64(
                    _top(word, to_int(needed))
                )
                word, left = word << needed, left - to_int(needed)
                needed = distance_entry >> np.uint64(_BITS_SHIFT) & np.uint64(0xFF)
                distance_state = (distance_entry & np.uint64(0xFFFF)) + np.uint64(
                    _top(word, to_int(needed))
                )
                left -= to_int(needed)
            if left < 0:
                return REFUSED
            if distance > 3:
                distance -= 3
                first, second, third = distance, first, second
            else:
                # one of the last three distances; without literals, the others of these
                repeat = distance - (1 if length else 0)
                if repeat == 0:
                    distance = first
                elif repeat == 1:
                    distance = second
                    first, second = second, first
                elif repeat == 2:
                    distance = third
                    first, second, third = third, first, second
                else:
                    distance = first - 1
                    first, second, third = distance, first, second
            if length > literal_count - next_literal:
                return REFUSED
            if length + match_bytes > bound - place:
                return short
            copy_input(literals, next_literal, length, out, place)
            next_literal, place = next_literal + length, place + length
            if distance <= 0 or distance > min(place - out_start, window_bytes):
                return REFUSED
            copy_match(out, place, distance, match_bytes)
            place += match_bytes
        if left != 0:
            return REFUSED
        state[_REPEATED], state[_REPEATED + 1], state[_REPEATED + 2] = first, second, third
    elif position != end:
        return REFUSED
    rest = literal_count - next_literal
    if rest > bound - place:
        return short
    copy_input(literals, next_literal, rest, out, place)
    return place + rest


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
