"""Every sentence that kafkaviz says, by its key: str(message("span.slots", n=2)) is "2 slots".

A Message is a key and plain values. The package that knows a thing builds it, an edge (cli/,
report/, app/, figures/) words it: str() in English, render("zh") in Chinese, render(value) and
say(key) in the language of the app's reader. A language is a folder beside this file: a file for
each subject, a line for each text. en/span.toml and zh/span.toml:

    slots = "{n:group} slots"       slots = "{n:group} 个槽"
    slots_1 = "{n} slot"

A place may have a format of FORMATS or JOINS, or one of Python's: 0x{crc:08x}. key_1 is the text
where the value n is 1; a sentence that counts two things is two messages, one the other's value.
What a language lacks is said in English. Another language is another folder, and its name in
LANGUAGES.
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
# by their short word in the address: as they call themselves
LANGUAGES = {"en": "English", "zh": "中文"}
SINGULAR = "_1"  # the end of a key whose text is of one thing
_language_sources: list[Callable[[], str]] = []  # gives the reader's language; none outside the app
_path_spellings: list[Callable[[PurePath], str]] = [str]  # how a path is written


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence, or a part of one, before it is worded; built by message().

    It can be compared, hashed, pickled and sent as JSON.

    Attributes:
        values: (name, value) by their names; a value is None, a bool, int, float, str, path,
            Message or a tuple of such.
    """

    key: str
    values: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        """The English text: what the command line prints, and what logs and tests show."""
        return self.render(ENGLISH)

    def __getitem__(self, name: str) -> Any:
        """The value of that name."""
        return dict(self.values)[name]

    def render(self, language_code: str) -> str:
        """The text in a language.

        Never raises: it words errors too, and a catalog may hold a key of another release. What has
        no text is its key and values; tests check that this happens to no key of this release.
        """
        values = dict(self.values)
        try:
            return _fill(_template(language_code, self.key, values.get("n")), values, language_code)
        except (KeyError, ValueError, TypeError, OverflowError, RecursionError):
            return f"{self.key}({', '.join(f'{name}={value}' for name, value in self.values)})"

    def with_values(self, **values: object) -> "Message":
        """The same message with other values."""
        return message(self.key, **dict(self.values) | values)

    def to_json(self) -> dict[str, Any]:
        """The message as plain values for json.dumps."""
        return {"key": self.key, "values": {name: _to_json(value) for name, value in self.values}}

    @classmethod
    def from_json(cls, parsed: Any) -> "Message":
        """The message of to_json.

        Raises:
            ValueError: it is anything else. A catalog may come from anywhere, so the key must be
                one of ours, with a value for each place.
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
    """A message of a key, "span.slots"; numpy's numbers and enums become plain values.

    The key is not looked up: this is as cheap as a tuple.

    Raises:
        TypeError: a value is of another type.
    """
    return Message(key, tuple((name, _plain(values[name])) for name in sorted(values)))


def verbatim(text: str) -> Message:
    """A message of a text that is the same in every language, such as Kafka's own."""
    return message("common.verbatim", text=text)


def find_message(room: str, text: str) -> Message | None:
    """The message whose English is this text, for what a library says without any other sign.

    Texts with the most words of their own come first.

    Args:
        room: the file to search, by its name.
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
    """A message in the reader's language; anything else as its text."""
    return _text(value, language())


def say(key: str, /, **values: object) -> str:
    """The text of a key, "workshop.next", in the reader's language.

    Raises:
        KeyError: English has no such text, or a place has no value.
    """
    return text_in(language(), key, **values)


def say_count(key: str, number: float | None, /, **values: object) -> str:
    """The text of a key for a number of things: in its place {n}, the digits grouped.

    Of one thing it is the text of key_1, where the language has one.

    Args:
        values: those of the other places, and n where the number is worded otherwise.
    """
    language_code, filled = language(), {"n": units.group(number)} | values
    return _fill(_template(language_code, key, number), filled, language_code)


def text_in(language_code: str, key: str, /, **values: object) -> str:
    """The text of a key in a given language."""
    return _fill(_template(language_code, key), values, language_code)


def table(name: str) -> dict[str, str]:
    """All texts of a file in the reader's language, by their keys without the file's name.

    For a figure that shows texts in the browser, which knows no formats.
    """
    # another language may count otherwise
    english = {k: text for k, text in _file(ENGLISH, name).items() if not k.endswith(SINGULAR)}
    return {**english, **_file(language(), name)}


def language() -> str:
    """The code of the reader's language; English by default."""
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
    """Sets the function that is called for the reader's language, each time."""
    _language_sources[:] = [source]


def set_path_spelling(spelling: Callable[[PurePath], str]) -> None:
    """Sets the function that writes a path: one of a remote file's mirror is its address."""
    _path_spellings[:] = [spelling]


# ---- the tables


def catalogue(language_code: str) -> Mapping[str, str]:
    """All texts of a language by their keys: the file's name, a dot, the key there."""
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
    """The texts of one file; a command that fails reads one, not all."""
    path = _file_paths(language_code).get(name)
    return {} if path is None else tomllib.loads(path.read_text(encoding="utf-8"))


def _template(language_code: str, key: str, number: object = None) -> str:
    """The text of a key with its places; of one thing that of key_1, where the language has it."""
    name, _, short_key = key.partition(".")
    for texts in (_file(language_code, name), _file(ENGLISH, name)):
        if number == 1 and f"{short_key}{SINGULAR}" in texts:
            return texts[f"{short_key}{SINGULAR}"]
        if short_key in texts:
            return texts[short_key]
    raise KeyError(key)


# ---- places and their formats


def _percent(share: Any) -> str:
    """A share from 0 to 1, or (part, total)."""
    return units.share(*share) if isinstance(share, tuple) else units.share(share, 1)


FORMATS: dict[str, Callable[[Any], str]] = {  # {size:bytes} is units.size(size)
    "group": units.group,  # 21 310
    "bytes": units.size,  # 1.02 MiB
    "rate": units.rate,  # 1.3 GB/s
    "percent": _percent,  # 0.45 %
    "duration": units.duration,  # 4.6 min
    "moment": units.moment,  # 2026-11-21 09:29:44.123
    "second": lambda ms: units.moment(ms, fraction=False),  # 2026-11-21 09:29:44
    "clock": units.clock,  # 09:29:44.123
    "line": lambda text: units.escape_line(str(text)),  # a new line as \n
    "excerpt": lambda text: units.excerpt(str(text)),
    "quoted": lambda text: repr(str(text)),  # 'abc'
}
JOINS = {  # how several values stand in one place: {names:comma}
    "comma": "common.list",  # things of one kind: a, b, c  a、b、c
    "details": "common.comma",  # what is said of one thing: a, b, c  a，b，c
    "semicolon": "common.semicolon",
    "sentences": "common.then",
    "each_and": "common.and",
    "each_or": "common.or",
    "and": "common.and",  # a, b and c
    "or": "common.or",
}
# a blank stands between it and a Latin letter alone
_HAN = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


def join(way: str, parts: Iterable[object], language_code: str) -> str:
    """Several things as one text, as a language joins them.

    An empty list gives an empty text, and an empty sentence is left out.

    Args:
        way: one of JOINS.
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
    """The separator between two texts.

    和 has a blank beside a Latin letter and none beside another Han character.
    """
    if not _HAN.search(separator):
        return separator
    separator = separator.lstrip() if _HAN.match(before[-1:]) else separator
    return separator.rstrip() if _HAN.match(after[:1]) else separator


@cache
def _parts(template: str) -> tuple[tuple[str, str | None, str], ...]:
    """The parts of a template.

    Returns:
        Of each the text, the name of the place behind it, and its format.
    """
    return tuple((text, name, spec or "") for text, name, spec, _ in Formatter().parse(template))


def places(template: str) -> dict[str, str]:
    """The formats of a text's places by their names."""
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
    """A value that can be compared, hashed, pickled and sent."""
    if value is None or type(value) in (str, int, float, bool, Message):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    if isinstance(value, PurePath):
        return value
    if hasattr(value, "item"):  # a number of numpy's
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
    """The values that a message of this key must have and may have.

    Raises:
        KeyError: the key is none of ours.
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
