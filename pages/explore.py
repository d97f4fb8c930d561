"""Explore: questions to the catalog of a broker directory, in SQL, with their answers as figure and table."""

from contextlib import suppress
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz.errors import KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.figures.questions import BY_NAME, QUESTIONS, Question, asked
from kafkaviz.ui import cache, explore, parts, pick, state, work
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.components import sql as field
from kafkaviz.ui.frame import frame
from kafkaviz.ui.printed import printed
from kafkaviz.units import moment
from kafkaviz.words import counted, say
from kafkaviz.words.retold import retold

if TYPE_CHECKING:
    from kafkaviz.pipeline.query import Answer, Query

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
        st.html(f'<div class="kv-lab">{say("explore.questions")}</div>')
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
    field.sql({"text": text, "wrong": wrong, "longest": LONGEST, "run": say("explore.run")}, partial(run, here))
    answer = query.wait(0) if query and query.progress().state == "done" else None
    with st.container(horizontal=True, key="kv_sql_bar", vertical_alignment="center"):
        words = explore.took(answer) if answer else ""
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
        with parts.state("cancelled", "info", say("explore.cancelled"), say("explore.cancelled_why")):
            st.button(say("explore.run_again"), key="kv_again", on_click=explore.queries().again, args=(here, text))
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
    tasks = counted("explore.tasks", now.total_tasks, n=now.total_tasks, done=now.done_tasks)
    done = say("progress.starting") if starts else tasks if now.total_tasks else say("explore.reads_query")
    share = now.done_tasks / now.total_tasks if now.total_tasks else 0
    aside = say("explore.next_need_not", seconds=f"{now.seconds:.0f}") if starts else f"{now.seconds:.0f} s"
    with st.container(horizontal=True, key="kv_strip_query", vertical_alignment="center"):
        bar = "" if starts else f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>'
        line = f"{parts.icon('bolt', True)}<span>{done}</span>{bar}<span class='kv-fnt'>{aside}</span>"
        st.html(f'<div class="kv-work" role="status">{line}</div>')
        st.button(say("progress.cancel"), type="tertiary", key="kv_query_cancel", on_click=query.cancel)


def failed(here: Listed, text: str, error: KafkavizError) -> None:
    """What is wrong with the query and where, or what happened to Spark."""
    from kafkaviz.pipeline.query import Lost
    from kafkaviz.pipeline.sql import Wrong, place

    if isinstance(error, Wrong):
        at = place(text, error)
        what, advice = (retold("mistakes", one) for one in (error.what, error.advice))
        why = say("explore.at", line=at.line, character=at.column, advice=advice).strip() if at else advice
        with parts.state("wrong", "error", what, why, partial(line_of, at) if at else None):
            pass
        return
    if isinstance(error, Lost):
        finding, why = say("explore.lost"), say("explore.lost_why")
    else:
        finding, why = say("explore.not_ended"), say("explore.not_ended_why", error=fault_words.told(error))
    with parts.state("failed", "error", finding, why):
        st.button(say("explore.run_again"), key="kv_again", on_click=explore.queries().again, args=(here, text))


def line_of(at: "object") -> None:
    """The line of the query that is wrong, marked."""
    before, mark, after = at.text[: at.first], at.text[at.first : at.last], at.text[at.last :]
    st.html(f'<div class="kv-sqlat"><i>{at.line}</i>{escape(before)}<b>{escape(mark) or "&nbsp;"}</b>{escape(after)}</div>')


def answer(found: "Answer", text: str) -> None:
    """The figure, where there is something to draw, and every row."""
    if not found.rows.num_rows:
        with parts.empty("answer", say("explore.no_row"), say("explore.no_row_why")):
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
        alt = say("explore.alt", title=shown.title, below=shown.below, n=len(shown.values))
        st.plotly_chart(drawn, theme=None, key="kv_answer_chart", config={"displayModeBar": False}, alt=alt)


def choose_column(choice: list[str]) -> str:
    """Which column is drawn: the address says, where it is one of these; of another answer, or another address, it is a new control."""
    told = st.query_params.get(state.DRAWN, "")
    key, look = f"kv_draw {told} {choice}", {"label_visibility": "collapsed", "width": 190, "filter_mode": None}
    asks = {"on_change": draw, "args": (key, choice[0])}
    return st.selectbox(say("explore.drawn"), choice, choice.index(told) if told in choice else 0, key=key, **asks, **look)


def draw(key: str, first: str) -> None:
    """Puts the column that was chosen into the address; the first one goes without saying."""
    st.query_params.pop(state.DRAWN, None)
    if st.session_state[key] != first:
        st.query_params[state.DRAWN] = st.session_state[key]


def out_of_date(here: Listed) -> None:
    """The tables tell of another time than now."""
    made = moment(cache.catalog_stamp(here.broker) // 1_000_000, fraction=False)
    words = say("explore.out_of_date", made=made)
    st.html(f'<div class="kv-sm kv-fnt" role="status">{words}</div>')


def main() -> None:
    """The page."""
    place = frame("Explore")
    printed()
    here = pick.listed(place)
    parts.title(say("common.page_explore"), say("explore.lead"))
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
        work.strip(here, (say("explore.owed"), say("explore.missed")))


def no_catalog(here: Listed) -> None:
    """Nothing to ask yet: the pipeline reads the directory, or could not."""
    if cache.is_awaited(here):
        with parts.empty("catalog", say("explore.being_made"), say("explore.being_made_why")):
            pass
        return
    with parts.state("catalog", "info", say("explore.no_tables"), say("explore.no_tables_why")):
        pass


main()
