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
NAMES = ("errors", "findings", "mistakes", "notes", "spans")
NUMBERS = ("n", "slot", "byte")  # places that hold nothing else
NUMBER = r"[-−]?[0-9A-Fa-fx\u202f]+"
KEPT = 8192  # sentences; a screen of bytes has some hundreds


def retold(name: str, said: str) -> str:
    """What was said in English, in the reader's language. name: the catalogue, one of NAMES."""
    return _retold(words.language(), name, said)


@lru_cache(KEPT)
def _retold(spoken: str, name: str, said: str) -> str:
    for fits, text in _texts(spoken, name):
        if found := fits.fullmatch(said):
            return text.format_map(
                {place: _retold(spoken, name, value) for place, value in found.groupdict().items()}
            )
    return said


@cache
def _texts(spoken: str, name: str) -> list[tuple[re.Pattern[str], str]]:
    """What an English sentence looks like and what it is in a language, those that say most
    first.
    """
    start = f"{name}."
    texts = {
        key.removeprefix(start): text
        for key, text in words.catalogue(spoken).items()
        if key.startswith(start)
    }
    parts = {key: list(Formatter().parse(key)) for key in texts}
    longest = sorted(parts, key=lambda key: -sum(len(literal) for literal, *_ in parts[key]))
    return [
        (
            re.compile("".join(_pattern(literal, place) for literal, place, *_ in parts[key])),
            texts[key],
        )
        for key in longest
    ]


def _pattern(literal: str, place: str | None) -> str:
    return re.escape(literal) + (
        f"(?P<{place}>{NUMBER if place in NUMBERS else '.+?'})" if place else ""
    )
