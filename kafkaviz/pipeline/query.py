"""A question to a catalog, answered by DuckDB in a process of its own: watched, waited for and
cancelled from any thread.
"""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.pipeline import catalog, sql
from kafkaviz.pipeline.catalog_info import CatalogInfo
from kafkaviz.pipeline.run import CANCELLED_WITHIN_S, CancelledError
from kafkaviz.pipeline.worker_pool import (
    MEMORY,
    MEMORY_MIB,
    Worker,
    WorkerEnded,
    WorkerPool,
    env_number,
)

MOST_ROWS = 10_000  # of an answer
SECONDS = "KAFKAVIZ_QUERY_SECONDS"  # that a query may take
MOST_S = 60
END_STATES = ("done", "failed", "cancelled")
POOL = WorkerPool()


class WorkerLost(KafkavizError):
    """The process that worked on a query ended; the next one starts it again."""


class QueryTooLarge(KafkavizError):
    """A query that needs more memory than it may take."""

    def __init__(self, mib: int) -> None:
        super().__init__(f"the query needs more than {mib} MiB of memory")
        self.mib = mib


class QueryTooLong(KafkavizError):
    """A query that was ended because it took too long."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the query took longer than {seconds} s")
        self.seconds = seconds


@dataclass(frozen=True)
class QueryResult:
    """rows: the first MOST_ROWS at most; all_rows: how many there would be, None where counting
    took too long.

    cut_at: a text ends in … behind so many characters, 0 where none was cut.
    """

    rows: pa.Table
    all_rows: int | None
    seconds: float
    cut_at: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether there are more."""
        return self.all_rows is None or self.all_rows > self.rows.num_rows


@dataclass(frozen=True)
class QueryProgress:
    """How far a query is. state: "waiting" (others come first), "running", at last "done", "failed"
    or "cancelled".
    """

    state: str
    seconds: float = 0.0


class Query:
    """A query; it starts at once."""

    def __init__(self, catalog_path: Path, text: str, most_rows: int = MOST_ROWS) -> None:
        """text: one SELECT over the tables of the catalog."""
        self.text = text
        self._path, self._most_rows = catalog_path, most_rows
        self._state, self._lock, self._end_event = "waiting", threading.Lock(), threading.Event()
        self._worker: Worker | None = None
        self._result: QueryResult | None = None
        self._error: KafkavizError | None = None
        self._started_at = time.monotonic()
        self._ended_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="kafkaviz-query", daemon=True)
        self._thread.start()

    def progress(self) -> QueryProgress:
        """How far it is now."""
        return QueryProgress(self._state, (self._ended_at or time.monotonic()) - self._started_at)

    @property
    def is_over(self) -> bool:
        """Whether it has ended, well or not."""
        return self._end_event.is_set()

    @property
    def error(self) -> KafkavizError | None:
        """What it failed of: sql.QueryError where the query is to blame, QueryTooLong,
        QueryTooLarge, WorkerLost, or another.
        """
        return self._error if self._state == "failed" else None

    def cancel(self) -> None:
        """Ends it at once, and the process that works on it."""
        if self._finish("cancelled"):
            self._thread.join(CANCELLED_WITHIN_S)

    def wait(self, timeout_s: float | None = None) -> QueryResult | None:
        """The answer; None where it takes longer than timeout_s.

        Raises Cancelled, or what went wrong.
        """
        if not self._end_event.wait(timeout_s):
            return None
        if self._state == "cancelled":
            raise CancelledError("the query was cancelled")
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self) -> None:
        try:
            self._finish("done", self._run_on_worker())
        except Exception as fault:
            self._finish(
                "failed",
                error=fault
                if isinstance(fault, KafkavizError)
                else WorkerLost(f"the query ended early: {fault}"),
            )

    def _finish(
        self, state: str, result: QueryResult | None = None, error: KafkavizError | None = None
    ) -> bool:
        """Whether this is how it ends: an end comes once."""
        with self._lock:
            if self._state in END_STATES:
                return False
            self._result, self._error, self._state, self._ended_at = (
                result,
                error,
                state,
                time.monotonic(),
            )
            worker = self._worker
        self._end_event.set()
        POOL.wake()
        if worker is not None and state != "done":
            worker.end()
        return True

    def _run_on_worker(self) -> QueryResult | None:
        info, seconds = catalog.read_info(self._path), env_number(SECONDS, MOST_S)
        worker = POOL.take(self._end_event)
        if worker is None:
            return None
        timer = threading.Timer(seconds, self._finish, ("failed", None, QueryTooLong(seconds)))
        try:
            with self._lock:
                if self._state in END_STATES:
                    return None
                self._worker, self._state = worker, "running"
            timer.start()
            return self._ask(worker, info)
        finally:
            timer.cancel()
            with self._lock:
                self._worker, is_over = None, self._state in END_STATES
            if is_over:  # whoever ended the query ends this one too: nobody else may get it
                worker.end()
            POOL.give_back(worker)

    def _ask(self, worker: Worker, info: CatalogInfo) -> QueryResult:
        """Again where an ingest has just replaced the files that were read."""
        while True:
            tables = {name: list(files) for name, files in info.tables.items()}
            request = {
                "folder": str(self._path.absolute()),
                "tables": tables,
                "text": self.text,
                "most_rows": self._most_rows,
            }
            try:
                head, body = worker.ask(request)
            except WorkerEnded:
                raise WorkerLost("the process that worked on the query ended") from None
            if "lost_files" in head:
                previous, info = info, catalog.read_info(self._path)
                if previous == info:
                    raise CannotOpen(
                        self._path, "lacks files that it names", catalog.FULL_INGEST, kind="missing"
                    )
                continue
            if "wrong" in head:
                raise sql.QueryError(*head["wrong"])
            if "too_large" in head:
                worker.end()  # it would keep what it has taken
                raise QueryTooLarge(env_number(MEMORY, MEMORY_MIB))
            if "failed" in head:
                raise WorkerLost(f"the query ended early: {head['failed']}")
            return QueryResult(pa.ipc.open_stream(body).read_all(), **head)
