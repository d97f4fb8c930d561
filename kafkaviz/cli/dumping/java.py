"""The ways of Java that show in what Kafka's tools print: hash maps, paths, numbers and text."""

import os
import re
from collections.abc import Iterable

from kafkaviz.binary import java_text
from kafkaviz.cli.dumping.java_exception import JavaException

_LONG = re.compile(r"[+-]?[0-9]+")


def string_hash(text: str) -> int:
    """String.hashCode as an unsigned number of 32 bits: 31 h + unit, over the UTF-16 units."""
    units, value = text.encode("utf-16-be", "surrogatepass"), 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def hash_order(keys: Iterable[str]) -> list[str]:
    """The keys, put in one after another, in the order in which the tool's HashMap lists them.

    16 buckets, doubled before an insertion that finds them three quarters full; a new key goes to
    the front of its bucket.
    """
    buckets: list[list[str]] = [[] for _ in range(16)]
    for count, key in enumerate(keys):
        if count > len(buckets) * 3 // 4:
            buckets = _double(buckets)
        buckets[_spread(key) % len(buckets)].insert(0, key)
    return [key for bucket in buckets for key in bucket]


def _double(buckets: list[list[str]]) -> list[list[str]]:
    """Twice as many buckets; keys that stay together keep their order."""
    larger: list[list[str]] = [[] for _ in range(2 * len(buckets))]
    for bucket in buckets:
        for key in bucket:
            larger[_spread(key) % len(larger)].append(key)
    return larger


def _spread(key: str) -> int:
    number = string_hash(key)
    return number ^ number >> 16


def path(text: str) -> str:
    """A path as java.io.File keeps it: slashes once, none at the end."""
    collapsed = re.sub("/+", "/", text)
    return collapsed.removesuffix("/") or collapsed


def absolute(text: str) -> str:
    """File.getAbsolutePath: below the working directory, nothing resolved."""
    return text if text.startswith("/") else path(f"{os.getcwd()}/{text}")


def split_list(text: str) -> list[str]:
    """String.split(","): empty pieces at the end fall away, but for a text without any comma."""
    pieces = text.split(",")
    while len(pieces) > 1 and not pieces[-1]:
        pieces.pop()
    return [] if pieces == [""] and text else pieces


def parse_long(text: str) -> int:
    """Long.parseLong.

    Raises:
        JavaException: it throws.
    """
    if not _LONG.fullmatch(text) or not -(2**63) <= int(text) < 2**63:
        raise JavaException("java.lang.NumberFormatException", f'For input string: "{text}"')
    return int(text)


def decode_utf8(data: bytes) -> bytes:
    """UTF-8 read and written again by Java; what is well formed comes back as it is."""
    try:
        data.decode()
        return data
    except UnicodeDecodeError:
        return java_text.decode_utf8(data).encode()
