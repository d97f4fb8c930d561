"""The table of topic-partitions: sortable, with a filter and a CSV download."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, cast

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from kafkaviz import units
from kafkaviz.analysis.overview import BrokerOverview, PartitionRow
from kafkaviz.app import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, elements, tables
from kafkaviz.format.names import natural_sort_key
from kafkaviz.messages import language, say, say_count
from kafkaviz.render.sentences import join_comma

TABLE = "kv_partitions"  # the key of the table
PAPER_ROWS = 400
# maximum number of rows, largest logs first: the browser holds all rows, and pandas' Styler formats
# at most 262 144 cells
LISTED_ROWS = 10_000
COLUMNS = {  # the layout of some columns of FORMATTERS
    "name": st.column_config.TextColumn(width=158),
    "log_directory": st.column_config.TextColumn(width=110),
    "offsets": st.column_config.TextColumn(alignment="right", width=110),
    "codec": st.column_config.TextColumn(width=150),
    "newest": st.column_config.NumberColumn(alignment="left", width=150),
}
FORMATTERS = {  # functions that return the text of a value; columns are sorted by values
    "name": str,
    "log_directory": str,  # a column only if there are several
    "segments": units.format_count,
    "offsets": str,
    "log": units.format_bytes,
    "index": units.format_bytes,
    "share": lambda part: units.format_percent(part, 1),
    "entries": units.format_count,
    "gap": lambda count: units.format_count(round(count)),
    "codec": str,
    "newest": lambda ms: units.moment(int(ms), fraction=False),
}
TEXT_COLUMNS = ("name", "log_directory", "offsets", "codec")
CSV_COLUMNS: dict[str, Callable[[PartitionRow], object]] = {
    "directory": attrgetter("directory"),
    "state": attrgetter("state"),
    "segments": attrgetter("sums.segments"),
    "log_start_offset": attrgetter("log_start_offset"),
    "last_offset": attrgetter("last_offset"),
    "log_bytes": attrgetter("sums.log_bytes"),
    "allocated_bytes": attrgetter("sums.allocated_bytes"),
    "index_bytes": attrgetter("sums.index_bytes"),
    "offset_entries": attrgetter("sums.offset_entries"),
    "time_entries": attrgetter("sums.time_entries"),
    "batches": attrgetter("sums.batches"),
    "records": attrgetter("sums.records"),
    "torn_bytes": attrgetter("sums.torn_bytes"),
    "codecs": lambda row: " ".join(row.codecs or ()),
    "newest_record_ms": attrgetter("sums.newest_ms"),
    "log_directory": attrgetter("log_directory"),
}


@st.fragment
def render_partition_table(location: Location, overview: BrokerOverview) -> None:
    """Draws one row per topic-partition. A click on a row opens the partition's Segment page."""
    filter_text, rows = _render_filter(overview)
    if not rows:
        return _render_no_match(filter_text, len(overview.partitions))
    with st.container(key="kv_table", gap=None):
        listed_rows = rows[:LISTED_ROWS]
        table = _displayed_table(tuple(listed_rows), language())
        columns = {_heading(column): layout for column, layout in COLUMNS.items()}
        alt = say("broker.table_alt", count=len(listed_rows))
        tables.clickable_list(table, listed_rows, TABLE, alt, columns)
        elements.hidden_count("common.more_scroll", len(listed_rows) - tables.ROWS_IN_VIEW)
        elements.hidden_count("broker.more_unlisted", len(rows) - LISTED_ROWS)
    _render_paper_table(rows)
    if (clicked_row := charts.take_click(TABLE)) is not None:
        address = page_state.address(location.directory, clicked_row.address_name)
        elements.open_page("Segment", address)


def _render_filter(overview: BrokerOverview) -> tuple[str, list[PartitionRow]]:
    with st.container(horizontal=True, vertical_alignment="center", key="kv_table_head"):
        elements.heading(say("common.topic_partitions"), say("broker.table_aside"))
        filter_text = st.text_input(
            say("broker.filter"),
            key=page_state.FILTER,
            bind="query-params",
            placeholder=say("broker.filter"),
            label_visibility="collapsed",
            live="300ms",
            width=200,
        )
        filter_text = (filter_text or "").strip()
        rows = [
            row
            for row in overview.partitions
            if filter_text.lower() in f"{row.log_directory}/{row.directory}".lower()
        ]
        rows.sort(key=lambda row: (-row.sums.log_bytes, natural_sort_key(row.directory)))
        name = "topic-partitions.csv"
        tables.download("CSV", lambda: csv(rows), name, "kv_csv", mime=None, kind="secondary")
    return filter_text, rows


def _render_paper_table(rows: list[PartitionRow]) -> None:
    """Draws the rows as a plain table for print, because a printed page cannot scroll."""
    with st.container(key="kv_paper_rows"):
        heads = [_heading(column) for column in _columns(rows)]
        alignment = "l" * (len(heads) - 9) + "rrrrrrrll"
        tables.table(heads, _cells(rows[:PAPER_ROWS]), alignment)
        elements.hidden_count("common.n_more", len(rows) - PAPER_ROWS)


def _render_no_match(filter_text: str, count: int) -> None:
    reason = say_count("broker.filter_none_why", count)
    finding = say("broker.filter_none", text=units.escape_controls(filter_text))
    with elements.empty("filter", finding, reason):
        st.button(
            say("broker.filter_clear"),
            key="kv_filter_clear",
            on_click=lambda: st.session_state.update({page_state.FILTER: ""}),
        )


@lru_cache(maxsize=16)
def _displayed_table(rows: tuple[PartitionRow, ...], _language: str) -> Styler:
    """Returns the styled table of `rows`. All visitors who see the same rows share it."""
    styler = style_table(frame(rows)).set_uuid("partitions")
    styler._compute()
    displayed = styler._translate(sparse_index=False, sparse_cols=False)
    # on every run Streamlit calls these two private methods, which would format all cells
    vars(styler).update(_compute=lambda: styler, _translate=lambda *_options: displayed)
    return styler


# ---- the rows as text, as a data frame and as CSV


def _heading(column: str) -> str:
    return say(f"broker.column_{column}")


def _columns(rows: Sequence[PartitionRow]) -> list[str]:
    has_directories = any(row.log_directory for row in rows)
    return [column for column in FORMATTERS if has_directories or column != "log_directory"]


def frame(rows: Sequence[PartitionRow]) -> pd.DataFrame:
    """Returns the rows as a data frame in the given order. Unknown numbers are NaN."""
    columns = _columns(rows)
    table = pd.DataFrame(
        [[VALUES[column](row) for column in columns] for row in rows],
        # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
        columns=[_heading(column) for column in columns],
    )
    numbers = [_heading(column) for column in columns if column not in TEXT_COLUMNS]
    # floats, because a missing number is NaN; whole numbers are exact up to 2**53
    return table.astype(dict.fromkeys(numbers, "float64"))


def _cells(rows: Sequence[PartitionRow]) -> list[list[str]]:
    columns = _columns(rows)
    return [
        [
            units.MISSING if (value := VALUES[column](row)) is None else FORMATTERS[column](value)
            for column in columns
        ]
        for row in rows
    ]


def _name(row: PartitionRow) -> str:
    if row.remote_bases:
        return say_count("broker.named_remote", len(row.remote_bases), name=row.label)
    if row.state == "current":
        return row.label
    return say("broker.named_state", name=row.label, state=say(f"common.state_{row.state}"))


def _offsets(row: PartitionRow) -> str | None:
    first = row.log_start_offset
    last = row.last_offset
    if first is None or last is None or last < first:
        return None
    return f"{units.format_count(first)}–{units.format_count(last)}"


VALUES: dict[str, Callable[[PartitionRow], Any]] = {  # the columns of FORMATTERS
    "name": _name,
    "log_directory": attrgetter("log_directory"),
    "segments": attrgetter("sums.segments"),
    "offsets": _offsets,
    "log": attrgetter("sums.log_bytes"),
    "index": attrgetter("sums.index_bytes"),
    "share": attrgetter("sums.index_share"),
    "entries": attrgetter("sums.offset_entries"),
    "gap": attrgetter("sums.bytes_per_entry"),
    "codec": lambda row: join_comma(row.codecs) if row.codecs else None,
    "newest": attrgetter("sums.newest_ms"),
}


def style_table(table: pd.DataFrame) -> Styler:
    """Returns the table with formatted values. Sorting still uses the values, not their texts."""
    formatters_by_heading: dict[Any, Any] = {
        _heading(column): _format_whole_floats(formatters_by_heading)
        for column, formatters_by_heading in FORMATTERS.items()
        if _heading(column) in table.columns
    }
    return cast(
        Styler, table.style.format(formatters_by_heading, na_rep=units.MISSING)
    ).set_properties(subset=[_heading("name")], **{"font-weight": "600"})


def _format_whole_floats(formatter: Callable[..., str]) -> Callable[[object], str]:
    """Returns a formatter that formats 3.0 as 3, because pandas stores some ints as floats."""
    return lambda value: (
        formatter(int(value))
        if isinstance(value, float) and value.is_integer()
        else formatter(value)
    )


def csv(rows: Sequence[PartitionRow]) -> bytes:
    by_name = sorted(rows, key=lambda row: natural_sort_key(row.directory))
    cells = ([value(row) for value in CSV_COLUMNS.values()] for row in by_name)
    return tables.to_csv(list(CSV_COLUMNS), cells).encode()
