"""One fetch of a read_committed consumer, compared with what consumers got and a plain account."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import kafkaviz as kv
from kafkaviz import versions
from kafkaviz.analysis.transactions import read_committed
from kafkaviz.analysis.transactions.listing import Outcome
from kafkaviz.analysis.transactions.read_committed import (
    BatchFate,
    BoundSource,
    CommittedFetch,
    EntryDecision,
    FetchEnd,
    explain_committed_fetch,
)
from kafkaviz.format import txn_index
from kafkaviz.format.txn_index import ENTRY
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.search.fetch import (
    MAX_BYTES,
    READ_COMMITTED,
    OffsetOutOfRange,
    aborted_transactions,
    fetch_offset,
    find_bounds,
)
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.scan import FailedRead
from kafkaviz.simulate.producers.workload import load
from tests.pipeline import whole_logs
from tests.pipeline.transaction_batches import marker, of_producer, plain
from tests.support.recorded_archives import expected_lines
from tests.support.transactions import ANSWERS, SIMULATED


def first_record(partition: Partition, offset: int, max_bytes: int) -> int | None:
    """Returns the first offset that the consumer gets, after as many fetches as that takes."""
    while True:
        fetch = explain_committed_fetch(partition, offset, max_bytes, version="4.3.1")
        assert fetch.error is None
        segment = fetch.segment_base_offset is not None and partition.segment(
            fetch.segment_base_offset
        )
        for batch in fetch.batches:
            for record in segment.records(batch.position) if segment else ():
                if batch.fate == BatchFate.DELIVERED and record.offset >= offset:
                    return record.offset
        if fetch.next_offset == offset:
            return None
        offset = fetch.next_offset


def committed_answers(answers: list[dict]) -> list[dict]:
    return [
        answer
        for answer in answers
        if answer.get("isolation") == READ_COMMITTED and "firstRecordOffset" in answer
    ]


def assert_as_answered(directory: Path, answers: list[dict], max_bytes: int) -> None:
    broker = open_broker(directory)
    for answer in answers:
        partition = broker.partition(f"{answer['topic']}-{answer['partition']}")
        found = first_record(partition, answer["offset"], max_bytes)
        assert found == answer["firstRecordOffset"], answer


@pytest.mark.parametrize("max_bytes", [1, 20_000, MAX_BYTES])
def test_the_records_are_those_that_a_consumer_got(clean, max_bytes):
    answers = committed_answers([answer for answer in ANSWERS if answer["sample"] == "clean"])
    assert len(answers) > 40
    assert_as_answered(clean, answers, max_bytes)


@pytest.mark.slow
@pytest.mark.parametrize(
    "archive", ["kafka-4.4.0-clean", pytest.param("kafka-4.3.1-clean", marks=pytest.mark.nightly)]
)
def test_every_recorded_answer(shared, archive):
    answers = committed_answers(expected_lines(shared, archive, "fetch.jsonl"))
    assert len(answers) > 200
    directory = unpack_if_archive(shared / "data" / f"{archive}.tar.gz")
    assert_as_answered(directory, answers, MAX_BYTES)


def consumed(partition: Partition, max_bytes: int) -> tuple[list[int], list[CommittedFetch]]:
    """Returns every offset that a consumer gets from the log start on, and its fetches."""
    offsets: list[int] = []
    fetches = []
    offset = partition.log_start_offset
    while not fetches or fetches[-1].next_offset != fetches[-1].offset:
        fetches.append(explain_committed_fetch(partition, offset, max_bytes, version="4.3.1"))
        for first, last in fetches[-1].delivered:
            offsets += range(first, last + 1)
        offset = fetches[-1].next_offset
    return offsets, fetches


@pytest.mark.parametrize("leave_open", ["true", "false"])
@pytest.mark.parametrize("seed", range(2))
def test_a_consumer_of_a_simulated_log_gets_what_was_committed(tmp_path, seed, leave_open):
    simulated = kv.simulate(load(SIMULATED.format(leave_open=leave_open)), seed=seed)
    directory = simulated.write(tmp_path / "made")
    partition = open_broker(directory).partition("payments-0")
    expected = plainly_committed(partition)
    log = view_partition(partition)
    profile = versions.search_profile("4.3.1")
    bounds = find_bounds(log, profile, READ_COMMITTED)
    for max_bytes in (1, 700, 5000, MAX_BYTES):
        offsets, fetches = consumed(partition, max_bytes)
        assert offsets == expected
        for fetch in fetches[:-1]:
            plain_fetch = fetch_offset(log, fetch.offset, profile, bounds, max_bytes)
            entries = aborted_transactions(log, plain_fetch, profile, bounds.end_offset).entries
            assert list(fetch.returned) == entries[["producer_id", "first_offset"]].tolist()
            assert plainly_read(partition, fetch) == [
                (step.segment_base_offset, step.slot, step.decision, step.ends_search)
                for step in fetch.steps
            ]


def plainly_committed(partition: Partition) -> list[int]:
    """Returns the offsets of plain and committed records below the last stable offset."""
    offsets: dict[int, int | None] = {}  # the producer of each undecided offset
    for segment in partition.live:
        for row in segment.batches():
            producer = int(row["producer_id"])
            if not row["attributes"] & 32:
                is_undecided = row["attributes"] & 16
                for offset in range(int(row["base_offset"]), int(row["last_offset"]) + 1):
                    offsets[offset] = producer if is_undecided else None
                continue
            is_commit = segment.records(int(row["position"]))[0].key[3]
            for offset in [offset for offset, owner in offsets.items() if owner == producer]:
                if is_commit:
                    offsets[offset] = None
                else:
                    del offsets[offset]
    stable = min((offset for offset, owner in offsets.items() if owner is not None), default=None)
    return [offset for offset in sorted(offsets) if stable is None or offset < stable]


def plainly_read(partition: Partition, fetch: CommittedFetch) -> list[tuple]:
    """Reads the .txnindex files entry by entry, as collectAbortedTxns of Kafka does."""
    steps = []
    for segment in partition.live:
        if segment.base_offset < fetch.segment_base_offset:
            continue
        for slot, entry in enumerate(segment.txn_index):
            decision = EntryDecision.RETURNED
            if entry["last_offset"] < fetch.offset:
                decision = EntryDecision.ENDED_BEFORE
            elif entry["first_offset"] >= fetch.upper_bound_offset:
                decision = EntryDecision.BEGINS_AFTER
            ends = bool(entry["last_stable_offset"] >= fetch.upper_bound_offset)
            steps.append((segment.base_offset, slot, decision, ends))
            if ends:
                return steps
    return steps


def test_the_steps_of_one_fetch(clean):
    fetch = explain_committed_fetch(open_broker(clean).partition("payments-0"), 300, 10_000)
    assert (fetch.position, fetch.size_bytes, fetch.end) == (39017, 10_000, FetchEnd.MAX_BYTES)
    assert (fetch.upper_bound_offset, fetch.bound_slot) == (424, 9)
    assert fetch.bound_source == BoundSource.INDEX_ENTRY
    assert [(step.slot, step.decision, step.ends_search) for step in fetch.steps] == [
        (0, EntryDecision.ENDED_BEFORE, False),
        (1, EntryDecision.RETURNED, False),
        (2, EntryDecision.BEGINS_AFTER, False),
        (3, EntryDecision.BEGINS_AFTER, True),
    ]
    assert fetch.returned == ((4, 239),)
    assert fetch.batches[0].newly_aborted == fetch.returned
    assert (fetch.batches[5].fate, fetch.batches[5].ends) == (BatchFate.CONTROL, Outcome.ABORTED)
    assert fetch.delivered == ((315, 327), (360, 375))
    assert fetch.skipped == ((301, 314), (328, 358))
    assert (fetch.batch_count, fetch.next_offset) == (8, 376)


def test_where_a_fetch_ends(clean):
    partition = open_broker(clean).partition("payments-0")
    last = explain_committed_fetch(partition, 18_800)
    assert (last.end, last.bound_source) == (FetchEnd.LAST_STABLE_OFFSET, BoundSource.LOG_END)
    assert last.next_offset == last.last_stable_offset == 18_900
    within = explain_committed_fetch(partition, 7_900)
    assert (within.end, within.bound_source) == (FetchEnd.SEGMENT_END, BoundSource.NEXT_SEGMENT)
    assert within.upper_bound_offset == within.next_offset == 7_975
    at_limit = explain_committed_fetch(partition, 18_900)
    assert (at_limit.position, at_limit.end, at_limit.steps) == (None, None, ())
    assert at_limit.next_offset == 18_900
    with pytest.raises(OffsetOutOfRange):
        explain_committed_fetch(partition, 18_921)


def test_only_so_many_steps_and_batches_are_listed(clean, monkeypatch):
    partition = open_broker(clean).partition("payments-0")
    every = explain_committed_fetch(partition, 18_000)
    monkeypatch.setattr(read_committed, "LISTED_STEPS", 5)
    monkeypatch.setattr(read_committed, "LISTED_BATCHES", 3)
    few = explain_committed_fetch(partition, 18_000)
    assert few.steps == every.steps[-5:] and few.batches == every.batches[:3]
    assert (few.step_count, few.batch_count) == (len(every.steps), len(every.batches))
    assert few.next_offset == every.next_offset


def test_a_refused_index_is_one_clear_error(clean, tmp_path):
    shutil.copytree(clean / "payments-0", tmp_path / "payments-0")
    path = tmp_path / "payments-0" / f"{0:020}.txnindex"
    entries = np.array(txn_index.parse(path.read_bytes()), ENTRY)
    entries["version"][2] = 1 << 8
    path.write_bytes(entries.tobytes())
    with pytest.raises(FailedRead, match="Unexpected aborted transaction version 1") as error:
        explain_committed_fetch(open_broker(tmp_path / "payments-0").partitions[0], 300)
    assert error.value.position == 2 * ENTRY.itemsize and str(path) in str(error.value)


def test_a_consumer_stops_at_a_damaged_batch(tmp_path):
    directory = whole_logs.broker(tmp_path / "made")
    batches = [plain(0), of_producer(7, 1), marker(7, 3, 0), plain(4)]
    log = whole_logs.write(directory / "t-0", batches).with_suffix(".log")
    data = bytearray(log.read_bytes())
    data[-1] ^= 1
    log.write_bytes(data)
    fetch = explain_committed_fetch(open_broker(directory).partition("t-0"), 0, as_is=True)
    assert fetch.next_offset == 4 and "Record is corrupt (stored crc" in fetch.error
