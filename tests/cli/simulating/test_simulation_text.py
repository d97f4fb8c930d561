"""kafkaviz simulate --replay of damaged .log files: refused appends, and bytes outside of batches."""

import json
import shutil
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.format.walk import walk

FIRST, SECOND = f"{0:020}.log", f"{19113:020}.log"


@pytest.fixture
def orders(clean, tmp_path) -> Path:
    shutil.copytree(clean / "orders-0", tmp_path / "copied" / "orders-0")
    return tmp_path / "copied" / "orders-0"


def replay(orders: Path, *options: str) -> int:
    return main(
        ["simulate", "--replay", str(orders), "--out", str(orders.parents[1] / "out"), *options]
    )


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_a_batch_with_a_wrong_checksum_is_refused(orders, capsys, live):
    """By UnifiedLog.analyzeAndValidateRecords: status 2, its exception, and no broker directory."""
    log = bytearray((orders / FIRST).read_bytes())
    log[100] ^= 1
    (orders / FIRST).write_bytes(log)
    crc = int.from_bytes(log[17:21], "big")
    assert replay(orders, *live) == 2
    err = capsys.readouterr().err
    assert (
        "orders-0, append 0: org.apache.kafka.common.errors.CorruptRecordException: Record is "
        "corrupt (stored crc = "
    ) in err
    assert f"(stored crc = {crc}) in topic partition orders-0." in err
    assert live or not (orders.parents[1] / "out").exists()


def test_the_first_wrong_checksum_of_a_later_segment_counts(orders, capsys):
    log = bytearray((orders / SECOND).read_bytes())
    log[-1] ^= 1
    (orders / SECOND).write_bytes(log)
    assert replay(orders) == 2
    before = sum(len(walk((orders / name).read_bytes())[0]) for name in (FIRST, SECOND)) - 1
    assert (
        f"orders-0, append {before}: org.apache.kafka.common.errors.CorruptRecordException: "
        in capsys.readouterr().err
    )


def test_bytes_after_a_torn_batch_are_reported(orders, capsys):
    """How many, in which .log, from which byte on and why."""
    (orders / FIRST).write_bytes((orders / FIRST).read_bytes()[:500_000])
    assert replay(orders, "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    [left_out] = summary["unread"]
    assert left_out == {
        "file": FIRST,
        "from_position": 498_204,
        "bytes": 1796,
        "why": "its last batch is incomplete",
    }
    shutil.rmtree(orders.parents[1] / "out")
    assert replay(orders) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        f"{FIRST}: 1796 bytes from byte 498204 on are left out: its last batch is incomplete"
        in lines
    )
    assert (
        lines[-1].strip()
        == "the bytes that were left out, or other bytes that were once in their place, may explain the difference"
    )


def test_of_whole_files_nothing_is_left_out(orders, capsys):
    """The list is empty, and has no line."""
    assert replay(orders, "--json") == 0
    assert json.loads(capsys.readouterr().out)["unread"] == []
