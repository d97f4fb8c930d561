"""The catalogues: every language has every key with the same places for values, and the code asks
for no key that is not there.
"""

import re
from pathlib import Path
from string import Formatter

import pytest

from kafkaviz import messages
from kafkaviz.messages import sentence_translation

ROOT = Path(__file__).parents[2]
OTHERS = [one for one in messages.LANGUAGES if one != messages.ENGLISH]
ASKED = re.compile(r"""\b(?:say|counted)\(\s*f?["']([a-z_]+\.[^"']+)["']""")
LITERAL = re.compile(r"""["']([a-z_]+\.[^"'\n]*)["']""")
TABLES = re.compile(r"""\btable\(\s*["']([a-z_]+)["']\)""")
HAN = "[\u4e00-\u9fff]"
KEY = re.compile(r"^[a-z-]+: ")  # of a block: its text follows behind an English colon
SINGLE = "_1"  # of one thing, where a language tells one from many


def places(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def keys(spoken: str) -> set[str]:
    """All keys that a language must have; sentences of floors below are their own, see
    test_finding_words and test_retold.
    """
    return {
        key
        for key in messages.catalogue(spoken)
        if not key.endswith(SINGLE) and key.partition(".")[0] not in sentence_translation.CATALOGUES
    }


@pytest.mark.parametrize("spoken", OTHERS)
def test_no_key_is_missing(spoken):
    """And none is left over from a text that is gone."""
    assert keys(spoken) ^ keys(messages.ENGLISH) == set()


@pytest.mark.parametrize("spoken", messages.LANGUAGES)
def test_what_is_said_of_one_thing_is_said_of_many(spoken):
    """A key that ends in _1 is never alone."""
    assert [
        key
        for key in messages.catalogue(spoken)
        if key.endswith(SINGLE) and key.removesuffix(SINGLE) not in keys(spoken)
    ] == []


@pytest.mark.parametrize("spoken", OTHERS)
def test_the_same_values_have_a_place(spoken):
    """A translation may turn the order, not the values."""
    english = messages.catalogue(messages.ENGLISH)
    assert [
        key
        for key in keys(spoken)
        if places(messages.catalogue(spoken)[key]) != places(english[key])
    ] == []


@pytest.mark.parametrize("spoken", messages.LANGUAGES)
def test_every_text_says_something(spoken):
    """No empty line, no blanks at the ends."""
    assert [
        key for key, text in messages.catalogue(spoken).items() if not text or text != text.strip()
    ] == []


def test_chinese_is_translated():
    """A text without a Chinese character was forgotten, if it is more than a Kafka name, a unit or
    places for values.
    """
    found = {key: re.sub(r"\{\w+\}", "", text) for key, text in messages.catalogue("zh").items()}
    english = messages.catalogue(messages.ENGLISH)
    assert [
        key
        for key, text in found.items()
        if re.search(r"[a-z]{3} [a-z]{2}", text) and not re.search(r"[\u4e00-\u9fff]", text)
    ] == []
    assert [
        key
        for key, text in found.items()
        if messages.catalogue("zh")[key] == english.get(key) and " " in text.strip()
    ] == []


def untidy(text: str) -> bool:
    """Whether a sign of another language stands beside a Han character, or no blank between one and
    a Latin letter or digit.
    """
    beside = "[,;:?!A-Za-z0-9`]"
    return bool(
        re.search(f"{HAN}{beside}|{beside}{HAN}|{HAN} {HAN}", re.sub(r"\{\w+\}", "§", text))
    )


def test_chinese_has_its_own_signs():
    """And blanks where two scripts meet, not elsewhere; in lessons too."""
    files = (ROOT / "kafkaviz" / "app" / "lessons").glob("*.zh.md")
    lessons = [
        KEY.sub("", line)
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert (
        len(lessons) > 500
        and [text for text in (*messages.catalogue("zh").values(), *lessons) if untidy(text)] == []
    )
    assert (
        untidy("偏移量a")
        and untidy("偏移量,")
        and untidy("偏移量 偏移量")
        and not untidy("偏移量 a，`b` 偏移量")
    )


def sources() -> list[str]:
    """Every file of the app that may speak."""
    rooms = [ROOT / "kafkaviz" / "app", ROOT / "kafkaviz" / "figures", ROOT / "pages"]
    return [
        file.read_text(encoding="utf-8")
        for file in [*(file for room in rooms for file in room.rglob("*.py")), ROOT / "app.py"]
    ]


def asked() -> set[str]:
    """Every key that the code asks for by its whole name; of f"workshop.{name}" the part before the
    brace.
    """
    return {key.partition("{")[0] for source in sources() for key in ASKED.findall(source)}


def test_the_code_asks_for_keys_that_are_there():
    """A key that is put together at run time must at least begin as some do."""
    known = messages.catalogue(messages.ENGLISH)
    assert len(asked()) > 30
    assert [
        key for key in asked() if key not in known and not any(one.startswith(key) for one in known)
    ] == []


def test_no_key_is_left_over():
    """Each is asked for by its whole name, or by how it begins; of a table that is asked for by
    names alone nothing can be said.
    """
    told = {key for source in sources() for key in LITERAL.findall(source)}
    begun = {key.partition("{")[0] for key in told if "{" in key}
    of_names = {name for source in sources() for name in TABLES.findall(source)}
    of_names |= {key.removesuffix(".") for key in begun if key.endswith(".")}
    left = [
        key
        for key in keys(messages.ENGLISH)
        if key.partition(".")[0] not in of_names and key not in told
    ]
    assert [key for key in left if not key.startswith(tuple(begun))] == []


def test_values_are_put_in_and_english_stands_in():
    """The language may be given; what it lacks is said in English."""
    assert (
        messages.text_in("en", "workshop.lesson_named", number=3, title="Time") == "Lesson 3, Time"
    )
    assert messages.text_in("zh", "workshop.next") == "下一步"
    with pytest.raises(KeyError):
        messages.text_in("en", "workshop.no_such_text")


def test_a_browser_gets_a_whole_table():
    """A figure that speaks in the browser is given all its texts at once, by their short keys."""
    assert messages.table("workshop")["next"] == "Next step"


@pytest.mark.parametrize("spoken", OTHERS)
def test_the_readme_leads_to_the_catalogues_that_english_has_not(spoken):
    """Their keys are English sentences of lower floors."""
    own, english = (
        {file.stem for file in (messages.CATALOGUE_DIRECTORY / one).glob("*.toml")}
        for one in (spoken, messages.ENGLISH)
    )
    rows = [
        line
        for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        if f"kafkaviz/words/{spoken}/" in line
    ]
    assert (
        own - english == set(sentence_translation.CATALOGUES)
        and [one for one in sentence_translation.CATALOGUES if not any(one in row for row in rows)]
        == []
    )
    assert any("figures/error_text.py" in row for row in rows)
