"""The drawings of lessons on their page: the question, the answer, and the reader's own search."""

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz.workshop import lessons
from tests.support.pages import open_page, page_html


@pytest.fixture(autouse=True)
def quiet(starts, monkeypatch) -> None:
    """No Spark, and no folder of lessons from the environment."""
    monkeypatch.delenv(lessons.LESSONS, raising=False)


def page(**query: str) -> AppTest:
    """The page at this address, without an error."""
    return open_page("workshop", **query)


@pytest.mark.parametrize(
    ("lesson", "at", "answer", "asked", "is_so"),
    [
        ("three-files", "2", "a", "how large is its .index?", "0.19 % of the bytes of its .log"),
        ("batches", "1", "b", "What does the broker send first?", "the whole batch 64–66 is sent"),
        ("batches", "2", "b", "61 of 427 bytes are header", "covers bytes 21 to 426"),
        (
            "warm-section",
            "1",
            "b",
            "Which pages does it read with one more page?",
            "the middles have moved",
        ),
        ("warm-section", "3", "c", "which pages will a lookup find cold?", "56 faults while"),
        ("time", "4", "a", "which record does it get?", "Offset 3\u202f452 is the answer"),
        ("rolls", "1", "x", "Which one is reached first?", "The time index is at its limit"),
    ],
)
def test_a_figure_asks_before_it_answers(lesson, at, answer, asked, is_so):
    before = page_html(page(lesson=lesson, at=at))
    behind = page_html(page(lesson=lesson, at=at, answers=f"{lesson}.{at}{answer}"))
    assert asked in before
    assert is_so not in before
    assert is_so in behind
