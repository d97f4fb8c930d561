"""Paths are checked after they are opened: a link that leads out of the allowed roots is refused,
whenever it was created.
"""

import os
import tarfile
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log import confinement, file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.settings import open_settings


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """Returns the directory that this process is confined to; rootless/secret is next to it."""
    monkeypatch.setenv(confinement.CONFINEMENT, "")  # put back afterwards
    directory, outside = tmp_path / "root", tmp_path / "rootless"
    directory.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("root:x:0:0\n")
    confinement.confine([directory])
    return directory


def test_a_file_within_is_read(root):
    (root / "file").write_bytes(b"within")
    (root / "link").symlink_to("file")
    assert file.read(root / "file") == file.read(root / "link") == b"within"
    assert [info.name for info in file.list_files(root)] == ["file", "link"]


@pytest.mark.parametrize(
    "read", [file.read, file.read_text, file.read_data, lambda path: file.reader(path).__enter__()]
)
def test_a_file_outside_is_refused_by_every_reader(root, read):
    (root / "link").symlink_to(root.parent / "rootless" / "secret")
    for path in (root / "link", root.parent / "rootless" / "secret"):
        with pytest.raises(
            CannotOpen, match="is outside the directories that this server may open"
        ) as refused:
            read(path)
        assert refused.value.kind == "outside"


def test_no_descriptor_stays_open(root):
    before = len(os.listdir("/dev/fd"))
    for _ in range(8):
        with pytest.raises(CannotOpen):
            file.read(root.parent / "rootless" / "secret")
    assert len(os.listdir("/dev/fd")) == before


def test_a_directory_outside_is_not_listed(root):
    (root / "orders-0").symlink_to(root.parent / "rootless")
    with pytest.raises(CannotOpen):
        file.list_files(root / "orders-0")


def test_an_archive_outside_is_not_unpacked(root, tmp_path):
    outside = tmp_path / "kafka.tar.gz"
    with tarfile.open(outside, "w:gz") as packed:
        packed.addfile(tarfile.TarInfo("kafka/orders-0/00000000000000000000.log"))
    (root / "kafka.tar.gz").symlink_to(outside)
    for path in (outside, root / "kafka.tar.gz"):
        with pytest.raises(CannotOpen) as refused:
            archive.unpack_if_archive(path)
        assert refused.value.kind == "outside" and not archive.unpack_target(path).exists()


def test_without_confinement_everything_is_read(root):
    confinement.confine(None)
    assert file.read(root.parent / "rootless" / "secret") == b"root:x:0:0\n"


def test_the_parent_of_a_lone_partition_is_checked_too(root):
    (root / "orders-0").mkdir()
    (root / "orders-0" / "00000000000000000000.log").touch()
    for name in ("recovery-point-offset-checkpoint", "meta.properties"):
        (root / name).symlink_to(root.parent / "rootless" / "secret")
    broker = open_broker(root / "orders-0")
    assert broker.properties == {} and {problem.kind for problem in broker.problems} == {"outside"}
    assert "root:x" not in str(broker.problems)


def test_settings_next_to_the_directory_are_checked_too(root):
    """A server.properties above the root, or that links out of it, is ignored."""
    (root / "broker" / "orders-0").mkdir(parents=True)
    (root / "broker" / "orders-0" / "00000000000000000000.log").touch()
    (root.parent / "rootless" / "secret").write_text("log.index.interval.bytes=7777\n")
    (root / "server.properties").symlink_to(root.parent / "rootless" / "secret")
    broker = open_broker(root / "broker")
    assert open_settings(broker).find("orders", "index.interval.bytes").value == 4096
    confinement.confine(None)
    assert open_settings(broker).find("orders", "index.interval.bytes").value == 7777
