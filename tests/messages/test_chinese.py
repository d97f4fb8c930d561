"""The Chinese texts: no English, Chinese punctuation, and spaces only between scripts."""

import re
from pathlib import Path

from kafkaviz import messages

ROOT = Path(__file__).parents[2]
CHINESE = messages.catalogue("zh")
HAN = "[\u4e00-\u9fff]"
BESIDE = "[,;:?!A-Za-z0-9`]"
UNTIDY = re.compile(f"{HAN}{BESIDE}|{BESIDE}{HAN}|{HAN} {HAN}")
PLACE = re.compile(r"\{[^}]*\}")
KEY = re.compile(r"^[a-z-]+: ")  # of a block: its text follows an English colon


def test_chinese_is_translated():
    """Only a Kafka name, a unit or places need no Chinese character."""
    own_words = {key: PLACE.sub("", text) for key, text in CHINESE.items()}
    english = messages.catalogue(messages.ENGLISH)
    assert [
        key
        for key, text in own_words.items()
        if re.search(r"[a-z]{3} [a-z]{2}", text) and not re.search(HAN, text)
    ] == []
    assert [
        key
        for key, text in own_words.items()
        if CHINESE[key] == english.get(key)
        and sum(len(word) > 2 and word.isalpha() for word in text.split()) > 1
    ] == []


def untidy(text: str) -> bool:
    """Returns whether a Han character touches foreign punctuation, a Latin letter or a digit."""
    return bool(UNTIDY.search(PLACE.sub("§", text)))


def test_chinese_has_its_own_signs():
    """With spaces where two scripts meet, and nowhere else; also in lessons."""
    files = (ROOT / "kafkaviz" / "workshop" / "lessons").glob("*.zh.md")
    lessons = [
        KEY.sub("", line)
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert len(lessons) > 500
    assert [text for text in (*CHINESE.values(), *lessons) if untidy(text)] == []
    samples = ("偏移量a", "偏移量,", "偏移量 偏移量", "偏移量 a，`b` 偏移量")
    assert list(map(untidy, samples)) == [True, True, True, False]
