"""The questions of the page, and the query that its address asks."""

import streamlit as st

from kafkaviz.app.state import page_state
from kafkaviz.figures.questions import QUESTION_BY_NAME, QUESTIONS, Question, find_question
from kafkaviz.words import say


def query_text() -> str:
    """The query of the address; without one, the first question's."""
    address_query = st.query_params.get(page_state.SQL)
    question = QUESTION_BY_NAME.get(st.query_params.get(page_state.QUESTION, ""), QUESTIONS[0])
    return question.sql if address_query is None else address_query


def set_query(text: str) -> None:
    """Puts a query into the address: by its question's name where it is one's."""
    question = find_question(text)
    for name in (page_state.QUESTION, page_state.SQL, page_state.DRAWN_COLUMN):
        st.query_params.pop(name, None)
    if question is None:
        st.query_params[page_state.SQL] = text
    elif question is not QUESTIONS[0]:
        st.query_params[page_state.QUESTION] = question.name


def render_questions(current: Question | None) -> None:
    """What could be asked; the one whose query this is stands out."""
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
                    on_click=set_query,
                    args=(question.sql,),
                )
