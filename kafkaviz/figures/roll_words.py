"""What the figures and the table of Rolls call a cause, and in which colour."""

from collections.abc import Mapping

from kafkaviz.analyse.lanes import Lane, Lanes, trips
from kafkaviz.figures.listed import listed
from kafkaviz.simulate.writing.roll import Cause, RollReason
from kafkaviz.units import duration, group
from kafkaviz.words import counted, say

INKS = {  # of marks and lines; of text it is the same name with _text, where there is one
    Cause.SIZE: "log",
    Cause.TIME: "ink",
    Cause.OFFSET_INDEX_FULL: "offset",
    Cause.TIME_INDEX_FULL: "time",
    Cause.OFFSET_OVERFLOW: "ink",
}
INDEXES = (Cause.OFFSET_INDEX_FULL, Cause.TIME_INDEX_FULL)
COLUMNS = ("base_offset", "cause", "found", "limit", "open_ms")  # of a file
IN_UNITS = (Cause.SIZE, Cause.TIME)  # numbers and units alone: the same in every language


def name(cause: Cause) -> str:
    """What a cause is called: size, time, offset index, time index, offset range."""
    return say(f"rolls.cause_{cause}")


def cause(lane: Lane) -> str:
    """What ended a lane, in one or two words."""
    if lane.is_active:
        return say("rolls.still_open")
    return name(lane.reason.cause) if lane.reason else say("rolls.not_seen")


def numbers(reason: RollReason) -> str:
    """The rule with its numbers, in English as RollReason.words has it."""
    if reason.cause in IN_UNITS:
        return reason.words()
    return say(
        f"rolls.numbers_{reason.cause}", found=group(reason.found), limit=group(reason.limit)
    )


def because(lane: Lane) -> str:
    """The numbers that tripped it; of an inferred cause that today's settings do not explain, the
    numbers alone.
    """
    if lane.is_active:
        return say("rolls.active_segment")
    if lane.reason is None:
        return say("rolls.no_limit_fits")
    if trips(lane.reason):
        return numbers(lane.reason)
    found = (
        group(lane.reason.found)
        if lane.reason.cause in INDEXES
        else numbers(lane.reason).split(" > ")[0]
    )
    return say("rolls.other_settings", found=found)


def text_ink(lane: Lane) -> str:
    """The name of the colour of a cause's words."""
    if lane.is_active or lane.reason is None:
        return "ink_3"
    ink = INKS[lane.reason.cause]
    return ink if ink == "ink" else f"{ink}_text"


def title(shown: Lanes) -> str:
    """16 rolls: 5 by size, 3 by time, 8 by time index."""
    rolls = shown.rolls()
    if not rolls:
        return say("rolls.no_roll")
    total = sum(rolls.values())
    return counted("rolls.rolls", total, n=group(total), causes=listed(_by_cause(rolls)))


def _by_cause(rolls: Mapping[Cause | None, int]) -> list[str]:
    return [
        say("rolls.by_cause", n=group(count), cause=name(one))
        if one
        else say("rolls.by_unseen", n=group(count))
        for one, count in rolls.items()
    ]


def values(shown: Lanes) -> list[tuple[int | str, ...]]:
    """COLUMNS of each segment: cause is "active" or "unseen" where none is known, found and limit
    are in the unit of the cause.
    """
    return [(one.base_offset, *_tripped(one), one.ended_ms - one.opened_ms) for one in shown.lanes]


def _tripped(lane: Lane) -> tuple[int | str, ...]:
    if lane.is_active or lane.reason is None:
        return "active" if lane.is_active else "unseen", "", ""
    return str(lane.reason.cause), lane.reason.found, lane.reason.limit


def rows(shown: Lanes, first: int = 0, last: int | None = None) -> list[tuple[str, str, str, str]]:
    """The table: segment, cause, because, open for."""
    return [
        (group(one.base_offset), cause(one), because(one), duration(one.ended_ms - one.opened_ms))
        for one in shown.lanes[first:last]
    ]
