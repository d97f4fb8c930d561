"""The parts of a lesson file: a head, then steps with prose and blocks.

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

A value continues on lines that start with two spaces. A repeatable key has a list of values.
README.md next to this file describes all kinds and keys.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from kafkaviz import versions
from kafkaviz.analysis.cost.page_replay import COLD_AFTER_BYTES
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message, message
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.workshop.lessons import exercise
from kafkaviz.workshop.lessons.exercise import CeilingRule

NAME = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)*)\.([a-z]{2})\.md")
FILE_BYTES = 1 << 18
DEFAULT_ORDER = 1000  # the order of a lesson that sets none in its head

LETTERS = "abcdefgh"  # letters of the choices of a question
SHORT = "short"  # the name of the track that has only some of the steps

Parse = Callable[[str], Any]


@dataclass(frozen=True)
class LessonFault:
    """A fault in a lesson file, printed as `file:line: what`."""

    file: str
    line: int
    what: Message

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class NoValue(KafkavizError):
    """A value in a lesson block is invalid, or refers to data that is missing or unsuitable."""


@dataclass(frozen=True)
class Key:
    """A key that a block may contain. `parse` raises NoValue for an invalid value."""

    parse: Parse = str
    is_required: bool = False
    is_repeatable: bool = False
    default: object = None


@dataclass(frozen=True)
class BlockKind:
    """A kind of block."""

    keys: Mapping[str, Key]
    is_wide: bool = False  # whether the figure is drawn below the text instead of next to it
    setting_key: Key | None = None  # for log settings such as segment.bytes; None: not allowed


@dataclass(frozen=True)
class LessonBlock:
    """A block of a lesson step: a figure, a question, an exercise or a note."""

    kind: str
    line: int
    values: Mapping[str, Any]  # parsed by the key's `parse`; a tuple for a repeatable key
    lines: tuple[tuple[str, str], ...]  # (key, text) per entry, in order
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def __hash__(self) -> int:
        return hash((self.kind, self.lines))

    @property
    def choices(self) -> list[tuple[str, bool]]:
        """The choices of a question, in order: (text, whether the choice is right)."""
        return [(text, key == "right") for key, text in self.lines if key in ("choice", "right")]

    @property
    def right_letter(self) -> str:
        """The letter of the first right choice of a question."""
        return LETTERS[[is_right for _, is_right in self.choices].index(True)]


@dataclass(frozen=True)
class LessonStep:
    title: str
    line: int
    parts: tuple[str | LessonBlock, ...]

    def blocks(self, *kinds: str) -> tuple[LessonBlock, ...]:
        """Returns the blocks of the given kinds. If no kind is given, returns all blocks."""
        blocks = (part for part in self.parts if isinstance(part, LessonBlock))
        return tuple(block for block in blocks if not kinds or block.kind in kinds)

    @cached_property
    def minutes(self) -> float:
        """The planned minutes, from the teacher's notes."""
        return sum(block["minutes"] or 0 for block in self.blocks("notes"))

    @cached_property
    def is_short(self) -> bool:
        """Whether this step belongs to the short track, as the teacher's notes of the step say.

        The short track has only the steps about indexes.
        """
        return any(block["track"] == SHORT for block in self.blocks("notes"))


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A lesson in one language. All languages have the same `name`, such as "warm-section"."""

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
    digits = re.sub(r"[\s_,\u202f]", "", text)
    if not re.fullmatch(r"-?\d{1,18}", digits):
        raise NoValue(message("lesson.a_whole_number"))
    return int(digits)


def parse_minutes(text: str) -> float:
    """Parses a number of minutes in steps of 0.5."""
    if not re.fullmatch(r"\d{1,3}(\.5)?", text):
        raise NoValue(message("lesson.minutes"))
    return float(text)


def choice_parser(*words: str) -> Parse:
    def parse(text: str) -> str:
        if text not in words:
            raise NoValue(message("lesson.words", words=words))
        return text

    return parse


REQUIRED = Key(is_required=True)
REPEATED = Key(is_repeatable=True)
HEAD = {
    "title": REQUIRED,
    "short": Key(),
    "about": REQUIRED,
    "minutes": Key(parse_minutes, is_required=True),
    "order": Key(parse_integer, default=DEFAULT_ORDER),
}

PRACTICE = ("five", "twenty", "full")  # practice logs, the same as on the Lookup page
STORIES = ("first", "full-time-index")
CUSTOMER_LOGS = ("profiles", "transactions")
CLEANING_STEPS = ("range", "map", "removal", "result")
TABLES = ("batches", "index", "time-index")
CAUSES = (RollCause.SIZE, RollCause.TIME, RollCause.OFFSET_INDEX_FULL, RollCause.TIME_INDEX_FULL)
DATA = re.compile(r"[A-Za-z0-9._-]+")


def parse_name(text: str) -> str:
    if not DATA.fullmatch(text):
        raise NoValue(message("lesson.a_name"))
    return text


def parse_release(text: str) -> str:
    try:
        versions.parse(text)
    except KafkavizError:
        raise NoValue(message("lesson.a_release")) from None
    return text


def parse_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NoValue(message("lesson.hexadecimal")) from None


def parse_rule(text: str) -> CeilingRule:
    rule = exercise.read(text)
    if rule is None:
        raise NoValue(message("lesson.a_rule"))
    return rule


def parse_natural(text: str) -> int:
    number = parse_integer(text)
    if number < 0:
        raise NoValue(message("lesson.a_natural_number"))
    return number


def parse_batch(text: str) -> tuple[str, int]:
    """Parses a topic-partition and an offset, such as "orders-3 120"."""
    name, _, offset = text.rpartition(" ")
    return parse_name(name), parse_natural(offset)


def parse_naturals(text: str) -> tuple[int, ...]:
    return tuple(parse_natural(word) for word in text.split())


RELEASE = Key(parse_release, default=versions.NEWEST)
NATURAL = Key(parse_natural)
REQUIRED_NATURAL = Key(parse_natural, is_required=True)
REQUIRED_NAME = Key(parse_name, is_required=True)
REQUIRED_NAMES = Key(parse_name, is_required=True, is_repeatable=True)
# a sample directory, a topic-partition and a segment's base offset
SEGMENT_KEYS = {"data": Key(parse_name), "tp": Key(parse_name), "segment": NATURAL}
OFFSET_KEYS = {**SEGMENT_KEYS, "offset": NATURAL}
REQUIRED_OFFSET_KEYS = {**SEGMENT_KEYS, "offset": REQUIRED_NATURAL}
LOOKUP_KEYS = {
    "set": Key(choice_parser(*PRACTICE)),
    **SEGMENT_KEYS,
    "by": Key(choice_parser("offset", "timestamp"), default="offset"),
    "target": Key(parse_integer, is_required=True),
    "search": RELEASE,
    "warm": NATURAL,
}
# the second sample directory with the same topic-partition, and the side that leads
REPLICA_KEYS = {"with": Key(parse_name), "leader": Key(choice_parser("a", "b"))}
# the story of a compacted log, and a day of the story from 0
CLEANER_KEYS = {
    "log": Key(choice_parser(*CUSTOMER_LOGS), is_required=True),
    "day": REQUIRED_NATURAL,
}
# what the reader has to do before the figure is shown; the step at which a stepper starts
FIGURE_KEYS = {"after": Key(choice_parser("answer", "task")), "step": NATURAL}

TASK_KEYS = {  # the additional keys that each kind of exercise requires
    "probe": ("set", "target", "after-probes"),
    "floor": ("set", "target"),
    "start": ("set", "target"),
    "decode": ("data", "tp", "segment", "file", "slot"),
    "file-size": ("limit", "file"),
    "varint": ("bytes",),
    "time": ("set", "target"),
    "entry": ("story", "step"),
    "time-entry": ("story", "step"),
    "cause": ("workload", "segment"),
    "entries": ("batch-bytes", "interval", "batches"),
    "ceiling": ("keys",),
    "drops": ("data", "with", "tp", "leader"),
    "dirty-ratio": ("log", "day"),
    "stays": ("log", "day", "segment"),
}
EXERCISE_KEYS = {
    "of": Key(choice_parser(*TASK_KEYS), is_required=True),
    "ask": REQUIRED,
    "hint": Key(),
    "solution": REQUIRED,
    **SEGMENT_KEYS,
    "set": Key(choice_parser(*PRACTICE)),
    "target": Key(parse_integer),
    "search": RELEASE,
    "warm": NATURAL,
    "after-probes": NATURAL,
    "file": Key(choice_parser(".index", ".timeindex")),
    "slot": NATURAL,
    "limit": NATURAL,
    "bytes": Key(parse_hex),
    "story": Key(choice_parser(*STORIES)),
    "step": NATURAL,
    "workload": Key(parse_name),
    "batch-bytes": NATURAL,
    "interval": NATURAL,
    "batches": NATURAL,
    "keys": Key(parse_naturals),
    "rule": Key(parse_rule),
    **REPLICA_KEYS,
    "log": Key(choice_parser(*CUSTOMER_LOGS)),
    "day": NATURAL,
}


def _figure_kind(
    keys: dict[str, Key], *, is_wide: bool = True, setting_key: Key | None = None
) -> BlockKind:
    return BlockKind({**keys, **FIGURE_KEYS}, is_wide, setting_key)


KINDS: dict[str, BlockKind] = {
    "entries": _figure_kind(
        {
            "set": Key(choice_parser("five", "twenty"), is_required=True),
            "target": Key(parse_integer, is_required=True),
        },
        is_wide=False,
    ),
    "stepper": _figure_kind(LOOKUP_KEYS),
    "zigzag": _figure_kind(LOOKUP_KEYS),
    "own-rule": _figure_kind({"keys": Key(parse_naturals, is_required=True)}),
    "bytes": _figure_kind(
        {**OFFSET_KEYS, "file": Key(parse_name, default=".log"), "byte": NATURAL}
    ),
    "ruler": _figure_kind(OFFSET_KEYS),
    "table": _figure_kind({**OFFSET_KEYS, "of": Key(choice_parser(*TABLES), is_required=True)}),
    "file-areas": _figure_kind({**OFFSET_KEYS, "candidates": Key(parse_naturals)}),
    "batch-areas": _figure_kind(REQUIRED_OFFSET_KEYS),
    "header-areas": _figure_kind(REQUIRED_OFFSET_KEYS),
    "topic-bytes": _figure_kind(SEGMENT_KEYS),
    "segments": _figure_kind(OFFSET_KEYS, is_wide=False),
    "skip-list": _figure_kind(REQUIRED_OFFSET_KEYS, is_wide=False),
    "attributes": _figure_kind(
        {"data": Key(parse_name), "batch": Key(parse_batch, is_repeatable=True)}
    ),
    "indexes": _figure_kind(OFFSET_KEYS),
    "dump": _figure_kind({**OFFSET_KEYS, "lines": Key(parse_natural, default=6)}),
    "growth": _figure_kind({"story": Key(choice_parser(*STORIES), is_required=True)}),
    "pages": _figure_kind(
        {
            "search": Key(choice_parser("plain", "warm"), is_required=True),
            "cold": Key(parse_natural, default=COLD_AFTER_BYTES // 1_000_000),
            "pages": Key(parse_natural, default=40),
            "gap": Key(parse_natural, default=4608),
            "until": Key(parse_natural, default=0),
        },
        is_wide=False,
    ),
    "middles": _figure_kind({"entries": REQUIRED_NATURAL, "then": REQUIRED_NATURAL}),
    "search-race": _figure_kind({"entries": REQUIRED_NATURAL}),
    "limit-race": _figure_kind(
        {"workload": REQUIRED_NAME, "segment": REQUIRED_NATURAL}, setting_key=Key(parse_integer)
    ),
    "roll-clock": _figure_kind(OFFSET_KEYS),
    "retention": _figure_kind(
        {**SEGMENT_KEYS, "retention-days": REQUIRED_NATURAL, "days": REQUIRED_NATURAL}
    ),
    "findings": _figure_kind({**SEGMENT_KEYS, "code": Key(parse_name, is_repeatable=True)}),
    "tuning": _figure_kind({**SEGMENT_KEYS, "considered": Key(parse_natural, default=16384)}),
    "index-size": _figure_kind(SEGMENT_KEYS),
    "fetch-share": _figure_kind(SEGMENT_KEYS),
    "replicas": _figure_kind({**SEGMENT_KEYS, **REPLICA_KEYS}),
    "settings": _figure_kind({"name": REQUIRED_NAMES, "release": RELEASE}),
    "log-retention": _figure_kind({**CLEANER_KEYS, "retention-days": REQUIRED_NATURAL}),
    "cleaner-log": _figure_kind(CLEANER_KEYS),
    "cleaning": _figure_kind(
        {**CLEANER_KEYS, "shows": Key(choice_parser(*CLEANING_STEPS), default="result")}
    ),
    "cleaner-weeks": _figure_kind(
        {
            **CLEANER_KEYS,
            "day": Key(parse_natural, is_required=True, is_repeatable=True),
            "key": REQUIRED_NAME,
        }
    ),
    "cleaned-files": _figure_kind(CLEANER_KEYS),
    "cleaner-settings": _figure_kind({**CLEANER_KEYS, "key": REQUIRED_NAME}),
    "key-story": _figure_kind({**SEGMENT_KEYS, "key": REQUIRED_NAME}),
    "transactions": _figure_kind(OFFSET_KEYS),
    "predict": BlockKind(
        {"ask": REQUIRED, "choice": REPEATED, "right": REQUIRED, "reveal": REQUIRED}
    ),
    "exercise": BlockKind(EXERCISE_KEYS),
    "break-it": BlockKind(
        {"data": REQUIRED_NAME, "tp": REQUIRED_NAME, "segment": NATURAL, "fault": REQUIRED_NAMES}
    ),
    "misleads": BlockKind({"said": REQUIRED, "so": REQUIRED, "versions": REQUIRED}),
    "notes": BlockKind(
        {
            "minutes": Key(parse_minutes, is_required=True),
            "track": Key(choice_parser(SHORT)),
            "say": REPEATED,
            "watch": REPEATED,
        }
    ),
}
