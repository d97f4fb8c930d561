"""The causes that make a segment roll, shared by simulator, inference, catalog and figures."""

from enum import StrEnum


class RollCause(StrEnum):
    """The causes in the order of Kafka's LogSegment.shouldRoll; the first that applies counts."""

    SIZE = "size"
    TIME = "time"
    OFFSET_INDEX_FULL = "offset-index-full"
    TIME_INDEX_FULL = "time-index-full"
    OFFSET_OVERFLOW = "offset-overflow"
