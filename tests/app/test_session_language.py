"""The language of a page: the session's, or that of the address it began with."""

from types import SimpleNamespace

import pytest

from kafkaviz.app import page_state
from kafkaviz.app.state import session_language


class _Address(dict):
    count = 0

    def get(self, *arguments):
        self.count += 1
        return super().get(*arguments)


@pytest.mark.parametrize(
    ("of_session", "of_address", "expected", "count"),
    [
        ("zh", "en", "zh", 0),
        (None, "zh", "zh", 1),
        (None, "xx", "en", 1),
        ("xx", "zh", "zh", 1),
        (None, None, "en", 1),
    ],
)
def test_the_session_leads(of_session, of_address, expected, count, monkeypatch):
    """The address, which takes Streamlit longer, is read only if the session has no language."""
    address = _Address({page_state.LANGUAGE: of_address})
    state = {page_state.SESSION_LANGUAGE: of_session}
    streamlit = SimpleNamespace(session_state=state, query_params=address)
    monkeypatch.setattr(session_language, "st", streamlit)
    monkeypatch.setattr(session_language, "get_script_run_ctx", lambda **_: object())
    assert (session_language.language(), address.count) == (expected, count)


def test_a_thread_asks_its_session_once_and_follows_a_switch(monkeypatch):
    """A page has hundreds of sentences, and a button may change their language before them."""
    context, state = object(), _Address({page_state.SESSION_LANGUAGE: "zh"})
    streamlit = SimpleNamespace(session_state=state, query_params={})
    monkeypatch.setattr(session_language, "st", streamlit)
    monkeypatch.setattr(session_language, "get_script_run_ctx", lambda **_: context)
    assert [session_language.language() for _ in range(3)] == ["zh"] * 3
    assert state.count == 1
    session_language.set_language("en")
    assert session_language.language() == "en"


def test_another_session_is_asked_again(monkeypatch):
    """Another session has another context, even in the same thread."""
    state = {page_state.SESSION_LANGUAGE: "zh"}
    streamlit = SimpleNamespace(session_state=state, query_params={})
    monkeypatch.setattr(session_language, "st", streamlit)
    contexts = iter((object(), object()))
    monkeypatch.setattr(session_language, "get_script_run_ctx", lambda **_: next(contexts))
    assert session_language.language() == "zh"
    state[page_state.SESSION_LANGUAGE] = "en"
    assert session_language.language() == "en"
