"""The lab at the end of a lesson without a browser: predictions, the start, the score, the address,
both languages.
"""

import pytest
from streamlit.testing.v1 import AppTest

from kafkaviz import messages
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lab import FAULTS, break_it
from kafkaviz.workshop.lessons import __main__ as check
from kafkaviz.workshop.lessons import parse
from tests.support.pages import assert_no_exception, open_page, page_html, press_button, query_value
from tests.workshop.lesson_text import GOOD

QUERY = {"lesson": "batches", "break": "1"}


def predict(at: AppTest, start: int, read: int) -> AppTest:
    """Chooses both predictions by their places, then starts."""
    press_button(at, f"kv_predict_start_{start}")
    press_button(at, f"kv_predict_read_{read}")
    return press_button(at, "kv_break_start")


def test_the_way_from_the_last_step_to_the_lab_and_back():
    at = open_page("workshop", lesson="batches", at="8", answers="batches.8b")
    assert "0 of 6 predictions right" in page_html(at)
    press_button(at, "kv_break_open")
    assert "<h1>Break it</h1>" in page_html(at) and query_value(at, "break") == "1"
    press_button(at, "kv_back")
    assert "<h1>Who wrote it, and how</h1>" in page_html(at) and not query_value(at, "break")
    press_button(at, "kv_back")
    assert "predictions right" not in page_html(at)


def test_right_predictions():
    """Before the start nothing is shown of what comes; then all of it, and the score is kept."""
    at = open_page("workshop", **QUERY)
    assert at.button(key="kv_break_start").disabled
    assert "<em>?</em>" in page_html(at) and "The broker changes nothing" not in page_html(at)
    predict(at, 0, 3)
    html = page_html(at)
    assert "2 of 2 right" in html and "This lesson: 2 of 6 predictions right" in html
    assert "The broker changes nothing · an exception at offset 2\u202f600" in html
    assert "Gets 2\u202f600 of 5\u202f000 records; at offset 2\u202f600 it stops with" in html
    assert "does not match its checksum" in html
    assert query_value(at, "answers") == "batches~0~156ad"


def test_wrong_predictions():
    at = open_page("workshop", **QUERY, answers="batches.8b")
    predict(at, 3, 1)
    assert "0 of 2 right" in page_html(at)
    assert query_value(at, "answers") == "batches.8b batches~0~156db"


def test_another_place_is_another_start():
    at = open_page("workshop", **QUERY, answers="batches~0~156ad")
    assert "2 of 2 right" in page_html(at)
    assert_no_exception(at.slider[0].set_value(12).run())
    assert "2 of 2 right" not in page_html(at)
    assert "in the field partitionLeaderEpoch" in page_html(at)
    predict(at, 0, 0)
    assert "2 of 2 right" in page_html(at) and query_value(at, "answers") == "batches~0~12aa"


def test_another_fault():
    at = open_page("workshop", **QUERY, answers="batches~0~156ad")
    fault = next(one for one in at.segmented_control if one.key == "kv_break_fault_batches")
    assert fault.options == ["A flipped bit", "A flipped bit, then a kill", "The end cut off"]
    assert_no_exception(fault.set_value(1).run())
    assert "killed, recovery point 2\u202f400" in page_html(at)
    predict(at, 3, 1)
    assert "This lesson: 4 of 6 predictions right" in page_html(at)
    assert query_value(at, "answers") == "batches~0~156ad batches~1~156db"


def test_a_time_that_is_asked_for_in_chinese():
    at = open_page("workshop", lesson="time", lang="zh", answers="time~0~200ac", **{"break": "1"})
    html = page_html(at)
    assert "<h1>弄坏它</h1>" in html and "2 个中对了 2 个" in html
    assert "偏移量 2\u202f600，应为 2\u202f790，没有错误" in html


@pytest.mark.parametrize("answers", ["batches~0~999999999aa", "batches~9~1aa", "batches~0~5xy"])
def test_what_an_address_cannot_mean_is_passed_over(answers):
    at = open_page("workshop", lesson="batches", at="8", answers=answers)
    assert "0 of 6 predictions right" in page_html(at)
    press_button(at, "kv_break_open")
    assert "right" not in page_html(at)


def test_a_lesson_without_a_lab_has_none(tmp_path, monkeypatch):
    (tmp_path / "tenth.en.md").write_text(GOOD)
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    at = open_page("workshop", lesson="tenth", at="3", **{"break": "1"})
    assert "<h1>Third</h1>" in page_html(at)


def test_start_again_forgets_the_labs():
    at = open_page("workshop", lesson="batches", at="8", answers="batches~0~156ad")
    assert "2 of 6 predictions right" in page_html(at)
    press_button(at, "kv_reset")
    assert query_value(at, "answers") is None


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("tp: rolls-by-time-0\nfault: fire", "one of these faults: index-renamed"),
        ("tp: no-topic-0\nfault: bit", "no-topic-0"),
        ("tp: empty-room-1\nfault: entries-swapped", "too small for entries-swapped"),
    ],
)
def test_a_lab_that_cannot_be(keys, words):
    """Said with its line; empty-room-1 was never written to."""
    text = f"{GOOD}\n```kafkaviz break-it\ndata: kafka-4.3.1-clean\n{keys}\n```\n"
    lesson, faults = parse(text, "tenth.en.md")
    assert faults == [] and lesson is not None
    lab_faults = check.check_lesson(lesson)
    assert [fault.line for fault in lab_faults] == [text.count("\n", 0, text.index("break-it")) + 1]
    assert words in str(lab_faults[0])


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize("lesson", ["batches", "time"])
def test_no_two_choices_read_alike(lesson, language):
    at = open_page("workshop", lesson=lesson, lang=language, **{"break": "1"})
    for question, outcomes in break_it.OUTCOMES.items():
        buttons = [each for each in at.button if each.key.startswith(f"kv_predict_{question}_")]
        labels = {button.label.partition("  ")[2] for button in buttons}
        assert len(labels) == len(outcomes) == 5


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_its_name(fault):
    names = {messages.text_in(language, f"break_it.name_{fault}") for language in ("en", "zh")}
    assert len(names) == 2
