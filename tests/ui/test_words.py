"""The catalogues: every language has every key with the same places for values, and the code asks for no key that is not there."""

import re
from pathlib import Path
from string import Formatter

import pytest

from kafkaviz.ui import words

ROOT = Path(__file__).parents[2]
OTHERS = [one for one in words.LANGUAGES if one != words.ENGLISH]
ASKED = re.compile(r"""\bsay\(\s*f?["']([a-z]+\.[^"']+)["']""")


def places(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("spoken", OTHERS)
def test_no_key_is_missing(spoken):
    """And none is left over from a text that is gone."""
    assert set(words.catalogue(spoken)) == set(words.catalogue(words.ENGLISH))


@pytest.mark.parametrize("spoken", OTHERS)
def test_the_same_values_have_a_place(spoken):
    """A translation may turn the order, not the values."""
    english = words.catalogue(words.ENGLISH)
    assert [key for key, text in words.catalogue(spoken).items() if places(text) != places(english[key])] == []


@pytest.mark.parametrize("spoken", words.LANGUAGES)
def test_every_text_says_something(spoken):
    """No empty line, no blanks at the ends."""
    assert [key for key, text in words.catalogue(spoken).items() if not text or text != text.strip()] == []


def test_chinese_is_translated():
    """A text without a Chinese character was forgotten."""
    assert [key for key, text in words.catalogue("zh").items() if not re.search(r"[\u4e00-\u9fff]", text) and text[:1] != "."] == []


def asked() -> set[str]:
    """Every key that the code asks for by its whole name; of f"workshop.{name}" the part before the brace."""
    files = [*(ROOT / "kafkaviz" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    return {key.partition("{")[0] for file in files for key in ASKED.findall(file.read_text(encoding="utf-8"))}


def test_the_code_asks_for_keys_that_are_there():
    """A key that is put together at run time must at least begin as some do."""
    known = words.catalogue(words.ENGLISH)
    assert len(asked()) > 30
    assert [key for key in asked() if key not in known and not any(one.startswith(key) for one in known)] == []


def test_values_are_put_in_and_english_stands_in():
    """The language may be given; what it lacks is said in English."""
    assert words.text_in("en", "workshop.lesson_named", number=3, title="Time") == "Lesson 3, Time"
    assert words.text_in("zh", "workshop.next") == "下一步"
    with pytest.raises(KeyError):
        words.text_in("en", "workshop.no_such_text")
