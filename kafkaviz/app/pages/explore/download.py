"""An answer to take along, as CSV and as Parquet."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.widgets.tables import escape_formula
from kafkaviz.figures.questions import find_question
from kafkaviz.units import escape_controls, group
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import QueryResult


def render_downloads(answer: "QueryResult", snapshot: BrokerSnapshot, text: str) -> None:
    """A button a format, of the rows that are shown; where there are more, it and its file say how
    many these are.
    """
    name = file_name(answer, snapshot.broker.name, text)
    _render_download("CSV", answer, f"{name}.csv", "text/csv", partial(csv, answer.rows))
    _render_download(
        "Parquet",
        answer,
        f"{name}.parquet",
        "application/vnd.apache.parquet",
        partial(parquet, answer.rows),
    )


def file_name(answer: "QueryResult", broker: str, text: str) -> str:
    """Of a file that holds the rows, without the suffix."""
    question = find_question(text)
    first_rows = f"-first-{answer.rows.num_rows}" if answer.is_cut else ""
    return (
        f"{escape_controls(Path(broker).name)}-{question.name if question else 'query'}{first_rows}"
    )


def _render_download(
    kind: str, answer: "QueryResult", name: str, mime: str, data: Callable[[], bytes]
) -> None:
    """A button that saves them; they are made on click."""
    label = (
        say("explore.take_first", format=kind, n=group(answer.rows.num_rows))
        if answer.is_cut
        else kind
    )
    suffix = name.rpartition(".")[2]
    st.download_button(
        label,
        data,
        name,
        mime,
        on_click="ignore",
        icon=":material/download:",
        key=f"kv_take_{suffix}",
        width="content",
    )


def csv(rows: pa.Table) -> bytes:
    """The rows as CSV with a line of names; NULL is an empty field, and text stands in quotes and
    is no formula.
    """
    from pyarrow import csv as csv_format

    columns = [
        column if _is_plain(column.type) else column.cast(pa.string()) for column in rows.columns
    ]
    columns = [
        _escape_formulas(column) if pa.types.is_string(column.type) else column
        for column in columns
    ]
    sink = io.BytesIO()
    csv_format.write_csv(
        pa.table(columns, names=list(map(escape_formula, rows.column_names))), sink
    )
    return sink.getvalue()


def _escape_formulas(texts: pa.ChunkedArray) -> pa.Array:
    return pa.array(
        [None if text is None else escape_formula(text) for text in texts.to_pylist()], pa.string()
    )


def _is_plain(kind: pa.DataType) -> bool:
    return not (pa.types.is_duration(kind) or pa.types.is_decimal(kind))


def parquet(rows: pa.Table) -> bytes:
    """The rows as a Parquet file, every column with its type."""
    import pyarrow.parquet as parquet_format

    sink = io.BytesIO()
    parquet_format.write_table(rows, sink, compression="zstd")
    return sink.getvalue()
