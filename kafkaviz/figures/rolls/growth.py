"""A log that grows, for the stepper in the browser.

Every step has a sentence, the lines of Kafka's code that run in it, and numbers.
"""

from dataclasses import dataclass
from operator import ne
from typing import Any, cast

from kafkaviz.messages import render, say, say_count
from kafkaviz.render import roll_text
from kafkaviz.simulate.lesson_growth import GrowthStep, LogGrowth, SegmentContents, StepKind
from kafkaviz.simulate.writer.roll_reason import RollReason
from kafkaviz.units import clock, file_stem, format_count

CODE = (
    "append(batch):",
    "  if segment.shouldRoll(batch): roll()",
    "  log.append(batch)",
    "  if batch.maxTimestamp > maxSoFar:",
    "    maxSoFar = batch.maxTimestamp",
    "  if bytesSinceLastIndexEntry > interval:",
    "    offsetIndex.append(lastOffset, pos)",
    "    timeIndex.maybeAppend(maxSoFar)",
    "    bytesSinceLastIndexEntry = 0",
    "  bytesSinceLastIndexEntry += batch.size",
    "roll():",
    "  timeIndex.maybeAppend(maxSoFar)",
    "  offsetIndex.trimToValidSize()",
    "  timeIndex.trimToValidSize()",
    "  new segment, its counter = 0",
)
ROLL_LINES = (1,)
APPEND_LINES = (2,)
TIMESTAMP_LINES = (3, 4)
INTERVAL_LINES = (5,)
ENTRY_LINES = (6, 7, 8)
COUNTER_LINES = (9,)
LAST_ENTRY_LINES = (10, 11)
TRIM_LINES = (12, 13)
NEW_SEGMENT_LINES = (14,)
VALUE_NAMES = (
    ".log", "counter", "interval", "batches", "offset_entries", "time_entries", ".index",
    ".timeindex",
)  # fmt: skip
PHASE_KEYS = {
    StepKind.OPEN: "new",
    StepKind.APPEND: "appends",
    StepKind.ROLL: "roll",
    StepKind.TRIM: "roll",
    StepKind.STOP: "restart",
    StepKind.RESTART: "restart",
    StepKind.TRUNCATE: "truncation",
    StepKind.FAIL: "refused",
}


@dataclass(frozen=True)
class GrowthView:
    """A log that grows, with one sentence per step. `key` changes with the content."""

    key: str
    growth: LogGrowth
    sentences: tuple[str, ...]


def view(growth: LogGrowth, key: str) -> GrowthView:
    return GrowthView(key, growth, tuple(_step_sentence(growth, step) for step in growth.steps))


def _step_sentence(growth: LogGrowth, step: GrowthStep) -> str:
    match step.kind:
        case StepKind.OPEN:
            return say("growth.opened", **_index_lengths(step))
        case StepKind.APPEND:
            return _append_sentence(growth, step)
        case StepKind.ROLL:
            return _roll_sentence(growth, step)
        case StepKind.TRIM:
            index = _change_text(step, "index_bytes")
            times = _change_text(step, "timeindex_bytes")
            return say("growth.trimmed", index=index, timeindex=times)
        case StepKind.STOP:
            key = "growth.stopped_with_entry" if step.has_time_entry else "growth.stopped"
            return say(key, last=_last_entry_text(growth, step), **_index_lengths(step))
        case StepKind.RESTART:
            forgotten = format_count(step.before.since_bytes)
            return say("growth.restarted", forgotten=forgotten, **_index_lengths(step))
        case StepKind.TRUNCATE:
            return _truncate_sentence(step)
        case StepKind.FAIL:
            return say("growth.refused", words=step.words)


def _index_lengths(step: GrowthStep) -> dict[str, str]:
    return {
        "index": format_count(step.after.index_bytes),
        "timeindex": format_count(step.after.timeindex_bytes),
    }


def _append_sentence(growth: LogGrowth, step: GrowthStep) -> str:
    values = {
        "since": format_count(step.before.since_bytes),
        "interval": format_count(growth.config.index_interval_bytes),
    }
    if not step.has_offset_entry:
        return say(_no_entry_key(step), **values)
    segment = growth.segments[step.segment]
    offset, position = segment.offsets[step.after.offset_entries - 1]
    values |= {"offset": format_count(offset), "position": format_count(position)}
    if step.has_time_entry:
        timestamp_ms, time_offset = segment.times[step.after.time_entries - 1]
        return say("growth.entry_in_both", **values, time=timestamp_ms, time_offset=time_offset)
    # the maximum never falls, so here it equals the maximum of the last entry
    is_known = step.after.max_timestamp_ms >= 0
    return say("growth.entry_not_newer" if is_known else "growth.entry_without_time", **values)


def _no_entry_key(step: GrowthStep) -> str:
    if not step.before.batches:
        return "growth.no_entry_first"
    return "growth.no_entry" if step.before.since_bytes else "growth.no_entry_anew"


def _roll_sentence(growth: LogGrowth, step: GrowthStep) -> str:
    reason = cast(RollReason, step.reason)
    return say(
        "growth.rolled",
        cause=roll_text.cause_name(reason.cause),
        numbers=render(reason.numbers()),
        last=_last_entry_text(growth, step),
    )


def _last_entry_text(growth: LogGrowth, step: GrowthStep) -> str:
    if not step.has_time_entry:
        return say("growth.no_last_entry")
    timestamp_ms, offset = growth.segments[step.segment].times[step.after.time_entries - 1]
    return say("growth.last_entry", time=timestamp_ms, offset=offset)


def _change_text(step: GrowthStep, field: str) -> str:
    return " → ".join(format_count(getattr(state, field)) for state in (step.before, step.after))


def _truncate_sentence(step: GrowthStep) -> str:
    offsets = step.before.offset_entries - step.after.offset_entries
    times = step.before.time_entries - step.after.time_entries
    key = "both"
    if offsets <= 0:
        key = "times" if times > 0 else "none"
    elif times <= 0:
        key = "offsets"
    entries = say(f"growth.gone_{key}", offsets=format_count(offsets), times=format_count(times))
    log = f"{_change_text(step, 'log_bytes')} B"
    return say("growth.truncated", offset=step.offset, log=log, entries=entries)


def _code_lines(step: GrowthStep) -> tuple[int, ...]:
    if step.kind == StepKind.ROLL:
        return (*ROLL_LINES, *LAST_ENTRY_LINES)
    if step.kind == StepKind.TRIM:
        return (*TRIM_LINES, *NEW_SEGMENT_LINES)
    if step.kind != StepKind.APPEND:
        return ()
    is_newer = step.after.max_timestamp_ms > step.before.max_timestamp_ms
    return (
        *APPEND_LINES,
        *(TIMESTAMP_LINES if is_newer else TIMESTAMP_LINES[:1]),
        *INTERVAL_LINES,
        *(ENTRY_LINES if step.has_offset_entry else ()),
        *COUNTER_LINES,
    )


def _step_values(step: GrowthStep, interval_bytes: int) -> list[str]:
    state = step.after
    numbers = (
        state.log_bytes,
        state.since_bytes,
        interval_bytes,
        state.batches,
        state.offset_entries,
        state.time_entries,
        state.index_bytes,
        state.timeindex_bytes,
    )
    return [format_count(number) for number in numbers]


def browser_payload(growth_view: GrowthView) -> dict[str, Any]:
    """Returns the view as plain values. Values to draw are numbers, values to read are texts."""
    growth = growth_view.growth
    config = growth.config
    steps = []
    previous_values = None
    for step, text in zip(growth.steps, growth_view.sentences, strict=True):
        values = _step_values(step, config.index_interval_bytes)
        is_changed = map(ne, values, previous_values or values)
        previous_values = values
        state = step.after
        is_full = step.kind in (StepKind.APPEND, StepKind.FAIL)
        steps.append(
            {
                "text": text,
                "phase": say(f"growth.phase_{PHASE_KEYS[step.kind]}"),
                "what": step.kind,
                "of": step.segment,
                "title": _segment_title(step),
                "lines": _code_lines(step),
                "values": list(zip(values, is_changed, strict=True)),
                "batches": state.batches,
                "offsets": state.offset_entries,
                "times": state.time_entries,
                "since": step.before.since_bytes if is_full else state.since_bytes,
                "adds": step.size_bytes if is_full else 0,
                "index_bytes": state.index_bytes,
                "timeindex_bytes": state.timeindex_bytes,
                "new": [step.has_offset_entry, step.has_time_entry],
            }
        )
    appends = [step for step in growth.steps if step.kind == StepKind.APPEND]
    longest = max((step.before.since_bytes + step.size_bytes for step in appends), default=1)
    return {
        "key": growth_view.key,
        "steps": steps,
        "segments": [_segment_object(segment) for segment in growth.segments],
        "interval": config.index_interval_bytes,
        "segment_bytes": config.segment_bytes,
        "most_since": max(longest, config.index_interval_bytes),
        "code": CODE,
        "code_title": say("growth.code_title"),
        "names": [name if name[0] == "." else say(f"growth.value_{name}") for name in VALUE_NAMES],
        "slots": [config.offset_slots, config.time_slots],
    }


def _segment_object(segment: SegmentContents) -> dict[str, Any]:
    return {
        "base": format_count(segment.base_offset),
        "batches": segment.batches,
        "last_offsets": [format_count(batch[2]) for batch in segment.batches],
        "offsets": [
            [format_count(offset), format_count(position), position]
            for offset, position in segment.offsets
        ],
        "times": [
            [clock(timestamp_ms), format_count(offset)] for timestamp_ms, offset in segment.times
        ],
    }


def _segment_title(step: GrowthStep) -> str:
    state = step.after
    batches = say_count("common.n_batches", state.batches)
    size = format_count(state.log_bytes)
    return say("growth.segment", name=file_stem(state.base_offset), bytes=size, batches=batches)


def rows(growth_view: GrowthView) -> list[tuple[str, ...]]:
    """Returns (step number, event, bytes since the last entry, offset entries, time entries)."""
    states = [step.after for step in growth_view.growth.steps]
    return [
        (
            format_count(number),
            text,
            format_count(state.since_bytes),
            format_count(state.offset_entries),
            format_count(state.time_entries),
        )
        for number, (state, text) in enumerate(zip(states, growth_view.sentences, strict=True), 1)
    ]
