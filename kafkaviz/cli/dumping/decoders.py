"""Decoders of keys and values: text, numbers, or the records of Kafka's own topics."""

import struct
from collections.abc import Callable

from kafkaviz.cli.dumping import java
from kafkaviz.cli.dumping.java import JavaException, decode_utf8
from kafkaviz.cli.dumping.options import DumpOptions
from kafkaviz.format import control, coordinator_records, metadata, remote_metadata
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.message import KafkaParseError

# returns the printed parts of a record: its key, its payload, both or neither
Decoder = Callable[[BatchRecord], list[bytes]]
_TOPICS = {"offsets": "offsets", "transaction-log": "transactions", "share-group-state": "share"}
_PACKAGE = "org.apache.kafka.tools.api."


def decoder(options: DumpOptions) -> Decoder:
    """Returns the requested decoder; raises JavaException if its class does not exist."""
    if options.decoder == "cluster-metadata":
        return lambda record: [metadata.dump_text(record.value, record.offset).encode()]
    if options.decoder == "remote-log-metadata":
        return lambda record: [remote_metadata.dump_text(record.value, record.offset).encode()]
    if options.decoder:
        return _coordinator_decoder(_TOPICS[options.decoder])
    return _class_decoder(
        _find_class(options.key_decoder_class), _find_class(options.value_decoder_class)
    )


def control_text(record: BatchRecord) -> bytes:
    """Returns the text of a control record; raises JavaException if it cannot be read."""
    try:
        return control.dump_text(record.key, record.value).encode()
    except KafkaParseError as fault:
        raise JavaException(fault.java_class, fault.java_message) from None


def _coordinator_decoder(topic: str) -> Decoder:
    """Returns a decoder for a coordinator's topic; records without a key raise JavaException."""

    def decode(record: BatchRecord) -> list[bytes]:
        try:
            return [
                coordinator_records.dump_text(
                    record.key, record.value, record.offset, topic
                ).encode()
            ]
        except KafkaParseError as fault:
            raise JavaException(fault.java_class, fault.java_message) from None

    return decode


def _class_decoder(key: Callable[[bytes], bytes], value: Callable[[bytes], bytes]) -> Decoder:
    """Returns a decoder that prints key and value, if present, each by its own function."""

    def decode(record: BatchRecord) -> list[bytes]:
        parts = [] if record.key is None else [b"key: " + key(record.key)]
        return parts if record.value is None else [*parts, b"payload: " + value(record.value)]

    return decode


def _find_class(name: str) -> Callable[[bytes], bytes]:
    decoder_class = _CLASSES.get(name)
    if decoder_class is None:
        raise JavaException(
            java.RUNTIME,
            "Failed to load decoder class",
            (f"java.lang.ClassNotFoundException: {name}",),
        )
    return decoder_class


def _number(layout: str) -> Callable[[bytes], bytes]:
    """Returns a decoder for a number at the start of the bytes; more bytes may follow."""
    parser = struct.Struct(layout)

    def decode(data: bytes) -> bytes:
        if len(data) < parser.size:
            raise JavaException("java.nio.BufferUnderflowException")
        return str(parser.unpack_from(data)[0]).encode()

    return decode


def _identity(_data: bytes) -> bytes:
    """Returns what Java prints for a byte array: its identity.

    It changes with each run of Java; here it is always 0.
    """
    return b"[B@0"


_CLASSES = {
    f"{_PACKAGE}StringDecoder": decode_utf8,
    f"{_PACKAGE}LongDecoder": _number(">q"),
    f"{_PACKAGE}IntegerDecoder": _number(">i"),
    f"{_PACKAGE}DefaultDecoder": _identity,
}
