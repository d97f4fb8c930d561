"""Fixtures that the Workshop's tests share with those of the app's pages."""

from tests.app.conftest import (  # noqa: F401
    chinese,
    directory,
    nothing_cached,
    only_english_is_formatted,
    starts,
)
