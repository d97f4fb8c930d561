"""The rule of leader epochs, on histories that two real replicas did not have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.comparison.leader_epochs import (
    UNDEFINED,
    EpochEndOffset,
    EpochHistory,
    TruncationRule,
    walk_truncation,
)


def history(*entries, start=0, end=100, high_watermark=None):
    return EpochHistory(entries, start, end, high_watermark)


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [  # LeaderEpochFileCache.endOffsetFor, by its own comments
        (UNDEFINED, EpochEndOffset(UNDEFINED, UNDEFINED)),
        (5, EpochEndOffset(5, 100)),
        (6, EpochEndOffset(UNDEFINED, UNDEFINED)),
        (1, EpochEndOffset(1, 20)),
        (3, EpochEndOffset(2, 60)),
        (2, EpochEndOffset(2, 60)),
    ],
)
def test_where_an_epoch_ends(epoch, expected):
    assert history((2, 20), (5, 60)).end_offset_for(epoch) == expected


def test_an_epoch_that_the_follower_lacks_is_asked_again():
    """KIP-279: after two unclean elections, one question would leave 50 to 59 of epoch 1."""
    leader = history((0, 0), (2, 50), end=80)
    follower = history((0, 0), (1, 50), (3, 60), end=90)
    walk = walk_truncation(leader, follower)
    assert [(step.epoch, step.rule, step.truncates_to) for step in walk.steps] == [
        (3, TruncationRule.ASK_AGAIN, 60),
        (1, TruncationRule.END_OF_EPOCH, 50),
        (0, TruncationRule.KEEP, 50),
    ]
    assert walk.leader_epoch == 4 and walk.follower_keeps_below == 50


def test_a_follower_without_epochs_goes_back_to_its_high_watermark():
    """A log of magic 0 or 1 has no epochs."""
    walk = walk_truncation(history((0, 0)), history(end=90, high_watermark=70))
    assert walk.follower_keeps_below == 70
    assert walk.steps[0].rule is TruncationRule.HIGH_WATERMARK and walk.steps[0].answer is None


def test_a_follower_below_the_leaders_start_restarts():
    """Retention on the leader has removed everything that the follower has."""
    walk = walk_truncation(history((4, 500), start=500, end=600), history((3, 0), end=90))
    assert walk.steps[0].rule is TruncationRule.START_ANEW
    assert (walk.follower_keeps_below, walk.follower_log_start) == (0, 500)


def test_an_epoch_without_a_record_is_forgotten():
    assert history((3, 0), (7, 100)).after_startup().entries == ((3, 0),)
    walk = walk_truncation(history((3, 0), end=80), history((3, 0), (7, 100)))
    assert walk.steps[0].epoch == 3 and walk.follower_keeps_below == 80


@st.composite
def two_histories(draw):
    """Draws two replicas that share a beginning: (epoch, start) pairs as elections made them."""
    shared_epochs = draw(st.integers(1, 3))
    shared_entries = [(epoch, 10 * epoch) for epoch in range(shared_epochs)]
    part = 10 * shared_epochs
    sides = []
    for first in (0, 1):  # epochs of one side alone: even, odd
        count = draw(st.integers(0, 3))
        own = [(shared_epochs + 2 * n + first, part + 10 * n) for n in range(count)]
        end = part + 10 * count + draw(st.integers(0, 5)) * bool(count)
        sides.append(EpochHistory((*shared_entries, *own), 0, end))
    return part, *sides


@given(two_histories())
def test_both_protocols_end_where_the_logs_part(histories):
    """The request of 2.0 to 2.6 and the fetch since 2.7 both end at the end of the shared part."""
    part, leader, follower = histories
    expected = part if follower.log_end_offset > part else follower.log_end_offset
    for is_request in (False, True):
        walk = walk_truncation(leader, follower, is_request=is_request)
        assert walk.follower_keeps_below == expected
