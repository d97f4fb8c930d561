"""The glossary in the Workshop: every term, and for the chosen one links to where it is used."""

from collections.abc import Mapping
from html import escape

import streamlit as st

from kafkaviz.app.registry import PAGES
from kafkaviz.app.widgets import elements
from kafkaviz.messages import say
from kafkaviz.workshop import lesson_address
from kafkaviz.workshop.lesson_address import open_step
from kafkaviz.workshop.lessons.glossary import TERMS, GlossaryTerm, find_term
from kafkaviz.workshop.lessons.markdown import inline_html

CHOICE = "kv_word"


def render_glossary(lesson_titles: Mapping[str, str], address: Mapping[str, str]) -> None:
    """Draws the picker, the chosen term, and all terms by the lesson that teaches them.

    Args:
        lesson_titles: the title of each lesson by name.
        address: the parameters that links to other pages keep.
    """
    elements.title(escape(say("glossary.title")), say("glossary.lead", count=len(TERMS)))
    st.button(
        say("glossary.back"), icon=":material/arrow_back:", key="kv_word_back", on_click=_close
    )
    term = find_term(st.query_params.get(lesson_address.WORD, ""))
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
    for lesson in dict.fromkeys((*lesson_titles, *(row.lesson for row in TERMS))):
        terms = [row for row in TERMS if row.lesson == lesson]
        if terms:
            with st.container(key=f"kv_terms_{lesson}", gap=None):
                if lesson in lesson_titles:
                    _lesson_head(lesson, lesson_titles[lesson])
                for row in terms:
                    _row(row, address)


def _render_term(
    term: GlossaryTerm, lesson_titles: Mapping[str, str], address: Mapping[str, str]
) -> None:
    with st.container(key="kv_word_card", gap=8):
        kafka = say("glossary.kafka", text=inline_html(term.kafka))
        st.html(
            f'<h2 class="kv-h2">{escape(term.name)}</h2><p>{inline_html(term.meaning)}</p>'
            f'<p class="kv-sm kv-fnt">{kafka}</p>'
        )
        with st.container(horizontal=True, gap=16, vertical_alignment="center", key="kv_word_ways"):
            _page_link(term, say("glossary.seen", page=elements.page_name(term.page)), address)
            if term.lesson in lesson_titles:
                title = elements.escape_markdown(lesson_titles[term.lesson])
                _lesson_button("kv_word_lesson", say("glossary.taught", title=title), term.lesson)


def _lesson_head(lesson: str, title: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap=8):
        st.html(f'<h2 class="kv-h2">{escape(title)}</h2>', width="content")
        _lesson_button(f"kv_words_open_{lesson}", say("glossary.lesson"), lesson)


def _row(term: GlossaryTerm, address: Mapping[str, str]) -> None:
    with st.container(key=f"kv_row_{term.key}", horizontal=True, vertical_alignment="top", gap=16):
        st.html(
            f'<dl class="kv-word"><dt>{escape(term.name)}</dt>'
            f"<dd>{inline_html(term.meaning)}<small>{inline_html(term.kafka)}</small></dd></dl>"
        )
        _page_link(term, elements.page_name(term.page), address)


def _page_link(term: GlossaryTerm, label: str, address: Mapping[str, str]) -> None:
    page = PAGES[term.page]
    if page.exists:
        icon = f":material/{page.icon}:"
        st.page_link(page.script, label=label, icon=icon, query_params=dict(address))


def _lesson_button(key: str, label: str, lesson: str) -> None:
    st.button(
        label,
        key=key,
        on_click=open_step,
        args=(lesson, 1),
        icon=":material/school:",
        type="tertiary",
    )


def _choose() -> None:
    st.query_params[lesson_address.WORD] = st.session_state[CHOICE] or lesson_address.ALL_WORDS


def _close() -> None:
    st.query_params.pop(lesson_address.WORD, None)
