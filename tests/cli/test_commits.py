"""kafkaviz commits: groups and commits in text and JSON, and its errors."""

import json
import shutil

import pytest

from kafkaviz.__main__ import main


def test_all_groups_are_listed(clean, capsys):
    assert main(["commits", str(clean)]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == (
        "analytics: a consumer group (KIP-848), 2 partitions, kept in __consumer_offsets-0, last "
        "commit 2026-11-21 09:29:52.497"
    )
    assert last.startswith("throw-away: without a group record, 2 partitions")


def test_a_group_is_shown_commit_by_commit(clean, capsys):
    assert main(["commits", str(clean), "--group", "billing"]) == 0
    head, orders, more, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("billing: a classic group, 3 partitions, kept in __consumer_offsets-1")
    assert orders == (
        "orders-0: the group is at 5400 of 38736, 33336 behind; the next record is 5400"
    )
    assert more == "  35 earlier commits are still there; --json lists the last 1000"
    assert lines[9].endswith("offset 5400 of leader epoch 0, counts")


def test_the_json_has_every_commit(clean, capsys):
    assert main(["commits", str(clean), "--group", "refund-relay", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["problems"]) == ("commits/1", [])
    [group] = answer["groups"]
    part, beyond = group["partitions"]
    assert (part["partition"], part["state"], part["lag"]) == ("refunds-0", "behind", 13)
    assert part["next_committed_offset"] == 906
    assert [commit["fate"] for commit in part["commits"]] == [
        "aborted",
        "replaced",
        "replaced",
        "aborted",
        "replaced",
        "current",
        "aborted",
    ]
    assert part["committed"] == part["commits"][5]
    assert beyond["state"] == "beyond-end"


@pytest.mark.parametrize(
    ("folder", "error"),
    [
        ("__consumer_offsets-0", "the group 'nobody' has no record in __consumer_offsets-0;"),
        ("orders-0", "has no partition of __consumer_offsets"),
    ],
)
def test_a_wrong_call_is_one_line(clean, tmp_path, capsys, folder, error):
    shutil.copytree(clean / folder, tmp_path / folder)
    assert main(["commits", str(tmp_path), "--group", "nobody"]) == 2
    printed = capsys.readouterr().err
    assert error in printed and printed.count("\n") == 1
