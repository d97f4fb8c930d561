"""What tests of every floor share."""

import os
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The small files kept with the tests; tests/data/README.md says where each came from."""
    return DATA


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of whole broker directories (data/) and Kafka's recorded answers (vectors/), which is not part of the product."""
    folder = Path(os.environ.get("KAFKAVIZ_SHARED") or Path(__file__).parents[2] / "shared")
    if not folder.is_dir():
        pytest.skip(f"needs the folder of recorded broker directories: set KAFKAVIZ_SHARED or put it at {folder}")
    return folder
