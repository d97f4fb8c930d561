"""An ingest as a background job that shows its progress and can be cancelled."""

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
        state: "starting", "reading" or "writing"; at the end "done", "fresh" (nothing to do),
            "failed" or "cancelled".
        done_bytes: bytes of .log in the tasks that have ended. Spark only reports how many have
            ended, so they are assumed to end in the order in which they start.
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
    """A running ingest; see `start_ingest`.

    `cancel` ends the ingest within about a second and drops the data that was read. While Spark
    starts, cancelling takes until Spark has started. Once the catalog is being replaced, `cancel`
    has no effect.
    """

    protected_states = ("writing",)

    def __init__(self, steps: Callable[["Ingest"], CatalogInfo]) -> None:
        """Starts a thread that runs `steps`, which may raise any error.

        `steps` reports its state with `enter`, `start_reading` and `finish`.
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
        """Returns the current progress. Asking Spark takes some milliseconds."""
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
        """Cancels the Spark jobs, and waits a moment for temporary files to be removed."""
        if self._runner is not None:
            with suppress(Exception):  # if the JVM is gone, the run ends anyway
                self._runner.cancel()
        self.settle()

    def start_reading(self, runner: TaskRunner, tasks: Sequence[PackedTask]) -> None:
        """Adds tasks to the shown progress, before they run."""
        self._runner = runner
        self._tasks = [*self._tasks, *tasks]
        self._reading_since = self._reading_since or time.monotonic()
        self.enter("reading")

    def finish(
        self, state: str, read_segments: int = 0, read_bytes: int = 0, kept_segments: int = 0
    ) -> None:
        """Sets the result. `state` is "done" or "fresh"."""
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
