"""A log that grows, packed for the stepper in the browser: every step with its sentence, its line of Kafka's code and its numbers."""

from dataclasses import dataclass
from typing import Any

from kafkaviz.figures.roll_words import NAMES
from kafkaviz.simulate.lessons.growth import Growth, Seen, Step, What
from kafkaviz.units import clock, file_stem, group

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
CODE_TITLE = "LogSegment and LocalLog, Kafka 4.1 and later"
ROLLS, WRITES, NEWER, ASKS, INDEXES, COUNTS, ENDS, TRIMS, ANEW = (1,), (2,), (3, 4), (5,), (6, 7, 8), (9,), (10, 11), (12, 13), (14,)
VALUES = (".log", "counter", "interval", "batches", "offset entries", "time entries", ".index", ".timeindex")
PHASES = {
    What.OPEN: "New", What.APPEND: "Appends", What.ROLL: "Roll", What.TRIM: "Roll", What.STOP: "Restart", What.RESTART: "Restart",
    What.TRUNCATE: "Truncation", What.FAIL: "Refused",
}  # fmt: skip


@dataclass(frozen=True)
class GrowthView:
    """key: changes when the content does; steps: those of the growth, each beside its sentence."""

    key: str
    growth: Growth
    sentences: tuple[str, ...]


def view(growth: Growth, key: str) -> GrowthView:
    """Every step in words."""
    return GrowthView(key, growth, tuple(sentence(growth, place) for place in range(len(growth.steps))))


def sentence(growth: Growth, place: int) -> str:
    """What one step does, and why."""
    step = growth.steps[place]
    if step.what == What.APPEND:
        return _appended(growth, step)
    return {
        What.OPEN: _opened, What.ROLL: _rolled, What.TRIM: _trimmed, What.STOP: _stopped, What.RESTART: _restarted,
        What.TRUNCATE: _truncated, What.FAIL: _refused,
    }[step.what](growth, step)  # fmt: skip


def _opened(growth: Growth, step: Step) -> str:
    lengths = f"{group(step.after.index_bytes)} and {group(step.after.timeindex_bytes)} B"
    return f"A new segment: both index files are made as long as they may grow, {lengths}, and nothing is written in them"


def _appended(growth: Growth, step: Step) -> str:
    since, interval = step.before.since_bytes, growth.config.index_interval_bytes
    if not step.has_offset_entry:
        return f"{_counted(growth, step)}, not above {group(interval)}: no entry"
    seen = growth.segments[step.segment]
    offset, position = seen.offsets[step.after.offset_entries - 1]
    words = f"{group(since)} B since the last entry, above {group(interval)}: "
    words += f"the offset index gets offset {group(offset)} at byte {group(position)}"
    if step.has_time_entry:
        timestamp_ms, of = seen.times[step.after.time_entries - 1]
        return f"{words}, the time index {clock(timestamp_ms)} at offset {group(of)}"
    newest = "equals the last time entry's" if step.after.max_timestamp_ms >= 0 else "is not known"  # it is never below an entry's
    return f"{words}. The newest timestamp {newest}: maybeAppend writes nothing"


def _counted(growth: Growth, step: Step) -> str:
    since = f"{group(step.before.since_bytes)} B"
    if not step.before.batches:
        return f"The segment's first batch: {since} since the last entry"
    if not step.before.since_bytes:
        return f"The counter was set back: {since} since the last entry"
    return f"{since} since the last entry"


def _rolled(growth: Growth, step: Step) -> str:
    cause = f"By {NAMES[step.reason.cause]}, {step.reason.words()}: the segment is full before this batch" if step.reason else "A roll"
    return f"{cause}. {_last_entry(growth, step)}"


def _last_entry(growth: Growth, step: Step) -> str:
    if not step.has_time_entry:
        return "Its newest timestamp is in the time index already, which gets no last entry"
    timestamp_ms, offset = growth.segments[step.segment].times[step.after.time_entries - 1]
    return f"The time index gets a last entry, {clock(timestamp_ms)} at offset {group(offset)}"


def _trimmed(growth: Growth, step: Step) -> str:
    before, after = step.before, step.after
    index, times = (f"{group(low)} → {group(high)}" for low, high in (
        (before.index_bytes, after.index_bytes), (before.timeindex_bytes, after.timeindex_bytes)))  # fmt: skip
    return f"Both index files are cut to their entries: the .index {index} B, the .timeindex {times} B"


def _stopped(growth: Growth, step: Step) -> str:
    last = ", which has no twin in the offset index" if step.has_time_entry else ""
    lengths = f"{group(step.after.index_bytes)} and {group(step.after.timeindex_bytes)} B"
    return f"A clean stop. {_last_entry(growth, step)}{last}. Both files are cut to {lengths}"


def _restarted(growth: Growth, step: Step) -> str:
    forgotten = step.before.since_bytes
    lengths = f"{group(step.after.index_bytes)} and {group(step.after.timeindex_bytes)} B"
    return (
        f"The next start makes both files {lengths} long again. The counter lives in memory alone: its {group(forgotten)} B are forgotten"
    )


def _truncated(growth: Growth, step: Step) -> str:
    before, after = step.before, step.after
    gone = [
        f"{group(low - high)} of the {name} index"
        for name, low, high in (("offset", before.offset_entries, after.offset_entries), ("time", before.time_entries, after.time_entries))
        if low > high
    ]
    entries = f"With it go the entries at or above that offset: {' and '.join(gone)}" if gone else "No entry goes with it"
    log = f"{group(before.log_bytes)} → {group(after.log_bytes)} B"
    return f"The log is cut back to offset {group(step.offset)}, {log}. {entries}. The counter begins at 0"


def _refused(growth: Growth, step: Step) -> str:
    return f"Kafka refuses this batch: {step.words}"


def _lines(step: Step) -> tuple[int, ...]:
    """The lines of CODE that a step runs."""
    if step.what == What.APPEND:
        newer = NEWER if step.after.max_timestamp_ms > step.before.max_timestamp_ms else NEWER[:1]
        return (*WRITES, *newer, *ASKS, *(INDEXES if step.has_offset_entry else ()), *COUNTS)
    return {What.ROLL: (*ROLLS, *ENDS), What.TRIM: (*TRIMS, *ANEW)}.get(step.what, ())


def _values(step: Step, interval_bytes: int) -> list[str]:
    now = step.after
    return [
        *(group(one) for one in (now.log_bytes, now.since_bytes, interval_bytes, now.batches, now.offset_entries, now.time_entries)),
        *(group(one) for one in (now.index_bytes, now.timeindex_bytes)),
    ]


def message(shown: GrowthView) -> dict[str, Any]:
    """The view as the component takes it; numbers that are drawn as numbers, numbers that are read as text."""
    growth, config = shown.growth, shown.growth.config
    steps, before = [], None
    for step, text in zip(growth.steps, shown.sentences, strict=True):
        values = _values(step, config.index_interval_bytes)
        changed = [one != old for one, old in zip(values, before or values, strict=True)]
        before = values
        now, is_full = step.after, step.what in (What.APPEND, What.FAIL)
        steps.append({
            "text": text, "phase": PHASES[step.what], "what": step.what, "of": step.segment, "title": _title(step), "lines": _lines(step),
            "values": list(zip(values, changed, strict=True)),
            "batches": now.batches, "offsets": now.offset_entries, "times": now.time_entries,
            "since": step.before.since_bytes if is_full else now.since_bytes, "adds": step.size_bytes if is_full else 0,
            "index_bytes": now.index_bytes, "timeindex_bytes": now.timeindex_bytes,
            "new": [step.has_offset_entry, step.has_time_entry],
        })  # fmt: skip
    segments = [_segment(one) for one in growth.segments]
    longest = max((one.before.since_bytes + one.size_bytes for one in growth.steps if one.what == What.APPEND), default=1)
    return {
        "key": shown.key, "steps": steps, "segments": segments, "interval": config.index_interval_bytes,
        "segment_bytes": config.segment_bytes,
        "most_since": max(longest, config.index_interval_bytes), "code": CODE, "code_title": CODE_TITLE, "names": VALUES,
        "slots": [config.offset_slots, config.time_slots],
    }  # fmt: skip


def _segment(one: Seen) -> dict[str, Any]:
    return {
        "base": group(one.base_offset), "batches": one.batches, "last_offsets": [group(batch[2]) for batch in one.batches],
        "offsets": [[group(offset), group(position), position] for offset, position in one.offsets],
        "times": [[clock(timestamp_ms), group(offset)] for timestamp_ms, offset in one.times],
    }  # fmt: skip


def _title(step: Step) -> str:
    return f"Segment {file_stem(step.after.base_offset)}, {group(step.after.log_bytes)} B in {group(step.after.batches)} batches"


def rows(shown: GrowthView) -> list[tuple[str, ...]]:
    """Every step as a row: number, what happened, counter, entries of both indexes."""
    return [
        (group(place), text, group(step.after.since_bytes), group(step.after.offset_entries), group(step.after.time_entries))
        for place, (step, text) in enumerate(zip(shown.growth.steps, shown.sentences, strict=True), start=1)
    ]
