"""The words for how a search of an index meets the page cache: one for each thing, everywhere.

A glossary entry names the other words that Kafka's sources and other texts have for its term, after
"Also called". No other text has them.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from kafkaviz import messages
from kafkaviz.workshop.lessons.glossary import TERMS as GLOSSARY
from tests.support.pages import ROOT

ALSO = {"en": "Also called: ", "zh": "也叫："}


class Term(NamedTuple):
    """A term in both languages, and patterns of the words that are not used for it."""

    english: str
    chinese: str
    forbidden: str


TERMS = {
    "hot_page": Term("hot page", "热页", "warm page(?! cache)|resident page|温页|暖页"),
    "cold_page": Term("cold page", "冷页", "evicted page|uncached page|换出的页"),
    "warm_section": Term(
        "warm section",
        "热区",
        "(?:hot|warm|cold) (?:region|area|zone|part)|(?:hot|cold) section|冷区|冷段|热段|热槽|温区|暖区",
    ),
    "plain_binary_search": Term(
        "plain binary search",
        "普通二分查找",
        r"bisection|bisect(?:s|ed|ing)\b|\bbisect\(|折半|普通二分(?!查找)|普通查找",
    ),
    "warm_section_first_search": Term(
        "warm-section-first search",
        "先查热区的查找",
        "warm[- ]first|warm section first search|先看热区",
    ),
    "reader_at_the_tail": Term(
        "reader at the tail",
        "读尾部的消费者",
        "(?:tail|tailing) (?:reader|consumer)|(?:reader|consumer)s? at the end|读末尾的|尾部消费者",
    ),
    "lagging_reader": Term(
        "lagging reader",
        "落后的消费者",
        "laggard|straggler|(?:reader|consumer)s? (?:that lags?|far behind)|far[- ]behind reader"
        "|(?:slow|lagging) consumer|落后者|慢消费者",
    ),
    "page_fault": Term("page fault", "缺页", "cold fault|major fault|页错误|页面错误|冷缺页"),
    "roll": Term("roll", "滚动", "切分"),
}
FILES = [
    file
    for folder, suffixes in (
        ("kafkaviz", (".toml", ".md", ".py", ".js", ".html", ".css")),
        ("docs", (".md", ".py")),
        ("examples", (".md", ".py")),
        (".", ("README.md", "CONTRIBUTING.md")),
    )
    for suffix in suffixes
    for file in sorted((ROOT / folder).glob(suffix if "." in suffix[1:] else f"**/*{suffix}"))
    if "bundles" not in file.parts
]
RULES = {"zh/README.md"}  # says itself which words are not used


@cache
def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def lines_with(pattern: str) -> list[str]:
    """Returns the lines that have a word, except for the other names in the glossary."""
    found = []
    for file in FILES:
        if "/".join(file.parts[-2:]) in RULES:
            continue
        whole = text_of(file)
        lines = whole.splitlines() if re.search(pattern, whole, re.IGNORECASE) else []
        for number, line in enumerate(lines, 1):
            text = without_other_names(line) if file.name == "glossary.toml" else line
            if re.search(pattern, text, re.IGNORECASE):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    return found


def without_other_names(line: str) -> str:
    return re.split("|".join(ALSO.values()), line)[0]


@pytest.mark.parametrize("key", TERMS)
def test_no_text_has_another_word_for_it(key):
    assert lines_with(TERMS[key].forbidden) == []


@pytest.mark.parametrize("key", TERMS)
def test_the_glossary_explains_it_and_names_its_other_words(key):
    """The field's words are found by them, because Go to searches the explanations."""
    assert key in {term.key for term in GLOSSARY}
    for language, word in (("en", TERMS[key].english), ("zh", TERMS[key].chinese)):
        text = messages.text_in(language, f"glossary.{key}_is")
        assert messages.text_in(language, f"glossary.{key}").partition("（")[0] == word
        assert re.search(f"{ALSO[language]}.+[.。]$", text)


def test_the_rules_for_chinese_have_the_same_words():
    rules = (Path(messages.__file__).parent / "zh" / "README.md").read_text(encoding="utf-8")
    assert [term.chinese for term in TERMS.values() if term.chinese not in rules] == []


@pytest.mark.parametrize(
    "text",
    ["a cold section", "the laggards", "by bisection.", "LAGGARDS = 1", "普通二分要等", "冷区"],
)
def test_such_a_word_is_found(text):
    assert any(re.search(term.forbidden, text, re.IGNORECASE) for term in TERMS.values())


def test_other_words_are_not():
    for text in ("from bisect import bisect_left", "the warm section", "热区", "普通二分查找"):
        assert not any(re.search(term.forbidden, text) for term in TERMS.values())
