"""Fixtures of the Workshop's tests, and those that they share with the app's pages."""

import pytest

from kafkaviz.workshop import lessons
from tests.app.conftest import chinese, only_english_is_formatted, starts  # noqa: F401


@pytest.fixture(autouse=True)
def quiet(starts, monkeypatch) -> None:  # noqa: F811
    """No Spark, and no folder of lessons from the environment."""
    monkeypatch.delenv(lessons.LESSONS, raising=False)
