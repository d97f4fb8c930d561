"""The language of this session.

A session starts with the language in its address. After the reader has switched the language, links
and Back do not change it: the address is changed to match the session.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kafkaviz import messages
from kafkaviz.app import page_state

Content = TypeVar("Content")
_later_language: ContextVar[str] = ContextVar("later_language", default=messages.ENGLISH)
# The session and language of this thread, cached because a page asks for the language at each of
# its five hundred sentences. A thread may run the page several times; only set_language changes the
# language.
_thread_language: ContextVar[tuple[object, str]] = ContextVar("thread_language", default=(None, ""))


def language() -> str:
    """Returns the session's language code; outside a page run, the code from `keep_language`."""
    context = get_script_run_ctx(suppress_warning=True)
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
    """Writes the session's language into the address, so that a copied link keeps the language."""
    set_language(language())


def keep_language(make: Callable[[], Content]) -> Callable[[], Content]:
    """Returns a function that calls `make` in the language that the session has now.

    A download that is made on click runs outside a page run, where the session is unknown.
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
    """Draws a button for each other language, labelled with the language's own name."""
    for code, name in messages.LANGUAGES.items():
        if code != language():
            st.button(name, type="tertiary", key=f"kv_lang_{code}", on_click=_switch, args=(code,))


def _switch(code: str) -> None:
    """Sets the language, and sets the state of every control again.

    The browser keeps the label of a select box's choice, not the option. The label gets the new
    language only if the value is set in the page run that changes the language.
    """
    set_language(code)
    for key, value in st.session_state.items():
        if isinstance(value, str):
            st.session_state[key] = value


def set_language(code: str) -> None:
    """Sets the session's language and the address parameter. English has no parameter."""
    st.session_state[page_state.SESSION_LANGUAGE] = code
    _thread_language.set((get_script_run_ctx(suppress_warning=True), code))
    if code == messages.ENGLISH:
        st.query_params.pop(page_state.LANGUAGE, None)
    elif st.query_params.get(page_state.LANGUAGE) != code:
        st.query_params[page_state.LANGUAGE] = code


messages.set_language_source(language)
