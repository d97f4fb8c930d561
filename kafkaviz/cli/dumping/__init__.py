"""The output of `kafkaviz dump`: equal to that of Kafka's DumpLogSegments 4.3.1, or JSON.

Where Kafka's tool throws, the text output raises a JavaException with the same text.
"""

from dataclasses import KW_ONLY, dataclass

STRING_DECODER = "org.apache.kafka.tools.api.StringDecoder"
# if several are given, the first one in this order is used
DECODERS = (
    "offsets",
    "transaction-log",
    "cluster-metadata",
    "remote-log-metadata",
    "share-group-state",
)
MAX_INT = 2**31 - 1
MAX_MESSAGE_BYTES = 5 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class DumpOptions:
    """The options of Kafka's tool, under Kafka's names.

    Attributes:
        decoder: one of `DECODERS`; None: the decoder classes are used.
        prints: whether keys and values are printed.
        deep: whether records are printed.
        max_bytes: the most bytes to read from a .log; MAX_INT: all.
    """

    files: tuple[str, ...] = ()
    _: KW_ONLY
    prints: bool = False
    deep: bool = False
    decoder: str | None = None
    key_decoder_class: str = STRING_DECODER
    value_decoder_class: str = STRING_DECODER
    skip_record_metadata: bool = False
    max_bytes: int = MAX_INT
    max_message_bytes: int = MAX_MESSAGE_BYTES
    verify_index_only: bool = False
    index_sanity_check: bool = False
