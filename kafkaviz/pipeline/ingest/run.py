"""A run of an ingest: a job that knows how far Spark is and ends its tasks."""

import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobCancelled
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
from kafkaviz.pipeline.ingest.plan import PackedTask
from kafkaviz.pipeline.ingest.task_runner import TaskRunner


class IngestError(KafkavizError):
    """The run ended early; the catalog is what it was."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is.

    Attributes:
        state: "starting", "reading", "writing", at last "done", "fresh" (there was nothing to do),
            "failed" or "cancelled".
        done_bytes: of .log; those of as many tasks as have ended, in the order in which tasks are
            handed out.
    """

    done_tasks: int = 0
    total_tasks: int = 0
    done_bytes: int = 0
    total_bytes: int = 0
    bytes_per_s: float | None = None
    state: str = "starting"
    error: Message | None = None


@dataclass(frozen=True)
class IngestResult:
    """What a run did, beside the catalog that it left."""

    read_segments: int
    read_bytes: int  # of .log
    kept_segments: int
    seconds: float


class Ingest(Job[CatalogInfo, Progress]):
    """A run; start_ingest makes it and it starts at once.

    cancel() ends it within about a second and throws away what it has read; nothing happens once
    the catalog is being replaced. Where Spark is still starting, which nothing can stop, the thread
    goes on that long and then ends by itself.
    """

    protected_states = ("writing",)

    def __init__(self, steps: Callable[["Ingest"], CatalogInfo]) -> None:
        """Starts a thread that runs the steps.

        Args:
            steps: what the run does; it reports its state by enter, start_reading and finish, and
                may end with any error.
        """
        self.group = f"kafkaviz-{uuid.uuid4().hex}"  # of its Spark jobs
        self.done: IngestResult | None = None
        self._runner: TaskRunner | None = None
        self._tasks: list[PackedTask] = []
        self._reading_since = 0.0
        super().__init__(lambda _report: steps(self), Progress(), state="starting")

    def cancellation(self) -> JobCancelled:
        """The error that it ends with where somebody cancels it."""
        return JobCancelled(message("errors.run_cancelled"))

    def progress(self) -> Progress:
        """How far it is now; takes some milliseconds, since Spark is asked."""
        tasks, state = self._tasks, self.state
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
            error=self._error_message() if state == "failed" else None,
        )

    def _error_message(self) -> Message | None:
        error = self.error
        return error.message if isinstance(error, KafkavizError) else verbatim(str(error))

    def on_stop(self) -> None:
        """Ends its Spark jobs, and waits a moment for what it had written aside to be cleared away.

        The next run clears the rest.
        """
        if self._runner is not None:
            with suppress(Exception):  # without its JVM the run ends anyway
                self._runner.cancel()
        self.settle()

    def start_reading(self, runner: TaskRunner, tasks: Sequence[PackedTask]) -> None:
        """For the steps: these tasks follow those that were read before."""
        self._runner = runner
        self._tasks = [*self._tasks, *tasks]
        self._reading_since = self._reading_since or time.monotonic()
        self.enter("reading")

    def finish(
        self, state: str, read_segments: int = 0, read_bytes: int = 0, kept_segments: int = 0
    ) -> None:
        """For the steps: what they did in all, "done" or "fresh"."""
        self.done = IngestResult(read_segments, read_bytes, kept_segments, self.seconds)
        self.done_state = state

    def _count_ended(self, tasks: Sequence[PackedTask]) -> int:
        """The number of tasks that Spark has seen end."""
        try:
            return min(len(tasks), self._runner.count_ended()) if self._runner else 0
        except Exception:  # the JVM may be gone; the run itself will say so
            return 0

    def explain(self, error: Exception) -> Exception:
        """What Spark or Python said, short; the whole of it is the cause."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        text = next(
            (line for line in reversed(lines) if "Error" in line or "Exception" in line),
            lines[0] if lines else "",
        )
        short_error = IngestError(
            message("errors.run_ended_early", reason=text[:300] or type(error).__name__)
        )
        short_error.__cause__ = error
        return short_error
