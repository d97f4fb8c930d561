"""The processes that run queries.

Several run at once, each with one query, and one idle process is kept for the next query.
"""

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, cast

from kafkaviz import environment
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

MAX_QUERIES = 2  # queries at once; others wait for their turn
IDLE_WORKERS = 1  # idle processes that are kept
MEMORY = "KAFKAVIZ_QUERY_MEMORY"  # names the memory limit of a query, in MiB
MEMORY_MIB = 1024
MAX_BYTES = 1 << 29  # the limit for a reply
MODULE = "kafkaviz.pipeline.sql.sql_worker"


class WorkerEnded(KafkavizError):
    """A worker ended before it replied."""


class Worker:
    def __init__(self) -> None:
        arguments = [
            str(environment.positive_number(MEMORY, MEMORY_MIB)),
            str(max(1, (os.cpu_count() or 1) // MAX_QUERIES)),
        ]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE, *arguments],
            # the process gets nothing else of the server's environment
            env={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._input = cast(IO[bytes], self._process.stdin)
        self._output = cast(IO[bytes], self._process.stdout)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, request: Mapping) -> tuple[dict, bytes]:
        """Sends a request to the process.

        Returns:
            The values of the reply, and an Arrow stream.

        Raises:
            WorkerEnded: the process has ended, or it was ended because its reply is truncated or
                too large.
        """
        try:
            self._input.write(json.dumps(request).encode() + b"\n")
            self._input.flush()
            head = json.loads(self._output.readline())
            size = head.pop("bytes")
            if size > MAX_BYTES:
                raise ValueError
            body = self._output.read(size)
            if len(body) < size:
                raise EOFError
        except (OSError, ValueError, EOFError) as fault:
            self.end()
            raise WorkerEnded(message("errors.worker_ended")) from fault
        return head, body

    def end(self) -> None:
        """Kills the process; may be called from any thread."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(OSError, ValueError):  # closing fails if unsent bytes cannot be flushed
                pipe.close()


class WorkerPool:
    """Hands out workers in the order of the requests."""

    def __init__(self, limit: int = MAX_QUERIES) -> None:
        self._limit = limit
        self._condition = threading.Condition()
        self._line: deque[object] = deque()
        self._idle: list[Worker] = []
        self._busy = 0

    def take(self, end_event: threading.Event) -> Worker | None:
        """Waits for this call's turn and returns a worker.

        Returns:
            None if `end_event` is set before; call `wake` after setting it.
        """
        ticket = object()
        with self._condition:
            self._line.append(ticket)
            self._condition.wait_for(
                lambda: end_event.is_set() or (self._busy < self._limit and self._line[0] is ticket)
            )
            self._line.remove(ticket)
            self._condition.notify_all()
            if end_event.is_set():
                return None
            self._busy += 1
            warm = self._idle.pop() if self._idle else None
        try:
            return warm if warm and warm.is_alive else Worker()
        except BaseException:
            self.give_back(None)
            raise

    def give_back(self, worker: Worker | None) -> None:
        """Returns a worker to the pool, which keeps it for another query if it is alive.

        Args:
            worker: None for one that did not start.
        """
        with self._condition:
            self._busy -= 1
            is_reusable = worker is not None and worker.is_alive and len(self._idle) < IDLE_WORKERS
            if is_reusable:
                self._idle.append(worker)
            self._condition.notify_all()
        if worker is not None and not is_reusable:
            worker.end()

    def wake(self) -> None:
        """Makes the waiting calls check their `end_event`."""
        with self._condition:
            self._condition.notify_all()
