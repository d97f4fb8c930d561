"""What a run of a log came to, beside the run before: rolls by cause, segments, index bytes, each
with its change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kafkaviz.analyse.lanes import Lanes
from kafkaviz.figures import roll_words
from kafkaviz.figures.listed import listed
from kafkaviz.format import offset_index, time_index
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.units import MISSING, duration, group, size
from kafkaviz.words import say

SAME = "="


@dataclass(frozen=True)
class Summary:
    """settings: (name, value), the same in every language; rolls: (cause, how many) of those that
    came.
    """

    settings: tuple[tuple[str, str], ...]
    segments: int
    rolls: tuple[tuple[Cause, int], ...]
    log_bytes: int
    offset_entries: int
    time_entries: int
    open_ms: float | None  # of a rolled segment, on average

    @property
    def index_bytes(self) -> int:
        """Both indexes of all segments, as long as their entries."""
        return (
            self.offset_entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )


def summary(shown: Lanes, settings: dict[str, str]) -> Summary:
    """What there is to compare of a run."""
    rolled = [one for one in shown.lanes if not one.is_active]
    open_ms = sum(one.ended_ms - one.opened_ms for one in rolled) / len(rolled) if rolled else None
    counted = tuple((cause, count) for cause, count in shown.rolls().items() if cause)
    entries = [
        sum(getattr(one, name) for one in shown.lanes)
        for name in ("offset_entries", "time_entries")
    ]
    return Summary(
        tuple(settings.items()), len(shown.lanes), counted, shown.log_bytes, *entries, open_ms
    )


def changes(before: Summary, now: Summary, told: Callable[[str], str] = str) -> str:
    """The settings that differ: segment.ms 1 min → 10 s. told: what a name or a value is called."""
    old = dict(before.settings)
    found = [
        f"{told(name)} {told(old.get(name, MISSING))} → {told(value)}"
        for name, value in now.settings
        if old.get(name) != value
    ]
    return listed(found) or say("rolls.nothing_changed")


def rows(before: Summary, now: Summary) -> list[tuple[str, str, str, str]]:
    """What, before, now, and the change."""
    causes = [cause for cause in Cause if cause in dict(before.rolls) or cause in dict(now.rolls)]
    numbers: list[tuple[Any, ...]] = [
        (say("common.segments"), before.segments, now.segments, group),
        *(
            (
                say("rolls.rolls_by", cause=roll_words.name(one)),
                *(dict(run.rolls).get(one, 0) for run in (before, now)),
                group,
            )
            for one in causes
        ),
        (say("rolls.mean_segment"), _mean(before), _mean(now), size),
        (say("rolls.mean_open"), before.open_ms, now.open_ms, duration),
        (say("rolls.offset_entries"), before.offset_entries, now.offset_entries, group),
        (say("rolls.time_entries"), before.time_entries, now.time_entries, group),
        (say("rolls.both_indexes"), before.index_bytes, now.index_bytes, size),
    ]
    return [(name, words(old), words(new), change(old, new)) for name, old, new, words in numbers]


def _mean(one: Summary) -> float:
    return one.log_bytes / max(1, one.segments)


def change(old: float | None, new: float | None) -> str:
    """× 3.1 or −79 %; = for the same."""
    if old == new:
        return SAME
    if not old or new is None:
        return MISSING if new is None or old is None else f"+{group(round(new))}"
    times = new / old
    if times >= 2:
        return f"× {times:.1f}" if times < 100 else f"× {group(round(times))}"
    percent = round(100 * (times - 1))
    return f"+{percent} %" if percent > 0 else f"−{-percent} %" if percent < 0 else "< 1 %"
