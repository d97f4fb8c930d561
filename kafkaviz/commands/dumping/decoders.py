"""What keys and values mean: text, numbers, or the records of Kafka's own topics."""

import struct
from collections.abc import Callable

from kafkaviz.commands.dumping import death
from kafkaviz.commands.dumping.death import Death
from kafkaviz.commands.dumping.java import decoded
from kafkaviz.commands.dumping.options import Options
from kafkaviz.format import control, internal, metadata, remote
from kafkaviz.format.batch_records import BatchRecord
from kafkaviz.format.message import KafkaRaises

# what a record prints: its key, its payload, both or nothing
Decoder = Callable[[BatchRecord], list[bytes]]
_TOPICS = {"offsets": "offsets", "transaction-log": "transactions", "share-group-state": "share"}
_PACKAGE = "org.apache.kafka.tools.api."


def decoder(options: Options) -> Decoder:
    """What the options ask for; a Death for a decoder class that is not there."""
    if options.decoder == "cluster-metadata":
        return lambda record: [metadata.printed(record.value, record.offset).encode()]
    if options.decoder == "remote-log-metadata":
        return lambda record: [remote.printed(record.value, record.offset).encode()]
    if options.decoder:
        return _of_coordinator(_TOPICS[options.decoder])
    return _of_classes(_of_class(options.key_decoder_class), _of_class(options.value_decoder_class))


def control_text(record: BatchRecord) -> bytes:
    """What a control record says; a Death where it cannot be read."""
    try:
        return control.printed(record.key, record.value).encode()
    except KafkaRaises as fault:
        raise Death(fault.java_class, fault.words) from None


def _of_coordinator(topic: str) -> Decoder:
    """Records of a coordinator's topic; a Death for one without a key."""

    def decode(record: BatchRecord) -> list[bytes]:
        try:
            return [internal.printed(record.key, record.value, record.offset, topic).encode()]
        except KafkaRaises as fault:
            raise Death(fault.java_class, fault.words) from None

    return decode


def _of_classes(key: Callable[[bytes], bytes], value: Callable[[bytes], bytes]) -> Decoder:
    """A key and a value that are there, each by its own decoder."""

    def decode(record: BatchRecord) -> list[bytes]:
        shown = [] if record.key is None else [b"key: " + key(record.key)]
        return shown if record.value is None else [*shown, b"payload: " + value(record.value)]

    return decode


def _of_class(name: str) -> Callable[[bytes], bytes]:
    """One of the decoders that Kafka ships."""
    found = _CLASSES.get(name)
    if found is None:
        raise Death(
            death.RUNTIME,
            "Failed to load decoder class",
            (f"java.lang.ClassNotFoundException: {name}",),
        )
    return found


def _number(layout: str) -> Callable[[bytes], bytes]:
    """A number at the start of the bytes, which may be longer."""
    packed = struct.Struct(layout)

    def decode(data: bytes) -> bytes:
        if len(data) < packed.size:
            raise Death("java.nio.BufferUnderflowException")
        return str(packed.unpack_from(data)[0]).encode()

    return decode


def _identity(data: bytes) -> bytes:
    """Java prints where an array lies, another number each time; here it is always 0."""
    return b"[B@0"


_CLASSES = {
    f"{_PACKAGE}StringDecoder": decoded,
    f"{_PACKAGE}LongDecoder": _number(">q"),
    f"{_PACKAGE}IntegerDecoder": _number(">i"),
    f"{_PACKAGE}DefaultDecoder": _identity,
}
