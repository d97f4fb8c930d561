"""A question to a catalog, answered by DuckDB in a process of its own.

Watched, waited for and cancelled from any thread.
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

MAX_ROWS = 10_000  # of an answer
SECONDS = "KAFKAVIZ_QUERY_SECONDS"  # that a query may take
MAX_S = 60
POOL = WorkerPool()


class WorkerLost(KafkavizError):
    """The process that worked on a query ended; the next one starts it again."""


class QueryTooLarge(KafkavizError):
    """A query that needs more memory than it may take."""

    def __init__(self, mib: int) -> None:
        super().__init__(message("errors.query_too_large", mib=mib))
        self.mib = mib

    def __reduce__(self) -> tuple:
        """Pickled as its arguments."""
        return type(self), (self.mib,)


class QueryTooLong(KafkavizError):
    """A query that was ended because it took too long."""

    def __init__(self, seconds: int) -> None:
        super().__init__(message("errors.query_too_long", seconds=seconds))
        self.seconds = seconds

    def __reduce__(self) -> tuple:
        """Pickled as its arguments."""
        return type(self), (self.seconds,)


@dataclass(frozen=True)
class QueryResult:
    """The rows of an answer.

    Attributes:
        rows: the first MAX_ROWS at most.
        all_rows: how many there would be, None where counting took too long.
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


class Query(Job[QueryResult, None]):
    """A query; it starts at once, "waiting" while others come first.

    error: sql.QueryError where the query is to blame, QueryTooLong, QueryTooLarge, WorkerLost, or
    another.
    """

    def __init__(self, catalog_path: Path, text: str, most_rows: int = MAX_ROWS) -> None:
        """Starts the query in the background.

        Args:
            text: one SELECT over the tables of the catalog.
        """
        self.text = text
        self._path, self._most_rows = catalog_path, most_rows
        self._worker: Worker | None = None
        super().__init__(lambda _report: self._run_on_worker(), None, state="waiting")

    def cancellation(self) -> JobCancelled:
        """The error that it ends with where somebody cancels it."""
        return JobCancelled(message("errors.query_cancelled"))

    def on_stop(self) -> None:
        """Ends the process that works on it, or its wait for one."""
        POOL.wake()
        if worker := self._worker:
            worker.end()
        self.settle()

    def explain(self, error: Exception) -> Exception:
        """It comes from a process that was lost."""
        return WorkerLost(message("errors.query_ended_early", reason=str(error)))

    def _run_on_worker(self) -> QueryResult:
        info, seconds = catalog.read_info(self._path), environment.positive_number(SECONDS, MAX_S)
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
                self._worker, is_over = None, self.is_over
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
                raise WorkerLost(message("errors.query_process_ended")) from None
            if "lost_files" in head:
                previous, info = info, catalog.read_info(self._path)
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
                worker.end()  # it would keep what it has taken
                raise QueryTooLarge(environment.positive_number(MEMORY, MEMORY_MIB))
            if "failed" in head:
                raise WorkerLost(message("errors.query_ended_early", reason=head["failed"]))
            return QueryResult(pa.ipc.open_stream(body).read_all(), **head)
