r"""Does what Java does and Python does not: exception names, numbers and text.

For example, Java decodes half of a surrogate pair to one U+FFFD, and Python to three:

    decode_utf8(b"a\xed\xa0\x80")   "a\ufffd"
    format_double(1048576.0)        "1048576.0"; format_double(1e7) is "1.0E7"
"""

import math
import re
from contextlib import suppress

from kafkaviz.errors import FaultKind
from kafkaviz.messages import Message

KAFKA = "org.apache.kafka.common.KafkaException"
ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
OUT_OF_MEMORY = "java.lang.OutOfMemoryError"
INVALID_TXN_STATE = "org.apache.kafka.common.errors.InvalidTxnStateException"
INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"
# for a batch whose length or checksum is wrong
CORRUPT_RECORD = "org.apache.kafka.common.errors.CorruptRecordException"
# what Kafka throws while it iterates over damaged records
EXCEPTIONS = {
    FaultKind.RECORD: INVALID_RECORD,
    FaultKind.END: INVALID_RECORD,
    FaultKind.LEFTOVER: INVALID_RECORD,
    FaultKind.LENGTH: CORRUPT_RECORD,
    FaultKind.SIZE: CORRUPT_RECORD,
    FaultKind.ARGUMENT: ILLEGAL_ARGUMENT,
    FaultKind.CODEC: KAFKA,
    FaultKind.TXN_INDEX: KAFKA,
    FaultKind.BOUNDS: "java.lang.IndexOutOfBoundsException",
}

_IN_DECOMPRESSED = ("corrupt.in_decompressed_messages", "corrupt.in_decompressed_records")
_NUMBER = re.compile(r"([+-]?)(\d+)")
_MAX_DIGITS = 19  # a long has at most 19, without leading zeros
_HALF_PAIR = re.compile(b"\xed[\xa0-\xbf][\x80-\xbf]?")
# in this range Double.toString writes no exponent
PLAIN_FROM = 1e-3
PLAIN_BELOW = 1e7


def without_place(what: Message) -> Message:
    """Removes the position in decompressed data from a message. Kafka prints no such position."""
    return what["problem"] if what.key in _IN_DECOMPRESSED else what


def parse_int(text: str) -> int:
    """Returns what Integer.parseInt returns. Raises ValueError if Java throws."""
    return _parse(text, 32)


def int_or_none(text: str) -> int | None:
    """Returns what Integer.parseInt returns; None if Java throws."""
    with suppress(ValueError):
        return parse_int(text)
    return None


def parse_long(text: str) -> int:
    """Returns what Long.parseLong returns. Raises ValueError if Java throws."""
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


def decode_utf8(data: bytes) -> str:
    """Decodes UTF-8 as Java's new String(data, UTF_8): malformed bytes become U+FFFD."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _HALF_PAIR.sub(b"\xff", data).decode("utf-8", "replace")


def format_double(number: float) -> str:
    """Returns a number as Double.toString prints it since Java 19."""
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
