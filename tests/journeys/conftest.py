"""What the walks share: one fresh server, one Chromium, and the looks that each walk is done in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import test_browser
from tests.journeys.walk import Album

browser = test_browser.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app as `make run` starts it: nothing named, nothing remembered, nothing unpacked."""
    with test_browser.serving(tmp_path_factory.mktemp("journeys-cache")) as address:
        yield address


@pytest.fixture(scope="module")
def album() -> Iterator[Album | None]:
    """Where the pictures of the steps go: the folder that JOURNEYS names; None where they are not asked for."""
    folder = os.environ.get("JOURNEYS")
    kept = Album(Path(folder)) if folder else None
    yield kept
    if kept:
        kept.write()
