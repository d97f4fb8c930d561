"""Garbage collection at times when it delays no page.

By default Streamlit collects garbage after each run of a page, before the browser gets the last
messages of the run. This server instead collects periodically for all sessions together.

A full collection takes longer than the run of a page. So objects that survive a long collection are
frozen, and later collections skip them. A frozen object is still freed when its reference count
drops to 0. To free reference cycles among frozen objects, one collection every few minutes includes
them.
"""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

# options for Streamlit while this module collects garbage
NO_COLLECTION_AFTER_RUN = {"runner.postScriptGC": False}
COLLECTION_S = 5.0  # seconds between two collections
LONG_S = 0.02  # CPU time of a long collection: some hundred thousand objects
# seconds between two collections that include frozen objects, each of a few tenths of a second
EVERYTHING_S = 300

_started_s = 0.0
_everything_s = time.monotonic()


@asynccontextmanager
async def collect_periodically() -> AsyncGenerator[None, None]:
    """Collects garbage every COLLECTION_S seconds while the server runs."""
    collections = asyncio.create_task(_collect_forever())
    try:
        yield
    finally:
        collections.cancel()


async def _collect_forever() -> None:
    while True:
        await asyncio.sleep(COLLECTION_S)
        if any(gc.get_count()[1:]):  # else hardly any objects were created
            gc.collect()


def freeze_survivors() -> None:
    """Makes every long collection freeze the objects that survive it."""
    if _freeze_after_long_collection not in gc.callbacks:
        gc.callbacks.append(_freeze_after_long_collection)


def _freeze_after_long_collection(phase: str, info: dict) -> None:
    """Called by Python before and after each collection. Generation 2 means all objects."""
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
