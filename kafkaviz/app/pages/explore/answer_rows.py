"""An answer's rows: how many came, as a table, and each value exact."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from kafkaviz.app.widgets import elements
from kafkaviz.units import MISSING, group
from kafkaviz.words import say, say_count

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import QueryResult

LEAST_PLAIN = 1e-12  # a number as small is written with a power
# a table up to here is exact HTML; a longer one scrolls, and is sorted, in Streamlit's
SHORT_ROWS = 100


def describe_answer(answer: "QueryResult") -> str:
    """How many rows came in which time, and whether texts in them were cut."""
    row_text = say("explore.took", rows=count_text(answer), seconds=f"{answer.seconds:.1f}")
    return (
        say("explore.texts_cut", took=row_text, n=group(answer.cut_at))
        if answer.cut_at
        else row_text
    )


def count_text(answer: "QueryResult") -> str:
    """How many rows, and whether there are more: 6 rows, the first 10 000 of 54 432 rows."""
    row_count = answer.rows.num_rows
    if answer.all_rows is None:
        return say("explore.first_of_more", n=group(row_count))
    if answer.is_cut:
        return say("explore.first_of", n=group(row_count), all=group(answer.all_rows))
    return say_count("explore.rows", row_count, n=group(row_count))


def render_table(rows: pa.Table) -> None:
    """The answer, as text and numbers and nothing else."""
    if rows.num_rows > SHORT_ROWS:
        st.dataframe(
            rows, hide_index=True, height=480, row_height=31, key="kv_answer", placeholder=MISSING
        )
        return
    alignments = [_is_right_aligned(field.type) for field in rows.schema]
    heads = zip(rows.column_names, alignments, strict=True)
    head = "".join(
        f"<th{' class=r' if is_right else ''}>{elements.escape(name)}</th>"
        for name, is_right in heads
    )
    elements.table(head, (_row(row.values(), alignments) for row in rows.to_pylist()))


def _is_right_aligned(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _row(values: Sequence[object], alignments: Sequence[bool]) -> str:
    pairs = zip(values, alignments, strict=True)
    cells = (
        f'<td class="kv-mono{" r kv-tight" if is_right else ""}">{cell_html(value)}</td>'
        for value, is_right in pairs
    )
    return f"<tr>{''.join(cells)}</tr>"


def cell_html(value: object) -> str:
    """A value as HTML, exact: a whole number with its digits grouped, NULL as a dash."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return group(value)
    return elements.escape(_digits(value) if isinstance(value, float) else str(value))


def _digits(value: float) -> str:
    """Ten of them, without a power: 0.000034; what is smaller than any share of a byte keeps it."""
    text = f"{value:.10g}"
    return format(Decimal(text), "f") if LEAST_PLAIN <= abs(value) < 1 else text
