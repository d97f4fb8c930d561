"""Short tables and downloads as pages show them beside one another."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

import streamlit as st

from kafkaviz import units
from kafkaviz.app.widgets import elements
from kafkaviz.log.broker import Broker

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"[-+]\d+(\.\d+)?([eE][-+]?\d+)?")


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], kinds: str, marked_row: int | None = None
) -> None:
    """A short table of plain text.

    Args:
        marked_row: the row to mark.
        kinds: a letter a column: l left, r right, m bytes, w and c text and code that break.
    """
    wraps = ' style="white-space:normal"'
    attributes = {
        "l": "",
        "r": ' class="r"',
        "m": ' class="kv-mono"',
        "c": f' class="kv-mono"{wraps}',
        "w": wraps,
    }
    cells = (
        f"<tr{' class=on' if index == marked_row else ''}>"
        + "".join(
            f"<td{attributes[kind]}>{elements.escape(cell)}</td>"
            for kind, cell in zip(kinds, row, strict=True)
        )
        + "</tr>"
        for index, row in enumerate(rows)
    )
    elements.table(
        "".join(
            f"<th{attributes[kind]}>{elements.escape(head)}</th>"
            for kind, head in zip(kinds, heads, strict=True)
        ),
        cells,
    )


def download(label: str, data, name: str, key: str) -> None:
    """Made when it is asked for."""
    st.download_button(
        label,
        data,
        name,
        "text/csv",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        key=key,
    )


def to_csv(heads: Sequence[str], rows: Iterable[Sequence]) -> str:
    """As CSV, digits ungrouped."""
    text = io.StringIO()
    csv.writer(text).writerows(
        [escape_formula(units.ungroup(str(cell))) for cell in row] for row in (heads, *rows)
    )
    return text.getvalue()


def escape_formula(text: str) -> str:
    """The text of a cell, behind ' where a spreadsheet would take it for a formula.

    Numbers stay as they are. See OWASP, CSV injection.
    """
    return f"'{text}" if text.startswith(FORMULA) and not NUMBER.fullmatch(text) else text


def report_name(broker: Broker) -> str:
    """What the report of a broker directory is called, whichever page gives it."""
    return f"{units.escape_controls(broker.name)}-report.html"
