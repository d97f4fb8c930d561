"""A broker directory in an object store, and its twin on disk."""

import os
import shutil
from pathlib import Path

import pytest

from kafkaviz.log import file
from tests.support.object_store import ObjectStore

URL = "s3://kafka/brokers/17"


@pytest.fixture(scope="session")
def stored_broker(object_store_server: ObjectStore, clean: Path) -> str:
    """The address of the sample broker in the store, which no test changes."""
    object_store_server.put_directory(clean, "brokers/17")
    return URL


@pytest.fixture
def twin(object_store: ObjectStore, stored_broker: str, clean: Path, tmp_path: Path) -> Path:
    """The same broker on disk, with the times that the store gave its files."""
    from kafkaviz.log.broker import open_broker

    directory = tmp_path / "brokers" / "17"
    shutil.copytree(clean, directory)
    mirror = open_broker(stored_broker).path
    for path in directory.rglob("*"):
        if path.is_file():
            mtime_ns = file.info(mirror / path.relative_to(directory)).mtime_ns
            os.utime(path, ns=(mtime_ns, mtime_ns))
    object_store.requests.clear()
    return directory
