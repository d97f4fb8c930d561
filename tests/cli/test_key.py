"""kafkaviz key: the records of a key in text and JSON, and its errors."""

import json
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
    assert title == "accounts-0 has 6 records with this key; the next cleaning removes 0"
    assert records[0] == (
        "  offset 11425, 2026-09-21 15:53:53.275, segment 0: stays: offset 11701 replaces it, but "
        "cannot be cleaned yet"
    )
    assert len(records) == 6
    assert "the active segment begins at 11564" in records[-1]
    assert decision.startswith("The next cleaning: not taken, because its dirty share 0.00 %")


def test_the_json_has_the_decision_and_each_record(accounts, capsys):
    assert main(["key", str(accounts), KEY, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["key"], answer["record_count"]) == ("key/1", KEY, 6)
    assert bytes.fromhex(answer["key_hex"]) == KEY.encode()
    assert answer["held_by"] == "active segment"
    assert [found["fate"] for found in answer["records"]] == ["replaced-later"] + [
        "uncleanable"
    ] * 5
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
    ],
)
def test_a_wrong_call_is_one_line(clean, capsys, arguments, error):
    path, *rest = arguments
    assert main(["key", str(clean / path), *rest]) == 2
    printed = capsys.readouterr().err
    assert error in printed and printed.count("\n") == 1
