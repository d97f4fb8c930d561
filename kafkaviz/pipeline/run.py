"""A run in a thread of its own: watched, waited for and cancelled from any other."""

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.catalog_info import CatalogInfo
from kafkaviz.pipeline.plan import IngestTask, LoadTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CANCELLED_WITHIN_S = 1.0


class CancelledError(KafkavizError):
    """The run was cancelled; the catalog is what it was."""


class IngestError(KafkavizError):
    """The run ended early; the catalog is what it was."""


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    state: "starting", "reading", "writing", at last "done", "fresh" (there was nothing to do),
    "failed" or "cancelled". done_bytes: of .log; those of as many tasks as have ended, in the order
    in which tasks are handed out.
    """

    done_tasks: int = 0
    total_tasks: int = 0
    done_bytes: int = 0
    total_bytes: int = 0
    bytes_per_s: float | None = None
    state: str = "starting"
    error: str | None = None


@dataclass(frozen=True)
class IngestResult:
    """What a run did, beside the catalog that it left."""

    read_segments: int
    read_bytes: int  # of .log
    kept_segments: int
    seconds: float


class Ingest:
    """A run; start_ingest makes it and it starts at once."""

    def __init__(self, steps: Callable[["Ingest"], CatalogInfo]) -> None:
        """steps: what the run does; it tells its state by enter, reads and ends, and may end with
        any error.
        """
        self.group = f"kafkaviz-{uuid.uuid4().hex}"  # of its Spark jobs
        self.done: IngestResult | None = None
        self._steps = steps
        self._started_at = time.monotonic()
        self._spark: SparkSession | None = None
        self._tasks: list[IngestTask | LoadTask] = []
        self._reading_since = 0.0
        self._state, self._lock = "starting", threading.Lock()
        self._info: CatalogInfo | None = None
        self._error: Exception | None = None
        self._cancelled, self._end_event = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafkaviz-ingest", daemon=True)
        self._thread.start()

    def progress(self) -> Progress:
        """How far it is now; takes some milliseconds, since Spark is asked."""
        tasks, state = self._tasks, self._state
        count = (
            self._count_ended(tasks)
            if state == "reading"
            else len(tasks)
            if state in ("writing", "done")
            else 0
        )
        done_bytes = sum(task.log_bytes for task in tasks[:count])
        seconds = time.monotonic() - self._reading_since
        return Progress(
            done_tasks=count,
            total_tasks=len(tasks),
            done_bytes=done_bytes,
            total_bytes=sum(task.log_bytes for task in tasks),
            bytes_per_s=done_bytes / seconds if state == "reading" and count else None,
            state=state,
            error=str(self._error) if state == "failed" else None,
        )

    def cancel(self) -> None:
        """Ends the run within about a second and throws away what it has read; nothing happens once
        the catalog is being replaced.

        Where Spark is still starting, which nothing can stop, the thread goes on that long and then
        ends by itself.
        """
        with self._lock:
            if self._state not in ("starting", "reading"):
                return
            self._cancelled.set()
            self._state = "cancelled"
        if self._spark is not None:
            with suppress(Exception):  # without its JVM the run ends anyway
                # Future jobs too: the run may be between asking for a job and Spark's knowing of
                # it.
                context: Any = self._spark.sparkContext
                context._jsc.sc().cancelJobGroupAndFutureJobs(self.group)
        self._thread.join(CANCELLED_WITHIN_S)
        self._end_event.set()

    def settle(self, timeout_s: float) -> None:
        """Waits until a cancelled run has cleared away what it had written aside, or for this long;
        the next run clears the rest.
        """
        self._thread.join(timeout_s)

    def wait(self, timeout_s: float | None = None) -> CatalogInfo | None:
        """The catalog, once the run is over; None if that takes longer than timeout_s.

        Raises Cancelled, or what went wrong.
        """
        if not self._end_event.wait(timeout_s):
            return None
        if self._cancelled.is_set():
            raise CancelledError("the run was cancelled; the catalog is what it was")
        if self._error is not None:
            raise self._error
        return self._info

    def enter(self, state: str) -> None:
        """For the steps: the run is this far; raises Cancelled where it was cancelled meanwhile."""
        with self._lock:
            if self._cancelled.is_set():
                raise CancelledError("the run was cancelled")
            self._state = state

    def start_reading(self, spark: "SparkSession", tasks: Sequence[IngestTask | LoadTask]) -> None:
        """For the steps: these tasks follow those that were read before, as jobs of this run's
        group.
        """
        self._spark = spark
        spark.sparkContext.setJobGroup(self.group, "kafkaviz ingest", interruptOnCancel=True)
        self._tasks = [*self._tasks, *tasks]
        self._reading_since = self._reading_since or time.monotonic()
        self.enter("reading")

    def finish(
        self, state: str, read_segments: int = 0, read_bytes: int = 0, kept_segments: int = 0
    ) -> None:
        """For the steps: what they did in all, "done" or "fresh"."""
        self.done = IngestResult(
            read_segments, read_bytes, kept_segments, time.monotonic() - self._started_at
        )
        self.enter(state)

    def _run(self) -> None:
        try:
            self._info = self._steps(self)
        except Exception as error:
            self._error = error if isinstance(error, KafkavizError) else shorten_error(error)
            with self._lock:
                self._state = "cancelled" if self._cancelled.is_set() else "failed"
        finally:
            self._end_event.set()

    def _count_ended(self, tasks: Sequence[IngestTask | LoadTask]) -> int:
        """The number of tasks that Spark has seen end."""
        try:
            tracker = cast("SparkSession", self._spark).sparkContext.statusTracker()
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self.group)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
            return min(len(tasks), sum(stage.numCompletedTasks for stage in stages if stage))
        except Exception:  # the JVM may be gone; the run itself will say so
            return 0


def shorten_error(error: Exception) -> IngestError:
    """What Spark or Python said, short; the whole of it is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = next(
        (line for line in reversed(lines) if "Error" in line or "Exception" in line),
        lines[0] if lines else "",
    )
    short_error = IngestError(f"the run ended early: {text[:300] or type(error).__name__}")
    short_error.__cause__ = error
    return short_error
