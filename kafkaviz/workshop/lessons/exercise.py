"""The exercise on the ceiling: the reader composes a rule, which is then tested on an index.

The floor is the greatest slot whose key is at most the target; -1 if there is none. `lookup`
returns the floor. The ceiling is the smallest slot whose key is at least the target. A rule
computes the ceiling from the floor (`slot`):

    if slot >= 0 and key(slot) = target then slot else if slot + 1 < entries then slot + 1 else none

With keys 6 14 22 26 31 and target 23, `lookup` returns slot 2. The key of slot 2 is 22, not the
target, and slot 3 exists, so the ceiling is slot 3 with key 26. Readers often write one of two
wrong rules. The rule `slot + 1` fails if the target is a key. A rule that returns the segment's
base offset for slot -1, as Kafka does, fails because the base offset is not an entry.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import join_comma
from kafkaviz.search.binary_search import NONE, floors

BASE = -2  # the result (base offset, position 0), which is not an entry of the index
NO_ANSWER = -3  # the result of a rule that reads the key of a slot that does not exist
MAX_BRANCHES = 2


@dataclass(frozen=True)
class RuleContext:
    """The input of a rule. `slot` is the slot that `lookup` returns for the target, or NONE."""

    keys: Sequence[int]
    target: int
    slot: int

    @property
    def is_key(self) -> bool:
        """Whether the key in `slot` equals the target.

        Raises IndexError if the slot does not exist.
        """
        if self.slot < 0:
            raise IndexError
        return self.keys[self.slot] == self.target


# the conditions and answers that rules are composed of
CONDITIONS: dict[str, Callable[[RuleContext], bool]] = {
    "slot = -1": lambda context: context.slot == NONE,
    "slot >= 0 and key(slot) = target": lambda context: context.slot >= 0 and context.is_key,
    "key(slot) = target": lambda context: context.is_key,
    "slot + 1 < entries": lambda context: context.slot + 1 < len(context.keys),
}
ANSWERS: dict[str, Callable[[RuleContext], int]] = {
    "slot": lambda context: context.slot,
    "slot + 1": lambda context: context.slot + 1,
    "none": lambda _context: NONE,
    "base": lambda _context: BASE,
}
BRANCH = re.compile(r"if (.+?) then (.+?) else ")


@dataclass(frozen=True)
class CeilingRule:
    """A rule for the ceiling: (condition, answer) pairs in order, then the default answer."""

    branches: tuple[tuple[str, str], ...]
    otherwise: str

    def __str__(self) -> str:
        branches = (f"if {condition} then {answer} else " for condition, answer in self.branches)
        return f"{''.join(branches)}{self.otherwise}"

    def answer(self, context: RuleContext) -> int:
        """Returns the slot that the rule gives, or one of NONE, BASE and NO_ANSWER."""
        try:
            for condition, answer in self.branches:
                if CONDITIONS[condition](context):
                    return ANSWERS[answer](context)
        except IndexError:
            return NO_ANSWER
        return ANSWERS[self.otherwise](context)


def read(text: str) -> CeilingRule | None:
    """Parses a CeilingRule, such as "if slot = -1 then none else slot".

    Returns None if the text contains other parts than CONDITIONS and ANSWERS, or more than
    MAX_BRANCHES conditions.
    """
    branches = tuple(BRANCH.findall(text))
    rule = CeilingRule(branches, text.rpartition(" else ")[2])
    are_pieces = rule.otherwise in ANSWERS and all(
        condition in CONDITIONS and answer in ANSWERS for condition, answer in branches
    )
    if are_pieces and len(branches) <= MAX_BRANCHES and str(rule) == text:
        return rule
    return None


def describe_pieces() -> str:
    return say("exercise.pieces", conditions=join_comma(CONDITIONS), answers=join_comma(ANSWERS))


# the kinds of targets, relative to the keys; also parts of message keys
BELOW = "below"
EXACT = "exact"
BETWEEN = "between"
ABOVE = "above"
EMPTY = "empty"
KINDS = (BELOW, EXACT, BETWEEN, ABOVE, EMPTY)


@dataclass(frozen=True)
class RuleCase:
    """The result of a rule for one target: the floor slot, the rule's slot and the right slot."""

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
    """The results of a rule on an index, and on an index without entries."""

    cases: tuple[RuleCase, ...]

    @property
    def wrong_cases(self) -> tuple[RuleCase, ...]:
        return tuple(case for case in self.cases if not case.is_right)

    @property
    def is_right(self) -> bool:
        return not self.wrong_cases

    def counts(self, kind: str) -> tuple[int, int]:
        """Returns (number of targets of a kind, number of wrong results for these targets)."""
        cases = [case for case in self.cases if case.kind == kind]
        return len(cases), sum(not case.is_right for case in cases)


def check(rule: CeilingRule, keys: Sequence[int]) -> RuleCheck:
    """Tests the reader's rule for the ceiling. Returns the rule's result for each target.

    The targets are each key of the index, each key - 1 and each key + 1. The rule is also tested
    on an index without entries.
    """
    numbers = [int(key) for key in keys]
    near = sorted({target for key in numbers for target in (key - 1, key, key + 1)})
    column = np.array(numbers, np.int64)
    floor_slots = floors(column, np.array(near, np.int64), 8)[:, 0].tolist() if near else []
    cases = [
        _case(rule, numbers, target, slot) for target, slot in zip(near, floor_slots, strict=True)
    ]
    empty_answer = rule.answer(RuleContext((), 23, NONE))
    return RuleCheck((*cases, RuleCase(EMPTY, 23, NONE, empty_answer, NONE)))


def _case(rule: CeilingRule, keys: list[int], target: int, floor_slot: int) -> RuleCase:
    if floor_slot >= 0 and keys[floor_slot] == target:
        kind = EXACT
        ceiling = floor_slot
    elif floor_slot == len(keys) - 1:
        kind = ABOVE
        ceiling = NONE
    else:
        kind = BELOW if floor_slot < 0 else BETWEEN
        ceiling = floor_slot + 1
    return RuleCase(
        kind, target, floor_slot, rule.answer(RuleContext(keys, target, floor_slot)), ceiling
    )


def describe_failures(result: RuleCheck) -> str:
    """Returns the kinds of targets for which a rule fails; "" if the rule is right."""
    counts = [(say(f"exercise.{kind}"), *result.counts(kind)) for kind in KINDS]
    group_texts = [
        say_count("exercise.of_kind", n, wrong=wrong, kind=name)
        for name, n, wrong in counts
        if wrong and n > 1
    ]
    return join_comma([*group_texts, *(name for name, n, wrong in counts if wrong and n == 1)])
