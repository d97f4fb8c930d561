"""Numbers as Java's Integer.parseInt and Long.parseLong read them."""

import re

_NUMBER = re.compile(r"([+-]?)(\d+)")
_MAX_DIGITS = 19  # of a long, without leading zeros


def parse_int(text: str) -> int:
    """Returns what Integer.parseInt returns.

    Raises:
        ValueError: the text, of which Java says `For input string: "..."`.
    """
    return _parse(text, 32)


def int_or_none(text: str) -> int | None:
    """Returns what Integer.parseInt returns, None where it throws."""
    try:
        return parse_int(text)
    except ValueError:
        return None


def parse_long(text: str) -> int:
    """Returns what Long.parseLong returns.

    Raises:
        ValueError: the text, of which Java says `For input string: "..."`.
    """
    return _parse(text, 64)


def _parse(text: str, bits: int) -> int:
    if len(text) < 10 and text.isascii() and text.isdecimal():
        return int(text)
    match = _NUMBER.fullmatch(text)
    # any script's decimal digits count, but Java looks at one UTF-16 unit at a time
    if match is None or max(text) > "\uffff":
        raise ValueError(text)
    sign, digits = match.groups()
    # Python reads 4300 digits at the most, of which the first may be zeros
    zeros = next((place for place, digit in enumerate(digits) if int(digit)), len(digits) - 1)
    significant = digits[zeros:]
    number = int(sign + significant) if len(significant) <= _MAX_DIGITS else 1 << bits
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(text)
    return number
