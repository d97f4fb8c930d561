"""The rules by which an append starts a new segment, and the reason of a roll.

Follows LogSegment.shouldRoll of Kafka 0.10.2 to 4.3.1, which checks before the append. For example,
with segment.bytes = 1000 a segment of 950 bytes takes an append of 50 bytes. An append of 51 bytes
goes to a new segment.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.format.offset_index import MAX_RELATIVE_OFFSET
from kafkaviz.messages import Message, message


class RollCause(StrEnum):
    """The causes of a roll, in the order in which LogSegment.shouldRoll checks them."""

    SIZE = "size"
    TIME = "time"
    OFFSET_INDEX_FULL = "offset-index-full"
    TIME_INDEX_FULL = "time-index-full"
    OFFSET_OVERFLOW = "offset-overflow"


CAUSES = (None, *RollCause)  # indexed by the result of should_roll
SIZE, TIME, OFFSET_FULL, TIME_FULL, OVERFLOW = range(1, 6)


@dataclass(frozen=True)
class RollReason:
    """Why a segment was rolled."""

    cause: RollCause
    # bytes of the segment, milliseconds waited, entries of the index, or the relative offset
    actual: int
    # segment.bytes, segment.ms minus the jitter, the entries of a full index, or the largest
    # relative offset
    limit: int
    incoming_bytes: int  # size of the append that caused the roll

    def numbers(self) -> Message:
        """Returns the comparison of the two numbers: "16 776 880 + 8 120 > 16 777 216 B"."""
        return message(
            f"rolls.numbers_{self.cause}",
            actual=self.actual,
            limit=self.limit,
            incoming=self.incoming_bytes,
        )

    def tripping_number(self) -> Message:
        """Returns the number that caused the roll, as text: "16 776 880 + 8 120"."""
        return message(
            f"rolls.found_{self.cause}", actual=self.actual, incoming=self.incoming_bytes
        )


def roll_reason(
    number: int,
    state: np.void,
    limit: np.void,
    *,
    waited_ms: int,
    relative_offset: int,
    incoming_bytes: int,
) -> RollReason:
    """Returns the reason of a roll. `number` is what should_roll returned; it must not be 0.

    `state` and `limit` are rows of append_loop.STATE and append_loop.LIMITS. `relative_offset` is
    the append's last offset minus the base offset.
    """
    actual, most = {
        SIZE: (state["log_bytes"], limit["segment_bytes"]),
        TIME: (waited_ms, limit["most_segment_ms"] - state["jitter_ms"]),
        OFFSET_FULL: (state["offset_entries"], state["offset_slots"]),
        TIME_FULL: (state["time_entries"], state["time_slots"]),
        OVERFLOW: (relative_offset, MAX_RELATIVE_OFFSET),
    }[number]
    return RollReason(cast(RollCause, CAUSES[number]), int(actual), int(most), incoming_bytes)


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
    """Returns the number of the first cause for a roll; 0 if there is none.

    `most_ms` is segment.ms minus the jitter. `time_slots` excludes the slot that is reserved for
    the segment's last entry.
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
    """Returns the milliseconds that count against segment.ms (LogSegment.timeWaitedForRoll).

    Usually, the result is the append's largest timestamp minus `reference_ms`, and may be negative.
    If `reference_ms` is negative, the result is the time since the segment was opened, by the
    broker's clock.

    Args:
        reference_ms: the largest timestamp of the segment's first batch, or in older releases of
            its first append; negative if there is none.
    """
    return incoming_max_timestamp_ms - reference_ms if reference_ms >= 0 else now_ms - created_ms
