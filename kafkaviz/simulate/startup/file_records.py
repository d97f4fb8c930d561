"""Checks the size of a .log before it is read, as FileRecords.open of Kafka 3.9.0 and 4.3.1."""

from kafkaviz.simulate.recovery.recovery import BrokerException
from kafkaviz.simulate.stored_log import MAX_LOG_BYTES

KAFKA = "org.apache.kafka.common.KafkaException"


def find_exception(path: str, size_bytes: int) -> BrokerException | None:
    """Returns Kafka's exception for opening a .log of this size, or None.

    Args:
        path: the path in Kafka's message.
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
