"""Which .log a broker opens at all, before it reads it: FileRecords.open, Kafka 3.9.0 and 4.3.1."""

from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.stored_log import MAX_LOG_BYTES

KAFKA = "org.apache.kafka.common.KafkaException"


def find_exception(path: str, size_bytes: int) -> BrokerException | None:
    """What opening a .log of this size throws, if anything.

    Args:
        path: as Kafka's message has it.
    """
    if size_bytes <= MAX_LOG_BYTES:
        return None
    return BrokerException(
        KAFKA,
        (
            f"The size of segment {path} ({size_bytes}) is larger than the maximum allowed segment "
            f"size of {MAX_LOG_BYTES}"
        ),
    )
