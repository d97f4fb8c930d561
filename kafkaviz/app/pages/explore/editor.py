"""The questions to choose from, the query editor, the bar below it, and the catalog's tables."""

from collections import Counter
from contextlib import suppress
from functools import cache, partial
from html import escape
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frontend import last_query, sql
from kafkaviz.app.pages.explore.answer import describe_answer, render_downloads
from kafkaviz.app.pages.explore.queries import queries
from kafkaviz.app.state import ingests
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.explore.questions import QUESTION_BY_NAME, QUESTIONS, Question, find_question
from kafkaviz.figures.text.segment_text import no_rows_text
from kafkaviz.messages import say
from kafkaviz.units import MISSING, format_count, moment

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql.query import Query

QUICK_S = 0.8  # an answer that takes no longer shows no progress


def query_text() -> str:
    """Returns the query or the question in the address, by default the first question."""
    address_query = st.query_params.get(page_state.SQL)
    question = QUESTION_BY_NAME.get(st.query_params.get(page_state.QUESTION, ""), QUESTIONS[0])
    return question.sql if address_query is None else address_query


def _set_query(text: str) -> None:
    """Puts a query into the address, by the name of its question if it has one."""
    question = find_question(text)
    for name in (page_state.QUESTION, page_state.SQL, page_state.DRAWN_COLUMN):
        st.query_params.pop(name, None)
    if question is None:
        st.query_params[page_state.SQL] = text
    elif question is not QUESTIONS[0]:
        st.query_params[page_state.QUESTION] = question.name


def render_questions(current: Question | None) -> None:
    with st.container(key="kv_questions"):
        st.html(f'<div class="kv-lab">{say("explore.questions")}</div>')
        for question in QUESTIONS:
            with st.container(
                key="kv_ask_on" if question is current else f"kv_ask_{question.name}"
            ):
                st.button(
                    question.text,
                    type="tertiary",
                    width="stretch",
                    key=f"kv_ask_button_{question.name}",
                    on_click=_set_query,
                    args=(question.sql,),
                )


def start_query(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    """Returns the query after waiting up to QUICK_S, or None without a catalog.

    Ends this session's previous query on the same directory.
    """
    previous = st.session_state.get(page_state.LAST_QUERY)
    if previous and previous != (snapshot.directory, text) and previous[0] == snapshot.directory:
        queries().leave(snapshot, previous[1])
    st.session_state[page_state.LAST_QUERY] = snapshot.directory, text
    if broker_cache.catalog_info(snapshot) is None:
        return None
    query = queries().get_or_start(snapshot, text)
    with suppress(KafkavizError):  # shown below
        query.wait(QUICK_S)
    return query


def render_editor(snapshot: BrokerSnapshot, text: str, query: "Query | None") -> None:
    from kafkaviz.pipeline.sql.sql import LONGEST, QueryError

    error = query.error if query else None
    mistake_range = (
        [error.start, error.stop or error.start + 1]
        if isinstance(error, QueryError) and error.start is not None
        else None
    )
    sql(
        {"text": text, "wrong": mistake_range, "longest": LONGEST, "run": say("explore.run")},
        partial(_run, snapshot),
    )
    answer = query.wait(0) if query and query.state == "done" else None
    with st.container(horizontal=True, key="kv_sql_bar", vertical_alignment="center"):
        sentence = describe_answer(answer) if answer else ""
        st.html(f'<div class="kv-sm kv-fnt" role="status">{sentence}</div>', width="stretch")
        if answer and answer.rows.num_rows:
            render_downloads(answer, snapshot, text)


def _run(snapshot: BrokerSnapshot) -> None:
    """Runs the typed query, even if it was run before."""
    text = last_query()
    if text is not None:
        _set_query(text)
        if broker_cache.catalog_info(snapshot):
            queries().restart(snapshot, query_text())


if TYPE_CHECKING:
    from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo

QUOTED_COLUMNS = frozenset({"offset"})  # SQL keywords, which a query must quote
SHORT_TYPES = {
    "string": "text",
    "int32": "int",
    "int64": "long",
    "bool": "bool",
    "double": "double",
}


def tables_html(info: "CatalogInfo | None") -> str:
    """Returns the tables and their columns. A click on a column inserts it into the query."""
    from kafkaviz.pipeline.catalog.schema import OWN_TABLES, TABLES

    details = "".join(_table_html(name, info) for name in TABLES if name not in OWN_TABLES)
    heads = f"<span>{say('explore.tables')}</span><span>{say('explore.of_rows')}</span>"
    no_rows_note = no_rows_text(list(Counter(info.suffixes).elements()) if info else [])
    note = (
        f'<div class="kv-sm kv-fnt">{elements.escape(no_rows_note)}</div>' if no_rows_note else ""
    )
    return f'<div class="kv-tables"><div class="kv-lab kv-two">{heads}</div>{details}{note}</div>'


def _table_html(name: str, info: "CatalogInfo | None") -> str:
    rows = format_count(info.rows[name]) if info else MISSING
    row = elements.escape(say(f"explore.row_of_{name}"))
    return (
        f"<details><summary>{elements.mono(name)}<span>{rows}</span></summary>"
        f"<p>{row}</p>{_columns_html(name)}</details>"
    )


@cache
def _columns_html(name: str) -> str:
    from kafkaviz.pipeline.catalog.schema import TABLES

    return "".join(
        f'<div><button type="button" class="kv-col"{_name_attribute(field.name)}>'
        f"{field.name}</button>"
        f"<span>{SHORT_TYPES.get(str(field.type), field.type)}</span></div>"
        for field in TABLES[name]
    )


def _name_attribute(name: str) -> str:
    """Returns the quoted column name as an HTML attribute, or "" if a query needs no quotes."""
    from kafkaviz.pipeline.sql.sql import quote_name

    return f' data-name="{escape(quote_name(name))}"' if name in QUOTED_COLUMNS else ""


def render_out_of_date(snapshot: BrokerSnapshot) -> None:
    """Draws the time at which the tables were read."""
    catalog_time = moment(
        cast(int, broker_cache.catalog_stamp(snapshot.broker)) // 1_000_000, fraction=False
    )
    text = say("explore.out_of_date", time=catalog_time)
    st.html(f'<div class="kv-sm kv-fnt" role="status">{text}</div>')


def render_no_catalog(snapshot: BrokerSnapshot) -> None:
    """Draws a notice that the tables are missing: the pipeline is still reading, or it failed."""
    if ingests.is_awaited(snapshot):
        with elements.empty("catalog", say("explore.being_made"), say("explore.being_made_why")):
            pass
        return
    with elements.state("catalog", "info", say("explore.no_tables"), say("explore.no_tables_why")):
        pass
