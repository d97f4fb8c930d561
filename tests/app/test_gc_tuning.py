"""Long-lived objects are left out of the next garbage collection; garbage is still freed."""

import asyncio
import gc
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import streamlit as st

from kafkaviz.app import scheduling


class Thing:
    """An object that a weak reference can watch."""


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Watches Python's searches for one test; the next full search is minutes away.

    What the tests before have left is frozen: to search it takes seconds.
    """
    monkeypatch.setattr(scheduling, "_everything_s", time.monotonic())
    was = scheduling._freeze_after_long_collection in gc.callbacks
    gc.freeze()
    scheduling.freeze_survivors()
    scheduling.freeze_survivors()
    yield
    gc.unfreeze()
    if not was:
        gc.callbacks.remove(scheduling._freeze_after_long_collection)


def test_a_long_search_shortens_the_next_ones(monkeypatch):
    circle = Thing()
    circle.itself, reference = circle, weakref.ref(circle)
    del circle
    things = [Thing() for _ in range(10_000)]
    monkeypatch.setattr(scheduling, "LONG_S", -1)
    frozen_count = gc.get_freeze_count()
    gc.collect()
    assert reference() is None and gc.get_freeze_count() > frozen_count + len(things) / 2
    assert gc.callbacks.count(scheduling._freeze_after_long_collection) == 1


def test_a_short_search_changes_nothing(monkeypatch):
    monkeypatch.setattr(scheduling, "LONG_S", 3600)
    frozen_count = gc.get_freeze_count()
    gc.collect()
    monkeypatch.setattr(scheduling, "LONG_S", -1)
    gc.collect(1)
    assert gc.get_freeze_count() <= frozen_count  # a thread may free some


def test_what_was_left_out_is_freed_once_nothing_refers_to_it(monkeypatch):
    """A closed directory gives its memory back."""
    monkeypatch.setattr(scheduling, "LONG_S", -1)
    thing = Thing()
    reference = weakref.ref(thing)
    gc.collect()
    del thing
    assert reference() is None


def test_a_circle_that_was_left_out_is_found_later(monkeypatch):
    """A few minutes after a tab was closed its objects are freed, and the rest is left out again."""
    monkeypatch.setattr(scheduling, "LONG_S", -1)
    circle = Thing()
    circle.itself, reference = circle, weakref.ref(circle)
    gc.collect()
    del circle
    gc.collect()
    assert reference() is not None
    monkeypatch.setattr(
        scheduling, "_everything_s", scheduling._everything_s - scheduling.EVERYTHING_S - 1
    )
    gc.collect()
    assert reference() is None and gc.get_freeze_count() > 10_000


def searches_of_a_server(searches: list[None]) -> tuple[int, int]:
    """Returns how many searches a server makes while it runs, and after its end."""

    async def serve() -> int:
        async with scheduling.collect_periodically():
            await asyncio.sleep(0.3)
        count = len(searches)
        await asyncio.sleep(0.1)
        return count

    with ThreadPoolExecutor() as threads:  # a browser keeps an event loop in the tests' own
        count = threads.submit(asyncio.run, serve()).result()
    return count, len(searches) - count


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Collects an item for each search of a server, checked every hundredth of a second."""
    searches: list[None] = []
    monkeypatch.setattr(scheduling, "COLLECTION_S", 0.01)
    monkeypatch.setattr(gc, "collect", lambda: searches.append(None))
    return searches


def test_a_server_searches_now_and_then_until_it_ends(searches, monkeypatch):
    monkeypatch.setattr(gc, "get_count", lambda: (12, 1, 0))
    count, later_count = searches_of_a_server(searches)
    assert count > 1
    assert later_count == 0


def test_a_server_that_does_nothing_searches_nothing(searches, monkeypatch):
    monkeypatch.setattr(gc, "get_count", lambda: (600, 0, 0))
    assert searches_of_a_server(searches) == (0, 0)


def test_streamlit_knows_the_option_that_ends_its_own_searches():
    (option,) = scheduling.NO_COLLECTION_AFTER_RUN
    assert st.get_option(option) is True
