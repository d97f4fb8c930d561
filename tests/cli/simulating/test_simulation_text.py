"""kafkaviz simulate --replay of damaged .log files: refused appends, and bytes outside of batches."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.format.walk import walk
from tests.support.commands import json_of, refusal_of, text_of

CORRUPT = "org.apache.kafka.common.errors.CorruptRecordException: "
FIRST, SECOND = f"{0:020}.log", f"{19113:020}.log"


@pytest.fixture
def orders(clean, tmp_path) -> Path:
    shutil.copytree(clean / "orders-0", tmp_path / "copied" / "orders-0")
    return tmp_path / "copied" / "orders-0"


def replay(orders: Path) -> tuple[object, ...]:
    return ("simulate", "--replay", orders, "--out", orders.parents[1] / "out")


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_a_batch_with_a_wrong_checksum_is_refused(orders, live):
    """By UnifiedLog.analyzeAndValidateRecords: status 2, its exception, and no broker directory."""
    log = bytearray((orders / FIRST).read_bytes())
    log[100] ^= 1
    (orders / FIRST).write_bytes(log)
    crc = int.from_bytes(log[17:21], "big")
    error = refusal_of(*replay(orders), *live)
    assert f"orders-0, append 0: {CORRUPT}Record is corrupt (stored crc = " in error
    assert f"(stored crc = {crc}) in topic partition orders-0." in error
    assert live or not (orders.parents[1] / "out").exists()


def test_the_first_wrong_checksum_of_a_later_segment_counts(orders):
    log = bytearray((orders / SECOND).read_bytes())
    log[-1] ^= 1
    (orders / SECOND).write_bytes(log)
    before = sum(len(walk((orders / name).read_bytes())[0]) for name in (FIRST, SECOND)) - 1
    assert f"orders-0, append {before}: {CORRUPT}" in refusal_of(*replay(orders))


def test_bytes_after_a_torn_batch_are_reported(orders):
    """How many, in which .log, from which byte on and why."""
    (orders / FIRST).write_bytes((orders / FIRST).read_bytes()[:500_000])
    [left_out] = json_of(*replay(orders))["unread"]
    why = "its last batch is incomplete"
    expected = {"file": FIRST, "from_position": 498_204, "bytes": 1796, "why": why}
    assert left_out == expected
    shutil.rmtree(orders.parents[1] / "out")
    lines = text_of(*replay(orders)).splitlines()
    assert f"{FIRST}: 1796 bytes from byte 498204 on are left out: {why}" in lines
    others = "from the bytes that were left out, or from other bytes that were once in their place"
    assert lines[-1].strip() == f"the difference may come {others}"


def test_of_whole_files_nothing_is_left_out(orders):
    """The list is empty, and has no line."""
    assert json_of(*replay(orders))["unread"] == []
