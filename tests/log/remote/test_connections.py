"""Connections to each kind of store; a library's error becomes one line."""

import pyarrow.fs
import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log.remote import address, block_cache, file_system, mirror


def remote_path(url: str) -> address.RemotePath:
    remote = address.parse(url)
    assert remote is not None
    return remote


@pytest.fixture
def recorded(monkeypatch) -> list:
    calls = []
    for name in ("AzureFileSystem", "HadoopFileSystem"):
        monkeypatch.setattr(
            pyarrow.fs, name, lambda *values, **options: calls.append((values, options))
        )
    for name in ("STORAGE_ACCOUNT", "STORAGE_KEY", "STORAGE_SAS_TOKEN"):
        monkeypatch.delenv(f"AZURE_{name}", raising=False)
    return calls


@pytest.mark.parametrize(
    ("url", "environment", "account", "options"),
    [
        ("abfss://logs@mine.dfs.core.windows.net/kafka", {}, "mine", {}),
        ("abfs://logs/kafka", {"AZURE_STORAGE_ACCOUNT": "theirs"}, "theirs", {}),
        (
            "abfs://logs@mine.host/kafka",
            {"AZURE_STORAGE_KEY": "k", "AZURE_STORAGE_SAS_TOKEN": "t"},
            "mine",
            {"account_key": "k"},
        ),
        ("abfs://logs@mine.host/k", {"AZURE_STORAGE_SAS_TOKEN": "t"}, "mine", {"sas_token": "t"}),
        (
            "abfs://logs@mine.host/k?blob_storage_authority=127.0.0.1:1&blob_storage_scheme=http",
            {},
            "mine",
            {f"{kind}_storage_authority": "127.0.0.1:1" for kind in ("blob", "dfs")}
            | {f"{kind}_storage_scheme": "http" for kind in ("blob", "dfs")},
        ),
    ],
)
def test_azure_is_asked_as_the_account_of_the_address(
    monkeypatch, recorded, url, environment, account, options
):
    """Otherwise as that of the environment, which has the key."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file_system._make_abfs(remote_path(url).store)
    assert recorded == [((account,), options)]


@pytest.mark.parametrize(
    ("url", "values", "user"),
    [
        ("hdfs://kafka@there:9000/logs", ("there", 9000), "kafka"),
        ("hdfs://there/logs", ("there", 0), None),
    ],
)
def test_hadoop_is_asked_at_the_port_of_the_address(recorded, url, values, user):
    """Otherwise at that of its configuration."""
    file_system._make_hdfs(remote_path(url).store)
    assert recorded == [(values, {"user": user})]


@pytest.mark.parametrize(
    ("error", "key"),
    [
        (OSError("Unable to load libhdfs: no such file"), "remote.no_libhdfs"),
        (OSError("HDFS connection failed"), "remote.unreachable"),
        (FileNotFoundError("gone"), "errors.not_there"),
        (OSError("AWS Error NO_SUCH_BUCKET during HeadObject operation: No"), "errors.not_there"),
        (OSError("AWS Error ACCESS_DENIED during GetObject operation: No"), "remote.denied"),
        (ValueError("a fault\n of its own"), "common.verbatim"),
        (ValueError(), "common.verbatim"),
    ],
    ids=str,
)
def test_an_error_of_a_library_is_one_line(monkeypatch, error, key):
    """Its first words if nothing better is known; its class if it has none."""

    def connect(*_values: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(pyarrow.fs, "HadoopFileSystem", connect)
    monkeypatch.setattr(file_system, "_UNREACHABLE_TEXTS", ("connection failed",))
    with pytest.raises(CannotOpen) as refusal:
        file_system.find(remote_path("hdfs://there/logs"))
    assert refusal.value.what.key == key
    expected = {"a fault\n of its own": "a fault of its own", "": "ValueError"}
    if str(error) in expected:
        assert str(refusal.value.what) == expected[str(error)]


def test_a_directory_of_too_many_files_is_refused(object_store, monkeypatch):
    for number in range(3):
        object_store.put(f"many/{number}", b"")
    monkeypatch.setattr(file_system, "ENTRIES", 2)
    with pytest.raises(CannotOpen) as refusal:
        file_system.list_directory(remote_path("s3://kafka/many"), is_recursive=True)
    assert (refusal.value.kind, refusal.value.what.key) == ("large", "remote.too_many_files")


def test_an_empty_directory_is_one(object_store):
    object_store.put("hollow/", b"")
    remote = remote_path("s3://kafka/hollow")
    assert mirror._mirror(address.mirror_path(remote), remote)


def test_what_vanished_from_the_store_vanishes_from_its_mirror(object_store, tmp_path):
    """A partition with its blocks; a key that could lead elsewhere is left out."""
    for key in ("gone-0/a", "stays-0/a", "stays-0/..", "stays-0/b"):
        object_store.put(f"cluster/{key}", b"x" * 10)
    remote = remote_path("s3://kafka/cluster")
    path = address.mirror_path(remote)
    mirror._mirror(path, remote)
    with block_cache.CachedFile(path / "gone-0" / "a") as file:
        file.fetch(0, 10)
    blocks = block_cache._blocks_path(path / "gone-0" / "a")
    assert blocks.exists()
    object_store.delete("cluster/gone-0/a")
    mirror._mirror(path, remote)
    assert sorted(child.name for child in path.iterdir()) == ["stays-0"]
    assert sorted(child.name for child in (path / "stays-0").iterdir()) == ["a", "b"]
    assert not blocks.parent.exists()


@pytest.mark.parametrize(
    ("url", "key"),
    [("s3:///brokers", "remote.no_authority"), ("s3://" + "b" * 300, "remote.impossible_key")],
)
def test_an_address_that_can_be_none_is_refused(url, key):
    with pytest.raises(CannotOpen) as refusal:
        address.parse(url)
    assert refusal.value.what.key == key


def test_a_folder_is_a_mirror_by_its_name():
    store = remote_path("s3://kafka/brokers").store
    assert address._is_store(store.folder_name)
    assert not address._is_store("s3%3A%2F%2F")
    assert not address._is_store("s3%3A%2F%2Fuser%3Aword%40kafka")
    assert not address._is_store("brokers")
