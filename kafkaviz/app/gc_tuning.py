"""Keeps the search for garbage from delaying a page.

By itself Streamlit looks for garbage after each run of a page, in all there is, and sends the last
of the page's messages only then: with twenty learners who go on at once, twenty times. The server
looks for it now and then instead, for all of them together.

A server that has its libraries and some directories loaded holds a million objects: a search takes
longer than the run of a page. What outlives a long one is therefore left out of the next ones. It
is still freed when nothing refers to it any more. What refers to itself in a circle, as all that
belongs to a tab does, would stay: so every few minutes one search goes through everything again.
"""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

# what Streamlit is told where the server searches by itself
NO_COLLECTION_AFTER_RUN = {"runner.postScriptGC": False}
COLLECTION_S = 5.0  # between two searches
LONG_S = 0.02  # of a processor: some hundred thousand objects
EVERYTHING_S = 300  # between two searches through all there is, a few tenths of a second each

_started_s = 0.0
_everything_s = time.monotonic()


@asynccontextmanager
async def collect_periodically() -> AsyncGenerator[None, None]:
    """Looks for garbage every COLLECTION_S as long as the server runs."""
    collections = asyncio.create_task(_collect_forever())
    try:
        yield
    finally:
        collections.cancel()


async def _collect_forever() -> None:
    while True:
        await asyncio.sleep(COLLECTION_S)
        if any(gc.get_count()[1:]):  # else there is hardly an object more than before
            gc.collect()


def freeze_survivors() -> None:
    """From now on long searches shorten the next ones; a second call changes nothing."""
    if _freeze_after_long_search not in gc.callbacks:
        gc.callbacks.append(_freeze_after_long_search)


def _freeze_after_long_search(phase: str, info: dict) -> None:
    """Called by Python before and after each search; 2 is one through all objects."""
    global _started_s, _everything_s
    if info["generation"] < 2:
        return
    if phase == "start":
        if time.monotonic() - _everything_s > EVERYTHING_S:
            _everything_s = time.monotonic()
            gc.unfreeze()
        _started_s = time.thread_time()
    elif time.thread_time() - _started_s > LONG_S:
        gc.freeze()
