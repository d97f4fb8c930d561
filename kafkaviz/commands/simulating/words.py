"""A simulated log in words and as an object."""

from collections.abc import Iterator
from pathlib import Path

from kafkaviz.analyse.replayed import Replayed, compared
from kafkaviz.analyse.segment_object import segment_object
from kafkaviz.simulate.starting import way_outs
from kafkaviz.simulate.whole import replaying
from kafkaviz.simulate.whole.replaying import Unread
from kafkaviz.simulate.whole.simulation import Simulated, SimulatedSegment
from kafkaviz.simulate.writing.writer import Event
from kafkaviz.units import file_stem, many

MOST_SHOWN = 20  # files that came out otherwise; --json has all
CLEANED = "the log is compacted: the cleaner does not write what appends write"
OTHERWISE = (
    "other settings, a restart, a truncation, an unclean end or an append of several batches may "
    "have made that"
)
LEFT_OUT = "the bytes that were left out may have made that, or what stood there once"


def words(simulated: Simulated, out: Path) -> Iterator[str]:
    """A line a segment, and what there is in all."""
    yield from map(segment_words, simulated.segments)
    ends = (
        f"offsets {simulated.log_start_offset} to {simulated.log_end_offset - 1}"
        if simulated.has_records
        else "without a record"
    )
    yield f"{len(simulated.files)} files of {simulated.directory}, {ends}, written into {out}"


def segment_words(one: SimulatedSegment) -> str:
    """A segment, and what made it roll."""
    both = ("offset", one.offset_index), ("time", one.time_index)
    entries = ", ".join(
        many(len(index), f"{kind} entry", f"{kind} entries") for kind, index in both
    )
    rolled = f"; rolled by {one.rolled.cause}: {one.rolled.words()}" if one.rolled else ""
    return f"{file_stem(one.base_offset)}  {one.log_bytes} bytes of .log: {entries}{rolled}"


def compared_words(source: Replayed | None, simulated: Simulated) -> Iterator[str]:
    """How a replay came out beside the copied indexes, if it is one."""
    if source is None:
        return
    left_out = replaying.unread(source.log)
    yield from map(_unread_words, left_out)
    found = compared(source, simulated)
    differing = [one for one in found if one.from_position is not None]
    yield (
        f"{len(found) - len(differing)} of {len(found)} copied index files came out the same to "
        "the byte"
    )
    yield from (
        f"  {one.name} differs from byte {one.from_position} on" for one in differing[:MOST_SHOWN]
    )
    if len(differing) > MOST_SHOWN:
        yield f"  and {len(differing) - MOST_SHOWN} more"
    if differing:
        is_cleaned = "compact" in str(source.settings.get("cleanup.policy"))
        yield f"  {LEFT_OUT if left_out else CLEANED if is_cleaned else OTHERWISE}"


def _unread_words(one: Unread) -> str:
    """Where the batches of a .log ended before its bytes did."""
    return (
        f"{one.name}: {one.size_bytes} bytes from byte {one.from_position} on are left out: "
        f"{way_outs.STOPPED[one.reason]}"
    )


def as_object(simulated: Simulated, source: Replayed | None) -> dict:
    """What --json prints."""
    segments = [
        segment_object(
            one.base_offset,
            one.log_bytes,
            one.offset_index,
            one.time_index,
            str(one.rolled.cause) if one.rolled else None,
            simulated.digests(one.base_offset),
        )
        for one in simulated.segments
    ]
    told = {"segments": segments, "events": [_event(one) for one in simulated.events]}
    if source is None:
        return told
    found = [one for one in compared(source, simulated) if one.from_position is not None]
    left_out = [
        {
            "file": one.name,
            "from_position": one.from_position,
            "bytes": one.size_bytes,
            "why": way_outs.STOPPED[one.reason],
        }
        for one in replaying.unread(source.log)
    ]
    return told | {
        "differing": [{"file": one.name, "from_position": one.from_position} for one in found],
        "unread": left_out,
    }


def _event(event: Event) -> dict:
    told = {
        "event": event.kind,
        "segment": event.segment,
        "now_ms": event.now_ms,
        "offset": event.offset,
    }
    reason = event.reason
    return (
        told
        if reason is None
        else told
        | {
            "cause": str(reason.cause),
            "found": reason.found,
            "limit": reason.limit,
            "incoming_bytes": reason.incoming_bytes,
        }
    )
