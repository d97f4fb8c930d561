"""An ingest as a job in the background, which shows its progress and can be cancelled."""

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
    """An ingest ended early; the catalog is unchanged."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of an ingest.

    Attributes:
        state: "starting", "reading" or "writing", and at the end "done", "fresh" (nothing to do),
            "failed" or "cancelled".
        done_bytes: the bytes of .log in the tasks that have ended. Spark gives only the number of
            these tasks, so they are assumed to end in the order in which they start.
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
    """An ingest; `start_ingest` creates it, and the work starts at once.

    `cancel` ends the run within about a second and drops the data that was read. It has no effect
    once the catalog is being replaced. While Spark starts, it cannot be interrupted; then the
    thread ends after that.
    """

    protected_states = ("writing",)

    def __init__(self, steps: Callable[["Ingest"], CatalogInfo]) -> None:
        """Starts a thread that does the steps.

        Args:
            steps: a function that does the work. It reports the state with `enter`, `start_reading`
                and `finish`, and may raise any error.
        """
        self.group = f"kafkaviz-{uuid.uuid4().hex}"  # job group of all Spark jobs of this run
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
        """Cancels the Spark jobs of the run and waits a moment until temporary files are removed.

        The next run removes the rest.
        """
        if self._runner is not None:
            with suppress(Exception):  # if the JVM is gone, the run ends anyway
                self._runner.cancel()
        self.settle()

    def start_reading(self, runner: TaskRunner, tasks: Sequence[PackedTask]) -> None:
        """Adds tasks whose progress is shown; `steps` calls it before it runs them."""
        self._runner = runner
        self._tasks = [*self._tasks, *tasks]
        self._reading_since = self._reading_since or time.monotonic()
        self.enter("reading")

    def finish(
        self, state: str, read_segments: int = 0, read_bytes: int = 0, kept_segments: int = 0
    ) -> None:
        """Ends the run; `steps` calls it with the state "done" or "fresh"."""
        self.done = IngestResult(read_segments, read_bytes, kept_segments, self.seconds)
        self.done_state = state

    def _count_ended(self, tasks: Sequence[PackedTask]) -> int:
        try:
            return min(len(tasks), self._runner.count_ended()) if self._runner else 0
        except Exception:  # the JVM may be gone; the thread of the run reports that
            return 0

    def explain(self, error: Exception) -> Exception:
        """Returns an `IngestError` with the last error line in Spark's or Python's message."""
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
