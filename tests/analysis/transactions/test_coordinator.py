"""Whether an open transaction hangs, by what its coordinator has about it."""

import shutil

import pytest

from kafkaviz.analysis.transactions.coordinator import CoordinatorState, judge, read_states
from kafkaviz.analysis.transactions.listing import Outcome, Transaction, Verdict
from kafkaviz.log.broker import open_broker

START_MS = 1_795_253_385_807
TIMEOUT_MS = 3_000_000
OPEN = Transaction(
    producer_id=4,
    producer_epoch=189,
    transactional_id=None,
    first_offset=18900,
    last_offset=18906,
    outcome=Outcome.OPEN,
    start_ms=START_MS,
)


def state(name: str, partition: str = "payments-0") -> CoordinatorState:
    return CoordinatorState(
        transactional_id="t",
        producer_id=4,
        state=name,
        timeout_ms=TIMEOUT_MS,
        start_ms=START_MS,
        partitions=frozenset([partition]),
    )


@pytest.mark.parametrize(
    ("states", "late_ms", "verdict"),
    [
        (None, 0, Verdict.UNKNOWN),
        ({}, 0, Verdict.ABSENT),
        ({4: state("Ongoing")}, TIMEOUT_MS, Verdict.ONGOING),
        ({4: state("Ongoing")}, TIMEOUT_MS + 1, Verdict.OVERDUE),
        ({4: state("Ongoing", "payments-1")}, 0, Verdict.HANGING),
        ({4: state("PrepareAbort")}, TIMEOUT_MS + 1, Verdict.ENDING),
        ({4: state("CompleteAbort")}, 0, Verdict.HANGING),
        ({4: state("Empty")}, 0, Verdict.HANGING),
    ],
)
def test_the_verdict(states, late_ms, verdict):
    hold = judge("payments-0", OPEN, states, START_MS + late_ms)
    assert (hold.verdict, hold.open_ms) == (verdict, late_ms)


def test_the_newest_records_of_the_coordinator(clean):
    states = read_states(open_broker(clean))
    ongoing = states[4]
    assert (ongoing.state, ongoing.partitions) == ("Ongoing", {"payments-0"})
    assert (ongoing.timeout_ms, ongoing.until_ms) == (TIMEOUT_MS, START_MS + TIMEOUT_MS)
    assert states[3].state == "CompleteCommit"


def test_a_lone_partition_has_its_coordinator_next_to_it(clean, tmp_path):
    states = read_states(open_broker(clean))
    assert states and read_states(open_broker(clean / "payments-0")) == states
    alone = shutil.copytree(clean / "payments-0", tmp_path / "alone" / "payments-0")
    assert read_states(open_broker(alone)) is None
