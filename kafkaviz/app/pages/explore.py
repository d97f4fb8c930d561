"""The Explore page: SQL queries on the catalog of a broker directory, and their answers."""

import io
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.frontend import last_query, sql
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import ingests
from kafkaviz.app.state.queries import queries
from kafkaviz.app.widgets import charts, choice, elements, faults, progress_strip
from kafkaviz.app.widgets.tables import arrow_csv, download, escape_formula
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.questions import QUESTION_BY_NAME, QUESTIONS, Question, find_question
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.segment_text import no_rows_text
from kafkaviz.render.sentences import describe_error
from kafkaviz.units import MISSING, escape_controls, format_count, moment

if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
    from kafkaviz.pipeline.sql.query import Query, QueryResult
    from kafkaviz.pipeline.sql.sql import ErrorLocation, QueryError

WIDTHS = (236, 768)
SHORT_TYPES = {"string": "text", "int32": "int", "int64": "long"}
MIN_PLAIN = 1e-12  # smaller numbers are written with an exponent
# an answer of up to this many rows is an HTML table; a longer one is a st.dataframe, which scrolls
# and sorts
SHORT_ROWS = 100


@st.fragment(run_every=0.4)
def render_query_progress(snapshot: BrokerSnapshot, text: str) -> None:
    query = queries().get_or_start(snapshot, text)
    if query.is_over:
        choice.rerun_page()
    activity = say("explore.waits" if query.state == "waiting" else "explore.runs")
    progress_strip.render_strip(
        "kv_strip_query",
        progress_strip.line_html(activity, f"{query.seconds:.0f} s"),
        button_label=say("common.cancel"),
        button_key="kv_query_cancel",
        on_click=query.cancel,
    )


@in_turn
def render_page() -> None:
    location = frame("Explore")
    elements.apply_print_style()
    snapshot = faults.require_snapshot(location)
    elements.title(say("common.page_explore"), say("explore.lead"))
    strip = st.container(key="kv_explore_strip", gap=8)
    query = _render_columns(snapshot, query_text())
    with strip:  # drawn last, because it may start Spark
        if query and not broker_cache.is_fresh(snapshot):
            stamp_ns = cast(int, broker_cache.catalog_stamp(snapshot.broker))
            catalog_time = moment(stamp_ns // 1_000_000, fraction=False)
            text = say("explore.out_of_date", time=catalog_time)
            st.html(tag("div", text, class_="kv-sm kv-fnt", role="status"))
        progress_strip.render_ingest_strip(snapshot, (say("explore.owed"), say("explore.missed")))


def _render_columns(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    with st.container(key="kv_explore"):
        beside, column = st.columns(WIDTHS, gap=20)
    with beside:
        render_questions(find_question(text))
        st.html(tables_html(broker_cache.catalog_info(snapshot)))
    with column:
        query = start_query(snapshot, text)
        render_editor(snapshot, text, query)
        if query:
            _render_result(snapshot, text, query)
        else:
            render_no_catalog(snapshot)
        return query


def _render_result(snapshot: BrokerSnapshot, text: str, query: "Query") -> None:
    at = query.state
    if at in ("waiting", "running"):
        render_query_progress(snapshot, text)
    elif at == "done":
        render_answer(cast("QueryResult", query.wait(0)), text)
    elif at == "cancelled":
        reason = say("explore.cancelled_why")
        with elements.state("cancelled", "info", say("explore.cancelled"), reason):
            _render_run_again(snapshot, text)
    else:
        _render_failure(snapshot, text, cast(KafkavizError, query.error))


def _render_failure(snapshot: BrokerSnapshot, text: str, error: KafkavizError) -> None:
    from kafkaviz.pipeline.sql.query import QueryTooLarge, QueryTooLong, WorkerLost
    from kafkaviz.pipeline.sql.sql import QueryError

    if isinstance(error, QueryError):
        return _render_mistake(text, error)
    if isinstance(error, WorkerLost):
        finding = say("explore.lost")
        detail = say("explore.lost_why")
    elif isinstance(error, QueryTooLong):
        finding = say("explore.too_long", n=error.seconds)
        detail = say("explore.ask_less")
    elif isinstance(error, QueryTooLarge):
        finding = say_count("explore.too_large", error.mib)
        detail = say("explore.ask_less")
    else:  # the message has the catalog's path on the server, so it is not shown
        reason = render(error.what) if isinstance(error, CannotOpen) else describe_error(error)
        finding = say("explore.not_ended")
        detail = say("common.nothing_changed", error=reason)
    with elements.state("failed", "error", finding, detail):
        _render_run_again(snapshot, text)


def _render_run_again(snapshot: BrokerSnapshot, text: str) -> None:
    restart = cast(Callable[..., None], queries().restart)  # its result is ignored
    st.button(say("explore.run_again"), key="kv_again", on_click=restart, args=(snapshot, text))


def _render_mistake(text: str, error: "QueryError") -> None:
    from kafkaviz.pipeline.sql.sql import locate_error

    place = locate_error(text, error)
    advice = render(error.advice) if error.advice else ""
    if place:
        at_text = say("explore.at", line=place.line, character=place.column, advice=advice)
        draw_line = partial(_render_line, place)
        elements.state("wrong", "error", render(error.what), at_text.strip(), draw_line)
    else:
        elements.state("wrong", "error", render(error.what), advice)


def _render_line(error_location: "ErrorLocation") -> None:
    before = elements.escape(error_location.text[: error_location.first])
    mark = elements.escape(error_location.text[error_location.first : error_location.last])
    after = elements.escape(error_location.text[error_location.last :])
    line = tag("i", error_location.line)
    st.html(tag("div", line, before, tag("b", mark or "\u00a0"), after, class_="kv-sqlat"))


def query_text() -> str:
    """Returns the query of the address, either typed or ready-made."""
    address_query = st.query_params.get(page_state.SQL)
    question = QUESTION_BY_NAME.get(st.query_params.get(page_state.QUESTION, ""), QUESTIONS[0])
    return question.sql if address_query is None else address_query


def _set_query(text: str) -> None:
    question = find_question(text)
    for name in (page_state.QUESTION, page_state.SQL, page_state.DRAWN_COLUMN):
        st.query_params.pop(name, None)
    if question is None:
        st.query_params[page_state.SQL] = text
    elif question is not QUESTIONS[0]:
        st.query_params[page_state.QUESTION] = question.name


def render_questions(current: Question | None) -> None:
    with st.container(key="kv_questions"):
        st.html(tag("div", say("explore.questions"), class_="kv-lab"))
        for question in QUESTIONS:
            key = "kv_ask_on" if question is current else f"kv_ask_{question.name}"
            with st.container(key=key):
                st.button(
                    question.text,
                    type="tertiary",
                    width="stretch",
                    key=f"kv_ask_button_{question.name}",
                    on_click=_set_query,
                    args=(question.sql,),
                )


def start_query(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    """Returns the query with this text, and starts it if needed. None: the catalog is missing.

    This browser tab stops waiting for its previous query on the same directory.
    """
    previous = st.session_state.get(page_state.LAST_QUERY)
    if previous and previous != (snapshot.directory, text) and previous[0] == snapshot.directory:
        queries().leave(snapshot, previous[1])
    st.session_state[page_state.LAST_QUERY] = snapshot.directory, text
    if broker_cache.catalog_info(snapshot) is None:
        return None
    query = queries().get_or_start(snapshot, text)
    with suppress(KafkavizError):  # the error is shown below
        query.wait(progress_strip.QUICK_S)
    return query


def render_editor(snapshot: BrokerSnapshot, text: str, query: "Query | None") -> None:
    from kafkaviz.pipeline.sql.sql import LONGEST, QueryError

    error = query.error if query else None
    mistake_range = None
    if isinstance(error, QueryError) and error.start is not None:
        mistake_range = [error.start, error.stop or error.start + 1]
    sql(
        {"text": text, "wrong": mistake_range, "longest": LONGEST, "run": say("explore.run")},
        partial(_run, snapshot),
    )
    answer = query.wait(0) if query and query.state == "done" else None
    with st.container(horizontal=True, key="kv_sql_bar", vertical_alignment="center"):
        sentence = describe_answer(answer) if answer else ""
        st.html(tag("div", sentence, class_="kv-sm kv-fnt", role="status"), width="stretch")
        if answer and answer.rows.num_rows:
            render_downloads(answer, snapshot, text)


def _run(snapshot: BrokerSnapshot) -> None:
    text = last_query()
    if text is not None:
        _set_query(text)
        if broker_cache.catalog_info(snapshot):
            queries().restart(snapshot, query_text())


QUOTED_COLUMNS = frozenset({"offset"})  # SQL keywords, which a query must quote


def tables_html(info: "CatalogInfo | None") -> Html:
    """Returns the tables and their columns. A click on a column inserts it into the query."""
    from kafkaviz.pipeline.catalog.schema import OWN_TABLES, TABLES

    heads = (tag("span", say("explore.tables")), tag("span", say("explore.of_rows")))
    details = (_table_html(name, info) for name in TABLES if name not in OWN_TABLES)
    text = no_rows_text(list(Counter(info.suffixes).elements()) if info else [])
    note = tag("div", text, class_="kv-sm kv-fnt") if text else ""
    head = tag("div", *heads, class_="kv-lab kv-two")
    return tag("div", head, *details, note, class_="kv-tables")


def _table_html(name: str, info: "CatalogInfo | None") -> Html:
    rows = tag("span", format_count(info.rows[name]) if info else MISSING)
    row = tag("p", say(f"explore.row_of_{name}"))
    return tag("details", tag("summary", elements.mono(name), rows), row, _columns_html(name))


@cache
def _columns_html(name: str) -> Html:
    from kafkaviz.pipeline.catalog.schema import TABLES
    from kafkaviz.pipeline.sql.sql import quote_name

    rows = []
    for field in TABLES[name]:
        quoted = quote_name(field.name) if field.name in QUOTED_COLUMNS else None
        button = tag("button", field.name, type="button", class_="kv-col", data_name=quoted)
        short_type = SHORT_TYPES.get(str(field.type), str(field.type))
        rows.append(tag("div", button, tag("span", short_type)))
    return join(rows)


def render_no_catalog(snapshot: BrokerSnapshot) -> None:
    if ingests.is_awaited(snapshot):
        elements.empty("catalog", say("explore.being_made"), say("explore.being_made_why"))
        return
    elements.state("catalog", "info", say("explore.no_tables"), say("explore.no_tables_why"))


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
        return say_count("explore.first_of", row_count, all=answer.all_rows)
    return say_count("explore.rows", row_count)


def render_answer(result: "QueryResult", text: str) -> None:
    if not result.rows.num_rows:
        elements.empty("answer", say("explore.no_row"), say("explore.no_row_why"))
        return
    _render_figure(result, find_question(text))
    with st.container(key="kv_answer_rows", gap=None):
        _render_rows(result.rows)


def _render_figure(result: "QueryResult", question: Question | None) -> None:
    from kafkaviz.figures import answer_chart as chart

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
    from kafkaviz.figures import answer_chart as chart

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
    """Returns up to ten significant digits. Numbers from MIN_PLAIN to 1 have no exponent."""
    text = f"{value:.10g}"
    return format(Decimal(text), "f") if MIN_PLAIN <= abs(value) < 1 else text


# ---- the rows as CSV and as Parquet


def render_downloads(answer: "QueryResult", snapshot: BrokerSnapshot, text: str) -> None:
    """Draws a download button per format. The label says how many rows the file contains."""
    name = file_name(answer, snapshot.broker.name, text)
    formats = (("CSV", "text/csv", csv), ("Parquet", "application/vnd.apache.parquet", parquet))
    for file_format, mime, to_bytes in formats:
        label = file_format
        if answer.is_cut:
            label = say_count("explore.take_first", answer.rows.num_rows, format=file_format)
        suffix = file_format.lower()
        data = partial(to_bytes, answer.rows)
        download(label, data, f"{name}.{suffix}", f"kv_take_{suffix}", mime, kind="secondary")


def file_name(answer: "QueryResult", broker: str, text: str) -> str:
    question = find_question(text)
    first_rows = f"-first-{answer.rows.num_rows}" if answer.is_cut else ""
    subject = question.name if question else "query"
    return f"{escape_controls(Path(broker).name)}-{subject}{first_rows}"


def csv(rows: pa.Table) -> bytes:
    """Returns the rows as CSV with a header. NULL is empty, and formulas are escaped."""
    names = list(map(escape_formula, rows.column_names))
    return arrow_csv([pa.table(list(map(_csv_column, rows.columns)), names=names)])


def _csv_column(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_duration(column.type) or pa.types.is_decimal(column.type):
        column = column.cast(pa.string())
    if not pa.types.is_string(column.type):
        return column
    texts = [None if text is None else escape_formula(text) for text in column.to_pylist()]
    return pa.array(texts, pa.string())


def parquet(rows: pa.Table) -> bytes:
    import pyarrow.parquet as parquet_format

    sink = io.BytesIO()
    parquet_format.write_table(rows, sink, compression="zstd")
    return sink.getvalue()
