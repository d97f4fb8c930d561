"""The questions of the page, and the query that its address asks."""

import streamlit as st

from kafkaviz.figures.questions import BY_NAME, QUESTIONS, Question, asked
from kafkaviz.ui import state
from kafkaviz.words import say


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


def questions(chosen: Question | None) -> None:
    """What could be asked; the one whose query this is stands out."""
    with st.container(key="kv_questions"):
        st.html(f'<div class="kv-lab">{say("explore.questions")}</div>')
        for one in QUESTIONS:
            with st.container(key="kv_ask_on" if one is chosen else f"kv_ask_{one.name}"):
                st.button(
                    one.text,
                    type="tertiary",
                    width="stretch",
                    key=f"kv_ask_button_{one.name}",
                    on_click=ask,
                    args=(one.sql,),
                )
