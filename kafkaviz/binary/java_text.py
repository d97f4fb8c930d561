r"""Text as Java reads and writes it, in the cases where Python differs.

Java decodes half of a surrogate pair to one U+FFFD; Python decodes it to three:

    decode_utf8(b"a\xed\xa0\x80")   "a\ufffd"
    format_double(1048576.0)        "1048576.0"; format_double(1e7) is "1.0E7"
"""

import math
import re

_HALF_PAIR = re.compile(b"\xed[\xa0-\xbf][\x80-\xbf]?")
# in this range Double.toString writes no exponent
PLAIN_FROM = 1e-3
PLAIN_BELOW = 1e7


def decode_utf8(data: bytes) -> str:
    """Decodes UTF-8 as Java's new String(data, UTF_8) does, with malformed bytes as U+FFFD."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _HALF_PAIR.sub(b"\xff", data).decode("utf-8", "replace")


def format_double(number: float) -> str:
    """Returns a number as Double.toString writes it since Java 19, with the fewest digits."""
    if not math.isfinite(number):
        if math.isnan(number):
            return "NaN"
        if number > 0:
            return "Infinity"
        return "-Infinity"
    shortest = f"{number!r}"
    if sum(map(str.isdigit, shortest.partition("e")[0].strip("-0."))) == 1:
        # Java writes the nearest number of two digits even if one is enough: 4.9E-324
        shortest = f"{number:.1e}"
    mantissa, _, exponent = shortest.partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    integer_digits, _, fraction = mantissa.partition(".")
    digits = (integer_digits + fraction).lstrip("0")
    if not digits:
        return f"{sign}0.0"
    # number of digits before the decimal point
    point = (
        len(integer_digits) + int(exponent or 0) - (len(integer_digits + fraction) - len(digits))
    )
    digits = digits.rstrip("0")
    if PLAIN_FROM <= abs(number) < PLAIN_BELOW:
        zero_padded = "0" * (1 - point) + digits if point < 1 else digits.ljust(point, "0")
        split = max(point, 1)
        return f"{sign}{zero_padded[:split]}.{zero_padded[split:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
