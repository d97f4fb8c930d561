"""Files that cannot be read: each is named, and no other finding follows from it."""

import builtins
import os
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.format.walk import walk
from kafkaviz.messages import message
from tests.analysis.lab import Lab
from tests.support.findings import alarms, codes, only

PARTITIONS = ("__cluster_metadata-0", "payments-0")
NOT_OPENED = (".lock",)  # its content has no meaning
# a start is predicted without their content
NOT_NEEDED = (".kafka_cleanshutdown",)


@pytest.fixture(scope="module")
def healthy(clean, tmp_path_factory) -> Path:
    """Returns a broker directory with transactions, snapshots and the cluster's metadata."""
    return Lab(clean, tmp_path_factory.mktemp("healthy") / "kafka", PARTITIONS).path


@pytest.fixture
def refuse(monkeypatch):
    """Makes the system refuse to open some paths; a file mode would not stop root."""

    def refusing(*paths: Path) -> None:
        opened, scandir = builtins.open, os.scandir

        def open_(path, *args, **kwargs):
            if isinstance(path, str | Path) and Path(path) in paths:
                raise PermissionError(13, "Permission denied")
            return opened(path, *args, **kwargs)

        def scan(path):
            if Path(path) in paths:
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(builtins, "open", open_)
        monkeypatch.setattr(os, "scandir", scan)

    return refusing


@pytest.mark.slow
def test_any_file_that_may_not_be_read_is_reported_and_nothing_else(healthy, refuse, monkeypatch):
    """The check finishes with one more finding, and predicts a start where possible."""
    sound = check(healthy)
    older = sorted(healthy.glob("__cluster_metadata-0/*.checkpoint"))[:-1]
    kinds = {}  # the last file of each kind in each directory
    for path in sorted(healthy.rglob("*")):
        if path.is_file() and path.name not in NOT_OPENED:
            kinds[path.parent, path.suffix or path.name, path in older] = path
    indexes = {".index", ".timeindex", ".txnindex"}
    assert {kind for _, kind, _ in kinds} >= {".log", ".snapshot", ".checkpoint"} | indexes
    assert len(kinds) > 15
    for path in kinds.values():
        name = str(path.relative_to(healthy))
        refuse(path)
        health = check(healthy)
        monkeypatch.undo()
        finding = only(health, "unreadable-file")
        assert finding.file == name
        assert finding.message["problem"] == message("errors.may_not_be_read"), name
        assert finding.next_step == message("next_step.read_as_other_user"), name
        assert alarms(health) - alarms(sound) <= {("unreadable-file", name)}, name
        is_predicted = path.name in NOT_NEEDED or path in older
        assert health.restart == (sound.restart if is_predicted else None), name


@pytest.mark.parametrize(
    ("name", "severity", "consequence"),
    [
        ("meta.properties", "error", "consequence.unread_no_start"),
        ("bootstrap.checkpoint", "error", "consequence.unread_no_start"),
        ("payments-0/00000000000000000000.log", "error", "consequence.unread_offline"),
        ("payments-0/00000000000000000000.index", "error", "consequence.unread_offline"),
        ("payments-0/partition.metadata", "error", "consequence.unread_offline"),
        ("recovery-point-offset-checkpoint", "error", "consequence.unread_offline"),
        (".kafka_cleanshutdown", "warning", "consequence.unread_only_there"),
    ],
)
def test_its_severity_is_what_a_broker_in_our_place_would_suffer(
    healthy, refuse, name, severity, consequence
):
    """A broker may be allowed to read what we are not, so no start is predicted from it."""
    refuse(healthy / name)
    health = check(healthy)
    finding = only(health, "unreadable-file")
    assert (finding.file, finding.severity) == (name, severity)
    assert finding.consequence == message(consequence)
    assert (health.restart is None) == (name not in NOT_NEEDED)


def test_a_partition_directory_that_may_not_be_read(healthy, refuse):
    refuse(healthy / "payments-0")
    health = check(healthy)
    finding = only(health, "unreadable-file")
    assert finding.partition == finding.file == "payments-0"
    assert finding.severity == "error" and health.restart is None


def test_no_transaction_hangs_after_a_log_that_may_not_be_read(clean, tmp_path, refuse):
    """An earlier transaction may have ended in it, and a later one may have begun in it."""
    lab = Lab(clean, tmp_path / "kafka", ["payments-0"])
    log = lab.files("payments-0", ".log")[0]
    data, batches = log.read_bytes(), walk(log.read_bytes())[0]
    marker = next(row for row in batches[1:] if row["attributes"] & 0x20)
    for file in (*lab.files("payments-0", "index"), *lab.files("payments-0", ".snapshot")):
        file.unlink()
    later = log.with_name(f"{int(marker['base_offset']):020}.log")
    lab.write(log, data[: marker["position"]])  # the segment is cut in front of the first marker
    lab.write(later, data[marker["position"] :])
    now_ms = int(batches["max_timestamp_ms"].max()) + 10**9
    refuse(later)
    health = check(lab.path, now_ms=now_ms)
    assert not codes(health) & {"hanging-transaction", "txnindex-mismatch"}
    assert ("unreadable-file", f"payments-0/{later.name}") in alarms(health)


def test_an_unreadable_index_leaves_the_log_to_be_checked(clean, tmp_path, refuse):
    lab = Lab(clean, tmp_path / "kafka", ["clicks-none-0"])
    log, index = lab.files("clicks-none-0", ".log")[0], lab.files("clicks-none-0", ".index")[0]
    lab.change(log, lambda data: data.__setitem__(200, data[200] ^ 1))
    lab.write(index.with_suffix(".timeindex"), bytes(20))
    refuse(index)
    reported = alarms(check(lab.path))
    assert {
        ("unreadable-file", f"clicks-none-0/{index.name}"),
        ("batch-crc-mismatch", f"clicks-none-0/{log.name}"),
    } <= reported
    assert {file for _, file in reported if file.endswith(".timeindex")}
