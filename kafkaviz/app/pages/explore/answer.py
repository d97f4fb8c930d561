"""The answer to a query: the number of rows, a figure, all rows, and downloads."""

import io
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.tables import escape_formula
from kafkaviz.figures.explore.questions import Question, find_question
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say, say_count
from kafkaviz.units import MISSING, escape_controls, format_count

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql.query import QueryResult

MIN_PLAIN = 1e-12  # smaller numbers are written with an exponent
# an answer of up to this many rows is an HTML table; a longer one is a st.dataframe, which scrolls
# and sorts
SHORT_ROWS = 100


def describe_answer(answer: "QueryResult") -> str:
    """Returns the number of rows, the duration of the query, and whether texts were cut."""
    row_text = say("explore.took", rows=_count_text(answer), seconds=f"{answer.seconds:.1f}")
    if answer.cut_at:
        return say_count("explore.texts_cut", answer.cut_at, took=row_text)
    return row_text


def _count_text(answer: "QueryResult") -> str:
    row_count = answer.rows.num_rows
    if answer.all_rows is None:
        return say_count("explore.first_of_more", row_count)
    if answer.is_cut:
        return say_count("explore.first_of", row_count, all=format_count(answer.all_rows))
    return say_count("explore.rows", row_count)


def render_answer(result: "QueryResult", text: str) -> None:
    if not result.rows.num_rows:
        elements.empty("answer", say("explore.no_row"), say("explore.no_row_why"))
        return
    _render_figure(result, find_question(text))
    with st.container(key="kv_answer_rows", gap=None):
        _render_rows(result.rows)


def _render_figure(result: "QueryResult", question: Question | None) -> None:
    from kafkaviz.figures.explore import answer_chart as chart

    columns = chart.drawable_columns(result.rows, question)
    if not columns:
        return
    with st.container(key="kv_fig_answer"):
        with st.container(horizontal=True, key="kv_answer_head"):
            heading = st.container()
            column = _choose_column(columns) if len(columns) > 1 else columns[0]
        view = cast(chart.AnswerView, chart.view(result.rows, question, column))
        with heading:
            elements.figure_head(view.title, view.caption)
        figure = chart.figure(view, charts.mode())
        alt = say("explore.alt", title=view.title, below=view.caption, n=len(view.values))
        charts.plot(figure, "kv_answer_chart", alt)


def _choose_column(columns: list[str]) -> str:
    address_column = st.query_params.get(page_state.DRAWN_COLUMN, "")
    key = f"kv_draw {address_column} {columns}"
    return st.selectbox(
        say("explore.drawn"),
        columns,
        columns.index(address_column) if address_column in columns else 0,
        key=key,
        on_change=_remember_column,
        args=(key, columns[0]),
        label_visibility="collapsed",
        width=190,
        filter_mode=None,
    )


def _remember_column(key: str, default_column: str) -> None:
    st.query_params.pop(page_state.DRAWN_COLUMN, None)
    if st.session_state[key] != default_column:
        st.query_params[page_state.DRAWN_COLUMN] = st.session_state[key]


# ---- the rows


def _render_rows(rows: pa.Table) -> None:
    from kafkaviz.figures.explore import answer_chart as chart

    if rows.num_rows > SHORT_ROWS:
        st.dataframe(
            rows, hide_index=True, height=480, row_height=31, key="kv_answer", placeholder=MISSING
        )
        return
    alignments = [chart.is_number(field.type) for field in rows.schema]
    heads = zip(rows.column_names, alignments, strict=True)
    head = join(tag("th", name, class_="r" if is_right else None) for name, is_right in heads)
    elements.table(head, (_row_html(row.values(), alignments) for row in rows.to_pylist()))


def _row_html(values: Sequence[object], alignments: Sequence[bool]) -> Html:
    pairs = zip(values, alignments, strict=True)
    cells = (
        tag("td", cell_html(value), class_="kv-mono r kv-tight" if is_right else "kv-mono")
        for value, is_right in pairs
    )
    return tag("tr", *cells)


def cell_html(value: object) -> str:
    """Returns a value as HTML. Integers keep all digits, and NULL is a dash."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return format_count(value)
    return elements.escape(_digits(value) if isinstance(value, float) else str(value))


def _digits(value: float) -> str:
    """Returns ten significant digits, without an exponent from MIN_PLAIN to 1: 0.000034."""
    text = f"{value:.10g}"
    return format(Decimal(text), "f") if MIN_PLAIN <= abs(value) < 1 else text


# ---- the rows as CSV and as Parquet


def render_downloads(answer: "QueryResult", snapshot: BrokerSnapshot, text: str) -> None:
    """Draws a download button per format. The label says how many rows the file contains."""
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
    question = find_question(text)
    first_rows = f"-first-{answer.rows.num_rows}" if answer.is_cut else ""
    return (
        f"{escape_controls(Path(broker).name)}-{question.name if question else 'query'}{first_rows}"
    )


def _render_download(
    kind: str, answer: "QueryResult", name: str, mime: str, data: Callable[[], bytes]
) -> None:
    label = (
        say_count("explore.take_first", answer.rows.num_rows, format=kind)
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
    )


def csv(rows: pa.Table) -> bytes:
    """Returns the rows as CSV with a header. NULL is empty, and formulas are escaped."""
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
    import pyarrow.parquet as parquet_format

    sink = io.BytesIO()
    parquet_format.write_table(rows, sink, compression="zstd")
    return sink.getvalue()
