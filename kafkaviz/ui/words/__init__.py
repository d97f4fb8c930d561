"""The app's own words in the reader's language: say("workshop.next") is "Next step", or 下一步.

A language is a file beside this one, en.toml or zh.toml: a table a page, a line a text. A text may have places for values, {minutes};
what a language lacks is said in English. Another language is another file, and its name in LANGUAGES.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import streamlit as st

from kafkaviz.ui import state

HERE = Path(__file__).parent
ENGLISH = "en"
LANGUAGES = {"en": "English", "zh": "中文"}  # by their short word in the address: as they call themselves


def say(key: str, /, **values: object) -> str:
    """The text of a key, "workshop.next", in the language of this session. Raises KeyError where English has no such text."""
    return text_in(language(), key, **values)


def text_in(spoken: str, key: str, /, **values: object) -> str:
    """The same in a given language."""
    found = catalogue(spoken).get(key)
    return (catalogue(ENGLISH)[key] if found is None else found).format_map(values)


def language() -> str:
    """The language of this session: the address's, else the one that was chosen last."""
    asked = st.query_params.get(state.LANGUAGE, "")
    if asked in LANGUAGES:
        return asked
    chosen = st.session_state.get(state.SPOKEN, ENGLISH)
    return chosen if chosen in LANGUAGES else ENGLISH


@cache
def catalogue(spoken: str) -> Mapping[str, str]:
    """All texts of a language by their keys, tables joined with a dot."""
    tables = tomllib.loads((HERE / f"{spoken}.toml").read_text(encoding="utf-8"))
    return {f"{table}.{name}": text for table, texts in tables.items() for name, text in texts.items()}
