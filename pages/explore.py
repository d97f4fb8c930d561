"""Explore: questions to the catalog of a broker directory, in SQL, with their answers as figure and
table.
"""

from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures.questions import asked
from kafkaviz.ui import cache, parts, pick, work
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.explore.answer import answer
from kafkaviz.ui.explore.catalog import no_catalog, out_of_date, tables
from kafkaviz.ui.explore.editor import answered, editor
from kafkaviz.ui.explore.failed import cancelled, failed
from kafkaviz.ui.explore.questions import query_text, questions
from kafkaviz.ui.explore.waiting import waiting
from kafkaviz.ui.frame import frame
from kafkaviz.ui.printed import printed
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Answer, Query

WIDTHS = (236, 768)


def main() -> None:
    """The page."""
    place = frame("Explore")
    printed()
    here = pick.listed(place)
    parts.title(say("common.page_explore"), say("explore.lead"))
    strip = st.container(key="kv_explore_strip", gap=8)
    query = whole(here, query_text())
    with strip:  # last, because it may start Spark
        if query and not cache.is_fresh(here):
            out_of_date(here)
        work.strip(here, (say("explore.owed"), say("explore.missed")))


def whole(here: Listed, text: str) -> "Query | None":
    """The questions and the tables, and beside them the query and its answer."""
    with st.container(key="kv_explore"):
        beside, column = st.columns(WIDTHS, gap=20)
    with beside:
        questions(asked(text))
        st.html(tables(cache.catalog_info(here)))
    with column:
        return asks(here, text)


def asks(here: Listed, text: str) -> "Query | None":
    """The query in its field, and below it what came of it; None where there is no catalog to
    ask.
    """
    query = answered(here, text)
    editor(here, text, query)
    if query:
        result(here, text, query)
    else:
        no_catalog(here)
    return query


def result(here: Listed, text: str, query: "Query") -> None:
    """The answer, or how far it is, or why there is none."""
    at = query.progress().state
    if at in ("waiting", "running"):
        waiting(here, text)
    elif at == "done":
        answer(cast("Answer", query.wait(0)), text)
    elif at == "cancelled":
        cancelled(here, text)
    else:
        failed(here, text, cast(KafkavizError, query.error))


main()
