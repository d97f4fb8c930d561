"""The commits of groups, compared with what Kafka 4.3.1 decoded, and what follows them in a log."""

import gzip
import json
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis import commits as commits_module
from kafkaviz.analysis.commits import CommitFate, CommitState, CommittedPartition, read_commits
from kafkaviz.format import batch, record
from kafkaviz.log.broker import open_broker
from kafkaviz.log.file import info
from kafkaviz.log.segment import LogSegment
from tests.conftest import DATA
from tests.support.brokers import copy_partitions
from tests.support.commit_logs import build_batch, commit_batch, write_log

DUMPS = [
    dump
    for line in gzip.decompress((DATA / "decoded_bodies.jsonl.gz").read_bytes()).splitlines()
    if (dump := json.loads(line))["file"].startswith("__consumer_offsets-")
]


ONE_RECORD = record.build(
    [record.Record(offset_delta=0, timestamp_delta_ms=0, key=b"k", value=b"v")]
)


def recorded_chains(root: Path) -> dict[tuple[str, str], list[tuple]]:
    """Returns (offset of the record, committed offset, whether it was aborted) of each commit."""
    chains = defaultdict(list)
    for dump in DUMPS:
        segment = LogSegment(base_offset=0, state="closed", log=info(root / dump["file"]))
        rows = segment.batches()
        waiting = defaultdict(list)  # the commits of a producer whose transaction has not ended
        for offset, body in dump["bodies"]:
            row = rows[np.searchsorted(rows["last_offset"], offset)]
            producer = int(row["producer_id"])
            if body.startswith("endTxnMarker"):
                for commit in waiting.pop(producer, ()):
                    commit[2] = "ABORT" in body
                continue
            key, _, payload = body.removeprefix("key: ").partition(" payload: ")
            if not key.startswith('{"type":"1"'):
                continue
            fields = json.loads(key)["data"]
            value = None if payload == "<DELETE>" else json.loads(payload)["data"]["offset"]
            commit = [offset, value, False]
            if batch.is_transactional(row.reshape(1))[0]:
                waiting[producer].append(commit)
            chains[fields["group"], f"{fields['topic']}-{fields['partition']}"].append(commit)
    return chains


def test_the_commits_are_those_that_kafka_decoded(clean):
    expected = recorded_chains(clean)
    found = {
        (group.group, part.partition): [
            [commit.at_offset, commit.offset, commit.fate == CommitFate.ABORTED]
            for commit in part.commits
        ]
        for group in read_commits(open_broker(clean)).groups
        for part in group.partitions
    }
    assert found == expected
    assert sum(map(len, expected.values())) > 300
    assert {commit[2] for chain in expected.values() for commit in chain} == {True, False}


def test_a_group_alone_is_the_same_as_among_all(clean):
    broker = open_broker(clean)
    for group in read_commits(broker).groups:
        assert read_commits(broker, group.group).groups == (group,)
    assert read_commits(broker, "bill").groups == ()  # a prefix of billing


def test_the_last_commit_counts_unless_aborted_or_deleted(clean):
    groups = {group.group: group for group in read_commits(open_broker(clean)).groups}
    assert {name: group.type for name, group in groups.items()} == {
        "analytics": "consumer",
        "audit-41": "classic",
        "billing": "classic",
        "committed-readers": "classic",
        "payment-relay": None,
        "refund-relay": None,
        "throw-away": None,
    }
    refunds, beyond = groups["refund-relay"].partitions
    fates = [commit.fate for commit in refunds.commits]
    assert fates[-2:] == [CommitFate.CURRENT, CommitFate.ABORTED]
    assert (refunds.committed.offset, refunds.lag, refunds.state) == (905, 13, CommitState.BEHIND)
    assert (beyond.committed.offset, beyond.state) == (1647, CommitState.BEYOND_END)
    deleted = groups["throw-away"].partitions[0]
    assert (deleted.committed, deleted.state) == (None, CommitState.NO_COMMIT)
    assert deleted.commits[-1].fate == CommitFate.DELETION


def only_partition(root: Path) -> CommittedPartition:
    [group] = read_commits(open_broker(root), "g").groups
    [part] = group.partitions
    return part


@pytest.fixture
def committed_at(clean, tmp_path):
    """Returns a function that gives the one partition of a group that committed an offset."""

    def commit(partition: str, offset: int, topic_id: bytes | None = None) -> CommittedPartition:
        root = tmp_path / f"{partition}-{offset}"
        shutil.copytree(clean / partition, root / partition)
        data = commit_batch(0, "g", partition, offset, topic_id)
        write_log(root, "__consumer_offsets-0", data)
        part = only_partition(root)
        assert part.committed.offset == offset
        return part

    return commit


def test_only_markers_follow(clean, committed_at):
    """refunds-1 ends in two markers, so a group that read everything stays two offsets behind."""
    segment = open_broker(clean).partition("refunds-1").live[-1]
    rows = segment.batches()
    markers = batch.is_control(rows)
    end = int(rows["last_offset"][-1]) + 1
    last_record = int(rows["last_offset"][~markers][-1])
    assert markers[-1]
    part = committed_at("refunds-1", last_record + 1)
    assert (part.state, part.lag) == (CommitState.ONLY_MARKERS, end - last_record - 1)
    assert (part.lag, part.next_offset) == (2, None)
    assert committed_at("refunds-1", end).state == CommitState.AT_END
    before = committed_at("refunds-1", last_record)
    assert before.next_offset == last_record
    assert before.state in {CommitState.BEHIND, CommitState.ONLY_UNCOMMITTED}


def test_what_follows_is_aborted(clean, committed_at):
    """After an aborted transaction at the end of a log, read_committed gets no record."""
    partition = open_broker(clean).partition("refunds-1")
    rows = partition.live[-1].batches()
    aborted = partition.live[-1].txn_index
    states = {}
    for offset in range(int(rows["last_offset"][-1]) - 40, int(rows["last_offset"][-1]) + 2):
        part = committed_at("refunds-1", offset)
        states[offset] = part.state
        if part.state == CommitState.ONLY_UNCOMMITTED:
            assert part.next_offset is not None and part.next_committed_offset is None
            assert any(
                first <= part.next_offset <= last
                for first, last in aborted[["first_offset", "last_offset"]].tolist()
            )
    assert {CommitState.BEHIND, CommitState.ONLY_UNCOMMITTED} <= set(states.values())


def test_only_empty_batches_follow(tmp_path):
    """Compaction keeps the last batch of a producer without its records."""
    empty = build_batch(1, b"", record_count=0, producer_id=3, producer_epoch=0, base_sequence=1)
    write_log(tmp_path, "t-0", build_batch(0, ONE_RECORD) + empty)
    write_log(tmp_path, "__consumer_offsets-0", commit_batch(0, "g", "t-0", 1))
    part = only_partition(tmp_path)
    assert (part.state, part.lag, part.next_offset) == (CommitState.NO_RECORD, 1, None)


def test_a_commit_in_an_open_transaction_does_not_count_yet(tmp_path):
    pending = commit_batch(
        1, "g", "t-0", 9, attributes=0x10, producer_id=3, producer_epoch=0, base_sequence=0
    )
    write_log(tmp_path, "__consumer_offsets-0", commit_batch(0, "g", "t-0", 7) + pending)
    part = only_partition(tmp_path)
    assert [commit.fate for commit in part.commits] == [CommitFate.CURRENT, CommitFate.PENDING]
    assert (part.committed.offset, part.state) == (7, CommitState.NO_LOG)


def test_the_log_of_a_later_topic_with_the_name(committed_at):
    part = committed_at("orders-0", 5, topic_id=bytes(range(16)))
    assert (part.state, part.lag) == (CommitState.OTHER_TOPIC, None)


def test_a_log_that_cannot_be_searched_there(tmp_path):
    data = bytearray(b"".join(build_batch(offset, ONE_RECORD) for offset in range(3)))
    data[-1] ^= 0xFF
    write_log(tmp_path, "t-0", bytes(data))
    write_log(tmp_path, "__consumer_offsets-0", commit_batch(0, "g", "t-0", 2))
    part = only_partition(tmp_path)
    assert part.state == CommitState.UNREADABLE
    assert part.problem is not None and "{" not in str(part.problem)


def test_below_the_start_of_the_log(committed_at):
    part = committed_at("weblogs-0", 5)
    assert part.state == CommitState.BELOW_START
    assert part.log_start_offset > 5


def test_a_log_that_is_not_in_the_copy(clean, tmp_path):
    names = [f"__consumer_offsets-{number}" for number in range(3)]
    root = copy_partitions(clean, tmp_path / "kafka", names)
    [group] = read_commits(open_broker(root), "billing").groups
    assert {part.state for part in group.partitions} == {CommitState.NO_LOG}


def test_long_chains_keep_their_last_commits(clean, monkeypatch):
    monkeypatch.setattr(commits_module, "LISTED_COMMITS", 3)
    monkeypatch.setattr(
        commits_module._PartitionCommits.__dataclass_fields__["commits"],
        "default_factory",
        lambda: commits_module.deque(maxlen=3),
    )
    [group] = read_commits(open_broker(clean), "billing").groups
    assert {part.commit_count for part in group.partitions} == {45}


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_cut_log_is_a_problem_and_not_a_fault(tmp_path, share):
    second = commit_batch(1, "g", "orders-0", 8)
    data = commit_batch(0, "g", "orders-0", 7) + second[: int(share * len(second))]
    write_log(tmp_path, "__consumer_offsets-0", data)
    commits = read_commits(open_broker(tmp_path), "g")
    [group] = commits.groups
    assert group.partitions[0].committed.offset == 7
    assert [name for name, _ in commits.problems] == ["__consumer_offsets-0"]


def test_any_flipped_byte_is_a_problem_or_other_words(tmp_path):
    data = bytearray(commit_batch(0, "g", "orders-0", 7))
    for position in range(len(data)):
        data[position] ^= 0xFF
        write_log(tmp_path, "__consumer_offsets-0", bytes(data))
        commits = read_commits(open_broker(tmp_path))
        assert len(commits.groups) + len(commits.problems) <= 2
        data[position] ^= 0xFF
