"""A query on a catalog, run by DuckDB in a separate process.

Any thread can watch, await or cancel it.
"""

import threading
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from kafkaviz import environment
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.jobs import Job, JobCancelled
from kafkaviz.messages import Message, message
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
from kafkaviz.pipeline.sql import sql
from kafkaviz.pipeline.sql.worker_pool import (
    MEMORY,
    MEMORY_MIB,
    Worker,
    WorkerEnded,
    WorkerPool,
)

MAX_ROWS = 10_000  # the most rows in an answer
SECONDS = "KAFKAVIZ_QUERY_SECONDS"  # names the time limit of a query
MAX_S = 60
POOL = WorkerPool()


class WorkerLost(KafkavizError):
    """The process that ran a query has ended; the next query starts a new one."""


class QueryTooLarge(KafkavizError):
    """A query needs more memory than it may take."""

    def __init__(self, mib: int) -> None:
        super().__init__(message("errors.query_too_large", mib=mib))
        self.mib = mib

    def __reduce__(self) -> tuple:
        return type(self), (self.mib,)


class QueryTooLong(KafkavizError):
    """A query was ended because it took too long."""

    def __init__(self, seconds: int) -> None:
        super().__init__(message("errors.query_too_long", seconds=seconds))
        self.seconds = seconds

    def __reduce__(self) -> tuple:
        return type(self), (self.seconds,)


@dataclass(frozen=True)
class QueryResult:
    """The rows of an answer.

    Attributes:
        rows: the first rows, up to the limit of the query.
        all_rows: the total number of rows, or None if counting took too long.
        cut_at: the number of characters after which texts end in "…", or 0 if none was cut.
    """

    rows: pa.Table
    all_rows: int | None
    seconds: float
    cut_at: int = 0

    @property
    def is_cut(self) -> bool:
        return self.all_rows is None or self.all_rows > self.rows.num_rows


class Query(Job[QueryResult, None]):
    """A query that starts at once; its state is "waiting" while others run first.

    Its error may be a sql.QueryError if the query is wrong, QueryTooLong, QueryTooLarge,
    WorkerLost, or another one.
    """

    def __init__(self, catalog_path: Path, text: str, most_rows: int = MAX_ROWS) -> None:
        """Starts the query in the background.

        Args:
            text: one SELECT over the tables of the catalog.
        """
        self.text = text
        self._path = catalog_path
        self._most_rows = most_rows
        self._worker: Worker | None = None
        super().__init__(lambda _report: self._run_on_worker(), None, state="waiting")

    def cancellation(self) -> JobCancelled:
        return JobCancelled(message("errors.query_cancelled"))

    def on_stop(self) -> None:
        """Ends the process that runs it, or its wait for one."""
        POOL.wake()
        if worker := self._worker:
            worker.end()
        self.settle()

    def explain(self, error: Exception) -> Exception:
        """Returns a WorkerLost, because other exceptions come from a lost process."""
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
            if is_over:  # stop() may not have ended the worker, and no other query may get it
                worker.end()
            POOL.give_back(worker)

    def _ask(self, worker: Worker, info: CatalogInfo) -> QueryResult:
        """Runs the query, and repeats it if an ingest has just replaced the files."""
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
                raise WorkerLost(message("errors.query_process_ended")) from None
            if "lost_files" in head:
                previous = info
                info = catalog.read_info(self._path)
                if previous == info:
                    raise CannotOpen(
                        self._path,
                        message("errors.lacks_files"),
                        catalog.FULL_INGEST,
                        kind="missing",
                    )
                continue
            if "wrong" in head:
                what, advice, start, stop = head["wrong"]
                raise sql.QueryError(
                    Message.from_json(what),
                    Message.from_json(advice) if advice else None,
                    start,
                    stop,
                )
            if "too_large" in head:
                worker.end()  # the process would keep its memory
                raise QueryTooLarge(environment.positive_number(MEMORY, MEMORY_MIB))
            if "failed" in head:
                raise WorkerLost(message("errors.query_ended_early", reason=head["failed"]))
            return QueryResult(pa.ipc.open_stream(body).read_all(), **head)
