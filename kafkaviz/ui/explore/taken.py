"""An answer to take along, as CSV and as Parquet."""

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import streamlit as st

from kafkaviz.figures.questions import asked
from kafkaviz.ui.cache import Listed
from kafkaviz.units import legible

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Answer


def take_along(answer: "Answer", here: Listed, text: str) -> None:
    """A button a format, of the rows that are shown."""
    _take("CSV", "csv", "text/csv", partial(csv, answer.rows), here, text)
    _take("Parquet", "parquet", "application/vnd.apache.parquet", partial(parquet, answer.rows), here, text)


def _take(label: str, suffix: str, mime: str, data: Callable[[], bytes], here: Listed, text: str) -> None:
    """A button that saves them; they are made on click."""
    question = asked(text)
    name = f"{legible(Path(here.broker.name).name)}-{question.name if question else 'query'}.{suffix}"
    st.download_button(label, data, name, mime, on_click="ignore", icon=":material/download:", key=f"kv_take_{suffix}", width="content")


def csv(rows: pa.Table) -> bytes:
    """The rows as CSV with a line of names; NULL is an empty field, and text stands in quotes."""
    from pyarrow import csv as csv_format

    plain = [column if _is_plain(column.type) else column.cast(pa.string()) for column in rows.columns]
    sink = io.BytesIO()
    csv_format.write_csv(pa.table(plain, names=rows.column_names), sink)
    return sink.getvalue()


def _is_plain(kind: pa.DataType) -> bool:
    return not (pa.types.is_duration(kind) or pa.types.is_decimal(kind))


def parquet(rows: pa.Table) -> bytes:
    """The rows as a Parquet file, every column with its type."""
    import pyarrow.parquet as parquet_format

    sink = io.BytesIO()
    parquet_format.write_table(rows, sink, compression="zstd")
    return sink.getvalue()
