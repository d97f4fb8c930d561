"""The badges of each topic-partition on the map."""

import shutil
import time

from kafkaviz import messages
from kafkaviz.analysis import badges
from kafkaviz.analysis.badges import Badge
from kafkaviz.analysis.broker_health import check
from kafkaviz.analysis.findings import CODES, INFO
from kafkaviz.log.broker import open_broker
from tests.support.brokers import copy_partitions
from tests.support.findings import checked

# never of a topic-partition
OF_BROKER = {
    *("checkpoint-empty", "checkpoint-unreadable", "log-directory-empty", "log-directory-lost"),
    *("log-directory-missing", "maps-near-limit", "meta-properties-bad", "metadata-log-missing"),
    *("topic-diskless", "unclean-shutdown"),
}


def test_the_worst_comes_first(clean):
    """Errors come before warnings, the log before its indexes. Information has no badge."""
    rows = [
        ("a-0", None, f"a-0/{7:020d}.timeindex", "timeindex-missing", "error"),
        ("a-0", None, f"a-0/{7:020d}.log", "segment-gap", "warning"),
        ("a-0", None, f"a-0/{9:020d}.log.cleaned", "leftover-cleaned", "warning"),
        ("a-0", None, f"a-0/{0:020d}.timeindex", "timeindex-missing", "error"),
        ("a-0", None, f"a-0/{0:020d}.index", "index-coarse", "info"),
        ("b-0", None, "b-0", "leader-epoch-bad", "warning"),
        (None, None, None, "unclean-shutdown", "warning"),
    ]
    assert badges.badges_from_rows(rows, open_broker(clean)) == {
        "a-0": (
            Badge("timeindex-missing", "error", (0, 7)),
            Badge("segment-gap", "warning", (7,)),
            Badge("leftover-cleaned", "warning", (9,)),
        ),
        "b-0": (Badge("leader-epoch-bad", "warning"),),
    }


def test_what_the_next_start_does_is_no_badge(killed):
    health = checked(killed)
    found = badges.badges_from_findings(health.findings, health.broker)
    worst = {name: badges_of_partition[0] for name, badges_of_partition in found.items()}
    assert {name: badge.code for name, badge in worst.items() if badge.severity == "error"} == {
        "append-time-0": "log-garbage-tail",
        "clicks-zstd-0": "log-torn-tail",
        "weblogs-0": "log-zero-tail",
    }
    assert set(found) < {
        finding.partition for finding in health.findings if finding.code == "recovery-will-rebuild"
    }


def test_every_code_with_a_badge_has_words():
    badge_codes = (
        {code.name for code in CODES.values() if code.severity != INFO}
        - set(badges.RECOVERY_CODES)
        - OF_BROKER
    )
    assert {
        key.removeprefix("partition_badges.")
        for key in messages.catalogue("en")
        if key.startswith("partition_badges.")
    } == badge_codes


def test_a_hundred_thousand_findings_take_a_moment(clean):
    """One per segment: the map of a large directory waits for them."""
    rows = [
        ("a-0", None, f"a-0/{n:020d}.index", "index-zero-tail", "warning") for n in range(100_000)
    ]
    broker = open_broker(clean)
    start = time.process_time()
    (badge,) = badges.badges_from_rows(rows, broker)["a-0"]
    assert len(badge.base_offsets) == 100_000 and time.process_time() - start < 2


def test_a_partition_in_two_directories_has_its_own_badges(disks, tmp_path):
    for name in ("disk-a", "disk-b"):
        copy_partitions(disks / name, tmp_path / name, ())
        shutil.copytree(disks / "disk-b" / "audit-1", tmp_path / name / "audit-1")
    log = tmp_path / "disk-a" / "audit-1" / f"{0:020d}.log"
    data = bytearray(log.read_bytes())
    data[100] ^= 255
    log.write_bytes(data)
    health = check(tmp_path)
    found = badges.badges_from_findings(health.findings, health.broker)
    codes = {name: {badge.code for badge in found[name]} for name in found}
    assert "batch-crc-mismatch" in codes["disk-a/audit-1"]
    assert "batch-crc-mismatch" not in codes.get("disk-b/audit-1", ())
