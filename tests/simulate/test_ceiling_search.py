"""A search for the ceiling that a reader puts together: which ways are right, how others end."""

import numpy as np
import pytest

from kafkaviz.simulate.lessons import ceiling_search
from kafkaviz.simulate.lessons.ceiling_search import (
    RIGHT_RULE,
    RULES,
    CeilingRule,
    Comparison,
    Ending,
    Move,
    Rounding,
    run_rule,
)

KEYS = (6, 14, 22, 26, 31)
LESS = Comparison.LESS


def endings(rule: CeilingRule) -> set[Ending]:
    """How a rule ends over all targets."""
    return {run_rule(rule, KEYS, target).ending for target in ceiling_search.targets(KEYS)}


def test_one_of_the_sixteen_rules_is_right():
    """And all sixteen are there."""
    assert len(set(RULES)) == 16
    assert [rule for rule in RULES if endings(rule) == {Ending.RIGHT}] == [RIGHT_RULE]


@pytest.mark.parametrize("count", range(1, 40))
def test_the_right_rule_is_a_binary_search(count):
    """As numpy has it, for every target of indexes of all sizes."""
    keys = np.cumsum(np.random.default_rng(count).integers(1, 5, count)).tolist()
    targets = ceiling_search.targets(keys)
    slots = [run_rule(RIGHT_RULE, keys, target).slot for target in targets]
    assert slots == np.searchsorted(keys, targets).tolist()


@pytest.mark.parametrize("rule", RULES)
def test_the_ceiling_is_that_of_a_plain_search(rule):
    """Whatever a rule makes of it; and only what gives another slot is called wrong."""
    for target in ceiling_search.targets(KEYS):
        run = run_rule(rule, KEYS, target)
        assert run.ceiling == np.searchsorted(KEYS, target)
        assert (run.ending == Ending.RIGHT) == (run.slot == run.ceiling)


def test_low_at_the_middle_never_ends():
    """With two slots left the middle is the lower one, and lo stays there."""
    run = run_rule(CeilingRule(Rounding.DOWN, LESS, Move.MIDDLE, Move.MIDDLE), KEYS, 23)
    last = run.steps[-1]
    assert run.ending == Ending.ENDLESS
    assert (last.lo, last.hi) == (last.next_lo, last.next_hi) == (2, 3)


def test_high_beyond_the_middle_throws_the_answer_away():
    """Slot 2 holds 22, the ceiling of 20: hi goes to 1."""
    run = run_rule(CeilingRule(Rounding.DOWN, LESS, Move.BEYOND, Move.BEYOND), KEYS, 20)
    lost = [(step.mid, step.next_hi) for step in run.steps if step.loses_ceiling]
    assert lost == [(2, 1)]


def test_a_middle_rounded_up_can_be_no_slot():
    """Behind the last key the middle of 4 and 5 is 5."""
    run = run_rule(CeilingRule(Rounding.UP, LESS, Move.BEYOND, Move.MIDDLE), KEYS, 32)
    assert (run.ending, run.steps[-1].mid, run.steps[-1].key) == (Ending.NO_SLOT, 5, None)
