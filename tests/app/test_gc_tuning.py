"""What outlives a long search for garbage is left out of the next; what is garbage is not kept by
it.
"""

import gc
import time
import weakref
from collections.abc import Iterator

import pytest

from kafkaviz.app import gc_tuning


class Thing:
    """Something a weak reference can watch."""


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python's searches are watched for one test, and nothing is left out before or after it; the
    next one through everything is minutes away.
    """
    monkeypatch.setattr(gc_tuning, "_everything_s", time.monotonic())
    was = gc_tuning._freeze_after_long_search in gc.callbacks
    gc.unfreeze()
    gc_tuning.freeze_survivors()
    gc_tuning.freeze_survivors()
    yield
    gc.unfreeze()
    if not was:
        gc.callbacks.remove(gc_tuning._freeze_after_long_search)


def test_a_long_search_shortens_the_next_ones(monkeypatch):
    """All that was alive is out of the way, and what was garbage is gone."""
    circle = Thing()
    circle.itself, reference = circle, weakref.ref(circle)
    del circle
    monkeypatch.setattr(gc_tuning, "LONG_S", -1)
    gc.collect()
    assert reference() is None and gc.get_freeze_count() > 10_000
    assert gc.callbacks.count(gc_tuning._freeze_after_long_search) == 1


def test_a_short_search_changes_nothing(monkeypatch):
    """Nor does one through young objects only."""
    monkeypatch.setattr(gc_tuning, "LONG_S", 3600)
    gc.collect()
    monkeypatch.setattr(gc_tuning, "LONG_S", -1)
    gc.collect(1)
    assert gc.get_freeze_count() == 0


def test_what_was_left_out_is_freed_once_nothing_refers_to_it(monkeypatch):
    """A directory that is closed gives its memory back."""
    monkeypatch.setattr(gc_tuning, "LONG_S", -1)
    thing = Thing()
    reference = weakref.ref(thing)
    gc.collect()
    del thing
    assert reference() is None


def test_a_circle_that_was_left_out_is_found_later(monkeypatch):
    """A tab that was closed after a long search: a few minutes later all of it is gone, and what
    stays is left out again.
    """
    monkeypatch.setattr(gc_tuning, "LONG_S", -1)
    circle = Thing()
    circle.itself, reference = circle, weakref.ref(circle)
    gc.collect()
    del circle
    gc.collect()
    assert reference() is not None
    monkeypatch.setattr(
        gc_tuning, "_everything_s", gc_tuning._everything_s - gc_tuning.EVERYTHING_S - 1
    )
    gc.collect()
    assert reference() is None and gc.get_freeze_count() > 10_000
