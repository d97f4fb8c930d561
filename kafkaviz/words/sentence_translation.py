"""A sentence with values that a floor below made, in the reader's language: found again by the
English text that it fits.

zh/notes.toml has `"The {part} is null." = "{part} 是 null。"`, so "The header 3 value is null." is
header 3 value 是 null。 A value that fits a text itself is told in turn; {n}, {slot} and {byte} fit
numbers alone. What fits none stays as it is. The English stands where it is made, and nowhere else:
findings come back from a catalog's Parquet as these sentences, so there is no key that could go
with them.
"""

import re
from functools import cache, lru_cache
from string import Formatter

from kafkaviz import words

# catalogues whose keys are English sentences
CATALOGUES = ("errors", "findings", "mistakes", "notes", "spans")
NUMBERS = ("n", "slot", "byte")  # places that hold nothing else
NUMBER = r"[-−]?[0-9A-Fa-fx\u202f]+"
CACHE_ENTRIES = 8192  # sentences; a screen of bytes has some hundreds


def translate_sentence(name: str, sentence: str) -> str:
    """What was said in English, in the reader's language. name: the catalogue, one of NAMES."""
    return _translate_sentence(words.language(), name, sentence)


@lru_cache(CACHE_ENTRIES)
def _translate_sentence(language_code: str, name: str, sentence: str) -> str:
    for pattern, text in _texts(language_code, name):
        if match := pattern.fullmatch(sentence):
            return text.format_map(
                {
                    placeholder: _translate_sentence(language_code, name, value)
                    for placeholder, value in match.groupdict().items()
                }
            )
    return sentence


@cache
def _texts(language_code: str, name: str) -> list[tuple[re.Pattern[str], str]]:
    """What an English sentence looks like and what it is in a language, those that say most
    first.
    """
    prefix = f"{name}."
    texts = {
        key.removeprefix(prefix): text
        for key, text in words.catalogue(language_code).items()
        if key.startswith(prefix)
    }
    parts = {key: list(Formatter().parse(key)) for key in texts}
    longest = sorted(parts, key=lambda key: -sum(len(literal) for literal, *_ in parts[key]))
    return [
        (
            re.compile(
                "".join(_pattern(literal, placeholder) for literal, placeholder, *_ in parts[key])
            ),
            texts[key],
        )
        for key in longest
    ]


def _pattern(literal: str, placeholder: str | None) -> str:
    return re.escape(literal) + (
        f"(?P<{placeholder}>{NUMBER if placeholder in NUMBERS else '.+?'})" if placeholder else ""
    )
