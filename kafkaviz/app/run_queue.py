"""The order in which page runs get the interpreter when many are requested at once.

Python runs one thread at a time. If twenty runs share the interpreter, all of them finish late. If
they run one after the other, most finish earlier, and the last one no later.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps

TURN_S = 0.1  # a longer run shares the interpreter with the next ones after this time


# monotonic time at which the run in this thread was requested; inf outside a turn
_requested_s: ContextVar[float] = ContextVar("requested_s", default=math.inf)


class RunQueue:
    """Starts runs in the order of their requests.

    The next run starts when the previous one has ended or has used up its turn.
    """

    def __init__(self, turn_s: float = TURN_S) -> None:
        self._turn_s = turn_s
        self._lock = threading.Lock()
        self._waiting: deque[threading.Condition] = deque()
        self._latest: threading.Condition | None = None  # the run whose turn it is
        self._turn_ends_s = 0.0

    @contextmanager
    def turn(self) -> Generator[None]:
        """Waits until it is this run's turn."""
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
    """Returns whether `looked_s` (monotonic) is later than the request for the current run.

    If so, the run can reuse what another run saw at that time. False outside a turn.
    """
    return looked_s > _requested_s.get()


def in_turn(render_page: Callable[[], None]) -> Callable[[], None]:
    @wraps(render_page)
    def render_in_turn() -> None:
        with _queue.turn():
            render_page()

    return render_in_turn
