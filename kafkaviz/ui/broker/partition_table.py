"""The Broker page's table: a row a topic-partition, as people read it, and as a CSV file has it."""

import csv as csv_format
import io
from collections.abc import Callable, Sequence
from typing import Any, cast

import pandas as pd
from pandas.io.formats.style import Styler

from kafkaviz import units
from kafkaviz.analyse.overview import Row
from kafkaviz.figures.listed import listed
from kafkaviz.format.names import counting
from kafkaviz.ui.tables import escape_formula
from kafkaviz.words import say

READS = {  # how a value of a column reads; the value itself is what the column is sorted by
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
TEXTS = ("name", "offsets", "codec")
EXACT = (
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


def ordered(rows: Sequence[Row]) -> list[Row]:
    """The rows, largest log first."""
    return sorted(rows, key=lambda row: (-row.sums.log_bytes, counting(row.directory)))


def frame(rows: Sequence[Row]) -> pd.DataFrame:
    """The rows as they come; a value that is not known is missing."""
    table = pd.DataFrame(
        [_values(row) for row in rows],
        # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
        columns=[heading(column) for column in READS],
    )
    numbers = [heading(column) for column in READS if column not in TEXTS]
    # NaN where a number is missing; exact up to 2**53
    return table.astype(dict.fromkeys(numbers, "float64"))


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """The rows as they read, for a table of plain text."""
    reads = list(READS.values())
    return [
        [
            units.MISSING if one is None else read(one)
            for read, one in zip(reads, _values(row), strict=True)
        ]
        for row in rows
    ]


def _values(row: Row) -> list:
    sums = row.sums
    codecs = listed(row.codecs) if row.codecs else None
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


def _name(row: Row) -> str:
    if row.state == "current":
        return row.label
    return say("broker.named_state", name=row.label, state=say(f"common.state_{row.state}"))


def _offsets(row: Row) -> str | None:
    """From the log start to the last offset: 9 037–11 999."""
    if (
        row.last_offset is None
        or row.log_start_offset is None
        or row.last_offset < row.log_start_offset
    ):
        return None
    return f"{units.group(row.log_start_offset)}–{units.group(row.last_offset)}"


def styled(table: pd.DataFrame) -> Styler:
    """The table with each value as it reads; sorting still goes by the value."""
    read: dict[Any, Any] = {heading(column): _reading(read) for column, read in READS.items()}
    return cast(Styler, table.style.format(read, na_rep=units.MISSING)).set_properties(
        subset=[heading("name")], **{"font-weight": "600"}
    )


def _reading(read: Callable[..., str]) -> Callable[[object], str]:
    """The same, for a float that stands for a whole number too."""
    return lambda value: (
        read(int(value)) if isinstance(value, float) and value.is_integer() else read(value)
    )


def csv(rows: Sequence[Row]) -> bytes:
    """The rows with exact numbers, by name; an empty cell is not known."""
    text = io.StringIO()
    writer = csv_format.DictWriter(text, EXACT)
    writer.writeheader()
    writer.writerows(_exact(row) for row in sorted(rows, key=lambda row: counting(row.directory)))
    return text.getvalue().encode()


def _exact(row: Row) -> dict:
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
