"""A query on a catalog, run by DuckDB in a separate process.

Any thread can watch, await or cancel the query. Several processes run at once, each with one query.
One idle process is kept for the next query.
"""

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from kafkaviz import environment
from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobCancelled
from kafkaviz.messages import Message, message
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
from kafkaviz.pipeline.sql import sql
from kafkaviz.pipeline.sql.sql import MAX_BYTES

MAX_ROWS = 10_000  # most rows in a result
SECONDS = "KAFKAVIZ_QUERY_SECONDS"  # environment variable for the time limit of a query, in seconds
MAX_S = 60
MAX_QUERIES = 2  # most queries that run at once; others wait for their turn
IDLE_WORKERS = 1  # number of idle processes that are kept
MEMORY = "KAFKAVIZ_QUERY_MEMORY"  # environment variable for the memory limit of a query, in MiB
MEMORY_MIB = 1024
MODULE = "kafkaviz.pipeline.sql.sql_worker"


class WorkerLost(KafkavizError):
    """A query failed because its worker process ended. The next query starts a new process."""


class QueryTooLarge(KafkavizError):
    """A query needs more memory than the limit."""

    def __init__(self, mib: int) -> None:
        super().__init__(message("errors.query_too_large", mib=mib))
        self.mib = mib


class QueryTooLong(KafkavizError):
    """A query was ended because it took longer than the limit."""

    def __init__(self, seconds: int) -> None:
        super().__init__(message("errors.query_too_long", seconds=seconds))
        self.seconds = seconds


@dataclass(frozen=True)
class QueryResult:
    """The result of a query."""

    rows: pa.Table  # the first rows, up to the requested number
    all_rows: int | None  # the total number of rows; None: counting took too long
    seconds: float
    # the length limit of a text, in characters; longer texts end in "…". 0: no text was cut
    cut_at: int = 0

    @property
    def is_cut(self) -> bool:
        return self.all_rows is None or self.all_rows > self.rows.num_rows


class Worker:
    def __init__(self) -> None:
        memory_mib = environment.positive_number(MEMORY, MEMORY_MIB)
        threads = max(1, (os.cpu_count() or 1) // MAX_QUERIES)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE, str(memory_mib), str(threads)],
            # the process gets no other variables of the server's environment
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
        """Sends a request to the process. Returns the values of the reply, and an Arrow stream.

        Raises WorkerLost if the process has ended. If a reply is truncated or too large, kills the
        process and raises WorkerLost.
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
        except (OSError, ValueError, EOFError):
            self.end()
            raise WorkerLost(message("errors.query_process_ended")) from None
        return head, body

    def end(self) -> None:
        """Kills the process. Any thread may call this."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(OSError, ValueError):  # closing fails if it cannot flush unsent bytes
                pipe.close()


class WorkerPool:
    """Lends worker processes to queries, in the order of their requests."""

    def __init__(self, limit: int = MAX_QUERIES) -> None:
        self._limit = limit
        self._condition = threading.Condition()
        self._line: deque[object] = deque()
        self._idle: list[Worker] = []
        self._busy = 0

    def take(self, end_event: threading.Event) -> Worker | None:
        """Waits for this caller's turn and returns a worker.

        Returns None if another thread has set `end_event`. The other thread must then call `wake`.
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
        """Keeps or ends a worker after its use. `worker` is None if its process could not start."""
        with self._condition:
            self._busy -= 1
            is_reusable = worker is not None and worker.is_alive and len(self._idle) < IDLE_WORKERS
            if is_reusable:
                self._idle.append(worker)
            self._condition.notify_all()
        if worker is not None and not is_reusable:
            worker.end()

    def wake(self) -> None:
        """Makes the waiting callers of `take` check their `end_event`."""
        with self._condition:
            self._condition.notify_all()


POOL = WorkerPool()


class Query(Job[QueryResult, None]):
    """A query that runs in the background. Its state is "waiting" while other queries run first.

    `error` is a sql.QueryError if the query is wrong. It may also be QueryTooLong, QueryTooLarge,
    WorkerLost, or a CannotOpen about the catalog.
    """

    def __init__(self, catalog_path: Path, text: str, most_rows: int = MAX_ROWS) -> None:
        """Starts the query in the background. `text` is one SELECT over the catalog's tables."""
        self.text = text
        self._path = catalog_path
        self._most_rows = most_rows
        self._worker: Worker | None = None
        super().__init__(lambda _report: self._run_on_worker(), None, state="waiting")

    def cancellation(self) -> JobCancelled:
        return JobCancelled(message("errors.query_cancelled"))

    def on_stop(self) -> None:
        POOL.wake()
        if worker := self._worker:
            worker.end()
        self.settle()

    def explain(self, error: Exception) -> Exception:
        return WorkerLost(message("errors.query_ended_early", reason=str(error)))

    def _run_on_worker(self) -> QueryResult:
        info = catalog.read_info(self._path)
        seconds = environment.positive_number(SECONDS, MAX_S)
        worker = POOL.take(self._end_event)
        if worker is None:
            raise self.cancellation()
        timer = threading.Timer(seconds, self.stop, (QueryTooLong(seconds),))
        try:
            self._worker = worker
            self.enter("running")
            timer.start()
            return self._ask(worker, info)
        finally:
            timer.cancel()
            with self._lock:
                is_over = self.is_over
                self._worker = None
            if is_over:  # `stop` may not have ended the worker yet, and no other query may get it
                worker.end()
            POOL.give_back(worker)

    def _ask(self, worker: Worker, info: CatalogInfo) -> QueryResult:
        while True:
            request = {
                "folder": str(self._path.absolute()),
                "tables": {name: list(files) for name, files in info.tables.items()},
                "text": self.text,
                "most_rows": self._most_rows,
            }
            head, body = worker.ask(request)
            if "lost_files" in head:
                previous = info
                info = catalog.read_info(self._path)
                if previous == info:
                    raise catalog.lacks_files(self._path)
                continue
            if "wrong" in head:
                what, advice, start, stop = head["wrong"]
                advice = advice and Message.from_json(advice)
                raise sql.QueryError(Message.from_json(what), advice, start, stop)
            if "too_large" in head:
                worker.end()  # an idle process would keep the memory of a large query
                raise QueryTooLarge(environment.positive_number(MEMORY, MEMORY_MIB))
            if "failed" in head:
                raise WorkerLost(message("errors.query_ended_early", reason=head["failed"]))
            return QueryResult(pa.ipc.open_stream(body).read_all(), **head)
