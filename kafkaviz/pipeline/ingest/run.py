"""An ingest as a job that knows Spark's progress and can cancel its tasks."""

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
    """The run ended early; the catalog is unchanged."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a run.

    Attributes:
        state: "starting", "reading" or "writing", and at the end "done", "fresh" (nothing to do),
            "failed" or "cancelled".
        done_bytes: the bytes of .log in the tasks that have ended. Spark only gives their number,
            so tasks are assumed to end in the order in which they start.
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
    read_segments: int
    read_bytes: int  # bytes of .log
    kept_segments: int
    seconds: float


class Ingest(Job[CatalogInfo, Progress]):
    """A run; start_ingest creates it and it starts at once.

    cancel() ends it within about a second and drops the data it has read; it has no effect once the
    catalog is being replaced. A start of Spark cannot be interrupted, so the thread then ends after
    that start.
    """

    protected_states = ("writing",)

    def __init__(self, steps: Callable[["Ingest"], CatalogInfo]) -> None:
        """Starts a thread that does the steps.

        Args:
            steps: does the work. It reports its state with enter, start_reading and finish, and may
                raise any error.
        """
        self.group = f"kafkaviz-{uuid.uuid4().hex}"  # the group of its Spark jobs
        self.done: IngestResult | None = None
        self._runner: TaskRunner | None = None
        self._tasks: list[PackedTask] = []
        self._reading_since = 0.0
        super().__init__(lambda _report: steps(self), Progress(), state="starting")

    def cancellation(self) -> JobCancelled:
        return JobCancelled(message("errors.run_cancelled"))

    def progress(self) -> Progress:
        """Returns the current progress; asking Spark takes some milliseconds."""
        tasks = self._tasks
        state = self.state
        if state == "reading":
            count = self._count_ended(tasks)
        elif state in ("writing", "done"):
            count = len(tasks)
        else:
            count = 0
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
        """Cancels its Spark jobs and waits a moment until its temporary files are removed.

        The next run removes the rest.
        """
        if self._runner is not None:
            with suppress(Exception):  # without its JVM, the run ends anyway
                self._runner.cancel()
        self.settle()

    def start_reading(self, runner: TaskRunner, tasks: Sequence[PackedTask]) -> None:
        """Called by the steps to add tasks to those that were started before."""
        self._runner = runner
        self._tasks = [*self._tasks, *tasks]
        self._reading_since = self._reading_since or time.monotonic()
        self.enter("reading")

    def finish(
        self, state: str, read_segments: int = 0, read_bytes: int = 0, kept_segments: int = 0
    ) -> None:
        """Called by the steps at the end, with state "done" or "fresh"."""
        self.done = IngestResult(read_segments, read_bytes, kept_segments, self.seconds)
        self.done_state = state

    def _count_ended(self, tasks: Sequence[PackedTask]) -> int:
        try:
            return min(len(tasks), self._runner.count_ended()) if self._runner else 0
        except Exception:  # the JVM may be gone; the run itself reports that
            return 0

    def explain(self, error: Exception) -> Exception:
        """Returns an IngestError with the last error line of Spark or Python, and its cause."""
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
