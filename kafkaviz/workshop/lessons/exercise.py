"""The exercise on the ceiling: the reader writes a rule, which is tried on every slot of an index.

`lookup` gives the floor: the greatest slot whose key is not above the target, or -1. The ceiling is
the smallest slot whose key is not below the target. A rule computes it from the result of `lookup`:

    if slot >= 0 and key(slot) = target then slot else if slot + 1 < entries then slot + 1 else none

With keys 6 14 22 26 31 and target 23, `lookup` gives slot 2. Its key 22 is not the target, and slot
3 exists, so the ceiling is slot 3 with key 26. Two wrong answers are frequent. `slot + 1` fails if
the target is a key. Kafka's own handling of -1, which is the segment's base offset, is not an
entry. Rules are parsed here and never evaluated by Python.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.messages import message
from kafkaviz.search import slots
from kafkaviz.search.slots import NONE

BASE = -2  # the answer (base offset, position 0), which is not in any slot
NO_ANSWER = -3  # the rule asked for the key of a slot that does not exist
# characters, and nesting depth
LONGEST = 400
DEEPEST = 20
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


# tokens that a message may name as expected or found, in addition to the words of a rule
EXPECTED = frozenset({"end", "comparison", "part"})


class RuleSyntaxError(ValueError):
    """A text that is not a rule.

    The message gives the position, from 1, and the expected part.

    Attributes:
        kind: the message key in the catalogue "exercise".
        values: the values of that message.
    """

    def __init__(self, position: int, kind: str, **values: object) -> None:
        self.position = position
        self.kind = kind
        self.values = values
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
    keys: Sequence[int]
    target: int
    slot: int


class _NoSuchSlot(Exception):
    """The rule asked for key(...) of a slot that does not exist."""


Part = Callable[[RuleContext], int]


def parse(text: str) -> Part:
    """Parses a rule into a function of its inputs.

    Raises:
        RuleSyntaxError: the text is not a rule.
    """
    return _RuleParser(text).rule()


def answer(rule: Part, context: RuleContext) -> int:
    """Returns the slot that the rule computes, or NONE or BASE.

    Returns NO_ANSWER if the rule asks for a key that does not exist.
    """
    try:
        return rule(context)
    except _NoSuchSlot:
        return NO_ANSWER


class _RuleParser:
    """A recursive descent parser; each method reads one kind of part."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise RuleSyntaxError(LONGEST, "too_long", n=LONGEST)
        self._words = _words(text)
        self._place = 0
        self._depth = 0

    def rule(self) -> Part:
        part = self._choice()
        if self._word:
            raise self._unexpected("end")
        return part

    @property
    def _word(self) -> str:
        return self._words[self._place][0]

    def _take(self, *words: str) -> str:
        """Consumes and returns the next word if it is in `words`, else returns ""."""
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
        right = self._sum()
        compare = _COMPARE[sign]
        return lambda context: compare(left(context), right(context))

    def _is_condition_in_brackets(self) -> bool:
        """Returns whether the bracket at the current word holds a condition and not a sum.

        It does if a comparison or a logical word comes before the closing bracket.
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
    """Returns each word with its position; the last word is "", at the end of the text."""
    words = []
    position = 0
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


# ---- the check on every slot

BELOW = "below the first key"
EXACT = "a key"
BETWEEN = "between two keys"
ABOVE = "above the last key"
EMPTY = "an empty index"
KINDS = (BELOW, EXACT, BETWEEN, ABOVE, EMPTY)


@dataclass(frozen=True)
class RuleCase:
    """The result for one target: the floor slot, the rule's answer and the ceiling.

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
        return self.answer_slot == self.ceiling


@dataclass(frozen=True)
class RuleCheck:
    """The result of trying a rule on an index, and on an index without entries."""

    entries: int
    cases: tuple[RuleCase, ...]

    @property
    def wrong_cases(self) -> tuple[RuleCase, ...]:
        return tuple(case for case in self.cases if not case.is_right)

    @property
    def is_right(self) -> bool:
        return not self.wrong_cases

    def counts(self, kind: str) -> tuple[int, int]:
        """Returns the number of cases of a kind, and how many of them are wrong."""
        cases = [case for case in self.cases if case.kind == kind]
        return len(cases), sum(not case.is_right for case in cases)


def check(rule: Part, keys: np.ndarray) -> RuleCheck:
    """Tries a rule on an index with these increasing keys, and on an empty index.

    The targets are every key and its two neighbours.
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
    if is_key:
        kind = EXACT
    elif floor_slot < 0:
        kind = BELOW
    elif floor_slot == len(keys) - 1:
        kind = ABOVE
    else:
        kind = BETWEEN
    if is_key:
        ceiling = floor_slot
    elif floor_slot + 1 < len(keys):
        ceiling = floor_slot + 1
    else:
        ceiling = NONE
    return RuleCase(
        kind, target, floor_slot, answer(rule, RuleContext(keys, target, floor_slot)), ceiling
    )
