"""The recorded broker with tiered storage."""

from pathlib import Path

import pytest

from tests.support.tiered_storage import unpack


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))
