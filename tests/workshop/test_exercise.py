"""The exercise on the ceiling: which rules are right, and where the popular wrong ones fail."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz.workshop.lessons import exercise
from kafkaviz.workshop.lessons.exercise import ABOVE, BASE, BELOW, EMPTY, EXACT, NO_ANSWER
from tests.search import textbook
from tests.workshop.lesson_text import RIGHT

KEYS = (6, 14, 22, 26, 31)


def checked(text: str, keys: tuple[int, ...] = KEYS) -> exercise.RuleCheck:
    rule = exercise.read(text)
    assert rule is not None
    return exercise.check(rule, keys)


def test_the_right_rule_finds_every_ceiling():
    check = checked(RIGHT)
    assert check.is_right and len(check.cases) == 3 * 5 + 1
    assert [(case.target, case.floor_slot, case.answer_slot) for case in check.cases if case.kind == EXACT] == [
        (6, 0, 0), (14, 1, 1), (22, 2, 2), (26, 3, 3), (31, 4, 4),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wrong_cases"),
    [
        (
            "slot + 1",
            [(EXACT, key, slot + 1, slot) for slot, key in enumerate(KEYS)]
            + [(ABOVE, 32, 5, -1), (EMPTY, 23, 0, -1)],
        ),
        (
            "if slot = -1 then base else if key(slot) = target then slot else slot + 1",
            [(BELOW, 5, BASE, 0), (ABOVE, 32, 5, -1), (EMPTY, 23, BASE, -1)],
        ),
        (
            "if key(slot) = target then slot else if slot + 1 < entries then slot + 1 else none",
            [(BELOW, 5, NO_ANSWER, 0), (EMPTY, 23, NO_ANSWER, -1)],
        ),
    ],
)
def test_where_popular_rules_fail(text, wrong_cases):
    cases = checked(text).wrong_cases
    found = [(case.kind, case.target, case.answer_slot, case.ceiling) for case in cases]
    assert found == wrong_cases


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**40), unique=True, max_size=40).map(sorted))
def test_the_ceiling_that_a_rule_is_compared_with(keys):
    """It is numpy's and that of a linear scan; the right rule gives it for any index."""
    check = checked(RIGHT, tuple(keys))
    assert check.is_right
    for case in check.cases:
        if case.kind != EMPTY:
            slot = int(np.searchsorted(keys, case.target, "left"))
            assert case.ceiling == (slot if slot < len(keys) else -1)
            assert case.ceiling == textbook.ceiling_slot(np.array(keys), case.target)
            assert case.floor_slot == int(np.searchsorted(keys, case.target, "right")) - 1


def test_every_rule_of_the_pieces_is_read_as_it_is_spelled():
    """Few of them are right: a reader has to think."""
    branches = [*product(exercise.CONDITIONS, exercise.ANSWERS)]
    rules = [
        exercise.CeilingRule(tuple(chosen), otherwise)
        for count in range(exercise.MAX_BRANCHES + 1)
        for chosen in product(branches, repeat=count)
        for otherwise in exercise.ANSWERS
    ]
    assert all(exercise.read(str(rule)) == rule for rule in rules)
    right = [rule for rule in rules if exercise.check(rule, KEYS).is_right]
    assert RIGHT in map(str, right) and len(right) < 10


@pytest.mark.parametrize(
    "text",
    ["", "slot +", "if slot = -1 then base", "slot slot", f"if slot = -1 then slot else {RIGHT}"],
)
def test_what_is_not_made_of_the_pieces_is_no_rule(text):
    assert exercise.read(text) is None
