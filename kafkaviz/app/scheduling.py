"""The order of page runs, and garbage collection at times when it delays no page.

Python runs one thread at a time. If twenty page runs share the interpreter, all of them finish
late. If they run one after the other, most finish earlier, and the last one no later.

By default Streamlit collects garbage after each run of a page, before the browser gets the last
messages of the run. This server instead collects periodically for all sessions together. A full
collection takes longer than the run of a page. So objects that survive a long collection are
frozen, and later collections skip them. A frozen object is still freed when its reference count
drops to 0. To free reference cycles among frozen objects, one collection every few minutes includes
them.
"""

import asyncio
import gc
import math
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import wraps

TURN_S = 0.1  # seconds after which the next run starts, even if the current run has not ended


# monotonic time at which the run in this thread was requested; inf outside a turn
_requested_s: ContextVar[float] = ContextVar("requested_s", default=math.inf)
# options for Streamlit while this module collects garbage
NO_COLLECTION_AFTER_RUN = {"runner.postScriptGC": False}
COLLECTION_S = 5.0  # seconds between two collections
LONG_S = 0.02  # CPU time of a long collection: some hundred thousand objects
# seconds between two collections that include frozen objects; each takes some tenths of a second
EVERYTHING_S = 300

_started_s = 0.0
_everything_s = time.monotonic()


class RunQueue:
    """Starts page runs in the order of their requests.

    The next run starts when the previous run has ended or has taken `turn_s` seconds.
    """

    def __init__(self, turn_s: float = TURN_S) -> None:
        self._turn_s = turn_s
        self._lock = threading.Lock()
        self._waiting: deque[threading.Condition] = deque()
        self._latest: threading.Condition | None = None  # the run whose turn it is
        self._turn_ends_s = 0.0

    @contextmanager
    def turn(self) -> Generator[None]:
        """Waits until this page run may start. The body of the with statement is the page run."""
        run = threading.Condition(self._lock)
        token = _requested_s.set(time.monotonic())
        with self._lock:
            self._waiting.append(run)
            while (is_behind := self._waiting[0] is not run) or self._turn_left_s() > 0:
                run.wait(None if is_behind else self._turn_left_s())
            self._waiting.popleft()
            self._latest = run
            self._turn_ends_s = time.monotonic() + self._turn_s
            self._wake_first()
        try:
            yield
        finally:
            _requested_s.reset(token)
            with self._lock:
                if self._latest is run:
                    self._latest = None
                    self._wake_first()

    def _turn_left_s(self) -> float:
        return max(self._turn_ends_s - time.monotonic(), 0) if self._latest else 0

    def _wake_first(self) -> None:
        if self._waiting:
            self._waiting[0].notify()


_queue = RunQueue()


def is_later_than_request(looked_s: float) -> bool:
    """Returns whether the current run was requested before `looked_s` (monotonic seconds).

    If so, this run can reuse what another run read from the disk at `looked_s`. Returns False
    outside `RunQueue.turn`.
    """
    return looked_s > _requested_s.get()


def in_turn(render_page: Callable[[], None]) -> Callable[[], None]:
    @wraps(render_page)
    def render_in_turn() -> None:
        with _queue.turn():
            render_page()

    return render_in_turn


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
    """Makes Python freeze the objects that survive a long full garbage collection."""
    if _freeze_after_long_collection not in gc.callbacks:
        gc.callbacks.append(_freeze_after_long_collection)


def _freeze_after_long_collection(phase: str, info: dict) -> None:
    """Freezes the survivors of a long full collection. Called before and after each collection."""
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
