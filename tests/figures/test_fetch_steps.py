"""The steps of a read_committed fetch in words, over logs that a broker wrote."""

import pytest

from kafkaviz.analysis.transactions.listing import list_transactions, name_producer
from kafkaviz.analysis.transactions.read_committed import explain_committed_fetch
from kafkaviz.figures.segment import fetch_steps
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import render, say
from kafkaviz.units import ungroup

NAMES = {3: "tx-payments-1", 4: "tx-payments-2"}


@pytest.fixture(scope="module")
def payments(clean):
    return open_broker(clean).partition("payments-0")


def name(producer_id: int) -> str:
    return render(name_producer(producer_id, NAMES.get(producer_id)))


def plain(row: tuple[str, ...]) -> list[str]:
    return [ungroup(cell) for cell in row]


def test_a_fetch_that_ends_at_the_last_stable_offset(payments):
    view = fetch_steps.view(explain_committed_fetch(payments, 18767), NAMES)
    assert view.title == say("fetch_steps.title", offset=18767, skipped=59, n=2)
    counts = (
        say("transaction_lanes.n_delivered", n=69),
        say("transaction_lanes.n_skipped", n=59),
        say("transaction_lanes.n_marker", n=5),
    )
    assert 69 + 59 + 5 == 18900 - 18767
    assert view.caption == say("fetch_steps.below", counts=counts, total=133)
    assert len(view.request) == 3 and view.more_entries == 0
    assert [plain(row)[:6] for row in view.entry_rows] == [
        ["15904", "0–26", "–", "–", "16118–18358", "–"],
        ["15904", "27", name(3), "18776", "18782", "18627"],
        ["15904", "28", name(4), "18767", "18898", "18627"],
    ]
    assert view.entry_rows[0][6] == say("fetch_steps.ended_before", offset=18767)
    assert [plain(row) for row in view.batch_rows[:4]] == [
        ["18767–18775", "1", name(4), say("fetch_steps.aborted")],
        ["18776–18781", "1", name(3), say("fetch_steps.aborted")],
        ["18782", "1", name(3), say("fetch_steps.marker_aborted")],
        ["18783–18807", "3", f"{name(2)}, {name(3)}", say("fetch_steps.delivered")],
    ]
    assert view.end == say("fetch_steps.next", offset=18900)


def test_the_search_goes_on_in_the_next_segment(payments):
    view = fetch_steps.view(explain_committed_fetch(payments, 15881), NAMES)
    assert [plain(row)[0] for row in view.entry_rows][-6:] == ["7975"] + ["15904"] * 5
    returned = say("fetch_steps.returned")
    assert view.entry_rows[-1][6] == say("fetch_steps.ends_search", decision=returned)
    assert view.request[2] == say("fetch_steps.entries_bound", n=78, offset=15904)


def test_a_whole_segment_is_bounded(payments):
    view = fetch_steps.view(explain_committed_fetch(payments, 7975), NAMES)
    assert len(view.batch_rows) == fetch_steps.MAX_ROWS and view.more_batches > 0


def test_a_fetch_at_the_last_stable_offset_returns_nothing(payments):
    view = fetch_steps.view(explain_committed_fetch(payments, 18900), NAMES)
    assert view.title == say("fetch_steps.title_nothing", offset=18900)
    assert view.caption == say("fetch_steps.nothing_stable", offset=18900)
    assert not view.request and not view.entry_rows and not view.batch_rows


def test_a_log_without_transactions_skips_nothing(clean):
    view = fetch_steps.view(
        explain_committed_fetch(open_broker(clean).partition("heartbeat-0"), 100), NAMES
    )
    assert view.title == say("fetch_steps.title_all", offset=100)
    assert view.request[2] == say("fetch_steps.entries_none")


def test_the_default_skips_something(payments):
    transactions = list_transactions(payments, {})
    assert fetch_steps.default_offset(transactions, 15904, 18920) == 18767
    assert fetch_steps.default_offset(transactions, 7975, 15904) == 15881
    assert fetch_steps.default_offset(transactions, 18901, 18920) == 18901
