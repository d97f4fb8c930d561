"""The behaviour of Java that is visible in the output of Kafka's tools.

This module imitates hash maps, paths, numbers, text, and the exception that ends a tool.
"""

import os
import re
from collections.abc import Collection

from kafkaviz.errors import CannotOpen, CorruptBytes, FaultKind, KafkavizError
from kafkaviz.format import java
from kafkaviz.format.java import KAFKA
from kafkaviz.messages import Message

CORRUPT_INDEX = "org.apache.kafka.storage.internals.log.CorruptIndexException"
NO_SUCH_ELEMENT = "java.util.NoSuchElementException"
RUNTIME = "java.lang.RuntimeException"
STATUS = 1
_NIO = {"missing": "NoSuchFileException", "permission": "AccessDeniedException"}
# Kafka's exception, by codec and by the message key of kafkaviz's own error
_CODEC_CAUSES = {
    ("gzip", "codec.ends_too_early"): "java.io.EOFException: Unexpected end of ZLIB input stream",
    ("snappy", "codec.block_cut"): "java.io.IOException: failed to read chunk",
    ("snappy", "corrupt.varint_cut"): "java.io.IOException: PARSING_ERROR(2)",
    ("snappy", "common.verbatim"): "java.io.IOException: PARSING_ERROR(2)",  # varint too long
}
# Codec, part of the text of Python's library, and Java's text. If Java's text ends with a colon,
# the end of the library's text follows.
_LIBRARY_CAUSES = (
    ("gzip", "incorrect header check", "java.util.zip.ZipException: Not in GZIP format"),
    ("gzip", "incorrect data check", "java.util.zip.ZipException: Corrupt GZIP trailer"),
    ("gzip", "incorrect length check", "java.util.zip.ZipException: Corrupt GZIP trailer"),
    ("gzip", "", "java.util.zip.ZipException: "),
    ("snappy", "corrupt input", "java.io.IOException: FAILED_TO_UNCOMPRESS(5)"),
    ("zstd", "", "com.github.luben.zstd.ZstdIOException: "),
)
_FAULTS_AT_OPEN = ("Not in GZIP format", "Stream unsupported")


class JavaException(Exception):
    """A Java exception that ends Kafka's tool.

    Attributes:
        causes: the text of each cause ("Caused by").
        fault: the kafkaviz error for a file that cannot be opened or read, else None.
    """

    def __init__(
        self,
        java_class: str,
        message: str | None = None,
        causes: tuple[str, ...] = (),
        fault: KafkavizError | None = None,
    ) -> None:
        super().__init__(message)
        self.java_class = java_class
        self.message = message
        self.causes = causes
        self.fault = fault

    def text(self) -> str:
        """Returns what the JVM prints on stderr, without stack frames."""
        header = self.java_class if self.message is None else f"{self.java_class}: {self.message}"
        causes = "".join(f"Caused by: {cause}\n" for cause in self.causes)
        return f'Exception in thread "main" {header}\n{causes}'


def from_path(fault: CannotOpen, path: str) -> JavaException:
    """Returns the exception of java.nio for a file that cannot be opened or read."""
    if fault.kind in _NIO:
        return JavaException(f"java.nio.file.{_NIO[fault.kind]}", path, fault=fault)
    what = str(fault.what)
    cause = f"java.io.IOException: {what[:1].upper()}{what[1:]}"
    return JavaException(KAFKA, cause, (cause,), fault=fault)


def from_records(fault: CorruptBytes, *, at_open: bool) -> JavaException:
    """Returns the exception that Kafka throws while it iterates over damaged records.

    For damaged compressed data, the message is exact only if Kafka reads no record before the
    damage.

    Args:
        at_open: whether Java decompresses when it opens the stream, as for magic 0 and 1.
    """
    what = java.without_place(fault.what)
    if fault.kind is not FaultKind.CODEC:
        message = None if fault.kind is FaultKind.BOUNDS else str(what)
        return JavaException(java.EXCEPTIONS[fault.kind], message)
    cause = _codec_cause(what)
    is_immediate = at_open or any(text in cause for text in _FAULTS_AT_OPEN)
    message = cause if is_immediate else "Failed to decompress record stream"
    return JavaException(KAFKA, message, (cause,))


def _codec_cause(what: Message) -> str:
    if what.key != "codec.failed":  # the decompressed data is too large for kafkaviz
        return f"java.io.IOException: {what}"
    codec = what["codec"]
    problem = what["problem"]
    if isinstance(problem, Message) and (codec, problem.key) in _CODEC_CAUSES:
        return _CODEC_CAUSES[codec, problem.key]
    text = str(problem)
    for of_codec, part, cause in _LIBRARY_CAUSES:
        if of_codec == codec and part in text:
            return cause + text.rpartition(": ")[2] if cause.endswith(": ") else cause
    return f"java.io.IOException: {text}"


def string_hash(text: str) -> int:
    """Returns Java's String.hashCode as an unsigned 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def hash_order(keys: Collection[str]) -> list[str]:
    """Returns keys in the order of DumpLogSegments' hash map, filled with one key after another.

    The map starts with 16 buckets. At three quarters full, it doubles the number of buckets before
    the next key. A new key goes to the front of its bucket.
    """
    buckets = 16
    while len(keys) - 1 > buckets * 3 // 4:
        buckets *= 2
    return sorted(reversed(list(keys)), key=lambda key: _spread(key) % buckets)


def _spread(key: str) -> int:
    number = string_hash(key)
    return number ^ number >> 16


def path(text: str) -> str:
    """Normalises a path as java.io.File does: single slashes, none at the end."""
    collapsed = re.sub("/+", "/", text)
    return collapsed.removesuffix("/") or collapsed


def absolute(text: str) -> str:
    """Returns the same as Java's File.getAbsolutePath, which resolves neither links nor ".."."""
    return text if text.startswith("/") else path(f"{os.getcwd()}/{text}")


def split_list(text: str) -> list[str]:
    """Splits like Java's String.split(","): drops empty pieces at the end, but "" gives [""]."""
    pieces = text.split(",")
    while len(pieces) > 1 and not pieces[-1]:
        pieces.pop()
    return [] if pieces == [""] and text else pieces


def parse_long(text: str) -> int:
    """Parses a number as Java's Long.parseLong does. Raises JavaException if Java throws."""
    try:
        return java.parse_long(text)
    except ValueError:
        words = f'For input string: "{text}"'
        raise JavaException("java.lang.NumberFormatException", words) from None


def decode_utf8(data: bytes) -> bytes:
    """Returns bytes as Java prints them after decoding UTF-8. Valid UTF-8 is unchanged."""
    try:
        data.decode()
        return data
    except UnicodeDecodeError:
        return java.decode_utf8(data).encode()
