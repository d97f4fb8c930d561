"""Records and logs that a checkpoint or the metadata log names and that are missing.

A broker of 4.3.1 wrote the directories in tests/data/starts. Brokers of 4.3.1 and 4.4.0, started
where a directory or a .log was missing, created it empty and reported nothing.
"""

import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from tests.kafka.starts import BASES, unpack

CODES = ("partition-missing", "high-watermark-beyond-end", "recovery-point-beyond-end")


@pytest.fixture(params=["clean", "killed"])
def disk(request, tmp_path) -> Path:
    """Returns the log directory of a broker that has only one."""
    (disk,) = unpack(BASES / f"one-{request.param}.tar.xz", tmp_path)
    return disk


def losses(directory: Path) -> dict[str | None, tuple[str, str]]:
    return {
        finding.partition: (finding.code, finding.severity)
        for finding in check(directory).findings
        if finding.code in CODES
    }


def test_nothing_is_missing_of_a_whole_directory(disk):
    assert losses(disk) == {}


def test_a_directory_that_is_missing_is_an_error(disk):
    shutil.rmtree(disk / "orders-1")
    shutil.rmtree(disk / "payments-0")
    assert losses(disk) == {
        "orders-1": ("partition-missing", "error"),
        "payments-0": ("partition-missing", "error"),
    }


def test_an_empty_partition_that_is_missing_loses_nothing(disk):
    shutil.rmtree(disk / "unused-0")
    assert losses(disk) == {}


def test_a_partition_of_a_topic_that_was_deleted_is_not_missing(disk):
    """The checkpoint may name it until it is written the next time; the metadata log does not."""
    path = disk / "replication-offset-checkpoint"
    version, count, *lines = path.read_text().splitlines()
    path.write_text("\n".join([version, str(int(count) + 1), *lines, "deleted 0 70", ""]))
    assert losses(disk) == {}


def test_a_partition_that_another_directory_or_node_holds_is_not_missing(disk):
    shutil.rmtree(disk / "orders-1")
    path = disk / "meta.properties"
    text = path.read_text()
    path.write_text(text.replace("node.id=1", "node.id=2"))
    assert losses(disk) == {}
    other_id = "".join(
        "directory.id=ekArurFKRISu0Oyjh8h0sg\n" if line.startswith("directory.id") else f"{line}\n"
        for line in text.splitlines()
    )
    path.write_text(other_id)
    assert losses(disk) == {}


def test_without_the_metadata_log_a_clean_stop_shows_what_was_there(disk):
    """A killed broker may have deleted it a moment before."""
    is_clean = (disk / ".kafka_cleanshutdown").exists()
    shutil.rmtree(disk / "__cluster_metadata-0")
    shutil.rmtree(disk / "orders-1")
    severity = "error" if is_clean else "warning"
    assert losses(disk) == {"orders-1": ("partition-missing", severity)}


def test_a_copy_of_some_directories_is_one_warning(disk):
    for directory in disk.iterdir():
        if directory.is_dir() and directory.name != "orders-0":
            shutil.rmtree(directory)
    assert losses(disk) == {None: ("partition-missing", "warning")}


@pytest.mark.parametrize("pattern", ["*.log", f"{38:020}.*"])
def test_logs_that_are_missing_are_an_error(disk, pattern):
    """All logs, or the last one: the checkpoints say how far the log went."""
    for path in (disk / "orders-0").glob(pattern):
        path.unlink()
    code, severity = losses(disk)["orders-0"]
    assert code in ("high-watermark-beyond-end", "recovery-point-beyond-end")
    assert severity == "error"
