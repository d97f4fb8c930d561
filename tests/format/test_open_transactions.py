"""The tracker of open transactions, compared with a list of every batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.format import open_transactions
from kafkaviz.format.batch import BATCH, CONTROL, MAGIC_2, TRANSACTIONAL
from kafkaviz.format.control import ControlType
from kafkaviz.format.open_transactions import (
    EndTransactionMarker,
    OpenTransactions,
    TransactionBegin,
    TransactionFault,
)

KINDS = st.sampled_from([0, TRANSACTIONAL, TRANSACTIONAL | CONTROL, CONTROL])
ROWS = st.lists(st.tuples(st.integers(-1, 3), KINDS, st.integers(0, 1)), max_size=40)


def batches_of(rows: list[tuple[int, int, int]]) -> np.ndarray:
    """Returns one batch per row (producer, attributes, records), at offsets 0, 10, 20 and so on."""
    batches = np.zeros(len(rows), BATCH)
    batches["magic"] = MAGIC_2
    batches["base_offset"] = batches["position"] = np.arange(len(rows)) * 10
    for name, column in zip(
        ("producer_id", "attributes", "record_count"), zip(*rows, strict=True), strict=False
    ):
        batches[name] = column
    return batches


@given(ROWS, st.integers(0, 40))
def test_it_gives_what_an_account_of_every_batch_gives(rows, cut):
    """Read in one piece or in two; a marker that compaction emptied ends nothing."""
    account: dict[int, int] = {}
    for offset, (producer, attributes, record_count) in enumerate(rows):
        if producer < 0 or not attributes:
            continue
        if not attributes & CONTROL:
            account.setdefault(producer, offset * 10)
        elif record_count:
            account.pop(producer, None)
    transactions, batches = OpenTransactions(), batches_of(rows)
    transactions.take(None, batches[:cut])
    transactions.take(None, batches[cut:])
    assert transactions.open() == account
    assert transactions.first_offset() == min(account.values(), default=None)


def test_an_abort_becomes_an_entry_with_the_oldest_that_is_open(monkeypatch):
    """Producer 7 begins at 0, 8 at 10, 7 aborts at 20, 8 at 30."""
    abort = EndTransactionMarker(ControlType.ABORT, 0)
    monkeypatch.setattr(open_transactions, "marker", lambda *_: abort)
    data, end = TRANSACTIONAL, TRANSACTIONAL | CONTROL
    transactions = OpenTransactions()
    transactions.take(
        lambda *_: 0, batches_of([(7, data, 1), (8, data, 1), (7, end, 1), (8, end, 1)])
    )
    assert transactions.aborted().tolist() == [(0, 7, 0, 20, 10), (0, 8, 10, 30, 31)]


def test_a_later_batch_leaves_the_begin_and_shows_its_time():
    """Also where the transaction began in another segment."""
    transactions = OpenTransactions()
    transactions.begin(7, TransactionBegin(100, 0, 5))
    assert transactions.begin(7, TransactionBegin(200, 0, 9)) == TransactionBegin(100, 0, 9)
    assert transactions.first_offset(below=100) is None
    assert transactions.end(7) == TransactionBegin(100, 0, 9)
    assert transactions.end(7) is None


def test_a_marker_shorter_than_a_header_cannot_be_read():
    """No batch of magic 2 has such a length."""
    header = batches_of([(7, CONTROL, 1)])
    header["size_bytes"] = 26
    with pytest.raises(TransactionFault):
        open_transactions.marker(lambda _, buffer: len(buffer), header[0], 0)
