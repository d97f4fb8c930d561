"""Why an append starts a new segment: Kafka's rules in order, and the numbers that broke one.

As LogSegment.shouldRoll of Kafka 0.10.2 to 4.3.1, judged before the append is written. With
segment.bytes = 1000, a segment of 950 bytes takes an append of 50 and is full to the byte; for one
of 51 a new segment is begun, and this one stays at 950.
"""

from dataclasses import dataclass

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.messages import Message, message
from kafkaviz.roll_cause import RollCause

CAUSES = (None, *RollCause)  # by the number that should_roll gives
SIZE, TIME, OFFSET_FULL, TIME_FULL, OVERFLOW = range(1, 6)


@dataclass(frozen=True)
class RollReason:
    """Why one segment was rolled.

    Attributes:
        actual: bytes of the segment; milliseconds waited; entries of the index; or the relative
            offset.
        limit: segment.bytes; segment.ms less the jitter; the entries at which the index counts as
            full; or the largest relative offset there can be.
        incoming_bytes: of the append that caused it; it counts against segment.bytes.
    """

    cause: RollCause
    actual: int
    limit: int
    incoming_bytes: int

    def numbers(self) -> Message:
        """The rule with its numbers: "16 776 880 + 8 120 > 16 777 216 B"."""
        return message(
            f"rolls.numbers_{self.cause}",
            actual=self.actual,
            limit=self.limit,
            incoming=self.incoming_bytes,
        )

    def tripping_number(self) -> Message:
        """The number alone that broke the rule: "16 776 880 + 8 120"."""
        return message(
            f"rolls.found_{self.cause}", actual=self.actual, incoming=self.incoming_bytes
        )


@njit(cache=True)
def should_roll(
    log_bytes: int,
    incoming_bytes: int,
    segment_bytes: int,
    waited_ms: int,
    most_ms: int,
    offset_entries: int,
    offset_slots: int,
    time_entries: int,
    time_slots: int,
    relative_offset: int,
) -> int:
    """The number of the first cause that holds, or 0.

    Args:
        waited_ms: waited_ms() of the append.
        most_ms: segment.ms less the jitter.
        time_slots: the usable ones, without that for the entry of the segment's end.
    """
    if log_bytes > segment_bytes - incoming_bytes:
        return SIZE
    if log_bytes > 0 and waited_ms > most_ms:
        return TIME
    if offset_entries >= offset_slots:
        return OFFSET_FULL
    if time_entries >= time_slots:
        return TIME_FULL
    if relative_offset < 0 or relative_offset > MAX_RELATIVE_OFFSET:
        return OVERFLOW
    return 0


@njit(cache=True)
def waited_ms(
    reference_ms: int, incoming_max_timestamp_ms: int, now_ms: int, created_ms: int
) -> int:
    """How long a segment has been written to (LogSegment.timeWaitedForRoll).

    By the timestamps where there are any, without the clock: a negative time counts too. Else by
    the clock, since the segment was opened.

    Args:
        reference_ms: of the segment's first append or batch, below 0 if it has none.
    """
    return incoming_max_timestamp_ms - reference_ms if reference_ms >= 0 else now_ms - created_ms
