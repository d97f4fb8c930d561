"""The lanes of transactions: value by value over a log that a broker wrote, and over many at once."""

from dataclasses import replace
from functools import partial

import pytest

from kafkaviz import units
from kafkaviz.analysis.transactions.listing import (
    Outcome,
    PartitionTransactions,
    Transaction,
    list_transactions,
)
from kafkaviz.analysis.transactions.read_committed import OffsetFate, OffsetRun, read_runs
from kafkaviz.figures import theme
from kafkaviz.figures.segment import transaction_lanes
from kafkaviz.figures.segment.transaction_lanes import MAX_LANES, MAX_TRANSACTIONS
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import say
from kafkaviz.units import format_count, ungroup


@pytest.fixture(scope="module")
def lanes_view(clean, payments):
    """Returns a function that makes the view of a segment of payments-0."""
    partition = open_broker(clean).partition("payments-0")

    def make(base_offset: int, newest_ms: int | None = None):
        options = {"read_runs": partial(read_runs, partition.segment(base_offset), payments)}
        options["newest_ms"] = newest_ms
        return transaction_lanes.view(payments, base_offset, BASES, **options)

    return make


@pytest.fixture(scope="module")
def payments(clean) -> PartitionTransactions:
    names = {2: "tx-payments-0", 3: "tx-payments-1", 4: "<b>'tx'</b>" + "-long" * 9}
    return list_transactions(open_broker(clean).partition("payments-0"), names)


CUT_NAME = "<b>'tx'</b>-long-…"
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
        say("finding.transactional_producer", id=name, producer=producer_id)
        for producer_id, name in ((2, "tx-payments-0"), (3, "tx-payments-1"), (4, CUT_NAME))
    ]
    assert (view.first_offset, view.end_offset, view.stable_offset) == (17589, 18920, 18900)
    name = view.transactions[0].transactional_id
    who = say("finding.transactional_producer", producer=4, id=name)
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
    assert view.legend == ["committed", "aborted", "open", "marker", "stable_key"]
    assert view.stop_segment is None


def test_the_strip_counts_every_offset(lanes_view):
    view = lanes_view(15904)
    counts = {"delivered": 931, "skipped": 342, "marker": 38, "withheld": 20}
    assert sum(counts.values()) == view.end_offset - view.first_offset == 1331
    assert view.counted == say("transaction_lanes.gets", n=format_count(1331))
    assert view.counts == {
        fate: say(f"transaction_lanes.n_{fate}", n=count) for fate, count in counts.items()
    }
    assert view.runs[-1] == OffsetRun(18900, 18920, OffsetFate.WITHHELD)
    assert [run for run in view.runs if 18767 <= run.first_offset < 18784] == [
        OffsetRun(18767, 18782, OffsetFate.SKIPPED),
        OffsetRun(18782, 18783, OffsetFate.MARKER),
        OffsetRun(18783, 18808, OffsetFate.DELIVERED),
    ]


def test_how_long_the_open_transaction_has_been_open(lanes_view):
    began_ms = 1795253385807
    newest_ms = began_ms + 42_226
    age = say("transaction_lanes.age", age=42_226, moment=newest_ms)
    assert age in lanes_view(15904, newest_ms).held_by
    earlier = lanes_view(15904, began_ms - 1)
    assert earlier.held_by == lanes_view(15904).held_by and age not in earlier.held_by


def test_the_title_of_an_earlier_segment_says_where_read_committed_stops(lanes_view):
    view = lanes_view(7975)
    assert view.title == say("transaction_lanes.title_past", offset=18900, segment=15904)
    assert view.stop_segment == 15904
    assert OffsetFate.WITHHELD not in view.counts


def test_the_title_of_a_segment_after_the_last_stable_offset():
    opened = transaction(1, outcome=Outcome.OPEN)
    view = transaction_lanes.view(log_of(opened, transaction(9)), 80, [0, 80])
    assert view.title == say("transaction_lanes.title_before", offset=10, segment=0)
    assert view.stop_segment == 0


def test_the_title_of_an_earlier_segment_without_an_open_transaction():
    view = transaction_lanes.view(log_of(transaction(1)), 0, [0, 80])
    assert view.title == say("transaction_lanes.title_past_end") and view.stop_segment is None


def test_transactions_that_follow_each_other_have_a_gap(lanes_view):
    gaps = transaction_lanes.figure(lanes_view(15904), "light").data[3]
    assert sorted(gaps.x)[:3] == [17705, 17719, 17769] and len(gaps.x) == 10
    assert gaps.marker.line.width == 2 * transaction_lanes.GAP_PX
    assert gaps.marker.line.color == theme.colours("light")["raised"]


def test_the_table_has_the_newest_first_offset_first(payments):
    view = transaction_lanes.view(payments, 15904, BASES)
    first_offsets = [int(ungroup(row[0]).split("–")[0]) for row in transaction_lanes.rows(view)]
    assert first_offsets == sorted(first_offsets, reverse=True)
    assert first_offsets[:2] == [18900, 18891]


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
    assert "–" in transaction_lanes.rows(view)[-1][5]


def test_a_transaction_whose_records_are_gone():
    """Compaction or retention removed its batches; its marker, and maybe its beginning, is left."""
    known = replace(
        transaction(5), first_offset=2, last_offset=None, start_ms=None, begins_before_log=True
    )
    unknown = replace(transaction(6), begins_before_log=None)
    view = transaction_lanes.view(log_of(known, unknown), 20, [20])
    unknown_row, known_row = transaction_lanes.rows(view)
    assert known_row[0] == known_row[4] == known_row[5] == "–"
    assert unknown_row[4:6] == (f"≤ {units.moment(6)}", "–")
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
def test_the_figure_says_the_outcome_twice(lanes_view, mode):
    view = lanes_view(15904)
    figure = transaction_lanes.figure(view, mode)
    committed, aborted, opened, _gaps, markers, delivered, skipped, held, strip_markers = (
        figure.data
    )
    assert committed.marker.pattern.shape is None and aborted.marker.pattern.shape == "\\"
    assert list(opened.base) == [18900] and list(opened.x) == [20]
    assert sum(map(len, (committed.base, aborted.base, opened.base))) == MAX_TRANSACTIONS
    assert len(markers.x) == MAX_TRANSACTIONS - 1
    assert delivered.marker.pattern.shape is None and skipped.marker.pattern.shape == "\\"
    assert sum(delivered.x) == 931 and sum(skipped.x) == 342
    assert (list(held.base), list(held.x)) == ([18900], [20])
    assert held.marker.color != delivered.marker.color
    assert len(strip_markers.x) == 38 and set(strip_markers.y) == {3}
    assert figure.layout.yaxis.ticktext[3] == say("transaction_lanes.strip")
    (outline,) = [shape for shape in figure.layout.shapes if shape.type == "path"]
    assert not outline.path.endswith("Z")
    assert "&lt;b&gt;" in figure.layout.yaxis.ticktext[2]
    lines = [shape.x0 for shape in figure.layout.shapes if shape.yref == "paper"]
    assert lines == [18900, 18900]
    question = transaction_lanes.question_figure(view, mode)
    assert not question.layout.annotations
    assert len(question.data) == 5 and len(question.layout.yaxis.ticktext) == 3
    assert all(shape.yref != "paper" for shape in question.layout.shapes)
