"""The language of this session: that of the address it began with, until its reader switches to
another one.

From then on the session leads and the address follows: Back and links lead to other pages, not to
another language.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kafkaviz import words
from kafkaviz.ui import state


def language() -> str:
    """The short word of the language; English where no page is being drawn."""
    if get_script_run_ctx() is None:
        return words.ENGLISH
    said = (st.session_state.get(state.SPOKEN), st.query_params.get(state.LANGUAGE))
    return next((short for short in said if short in words.LANGUAGES), words.ENGLISH)


def keep() -> None:
    """The language is that of the session from here on; and the address says so: a link that is
    copied speaks as this page does.
    """
    speak(language())


def switch() -> None:
    """A button for each other language, named as it calls itself."""
    for short, name in words.LANGUAGES.items():
        if short != language():
            st.button(name, type="tertiary", key=f"kv_lang_{short}", on_click=speak, args=(short,))


def speak(short: str) -> None:
    """The language from here on. English goes without saying, so the address leaves it out."""
    st.session_state[state.SPOKEN] = short
    if short == words.ENGLISH:
        st.query_params.pop(state.LANGUAGE, None)
    elif st.query_params.get(state.LANGUAGE) != short:
        st.query_params[state.LANGUAGE] = short


words.speak_as(language)
