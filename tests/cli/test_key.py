"""kafkaviz key: the records of a key in text and JSON, and its errors."""

import json
import shutil
from pathlib import Path

import pytest

from kafkaviz.__main__ import main

KEY = "acct-330"


@pytest.fixture(scope="session")
def accounts(clean) -> Path:
    return clean / "accounts-0"


def test_the_text_says_why_each_record_is_there(accounts, capsys):
    assert main(["key", str(accounts), KEY]) == 0
    title, *records, decision = capsys.readouterr().out.splitlines()
    assert title == (
        "accounts-0 has 6 records with this key; a cleaning at this moment would remove 0"
    )
    assert records[0] == (
        "  offset 11425, 2026-09-21 15:53:53.275, segment 0: stays: offset 11701, which replaces it, "
        "is in a segment that cannot be cleaned yet"
    )
    assert len(records) == 6
    assert records[-1].endswith("segment 11564: stays: the latest record of the key")
    assert decision.startswith(
        "A cleaning would end below offset 11564, because the active segment begins at 11564. The "
        "log is not taken, because it has nothing new to clean"
    )


def test_the_json_has_the_decision_and_each_record(accounts, capsys):
    assert main(["key", str(accounts), KEY, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["key"], answer["record_count"]) == ("key/1", KEY, 6)
    assert bytes.fromhex(answer["key_hex"]) == KEY.encode()
    assert answer["held_by"] == "active segment"
    assert [found["fate"] for found in answer["records"]] == [
        "replaced-later",
        *["replaced-uncleanable"] * 4,
        "latest",
    ]
    assert answer["records"][0]["replaced_by"] == answer["records"][1]["offset"] == 11701
    assert main(["key", str(accounts), KEY.encode().hex(), "--hex", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == answer


def test_a_setting_and_a_time_change_the_decision(accounts, capsys):
    options = ["--set", "max.compaction.lag.ms=1", "--now", str(2**50), "--json"]
    assert main(["key", str(accounts), KEY, *options]) == 0
    assert json.loads(capsys.readouterr().out)["now_ms"] == 2**50


def test_a_key_that_is_not_there(accounts, capsys):
    assert main(["key", str(accounts), "nobody"]) == 0
    assert capsys.readouterr().out == "accounts-0 has no record with this key\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["accounts-0", "zz", "--hex"], "'zz' is not a key in hexadecimal"),
        (["orders-0", "a"], "is not compacted: cleanup.policy is delete"),
        (["", "a"], "holds 37 partitions; name one of them"),
        (["missing-0", "a"], "is not there"),
        (["__cluster_metadata-0", "a"], "is not a topic-partition that the log cleaner cleans"),
    ],
)
def test_a_wrong_call_is_one_line(clean, capsys, arguments, error):
    path, *rest = arguments
    assert main(["key", str(clean / path), *rest]) == 2
    printed = capsys.readouterr().err
    assert error in printed and printed.count("\n") == 1


def test_a_killed_broker_leaves_tails_that_no_command_fails_on(killed, capsys):
    path = str(killed / "weblogs-0")
    assert main(["key", path, "nobody", "--set", "cleanup.policy=compact"]) == 0
    title, unread = capsys.readouterr().out.splitlines()
    assert title == "weblogs-0 has no record with this key"
    assert unread.startswith("Segment 12138 cannot be read from byte 406105 on")


def test_a_damaged_closed_segment_is_one_line(clean, tmp_path, capsys):
    folder = shutil.copytree(clean / "accounts-0", tmp_path / "kafka" / "accounts-0")
    closed = min(folder.glob("*.log"))
    with open(closed, "r+b") as log:
        log.seek(8)
        log.write(b"\xff" * 4)
    arguments = ["key", str(folder), KEY, "--set", "cleanup.policy=compact"]
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert "accounts-0 cannot be read to its end: " in printed and printed.count("\n") == 1
