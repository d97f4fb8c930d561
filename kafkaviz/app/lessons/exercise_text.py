"""What is said of the exercise's rules.

Of which words they are, why a text is none, and which targets there are.
"""

from kafkaviz.app.lessons import exercise
from kafkaviz.app.lessons.exercise import (
    ABOVE,
    BELOW,
    BETWEEN,
    EMPTY,
    EXACT,
    RuleSyntaxError,
)
from kafkaviz.figures.text.join_text import join_comma
from kafkaviz.messages import render, say, say_count
from kafkaviz.units import group

KINDS = {BELOW: "below", EXACT: "exact", BETWEEN: "between", ABOVE: "above", EMPTY: "empty"}


def grammar() -> str:
    """The words of a rule."""
    return say("exercise.grammar")


def describe_fault(error: RuleSyntaxError) -> str:
    """What was expected at which character, from 1."""
    return render(error.message)


def kind(target_kind: str) -> str:
    """Where a target lies, one of exercise.KINDS."""
    return say(f"exercise.{KINDS[target_kind]}")


def describe_failures(result: exercise.RuleCheck) -> str:
    """Where a rule fails, by kind of target.

    Each with how many fail of how many, or its name where there is one of it; "" where the rule
    fails nowhere.
    """
    counts = [(kind(target_kind), *result.counts(target_kind)) for target_kind in exercise.KINDS]
    group_texts = [
        say_count("exercise.of_kind", n, wrong=group(wrong), kind=name)
        for name, n, wrong in counts
        if wrong and n > 1
    ]
    return join_comma([*group_texts, *(name for name, n, wrong in counts if wrong and n == 1)])
