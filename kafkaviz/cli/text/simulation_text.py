"""A simulated log as text and as a JSON object."""

from collections.abc import Iterator
from pathlib import Path

from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.rebuild import ReplaySource, diff_indexes
from kafkaviz.messages import language, message, say
from kafkaviz.simulate import steps
from kafkaviz.simulate.directory import replay_stream
from kafkaviz.simulate.directory.replay_stream import UnreadTail
from kafkaviz.simulate.directory.simulation import Simulated, SimulatedSegment
from kafkaviz.simulate.writer.writer import Event
from kafkaviz.units import file_stem

MAX_FILES = 20  # most differing files that are listed; --json has all


def render(simulated: Simulated, out: Path) -> Iterator[str]:
    yield from map(render_segment, simulated.segments)
    key = "written_log" if simulated.has_records else "written_empty"
    yield say(
        f"cli_simulate.{key}",
        n=len(simulated.files),
        directory=simulated.directory,
        first=simulated.log_start_offset,
        last=simulated.log_end_offset - 1,
        out=out,
    )


def render_segment(segment: SimulatedSegment) -> str:
    line = message(
        "cli.segment_line",
        name=file_stem(segment.base_offset),
        bytes=segment.log_bytes,
        entries=(
            message("common.n_offset_entries", n=len(segment.offset_index)),
            message("cli.time_entries", n=len(segment.time_index)),
        ),
    )
    reason = segment.roll_reason
    if not reason:
        return line.render(language())
    cause = message(f"roll_cause.{reason.cause}")
    return say("cli.segment_rolled", line=line, cause=cause, why=reason.numbers())


def render_comparison(source: ReplaySource | None, simulated: Simulated) -> Iterator[str]:
    """Yields lines on how the indexes of a replay differ from the indexes of the copied log."""
    if source is None:
        return
    unread_parts = replay_stream.find_unread(source.log)
    yield from map(_render_unread, unread_parts)
    comparisons = diff_indexes(source, simulated)
    differences = [comparison for comparison in comparisons if comparison.from_position is not None]
    same = len(comparisons) - len(differences)
    yield say("cli_simulate.came_out_same", same=same, count=len(comparisons))
    for comparison in differences[:MAX_FILES]:
        byte = comparison.from_position
        yield "  " + say("cli_simulate.differs", file=comparison.name, byte=byte)
    if len(differences) > MAX_FILES:
        yield f"  {say('common.n_more', n=len(differences) - MAX_FILES)}"
    if differences:
        key = "other_causes"
        if unread_parts:
            key = "left_out_bytes"
        elif "compact" in str(source.settings.get("cleanup.policy")):
            key = "cleaned"
        yield f"  {say(f'cli_simulate.{key}')}"


def _render_unread(part: UnreadTail) -> str:
    return say(
        "cli_simulate.unread",
        file=part.name,
        bytes=part.size_bytes,
        byte=part.from_position,
        why=steps.STOP_REASONS[part.reason],
    )


def simulation_object(simulated: Simulated, source: ReplaySource | None) -> dict:
    """Returns the object that --json prints."""
    segments = [
        to_json_object(segment) | {"files": simulated.digests(segment.base_offset)}
        for segment in simulated.segments
    ]
    document = {"segments": segments, "events": [_event(event) for event in simulated.events]}
    if source is None:
        return document
    differences = [
        {"file": comparison.name, "from_position": comparison.from_position}
        for comparison in diff_indexes(source, simulated)
        if comparison.from_position is not None
    ]
    unread_parts = [
        to_json_object(part) | {"why": str(steps.STOP_REASONS[part.reason])}
        for part in replay_stream.find_unread(source.log)
    ]
    return document | {"differing": differences, "unread": unread_parts}


def _event(event: Event) -> dict:
    document = {
        "event": event.kind,
        "segment": event.segment,
        "now_ms": event.now_ms,
        "offset": event.offset,
    }
    reason = event.reason
    if reason is None:
        return document
    return document | {
        "cause": str(reason.cause),
        "found": reason.actual,
        "limit": reason.limit,
        "incoming_bytes": reason.incoming_bytes,
    }
