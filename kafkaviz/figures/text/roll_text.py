"""What the figures and the table of Rolls call a cause, and in which colour."""

from collections.abc import Mapping

from kafkaviz.analysis.rolls.roll_history import RollHistory, SegmentHistory, exceeds_limit
from kafkaviz.figures.text.join_text import join_comma
from kafkaviz.messages import render, say, say_count
from kafkaviz.simulate.writer.roll_reason import Cause
from kafkaviz.units import duration, group

COLOUR_NAMES = {  # of marks and lines; of text it is the same name with _text, where there is one
    Cause.SIZE: "log",
    Cause.TIME: "ink",
    Cause.OFFSET_INDEX_FULL: "offset",
    Cause.TIME_INDEX_FULL: "time",
    Cause.OFFSET_OVERFLOW: "ink",
}
INDEXES = (Cause.OFFSET_INDEX_FULL, Cause.TIME_INDEX_FULL)
COLUMNS = ("base_offset", "cause", "found", "limit", "open_ms")  # of a file


def cause_name(cause: Cause) -> str:
    """What a cause is called: size, time, offset index, time index, offset range."""
    return say(f"rolls.cause_{cause}")


def lane_cause(lane: SegmentHistory) -> str:
    """What ended a lane, in one or two words."""
    if lane.is_active:
        return say("rolls.still_open")
    return cause_name(lane.reason.cause) if lane.reason else say("rolls.not_seen")


def lane_reason(lane: SegmentHistory) -> str:
    """The numbers that tripped it.

    Of an inferred cause that today's settings do not explain, the numbers alone.
    """
    if lane.is_active:
        return say("rolls.active_segment")
    if lane.reason is None:
        return say("rolls.no_limit_fits")
    if exceeds_limit(lane.reason):
        return render(lane.reason.numbers())
    return say("rolls.other_settings", found=lane.reason.tripping_number())


def text_colour(lane: SegmentHistory) -> str:
    """The name of the colour of a cause's words."""
    if lane.is_active or lane.reason is None:
        return "ink_3"
    colour = COLOUR_NAMES[lane.reason.cause]
    return colour if colour == "ink" else f"{colour}_text"


def title(history: RollHistory) -> str:
    """16 rolls: 5 by size, 3 by time, 8 by time index."""
    rolls = history.rolls()
    if not rolls:
        return say("rolls.no_roll")
    total = sum(rolls.values())
    return say_count("rolls.rolls", total, causes=join_comma(_cause_texts(rolls)))


def _cause_texts(rolls: Mapping[Cause | None, int]) -> list[str]:
    return [
        say_count("rolls.by_cause", count, cause=cause_name(roll_cause))
        if roll_cause
        else say_count("rolls.by_unseen", count)
        for roll_cause, count in rolls.items()
    ]


def lane_values(history: RollHistory) -> list[tuple[int | str, ...]]:
    """COLUMNS of each segment.

    Cause is "active" or "unseen" where none is known, found and limit are in the unit of the cause.
    """
    return [
        (lane.base_offset, *_reason_values(lane), lane.ended_ms - lane.opened_ms)
        for lane in history.segments
    ]


def _reason_values(lane: SegmentHistory) -> tuple[int | str, ...]:
    if lane.is_active or lane.reason is None:
        return "active" if lane.is_active else "unseen", "", ""
    return str(lane.reason.cause), lane.reason.actual, lane.reason.limit


def rows(
    history: RollHistory, first_lane: int = 0, last_lane: int | None = None
) -> list[tuple[str, str, str, str]]:
    """The table: segment, cause, because, open for."""
    return [
        (
            group(lane.base_offset),
            lane_cause(lane),
            lane_reason(lane),
            duration(lane.ended_ms - lane.opened_ms),
        )
        for lane in history.segments[first_lane:last_lane]
    ]
