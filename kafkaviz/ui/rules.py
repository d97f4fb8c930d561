"""What is said of the exercise's rules: of which words they are, why a text is none, and which
targets there are.
"""

from kafkaviz.figures.listed import listed
from kafkaviz.search import exercise
from kafkaviz.search.exercise import (
    ABOVE,
    BELOW,
    BETWEEN,
    EMPTY,
    EXACT,
    NONE_TO_BASE,
    PLACES,
    SLOT_PLUS_1,
    NoRule,
)
from kafkaviz.units import group
from kafkaviz.words import say

KINDS = {BELOW: "below", EXACT: "exact", BETWEEN: "between", ABOVE: "above", EMPTY: "empty"}


def grammar() -> str:
    """The words of a rule."""
    return say("exercise.grammar")


def fault(of: NoRule) -> str:
    """What was expected at which character, from 1."""
    values = {
        name: say(f"exercise.{value}") if value in PLACES else value
        for name, value in of.values.items()
    }
    return say("exercise.at", n=of.position + 1, what=say(f"exercise.{of.kind}", **values))


def kind(of: str) -> str:
    """Where a target lies, one of exercise.KINDS."""
    return say(f"exercise.{KINDS[of]}")


def popular() -> dict[str, str]:
    """The answers that are given most often, by what they are called."""
    return {SLOT_PLUS_1: SLOT_PLUS_1, say("exercise.base"): NONE_TO_BASE}


def failing(checked: exercise.Checked) -> str:
    """Where a rule fails: a kind of target each, of how many how many, or its name where there is
    one of it; "" where nowhere.
    """
    found = [(kind(one), *checked.counts(one)) for one in exercise.KINDS]
    many = [
        say("exercise.of_kind", wrong=group(wrong), n=group(n), kind=name)
        for name, n, wrong in found
        if wrong and n > 1
    ]
    return listed([*many, *(name for name, n, wrong in found if wrong and n == 1)])
