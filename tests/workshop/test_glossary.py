"""The glossary of the Workshop: its table, and what a chosen word shows."""

from html import escape

import pytest

from kafkaviz.app.registry import PAGES
from kafkaviz.messages import LANGUAGES, speaking, text_in
from kafkaviz.workshop import lessons
from kafkaviz.workshop.lessons.glossary import TERMS, GlossaryTerm, explained_terms
from kafkaviz.workshop.takeaway.page_file import inline_html
from tests.support.pages import open_page, page_html, press_button, query_value
from tests.workshop.lesson_text import lesson


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.key)
def test_a_word_is_shown_on_a_page_and_taught_in_a_lesson(term: GlossaryTerm):
    assert term.page in PAGES
    assert term.lesson in {lesson.name for lesson in lessons.lessons("en")[0]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_is_explained_in_at_most_three_sentences(language):
    ends = ". " if language == "en" else "。"
    meanings = [text_in(language, f"glossary.{term.key}_is") for term in TERMS]
    assert [text for text in meanings if text.count(ends) > 3 or len(text) > 170] == []


def test_a_text_explains_the_words_that_no_lesson_before_has_taught():
    text = "Segments are rolled; the base offset of a segment names it, page by page."
    keys = [term.key for term in explained_terms((), text)]
    assert keys == ["segment", "base_offset", "offset", "page"]
    assert [term.key for term in explained_terms(["three-files"], text)] == ["page"]
    assert explained_terms((), "offsetting") == []


def test_a_chinese_text_explains_them_too():
    """Where words have no blanks around them; by the English word as well."""
    with speaking("zh"):
        assert [term.key for term in explained_terms((), "只在热区里找")] == ["warm_section"]
        (term,) = explained_terms((), "**attributes** 的十六个位")
        assert term.key == "attributes"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.key)
def test_a_step_of_its_lesson_explains_each_word(term: GlossaryTerm, language):
    with speaking(language):
        parts = [part for step in lesson(term.lesson, language).steps for part in step.parts]
        texts = [
            part if isinstance(part, str) else part["ask"]
            for part in parts
            if isinstance(part, str) or part.kind in ("predict", "exercise")
        ]
        assert any(term in explained_terms((), text) for text in texts)


def helps(lesson: str, at: str) -> list[str]:
    """Returns the help texts in a step."""
    step = open_page("workshop", lesson=lesson, at=at)
    return [element.proto.help for element in step.markdown if element.proto.help]


def test_a_step_explains_its_words():
    (words,) = helps("warm-section", "4")
    said = [
        f"**{name}:** {text_in('en', f'glossary.{key}_is')}"
        for name, key in (("warm section", "warm_section"), ("time index", "time_index"))
    ]
    assert words == "\n\n".join(said)


@pytest.mark.parametrize(
    ("lesson", "at", "word"), [("three-files", "4", "page"), ("batches", "2", "leader epoch")]
)
def test_a_word_is_explained_where_it_is_first_used(lesson, at, word):
    """Though another lesson teaches it, or the question alone has it."""
    assert any(f"**{word}:**" in text for text in helps(lesson, at))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_glossary_explains_every_word(language):
    """Its name, what it is, what of Kafka it is; none is chosen."""
    at = open_page("workshop", word="all", lang=language)
    html = page_html(at)
    with speaking(language):
        for term in TERMS:
            row = f"<dt>{escape(term.name)}</dt><dd>{inline_html(term.meaning)}"
            assert f"{row}<small>{inline_html(term.kafka)}" in html, term.key
    assert "kv_word_lesson" not in {button.key for button in at.button}


def test_every_word_links_to_its_page_and_its_lesson():
    """In the order of the lessons, which all teach words; a lesson by the button beside its title."""
    at = open_page("workshop", word="all")
    names = [lesson.name for lesson in lessons.lessons("en")[0]]
    pages = [PAGES[term.page].path for name in names for term in TERMS if term.lesson == name]
    links = [link.proto.page for link in at.main.get("page_link")]
    assert links == pages
    assert len(links) == len(TERMS)
    keys = [button.key for button in at.button if str(button.key).startswith("kv_words_open_")]
    assert keys == [f"kv_words_open_{name}" for name in names]


def test_a_chosen_word_leads_to_its_lesson():
    """The glossary closes, and the lab that was open when the word was looked up."""
    at = open_page("workshop", word="warm_section", lesson="time", at="2", **{"break": "1"})
    assert "AbstractIndex.warmEntries" in page_html(at)
    press_button(at, "kv_word_lesson")
    assert query_value(at, "lesson") == "warm-section"
    assert not {"word", "break"} & set(at.query_params)


def test_a_step_leads_to_the_glossary_and_back():
    at = open_page("workshop", lesson="time", at="2")
    press_button(at, "kv_glossary_open")
    assert query_value(at, "word") == "all"
    press_button(at, "kv_word_back")
    assert (query_value(at, "lesson"), query_value(at, "at")) == ("time", "2")
    assert "word" not in at.query_params


def test_a_word_that_is_none_chooses_nothing():
    at = open_page("workshop", word="<b>")
    assert "kv_word_lesson" not in {button.key for button in at.button}
