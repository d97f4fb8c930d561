"""The uses of the bytes of a log directory, compared with `du` and with a plain account."""

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.checks.segment import check
from kafkaviz.analysis.disk import (
    DiskShare,
    Use,
    disk_shares,
    total_uses,
    usage_object,
    with_cleaning,
    with_summaries,
)
from kafkaviz.format.batch import HEADER_BYTES, is_control, is_transactional
from kafkaviz.log.broker import open_broker
from tests.analysis.lab import Lab
from tests.conftest import SAMPLES

SAMPLE_NAMES = (
    *("kafka-4.3.1-clean", "kafka-4.3.1-damaged", "kafka-4.3.1-killed-selection"),
    *("kafka-4.4.0-replica-1", "kafka-4.4.0-replica-2"),
)


@cache
def read_shares(directory: Path) -> list[DiskShare]:
    """Returns the shares of a broker's partitions and other files, divided by a check."""
    broker = open_broker(directory)
    plan = plan_check(broker)
    shares = []
    for share in disk_shares(broker):
        if share.partition:
            partition = broker.partition(share.partition)
            facts = plan.facts(partition)
            checks = [check(segment, facts) for segment in partition.segments]
            summaries = [result.summary for result in checks if result.summary is not None]
            share = with_summaries(share, partition, summaries)
        shares.append(share)
    return shares


def allocated_kib(root: Path) -> int:
    """Returns the disk space of all files in units of 1024 bytes, as du counts it."""
    lines = subprocess.run(
        ["du", "-a", "-k", str(root)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    sizes = (line.split("\t") for line in lines)
    return sum(int(size) for size, path in sizes if Path(path).is_file())


@pytest.mark.parametrize("sample", SAMPLE_NAMES)
def test_the_uses_add_up_to_the_byte(sample, cache):
    root = open_broker(SAMPLES / f"{sample}.tar.gz").path
    shares = read_shares(root)
    lengths = [path.stat().st_size for path in root.rglob("*") if path.is_file()]
    assert sum(total_uses(shares).values()) == sum(lengths)
    assert sum(share.files for share in shares) == len(lengths)
    assert sum(share.allocated_bytes for share in shares) == allocated_kib(root) * 1024
    assert not any(Use.UNREAD in share.uses for share in shares)
    assert all(size > 0 for share in shares for size in share.uses.values())


def test_the_batches_of_a_log_are_divided_as_a_plain_account_divides_them(clean):
    broker = open_broker(clean)
    aborted_total = 0
    for share in read_shares(clean):
        if share.partition is None or broker.partition(share.partition).state != "current":
            continue
        expected = dict.fromkeys(Use, 0)
        open_bytes: dict[int, int] = {}
        for segment in broker.partition(share.partition).live:
            for batch in segment.batches():
                row = np.array([batch])
                size = int(batch["size_bytes"])
                producer = int(batch["producer_id"])
                is_metadata = share.topic == "__cluster_metadata"
                if is_control(row)[0]:
                    expected[Use.CONTROL_BATCHES] += size
                    is_abort = segment.records(int(batch["position"]))[0].key[3] == 0
                    if not is_metadata and is_abort:
                        expected[Use.ABORTED] += open_bytes.pop(producer, 0)
                    open_bytes.pop(producer, None)
                    continue
                expected[Use.BATCH_HEADERS] += HEADER_BYTES
                expected[Use.RECORDS] += size - HEADER_BYTES
                if is_transactional(row)[0]:
                    open_bytes[producer] = open_bytes.get(producer, 0) + size - HEADER_BYTES
        expected[Use.RECORDS] -= expected[Use.ABORTED]
        aborted_total += expected[Use.ABORTED]
        for use in (Use.RECORDS, Use.BATCH_HEADERS, Use.CONTROL_BATCHES, Use.ABORTED):
            assert share.uses.get(use, 0) == expected[use], (share.partition, use)
    assert aborted_total > 0


def test_a_transaction_that_a_later_segment_aborts(clean):
    """Its bytes in earlier segments count as aborted, too: payments-0 has one over two segments."""
    broker = open_broker(clean)
    partition = broker.partition("payments-0")
    facts = plan_check(broker).facts(partition)
    summaries = [check(segment, facts).summary for segment in partition.segments]
    [share] = [share for share in disk_shares(broker) if share.partition == "payments-0"]
    within_segments = sum(summary.aborted_bytes for summary in summaries)
    assert with_summaries(share, partition, summaries).uses[Use.ABORTED] > within_segments


def test_files_that_are_not_in_use(clean, tmp_path):
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    in_use = total_uses(disk_shares(open_broker(lab.path)))
    suffix = "0" * 32
    files = {
        Use.WAITING: [f"old-0.{suffix}-delete/{0:020d}.log", f"orders-0/{0:020d}.index.deleted"],
        Use.STRAY: [f"gone-0.{suffix}-stray/{0:020d}.log"],
        Use.FUTURE: [f"orders-0.{suffix}-future/{0:020d}.log"],
        Use.LEFTOVER: [
            f"orders-0/{0:020d}.log.cleaned",
            f"orders-0/{7:020d}.log.swap",
            f"orders-0/{999999:020d}.index",
            "orders-0/leader-epoch-checkpoint.tmp",
        ],
        Use.REMOTE_INDEX_CACHE: [f"remote-log-index-cache/{5}_xyz.index"],
        Use.BROKER_FILES: ["recovery-point-offset-checkpoint.tmp"],
        Use.FOREIGN: [
            *("backup.tar", "lost+found/a/b"),
            *("orders-0/notes/todo.txt", "orders-0/.DS_Store"),
        ],
    }
    for place, (use, file_names) in enumerate(files.items(), 1):
        for name in file_names:
            path = lab.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * 10**place)
            in_use[use] = in_use.get(use, 0) + 10**place
    (lab.path / "loop").symlink_to(lab.path)
    assert total_uses(disk_shares(open_broker(lab.path))) == in_use


def test_an_unread_log_is_unread(damaged):
    broker = open_broker(damaged)
    live = [segment for partition in broker.partitions for segment in partition.live]
    log_bytes = sum(info.size_bytes for segment in live for info in segment.files)
    assert total_uses(list(disk_shares(broker)))[Use.UNREAD] == log_bytes


def test_a_folder_that_vanished_after_the_listing_is_named(clean, tmp_path):
    """Neither a partition's folder nor a log directory ends the account."""
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    broker = open_broker(lab.path)
    lab.path.rename(tmp_path / "elsewhere")
    partition, others = disk_shares(broker)
    assert partition.unreadable == (lab.path / "orders-0",) and partition.length_bytes > 0
    assert others.unreadable == (lab.path,) and others.length_bytes == 0
    assert usage_object([partition, others])["unreadable"] == [
        str(lab.path / "orders-0"),
        str(lab.path),
    ]


def test_superseded_records_are_a_part_of_the_records(clean):
    share = next(share for share in read_shares(clean) if share.topic == "orders")
    records = share.uses[Use.RECORDS]
    divided = with_cleaning(share, 10)
    assert divided.uses[Use.SUPERSEDED] == 10 and divided.uses[Use.RECORDS] == records - 10
    assert divided.length_bytes == share.length_bytes
    assert Use.RECORDS not in with_cleaning(share, records + 1).uses
    assert Use.SUPERSEDED not in with_cleaning(share, 0).uses
