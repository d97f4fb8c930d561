"""Lines of text from columns of numbers, thousands at a time: constant words, decimals and choices
between words.

    render("offset: ", offsets, " position: ", positions, "\\n")

gives the bytes of one line a row. A plain f-string does the same in a tenth of the speed.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numba import njit

NUMBER_BYTES = 20  # -9223372036854775808
_POWERS = np.array([10**digits for digits in range(NUMBER_BYTES)], np.uint64)
_TENS, _ONES = (
    np.array([ord(f"{number:02}"[place]) for number in range(100)], np.uint8) for place in range(2)
)
_TEXT, _NUMBER, _WORD, _MASKED = range(4)


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A choice: each row shows words[index] of its own index."""

    index: np.ndarray
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Masked:
    """A number that only some rows show."""

    numbers: np.ndarray
    shown: np.ndarray


Part = str | np.ndarray | Word | Masked


def flag(column: np.ndarray) -> Word:
    """true or false."""
    return Word(column, ("false", "true"))


def render(*parts: Part) -> np.ndarray:
    """The bytes (uint8) of all lines; each part is a column of as many rows, or a text that stands
    in every row.
    """
    return rendered(*parts)[0]


def rendered(*parts: Part) -> tuple[np.ndarray, np.ndarray]:
    """The same, and the byte behind each line."""
    kinds, texts, columns, shown = _laid_out(parts)
    count = len(columns)
    joined, starts, ends, word_from, widest_bytes = texts
    out, line_ends = np.empty(count * widest_bytes, np.uint8), np.empty(count, np.int64)
    filled = _write(kinds, joined, starts, ends, word_from, columns, shown, out, line_ends)
    return out[:filled], line_ends


def _laid_out(parts: tuple[Part, ...]) -> tuple:
    """What _write takes: the kind of each part, all texts, and a matrix with a column a part."""
    kinds = np.array([_kind(part) for part in parts], np.uint8)
    rows = next(len(_column(part)) for part in parts if not isinstance(part, str))
    columns, shown = np.zeros((rows, len(parts)), np.int64), np.ones((rows, len(parts)), np.bool_)
    for place, part in enumerate(parts):
        if not isinstance(part, str):
            columns[:, place] = _column(part)
        if isinstance(part, Masked):
            shown[:, place] = part.shown
    return kinds, _joined(tuple(_words(part) for part in parts)), columns, shown


def _kind(part: Part) -> int:
    return (
        _TEXT
        if isinstance(part, str)
        else _WORD
        if isinstance(part, Word)
        else _MASKED
        if isinstance(part, Masked)
        else _NUMBER
    )


def _column(part: Part) -> np.ndarray:
    return (
        part.index
        if isinstance(part, Word)
        else part.numbers
        if isinstance(part, Masked)
        else cast(np.ndarray, part)
    )


def _words(part: Part) -> tuple[str, ...]:
    return (part,) if isinstance(part, str) else part.words if isinstance(part, Word) else ()


@lru_cache(maxsize=64)
def _joined(words: tuple[tuple[str, ...], ...]) -> tuple:
    """All texts as one array, the start and end of each, the first of each part, and the most bytes
    a line can take.
    """
    texts = [text.encode() for part in words for text in part]
    ends = np.cumsum([0, *map(len, texts)])
    first = np.cumsum([0, *map(len, words)])[:-1]
    widest_bytes = sum(
        max((len(text.encode()) for text in part), default=NUMBER_BYTES) for part in words
    )
    return (
        np.frombuffer(b"".join(texts) or b" ", np.uint8),
        ends[:-1],
        ends[1:],
        first,
        widest_bytes,
    )


@njit(cache=True)
def _write(kinds, texts, starts, ends, word_from, columns, shown, out, line_ends):
    """Fills out line by line; how many bytes it took."""
    at = 0
    for row in range(len(columns)):
        for place in range(len(kinds)):
            kind, value = kinds[place], columns[row, place]
            if kind in (_TEXT, _WORD):
                word = word_from[place] + value
                for byte in range(starts[word], ends[word]):
                    out[at] = texts[byte]
                    at += 1
            elif kind == _NUMBER or shown[row, place]:
                at = decimal(value, out, at)
        line_ends[row] = at
    return at


@njit(cache=True)
def decimal(value, out, at):
    """Writes a signed number; the place behind it."""
    left = np.uint64(value)
    if value < 0:
        out[at] = 45
        at, left = at + 1, np.uint64(0) - left
    digits = 1
    while digits < len(_POWERS) and left >= _POWERS[digits]:
        digits += 1
    place = at + digits
    while left >= np.uint64(100):  # two digits a division, which is what takes the time
        rest = left // np.uint64(100)
        pair = np.int64(left - rest * np.uint64(100))
        place, left = place - 2, rest
        out[place], out[place + 1] = _TENS[pair], _ONES[pair]
    if place - at == 2:
        out[at], out[at + 1] = _TENS[np.int64(left)], _ONES[np.int64(left)]
    else:
        out[at] = _ONES[np.int64(left)]
    return at + digits
