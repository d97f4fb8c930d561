"""Explore: questions to the catalog of a broker directory, in SQL, with their answers as figure and
table.
"""

from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.explore.answer import render_answer
from kafkaviz.app.pages.explore.catalog import render_no_catalog, render_out_of_date, tables_html
from kafkaviz.app.pages.explore.editor import render_editor, start_query
from kafkaviz.app.pages.explore.query_failure import render_cancelled, render_failure
from kafkaviz.app.pages.explore.query_progress import render_query_progress
from kafkaviz.app.pages.explore.questions import query_text, render_questions
from kafkaviz.app.state import page_location
from kafkaviz.app.widgets import elements, ingest_status
from kafkaviz.app.widgets.print_view import apply_print_style
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.questions import find_question
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Query, QueryResult

WIDTHS = (236, 768)


def main() -> None:
    """The page."""
    location = frame("Explore")
    apply_print_style()
    snapshot = page_location.snapshot(location)
    elements.title(say("common.page_explore"), say("explore.lead"))
    strip = st.container(key="kv_explore_strip", gap=8)
    query = render_editor_or_wait(snapshot, query_text())
    with strip:  # last, because it may start Spark
        if query and not broker_cache.is_fresh(snapshot):
            render_out_of_date(snapshot)
        ingest_status.render_strip(snapshot, (say("explore.owed"), say("explore.missed")))


def render_editor_or_wait(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    """The questions and the tables, and beside them the query and its answer."""
    with st.container(key="kv_explore"):
        beside, column = st.columns(WIDTHS, gap=20)
    with beside:
        render_questions(find_question(text))
        st.html(tables_html(broker_cache.catalog_info(snapshot)))
    with column:
        return asks(snapshot, text)


def asks(snapshot: BrokerSnapshot, text: str) -> "Query | None":
    """The query in its field, and below it what came of it; None where there is no catalog to
    ask.
    """
    query = start_query(snapshot, text)
    render_editor(snapshot, text, query)
    if query:
        result(snapshot, text, query)
    else:
        render_no_catalog(snapshot)
    return query


def result(snapshot: BrokerSnapshot, text: str, query: "Query") -> None:
    """The answer, or how far it is, or why there is none."""
    at = query.state
    if at in ("waiting", "running"):
        render_query_progress(snapshot, text)
    elif at == "done":
        render_answer(cast("QueryResult", query.wait(0)), text)
    elif at == "cancelled":
        render_cancelled(snapshot, text)
    else:
        render_failure(snapshot, text, cast(KafkavizError, query.error))


main()
