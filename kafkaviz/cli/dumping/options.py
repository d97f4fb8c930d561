"""What a dump was asked for."""

from dataclasses import KW_ONLY, dataclass

STRING_DECODER = "org.apache.kafka.tools.api.StringDecoder"
# the first one given decides
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
    """Kafka's own options, under Kafka's names.

    Attributes:
        decoder: one of DECODERS, or None for decoder classes.
        prints: keys and values are shown.
        deep: records are.
        max_bytes: what is read of a .log; the largest int stands for all of it.
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
