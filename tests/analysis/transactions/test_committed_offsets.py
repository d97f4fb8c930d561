"""The fate of each offset for read_committed: the one that a fetch gives it, and bounded."""

from dataclasses import replace
from shutil import copytree

import pytest

from kafkaviz.analysis.transactions import read_committed
from kafkaviz.analysis.transactions.listing import list_transactions
from kafkaviz.analysis.transactions.read_committed import (
    BatchFate,
    OffsetFate,
    OffsetRun,
    count_offsets,
    explain_committed_fetch,
    read_runs,
)
from kafkaviz.log.broker import open_broker

FATES = {
    BatchFate.DELIVERED: OffsetFate.DELIVERED,
    BatchFate.ABORTED: OffsetFate.SKIPPED,
    BatchFate.CONTROL: OffsetFate.MARKER,
}


@pytest.fixture(scope="module")
def partition(clean):
    return open_broker(clean).partition("payments-0")


@pytest.fixture(scope="module")
def transactions(partition):
    return list_transactions(partition, {})


def fates_by_offset(runs) -> dict[int, OffsetFate]:
    return {offset: run.fate for run in runs for offset in range(run.first_offset, run.end_offset)}


@pytest.mark.parametrize(("base", "end"), [(0, 7975), (7975, 15904), (15904, 18920)])
def test_every_offset_has_the_fate_that_a_fetch_gives_it(partition, transactions, base, end):
    runs = read_runs(partition.segment(base), transactions, base, end)
    assert [run.first_offset for run in runs] == [base, *(run.end_offset for run in runs[:-1])]
    fates = fates_by_offset(runs)
    assert len(fates) == sum(count_offsets(runs).values()) == end - base
    fetch = explain_committed_fetch(partition, base, 1 << 30)
    fetched = {
        offset: FATES[batch.fate]
        for batch in fetch.batches
        for offset in range(batch.base_offset, batch.last_offset + 1)
    }
    assert {offset: fates[offset] for offset in fetched} == fetched
    assert set(fates) - set(fetched) == set(range(min(18900, end), end))


def test_a_range_inside_a_segment(partition, transactions):
    segment = partition.segment(15904)
    runs = read_runs(segment, transactions, 18770, 18920)
    assert runs[0] == OffsetRun(18770, 18782, OffsetFate.SKIPPED)
    assert runs[-1] == OffsetRun(18900, 18920, OffsetFate.WITHHELD)
    held = read_runs(segment, transactions, 18910, 18920)
    assert held == (OffsetRun(18910, 18920, OffsetFate.WITHHELD),)


def test_without_a_last_stable_offset_nothing_is_known(partition, transactions):
    unknown = replace(transactions, last_stable_offset=None)
    assert read_runs(partition.segment(15904), unknown, 15904, 18920) == ()


def test_a_damaged_log_is_read_up_to_the_damage(clean, transactions, tmp_path):
    copytree(clean / "payments-0", tmp_path / "payments-0")
    log = tmp_path / "payments-0" / "00000000000000015904.log"
    log.write_bytes(log.read_bytes()[:100_000])
    segment = open_broker(tmp_path).partition("payments-0").segment(15904)
    *read, unread, held = read_runs(segment, transactions, 15904, 18920)
    assert unread.fate == OffsetFate.UNREAD and unread.end_offset == 18900
    assert OffsetFate.DELIVERED in count_offsets(read)
    assert held == OffsetRun(18900, 18920, OffsetFate.WITHHELD)


def test_a_range_with_many_runs_is_read_in_part(partition, transactions, monkeypatch):
    monkeypatch.setattr(read_committed, "MAX_RUNS", 10)
    runs = read_runs(partition.segment(0), transactions, 0, 7975)
    assert sum(count_offsets(runs).values()) == 7975
    assert len(runs) == 11 and runs[-1].fate == OffsetFate.UNREAD


def test_offsets_that_compaction_removed_are_in_no_batch(clean):
    partition = open_broker(clean).partition("accounts-0")
    transactions = list_transactions(partition, {})
    counts = count_offsets(read_runs(partition.segment(0), transactions, 0, 11564))
    assert counts == {OffsetFate.DELIVERED: 4215, OffsetFate.EMPTY: 7349}
