"""What the app says, in its reader's language: say("workshop.next") is "Next step", or 下一步.

A language is a folder beside this file, en/ or zh/: a file a page or figure, a line a text. A text
may have places for values, {minutes}; what a language lacks is said in English. Another language is
another folder, and its name in LANGUAGES. The command line and the report speak English: only the
app asks its reader, by `set_language_source`.
"""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

CATALOGUE_DIRECTORY = Path(__file__).parent
ENGLISH = "en"
# by their short word in the address: as they call themselves
LANGUAGES = {"en": "English", "zh": "中文"}
_language_sources: list[
    Callable[[], str]
] = []  # who knows the reader's language; nobody outside the app


def say(key: str, /, **values: object) -> str:
    """The text of a key, "workshop.next", in the reader's language.

    Raises KeyError where English has no such text.
    """
    return text_in(language(), key, **values)


def say_count(key: str, number: float, /, **values: object) -> str:
    """The same of a number of things, in its place {n}; of one thing it is the text of key_1, where
    the language has one.
    """
    singular_key = f"{key}_1"
    text_key = singular_key if number == 1 and singular_key in catalogue(language()) else key
    return say(text_key, **({"n": number} | values))


def text_in(language_code: str, key: str, /, **values: object) -> str:
    """The text of a key in a given language."""
    text = catalogue(language_code).get(key)
    return (catalogue(ENGLISH)[key] if text is None else text).format_map(values)


def table(name: str) -> dict[str, str]:
    """All texts of a file in the reader's language, by their keys without the file's name: for a
    figure that speaks in the browser.
    """
    # another language may count otherwise
    english = {key: text for key, text in catalogue(ENGLISH).items() if not key.endswith("_1")}
    texts = {**english, **catalogue(language())}
    return {
        key.removeprefix(f"{name}."): text
        for key, text in texts.items()
        if key.startswith(f"{name}.")
    }


def language() -> str:
    """The short word of the reader's language; English where nobody asks."""
    return _language_sources[-1]() if _language_sources else ENGLISH


def set_language_source(source: Callable[[], str]) -> None:
    """From here on the language is what `source` says, each time."""
    _language_sources[:] = [source]


@cache
def catalogue(language_code: str) -> Mapping[str, str]:
    """All texts of a language by their keys: the file's name, a dot, the key there."""
    files = sorted((CATALOGUE_DIRECTORY / language_code).glob("*.toml"))
    tables = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}
    return {f"{name}.{key}": text for name, texts in tables.items() for key, text in texts.items()}
