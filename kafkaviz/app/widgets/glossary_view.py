"""The glossary, as the Workshop shows it: all words, and of the chosen one the ways on."""

from collections.abc import Mapping
from html import escape

import streamlit as st

from kafkaviz.app.frame import PAGES
from kafkaviz.app.lessons.glossary import TERMS, GlossaryTerm, find_term
from kafkaviz.app.state import page_state
from kafkaviz.app.takeaway.markdown import inline_html
from kafkaviz.app.widgets import elements
from kafkaviz.messages import say

CHOICE = "kv_word"


def render_glossary(lesson_titles: Mapping[str, str], address: Mapping[str, str]) -> None:
    """The words to choose from, the chosen one, and the table of all.

    Args:
        lesson_titles: of the lessons that there are, by their names.
        address: what a link to another page keeps.
    """
    elements.title(escape(say("glossary.title")), say("glossary.lead", count=len(TERMS)))
    st.button(
        say("glossary.back"), icon=":material/arrow_back:", key="kv_word_back", on_click=_close
    )
    term = find_term(st.query_params.get(page_state.WORD, ""))
    st.session_state[CHOICE] = term and term.key
    st.pills(
        say("glossary.choose"),
        [row.key for row in TERMS],
        format_func={row.key: row.short_name for row in TERMS}.__getitem__,
        key=CHOICE,
        on_change=_choose,
        label_visibility="collapsed",
    )
    if term is not None:
        _render_term(term, lesson_titles, address)
    st.space(8)
    heads = ("words", "meaning", "kafka", "where")
    head = "".join(f"<th>{escape(say(f'glossary.{name}'))}</th>" for name in heads)
    with st.container(key="kv_glossary"):
        elements.table(head, (_row(row, is_on=row == term) for row in TERMS))


def _render_term(
    term: GlossaryTerm, lesson_titles: Mapping[str, str], address: Mapping[str, str]
) -> None:
    with st.container(key="kv_word_card", gap=8):
        kafka = f"{escape(say('glossary.kafka'))}: {inline_html(term.kafka)}"
        st.html(
            f'<h2 class="kv-h2">{escape(term.name)}</h2><p>{inline_html(term.meaning)}</p>'
            f'<p class="kv-sm kv-fnt">{kafka}</p>'
        )
        with st.container(horizontal=True, gap=16, vertical_alignment="center", key="kv_word_ways"):
            page = PAGES[term.page]
            if page.exists:
                label = say("glossary.seen", page=elements.page_name(term.page))
                st.page_link(
                    page.script,
                    label=label,
                    icon=f":material/{page.icon}:",
                    query_params=dict(address),
                )
            if term.lesson in lesson_titles:
                title = elements.escape_markdown(lesson_titles[term.lesson])
                st.button(
                    say("glossary.taught", title=title),
                    icon=":material/school:",
                    type="tertiary",
                    key="kv_word_lesson",
                    on_click=_open_lesson,
                    args=(term.lesson,),
                )


def _row(term: GlossaryTerm, *, is_on: bool) -> str:
    cells = "".join(
        f"<td>{cell}</td>"
        for cell in (
            f"<b>{escape(term.name)}</b>",
            inline_html(term.meaning),
            inline_html(term.kafka),
            escape(elements.page_name(term.page)),
        )
    )
    return f"<tr class=on>{cells}</tr>" if is_on else f"<tr>{cells}</tr>"


def _choose() -> None:
    st.query_params[page_state.WORD] = st.session_state[CHOICE] or page_state.ALL_WORDS


def _close() -> None:
    st.query_params.pop(page_state.WORD, None)


def _open_lesson(name: str) -> None:
    _close()
    for key in (page_state.PART, page_state.STEP, page_state.TYPED_ANSWER, page_state.PAPER):
        st.query_params.pop(key, None)
    st.query_params[page_state.LESSON] = name
