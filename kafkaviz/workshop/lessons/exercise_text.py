"""Texts about the rules of the exercise: their grammar, faults in a rule, and kinds of targets."""

from kafkaviz.figures.text.join_text import join_comma
from kafkaviz.messages import render, say, say_count
from kafkaviz.units import format_count
from kafkaviz.workshop.lessons import exercise
from kafkaviz.workshop.lessons.exercise import ABOVE, BELOW, BETWEEN, EMPTY, EXACT, RuleSyntaxError

KINDS = {BELOW: "below", EXACT: "exact", BETWEEN: "between", ABOVE: "above", EMPTY: "empty"}


def grammar() -> str:
    return say("exercise.grammar")


def describe_fault(error: RuleSyntaxError) -> str:
    return render(error.message)


def kind(target_kind: str) -> str:
    return say(f"exercise.{KINDS[target_kind]}")


def describe_failures(result: exercise.RuleCheck) -> str:
    """Returns where a rule fails, by kind of target, or "" if it is right.

    A kind with several targets is given with the number of failures; a kind with one only by its
    name.
    """
    counts = [(kind(target_kind), *result.counts(target_kind)) for target_kind in exercise.KINDS]
    group_texts = [
        say_count("exercise.of_kind", n, wrong=format_count(wrong), kind=name)
        for name, n, wrong in counts
        if wrong and n > 1
    ]
    return join_comma([*group_texts, *(name for name, n, wrong in counts if wrong and n == 1)])
