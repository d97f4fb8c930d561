"""The Broker page's table: a row a topic-partition, as people read it, and as a CSV file has it."""

import csv as csv_format
import io
from collections.abc import Callable, Sequence
from typing import Any, cast

import pandas as pd
from pandas.io.formats.style import Styler

from kafkaviz import units
from kafkaviz.analysis.overview import PartitionRow
from kafkaviz.app.widgets.tables import escape_formula
from kafkaviz.figures.join_text import join_comma
from kafkaviz.format.names import natural_sort_key
from kafkaviz.words import say

FORMATTERS = {  # how a value of a column reads; the value itself is what the column is sorted by
    "name": str,
    "segments": units.group,
    "offsets": str,
    "log": units.size,
    "index": units.size,
    "share": lambda part: units.share(part, 1),
    "entries": units.group,
    "gap": lambda count: units.group(round(count)),
    "codec": str,
    "newest": lambda ms: units.moment(int(ms), fraction=False),
}
TEXT_COLUMNS = ("name", "offsets", "codec")
CSV_COLUMNS = (
    "directory",
    "state",
    "segments",
    "log_start_offset",
    "last_offset",
    "log_bytes",
    "allocated_bytes",
    "index_bytes",
    "offset_entries",
    "time_entries",
    "batches",
    "records",
    "torn_bytes",
    "codecs",
    "newest_record_ms",
)


def heading(column: str) -> str:
    """What stands above a column of READS."""
    return say(f"broker.column_{column}")


def sort_by_log_size(rows: Sequence[PartitionRow]) -> list[PartitionRow]:
    """The rows, largest log first."""
    return sorted(rows, key=lambda row: (-row.sums.log_bytes, natural_sort_key(row.directory)))


def frame(rows: Sequence[PartitionRow]) -> pd.DataFrame:
    """The rows as they come; a value that is not known is missing."""
    table = pd.DataFrame(
        [_values(row) for row in rows],
        # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
        columns=[heading(column) for column in FORMATTERS],
    )
    numbers = [heading(column) for column in FORMATTERS if column not in TEXT_COLUMNS]
    # NaN where a number is missing; exact up to 2**53
    return table.astype(dict.fromkeys(numbers, "float64"))


def cells(rows: Sequence[PartitionRow]) -> list[list[str]]:
    """The rows as they read, for a table of plain text."""
    formatters = list(FORMATTERS.values())
    return [
        [
            units.MISSING if value is None else formatter(value)
            for formatter, value in zip(formatters, _values(row), strict=True)
        ]
        for row in rows
    ]


def _values(row: PartitionRow) -> list:
    sums = row.sums
    codecs = join_comma(row.codecs) if row.codecs else None
    return [
        _name(row),
        sums.segments,
        _offsets(row),
        sums.log_bytes,
        sums.index_bytes,
        sums.index_share,
        sums.offset_entries,
        sums.bytes_an_entry,
        codecs,
        sums.newest_ms,
    ]


def _name(row: PartitionRow) -> str:
    if row.state == "current":
        return row.label
    return say("broker.named_state", name=row.label, state=say(f"common.state_{row.state}"))


def _offsets(row: PartitionRow) -> str | None:
    """From the log start to the last offset: 9 037–11 999."""
    if (
        row.last_offset is None
        or row.log_start_offset is None
        or row.last_offset < row.log_start_offset
    ):
        return None
    return f"{units.group(row.log_start_offset)}–{units.group(row.last_offset)}"


def style_table(table: pd.DataFrame) -> Styler:
    """The table with each value as it reads; sorting still goes by the value."""
    formatters_by_heading: dict[Any, Any] = {
        heading(column): _format_whole_floats(formatters_by_heading)
        for column, formatters_by_heading in FORMATTERS.items()
    }
    return cast(
        Styler, table.style.format(formatters_by_heading, na_rep=units.MISSING)
    ).set_properties(subset=[heading("name")], **{"font-weight": "600"})


def _format_whole_floats(formatter: Callable[..., str]) -> Callable[[object], str]:
    """The same, for a float that stands for a whole number too."""
    return lambda value: (
        formatter(int(value))
        if isinstance(value, float) and value.is_integer()
        else formatter(value)
    )


def csv(rows: Sequence[PartitionRow]) -> bytes:
    """The rows with exact numbers, by name; an empty cell is not known."""
    text = io.StringIO()
    writer = csv_format.DictWriter(text, CSV_COLUMNS)
    writer.writeheader()
    writer.writerows(
        _csv_row(row) for row in sorted(rows, key=lambda row: natural_sort_key(row.directory))
    )
    return text.getvalue().encode()


def _csv_row(row: PartitionRow) -> dict:
    sums = row.sums
    return {
        "directory": escape_formula(row.directory),
        "state": row.state,
        "segments": sums.segments,
        "log_start_offset": row.log_start_offset,
        "last_offset": row.last_offset,
        "log_bytes": sums.log_bytes,
        "allocated_bytes": sums.allocated_bytes,
        "index_bytes": sums.index_bytes,
        "offset_entries": sums.offset_entries,
        "time_entries": sums.time_entries,
        "batches": sums.batches,
        "records": sums.records,
        "torn_bytes": sums.torn_bytes,
        "codecs": " ".join(row.codecs) if row.codecs else None,
        "newest_record_ms": sums.newest_ms,
    }
