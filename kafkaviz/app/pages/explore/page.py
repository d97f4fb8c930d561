"""The Explore page: SQL queries on the catalog of a broker directory."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.explore.answer import render_answer
from kafkaviz.app.pages.explore.editor import (
    query_text,
    render_editor,
    render_no_catalog,
    render_out_of_date,
    render_questions,
    start_query,
    tables_html,
)
from kafkaviz.app.pages.explore.queries import queries
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.widgets import elements, faults, progress_strip
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.explore.questions import find_question
from kafkaviz.figures.text.sentences import describe_error
from kafkaviz.messages import render, say, say_count

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql.query import Query, QueryResult
    from kafkaviz.pipeline.sql.sql import ErrorLocation, QueryError


WIDTHS = (236, 768)


@st.fragment(run_every=0.4)
def render_query_progress(snapshot: BrokerSnapshot, text: str) -> None:
    """Draws how long the query has been running, and reruns the page once it is over."""
    query = queries().get_or_start(snapshot, text)
    if query.is_over:
        st.rerun()
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
    apply_print_style()
    snapshot = faults.require_snapshot(location)
    elements.title(say("common.page_explore"), say("explore.lead"))
    strip = st.container(key="kv_explore_strip", gap=8)
    query = _render_columns(snapshot, query_text())
    with strip:  # last, because it may start Spark
        if query and not broker_cache.is_fresh(snapshot):
            render_out_of_date(snapshot)
        progress_strip.render_ingest_strip(snapshot, (say("explore.owed"), say("explore.missed")))


def _render_columns(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    with st.container(key="kv_explore"):
        beside, column = st.columns(WIDTHS, gap=20)
    with beside:
        render_questions(find_question(text))
        st.html(tables_html(broker_cache.catalog_info(snapshot)))
    with column:
        return _render_query(snapshot, text)


def _render_query(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    """Draws the query editor and its result. Returns None if the catalog is missing."""
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
        _render_cancelled(snapshot, text)
    else:
        _render_failure(snapshot, text, cast(KafkavizError, query.error))


# ---- why a query has no answer


def _render_cancelled(snapshot: BrokerSnapshot, text: str) -> None:
    with elements.state(
        "cancelled", "info", say("explore.cancelled"), say("explore.cancelled_why")
    ):
        _render_run_again(snapshot, text)


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
    else:  # the path of the catalog belongs to the server and is not shown
        reason = render(error.what) if isinstance(error, CannotOpen) else describe_error(error)
        finding = say("explore.not_ended")
        detail = say("common.nothing_changed", error=reason)
    with elements.state("failed", "error", finding, detail):
        _render_run_again(snapshot, text)


def _render_run_again(snapshot: BrokerSnapshot, text: str) -> None:
    restart = cast(Callable[..., None], queries().restart)  # a callback's result is not used
    st.button(say("explore.run_again"), key="kv_again", on_click=restart, args=(snapshot, text))


def _render_mistake(text: str, error: "QueryError") -> None:
    from kafkaviz.pipeline.sql.sql import locate_error

    error_location = locate_error(text, error)
    mistake = render(error.what)
    advice = render(error.advice) if error.advice else ""
    detail = (
        say(
            "explore.at", line=error_location.line, character=error_location.column, advice=advice
        ).strip()
        if error_location
        else advice
    )
    with elements.state(
        "wrong",
        "error",
        mistake,
        detail,
        partial(_render_line, error_location) if error_location else None,
    ):
        pass


def _render_line(error_location: "ErrorLocation") -> None:
    before = error_location.text[: error_location.first]
    mark = error_location.text[error_location.first : error_location.last]
    after = error_location.text[error_location.last :]
    st.html(
        f'<div class="kv-sqlat"><i>{error_location.line}</i>{escape(before)}'
        f"<b>{escape(mark) or '&nbsp;'}</b>{escape(after)}</div>"
    )
