"""The behaviour of Java that is visible in Kafka's tools: hash maps, paths, numbers and text."""

import os
import re
from collections.abc import Iterable

from kafkaviz.binary import java_text
from kafkaviz.cli.dumping.java_exception import JavaException

_LONG = re.compile(r"[+-]?[0-9]+")


def string_hash(text: str) -> int:
    """Returns Java's String.hashCode as an unsigned 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def hash_order(keys: Iterable[str]) -> list[str]:
    """Returns the keys in the order of a Java HashMap into which they were put one after another.

    The map starts with 16 buckets. It doubles before an insertion that finds it three quarters
    full. A new key goes to the front of its bucket.
    """
    buckets: list[list[str]] = [[] for _ in range(16)]
    for count, key in enumerate(keys):
        if count > len(buckets) * 3 // 4:
            buckets = _double(buckets)
        buckets[_spread(key) % len(buckets)].insert(0, key)
    return [key for bucket in buckets for key in bucket]


def _double(buckets: list[list[str]]) -> list[list[str]]:
    """Returns twice as many buckets; keys that stay together keep their order."""
    larger: list[list[str]] = [[] for _ in range(2 * len(buckets))]
    for bucket in buckets:
        for key in bucket:
            larger[_spread(key) % len(larger)].append(key)
    return larger


def _spread(key: str) -> int:
    number = string_hash(key)
    return number ^ number >> 16


def path(text: str) -> str:
    """Normalises a path as java.io.File does: single slashes, none at the end."""
    collapsed = re.sub("/+", "/", text)
    return collapsed.removesuffix("/") or collapsed


def absolute(text: str) -> str:
    """Returns the result of Java's File.getAbsolutePath, which resolves nothing."""
    return text if text.startswith("/") else path(f"{os.getcwd()}/{text}")


def split_list(text: str) -> list[str]:
    """Splits like Java's String.split(","): empty pieces at the end are dropped.

    A text without a comma stays one piece, even if it is empty.
    """
    pieces = text.split(",")
    while len(pieces) > 1 and not pieces[-1]:
        pieces.pop()
    return [] if pieces == [""] and text else pieces


def parse_long(text: str) -> int:
    """Parses a number like Java's Long.parseLong; raises JavaException if it throws."""
    if not _LONG.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise JavaException("java.lang.NumberFormatException", f'For input string: "{text}"')
    return int(text)


def decode_utf8(data: bytes) -> bytes:
    """Returns UTF-8 as Java would read and write it; valid UTF-8 is unchanged."""
    try:
        data.decode()
        return data
    except UnicodeDecodeError:
        return java_text.decode_utf8(data).encode()
