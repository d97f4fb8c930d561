"""What the figures and the table of Rolls call a cause, and in which colour."""

from collections.abc import Mapping

from kafkaviz.analyse.lanes import Lane, Lanes, trips
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.units import duration, group

NAMES = {
    Cause.SIZE: "size", Cause.TIME: "time", Cause.OFFSET_INDEX_FULL: "offset index", Cause.TIME_INDEX_FULL: "time index",
    Cause.OFFSET_OVERFLOW: "offset range",
}  # fmt: skip
INKS = {  # of marks and lines; of text it is the same name with _text, where there is one
    Cause.SIZE: "log", Cause.TIME: "ink", Cause.OFFSET_INDEX_FULL: "offset", Cause.TIME_INDEX_FULL: "time", Cause.OFFSET_OVERFLOW: "ink",
}  # fmt: skip
ACTIVE, UNKNOWN = "still open", "not seen"


def cause(lane: Lane) -> str:
    """What ended a lane, in one or two words."""
    return ACTIVE if lane.is_active else NAMES[lane.reason.cause] if lane.reason else UNKNOWN


def because(lane: Lane) -> str:
    """The numbers that tripped it; of an inferred cause that today's settings do not explain, the numbers alone."""
    if lane.is_active:
        return "active segment"
    if lane.reason is None:
        return "no limit fits: compacted, truncated, or a follower’s whole fetch"
    if trips(lane.reason):
        return lane.reason.words()
    return f"{lane.reason.words().split(' > ')[0].split(' of ')[0]}, under other settings than today's"


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
        return "No roll yet: nothing reached its limit"
    total = sum(rolls.values())
    return f"{group(total)} roll{'' if total == 1 else 's'}: {', '.join(_counted(rolls))}"


def _counted(rolls: Mapping[Cause | None, int]) -> list[str]:
    return [f"{group(count)} by {NAMES[one]}" if one else f"{group(count)} by a cause not seen" for one, count in rolls.items()]


def rows(shown: Lanes, first: int = 0, last: int | None = None) -> list[tuple[str, str, str, str]]:
    """The table: segment, cause, because, open for."""
    return [(group(one.base_offset), cause(one), because(one), duration(one.ended_ms - one.opened_ms)) for one in shown.lanes[first:last]]
