"""What the walks share: one fresh server, one Chromium, and the looks that each walk is done in."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import browsing
from tests import test_browser
from tests.journeys.walk import Album

browser = test_browser.browser


@pytest.fixture(scope="module")
def kept_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty cache folder."""
    return tmp_path_factory.mktemp("journeys-cache")


@pytest.fixture(scope="module")
def server(kept_in: Path) -> Iterator[str]:
    """The address of an app as `make run` starts it: nothing named, nothing remembered, nothing
    unpacked.
    """
    with test_browser.serving(kept_in) as address:
        yield address


@pytest.fixture(scope="module")
def album(kept_in: Path) -> Iterator[Album | None]:
    """Where the pictures of the steps go: the folder that JOURNEYS names; None where they are not
    asked for.
    """
    folder = os.environ.get("JOURNEYS")
    places = [(str(browsing.ROOT), "~/kafkaviz"), (str(kept_in), "~/.cache/kafkaviz")]
    kept = Album(Path(folder), places) if folder else None
    yield kept
    if kept:
        kept.write()
