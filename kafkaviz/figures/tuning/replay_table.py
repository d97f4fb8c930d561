"""The table that compares a log with the same log written again with other settings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.figures.rolls.roll_summary import change_text
from kafkaviz.messages import say
from kafkaviz.render import roll_text
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import format_bytes, format_count

COLUMNS = ("what", "today", "considered")  # columns of the CSV file
COUNTED = {  # texts that say how the numbers are known
    "segments": "writers_rules",
    "offset_entries": "replayed",
    "time_entries": "with_last",
    "index_bytes": "entry_bytes",
    "files": "three_files",
    "maps": "two_maps",
}
SETTINGS = ("segment_bytes", "segment_ms", "segment_index_bytes", "index_interval_bytes")


@dataclass(frozen=True, kw_only=True)
class ReplayRow:
    """A row of the table that compares a log with old and with new settings."""

    key: str  # the name of the row in JSON and CSV
    name: str
    values: tuple[float, float]  # the value with the old settings, and the value with the new ones
    format_value: Callable[[float], str] = format_count
    basis: str = ""  # a text saying whether the values are counted or modelled


def file_cells(rows: Iterable[ReplayRow]) -> list[tuple[float | str, ...]]:
    """Returns the values of `COLUMNS` for each row, the same in every language."""
    return [(row.key, *(round(value, 6) for value in row.values)) for row in rows]


def cells(row: ReplayRow) -> tuple[str, ...]:
    """Returns the texts of a row: name, old value, new value, change, and basis."""
    return row.name, *map(row.format_value, row.values), change_text(*row.values), row.basis


def _mean_bytes(outcome: WhatIf) -> float:
    return outcome.log_bytes / max(1, outcome.segments)


def rows(current: WhatIf, considered: WhatIf) -> list[ReplayRow]:
    """Returns rows of changed settings, segments, rolls, bytes, entries, files and memory maps."""
    settings = []
    for name in SETTINGS:
        values = getattr(current.config, name), getattr(considered.config, name)
        if values[0] != values[1]:
            setting = name.replace("_", ".")
            basis = say("replay_table.setting")
            settings.append(ReplayRow(key=setting, name=setting, values=values, basis=basis))
    rolls = [
        ReplayRow(
            key=f"rolls_{cause}",
            name=say("rolls.rolls_by", cause=roll_text.cause_name(cause)),
            values=(current.rolls.get(cause, 0), considered.rolls.get(cause, 0)),
        )
        for cause in RollCause
        if cause in current.rolls or cause in considered.rolls
    ]
    mean_segment = ReplayRow(
        key="segment_bytes_mean",
        name=say("rolls.mean_segment"),
        values=(_mean_bytes(current), _mean_bytes(considered)),
        format_value=format_bytes,
    )
    segments, *counts = (
        ReplayRow(
            key=field,
            name=say(f"replay_table.{field}"),
            values=(getattr(current, field), getattr(considered, field)),
            format_value=format_bytes if field == "index_bytes" else format_count,
            basis=say(f"replay_table.{basis}"),
        )
        for field, basis in COUNTED.items()
    )
    return [*settings, segments, *rolls, mean_segment, *counts]
