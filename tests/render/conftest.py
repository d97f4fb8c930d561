from collections.abc import Iterator

import pytest

from kafkaviz.messages import speaking


@pytest.fixture
def chinese() -> Iterator[None]:
    """Makes Chinese the language of the reader."""
    with speaking("zh"):
        yield
