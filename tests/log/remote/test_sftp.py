"""A directory on another machine, by SSH."""

from pathlib import Path

import paramiko
import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.log.remote import mirror
from tests.support.sftp_server import serving_files


@pytest.fixture
def port(tmp_path, monkeypatch):
    """That of a server which takes the key in this user's home."""
    (tmp_path / ".ssh").mkdir(mode=0o700)
    paramiko.RSAKey.generate(2048).write_private_key_file(str(tmp_path / ".ssh" / "id_rsa"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    mirror.forget()
    with serving_files() as port:
        yield port


def test_a_directory_behind_ssh_reads_as_here(port, damaged):
    """Small files by several threads at once, of which one connection serves one."""
    broker = open_broker(f"sftp://me@127.0.0.1:{port}{damaged}")
    assert len(broker.partitions) == len(open_broker(damaged).partitions)
    for partition in broker.partitions:
        for segment in partition.segments:
            for info in segment.files:
                here = Path(damaged, partition.directory, info.name)
                assert file.read(info.path) == here.read_bytes()


def test_what_is_not_there_is_said(port):
    """A directory, and a machine that does not answer."""
    with pytest.raises(CannotOpen, match="is not there"):
        open_broker(f"sftp://me@127.0.0.1:{port}/no/such/directory")
    with pytest.raises(CannotOpen, match="the store does not answer"):
        open_broker("sftp://me@127.0.0.1:9/x")
