"""The transactions of a partition, compared with Kafka's recorded answers and a plain account."""

import shutil
from collections import Counter
from contextlib import suppress
from operator import attrgetter

import numpy as np
import pytest

import kafkaviz as kv
from kafkaviz.analysis.transactions import listing as transactions_module
from kafkaviz.analysis.transactions.coordinator import read_states, transactional_ids
from kafkaviz.analysis.transactions.listing import Outcome, PartitionTransactions, list_transactions
from kafkaviz.errors import CannotOpen, CorruptFile
from kafkaviz.format import producer_snapshot
from kafkaviz.format.batch import is_control, is_transactional
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.simulate.producers.workload import load
from tests.conftest import DATA
from tests.pipeline import whole_logs
from tests.pipeline.transaction_batches import marker, of_producer, plain
from tests.support.recorded_archives import RECORDED_ARCHIVES, expected_lines
from tests.support.transactions import ANSWERS, SIMULATED


def read_all(broker: Broker) -> dict[str, PartitionTransactions]:
    ids = transactional_ids(read_states(broker))
    return {
        partition.directory: list_transactions(partition, ids)
        for partition in broker.partitions
        if partition.live
    }


def stable_offsets(answers: list[dict]) -> dict[str, int]:
    return {
        f"{answer['topic']}-{answer['partition']}": answer["offset"]
        for answer in answers
        if answer.get("isolation") == "read_committed" and answer.get("query") == "latest"
    }


def test_the_last_stable_offsets_are_those_of_the_broker(clean):
    recorded = stable_offsets([answer for answer in ANSWERS if answer["sample"] == "clean"])
    found = read_all(open_broker(clean))
    assert {name: found[name].last_stable_offset for name in recorded} == recorded
    assert len(recorded) > 20 and recorded["payments-0"] < found["payments-0"].log_end


ARCHIVE_MARKS = dict.fromkeys(RECORDED_ARCHIVES, pytest.mark.nightly)
ARCHIVE_MARKS["kafka-4.4.0-clean"] = pytest.mark.slow


@pytest.mark.parametrize(
    "archive", [pytest.param(name, marks=mark) for name, mark in ARCHIVE_MARKS.items()]
)
def test_stable_offsets_and_open_producers_of_every_directory(shared, archive):
    broker = open_broker(unpack_if_archive(shared / "data" / f"{archive}.tar.gz"))
    found = read_all(broker)
    recorded = stable_offsets(expected_lines(shared, archive, "list-offsets.jsonl"))
    if not any(word in archive for word in ("killed", "unstartable")) or "restarted" in archive:
        assert {name: found[name].last_stable_offset for name in recorded} == recorded
    for name, transactions in found.items():
        snapshots = broker.partition(name).snapshots
        if transactions.log_end in snapshots:
            assert_agrees_with_snapshot(broker.partition(name), transactions)
        if not transactions.problem and "damaged" not in archive:
            assert indexed(broker.partition(name)) <= ended(transactions, Outcome.ABORTED)


def assert_agrees_with_snapshot(partition: Partition, found: PartitionTransactions) -> None:
    """The snapshot at the end of the log names the transactions that are open there."""
    with suppress(CorruptFile):  # one was damaged by hand
        recorded = partition.snapshot(found.log_end).open_transactions
        assert recorded == open_offsets(found)


def open_offsets(found: PartitionTransactions) -> dict[int, int]:
    """Returns the first offset of each open transaction, by producer."""
    return {
        transaction.producer_id: transaction.first_offset
        for transaction in found.transactions
        if transaction.outcome == Outcome.OPEN
    }


def ended(found: PartitionTransactions, outcome: Outcome) -> set[tuple]:
    """Returns (producer, first offset, marker) of the transactions with that outcome."""
    return {
        (transaction.producer_id, transaction.first_offset, transaction.marker_offset)
        for transaction in found.transactions
        if transaction.outcome == outcome
    }


def indexed(partition: Partition) -> set[tuple]:
    """Returns (producer, first offset, marker) of every entry of the .txnindex files."""
    return {
        tuple(entry)
        for segment in partition.live
        for entry in segment.txn_index[["producer_id", "first_offset", "last_offset"]].tolist()
    }


@pytest.mark.parametrize("name", ["payments-0", "refunds-0", "refunds-1"])
def test_aborted_and_open_ones_are_those_that_kafka_wrote(clean, name):
    partition = open_broker(clean).partition(name)
    found = list_transactions(partition, {})
    assert ended(found, Outcome.ABORTED) == indexed(partition)
    assert found.counts[Outcome.ABORTED] == len(indexed(partition)) > 10
    assert_agrees_with_snapshot(partition, found)


def test_the_open_transaction_of_a_producer_is_named(clean):
    found = read_all(open_broker(clean))["payments-0"]
    held_by = found.held_by
    assert (held_by.producer_id, held_by.producer_epoch) == (4, 189)
    assert (held_by.transactional_id, held_by.first_offset) == ("tx-payments-2", 18900)
    assert (held_by.last_offset, held_by.outcome) == (18906, Outcome.OPEN)
    assert held_by.start_ms == 1795253385807 and held_by.end_ms is None
    assert found.counts == {Outcome.COMMITTED: 398, Outcome.ABORTED: 163, Outcome.OPEN: 1}
    offsets = [transaction.first_offset for transaction in found.transactions]
    assert offsets == sorted(offsets) and len(offsets) == found.transaction_count


def test_a_killed_broker_has_an_open_transaction(tmp_path):
    shutil.unpack_archive(DATA / "starts" / "one-killed.tar.xz", tmp_path, filter="tar")
    found = read_all(open_broker(tmp_path / "one-killed" / "disk-0"))
    held = {name: part.held_by for name, part in found.items() if part.held_by}
    assert held
    for name, transaction in held.items():
        assert found[name].last_stable_offset == transaction.first_offset < found[name].log_end
        assert transaction.transactional_id


def plain_account(partition: Partition) -> list[tuple]:
    """Returns (producer, first, last, outcome, marker) of each transaction, batch by batch."""
    open_: dict[int, list] = {}
    transactions = []
    for segment in partition.live:
        for row in segment.batches():
            producer = int(row["producer_id"])
            if is_control(row):
                kind = segment.records(int(row["position"]))[0].key[3]
                if producer in open_:
                    outcome = Outcome.COMMITTED if kind else Outcome.ABORTED
                    marker_offset = int(row["base_offset"])
                    transactions.append((producer, *open_.pop(producer), outcome, marker_offset))
            elif is_transactional(row):
                begun = open_.setdefault(producer, [int(row["base_offset"]), 0])
                begun[1] = int(row["last_offset"])
    transactions += [(producer, *begun, Outcome.OPEN, None) for producer, begun in open_.items()]
    return sorted(transactions, key=lambda transaction: transaction[1])


def as_account(found: PartitionTransactions) -> list[tuple]:
    fields = ("producer_id", "first_offset", "last_offset", "outcome", "marker_offset")
    return list(map(attrgetter(*fields), found.transactions))


@pytest.mark.parametrize("leave_open", ["true", "false"])
@pytest.mark.parametrize("seed", range(2))
def test_simulated_logs_have_the_transactions_of_a_plain_account(tmp_path, seed, leave_open):
    simulated = kv.simulate(load(SIMULATED.format(leave_open=leave_open)), seed=seed)
    directory = simulated.write(tmp_path / "made") / "payments-0"

    def read_again() -> PartitionTransactions:
        return list_transactions(open_broker(tmp_path / "made").partition("payments-0"), {})

    partition = open_broker(tmp_path / "made").partition("payments-0")
    account = plain_account(partition)
    found = list_transactions(partition, {})
    assert as_account(found) == account
    assert all(transaction.begins_before_log is False for transaction in found.transactions)
    open_ones = [first for _, first, _, outcome, _ in account if outcome == "open"]
    first_open = min(open_ones, default=None)
    assert found.last_stable_offset == (found.log_end if first_open is None else first_open)
    assert (found.held_by and found.held_by.first_offset) == first_open
    assert Counter(outcome for *_, outcome, _ in account) == +Counter(found.counts)
    bases = [segment.base_offset for segment in partition.live]
    assert len(bases) > 3
    for dropped, base in enumerate(bases[1:4], 1):
        for path in directory.glob(f"{bases[dropped - 1]:020}.*"):
            path.unlink()
        left = [
            (producer, first, last if last >= base else None, outcome, marker_offset)
            for producer, first, last, outcome, marker_offset in account
            if marker_offset is None or marker_offset >= base
        ]
        found = read_again()
        assert as_account(found) == left
        begins_before = [part.begins_before_log for part in found.transactions]
        assert begins_before == [first < base for _, first, *_ in left]
    snapshots = sorted(directory.glob("*.snapshot"))
    snapshots.pop(0).unlink()
    later = int(snapshots[0].stem)
    for transaction, (_, first, *_) in pairs(read_again(), left):
        if transaction.first_offset >= later or transaction.marker_offset is None:
            assert transaction.begins_before_log == (first < base)
            assert transaction.first_offset == first
    for path in snapshots:
        path.unlink()
    for transaction, (_, first, *rest) in pairs(read_again(), left):
        assert [transaction.last_offset, transaction.outcome, transaction.marker_offset] == rest
        if transaction.begins_before_log is None:  # nothing tells where it began
            assert transaction.first_offset == max(first, transaction.first_offset)
        else:
            assert transaction.first_offset == first
            assert transaction.begins_before_log == (first < base)
        if transaction.outcome == Outcome.ABORTED:  # its index entry tells
            assert transaction.begins_before_log is not None


def pairs(found: PartitionTransactions, account: list[tuple]) -> list[tuple]:
    """Returns each transaction with that of the account; one without a record is left out."""
    by_end = {
        (producer, marker_offset): row for *row, marker_offset in account for producer in row[:1]
    }
    rows = {key: (*row, key[1]) for key, row in by_end.items()}
    matched = [
        (transaction, rows.pop((transaction.producer_id, transaction.marker_offset)))
        for transaction in found.transactions
    ]
    assert all(row[2] is None for row in rows.values())
    assert len([row for row in rows.values() if row[4] is not None]) == found.markers_alone
    return matched


def test_a_log_start_inside_a_transaction(tmp_path):
    """deleteRecords moved the log start: what ended below it is gone, and the rest is known."""
    directory = whole_logs.broker(tmp_path / "made")
    batches = [of_producer(7, 0), marker(7, 2, 1), of_producer(8, 3), of_producer(9, 5), plain(7)]
    whole_logs.write(directory / "t-0", [*batches, marker(9, 8, 0), plain(9)])
    (directory / "log-start-offset-checkpoint").write_text("0\n1\nt 0 6\n")
    producers = np.zeros(1, producer_snapshot.PRODUCER)
    producers["producer_id"] = 8
    producers["current_txn_first_offset"] = 3
    snapshot = directory / "t-0" / f"{10:020}.snapshot"
    snapshot.write_bytes(producer_snapshot.build(producers))
    found = list_transactions(open_broker(directory).partition("t-0"), {})
    assert as_account(found) == [(8, 3, 4, Outcome.OPEN, None), (9, 5, 6, Outcome.ABORTED, 8)]
    assert [part.begins_before_log for part in found.transactions] == [True, True]
    assert (found.log_start_offset, found.last_stable_offset, found.log_end) == (6, 6, 10)
    assert found.held_by == found.transactions[0]


def test_only_the_last_ones_are_listed(clean, monkeypatch):
    monkeypatch.setattr(transactions_module, "LISTED_TRANSACTIONS", 5)
    found = list_transactions(open_broker(clean).partition("payments-0"), {})
    assert len(found.transactions) == 6 and found.transaction_count == 562
    assert found.transactions[-1] == found.held_by or found.held_by in found.transactions


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_cut_log_gives_its_beginning(tmp_path, step):
    directory = whole_logs.broker(tmp_path / "made")
    batches = [of_producer(7, 0), plain(2), marker(7, 3, 0), of_producer(8, 4), marker(8, 6, 1)]
    log = whole_logs.write(directory / "t-0", batches).with_suffix(".log")
    data = log.read_bytes()
    ends = np.cumsum([0, *map(len, batches)]).tolist()
    near_ends = {end + more for end in ends[:-1] for more in range(20)}
    for length in sorted(near_ends.union(range(0, len(data), step))):
        log.write_bytes(data[:length])
        found = list_transactions(open_broker(directory).partition("t-0"), {})
        complete = sum(end <= length for end in ends) - 1
        assert (found.problem is None) == (length in ends)
        assert sum(found.counts.values()) == (complete > 0) + (complete > 3)
        assert found.counts[Outcome.ABORTED] == (complete > 2)


def test_a_marker_that_cannot_be_read_ends_the_account(tmp_path):
    directory = whole_logs.broker(tmp_path / "made")
    bad = bytearray(marker(7, 2, 1))
    bad[61:] = bytes(len(bad) - 61)
    log = whole_logs.write(directory / "t-0", [of_producer(7, 0), bytes(bad), of_producer(8, 3)])
    found = list_transactions(open_broker(directory).partition("t-0"), {})
    assert found.problem.key == "transactions.marker_unreadable"
    assert f"{log.stem}.log" in str(found.problem)
    assert [part.producer_id for part in found.transactions] == [7]


def test_a_partition_without_a_log_is_refused(tmp_path, clean):
    name = open_broker(clean).partition("payments-0").name
    with pytest.raises(CannotOpen, match=r"holds no \.log"):
        list_transactions(Partition(path=tmp_path, name=name, segments=()), {})
