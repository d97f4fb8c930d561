"""A fault between this machine and a store becomes one line of error, never zeros."""

from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.log.remote import address, mirror
from tests.support.object_store import ObjectStore

NAME = "orders-0/00000000000000000000.log"
LOG = f"s3://kafka/brokers/17/{NAME}"


def opened(object_store: ObjectStore, key: str, data: bytes) -> Path:
    """Opens a broker directory with one .log of these bytes, and returns the path of the .log."""
    object_store.put(f"{key}/{NAME}", data)
    open_broker(f"s3://kafka/{key}")
    return file.absolute_path(f"s3://kafka/{key}/{NAME}")


@pytest.mark.parametrize("fault", ["close", "deny"])
def test_a_read_that_fails_is_one_error(fault, object_store, stored_broker):
    """It says the address, the byte and the next step; the next attempt fetches the missing bytes."""
    open_broker(stored_broker)
    object_store.fault = lambda request: fault if request.byte_range else None
    path = file.absolute_path(LOG)
    with pytest.raises(CannotOpen) as refused:
        file.read(path)
    assert str(refused.value).startswith(f"{LOG}: byte 0: ")
    assert "\n" not in str(refused.value)
    object_store.fault = None
    data = file.read(path)
    assert len(data) == path.stat().st_size and data.strip(b"\0")


def test_a_server_that_dies_in_the_middle_leaves_no_hole(object_store, stored_broker):
    path = opened(object_store, "large", bytes(range(256)) * 8192)
    assert file.read(path, 0, 1000) == (bytes(range(256)) * 4)[:1000]
    object_store.fault = lambda request: "close"
    for _ in range(2):
        with pytest.raises(CannotOpen):
            file.read(path)
    assert file.read(path, 256, 1000) == (bytes(range(256)) * 4)[:1000]


def test_an_object_that_shrank_meanwhile_is_said(object_store):
    path = opened(object_store, "shrinking", b"a" * 1000)
    object_store.put(f"shrinking/{NAME}", b"a" * 10)
    with pytest.raises(CannotOpen, match="was changed since it was listed; open it again"):
        file.read(path)


def test_bytes_that_do_not_come_are_missed(object_store):
    path = opened(object_store, "cut", b"a" * 1_700_000)
    assert file.read(path, 0, 10) == b"a" * 10
    object_store.put(f"cut/{NAME}", b"a" * 1_600_000)
    with pytest.raises(CannotOpen, match=r"byte 524288: .* bytes arrived; open it again"):
        file.read(path)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("s3://kafka/nothing", "is not there"),
        ("s3://no-such-bucket/x", "is not there"),
        ("s3://key:do-not-print-me@kafka/x", "an address with a password or a key in it"),
        ("sftp://host/x", "sftp is not a store that can be read"),
        ("hdfs://me:do-not-print-me@host/x", "an address with a password or a key in it"),
        ("s3://kafka/x?secret_key=do-not-print-me", "secret_key is not a parameter"),
        ("s3://kafka/../x", "cannot be the name of a file"),
    ],
)
def test_an_address_that_cannot_be_opened_is_one_line(url, words, object_store, capsys):
    """On stderr with exit status 2, and without secrets."""
    assert main(["check", url]) == 2
    output, error = capsys.readouterr()
    assert (output, error.count("\n")) == ("", 1)
    assert words in error and "do-not-print-me" not in error


def test_hadoop_that_is_not_installed_is_said(object_store, monkeypatch, capsys):
    """pyarrow has its client, and looks for libhdfs and Java by HADOOP_HOME."""
    for name in ("HADOOP_HOME", "ARROW_LIBHDFS_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert main(["check", "hdfs://namenode:8020/kafka"]) == 2
    output, error = capsys.readouterr()
    assert (output, error.count("\n")) == ("", 1)
    assert "libhdfs" in error and "HADOOP_HOME" in error


def test_denied_access_is_one_line(object_store, capsys):
    object_store.fault = lambda request: "deny"
    assert main(["check", "s3://kafka/brokers/17"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("kafkaviz: s3://kafka/brokers/17: the store refuses access; check the")


def test_a_store_that_does_not_answer_is_one_line(object_store, monkeypatch, capsys):
    """After a few attempts, not after minutes."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    mirror.forget()
    assert main(["check", "s3://kafka/brokers/17"]) == 2
    assert "the store does not answer" in capsys.readouterr().err


def test_an_endpoint_of_the_environment_is_not_shown(object_store):
    """Only the mirror's path has it, because another store may have a bucket of that name."""
    path = file.absolute_path("s3a://kafka/x")
    assert "127.0.0.1" in str(path)
    assert address.display(path) == "s3://kafka/x"
