"""Fixtures of the journeys: a server without a directory, and pictures of the steps."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.browsing import ROOT, serving
from tests.journeys.walk import Album


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("journeys-cache")


@pytest.fixture(scope="session")
def server(cache_folder: Path) -> Iterator[str]:
    """Yields the address of an app as `make run` starts it, with nothing remembered or unpacked."""
    with serving(cache_folder) as address:
        yield address


@pytest.fixture(scope="module")
def album(cache_folder: Path) -> Iterator[Album | None]:
    """Returns the folder for pictures of the steps that JOURNEYS names, or None."""
    folder = os.environ.get("JOURNEYS")
    places = [(str(ROOT), "~/kafkaviz"), (str(cache_folder), "~/.cache/kafkaviz")]
    album = Album(Path(folder), places) if folder else None
    yield album
    if album:
        album.write()
