"""The order in which the runs of pages get the interpreter, when many are asked for at once.

Python runs one thread at a time. Where twenty runs share it, all are ready at the end; one after
the other, the first is ready after a twentieth of that time, the one in the middle after half of
it, and the last no later.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps

TURN_S = 0.1  # of a run that takes longer: from then on it shares with the next ones


# when the run of this thread was asked for
_asked_s: ContextVar[float] = ContextVar("asked_s", default=math.inf)


class RunQueue:
    """Lets runs begin in the order in which they came.

    The next one begins when the one before has ended, or has had its turn.
    """

    def __init__(self, turn_s: float = TURN_S) -> None:
        self._turn_s = turn_s
        self._lock = threading.Lock()
        self._waiting: deque[threading.Condition] = deque()
        self._latest: threading.Condition | None = None  # the run that has its turn
        self._turn_ends_s = 0.0

    @contextmanager
    def turn(self) -> Generator[None]:
        """Waits until all who came before have begun, and the latest of them has had its turn."""
        run = threading.Condition(self._lock)
        token = _asked_s.set(time.monotonic())
        with self._lock:
            self._waiting.append(run)
            while (is_behind := self._waiting[0] is not run) or self._turn_left_s() > 0:
                run.wait(None if is_behind else self._turn_left_s())
            self._waiting.popleft()
            self._latest, self._turn_ends_s = run, time.monotonic() + self._turn_s
            self._wake_first()
        try:
            yield
        finally:
            _asked_s.reset(token)
            with self._lock:
                if self._latest is run:
                    self._latest = None
                    self._wake_first()

    def _turn_left_s(self) -> float:
        return max(self._turn_ends_s - time.monotonic(), 0) if self._latest else 0

    def _wake_first(self) -> None:
        """Lets who is first look, and wait for as long as the turn is."""
        if self._waiting:
            self._waiting[0].notify()


_queue = RunQueue()


def saw_after_asking(looked_s: float) -> bool:
    """Whether what somebody saw at this moment is as new as the run that asks could see it.

    A run that waits for its turn is asked for before others look.

    Args:
        looked_s: by time.monotonic().

    Returns:
        False outside a turn, where nothing is known of when it was asked for.
    """
    return looked_s > _asked_s.get()


def in_turn(render_page: Callable[[], None]) -> Callable[[], None]:
    """Makes each run of a page wait for its turn."""

    @wraps(render_page)
    def render_in_turn() -> None:
        with _queue.turn():
            render_page()

    return render_in_turn
