"""The messages of kafkaviz by key: str(message("span.slots", n=2)) is "2 slots".

A Message is a key with plain values. Lower packages create messages; cli/, report/, app/ and
figures/ turn them into text. str() gives English, and Message.render("zh") Chinese. The functions
render(value) and say(key) use the language of the app's reader. Each language is a folder here with
one file per subject and one line per text. en/span.toml and zh/span.toml:

    slots = "{n:group} slots"       slots = "{n:group} 个槽"
    slots_1 = "{n} slot"

{n:group} is a place for the value n in the format "group". FORMATS and JOINS are the formats, and
Python's are allowed too: 0x{crc:08x}. slots_1 is used if n is 1. A sentence that counts two things
needs two messages, one as a value of the other. A text that a language lacks is shown in English.
To add a language, add a folder and its name in LANGUAGES.
"""

import re
import tomllib
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache, reduce
from pathlib import Path, PurePath
from string import Formatter
from typing import Any

from kafkaviz import units

CATALOGUE_DIRECTORY = Path(__file__).parent
ENGLISH = "en"
# by the code that the app's address contains: each language's own name
LANGUAGES = {"en": "English", "zh": "中文"}
SINGULAR = "_1"  # the end of a key whose text is for n = 1
# the last function returns the reader's language; the list is empty outside the app
_language_sources: list[Callable[[], str]] = []
_path_spellings: list[Callable[[PurePath], str]] = [str]  # the last function writes paths


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence, or a part of one, that is not text yet; message() builds it.

    It can be compared, hashed, pickled and sent as JSON.
    """

    key: str
    # pairs (name, value), sorted by name; a value is None, a bool, int, float, str, path, Message,
    # or a tuple of these
    values: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """Returns the English text, as on the command line, in logs and in tests."""
        return self.render(ENGLISH)

    def __getitem__(self, name: str) -> Any:
        return dict(self.values)[name]

    def render(self, language_code: str) -> str:
        """Returns the text in a language.

        Never raises, because error messages are rendered too, and a catalog may hold keys of
        another release. If a key has no text, returns the key and the values. Tests check that
        every key of this release has a text.
        """
        values = dict(self.values)
        try:
            return _fill(_template(language_code, self.key, values.get("n")), values, language_code)
        except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
            return f"{self.key}({', '.join(f'{name}={value}' for name, value in self.values)})"

    def with_values(self, **values: object) -> "Message":
        """Returns the same message with some values replaced or added."""
        return message(self.key, **dict(self.values) | values)

    def to_json(self) -> dict[str, Any]:
        """Returns the message as plain values for json.dumps."""
        return {"key": self.key, "values": {name: _to_json(value) for name, value in self.values}}

    @classmethod
    def from_json(cls, parsed: Any) -> "Message":
        """Returns the message that to_json wrote. Raises ValueError for anything else.

        A catalog may come from anywhere, so the key must be known, and no value may be missing.
        """
        try:
            result = _parse_message(parsed)
            _check_values(result)
        except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as fault:
            raise ValueError(f"no message: {fault!r}") from None
        return result


# a sentence, or a name that is the same in every language
Text = Message | str


def message(key: str, /, **values: object) -> Message:
    """Returns a message; numpy's numbers and enums become plain values.

    The key is not looked up, so the call is as cheap as building a tuple. Raises TypeError if a
    value has a type that messages cannot hold.
    """
    return Message(key, tuple((name, _plain(values[name])) for name in sorted(values)))


def verbatim(text: str) -> Message:
    """Returns a message for a text that is the same in every language, such as Kafka's own."""
    return message("common.verbatim", text=text)


def find_message(room: str, text: str) -> Message | None:
    """Returns the message whose English text is `text`, or None.

    Needed for libraries that report an event only as text. If several messages fit, returns the one
    with the most text outside its {placeholders}. `room` is the name of the file to search.
    """
    templates = sorted(
        _file(ENGLISH, room).items(), key=lambda item: -len(re.sub(r"\{\w+\}", "", item[1]))
    )
    for key, template in templates:
        pattern = "".join(
            re.escape(literal) + (f"(?P<{name}>.+?)" if name else "")
            for literal, name, _ in _parts(template)
        )
        if match := re.fullmatch(pattern, text):
            return message(f"{room}.{key}", **match.groupdict())
    return None


# ---- in the language of the reader


def render(value: object) -> str:
    """Returns a message in the reader's language, or another value as text."""
    return _text(value, language())


def say(key: str, /, **values: object) -> str:
    """Returns the text of a key such as "workshop.next", in the reader's language.

    Raises KeyError if English has no such text, or a {placeholder} has no value.
    """
    return text_in(language(), key, **values)


def say_count(key: str, number: float | None, /, **values: object) -> str:
    """Returns the text of a key for a number. {n} becomes the number with grouped digits.

    For the number 1, returns the text of key_1 if the language has one. A value named n replaces
    the grouped number.
    """
    language_code = language()
    filled = {"n": units.format_count(number)} | values
    return _fill(_template(language_code, key, number), filled, language_code)


def text_in(language_code: str, key: str, /, **values: object) -> str:
    return _fill(_template(language_code, key), values, language_code)


def table(name: str) -> dict[str, str]:
    """Returns all texts of a file in the reader's language. Keys do not contain the file name.

    Figures that insert texts in the browser need this, because JavaScript cannot use FORMATS.
    """
    # the singulars are English only; another language may count differently
    english = {k: text for k, text in _file(ENGLISH, name).items() if not k.endswith(SINGULAR)}
    return {**english, **_file(language(), name)}


def language() -> str:
    """Returns the code of the reader's language; English by default."""
    return _language_sources[-1]() if _language_sources else ENGLISH


@contextmanager
def speaking(language_code: str) -> Generator[None]:
    """Sets the reader's language within a with statement."""
    _language_sources.append(lambda: language_code)
    try:
        yield
    finally:
        _language_sources.pop()


def set_language_source(source: Callable[[], str]) -> None:
    """Sets the function that returns the reader's language. It is called for every text."""
    _language_sources[:] = [source]


def set_path_spelling(spelling: Callable[[PurePath], str]) -> None:
    """Sets the function that turns a path into text, such as the address of a mirrored file."""
    _path_spellings[:] = [spelling]


# ---- the tables


def catalogue(language_code: str) -> Mapping[str, str]:
    """Returns all texts of a language by full key, such as span.slots (slots in span.toml)."""
    return {
        f"{name}.{key}": text
        for name in _file_paths(language_code)
        for key, text in _file(language_code, name).items()
    }


@cache
def _file_paths(language_code: str) -> dict[str, Path]:
    paths = sorted((CATALOGUE_DIRECTORY / language_code).glob("*.toml"))
    return {path.stem: path for path in paths}


@cache
def _file(language_code: str, name: str) -> dict[str, str]:
    """Returns the texts of one language file by key. Empty if the file does not exist."""
    path = _file_paths(language_code).get(name)
    return {} if path is None else tomllib.loads(path.read_text(encoding="utf-8"))


def _template(language_code: str, key: str, number: object = None) -> str:
    """Returns the text of a key, with {placeholders}. For `number` 1, prefers key_1."""
    name, _, short_key = key.partition(".")
    for texts in (_file(language_code, name), _file(ENGLISH, name)):
        if number == 1 and f"{short_key}{SINGULAR}" in texts:
            return texts[f"{short_key}{SINGULAR}"]
        if short_key in texts:
            return texts[short_key]
    raise KeyError(key)


# ---- places and their formats


def _percent(share: Any) -> str:
    """Formats a fraction (0 to 1), or a pair (part, total), as a percentage."""
    part, total = share if isinstance(share, tuple) else (share, 1)
    return units.format_percent(part, total)


FORMATS: dict[str, Callable[[Any], str]] = {  # {size:bytes} is units.format_bytes(size)
    "group": units.format_count,  # 21 310
    "bytes": units.format_bytes,  # 1.02 MiB
    "rate": units.rate,  # 1.3 GB/s
    "percent": _percent,  # 0.45 %
    "duration": units.duration,  # 4.6 min
    "us": units.format_us,  # 42 µs
    "moment": units.moment,  # 2026-11-21 09:29:44.123
    "second": lambda ms: units.moment(ms, fraction=False),  # 2026-11-21 09:29:44
    "clock": units.clock,  # 09:29:44.123
    "line": lambda text: units.escape_line(str(text)),  # a new line as \n
    "excerpt": lambda text: units.excerpt(str(text)),
    "quoted": lambda text: repr(str(text)),  # 'abc'
}
JOINS = {  # how a place joins several values: {names:comma}
    "comma": "common.list",  # items of one kind: a, b, c  a、b、c
    "details": "common.comma",  # details about one item: a, b, c  a，b，c
    "semicolon": "common.semicolon",
    "sentences": "common.then",
    "each_and": "common.and",
    "each_or": "common.or",
    "and": "common.and",  # a, b and c
    "or": "common.or",
}
# Han characters and full-width punctuation; they take a space only next to a Latin letter
_HAN = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


def join(way: str, parts: Iterable[object], language_code: str) -> str:
    """Joins values to one text, with the separators of a language. Returns "" if there are none.

    `way` is a key of JOINS. "and", "or" and "sentences" leave out empty texts.
    """
    texts = [_text(part, language_code) for part in parts]
    if way in ("and", "or", "sentences"):
        texts = [*filter(None, texts)]
    if way in ("and", "or") and len(texts) > 2:
        texts = [join("comma", texts[:-1], language_code), texts[-1]]
    separator = text_in(language_code, JOINS[way], first="", next="")
    return reduce(
        lambda before, after: before + _between(separator, before, after) + after, texts or [""]
    )


def _between(separator: str, before: str, after: str) -> str:
    """Returns the separator between two texts. 和 has a space only next to a Latin letter."""
    if not _HAN.search(separator):
        return separator
    separator = separator.lstrip() if _HAN.match(before[-1:]) else separator
    return separator.rstrip() if _HAN.match(after[:1]) else separator


@cache
def _parts(template: str) -> tuple[tuple[str, str | None, str], ...]:
    """Splits a template into tuples (text, name of the next place, format of that place)."""
    return tuple((text, name, spec or "") for text, name, spec, _ in Formatter().parse(template))


def places(template: str) -> dict[str, str]:
    """Returns the format of each {placeholder} in a template, by its name."""
    return {name: spec for _, name, spec in _parts(template) if name is not None}


def _fill(template: str, values: Mapping[str, object], language_code: str) -> str:
    return "".join(
        text if name is None else text + _format(values[name], spec, language_code)
        for text, name, spec in _parts(template)
    )


def _format(value: Any, spec: str, language_code: str) -> str:
    if spec in JOINS or (isinstance(value, tuple) and not spec):
        return join(spec or "comma", value, language_code)
    if isinstance(value, Message | PurePath):
        value = _text(value, language_code)
    return FORMATS[spec](value) if spec in FORMATS else format(value, spec)


def _text(value: object, language_code: str) -> str:
    if isinstance(value, PurePath):
        return _path_spellings[-1](value)
    return value.render(language_code) if isinstance(value, Message) else str(value)


# ---- plain values


def _plain(value: Any) -> Any:
    """Returns a value that can be compared, hashed, pickled and sent as JSON."""
    if value is None or type(value) in (str, int, float, bool, Message):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    if isinstance(value, PurePath):
        return value
    if hasattr(value, "item"):  # a numpy number
        return _plain(value.item())
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"no value of a message: {value!r}")


def _to_json(value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, tuple):
        return [_to_json(part) for part in value]
    return {"path": str(value)} if isinstance(value, PurePath) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_json(part) for part in value)
    if isinstance(value, dict):
        return Path(value["path"]) if value.keys() == {"path"} else _parse_message(value)
    return _plain(value)


def _parse_message(parsed: Any) -> Message:
    if parsed.keys() != {"key", "values"} or type(parsed["key"]) is not str:
        raise ValueError("no message: neither key nor values")
    values = parsed["values"]
    return message(parsed["key"], **{name: _from_json(values[name]) for name in values})


@cache
def _value_names(key: str) -> tuple[frozenset[str], frozenset[str]]:
    """Returns the values that a message of this key must have, and those it may have.

    Raises KeyError for an unknown key.
    """
    many, single = (frozenset(places(_template(ENGLISH, key, number))) for number in (None, 1))
    return many, many | single | {"n"}


def _check_values(checked: Message) -> None:
    values = dict(checked.values)
    required, allowed = _value_names(checked.key)
    if not required <= values.keys() <= allowed:
        raise ValueError(f"{checked.key} has no such values: {', '.join(values)}")
    for value in values.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Message):
                _check_values(part)
