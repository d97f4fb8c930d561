"""kafkaviz commits: groups and commits in text and JSON, and its errors."""

import shutil

import pytest

from tests.support.commands import json_of, refusal_of, text_of
from tests.support.commit_logs import commit_batch, write_log


def test_all_groups_are_listed(clean):
    first, *_, last = text_of("commits", clean).splitlines()
    assert first == (
        "analytics: a consumer group (KIP-848), 2 partitions, kept in __consumer_offsets-0, last "
        "commit 2026-11-21 09:29:52.497"
    )
    assert last.startswith("throw-away: a group of unknown type, 2 partitions")


def test_a_group_is_shown_commit_by_commit(clean):
    head, orders, more, *lines = text_of("commits", clean, "--group", "billing").splitlines()
    assert head.startswith("billing: a classic group, 3 partitions, kept in __consumer_offsets-1")
    assert (
        orders == "orders-0: the group is at 5400 of 38736, 33336 behind; the next record is 5400"
    )
    assert more == "  35 earlier commits are still in the log; --json lists the last 1000"
    assert ": offset 5400 of leader epoch 0, counts (recorded at offset " in lines[9]
    assert lines[9].endswith(" of __consumer_offsets-1)")


def test_an_open_transaction_says_how_far_read_committed_gets(clean):
    group_of = ("commits", clean, "--group")
    _, behind, held, *_ = text_of(*group_of, "payment-relay").splitlines()
    assert behind.startswith("payments-0: the group is at 17971 of 18920, 949 behind")
    assert held == (
        "  read_committed consumers get no further than 18900 because of an open transaction; "
        "see kafkaviz transactions"
    )
    [group] = json_of(*group_of, "payment-relay")["groups"]
    assert group["partitions"][0]["last_stable_offset"] == 18900
    assert "read_committed gets" not in text_of(*group_of, "billing")


def test_the_json_has_every_commit(clean):
    answer = json_of("commits", clean, "--group", "refund-relay")
    assert (answer["schema"], answer["problems"]) == ("commits/1", [])
    [group] = answer["groups"]
    part, beyond = group["partitions"]
    assert (part["partition"], part["state"], part["lag"]) == ("refunds-0", "behind", 13)
    assert part["next_committed_offset"] == 906
    fates = " ".join(commit["fate"] for commit in part["commits"])
    assert fates == "aborted replaced replaced aborted replaced current aborted"
    assert part["committed"] == part["commits"][5]
    assert beyond["state"] == "beyond-end"


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("__consumer_offsets-0", "the group 'nobody' has no record in __consumer_offsets-0;"),
        ("orders-0", "has no partition of __consumer_offsets"),
    ],
)
def test_a_wrong_call_is_one_line(clean, tmp_path, folder, error):
    shutil.copytree(clean / folder, tmp_path / folder)
    assert error in refusal_of("commits", tmp_path, "--group", "nobody")


def test_only_markers_follow_in_the_words_of_the_questions(clean, tmp_path):
    shutil.copytree(clean / "refunds-1", tmp_path / "refunds-1")
    write_log(tmp_path, "__consumer_offsets-0", commit_batch(0, "g", "refunds-1", 936))
    line = text_of("commits", tmp_path, "--group", "g").splitlines()[1]
    assert "only transaction markers follow, so the lag stays 2 until the next record" in line
