r"""Text as Java reads and writes it, where Python would do it otherwise.

Half a surrogate pair is one U+FFFD, where Python decodes three:

    decode_utf8(b"a\xed\xa0\x80")   "a\ufffd"
    format_double(1048576.0)        "1048576.0"; format_double(1e7) is "1.0E7"
"""

import math
import re

_HALF_PAIR = re.compile(b"\xed[\xa0-\xbf][\x80-\xbf]?")
PLAIN_FROM, PLAIN_BELOW = 1e-3, 1e7  # between them Double.toString writes no exponent


def decode_utf8(data: bytes) -> str:
    """UTF-8 as new String(data, UTF_8) decodes it, malformed bytes as U+FFFD."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _HALF_PAIR.sub(b"\xff", data).decode("utf-8", "replace")


def format_double(number: float) -> str:
    """A number as Double.toString writes it since Java 19: the fewest digits that mean it."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    shortest = f"{number!r}"
    if sum(map(str.isdigit, shortest.partition("e")[0].strip("-0."))) == 1:
        # Java takes the nearest of two digits, where one would do: 4.9E-324
        shortest = f"{number:.1e}"
    mantissa, _, exponent = shortest.partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    integer_digits, _, fraction = mantissa.partition(".")
    digits = (integer_digits + fraction).lstrip("0")
    if not digits:
        return f"{sign}0.0"
    # digits in front of the point
    point = (
        len(integer_digits) + int(exponent or 0) - (len(integer_digits + fraction) - len(digits))
    )
    digits = digits.rstrip("0")
    if PLAIN_FROM <= abs(number) < PLAIN_BELOW:
        zero_padded = "0" * (1 - point) + digits if point < 1 else digits.ljust(point, "0")
        split = max(point, 1)
        return f"{sign}{zero_padded[:split]}.{zero_padded[split:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
