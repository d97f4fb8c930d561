"""A choice with one word in the address and a name in each language: links, clicks and a change of language keep one another."""

from streamlit.testing.v1 import AppTest


def script() -> None:
    """Two tabs whose names depend on the language in the address."""
    import streamlit as st

    from kafkaviz.ui import choice

    names = {"First": "一", "Second": "二"} if st.query_params.get("lang") == "zh" else {"First": "One", "Second": "Two"}
    word = choice.adopt("tab", names)
    st.tabs(list(names.values()), key="tab", on_change="rerun")
    st.text(f"{word} {st.session_state['tab']}")


def page(**query: str) -> AppTest:
    """The script at an address."""
    at = AppTest.from_function(script)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def said(at: AppTest) -> str:
    """The word, and the name that the tab has."""
    assert not at.exception
    return at.text[0].value


def test_the_first_goes_without_saying():
    """Also where the address says what is no choice."""
    assert said(page()) == said(page(tab="Third")) == "First One" and said(page(lang="zh")) == "First 一"


def test_a_link_names_the_word():
    """In any language."""
    assert said(page(tab="Second")) == "Second Two" and said(page(tab="Second", lang="zh")) == "Second 二"


def test_what_was_clicked_stays_in_another_language():
    """Though the address that Python knows still says nothing of it."""
    at = page()
    at.session_state["tab"] = "Two"
    assert said(at.run()) == "Second Two"
    at.query_params["lang"] = "zh"
    assert said(at.run()) == "Second 二"


def test_a_new_address_counts():
    """Whoever follows a link means what it says."""
    at = page(tab="Second")
    at.query_params["tab"] = "First"
    assert said(at.run()) == "First One"
