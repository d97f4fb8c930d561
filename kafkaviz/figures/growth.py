"""A log that grows, packed for the stepper in the browser: every step with its sentence, its line
of Kafka's code and its numbers.
"""

from dataclasses import dataclass
from typing import Any

from kafkaviz.figures import roll_words
from kafkaviz.simulate.lessons.growth import Growth, Seen, Step, What
from kafkaviz.units import clock, file_stem, group
from kafkaviz.words import counted, say

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
ROLLS, WRITES, NEWER, ASKS, INDEXES, COUNTS, ENDS, TRIMS, ANEW = (
    (1,),
    (2,),
    (3, 4),
    (5,),
    (6, 7, 8),
    (9,),
    (10, 11),
    (12, 13),
    (14,),
)
VALUES = (
    ".log",
    "counter",
    "interval",
    "batches",
    "offset_entries",
    "time_entries",
    ".index",
    ".timeindex",
)
PHASES = {
    What.OPEN: "new",
    What.APPEND: "appends",
    What.ROLL: "roll",
    What.TRIM: "roll",
    What.STOP: "restart",
    What.RESTART: "restart",
    What.TRUNCATE: "truncation",
    What.FAIL: "refused",
}


@dataclass(frozen=True)
class GrowthView:
    """key: changes when the content does; steps: those of the growth, each beside its sentence."""

    key: str
    growth: Growth
    sentences: tuple[str, ...]


def view(growth: Growth, key: str) -> GrowthView:
    """Every step in words."""
    return GrowthView(
        key, growth, tuple(sentence(growth, place) for place in range(len(growth.steps)))
    )


def sentence(growth: Growth, place: int) -> str:
    """What one step does, and why."""
    step = growth.steps[place]
    if step.what == What.APPEND:
        return _appended(growth, step)
    return {
        What.OPEN: _opened,
        What.ROLL: _rolled,
        What.TRIM: _trimmed,
        What.STOP: _stopped,
        What.RESTART: _restarted,
        What.TRUNCATE: _truncated,
        What.FAIL: _refused,
    }[step.what](growth, step)


def _opened(growth: Growth, step: Step) -> str:
    return say("growth.opened", **_lengths(step))


def _lengths(step: Step) -> dict[str, str]:
    """How long both index files are after a step."""
    return {"index": group(step.after.index_bytes), "timeindex": group(step.after.timeindex_bytes)}


def _appended(growth: Growth, step: Step) -> str:
    told = {
        "since": group(step.before.since_bytes),
        "interval": group(growth.config.index_interval_bytes),
    }
    if not step.has_offset_entry:
        return say(_no_entry(step), **told)
    seen = growth.segments[step.segment]
    offset, position = seen.offsets[step.after.offset_entries - 1]
    told |= {"offset": group(offset), "position": group(position)}
    if step.has_time_entry:
        timestamp_ms, of = seen.times[step.after.time_entries - 1]
        return say("growth.entry_in_both", **told, time=clock(timestamp_ms), of=group(of))
    # and then it equals the last entry's: it is never below
    is_known = step.after.max_timestamp_ms >= 0
    return say("growth.entry_not_newer" if is_known else "growth.entry_without_time", **told)


def _no_entry(step: Step) -> str:
    if not step.before.batches:
        return "growth.no_entry_first"
    return "growth.no_entry" if step.before.since_bytes else "growth.no_entry_anew"


def _rolled(growth: Growth, step: Step) -> str:
    last = _last_entry(growth, step)
    if not step.reason:
        return say("growth.rolled_unasked", last=last)
    return say(
        "growth.rolled",
        cause=roll_words.name(step.reason.cause),
        numbers=roll_words.numbers(step.reason),
        last=last,
    )


def _last_entry(growth: Growth, step: Step) -> str:
    if not step.has_time_entry:
        return say("growth.no_last_entry")
    timestamp_ms, offset = growth.segments[step.segment].times[step.after.time_entries - 1]
    return say("growth.last_entry", time=clock(timestamp_ms), offset=group(offset))


def _trimmed(growth: Growth, step: Step) -> str:
    before, after = step.before, step.after
    index, times = (
        f"{group(low)} → {group(high)}"
        for low, high in (
            (before.index_bytes, after.index_bytes),
            (before.timeindex_bytes, after.timeindex_bytes),
        )
    )
    return say("growth.trimmed", index=index, timeindex=times)


def _stopped(growth: Growth, step: Step) -> str:
    key = "growth.stopped_with_entry" if step.has_time_entry else "growth.stopped"
    return say(key, last=_last_entry(growth, step), **_lengths(step))


def _restarted(growth: Growth, step: Step) -> str:
    return say("growth.restarted", forgotten=group(step.before.since_bytes), **_lengths(step))


def _truncated(growth: Growth, step: Step) -> str:
    before, after = step.before, step.after
    log = f"{group(before.log_bytes)} → {group(after.log_bytes)} B"
    return say("growth.truncated", offset=group(step.offset), log=log, entries=_gone(step))


def _gone(step: Step) -> str:
    """The entries that a truncation takes along."""
    offsets = step.before.offset_entries - step.after.offset_entries
    times = step.before.time_entries - step.after.time_entries
    key = (
        "both"
        if offsets > 0 and times > 0
        else "offsets"
        if offsets > 0
        else "times"
        if times > 0
        else "none"
    )
    return say(f"growth.gone_{key}", offsets=group(offsets), times=group(times))


def _refused(growth: Growth, step: Step) -> str:
    return say("growth.refused", words=step.words)


def _lines(step: Step) -> tuple[int, ...]:
    """The lines of CODE that a step runs."""
    if step.what == What.APPEND:
        newer = NEWER if step.after.max_timestamp_ms > step.before.max_timestamp_ms else NEWER[:1]
        return (*WRITES, *newer, *ASKS, *(INDEXES if step.has_offset_entry else ()), *COUNTS)
    return {What.ROLL: (*ROLLS, *ENDS), What.TRIM: (*TRIMS, *ANEW)}.get(step.what, ())


def _values(step: Step, interval_bytes: int) -> list[str]:
    now = step.after
    return [
        *(
            group(one)
            for one in (
                now.log_bytes,
                now.since_bytes,
                interval_bytes,
                now.batches,
                now.offset_entries,
                now.time_entries,
            )
        ),
        *(group(one) for one in (now.index_bytes, now.timeindex_bytes)),
    ]


def message(shown: GrowthView) -> dict[str, Any]:
    """The view as the component takes it; numbers that are drawn as numbers, numbers that are read
    as text.
    """
    growth, config = shown.growth, shown.growth.config
    steps, before = [], None
    for step, text in zip(growth.steps, shown.sentences, strict=True):
        values = _values(step, config.index_interval_bytes)
        changed = [one != old for one, old in zip(values, before or values, strict=True)]
        before = values
        now, is_full = step.after, step.what in (What.APPEND, What.FAIL)
        steps.append(
            {
                "text": text,
                "phase": say(f"growth.phase_{PHASES[step.what]}"),
                "what": step.what,
                "of": step.segment,
                "title": _title(step),
                "lines": _lines(step),
                "values": list(zip(values, changed, strict=True)),
                "batches": now.batches,
                "offsets": now.offset_entries,
                "times": now.time_entries,
                "since": step.before.since_bytes if is_full else now.since_bytes,
                "adds": step.size_bytes if is_full else 0,
                "index_bytes": now.index_bytes,
                "timeindex_bytes": now.timeindex_bytes,
                "new": [step.has_offset_entry, step.has_time_entry],
            }
        )
    segments = [_segment(one) for one in growth.segments]
    longest = max(
        (
            one.before.since_bytes + one.size_bytes
            for one in growth.steps
            if one.what == What.APPEND
        ),
        default=1,
    )
    return {
        "key": shown.key,
        "steps": steps,
        "segments": segments,
        "interval": config.index_interval_bytes,
        "segment_bytes": config.segment_bytes,
        "most_since": max(longest, config.index_interval_bytes),
        "code": CODE,
        "code_title": say("growth.code_title"),
        "names": [one if one[0] == "." else say(f"growth.value_{one}") for one in VALUES],
        "slots": [config.offset_slots, config.time_slots],
    }


def _segment(one: Seen) -> dict[str, Any]:
    return {
        "base": group(one.base_offset),
        "batches": one.batches,
        "last_offsets": [group(batch[2]) for batch in one.batches],
        "offsets": [[group(offset), group(position), position] for offset, position in one.offsets],
        "times": [[clock(timestamp_ms), group(offset)] for timestamp_ms, offset in one.times],
    }


def _title(step: Step) -> str:
    now = step.after
    batches = counted("common.n_batches", now.batches, n=group(now.batches))
    return say(
        "growth.segment",
        name=file_stem(now.base_offset),
        bytes=group(now.log_bytes),
        batches=batches,
    )


def rows(shown: GrowthView) -> list[tuple[str, ...]]:
    """Every step as a row: number, what happened, counter, entries of both indexes."""
    return [
        (
            group(place),
            text,
            group(step.after.since_bytes),
            group(step.after.offset_entries),
            group(step.after.time_entries),
        )
        for place, (step, text) in enumerate(
            zip(shown.growth.steps, shown.sentences, strict=True), start=1
        )
    ]
