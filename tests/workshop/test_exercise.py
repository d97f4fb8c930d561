"""The exercise on the ceiling: which rules are right, where the popular wrong ones fail, and that a
rule is nothing but a rule.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.workshop.lessons import exercise, exercise_text
from kafkaviz.workshop.lessons.exercise import (
    ABOVE,
    BASE,
    BELOW,
    BETWEEN,
    EMPTY,
    EXACT,
    NO_ANSWER,
    RIGHT,
    RuleContext,
    RuleSyntaxError,
)
from tests.search import textbook

ARTICLE = np.array(exercise.ARTICLE)
NONE_TO_BASE = (
    "if slot = -1 then base else if key(slot) = target then slot else if slot + 1 < entries then "
    "slot + 1 else base"
)


def checked(text: str, keys: np.ndarray = ARTICLE) -> exercise.RuleCheck:
    """A rule tried on an index."""
    return exercise.check(exercise.parse(text), keys)


def test_the_right_rule_finds_every_ceiling():
    """Around each key of the article, and in an index without an entry."""
    check = checked(RIGHT)
    assert check.is_right and len(check.cases) == 3 * 5 + 1
    assert [(case.target, case.floor_slot, case.answer_slot) for case in check.cases if case.kind == EXACT] == [
        (6, 0, 0), (14, 1, 1), (22, 2, 2), (26, 3, 3), (31, 4, 4),
    ]  # fmt: skip


def test_slot_plus_1_fails_on_each_key_and_at_the_end():
    """And nowhere else, but for an index without an entry."""
    check = checked("slot + 1")
    assert [check.counts(kind) for kind in exercise.KINDS] == [
        (1, 0),
        (5, 5),
        (8, 0),
        (1, 1),
        (1, 1),
    ]
    assert [(case.target, case.answer_slot, case.ceiling) for case in check.wrong_cases] == [
        (6, 1, 0), (14, 2, 1), (22, 3, 2), (26, 4, 3), (31, 5, 4), (32, 5, -1), (23, 0, -1),
    ]  # fmt: skip


def test_minus_1_as_the_base_offset_fails_at_both_ends():
    """Below the first key, where slot 0 is the ceiling, and above the last, where there is none."""
    check = checked(NONE_TO_BASE)
    assert [
        (case.kind, case.target, case.answer_slot, case.ceiling) for case in check.wrong_cases
    ] == [
        (BELOW, 5, BASE, 0),
        (ABOVE, 32, BASE, -1),
        (EMPTY, 23, BASE, -1),
    ]


def test_a_key_that_is_not_there_is_no_answer():
    """A rule that asks for key(-1) fails where lookup finds nothing, and only there."""
    check = checked(
        "if key(slot) = target then slot else if slot + 1 < entries then slot + 1 else none"
    )
    assert [(case.kind, case.answer_slot) for case in check.wrong_cases] == [
        (BELOW, NO_ANSWER),
        (EMPTY, NO_ANSWER),
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**40), unique=True, max_size=40).map(sorted))
def test_the_ceiling_that_a_rule_is_compared_with(keys):
    """Is numpy's, and a linear scan's; the right rule gives it for any index."""
    check = checked(RIGHT, np.array(keys, np.int64))
    assert check.is_right
    for case in check.cases:
        if case.kind != EMPTY:
            slot = int(np.searchsorted(keys, case.target, "left"))
            assert (
                case.ceiling
                == (slot if slot < len(keys) else -1)
                == textbook.ceiling_slot(np.array(keys), case.target)
            )
            assert case.floor_slot == int(np.searchsorted(keys, case.target, "right")) - 1
            assert case.kind == (
                EXACT
                if case.target in keys
                else BELOW
                if slot == 0
                else ABOVE
                if slot == len(keys)
                else BETWEEN
            )


@pytest.mark.parametrize(
    ("text", "slot", "expected"),
    [
        ("slot", 2, 2),
        ("none", 2, -1),
        ("-1", 2, -1),
        ("base", 2, BASE),
        ("key(slot) - target", 2, -1),
        ("1 + 2 - 3 + 4", 0, 4),
        ("10 - (2 + 3)", 0, 5),
        ("if 1 = 2 then 3 else 4", 0, 4),
        ("if slot >= 0 and key(slot) = 22 then 7 else 8", 2, 7),
        ("if slot >= 0 and key(slot) = 22 then 7 else 8", -1, 8),
        ("if slot = 5 or not slot < 2 then 1 else 0", 2, 1),
        ("if (slot = 2 or slot = 3) and target > 0 then 1 else 0", 2, 1),
        ("if (slot + 1) < entries then slot + 1 else none", 4, -1),
        ("if not (slot = 2) then 1 else 0", 2, 0),
        ("(if slot = 2 then 1 else 0) + 5", 2, 6),
        ("if (if slot = 2 then 1 else 0) = 1 then 8 else 9", 2, 8),
        ("IF slot ≥ 0 THEN slot − 1 ELSE none", 2, 1),
        ("if slot ≠ 2 then 1 else if slot ≤ 2 then 5 else 6", 2, 5),
        ("if slot == 2 then 1 else 0", 2, 1),
        ("if slot != 2 then 1 else 0", 2, 0),
        ("key(entries)", 2, NO_ANSWER),
        ("key(-1)", 2, NO_ANSWER),
        ("key(key(slot) - 20)", 2, 22),
    ],
)
def test_what_a_rule_says(text, slot, expected):
    """Keys 6 14 22 26 31, target 23."""
    assert (
        exercise.answer(exercise.parse(text), RuleContext(exercise.ARTICLE, 23, slot)) == expected
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "",
            (
                "character 1: expected slot, key(…), target, entries, none, base or a number, "
                "found the end"
            ),
        ),
        ("slot +", "character 7: expected slot"),
        ("slot slot", "character 6: expected the end, found slot"),
        ("if slot then 1 else 2", "character 9: expected a comparison, found then"),
        ("if slot = 1 then 2", "character 19: expected else, found the end"),
        ("slot * 2", "character 6: '*' is not a word of a rule"),
        ("__import__('os')", "character 1: '_' is not a word"),
        ("open(slot)", "character 1: 'open' is not a word"),
        ("slot.keys", "character 5: '.' is not a word"),
        ("keys[slot]", "character 1: 'keys' is not a word"),
        ("9999999999999999999", "character 1: a number of more than 18 digits"),
        ("١", "character 1: '١' is not a word"),
        ("base + 1", "character 6: base is not a number"),
        ("1 - base", "character 3: base is not a number"),
        ("(" * 30 + "1" + ")" * 30, "more than 20 parts within parts"),
        ("-" * 30 + "1", "more than 20 parts within parts"),
        ("1" + " + 1" * 100, "character 401: a rule of more than 400 characters"),
        ("key slot", "character 5: expected (, found slot"),
    ],
)
def test_what_is_no_rule(text, words):
    """It is said what was expected, and where."""
    with pytest.raises(RuleSyntaxError) as refused:
        exercise.parse(text)
    assert words in str(refused.value)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                *"()+-=<>",
                "if",
                "then",
                "else",
                "and",
                "or",
                "not",
                "slot",
                "key",
                "target",
                "none",
                "1",
                " ",
            ]
        )
    ).map(" ".join)
)
def test_any_text_is_a_rule_or_refused(text):
    """Nothing else escapes, and a rule always gives a whole number."""
    try:
        rule = exercise.parse(text)
    except RuleSyntaxError:
        return
    assert isinstance(exercise.answer(rule, RuleContext(exercise.ARTICLE, 23, 2)), int)


BROKEN = (
    "",
    "slot +",
    "slot then",
    "if slot then",
    "key(slot",
    "base + 1",
    "slots",
    "1" * 19,
    "(" * 30,
    "x" * 401,
    "slot $",
)


@pytest.mark.parametrize("rule", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_rule_is_reported_as_by_the_search(rule):
    """The catalogue has the words that search/ has."""
    with pytest.raises(exercise.RuleSyntaxError) as fault:
        exercise.parse(rule)
    assert exercise_text.describe_fault(fault.value) == str(fault.value)


def test_the_catalogue_has_the_words_of_the_exercise():
    """Kinds of target."""
    assert [exercise_text.kind(kind) for kind in exercise.KINDS] == list(exercise.KINDS)
