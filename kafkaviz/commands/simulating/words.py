"""A simulated log in words and as an object."""

from collections.abc import Iterator
from pathlib import Path

from kafkaviz.simulate.simulation import Simulated, SimulatedSegment
from kafkaviz.simulate.writer import Event
from kafkaviz.units import file_stem


def words(simulated: Simulated, out: Path) -> Iterator[str]:
    """A line a segment, and what there is in all."""
    yield from map(segment_words, simulated.segments)
    ends = f"offsets {simulated.log_start_offset} to {simulated.log_end_offset - 1}" if simulated.has_records else "without a record"
    yield f"{len(simulated.files)} files of {simulated.directory}, {ends}, written into {out}"


def segment_words(one: SimulatedSegment) -> str:
    """A segment, and what made it roll."""
    entries = f"{len(one.offset_index)} offset entries, {len(one.time_index)} time entries"
    rolled = f"; rolled by {one.rolled.cause}: {one.rolled.words()}" if one.rolled else ""
    return f"{file_stem(one.base_offset)}  {one.log_bytes} bytes of .log: {entries}{rolled}"


def as_object(simulated: Simulated) -> dict:
    """What --json prints."""
    segments = [
        {
            "base_offset": one.base_offset, "log_bytes": one.log_bytes, "offset_entries": len(one.offset_index),
            "time_entries": len(one.time_index), "roll_reason": one.rolled and str(one.rolled.cause),
            "files": simulated.digests(one.base_offset),
        }
        for one in simulated.segments
    ]  # fmt: skip
    return {"segments": segments, "events": [_event(one) for one in simulated.events]}


def _event(event: Event) -> dict:
    told = {"event": event.kind, "segment": event.segment, "now_ms": event.now_ms, "offset": event.offset}
    reason = event.reason
    return told if reason is None else told | {
        "cause": str(reason.cause), "found": reason.found, "limit": reason.limit, "incoming_bytes": reason.incoming_bytes,
    }  # fmt: skip
