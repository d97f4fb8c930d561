"""A simulated log in words and as an object."""

from collections.abc import Iterator
from pathlib import Path

from kafkaviz.analysis.replay_source import ReplaySource, diff_indexes
from kafkaviz.analysis.segment_object import segment_object
from kafkaviz.simulate.directory import replay_stream
from kafkaviz.simulate.directory.replay_stream import UnreadTail
from kafkaviz.simulate.directory.simulation import Simulated, SimulatedSegment
from kafkaviz.simulate.startup import way_outs
from kafkaviz.simulate.writer.writer import Event
from kafkaviz.units import file_stem, pluralize

MAX_FILES = 20  # files that came out otherwise; --json has all
CLEANED_NOTE = "the log is compacted: the cleaner does not write what appends write"
OTHER_CAUSES_NOTE = (
    "other settings, a restart, a truncation, an unclean end or an append of several batches may "
    "have made that"
)
LEFT_OUT_NOTE = "the bytes that were left out may have made that, or what stood there once"


def render(simulated: Simulated, out: Path) -> Iterator[str]:
    """A line a segment, and what there is in all."""
    yield from map(render_segment, simulated.segments)
    ends = (
        f"offsets {simulated.log_start_offset} to {simulated.log_end_offset - 1}"
        if simulated.has_records
        else "without a record"
    )
    yield f"{len(simulated.files)} files of {simulated.directory}, {ends}, written into {out}"


def render_segment(segment: SimulatedSegment) -> str:
    """A segment, and what made it roll."""
    indexes = ("offset", segment.offset_index), ("time", segment.time_index)
    entries = ", ".join(
        pluralize(len(index), f"{kind} entry", f"{kind} entries") for kind, index in indexes
    )
    reason = (
        f"; rolled by {segment.roll_reason.cause}: {segment.roll_reason.words()}"
        if segment.roll_reason
        else ""
    )
    return f"{file_stem(segment.base_offset)}  {segment.log_bytes} bytes of .log: {entries}{reason}"


def render_comparison(source: ReplaySource | None, simulated: Simulated) -> Iterator[str]:
    """How a replay came out beside the copied indexes, if it is one."""
    if source is None:
        return
    unread_parts = replay_stream.find_unread(source.log)
    yield from map(_render_unread, unread_parts)
    comparisons = diff_indexes(source, simulated)
    differences = [comparison for comparison in comparisons if comparison.from_position is not None]
    yield (
        f"{len(comparisons) - len(differences)} of {len(comparisons)} copied index files came out "
        "the same to the byte"
    )
    yield from (
        f"  {comparison.name} differs from byte {comparison.from_position} on"
        for comparison in differences[:MAX_FILES]
    )
    if len(differences) > MAX_FILES:
        yield f"  and {len(differences) - MAX_FILES} more"
    if differences:
        is_cleaned = "compact" in str(source.settings.get("cleanup.policy"))
        cleaning_note = CLEANED_NOTE if is_cleaned else OTHER_CAUSES_NOTE
        yield f"  {LEFT_OUT_NOTE if unread_parts else cleaning_note}"


def _render_unread(part: UnreadTail) -> str:
    """Where the batches of a .log ended before its bytes did."""
    return (
        f"{part.name}: {part.size_bytes} bytes from byte {part.from_position} on are left out: "
        f"{way_outs.STOP_REASONS[part.reason]}"
    )


def as_object(simulated: Simulated, source: ReplaySource | None) -> dict:
    """What --json prints."""
    segments = [
        segment_object(
            segment.base_offset,
            segment.log_bytes,
            segment.offset_index,
            time_index=segment.time_index,
            roll_reason=str(segment.roll_reason.cause) if segment.roll_reason else None,
            files=simulated.digests(segment.base_offset),
        )
        for segment in simulated.segments
    ]
    document = {"segments": segments, "events": [_event(event) for event in simulated.events]}
    if source is None:
        return document
    differences = [
        comparison
        for comparison in diff_indexes(source, simulated)
        if comparison.from_position is not None
    ]
    unread_parts = [
        {
            "file": part.name,
            "from_position": part.from_position,
            "bytes": part.size_bytes,
            "why": way_outs.STOP_REASONS[part.reason],
        }
        for part in replay_stream.find_unread(source.log)
    ]
    return document | {
        "differing": [
            {"file": comparison.name, "from_position": comparison.from_position}
            for comparison in differences
        ],
        "unread": unread_parts,
    }


def _event(event: Event) -> dict:
    document = {
        "event": event.kind,
        "segment": event.segment,
        "now_ms": event.now_ms,
        "offset": event.offset,
    }
    reason = event.reason
    return (
        document
        if reason is None
        else document
        | {
            "cause": str(reason.cause),
            "found": reason.actual,
            "limit": reason.limit,
            "incoming_bytes": reason.incoming_bytes,
        }
    )
