"""The language of this session.

That of the address it began with, until its reader switches to another one.

From then on the session leads and the address follows: Back and links lead to other pages, not to
another language.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kafkaviz import messages
from kafkaviz.app.state import page_state

Content = TypeVar("Content")
_later_language: ContextVar[str] = ContextVar("later_language", default=messages.ENGLISH)
# a thread of a session and its language: a page asks for each of its five hundred sentences. Such a
# thread may run the page several times, and set_language alone changes the language
_thread_language: ContextVar[tuple[object, str]] = ContextVar("thread_language", default=(None, ""))


def language() -> str:
    """The short word of the language.

    Where no page is being drawn English, or what `keep_language` kept.
    """
    context = get_script_run_ctx()
    if context is None:
        return _later_language.get()
    known_context, code = _thread_language.get()
    if known_context is context:
        return code
    code = st.session_state.get(page_state.SESSION_LANGUAGE)
    if code in messages.LANGUAGES:
        _thread_language.set((context, code))
        return code
    code = st.query_params.get(page_state.LANGUAGE)
    return code if code in messages.LANGUAGES else messages.ENGLISH


def sync_address() -> None:
    """The language is that of the session from here on.

    And the address says so: a link that is copied speaks as this page does.
    """
    set_language(language())


def keep_language(make: Callable[[], Content]) -> Callable[[], Content]:
    """The same in the language of now, whenever it is called.

    A download that is made on click is made when no page is being drawn.
    """
    code = language()

    def make_later() -> Content:
        token = _later_language.set(code)
        try:
            return make()
        finally:
            _later_language.reset(token)

    return make_later


def render_switch() -> None:
    """A button for each other language, named as it calls itself."""
    for code, name in messages.LANGUAGES.items():
        if code != language():
            st.button(
                name, type="tertiary", key=f"kv_lang_{code}", on_click=set_language, args=(code,)
            )


def set_language(code: str) -> None:
    """The language from here on. English goes without saying, so the address leaves it out."""
    st.session_state[page_state.SESSION_LANGUAGE] = code
    _thread_language.set((get_script_run_ctx(), code))
    if code == messages.ENGLISH:
        st.query_params.pop(page_state.LANGUAGE, None)
    elif st.query_params.get(page_state.LANGUAGE) != code:
        st.query_params[page_state.LANGUAGE] = code


messages.set_language_source(language)
