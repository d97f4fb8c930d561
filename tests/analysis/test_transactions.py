"""The kept transactions of a segment, compared with a plain list of all of them."""

from collections.abc import Iterator

import numpy as np
import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.checks import aborted_transactions, summary
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.segment import check as check_segment
from kafkaviz.analysis.checks.summary import TransactionTracker
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.format.control import ControlType
from kafkaviz.format.open_transactions import OpenTransactions
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from tests.analysis.lab import Lab
from tests.support.findings import codes


def plainly(segments: tuple[Segment, ...]) -> Iterator[tuple[int, int, int, int | None]]:
    """Returns (producer, first offset, marker, first offset of the oldest other one) of each
    aborted transaction, batch by batch.
    """
    open_: dict[int, int] = {}
    for segment in segments:
        for row in segment.batches():
            producer, offset = int(row["producer_id"]), int(row["base_offset"])
            row_array = np.array([row])
            if producer < 0 or not (is_control(row_array)[0] or is_transactional(row_array)[0]):
                continue
            if not is_control(row_array)[0]:
                open_.setdefault(producer, offset)
                continue
            first = open_.pop(producer, None)
            if segment.records(int(row["position"]))[0].key[3] == 0 and first is not None:
                yield producer, first, offset, min(open_.values(), default=None)


@pytest.mark.parametrize("partition", ["payments-0", "refunds-0", "refunds-1"])
def test_aborted_transactions_are_those_of_a_plain_account(clean, partition):
    segments = open_broker(clean).partition(partition).live
    summaries = [
        check_segment(segment, PartitionFacts(partition=partition)).summary for segment in segments
    ]
    open_ = OpenTransactions()
    aborts = [
        (abort.marker.producer_id, abort.first_offset, abort.marker.offset, abort.stable_offset)
        for summary in summaries
        for abort in aborted_transactions.aborts(summary, open_)
        if abort.first_offset is not None
    ]
    assert aborts == list(plainly(segments))
    producers = len({producer for summary in summaries for _, producer, _ in summary.steps})
    steps = sum(len(summary.steps) for summary in summaries)
    assert len(aborts) <= steps <= 2 * len(aborts) + 2 * producers * len(segments)


@pytest.mark.parametrize("kind", [ControlType.ABORT, ControlType.COMMIT])
def test_a_committed_transaction_leaves_nothing_but_the_first_end(clean, monkeypatch, kind):
    """A thousand transactions of one producer are one step; each aborted one is kept."""
    segment = open_broker(clean).partition("payments-0").segments[0]
    batches = segment.batches()
    control = is_control(batches)
    at = int(np.flatnonzero(control & (batches["producer_id"] == 2))[0])
    monkeypatch.setattr(summary, "_marker_kind", lambda read, marker: kind)
    chosen = np.flatnonzero(~control & (batches["producer_id"] == 2))[:1]
    pair = np.concatenate((chosen, [at]))
    tracker = TransactionTracker(segment.log, ())
    for number in range(1000):
        copies = batches[pair].copy()
        copies["position"] += number << 32
        tracker.observe(copies)
    assert len(tracker.result()) == (1 if kind == ControlType.COMMIT else 2000)


def test_markers_that_cannot_be_read_are_passed_over(clean, tmp_path):
    segment = open_broker(clean).partition("payments-0").segments[0]
    markers = segment.batches()[:1].copy()
    markers["size_bytes"] = 70  # cut: no record can be read
    assert TransactionTracker(segment.log, ())._marker_kinds(markers) == [None]


def test_a_transaction_whose_first_batches_retention_deleted(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["refunds-1"])
    oldest = lab.files("refunds-1", ".log")[0]
    for path in oldest.parent.glob(f"{oldest.stem}.*"):
        path.unlink()
    [segment] = open_broker(lab.path).partition("refunds-1").live
    assert segment.txn_index["first_offset"].min() < segment.base_offset
    assert "txnindex-mismatch" not in codes(check(lab.path))
    slot = int(np.argmax(segment.txn_index["first_offset"] > segment.base_offset))
    entries = segment.txn_index.copy()
    entries["first_offset"][slot] = 3  # of a producer's second transaction here
    lab.write(segment.txnindex.path, entries.tobytes())
    assert "txnindex-mismatch" in codes(check(lab.path))
