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
        (
            "three-files",
            "2",
            "a",
            "three possible sizes of its .index",
            "0.19 % of the bytes of its .log",
        ),
        ("batches", "1", "b", "Five batches around offset 65", "the whole batch 64–66 is sent"),
        ("batches", "2", "b", "The header takes 61 of 427 bytes", "covers bytes 21 to 426"),
        (
            "warm-section",
            "1",
            "b",
            "At 13 pages a lookup of the newest offset reads pages 0, 6, 9, 11, 12",
            "the middles have moved",
        ),
        ("warm-section", "3", "c", "The index grows to 40 pages", "56 faults while"),
        ("time", "4", "a", "The timestamps of records around", "Offset 3\u202f452 is the answer"),
        (
            "rolls",
            "1",
            "x",
            "Every append brings each limit closer",
            "The time index is at its limit",
        ),
    ],
)
def test_a_figure_asks_before_it_answers(lesson, at, answer, asked, is_so):
    before = page_html(page(lesson=lesson, at=at))
    behind = page_html(page(lesson=lesson, at=at, answers=f"{lesson}.{at}{answer}"))
    assert asked in before
    assert is_so not in before
    assert is_so in behind
