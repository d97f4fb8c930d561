"""What makes a segment roll: for the simulator, the inference, the catalog and the figures."""

from enum import StrEnum


class RollCause(StrEnum):
    """In the order of LogSegment.shouldRoll: the first that holds counts."""

    SIZE = "size"
    TIME = "time"
    OFFSET_INDEX_FULL = "offset-index-full"
    TIME_INDEX_FULL = "time-index-full"
    OFFSET_OVERFLOW = "offset-overflow"
