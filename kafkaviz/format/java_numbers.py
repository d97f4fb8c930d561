"""Parses numbers as Java's Integer.parseInt and Long.parseLong do."""

import re

_NUMBER = re.compile(r"([+-]?)(\d+)")
_MAX_DIGITS = 19  # a long has at most 19, without leading zeros


def parse_int(text: str) -> int:
    """Returns what Integer.parseInt returns.

    Raises:
        ValueError: Java throws NumberFormatException; the argument is the text.
    """
    return _parse(text, 32)


def int_or_none(text: str) -> int | None:
    """Returns what Integer.parseInt returns, or None where it throws."""
    try:
        return parse_int(text)
    except ValueError:
        return None


def parse_long(text: str) -> int:
    """Returns what Long.parseLong returns.

    Raises:
        ValueError: Java throws NumberFormatException; the argument is the text.
    """
    return _parse(text, 64)


def _parse(text: str, bits: int) -> int:
    if len(text) < 10 and text.isascii() and text.isdecimal():
        return int(text)
    match = _NUMBER.fullmatch(text)
    # Java accepts decimal digits of any script, but it reads one UTF-16 unit at a time
    if match is None or max(text) > "\uffff":
        raise ValueError(text)
    sign, digits = match.groups()
    # int() refuses more than 4300 digits, but leading zeros do not count for Java
    zeros = next((place for place, digit in enumerate(digits) if int(digit)), len(digits) - 1)
    significant = digits[zeros:]
    number = int(sign + significant) if len(significant) <= _MAX_DIGITS else 1 << bits
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(text)
    return number
