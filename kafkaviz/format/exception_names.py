"""Names of Java exceptions that Kafka throws in many places, as its logs and tools print them."""

import re

from kafkaviz.format.batch import CORRUPT_RECORD

KAFKA = "org.apache.kafka.common.KafkaException"
ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
OUT_OF_MEMORY = "java.lang.OutOfMemoryError"
INVALID_TXN_STATE = "org.apache.kafka.common.errors.InvalidTxnStateException"
INVALID_RECORD = "org.apache.kafka.common.InvalidRecordException"
OUT_OF_BOUNDS = "IndexOutOfBoundsException"

_DECOMPRESSED_PREFIX = re.compile("^byte [0-9]+ of the decompressed (records|messages): ")
_ILLEGAL_WORDS = (
    "newLimit > capacity",
    "Varint is too long",
    "Varlong is too long",
    "Unknown compression type id",
    "Invalid magic used",
    "The file channel position cannot be negative",
)
_CORRUPT_WORDS = ("Found record size ", "Record size is less than the minimum record overhead")
_KAFKA_WORDS = ("Unexpected aborted transaction version",)  # TransactionIndex
_CODEC_WORDS = ("gzip: ", "snappy: ", "lz4: ", "zstd: ", "the compressed data expands")


def java_words(what: str) -> str:
    """Removes the place in the decompressed bytes from the text of a fault."""
    return _DECOMPRESSED_PREFIX.sub("", what)


def is_codec_fault(what: str) -> bool:
    return what.startswith(_CODEC_WORDS)


def of_records(words: str) -> str:
    """Returns the Java class that Kafka throws while iterating over damaged records.

    Args:
        words: the text of the fault.
    """
    if is_codec_fault(words) or words.startswith(_KAFKA_WORDS):
        return KAFKA
    if words == OUT_OF_BOUNDS:
        return f"java.lang.{words}"
    if words.startswith(_CORRUPT_WORDS):
        return CORRUPT_RECORD
    return ILLEGAL_ARGUMENT if words.startswith(_ILLEGAL_WORDS) else INVALID_RECORD
