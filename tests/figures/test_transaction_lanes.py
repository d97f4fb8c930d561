"""The lanes of transactions: value by value over a log that a broker wrote, and over many at once."""

from dataclasses import replace

import pytest

from kafkaviz.analysis.transactions import (
    Outcome,
    PartitionTransactions,
    Transaction,
    list_transactions,
)
from kafkaviz.figures.segment import transaction_lanes
from kafkaviz.figures.segment.transaction_lanes import MAX_LANES, MAX_TRANSACTIONS
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say


@pytest.fixture(scope="module")
def payments(clean) -> PartitionTransactions:
    names = {2: "tx-payments-0", 3: "tx-payments-1", 4: "<b>'tx'</b>" + "-long" * 9}
    return list_transactions(open_broker(clean).partition("payments-0"), names)


BASES = (0, 7975, 15904)


def transaction(number: int, producer_id: int = 1, outcome: Outcome = Outcome.COMMITTED):
    """The transaction with the offsets 10 * number to 10 * number + 8."""
    is_open = outcome == Outcome.OPEN
    return Transaction(
        producer_id=producer_id,
        producer_epoch=number,
        transactional_id=None,
        first_offset=10 * number,
        last_offset=10 * number + 8,
        outcome=outcome,
        start_ms=number,
        end_ms=None if is_open else number + 5,
        marker_offset=None if is_open else 10 * number + 9,
    )


def log_of(*transactions: Transaction, log_end: int | None = 1000) -> PartitionTransactions:
    open_transactions = [each for each in transactions if each.outcome == Outcome.OPEN]
    held_by = min(open_transactions, key=lambda each: each.first_offset, default=None)
    return PartitionTransactions(
        partition="t-0",
        log_start_offset=0,
        log_end=log_end,
        last_stable_offset=held_by.first_offset if held_by else log_end,
        held_by=held_by,
        transactions=transactions,
        counts={},
    )


def test_the_newest_transactions_of_the_active_segment(payments):
    view = transaction_lanes.view(payments, 15904, BASES)
    assert len(view.transactions) == MAX_TRANSACTIONS
    assert [lane.name for lane in view.lanes] == [
        "tx-payments-0",
        "tx-payments-1",
        "<b>'tx'</b>-long-…",
    ]
    assert (view.first_offset, view.end_offset, view.stable_offset) == (17589, 18920, 18900)
    who = say(
        "finding.transactional_producer", producer=4, id=view.transactions[0].transactional_id
    )
    assert view.title == say("transaction_lanes.title", offset=18900, producer=who)
    assert say("transaction_lanes.began", moment=1795253385807) in view.held_by
    assert say("transaction_lanes.older", n=57) in view.caption
    newest = view.lanes[2].bars[0]
    assert (newest.first_offset, newest.end_offset, newest.outcome) == (18900, 18920, Outcome.OPEN)
    aborted = view.lanes[2].bars[1]
    assert (aborted.first_offset, aborted.end_offset) == (18767, 18898)
    assert aborted.hover_lines[1] == say(
        "transaction_lanes.hover_aborted", offsets="18\u202f767–18\u202f890", marker=18898
    )
    assert view.legend == ["committed", "aborted", "open", "marker", "stable_key", "hidden"]


def test_an_earlier_segment_has_no_line_for_the_last_stable_offset(payments):
    view = transaction_lanes.view(payments, 7975, BASES)
    assert (view.end_offset, view.stable_offset) == (15904, None)
    assert view.legend == ["committed", "aborted", "marker"]


def test_every_transaction_is_in_a_segment_or_counted_as_left_out(payments):
    for base, end in zip(BASES, (*BASES[1:], 18920), strict=True):
        inside = [
            each
            for each in payments.transactions
            if each.first_offset < end and (each.marker_offset or end) >= base
        ]
        view = transaction_lanes.view(payments, base, BASES)
        assert set(view.transactions) <= set(inside)
        assert say("transaction_lanes.older", n=len(inside) - MAX_TRANSACTIONS) in view.caption
        left_out = set(inside) - set(view.transactions)
        assert all(each.marker_offset < view.first_offset for each in left_out)


def test_many_producers_and_an_old_open_transaction():
    ended = [transaction(number, producer_id=number) for number in range(1, 31)]
    old = transaction(0, producer_id=99, outcome=Outcome.OPEN)
    view = transaction_lanes.view(log_of(old, *ended), 0, [0])
    assert len(view.lanes) == MAX_LANES and view.transactions[0] == old
    assert say("transaction_lanes.producers", n=31 - MAX_LANES) in view.caption
    assert "–" in transaction_lanes.rows(view)[0][5]


def test_a_transaction_whose_records_are_gone():
    """Compaction or retention removed its batches; its marker, and maybe its beginning, is left."""
    known = replace(
        transaction(5), first_offset=2, last_offset=None, start_ms=None, begins_before_log=True
    )
    unknown = replace(transaction(6), begins_before_log=None)
    view = transaction_lanes.view(log_of(known, unknown), 20, [20])
    assert transaction_lanes.rows(view)[1][0] == transaction_lanes.rows(view)[1][5] == "–"
    hovers = [bar.hover_lines[2] for lane in view.lanes for bar in lane.bars]
    assert [text.lower() for text in hovers] == [
        say("transaction_lanes.began_maybe_before"),
        say("transaction_lanes.began_before"),
    ]


def test_titles_without_an_open_transaction():
    ended = transaction(3)
    assert transaction_lanes.view(log_of(ended), 0, [0]).title == say(
        "transaction_lanes.title_end", offset=1000
    )
    unknown = transaction_lanes.view(log_of(ended, log_end=None), 0, [0])
    assert unknown.title == say("transaction_lanes.title_unknown")
    assert unknown.end_offset == 40


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_figure_says_the_outcome_twice(payments, mode):
    view = transaction_lanes.view(payments, 15904, BASES)
    figure = transaction_lanes.figure(view, mode)
    committed, aborted, opened, markers = figure.data
    assert committed.marker.pattern.shape is None and aborted.marker.pattern.shape == "\\"
    assert list(opened.base) == [18900] and list(opened.x) == [20]
    assert sum(map(len, (committed.base, aborted.base, opened.base))) == MAX_TRANSACTIONS
    assert len(markers.x) == MAX_TRANSACTIONS - 1
    (outline,) = [shape for shape in figure.layout.shapes if shape.type == "path"]
    assert not outline.path.endswith("Z")
    assert "&lt;b&gt;" in figure.layout.yaxis.ticktext[2]
    lines = [shape.x0 for shape in figure.layout.shapes if shape.yref == "paper"]
    assert lines == [18900, 18900]
    question = transaction_lanes.question_figure(view, mode)
    assert not question.layout.annotations
    assert all(shape.yref != "paper" for shape in question.layout.shapes)
