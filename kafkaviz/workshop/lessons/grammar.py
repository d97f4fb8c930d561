"""The parts of a lesson, which is a Markdown file: a head, steps, and blocks with figures or tasks.

    ---
    title: The warm section
    minutes: 6
    ---

    ## Two pages stay warm              a heading of level 2 starts a step

    Prose, as Markdown.

    ```kafkaviz stepper                 a block: its kind, then lines of key: value
    set: five
    target: 21
    ```

A value continues on lines that start with two spaces. A key that may be repeated gives a list.
README.md next to this file lists all kinds and keys, as kinds.py does. A file with faults gives all
faults with their lines, and no lesson.
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
DEFAULT_ORDER = 1000  # the order of a lesson whose head has none

LETTERS = "abcdefgh"  # names of the choices of a question
SHORT = "short"  # the track for a session with half of the time

Parse = Callable[[str], Any]


@dataclass(frozen=True)
class LessonFault:
    """A fault in a lesson file, printed as file:line: what."""

    file: str
    line: int
    what: Message

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class NoValue(ValueError):
    """A text that is not a valid value of its key; the message describes valid ones."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message


@dataclass(frozen=True)
class Key:
    """A key of a block.

    Attributes:
        parse: reads the text, and raises NoValue if it is invalid.
    """

    parse: Parse = str
    is_required: bool = False
    is_repeatable: bool = False
    default: object = None


@dataclass(frozen=True)
class BlockKind:
    """A kind of block.

    Attributes:
        is_wide: whether its figure is drawn below the text instead of next to it.
        setting_key: how to parse further keys, which are log settings; None if they are not
            allowed.
    """

    keys: Mapping[str, Key]
    is_wide: bool = False
    setting_key: Key | None = None


@dataclass(frozen=True)
class LessonBlock:
    """A figure, question, task or note in a step.

    Attributes:
        values: parsed values by key; a repeatable key has a tuple.
        lines: all lines as key and text, in order.
    """

    kind: str
    line: int
    values: Mapping[str, Any]  # the type depends on the key's `parse`
    lines: tuple[tuple[str, str], ...]
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def __hash__(self) -> int:
        return hash((self.kind, self.lines))

    @property
    def choices(self) -> list[tuple[str, bool]]:
        """The choices of a question in order, each with whether it is right."""
        return [(text, key == "right") for key, text in self.lines if key in ("choice", "right")]


@dataclass(frozen=True)
class LessonStep:
    title: str
    line: int
    parts: tuple[str | LessonBlock, ...]

    def blocks(self, *kinds: str) -> tuple[LessonBlock, ...]:
        """Returns the blocks of these kinds, or all blocks if no kind is given."""
        return tuple(block for block in self._blocks if not kinds or block.kind in kinds)

    @cached_property
    def _blocks(self) -> tuple[LessonBlock, ...]:
        return tuple(part for part in self.parts if isinstance(part, LessonBlock))

    @cached_property
    def minutes(self) -> float:
        """The duration according to the teacher's notes."""
        return sum(block["minutes"] or 0 for block in self.blocks("notes"))

    @cached_property
    def is_short(self) -> bool:
        """Whether the short track contains the step, according to the teacher's notes."""
        return any(block["track"] == SHORT for block in self.blocks("notes"))


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson in one language.

    Attributes:
        name: the first part of its file name, the same in every language.
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
    """Parses a whole number, whose digits may be grouped."""
    digits = re.sub(r"[\s_,\u202f]", "", text)
    if not re.fullmatch(r"-?\d{1,18}", digits):
        raise NoValue(message("lesson.a_whole_number"))
    return int(digits)


def parse_minutes(text: str) -> float:
    """Parses a number of minutes; halves are allowed."""
    if not re.fullmatch(r"\d{1,3}(\.5)?", text):
        raise NoValue(message("lesson.minutes"))
    return float(text)


def choice_parser(*words: str) -> Parse:
    def parse(text: str) -> str:
        if text not in words:
            raise NoValue(message("lesson.words", words=words))
        return text

    return parse


HEAD = {
    "title": Key(is_required=True),
    "short": Key(),
    "about": Key(is_required=True),
    "minutes": Key(parse_minutes, is_required=True),
    "order": Key(parse_integer, default=DEFAULT_ORDER),
}
