"""Short tables, CSV files and their download buttons."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import streamlit as st

from kafkaviz import units
from kafkaviz.app.widgets import charts, elements
from kafkaviz.html import Html, join, tag
from kafkaviz.log.broker import Broker

# the characters that may start a formula in a spreadsheet, also in full width
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[-+]\d+(\.\d+)?([eE][-+]?\d+)?")
WRAPS = "white-space:normal"
ROW_PX = 31
HEAD_PX = 33
ROWS_IN_VIEW = 14  # a list of more rows scrolls
CELL_ATTRIBUTES = {
    "l": {},
    "r": {"class_": "r"},
    "m": {"class_": "kv-mono"},
    "c": {"class_": "kv-mono", "style": WRAPS},
    "w": {"style": WRAPS},
}


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], kinds: str, marked_row: int | None = None
) -> None:
    st.html(table_html(heads, rows, kinds, marked_row))


def table_html(
    heads: Sequence[str], rows: Iterable[Sequence[str]], kinds: str, marked_row: int | None = None
) -> Html:
    """Returns a short table. A cell that is not Html is plain text.

    Args:
        kinds: one letter per column: `l` left, `r` right, `m` monospaced, `w` wrapped, `c`
            monospaced and wrapped.
        marked_row: the index of the highlighted row.
    """
    row_elements = (
        tag(
            "tr",
            _cells("td", row, kinds),
            class_="on" if index == marked_row else None,
            aria_selected="true" if index == marked_row else None,
        )
        for index, row in enumerate(rows)
    )
    return elements.table_html(_cells("th", heads, kinds), row_elements)


def _cells(name: str, cells: Sequence[str], kinds: str) -> Html:
    return join(
        tag(name, elements.escape(cell), **CELL_ATTRIBUTES[kind])
        for kind, cell in zip(kinds, cells, strict=True)
    )


def clickable_list(data, targets: Sequence, key: str, alt: str, columns: Any = None) -> None:
    """Draws a table that scrolls. A click on row n stores `targets[n]` for `charts.take_click`.

    `columns` is st.dataframe's column_config.
    """
    on_select = charts.keep_click(
        key, lambda selected: targets[selected.rows[0]] if selected.rows else None
    )
    st.dataframe(
        data,
        height=min(ROWS_IN_VIEW, len(targets)) * ROW_PX + HEAD_PX,
        hide_index=True,
        column_config=columns,
        key=key,
        on_select=on_select,
        selection_mode="single-row",
        row_height=ROW_PX,
        placeholder=units.MISSING,
        alt=alt,
    )


def download(
    label: str,
    data,
    name: str,
    key: str,
    mime: str | None = "text/csv",
    *,
    kind: Literal["secondary", "tertiary"] = "tertiary",
    help_text: str | None = None,
) -> None:
    """Draws a button that saves `data`. If `data` is a function, a click calls it first."""
    icon = ":material/download:"
    st.download_button(
        label, data, name, mime, key, help_text, on_click="ignore", type=kind, icon=icon
    )


def to_csv(heads: Sequence[str], rows: Iterable[Sequence]) -> str:
    """Returns the rows as CSV that can be encoded as UTF-8.

    None is an empty cell. Digits are not grouped.
    """
    text = io.StringIO()
    csv.writer(text).writerows(
        [escape_formula(units.ungroup("" if cell is None else str(cell))) for cell in row]
        for row in (heads, *rows)
    )
    return units.replace_surrogates(text.getvalue())


def arrow_csv(parts: Iterable) -> bytes:
    """Returns a CSV file with the rows of several Arrow tables. All tables have the same columns.

    A null is an empty cell. A text that a spreadsheet takes for a formula is not escaped.
    """
    from pyarrow.csv import CSVWriter

    sink = io.BytesIO()
    writer = None
    for part in parts:
        writer = writer or CSVWriter(sink, part.schema)
        writer.write_table(part)
    return sink.getvalue()


def escape_formula(text: str) -> str:
    """Returns a cell's text, with an apostrophe in front if a spreadsheet takes it for a formula.

    See OWASP, CSV injection.
    """
    return f"'{text}" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


def report_name(broker: Broker) -> str:
    return f"{units.escape_controls(broker.name)}-report.html"
