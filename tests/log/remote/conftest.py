"""A broker directory in an object store, and its twin on disk."""

import os
from pathlib import Path

import pytest
from pyarrow.fs import FileSelector, S3FileSystem

from tests.support.brokers import copy_partitions
from tests.support.object_store import KEYS, ObjectStore

URL = "s3://kafka/brokers/17"
DIRECTORIES = (
    *("__cluster_metadata-0", "__consumer_offsets-0", "accounts-0", "accounts-1", "empty-room-0"),
    *("heartbeat-0", "orders-0", "payments-0", "refunds-0", "refunds-1", "weblogs-0"),
)


@pytest.fixture(scope="session")
def twin(clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns some topic-partitions of the sample broker on disk."""
    return copy_partitions(clean, tmp_path_factory.mktemp("brokers") / "17", DIRECTORIES)


@pytest.fixture(scope="session")
def stored_broker(object_store_server: ObjectStore, twin: Path) -> str:
    """Returns the address of the same broker in the store, with equal file times."""
    object_store_server.put_directory(twin, "brokers/17")
    store = S3FileSystem(
        access_key=KEYS["AWS_ACCESS_KEY_ID"],
        secret_key=KEYS["AWS_SECRET_ACCESS_KEY"],
        region=KEYS["AWS_DEFAULT_REGION"],
        endpoint_override=object_store_server.url,
    )
    root = URL.removeprefix("s3://")
    for info in store.get_file_info(FileSelector(root, recursive=True)):
        if info.is_file:
            path = twin / Path(info.path).relative_to(root)
            os.utime(path, ns=(info.mtime_ns, info.mtime_ns))
    return URL
