"""A log with its own settings compared with the same log written again with other settings.

Each row gives the change, and how the numbers are known.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.figures.rolls.roll_summary import change_text
from kafkaviz.figures.text import roll_text
from kafkaviz.messages import say
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import format_bytes, format_count

COLUMNS = ("what", "today", "considered")  # of the CSV file
SETTINGS = ("segment_bytes", "segment_ms", "segment_index_bytes", "index_interval_bytes")


@dataclass(frozen=True, kw_only=True)
class ReplayRow:
    """One row of the comparison.

    Attributes:
        key: the name of the row for programs.
        values: the values before and after.
        basis: how they are known.
    """

    key: str
    name: str
    values: tuple[float, float]
    format_value: Callable[[float], str] = format_count
    basis: str = ""


def file_cells(rows: Iterable[ReplayRow]) -> list[tuple[float | str, ...]]:
    """Returns the values of COLUMNS for each row, which are not translated."""
    return [(row.key, *(round(value, 6) for value in row.values)) for row in rows]


def cells(row: ReplayRow) -> tuple[str, ...]:
    """Returns name, value before, value after, change, and how they are known."""
    return row.name, *map(row.format_value, row.values), change_text(*row.values), row.basis


def rows(current: WhatIf, considered: WhatIf) -> list[ReplayRow]:
    """Returns changed settings, segments, rolls by cause, bytes, entries, files and maps."""
    both = current, considered
    comparison = []
    for name in SETTINGS:
        old, new = (getattr(what_if.config, name) for what_if in both)
        if old != new:
            setting = name.replace("_", ".")
            basis = say("replay_table.setting")
            comparison.append(ReplayRow(key=setting, name=setting, values=(old, new), basis=basis))
    comparison.append(_counted("segments", both, basis="writers_rules"))
    for cause in RollCause:
        rolls = (current.rolls.get(cause, 0), considered.rolls.get(cause, 0))
        if any(rolls):
            name = say("rolls.rolls_by", cause=roll_text.cause_name(cause))
            comparison.append(ReplayRow(key=f"rolls_{cause}", name=name, values=rolls))
    comparison.append(
        ReplayRow(
            key="segment_bytes_mean",
            name=say("rolls.mean_segment"),
            values=(
                current.log_bytes / max(1, current.segments),
                considered.log_bytes / max(1, considered.segments),
            ),
            format_value=format_bytes,
        )
    )
    return [
        *comparison,
        _counted("offset_entries", both, basis="replayed"),
        _counted("time_entries", both, basis="with_last"),
        _counted("index_bytes", both, format_bytes, basis="entry_bytes"),
        _counted("files", both, basis="three_files"),
        _counted("maps", both, basis="two_maps"),
    ]


def _counted(
    field: str,
    both: tuple[WhatIf, WhatIf],
    format_value: Callable[[float], str] = format_count,
    *,
    basis: str,
) -> ReplayRow:
    before, after = (getattr(what_if, field) for what_if in both)
    return ReplayRow(
        key=field,
        name=say(f"replay_table.{field}"),
        values=(before, after),
        format_value=format_value,
        basis=say(f"replay_table.{basis}"),
    )
