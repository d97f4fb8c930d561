"""Garbage collection at times when it delays no page.

By default Streamlit collects garbage after each run of a page, and the browser gets the last
messages of the run only then. When twenty learners move on at once, that happens twenty times. This
server collects periodically instead, for all sessions together.

With its libraries and some directories loaded, the process holds a million objects, and a full
collection takes longer than the run of a page. Objects that survive a long collection are therefore
frozen: later collections skip them. They are still freed when their reference count drops to 0.
Reference cycles among frozen objects, such as those of a closed browser tab, would stay. Therefore
every few minutes one collection includes the frozen objects.
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
    """Collects garbage every COLLECTION_S while the server runs."""
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
    if _freeze_after_long_search not in gc.callbacks:
        gc.callbacks.append(_freeze_after_long_search)


def _freeze_after_long_search(phase: str, info: dict) -> None:
    """Python calls this before and after each collection; generation 2 means all objects."""
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
