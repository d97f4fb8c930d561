"""The exercise of the lecture.

Write the ceiling twin of `lookup`, and have it tried against every slot of an index.

`lookup` gives the floor, the greatest slot whose key is not above the target, or -1. A rule says
what the ceiling is, the smallest slot whose key is not below the target, from what `lookup` gave:

    if slot >= 0 and key(slot) = target then slot else if slot + 1 < entries then slot + 1 else none

With keys 6 14 22 26 31 and target 23 `lookup` gives slot 2; its key, 22, is not 23, slot 3 exists:
slot 3, key 26. The two answers that are given most often are `slot + 1`, wrong wherever the target
is a key, and Kafka's own way out of `lookup`, -1 becomes the segment's base offset, which is no
entry. A rule is parsed here and never handed to Python.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.messages import message
from kafkaviz.search import slots
from kafkaviz.search.slots import NONE

BASE = -2  # the answer (base offset, position 0), which stands in no slot
NO_ANSWER = -3  # the rule asked for the key of a slot that is not there
LONGEST, DEEPEST = 400, 20  # characters, and parts within parts
FIRST_TOO_LARGE = 10**18
ARTICLE = (6, 14, 22, 26, 31)

RIGHT = (
    "if slot >= 0 and key(slot) = target then slot else if slot + 1 < entries then slot + 1 else "
    "none"
)

_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z]+)|(<=|>=|!=|==|[=<>+\-()−≤≥≠]))")
_SPELLED = {"−": "-", "≤": "<=", "≥": ">=", "≠": "!="}
_WORDS = {
    "if",
    "then",
    "else",
    "and",
    "or",
    "not",
    "slot",
    "key",
    "target",
    "entries",
    "none",
    "base",
}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


# what may be expected, or found, besides a word of a rule
EXPECTED = frozenset({"end", "comparison", "part"})


class RuleSyntaxError(ValueError):
    """A text that is no rule.

    It says what was expected at which character, from 1.

    Attributes:
        kind: a key of the catalogue exercise.
        values: the values of its message.
    """

    def __init__(self, position: int, kind: str, **values: object) -> None:
        self.position, self.kind, self.values = position, kind, values
        parts = {
            name: message(f"exercise.{value}") if value in EXPECTED else value
            for name, value in values.items()
        }
        self.message = message(
            "exercise.at", n=position + 1, problem=message(f"exercise.{kind}", **parts)
        )
        super().__init__(self.message)


@dataclass(frozen=True)
class RuleContext:
    """What a rule may ask for: the keys, the target, and the slot that `lookup` found."""

    keys: Sequence[int]
    target: int
    slot: int


class _NoSuchSlot(Exception):
    """key(…) of a slot that is not there."""


Part = Callable[[RuleContext], int]


def parse(text: str) -> Part:
    """The rule as a function of what is known.

    Raises:
        RuleSyntaxError: the text is not a rule.
    """
    return _RuleParser(text).rule()


def answer(rule: Part, context: RuleContext) -> int:
    """The slot that the rule gives.

    NONE, BASE, or NO_ANSWER where it asked for a key that is not there.
    """
    try:
        return rule(context)
    except _NoSuchSlot:
        return NO_ANSWER


class _RuleParser:
    """One pass over the words of a rule; each method reads one kind of part."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise RuleSyntaxError(LONGEST, "too_long", n=LONGEST)
        self._words, self._place, self._depth = _words(text), 0, 0

    def rule(self) -> Part:
        part = self._choice()
        if self._word:
            raise self._unexpected("end")
        return part

    @property
    def _word(self) -> str:
        return self._words[self._place][0]

    def _take(self, *words: str) -> str:
        """The next word, if it is one of these; else "" and nothing is taken."""
        if self._word not in words or not self._word:
            return ""
        self._place += 1
        return self._words[self._place - 1][0]

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._unexpected(word)

    def _unexpected(self, what: str) -> RuleSyntaxError:
        return RuleSyntaxError(
            self._words[self._place][1], "expected", expected=what, actual=self._word or "end"
        )

    def _nested(self, read_part: Callable[[], Part]) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise RuleSyntaxError(self._words[self._place][1], "too_deep", n=DEEPEST)
        part = read_part()
        self._depth -= 1
        return part

    def _choice(self) -> Part:
        return self._nested(self._if) if self._word == "if" else self._sum()

    def _if(self) -> Part:
        self._need("if")
        condition = self._any()
        self._need("then")
        part_if_true = self._choice()
        self._need("else")
        part_if_false = self._choice()
        return lambda context: (
            part_if_true(context) if condition(context) else part_if_false(context)
        )

    def _any(self) -> Part:
        part = self._all()
        while self._take("or"):
            part = _either(part, self._all())
        return part

    def _all(self) -> Part:
        part = self._not()
        while self._take("and"):
            part = _both(part, self._not())
        return part

    def _not(self) -> Part:
        if self._take("not"):
            condition = self._nested(self._not)
            return lambda context: not condition(context)
        return self._comparison()

    def _comparison(self) -> Part:
        if self._is_condition_in_brackets():
            self._need("(")
            condition = self._nested(self._any)
            self._need(")")
            return condition
        left = self._sum()
        sign = self._take(*_COMPARE)
        if not sign:
            raise self._unexpected("comparison")
        right, compare = self._sum(), _COMPARE[sign]
        return lambda context: compare(left(context), right(context))

    def _is_condition_in_brackets(self) -> bool:
        """A bracket may hold a sum or a condition.

        A comparison or a word of logic before it closes shows which.
        """
        if self._word != "(" or self._words[self._place + 1][0] == "if":
            return False
        open_brackets = 0
        for word, _ in self._words[self._place :]:
            open_brackets += (word == "(") - (word == ")")
            if not open_brackets:
                return False
            if word in _COMPARE or word in ("and", "or", "not"):
                return True
        return False

    def _sum(self) -> Part:
        part = self._term()
        while sign := self._take("+", "-"):
            if "base" in (self._words[self._place - 2][0], self._word):
                raise RuleSyntaxError(self._words[self._place - 1][1], "base_counted")
            part = _add(part, self._term(), 1 if sign == "+" else -1)
        return part

    def _term(self) -> Part:
        if self._take("-"):
            return _add(_constant(0), self._nested(self._term), -1)
        if self._take("("):
            inside = self._nested(self._choice)
            self._need(")")
            return inside
        word = self._word
        if word.isdigit():
            self._place += 1
            return _constant(int(word))
        if self._take("key"):
            self._need("(")
            slot = self._nested(self._sum)
            self._need(")")
            return lambda context: _key(context, slot(context))
        if self._take("slot", "target", "entries", "none", "base"):
            return _VALUES[word]
        raise self._unexpected("part")


def _words(text: str) -> list[tuple[str, int]]:
    """Each word and where it starts; the last is "", at the end."""
    words, position = [], 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        start = position + len(text[position:]) - len(text[position:].lstrip())
        if not match or (match[2] and match[2].lower() not in _WORDS):
            raise RuleSyntaxError(start, "no_word", word=repr(match[2] if match else text[start]))
        word = next(filter(None, match.groups())).lower()
        word = _SPELLED.get(word, word)
        if word.isdigit() and int(word) >= FIRST_TOO_LARGE:
            raise RuleSyntaxError(start, "too_large")
        words.append((word, start))
        position = match.end()
    return [*words, ("", len(text))]


def _constant(number: int) -> Part:
    return lambda _context: number


def _key(context: RuleContext, slot: int) -> int:
    if not 0 <= slot < len(context.keys):
        raise _NoSuchSlot
    return int(context.keys[slot])


def _add(left: Part, right: Part, sign: int) -> Part:
    return lambda context: left(context) + sign * right(context)


def _either(left: Part, right: Part) -> Part:
    return lambda context: left(context) or right(context)


def _both(left: Part, right: Part) -> Part:
    return lambda context: left(context) and right(context)


_VALUES: dict[str, Part] = {
    "slot": lambda context: context.slot,
    "target": lambda context: context.target,
    "entries": lambda context: len(context.keys),
    "none": _constant(NONE),
    "base": _constant(BASE),
}


# ---- tried against every slot

BELOW, EXACT, BETWEEN, ABOVE, EMPTY = (
    "below the first key",
    "a key",
    "between two keys",
    "above the last key",
    "an empty index",
)
KINDS = (BELOW, EXACT, BETWEEN, ABOVE, EMPTY)


@dataclass(frozen=True)
class RuleCase:
    """One target: what `lookup` found, what the rule made of it, and the ceiling.

    Attributes:
        kind: one of KINDS.
    """

    kind: str
    target: int
    floor_slot: int
    answer_slot: int
    ceiling: int

    @property
    def is_right(self) -> bool:
        """Whether the rule found the ceiling."""
        return self.answer_slot == self.ceiling


@dataclass(frozen=True)
class RuleCheck:
    """A rule tried on an index, and on one without an entry."""

    entries: int
    cases: tuple[RuleCase, ...]

    @property
    def wrong_cases(self) -> tuple[RuleCase, ...]:
        """Those that it gets wrong."""
        return tuple(case for case in self.cases if not case.is_right)

    @property
    def is_right(self) -> bool:
        """Whether it gets all of them right."""
        return not self.wrong_cases

    def counts(self, kind: str) -> tuple[int, int]:
        """How many cases of a kind there are, and how many of them are wrong."""
        cases = [case for case in self.cases if case.kind == kind]
        return len(cases), sum(not case.is_right for case in cases)


def check(rule: Part, keys: np.ndarray) -> RuleCheck:
    """Cases at every key of an index, and an index without an entry.

    The keys rise; each target is just below and just above one.
    """
    numbers = [int(key) for key in keys]
    near = sorted({target for key in numbers for target in (key - 1, key, key + 1)})
    column = np.array(numbers, np.int64)
    floor_slots = slots.floors(column, np.array(near, np.int64), 8)[:, 0].tolist() if near else []
    cases = [
        _case(rule, numbers, target, slot) for target, slot in zip(near, floor_slots, strict=True)
    ]
    return RuleCheck(
        len(numbers),
        (*cases, RuleCase(EMPTY, 23, NONE, answer(rule, RuleContext((), 23, NONE)), NONE)),
    )


def _case(rule: Part, keys: list[int], target: int, floor_slot: int) -> RuleCase:
    is_key = floor_slot >= 0 and keys[floor_slot] == target
    kind = (
        EXACT
        if is_key
        else BELOW
        if floor_slot < 0
        else ABOVE
        if floor_slot == len(keys) - 1
        else BETWEEN
    )
    ceiling = floor_slot if is_key else floor_slot + 1 if floor_slot + 1 < len(keys) else NONE
    return RuleCase(
        kind, target, floor_slot, answer(rule, RuleContext(keys, target, floor_slot)), ceiling
    )
