"""The downloads of the Workshop.

A lesson or hand-out takes seconds if its figures were not drawn before, so each file is made on
click.
"""

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from kafkaviz.app.state import session_language
from kafkaviz.messages import say
from kafkaviz.workshop import takeaway
from kafkaviz.workshop.lessons.grammar import Lesson
from kafkaviz.workshop.takeaway import HandoutEdition, notebook

HTML = "text/html"
NOTEBOOK = "application/x-ipynb+json"


def render_downloads(lessons: Sequence[Lesson], number: int) -> None:
    """Draws a button that opens the list of downloads.

    Args:
        number: the index of the open lesson, from 0.
    """
    with (
        st.popover(
            say("takeaway.button"), key="kv_takeaway", icon=":material/download:", type="tertiary"
        ),
        st.container(key="kv_takeaway_list", gap=4),
    ):
        st.html(f'<p class="kv-sm kv-fnt">{escape(say("takeaway.about"))}</p>')
        _heading("lesson")
        lesson = lessons[number]
        _button(
            "lesson_file",
            takeaway.lesson_maker(lessons, number),
            takeaway.lesson_file_name(lesson),
            HTML,
        )
        _handouts(lessons)
        _heading("notebook")
        _button("notebook_file", notebook.notebook, notebook.FILE_NAME, NOTEBOOK)


def _handouts(lessons: Sequence[Lesson]) -> None:
    """Draws one button per edition of the hand-outs."""
    _heading("handouts")
    with st.container(horizontal=True, gap=4):
        for edition in HandoutEdition:
            _button(
                f"html_{edition.name.lower()}",
                takeaway.handouts_maker(lessons, edition),
                takeaway.handouts_file_name(edition),
                HTML,
            )


def _heading(name: str) -> None:
    title = escape(say(f"takeaway.{name}"))
    about = escape(say(f"takeaway.{name}_about"))
    st.html(f'<div class="kv-take"><b>{title}</b><span>{about}</span></div>')


def _button(name: str, make: Callable[[], str], file_name: str, kind: str) -> None:
    st.download_button(
        say(f"takeaway.{name}"),
        session_language.keep_language(make),
        file_name,
        kind,
        key=f"kv_take_{name}",
        on_click="ignore",
        icon=":material/download:",
    )
