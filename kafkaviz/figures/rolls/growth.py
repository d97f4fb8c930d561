"""A log that grows, for the stepper in the browser.

Every step has a sentence, the lines of Kafka's code that run in it, and numbers.
"""

from dataclasses import dataclass
from typing import Any, cast

from kafkaviz.figures.text import roll_text
from kafkaviz.messages import render, say, say_count
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
    ".log",
    "counter",
    "interval",
    "batches",
    "offset_entries",
    "time_entries",
    ".index",
    ".timeindex",
)
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
    return GrowthView(
        key, growth, tuple(step_sentence(growth, index) for index in range(len(growth.steps)))
    )


def step_sentence(growth: LogGrowth, index: int) -> str:
    step = growth.steps[index]
    if step.kind == StepKind.APPEND:
        return _append_sentence(growth, step)
    return {
        StepKind.OPEN: _open_sentence,
        StepKind.ROLL: _roll_sentence,
        StepKind.TRIM: _trim_sentence,
        StepKind.STOP: _stop_sentence,
        StepKind.RESTART: _restart_sentence,
        StepKind.TRUNCATE: _truncate_sentence,
        StepKind.FAIL: _failure_sentence,
    }[step.kind](growth, step)


def _open_sentence(_growth: LogGrowth, step: GrowthStep) -> str:
    return say("growth.opened", **_index_lengths(step))


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
        return say(
            "growth.entry_in_both",
            **values,
            time=clock(timestamp_ms),
            time_offset=format_count(time_offset),
        )
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
    return say("growth.last_entry", time=clock(timestamp_ms), offset=format_count(offset))


def _trim_sentence(_growth: LogGrowth, step: GrowthStep) -> str:
    before = step.before
    after = step.after
    index, times = (
        f"{format_count(size_before)} → {format_count(size_after)}"
        for size_before, size_after in (
            (before.index_bytes, after.index_bytes),
            (before.timeindex_bytes, after.timeindex_bytes),
        )
    )
    return say("growth.trimmed", index=index, timeindex=times)


def _stop_sentence(growth: LogGrowth, step: GrowthStep) -> str:
    key = "growth.stopped_with_entry" if step.has_time_entry else "growth.stopped"
    return say(key, last=_last_entry_text(growth, step), **_index_lengths(step))


def _restart_sentence(_growth: LogGrowth, step: GrowthStep) -> str:
    return say(
        "growth.restarted", forgotten=format_count(step.before.since_bytes), **_index_lengths(step)
    )


def _truncate_sentence(_growth: LogGrowth, step: GrowthStep) -> str:
    before = step.before
    after = step.after
    log = f"{format_count(before.log_bytes)} → {format_count(after.log_bytes)} B"
    return say(
        "growth.truncated",
        offset=format_count(step.offset),
        log=log,
        entries=_removed_entries_text(step),
    )


def _removed_entries_text(step: GrowthStep) -> str:
    offsets = step.before.offset_entries - step.after.offset_entries
    times = step.before.time_entries - step.after.time_entries
    if offsets > 0 and times > 0:
        key = "both"
    elif offsets > 0:
        key = "offsets"
    elif times > 0:
        key = "times"
    else:
        key = "none"
    return say(f"growth.gone_{key}", offsets=format_count(offsets), times=format_count(times))


def _failure_sentence(_growth: LogGrowth, step: GrowthStep) -> str:
    return say("growth.refused", words=step.words)


def _code_lines(step: GrowthStep) -> tuple[int, ...]:
    if step.kind == StepKind.APPEND:
        timestamp_lines = (
            TIMESTAMP_LINES
            if step.after.max_timestamp_ms > step.before.max_timestamp_ms
            else TIMESTAMP_LINES[:1]
        )
        return (
            *APPEND_LINES,
            *timestamp_lines,
            *INTERVAL_LINES,
            *(ENTRY_LINES if step.has_offset_entry else ()),
            *COUNTER_LINES,
        )
    return {
        StepKind.ROLL: (*ROLL_LINES, *LAST_ENTRY_LINES),
        StepKind.TRIM: (*TRIM_LINES, *NEW_SEGMENT_LINES),
    }.get(step.kind, ())


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
    config = growth_view.growth.config
    steps = []
    previous_values = None
    for step, text in zip(growth.steps, growth_view.sentences, strict=True):
        values = _step_values(step, config.index_interval_bytes)
        is_changed = [
            value != previous
            for value, previous in zip(values, previous_values or values, strict=True)
        ]
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
    segments = [_segment_object(segment) for segment in growth.segments]
    longest = max(
        (
            append.before.since_bytes + append.size_bytes
            for append in growth.steps
            if append.kind == StepKind.APPEND
        ),
        default=1,
    )
    return {
        "key": growth_view.key,
        "steps": steps,
        "segments": segments,
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
    return say(
        "growth.segment",
        name=file_stem(state.base_offset),
        bytes=format_count(state.log_bytes),
        batches=batches,
    )


def rows(growth_view: GrowthView) -> list[tuple[str, ...]]:
    """Returns (step number, event, bytes since the last entry, offset entries, time entries)."""
    return [
        (
            format_count(number),
            text,
            format_count(step.after.since_bytes),
            format_count(step.after.offset_entries),
            format_count(step.after.time_entries),
        )
        for number, (step, text) in enumerate(
            zip(growth_view.growth.steps, growth_view.sentences, strict=True), start=1
        )
    ]
