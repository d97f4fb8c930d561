"""The result of a simulation of a log, compared with the result of the previous simulation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.format import offset_index, time_index
from kafkaviz.messages import say
from kafkaviz.render import roll_text
from kafkaviz.render.sentences import join_comma
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import MISSING, duration, format_bytes, format_count

SAME_TEXT = "="


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """The result of a simulation run of one log."""

    settings: tuple[tuple[str, str], ...]  # untranslated (name, value) pairs
    segments: int
    rolls: tuple[tuple[RollCause, int], ...]  # only causes that occurred
    log_bytes: int
    offset_entries: int
    time_entries: int
    open_ms: float | None  # mean over the segments that were rolled

    @property
    def index_bytes(self) -> int:
        return (
            self.offset_entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )


def summarize(history: RollHistory, settings: dict[str, str]) -> RunSummary:
    segments = history.segments
    spans_ms = [each.ended_ms - each.opened_ms for each in segments if not each.is_active]
    return RunSummary(
        settings=tuple(settings.items()),
        segments=len(segments),
        rolls=tuple((cause, count) for cause, count in history.rolls().items() if cause),
        log_bytes=history.log_bytes,
        offset_entries=sum(segment.offset_entries for segment in segments),
        time_entries=sum(segment.time_entries for segment in segments),
        open_ms=sum(spans_ms) / len(spans_ms) if spans_ms else None,
    )


def describe_changes(
    before: RunSummary, after: RunSummary, text_of: Callable[[str], str] = str
) -> str:
    """Lists the changed settings, such as "segment.ms 1 min → 10 s".

    `text_of` translates the name or the value of a setting.
    """
    old_settings = dict(before.settings)
    texts = [
        f"{text_of(name)} {text_of(old_settings.get(name, MISSING))} → {text_of(value)}"
        for name, value in after.settings
        if old_settings.get(name) != value
    ]
    return join_comma(texts) or say("rolls.nothing_changed")


def rows(before: RunSummary, after: RunSummary) -> list[tuple[str, str, str, str]]:
    """Returns a table row (name, value before, value after, change) for each number."""
    rolls_before = dict(before.rolls)
    rolls_after = dict(after.rolls)
    rolls = []
    for cause in RollCause:
        if cause in rolls_before or cause in rolls_after:
            name = say("rolls.rolls_by", cause=roll_text.cause_name(cause))
            counts = (rolls_before.get(cause, 0), rolls_after.get(cause, 0))
            rolls.append((name, *counts, format_count))
    numbers: list[tuple[Any, ...]] = [
        (say("common.segments"), before.segments, after.segments, format_count),
        *rolls,
        (say("rolls.mean_segment"), _mean(before), _mean(after), format_bytes),
        (say("rolls.mean_open"), before.open_ms, after.open_ms, duration),
        (say("rolls.offset_entries"), before.offset_entries, after.offset_entries, format_count),
        (say("rolls.time_entries"), before.time_entries, after.time_entries, format_count),
        (say("common.both_indexes"), before.index_bytes, after.index_bytes, format_bytes),
    ]
    return [
        (name, format_value(old), format_value(new), change_text(old, new))
        for name, old, new, format_value in numbers
    ]


def _mean(run_summary: RunSummary) -> float:
    return run_summary.log_bytes / max(1, run_summary.segments)


def change_text(before: float | None, after: float | None) -> str:
    """Returns a change such as "× 3.1" or "−79 %". "=": the values are equal."""
    if before == after:
        return SAME_TEXT
    if not before or after is None:
        return MISSING if after is None or before is None else f"+{format_count(round(after))}"
    ratio = after / before
    if ratio >= 2:
        return f"× {ratio:.1f}" if ratio < 100 else f"× {format_count(round(ratio))}"
    percent = round(100 * (ratio - 1))
    if percent > 0:
        return f"+{percent} %"
    if percent < 0:
        return f"−{-percent} %"
    return "< 1 %"
