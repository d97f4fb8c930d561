"""Names and colours of roll causes, for the figures and the table of Rolls."""

from kafkaviz.analysis.roll_history import RollHistory, SegmentHistory, exceeds_limit
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import join_comma
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import duration, format_count

# colour tokens of marks and lines; for text, "_text" is appended if there is such a token
COLOUR_NAMES = {
    RollCause.SIZE: "log",
    RollCause.TIME: "ink",
    RollCause.OFFSET_INDEX_FULL: "offset",
    RollCause.TIME_INDEX_FULL: "time",
    RollCause.OFFSET_OVERFLOW: "ink",
}
INDEXES = (RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
COLUMNS = ("base_offset", "cause", "found", "limit", "open_ms")  # columns of the CSV file


def cause_name(cause: RollCause) -> str:
    """Returns the name of a cause, such as "size" or "offset index"."""
    return say(f"rolls.cause_{cause}")


def history_cause(segment_history: SegmentHistory) -> str:
    """Says what ended a segment, in one or two words."""
    if segment_history.is_active:
        return say("rolls.still_open")
    if segment_history.reason:
        return cause_name(segment_history.reason.cause)
    return say("rolls.not_seen")


def history_reason(segment_history: SegmentHistory) -> str:
    """Returns the numbers that caused the roll, or says that the settings do not explain it."""
    if segment_history.is_active:
        return say("rolls.active_segment")
    if segment_history.reason is None:
        return say("rolls.no_limit_fits")
    if exceeds_limit(segment_history.reason):
        return render(segment_history.reason.numbers())
    return say("rolls.other_settings", numbers=segment_history.reason.tripping_number())


def text_colour(segment_history: SegmentHistory) -> str:
    """Returns the token name of the text colour for a segment's cause."""
    if segment_history.is_active or segment_history.reason is None:
        return "ink_3"
    colour = COLOUR_NAMES[segment_history.reason.cause]
    return colour if colour == "ink" else f"{colour}_text"


def title(history: RollHistory) -> str:
    """Returns a title such as "16 rolls: 5 by size, 3 by time, 8 by time index"."""
    rolls = history.rolls()
    if not rolls:
        return say("rolls.no_roll")
    causes = join_comma(
        say_count("rolls.by_cause", count, cause=cause_name(cause))
        if cause
        else say_count("rolls.by_unseen", count)
        for cause, count in rolls.items()
    )
    return say_count("rolls.rolls", sum(rolls.values()), causes=causes)


def history_values(history: RollHistory) -> list[tuple[int | str, ...]]:
    """Returns the values of `COLUMNS` for each segment.

    The cause is "active" for the active segment, and "unseen" if unknown.
    """
    return [
        (
            segment_history.base_offset,
            *_reason_values(segment_history),
            segment_history.ended_ms - segment_history.opened_ms,
        )
        for segment_history in history.segments
    ]


def _reason_values(segment_history: SegmentHistory) -> tuple[int | str, ...]:
    reason = segment_history.reason
    if segment_history.is_active or reason is None:
        return "active" if segment_history.is_active else "unseen", "", ""
    return str(reason.cause), reason.actual, reason.limit


def rows(
    history: RollHistory, first_segment: int = 0, last_segment: int | None = None
) -> list[tuple[str, str, str, str]]:
    """Returns (segment, cause, reason, time open) of each segment."""
    return [
        (
            format_count(segment_history.base_offset),
            history_cause(segment_history),
            history_reason(segment_history),
            duration(segment_history.ended_ms - segment_history.opened_ms),
        )
        for segment_history in history.segments[first_segment:last_segment]
    ]
