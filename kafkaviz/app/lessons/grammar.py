"""A lesson is a Markdown file.

What it says about itself, its steps, and the blocks in them that are alive.

    ---
    title: The warm section
    minutes: 6
    ---

    ## Two pages stay warm              a step begins with a heading of two

    Prose, as Markdown.

    ```kafkaviz stepper                 a block: its kind, and lines of key: value
    set: five
    target: 21
    ```

A value goes on in lines that begin with two spaces. A key that may be said more than once is a
list. README.md beside this file has every kind and its keys; kinds.py is that table. A file with
faults gives all of them, each with its line, and no lesson.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from kafkaviz.messages import Message, message

NAME = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)\.([a-z]{2})\.md")
FILE_BYTES = 1 << 18
DEFAULT_ORDER = 1000  # the order of a lesson that says none

LETTERS = "abcdefgh"  # of the choices of a question
SHORT = "short"  # the track of a session that has half of the time

Parse = Callable[[str], Any]


@dataclass(frozen=True)
class LessonFault:
    """What is wrong in a lesson, and where; prints as file:line: what."""

    file: str
    line: int
    what: Message

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class NoValue(ValueError):
    """A text that is no value of its key; says what one is."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Key:
    """A key of a block.

    How its text is read, whether it must be there, whether it may come more than once.
    """

    parse: Parse = str
    is_required: bool = False
    is_repeatable: bool = False
    default: object = None


@dataclass(frozen=True)
class BlockKind:
    """A kind of block.

    Attributes:
        is_wide: its figure is drawn below the text, not beside it.
        setting_key: of keys that are settings of a log.
    """

    about: str
    keys: Mapping[str, Key]
    is_wide: bool = False
    setting_key: Key | None = None


@dataclass(frozen=True)
class LessonBlock:
    """A live part of a step.

    Attributes:
        values: by key, parsed, a tuple for one that may be repeated.
        lines: every line as key and text, in order.
    """

    kind: str
    line: int
    values: Mapping[str, Any]  # what the key's parse gives
    lines: tuple[tuple[str, str], ...]
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def __hash__(self) -> int:
        return hash((self.kind, self.lines))

    @property
    def choices(self) -> list[tuple[str, bool]]:
        """Those of a question in the order they are written, each beside whether it is right."""
        return [(text, key == "right") for key, text in self.lines if key in ("choice", "right")]


@dataclass(frozen=True)
class LessonStep:
    """A heading and what is under it: texts of Markdown and blocks, in order."""

    title: str
    line: int
    parts: tuple[str | LessonBlock, ...]

    def blocks(self, *kinds: str) -> tuple[LessonBlock, ...]:
        """The blocks of these kinds; of all kinds where none is named."""
        return tuple(block for block in self._blocks if not kinds or block.kind in kinds)

    @cached_property
    def _blocks(self) -> tuple[LessonBlock, ...]:
        return tuple(part for part in self.parts if isinstance(part, LessonBlock))

    @cached_property
    def minutes(self) -> float:
        """How long it takes, by the notes for the teacher."""
        return sum(block["minutes"] or 0 for block in self.blocks("notes"))

    @cached_property
    def is_short(self) -> bool:
        """Whether the short track has it, by the same notes."""
        return any(block["track"] == SHORT for block in self.blocks("notes"))


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson in one language.

    Attributes:
        name: of its file, the same in every language.
        file_name: the file.
    """

    name: str
    language: str
    title: str
    short: str
    about: str
    minutes: float
    order: int
    steps: tuple[LessonStep, ...]
    file_name: str = ""


def parse_integer(text: str) -> int:
    """A whole number; digits may be grouped."""
    digits = re.sub(r"[\s_,\u202f]", "", text)
    if not re.fullmatch(r"-?\d{1,18}", digits):
        raise NoValue(message("lesson.a_whole_number"))
    return int(digits)


def parse_minutes(text: str) -> float:
    """Minutes, halves allowed."""
    if not re.fullmatch(r"\d{1,3}(\.5)?", text):
        raise NoValue(message("lesson.minutes"))
    return float(text)


def choice_parser(*words: str) -> Parse:
    """One of these words."""

    def parse(text: str) -> str:
        if text not in words:
            raise NoValue(message("lesson.words", words=words))
        return text

    return parse


def yes_or_no(text: str) -> bool:
    """Whether it says yes, not no."""
    return choice_parser("yes", "no")(text) == "yes"


HEAD = MappingProxyType(
    {
        "title": Key(is_required=True),
        "short": Key(),
        "about": Key(is_required=True),
        "minutes": Key(parse_minutes, is_required=True),
        "order": Key(parse_integer, default=DEFAULT_ORDER),
    }
)
