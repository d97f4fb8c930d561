"""The exercise of the lecture: write the ceiling twin of `lookup`, and have it tried against every
slot of an index.

`lookup` gives the floor, the greatest slot whose key is not above the target, or -1. A rule says
what the ceiling is, the smallest slot whose key is not below the target, from what `lookup` gave:

    if slot >= 0 and key(slot) = target then slot else if slot + 1 < entries then slot + 1 else none

With keys 6 14 22 26 31 and target 23 `lookup` gives slot 2; its key, 22, is not 23, slot 3 exists:
slot 3, key 26. The two answers that are given most often are `slot + 1`, wrong wherever the target
is a key, and Kafka's own way out of `lookup`, -1 becomes the segment's base offset, which is no
entry. A rule is parsed here and never handed to Python.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.search import slots, textbook
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
SLOT_PLUS_1 = "slot + 1"
NONE_TO_BASE = (
    "if slot = -1 then base else if key(slot) = target then slot else if slot + 1 < entries then "
    "slot + 1 else base"
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


SAYS = {  # what a text that is no rule has: kinds of fault, in words
    "expected": "expected {what}, found {found}",
    "too_long": "a rule of more than {n} characters",
    "too_deep": "more than {n} parts within parts",
    "base_counted": "base is no number to count from",
    "no_word": "{found} is no word of a rule",
    "too_large": "a number of more than 18 digits",
}
PLACES = {  # what may be expected, or found, besides a word of a rule
    "end": "the end",
    "comparison": "a comparison",
    "part": "slot, key(…), target, entries, none, base or a number",
}


class NoRule(ValueError):
    """A text that is no rule; says what was expected at which character, from 1. kind: of SAYS,
    with its values.
    """

    def __init__(self, position: int, kind: str, **values: object) -> None:
        self.position, self.kind, self.values = position, kind, values
        told = {name: PLACES.get(value, value) for name, value in values.items()}
        super().__init__(f"character {position + 1}: {SAYS[kind].format(**told)}")


@dataclass(frozen=True)
class Known:
    """What a rule may ask for: the keys, the target, and the slot that `lookup` found."""

    keys: Sequence[int]
    target: int
    slot: int


class _NoSuchSlot(Exception):
    """key(…) of a slot that is not there."""


Part = Callable[[Known], int]


def parse(text: str) -> Part:
    """The rule as a function of what is known. Raises NoRule."""
    return _Parser(text).rule()


def answer(rule: Part, known: Known) -> int:
    """The slot that the rule gives; NONE, BASE, or NO_ANSWER where it asked for a key that is not
    there.
    """
    try:
        return rule(known)
    except _NoSuchSlot:
        return NO_ANSWER


class _Parser:
    """One pass over the words of a rule; each method reads one kind of part."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise NoRule(LONGEST, "too_long", n=LONGEST)
        self._words, self._at, self._depth = _words(text), 0, 0

    def rule(self) -> Part:
        part = self._choice()
        if self._word:
            raise self._expected("end")
        return part

    @property
    def _word(self) -> str:
        return self._words[self._at][0]

    def _take(self, *words: str) -> str:
        """The next word, if it is one of these; else "" and nothing is taken."""
        if self._word not in words or not self._word:
            return ""
        self._at += 1
        return self._words[self._at - 1][0]

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._expected(word)

    def _expected(self, what: str) -> NoRule:
        return NoRule(self._words[self._at][1], "expected", what=what, found=self._word or "end")

    def _deeper(self, read: Callable[[], Part]) -> Part:
        self._depth += 1
        if self._depth > DEEPEST:
            raise NoRule(self._words[self._at][1], "too_deep", n=DEEPEST)
        part = read()
        self._depth -= 1
        return part

    def _choice(self) -> Part:
        return self._deeper(self._if) if self._word == "if" else self._sum()

    def _if(self) -> Part:
        self._need("if")
        asked = self._any()
        self._need("then")
        then = self._choice()
        self._need("else")
        other = self._choice()
        return lambda known: then(known) if asked(known) else other(known)

    def _any(self) -> Part:
        one = self._all()
        while self._take("or"):
            one = _either(one, self._all())
        return one

    def _all(self) -> Part:
        one = self._not()
        while self._take("and"):
            one = _both(one, self._not())
        return one

    def _not(self) -> Part:
        if self._take("not"):
            asked = self._deeper(self._not)
            return lambda known: not asked(known)
        return self._comparison()

    def _comparison(self) -> Part:
        if self._is_condition_in_brackets():
            self._need("(")
            asked = self._deeper(self._any)
            self._need(")")
            return asked
        left = self._sum()
        sign = self._take(*_COMPARE)
        if not sign:
            raise self._expected("comparison")
        right, compare = self._sum(), _COMPARE[sign]
        return lambda known: compare(left(known), right(known))

    def _is_condition_in_brackets(self) -> bool:
        """A bracket may hold a sum or a condition: a comparison or a word of logic before it closes
        tells which.
        """
        if self._word != "(" or self._words[self._at + 1][0] == "if":
            return False
        open_brackets = 0
        for word, _ in self._words[self._at :]:
            open_brackets += (word == "(") - (word == ")")
            if not open_brackets:
                return False
            if word in _COMPARE or word in ("and", "or", "not"):
                return True
        return False

    def _sum(self) -> Part:
        one = self._term()
        while sign := self._take("+", "-"):
            if "base" in (self._words[self._at - 2][0], self._word):
                raise NoRule(self._words[self._at - 1][1], "base_counted")
            one = _added(one, self._term(), 1 if sign == "+" else -1)
        return one

    def _term(self) -> Part:
        if self._take("-"):
            return _added(_constant(0), self._deeper(self._term), -1)
        if self._take("("):
            inside = self._deeper(self._choice)
            self._need(")")
            return inside
        word = self._word
        if word.isdigit():
            self._at += 1
            return _constant(int(word))
        if self._take("key"):
            self._need("(")
            slot = self._deeper(self._sum)
            self._need(")")
            return lambda known: _key(known, slot(known))
        if self._take("slot", "target", "entries", "none", "base"):
            return _NAMED[word]
        raise self._expected("part")


def _words(text: str) -> list[tuple[str, int]]:
    """Each word and where it starts; the last is "", at the end."""
    found, at = [], 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        start = at + len(text[at:]) - len(text[at:].lstrip())
        if not match or (match[2] and match[2].lower() not in _WORDS):
            raise NoRule(start, "no_word", found=repr(match[2] if match else text[start]))
        word = next(filter(None, match.groups())).lower()
        word = _SPELLED.get(word, word)
        if word.isdigit() and int(word) >= FIRST_TOO_LARGE:
            raise NoRule(start, "too_large")
        found.append((word, start))
        at = match.end()
    return [*found, ("", len(text))]


def _constant(number: int) -> Part:
    return lambda known: number


def _key(known: Known, slot: int) -> int:
    if not 0 <= slot < len(known.keys):
        raise _NoSuchSlot
    return int(known.keys[slot])


def _added(left: Part, right: Part, sign: int) -> Part:
    return lambda known: left(known) + sign * right(known)


def _either(left: Part, right: Part) -> Part:
    return lambda known: left(known) or right(known)


def _both(left: Part, right: Part) -> Part:
    return lambda known: left(known) and right(known)


_NAMED: dict[str, Part] = {
    "slot": lambda known: known.slot,
    "target": lambda known: known.target,
    "entries": lambda known: len(known.keys),
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
class Case:
    """One target: what `lookup` found, what the rule made of it, and the ceiling. kind: one of
    KINDS.
    """

    kind: str
    target: int
    floor_slot: int
    answered: int
    ceiling: int

    @property
    def is_right(self) -> bool:
        """Whether the rule found the ceiling."""
        return self.answered == self.ceiling


@dataclass(frozen=True)
class Checked:
    """A rule tried on an index, and on one without an entry."""

    entries: int
    cases: tuple[Case, ...]

    @property
    def wrong(self) -> tuple[Case, ...]:
        """Those that it gets wrong."""
        return tuple(one for one in self.cases if not one.is_right)

    @property
    def is_right(self) -> bool:
        """Whether it gets all of them right."""
        return not self.wrong

    def counts(self, kind: str) -> tuple[int, int]:
        """How many cases of a kind there are, and how many of them are wrong."""
        of_kind = [one for one in self.cases if one.kind == kind]
        return len(of_kind), sum(not one.is_right for one in of_kind)


def check(rule: Part, keys: np.ndarray) -> Checked:
    """Every key of an index (rising), each target just below and above it, and an index without an
    entry.
    """
    numbers = [int(key) for key in keys]
    near = sorted({target for key in numbers for target in (key - 1, key, key + 1)})
    column = np.array(numbers, np.int64)
    found = slots.floors(column, np.array(near, np.int64), 8)[:, 0].tolist() if near else []
    cases = [_case(rule, numbers, target, slot) for target, slot in zip(near, found, strict=True)]
    return Checked(
        len(numbers), (*cases, Case(EMPTY, 23, NONE, answer(rule, Known((), 23, NONE)), NONE))
    )


def _case(rule: Part, keys: list[int], target: int, floor_slot: int) -> Case:
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
    return Case(kind, target, floor_slot, answer(rule, Known(keys, target, floor_slot)), ceiling)


def kafkas_own(keys: Iterable[int]) -> tuple[int, ...]:
    """The keys for which Kafka's own upper bound (OffsetIndex.fetchUpperBoundOffset) is not the
    ceiling: of slot 0, if any.
    """
    column = np.array(list(keys), np.int64)
    return tuple(
        int(key)
        for key in column
        if slots.upper_bound(column, int(key), 8).slot != textbook.ceiling_slot(column, int(key))
    )
