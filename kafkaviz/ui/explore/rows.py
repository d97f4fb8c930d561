"""An answer's rows: how many came, as a table, and each value exact."""

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from kafkaviz.ui import parts
from kafkaviz.units import MISSING, group
from kafkaviz.words import counted, say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Answer

LEAST = 1e-12  # a number as small is written with a power
# a table up to here is exact HTML; a longer one scrolls, and is sorted, in Streamlit's
SHORT_ROWS = 100


def took(answer: "Answer") -> str:
    """How many rows came in which time, and whether texts in them were cut."""
    said = say("explore.took", rows=count(answer), seconds=f"{answer.seconds:.1f}")
    return say("explore.texts_cut", took=said, n=group(answer.cut_at)) if answer.cut_at else said


def count(answer: "Answer") -> str:
    """How many rows, and whether there are more: 6 rows, the first 10 000 of 54 432 rows."""
    shown = answer.rows.num_rows
    if answer.all_rows is None:
        return say("explore.first_of_more", n=group(shown))
    if answer.is_cut:
        return say("explore.first_of", n=group(shown), all=group(answer.all_rows))
    return counted("explore.rows", shown, n=group(shown))


def table(rows: pa.Table) -> None:
    """The answer, as text and numbers and nothing else."""
    if rows.num_rows > SHORT_ROWS:
        st.dataframe(
            rows, hide_index=True, height=480, row_height=31, key="kv_answer", placeholder=MISSING
        )
        return
    right = [_is_right(field.type) for field in rows.schema]
    heads = zip(rows.column_names, right, strict=True)
    head = "".join(
        f"<th{' class=r' if is_right else ''}>{parts.escape(name)}</th>" for name, is_right in heads
    )
    parts.table(head, (_row(row.values(), right) for row in rows.to_pylist()))


def _is_right(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _row(values: Sequence[object], right: Sequence[bool]) -> str:
    pairs = zip(values, right, strict=True)
    cells = (
        f'<td class="kv-mono{" r kv-tight" if is_right else ""}">{cell(value)}</td>'
        for value, is_right in pairs
    )
    return f"<tr>{''.join(cells)}</tr>"


def cell(value: object) -> str:
    """A value as HTML, exact: a whole number with its digits grouped, NULL as a dash."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return group(value)
    return parts.escape(_digits(value) if isinstance(value, float) else str(value))


def _digits(value: float) -> str:
    """Ten of them, without a power: 0.000034; what is smaller than any share of a byte keeps it."""
    text = f"{value:.10g}"
    return format(Decimal(text), "f") if LEAST <= abs(value) < 1 else text
