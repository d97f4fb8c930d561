"""Explore: questions to the catalog of a broker directory, in SQL, with their answers as figure and table."""

from contextlib import suppress
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures.questions import BY_NAME, QUESTIONS, Question, asked
from kafkaviz.ui import cache, explore, parts, pick, state, work
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.components import sql as field
from kafkaviz.ui.frame import frame
from kafkaviz.units import moment

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Answer, Query

LEAD = "Spark SQL over the catalog of this broker. Start from a question, change the query, take the result along."
OWED = ("the tables are made once, then every query reads them", "there are no tables to ask without it")
QUICK_S = 0.8  # an answer that takes no longer shows no progress


def query_text() -> str:
    """The query of the address; without one, the first question's."""
    typed = st.query_params.get(state.SQL)
    question = BY_NAME.get(st.query_params.get(state.QUESTION, ""), QUESTIONS[0])
    return question.sql if typed is None else typed


def ask(text: str) -> None:
    """Puts a query into the address: by its question's name where it is one's."""
    question = asked(text)
    for name in (state.QUESTION, state.SQL, state.DRAWN):
        st.query_params.pop(name, None)
    if question is None:
        st.query_params[state.SQL] = text
    elif question is not QUESTIONS[0]:
        st.query_params[state.QUESTION] = question.name


def run(here: Listed) -> None:
    """What was typed is asked, again where it was asked before."""
    text = field.asked()
    if text is not None:
        ask(text)
        if cache.catalog_info(here):
            explore.queries().again(here, query_text())


def questions(chosen: Question | None) -> None:
    """What could be asked; the one whose query this is stands out."""
    with st.container(key="kv_questions"):
        st.html('<div class="kv-lab">Questions</div>')
        for one in QUESTIONS:
            with st.container(key="kv_ask_on" if one is chosen else f"kv_ask_{one.name}"):
                st.button(one.text, type="tertiary", width="stretch", key=f"kv_ask_button_{one.name}", on_click=ask, args=(one.sql,))


def answered(here: Listed, text: str) -> "Query | None":
    """The query, with a little time to end; None where there is no catalog to ask."""
    left = st.session_state.get(state.ASKING)
    if left and left != (here.broker.source, text) and left[0] == here.broker.source:
        explore.queries().leave(here, left[1])
    st.session_state[state.ASKING] = here.broker.source, text
    if cache.catalog_info(here) is None:
        return None
    query = explore.queries().of(here, text)
    with suppress(KafkavizError):  # told below
        query.wait(QUICK_S)
    return query


def editor(here: Listed, text: str, query: "Query | None") -> None:
    """The query, with what Spark has against it underlined; Run, how the answer came out, and a way to take it along."""
    from kafkaviz.pipeline.sql import LONGEST, Wrong

    error = query.error if query else None
    wrong = [error.start, error.stop or error.start + 1] if isinstance(error, Wrong) and error.start is not None else None
    field.sql({"text": text, "wrong": wrong, "longest": LONGEST}, partial(run, here))
    answer = query.wait(0) if query and query.progress().state == "done" else None
    with st.container(horizontal=True, key="kv_sql_bar", vertical_alignment="center"):
        words = f"{explore.count(answer)}, {answer.seconds:.1f} s" if answer else ""
        st.html(f'<div class="kv-sm kv-fnt" role="status">{words}</div>', width="stretch")
        if answer and answer.rows.num_rows:
            take("CSV", "csv", "text/csv", answer, here, text)
            take("Parquet", "parquet", "application/vnd.apache.parquet", answer, here, text)


def take(label: str, suffix: str, mime: str, answer: "Answer", here: Listed, text: str) -> None:
    """A button that saves the rows that are shown."""
    question = asked(text)
    name = explore.file_name(here, question.name if question else "", suffix)
    data = partial(getattr(explore, suffix), answer.rows)
    st.download_button(label, data, name, mime, on_click="ignore", icon=":material/download:", key=f"kv_take_{suffix}", width="content")


def result(here: Listed, text: str, query: "Query") -> None:
    """The answer, or how far it is, or why there is none."""
    at = query.progress().state
    if at in ("starting", "running"):
        waiting(here, text)
    elif at == "done":
        answer(query.wait(0), text)
    elif at == "cancelled":
        with parts.state("cancelled", "info", "The query was cancelled", "Spark has let go of it; nothing was changed."):
            st.button("Run again", key="kv_again", on_click=explore.queries().again, args=(here, text))
    else:
        failed(here, text, query.error)


@st.fragment(run_every=0.4)
def waiting(here: Listed, text: str) -> None:
    """How far it is; the page is drawn anew once it is over."""
    query = explore.queries().of(here, text)
    if query.is_over:
        st.rerun()
    now = query.progress()
    starts = now.state == "starting"
    plural = "" if now.total_tasks == 1 else "s"
    working = f"Spark: {now.done_tasks} of {now.total_tasks} task{plural}" if now.total_tasks else "Spark reads the query"
    done = "Spark is starting" if starts else working
    share = now.done_tasks / now.total_tasks if now.total_tasks else 0
    aside = f"{now.seconds:.0f} s; the next query need not wait for that" if starts else f"{now.seconds:.0f} s"
    with st.container(horizontal=True, key="kv_strip_query", vertical_alignment="center"):
        bar = "" if starts else f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>'
        line = f"{parts.icon('bolt', True)}<span>{done}</span>{bar}<span class='kv-fnt'>{aside}</span>"
        st.html(f'<div class="kv-work" role="status">{line}</div>')
        st.button("Cancel", type="tertiary", key="kv_query_cancel", on_click=query.cancel)


def failed(here: Listed, text: str, error: KafkavizError) -> None:
    """What is wrong with the query and where, or what happened to Spark."""
    from kafkaviz.pipeline.query import Lost
    from kafkaviz.pipeline.sql import Wrong, place

    if isinstance(error, Wrong):
        at = place(text, error)
        where = f"Line {at.line}, character {at.column}. " if at else ""
        with parts.state("wrong", "error", error.what, f"{where}{error.advice}".strip(), partial(line_of, at) if at else None):
            pass
        return
    if isinstance(error, Lost):
        why = "It ran out of memory or was killed. Nothing was changed; the next run starts it again, which takes some seconds."
        finding = "Spark's Java process ended while it worked on this"
    else:
        finding, why = "The query did not end", f"{error}. Nothing was changed."
    with parts.state("failed", "error", finding, why):
        st.button("Run again", key="kv_again", on_click=explore.queries().again, args=(here, text))


def line_of(at: "object") -> None:
    """The line of the query that is wrong, marked."""
    before, mark, after = at.text[: at.first], at.text[at.first : at.last], at.text[at.last :]
    st.html(f'<div class="kv-sqlat"><i>{at.line}</i>{escape(before)}<b>{escape(mark) or "&nbsp;"}</b>{escape(after)}</div>')


def answer(found: "Answer", text: str) -> None:
    """The figure, where there is something to draw, and every row."""
    if not found.rows.num_rows:
        with parts.empty("answer", "No row answers this", "The query ran to its end; nothing in this catalog fits what it asks for."):
            pass
        return
    figure(found, asked(text))
    with st.container(key="kv_answer_rows", gap=None):
        explore.table(found.rows)


def figure(found: "Answer", question: Question | None) -> None:
    """A bar a row, or a line; of the column that is chosen."""
    from kafkaviz.figures import answer_chart as chart

    choice = chart.columns(found.rows, question)
    if not choice:
        return
    with st.container(key="kv_fig_answer"):
        with st.container(horizontal=True, key="kv_answer_head"):
            words = st.container()
            column = choose_column(choice) if len(choice) > 1 else choice[0]
        shown = chart.view(found.rows, question, column)
        with words:
            parts.figure_head(shown.title, shown.below)
        drawn = chart.figure(shown, st.context.theme.type or "light")
        alt = f"{shown.title}. {shown.below}, {len(shown.values)} values."
        st.plotly_chart(drawn, theme=None, key="kv_answer_chart", config={"displayModeBar": False}, alt=alt)


def choose_column(choice: list[str]) -> str:
    """Which column is drawn: the address says, where it is one of these; of another answer, or another address, it is a new control."""
    told = st.query_params.get(state.DRAWN, "")
    key, look = f"kv_draw {told} {choice}", {"label_visibility": "collapsed", "width": 190, "filter_mode": None}
    asks = {"on_change": draw, "args": (key, choice[0])}
    return st.selectbox("Column that is drawn", choice, choice.index(told) if told in choice else 0, key=key, **asks, **look)


def draw(key: str, first: str) -> None:
    """Puts the column that was chosen into the address; the first one goes without saying."""
    st.query_params.pop(state.DRAWN, None)
    if st.session_state[key] != first:
        st.query_params[state.DRAWN] = st.session_state[key]


def out_of_date(here: Listed) -> None:
    """The tables tell of another time than now."""
    made = moment(cache.catalog_stamp(here.broker) // 1_000_000, fraction=False)
    words = f"The directory has changed since its tables were made, at {made} UTC; they are made anew."
    st.html(f'<div class="kv-sm kv-fnt" role="status">{words}</div>')


def main() -> None:
    """The page."""
    place = frame("Explore")
    here = pick.listed(place)
    parts.title("Explore", LEAD)
    text = query_text()
    strip = st.container(key="kv_explore_strip", gap=8)
    with st.container(key="kv_explore"):
        beside, column = st.columns([236, 768], gap=20)
    with beside:
        questions(asked(text))
        tables = st.empty()
        tables.html(explore.tables(cache.catalog_info(here)))
    with column:
        query = answered(here, text)
        editor(here, text, query)
        if query:
            result(here, text, query)
        else:
            no_catalog(here)
    with strip:  # last, because it may start Spark
        if query and not cache.is_fresh(here):
            out_of_date(here)
        work.strip(here, OWED)


def no_catalog(here: Listed) -> None:
    """Nothing to ask yet: the pipeline reads the directory, or could not."""
    if cache.is_awaited(here):
        why = "Every batch and every index entry is read once, by Spark; the query runs as soon as the tables are there."
        with parts.empty("catalog", "The tables of this directory are being made", why):
            pass
        return
    with parts.state("catalog", "info", "This directory has no tables yet", "Spark did not read it to its end; start it again above."):
        pass


main()
