"""kafkaviz key: the records of a key in text and JSON, and its errors."""

import shutil
from pathlib import Path

import pytest

from tests.support.commands import json_of, refusal_of, text_of

KEY = "acct-330"


@pytest.fixture(scope="session")
def accounts(clean) -> Path:
    return clean / "accounts-0"


def test_the_text_says_why_each_record_is_there(accounts):
    title, *records, decision = text_of("key", accounts, KEY).splitlines()
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
        "A cleaning would stop before offset 11564, because the active segment begins at 11564. "
        "The log is not taken, because it has nothing new to clean"
    )


def test_the_json_has_the_decision_and_each_record(accounts):
    answer = json_of("key", accounts, KEY)
    assert (answer["schema"], answer["key"], answer["record_count"]) == ("key/1", KEY, 6)
    assert bytes.fromhex(answer["key_hex"]) == KEY.encode()
    assert answer["held_by"] == "active segment"
    fates = [found["fate"] for found in answer["records"]]
    assert fates == ["replaced-later", *["replaced-uncleanable"] * 4, "latest"]
    assert answer["records"][0]["replaced_by"] == answer["records"][1]["offset"] == 11701
    assert json_of("key", accounts, KEY.encode().hex(), "--hex") == answer


def test_a_setting_and_a_time_change_the_decision(accounts):
    options = ("--set", "max.compaction.lag.ms=1", "--now", 2**50)
    assert json_of("key", accounts, KEY, *options)["now_ms"] == 2**50


def test_a_key_that_is_not_there(accounts):
    assert text_of("key", accounts, "nobody") == "accounts-0 has no record with this key\n"


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
def test_a_wrong_call_is_one_line(clean, arguments, error):
    path, *rest = arguments
    assert error in refusal_of("key", clean / path, *rest)


def test_a_killed_broker_leaves_tails_that_no_command_fails_on(killed):
    command = ("key", killed / "weblogs-0", "nobody", "--set", "cleanup.policy=compact")
    title, unread = text_of(*command).splitlines()
    assert title == "weblogs-0 has no record with this key"
    assert unread.startswith("Segment 12138 cannot be read from byte 406105 on")


def test_a_damaged_closed_segment_is_one_line(clean, tmp_path):
    folder = shutil.copytree(clean / "accounts-0", tmp_path / "kafka" / "accounts-0")
    closed = min(folder.glob("*.log"))
    with open(closed, "r+b") as log:
        log.seek(8)
        log.write(b"\xff" * 4)
    error = refusal_of("key", folder, KEY, "--set", "cleanup.policy=compact")
    assert "accounts-0 cannot be read to its end: " in error
