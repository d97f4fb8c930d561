"""The language of this session: the address's, else the one that was chosen last; and the switch to another one."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from kafkaviz import words
from kafkaviz.ui import state


def language() -> str:
    """The short word of the language; English where no page is being drawn."""
    if get_script_run_ctx() is None:
        return words.ENGLISH
    asked = st.query_params.get(state.LANGUAGE, "")
    if asked in words.LANGUAGES:
        return asked
    chosen = st.session_state.get(state.SPOKEN, words.ENGLISH)
    return chosen if chosen in words.LANGUAGES else words.ENGLISH


def keep() -> None:
    """Puts the language into the address, so that a link that is copied speaks as this page does."""
    if language() != words.ENGLISH and state.LANGUAGE not in st.query_params:
        st.query_params[state.LANGUAGE] = language()


def switch() -> None:
    """A button for each other language, named as it calls itself."""
    for short, name in words.LANGUAGES.items():
        if short != language():
            st.button(name, type="tertiary", key=f"kv_lang_{short}", on_click=speak, args=(short,))


def speak(short: str) -> None:
    """The language from here on."""
    st.session_state[state.SPOKEN] = short
    if short == words.ENGLISH:
        st.query_params.pop(state.LANGUAGE, None)
    else:
        st.query_params[state.LANGUAGE] = short


words.speak_as(language)
